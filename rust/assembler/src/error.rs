//! The catalogue of what can be wrong with bytecode. Every error of this crate is one [`Error`].

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong, as a stable name (see [`ErrorKind::id`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ErrorKind {
    BadLineTable,
    BadExceptionTable,
    BadCode,
    UnknownOpcode,
    IllegalOpcode,
    OperandOutOfRange,
    BadJump,
    BadTarget,
    DuplicateInstruction,
    BadRegion,
    StackUnderflow,
    StackMismatch,
    BadStackType,
    FallsOffEnd,
    UnboundLocal,
    BadLocal,
    BadName,
    BadConstant,
    BadPrologue,
    BadAdjacency,
    UnsafeBorrow,
    TooLarge,
    BadFlags,
}

impl ErrorKind {
    /// The stable name that users see and may match on, for example `stack-underflow`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::BadLineTable => "bad-line-table",
            Self::BadExceptionTable => "bad-exception-table",
            Self::BadCode => "bad-code",
            Self::UnknownOpcode => "unknown-opcode",
            Self::IllegalOpcode => "illegal-opcode",
            Self::OperandOutOfRange => "operand-out-of-range",
            Self::BadJump => "bad-jump",
            Self::BadTarget => "bad-target",
            Self::DuplicateInstruction => "duplicate-instruction",
            Self::BadRegion => "bad-region",
            Self::StackUnderflow => "stack-underflow",
            Self::StackMismatch => "stack-mismatch",
            Self::BadStackType => "bad-stack-type",
            Self::FallsOffEnd => "falls-off-end",
            Self::UnboundLocal => "unbound-local",
            Self::BadLocal => "bad-local",
            Self::BadName => "bad-name",
            Self::BadConstant => "bad-constant",
            Self::BadPrologue => "bad-prologue",
            Self::BadAdjacency => "bad-adjacency",
            Self::UnsafeBorrow => "unsafe-borrow",
            Self::TooLarge => "too-large",
            Self::BadFlags => "bad-flags",
        }
    }
}

/// What is wrong, and where: [`Details`] behind one pointer, so that a result without a value fits a register. The verifier
/// asks for thousands of them where all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Details>);

/// What an [`Error`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The kind.
    pub kind: ErrorKind,
    /// Index of the instruction at fault in the program, if there is one.
    pub index: Option<u32>,
    /// What is wrong and what to do, in a sentence that names no instruction (the caller adds index, name and operands).
    pub reason: String,
    /// The verifier's view of the stack before the instruction, bottom first, if it is known: `[object, NULL]`.
    pub stack: Option<String>,
}

impl Error {
    /// An error at an instruction.
    #[cold]
    #[must_use]
    pub fn at(kind: ErrorKind, index: u32, reason: impl Into<String>) -> Self {
        Self(Box::new(Details { kind, index: Some(index), reason: reason.into(), stack: None }))
    }

    /// An error that belongs to no single instruction.
    #[cold]
    #[must_use]
    pub fn whole(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self(Box::new(Details { kind, index: None, reason: reason.into(), stack: None }))
    }
}

impl std::ops::Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl std::ops::DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(index) = self.index {
            write!(f, "instruction {index}: ")?;
        }
        write!(f, "{} [{}]", self.reason, self.kind.id())?;
        if let Some(stack) = &self.stack {
            write!(f, "; stack before it: {stack}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
