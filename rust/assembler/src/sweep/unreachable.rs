//! Instructions that control cannot reach.
use crate::code::{Program, RegionDepth};
use crate::edit::Rewrite;
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// For each instruction whether control can reach it, be it through an exception.
#[must_use]
pub fn reachable(version: Version, program: &Program) -> Vec<bool> {
    let info = &tables::get(version).info;
    let insts = &program.insts;
    let mut reached = vec![false; insts.len()];
    let mut entered = vec![false; program.regions.len()];
    let mut heads = vec![0];
    while let Some(head) = heads.pop() {
        let from = (head as usize).min(insts.len());
        for (inst, reached) in insts[from..].iter().zip(&mut reached[from..]) {
            if std::mem::replace(reached, true) {
                break;
            }
            if let Some(entered) = entered.get_mut(inst.region as usize)
                && !std::mem::replace(entered, true)
            {
                heads.push(program.regions[inst.region as usize].target);
            }
            let info = &info[inst.opcode as usize];
            if info.is_jump() && !info.has(OpFlags::NO_EDGE) {
                heads.push(inst.target);
            }
            if !info.falls_through() {
                break;
            }
        }
    }
    reached
}

/// Removes what control cannot reach; how many instructions that were.
pub fn remove_unreachable(version: Version, program: &mut Program) -> usize {
    let reached = reachable(version, program);
    let dead = reached.iter().filter(|&&reached| !reached).count();
    if dead == 0 {
        return 0;
    }
    // An anchor that goes was never reached, so its region has the depth that is stated.
    for region in &mut program.regions {
        if let RegionDepth::Below { anchor, stated, .. } = region.depth
            && !reached.get(anchor as usize).is_some_and(|&reached| reached)
        {
            region.depth = RegionDepth::Fixed(stated);
        }
    }
    let mut rewrite = Rewrite::with_capacity(program.insts.len() - dead);
    for (inst, reached) in program.insts.iter().zip(reached) {
        rewrite.arrive();
        if reached {
            rewrite.push(*inst);
        }
    }
    rewrite.finish(program);
    // Regions and jumps that nobody uses any more may point behind the end.
    let last = (program.insts.len() as u32).saturating_sub(1);
    for region in &mut program.regions {
        region.target = region.target.min(last);
    }
    for inst in program.insts.iter_mut().filter(|inst| inst.jump().is_some()) {
        inst.target = inst.target.min(last);
    }
    dead
}
