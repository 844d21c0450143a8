//! Stack depth without types: the start depth of every instruction, the depth of every handler, and the stack size.
//!
//! A worklist over the heads of blocks; straight-line code is walked in place, each instruction once. This pass believes
//! what it is told (types, operands): it fails only where no depth makes sense. Proofs are [`crate::verify`]'s work.
pub(crate) mod effects;

use crate::code::{Program, RegionDepth};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::NO_INDEX;
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// The depth of what cannot be reached.
pub const UNREACHED: u32 = u32::MAX;
/// No code object may need more: CPython counts slots in an `int` and a frame must fit a chunk of memory.
pub const MAX_DEPTH: usize = 1 << 24;

/// What is known of a program's stack. Reused from one program to the next.
#[derive(Clone, Debug, Default)]
pub struct Depths {
    /// Depth before each instruction, or [`UNREACHED`].
    pub start: Vec<u32>,
    /// Depth to which each region unwinds before the handler's own values are pushed; what is stated if it cannot be known.
    pub regions: Vec<u32>,
    /// The largest depth: `co_stacksize`.
    pub max: u32,
    worklist: Vec<u32>,
    waiting: Vec<u32>,
}

impl Depths {
    /// The depth before an instruction, if it can be reached.
    #[must_use]
    pub fn before(&self, index: usize) -> Option<u32> {
        self.start.get(index).copied().filter(|depth| *depth != UNREACHED)
    }
}

/// Computes the depths.
///
/// # Errors
/// Underflow, two depths at one instruction, control that falls off the end, a stack beyond [`MAX_DEPTH`].
pub fn analyze(version: Version, program: &Program, depths: &mut Depths) -> Result<()> {
    let insts = &program.insts;
    depths.start.clear();
    depths.start.resize(insts.len(), UNREACHED);
    depths.regions.clear();
    depths.regions.resize(program.regions.len(), UNREACHED);
    depths.max = 0;
    depths.worklist.clear();
    depths.waiting.clear();
    if insts.is_empty() {
        return Err(Error::whole(ErrorKind::FallsOffEnd, "there are no instructions: end with a RETURN"));
    }
    let mut walk = Walk { version, program, depths };
    walk.reach(0, 0, 0)?;
    walk.run()?;
    // Regions whose anchor was met only after their handler was wanted, or never.
    while let Some(region) = walk.depths.waiting.pop() {
        if walk.depths.regions[region as usize] == UNREACHED {
            walk.enter_region(region, true)?;
            walk.run()?;
        }
    }
    for (found, region) in depths.regions.iter_mut().zip(&program.regions) {
        if *found == UNREACHED {
            *found = stated(region.depth);
        }
    }
    Ok(())
}

pub(crate) const fn stated(depth: RegionDepth) -> u32 {
    match depth {
        RegionDepth::Fixed(depth) | RegionDepth::Below { stated: depth, .. } => depth,
    }
}

struct Walk<'a> {
    version: Version,
    program: &'a Program,
    depths: &'a mut Depths,
}

impl Walk<'_> {
    /// Control comes from `from` to `index` with `depth` slots.
    fn reach(&mut self, from: u32, index: u32, depth: usize) -> Result<()> {
        let Some(start) = self.depths.start.get_mut(index as usize) else {
            return Err(Error::at(ErrorKind::BadTarget, from, "the target is outside of the program"));
        };
        if *start == UNREACHED {
            *start = depth as u32;
            self.depths.worklist.push(index);
        } else if *start as usize != depth {
            return Err(Error::at(
                ErrorKind::StackMismatch,
                index,
                format!(
                    "the stack holds {start} values here on one path and {depth} on the path from instruction {from}: make them equal"
                ),
            ));
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        while let Some(head) = self.depths.worklist.pop() {
            self.block(head)?;
        }
        Ok(())
    }

    /// Walks straight-line code from `head` until it ends or meets code that was walked before.
    fn block(&mut self, head: u32) -> Result<()> {
        let program = self.program;
        let info = &tables::get(self.version).info;
        let effects = effects::get(self.version);
        let mut depth = self.depths.start[head as usize] as usize;
        let mut max = self.depths.max as usize;
        let mut region = NO_INDEX;
        for (index, inst) in program.insts.iter().enumerate().skip(head as usize) {
            if index != head as usize {
                let start = &mut self.depths.start[index];
                if *start != UNREACHED {
                    self.depths.max = max as u32;
                    return self.reach(index as u32 - 1, index as u32, depth);
                }
                *start = depth as u32;
            }
            if inst.region != region {
                region = inst.region;
                if region != NO_INDEX {
                    self.depths.max = max as u32;
                    self.enter_region(region, false)?;
                    max = self.depths.max as usize;
                }
            }
            let info = &info[inst.opcode as usize];
            let effect = &effects[info.op as usize];
            let counts = effect.counts(inst.arg);
            if counts.need > depth {
                return Err(underflow(index as u32, counts.need, depth));
            }
            depth = depth - counts.pop + counts.push;
            if depth > max {
                max = depth;
                if depth > MAX_DEPTH {
                    return Err(Error::at(
                        ErrorKind::TooLarge,
                        index as u32,
                        "the stack grows beyond what a frame can hold",
                    ));
                }
            }
            if info.is_jump() && !info.has(OpFlags::NO_EDGE) {
                let at_target = depth.saturating_add_signed(effect.jump_difference());
                max = max.max(at_target);
                self.reach(index as u32, inst.target, at_target)?;
            }
            if !info.falls_through() {
                self.depths.max = max as u32;
                return Ok(());
            }
        }
        Err(falls_off(program.insts.len()))
    }

    /// Code of a region is reached: so is its handler, if the region's depth is known by now or `anyway`.
    fn enter_region(&mut self, region: u32, anyway: bool) -> Result<()> {
        let Some(r) = self.program.regions.get(region as usize) else {
            return Err(Error::whole(ErrorKind::BadRegion, format!("there is no region {region}")));
        };
        if self.depths.regions[region as usize] != UNREACHED {
            return Ok(());
        }
        let depth = match r.depth {
            RegionDepth::Fixed(depth) => depth,
            RegionDepth::Below { anchor, height, stated } => match self.depths.before(anchor as usize) {
                Some(start) => start.checked_sub(height).ok_or_else(|| {
                    Error::at(
                        ErrorKind::StackUnderflow,
                        anchor,
                        format!("a handler's stack starts {height} values below the {start} that are here"),
                    )
                })?,
                None if anyway => stated,
                None => {
                    self.depths.waiting.push(region);
                    return Ok(());
                }
            },
        };
        self.depths.regions[region as usize] = depth;
        let start = depth as usize + 1 + usize::from(r.lasti);
        if start > MAX_DEPTH {
            return Err(Error::at(
                ErrorKind::TooLarge,
                r.target,
                "the handler's stack is deeper than a frame can hold",
            ));
        }
        self.depths.max = self.depths.max.max(start as u32);
        self.reach(r.target, r.target, start)
    }
}

#[cold]
pub(crate) fn underflow(index: u32, need: usize, depth: usize) -> Error {
    Error::at(
        ErrorKind::StackUnderflow,
        index,
        format!("it needs {need} values on the stack, but there are {depth}"),
    )
}

#[cold]
pub(crate) fn falls_off(len: usize) -> Error {
    Error::at(
        ErrorKind::FallsOffEnd,
        len as u32 - 1,
        "control goes on past the last instruction: end with a return, a raise or a jump",
    )
}
