//! The way back: a program becomes a code object's parts.
//!
//! The order is forced: directions and sizes of jumps need the records alone; handler depths and the stack size need the instructions
//! that really will be there; the tables need all of it.
use crate::code::{Assembled, CodeMeta, Options, Program};
use crate::emit;
use crate::error::{Error, Result};
use crate::inst::InstIdx;
use crate::layout::{Layout, Redirected};
use crate::stack::{self, Depths};

/// What is reused from one code object to the next, and afterwards tells where everything went.
#[derive(Debug, Default)]
pub struct Scratch {
    layout: Layout,
    redirected: Redirected,
    is_redirected: bool,
    depths: Depths,
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

/// Assembles a program. What was in `out` is replaced; its memory is used again.
///
/// Where jumps have to be redirected, a copy of the program is laid out ([`Scratch::redirected`]); `program` stays as it is.
///
/// # Errors
/// Records that are not well formed, jumps that cannot go where they should, positions that the line table cannot hold, stack
/// depths that make no sense. Indices are those of `program`.
pub fn assemble(
    program: &Program,
    meta: &CodeMeta,
    options: Options,
    scratch: &mut Scratch,
    out: &mut Assembled,
) -> Result<()> {
    let version = meta.version;
    scratch.is_redirected = false;
    if !scratch.layout.measure(version, program)? {
        scratch.redirected.redirect(version, program)?;
        scratch.is_redirected = true;
        scratch.layout.measure(version, &scratch.redirected.program)?;
    }
    finish(program, meta, options, scratch, out).map_err(|error| scratch.in_callers_terms(error))
}

/// The steps whose errors speak of the instructions that are laid out.
fn finish(
    program: &Program,
    meta: &CodeMeta,
    _: Options,
    scratch: &mut Scratch,
    out: &mut Assembled,
) -> Result<()> {
    let Scratch { layout, redirected, is_redirected, depths } = scratch;
    let program = if *is_redirected { &redirected.program } else { program };
    layout.grow(&program.insts);
    stack::analyze(meta.version, program, depths)?;
    emit::code(meta.version, &program.insts, layout, &mut out.code);
    emit::lines(meta.version, &program.insts, layout, meta.firstlineno, &mut out.linetable)?;
    emit::exceptions(program, layout, &depths.regions, &mut out.exceptiontable);
    out.stacksize = depths.max;
    Ok(())
}
