//! Rebuilding a program's list of instructions, with everything that counts in indices kept right.
use crate::code::{Program, Region, RegionDepth};
use crate::inst::Inst;

/// A list in the making. Instructions are pushed with targets in the old list's numbers.
#[derive(Debug, Default)]
pub struct Rewrite {
    /// The new list.
    insts: Vec<Inst>,
    /// For each old instruction the new index that its jumps, handlers and anchors go to.
    place: Vec<u32>,
}

impl Rewrite {
    /// An empty list that will become about `len` long.
    #[must_use]
    pub fn with_capacity(len: usize) -> Self {
        Self { insts: Vec::with_capacity(len), place: Vec::with_capacity(len) }
    }

    /// What is pushed next is where the next old instruction can be found. To be said once for each, in order.
    pub fn arrive(&mut self) {
        self.place.push(self.insts.len() as u32);
    }

    /// Appends an instruction.
    pub fn push(&mut self, inst: Inst) {
        self.insts.push(inst);
    }

    /// Puts the new list into the program, and everything in its numbers. Returns where each old instruction can be found.
    pub fn finish(self, program: &mut Program) -> Vec<u32> {
        program.insts = self.insts;
        renumber(&mut program.insts, &self.place);
        renumber_regions(&mut program.regions, &self.place);
        self.place
    }
}

/// Takes targets from old numbers to new ones.
pub(crate) fn renumber(insts: &mut [Inst], place: &[u32]) {
    for inst in insts {
        if let Some(&target) = place.get(inst.target as usize) {
            inst.target = target;
        }
    }
}

/// Takes handlers and anchors from old numbers to new ones.
pub(crate) fn renumber_regions(regions: &mut [Region], place: &[u32]) {
    for region in regions {
        let mut depth = region.depth;
        let anchor = match &mut depth {
            RegionDepth::Below { anchor, .. } => Some(anchor),
            RegionDepth::Fixed(_) => None,
        };
        for index in [Some(&mut region.target), anchor].into_iter().flatten() {
            *index = place.get(*index as usize).copied().unwrap_or(*index);
        }
        region.depth = depth;
    }
}
