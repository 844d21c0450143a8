//! The verifier: proves that a program cannot make CPython read outside its stack, locals, constants or names, or reach a
//! state that CPython takes to be impossible.
//!
//! CPython's release builds check nothing of this. The proof is an abstract interpretation: [`slot`] says what is known of
//! a stack slot, [`machine`] holds the state, [`special`] and the effect tables say what operations want and give, [`check`]
//! looks at what needs no state (operands, neighbours, prologue). Straight-line code is interpreted in place; states meet only
//! at heads of blocks. What cannot be proved is refused with an [`Error`] that says what to do.
//!
//! Outside the proof: what other code does to a frame from outside (a debugger that moves `f_lineno`, somebody who finds a list
//! or a function that only the stack refers to with `gc`), exceptions that monitoring callbacks raise at instructions which
//! cannot raise by themselves, values that [`Trust`](crate::code::Trust) names vouch for, and what CPython's own compiler
//! writes although CPython crashes on it: `super()`, called by another name, in an inlined comprehension that uses the name of
//! a captured first argument, and on 3.11 and 3.12 a jump back behind a block that is left ([`Landings::AsWritten`]).
mod borrow;
mod calls;
mod check;
mod containers;
pub mod first_loop;
mod interrupt;
mod intrinsics;
mod machine;
mod prologue;
mod rows;
mod slot;
mod special;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::adapt::landing;
use crate::code::{CodeMeta, Program, RegionDepth, Trust};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::{self, Depths, MAX_DEPTH, UNREACHED};
use crate::tables;
use crate::version::Version;

use borrow::Borrows;
use check::Check;
use machine::{Locals, Machine};
use slot::{Slot, Tag};

/// Slots that the states of all blocks may hold together, and words of their locals. Deep stacks and many blocks would
/// otherwise multiply: code that compilers write stays below a hundredth of it.
const MAX_STORED: usize = 1 << 26;
/// Slots that may be moved between states, popped and pushed in one proof by steps that touch many at a time; what bounds its time.
const MAX_WORK: usize = 1 << 28;
/// Steps that touch no more slots than this are not counted: there are no more of them than instructions.
const CHEAP: usize = 64;

/// A place where paths meet, and the state that holds there.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: u32,
    slots: u32,
    depth: u32,
    seen: bool,
    queued: bool,
}

/// What is reused from one program to the next.
#[derive(Default)]
pub struct Scratch {
    depths: Depths,
    levels: Vec<u32>,
    /// Per instruction: its block, if it is the head of one.
    block_of: Vec<u32>,
    blocks: Vec<Block>,
    slots: Vec<Slot>,
    bits: Vec<u64>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    stack: Vec<Slot>,
    handler: Vec<Slot>,
    locals: Locals,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("blocks", &self.blocks.len()).finish_non_exhaustive()
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

/// What is asked of jumps back on 3.11 and 3.12, whose signals CPython looks up where the jump lands: see [`crate::adapt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landings {
    /// The handler that gets a signal's exception finds the stack that it counts on.
    Proved,
    /// The same, but where CPython's own compiler does not care either: behind an instruction that does not run on. For code that
    /// nobody edited.
    AsWritten,
}

/// Proves the program safe to run.
///
/// # Errors
/// The first thing that cannot be proved.
pub fn verify(
    program: &Program,
    meta: &CodeMeta<'_>,
    landings: Landings,
    scratch: &mut Scratch,
) -> Result<StackInfo> {
    run(program, meta, landings, scratch, None)
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
    run(program, meta, Landings::Proved, scratch, Some(&mut demoted))?;
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
    landings: Landings,
    scratch: &mut Scratch,
    demoted: Option<&mut Vec<bool>>,
) -> Result<StackInfo> {
    let version = meta.version;
    let tables = tables::get(version);
    let check = Check { version, tables, program, meta };
    scratch.block_of.clear();
    scratch.block_of.resize(program.insts.len(), NO_INDEX);
    let block_of = &mut scratch.block_of;
    let mut facts = check.run(|target| block_of[target as usize] = 0)?;
    if meta.flags & first_loop::ASYNC != 0
        && let Some(local) = meta.trusted_locals.iter().position(|trust| *trust == Trust::Iterator)
    {
        facts.is_async_first = first_loop::wanted(version, program, local as u32) == Trust::AsyncIterator;
    }
    let prologue_end = check.prologue(|index| block_of[index as usize] != NO_INDEX)?;
    levels(version, program, scratch)?;

    scratch.blocks.clear();
    scratch.slots.clear();
    scratch.queue.clear();
    for (index, block) in scratch.block_of.iter_mut().enumerate() {
        if *block != NO_INDEX {
            *block = scratch.blocks.len() as u32;
            scratch.blocks.push(Block {
                start: index as u32,
                slots: 0,
                depth: 0,
                seen: false,
                queued: false,
            });
        }
    }
    scratch.locals.reset(meta);
    scratch.bits.clear();
    let words = scratch.blocks.len() * scratch.locals.bits().len();
    if words > MAX_STORED {
        let reason = format!(
            "{} locals and {} jump targets are too many to verify together",
            meta.locals.len(),
            scratch.blocks.len()
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
        stack: &mut scratch.stack,
        locals: &mut scratch.locals,
        borrows,
        index: 0,
        dirty: false,
        copied: false,
        kwnames: None,
        facts,
        prologue_end,
    };
    let mut prover = Prover {
        machine,
        rows: rows::of(version),
        levels: &scratch.levels,
        block_of: &scratch.block_of,
        blocks: &mut scratch.blocks,
        slots: &mut scratch.slots,
        bits: &mut scratch.bits,
        queue: &mut scratch.queue,
        handler: &mut scratch.handler,
        landings,
        max: 0,
        work: 0,
    };
    prover.block(0)?;
    while let Some(Reverse((_, block))) = prover.queue.pop() {
        prover.resume(block)?;
    }
    let max_depth = prover.max as u32;
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

struct Prover<'a> {
    machine: Machine<'a>,
    rows: &'static rows::Rows,
    levels: &'a [u32],
    block_of: &'a [u32],
    blocks: &'a mut Vec<Block>,
    slots: &'a mut Vec<Slot>,
    bits: &'a mut Vec<u64>,
    queue: &'a mut BinaryHeap<Reverse<(u32, u32)>>,
    handler: &'a mut Vec<Slot>,
    landings: Landings,
    max: usize,
    /// Slots touched so far, see [`MAX_WORK`].
    work: usize,
}

impl Prover<'_> {
    /// Takes up a block with the state that was noted for it.
    fn resume(&mut self, block: u32) -> Result<()> {
        let b = &mut self.blocks[block as usize];
        b.queued = false;
        let (start, slots, depth) = (b.start, b.slots as usize, b.depth as usize);
        let m = &mut self.machine;
        m.stack.clear();
        m.stack.extend_from_slice(&self.slots[slots..slots + depth]);
        let width = m.locals.bits().len();
        m.locals.load(&self.bits[block as usize * width..(block as usize + 1) * width]);
        m.kwnames = None;
        if m.version == Version::V311
            && self.rows[m.program.insts[start as usize].opcode as usize].op == Op::CALL
        {
            m.index = start;
            return Err(m.error(ErrorKind::BadAdjacency, "nothing may jump between PRECALL and CALL"));
        }
        self.block(start)
    }

    /// Interprets straight-line code from `start` to its end or the next head.
    fn block(&mut self, start: u32) -> Result<()> {
        let program = self.machine.program;
        let mut region = NO_INDEX;
        let mut level = 0;
        let mut tell_handler = false;
        self.machine.copied = false;
        let from = start as usize;
        let rest = program.insts[from..].iter().zip(&self.block_of[from..]);
        for (index, (inst, &block)) in (start..).zip(rest) {
            self.machine.index = index;
            if block != NO_INDEX && index != start {
                return self.flow_to(index);
            }
            let row = &self.rows[inst.opcode as usize];
            let op = row.op;
            let counts = row.counts(inst.arg);
            let depth = self.machine.stack.len();
            if counts.need > depth {
                let mut error = stack::underflow(index, counts.need, depth);
                error.stack = Some(slot::render(self.machine.stack));
                return Err(error);
            }
            if counts.need.max(counts.push) > CHEAP {
                self.spend(counts.need.saturating_add(counts.push))?;
            }
            if inst.region != region {
                region = inst.region;
                if region != NO_INDEX {
                    level = self.levels[region as usize] as usize;
                    tell_handler = true;
                }
            }
            if region != NO_INDEX && !row.is_quiet() {
                let kept = match op {
                    // A generator that is thrown into gets its None pushed before the handler is looked for.
                    Op::YIELD_VALUE => depth,
                    // It takes its operands only where it does not raise.
                    Op::END_ASYNC_FOR if self.machine.version >= Version::V312 => depth,
                    Op::LIST_EXTEND => {
                        // It may fail halfway, so the handler cannot know what is in the list either.
                        containers::share(&mut self.machine, inst.arg as usize);
                        depth - counts.pop
                    }
                    _ => depth - counts.pop,
                };
                if kept < level {
                    return Err(self.too_shallow(level));
                }
                if tell_handler || self.machine.dirty {
                    self.flow_to_handler(region, level)?;
                    tell_handler = false;
                }
            }
            if self.machine.kwnames.is_some() && !matches!(op, Op::CALL | Op::PRECALL | Op::NOP) {
                return Err(self
                    .machine
                    .error(ErrorKind::BadAdjacency, "KW_NAMES must come directly before its call"));
            }
            let was_copied = self.machine.copied;
            self.machine.copied = was_copied && op == Op::NOP;
            special::step(&mut self.machine, row, counts, inst)?;
            let depth = self.machine.stack.len();
            self.max = self.max.max(depth);
            if depth > MAX_DEPTH {
                return Err(self.too_deep());
            }
            if row.steers() {
                if row.has_edge() {
                    self.jump(op, inst, was_copied)?;
                }
                if row.ends() {
                    if self.machine.kwnames.is_some() {
                        return Err(self
                            .machine
                            .error(ErrorKind::BadAdjacency, "KW_NAMES must come directly before its call"));
                    }
                    return Ok(());
                }
            }
        }
        Err(stack::falls_off(program.insts.len()))
    }

    /// Notes the state for a jump's target, and what not jumping says about the state here.
    fn jump(&mut self, op: Op, inst: &Inst, was_copied: bool) -> Result<()> {
        match op {
            Op::FOR_ITER if self.machine.version < Version::V312 => {
                self.machine.drop(2);
                self.flow_to(inst.target)?;
                self.machine.push(Slot::of(Tag::Iter));
                self.machine.push(Slot::OBJ);
            }
            Op::SEND if self.machine.version < Version::V312 => {
                let receiver = self.machine.peek(1);
                self.machine.drop(2);
                self.machine.push(Slot::OBJ);
                self.flow_to(inst.target)?;
                self.machine.drop(1);
                self.machine.push(receiver);
                self.machine.push(Slot::OBJ);
            }
            Op::JUMP_IF_FALSE_OR_POP | Op::JUMP_IF_TRUE_OR_POP => {
                self.machine.push(Slot::OBJ);
                self.max = self.max.max(self.machine.stack.len());
                self.flow_to(inst.target)?;
                self.machine.drop(1);
            }
            Op::POP_JUMP_IF_NONE | Op::POP_JUMP_FORWARD_IF_NONE | Op::POP_JUMP_BACKWARD_IF_NONE
                if was_copied =>
            {
                self.jump_after_test(op, inst.target, Tag::None, Tag::Exc)?;
            }
            Op::POP_JUMP_IF_NOT_NONE
            | Op::POP_JUMP_FORWARD_IF_NOT_NONE
            | Op::POP_JUMP_BACKWARD_IF_NOT_NONE
                if was_copied =>
            {
                self.jump_after_test(op, inst.target, Tag::Exc, Tag::None)?;
            }
            _ => self.land(op, inst.target)?,
        }
        Ok(())
    }

    /// A copy of the top of the stack was compared with None.
    fn jump_after_test(&mut self, op: Op, target: u32, jumping: Tag, staying: Tag) -> Result<()> {
        let m = &mut self.machine;
        if !m.stack.last().is_some_and(|slot| slot.is(Tag::ExcOrNone)) {
            return self.land(op, target);
        }
        m.poke(0, Slot::of(jumping));
        self.land(op, target)?;
        self.machine.poke(0, Slot::of(staying));
        Ok(())
    }

    /// Control goes to `target`, and on the way CPython may look for signals.
    fn land(&mut self, op: Op, target: u32) -> Result<()> {
        self.flow_to(target)?;
        let Machine { version, program, index, .. } = self.machine;
        if !landing::matters(version) || target > index || !landing::looks(op) {
            return Ok(());
        }
        let Some(before) = target.checked_sub(1).map(|before| &program.insts[before as usize]) else {
            return Ok(());
        };
        let region = before.region;
        let is_excused = self.landings == Landings::AsWritten && self.rows[before.opcode as usize].ends();
        if region == NO_INDEX || is_excused {
            return Ok(());
        }
        let level = self.levels[region as usize] as usize;
        if self.machine.stack.len() < level {
            return Err(self.bad_landing(target - 1, level));
        }
        let dirty = self.machine.dirty;
        self.flow_to_handler(region, level)?;
        self.machine.dirty = dirty;
        Ok(())
    }

    fn flow_to(&mut self, target: u32) -> Result<()> {
        if self.machine.kwnames.is_some() {
            return Err(self
                .machine
                .error(ErrorKind::BadAdjacency, "nothing may jump between KW_NAMES and its call"));
        }
        let block = self.block_of[target as usize];
        let stack = std::mem::take(self.machine.stack);
        let result = self.merge(block, &stack);
        *self.machine.stack = stack;
        result
    }

    /// An exception may leave the current instruction for the region's handler.
    fn flow_to_handler(&mut self, region: u32, level: usize) -> Result<()> {
        self.machine.dirty = false;
        let r = &self.machine.program.regions[region as usize];
        let mut stack = std::mem::take(self.handler);
        stack.clear();
        stack.extend_from_slice(&self.machine.stack[..level]);
        if let Some(top) = stack.last_mut()
            && top.is(Tag::PairedIter)
        {
            *top = top.retagged(Tag::Obj);
        }
        if r.lasti {
            stack.push(Slot::of(Tag::Lasti));
        }
        stack.push(Slot::of(Tag::Exc));
        self.max = self.max.max(stack.len());
        let result = self.merge(self.block_of[r.target as usize], &stack);
        *self.handler = stack;
        result
    }

    /// Joins a state into a block's, which is queued if that changes it.
    fn merge(&mut self, block: u32, stack: &[Slot]) -> Result<()> {
        let b = self.blocks[block as usize];
        let width = self.machine.locals.bits().len();
        let mut changed = !b.seen;
        if stack.len() > CHEAP {
            self.spend(stack.len())?;
        }
        if b.seen {
            if b.depth as usize != stack.len() {
                return Err(self.unequal(b.start, b.depth, stack.len()));
            }
            for (at, here) in stack.iter().enumerate() {
                let at = b.slots as usize + at;
                let old = self.slots[at];
                if old != *here {
                    let new = match old.join(*here) {
                        Some(new) => new,
                        None => self.disown(old, *here)?,
                    };
                    changed |= new != old;
                    self.slots[at] = new;
                }
            }
        }
        let bits = self.machine.locals.bits();
        let noted = &mut self.bits[block as usize * width..(block as usize + 1) * width];
        let b = &mut self.blocks[block as usize];
        if b.seen {
            for (noted, here) in noted.iter_mut().zip(bits) {
                changed |= *noted & !here != 0;
                *noted &= here;
            }
        } else {
            if self.slots.len() + stack.len() > MAX_STORED {
                return Err(self.too_much());
            }
            b.seen = true;
            b.slots = self.slots.len() as u32;
            b.depth = stack.len() as u32;
            self.slots.extend_from_slice(stack);
            noted.copy_from_slice(bits);
        }
        if changed && !b.queued {
            b.queued = true;
            self.queue.push(Reverse((b.start, block)));
        }
        Ok(())
    }

    /// Two paths bring references that different loads borrowed: neither load may borrow.
    #[cold]
    fn disown(&mut self, a: Slot, b: Slot) -> Result<Slot> {
        for load in [a.load(), b.load()].into_iter().flatten() {
            self.machine.lost_owner(load)?;
        }
        Ok(Slot::of(a.tag()).join(Slot::of(b.tag())).unwrap_or(Slot::OBJ))
    }

    #[cold]
    fn unequal(&self, start: u32, there: u32, here: usize) -> Error {
        let from = self.machine.index;
        let mut error = Error::at(
            ErrorKind::StackMismatch,
            start,
            format!(
                "the stack holds {there} values here on one path and {here} on the path from instruction {from}: make them equal"
            ),
        );
        error.stack = Some(slot::render(self.machine.stack));
        error
    }

    #[cold]
    fn too_shallow(&self, level: usize) -> Error {
        self.machine.error(
            ErrorKind::BadRegion,
            format!("it takes from below the {level} values that its exception handler counts on: end the region before it"),
        )
    }

    #[cold]
    fn bad_landing(&self, before: u32, level: usize) -> Error {
        self.machine.error(
            ErrorKind::BadRegion,
            format!(
                "a signal's exception that is raised here goes to the handler of instruction {before}, before the target, \
                 which counts on {level} values: put a NOP of no region before the target"
            ),
        )
    }

    /// Counts slots that are touched at once.
    #[cold]
    fn spend(&mut self, slots: usize) -> Result<()> {
        self.work = self.work.saturating_add(slots);
        if self.work > MAX_WORK { Err(self.too_much()) } else { Ok(()) }
    }

    #[cold]
    fn too_much(&self) -> Error {
        let reason = "deep stacks meet in too many places here to verify the code";
        Error::at(ErrorKind::TooLarge, self.machine.index, reason)
    }

    #[cold]
    fn too_deep(&self) -> Error {
        self.machine.too_deep()
    }
}
