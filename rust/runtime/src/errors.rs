//! Raises the package's own exceptions, which are defined in Python.
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static PYDYNAMO_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A `pydynamo.errors.PydynamoError` with this message (a `RuntimeError` if the package itself cannot be imported).
pub(crate) fn pydynamo_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let message = message.into();
    match PYDYNAMO_ERROR.import(py, "pydynamo.errors", "PydynamoError") {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(_) => PyRuntimeError::new_err(message),
    }
}
