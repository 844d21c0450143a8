//! Where jumps back land, for 3.11 and 3.12.
//!
//! These versions jump back first and look for signals then. The exception that a signal's handler raises is looked up by the
//! code unit before the one that would run next: that is not the jump, but whatever stands before its *target*, in a region
//! that may have nothing to do with either. If that region's handler counts on more values than are there, it runs on a stack
//! of garbage. A NOP in front of the target, in the target's region, gives the exception to whom it belongs.
//!
//! CPython's own compiler does not look out for this, so code that nobody edited stays as it is.
use super::Adapted;
use crate::code::Program;
use crate::inst::NO_INDEX;
use crate::op::Op;
use crate::stack::UNREACHED;
use crate::tables;
use crate::version::Version;

/// Whether it matters what stands before the target of a jump back.
pub(crate) const fn matters(version: Version) -> bool {
    matches!(version, Version::V311 | Version::V312)
}

/// Whether a jump back looks for signals.
pub(crate) fn looks(op: Op) -> bool {
    op != Op::JUMP_BACKWARD_NO_INTERRUPT
}

/// Whether the exception of a jump to `target` goes to another region than the target's.
pub(crate) fn strays(program: &Program, target: u32) -> bool {
    let region = |index: u32| program.insts.get(index as usize).map_or(NO_INDEX, |inst| inst.region);
    let Some(before) = target.checked_sub(1).map(region) else { return false };
    let here = region(target);
    before != here && program.regions.get(before as usize) != program.regions.get(here as usize)
}

/// The targets of jumps back that look for signals.
fn landings(version: Version, program: &Program) -> impl Iterator<Item = u32> {
    let tables = tables::get(version);
    let insts = if program.regions.is_empty() || !matters(version) { &[] } else { &program.insts[..] };
    insts.iter().enumerate().filter_map(|(index, inst)| {
        let target = inst.jump().filter(|target| *target as usize <= index)?;
        looks(tables.op(inst.opcode)).then_some(target)
    })
}

/// Whether a program whose jumps fit their directions must be adapted if it was edited.
pub(crate) fn needed(version: Version, program: &Program) -> bool {
    landings(version, program).any(|target| strays(program, target))
}

/// Puts a NOP in front of each target where a jump back must not land. All jumps have their final directions.
pub(super) fn mend(out: &mut Adapted, version: Version, original: &Program) {
    let depth = |index: u32| out.depths.before(out.origin[index as usize] as usize);
    let is_shallow = |target: u32| {
        let before = target.checked_sub(1).map(|before| out.program.insts[before as usize].region);
        let level = before.and_then(|region| out.depths.regions.get(region as usize));
        level.zip(depth(target)).is_some_and(|(level, depth)| *level != UNREACHED && *level > depth)
    };
    let targets: Vec<u32> = landings(version, &out.program)
        .filter(|target| strays(&out.program, *target) || is_shallow(*target))
        .collect();
    if !targets.is_empty() {
        out.insert_nops(version, original, targets);
    }
}
