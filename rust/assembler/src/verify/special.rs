//! Operations whose operands must be of certain kinds, or that move slots around.
//!
//! Each function states what CPython takes for granted without looking. Depth and operand ranges are checked before.
use super::calls::{call, call_function_ex, set_function_attribute};
use super::common::{push_attribute, want_condition, want_empty};
use super::containers::{build_tuple, item_of, list_to_tuple, share, slice_of, want_list};
use super::intrinsics::{intrinsic_1, intrinsic_2, prep_reraise_star, want_exc_or_none};
use super::iteration::{cleanup_throw, end_send, for_iter, send, want_iterator_slots, yield_value};
use super::machine::{Machine, is_tuple};
use super::slot::{Slot, Tag};
use super::variables::{copy_free_vars, load_and_clear, load_fast, want_not_free};
use crate::code::ConstKind;
use crate::error::{ErrorKind, Result};
use crate::inst::Inst;
use crate::op::Op;
use crate::version::Version;

/// Interprets an operation that is none of the [`super::common`] ones.
#[allow(clippy::too_many_lines, reason = "one arm for each operation")]
#[inline(never)]
pub(super) fn step(m: &mut Machine<'_>, op: Op, inst: &Inst) -> Result<()> {
    let arg = inst.arg;
    match op {
        Op::LOAD_FAST_LOAD_FAST => {
            load_fast(m, arg >> 4, true)?;
            load_fast(m, arg & 15, true)?;
        }
        Op::LOAD_FAST_CHECK => {
            load_fast(m, arg, false)?;
            let cell = m.locals.is_cell(arg);
            m.set_local(arg, true, cell);
        }
        Op::LOAD_CLOSURE => load_fast(m, arg, false)?,
        Op::LOAD_FAST_AND_CLEAR => load_and_clear(m, arg)?,
        Op::STORE_FAST_LOAD_FAST => {
            m.store_local(arg >> 4)?;
            load_fast(m, arg & 15, true)?;
        }
        Op::STORE_FAST_STORE_FAST => {
            m.store_local(arg >> 4)?;
            m.store_local(arg & 15)?;
        }
        Op::DELETE_FAST => {
            want_not_free(m, arg)?;
            m.release(arg)?;
            m.set_local(arg, false, false);
        }
        Op::MAKE_CELL => {
            m.release(arg)?;
            m.set_local(arg, true, true);
        }
        Op::COPY_FREE_VARS => copy_free_vars(m, arg)?,
        Op::LOAD_FROM_DICT_OR_DEREF => {
            m.want_cell(arg)?;
            m.want_object(0)?;
            // The dict decides. That a class's namespace has nothing of its own under a compiler's name is taken for granted.
            let tag = if m.namespace == m.index { m.trusted_tag(arg) } else { Tag::Obj };
            m.poke(0, Slot::of(tag));
        }
        Op::STORE_DEREF => {
            m.want_cell(arg)?;
            m.want_object(0)?;
            m.want_trusted(arg, 0)?;
            m.drop(1);
        }
        Op::DELETE_DEREF => m.want_cell(arg)?,
        Op::LOAD_COMMON_CONSTANT => {
            // None, '', True and False came with 3.15.
            let tag = match arg {
                7 => Tag::None,
                8 => Tag::Str,
                9 | 10 => Tag::Bool,
                11 => Tag::Int,
                _ => Tag::Obj,
            };
            m.push(Slot::of(tag));
        }
        Op::LOAD_METHOD | Op::LOAD_SPECIAL => {
            let owner = m.want_object(0)?;
            m.drop(1);
            push_attribute(m, owner, true);
        }
        Op::IMPORT_FROM => {
            // What stays here may be known to what is pushed: a method of it.
            m.want_object(0)?;
            share(m, 0);
            m.push(Slot::OBJ);
        }
        Op::LOAD_SUPER_ATTR => {
            m.want_objects(3)?;
            let owner = m.peek(0);
            m.drop(3);
            push_attribute(m, owner, arg & 1 != 0);
        }
        Op::SWAP => {
            let other = arg as usize - 1;
            m.split_pair(0);
            m.split_pair(other);
            let (top, below) = (m.peek(0), m.peek(other));
            m.poke(0, below);
            m.poke(other, top);
            m.dirty = true;
        }
        Op::UNARY_NOT => {
            want_condition(m)?;
            m.poke(0, Slot::of(Tag::Bool));
        }
        Op::POP_JUMP_IF_NONE
        | Op::POP_JUMP_IF_NOT_NONE
        | Op::POP_JUMP_FORWARD_IF_NONE
        | Op::POP_JUMP_FORWARD_IF_NOT_NONE
        | Op::POP_JUMP_BACKWARD_IF_NONE
        | Op::POP_JUMP_BACKWARD_IF_NOT_NONE
        | Op::JUMP_IF_FALSE_OR_POP
        | Op::JUMP_IF_TRUE_OR_POP => {
            m.want_object(0)?;
            m.drop(1);
        }
        Op::BINARY_SUBSCR => {
            m.want_objects(2)?;
            let result = item_of(m.peek(1), m.peek(0));
            m.drop(2);
            m.push(result);
        }
        Op::BINARY_SLICE => {
            m.want_objects(3)?;
            let result = slice_of(m.peek(2));
            m.drop(3);
            m.push(result);
        }
        Op::FORMAT_SIMPLE | Op::GET_YIELD_FROM_ITER => {
            // They may hand on what they got.
            let slot = m.want_object(0)?;
            m.poke(0, slot.retagged(Tag::Obj));
        }
        Op::BUILD_TUPLE => build_tuple(m, arg as usize)?,
        Op::BUILD_LIST => {
            m.want_objects(arg as usize)?;
            let items = &m.stack[m.stack.len() - arg as usize..];
            let tag = match arg {
                0 if m.facts.has_except_star => Tag::ExcList,
                0 => Tag::List,
                _ if items.iter().all(|slot| slot.is_list()) => Tag::Lists,
                _ => Tag::List,
            };
            m.drop(arg as usize);
            m.push(Slot::of(tag));
        }
        Op::LIST_APPEND => {
            let value = m.want_object(0)?;
            let keeps = match want_list(m, arg as usize)?.tag() {
                Tag::ExcList => matches!(value.tag(), Tag::Exc | Tag::ExcOrNone | Tag::None),
                Tag::Lists => value.is_list(),
                _ => true,
            };
            if !keeps {
                share(m, arg as usize);
            }
            m.drop(1);
        }
        Op::LIST_EXTEND => {
            m.want_object(0)?;
            want_list(m, arg as usize)?;
            share(m, arg as usize);
            m.drop(1);
        }
        Op::SET_ADD | Op::SET_UPDATE => {
            m.want_object(0)?;
            m.want(arg as usize, Tag::Set, "a set made by BUILD_SET")?;
            m.drop(1);
        }
        Op::DICT_UPDATE => {
            m.want_object(0)?;
            m.want(arg as usize, Tag::Dict, "a dict made by BUILD_MAP")?;
            m.drop(1);
        }
        Op::DICT_MERGE => {
            m.want_object(0)?;
            m.want(arg as usize, Tag::Dict, "a dict made by BUILD_MAP")?;
            // The function that is about to be called: its name goes into the error message.
            let callee = if m.version < Version::V313 { arg + 2 } else { arg + 3 };
            m.want_object(callee as usize)?;
            m.drop(1);
        }
        Op::MAP_ADD => {
            m.want_objects(2)?;
            m.want(arg as usize + 1, Tag::Dict, "a dict made by BUILD_MAP")?;
            m.drop(2);
        }
        Op::BUILD_CONST_KEY_MAP => {
            let keys = m.want_tuple(0, "a constant tuple of the keys")?;
            if keys.len() != Some(arg) {
                return Err(m.wrong_type(0, &format!("a constant tuple of {arg} keys")));
            }
            let count = arg as usize + 1;
            m.want_objects(count)?;
            m.drop(count);
            m.push(Slot::of(Tag::Dict));
        }
        Op::LIST_TO_TUPLE => list_to_tuple(m)?,
        Op::BUILD_INTERPOLATION => {
            let count = 2 + (arg as usize & 1);
            m.want_objects(count)?;
            m.drop(count);
            m.push(Slot::of(Tag::Interpolation));
        }
        Op::BUILD_TEMPLATE => {
            let parts = m.peek(0);
            let count = match parts.len() {
                Some(count) if parts.is(Tag::InterpolationTuple) || (is_tuple(parts) && count == 0) => count,
                _ => return Err(m.wrong_type(0, "a tuple of interpolations made by BUILD_TUPLE")),
            };
            // Adding templates takes their last and first texts without looking whether there are any.
            if !(m.peek(1).is(Tag::StrTuple) && m.peek(1).len() == Some(count + 1)) {
                return Err(m.wrong_type(1, &format!("a tuple of {} str", count + 1)));
            }
            m.drop(2);
            m.push(Slot::OBJ);
        }
        Op::CALL_INTRINSIC_1 => intrinsic_1(m, arg)?,
        Op::CALL_INTRINSIC_2 => intrinsic_2(m, arg)?,
        Op::KW_NAMES => {
            let Some(ConstKind::StrTuple(len)) = m.meta.consts.get(arg as usize) else {
                return Err(m.error(ErrorKind::BadConstant, "keyword names must be a constant tuple of str"));
            };
            m.kwnames = Some(*len);
        }
        Op::CALL_KW => {
            let names = m.peek(0);
            let (Tag::StrTuple, Some(len)) = (names.tag(), names.len()) else {
                return Err(m.wrong_type(0, "a constant tuple of str"));
            };
            m.drop(1);
            call(m, arg, len)?;
        }
        Op::CALL_FUNCTION_EX => call_function_ex(m, arg)?,
        Op::SET_FUNCTION_ATTRIBUTE => set_function_attribute(m, arg)?,
        Op::RETURN_CONST => want_empty(m)?,
        Op::RETURN_GENERATOR => {
            want_prologue(m)?;
            if m.version < Version::V315 {
                want_empty(m)?;
            }
            m.push(Slot::OBJ);
        }
        Op::PUSH_EXC_INFO => {
            m.want_exc(0)?;
            m.drop(1);
            m.push(Slot::of(Tag::ExcOrNone));
            m.push(Slot::of(Tag::Exc));
        }
        Op::POP_EXCEPT => {
            want_exc_or_none(m, 0)?;
            m.drop(1);
        }
        Op::RERAISE => {
            m.want_exc(0)?;
            if arg > 0 && !m.peek(arg as usize).is(Tag::Lasti) {
                return Err(m.wrong_type(arg as usize, "the lasti that a handler with lasti finds there"));
            }
            m.drop(1);
        }
        Op::CHECK_EG_MATCH => {
            m.want_object(0)?;
            want_exc_or_none(m, 1)?;
            m.drop(2);
            m.push(Slot::of(Tag::ExcOrNone));
            m.push(Slot::of(Tag::ExcOrNone));
        }
        Op::PREP_RERAISE_STAR => prep_reraise_star(m)?,
        Op::WITH_EXCEPT_START => {
            m.want_exc(0)?;
            if m.version < Version::V314 {
                m.want_object(3)?;
            } else {
                m.want_object(4)?;
                m.want_nullable(3, "the self of __exit__, or NULL")?;
            }
            m.push(Slot::OBJ);
        }
        Op::END_ASYNC_FOR => {
            m.want_exc(0)?;
            m.want_object(1)?;
            m.drop(2);
        }
        Op::FOR_ITER => for_iter(m)?,
        Op::GET_ITER => {
            // 3.15: lists and tuples stay what they are, and the upper slot counts.
            let slot = m.want_object(0)?;
            m.poke(0, slot.retagged(Tag::PairedIter));
            m.push(Slot::of(Tag::Index));
        }
        Op::GET_AITER => {
            m.want_object(0)?;
            m.poke(0, Slot::of(Tag::AsyncIter));
        }
        Op::END_FOR => {
            m.want_object(0)?;
            want_iterator_slots(m, 1)?;
            m.drop(if m.version < Version::V313 { 2 } else { 1 });
        }
        Op::POP_ITER => {
            want_iterator_slots(m, 0)?;
            m.drop(if m.version < Version::V315 { 1 } else { 2 });
        }
        Op::YIELD_VALUE => yield_value(m, inst)?,
        Op::SEND => send(m)?,
        Op::END_SEND => end_send(m)?,
        Op::CLEANUP_THROW => cleanup_throw(m)?,
        Op::MATCH_KEYS => {
            m.want_tuple(0, "a tuple of keys")?;
            m.want_object(1)?;
            m.push(Slot::OBJ);
        }
        Op::MATCH_CLASS => {
            m.want_tuple(0, "a tuple of attribute names")?;
            m.want_objects(3)?;
            m.drop(3);
            m.push(Slot::OBJ);
        }
        _ => return Err(m.error(ErrorKind::IllegalOpcode, "the verifier has no rule for this opcode")),
    }
    Ok(())
}

/// Some operations belong into the prologue and nowhere else.
pub(super) fn want_prologue(m: &Machine<'_>) -> Result<()> {
    if m.index < m.prologue_end {
        return Ok(());
    }
    Err(m.error(
        ErrorKind::BadPrologue,
        "it belongs into the prologue, once, and only if there are free variables or co_flags say generator",
    ))
}
