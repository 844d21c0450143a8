//! What the verifier's loop wants to know of an opcode, in one small row instead of three tables.
use crate::op::Op;
use crate::stack::effects::{self, Counts, Effect};
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// One opcode.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) effect: Effect,
    pub(super) op: Op,
    flags: u8,
}

/// Control may go to the target.
const EDGE: u8 = 1;
/// Control does not go on to the next instruction.
const ENDS: u8 = 1 << 1;
/// The effect depends on the operand.
const VARIES: u8 = 1 << 2;

impl Row {
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
        if self.flags & VARIES == 0 { self.effect.fixed() } else { self.effect.counts(arg) }
    }
}

/// The opcodes of one version.
pub(super) type Rows = [Row; 256];

const fn rows(version: Version) -> Rows {
    let (table, effects) = (tables::get(version), effects::get(version));
    let mut out = [Row { effect: effects[Op::INVALID as usize], op: Op::INVALID, flags: 0 }; 256];
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
        if effect.varies() {
            flags |= VARIES;
        }
        out[opcode] = Row { effect, op: info.op, flags };
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
