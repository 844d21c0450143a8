//! Letting go of what a dead instruction referred to, however long the chain.
use crate::capi::{GilCell, Obj};
use pyo3::ffi;

/// How deep deallocation may recurse through references before it goes on in a loop.
const MAX_DEPTH: u32 = 24;

static DEPTH: GilCell<u32> = GilCell::new(0);
static PENDING: GilCell<Vec<Obj>> = GilCell::new(Vec::new());

/// Releases the references of a dead instruction. A chain of a million instructions, each the target of the one before,
/// must not recurse: below `MAX_DEPTH` references are queued, and whoever is outermost releases them in a loop.
///
/// # Safety
/// The GIL is held and the caller owns the references, which may be NULL.
pub unsafe fn release_all(references: [Obj; 4]) {
    // SAFETY: the caller owns the references; DEPTH and PENDING are only touched between calls that may run Python code.
    unsafe {
        if *DEPTH.get() >= MAX_DEPTH {
            PENDING.get().extend(references.into_iter().filter(|r| !r.is_null()));
            return;
        }
        *DEPTH.get() += 1;
        for reference in references {
            ffi::Py_XDECREF(reference);
        }
        *DEPTH.get() -= 1;
        if *DEPTH.get() == 0 {
            while let Some(reference) = PENDING.get().pop() {
                *DEPTH.get() += 1;
                ffi::Py_DECREF(reference);
                *DEPTH.get() -= 1;
            }
        }
    }
}
