//! What goes into and comes out of the pipeline.
use crate::inst::{Inst, InstIdx};
use crate::version::Version;

/// The parts of an existing code object that disassembly reads.
#[derive(Clone, Copy, Debug)]
pub struct RawCode<'a> {
    /// `co_code`; if `live`, as an interpreter holds it.
    pub code: &'a [u8],
    /// Specialised opcodes in `code` mean what they were, and inline caches may hold anything. Else the former are refused.
    pub live: bool,
    /// `co_linetable`.
    pub linetable: &'a [u8],
    /// `co_exceptiontable`.
    pub exceptiontable: &'a [u8],
    /// `co_firstlineno`.
    pub firstlineno: i32,
}

/// How the stack depth of an exception handler is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionDepth {
    /// As stated.
    Fixed(u32),
    /// So many slots below the stack at the start of the instruction `anchor`, so that edits which change the depth
    /// around a region carry its handler along.
    Below {
        /// The instruction whose start depth counts.
        anchor: InstIdx,
        /// Slots above the handler's depth at the anchor.
        height: u32,
        /// The depth if the anchor cannot be reached.
        stated: u32,
    },
}

/// An exception region: the instructions whose `region` names it are protected by `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First instruction of the handler.
    pub target: InstIdx,
    /// Depth to which the stack is unwound.
    pub depth: RegionDepth,
    /// Whether the offset of the raising instruction is pushed below the exception.
    pub lasti: bool,
}

/// An editable code body.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The instructions in layout order.
    pub insts: Vec<Inst>,
    /// The exception regions, in no particular order.
    pub regions: Vec<Region>,
}

/// What the verifier must know of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstKind {
    /// None, which is also a legal value where CPython wants "an object or None".
    None,
    /// An exact `str`.
    Str,
    /// An exact `int`.
    Int,
    /// An exact `bool`.
    Bool,
    /// An exact tuple of so many items, all of them exact `str`.
    StrTuple(u32),
    /// Any other exact tuple of so many items.
    Tuple(u32),
    /// An exact `slice`.
    Slice,
    /// A code object.
    Code {
        /// Length of its `co_freevars`.
        freevars: u32,
        /// Calling it makes a generator (CO_GENERATOR), which is an iterator.
        generator: bool,
        /// What its first two positional parameters take for granted; see [`Trust::of_name`].
        args: [Trust; 2],
        /// Another parameter, too, takes for granted what only its maker can see to. Compilers write no such code, and no function
        /// may be made of it.
        takes_more: bool,
    },
    /// Anything else.
    Other,
}

/// The global, class attribute or cell in which the compiler of 3.14 keeps an exact set.
pub const CONDITIONAL_ANNOTATIONS: &str = "__conditional_annotations__";

/// What may be taken for granted about the value of a local whose name only compilers make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Nothing.
    #[default]
    None,
    /// It is an iterator, as is a comprehension's `.0`: the caller called `iter`.
    Iterator,
    /// It is an asynchronous iterator: `.0` of a comprehension whose first loop is an `async for`. No name says so, the code does
    /// (see [`crate::verify::first_loop`]).
    AsyncIterator,
    /// It is an exact tuple, as are `.defaults` and `.type_params` of generic functions and classes.
    Tuple,
    /// It is an exact dict, as is `.kwdefaults`.
    Dict,
    /// It is an int, as is `.format` (3.14+: `format`) of `__annotate__` functions. Nothing unsafe hangs on it.
    Int,
    /// It is an exact set, as is `__conditional_annotations__`.
    Set,
    /// It is whatever the code takes it for: `___stack0` and `__nested_frame_values`, by which torch's Dynamo hands values
    /// of one frame to the next.
    Any,
}

impl Trust {
    /// Whether nothing else may be stored under the name. Of ints that is not asked: nothing unsafe hangs on them.
    #[must_use]
    pub const fn is_kept(self) -> bool {
        !matches!(self, Self::None | Self::Int)
    }

    /// Whether CPython relies on it without looking, so that whoever calls code with such a parameter must see to it.
    #[must_use]
    pub const fn is_relied_on(self) -> bool {
        !matches!(self, Self::None | Self::Int | Self::Any)
    }

    /// Whether a name of so many characters, of which the first is `first`, may vouch for anything. Most may not, and which it is is
    /// anybody's guess, so that is one question and not many.
    #[inline]
    #[must_use]
    #[allow(clippy::needless_bitwise_bool, reason = "no branches")]
    pub const fn may_follow(length: usize, first: u8) -> bool {
        // `.0` and `format`; all others are longer.
        ((length == 2) | (length >= 6)) & ((first == b'.') | (first == b'_') | (first == b'f'))
    }

    /// What the first parameter is, by its name and the next variable's: where a generic function has defaults for keywords alone,
    /// they are passed first, and the parameter is called `.defaults` all the same.
    #[must_use]
    pub const fn of_first_parameter(self, next: Self, parameters: usize) -> Self {
        if parameters == 1 && matches!((self, next), (Self::Tuple, Self::Dict)) { Self::Dict } else { self }
    }

    /// What the name of a local, cell or free variable vouches for.
    #[must_use]
    pub fn of_name(name: &str, version: Version) -> Self {
        match name {
            // From 3.15 on, generator expressions call `iter` themselves.
            ".0" if version < Version::V315 => Self::Iterator,
            ".defaults" | ".type_params" => Self::Tuple,
            ".kwdefaults" => Self::Dict,
            ".format" => Self::Int,
            "format" if version >= Version::V314 => Self::Int,
            CONDITIONAL_ANNOTATIONS if version >= Version::V314 => Self::Set,
            _ if name.starts_with("___stack") || name.starts_with("__nested_") => Self::Any,
            _ => Self::None,
        }
    }
}

/// What a slot of localsplus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// A plain local; `arg` = bound on entry.
    Local {
        /// Bound by the call.
        arg: bool,
    },
    /// A cell made by MAKE_CELL; `arg` = also an argument.
    Cell {
        /// Bound by the call, and moved into the cell by MAKE_CELL.
        arg: bool,
    },
    /// A free variable, filled by COPY_FREE_VARS.
    Free,
}

/// Everything about a code object but its instructions.
#[derive(Clone, Copy, Debug)]
pub struct CodeMeta<'a> {
    /// The CPython it is for.
    pub version: Version,
    /// `co_flags`.
    pub flags: u32,
    /// `co_firstlineno`.
    pub firstlineno: i32,
    /// Length of `co_names`.
    pub names: u32,
    /// Kinds of `co_consts`.
    pub consts: &'a [ConstKind],
    /// Kinds of localsplus.
    pub locals: &'a [LocalKind],
    /// Where `__conditional_annotations__` is in `co_names` ([`CONDITIONAL_ANNOTATIONS`]; 3.14+), or
    /// [`crate::inst::NO_INDEX`].
    pub set_name: u32,
    /// What each localsplus slot's name vouches for, see [`Trust::of_name`].
    pub trusted_locals: &'a [Trust],
    /// A free variable is called `__class__`, so that `super()` works.
    pub has_class_cell: bool,
    /// Which local is called `__classdict__`, the namespace of a class, or [`crate::inst::NO_INDEX`].
    pub class_dict: u32,
}

/// Options of assembly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Prove that the result is safe to run, or fail.
    pub verify: bool,
    /// What the program was taken apart from, if it is known. A result with the same bytes was not edited: it stays as CPython's
    /// compiler wrote it, also where that is not safe for signals (see [`crate::adapt`]).
    pub original: Option<RawCode<'a>>,
}

/// The finished parts of a code object.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// `co_code`.
    pub code: Vec<u8>,
    /// `co_linetable`.
    pub linetable: Vec<u8>,
    /// `co_exceptiontable`.
    pub exceptiontable: Vec<u8>,
    /// `co_stacksize`.
    pub stacksize: u32,
}
