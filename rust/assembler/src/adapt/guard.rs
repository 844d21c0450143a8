//! Instructions that run a Python function in a frame of its own, at the edge of an exception region.
//!
//! From 3.13 on, an exception that comes back from such a frame is looked up by the code unit *before* the instruction.
//! If that unit belongs to another region, the wrong handler runs, or none. A NOP of the right region in front keeps the
//! promise of the exception table; CPython's compiler brings the two together only behind an asynchronous comprehension.
use crate::code::Program;
use crate::inst::Inst;
use crate::op::Op;
use crate::tables::Tables;
use crate::version::Version;

/// Whether some versions run the instruction's callee in a frame of its own.
const fn may_push_frame(op: Op) -> bool {
    matches!(
        op,
        Op::CALL
            | Op::CALL_KW
            | Op::CALL_FUNCTION_EX
            | Op::FOR_ITER
            | Op::SEND
            | Op::LOAD_ATTR
            | Op::BINARY_SUBSCR
            | Op::BINARY_OP
    )
}

/// Whether the instruction at `index` needs a NOP of its region in front, if that of the instruction before it is `before`.
pub(super) fn needed(
    version: Version,
    tables: &Tables,
    program: &Program,
    before: u32,
    index: usize,
) -> bool {
    let inst: &Inst = &program.insts[index];
    inst.region != before
        && version >= Version::V313
        && may_push_frame(tables.op(inst.opcode))
        && program.regions.get(inst.region as usize) != program.regions.get(before as usize)
}
