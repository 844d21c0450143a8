//! What Python calls on an instruction: making, printing, copying, pickling.
use super::{Instruction, Parts, attributes, make, position};
use crate::capi::Obj;
use crate::entry::InstructionExnTabEntry;
use crate::state::{Operand, state};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::ptr;

/// `Instruction.__doc__`.
pub const DOC: &CStr = c"Instruction(opcode, opname, arg, argval, offset=None, starts_line=None, is_jump_target=False, \
positions=None, target=None, exn_tab_entry=None, argrepr=None)\n--\n\n\
One bytecode instruction, to be edited and assembled again. Compared by identity.\n\n\
`opcode` and `opname` follow each other. Of `arg` and `argval` the one written last counts; for opcodes with flag bits\n\
(LOAD_GLOBAL, LOAD_ATTR, LOAD_SUPER_ATTR) `argval` is the name and the low bits of `arg` are the flags.";

const FIELDS: [&str; 11] = [
    "opcode",
    "opname",
    "arg",
    "argval",
    "offset",
    "starts_line",
    "is_jump_target",
    "positions",
    "target",
    "exn_tab_entry",
    "argrepr",
];
const REQUIRED: usize = 4;

/// Makes an instruction as a Python object.
///
/// # Errors
/// `MemoryError`.
pub fn make_bound<'py>(py: Python<'py>, parts: &Parts) -> PyResult<Bound<'py, PyAny>> {
    super::settle_debt(py)?;
    // SAFETY: the GIL is held and `parts.argval` is live or NULL; `make` returns a new reference or sets `MemoryError`.
    unsafe { Bound::from_owned_ptr_or_err(py, make(parts).cast()) }
}

/// The native side of an object that was checked to be an instruction.
fn native<'a>(object: &Bound<'_, PyAny>) -> PyResult<&'a mut Instruction> {
    Instruction::from_object(object.as_ptr()).ok_or_else(|| PyTypeError::new_err("not an Instruction"))
}

/// `Instruction.__new__`.
pub unsafe extern "C" fn new(_ty: *mut ffi::PyTypeObject, args: Obj, kwargs: Obj) -> Obj {
    // SAFETY: called by the interpreter with the GIL, a tuple, and a dict or NULL.
    unsafe {
        let py = Python::assume_attached();
        let args = Bound::from_borrowed_ptr(py, args);
        let kwargs = Bound::from_borrowed_ptr_or_opt(py, kwargs);
        finish(py, construct(&args, kwargs.as_ref()))
    }
}

fn finish(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> Obj {
    match result {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}

fn construct<'py>(
    args: &Bound<'py, PyAny>,
    kwargs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let args = args.cast::<PyTuple>()?;
    let mut values: [Option<Bound<'py, PyAny>>; FIELDS.len()] =
        std::array::from_fn(|i| args.get_item(i).ok());
    if args.len() > FIELDS.len() {
        return Err(PyTypeError::new_err(format!("Instruction() takes at most {} arguments", FIELDS.len())));
    }
    if let Some(kwargs) = kwargs {
        for (key, value) in kwargs.cast::<PyDict>()?.iter() {
            let name = key.extract::<String>()?;
            let Some(i) = FIELDS.iter().position(|field| **field == *name) else {
                return Err(PyTypeError::new_err(format!("Instruction() has no argument {name:?}")));
            };
            if values[i].replace(value).is_some() {
                return Err(PyTypeError::new_err(format!("Instruction() got {name:?} twice")));
            }
        }
    }
    if let Some(i) = (0..REQUIRED).find(|i| values[*i].is_none()) {
        return Err(PyTypeError::new_err(format!(
            "Instruction() needs {:?}: see create_instruction()",
            FIELDS[i]
        )));
    }
    let field = |i: usize| values[i].as_ref().filter(|value| !value.is_none());
    let opcode = attributes::opcode_of_name(values[1].as_ref().unwrap_or(&py.None().into_bound(py)))?;
    let object = make_bound(py, &Parts::new(opcode))?;
    let this = native(&object)?;
    if let Some(number) = &values[0]
        && attributes::operand_of(number, "opcode")? != u32::from(opcode)
    {
        return Err(PyValueError::new_err(format!("opcode {number} is not {}", this.opname_str())));
    }
    if let Some(arg) = field(2) {
        attributes::set_arg(this, arg)?;
    }
    if let Some(argval) = &values[3] {
        this.set_argval(argval.as_ptr());
    }
    if this.arg().is_some() && matches!(this.operand(), Operand::Plain | Operand::Compare | Operand::Jump) {
        // `argval` only explains such an operand: `arg` has more to say (a comparison's hints).
        this.flags.set(super::Flags::ARGVAL_NEWER, false);
        this.flags.set(super::Flags::ARG_NEWER, true);
    }
    if let Some(offset) = field(4) {
        attributes::set_offset(this, offset)?;
    }
    if let Some(positions) = field(7) {
        position::set_positions(this, positions)?;
    }
    if let Some(line) = field(5) {
        position::set_starts_line(this, line)?;
    }
    if let Some(is_target) = field(6) {
        attributes::set_is_target(this, is_target)?;
    }
    if let Some(target) = field(8) {
        attributes::set_target(this, target)?;
    }
    if let Some(entry) = field(9) {
        attributes::set_entry(this, entry)?;
    }
    if let Some(argrepr) = field(10) {
        attributes::set_argrepr(this, argrepr)?;
    }
    Ok(object)
}

/// `Instruction.__repr__`: other instructions in short form, so that it never recurses.
pub unsafe extern "C" fn repr(object: Obj) -> Obj {
    // SAFETY: called by the interpreter with the GIL and an instruction.
    unsafe {
        let py = Python::assume_attached();
        finish(py, repr_of(&Bound::from_borrowed_ptr(py, object)).map(Bound::into_any))
    }
}

fn repr_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let mut text = String::from("Instruction(");
    for (i, name) in FIELDS.iter().enumerate() {
        let value = object.getattr(*name)?;
        if i >= REQUIRED && (value.is_none() || matches!(value.extract::<bool>(), Ok(false))) {
            continue;
        }
        let shown = match *name {
            "target" => short_of(&value),
            "argrepr" => continue,
            _ => value.repr()?.to_string(),
        };
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push('=');
        text.push_str(&shown);
    }
    text.push(')');
    Ok(PyString::new(object.py(), &text))
}

/// `Instruction(opname=…, offset=…)`, for any instruction-like object.
pub fn short_of(object: &Bound<'_, PyAny>) -> String {
    let part = |name: &str| object.getattr(name).map_or_else(|_| "?".to_owned(), |value| value.to_string());
    format!("Instruction(opname={}, offset={})", part("opname"), part("offset"))
}

/// An instruction with the same fields, references included.
fn shallow_copy<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    // Done before the original is read, as it may run Python code; making the copy then has nothing to settle.
    super::settle_debt(py)?;
    let this = native(object)?;
    let mut flags = this.flags;
    flags.set(super::Flags::TRACKED | super::Flags::DEFERRED, false);
    let parts = Parts {
        opcode: this.opcode,
        flags,
        written: this.written,
        arg: this.arg,
        offset: this.offset().unwrap_or(super::NO_OFFSET),
        loc: this.loc,
        argval: this.argval,
    };
    let copy = make_bound(py, &parts)?;
    let native_copy = native(&copy)?;
    native_copy.set_target(this.target());
    native_copy.set_entry(this.entry());
    // SAFETY: the text is owned by the original; the copy takes a reference of its own.
    unsafe { ffi::Py_XINCREF(this.argrepr) };
    native_copy.argrepr = this.argrepr;
    Ok(copy)
}

/// Copies an instruction and everything that it reaches through `target` and `exn_tab_entry`, in a loop rather than by
/// recursion; operands are shared, as constants are. `memo` is `copy.deepcopy`'s.
///
/// # Errors
/// `MemoryError`, or what copying foreign instructions raises.
pub fn deep_copy<'py>(object: &Bound<'py, PyAny>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let memo = memo.cast::<PyDict>()?;
    let mut copies: HashMap<usize, Bound<'py, PyAny>> = HashMap::new();
    let mut todo = vec![object.clone()];
    let mut made = Vec::new();
    while let Some(old) = todo.pop() {
        let key = old.as_ptr() as usize;
        if copies.contains_key(&key) {
            continue;
        }
        if let Some(known) = memo.get_item(key)? {
            copies.insert(key, known);
            continue;
        }
        let copy = if Instruction::check(old.as_ptr()) {
            let this = native(&old)?;
            // SAFETY: both references are owned by `old`, which is alive.
            todo.extend(
                [this.target(), this.entry()]
                    .into_iter()
                    .flatten()
                    .map(|o| unsafe { Bound::from_borrowed_ptr(py, o) }),
            );
            shallow_copy(&old)?
        } else if let Ok(entry) = old.cast::<InstructionExnTabEntry>() {
            todo.extend(entry.borrow().references(py));
            Bound::new(py, entry.borrow().duplicate(py))?.into_any()
        } else {
            py.import("copy")?.call_method1("deepcopy", (&old, memo))?
        };
        memo.set_item(key, &copy)?;
        copies.insert(key, copy.clone());
        made.push(copy);
    }
    let twin = |object: Obj| copies.get(&(object as usize)).map(Bound::as_ptr);
    for copy in &made {
        if let Some(this) = Instruction::from_object(copy.as_ptr()) {
            this.set_target(this.target().and_then(twin));
            this.set_entry(this.entry().and_then(twin));
        } else if let Ok(entry) = copy.cast::<InstructionExnTabEntry>() {
            entry
                .borrow_mut()
                .remap(|old| copies.get(&(old.as_ptr() as usize)).map(|new| new.clone().unbind()));
        }
    }
    copies.remove(&(object.as_ptr() as usize)).ok_or_else(|| PyMemoryError::new_err("copy was lost"))
}

type Method = for<'py> fn(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;

/// Defines a C function that calls a [`Method`] with `self` and its argument (None for methods without).
macro_rules! c_method {
    ($name:ident, $method:expr) => {
        unsafe extern "C" fn $name(object: Obj, arg: Obj) -> Obj {
            // SAFETY: called by the interpreter with the GIL and an instruction; `arg` is live, or NULL for methods
            // without an argument.
            unsafe {
                let py = Python::assume_attached();
                let object = Bound::from_borrowed_ptr(py, object);
                let arg =
                    Bound::from_borrowed_ptr_or_opt(py, arg).unwrap_or_else(|| py.None().into_bound(py));
                let method: Method = $method;
                finish(py, method(&object, &arg))
            }
        }
    };
}

c_method!(c_copy, |this, _| shallow_copy(this));
c_method!(c_deepcopy, deep_copy);
c_method!(c_short, |this, _| Ok(PyString::new(this.py(), &short_of(this)).into_any()));
c_method!(c_copy_positions, |this, other| {
    if let Some(other) = Instruction::from_object(other.as_ptr()) {
        let this = native(this)?;
        this.loc = other.loc;
        this.flags.set(super::Flags::LINE_HIDDEN, other.flags.has(super::Flags::LINE_HIDDEN));
    } else {
        position::set_positions(native(this)?, &other.getattr("positions")?)?;
        position::set_starts_line(native(this)?, &other.getattr("starts_line")?)?;
    }
    Ok(this.py().None().into_bound(this.py()))
});
c_method!(c_reduce, |this, _| {
    let py = this.py();
    let mut args = Vec::with_capacity(FIELDS.len());
    for name in FIELDS {
        // References come back as state, so that cycles can be pickled; text comes back by itself.
        let skip = matches!(name, "target" | "exn_tab_entry" | "argrepr" | "starts_line");
        args.push(if skip { py.None().into_bound(py) } else { this.getattr(name)? });
    }
    let references = PyTuple::new(py, [this.getattr("target")?, this.getattr("exn_tab_entry")?])?;
    let parts = [this.get_type().into_any(), PyTuple::new(py, args)?.into_any(), references.into_any()];
    Ok(PyTuple::new(py, parts)?.into_any())
});
c_method!(c_setstate, |this, state| {
    let inst = native(this)?;
    attributes::set_target(inst, &state.get_item(0)?)?;
    attributes::set_entry(inst, &state.get_item(1)?)?;
    Ok(this.py().None().into_bound(this.py()))
});

/// The method table, leaked: types keep a pointer to it.
pub fn table() -> *mut ffi::PyMethodDef {
    let method = |name: &'static CStr,
                  function: unsafe extern "C" fn(Obj, Obj) -> Obj,
                  flags: c_int,
                  doc: &'static CStr| {
        ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
            ml_flags: flags,
            ml_doc: doc.as_ptr(),
        }
    };
    let table = vec![
        method(c"__copy__", c_copy, ffi::METH_NOARGS, c"An instruction with the same fields."),
        method(
            c"__deepcopy__",
            c_deepcopy,
            ffi::METH_O,
            c"A copy of the instruction and all that it reaches.",
        ),
        method(
            c"short_inst_repr",
            c_short,
            ffi::METH_NOARGS,
            c"short_inst_repr($self, /)\n--\n\nName and offset.",
        ),
        method(
            c"copy_positions",
            c_copy_positions,
            ffi::METH_O,
            c"copy_positions($self, other, /)\n--\n\nTakes over line and positions of another instruction.",
        ),
        method(c"__reduce__", c_reduce, ffi::METH_NOARGS, c"For pickle."),
        method(c"__setstate__", c_setstate, ffi::METH_O, c"For pickle."),
        ffi::PyMethodDef::zeroed(),
    ];
    Box::leak(table.into_boxed_slice()).as_mut_ptr()
}

/// `create_instruction` after its arguments were taken apart.
///
/// # Errors
/// As the Python function says.
pub fn create<'py>(
    name: &Bound<'py, PyAny>,
    arg: Option<&Bound<'py, PyAny>>,
    argval: Option<&Bound<'py, PyAny>>,
    target: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let opcode = attributes::opcode_of_name(name)?;
    let object = make_bound(name.py(), &Parts::new(opcode))?;
    let this = native(&object)?;
    let bits = this.operand() == Operand::NameBits;
    let argval = argval.filter(|value| value.as_ptr() != state().not_provided);
    let given = usize::from(arg.is_some()) + usize::from(argval.is_some()) + usize::from(target.is_some());
    if given > 1 && !(bits && target.is_none()) {
        return Err(PyValueError::new_err("give at most one of arg, argval and target"));
    }
    if bits && target.is_some() {
        return Err(PyValueError::new_err(format!("{} has no target", this.opname_str())));
    }
    if let Some(arg) = arg {
        attributes::set_arg(this, arg)?;
    } else if bits {
        this.set_arg(Some(0));
    }
    if this.opname_str() == "LOAD_SUPER_ATTR" {
        // Written by hand it means super(cls, self).attr: two arguments.
        this.set_arg(Some(this.arg | 2));
    }
    if let Some(argval) = argval {
        this.set_argval(argval.as_ptr());
    }
    if let Some(target) = target {
        attributes::set_target(this, target)?;
    }
    Ok(object)
}
