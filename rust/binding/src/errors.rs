//! From the core's errors to Python's `BytecodeError`. Knows the exception's shape and nothing of passes.
use pydynamo_assembler::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};

static BYTECODE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `BytecodeError(reason, kind=…, index=…, stack=…)`, with the operands of the instruction at fault if it is at hand.
pub fn raise(py: Python<'_>, error: &Error, instructions: Option<&Bound<'_, PyList>>) -> PyErr {
    build(py, error, instructions).unwrap_or_else(|failure| failure)
}

/// A `BytecodeError` that names no place in a list.
pub fn bytecode_error(py: Python<'_>, kind: ErrorKind, reason: impl Into<String>) -> PyErr {
    raise(py, &Error::whole(kind, reason), None)
}

fn build(py: Python<'_>, error: &Error, instructions: Option<&Bound<'_, PyList>>) -> PyResult<PyErr> {
    let cls = BYTECODE_ERROR.import(py, "pydynamo.errors", "BytecodeError")?;
    let kwargs = PyDict::new(py);
    kwargs.set_item("kind", error.kind.id())?;
    if let Some(index) = error.index {
        kwargs.set_item("index", index)?;
        let item = instructions.and_then(|list| list.get_item(index as usize).ok());
        if let Some(item) = item {
            for name in ["opname", "arg", "argval"] {
                let value = item.getattr(name)?;
                if !crate::state::is_not_provided(value.as_ptr()) {
                    kwargs.set_item(name, value)?;
                }
            }
        }
    }
    if let Some(stack) = &error.stack {
        kwargs.set_item("stack", stack)?;
    }
    Ok(PyErr::from_value(cls.call((error.reason.as_str(),), Some(&kwargs))?))
}
