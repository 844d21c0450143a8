//! What Python reads from an instruction and writes to it.
use super::position::{get_positions, get_starts_line, set_positions, set_starts_line};
use super::{ENTRY_OFFSET, Flags, Instruction, OPNAME_OFFSET, TARGET_OFFSET, WEAKREFS_OFFSET, none};
use crate::capi::{self, Obj};
use crate::entry::InstructionExnTabEntry;
use crate::errors;
use crate::state::{Operand, is_not_provided, state};
use pydynamo_assembler::ErrorKind;
use pydynamo_assembler::inst::Written;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::version::Version;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

type Value<'py> = Bound<'py, PyAny>;
type Get = for<'py> fn(Python<'py>, &Instruction) -> PyResult<Value<'py>>;
type Set = for<'py> fn(&mut Instruction, &Value<'py>) -> PyResult<()>;

/// How a getter or setter is found from its C trampoline.
struct Property {
    name: &'static CStr,
    doc: &'static CStr,
    get: Get,
    set: Set,
}

static PROPERTIES: [Property; 9] = [
    Property {
        name: c"opcode",
        doc: c"CPython's number; `opname` follows it.",
        get: get_opcode,
        set: set_opcode,
    },
    Property { name: c"arg", doc: c"The operand, or None.", get: get_arg, set: set_arg },
    Property { name: c"argval", doc: c"What the operand means.", get: get_argval, set: set_argval },
    Property {
        name: c"offset",
        doc: c"Byte offset, or None if never laid out.",
        get: get_offset,
        set: set_offset,
    },
    Property {
        name: c"starts_line",
        doc: c"Source line, or None.",
        get: get_starts_line,
        set: set_starts_line,
    },
    Property {
        name: c"is_jump_target",
        doc: c"Whether a jump was seen to go here.",
        get: get_is_target,
        set: set_is_target,
    },
    Property { name: c"positions", doc: c"dis.Positions, or None.", get: get_positions, set: set_positions },
    Property { name: c"argrepr", doc: c"The operand as text.", get: get_argrepr, set: set_argrepr },
    Property {
        name: c"_written",
        doc: c"How CPython wrote it where that is not the shortest form: EXTENDED_ARG prefixes.",
        get: get_written,
        set: set_written,
    },
];

unsafe extern "C" fn get_trampoline(object: Obj, closure: *mut c_void) -> Obj {
    // SAFETY: called by the interpreter with the GIL, an instruction, and the closure of `getset_table`.
    unsafe {
        let py = Python::assume_attached();
        let property = &*closure.cast::<Property>();
        match (property.get)(py, &*object.cast::<Instruction>()) {
            Ok(value) => value.into_ptr(),
            Err(error) => {
                error.restore(py);
                ptr::null_mut()
            }
        }
    }
}

unsafe extern "C" fn set_trampoline(object: Obj, value: Obj, closure: *mut c_void) -> c_int {
    // SAFETY: as for `get_trampoline`; `value` is live, or NULL to delete.
    unsafe {
        let py = Python::assume_attached();
        let property = &*closure.cast::<Property>();
        let done = match Bound::from_borrowed_ptr_or_opt(py, value) {
            None => Err(cannot_delete(&property.name.to_string_lossy())),
            Some(value) => (property.set)(&mut *object.cast::<Instruction>(), &value),
        };
        report(py, done)
    }
}

fn report(py: Python<'_>, done: PyResult<()>) -> c_int {
    match done {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

fn cannot_delete(name: &str) -> PyErr {
    PyAttributeError::new_err(format!("cannot delete {name}: assign None instead"))
}

/// The table of computed attributes, leaked: types keep a pointer to it.
pub fn getset_table() -> *mut ffi::PyGetSetDef {
    let mut table: Vec<ffi::PyGetSetDef> = PROPERTIES
        .iter()
        .map(|property| ffi::PyGetSetDef {
            name: property.name.as_ptr(),
            get: Some(get_trampoline),
            set: Some(set_trampoline),
            doc: property.doc.as_ptr(),
            closure: (&raw const *property).cast_mut().cast(),
        })
        .collect();
    table.push(ffi::PyGetSetDef::default());
    Box::leak(table.into_boxed_slice()).as_mut_ptr()
}

/// The table of slots, leaked. They are read-only members, which LOAD_ATTR reads without a call; writing goes through
/// [`set_attribute`].
pub fn member_table() -> *mut ffi::PyMemberDef {
    let member = |name: &'static CStr, type_code, offset: usize, doc: &'static CStr| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: doc.as_ptr(),
    };
    let table = vec![
        member(c"opname", ffi::Py_T_OBJECT_EX, OPNAME_OFFSET, c"CPython's name; `opcode` follows it."),
        member(
            c"target",
            ffi::Py_T_OBJECT_EX,
            TARGET_OFFSET,
            c"The instruction that a jump goes to, or None.",
        ),
        member(c"exn_tab_entry", ffi::Py_T_OBJECT_EX, ENTRY_OFFSET, c"The exception region, or None."),
        member(c"__weaklistoffset__", ffi::Py_T_PYSSIZET, WEAKREFS_OFFSET, c""),
        ffi::PyMemberDef::default(),
    ];
    Box::leak(table.into_boxed_slice()).as_mut_ptr()
}

/// `__setattr__`: writes the three slots, leaves the rest to the property table.
pub unsafe extern "C" fn set_attribute(object: Obj, name: Obj, value: Obj) -> c_int {
    // SAFETY: called by the interpreter with the GIL, an instruction, a name and a live value (NULL to delete).
    unsafe {
        let py = Python::assume_attached();
        let mut name = name;
        let is_slot = |name: Obj| {
            name == state().str_opname || name == state().str_target || name == state().str_exn_tab_entry
        };
        // Names in code are interned; `setattr` may be given others.
        ffi::Py_INCREF(name);
        if !is_slot(name) && ffi::PyUnicode_CheckExact(name) != 0 {
            ffi::PyUnicode_InternInPlace(&raw mut name);
        }
        let result = if is_slot(name) {
            let this = &mut *object.cast::<Instruction>();
            let done = match Bound::from_borrowed_ptr_or_opt(py, value) {
                None => Err(cannot_delete("it")),
                Some(value) if name == state().str_opname => set_opname(this, &value),
                Some(value) if name == state().str_target => set_target(this, &value),
                Some(value) => set_entry(this, &value),
            };
            report(py, done)
        } else {
            ffi::PyObject_GenericSetAttr(object, name, value)
        };
        ffi::Py_DECREF(name);
        result
    }
}

/// The opcode with this name.
///
/// # Errors
/// `TypeError` if it is not a `str`, `BytecodeError` if this version has no such opcode.
pub fn opcode_of_name(name: &Value<'_>) -> PyResult<u8> {
    let py = name.py();
    // Names usually come from instructions or from source code: interned.
    let Ok(text) = name.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("opname must be a str, not {}", name.get_type().name()?)));
    };
    let text = text.to_str()?;
    if let Some(opcode) = state().tables.by_name(text) {
        return Ok(opcode);
    }
    let minor = state().version.minor();
    if state().tables.pseudo.iter().any(|(pseudo, _)| *pseudo == text) {
        let reason = format!("{text} is a pseudo opcode of the compiler: name the real one");
        return Err(errors::bytecode_error(py, ErrorKind::IllegalOpcode, reason));
    }
    let elsewhere = Version::ALL
        .iter()
        .find(|v| pydynamo_assembler::tables::get(**v).by_name(text).is_some())
        .map_or(String::new(), |v| format!(" (CPython 3.{} has one)", v.minor()));
    let reason = format!("CPython 3.{minor} has no opcode {text:?}{elsewhere}");
    Err(errors::bytecode_error(py, ErrorKind::UnknownOpcode, reason))
}

/// A `u32` operand.
///
/// # Errors
/// `TypeError` if it is not an int, `ValueError` if it does not fit.
pub fn operand_of(value: &Value<'_>, what: &str) -> PyResult<u32> {
    if !value.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err(format!(
            "{what} must be an int or None, not {}",
            value.get_type().name()?
        )));
    }
    value.extract::<u32>().map_err(|_| PyValueError::new_err(format!("{what} must be from 0 to 2**32 - 1")))
}

fn optional_operand(value: &Value<'_>, what: &str) -> PyResult<Option<u32>> {
    if value.is_none() { Ok(None) } else { operand_of(value, what).map(Some) }
}

fn get_opcode<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    Ok(this.opcode.into_pyobject(py)?.into_any())
}

/// Sets the opcode from a Python int.
pub fn set_opcode(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let number = operand_of(value, "opcode")?;
    let py = value.py();
    let minor = state().version.minor();
    match u8::try_from(number) {
        Ok(opcode) if !state().opnames[opcode as usize].is_null() => {
            this.set_opcode(opcode);
            Ok(())
        }
        Ok(_) => {
            let reason = format!("CPython 3.{minor} has no opcode {number}");
            Err(errors::bytecode_error(py, ErrorKind::UnknownOpcode, reason))
        }
        Err(_) => {
            let reason = format!("opcode {number} is above 255: pseudo opcodes exist in the compiler only");
            Err(errors::bytecode_error(py, ErrorKind::IllegalOpcode, reason))
        }
    }
}

fn set_opname(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let opcode = opcode_of_name(value)?;
    this.set_opcode(opcode);
    Ok(())
}

fn get_arg<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    Ok(match this.arg() {
        None => py.None().into_bound(py),
        Some(arg) => arg.into_pyobject(py)?.into_any(),
    })
}

/// Sets `arg`.
pub fn set_arg(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let arg = optional_operand(value, "arg")?;
    this.set_arg(arg);
    Ok(())
}

/// What `argval` reads.
pub fn get_argval<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    // SAFETY: the pointers are live objects that the instruction or the state owns.
    let live = |object: Obj| unsafe { Bound::from_borrowed_ptr(py, object) };
    let not_provided = || live(state().not_provided);
    if let Some(names) = this.pair_names() {
        // SAFETY: `pair_names` is a tuple that the instruction owns.
        let names = unsafe { capi::tuple_items(names) };
        let (first, second) = (names.get(this.arg as usize >> 4), names.get(this.arg as usize & 15));
        return match (first, second) {
            (Some(first), Some(second)) => Ok(PyTuple::new(py, [live(*first), live(*second)])?.into_any()),
            _ => Ok(not_provided()),
        };
    }
    let operand = this.operand();
    let arg_rules = this.flags.has(Flags::ARG_NEWER) && operand != Operand::NameBits;
    if let Some(given) = this.argval_given()
        && !arg_rules
    {
        return Ok(live(given));
    }
    if !this.argval_is_derived() && !arg_rules {
        return Ok(not_provided());
    }
    match (operand, this.arg()) {
        (Operand::Jump, _) => {
            let offset = this.target().and_then(Instruction::from_object).and_then(|target| target.offset());
            Ok(match offset {
                Some(offset) => offset.into_pyobject(py)?.into_any(),
                None => not_provided(),
            })
        }
        (Operand::Plain, Some(arg)) if state().tables.op(this.opcode) == Op::LOAD_COMMON_CONSTANT => {
            common_constant(py, arg)
        }
        (Operand::Plain | Operand::Illegal, Some(arg)) => Ok(arg.into_pyobject(py)?.into_any()),
        (Operand::Compare, Some(arg)) => Ok(match compare_name(arg) {
            Some(name) => PyString::intern(py, name).into_any(),
            None => arg.into_pyobject(py)?.into_any(),
        }),
        (_, None) => Ok(py.None().into_bound(py)),
        (_, Some(_)) => Ok(not_provided()),
    }
}

/// What LOAD_COMMON_CONSTANT loads, as `dis` shows it.
fn common_constant(py: Python<'_>, arg: u32) -> PyResult<Value<'_>> {
    static CONSTANTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let constants = CONSTANTS.import(py, "opcode", "_common_constants")?;
    match constants.get_item(arg) {
        Ok(constant) => Ok(constant),
        Err(_) => Ok(arg.into_pyobject(py)?.into_any()),
    }
}

fn compare_name(arg: u32) -> Option<&'static str> {
    let tables = state().tables;
    tables.compare_ops.get((arg >> tables.compare_shift) as usize).copied()
}

#[allow(clippy::unnecessary_wraps)] // one of many setters
fn set_argval(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    this.set_argval(value.as_ptr());
    Ok(())
}

fn get_offset<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    Ok(match this.offset() {
        None => py.None().into_bound(py),
        Some(offset) => offset.into_pyobject(py)?.into_any(),
    })
}

/// Sets `offset`.
pub fn set_offset(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let offset = optional_operand(value, "offset")?;
    this.set_offset(offset);
    Ok(())
}

#[allow(clippy::unnecessary_wraps)] // one of many getters
fn get_is_target<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    Ok(PyBool::new(py, this.flags.has(Flags::JUMP_TARGET)).to_owned().into_any())
}

/// Sets `is_jump_target`.
pub fn set_is_target(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    this.flags.set(Flags::JUMP_TARGET, value.is_truthy()?);
    Ok(())
}

fn get_argrepr<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    if !this.argrepr.is_null() {
        // SAFETY: owned by the instruction.
        return Ok(unsafe { Bound::from_borrowed_ptr(py, this.argrepr) });
    }
    let argval = get_argval(py, this)?;
    if is_not_provided(argval.as_ptr()) || (argval.is_none() && this.operand() != Operand::Const) {
        return Ok(PyString::intern(py, "").into_any());
    }
    let info = &state().tables.info[this.opcode as usize];
    let after = state().version >= Version::V313;
    let text = match this.operand() {
        Operand::Const => return Ok(argval.repr()?.into_any()),
        Operand::Jump => format!("to {argval}"),
        Operand::NameBits if this.arg & 1 != 0 && matches!(info.op, Op::LOAD_GLOBAL | Op::LOAD_ATTR) => {
            let extra = if info.op == Op::LOAD_GLOBAL { "NULL" } else { "NULL|self" };
            if after { format!("{argval} + {extra}") } else { format!("{extra} + {argval}") }
        }
        Operand::Name | Operand::NameBits | Operand::Local | Operand::Cell => {
            return Ok(argval.str()?.into_any());
        }
        Operand::Pair => match argval.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => format!("{}, {}", pair.get_item(0)?, pair.get_item(1)?),
            _ => argval.str()?.to_string(),
        },
        Operand::Compare if after && this.arg & 16 != 0 => format!("bool({argval})"),
        Operand::Compare => argval.str()?.to_string(),
        Operand::Plain | Operand::Illegal => plain_repr(info.op, this.arg).unwrap_or("").to_owned(),
    };
    Ok(PyString::new(py, &text).into_any())
}

/// What a plain operand is called, where it has a name.
fn plain_repr(op: Op, arg: u32) -> Option<&'static str> {
    let tables = state().tables;
    let index = arg as usize;
    match op {
        Op::BINARY_OP => tables.binary_ops.get(index).map(|(_, symbol)| *symbol),
        Op::CALL_INTRINSIC_1 => tables.intrinsics_1.get(index).copied(),
        Op::CALL_INTRINSIC_2 => tables.intrinsics_2.get(index).copied(),
        Op::LOAD_SPECIAL => tables.special_methods.get(index).copied(),
        Op::LOAD_COMMON_CONSTANT => tables.common_constants.get(index).copied(),
        _ => None,
    }
}

/// Sets `argrepr`; None lets it follow from the operand again.
pub fn set_argrepr(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    if !value.is_none() && !value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "argrepr must be a str or None, not {}",
            value.get_type().name()?
        )));
    }
    // SAFETY: `value` is live; the old text is released when the slot already holds the new one.
    unsafe {
        let new = if value.is_none() { ptr::null_mut() } else { value.clone().into_ptr() };
        ffi::Py_XDECREF(std::mem::replace(&mut this.argrepr, new));
    }
    Ok(())
}

fn get_written<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    let bits = this.written.prefixes();
    Ok(bits.into_pyobject(py)?.into_any())
}

fn set_written(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let bits = operand_of(value, "_written")?;
    if bits > 3 {
        return Err(PyValueError::new_err("_written must be from 0 to 3"));
    }
    this.written = Written::with_prefixes(bits);
    Ok(())
}

/// Sets `target` from None or an instruction (ours, or one with the same attributes).
pub fn set_target(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let native = Instruction::check(value.as_ptr());
    if !native && !value.is_none() && !value.hasattr("opname")? {
        return Err(PyTypeError::new_err(format!(
            "target must be an Instruction or None, not {}",
            value.get_type().name()?
        )));
    }
    this.set_target((value.as_ptr() != none()).then_some(value.as_ptr()));
    Ok(())
}

/// Sets `exn_tab_entry` from None or an entry (ours, or one with the same attributes).
pub fn set_entry(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let native = value.is_instance_of::<InstructionExnTabEntry>();
    if !native && !value.is_none() && !value.hasattr("lasti")? {
        return Err(PyTypeError::new_err(format!(
            "exn_tab_entry must be an InstructionExnTabEntry or None, not {}",
            value.get_type().name()?
        )));
    }
    if native || value.is_none() {
        this.set_entry((value.as_ptr() != none()).then_some(value.as_ptr()));
    } else {
        // A copy of our own, so that assembly reads entries without running Python code.
        this.set_entry(Some(crate::foreign::entry(value)?.as_ptr()));
    }
    Ok(())
}

impl Instruction {
    /// Whether `argval` was left to follow from `arg`.
    fn argval_is_derived(&self) -> bool {
        self.argval.is_null()
    }
}
