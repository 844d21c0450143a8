//! The instruction record that every pass works on: plain, `Copy`, 32 bytes, no CACHE and no EXTENDED_ARG.
use crate::location::Location;

/// Index of an instruction in [`crate::code::Program::insts`].
pub type InstIdx = u32;
/// Index of a region in [`crate::code::Program::regions`].
pub type RegionIdx = u32;
/// "No target" and "no region": one past any index that a program can have.
pub const NO_INDEX: u32 = u32::MAX;

/// What disassembly remembers so that unedited code comes out byte for byte as it went in.
///
/// CPython does not always find the shortest layout of jumps (about one code object in 40,000). Copying this along with an
/// edited instruction does no harm: the result is as legal, only a unit or two longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Written(u8);

impl Written {
    /// Nothing to remember.
    pub const PLAIN: Self = Self(0);

    /// At least so many EXTENDED_ARG prefixes (0 to 3), needed or not.
    #[must_use]
    pub const fn prefixes(self) -> u32 {
        self.0 as u32
    }

    /// With so many prefixes (at most 3).
    #[must_use]
    pub const fn with_prefixes(count: u32) -> Self {
        Self(if count > 3 { 3 } else { count as u8 })
    }
}

/// One instruction. For a jump `target` says where to and `arg` is ignored; for all others `arg` is the final operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// CPython's opcode number in the program's version, never an instrumented, specialised or pseudo one.
    pub opcode: u8,
    /// How the instruction was written where that does not follow from the rest; 0 for new instructions.
    pub written: Written,
    /// The operand, without EXTENDED_ARG prefixes.
    pub arg: u32,
    /// The jump's target, or [`NO_INDEX`].
    pub target: InstIdx,
    /// The innermost exception region that covers this instruction, or [`NO_INDEX`].
    pub region: RegionIdx,
    /// Source position.
    pub loc: Location,
}

impl Inst {
    /// An instruction without target, region and position.
    #[must_use]
    pub const fn new(opcode: u8, arg: u32) -> Self {
        Self { opcode, written: Written::PLAIN, arg, target: NO_INDEX, region: NO_INDEX, loc: Location::NONE }
    }

    /// The jump target, if any.
    #[must_use]
    pub const fn jump(&self) -> Option<InstIdx> {
        if self.target == NO_INDEX { None } else { Some(self.target) }
    }
}
