//! Everything about a code object but its instructions: read from a code object or from a `code_options` dict, and made
//! into a code object again ([`construct`]).
mod construct;

use crate::capi::{self, Obj};
use crate::layout::{CodeView, read};
use crate::locals::{FAST_CELL, FAST_FREE, Locals, first_free};
use crate::names::Places;
use crate::nesting;
use crate::state::state;
pub use construct::Parts;
use pydynamo_assembler::code::{LocalKind, Trust};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};
use std::borrow::Cow;

const CO_VARARGS: i32 = 0x04;
const CO_VARKEYWORDS: i32 = 0x08;

/// A code object without its instructions.
pub struct Spec<'py> {
    pub argcount: i32,
    pub posonlyargcount: i32,
    pub kwonlyargcount: i32,
    pub flags: i32,
    pub firstlineno: i32,
    pub consts: Bound<'py, PyTuple>,
    pub names: Bound<'py, PyTuple>,
    /// None: exactly those of the original.
    pub variables: Option<Variables<'py>>,
    pub filename: Bound<'py, PyAny>,
    pub name: Bound<'py, PyAny>,
    pub qualname: Bound<'py, PyAny>,
    /// The code object that this one is made from. It outlives the spec.
    original: Option<Original>,
}

/// What is borrowed from an original: its kinds say what the names of variables cannot, which locals are hidden.
#[derive(Clone, Copy)]
struct Original {
    code: Obj,
    localsplusnames: Obj,
    localspluskinds: Obj,
    /// The bits of all kinds together.
    all_kinds: u8,
}

impl Original {
    fn new(view: &CodeView<'_>) -> Self {
        let layout = &state().layout;
        Self {
            code: view.object.as_ptr(),
            localsplusnames: view.field(layout.localsplusnames),
            localspluskinds: view.field(layout.localspluskinds),
            all_kinds: view.bytes(layout.localspluskinds).iter().fold(0, |all, kind| all | kind),
        }
    }

    /// There are no cells and no free variables.
    fn is_plain(&self) -> bool {
        self.all_kinds & (FAST_CELL | FAST_FREE) == 0
    }
}

/// Names of variables as `types.CodeType` takes them.
pub struct Variables<'py> {
    pub varnames: Bound<'py, PyTuple>,
    pub freevars: Bound<'py, PyTuple>,
    pub cellvars: Bound<'py, PyTuple>,
}

impl<'py> Variables<'py> {
    /// Those of a code object.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline(always)]
    pub fn of_code(view: &CodeView<'py>) -> PyResult<Self> {
        // SAFETY: the view's object is a live code object.
        unsafe { Self::of_object(view.object.py(), view.object.as_ptr()) }
    }

    /// # Safety
    /// `code` is a live code object.
    unsafe fn of_object(py: Python<'py>, code: Obj) -> PyResult<Self> {
        // SAFETY: as the contract says; the getters give new references to tuples.
        unsafe {
            let tuple = |object: Obj| {
                Bound::from_owned_ptr_or_err(py, object).map(|o| o.cast_into_unchecked::<PyTuple>())
            };
            Ok(Self {
                varnames: tuple(capi::PyCode_GetVarnames(code))?,
                freevars: tuple(capi::PyCode_GetFreevars(code))?,
                cellvars: tuple(capi::PyCode_GetCellvars(code))?,
            })
        }
    }

    /// The same, without asking CPython to pick names out where all of them are plain locals.
    ///
    /// # Safety
    /// `original` is alive.
    unsafe fn of_original(py: Python<'py>, original: Original) -> PyResult<Self> {
        // SAFETY: as the contract says; the field is a tuple of names.
        unsafe {
            if !original.is_plain() {
                return Self::of_object(py, original.code);
            }
            let names = Bound::from_borrowed_ptr(py, original.localsplusnames);
            Ok(Self {
                varnames: names.cast_into_unchecked(),
                freevars: PyTuple::empty(py),
                cellvars: PyTuple::empty(py),
            })
        }
    }

    /// Whether these are the same tuples.
    pub fn are(&self, other: &Self) -> bool {
        self.varnames.is(&other.varnames)
            && self.freevars.is(&other.freevars)
            && self.cellvars.is(&other.cellvars)
    }
}

/// Keys of `code_options`, in the order of `types.CodeType`'s parameters.
pub const KEYS: [&str; 18] = [
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_nlocals",
    "co_stacksize",
    "co_flags",
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_filename",
    "co_name",
    "co_qualname",
    "co_firstlineno",
    "co_linetable",
    "co_exceptiontable",
    "co_freevars",
    "co_cellvars",
];

/// A place in [`KEYS`].
#[derive(Clone, Copy)]
struct Key(usize);

impl Key {
    /// The place of a key that is there.
    const fn of(name: &str) -> Self {
        let mut place = 0;
        while !same_bytes(KEYS[place].as_bytes(), name.as_bytes()) {
            place += 1;
        }
        Self(place)
    }

    const fn name(self) -> &'static str {
        KEYS[self.0]
    }
}

const fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl<'py> Spec<'py> {
    /// The spec of a code object. Does not outlive it.
    pub fn of_code(view: &CodeView<'py>) -> Self {
        let py = view.object.py();
        let layout = &state().layout;
        // SAFETY: fields are live objects of the types that CPython sees to when a code object is made.
        unsafe {
            let field = |offset| Bound::from_borrowed_ptr(py, view.field(offset));
            Self {
                argcount: view.int(layout.argcount),
                posonlyargcount: view.int(layout.posonlyargcount),
                kwonlyargcount: view.int(layout.kwonlyargcount),
                flags: view.int(layout.flags),
                firstlineno: view.int(layout.firstlineno),
                consts: field(layout.consts).cast_into_unchecked(),
                names: field(layout.names).cast_into_unchecked(),
                variables: None,
                filename: field(layout.filename),
                name: field(layout.name),
                qualname: field(layout.qualname),
                original: Some(Original::new(view)),
            }
        }
    }

    /// The spec that a `code_options` dict describes.
    ///
    /// # Errors
    /// `KeyError`, `TypeError` or `ValueError` for a missing, ill-typed or impossible value.
    pub fn of_options(options: &Bound<'py, PyDict>) -> PyResult<Self> {
        let get = |key: Key| -> PyResult<Bound<'py, PyAny>> {
            // SAFETY: keys live for ever.
            let interned = unsafe { Borrowed::from_ptr(options.py(), state().keys[key.0]) };
            options.get_item(interned)?.ok_or_else(|| {
                let key = key.name();
                PyKeyError::new_err(format!(
                    "code_options lacks {key:?}: start from a code object's, see get_code_keys()"
                ))
            })
        };
        let int = |key: Key| -> PyResult<i32> {
            let value = get(key)?;
            if !value.is_instance_of::<PyInt>() {
                return Err(wrong_type(key, "an int", &value));
            }
            value.extract().map_err(|_| {
                PyValueError::new_err(format!("code_options[{:?}] must fit in 32 bits", key.name()))
            })
        };
        let tuple = |key: Key| -> PyResult<Bound<'py, PyTuple>> {
            let value = get(key)?;
            value
                .cast_into_exact::<PyTuple>()
                .map_err(|error| wrong_type(key, "a tuple", &error.into_inner()))
        };
        let names = |key: Key| -> PyResult<Bound<'py, PyTuple>> {
            let value = tuple(key)?;
            // SAFETY: `value` owns the items while they are looked at.
            let all_str = unsafe {
                capi::tuple_items(value.as_ptr()).iter().all(|item| ffi::PyUnicode_CheckExact(*item) != 0)
            };
            if all_str { Ok(value) } else { Err(wrong_type(key, "a tuple of str", &value)) }
        };
        let text = |key: Key| -> PyResult<Bound<'py, PyAny>> {
            let value = get(key)?;
            if value.is_instance_of::<PyString>() { Ok(value) } else { Err(wrong_type(key, "a str", &value)) }
        };
        let spec = Self {
            argcount: int(const { Key::of("co_argcount") })?,
            posonlyargcount: int(const { Key::of("co_posonlyargcount") })?,
            kwonlyargcount: int(const { Key::of("co_kwonlyargcount") })?,
            flags: int(const { Key::of("co_flags") })?,
            firstlineno: int(const { Key::of("co_firstlineno") })?,
            consts: tuple(const { Key::of("co_consts") })?,
            names: names(const { Key::of("co_names") })?,
            variables: Some(Variables {
                varnames: names(const { Key::of("co_varnames") })?,
                freevars: names(const { Key::of("co_freevars") })?,
                cellvars: names(const { Key::of("co_cellvars") })?,
            }),
            filename: text(const { Key::of("co_filename") })?,
            name: text(const { Key::of("co_name") })?,
            qualname: text(const { Key::of("co_qualname") })?,
            original: None,
        };
        spec.check_arguments()?;
        Ok(spec)
    }

    fn check_arguments(&self) -> PyResult<()> {
        let counts = [self.argcount, self.posonlyargcount, self.kwonlyargcount];
        if counts.iter().any(|count| *count < 0) || self.posonlyargcount > self.argcount {
            return Err(PyValueError::new_err(
                "argument counts must not be negative, and co_posonlyargcount counts some of co_argcount",
            ));
        }
        if self.flags < 0 {
            return Err(PyValueError::new_err("co_flags must not be negative"));
        }
        let names = self.variables.as_ref().map_or(0, |variables| variables.varnames.len());
        if self.argument_slots() > names {
            return Err(PyValueError::new_err(format!(
                "co_varnames has {names} names, the arguments alone need {}",
                self.argument_slots()
            )));
        }
        Ok(())
    }

    /// How many locals the call binds.
    fn argument_slots(&self) -> usize {
        let extra = i64::from(self.flags & CO_VARARGS != 0) + i64::from(self.flags & CO_VARKEYWORDS != 0);
        (i64::from(self.argcount) + i64::from(self.kwonlyargcount) + extra) as usize
    }

    /// What `*args` and `**kwargs` are the call decides, whatever they are called.
    pub fn trust_stars(&self, trust: &mut [Trust]) {
        let mut place = (i64::from(self.argcount) + i64::from(self.kwonlyargcount)) as usize;
        for (flag, made) in [(CO_VARARGS, Trust::Tuple), (CO_VARKEYWORDS, Trust::Dict)] {
            if self.flags & flag != 0 {
                if let Some(trust) = trust.get_mut(place) {
                    *trust = match *trust {
                        // Anybody may call them `format`.
                        Trust::None | Trust::Int => Trust::None,
                        _ => made,
                    };
                }
                place += 1;
            }
        }
    }

    /// Says that the spec describes `view`'s code object with edits.
    /// `unchanged`: no variable was added or renamed.
    pub fn set_original(&mut self, view: &CodeView<'py>, unchanged: bool) {
        self.original = Some(Original::new(view));
        if unchanged {
            self.variables = None;
        }
    }

    /// Refuses constants that CPython's constructor would not come back from. Those of an existing code object it has walked.
    ///
    /// # Errors
    /// `ValueError`.
    pub fn check_consts(&self) -> PyResult<()> {
        // SAFETY: the field of a live code object.
        let walked = |original: Original| unsafe { read::<Obj>(original.code, state().layout.consts) };
        if self.original.map(walked) == Some(self.consts.as_ptr()) {
            return Ok(());
        }
        // SAFETY: the spec owns the tuple.
        let items = unsafe { capi::tuple_items(self.consts.as_ptr()) };
        if nesting::all_can_be_walked(self.consts.py(), items)? {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("code_options['co_consts']: {}", nesting::REASON)))
    }

    /// Names and kinds of localsplus, as CPython will lay them out.
    #[inline(always)]
    pub fn locals(&self) -> Locals<'py> {
        let arguments = self.argument_slots();
        let variables = match (&self.variables, self.original) {
            (Some(variables), _) => variables,
            (None, None) => return Locals::of_any_name(),
            (None, Some(original)) => {
                let Original { localsplusnames: names, localspluskinds: kinds, .. } = original;
                // SAFETY: both belong to the original code object, which outlives the spec.
                let (items, bytes) = unsafe { (capi::tuple_items(names), capi::bytes_content(kinds)) };
                if original.is_plain() {
                    let kinds = (0..items.len()).map(|i| LocalKind::Local { arg: i < arguments }).collect();
                    return Locals::new(Some(names), Cow::Borrowed(items), kinds, items.len());
                }
                let kind = |(i, bits): (usize, &u8)| match bits & (FAST_CELL | FAST_FREE) {
                    0 => LocalKind::Local { arg: i < arguments },
                    FAST_CELL => LocalKind::Cell { arg: i < arguments },
                    _ => LocalKind::Free,
                };
                let kinds: Vec<_> = bytes.iter().enumerate().map(kind).collect();
                let first_free = first_free(&kinds);
                return Locals::new(Some(names), Cow::Borrowed(items), kinds, first_free);
            }
        };
        // SAFETY: the spec owns the tuples.
        let items = |tuple: &Bound<'py, PyTuple>| unsafe { capi::tuple_items(tuple.as_ptr()).to_vec() };
        let mut names = items(&variables.varnames);
        let mut kinds: Vec<_> = (0..names.len()).map(|i| LocalKind::Local { arg: i < arguments }).collect();
        if !variables.cellvars.is_empty() {
            // As CPython does it: a cell shares the slot of the first local of its name.
            let places = Places::of(&names);
            for cell in items(&variables.cellvars) {
                if let Some(place) = places.find(cell, |place| names[place as usize]) {
                    let place = place as usize;
                    kinds[place] = LocalKind::Cell { arg: place < arguments };
                } else {
                    names.push(cell);
                    kinds.push(LocalKind::Cell { arg: false });
                }
            }
        }
        let free = items(&variables.freevars);
        let free_count = free.len();
        kinds.extend(free.iter().map(|_| LocalKind::Free));
        names.extend(free);
        let first_free = kinds.len() - free_count;
        Locals::new(None, Cow::Owned(names), kinds, first_free)
    }
}

fn wrong_type(key: Key, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let key = key.name();
    let found = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("code_options[{key:?}] must be {wanted}, not {found}"))
}
