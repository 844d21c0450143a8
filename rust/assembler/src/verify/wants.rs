//! What the verifier's first pass wants to know of an opcode, in one small row.
use crate::op::Op;
use crate::tables::{self, OpFlags, OpInfo};
use crate::version::Version;

/// The operations whose operand must lie in a range, and the range; what the interpreter's tables say holds, too.
pub(super) const RANGES: &[(Op, u32, u32)] = &[
    (Op::COPY, 1, u32::MAX),
    (Op::LIST_APPEND, 1, u32::MAX),
    (Op::LIST_EXTEND, 1, u32::MAX),
    (Op::SET_ADD, 1, u32::MAX),
    (Op::SET_UPDATE, 1, u32::MAX),
    (Op::DICT_UPDATE, 1, u32::MAX),
    (Op::DICT_MERGE, 1, u32::MAX),
    (Op::MAP_ADD, 1, u32::MAX),
    (Op::SWAP, 2, u32::MAX),
    (Op::BUILD_SLICE, 2, 3),
    (Op::RERAISE, 0, 2),
    (Op::GET_AWAITABLE, 0, 2),
    (Op::FORMAT_VALUE, 0, 7),
    (Op::CONVERT_VALUE, 1, 3),
    (Op::GET_ITER, 0, 3),
    (Op::MAKE_FUNCTION, 0, 15),
    (Op::CALL_FUNCTION_EX, 0, 1),
];

/// The operations that [`Check::rules`] has an arm for.
pub(super) const RULED: &[Op] = &[
    Op::SET_FUNCTION_ATTRIBUTE,
    Op::COMPARE_OP,
    Op::CALL_INTRINSIC_1,
    Op::CALL_INTRINSIC_2,
    Op::PREP_RERAISE_STAR,
    Op::IMPORT_STAR,
    Op::LOAD_CLASSDEREF,
    Op::MAKE_CELL,
    Op::LOAD_FAST_AND_CLEAR,
    Op::KW_NAMES,
    Op::PRECALL,
    Op::YIELD_VALUE,
    Op::RESUME,
    Op::JUMP_BACKWARD_NO_INTERRUPT,
    Op::FOR_ITER,
    Op::SEND,
];

/// There is a target.
pub(super) const JUMPS: u8 = 1;
/// Control may go there.
pub(super) const HAS_EDGE: u8 = 1 << 1;
/// [`Check::rules`] has an arm for it.
pub(super) const HAS_RULE: u8 = 1 << 2;
/// It borrows what it loads.
pub(super) const BORROWS: u8 = 1 << 3;
/// The operand is two indices.
pub(super) const IS_PAIR: u8 = 1 << 4;

/// What must be looked at.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    /// The least operand, and how many more there are. Others are looked at closely.
    pub(super) least: u8,
    pub(super) span: u32,
    pub(super) bits: u8,
    /// What the operand is an index of: nothing, constants, names, locals, or something that takes a closer look.
    pub(super) pool: u8,
    /// Flag bits below the index.
    pub(super) shift: u8,
}

const fn wants(version: Version, info: &OpInfo) -> Wants {
    let has_local = info.flags.any(OpFlags::HAS_LOCAL.union(OpFlags::HAS_FREE));
    let kinds = info.has(OpFlags::HAS_CONST) as u8 + info.has(OpFlags::HAS_NAME) as u8 + has_local as u8;
    let (pool, shift) = if info.has(OpFlags::ILLEGAL) || kinds > 1 {
        (4, 0)
    } else if info.has(OpFlags::HAS_CONST) {
        (1, 0)
    } else if info.has(OpFlags::HAS_NAME) {
        (2, info.name_shift)
    } else {
        (if has_local { 3 } else { 0 }, 0)
    };
    let mut bits = if info.has(OpFlags::FUSED_PAIR) { IS_PAIR } else { 0 };
    let (mut least, mut most) = (0, info.max_arg);
    if info.is_jump() {
        bits |= if info.has(OpFlags::NO_EDGE) { JUMPS } else { JUMPS | HAS_EDGE };
        most = u32::MAX;
    }
    let mut i = 0;
    while i < RANGES.len() {
        if RANGES[i].0 as usize == info.op as usize {
            least = RANGES[i].1;
            most = if most < RANGES[i].2 { most } else { RANGES[i].2 };
        }
        i += 1;
    }
    i = 0;
    while i < RULED.len() {
        if RULED[i] as usize == info.op as usize {
            bits |= HAS_RULE;
        }
        i += 1;
    }
    match info.op {
        Op::CALL if matches!(version, Version::V311) => bits |= HAS_RULE,
        Op::LOAD_FAST_BORROW | Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => bits |= BORROWS,
        _ => {}
    }
    // Where not even the least is allowed, everything gets the closer look.
    let (least, span) = if most < least { (u8::MAX, 0) } else { (least as u8, most - least) };
    Wants { least, span, bits, pool, shift }
}

/// By version and opcode.
pub(super) static WANTS: [[Wants; 256]; 5] = {
    let mut out = [[Wants { least: 0, span: 0, bits: 0, pool: 0, shift: 0 }; 256]; 5];
    let mut version = 0;
    while version < 5 {
        let mut opcode = 0;
        while opcode < 256 {
            let of = Version::ALL[version];
            out[version][opcode] = wants(of, &tables::get(of).info[opcode]);
            opcode += 1;
        }
        version += 1;
    }
    out
};
