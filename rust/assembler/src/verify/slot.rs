//! What the verifier knows of one stack slot, in 32 bits, and how two such facts are joined where paths meet.
//!
//! Layout: bits 0–6 the [`Tag`], bit 7 "borrowed", bits 8–31 a payload. The payload of a borrowed slot is the load that
//! borrowed it (see [`Slot::borrowed`]); else it depends on the tag: a tuple's length plus one (0 = unknown), a local's index
//! plus one or the index of a code constant.
use std::fmt::Write;

/// Kinds of slots. From [`Tag::Obj`] on all are references to objects; the order is part of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Tag {
    /// Different kinds on different paths: nothing may touch it, only unwinding drops it.
    Junk,
    /// NULL.
    Null,
    /// NULL or an object.
    MaybeNull,
    /// What a handler with `lasti` finds below the exception: not an object from 3.14 on.
    Lasti,
    /// Upper half of a 3.15 iterator: NULL or an index that is not an object.
    Index,
    /// A function that lacks the closure its code wants: payload is the code constant.
    OpenFunction,
    /// A function whose arguments must be of certain kinds: payload is the code constant.
    GuardedFunction,
    /// An object.
    Obj,
    /// Whatever it is used as: the caller vouches for it.
    Any,
    /// Exact bool.
    Bool,
    /// Exact int.
    Int,
    /// Exact str.
    Str,
    /// None.
    None,
    /// An exception or None.
    ExcOrNone,
    /// An exception.
    Exc,
    /// An iterator (it has `tp_iternext`).
    Iter,
    /// An asynchronous iterator, from GET_AITER.
    AsyncIter,
    /// Lower half of a 3.15 iterator; only together with the [`Tag::Index`] above it.
    PairedIter,
    /// Exact list.
    List,
    /// Exact list of exceptions and None that nothing else refers to.
    ExcList,
    /// Exact list of exact lists that nothing else refers to, but for a [`Tag::ListsCopy`].
    Lists,
    /// A second reference to such a list, which a subscription takes right away.
    ListsCopy,
    /// Exact slice.
    Slice,
    /// Exact set.
    Set,
    /// Exact dict.
    Dict,
    /// A cell.
    Cell,
    /// A template's interpolation.
    Interpolation,
    /// A code object: payload is the constant.
    Code,
    /// A function that may be called with anything.
    Function,
    /// Exact tuple.
    Tuple,
    /// Exact tuple of exact str.
    StrTuple,
    /// Exact tuple of cells.
    CellTuple,
    /// Exact tuple of interpolations.
    InterpolationTuple,
    /// Exact tuple (name, type parameters or None, function) as TypeAliasType wants it.
    AliasTuple,
}

const TAGS: [Tag; 35] = [
    Tag::Junk,
    Tag::Null,
    Tag::MaybeNull,
    Tag::Lasti,
    Tag::Index,
    Tag::OpenFunction,
    Tag::GuardedFunction,
    Tag::Obj,
    Tag::Any,
    Tag::Bool,
    Tag::Int,
    Tag::Str,
    Tag::None,
    Tag::ExcOrNone,
    Tag::Exc,
    Tag::Iter,
    Tag::AsyncIter,
    Tag::PairedIter,
    Tag::List,
    Tag::ExcList,
    Tag::Lists,
    Tag::ListsCopy,
    Tag::Slice,
    Tag::Set,
    Tag::Dict,
    Tag::Cell,
    Tag::Interpolation,
    Tag::Code,
    Tag::Function,
    Tag::Tuple,
    Tag::StrTuple,
    Tag::CellTuple,
    Tag::InterpolationTuple,
    Tag::AliasTuple,
    // Not a tag.
    Tag::Junk,
];

const TAG_BITS: u32 = 0x7f;
const BORROWED: u32 = 0x80;
/// The largest payload.
pub(super) const MAX_PAYLOAD: u32 = (1 << 24) - 1;

/// One slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    pub(super) const OBJ: Self = Self::of(Tag::Obj);
    pub(super) const NULL: Self = Self::of(Tag::Null);

    pub(super) const fn of(tag: Tag) -> Self {
        Self(tag as u32)
    }

    pub(super) const fn with(tag: Tag, payload: u32) -> Self {
        Self(tag as u32 | payload << 8)
    }

    /// A tuple of a known length.
    pub(super) const fn tuple(tag: Tag, len: u32) -> Self {
        if len < MAX_PAYLOAD { Self::with(tag, len + 1) } else { Self::of(Tag::Tuple) }
    }

    /// The same fact, about a reference that a local owns. `load` names the instruction and which of its results.
    pub(super) const fn borrowed(tag: Tag, load: u32) -> Self {
        Self(tag as u32 | BORROWED | load << 8)
    }

    #[inline]
    pub(super) fn tag(self) -> Tag {
        TAGS[(self.0 & TAG_BITS) as usize]
    }

    #[inline]
    pub(super) const fn is(self, tag: Tag) -> bool {
        self.0 & TAG_BITS == tag as u32
    }

    /// A reference to an object that any operation may take.
    #[inline]
    pub(super) const fn is_obj(self) -> bool {
        self.0 & TAG_BITS >= Tag::Obj as u32
    }

    /// NULL, or an object that any operation may take.
    #[inline]
    pub(super) const fn is_nullable(self) -> bool {
        self.is_obj() || self.is(Tag::Null) || self.is(Tag::MaybeNull)
    }

    #[inline]
    pub(super) const fn is_borrowed(self) -> bool {
        self.0 & BORROWED != 0
    }

    /// Which load borrowed it.
    pub(super) const fn load(self) -> Option<u32> {
        if self.is_borrowed() { Some(self.0 >> 8) } else { None }
    }

    /// NULL or the value of a local that may have been unbound.
    pub(super) const fn taken_from(local: u32) -> Self {
        if local < MAX_PAYLOAD { Self::with(Tag::MaybeNull, local + 1) } else { Self::of(Tag::MaybeNull) }
    }

    /// Which local it was taken from, if that is known.
    pub(super) const fn origin(self) -> Option<u32> {
        if self.is(Tag::MaybeNull) { self.len() } else { None }
    }

    /// The code constant.
    pub(super) const fn constant(self) -> u32 {
        self.0 >> 8
    }

    /// The tuple's length if known.
    pub(super) const fn len(self) -> Option<u32> {
        if self.is_borrowed() { None } else { (self.0 >> 8).checked_sub(1) }
    }

    /// The slot as the reference of its own that `tag` says.
    pub(super) const fn retagged(self, tag: Tag) -> Self {
        if self.is_borrowed() { Self(self.0 & !TAG_BITS | tag as u32) } else { Self::of(tag) }
    }

    /// An exact list, whatever else is known of it.
    pub(super) fn is_list(self) -> bool {
        (Tag::List..=Tag::ListsCopy).contains(&self.tag())
    }

    /// What is left once something else refers to it too: nobody vouches for the items of a list, nor for a function's code.
    pub(super) fn shared(self) -> Self {
        match self.tag() {
            Tag::ExcList | Tag::Lists | Tag::ListsCopy => Self::of(Tag::List),
            Tag::Function => Self::OBJ,
            _ => self,
        }
    }

    /// What holds on both of two paths; `None` if each borrows from another load.
    #[inline]
    pub(super) fn join(self, other: Self) -> Option<Self> {
        if self.0 == other.0 { Some(self) } else { self.join_different(other) }
    }

    fn join_different(self, other: Self) -> Option<Self> {
        let (a, b) = (self.tag(), other.tag());
        let tag = if a == b { a } else { join_tags(a.min(b), a.max(b)) };
        match (self.load(), other.load()) {
            (None, None) => {
                let same_payload = a == b && self.0 >> 8 == other.0 >> 8;
                Some(if same_payload {
                    self
                } else {
                    match tag {
                        // Without their payload they say nothing.
                        Tag::OpenFunction | Tag::GuardedFunction => Self::of(Tag::Junk),
                        Tag::Code | Tag::Function => Self::OBJ,
                        Tag::CellTuple | Tag::AliasTuple => Self::of(Tag::Tuple),
                        _ => Self::of(tag),
                    }
                })
            }
            (Some(x), Some(y)) if x != y => None,
            (Some(load), _) | (_, Some(load)) => Some(Self::borrowed(tag, load)),
        }
    }
}

/// `low < high` in the order of [`Tag`].
fn join_tags(low: Tag, high: Tag) -> Tag {
    use Tag::{
        Any, Exc, ExcList, ExcOrNone, Index, Junk, List, Lists, ListsCopy, MaybeNull, None, Null, Obj, Tuple,
    };
    match (low, high) {
        (Null, MaybeNull) => MaybeNull,
        (Null | MaybeNull, high) if high >= Obj => MaybeNull,
        (Null, Index) => Index,
        // The caller vouches for one path only.
        (Any, _) => Obj,
        (None, ExcOrNone | Exc) | (ExcOrNone, Exc) => ExcOrNone,
        (List | ExcList | Lists, ExcList | Lists | ListsCopy) => List,
        (low, _) if low >= Tuple => Tuple,
        (low, _) if low >= Obj => Obj,
        _ => Junk,
    }
}

/// A stack as error messages show it, bottom first.
pub(super) fn render(stack: &[Slot]) -> String {
    const SHOWN: usize = 12;
    let mut out = String::from("[");
    if stack.len() > SHOWN {
        let _ = write!(out, "{} more, ", stack.len() - SHOWN);
    }
    for (i, slot) in stack[stack.len().saturating_sub(SHOWN)..].iter().enumerate() {
        if i != 0 {
            out.push_str(", ");
        }
        if slot.is_borrowed() {
            out.push_str("borrowed ");
        }
        out.push_str(match slot.tag() {
            Tag::Junk => "unknown",
            Tag::Null => "NULL",
            Tag::MaybeNull => "NULL or object",
            Tag::Lasti => "lasti",
            Tag::Index => "iterator index",
            Tag::OpenFunction => "function without its closure",
            Tag::GuardedFunction => "function of a comprehension",
            Tag::Obj => "object",
            Tag::Any => "trusted object",
            Tag::Bool => "bool",
            Tag::Int => "int",
            Tag::Str => "str",
            Tag::None => "None",
            Tag::ExcOrNone => "exception or None",
            Tag::Exc => "exception",
            Tag::Iter | Tag::PairedIter => "iterator",
            Tag::AsyncIter => "asynchronous iterator",
            Tag::List => "list",
            Tag::ExcList => "list of exceptions",
            Tag::Lists | Tag::ListsCopy => "list of lists",
            Tag::Slice => "slice",
            Tag::Set => "set",
            Tag::Dict => "dict",
            Tag::Cell => "cell",
            Tag::Interpolation => "interpolation",
            Tag::Code => "code",
            Tag::Function => "function",
            Tag::Tuple => "tuple",
            Tag::StrTuple => "tuple of str",
            Tag::CellTuple => "tuple of cells",
            Tag::InterpolationTuple => "tuple of interpolations",
            Tag::AliasTuple => "type alias tuple",
        });
        if let (Tag::Tuple | Tag::StrTuple | Tag::CellTuple, Some(len)) = (slot.tag(), slot.len()) {
            let _ = write!(out, " ({len})");
        }
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &[Tag] = TAGS.split_at(TAGS.len() - 1).0;

    #[test]
    fn numbers_and_tags_agree() {
        for (i, tag) in REAL.iter().enumerate() {
            assert_eq!(*tag as usize, i);
            assert_eq!(Slot::of(*tag).tag(), *tag);
        }
    }

    #[test]
    fn joining_is_commutative_associative_and_idempotent() {
        let mut slots: Vec<Slot> = REAL.iter().map(|t| Slot::of(*t)).collect();
        slots.extend([1, 2].map(|n| Slot::tuple(Tag::CellTuple, n)));
        slots.extend([1, 2].map(|n| Slot::with(Tag::Code, n)));
        slots.extend([1, 2].map(|n| Slot::with(Tag::GuardedFunction, n)));
        slots.extend([1, 2].map(|n| Slot::with(Tag::Function, n)));
        for a in &slots {
            assert!(a.join(*a).unwrap() == *a);
            for b in &slots {
                let ab = a.join(*b).unwrap();
                assert!(ab == b.join(*a).unwrap(), "{} {}", render(&[*a, *b]), render(&[ab]));
                assert!(ab.join(*a).unwrap() == ab, "{} {}", render(&[*a, *b]), render(&[ab]));
                for c in &slots {
                    let left = ab.join(*c).unwrap();
                    let right = a.join(b.join(*c).unwrap()).unwrap();
                    assert!(left == right, "{}", render(&[*a, *b, *c, left, right]));
                }
            }
        }
    }

    #[test]
    fn a_join_promises_no_more_than_its_parts() {
        for a in REAL {
            for b in REAL {
                let joined = Slot::of(*a).join(Slot::of(*b)).unwrap();
                assert!(!joined.is_obj() || (Slot::of(*a).is_obj() && Slot::of(*b).is_obj()));
                assert!(!joined.is_nullable() || (Slot::of(*a).is_nullable() && Slot::of(*b).is_nullable()));
            }
        }
    }

    #[test]
    fn borrowing_from_two_loads_cannot_be_joined() {
        let (a, b) = (Slot::borrowed(Tag::Obj, 1), Slot::borrowed(Tag::Obj, 2));
        assert!(a.join(b).is_none());
        assert!(a.join(Slot::OBJ).unwrap() == a);
    }
}
