//! The exception region of a jump that is added or turned around.
//!
//! A jump back can raise: it is where CPython looks for signals. A region's handler counts on the values below its depth, and
//! CPython's own regions also cover instructions that have fewer but cannot raise (3.15's generator expressions). A jump back
//! that is put among those belongs to no such region, but to the next one around it that the stack is deep enough for.
use crate::code::Program;
use crate::inst::NO_INDEX;
use crate::stack::{Depths, UNREACHED};

/// `region`, or where the stack that remains at the jump (`None`: it is not known) is below its depth, the next region around it where
/// it is not.
pub(super) fn fitting(program: &Program, depths: &Depths, region: u32, remaining: Option<u32>) -> u32 {
    let Some(remaining) = remaining else { return region };
    let mut at = region;
    // A handler stands in the region around its own, or in one that is deeper and that is around in turn. More steps than there are
    // regions are a circle.
    for _ in 0..=program.regions.len() {
        let Some(found) = program.regions.get(at as usize) else { return NO_INDEX };
        let level = depths.regions.get(at as usize).copied().unwrap_or(UNREACHED);
        if level <= remaining || level == UNREACHED {
            return at;
        }
        at = program.insts.get(found.target as usize).map_or(NO_INDEX, |handler| handler.region);
    }
    NO_INDEX
}
