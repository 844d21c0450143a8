//! Layout: at which unit each instruction begins.
//!
//! Jumps need EXTENDED_ARG prefixes according to their distance, and prefixes lengthen distances. So sizes start at their
//! minimum and only grow, until every distance fits: the least layout that holds. Only jumps whose distance is near enough to
//! a limit to be pushed over it are looked at again.
mod cascade;

use crate::code::Program;
use crate::disasm::legal;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::NO_INDEX;
use crate::shape;
use crate::version::Version;

/// Programs of more instructions are refused, so that no sum of sizes can overflow 32 bits.
pub const MAX_INSTRUCTIONS: usize = 1 << 24;

/// So many rounds over the near jumps are cheaper than the machinery that bounds the work of a long cascade.
const ROUNDS: usize = 8;

/// The units at which instructions begin. Reusable.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// First unit (be it a prefix) of each instruction, and the end of the code.
    starts: Vec<u32>,
    jumps: Vec<Jump>,
    near: Vec<Near>,
    /// Prefixes that each jump grew by.
    grown: Vec<u32>,
    /// Running sum of `grown`.
    before: Vec<u32>,
}

/// What growing wants to know of a jump, apart from its record: in large programs records are far from each other.
#[derive(Clone, Copy, Debug)]
struct Jump {
    index: u32,
    target: u32,
    /// Prefixes before any growth.
    prefixes: u32,
}

/// A jump near enough to a limit to be pushed over it by the growth of others.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Its place among the jumps.
    rank: u32,
    /// Its distance if no jump grows.
    base: u32,
    /// Prefixes before any growth.
    prefixes: u32,
    /// The jumps whose growth adds to the distance: `lo..hi` among the jumps.
    lo: u32,
    hi: u32,
}

impl Layout {
    /// First unit of an instruction; of the end of the code for the index after the last.
    #[inline]
    #[must_use]
    pub fn start(&self, index: u32) -> u32 {
        self.starts[index as usize]
    }

    /// Units that an instruction takes, prefixes and caches included.
    #[inline]
    #[must_use]
    pub fn size(&self, index: u32) -> u32 {
        self.starts[index as usize + 1] - self.starts[index as usize]
    }

    /// First units of all instructions, and the end of the code.
    #[must_use]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Units of the whole code.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Lays out a program whose jumps all have the opcodes of their direction.
    ///
    /// # Errors
    /// As [`Layout::measure`].
    pub fn compute(&mut self, version: Version, program: &Program) -> Result<()> {
        self.measure(version, program)?;
        self.grow();
        Ok(())
    }

    /// Checks every record's form, and lays the program out as if all jumps were short. Says whether all jumps have the opcodes
    /// of their direction.
    ///
    /// # Errors
    /// An opcode that this version does not have, a target or region that does not exist, a jump without target, a program that is too
    /// large.
    #[allow(clippy::needless_bitwise_bool, reason = "one branch for four rare conditions")]
    pub fn measure(&mut self, version: Version, program: &Program) -> Result<bool> {
        let shapes = shape::of(version);
        let count = program.insts.len();
        want_few(count)?;
        let regions = program.regions.len() as u32;
        self.jumps.clear();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        let (mut unit, mut bad, mut fits) = (0, false, true);
        let starts = &mut self.starts[..count];
        for (index, inst) in program.insts.iter().enumerate() {
            starts[index] = unit;
            let shape = shapes[inst.opcode as usize];
            bad |= shape.is_illegal() | (inst.region.wrapping_add(1) > regions);
            unit += 1 + shape.caches();
            if shape.is_jump() | ((inst.arg >> 8) | !inst.target | inst.written.prefixes() != 0) {
                let mut prefixes = inst.written.prefixes();
                if shape.is_jump() {
                    bad |= inst.target as usize >= count;
                    fits &= (inst.target as usize <= index) == shape.is_backward();
                    self.jumps.push(Jump { index: index as u32, target: inst.target, prefixes });
                } else {
                    bad |= inst.target != NO_INDEX;
                    prefixes = prefixes.max(shape::prefixes(inst.arg));
                }
                unit += prefixes;
            }
        }
        self.starts[count] = unit;
        if bad || program.regions.iter().any(|region| region.target as usize >= count) {
            return Err(malformed(version, program));
        }
        Ok(fits)
    }

    /// Lengthens jumps until every distance fits.
    pub fn grow(&mut self) {
        if self.units() <= 0xff || !self.some_jump_is_long() {
            return;
        }
        self.find_near();
        self.grown.clear();
        self.grown.resize(self.jumps.len(), 0);
        if !self.rounds() {
            cascade::settle(&self.near, &mut self.grown);
        }
        self.shift();
    }

    /// Whether no layout but the short one is needed.
    fn some_jump_is_long(&self) -> bool {
        let is_long = |jump: &Jump| shape::prefixes(self.distance(jump.index, jump.target)) > jump.prefixes;
        self.jumps.iter().any(is_long)
    }

    /// The operand of the jump at `index` to `target`.
    #[inline]
    #[must_use]
    pub fn distance(&self, index: u32, target: u32) -> u32 {
        self.start(index + 1).abs_diff(self.start(target))
    }

    fn find_near(&mut self) {
        self.near.clear();
        let mut bound = 0;
        for (rank, &Jump { index, target, prefixes }) in (0_u32..).zip(&self.jumps) {
            let base = self.distance(index, target);
            let between = index.abs_diff(target) + 1;
            if shape::prefixes(base + 3 * between) <= prefixes {
                continue;
            }
            bound = first_from(&self.jumps, target, bound);
            let (lo, hi) = if target > index { (rank + 1, bound) } else { (bound, rank + 1) };
            if shape::prefixes(base + 3 * (hi - lo)) > prefixes {
                self.near.push(Near { rank, base, prefixes, lo, hi });
            }
        }
    }

    /// Grows what must grow, a few times over. Says whether that settled it.
    fn rounds(&mut self) -> bool {
        for _ in 0..ROUNDS {
            self.sum_up();
            let mut settled = true;
            for near in &self.near {
                let distance = near.base + self.before[near.hi as usize] - self.before[near.lo as usize];
                let needed = shape::prefixes(distance);
                let grown = &mut self.grown[near.rank as usize];
                if needed > near.prefixes + *grown {
                    *grown = needed - near.prefixes;
                    settled = false;
                }
            }
            if settled {
                return true;
            }
        }
        false
    }

    fn sum_up(&mut self) {
        self.before.clear();
        let mut sum = 0;
        self.before.push(0);
        self.before.extend(self.grown.iter().map(|grown| {
            sum += grown;
            sum
        }));
    }

    /// Moves everything behind a jump that grew.
    fn shift(&mut self) {
        let (mut sum, mut done) = (0, 0);
        for (jump, &grown) in self.jumps.iter().zip(&self.grown) {
            if grown > 0 {
                let end = jump.index as usize + 1;
                self.starts[done..end].iter_mut().for_each(|start| *start += sum);
                (sum, done) = (sum + grown, end);
            }
        }
        self.starts[done..].iter_mut().for_each(|start| *start += sum);
    }
}

/// The place of the first jump that stands at `index` or behind it, looked for in growing steps from `near`: the targets of jumps that
/// follow each other tend to do so, too.
fn first_from(jumps: &[Jump], index: u32, near: u32) -> u32 {
    let is_before = |jump: &Jump| jump.index < index;
    let (mut lo, mut hi) = (near as usize, near as usize);
    let mut step = 1;
    while lo > 0 && !is_before(&jumps[lo - 1]) {
        hi = lo - 1;
        lo = lo.saturating_sub(step);
        step *= 2;
    }
    while jumps.get(hi).is_some_and(is_before) {
        lo = hi + 1;
        hi = jumps.len().min(hi + step);
        step *= 2;
    }
    (lo + jumps[lo..hi].partition_point(is_before)) as u32
}

fn want_few(count: usize) -> Result<()> {
    if count <= MAX_INSTRUCTIONS {
        return Ok(());
    }
    let reason = format!("more than {MAX_INSTRUCTIONS} instructions");
    Err(Error::whole(ErrorKind::TooLarge, reason))
}

/// The error for the first record that is not well formed.
#[cold]
fn malformed(version: Version, program: &Program) -> Error {
    let count = program.insts.len();
    for (index, inst) in (0_u32..).zip(&program.insts) {
        if let Err(error) = legal(version, inst.opcode, index) {
            return error;
        }
        if inst.region != NO_INDEX && inst.region as usize >= program.regions.len() {
            return Error::at(ErrorKind::BadRegion, index, "its exception region does not exist");
        }
        match (shape::of(version)[inst.opcode as usize].is_jump(), inst.target) {
            (true, NO_INDEX) => return Error::at(ErrorKind::BadTarget, index, "the jump has no target"),
            (true, target) if target as usize >= count => {
                return Error::at(ErrorKind::BadTarget, index, "the jump's target is not in the program");
            }
            (false, target) if target != NO_INDEX => {
                return Error::at(ErrorKind::BadTarget, index, "it has a target but is not a jump");
            }
            _ => {}
        }
    }
    Error::whole(ErrorKind::BadRegion, "the handler of an exception region is not in the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_jump_from_an_index_on_is_found_from_anywhere() {
        let jumps: Vec<_> = (0..40).map(|place| Jump { index: 3 * place, target: 0, prefixes: 0 }).collect();
        for count in [0, 1, 2, 7, 40] {
            let jumps = &jumps[..count];
            for index in 0..125 {
                let wanted = jumps.partition_point(|jump| jump.index < index) as u32;
                for near in 0..=count as u32 {
                    assert_eq!(first_from(jumps, index, near), wanted, "{count} {index} {near}");
                }
            }
        }
    }
}
