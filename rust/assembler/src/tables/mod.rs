//! What each version's opcodes are called, and what their operands mean. The `v3XX` files are generated data.
mod v311;
mod v312;
mod v313;
mod v314;
mod v315;

use crate::op::Op;
use crate::version::Version;

/// A set of facts about an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpFlags(pub(crate) u32);

impl OpFlags {
    /// The operand means something.
    pub const HAS_ARG: Self = Self(1);
    /// The operand indexes `co_consts`.
    pub const HAS_CONST: Self = Self(1 << 1);
    /// The operand, shifted right by [`OpInfo::name_shift`], indexes `co_names`.
    pub const HAS_NAME: Self = Self(1 << 2);
    /// The operand indexes localsplus (`dis.haslocal`).
    pub const HAS_LOCAL: Self = Self(1 << 3);
    /// The operand indexes localsplus (`dis.hasfree`).
    pub const HAS_FREE: Self = Self(1 << 4);
    /// The operand is a comparison, see [`Tables::compare_shift`].
    pub const HAS_COMPARE: Self = Self(1 << 5);
    /// The operand is a distance.
    pub const JUMP_REL: Self = Self(1 << 6);
    /// The distance counts backward.
    pub const JUMP_BACKWARD: Self = Self(1 << 7);
    /// A conditional jump on the top of the stack (not FOR_ITER, not SEND).
    pub const JUMP_COND: Self = Self(1 << 8);
    /// Control never goes to the operand's target: END_ASYNC_FOR of 3.14+ names its SEND loop for monitoring only.
    pub const NO_EDGE: Self = Self(1 << 9);
    /// Control never reaches the next instruction.
    pub const TERMINAL: Self = Self(1 << 10);
    /// Two local indices below 16 share the operand: `first << 4 | second`.
    pub const FUSED_PAIR: Self = Self(1 << 11);
    /// No code object may contain it as an instruction of its own: unassigned, instrumented, specialised, internal, and
    /// also CACHE and EXTENDED_ARG, which the assembler writes itself.
    pub const ILLEGAL: Self = Self(1 << 12);

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some of `other` is in this set.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What is known of one opcode number in one version.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// CPython's name, also of specialised and instrumented opcodes; empty if the number is unassigned.
    pub name: &'static str,
    /// The operation; [`Op::INVALID`] if unassigned, specialised or instrumented.
    pub op: Op,
    /// How many CACHE units follow.
    pub caches: u8,
    /// Flag bits below the name index in the operand.
    pub name_shift: u8,
    /// The facts.
    pub flags: OpFlags,
    /// The largest operand that can mean something; 0 without an operand, `u32::MAX` if it depends on the code object.
    pub max_arg: u32,
}

impl OpInfo {
    pub(crate) const UNASSIGNED: Self =
        Self { name: "", op: Op::INVALID, caches: 0, name_shift: 0, flags: OpFlags::ILLEGAL, max_arg: 0 };

    /// Whether all of `flags` hold.
    #[must_use]
    pub const fn has(&self, flags: OpFlags) -> bool {
        self.flags.has(flags)
    }

    /// Whether the operand names a target instruction.
    #[must_use]
    pub const fn is_jump(&self) -> bool {
        self.flags.has(OpFlags::JUMP_REL)
    }

    /// Whether control can go on to the next instruction.
    #[must_use]
    pub const fn falls_through(&self) -> bool {
        !self.flags.has(OpFlags::TERMINAL)
    }
}

/// The opcode tables of one version.
#[derive(Debug)]
pub struct Tables {
    /// First 16 bits of the `.pyc` magic number.
    pub magic: u16,
    /// From this opcode on all are INSTRUMENTED_* or internal.
    pub first_instrumented: Option<u8>,
    /// COMPARE_OP's operand is `comparison << shift | hints`.
    pub compare_shift: u8,
    /// Comparisons as COMPARE_OP numbers them.
    pub compare_ops: &'static [&'static str],
    /// (name, symbol) of BINARY_OP's operands.
    pub binary_ops: &'static [(&'static str, &'static str)],
    /// Names of CALL_INTRINSIC_1's operands.
    pub intrinsics_1: &'static [&'static str],
    /// Names of CALL_INTRINSIC_2's operands.
    pub intrinsics_2: &'static [&'static str],
    /// Names of LOAD_SPECIAL's operands.
    pub special_methods: &'static [&'static str],
    /// Names or representations of LOAD_COMMON_CONSTANT's operands.
    pub common_constants: &'static [&'static str],
    /// The compiler's pseudo opcodes, all above 255.
    pub pseudo: &'static [(&'static str, u16)],
    pub(crate) opcodes: [Option<u8>; Op::COUNT],
    pub(crate) sorted: &'static [(&'static str, u8)],
    /// (specialised opcode, what it was before the interpreter specialised it).
    pub(crate) specialised: &'static [(u8, u8)],
    /// Facts by opcode number.
    pub info: [OpInfo; 256],
}

impl Tables {
    /// The number of an operation in this version.
    #[must_use]
    pub const fn opcode(&self, op: Op) -> Option<u8> {
        self.opcodes[op as usize]
    }

    /// The number of the opcode with this name, be it legal or not.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<u8> {
        self.sorted.binary_search_by(|(n, _)| (*n).cmp(name)).ok().map(|i| self.sorted[i].1)
    }

    /// The operation behind an opcode number.
    #[must_use]
    pub const fn op(&self, opcode: u8) -> Op {
        self.info[opcode as usize].op
    }
}

/// The tables of a version.
#[must_use]
pub const fn get(version: Version) -> &'static Tables {
    match version {
        Version::V311 => &v311::TABLES,
        Version::V312 => &v312::TABLES,
        Version::V313 => &v313::TABLES,
        Version::V314 => &v314::TABLES,
        Version::V315 => &v315::TABLES,
    }
}

/// The conditional jump that jumps exactly when `op` does not, in the same direction.
///
/// `None` for everything else, also for 3.11's JUMP_IF_*_OR_POP, whose stack effect depends on the outcome.
#[must_use]
pub const fn inverted(op: Op) -> Option<Op> {
    Some(match op {
        Op::POP_JUMP_IF_FALSE => Op::POP_JUMP_IF_TRUE,
        Op::POP_JUMP_IF_TRUE => Op::POP_JUMP_IF_FALSE,
        Op::POP_JUMP_IF_NONE => Op::POP_JUMP_IF_NOT_NONE,
        Op::POP_JUMP_IF_NOT_NONE => Op::POP_JUMP_IF_NONE,
        Op::POP_JUMP_FORWARD_IF_FALSE => Op::POP_JUMP_FORWARD_IF_TRUE,
        Op::POP_JUMP_FORWARD_IF_TRUE => Op::POP_JUMP_FORWARD_IF_FALSE,
        Op::POP_JUMP_FORWARD_IF_NONE => Op::POP_JUMP_FORWARD_IF_NOT_NONE,
        Op::POP_JUMP_FORWARD_IF_NOT_NONE => Op::POP_JUMP_FORWARD_IF_NONE,
        Op::POP_JUMP_BACKWARD_IF_FALSE => Op::POP_JUMP_BACKWARD_IF_TRUE,
        Op::POP_JUMP_BACKWARD_IF_TRUE => Op::POP_JUMP_BACKWARD_IF_FALSE,
        Op::POP_JUMP_BACKWARD_IF_NONE => Op::POP_JUMP_BACKWARD_IF_NOT_NONE,
        Op::POP_JUMP_BACKWARD_IF_NOT_NONE => Op::POP_JUMP_BACKWARD_IF_NONE,
        _ => return None,
    })
}

/// The same jump in the other direction, where it has a name of its own (JUMP_FORWARD and JUMP_BACKWARD; 3.11's
/// conditional jumps).
#[must_use]
pub const fn turned(op: Op) -> Option<Op> {
    Some(match op {
        Op::JUMP_FORWARD => Op::JUMP_BACKWARD,
        Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT => Op::JUMP_FORWARD,
        Op::POP_JUMP_FORWARD_IF_FALSE => Op::POP_JUMP_BACKWARD_IF_FALSE,
        Op::POP_JUMP_FORWARD_IF_TRUE => Op::POP_JUMP_BACKWARD_IF_TRUE,
        Op::POP_JUMP_FORWARD_IF_NONE => Op::POP_JUMP_BACKWARD_IF_NONE,
        Op::POP_JUMP_FORWARD_IF_NOT_NONE => Op::POP_JUMP_BACKWARD_IF_NOT_NONE,
        Op::POP_JUMP_BACKWARD_IF_FALSE => Op::POP_JUMP_FORWARD_IF_FALSE,
        Op::POP_JUMP_BACKWARD_IF_TRUE => Op::POP_JUMP_FORWARD_IF_TRUE,
        Op::POP_JUMP_BACKWARD_IF_NONE => Op::POP_JUMP_FORWARD_IF_NONE,
        Op::POP_JUMP_BACKWARD_IF_NOT_NONE => Op::POP_JUMP_FORWARD_IF_NOT_NONE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree_in_every_version() {
        for version in Version::ALL {
            let t = get(version);
            for (code, info) in t.info.iter().enumerate() {
                if !info.name.is_empty() {
                    assert_eq!(t.by_name(info.name), Some(code as u8), "{version:?} {}", info.name);
                }
                if info.op != Op::INVALID {
                    assert_eq!(info.op.name(), info.name, "{version:?}");
                    assert_eq!(t.opcode(info.op), Some(code as u8), "{version:?} {}", info.name);
                }
            }
            assert_eq!(t.by_name("NO_SUCH_OPCODE"), None);
        }
    }

    #[test]
    fn instrumented_specialised_and_internal_opcodes_are_illegal() {
        for version in Version::ALL {
            let t = get(version);
            for name in ["CACHE", "EXTENDED_ARG", "INSTRUMENTED_LINE", "LOAD_ATTR_SLOT", "ENTER_EXECUTOR"] {
                if let Some(code) = t.by_name(name) {
                    assert!(t.info[code as usize].has(OpFlags::ILLEGAL), "{version:?} {name}");
                }
            }
            if let Some(first) = t.first_instrumented {
                assert!(t.info[first as usize..].iter().all(|i| i.has(OpFlags::ILLEGAL)), "{version:?}");
            }
        }
    }

    #[test]
    fn inversion_and_turning_are_involutions_on_conditional_jumps() {
        for version in Version::ALL {
            for info in &get(version).info {
                if let Some(other) = inverted(info.op) {
                    assert_eq!(inverted(other), Some(info.op));
                    assert!(get(version).opcode(other).is_some(), "{version:?} {other:?}");
                    if let Some(back) = turned(info.op) {
                        assert_eq!(turned(back), Some(info.op));
                    }
                }
            }
        }
    }

    #[test]
    fn cache_counts_match_the_documented_ones() {
        let caches = |v, name| {
            let t = get(v);
            t.info[t.by_name(name).unwrap() as usize].caches
        };
        assert_eq!(caches(Version::V311, "LOAD_METHOD"), 10);
        assert_eq!(caches(Version::V312, "LOAD_ATTR"), 9);
        assert_eq!(caches(Version::V313, "TO_BOOL"), 3);
        assert_eq!(caches(Version::V314, "BINARY_OP"), 5);
        assert_eq!(caches(Version::V315, "GET_ITER"), 1);
    }
}
