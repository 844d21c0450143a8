//! Loops that nothing can interrupt: CPython looks for signals at backward jumps and RESUME, but not where an exception goes to
//! its handler nor at JUMP_BACKWARD_NO_INTERRUPT, and after calls only where they were not specialised away. A cycle of nothing
//! else would make the process deaf for ever.
use crate::code::{CodeMeta, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::effects;
use crate::tables::{self, OpFlags};
use crate::version::Version;

const ON_PATH: u8 = 1;
const DONE: u8 = 2;

/// When an operation lets signals in before control leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Never,
    /// Not when control goes on, nor when the test of the condition raises.
    WhenItJumps,
    Always,
}

fn looks(version: Version, op: Op, arg: u32) -> Looks {
    match op {
        Op::POP_JUMP_BACKWARD_IF_FALSE
        | Op::POP_JUMP_BACKWARD_IF_TRUE
        | Op::POP_JUMP_BACKWARD_IF_NONE
        | Op::POP_JUMP_BACKWARD_IF_NOT_NONE => Looks::WhenItJumps,
        Op::JUMP_BACKWARD
        // Whoever resumes the generator is asked.
        | Op::YIELD_VALUE => Looks::Always,
        Op::RESUME if arg & (if version == Version::V315 { 7 } else { 3 }) < 2 => Looks::Always,
        _ => Looks::Never,
    }
}

/// Fails if there is a cycle without a look for signals. Only programs with JUMP_BACKWARD_NO_INTERRUPT, or with a region whose handler
/// stands before its end, can have one.
pub(super) fn check(program: &Program, meta: &CodeMeta<'_>) -> Result<()> {
    let version = meta.version;
    let info = &tables::get(version).info;
    let effects = effects::get(version);
    let insts = &program.insts;
    let handler = |index: usize| -> Option<u32> {
        let inst = &insts[index];
        let quiet = effects[info[inst.opcode as usize].op as usize].quiet;
        if inst.region == NO_INDEX || quiet {
            None
        } else {
            Some(program.regions[inst.region as usize].target)
        }
    };
    // 3.13's own compiler closes `while not a < b < c` with JUMP_BACKWARD_NO_INTERRUPT, so just that has to pass.
    let chain_of_comparisons = |from: u32, to: u32| {
        let body = insts.get(from as usize..to as usize).unwrap_or_default();
        let op = |inst: &Inst| info[inst.opcode as usize].op;
        let ops: Vec<Op> = body.iter().map(op).filter(|op| *op != Op::NOP).collect();
        let compares = |op| matches!(op, Op::COMPARE_OP | Op::CONTAINS_OP | Op::IS_OP);
        ops.last() == Some(&Op::POP_TOP)
            && ops.windows(3).any(|w| (w[0], w[1]) == (Op::SWAP, Op::COPY) && compares(w[2]))
    };
    // Every cycle has an edge that goes backward, so it is enough to set out from those that are deaf.
    let deaf_backward = |index: usize| {
        let inst = &insts[index];
        info[inst.opcode as usize].op == Op::JUMP_BACKWARD_NO_INTERRUPT
            || (inst.region != NO_INDEX && handler(index).is_some_and(|target| target as usize <= index))
    };
    let mut roots = (0..insts.len()).filter(|&index| deaf_backward(index)).peekable();
    if roots.peek().is_none() {
        return Ok(());
    }
    // The n-th deaf edge out of an instruction.
    let edge = |index: u32, n: u8| -> Option<u32> {
        let inst = &insts[index as usize];
        let info = &info[inst.opcode as usize];
        match looks(version, info.op, inst.arg) {
            Looks::Always => return None,
            Looks::WhenItJumps if n == 1 => return None,
            _ => {}
        }
        if version == Version::V313
            && info.op == Op::JUMP_BACKWARD_NO_INTERRUPT
            && chain_of_comparisons(inst.target, index)
        {
            return None;
        }
        match n {
            0 if info.falls_through() => Some(index + 1).filter(|next| (*next as usize) < insts.len()),
            1 if info.is_jump() && !info.has(OpFlags::NO_EDGE) => Some(inst.target),
            2 => handler(index as usize),
            _ => None,
        }
    };
    let mut state = vec![0_u8; insts.len()];
    let mut path: Vec<(u32, u8)> = Vec::new();
    for root in roots {
        if state[root] != 0 {
            continue;
        }
        state[root] = ON_PATH;
        path.push((root as u32, 0));
        while let Some((index, n)) = path.last_mut() {
            if *n > 2 {
                state[*index as usize] = DONE;
                path.pop();
                continue;
            }
            let (from, to) = (*index, edge(*index, *n));
            *n += 1;
            let Some(to) = to else { continue };
            match state[to as usize] {
                0 => {
                    state[to as usize] = ON_PATH;
                    path.push((to, 0));
                }
                ON_PATH => {
                    return Err(Error::at(
                        ErrorKind::BadJump,
                        from,
                        format!(
                            "from here control can go round by way of instruction {to} for ever, and no signal gets in: \
                             use JUMP_BACKWARD, or end the region before its own handler"
                        ),
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
