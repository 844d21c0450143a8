//! The verifier's loop: straight-line code is interpreted in place, states meet at heads of blocks.
use super::blocks::{Block, Blocks};
use super::machine::Machine;
use super::slot::{self, Slot, Tag};
use super::{MAX_STORED, Origin, common, containers, rows};
use crate::adapt::landing;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::{self, MAX_DEPTH};
use crate::version::Version;

/// The proof: what is known at each instruction, and what is still to be looked at.
pub(super) struct Prover<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) rows: &'static rows::Rows,
    pub(super) levels: &'a [u32],
    pub(super) blocks: &'a mut Blocks,
    pub(super) slots: &'a mut Vec<Slot>,
    pub(super) bits: &'a mut Vec<u64>,
    pub(super) handler: &'a mut Vec<Slot>,
    pub(super) origin: Origin,
    pub(super) max: usize,
}

impl Prover<'_> {
    /// Takes up a block with the state that was noted for it.
    pub(super) fn resume(&mut self, block: u32) -> Result<()> {
        let Block { start, slots, depth, .. } = self.blocks.get(block);
        let (slots, depth) = (slots as usize, depth as usize);
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
    pub(super) fn block(&mut self, start: u32) -> Result<()> {
        let program = self.machine.program;
        let mut region = NO_INDEX;
        let mut watched = 0;
        let mut untold = false;
        self.machine.copied = NO_INDEX;
        self.machine.namespace = NO_INDEX;
        self.machine.index = start;
        let end = self.blocks.next_head(start + 1);
        for inst in &program.insts[start as usize..end as usize] {
            let row = &self.rows[inst.opcode as usize];
            let op = row.op;
            let need = row.need(inst.arg);
            let depth = self.machine.stack.len();
            if need > depth {
                let mut error = stack::underflow(self.machine.index, need, depth);
                error.stack = Some(slot::render(&self.machine.stack));
                return Err(error);
            }
            self.machine.spend(need)?;
            if inst.region != region {
                (region, watched, untold) = enter(inst.region);
            }
            // What can raise is half of all, at random, but regions are few: both in one question.
            if row.does(watched) {
                self.may_raise(row, inst, untold)?;
                untold = false;
            }
            if self.machine.kwnames.is_some() {
                self.goes_with_names(op)?;
            }
            common::step(&mut self.machine, row, inst)?;
            let depth = self.machine.stack.len();
            self.max = self.max.max(depth);
            if depth > MAX_DEPTH {
                return Err(self.too_deep());
            }
            if row.steers() {
                if row.has_edge() {
                    self.jump(op, inst)?;
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
            self.machine.index += 1;
        }
        if end as usize == program.insts.len() {
            return Err(stack::falls_off(program.insts.len()));
        }
        self.flow_to(end)
    }

    /// Fails unless the operation may stand behind KW_NAMES.
    #[cold]
    fn goes_with_names(&self, op: Op) -> Result<()> {
        if matches!(op, Op::CALL | Op::PRECALL | Op::NOP) {
            return Ok(());
        }
        Err(self.machine.error(ErrorKind::BadAdjacency, "KW_NAMES must come directly before its call"))
    }

    /// An operation in a region may raise: its handler is told what it finds then, if it is `untold` or that has become less.
    #[cold]
    fn may_raise(&mut self, row: &rows::Row, inst: &Inst, untold: bool) -> Result<()> {
        let level = self.levels[inst.region as usize] as usize;
        let depth = self.machine.stack.len();
        let kept = match row.op {
            // A generator that is thrown into gets its None pushed before the handler is looked for.
            Op::YIELD_VALUE => depth,
            // It takes its operands only where it does not raise.
            Op::END_ASYNC_FOR if self.machine.version >= Version::V312 => depth,
            Op::LIST_EXTEND => {
                // It may fail halfway, so the handler cannot know what is in the list either.
                containers::share(&mut self.machine, inst.arg as usize);
                depth - row.counts(inst.arg).pop
            }
            _ => depth - row.counts(inst.arg).pop,
        };
        if kept < level {
            return Err(self.too_shallow(level));
        }
        if untold || self.machine.dirty { self.flow_to_handler(inst.region, level) } else { Ok(()) }
    }

    /// Notes the state for a jump's target, and what not jumping says about the state here.
    #[inline(always)]
    fn jump(&mut self, op: Op, inst: &Inst) -> Result<()> {
        let was_copied = self.machine.copied == self.machine.index;
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
        let is_excused = self.origin == Origin::Compiler
            && (self.rows[before.opcode as usize].ends() || landing::strays(program, target));
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
        let block = self.blocks.at(target);
        let stack = std::mem::take(&mut self.machine.stack);
        let result = self.merge(block, &stack);
        self.machine.stack = stack;
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
        let result = self.merge(self.blocks.at(r.target), &stack);
        *self.handler = stack;
        result
    }

    /// Joins a state into a block's, which is queued if that changes it.
    #[inline(always)]
    fn merge(&mut self, block: u32, stack: &[Slot]) -> Result<()> {
        let b = self.blocks.get(block);
        let width = self.machine.locals.bits().len();
        let mut changed = !b.seen;
        self.machine.spend(stack.len())?;
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
        if b.seen {
            for (noted, here) in noted.iter_mut().zip(bits) {
                changed |= *noted & !here != 0;
                *noted &= here;
            }
        } else {
            if self.slots.len() + stack.len() > MAX_STORED {
                return Err(self.machine.too_much());
            }
            self.blocks.see(block, self.slots.len(), stack.len());
            self.slots.extend_from_slice(stack);
            noted.copy_from_slice(bits);
        }
        self.blocks.queue(block, changed);
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
        error.stack = Some(slot::render(&self.machine.stack));
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

    #[cold]
    fn too_deep(&self) -> Error {
        self.machine.too_deep()
    }
}

/// A region, what is watched for in it, and that its handler is yet to be told what it finds.
#[cold]
fn enter(region: u32) -> (u32, u8, bool) {
    (region, if region == NO_INDEX { 0 } else { rows::RAISES }, true)
}
