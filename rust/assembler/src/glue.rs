//! Which neighbours must stay neighbours: what native transformations must not tear apart.
//!
//! The interpreter, and what it knows of a suspended generator, looks at the unit before or behind some instructions.
use crate::code::Program;
use crate::op::Op;
use crate::tables::{self, Tables};
use crate::version::Version;

/// What keeps a program's instructions together.
#[derive(Clone, Copy, Debug)]
pub struct Glue<'a> {
    version: Version,
    tables: &'static Tables,
    program: &'a Program,
    /// Instructions up to and with the first RESUME.
    prologue: usize,
}

impl<'a> Glue<'a> {
    /// Looks at a program.
    #[must_use]
    pub fn new(version: Version, program: &'a Program) -> Self {
        let tables = tables::get(version);
        let is_op =
            |index: usize, op: Op| program.insts.get(index).is_some_and(|inst| tables.op(inst.opcode) == op);
        let mut prologue = 0;
        for index in 0..program.insts.len() {
            // A generator's first RESUME is the one behind RETURN_GENERATOR, also where another one comes before it (3.15).
            if is_op(index, Op::RESUME) && (prologue == 0 || is_op(prologue, Op::RETURN_GENERATOR)) {
                prologue = index + 1;
            } else if is_op(index, Op::RETURN_GENERATOR) {
                prologue = index;
            }
            if prologue > 0 && index > prologue + 4 {
                break;
            }
        }
        Self { version, tables, program, prologue }
    }

    /// How many instructions belong to the prologue, which ends with RESUME and stays where it is.
    #[must_use]
    pub const fn prologue(&self) -> usize {
        self.prologue
    }

    fn op(&self, index: usize) -> Op {
        self.program.insts.get(index).map_or(Op::INVALID, |inst| self.tables.op(inst.opcode))
    }

    /// Whether instruction `index` must directly follow the one before it.
    #[must_use]
    pub fn holds(&self, index: usize) -> bool {
        if index < self.prologue {
            return true;
        }
        let Some(before) = index.checked_sub(1) else { return false };
        match (self.op(before), self.op(index)) {
            // FOR_ITER skips END_FOR and what belongs to it without looking.
            (Op::END_FOR, Op::POP_TOP) => self.version == Version::V313,
            // 3.11's throw() jumps from SEND by the low byte of its operand.
            (Op::RESUME, Op::JUMP_BACKWARD_NO_INTERRUPT) | (Op::JUMP_BACKWARD_NO_INTERRUPT, _) => {
                self.version == Version::V311
            }
            // A call in two or three instructions; a suspended generator's state, which is read from what stands around its
            // YIELD_VALUE; NOT_TAKEN, which monitoring takes for the other way of the jump before it.
            (Op::END_FOR, Op::POP_ITER)
            | (Op::PRECALL, Op::CALL)
            | (Op::KW_NAMES, Op::PRECALL | Op::CALL)
            | (Op::YIELD_VALUE, Op::RESUME)
            | (Op::SEND, Op::YIELD_VALUE)
            | (_, Op::NOT_TAKEN)
            // What a jump says of the value is known as long as nothing stands between the two.
            | (
                Op::COPY,
                Op::POP_JUMP_IF_NONE
                | Op::POP_JUMP_IF_NOT_NONE
                | Op::POP_JUMP_FORWARD_IF_NONE
                | Op::POP_JUMP_FORWARD_IF_NOT_NONE
                | Op::POP_JUMP_BACKWARD_IF_NONE
                | Op::POP_JUMP_BACKWARD_IF_NOT_NONE,
            )
            // What a name is taken for hangs on the namespace that is asked for it.
            | (Op::LOAD_DEREF, Op::LOAD_FROM_DICT_OR_DEREF) => true,
            _ => false,
        }
    }

    /// Whether code may be put in front of instruction `index` so that all who jump to it run that code too.
    #[must_use]
    pub fn admits(&self, index: usize) -> bool {
        !self.holds(index) && self.op(index) != Op::END_FOR
    }

    /// Whether an exception handler's first instruction, which must run before anything that can raise.
    #[must_use]
    pub fn opens_handler(&self, index: usize) -> bool {
        self.op(index) == Op::PUSH_EXC_INFO
    }
}
