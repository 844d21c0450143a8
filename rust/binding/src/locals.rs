//! Variables: their slots in localsplus, and what their names vouch for.
use crate::capi::{self, Obj};
use crate::names::Places;
use crate::state::state;
use pydynamo_assembler::code::{LocalKind, Trust};
use pydynamo_assembler::inst::NO_INDEX;
use pydynamo_assembler::version::Version;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::borrow::Cow;

/// Bits of `co_localspluskinds`.
pub const FAST_HIDDEN: u8 = 0x10;
pub const FAST_CELL: u8 = 0x40;
pub const FAST_FREE: u8 = 0x80;

/// Where free variables begin, which come last.
pub fn first_free(kinds: &[LocalKind]) -> usize {
    kinds.iter().rposition(|kind| *kind != LocalKind::Free).map_or(0, |last| last + 1)
}

/// Names and kinds of localsplus.
pub struct Locals<'py> {
    /// `co_localsplusnames`, if it is that of an existing code object.
    pub tuple: Option<Obj>,
    /// The names, borrowed from tuples that the spec owns or refers to.
    pub names: Cow<'py, [Obj]>,
    /// Their kinds.
    pub kinds: Vec<LocalKind>,
    /// Where free variables begin.
    first_free: usize,
    places: Option<Places>,
    /// The free variables alone.
    free_places: Option<Places>,
    /// Take any name for that of a local.
    pub lenient: bool,
}

impl<'py> Locals<'py> {
    /// Locals with these names and kinds. From `first_free` on they are free variables.
    pub fn new(tuple: Option<Obj>, names: Cow<'py, [Obj]>, kinds: Vec<LocalKind>, first_free: usize) -> Self {
        Self { tuple, names, kinds, first_free, places: None, free_places: None, lenient: false }
    }

    /// Locals in which every name is found, for analyses that do not care which it is.
    pub fn of_any_name() -> Self {
        Self { lenient: true, ..Self::new(None, Cow::Borrowed(&[]), Vec::new(), 0) }
    }

    /// Where `name` is.
    pub fn index(&mut self, name: &Bound<'py, PyString>) -> Option<u32> {
        if self.lenient {
            return Some(0);
        }
        find(&mut self.places, &self.names, name)
    }

    /// Where the cell called `name` is. Since 3.12 a comprehension's variable can be a plain local of the name of a free variable.
    pub fn cell_index(&mut self, name: &Bound<'py, PyString>) -> Option<u32> {
        let place = self.index(name)?;
        if !self.is_plain(place) {
            return Some(place);
        }
        let free = find(&mut self.free_places, &self.names[self.first_free..], name);
        Some(free.map_or(place, |index| self.first_free as u32 + index))
    }

    /// Whether a slot holds no cell.
    pub fn is_plain(&self, index: u32) -> bool {
        matches!(self.kinds.get(index as usize), Some(LocalKind::Local { .. }))
    }

    /// What each slot's name vouches for in code with so many positional parameters. Says whether any name vouches for anything.
    ///
    /// Until 3.12 tracers write all locals by their names: of two with one name neither vouches for anything.
    pub fn trusted(&self, parameters: usize, trust: &mut Vec<Trust>) -> bool {
        let mut any = false;
        trust.clear();
        trust.extend(self.names.iter().zip(&self.kinds).map(|(name, kind)| match trust_of(*name) {
            // Anybody may call another variable `format`.
            Trust::Int if *kind != (LocalKind::Local { arg: true }) => Trust::None,
            trust => {
                any |= trust.is_relied_on();
                trust
            }
        }));
        if !any {
            return false;
        }
        // Before anything else is asked: so do those who make functions of the code.
        if let [first, next, ..] = &mut trust[..] {
            *first = first.of_first_parameter(*next, parameters);
        }
        // The compiler keeps its set in a cell. Anybody may call an argument or another local so.
        for (trust, kind) in trust.iter_mut().zip(&self.kinds) {
            if *trust == Trust::Set && !matches!(kind, LocalKind::Cell { arg: false } | LocalKind::Free) {
                *trust = Trust::None;
            }
        }
        if state().version >= Version::V313 {
            // A frame's locals are written one by one, by whoever wants that.
            return true;
        }
        // Apart from torch's, there are but half a dozen of these names.
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            if !trust[index].is_relied_on() {
                continue;
            }
            let text = text_of(*name);
            match seen.iter().find(|(other, _)| *other == text) {
                Some((_, first)) => {
                    trust[*first] = Trust::None;
                    trust[index] = Trust::None;
                }
                None => seen.push((text, index)),
            }
        }
        true
    }

    /// Where the namespace of the class around is found: a free variable.
    pub fn class_dict(&self) -> u32 {
        let free = (self.first_free..).zip(&self.names[self.first_free..]);
        let found = free.into_iter().find(|(_, name)| text_of(**name) == "__classdict__");
        found.map_or(NO_INDEX, |(index, _)| index as u32)
    }

    /// Whether a free variable is called `__class__`.
    pub fn has_class_cell(&self) -> bool {
        self.names.iter().skip(self.first_free).any(|name| text_of(*name) == "__class__")
    }
}

/// Where `name`, an exact `str`, is among `names`, by a table of them that is made when it is first needed.
fn find(known: &mut Option<Places>, names: &[Obj], name: &Bound<'_, PyString>) -> Option<u32> {
    let places = known.get_or_insert_with(|| Places::of(names));
    places.find(name.as_ptr(), |place| names[place as usize])
}

/// What a name vouches for.
#[inline]
pub fn trust_of(name: Obj) -> Trust {
    // SAFETY: a `str` that the caller keeps alive. Behind the fixed part of one that is ASCII, as compilers' names are, its text and a
    // zero follow, and behind that of any other more fields, whose first byte means nothing here.
    let (length, first) = unsafe {
        (ffi::PyUnicode_GET_LENGTH(name) as usize, *name.cast::<ffi::PyASCIIObject>().add(1).cast::<u8>())
    };
    if Trust::may_follow(length, first) {
        Trust::of_name(text_of(name), state().version)
    } else {
        Trust::None
    }
}

/// What the name of a parameter vouches for. A set under a name that anybody may write is never passed by a compiler.
pub fn trust_of_parameter(name: Obj) -> Trust {
    match trust_of(name) {
        Trust::Set => Trust::None,
        trust => trust,
    }
}

/// Where the name is under which the compiler of 3.14 keeps a set, or [`NO_INDEX`].
pub fn set_name(names: &Bound<'_, PyTuple>) -> u32 {
    if state().version < Version::V314 {
        return NO_INDEX;
    }
    // SAFETY: the tuple is alive and so are its items, which are exact `str`.
    let found =
        unsafe { capi::tuple_items(names.as_ptr()).iter().position(|name| trust_of(*name) == Trust::Set) };
    found.map_or(NO_INDEX, |index| index as u32)
}

/// A name's UTF-8 text; empty for one with surrogates, which no identifier has.
pub fn text_of<'a>(name: Obj) -> &'a str {
    let mut len = 0;
    // SAFETY: a `str` that the caller keeps alive; its text lives as long and is UTF-8.
    unsafe {
        let text = ffi::PyUnicode_AsUTF8AndSize(name, &raw mut len);
        if text.is_null() {
            ffi::PyErr_Clear();
            return "";
        }
        std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.cast::<u8>(), len as usize))
    }
}

/// Whether two names are the same.
pub fn same_text(a: Obj, b: Obj) -> bool {
    // SAFETY: both are exact `str` objects, for which comparison cannot fail.
    a == b || unsafe { ffi::PyUnicode_Compare(a, b) == 0 }
}
