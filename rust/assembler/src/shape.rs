//! What the hot loops need of an opcode, in one byte: the tables' rows are too wide to walk at a few nanoseconds per instruction.
use crate::op::Op;
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// Size and kind of an opcode.
#[derive(Clone, Copy, Debug)]
pub struct Shape(u8);

impl Shape {
    const CACHES: u8 = 0x0f;
    const JUMP: u8 = 0x10;
    const BACKWARD: u8 = 0x20;
    const ILLEGAL: u8 = 0x40;

    /// CACHE units behind it.
    #[inline]
    #[must_use]
    pub const fn caches(self) -> u32 {
        (self.0 & Self::CACHES) as u32
    }

    /// Whether its operand is a distance.
    #[inline]
    #[must_use]
    pub const fn is_jump(self) -> bool {
        self.0 & Self::JUMP != 0
    }

    /// Whether the distance counts backward.
    #[inline]
    #[must_use]
    pub const fn is_backward(self) -> bool {
        self.0 & Self::BACKWARD != 0
    }

    /// Whether no instruction may have this opcode (EXTENDED_ARG and CACHE among them).
    #[inline]
    #[must_use]
    pub const fn is_illegal(self) -> bool {
        self.0 & Self::ILLEGAL != 0
    }
}

/// The shapes of a version's opcodes.
pub type Shapes = [Shape; 256];

const fn shapes(version: Version) -> Shapes {
    let table = tables::get(version);
    let mut out = [Shape(Shape::ILLEGAL); 256];
    let mut opcode = 0;
    while opcode < 256 {
        let info = &table.info[opcode];
        assert!(info.caches <= Shape::CACHES, "the count of caches outgrew its bits");
        let mut bits = info.caches;
        if info.is_jump() {
            bits |= Shape::JUMP;
        }
        if info.has(OpFlags::JUMP_BACKWARD) {
            bits |= Shape::BACKWARD;
        }
        if info.has(OpFlags::ILLEGAL) {
            bits |= Shape::ILLEGAL;
        }
        out[opcode] = Shape(bits);
        opcode += 1;
    }
    out
}

static SHAPES: [Shapes; 5] = [
    shapes(Version::V311),
    shapes(Version::V312),
    shapes(Version::V313),
    shapes(Version::V314),
    shapes(Version::V315),
];

/// The shapes of a version's opcodes.
#[inline]
#[must_use]
pub const fn of(version: Version) -> &'static Shapes {
    &SHAPES[version as usize]
}

/// The number of EXTENDED_ARG, which no table calls legal.
#[must_use]
pub fn extended_arg(version: Version) -> u8 {
    const NUMBERS: [u8; 5] = {
        let mut numbers = [0; 5];
        let mut i = 0;
        while i < 5 {
            numbers[i] = tables::get(Version::ALL[i]).opcode(Op::EXTENDED_ARG).expect("every version has it");
            i += 1;
        }
        numbers
    };
    NUMBERS[version as usize]
}

/// How many EXTENDED_ARG prefixes an operand needs.
#[inline]
#[must_use]
pub const fn prefixes(arg: u32) -> u32 {
    (arg > 0xff) as u32 + (arg > 0xffff) as u32 + (arg > 0xff_ffff) as u32
}
