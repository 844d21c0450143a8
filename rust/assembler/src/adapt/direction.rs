//! Jumps whose opcode does not fit their direction, after an edit moved them or their target.
//!
//! A jump that has a name for both directions is renamed. A conditional jump that only goes forward is inverted over an unconditional
//! one:
//!
//! ```text
//! POP_JUMP_IF_TRUE  back          POP_JUMP_IF_FALSE  next
//! next: …                   →     NOT_TAKEN          (3.14+)
//!                                 JUMP_BACKWARD      back
//!                           next: …
//! ```
//!
//! Others that only go forward (FOR_ITER, SEND, 3.11's JUMP_IF_*_OR_POP) cannot be inverted: they go forward to a trampoline
//! behind the last instruction, which goes back. FOR_ITER's trampoline begins with copies of the END_FOR pair that FOR_ITER
//! insists to find, and partly skips, at its target.
use super::{Adapted, cover};
use crate::code::Program;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX, Written};
use crate::op::Op;
use crate::stack::effects;
use crate::tables::{self, OpFlags, Tables};
use crate::version::Version;

/// What is done about one jump.
enum Remedy {
    Rename(Op),
    Invert(Op),
    Trampoline,
    /// It is no jump: END_ASYNC_FOR only tells monitoring which loop ended, and may say "none".
    PointAtItself,
}

fn remedy(tables: &Tables, inst: &Inst) -> Remedy {
    let info = &tables.info[inst.opcode as usize];
    let known = |op: &Op| tables.opcode(*op).is_some();
    if info.has(OpFlags::NO_EDGE) {
        Remedy::PointAtItself
    } else if let Some(op) = tables::turned(info.op).filter(known) {
        Remedy::Rename(op)
    } else if let Some(op) = tables::inverted(info.op).filter(known) {
        Remedy::Invert(op)
    } else {
        Remedy::Trampoline
    }
}

fn fits(tables: &Tables, index: usize, inst: &Inst) -> bool {
    let info = &tables.info[inst.opcode as usize];
    !info.is_jump() || (inst.target as usize <= index) == info.has(OpFlags::JUMP_BACKWARD)
}

/// Copies the instruction at `index`, with targets still in the original's numbers, and with what its direction needs.
///
/// # Errors
/// [`ErrorKind::FallsOffEnd`] for a last instruction that runs on.
pub(super) fn copy(out: &mut Adapted, version: Version, program: &Program, index: usize) -> Result<()> {
    let tables = tables::get(version);
    let mut inst = program.insts[index];
    if fits(tables, index, &inst) {
        out.push(index, inst);
        return Ok(());
    }
    match remedy(tables, &inst) {
        Remedy::Rename(op) => {
            inst.opcode = number(tables, op);
            if tables.info[inst.opcode as usize].has(OpFlags::JUMP_BACKWARD) {
                inst.region = covering(out, version, program, index);
            }
            out.push(index, inst);
        }
        Remedy::PointAtItself => {
            inst.target = index as u32;
            out.push(index, inst);
        }
        Remedy::Invert(op) => {
            if index + 1 == program.insts.len() {
                return Err(falls_off(index));
            }
            let opcode = number(tables, Op::JUMP_BACKWARD);
            let region = covering(out, version, program, index);
            let back = Inst { opcode, region, written: Written::PLAIN, ..inst };
            inst.opcode = number(tables, op);
            inst.target = index as u32 + 1;
            out.push(index, inst);
            if let Some(opcode) = tables.opcode(Op::NOT_TAKEN) {
                out.push(index, Inst { opcode, target: NO_INDEX, arg: 0, ..back });
            }
            out.push(index, back);
        }
        Remedy::Trampoline => out.push(index, inst),
    }
    Ok(())
}

/// The region of a jump back in the place of the jump at `index`, which has popped what it looks at.
fn covering(out: &Adapted, version: Version, program: &Program, index: usize) -> u32 {
    let inst = &program.insts[index];
    let op = tables::get(version).op(inst.opcode);
    let pops = effects::get(version)[op as usize].counts(inst.arg).pop as u32;
    let remaining = out.depths.before(index).map(|depth| depth.saturating_sub(pops));
    cover::fitting(program, &out.depths, inst.region, remaining)
}

/// Sends the jumps that are still backward and must not be over the end of the code.
///
/// # Errors
/// [`ErrorKind::BadJump`] for a FOR_ITER whose target is not the END_FOR that this version wants there, and
/// [`ErrorKind::FallsOffEnd`] where the code runs on behind its last instruction.
pub(super) fn append_trampolines(out: &mut Adapted, version: Version, program: &Program) -> Result<()> {
    let tables = tables::get(version);
    let count = out.program.insts.len();
    for index in 0..count {
        let inst = out.program.insts[index];
        if fits(tables, index, &inst) {
            continue;
        }
        let origin = out.origin[index] as usize;
        let last = out.program.insts.last().map(|last| &tables.info[last.opcode as usize]);
        if last.is_none_or(tables::OpInfo::falls_through) {
            return Err(falls_off(out.origin[count - 1] as usize));
        }
        out.program.insts[index].target = out.program.insts.len() as u32;
        let mut to = inst.target;
        if tables.op(inst.opcode) == Op::FOR_ITER {
            for &op in loop_exit(tables) {
                let copied = out.program.insts.get(to as usize).copied();
                let Some(copied) = copied.filter(|copied| tables.op(copied.opcode) == op) else {
                    let reason = format!("FOR_ITER must lead to {}", op.name());
                    return Err(Error::at(ErrorKind::BadJump, origin as u32, reason));
                };
                out.push(origin, copied);
                to += 1;
            }
        }
        let landing = out.program.insts.get(to as usize).filter(|_| (to as usize) < count);
        let Some(&landing) = landing else { return Err(falls_off(out.origin[count - 1] as usize)) };
        let opcode = number(tables, Op::JUMP_BACKWARD);
        let remaining = out.depths.before(out.origin[to as usize] as usize);
        let region = cover::fitting(program, &out.depths, landing.region, remaining);
        out.push(origin, Inst { target: to, region, loc: inst.loc, ..Inst::new(opcode, 0) });
    }
    Ok(())
}

/// What FOR_ITER wants at its target, in order.
fn loop_exit(tables: &Tables) -> &'static [Op] {
    if tables.opcode(Op::END_FOR).is_none() {
        &[]
    } else if tables.opcode(Op::POP_ITER).is_some() {
        &[Op::END_FOR, Op::POP_ITER]
    } else if tables.opcode(Op::TO_BOOL).is_some() {
        &[Op::END_FOR, Op::POP_TOP]
    } else {
        &[Op::END_FOR]
    }
}

fn number(tables: &Tables, op: Op) -> u8 {
    // Every operation that a remedy names was looked up in the same tables, or is in all of them.
    tables.opcode(op).unwrap_or_default()
}

fn falls_off(index: usize) -> Error {
    Error::at(ErrorKind::FallsOffEnd, index as u32, "the code runs on behind its last instruction")
}
