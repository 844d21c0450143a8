//! The verifier: proves that a program cannot make CPython read outside its stack, locals, constants or names, or reach a
//! state that CPython takes to be impossible.
//!
//! CPython's release builds check nothing of this. The proof is an abstract interpretation: [`slot`] says what is known of
//! a stack slot, [`machine`] holds the state, [`common`], [`special`] and the effect tables say what operations want and give, [`check`]
//! looks at what needs no state (operands, neighbours, prologue). Straight-line code is interpreted in place; states meet only
//! at heads of blocks. What cannot be proved is refused with an [`Error`] that says what to do.
//!
//! Outside the proof: what other code does to a frame from outside (a debugger that moves `f_lineno`, somebody who finds a list
//! or a function that only the stack refers to with `gc`), exceptions that monitoring callbacks raise at instructions which
//! cannot raise by themselves, values that [`Trust`](crate::code::Trust) names vouch for where other code gets at them (by a cell that
//! it calls otherwise, `cell_contents`, a class's namespace), and what CPython's own compiler
//! writes although CPython crashes on it: `super()`, called as any function, in an inlined comprehension that uses the name of
//! a captured first argument, and on 3.11 and 3.12 a jump back behind a block or region that is left ([`Origin::Compiler`]).
mod blocks;
mod borrow;
mod calls;
mod check;
mod common;
mod containers;
pub mod first_loop;
mod interrupt;
mod intrinsics;
mod iteration;
mod machine;
mod prologue;
mod prover;
mod rows;
mod slot;
mod special;
mod variables;
mod wants;

use crate::code::{CodeMeta, Program, RegionDepth, Trust};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::{self, Depths, MAX_DEPTH, UNREACHED};
use crate::tables;
use crate::version::Version;

use blocks::Blocks;
use borrow::Borrows;
use check::Check;
pub(crate) use check::SUSPENDING;
use machine::{Locals, Machine};
use prover::Prover;
use slot::Slot;

/// Slots that the states of all blocks may hold together, and words of their locals. Deep stacks and many blocks would
/// otherwise multiply: code that compilers write stays below a hundredth of it.
const MAX_STORED: usize = 1 << 26;

/// What is reused from one program to the next.
#[derive(Default)]
pub struct Scratch {
    depths: Depths,
    levels: Vec<u32>,
    blocks: Blocks,
    slots: Vec<Slot>,
    bits: Vec<u64>,
    stack: Vec<Slot>,
    handler: Vec<Slot>,
    locals: Locals,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("blocks", &self.blocks.count()).finish_non_exhaustive()
    }
}

impl Scratch {
    /// The depth of each region's handler in the program verified last.
    #[must_use]
    pub fn region_depths(&self) -> &[u32] {
        &self.levels
    }
}

/// What a proof yields besides itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackInfo {
    /// `co_stacksize`: the largest depth.
    pub max_depth: u32,
}

/// Whether a program is as CPython's own compiler wrote it, which does not see to everything that keeps CPython safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody edited it: everything is asked for. On 3.11 and 3.12 that means that the handler which gets a signal's exception at a jump
    /// back finds the stack that it counts on, from 3.13 on that close() skips no generator that waits for another one (see
    /// [`crate::adapt`]).
    Edited,
    /// Nobody did. The same is asked for, but where the compiler does not care: behind an instruction that does not run on, behind
    /// the end of another region, in a lambda that delegates, in a method whose inlined comprehension uses the name of its first argument.
    Compiler,
}

/// Proves the program safe to run.
///
/// # Errors
/// The first thing that cannot be proved.
pub fn verify(
    program: &Program,
    meta: &CodeMeta<'_>,
    origin: Origin,
    scratch: &mut Scratch,
) -> Result<StackInfo> {
    run(program, meta, origin, scratch, None)
}

/// Turns every LOAD_FAST_BORROW whose reference may outlive its local into LOAD_FAST, and so for pairs; returns how many.
/// Code that CPython's compiler wrote stays as it is.
///
/// # Errors
/// As [`verify`], but for the borrows.
pub fn demote_borrows(program: &mut Program, meta: &CodeMeta<'_>, scratch: &mut Scratch) -> Result<usize> {
    let tables = tables::get(meta.version);
    let borrows = |inst: &Inst| borrow::owning(tables.op(inst.opcode)).is_some();
    if !program.insts.iter().any(borrows) {
        return Ok(0);
    }
    let mut demoted = vec![false; program.insts.len()];
    run(program, meta, Origin::Edited, scratch, Some(&mut demoted))?;
    let mut count = 0;
    for (inst, demote) in program.insts.iter_mut().zip(&demoted) {
        if *demote
            && let Some(opcode) = borrow::owning(tables.op(inst.opcode)).and_then(|op| tables.opcode(op))
        {
            inst.opcode = opcode;
            count += 1;
        }
    }
    Ok(count)
}

fn run(
    program: &Program,
    meta: &CodeMeta<'_>,
    origin: Origin,
    scratch: &mut Scratch,
    demoted: Option<&mut Vec<bool>>,
) -> Result<StackInfo> {
    let version = meta.version;
    let tables = tables::get(version);
    let check = Check { version, tables, program, meta, origin };
    let blocks = &mut scratch.blocks;
    blocks.reset(program.insts.len());
    let mut facts = check.run(|target| blocks.add_head(target))?;
    blocks.number();
    if meta.flags & first_loop::ASYNC != 0
        && let Some(local) = meta.trusted_locals.iter().position(|trust| *trust == Trust::Iterator)
    {
        facts.is_async_first = first_loop::wanted(version, program, local as u32) == Trust::AsyncIterator;
    }
    let prologue_end = check.prologue(|index| blocks.is_head(index))?;
    levels(version, program, scratch)?;

    scratch.slots.clear();
    scratch.locals.reset(meta);
    scratch.bits.clear();
    let words = scratch.blocks.count() * scratch.locals.bits().len();
    if words > MAX_STORED {
        let reason = format!(
            "{} locals and {} jump targets are too many to verify together",
            meta.locals.len(),
            scratch.blocks.count()
        );
        return Err(Error::whole(ErrorKind::TooLarge, reason));
    }
    scratch.bits.resize(words, 0);
    scratch.stack.clear();

    let borrows = Borrows {
        any: facts.has_borrows,
        pair_opcode: tables.opcode(Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW),
        demoted,
    };
    let machine = Machine {
        version,
        program,
        meta,
        stack: std::mem::take(&mut scratch.stack),
        locals: std::mem::take(&mut scratch.locals),
        borrows,
        index: 0,
        dirty: false,
        copied: NO_INDEX,
        namespace: NO_INDEX,
        work: 0,
        kwnames: None,
        facts,
        origin,
        prologue_end,
    };
    let mut prover = Prover {
        machine,
        rows: rows::of(version),
        levels: &scratch.levels,
        blocks: &mut scratch.blocks,
        slots: &mut scratch.slots,
        bits: &mut scratch.bits,
        handler: &mut scratch.handler,
        origin,
        max: 0,
    };
    prover.block(0)?;
    while let Some(block) = prover.blocks.take() {
        prover.resume(block)?;
    }
    let max_depth = prover.max as u32;
    let Machine { stack, locals, .. } = prover.machine;
    (scratch.stack, scratch.locals) = (stack, locals);
    if facts.may_be_deaf {
        interrupt::check(program, meta)?;
    }
    Ok(StackInfo { max_depth })
}

/// The depth of each region. Only regions that hang on an anchor need the plain analysis first.
fn levels(version: Version, program: &Program, scratch: &mut Scratch) -> Result<()> {
    scratch.levels.clear();
    if program.regions.iter().any(|region| matches!(region.depth, RegionDepth::Below { .. })) {
        stack::analyze(version, program, &mut scratch.depths)?;
        scratch.levels.extend_from_slice(&scratch.depths.regions);
    } else {
        scratch.levels.extend(program.regions.iter().map(|region| stack::stated(region.depth)));
    }
    if let Some(i) = scratch.levels.iter().position(|level| *level as usize > MAX_DEPTH) {
        let target = program.regions[i].target;
        return Err(Error::at(
            ErrorKind::TooLarge,
            target,
            "the handler's stack is deeper than a frame can hold",
        ));
    }
    debug_assert!(!scratch.levels.contains(&UNREACHED));
    Ok(())
}
