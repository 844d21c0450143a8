//! The instruction record that every pass works on: plain, `Copy`, 32 bytes, no CACHE and no EXTENDED_ARG.
use crate::location::Location;

/// Index of an instruction in [`crate::code::Program::insts`].
pub type InstIdx = u32;
/// Index of a region in [`crate::code::Program::regions`].
pub type RegionIdx = u32;
/// "No target" and "no region": one past any index that a program can have.
pub const NO_INDEX: u32 = u32::MAX;

/// One instruction. For a jump `target` says where to and `arg` is ignored; for all others `arg` is the final operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// CPython's opcode number in the program's version, never an instrumented, specialised or pseudo one.
    pub opcode: u8,
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
        Self { opcode, arg, target: NO_INDEX, region: NO_INDEX, loc: Location::NONE }
    }

    /// The jump target, if any.
    #[must_use]
    pub const fn jump(&self) -> Option<InstIdx> {
        if self.target == NO_INDEX { None } else { Some(self.target) }
    }
}
