//! Iterators, generators and what `yield from` and `await` delegate to.
use super::check::SUSPENDING;
use super::machine::Machine;
use super::slot::{Slot, Tag};
use crate::error::{ErrorKind, Result};
use crate::inst::Inst;
use crate::version::Version;

/// An object, and in 3.15 above it NULL or an index that is only dropped: nothing will be asked of them as an iterator.
pub(super) fn want_iterator_slots(m: &Machine<'_>, upper_from_top: usize) -> Result<()> {
    if m.version < Version::V315 {
        return m.want_object(upper_from_top).map(drop);
    }
    if !matches!(m.peek(upper_from_top).tag(), Tag::Null | Tag::Index) {
        return Err(m.wrong_type(upper_from_top, "an iterator's index or NULL"));
    }
    m.want_object(upper_from_top + 1).map(drop)
}

/// Suspended inside `yield from` or `await`, CPython takes the value below for the delegate.
pub(super) fn yield_value(m: &mut Machine<'_>, inst: &Inst) -> Result<()> {
    if m.meta.flags & SUSPENDING == 0 {
        return Err(m.error(
            ErrorKind::BadPrologue,
            "only code whose co_flags say generator, coroutine or asynchronous generator can yield",
        ));
    }
    m.want_object(0)?;
    let delegates = if m.version < Version::V313 {
        let next = m.program.insts.get(m.index as usize + 1);
        next.is_some_and(|next| next.arg & 3 >= 2)
    } else {
        inst.arg & 1 != 0
    };
    if delegates {
        let needed = if m.version < Version::V315 { 2 } else { 3 };
        if m.stack.len() < needed {
            return Err(m.error(
                ErrorKind::StackUnderflow,
                "there must be a delegate below the value that is handed on",
            ));
        }
        want_iterator_slots(m, 1)?;
    }
    m.poke(0, Slot::OBJ);
    Ok(())
}

/// The next value comes above the iterator.
pub(super) fn for_iter(m: &mut Machine<'_>) -> Result<()> {
    if m.version < Version::V315 {
        m.want(0, Tag::Iter, "an iterator made by GET_ITER")?;
    } else {
        let plain = matches!(m.peek(1).tag(), Tag::Any | Tag::Iter) && m.peek(0).is(Tag::Null);
        let paired = m.peek(1).is(Tag::PairedIter) && m.peek(0).is(Tag::Index);
        if !(plain || paired) {
            return Err(m.wrong_type(1, "an iterator made by GET_ITER, with its index above it"));
        }
    }
    m.push(Slot::OBJ);
    Ok(())
}

/// The delegate goes, the value stays.
pub(super) fn end_send(m: &mut Machine<'_>) -> Result<()> {
    let value = m.want_object(0)?;
    want_iterator_slots(m, 1)?;
    m.drop(if m.version < Version::V315 { 2 } else { 3 });
    m.push(value);
    Ok(())
}

/// The delegate is done: its value comes in its place.
pub(super) fn cleanup_throw(m: &mut Machine<'_>) -> Result<()> {
    m.want_exc(0)?;
    m.want_object(1)?;
    want_iterator_slots(m, 2)?;
    if m.version < Version::V315 {
        m.drop(3);
        m.push(Slot::of(Tag::None));
    } else {
        m.drop(4);
        m.push(Slot::of(Tag::None));
        m.push(Slot::NULL);
    }
    m.push(Slot::OBJ);
    Ok(())
}

/// A value goes to the delegate, and another comes back.
pub(super) fn send(m: &mut Machine<'_>) -> Result<()> {
    m.want_object(0)?;
    if m.version < Version::V315 {
        m.want_object(1)?;
    } else {
        m.want_pair(1)?;
    }
    m.poke(0, Slot::OBJ);
    Ok(())
}
