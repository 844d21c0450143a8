//! Look-ups in dicts that remember where they found their key.
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicIsize, Ordering};

/// A key, and its place among a dict's entries. Entries keep their order, so that the next look-up mostly finds the key
/// where the last one did, and compares one pointer instead of hashing. A wrong place costs time, never the answer.
pub(crate) struct DictItem {
    pub key: Py<PyAny>,
    place: AtomicIsize,
}

/// Nobody has looked for the key yet.
const UNKNOWN: isize = -1;
/// The key was not where it used to be: not looked for again.
const MOVED: isize = -2;

impl DictItem {
    pub(crate) fn new(key: Py<PyAny>) -> Self {
        Self { key, place: AtomicIsize::new(UNKNOWN) }
    }

    /// The item as an owned reference; NULL, with no exception set, if `dict` is no dict or does not have it.
    ///
    /// # Safety
    /// `dict` must be alive and the GIL held.
    #[inline]
    pub(crate) unsafe fn find(&self, dict: *mut PyObject) -> *mut PyObject {
        // SAFETY: the type is checked; a borrowed value is taken before anything else runs.
        unsafe {
            if ffi::PyDict_Check(dict) == 0 {
                return ptr::null_mut();
            }
            let mut place = self.place.load(Ordering::Relaxed);
            if place >= 0 {
                let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
                // PyDict_Next checks the bounds of any place it is given.
                if ffi::PyDict_Next(dict, &raw mut place, &raw mut key, &raw mut value) != 0
                    && key == self.key.as_ptr()
                {
                    ffi::Py_INCREF(value);
                    return value;
                }
            }
            self.search(dict)
        }
    }

    /// # Safety
    /// `dict` must be a live dict and the GIL held.
    #[inline(never)]
    unsafe fn search(&self, dict: *mut PyObject) -> *mut PyObject {
        // SAFETY: by the caller's word.
        unsafe {
            let found = dict_item(dict, self.key.as_ptr());
            let place = self.place.load(Ordering::Relaxed);
            if place >= 0 {
                self.place.store(MOVED, Ordering::Relaxed);
            } else if place == UNKNOWN && !found.is_null() {
                self.place.store(place_of(dict, self.key.as_ptr()), Ordering::Relaxed);
            }
            found
        }
    }
}

/// Where the entry with this very key is.
///
/// # Safety
/// `dict` must be a live dict, `key` alive; the GIL is held.
unsafe fn place_of(dict: *mut PyObject, key: *mut PyObject) -> isize {
    // SAFETY: nothing here runs code that could change the dict.
    unsafe {
        let (mut cursor, mut found, mut value) = (0, ptr::null_mut(), ptr::null_mut());
        let mut place = cursor;
        while ffi::PyDict_Next(dict, &raw mut cursor, &raw mut found, &raw mut value) != 0 {
            if found == key {
                return place;
            }
            place = cursor;
        }
        MOVED
    }
}

/// # Safety
/// `dict` must be NULL or alive, `key` alive; the GIL is held.
pub(super) unsafe fn dict_item(dict: *mut PyObject, key: *mut PyObject) -> *mut PyObject {
    // SAFETY: the type is checked; the borrowed result is taken before anything else runs.
    unsafe {
        if dict.is_null() || ffi::PyDict_Check(dict) == 0 {
            return ptr::null_mut();
        }
        let found = ffi::PyDict_GetItemWithError(dict, key);
        if found.is_null() {
            ffi::PyErr_Clear();
        } else {
            ffi::Py_INCREF(found);
        }
        found
    }
}
