//! What the garbage collector is told of the memory that instructions take.
//!
//! It decides by the number of objects that were allocated and not freed since whether to look for garbage, and does not see
//! those of our slab. So for every few instructions that it tracks one object that it counts is kept alive: a process that
//! does nothing but make instructions and drop them in cycles is collected, but not once per 700 instructions.
use crate::capi::{GilCell, Obj};
use pyo3::ffi;
use pyo3::prelude::*;

/// How many tracked instructions count as one object.
const SHARE: usize = 16;

struct Debt {
    /// Tracked instructions that are alive.
    tracked: usize,
    /// Empty lists that stand for them, owned.
    counted: Vec<Obj>,
}

static DEBT: GilCell<Debt> = GilCell::new(Debt { tracked: 0, counted: Vec::new() });

/// One more is tracked. Whoever makes instructions calls [`settle`] where a collection does no harm.
pub fn grow() {
    // SAFETY: the GIL is held by whoever has an instruction.
    unsafe { DEBT.get().tracked += 1 };
}

/// A tracked one died.
pub fn shrink() {
    // SAFETY: as in `grow`; an empty list dies without running Python code.
    unsafe {
        let debt = DEBT.get();
        debt.tracked -= 1;
        if debt.counted.len() > debt.tracked / SHARE
            && let Some(one) = debt.counted.pop()
        {
            ffi::Py_DECREF(one);
        }
    }
}

/// Counts what was tracked since the last time. This may collect garbage, and so run any Python code.
///
/// # Errors
/// `MemoryError`.
pub fn settle(py: Python<'_>) -> PyResult<()> {
    loop {
        // SAFETY: the GIL is held; no reference outlives a call into Python. The collector need not look into the list, for
        // it stays empty.
        unsafe {
            if DEBT.get().counted.len() >= DEBT.get().tracked / SHARE {
                return Ok(());
            }
            let one = ffi::PyList_New(0);
            if one.is_null() {
                return Err(PyErr::fetch(py));
            }
            ffi::PyObject_GC_UnTrack(one.cast());
            DEBT.get().counted.push(one);
        }
    }
}
