//! What a comprehension takes its argument for: an iterator, or an asynchronous one if its first loop is an `async for`. Both are
//! called `.0`, so the code itself has to say.
use crate::code::{Program, Trust};
use crate::op::Op;
use crate::tables::{self, Tables};
use crate::version::Version;

/// `co_flags` of coroutines and asynchronous generators: no other code has an `async for`.
pub const ASYNC: u32 = 0x80 | 0x200;
/// How many jumps and NOPs may stand between loading the argument and asking it for its first item.
const FAR: usize = 64;

/// What this code takes the local for that `.0` names.
#[must_use]
pub fn wanted(version: Version, program: &Program, local: u32) -> Trust {
    let tables = tables::get(version);
    let loads = |op| matches!(op, Op::LOAD_FAST | Op::LOAD_FAST_CHECK | Op::LOAD_FAST_BORROW);
    let is_async = program.insts.iter().enumerate().any(|(i, inst)| {
        inst.arg == local
            && loads(tables.op(inst.opcode))
            && first_operation(tables, program, i + 1) == Some(Op::GET_ANEXT)
    });
    if is_async { Trust::AsyncIterator } else { Trust::Iterator }
}

/// The first operation from `at` on that does something.
fn first_operation(tables: &Tables, program: &Program, mut at: usize) -> Option<Op> {
    for _ in 0..FAR {
        let inst = program.insts.get(at)?;
        match tables.op(inst.opcode) {
            Op::NOP => at += 1,
            Op::JUMP_FORWARD | Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT => {
                at = inst.target as usize;
            }
            op => return Some(op),
        }
    }
    None
}
