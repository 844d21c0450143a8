//! Unconditional jumps to the next instruction.
use crate::code::Program;
use crate::edit::Rewrite;
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::tables::{self, Tables};
use crate::version::Version;

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// A NOP stays in its place, because it is all there is of its source line and a debugger may stop there.
    Nop,
}

fn is_unconditional(tables: &Tables, inst: &Inst) -> bool {
    matches!(tables.op(inst.opcode), Op::JUMP_FORWARD | Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT)
}

/// For each instruction whether it is a jump to the next one that stays, and if so, what becomes of it.
#[must_use]
pub fn pointless_jumps(version: Version, program: &Program) -> Vec<Fate> {
    let tables = tables::get(version);
    let insts = &program.insts;
    let mut fates = vec![Fate::Keep; insts.len()];
    let mut is_target = vec![false; insts.len()];
    let targets =
        insts.iter().map(|inst| inst.target).chain(program.regions.iter().map(|region| region.target));
    for target in targets {
        if let Some(is_target) = is_target.get_mut(target as usize) {
            *is_target = true;
        }
    }
    // Backward, so that a jump over pointless jumps is found to be one itself.
    let mut next = insts.len();
    for (index, inst) in insts.iter().enumerate().rev() {
        let lands = (index + 1..=next).contains(&(inst.target as usize));
        if is_unconditional(tables, inst) && lands && next < insts.len() {
            let line = inst.loc.line;
            // Whoever comes from the line before has been told of it already, unless the jump can be reached from elsewhere.
            let before = index.checked_sub(1).filter(|_| !is_target[index]).map(|before| insts[before]);
            let told = before.is_some_and(|before| {
                before.loc.line == line && tables.info[before.opcode as usize].falls_through()
            });
            if !line.is_some() || line == insts[next].loc.line || told {
                fates[index] = Fate::Remove;
                continue;
            }
            fates[index] = Fate::Nop;
        }
        next = index;
    }
    fates
}

/// Removes unconditional jumps to the next instruction; how many.
pub fn remove_pointless_jumps(version: Version, program: &mut Program) -> usize {
    let fates = pointless_jumps(version, program);
    let found = fates.iter().filter(|&&fate| fate != Fate::Keep).count();
    if found == 0 {
        return 0;
    }
    let nop = tables::get(version).opcode(Op::NOP).unwrap_or_default();
    let mut rewrite = Rewrite::with_capacity(program.insts.len());
    for (inst, fate) in program.insts.iter().zip(fates) {
        rewrite.arrive();
        match fate {
            Fate::Keep => rewrite.push(*inst),
            Fate::Remove => {}
            Fate::Nop => rewrite.push(Inst {
                target: NO_INDEX,
                region: inst.region,
                loc: inst.loc,
                ..Inst::new(nop, 0)
            }),
        }
    }
    rewrite.finish(program);
    found
}
