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
    /// The operation whose rules hold: [`Op::NOP`] stands for all that have none of their own.
    pub(super) rules: Op,
    /// What an operation without rules of its own pushes.
    pub(super) result: Slot,
    flags: u8,
}

/// Control may go to the target.
const EDGE: u8 = 1;
/// Control does not go on to the next instruction.
const ENDS: u8 = 1 << 1;
/// The effect depends on the operand in more than multiples.
const VARIES: u8 = 1 << 2;
/// It cannot raise.
const QUIET: u8 = 1 << 3;

impl Row {
    /// Whether control does anything else than go on to the next instruction.
    #[inline]
    pub(super) const fn steers(self) -> bool {
        self.flags & (EDGE | ENDS) != 0
    }

    /// Whether it cannot raise, not even for a signal.
    #[inline]
    pub(super) const fn is_quiet(self) -> bool {
        self.flags & QUIET != 0
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
        if effect.quiet {
            flags |= QUIET;
        }
        let rules = if is_special { info.op } else { Op::NOP };
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
