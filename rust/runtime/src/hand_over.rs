//! Hand-over: how a compiled frame that broke leaves the rest of its call to the function that continues it.
//!
//! The frame returns a `HandOver`, a callable and its arguments, and is gone; the wrapper that was called runs that, until
//! something else comes back. So a loop that breaks in each round takes no stack, and what a frame held it holds no longer.
//! A `HandOver` never leaves the wrapper whose call made it.
use crate::shim;
use crate::wrapper;
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ptr;
use std::sync::Mutex;

/// What is left to do: a callable and its positional arguments.
struct Rest {
    callable: Py<PyAny>,
    args: Vec<Py<PyAny>>,
}

/// See `HandOver` in `_core.pyi`.
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct HandOver(Mutex<Option<Rest>>);

#[pymethods]
impl HandOver {
    #[new]
    #[pyo3(signature = (*parts))]
    fn new(parts: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let mut parts = parts.iter().map(Bound::unbind);
        let Some(callable) = parts.next() else {
            return Err(PyTypeError::new_err("HandOver needs a callable"));
        };
        Ok(Self(Mutex::new(Some(Rest { callable, args: parts.collect() }))))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(rest) = self.0.try_lock()
            && let Some(rest) = rest.as_ref()
        {
            visit.call(&rest.callable)?;
            for arg in &rest.args {
                visit.call(arg)?;
            }
        }
        Ok(())
    }
}

/// Runs what `result` hands over to, and what that hands over to in turn. Takes `result` and gives a new reference, or NULL
/// with an exception set.
///
/// # Safety
/// `result` must be an owned reference or NULL with an exception set; the GIL is held.
#[inline]
pub(crate) unsafe fn finish(py: Python<'_>, result: *mut PyObject) -> *mut PyObject {
    // SAFETY: by the caller's word.
    if result.is_null() || unsafe { ffi::Py_TYPE(result) } != HandOver::type_object_raw(py) {
        return result;
    }
    // Attached in PyO3's books too, so that what a round held is let go when the round ends, not at some later call.
    // SAFETY: as above.
    Python::attach(|py| unsafe { run(py, result) })
}

/// # Safety
/// `result` must be an owned reference to a `HandOver`; the GIL is held.
unsafe fn run(py: Python<'_>, mut result: *mut PyObject) -> *mut PyObject {
    loop {
        let rest = {
            // SAFETY: owned by the caller's word in the first round, by the check at the end of the round in each other.
            let hand_over = unsafe { Bound::from_owned_ptr(py, result).cast_into_unchecked::<HandOver>() };
            hand_over.get().0.lock().ok().and_then(|mut rest| rest.take())
        };
        let Some(rest) = rest else {
            PyTypeError::new_err("a HandOver runs once").restore(py);
            return ptr::null_mut();
        };
        // `Py` is a pointer and nothing else, so the vector is an array of the arguments.
        let args = rest.args.as_ptr().cast::<*mut PyObject>();
        // SAFETY: the callable and the arguments are alive to the end of the call, because `rest` holds them.
        result = unsafe {
            match wrapper::call_once(py, rest.callable.as_ptr(), args, rest.args.len()) {
                Some(result) => result,
                None => shim::pydynamo_bounded_vectorcall(
                    rest.callable.as_ptr(),
                    args,
                    rest.args.len(),
                    ptr::null_mut(),
                ),
            }
        };
        // SAFETY: a new reference or NULL.
        if result.is_null() || unsafe { ffi::Py_TYPE(result) } != HandOver::type_object_raw(py) {
            return result;
        }
    }
}
