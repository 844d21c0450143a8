//! How code begins: free variables, cells, the generator's start and RESUME, in straight-line code that runs once.
use crate::code::LocalKind;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::NO_INDEX;
use crate::op::Op;
use crate::version::Version;

use super::check::{Check, SUSPENDING};

/// 3.15: what RESUME says, in its low three bits, where a generator expression begins.
const BEFORE_GENERATOR: u32 = 4;

impl Check<'_> {
    /// Checks the prologue and says where its RESUME is; elsewhere in code that is reached, its operations are refused by their own rules.
    pub(super) fn prologue(&self, is_head: impl Fn(u32) -> bool) -> Result<u32> {
        let kinds = self.meta.flags & SUSPENDING;
        if kinds.count_ones() > 1 {
            return Err(Error::whole(
                ErrorKind::BadFlags,
                "co_flags names more than one of generator, coroutine and asynchronous generator",
            ));
        }
        let mut wants_free = self.has_free();
        let mut wants_generator = kinds != 0;
        let mut wants_first_cell = self.meta.locals.first() == Some(&LocalKind::Cell { arg: true });
        for (index, inst) in self.program.insts.iter().enumerate() {
            let (index, op) = (index as u32, self.tables.op(inst.opcode));
            let fail = |reason: &str| Err(Error::at(ErrorKind::BadPrologue, index, reason));
            if is_head(index) && op != Op::RESUME {
                return fail("nothing may jump into the prologue, which ends with RESUME");
            }
            if inst.region != NO_INDEX && wants_generator {
                return fail("no region may cover the prologue of a generator");
            }
            match op {
                Op::MAKE_CELL => wants_first_cell &= inst.arg != 0,
                Op::NOP | Op::POP_TOP => {}
                Op::COPY_FREE_VARS if wants_free && self.only_nops_before(index) => wants_free = false,
                Op::RETURN_GENERATOR if wants_generator => wants_generator = false,
                // 3.15: a generator expression has a RESUME of its own before the generator is made. By its operand CPython
                // tells that the frame must not be seen yet: RETURN_GENERATOR moves it away from whoever saw it.
                Op::RESUME
                    if self.version == Version::V315
                        && wants_generator != (inst.arg & 7 == BEFORE_GENERATOR) =>
                {
                    return fail("the operand of RESUME must be 4 before RETURN_GENERATOR, and nowhere else");
                }
                Op::RESUME | Op::LOAD_FAST | Op::LOAD_FAST_BORROW | Op::GET_ITER | Op::GET_AITER
                    if wants_generator && self.version == Version::V315 => {}
                Op::RESUME if wants_generator => {
                    return fail("RETURN_GENERATOR must come before RESUME in a generator");
                }
                Op::RESUME if wants_free => {
                    return fail("code with free variables must start with COPY_FREE_VARS");
                }
                Op::RESUME if wants_first_cell => {
                    return fail(
                        "the first argument must be made a cell before RESUME: super() counts on it",
                    );
                }
                Op::RESUME => return Ok(index),
                _ => {
                    return fail(
                        "code must start with its prologue and RESUME: keep what the compiler put there",
                    );
                }
            }
        }
        Err(Error::whole(ErrorKind::BadPrologue, "there is no RESUME at the start"))
    }

    fn has_free(&self) -> bool {
        self.meta.locals.contains(&LocalKind::Free)
    }

    fn only_nops_before(&self, index: u32) -> bool {
        self.program.insts[..index as usize].iter().all(|inst| self.tables.op(inst.opcode) == Op::NOP)
    }
}
