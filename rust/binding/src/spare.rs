//! The bytes object in which CPython's constructor is handed the code units, which it copies: one serves all calls.
use crate::capi::{GilCell, Obj};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Longer contents get an object of their own.
const CAPACITY: usize = 4096;

/// The object while nobody uses it, or NULL. It has room for [`CAPACITY`] bytes.
static SPARE: GilCell<Obj> = GilCell::new(std::ptr::null_mut());

/// Calls `body` with an exact bytes object of this content. Once `body` is back the content may change, so only what `body` calls
/// may look at it; should anybody have kept it all the same, it is theirs.
///
/// # Errors
/// `MemoryError`.
pub fn with_bytes<T>(py: Python<'_>, content: &[u8], body: impl FnOnce(Obj) -> T) -> PyResult<T> {
    if content.len() > CAPACITY {
        return Ok(body(PyBytes::new(py, content).as_ptr()));
    }
    // SAFETY: the GIL is held. The object is taken out, so that a call from within `body` finds none and makes another. Nobody else
    // has a reference to it: it had room for `CAPACITY` bytes and a zero behind them when it was made, and still has.
    unsafe {
        let mut spare = std::mem::replace(SPARE.get(), std::ptr::null_mut());
        if spare.is_null() {
            spare = ffi::PyBytes_FromStringAndSize(std::ptr::null(), CAPACITY as ffi::Py_ssize_t);
            if spare.is_null() {
                return Err(PyErr::fetch(py));
            }
        }
        let first = ffi::PyBytes_AS_STRING(spare).cast_mut().cast::<u8>();
        first.copy_from_nonoverlapping(content.as_ptr(), content.len());
        first.add(content.len()).write(0);
        (*spare.cast::<ffi::PyVarObject>()).ob_size = content.len() as ffi::Py_ssize_t;
        let result = body(spare);
        if ffi::Py_REFCNT(spare) == 1 && SPARE.get().is_null() {
            *SPARE.get() = spare;
        } else {
            ffi::Py_DECREF(spare);
        }
        Ok(result)
    }
}
