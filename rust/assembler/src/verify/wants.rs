//! What the verifier's first pass wants to know of an opcode, in one small row.
use crate::code::CodeMeta;
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

/// Where each limit stands among [`Limits`]: none, the sizes of the pools, that of the locals for an operand that is two indices,
/// one that nothing keeps, and fixed ones.
const UNLIMITED: u8 = 0;
const CONSTS: u8 = 1;
const NAMES: u8 = 2;
const LOCALS: u8 = 3;
const PAIRS: u8 = 4;
const NOTHING: u8 = 5;
const FIXED: [u32; 10] = [1, 2, 3, 4, 8, 12, 16, 26, 27, 256];

/// What operands must stay below.
pub(super) struct Limits([u32; 16]);

impl Limits {
    /// Those of a code object.
    pub(super) fn new(meta: &CodeMeta<'_>) -> Self {
        let (consts, locals) = (meta.consts.len() as u32, meta.locals.len() as u32);
        let mut limits =
            [1 << 31, consts, meta.names, locals, locals.min(16), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        limits[NOTHING as usize + 1..].copy_from_slice(&FIXED);
        Self(limits)
    }
}

/// What must be looked at.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct Wants {
    pub(super) bits: u8,
    /// The least operand.
    least: u8,
    /// Which of the limits it, or the index in it, must stay below.
    limit: u8,
    /// Bits below the index.
    shift: u8,
    /// Those of them that are another index.
    second: u8,
}

impl Wants {
    const NONE: Self = Self { bits: 0, least: 0, limit: 0, shift: 0, second: 0 };

    /// Whether the operand is not obviously right.
    #[inline]
    pub(super) fn doubt(self, arg: u32, limits: &Limits) -> bool {
        let index = (arg >> (self.shift & 31)).max(arg & u32::from(self.second));
        index.wrapping_sub(u32::from(self.least)) >= limits.0[self.limit as usize & 15]
    }
}

const fn wants(version: Version, info: &OpInfo) -> Wants {
    let mut bits = 0;
    if info.is_jump() {
        bits |= if info.has(OpFlags::NO_EDGE) { JUMPS } else { JUMPS | HAS_EDGE };
    }
    let mut i = 0;
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
    let has_local = info.flags.any(OpFlags::HAS_LOCAL.union(OpFlags::HAS_FREE));
    let kinds = info.has(OpFlags::HAS_CONST) as u8 + info.has(OpFlags::HAS_NAME) as u8 + has_local as u8;
    let any = Wants { bits, ..Wants::NONE };
    if info.has(OpFlags::ILLEGAL) || kinds > 1 {
        Wants { limit: NOTHING, ..any }
    } else if info.has(OpFlags::FUSED_PAIR) {
        Wants { limit: PAIRS, shift: 4, second: 15, ..any }
    } else if kinds == 1 && info.max_arg != u32::MAX {
        Wants { limit: NOTHING, ..any }
    } else if info.has(OpFlags::HAS_CONST) {
        Wants { limit: CONSTS, ..any }
    } else if info.has(OpFlags::HAS_NAME) {
        Wants { limit: NAMES, shift: info.name_shift, ..any }
    } else if has_local {
        Wants { limit: LOCALS, ..any }
    } else if info.is_jump() {
        any
    } else {
        in_range(any, info)
    }
}

/// For an operand that is no index.
const fn in_range(any: Wants, info: &OpInfo) -> Wants {
    let (mut least, mut most) = (0, info.max_arg);
    let mut i = 0;
    while i < RANGES.len() {
        if RANGES[i].0 as usize == info.op as usize {
            least = RANGES[i].1;
            most = if most < RANGES[i].2 { most } else { RANGES[i].2 };
        }
        i += 1;
    }
    let mut limit = if most == u32::MAX { UNLIMITED } else { NOTHING };
    i = 0;
    while i < FIXED.len() {
        if most >= least && FIXED[i] - 1 == most - least {
            limit = NOTHING + 1 + i as u8;
        }
        i += 1;
    }
    Wants { least: least as u8, limit, ..any }
}

/// By version and opcode.
pub(super) static WANTS: [[Wants; 256]; 5] = {
    let mut out = [[Wants::NONE; 256]; 5];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{ConstKind, LocalKind, Program, Trust};
    use crate::inst::{Inst, NO_INDEX};
    use crate::verify::Origin;
    use crate::verify::check::Check;

    #[test]
    fn an_operand_without_doubt_passes_the_closer_look() {
        let program = Program::default();
        for size in [0, 1, 15, 16, 17, 300] {
            let consts = vec![ConstKind::Other; size];
            let locals = vec![LocalKind::Local { arg: false }; size];
            let trusted_locals = vec![Trust::None; size];
            for version in Version::ALL {
                let meta = CodeMeta {
                    version,
                    flags: 0,
                    firstlineno: 1,
                    names: size as u32,
                    consts: &consts,
                    locals: &locals,
                    set_name: NO_INDEX,
                    trusted_locals: &trusted_locals,
                    has_class_cell: false,
                    class_dict: NO_INDEX,
                };
                let limits = Limits::new(&meta);
                let check = Check {
                    version,
                    tables: tables::get(version),
                    program: &program,
                    meta: &meta,
                    origin: Origin::Edited,
                };
                for opcode in 0..=u8::MAX {
                    for arg in (0..1000).chain([1 << 16, 1 << 31, u32::MAX]) {
                        let inst = Inst::new(opcode, arg);
                        if !WANTS[version as usize][opcode as usize].doubt(arg, &limits) {
                            check.operand(0, &inst).and_then(|()| check.indexed_operand(0, &inst)).unwrap();
                        }
                    }
                }
            }
        }
    }
}
