//! Stores to locals that nobody reads any more.
use super::liveness::{Access, Liveness, accesses};
use crate::code::Program;
use crate::edit::Rewrite;
use crate::inst::Inst;
use crate::op::Op;
use crate::tables;
use crate::version::Version;

/// The locals that each instruction stores without need: bit 0 for its first store, bit 1 for its second.
///
/// A store counts as needed if it may put back what LOAD_FAST_AND_CLEAR took away, which can be the NULL of an unbound local. `locals()`, a
/// debugger and the moment of an object's death are not looked at: only the caller knows whether they matter.
#[must_use]
pub fn dead_stores(version: Version, program: &Program, locals: usize) -> Vec<u8> {
    let info = &tables::get(version).info;
    let mut put_back = vec![false; locals];
    for inst in &program.insts {
        if info[inst.opcode as usize].op == Op::LOAD_FAST_AND_CLEAR
            && let Some(local) = put_back.get_mut(inst.arg as usize)
        {
            *local = true;
        }
    }
    let mut dead = vec![0; program.insts.len()];
    Liveness::compute(version, program, locals).visit(version, program, |index, is_live| {
        let inst = &program.insts[index as usize];
        let info = &info[inst.opcode as usize];
        let stores = matches!(info.op, Op::STORE_FAST | Op::STORE_FAST_STORE_FAST | Op::STORE_FAST_LOAD_FAST);
        if !stores {
            return;
        }
        let accesses = accesses(info, inst.arg);
        for (at, access) in accesses.iter().enumerate() {
            let Some(Access::Write(local)) = *access else { continue };
            // What the same instruction does afterwards decides before what comes after it.
            let later = accesses[at + 1..].iter().flatten().find(|later| match later {
                Access::Read(other) | Access::Write(other) => *other == local,
            });
            let needed = match later {
                Some(Access::Read(_)) => true,
                Some(Access::Write(_)) => false,
                None => is_live(local),
            };
            if !needed && put_back.get(local as usize) == Some(&false) {
                dead[index as usize] |= 1 << at;
            }
        }
    });
    dead
}

/// Replaces each store that nobody reads by POP_TOP; how many.
pub fn remove_dead_stores(version: Version, program: &mut Program, locals: usize) -> usize {
    let dead = dead_stores(version, program, locals);
    let found = dead.iter().map(|dead| dead.count_ones() as usize).sum();
    if found == 0 {
        return 0;
    }
    let tables = tables::get(version);
    let number = |op| tables.opcode(op).unwrap_or_default();
    let mut rewrite = Rewrite::with_capacity(program.insts.len());
    for (inst, dead) in program.insts.iter().zip(dead) {
        rewrite.arrive();
        if dead == 0 {
            rewrite.push(*inst);
            continue;
        }
        let like = |op, arg| Inst { region: inst.region, loc: inst.loc, ..Inst::new(number(op), arg) };
        for (at, access) in accesses(&tables.info[inst.opcode as usize], inst.arg).into_iter().enumerate() {
            match access {
                Some(Access::Write(_)) if dead >> at & 1 == 1 => rewrite.push(like(Op::POP_TOP, 0)),
                Some(Access::Write(local)) => rewrite.push(like(Op::STORE_FAST, local)),
                Some(Access::Read(local)) => rewrite.push(like(Op::LOAD_FAST, local)),
                None => {}
            }
        }
    }
    rewrite.finish(program);
    found
}
