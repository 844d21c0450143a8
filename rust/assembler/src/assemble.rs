//! The way back: a program becomes a code object's parts.
use crate::code::{Assembled, Program, RegionDepth};
use crate::emit;
use crate::error::{Error, Result};
use crate::inst::InstIdx;
use crate::layout::{Layout, Redirected};
use crate::version::Version;

/// What is reused from one code object to the next, and afterwards tells where everything went.
#[derive(Debug, Default)]
pub struct Scratch {
    layout: Layout,
    redirected: Redirected,
    is_redirected: bool,
    depths: Vec<u32>,
}

impl Scratch {
    /// Where the caller's instruction went: its first code unit (be it an EXTENDED_ARG) in the last code object assembled.
    #[must_use]
    pub fn unit_of(&self, index: InstIdx) -> u32 {
        self.layout.start(self.place(index))
    }

    /// The program as it was laid out, if it had to differ from the caller's: jumps have other opcodes, and there may be more instructions.
    #[must_use]
    pub fn redirected(&self) -> Option<&Redirected> {
        self.is_redirected.then_some(&self.redirected)
    }

    /// Units and sizes of what was laid out.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn place(&self, index: InstIdx) -> InstIdx {
        if self.is_redirected { self.redirected.place[index as usize] } else { index }
    }

    /// An error about an instruction that was laid out, as one about the caller's instruction that it stands for.
    fn in_callers_terms(&self, mut error: Error) -> Error {
        if let (true, Some(index)) = (self.is_redirected, error.index) {
            error.index = self.redirected.origin.get(index as usize).copied();
        }
        error
    }
}

/// Lays a program out and writes its three tables. `fill_depths` says how deep the stack of each region's handler is in the program that
/// is laid out, which differs from `program` where jumps had to be redirected.
///
/// # Errors
/// Records that are not well formed, jumps that cannot go where they should, positions that the line table cannot hold, and
/// what `fill_depths` refuses. Indices are the caller's.
pub fn encode<F>(
    version: Version,
    program: &Program,
    firstlineno: i32,
    scratch: &mut Scratch,
    fill_depths: F,
    out: &mut Assembled,
) -> Result<()>
where
    F: FnOnce(&Program, &mut Vec<u32>) -> Result<()>,
{
    scratch.is_redirected = false;
    if !scratch.layout.measure(version, program)? {
        scratch.redirected.redirect(version, program)?;
        scratch.is_redirected = true;
        scratch.layout.measure(version, &scratch.redirected.program)?;
    }
    let program = if scratch.is_redirected { &scratch.redirected.program } else { program };
    scratch.layout.grow(&program.insts);
    scratch.depths.clear();
    let write = || {
        fill_depths(program, &mut scratch.depths)?;
        emit::code(version, &program.insts, &scratch.layout, &mut out.code);
        emit::lines(version, &program.insts, &scratch.layout, firstlineno, &mut out.linetable)?;
        emit::exceptions(program, &scratch.layout, &scratch.depths, &mut out.exceptiontable);
        Ok(())
    };
    let written = write();
    written.map_err(|error| scratch.in_callers_terms(error))
}

/// The depths that the regions themselves state.
///
/// # Errors
/// Never; the form is that of [`encode`]'s parameter.
pub fn stated_depths(program: &Program, depths: &mut Vec<u32>) -> Result<()> {
    depths.extend(program.regions.iter().map(|region| match region.depth {
        RegionDepth::Fixed(depth) | RegionDepth::Below { stated: depth, .. } => depth,
    }));
    Ok(())
}
