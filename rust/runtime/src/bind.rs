//! Binds the arguments of a call to a function's local slots, the way CPython does when it makes the frame.
use crate::code_shape::CodeShape;
use pyo3::ffi::{self, PyObject};
use std::ptr;

/// The arguments of one call, by local slot. Borrows from the call where it can and owns the rest.
pub(crate) struct BoundArguments {
    /// One object for each slot of the shape, all alive while this value and the call's own arguments are.
    pub slots: Vec<*mut PyObject>,
    /// Whether keywords or defaults moved, so that the call's own layout no longer shows every argument.
    pub rearranged: bool,
    owned: Vec<*mut PyObject>,
}

impl Drop for BoundArguments {
    fn drop(&mut self) {
        for &object in &self.owned {
            // SAFETY: each was pushed as an owned reference, once.
            unsafe { ffi::Py_DECREF(object) };
        }
    }
}

/// One call in the vectorcall layout.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub args: *const *mut PyObject,
    pub nargs: usize,
    /// NULL or a tuple of str.
    pub kwnames: *mut PyObject,
}

impl Call {
    /// How many keyword arguments follow the positional ones.
    ///
    /// # Safety
    /// `kwnames` must be NULL or a live tuple.
    pub(crate) unsafe fn keyword_count(&self) -> usize {
        if self.kwnames.is_null() {
            0
        } else {
            // SAFETY: not NULL, so a live tuple by the caller's word.
            unsafe { ffi::PyTuple_GET_SIZE(self.kwnames) as usize }
        }
    }
}

/// Binds `call`; None if it does not fit the signature (the function itself then says what is wrong) or memory is out.
///
/// # Safety
/// `function` must be a live `PyFunctionObject` whose code has this shape, `call` a valid vectorcall; the GIL is held.
pub(crate) unsafe fn bind(shape: &CodeShape, function: *mut PyObject, call: Call) -> Option<BoundArguments> {
    let argcount = shape.argcount();
    let named = shape.named_count();
    let mut bound = BoundArguments {
        slots: vec![ptr::null_mut(); shape.slot_count()],
        rearranged: false,
        owned: Vec::new(),
    };
    // SAFETY: (whole function) indices stay below nargs + keyword_count for `args`, below the tuple's size for
    // `kwnames`, below slot_count for `slots`; objects read from live containers are borrowed while those live.
    unsafe {
        let direct = call.nargs.min(argcount);
        for slot in 0..direct {
            bound.slots[slot] = *call.args.add(slot);
        }
        if shape.has_varargs() {
            let extra = call.nargs - direct;
            let tuple = ffi::PyTuple_New(extra as isize);
            if tuple.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            bound.owned.push(tuple);
            for i in 0..extra {
                let item = *call.args.add(direct + i);
                ffi::Py_INCREF(item);
                ffi::PyTuple_SET_ITEM(tuple, i as isize, item);
            }
            bound.slots[named] = tuple;
        } else if call.nargs > argcount {
            return None;
        }
        let mut extra_keywords = ptr::null_mut();
        if shape.has_varkeywords() {
            extra_keywords = ffi::PyDict_New();
            if extra_keywords.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            bound.owned.push(extra_keywords);
            bound.slots[shape.slot_count() - 1] = extra_keywords;
        }
        for i in 0..call.keyword_count() {
            let name = ffi::PyTuple_GET_ITEM(call.kwnames, i as isize);
            let value = *call.args.add(call.nargs + i);
            bound.rearranged = true;
            if let Some(slot) = parameter_slot(shape, name) {
                if !bound.slots[slot].is_null() {
                    return None;
                }
                bound.slots[slot] = value;
            } else if extra_keywords.is_null() || ffi::PyDict_SetItem(extra_keywords, name, value) < 0 {
                ffi::PyErr_Clear();
                return None;
            }
        }
        let function = function.cast::<ffi::PyFunctionObject>();
        fill_positional_defaults(&mut bound, argcount, (*function).func_defaults)?;
        fill_keyword_defaults(&mut bound, shape, (*function).func_kwdefaults)?;
    }
    Some(bound)
}

/// The slot of the parameter that may be passed by this keyword.
///
/// # Safety
/// `name` must be a live str.
unsafe fn parameter_slot(shape: &CodeShape, name: *mut PyObject) -> Option<usize> {
    let candidates = shape.raw.posonlyargcount as usize..shape.named_count();
    let by_identity = candidates.clone().find(|&slot| shape.parameters[slot].as_ptr() == name);
    by_identity.or_else(|| {
        // SAFETY: both are live str objects; comparing two of them cannot fail.
        candidates
            .into_iter()
            .find(|&slot| unsafe { ffi::PyUnicode_Compare(shape.parameters[slot].as_ptr(), name) == 0 })
    })
}

/// # Safety
/// `defaults` must be NULL or a live tuple.
unsafe fn fill_positional_defaults(
    bound: &mut BoundArguments,
    argcount: usize,
    defaults: *mut PyObject,
) -> Option<()> {
    // SAFETY: a live tuple when not NULL.
    let count = if defaults.is_null() { 0 } else { unsafe { ffi::PyTuple_GET_SIZE(defaults) as usize } };
    for slot in 0..argcount {
        if bound.slots[slot].is_null() {
            let index = (slot + count).checked_sub(argcount)?;
            // SAFETY: index < count. The reference is taken, because the user may replace the function's defaults.
            unsafe {
                let value = ffi::PyTuple_GET_ITEM(defaults, index as isize);
                ffi::Py_INCREF(value);
                bound.owned.push(value);
                bound.slots[slot] = value;
            }
            bound.rearranged = true;
        }
    }
    Some(())
}

/// # Safety
/// `defaults` must be NULL or a live dict.
unsafe fn fill_keyword_defaults(
    bound: &mut BoundArguments,
    shape: &CodeShape,
    defaults: *mut PyObject,
) -> Option<()> {
    for slot in shape.argcount()..shape.named_count() {
        if bound.slots[slot].is_null() {
            if defaults.is_null() {
                return None;
            }
            // SAFETY: a live dict and a live str; the borrowed result is taken at once.
            unsafe {
                let value = ffi::PyDict_GetItemWithError(defaults, shape.parameters[slot].as_ptr());
                if value.is_null() {
                    ffi::PyErr_Clear();
                    return None;
                }
                ffi::Py_INCREF(value);
                bound.owned.push(value);
                bound.slots[slot] = value;
            }
            bound.rearranged = true;
        }
    }
    Some(())
}

/// A call rebuilt from bound slots: everything positional that can be, then keyword-only and extra keywords.
pub(crate) struct RebuiltCall {
    arguments: Vec<*mut PyObject>,
    nargs: usize,
    kwnames: *mut PyObject,
}

impl Drop for RebuiltCall {
    fn drop(&mut self) {
        // SAFETY: `kwnames` is NULL or owned by this value.
        unsafe { ffi::Py_XDECREF(self.kwnames) };
    }
}

impl RebuiltCall {
    pub(crate) fn call(&self) -> Call {
        Call { args: self.arguments.as_ptr(), nargs: self.nargs, kwnames: self.kwnames }
    }

    /// Lays `bound` out as a call; None with a Python exception set when memory is out.
    ///
    /// # Safety
    /// `slots` holds one live object for each slot of `shape` (a tuple for `*args`, a dict for `**kwargs`); they stay
    /// alive while the result is used; the GIL is held.
    pub(crate) unsafe fn new(shape: &CodeShape, slots: &[*mut PyObject]) -> Option<Self> {
        let (argcount, named) = (shape.argcount(), shape.named_count());
        let mut rebuilt =
            Self { arguments: slots[..argcount].to_vec(), nargs: argcount, kwnames: ptr::null_mut() };
        // SAFETY: the `*args` slot is a tuple and the `**kwargs` slot a dict by the caller's word; items are borrowed
        // from them while they live; `names` gets exactly `count` items.
        unsafe {
            if shape.has_varargs() {
                let extra = slots[named];
                for i in 0..ffi::PyTuple_GET_SIZE(extra) {
                    rebuilt.arguments.push(ffi::PyTuple_GET_ITEM(extra, i));
                }
                rebuilt.nargs = rebuilt.arguments.len();
            }
            let extra_keywords =
                if shape.has_varkeywords() { slots[shape.slot_count() - 1] } else { ptr::null_mut() };
            let extra_count = if extra_keywords.is_null() { 0 } else { ffi::PyDict_Size(extra_keywords) };
            let count = (named - argcount) as isize + extra_count;
            if count == 0 {
                return Some(rebuilt);
            }
            rebuilt.kwnames = ffi::PyTuple_New(count);
            if rebuilt.kwnames.is_null() {
                return None;
            }
            let mut position = 0;
            let mut push = |rebuilt: &mut Self, name: *mut PyObject, value: *mut PyObject| {
                ffi::Py_INCREF(name);
                ffi::PyTuple_SET_ITEM(rebuilt.kwnames, position, name);
                position += 1;
                rebuilt.arguments.push(value);
            };
            for (parameter, &value) in shape.parameters.iter().zip(slots).take(named).skip(argcount) {
                push(&mut rebuilt, parameter.as_ptr(), value);
            }
            if !extra_keywords.is_null() {
                let (mut cursor, mut key, mut value) = (0, ptr::null_mut(), ptr::null_mut());
                while ffi::PyDict_Next(extra_keywords, &raw mut cursor, &raw mut key, &raw mut value) != 0 {
                    push(&mut rebuilt, key, value);
                }
            }
        }
        Some(rebuilt)
    }
}
