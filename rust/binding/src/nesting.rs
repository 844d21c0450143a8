//! How deeply constants are nested, and how much there is to walk.
//!
//! CPython's constructor walks tuples, frozen sets and slices by recursion, a part that two others hold once for each, and looks at
//! no limit; so do hashing and comparing. What it would not come back from is found here first, by a walk that stops.
use crate::capi::{self, Obj};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySlice};

/// Constants nested deeper than this are refused.
const MAX_DEPTH: u32 = 200;
/// As are those with more parts, parts of parts and so on.
const MAX_PARTS: u32 = 1 << 22;

/// What is wrong with a constant.
pub const REASON: &str =
    "the constant is nested too deeply (more than 200 levels) or has too many parts (more than 4 million)";

/// Whether all of a constant can be walked.
///
/// # Errors
/// `MemoryError`.
pub fn can_be_walked(constant: &Bound<'_, PyAny>) -> PyResult<bool> {
    walk(constant, MAX_DEPTH, &mut 0)
}

/// The same for the items of a tuple of constants, each by itself.
///
/// # Errors
/// `MemoryError`.
pub fn all_can_be_walked(py: Python<'_>, constants: &[Obj]) -> PyResult<bool> {
    for constant in constants {
        // SAFETY: an item of a tuple that the caller keeps alive.
        let constant = unsafe { Borrowed::from_ptr(py, *constant) };
        if !can_be_walked(&constant)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn walk(constant: &Bound<'_, PyAny>, depth: u32, parts: &mut u32) -> PyResult<bool> {
    let py = constant.py();
    // The items of a constant itself are as many as its maker made; only what is nested deeper can be more than that.
    *parts += u32::from(depth < MAX_DEPTH - 1);
    if *parts > MAX_PARTS {
        return Ok(false);
    }
    // SAFETY: a live object whose type is looked at before it is read as one of that type.
    let tuple: &[Obj] = unsafe {
        if ffi::PyTuple_CheckExact(constant.as_ptr()) != 0 {
            capi::tuple_items(constant.as_ptr())
        } else {
            &[]
        }
    };
    if !tuple.is_empty() {
        if depth == 0 {
            return Ok(false);
        }
        for part in tuple {
            // SAFETY: an item of a live tuple.
            let part = unsafe { Borrowed::from_ptr(py, *part) };
            if !walk(&part, depth - 1, parts)? {
                return Ok(false);
            }
        }
    } else if let Ok(set) = constant.cast_exact::<PyFrozenSet>() {
        for part in set.iter() {
            if depth == 0 || !walk(&part, depth - 1, parts)? {
                return Ok(false);
            }
        }
    } else if constant.is_exact_instance_of::<PySlice>() {
        for name in ["start", "stop", "step"] {
            if depth == 0 || !walk(&constant.getattr(name)?, depth - 1, parts)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
