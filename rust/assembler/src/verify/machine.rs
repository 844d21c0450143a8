//! The abstract machine: one stack of [`Slot`]s and what is known of each local, and the primitives that operations use.
use super::Origin;
use super::borrow::Borrows;
use super::check::Facts;
use super::slot::{Slot, Tag, render};
use crate::code::{CodeMeta, ConstKind, LocalKind, Program, Trust};
use crate::error::{Error, ErrorKind, Result};
use crate::version::Version;

/// Slots that may be moved between states, popped and pushed in one proof by steps that touch many at a time; what bounds its time.
const MAX_WORK: usize = 1 << 28;
/// Steps that touch no more slots than this are not counted: there are no more of them than instructions.
const CHEAP: usize = 64;

/// Which locals are certainly bound, and which certainly hold a cell. Two bit sets in one allocation.
#[derive(Debug, Default)]
pub(super) struct Locals {
    bits: Vec<u64>,
    words: usize,
}

impl Locals {
    pub(super) fn reset(&mut self, meta: &CodeMeta<'_>) {
        self.words = meta.locals.len().div_ceil(64);
        self.bits.clear();
        self.bits.resize(2 * self.words, 0);
        for (i, kind) in meta.locals.iter().enumerate() {
            let is_bound = matches!(kind, LocalKind::Local { arg: true } | LocalKind::Cell { arg: true });
            self.bits[i / 64] |= u64::from(is_bound) << (i % 64);
        }
    }

    pub(super) fn bits(&self) -> &[u64] {
        &self.bits
    }

    pub(super) fn load(&mut self, bits: &[u64]) {
        self.bits.copy_from_slice(bits);
    }

    #[inline(always)]
    pub(super) fn is_bound(&self, local: u32) -> bool {
        self.bits[local as usize / 64] >> (local % 64) & 1 != 0
    }

    #[inline(always)]
    pub(super) fn is_cell(&self, local: u32) -> bool {
        self.bits[self.words + local as usize / 64] >> (local % 64) & 1 != 0
    }

    fn set(&mut self, local: u32, bound: bool, cell: bool) {
        let (word, bit) = (local as usize / 64, 1 << (local % 64));
        for (word, on) in [(word, bound), (self.words + word, cell)] {
            if on {
                self.bits[word] |= bit;
            } else {
                self.bits[word] &= !bit;
            }
        }
    }
}

/// The machine's state between two instructions, and what it looks things up in.
pub(super) struct Machine<'a> {
    pub(super) version: Version,
    pub(super) program: &'a Program,
    pub(super) meta: &'a CodeMeta<'a>,
    pub(super) stack: Vec<Slot>,
    pub(super) locals: Locals,
    pub(super) borrows: Borrows<'a>,
    /// The instruction being interpreted.
    pub(super) index: u32,
    /// What a handler may rely on has become less since it was last told.
    pub(super) dirty: bool,
    /// Before this instruction, if control comes straight to it, the top of the stack is a copy of the slot below.
    pub(super) copied: u32,
    /// Before this instruction, if control comes straight to it, the top of the stack is the namespace of a class.
    pub(super) namespace: u32,
    /// Slots touched so far by steps that touch many.
    pub(super) work: usize,
    /// KW_NAMES of 3.11 and 3.12 that no CALL has consumed yet.
    pub(super) kwnames: Option<u32>,
    pub(super) facts: Facts,
    pub(super) origin: Origin,
    /// The RESUME at which the prologue ends.
    pub(super) prologue_end: u32,
}

impl Machine<'_> {
    /// An error about the current instruction, with the stack before it.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, reason: impl Into<String>) -> Error {
        let mut error = Error::at(kind, self.index, reason);
        error.stack = Some(render(&self.stack));
        error
    }

    /// Counts slots that are touched at once.
    #[inline]
    pub(super) fn spend(&mut self, slots: usize) -> Result<()> {
        if slots <= CHEAP { Ok(()) } else { self.spend_many(slots) }
    }

    #[cold]
    fn spend_many(&mut self, slots: usize) -> Result<()> {
        self.work = self.work.saturating_add(slots);
        if self.work > MAX_WORK { Err(self.too_much()) } else { Ok(()) }
    }

    #[cold]
    pub(super) fn too_much(&self) -> Error {
        let reason = "deep stacks meet in too many places here to verify the code";
        Error::at(ErrorKind::TooLarge, self.index, reason)
    }

    #[cold]
    pub(super) fn too_deep(&self) -> Error {
        self.error(ErrorKind::TooLarge, "the stack grows beyond what a frame can hold")
    }

    #[cold]
    pub(super) fn wrong_type(&self, from_top: usize, wanted: &str) -> Error {
        let slot = self.stack[self.stack.len() - 1 - from_top];
        let found = render(&[slot]);
        let place = match from_top {
            0 => "the top of the stack".to_owned(),
            1 => "the value below the top of the stack".to_owned(),
            n => format!("the value {n} below the top of the stack"),
        };
        self.error(
            ErrorKind::BadStackType,
            format!("{place} must be {wanted}, but is {}", &found[1..found.len() - 1]),
        )
    }

    /// The slot so many below the top; the caller has checked the depth.
    #[inline]
    pub(super) fn peek(&self, from_top: usize) -> Slot {
        self.stack[self.stack.len() - 1 - from_top]
    }

    #[inline]
    pub(super) fn poke(&mut self, from_top: usize, slot: Slot) {
        let at = self.stack.len() - 1 - from_top;
        self.stack[at] = slot;
    }

    #[inline]
    pub(super) fn push(&mut self, slot: Slot) {
        self.stack.push(slot);
    }

    /// Pushes one slot, or both. Which it is is anybody's guess, so that is no branch.
    #[inline(always)]
    pub(super) fn push_one_or_both(&mut self, first: Slot, second: Slot, both: bool) {
        let depth = self.stack.len() + 1 + usize::from(both);
        self.stack.push(first);
        self.stack.push(second);
        self.stack.truncate(depth);
    }

    /// Takes at most two objects and gives at most one, by the same steps however many.
    #[inline(always)]
    pub(super) fn exchange(&mut self, (pop, push): (usize, usize), result: Slot) -> Result<()> {
        let depth = self.stack.len();
        self.stack.push(result);
        // For a slot that is not taken the result is looked at, an object.
        let is_obj = |below: usize| self.stack[if below <= pop { depth - below } else { depth }].is_obj();
        if !(is_obj(1) & is_obj(2)) {
            return self.not_objects(pop);
        }
        self.stack[depth - pop] = result;
        self.stack.truncate(depth - pop + push);
        Ok(())
    }

    #[cold]
    fn not_objects(&mut self, pop: usize) -> Result<()> {
        self.stack.pop();
        self.want_objects(pop)
    }

    #[inline]
    pub(super) fn drop(&mut self, count: usize) {
        self.stack.truncate(self.stack.len() - count);
    }

    /// Checks that the top `count` slots are objects.
    #[inline]
    pub(super) fn want_objects(&self, count: usize) -> Result<()> {
        let depth = self.stack.len();
        for (i, slot) in self.stack[depth - count..].iter().enumerate() {
            if !slot.is_obj() {
                return Err(self.wrong_type(count - 1 - i, "an object"));
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn want_object(&self, from_top: usize) -> Result<Slot> {
        let slot = self.peek(from_top);
        if slot.is_obj() { Ok(slot) } else { Err(self.wrong_type(from_top, "an object")) }
    }

    /// Checks for exactly this tag, or a value the caller vouches for.
    #[inline]
    pub(super) fn want(&self, from_top: usize, tag: Tag, wanted: &str) -> Result<Slot> {
        let slot = self.peek(from_top);
        if slot.is(tag) || slot.is(Tag::Any) { Ok(slot) } else { Err(self.wrong_type(from_top, wanted)) }
    }

    pub(super) fn want_tuple(&self, from_top: usize, wanted: &str) -> Result<Slot> {
        let slot = self.peek(from_top);
        if is_tuple(slot) { Ok(slot) } else { Err(self.wrong_type(from_top, wanted)) }
    }

    pub(super) fn want_exc(&self, from_top: usize) -> Result<()> {
        self.want(from_top, Tag::Exc, "an exception").map(drop)
    }

    pub(super) fn want_nullable(&self, from_top: usize, wanted: &str) -> Result<Slot> {
        let slot = self.peek(from_top);
        if slot.is_nullable() { Ok(slot) } else { Err(self.wrong_type(from_top, wanted)) }
    }

    /// 3.15: the slot below `upper_from_top` is an object and the slot itself its index or NULL.
    pub(super) fn want_pair(&self, upper_from_top: usize) -> Result<()> {
        let (lower, upper) = (self.peek(upper_from_top + 1), self.peek(upper_from_top));
        let whole = upper.is(Tag::Null) && lower.is_obj() && !lower.is(Tag::PairedIter);
        if whole || (upper.is(Tag::Index) && lower.is(Tag::PairedIter)) {
            return Ok(());
        }
        Err(if lower.is_obj() {
            self.wrong_type(
                upper_from_top,
                "what GET_ITER pushed above this iterator, or NULL above another object",
            )
        } else {
            self.wrong_type(upper_from_top + 1, "an object")
        })
    }

    /// The slot so many below the top moves or goes: an iterator and its index are a pair only side by side.
    pub(super) fn split_pair(&mut self, from_top: usize) {
        let slot = self.peek(from_top);
        if slot.is(Tag::PairedIter) {
            self.poke(from_top, slot.retagged(Tag::Obj));
        } else if slot.is(Tag::Index) && from_top + 1 < self.stack.len() {
            let below = self.peek(from_top + 1);
            if below.is(Tag::PairedIter) {
                self.poke(from_top + 1, below.retagged(Tag::Obj));
                self.dirty = true;
            }
        }
    }

    #[inline(always)]
    pub(super) fn trust(&self, local: u32) -> Trust {
        match self.meta.trusted_locals.get(local as usize) {
            Some(Trust::Iterator) if self.facts.is_async_first => Trust::AsyncIterator,
            trust => trust.copied().unwrap_or_default(),
        }
    }

    /// What the value of a local (in its cell, if it is one) is known to be.
    #[inline(always)]
    pub(super) fn trusted_tag(&self, local: u32) -> Tag {
        match self.trust(local) {
            Trust::None => Tag::Obj,
            Trust::Iterator => Tag::Iter,
            Trust::AsyncIterator => Tag::AsyncIter,
            Trust::Tuple => Tag::Tuple,
            Trust::Dict => Tag::Dict,
            Trust::Int => Tag::Int,
            Trust::Set => Tag::Set,
            Trust::Any => Tag::Any,
        }
    }

    /// What loading a bound local gives.
    #[inline(always)]
    pub(super) fn local_tag(&self, local: u32) -> Tag {
        if self.locals.is_cell(local) { Tag::Cell } else { self.trusted_tag(local) }
    }

    /// The value at the top is fit to be kept in a local with a compiler's name.
    pub(super) fn want_trusted(&self, local: u32, from_top: usize) -> Result<()> {
        let trust = self.trust(local);
        if trust == Trust::None || satisfies(self.peek(from_top), trust) {
            return Ok(());
        }
        Err(self.wrong_type(
            from_top,
            "what the compiler keeps under this local's name (an iterator, a tuple or a dict)",
        ))
    }

    pub(super) fn want_cell(&self, local: u32) -> Result<()> {
        if self.locals.is_cell(local) {
            return Ok(());
        }
        Err(self.error(
            ErrorKind::BadLocal,
            match self.meta.locals[local as usize] {
                LocalKind::Local { .. } => {
                    "the local is not a cell: use LOAD_FAST and STORE_FAST, or make it a cell variable"
                }
                LocalKind::Cell { .. } => {
                    "the local may not hold its cell here: run MAKE_CELL on every path to this point"
                }
                LocalKind::Free => "the local may not hold its cell here: start with COPY_FREE_VARS",
            },
        ))
    }

    /// From 3.12 on nothing checks at run time that a local is bound.
    #[inline(always)]
    pub(super) fn want_bound(&self, local: u32) -> Result<()> {
        if self.locals.is_bound(local) { Ok(()) } else { Err(self.unbound()) }
    }

    #[cold]
    fn unbound(&self) -> Error {
        self.error(
            ErrorKind::UnboundLocal,
            "the local may be unbound here: use LOAD_FAST_CHECK, or store to it on every path",
        )
    }

    /// The local's reference goes away: nobody may have borrowed it.
    pub(super) fn release(&mut self, local: u32) -> Result<()> {
        if self.borrows.any {
            for at in 0..self.stack.len() {
                if let Some(load) = self.stack[at].load()
                    && self.borrows.local_of(self.program, load) == local
                {
                    self.lost_owner(load)?;
                    self.stack[at] = Slot::of(self.stack[at].tag());
                }
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn lost_owner(&mut self, load: u32) -> Result<()> {
        if self.borrows.demote(load) {
            return Ok(());
        }
        Err(self.error(
            ErrorKind::UnsafeBorrow,
            format!(
                "the stack still holds what instruction {} borrowed from a local: use LOAD_FAST there, or assemble with borrows demoted",
                load >> 1
            ),
        ))
    }

    pub(super) fn set_local(&mut self, local: u32, bound: bool, cell: bool) {
        if (self.locals.is_bound(local) && !bound) || (self.locals.is_cell(local) && !cell) {
            self.dirty = true;
        }
        self.locals.set(local, bound, cell);
    }

    /// Pops the top into a local.
    pub(super) fn store_local(&mut self, local: u32) -> Result<()> {
        let slot = self.peek(0);
        if !slot.is_nullable() {
            return Err(self.wrong_type(0, "an object"));
        }
        let cell = slot.is(Tag::Cell);
        if !cell && !matches!(self.meta.locals[local as usize], LocalKind::Local { .. }) {
            self.store_beside_cell(local, slot)?;
        }
        let trust = self.meta.trusted_locals[local as usize];
        if trust.is_kept() && !slot.is(Tag::Null) && slot.origin() != Some(local) {
            self.want_trusted(local, 0)?;
        }
        if let Some(load) = slot.load() {
            self.lost_owner(load)?;
        }
        self.drop(1);
        self.release(local)?;
        self.set_local(local, slot.is_obj(), cell);
        Ok(())
    }

    /// Something that is no cell goes where a cell belongs.
    #[cold]
    fn store_beside_cell(&self, local: u32, slot: Slot) -> Result<()> {
        match self.meta.locals[local as usize] {
            LocalKind::Free => Err(self
                .error(ErrorKind::BadLocal, "the slot of a free variable keeps its cell: use STORE_DEREF")),
            // `super()` takes the first argument out of its cell without looking. Inlined comprehensions that use its name
            // for their own put their values there for a while: CPython itself crashes if such a one calls `super()`.
            LocalKind::Cell { arg: true }
                if local == 0
                    && !slot.is(Tag::Null)
                    && (!self.facts.first_is_borrowed
                        || self.meta.has_class_cell && self.origin == Origin::Edited) =>
            {
                Err(self.error(
                    ErrorKind::BadLocal,
                    "the first argument stays in its cell, for super() looks for it there: use STORE_DEREF",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The kind of the constant that a code or function slot stands for.
    pub(super) fn code_of(&self, slot: Slot) -> (u32, [Trust; 2]) {
        match self.meta.consts.get(slot.constant() as usize) {
            Some(ConstKind::Code { freevars, args, .. }) => (*freevars, *args),
            _ => (0, [Trust::None; 2]),
        }
    }
}

pub(super) fn is_tuple(slot: Slot) -> bool {
    slot.is(Tag::Any) || slot.tag() >= Tag::Tuple
}

/// The slot is what a local's name vouches for.
pub(super) fn satisfies(slot: Slot, trust: Trust) -> bool {
    slot.is(Tag::Any)
        || match trust {
            Trust::None | Trust::Int => slot.is_obj(),
            // `___stack0` may be anything, and nothing is stored there but by its maker.
            Trust::Any => false,
            Trust::Iterator => slot.is(Tag::Iter),
            Trust::AsyncIterator => slot.is(Tag::AsyncIter),
            Trust::Tuple => is_tuple(slot),
            Trust::Dict => slot.is(Tag::Dict),
            Trust::Set => slot.is(Tag::Set),
        }
}
