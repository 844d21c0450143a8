//! The frontend's native runtime. [`register`] adds its classes and functions to the extension module.
use pyo3::prelude::*;

/// Adds everything this crate offers to `pydynamo._core`.
///
/// # Errors
/// Whatever Python raises while the names are added.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
