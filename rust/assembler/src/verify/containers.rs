//! Lists and tuples: what is known of them and their items, and until when.
use super::machine::{Machine, is_tuple};
use super::slot::{Slot, Tag};
use crate::code::ConstKind;
use crate::error::Result;
use crate::op::Op;

/// From now on something else refers to it too.
pub(super) fn share(m: &mut Machine<'_>, from_top: usize) {
    let slot = m.peek(from_top);
    if slot.shared() != slot {
        m.poke(from_top, slot.shared());
        m.dirty = true;
    }
}

/// What is copied here is subscribed with a constant right away, which takes the copy.
pub(super) fn is_subscribed_next(m: &Machine<'_>) -> bool {
    let tables = crate::tables::get(m.version);
    let Some([index, subscription]) = m.program.insts.get(m.index as usize + 1..m.index as usize + 3) else {
        return false;
    };
    let is_index = match tables.op(index.opcode) {
        Op::LOAD_SMALL_INT => true,
        Op::LOAD_CONST => matches!(m.meta.consts.get(index.arg as usize), Some(ConstKind::Int)),
        _ => false,
    };
    is_index
        && match tables.op(subscription.opcode) {
            Op::BINARY_SUBSCR => true,
            Op::BINARY_OP => subscription.arg == 26,
            _ => false,
        }
}

/// What a subscription gives.
pub(super) fn item_of(container: Slot, key: Slot) -> Slot {
    match (container.tag(), key.tag()) {
        (_, Tag::Slice) => slice_of(container),
        (Tag::Lists | Tag::ListsCopy, Tag::Int) => Slot::of(Tag::List),
        _ => Slot::OBJ,
    }
}

/// Slices of exact lists and tuples are exact lists and tuples.
pub(super) fn slice_of(container: Slot) -> Slot {
    match container.tag() {
        _ if container.is_list() => Slot::of(Tag::List),
        Tag::Tuple | Tag::StrTuple | Tag::CellTuple => Slot::of(Tag::Tuple),
        _ => Slot::OBJ,
    }
}

pub(super) fn build_tuple(m: &mut Machine<'_>, count: usize) -> Result<()> {
    m.want_objects(count)?;
    let items = &m.stack[m.stack.len() - count..];
    let all = |tag| items.iter().all(|slot| slot.is(tag));
    let slot = if all(Tag::Str) {
        Slot::tuple(Tag::StrTuple, count as u32)
    } else if all(Tag::Cell) {
        Slot::tuple(Tag::CellTuple, count as u32)
    } else if all(Tag::Interpolation) {
        Slot::tuple(Tag::InterpolationTuple, count as u32)
    } else if count == 3
        && items[0].is(Tag::Str)
        && (items[1].is(Tag::None) || is_tuple(items[1]))
        && items[2].is(Tag::Function)
    {
        Slot::tuple(Tag::AliasTuple, 3)
    } else {
        Slot::tuple(Tag::Tuple, count as u32)
    };
    m.drop(count);
    m.push(slot);
    Ok(())
}

pub(super) fn want_list(m: &Machine<'_>, from_top: usize) -> Result<Slot> {
    let slot = m.peek(from_top);
    if slot.is_list() || slot.is(Tag::Any) {
        return Ok(slot);
    }
    Err(m.wrong_type(from_top, "a list made by BUILD_LIST"))
}

pub(super) fn list_to_tuple(m: &mut Machine<'_>) -> Result<()> {
    want_list(m, 0)?;
    m.poke(0, Slot::of(Tag::Tuple));
    Ok(())
}
