//! What the verifier's loop wants to know of an opcode, in one small row instead of three tables.
use super::slot::{Slot, Tag};
use crate::op::Op;
use crate::stack::effects::{self, Counts, Effect, Out};
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// One opcode.
#[derive(Clone, Copy)]
pub(super) struct Row {
    effect: Effect,
    pub(super) op: Op,
    /// The operation whose rules hold. For those that have none of their own it is [`SIMPLE`] or [`OTHER`].
    pub(super) rules: Op,
    /// What an operation without rules of its own pushes.
    pub(super) result: Slot,
    flags: u8,
}

/// The operation that stands for all without rules of their own that take at most two objects and give at most one.
pub(super) const SIMPLE: Op = Op::UNARY_INVERT;
/// The one that stands for all others without rules of their own.
pub(super) const OTHER: Op = Op::BUILD_STRING;

/// Which of them stands for an operation.
const fn plain_rules(effect: Effect) -> Op {
    match effect.fixed() {
        Some((0..=2, 0..=1)) => SIMPLE,
        _ => OTHER,
    }
}

/// Control may go to the target.
const EDGE: u8 = 1;
/// Control does not go on to the next instruction.
const ENDS: u8 = 1 << 1;
/// The effect depends on the operand in more than multiples.
const VARIES: u8 = 1 << 2;
/// It can raise, if only for a signal.
pub(super) const RAISES: u8 = 1 << 3;

impl Row {
    /// Whether control does anything else than go on to the next instruction.
    #[inline]
    pub(super) const fn steers(self) -> bool {
        self.flags & (EDGE | ENDS) != 0
    }

    /// Whether it does what somebody watches for: [`RAISES`], or nothing at all.
    #[inline]
    pub(super) const fn does(self, watched: u8) -> bool {
        self.flags & watched != 0
    }

    /// Whether control may go to the target.
    #[inline]
    pub(super) const fn has_edge(self) -> bool {
        self.flags & EDGE != 0
    }

    /// Whether control goes elsewhere, or nowhere.
    #[inline]
    pub(super) const fn ends(self) -> bool {
        self.flags & ENDS != 0
    }

    /// How many slots a [`SIMPLE`] operation takes, and how many it gives.
    #[inline]
    pub(super) const fn simple(&self) -> (usize, usize) {
        self.effect.least()
    }

    /// How many slots there must be.
    #[inline]
    pub(super) fn need(&self, arg: u32) -> usize {
        if self.flags & VARIES == 0 { self.effect.need(arg) } else { self.varying_need(arg) }
    }

    #[cold]
    fn varying_need(&self, arg: u32) -> usize {
        self.effect.counts(arg).need
    }

    /// The effect for an operand.
    #[inline]
    pub(super) fn counts(&self, arg: u32) -> Counts {
        if self.flags & VARIES == 0 { self.effect.multiples(arg) } else { self.effect.counts(arg) }
    }
}

/// What is known of each slot that an operation without rules of its own pushes.
const fn result(out: Out) -> Slot {
    Slot::of(match out {
        Out::Bool => Tag::Bool,
        Out::Int => Tag::Int,
        Out::Set => Tag::Set,
        Out::Slice => Tag::Slice,
        Out::Dict => Tag::Dict,
        Out::Iter => Tag::Iter,
        Out::Obj | Out::Nothing | Out::Special => Tag::Obj,
    })
}

/// The opcodes of one version.
pub(super) type Rows = [Row; 256];

const fn rows(version: Version) -> Rows {
    let (table, effects) = (tables::get(version), effects::get(version));
    let invalid = Row {
        effect: effects[Op::INVALID as usize],
        op: Op::INVALID,
        rules: Op::INVALID,
        result: Slot::OBJ,
        flags: 0,
    };
    let mut out = [invalid; 256];
    let mut opcode = 0;
    while opcode < 256 {
        let info = &table.info[opcode];
        let effect = effects[info.op as usize];
        let mut flags = 0;
        if info.is_jump() && !info.has(OpFlags::NO_EDGE) {
            flags |= EDGE;
        }
        if !info.falls_through() {
            flags |= ENDS;
        }
        let is_special = matches!(effect.out, Out::Special);
        if effect.varies(is_special) {
            flags |= VARIES;
        }
        if !effect.quiet {
            flags |= RAISES;
        }
        let has_rules = is_special || matches!(info.op, Op::NOP);
        let rules = if has_rules { info.op } else { plain_rules(effect) };
        assert!(
            !(has_rules && matches!(rules, SIMPLE | OTHER)),
            "what stands for others must have no rules of its own"
        );
        out[opcode] = Row { effect, op: info.op, rules, result: result(effect.out), flags };
        opcode += 1;
    }
    out
}

static ROWS: [Rows; 5] =
    [rows(Version::V311), rows(Version::V312), rows(Version::V313), rows(Version::V314), rows(Version::V315)];

/// The rows of a version.
pub(super) fn of(version: Version) -> &'static Rows {
    &ROWS[version as usize]
}
