//! The way back: a program becomes a code object's parts.
//!
//! The order is forced: directions and sizes of jumps need the records alone; handler depths and the stack size need the instructions
//! that really will be there; the tables need all of it.
use crate::adapt::{self, Adapted, landing};
use crate::code::{Assembled, CodeMeta, Options, Program};
use crate::disasm::Unedited;
use crate::emit;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::InstIdx;
use crate::layout::Layout;
use crate::stack::{self, Depths};
use crate::units;
use crate::verify::{self, Origin};
use crate::version::Version;

/// What is reused from one code object to the next, and afterwards tells where everything went.
#[derive(Debug, Default)]
pub struct Scratch {
    layout: Layout,
    adapted: Adapted,
    is_adapted: bool,
    depths: Depths,
    verify: verify::Scratch,
}

impl Scratch {
    /// Where the caller's instruction went: its first code unit (be it an EXTENDED_ARG) in the last code object assembled.
    #[must_use]
    pub fn unit_of(&self, index: InstIdx) -> u32 {
        self.layout.start(self.place(index))
    }

    /// The program as it was laid out, if it had to differ from the caller's.
    #[must_use]
    pub fn adapted(&self) -> Option<&Adapted> {
        self.is_adapted.then_some(&self.adapted)
    }

    /// Units and sizes of what was laid out.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Has a copy of the program laid out that has what CPython needs.
    fn adapt(&mut self, version: Version, program: &Program) -> Result<()> {
        self.adapted.adapt(version, program)?;
        self.is_adapted = true;
        self.layout.measure(version, &self.adapted.program).map(|_| ())
    }

    fn place(&self, index: InstIdx) -> InstIdx {
        if self.is_adapted { self.adapted.place[index as usize] } else { index }
    }

    /// An error about an instruction that was laid out, as one about the caller's instruction that it stands for.
    fn in_callers_terms(&self, mut error: Error) -> Error {
        if let (true, Some(index)) = (self.is_adapted, error.index) {
            error.index = self.adapted.origin.get(index as usize).copied();
        }
        error
    }
}

/// Assembles a program. What was in `out` is replaced; its memory is used again.
///
/// Where CPython needs something else than the caller wrote, an adapted copy is laid out ([`Scratch::adapted`]); `program` stays as it is.
///
/// # Errors
/// Records that are not well formed, jumps that cannot go where they should, positions that the line table cannot hold, stack
/// depths that make no sense. Indices are those of `program`.
pub fn assemble(
    program: &Program,
    meta: &CodeMeta,
    options: Options<'_>,
    scratch: &mut Scratch,
    out: &mut Assembled,
) -> Result<()> {
    let version = meta.version;
    scratch.is_adapted = false;
    let fits = scratch.layout.measure(version, program)?;
    let compilers_own = adapt::is_unsafe_as_compiled(program, meta);
    if let Some(original) = options.original.filter(|_| fits && compilers_own) {
        let result = finish(program, meta, options, Origin::Compiler, scratch, out);
        let is_unedited =
            || units::same(version, &original, &out.code) && original.exceptiontable == out.exceptiontable;
        if result.is_ok() && is_unedited() {
            return Ok(());
        }
        scratch.layout.measure(version, program)?;
    }
    if !fits || compilers_own {
        scratch.adapt(version, program)?;
    }
    let mut result = finish(program, meta, options, Origin::Edited, scratch, out);
    if !scratch.is_adapted
        && result.as_ref().is_err_and(|error| match error.kind {
            // A jump back may land in a region that does not fit the stack there, which is not seen before depths are known.
            ErrorKind::BadRegion => landing::matters(version),
            // SEND may lead to something that it must not.
            ErrorKind::BadAdjacency => true,
            _ => false,
        })
    {
        scratch.adapt(version, program)?;
        result = finish(program, meta, options, Origin::Edited, scratch, out);
    }
    if result.as_ref().is_err_and(|error| error.kind == ErrorKind::UnsafeBorrow) {
        // An edit came between a borrowed load and its use: let such loads own what they load, which takes no more room.
        if !scratch.is_adapted {
            scratch.adapt(version, program)?;
        }
        result = verify::demote_borrows(&mut scratch.adapted.program, meta, &mut scratch.verify)
            .and_then(|_| scratch.layout.measure(version, &scratch.adapted.program))
            .and_then(|_| finish(program, meta, options, Origin::Edited, scratch, out));
    }
    result.map_err(|error| scratch.in_callers_terms(error))
}

/// The stack size of a program that nobody edited since [`crate::disasm::disassemble_unedited`] took it apart, if it can go back as
/// it is: every instruction stays where it stood, and the tables of the original hold. Otherwise it must be taken apart with its
/// positions and assembled, which also says what is wrong with it if something is.
#[must_use]
pub fn size_in_place(
    program: &Program,
    meta: &CodeMeta,
    unedited: &Unedited,
    verify: bool,
    scratch: &mut Scratch,
) -> Option<u32> {
    let version = meta.version;
    let compilers_own = adapt::is_unsafe_as_compiled(program, meta);
    let origin = if compilers_own { Origin::Compiler } else { Origin::Edited };
    if !unedited.fits {
        return None;
    }
    if verify {
        let info = verify::verify(program, meta, origin, &mut scratch.verify).ok()?;
        Some(info.max_depth)
    } else {
        stack::analyze(version, program, &mut scratch.depths).ok()?;
        Some(scratch.depths.max)
    }
}

/// The steps whose errors speak of the instructions that are laid out.
#[inline(always)]
fn finish(
    program: &Program,
    meta: &CodeMeta,
    options: Options<'_>,
    origin: Origin,
    scratch: &mut Scratch,
    out: &mut Assembled,
) -> Result<()> {
    let Scratch { layout, adapted, is_adapted, depths, verify } = scratch;
    let program = if *is_adapted { &adapted.program } else { program };
    layout.grow();
    let regions = if options.verify {
        out.stacksize = verify::verify(program, meta, origin, verify)?.max_depth;
        verify.region_depths()
    } else {
        stack::analyze(meta.version, program, depths)?;
        out.stacksize = depths.max;
        &depths.regions
    };
    emit::code(meta.version, &program.insts, layout, &mut out.code);
    emit::lines(meta.version, &program.insts, layout, meta.firstlineno, &mut out.linetable)?;
    emit::exceptions(program, layout, regions, &mut out.exceptiontable);
    Ok(())
}
