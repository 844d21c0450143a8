//! Adaptation: what CPython needs and the caller need not think of, added to a copy of the program.
//!
//! Unedited code needs nothing, and then there is no copy.
mod cover;
pub(crate) mod delegation;
mod direction;
mod guard;
pub(crate) mod landing;
pub(crate) mod suspension;

use crate::code::{CodeMeta, Program};
use crate::edit::{self, Rewrite};
use crate::error::Result;
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::{self, Depths};
use crate::tables;
use crate::verify::SUSPENDING;
use crate::version::Version;

/// A copy of a program with whatever CPython needs.
#[derive(Clone, Debug, Default)]
pub struct Adapted {
    /// The copy.
    pub program: Program,
    /// For each instruction of the copy the one of the original that it is or was added for.
    pub origin: Vec<u32>,
    /// For each instruction of the original its place in the copy.
    pub place: Vec<u32>,
    /// Depths in the original, as far as they make sense.
    depths: Depths,
}

/// Whether a program whose jumps fit their directions must be adapted if anybody edited it: CPython's own compiler may have written
/// it so all the same.
#[must_use]
pub fn is_unsafe_as_compiled(program: &Program, meta: &CodeMeta<'_>) -> bool {
    let version = meta.version;
    landing::needed(version, program)
        || (meta.flags & SUSPENDING != 0 && suspension::skips_any_other(version, program))
        || (meta.has_class_cell && borrows_first(version, program))
        || needed(version, program)
}

/// Whether an inlined comprehension has a variable of its own in the slot of the first argument, where `super()` looks for that.
fn borrows_first(version: Version, program: &Program) -> bool {
    let tables = tables::get(version);
    let borrows = |inst: &Inst| inst.arg == 0 && tables.op(inst.opcode) == Op::LOAD_FAST_AND_CLEAR;
    program.insts.iter().any(borrows)
}

/// Whether something stands at the edge of a region, or in one, where it must not.
fn needed(version: Version, program: &Program) -> bool {
    if program.regions.is_empty() || version < Version::V312 {
        return false;
    }
    let tables = tables::get(version);
    let mut region = program.insts.first().map_or(NO_INDEX, |first| first.region);
    program.insts.iter().enumerate().any(|(index, inst)| {
        let edge = inst.region != region;
        region = inst.region;
        edge && index.checked_sub(1).is_some_and(|before| {
            guard::needed(version, tables, program, program.insts[before].region, index)
        }) || (region != NO_INDEX && suspension::unmarked(version, tables, program, index).is_some())
    })
}

impl Adapted {
    /// Copies `program`, whose records have passed [`crate::layout::Layout::measure`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::BadJump`] for a backward FOR_ITER whose target is not the END_FOR that this version wants there, and
    /// [`crate::ErrorKind::FallsOffEnd`] where code would have to be added behind a last instruction that runs on.
    pub fn adapt(&mut self, version: Version, program: &Program) -> Result<()> {
        let tables = tables::get(version);
        self.program.insts.clear();
        self.program.regions.clear();
        self.origin.clear();
        self.place.clear();
        self.depths.start.clear();
        if !program.regions.is_empty() {
            // A stack that makes no sense is reported later, about the instructions that are laid out.
            let _ = stack::analyze(version, program, &mut self.depths);
        }
        for index in 0..program.insts.len() {
            let before = self.program.insts.last().map(|before| before.region);
            if before.is_some_and(|before| guard::needed(version, tables, program, before, index)) {
                let nop = Inst::new(tables.opcode(Op::NOP).unwrap_or_default(), 0);
                let Inst { region, loc, .. } = program.insts[index];
                self.push(index, Inst { region, loc, ..nop });
            }
            let place = self.program.insts.len();
            self.place.push(place as u32);
            direction::copy(self, version, program, index)?;
            if let Some(operand) = suspension::unmarked(version, tables, program, index) {
                self.program.insts[place].arg = operand;
            }
        }
        self.program.regions.extend_from_slice(&program.regions);
        edit::renumber(&mut self.program.insts, &self.place);
        edit::renumber_regions(&mut self.program.regions, &self.place);
        direction::append_trampolines(self, version, program)?;
        delegation::mend(self, version, program);
        landing::mend(self, version, program);
        Ok(())
    }

    /// Puts a NOP in front of each of some instructions, with its position, and in its region if the stack there is deep enough
    /// for that. Jumps go where they went, behind the NOP. Returns where each instruction is now.
    fn insert_nops(&mut self, version: Version, original: &Program, mut before: Vec<u32>) -> Vec<u32> {
        before.sort_unstable();
        before.dedup();
        let nop = Inst::new(tables::get(version).opcode(Op::NOP).unwrap_or_default(), 0);
        let count = self.program.insts.len() + before.len();
        let mut before = before.into_iter().peekable();
        let (mut rewrite, mut origins) = (Rewrite::with_capacity(count), Vec::with_capacity(count));
        for (index, (inst, &origin)) in (0_u32..).zip(self.program.insts.iter().zip(&self.origin)) {
            if before.next_if_eq(&index).is_some() {
                let depth = self.depths.before(origin as usize);
                let region = cover::fitting(original, &self.depths, inst.region, depth);
                rewrite.push(Inst { region, loc: inst.loc, ..nop });
                origins.push(origin);
            }
            rewrite.arrive();
            rewrite.push(*inst);
            origins.push(origin);
        }
        let moved = rewrite.finish(&mut self.program);
        self.origin = origins;
        for place in &mut self.place {
            *place = moved[*place as usize];
        }
        moved
    }

    fn push(&mut self, origin: usize, inst: Inst) {
        self.program.insts.push(inst);
        self.origin.push(origin as u32);
    }
}
