//! The operations that most instructions are, and those without rules of their own.
//!
//! What they want is as for those of [`special`].
use super::calls::{call, make_function};
use super::containers::{is_subscribed_next, item_of, share};
use super::machine::Machine;
use super::rows::{self, Row};
use super::slot::{Slot, Tag};
use super::special;
use super::variables::{load_borrowed, load_fast};
use crate::code::ConstKind;
use crate::error::{ErrorKind, Result};
use crate::inst::Inst;
use crate::op::Op;
use crate::stack::MAX_DEPTH;
use crate::version::Version;

/// Interprets one operation.
#[allow(clippy::too_many_lines, reason = "one arm for each operation")]
#[inline(always)]
pub(super) fn step(m: &mut Machine<'_>, row: &Row, inst: &Inst) -> Result<()> {
    let (arg, op) = (inst.arg, row.rules);
    match op {
        rows::SIMPLE => m.exchange(row.simple(), row.result)?,
        rows::OTHER => plain(m, row, arg)?,
        Op::NOP => {
            m.copied += u32::from(m.copied == m.index);
            m.namespace += u32::from(m.namespace == m.index);
        }
        Op::LOAD_FAST => load_fast(m, arg, m.version >= Version::V312)?,
        Op::LOAD_FAST_BORROW => load_borrowed(m, arg, 0)?,
        Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => {
            load_borrowed(m, arg >> 4, 0)?;
            load_borrowed(m, arg & 15, 1)?;
        }
        Op::STORE_FAST => m.store_local(arg)?,
        Op::LOAD_DEREF | Op::LOAD_CLASSDEREF => {
            m.want_cell(arg)?;
            let tag = if op == Op::LOAD_DEREF { m.trusted_tag(arg) } else { Tag::Obj };
            m.push(Slot::of(tag));
            if arg == m.meta.class_dict {
                m.namespace = m.index + 1;
            }
        }
        Op::LOAD_CONST => {
            let slot = constant(m.meta.consts[arg as usize], arg);
            m.push(slot);
        }
        Op::LOAD_NAME => m.push(Slot::of(if arg == m.meta.set_name { Tag::Set } else { Tag::Obj })),
        Op::STORE_NAME => {
            m.want_object(0)?;
            if arg == m.meta.set_name {
                m.want(0, Tag::Set, "the set that the compiler keeps under this name")?;
            }
            m.drop(1);
        }
        Op::LOAD_GLOBAL => {
            let for_call = arg & 1 != 0;
            let (low, high) = if m.version < Version::V313 {
                (if for_call { Slot::NULL } else { Slot::OBJ }, Slot::OBJ)
            } else {
                (Slot::OBJ, Slot::NULL)
            };
            m.push_one_or_both(low, high, for_call);
        }
        Op::LOAD_ATTR => {
            let owner = m.want_object(0)?;
            m.drop(1);
            push_attribute(m, owner, arg & 1 != 0);
        }
        Op::PUSH_NULL => m.push(Slot::NULL),
        Op::POP_TOP => {
            let slot = m.peek(0);
            // 3.14's POP_TOP looks before it leaps; until then it is a plain decref.
            let fine = slot.is_obj()
                || matches!(slot.tag(), Tag::Lasti | Tag::OpenFunction | Tag::GuardedFunction)
                || (m.version >= Version::V314
                    && matches!(slot.tag(), Tag::Null | Tag::MaybeNull | Tag::Index));
            if !fine {
                return Err(m.wrong_type(0, "an object"));
            }
            m.split_pair(0);
            m.drop(1);
        }
        Op::COPY => copy(m, arg as usize - 1)?,
        Op::POP_JUMP_IF_FALSE | Op::POP_JUMP_IF_TRUE => {
            want_condition(m)?;
            m.drop(1);
        }
        Op::BINARY_OP => {
            m.want_objects(2)?;
            // Until 3.13 subscription is an operation of its own.
            let result = if arg == 26 { item_of(m.peek(1), m.peek(0)) } else { Slot::OBJ };
            m.drop(2);
            m.push(result);
        }
        Op::COMPARE_OP => {
            m.want_objects(2)?;
            let ints = m.peek(0).is(Tag::Int) && m.peek(1).is(Tag::Int);
            let to_bool = ints || (m.version >= Version::V313 && arg & 16 != 0);
            m.drop(2);
            m.push(Slot::of(if to_bool { Tag::Bool } else { Tag::Obj }));
        }
        Op::PRECALL => {}
        Op::CALL => {
            let names = m.kwnames.take().unwrap_or(0);
            call(m, arg, names)?;
        }
        Op::MAKE_FUNCTION => make_function(m, arg)?,
        Op::RETURN_VALUE => {
            m.want_object(0)?;
            m.drop(1);
            want_empty(m)?;
        }
        _ => special::step(m, op, inst)?,
    }
    Ok(())
}

/// Takes objects, and gives what is always the same.
fn plain(m: &mut Machine<'_>, row: &Row, arg: u32) -> Result<()> {
    let counts = row.counts(arg);
    m.want_objects(counts.need)?;
    m.drop(counts.pop);
    m.spend(counts.push)?;
    if counts.push > MAX_DEPTH {
        return Err(m.too_deep());
    }
    for _ in 0..counts.push {
        m.push(row.result);
    }
    Ok(())
}

#[inline(always)]
fn constant(kind: ConstKind, index: u32) -> Slot {
    // Those without a payload are nearly all: a look into a table, not a branch.
    Slot::of(match kind {
        ConstKind::StrTuple(len) => return Slot::tuple(Tag::StrTuple, len),
        ConstKind::Tuple(len) => return Slot::tuple(Tag::Tuple, len),
        ConstKind::Code { .. } => return Slot::with(Tag::Code, index),
        ConstKind::None => Tag::None,
        ConstKind::Str => Tag::Str,
        ConstKind::Bool => Tag::Bool,
        ConstKind::Int => Tag::Int,
        ConstKind::Slice => Tag::Slice,
        ConstKind::Other => Tag::Obj,
    })
}

/// An attribute, or for a call the pair of it and what it is called on; "no method" is NULL in the slot of the other.
#[inline(always)]
pub(super) fn push_attribute(m: &mut Machine<'_>, owner: Slot, for_call: bool) {
    let (low, high) = if m.version < Version::V313 {
        (if for_call { Slot::of(Tag::MaybeNull) } else { Slot::OBJ }, Slot::OBJ)
    } else {
        (Slot::OBJ, owner.retagged(Tag::MaybeNull))
    };
    m.push_one_or_both(low, high, for_call);
}

/// From 3.13 on conditional jumps and UNARY_NOT compare with False and True and look no further.
#[inline(always)]
pub(super) fn want_condition(m: &Machine<'_>) -> Result<()> {
    if m.version < Version::V313 {
        m.want_object(0)?;
    } else if !m.peek(0).is(Tag::Bool) {
        return Err(m.wrong_type(0, "a bool: put TO_BOOL before it"));
    }
    Ok(())
}

fn copy(m: &mut Machine<'_>, from_top: usize) -> Result<()> {
    let slot = m.peek(from_top);
    let copied = match slot.tag() {
        Tag::PairedIter => slot.retagged(Tag::Obj),
        Tag::Lists if is_subscribed_next(m) => Slot::of(Tag::ListsCopy),
        Tag::ExcList | Tag::Lists | Tag::Function => {
            share(m, from_top);
            slot.shared()
        }
        Tag::Lasti | Tag::OpenFunction | Tag::GuardedFunction => slot,
        _ if slot.is_obj() => slot,
        _ => return Err(m.wrong_type(from_top, "an object")),
    };
    m.push(copied);
    if from_top == 0 {
        m.copied = m.index + 1;
    }
    Ok(())
}

pub(super) fn want_empty(m: &Machine<'_>) -> Result<()> {
    if m.stack.is_empty() {
        return Ok(());
    }
    Err(m.error(
        ErrorKind::StackMismatch,
        format!("{} values are left on the stack below: pop them before returning", m.stack.len()),
    ))
}
