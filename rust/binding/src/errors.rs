//! From the core's errors to Python's `BytecodeError`. Knows the exception's shape and nothing of passes.
use crate::state::{is_not_provided, state};
use pydynamo_assembler::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};

static BYTECODE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// What is known of the instruction at fault.
#[derive(Clone, Copy)]
pub enum Culprit<'a, 'py> {
    /// Nothing.
    Unknown,
    /// It stands in this list, at the error's index.
    In(&'a Bound<'py, PyList>),
    /// Opcode and operand.
    Raw(u8, u32),
}

/// `BytecodeError(reason, kind=…, index=…, stack=…)`, with the operands of the instruction at fault if it is known.
pub fn raise(py: Python<'_>, error: &Error, culprit: Culprit<'_, '_>) -> PyErr {
    build(py, error, culprit).unwrap_or_else(|failure| failure)
}

/// A `BytecodeError` that names no place in a list.
pub fn bytecode_error(py: Python<'_>, kind: ErrorKind, reason: impl Into<String>) -> PyErr {
    raise(py, &Error::whole(kind, reason), Culprit::Unknown)
}

fn build(py: Python<'_>, error: &Error, culprit: Culprit<'_, '_>) -> PyResult<PyErr> {
    let cls = BYTECODE_ERROR.import(py, "pydynamo.errors", "BytecodeError")?;
    let kwargs = PyDict::new(py);
    kwargs.set_item("kind", error.kind.id())?;
    if let Some(index) = error.index {
        kwargs.set_item("index", index)?;
        match culprit {
            Culprit::Unknown => {}
            Culprit::In(list) => {
                if let Ok(item) = list.get_item(index as usize) {
                    for name in ["opname", "arg", "argval"] {
                        let value = item.getattr(name)?;
                        if !is_not_provided(value.as_ptr()) {
                            kwargs.set_item(name, value)?;
                        }
                    }
                }
            }
            Culprit::Raw(opcode, arg) => {
                let name = state().tables.info[opcode as usize].name;
                kwargs.set_item(
                    "opname",
                    if name.is_empty() { format!("<{opcode}>") } else { name.to_owned() },
                )?;
                kwargs.set_item("arg", arg)?;
            }
        }
    }
    if let Some(stack) = &error.stack {
        kwargs.set_item("stack", stack)?;
    }
    Ok(PyErr::from_value(cls.call((error.reason.as_str(),), Some(&kwargs))?))
}
