//! Where the running interpreter's code objects keep their fields. Asks the interpreter itself: the offsets come from
//! the member descriptors of `types.CodeType`, and the two fields that have none are found beside `co_filename` and
//! tried out on a known function before anything relies on them.
use crate::capi::{self, Obj};
use crate::state::state;
use pydynamo_assembler::code::RawCode;
use pydynamo_assembler::units;
use pydynamo_assembler::version::Version;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::ffi::c_int;

/// Byte offsets into a code object.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Layout {
    pub argcount: usize,
    pub posonlyargcount: usize,
    pub kwonlyargcount: usize,
    pub stacksize: usize,
    pub flags: usize,
    pub firstlineno: usize,
    pub consts: usize,
    pub names: usize,
    pub filename: usize,
    pub name: usize,
    pub qualname: usize,
    pub linetable: usize,
    pub exceptiontable: usize,
    pub localsplusnames: usize,
    pub localspluskinds: usize,
    /// The code units that the interpreter runs: they follow the fixed part.
    pub units: usize,
    /// Pointers that are NULL as long as the interpreter put no opcodes of its own among the units.
    pub own_opcodes: &'static [usize],
}

/// How far before the units stand the pointers to the records of instrumentation and to what the just-in-time compiler made.
const fn own_opcodes(version: Version) -> &'static [usize] {
    match version {
        Version::V311 => &[],
        Version::V312 => &[24],
        Version::V313 => &[24, 48],
        Version::V314 | Version::V315 => &[32, 56],
    }
}

/// How far before the units stands the index of the first instruction that may be traced: RESUME.
const FIRST_TRACEABLE: usize = 16;

const CACHE_LINE: usize = 64;
/// Cache lines of units that are fetched before anybody asks.
const FETCHED_LINES: usize = 4;

/// Items of each pool that are fetched.
const FETCHED_ITEMS: usize = 5;

/// `T_OBJECT`, which `pyo3-ffi` marks as deprecated though CPython's code objects use it.
const T_OBJECT: c_int = 6;

impl Layout {
    /// The layout of this interpreter.
    ///
    /// # Errors
    /// `ImportError` if code objects are not laid out as in any supported CPython.
    pub fn of_interpreter(py: Python<'_>, version: Version) -> PyResult<Self> {
        let int = |name| member(py, name, ffi::Py_T_INT);
        let object = |name| member(py, name, T_OBJECT);
        let filename = object("co_filename")?;
        let word = size_of::<Obj>();
        let layout = Self {
            argcount: int("co_argcount")?,
            posonlyargcount: int("co_posonlyargcount")?,
            kwonlyargcount: int("co_kwonlyargcount")?,
            stacksize: int("co_stacksize")?,
            flags: int("co_flags")?,
            firstlineno: int("co_firstlineno")?,
            consts: object("co_consts")?,
            names: object("co_names")?,
            filename,
            name: object("co_name")?,
            qualname: object("co_qualname")?,
            linetable: object("co_linetable")?,
            exceptiontable: object("co_exceptiontable")?,
            localsplusnames: filename - 2 * word,
            localspluskinds: filename - word,
            // SAFETY: `PyCode_Type` is a static type of the interpreter.
            units: unsafe { ffi::PyCode_Type.tp_basicsize } as usize,
            own_opcodes: own_opcodes(version),
        };
        layout.try_out(py)?;
        Ok(layout)
    }

    fn try_out(&self, py: Python<'_>) -> PyResult<()> {
        let code = py.eval(c"(lambda a, *b, c: (lambda: a)).__code__", None, None)?;
        // SAFETY: the offsets lie within a code object, before `co_filename`; the words there are read as plain pointers
        // and compared with objects that are known to live before anything is done with them.
        let (names, kinds) = unsafe {
            (
                read::<usize>(code.as_ptr(), self.localsplusnames),
                read::<usize>(code.as_ptr(), self.localspluskinds),
            )
        };
        if !looks_like(names, &raw mut ffi::PyTuple_Type) || !looks_like(kinds, &raw mut ffi::PyBytes_Type) {
            return Err(refused("co_localsplusnames"));
        }
        // SAFETY: both words point to objects of the type just checked, owned by the code object.
        let (names, kinds) = unsafe {
            (
                Bound::from_borrowed_ptr(py, names as Obj).cast_into::<PyTuple>()?,
                Bound::from_borrowed_ptr(py, kinds as Obj).cast_into::<PyBytes>()?,
            )
        };
        if names.extract::<Vec<String>>()? != ["a", "c", "b"] || kinds.as_bytes().len() != 3 {
            return Err(refused("co_localsplusnames"));
        }
        // SAFETY: the words lie within the fixed part of a code object and are read as plain numbers.
        let (first, words) = unsafe {
            (
                read::<c_int>(code.as_ptr(), self.units - FIRST_TRACEABLE),
                self.own_opcodes.iter().map(|back| read::<usize>(code.as_ptr(), self.units - back)),
            )
        };
        // RESUME stands behind the MAKE_CELL of `a`, and nothing ran that could have been instrumented.
        if first != 1 || words.into_iter().any(|word| word != 0) {
            return Err(refused("co_code_adaptive"));
        }
        Ok(())
    }
}

/// Whether the word is the address of an object of exactly this type. Code objects of all supported releases hold
/// pointers or small integers at the places in question; a small or unaligned word is never followed.
fn looks_like(word: usize, ty: *mut ffi::PyTypeObject) -> bool {
    if word < 0x1_0000 || !word.is_multiple_of(align_of::<Obj>()) {
        return false;
    }
    // SAFETY: an aligned word of this size in this region of a code object is a pointer to a live object.
    unsafe { ffi::Py_TYPE(word as Obj) == ty }
}

fn refused(field: &str) -> PyErr {
    PyImportError::new_err(format!(
        "pydynamo does not know how this interpreter lays out code objects ({field}): use a released CPython 3.11-3.15"
    ))
}

/// The offset of a member of `types.CodeType`.
fn member(py: Python<'_>, name: &str, type_code: c_int) -> PyResult<usize> {
    // SAFETY: `PyCode_Type` is a static type of the interpreter.
    let code_type = unsafe { Bound::from_borrowed_ptr(py, (&raw mut ffi::PyCode_Type).cast()) };
    let descriptor = code_type.getattr("__dict__")?.get_item(name)?;
    // SAFETY: the type is checked before the descriptor is read as one of a member, whose definition is never freed.
    unsafe {
        if ffi::Py_TYPE(descriptor.as_ptr()) != &raw mut ffi::PyMemberDescr_Type {
            return Err(refused(name));
        }
        let definition = *(*descriptor.as_ptr().cast::<ffi::PyMemberDescrObject>()).d_member;
        if definition.type_code != type_code || definition.offset <= 0 {
            return Err(refused(name));
        }
        Ok(definition.offset as usize)
    }
}

/// Reads a field.
///
/// # Safety
/// `object` is live and a `T` stands at `offset`.
pub unsafe fn read<T: Copy>(object: Obj, offset: usize) -> T {
    // SAFETY: as the contract says.
    unsafe { object.cast::<u8>().add(offset).cast::<T>().read() }
}

/// `co_code`, as CPython makes it.
///
/// # Safety
/// `code` is a code object whose units are whole, or were instrumented by the interpreter.
unsafe fn co_code_of<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: as the contract says; the result is a new reference to a bytes object.
    unsafe {
        let made = Bound::from_owned_ptr_or_err(code.py(), capi::PyCode_GetCode(code.as_ptr()))?;
        Ok(made.cast_into_unchecked())
    }
}

/// A code object seen through the layout. Everything is borrowed from the code object.
pub struct CodeView<'py> {
    /// The code object.
    pub object: Bound<'py, PyAny>,
    /// `co_code`, where the units that the interpreter runs do not say what it is: it put opcodes of its own among them.
    code: Option<Bound<'py, PyBytes>>,
}

impl<'py> CodeView<'py> {
    /// A view of `object`.
    ///
    /// # Errors
    /// `TypeError` if it is not a code object, `MemoryError`.
    #[inline(always)]
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // SAFETY: the object is live, and once it is known to be a code object it has the layout's fields in it.
        // `PyCode_GetCode` gives a new reference.
        unsafe {
            if ffi::PyCode_Check(object.as_ptr()) == 0 {
                let name = object.get_type().name()?;
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "expected a code object, got {name}: pass function.__code__"
                )));
            }
            let layout = &state().layout;
            // Where the units begin, and what most functions have of them.
            for line in 0..FETCHED_LINES {
                let units = object.as_ptr().cast::<u8>().wrapping_add(layout.units + CACHE_LINE * line);
                capi::prefetch(units.cast());
            }
            let linetable = read::<Obj>(object.as_ptr(), layout.linetable);
            capi::prefetch(linetable.cast::<u8>().wrapping_add(CACHE_LINE).cast());
            for part in [
                layout.consts,
                layout.names,
                layout.localsplusnames,
                layout.localspluskinds,
                layout.linetable,
                layout.exceptiontable,
                layout.filename,
                layout.name,
                layout.qualname,
            ] {
                capi::prefetch(read::<Obj>(object.as_ptr(), part));
            }
            let owned = |back: &usize| read::<usize>(object.as_ptr(), layout.units - back) != 0;
            let code = if layout.own_opcodes.iter().any(owned) { Some(co_code_of(object)?) } else { None };
            Ok(Self { object: object.clone(), code })
        }
    }

    /// The code units, and whether the interpreter may have specialised them.
    pub fn units(&self) -> (&[u8], bool) {
        match &self.code {
            Some(code) => (code.as_bytes(), false),
            None => (self.live_units().as_flattened(), true),
        }
    }

    /// What the interpreter runs.
    fn live_units(&self) -> &[[u8; 2]] {
        // SAFETY: a code object has `Py_SIZE` units behind its fixed part; nothing writes to them while the GIL is held and no
        // Python code runs, and whoever asks for them does not keep them longer.
        unsafe {
            let len = ffi::Py_SIZE(self.object.as_ptr()) as usize;
            let first = self.object.as_ptr().cast::<u8>().add(state().layout.units).cast::<[u8; 2]>();
            std::slice::from_raw_parts(first, len)
        }
    }

    /// `co_code`.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn co_code(&self) -> PyResult<Bound<'py, PyBytes>> {
        if let Some(code) = &self.code {
            return Ok(code.clone());
        }
        let (py, version, units) = (self.object.py(), state().version, self.live_units());
        if units::are_whole(version, units) {
            // SAFETY: the view's object is a code object.
            return unsafe { co_code_of(&self.object) };
        }
        // Damaged: CPython would read and write what is not there.
        Ok(PyBytes::new(py, &units::plain(version, units)))
    }

    /// Has what the pools hold fetched: so much of it as most have, without asking how much there is.
    #[inline(always)]
    pub fn prefetch_pools(&self) {
        let layout = &state().layout;
        for pool in [layout.consts, layout.names, layout.localsplusnames] {
            let items = self.tuple(pool);
            for place in 0..FETCHED_ITEMS {
                capi::prefetch(items.get(place).copied().unwrap_or(self.object.as_ptr()));
            }
        }
    }

    /// A field that holds an int.
    pub fn int(&self, offset: usize) -> i32 {
        // SAFETY: `offset` comes from the interpreter's own description of an int member.
        unsafe { read::<c_int>(self.object.as_ptr(), offset) }
    }

    /// A field that holds an object, borrowed: code objects do not change it while they live.
    pub fn field(&self, offset: usize) -> Obj {
        // SAFETY: `offset` comes from the interpreter's own description of an object member.
        unsafe { read::<Obj>(self.object.as_ptr(), offset) }
    }

    /// The content of a field that holds bytes.
    pub fn bytes(&self, offset: usize) -> &[u8] {
        // SAFETY: the fields asked for hold bytes objects, alive as long as the code object that `self` borrows.
        unsafe { capi::bytes_content(self.field(offset)) }
    }

    /// What disassembly reads. Not to be kept while Python code runs, which may specialise the units.
    pub fn raw(&self) -> RawCode<'_> {
        RawCode { linetable: self.bytes(state().layout.linetable), ..self.raw_without_lines() }
    }

    /// The same without the line table, whose object may still be on its way from memory.
    pub fn raw_without_lines(&self) -> RawCode<'_> {
        let layout = &state().layout;
        let (code, live) = self.units();
        RawCode {
            code,
            live,
            linetable: &[],
            exceptiontable: self.bytes(layout.exceptiontable),
            firstlineno: self.int(layout.firstlineno),
        }
    }

    /// The items of a field that holds a tuple.
    pub fn tuple(&self, offset: usize) -> &[Obj] {
        // SAFETY: the fields asked for hold tuples, alive as long as the code object that `self` borrows.
        unsafe { capi::tuple_items(self.field(offset)) }
    }
}
