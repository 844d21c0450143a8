//! How many slots each operation needs, pops and pushes, as data: a base table for 3.11 and what each later version changed.
//!
//! The same data serves the plain depth analysis and the verifier, which also wants to know what the result is; operations
//! with typed operands are marked [`Out::Special`] and interpreted by `verify::common` and `verify::special`.
use crate::op::Op;
use crate::version::Version;

/// What an operation pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    /// Nothing.
    Nothing,
    /// Objects about which nothing else is known.
    Obj,
    /// An exact bool.
    Bool,
    /// An exact int.
    Int,
    /// An exact set.
    Set,
    /// An exact slice.
    Slice,
    /// An exact dict.
    Dict,
    /// A proven iterator.
    Iter,
    /// Something that depends on operands or has rules of its own.
    Special,
}

/// What varies in an effect beyond multiples of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    No,
    /// One more is pushed if the operand is odd.
    PushIfOdd,
    /// One more is popped if the operand is odd.
    PopIfOdd,
    /// One more is popped for each of the operand's low four bits.
    PopPerFlag,
    /// One more is popped if the operand has bit 4.
    PopIfBit4,
    /// UNPACK_EX: `low byte + 1 + next byte` are pushed.
    Unpack,
}

/// The effect of an operation on the stack's depth: `need` slots must be there, of which the top `pop` go away, and `push`
/// come in their place. Each is `base + per * operand`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    need: u8,
    need_per: u8,
    pop: u8,
    pop_per: u8,
    push: u8,
    push_per: u8,
    /// Difference between the depth after a jump and the depth after falling through.
    jump: i8,
    extra: Extra,
    pub(crate) out: Out,
    /// It cannot raise, not even for a signal, so that no handler sees the stack before it.
    pub(crate) quiet: bool,
}

/// An effect for one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) need: usize,
    pub(crate) pop: usize,
    pub(crate) push: usize,
}

impl Effect {
    const fn new(pop: u8, push: u8, out: Out) -> Self {
        Self {
            need: pop,
            need_per: 0,
            pop,
            pop_per: 0,
            push,
            push_per: 0,
            jump: 0,
            extra: Extra::No,
            out,
            quiet: false,
        }
    }

    const fn per(mut self, pop: u8) -> Self {
        self.pop_per = pop;
        self.need_per = pop;
        self
    }

    const fn needing(mut self, need: u8, per: u8) -> Self {
        self.need = need;
        self.need_per = per;
        self
    }

    const fn extra(mut self, extra: Extra) -> Self {
        self.extra = extra;
        self
    }

    const fn jumping(mut self, difference: i8) -> Self {
        self.jump = difference;
        self
    }

    const fn pushing_per(mut self, per: u8) -> Self {
        self.push_per = per;
        self
    }

    /// Whether the counts depend on the operand in more than multiples; `but_pushes`: what is pushed does not matter.
    pub(crate) const fn varies(&self, but_pushes: bool) -> bool {
        match self.extra {
            Extra::No => false,
            Extra::PushIfOdd | Extra::Unpack => !but_pushes,
            Extra::PopIfOdd | Extra::PopPerFlag | Extra::PopIfBit4 => true,
        }
    }

    /// How many slots are popped and pushed, if that is always the same and those are all that is needed.
    pub(crate) const fn fixed(&self) -> Option<(u8, u8)> {
        let per = self.need_per | self.pop_per | self.push_per;
        if per == 0 && self.need == self.pop && !self.varies(false) {
            Some((self.pop, self.push))
        } else {
            None
        }
    }

    /// How many slots are popped and pushed, whatever the operand.
    #[inline]
    pub(crate) const fn least(&self) -> (usize, usize) {
        (self.pop as usize, self.push as usize)
    }

    /// How many slots there must be, where that varies in multiples of the operand at most.
    #[inline]
    pub(crate) const fn need(&self, arg: u32) -> usize {
        self.need as usize + self.need_per as usize * arg as usize
    }

    /// The counts where they vary in multiples of the operand at most.
    #[inline]
    pub(crate) const fn multiples(&self, arg: u32) -> Counts {
        let arg = arg as usize;
        Counts {
            need: self.need as usize + self.need_per as usize * arg,
            pop: self.pop as usize + self.pop_per as usize * arg,
            push: self.push as usize + self.push_per as usize * arg,
        }
    }

    /// The counts for an operand.
    #[inline]
    pub(crate) fn counts(&self, arg: u32) -> Counts {
        let mut c = self.multiples(arg);
        let arg = arg as usize;
        if self.extra != Extra::No {
            let (pop, push) = match self.extra {
                Extra::No => (0, 0),
                Extra::PushIfOdd => (0, arg & 1),
                Extra::PopIfOdd => (arg & 1, 0),
                Extra::PopPerFlag => ((arg & 15).count_ones() as usize, 0),
                Extra::PopIfBit4 => (arg >> 2 & 1, 0),
                Extra::Unpack => (0, (arg & 0xff) + (arg >> 8)),
            };
            c.need += pop;
            c.pop += pop;
            c.push += push;
        }
        c
    }

    /// How much deeper the stack is after jumping than after falling through.
    #[inline]
    pub(crate) fn jump_difference(&self) -> isize {
        self.jump as isize
    }
}

const fn pops(pop: u8) -> Effect {
    Effect::new(pop, 0, Out::Nothing)
}

const fn makes(pop: u8, out: Out) -> Effect {
    Effect::new(pop, 1, out)
}

const fn special(pop: u8, push: u8) -> Effect {
    Effect::new(pop, push, Out::Special)
}

/// All of `below + 1` slots stay or are popped as `pop` says; containers below: `LIST_APPEND i` and the like.
const fn into_container(pop: u8) -> Effect {
    special(pop, 0).needing(pop, 1)
}

use Extra::{PopIfBit4, PopIfOdd, PopPerFlag, PushIfOdd, Unpack};
use Out::{Bool, Dict, Int, Iter, Nothing, Obj, Set, Slice};

/// 3.11, and everything of later versions that does not differ between them.
const BASE: &[(Op, Effect)] = &[
    // Nothing on the stack
    (Op::NOP, pops(0)),
    (Op::NOT_TAKEN, pops(0)),
    (Op::RESUME, pops(0)),
    (Op::PRECALL, special(0, 0)),
    (Op::KW_NAMES, special(0, 0)),
    (Op::COPY_FREE_VARS, special(0, 0)),
    (Op::MAKE_CELL, special(0, 0)),
    (Op::DELETE_NAME, pops(0)),
    (Op::DELETE_GLOBAL, pops(0)),
    (Op::DELETE_FAST, special(0, 0)),
    (Op::DELETE_DEREF, special(0, 0)),
    (Op::SETUP_ANNOTATIONS, pops(0)),
    (Op::JUMP_FORWARD, pops(0)),
    (Op::JUMP_BACKWARD, pops(0)),
    (Op::JUMP_BACKWARD_NO_INTERRUPT, pops(0)),
    // Loads
    (Op::PUSH_NULL, special(0, 1)),
    (Op::LOAD_CONST, special(0, 1)),
    (Op::LOAD_SMALL_INT, makes(0, Int)),
    (Op::LOAD_COMMON_CONSTANT, special(0, 1)),
    (Op::LOAD_ASSERTION_ERROR, makes(0, Obj)),
    (Op::LOAD_BUILD_CLASS, makes(0, Obj)),
    (Op::LOAD_LOCALS, makes(0, Obj)),
    (Op::LOAD_NAME, special(0, 1)),
    (Op::LOAD_CLASSDEREF, special(0, 1)),
    (Op::LOAD_FAST, special(0, 1)),
    (Op::LOAD_FAST_CHECK, special(0, 1)),
    (Op::LOAD_FAST_AND_CLEAR, special(0, 1)),
    (Op::LOAD_FAST_BORROW, special(0, 1)),
    (Op::LOAD_FAST_LOAD_FAST, special(0, 2)),
    (Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW, special(0, 2)),
    (Op::LOAD_CLOSURE, special(0, 1)),
    (Op::LOAD_DEREF, special(0, 1)),
    (Op::LOAD_GLOBAL, special(0, 1).extra(PushIfOdd)),
    (Op::LOAD_FROM_DICT_OR_GLOBALS, makes(1, Obj)),
    (Op::LOAD_FROM_DICT_OR_DEREF, special(1, 1)),
    // Stores
    (Op::POP_TOP, special(1, 0)),
    (Op::STORE_FAST, special(1, 0)),
    (Op::STORE_FAST_LOAD_FAST, special(1, 1)),
    (Op::STORE_FAST_STORE_FAST, special(2, 0)),
    (Op::STORE_DEREF, special(1, 0)),
    (Op::STORE_NAME, special(1, 0)),
    (Op::STORE_GLOBAL, pops(1)),
    (Op::STORE_ATTR, pops(2)),
    (Op::DELETE_ATTR, pops(1)),
    (Op::STORE_SUBSCR, pops(3)),
    (Op::DELETE_SUBSCR, pops(2)),
    (Op::STORE_SLICE, pops(4)),
    // Operators
    (Op::UNARY_POSITIVE, makes(1, Obj)),
    (Op::UNARY_NEGATIVE, makes(1, Obj)),
    (Op::UNARY_INVERT, makes(1, Obj)),
    (Op::UNARY_NOT, special(1, 1)),
    (Op::TO_BOOL, makes(1, Bool)),
    (Op::BINARY_OP, special(2, 1)),
    (Op::BINARY_SUBSCR, special(2, 1)),
    (Op::BINARY_SLICE, special(3, 1)),
    (Op::COMPARE_OP, special(2, 1)),
    (Op::IS_OP, makes(2, Bool)),
    (Op::CONTAINS_OP, makes(2, Bool)),
    (Op::LOAD_ATTR, makes(1, Obj)),
    (Op::LOAD_METHOD, special(1, 2)),
    (Op::LOAD_SUPER_ATTR, special(3, 1).extra(PushIfOdd)),
    (Op::LOAD_SPECIAL, special(1, 2)),
    (Op::GET_LEN, makes(0, Int).needing(1, 0)),
    (Op::FORMAT_VALUE, makes(1, Obj).extra(PopIfBit4)),
    (Op::CONVERT_VALUE, makes(1, Obj)),
    (Op::FORMAT_SIMPLE, special(1, 1)),
    (Op::FORMAT_WITH_SPEC, makes(2, Obj)),
    (Op::CALL_INTRINSIC_1, special(1, 1)),
    (Op::CALL_INTRINSIC_2, special(2, 1)),
    (Op::PRINT_EXPR, pops(1)),
    (Op::IMPORT_NAME, makes(2, Obj)),
    (Op::IMPORT_FROM, special(0, 1).needing(1, 0)),
    (Op::IMPORT_STAR, pops(1)),
    // Containers
    (Op::BUILD_TUPLE, special(0, 1).per(1)),
    (Op::BUILD_LIST, special(0, 1).per(1)),
    (Op::BUILD_SET, makes(0, Set).per(1)),
    (Op::BUILD_MAP, makes(0, Dict).per(2)),
    (Op::BUILD_CONST_KEY_MAP, special(1, 1).per(1)),
    (Op::BUILD_STRING, makes(0, Obj).per(1)),
    (Op::BUILD_SLICE, makes(0, Slice).per(1)),
    (Op::BUILD_TEMPLATE, special(2, 1)),
    (Op::BUILD_INTERPOLATION, special(2, 1).extra(PopIfOdd)),
    (Op::LIST_TO_TUPLE, special(1, 1)),
    (Op::LIST_APPEND, into_container(1)),
    (Op::LIST_EXTEND, into_container(1)),
    (Op::SET_ADD, into_container(1)),
    (Op::SET_UPDATE, into_container(1)),
    (Op::DICT_UPDATE, into_container(1)),
    (Op::DICT_MERGE, special(1, 0).needing(3, 1)),
    (Op::MAP_ADD, into_container(2)),
    (Op::UNPACK_SEQUENCE, Effect::new(1, 0, Obj).pushing_per(1)),
    (Op::UNPACK_EX, Effect::new(1, 1, Obj).extra(Unpack)),
    // Jumps
    (Op::POP_JUMP_FORWARD_IF_FALSE, pops(1)),
    (Op::POP_JUMP_FORWARD_IF_TRUE, pops(1)),
    (Op::POP_JUMP_FORWARD_IF_NONE, special(1, 0)),
    (Op::POP_JUMP_FORWARD_IF_NOT_NONE, special(1, 0)),
    (Op::POP_JUMP_BACKWARD_IF_FALSE, pops(1)),
    (Op::POP_JUMP_BACKWARD_IF_TRUE, pops(1)),
    (Op::POP_JUMP_BACKWARD_IF_NONE, special(1, 0)),
    (Op::POP_JUMP_BACKWARD_IF_NOT_NONE, special(1, 0)),
    (Op::POP_JUMP_IF_FALSE, special(1, 0)),
    (Op::POP_JUMP_IF_TRUE, special(1, 0)),
    (Op::POP_JUMP_IF_NONE, special(1, 0)),
    (Op::POP_JUMP_IF_NOT_NONE, special(1, 0)),
    (Op::JUMP_IF_FALSE_OR_POP, special(1, 0).jumping(1)),
    (Op::JUMP_IF_TRUE_OR_POP, special(1, 0).jumping(1)),
    // Iteration
    (Op::GET_ITER, makes(1, Iter)),
    (Op::GET_YIELD_FROM_ITER, special(1, 1)),
    (Op::FOR_ITER, special(0, 1).needing(1, 0).jumping(-2)),
    (Op::END_FOR, special(2, 0)),
    (Op::POP_ITER, special(1, 0)),
    // Calls and functions
    (Op::CALL, special(2, 1).per(1)),
    (Op::CALL_KW, special(3, 1).per(1)),
    (Op::CALL_FUNCTION_EX, special(3, 1).extra(PopIfOdd)),
    (Op::MAKE_FUNCTION, special(1, 1).extra(PopPerFlag)),
    (Op::SET_FUNCTION_ATTRIBUTE, special(2, 1)),
    (Op::RETURN_VALUE, special(1, 0)),
    (Op::RETURN_CONST, special(0, 0)),
    // Exceptions
    (Op::RAISE_VARARGS, pops(0).per(1)),
    (Op::RERAISE, special(1, 0).needing(1, 1)),
    (Op::PUSH_EXC_INFO, special(1, 2)),
    (Op::POP_EXCEPT, special(1, 0)),
    (Op::CHECK_EXC_MATCH, makes(1, Bool).needing(2, 0)),
    (Op::CHECK_EG_MATCH, special(2, 2)),
    (Op::PREP_RERAISE_STAR, special(2, 1)),
    (Op::WITH_EXCEPT_START, special(0, 1).needing(4, 0)),
    (Op::BEFORE_WITH, Effect::new(1, 2, Obj)),
    (Op::BEFORE_ASYNC_WITH, Effect::new(1, 2, Obj)),
    // Generators and coroutines. What `send` passes in is on the stack when the body starts.
    (Op::RETURN_GENERATOR, special(0, 1)),
    (Op::YIELD_VALUE, special(1, 1)),
    (Op::ASYNC_GEN_WRAP, makes(1, Obj)),
    (Op::SEND, special(1, 1).needing(2, 0).jumping(-1)),
    (Op::END_SEND, special(2, 1)),
    (Op::CLEANUP_THROW, special(3, 2)),
    (Op::GET_AWAITABLE, makes(1, Obj)),
    (Op::GET_AITER, special(1, 1)),
    (Op::GET_ANEXT, makes(0, Obj).needing(1, 0)),
    (Op::END_ASYNC_FOR, special(2, 0)),
    // Patterns
    (Op::MATCH_MAPPING, makes(0, Bool).needing(1, 0)),
    (Op::MATCH_SEQUENCE, makes(0, Bool).needing(1, 0)),
    (Op::MATCH_KEYS, special(0, 1).needing(2, 0)),
    (Op::MATCH_CLASS, special(3, 1)),
    // The stack itself
    (Op::COPY, special(0, 1).needing(0, 1)),
    (Op::SWAP, special(0, 0).needing(0, 1)),
];

const SINCE_312: &[(Op, Effect)] = &[
    (Op::FOR_ITER, special(0, 1).needing(1, 0)),
    (Op::SEND, special(1, 1).needing(2, 0)),
    (Op::LOAD_ATTR, special(1, 1).extra(PushIfOdd)),
];
const SINCE_313: &[(Op, Effect)] = &[
    (Op::END_FOR, special(1, 0).needing(2, 0)),
    (Op::MAKE_FUNCTION, special(1, 1)),
    (Op::DICT_MERGE, special(1, 0).needing(4, 1)),
];
const SINCE_314: &[(Op, Effect)] =
    &[(Op::CALL_FUNCTION_EX, special(4, 1)), (Op::WITH_EXCEPT_START, special(0, 1).needing(5, 0))];
const SINCE_315: &[(Op, Effect)] = &[
    (Op::GET_ITER, special(1, 2)),
    (Op::FOR_ITER, special(0, 1).needing(2, 0)),
    (Op::END_FOR, special(1, 0).needing(3, 0)),
    (Op::POP_ITER, special(2, 0)),
    (Op::SEND, special(1, 1).needing(3, 0)),
    (Op::END_SEND, special(3, 1)),
    (Op::CLEANUP_THROW, special(4, 3)),
];

/// The effects of one version, by `Op as usize`.
pub(crate) type Effects = [Effect; Op::COUNT];

const fn with(mut table: Effects, changes: &[(Op, Effect)]) -> Effects {
    let mut i = 0;
    while i < changes.len() {
        table[changes[i].0 as usize] = changes[i].1;
        i += 1;
    }
    table
}

/// Operations that cannot raise, and since which version.
const QUIET: &[(Op, u8)] = &[
    (Op::NOP, 11),
    (Op::NOT_TAKEN, 11),
    (Op::KW_NAMES, 11),
    (Op::COPY_FREE_VARS, 11),
    // Where there is no memory left for a cell, which the compiler does not see to in inlined comprehensions either.
    (Op::MAKE_CELL, 11),
    (Op::LOAD_CONST, 11),
    (Op::LOAD_SMALL_INT, 11),
    (Op::LOAD_COMMON_CONSTANT, 11),
    (Op::LOAD_FAST, 12),
    (Op::LOAD_FAST_AND_CLEAR, 11),
    (Op::LOAD_FAST_BORROW, 11),
    (Op::LOAD_FAST_LOAD_FAST, 11),
    (Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW, 11),
    (Op::STORE_FAST, 11),
    (Op::STORE_FAST_LOAD_FAST, 11),
    (Op::STORE_FAST_STORE_FAST, 11),
    (Op::PUSH_NULL, 11),
    (Op::POP_TOP, 11),
    (Op::COPY, 11),
    (Op::SWAP, 11),
    (Op::IS_OP, 11),
    (Op::UNARY_NOT, 13),
    (Op::POP_JUMP_IF_FALSE, 13),
    (Op::POP_JUMP_IF_TRUE, 13),
    (Op::POP_JUMP_IF_NONE, 11),
    (Op::POP_JUMP_IF_NOT_NONE, 11),
    (Op::POP_JUMP_FORWARD_IF_NONE, 11),
    (Op::POP_JUMP_FORWARD_IF_NOT_NONE, 11),
    (Op::JUMP_FORWARD, 11),
    (Op::JUMP_BACKWARD_NO_INTERRUPT, 11),
    (Op::END_FOR, 11),
    (Op::POP_ITER, 11),
    (Op::END_SEND, 11),
    (Op::PUSH_EXC_INFO, 11),
    (Op::POP_EXCEPT, 11),
    (Op::RETURN_VALUE, 11),
    (Op::RETURN_CONST, 11),
];

const fn quieted(mut table: Effects, minor: u8) -> Effects {
    let mut i = 0;
    while i < QUIET.len() {
        if QUIET[i].1 <= minor {
            table[QUIET[i].0 as usize].quiet = true;
        }
        i += 1;
    }
    table
}

const BARE: Effects = [Effect::new(0, 0, Nothing); Op::COUNT];
const SINCE: [&[(Op, Effect)]; 5] = [BASE, SINCE_312, SINCE_313, SINCE_314, SINCE_315];

const fn of(version: usize) -> Effects {
    let (mut table, mut i) = (BARE, 0);
    while i <= version {
        table = with(table, SINCE[i]);
        i += 1;
    }
    quieted(table, 11 + version as u8)
}

static ALL: [Effects; 5] = [of(0), of(1), of(2), of(3), of(4)];

/// The effects of a version.
pub(crate) const fn get(version: Version) -> &'static Effects {
    &ALL[version as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    fn recorded(version: Version) -> &'static str {
        match version {
            Version::V311 => include_str!("../../tests/effects/v311.txt"),
            Version::V312 => include_str!("../../tests/effects/v312.txt"),
            Version::V313 => include_str!("../../tests/effects/v313.txt"),
            Version::V314 => include_str!("../../tests/effects/v314.txt"),
            Version::V315 => include_str!("../../tests/effects/v315.txt"),
        }
    }

    /// Where `dis.stack_effect` says something else than what happens, or says it of operands that are refused.
    fn excused(version: Version, op: Op, arg: u32) -> bool {
        match op {
            // It is pushed when the generator is resumed, which `dis` counts elsewhere in these versions.
            Op::RETURN_GENERATOR => version < Version::V313,
            // A function's last instruction: from 3.14 on `dis` counts what the caller gets.
            Op::RETURN_VALUE => version >= Version::V314,
            Op::RETURN_CONST => true,
            // 3.11 books the arguments with PRECALL, which moves nothing.
            Op::PRECALL | Op::CALL => version == Version::V311,
            Op::BUILD_SLICE => arg != 2 && arg != 3,
            Op::MAKE_FUNCTION => arg > 15,
            _ => false,
        }
    }

    #[test]
    fn effects_agree_with_every_interpreter() {
        let mut checked = 0;
        for version in Version::ALL {
            let tables = tables::get(version);
            for line in recorded(version).lines() {
                let parts: Vec<&str> = line.split(' ').collect();
                let op = tables.op(tables.by_name(parts[0]).unwrap());
                if op == Op::INVALID
                    || tables.info[tables.opcode(op).unwrap() as usize].has(tables::OpFlags::ILLEGAL)
                {
                    continue;
                }
                let (arg, jump): (u32, bool) = (parts[1].parse().unwrap(), parts[2] == "jump");
                let expected: isize = parts[3].parse().unwrap();
                if excused(version, op, arg) {
                    continue;
                }
                let effect = &get(version)[op as usize];
                let counts = effect.counts(arg);
                let difference = if jump { effect.jump_difference() } else { 0 };
                let found = counts.push as isize - counts.pop as isize + difference;
                assert_eq!(found, expected, "{version:?} {line}");
                assert!(counts.need >= counts.pop, "{version:?} {line}");
                checked += 1;
            }
        }
        assert!(checked > 5000, "only {checked} effects were compared");
    }
}
