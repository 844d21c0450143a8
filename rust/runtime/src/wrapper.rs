//! `CompiledFunction`: what a compiled function is to its callers. Binds, checks guards, calls the hit; no Python in between.
//!
//! The type is made from a `PyType_Spec`, because it takes part in the vectorcall protocol and in CPython's fast method
//! calls, which Rust classes cannot. It owns the object's life; what a call does is in `dispatch`.
use crate::cache::CodeCache;
use crate::dispatch::State;
use crate::errors::pydynamo_error;
use crate::guard::with_inputs;
use crate::hand_over;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple, PyType};
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

#[repr(C)]
struct WrapperObject {
    head: PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    dict: *mut PyObject,
    weak_references: *mut PyObject,
    /// Owned; NULL only while the object is made.
    state: *mut State,
}

static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type object, made on first use.
pub(crate) fn compiled_function_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    TYPE.get_or_try_init(py, || make_type(py)).map(|ty| ty.bind(py))
}

/// The state behind a `CompiledFunction`.
///
/// # Safety
/// `object` must be a live, fully made `CompiledFunction`; the result is good while it lives.
unsafe fn state_of<'a>(object: *mut PyObject) -> &'a State {
    // SAFETY: by the caller's word; the box behind `state` is freed only with the object.
    unsafe { &*(*object.cast::<WrapperObject>()).state }
}

/// Runs a slot function: a panic becomes an exception, an error is set, and either gives `failed`.
fn guarded<R>(py: Python<'_>, failed: R, run: impl FnOnce() -> PyResult<R>) -> R {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            error.restore(py);
            failed
        }
        Err(_) => {
            pydynamo_error(py, "internal error in a compiled function's wrapper").restore(py);
            failed
        }
    }
}

unsafe extern "C" fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython calls slots with the GIL held, a live callable of this type and a valid vectorcall.
    unsafe {
        let py = Python::assume_attached();
        let run = || {
            let result = state_of(callable).call(py, callable, args, nargsf, kwnames);
            Ok(hand_over::finish(py, result))
        };
        guarded(py, ptr::null_mut(), run)
    }
}

/// Calls `callable` if it is a compiled function, without running what its frame hands over to; else None.
///
/// # Safety
/// `callable` and the `nargs` objects at `args` must be live, and the GIL held.
pub(crate) unsafe fn call_once(
    py: Python<'_>,
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargs: usize,
) -> Option<*mut PyObject> {
    let ty = TYPE.get(py)?.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: by the caller's word; an object of this type is fully made before anyone else sees it.
    unsafe {
        (ffi::Py_TYPE(callable) == ty)
            .then(|| state_of(callable).call(py, callable, args, nargs, ptr::null_mut()))
    }
}

unsafe extern "C" fn new(
    ty: *mut ffi::PyTypeObject,
    args: *mut PyObject,
    kwargs: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython calls `tp_new` with the GIL held, a live tuple and a live dict or NULL.
    let py = unsafe { Python::assume_attached() };
    guarded(py, ptr::null_mut(), || {
        // SAFETY: as above.
        let (args, kwargs) =
            unsafe { (Bound::from_borrowed_ptr(py, args), Bound::from_borrowed_ptr_or_opt(py, kwargs)) };
        let [function, on_miss, cache] =
            arguments(args.cast()?, kwargs.as_ref().map(|kwargs| kwargs.cast()).transpose()?)?;
        let Some(Ok(function)) = function.as_ref().map(|function| function.cast::<PyFunction>()) else {
            return Err(pydynamo_error(py, "CompiledFunction wraps a Python function"));
        };
        let Some(on_miss) = on_miss.filter(Bound::is_callable) else {
            return Err(pydynamo_error(py, "CompiledFunction needs a callable on_miss"));
        };
        let cache = match cache.filter(|cache| !cache.is_none()) {
            Some(cache) => cache.cast::<CodeCache>()?.clone().unbind(),
            None => Py::new(py, CodeCache::default())?,
        };
        let state = Box::new(State::new(function, on_miss.unbind(), cache)?);
        // SAFETY: the generic allocator gives a zeroed object of this type's size, tracked by the collector; its own
        // fields are set before anyone else sees it, and nothing in between can start a collection.
        let object = unsafe {
            let object = ffi::PyType_GenericAlloc(ty, 0);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            let wrapper = object.cast::<WrapperObject>();
            (*wrapper).vectorcall = Some(vectorcall);
            (*wrapper).state = Box::into_raw(state);
            Bound::from_owned_ptr(py, object)
        };
        py.import("functools")?.call_method1("update_wrapper", (&object, function))?;
        Ok(object.into_ptr())
    })
}

/// The three parameters of the constructor, by position or name.
fn arguments<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<[Option<Bound<'py, PyAny>>; 3]> {
    const NAMES: [&str; 3] = ["function", "on_miss", "cache"];
    let mut values = [None, None, None];
    if args.len() > NAMES.len() {
        return Err(pydynamo_error(args.py(), "CompiledFunction takes function, on_miss and cache"));
    }
    for (value, arg) in values.iter_mut().zip(args.iter()) {
        *value = Some(arg);
    }
    for (name, value) in kwargs.iter().flat_map(|kwargs| kwargs.iter()) {
        let name = name.extract::<String>()?;
        match NAMES.iter().position(|known| *known == name) {
            Some(index) if values[index].is_none() => values[index] = Some(value),
            _ => {
                let message =
                    format!("CompiledFunction takes function, on_miss and cache once each, not {name:?}");
                return Err(pydynamo_error(args.py(), message));
            }
        }
    }
    Ok(values)
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: CPython calls this once, with the GIL held, when the last reference is gone; the fields are this object's.
    unsafe {
        ffi::PyObject_GC_UnTrack(object.cast());
        let wrapper = object.cast::<WrapperObject>();
        if !(*wrapper).weak_references.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        clear_dict(object);
        let state = ptr::replace(&raw mut (*wrapper).state, ptr::null_mut());
        if !state.is_null() {
            let mut state = Some(Box::from_raw(state));
            // References that are dropped by a thread which PyO3 does not know to be attached wait for the next that is; an
            // interpreter that ends takes no new ones.
            let _ = Python::try_attach(|_| drop(state.take()));
        }
        let ty = ffi::Py_TYPE(object);
        ffi::PyObject_GC_Del(object.cast());
        ffi::Py_DECREF(ty.cast());
    }
}

unsafe extern "C" fn traverse(object: *mut PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with the GIL held, a live object and its own visitor; nothing here runs Python code.
    unsafe {
        let wrapper = object.cast::<WrapperObject>();
        let one = |target: *mut PyObject| if target.is_null() { 0 } else { visit(target, arg) };
        let mut result = one(ffi::Py_TYPE(object).cast());
        if result == 0 {
            result = one((*wrapper).dict);
        }
        if result == 0 && !(*wrapper).state.is_null() {
            (*(*wrapper).state).visit(&mut |target| {
                if result == 0 {
                    result = one(target);
                }
            });
        }
        result
    }
}

/// Every cycle through a wrapper also goes through its dict, its function or a container of the user's, each of which
/// breaks it; the state stays whole, because finalizers may still call the wrapper.
unsafe extern "C" fn clear(object: *mut PyObject) -> c_int {
    // SAFETY: as for `traverse`.
    unsafe { clear_dict(object) };
    0
}

/// # Safety
/// `object` must be a live `CompiledFunction` and the GIL held.
unsafe fn clear_dict(object: *mut PyObject) {
    // SAFETY: the field is emptied before its old value is dropped.
    unsafe {
        let dict = ptr::replace(&raw mut (*object.cast::<WrapperObject>()).dict, ptr::null_mut());
        ffi::Py_XDECREF(dict);
    }
}

unsafe extern "C" fn descr_get(
    object: *mut PyObject,
    instance: *mut PyObject,
    _: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython calls this with the GIL held and live objects (or NULL for the instance).
    unsafe {
        if instance.is_null() || instance == ffi::Py_None() {
            ffi::Py_INCREF(object);
            return object;
        }
        crate::shim::pydynamo_method_new(object, instance)
    }
}

unsafe extern "C" fn repr(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: as for `vectorcall`.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let name = state_of(object).name(py)?;
            Ok(PyString::new(py, &format!("<compiled function {name} at {object:p}>")).into_any().into_ptr())
        })
    }
}

/// Defines a slot function for `getattr`-like access to the state.
macro_rules! getter {
    ($name:ident, |$py:ident, $state:ident| $value:expr) => {
        unsafe extern "C" fn $name(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
            // SAFETY: as for `vectorcall`.
            unsafe {
                let $py = Python::assume_attached();
                guarded($py, ptr::null_mut(), || {
                    let $state = state_of(object);
                    Ok($value
                        .into_pyobject($py)
                        .map_err(Into::<PyErr>::into)?
                        .to_owned()
                        .into_any()
                        .into_ptr())
                })
            }
        }
    };
}

getter!(get_cache, |py, state| state.cache.clone_ref(py));
getter!(get_on_miss, |py, state| state.on_miss.clone_ref(py));
getter!(get_disabled, |py, state| state.is_disabled());
getter!(get_misses, |py, state| state.misses());
getter!(get_function, |py, state| state.function.clone_ref(py));

unsafe extern "C" fn set_disabled(object: *mut PyObject, value: *mut PyObject, _: *mut c_void) -> c_int {
    // SAFETY: as for `vectorcall`; the value is NULL when the attribute is deleted.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, -1, || {
            let Some(value) = Bound::from_borrowed_ptr_or_opt(py, value) else {
                return Err(pydynamo_error(py, "disabled cannot be deleted"));
            };
            state_of(object).set_disabled(value.is_truthy()?);
            Ok(0)
        })
    }
}

/// The (args, kwargs) of `lookup` and `miss_reasons`.
type CallParts<'py> = (Option<Bound<'py, PyTuple>>, Option<Bound<'py, PyDict>>);

/// # Safety
/// `args` must be a live tuple, `kwargs` NULL or a live dict, the GIL held.
unsafe fn call_parts<'py>(
    py: Python<'py>,
    args: *mut PyObject,
    kwargs: *mut PyObject,
) -> PyResult<CallParts<'py>> {
    // SAFETY: by the caller's word.
    let (args, kwargs) =
        unsafe { (Bound::from_borrowed_ptr(py, args), Bound::from_borrowed_ptr_or_opt(py, kwargs)) };
    let (args, names) = (args.cast_into::<PyTuple>()?, kwargs.map(Bound::cast_into::<PyDict>).transpose()?);
    let find = |index: usize, name: &str| -> PyResult<Option<Bound<'py, PyAny>>> {
        if args.len() > index {
            return args.get_item(index).map(Some);
        }
        names.as_ref().map_or(Ok(None), |names| names.get_item(name))
    };
    let positional = find(0, "args")?.map(Bound::cast_into::<PyTuple>).transpose()?;
    let keywords =
        find(1, "kwargs")?.filter(|kwargs| !kwargs.is_none()).map(Bound::cast_into::<PyDict>).transpose()?;
    Ok((positional, keywords))
}

unsafe extern "C" fn lookup(
    object: *mut PyObject,
    args: *mut PyObject,
    kwargs: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as for `vectorcall`, with a live tuple and a live dict or NULL.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let (args, kwargs) = call_parts(py, args, kwargs)?;
            let state = state_of(object);
            let function = state.function.bind(py).as_any();
            let found = with_inputs(py, function, args.as_ref(), kwargs.as_ref(), |inputs| {
                state.find_entry(py, inputs)
            })?;
            Ok(found.map_or_else(|| py.None(), Py::into_any).into_ptr())
        })
    }
}

unsafe extern "C" fn miss_reasons(
    object: *mut PyObject,
    args: *mut PyObject,
    kwargs: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as for `lookup`.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let (args, kwargs) = call_parts(py, args, kwargs)?;
            let state = state_of(object);
            let function = state.function.bind(py).as_any();
            let texts = with_inputs(py, function, args.as_ref(), kwargs.as_ref(), |inputs| {
                state.reasons(py, inputs)
            })?;
            Ok(texts.into_pyobject(py)?.into_ptr())
        })
    }
}

/// Pickled and copied by reference, like a function: the qualified name says where to find it.
unsafe extern "C" fn reduce(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: as for `vectorcall`.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let name = Bound::from_borrowed_ptr(py, object).getattr("__qualname__")?;
            Ok(name.into_ptr())
        })
    }
}

const DOC: &std::ffi::CStr = c"CompiledFunction(function, on_miss, cache=None)\n--\n\n\
    Binds arguments as `function` would, runs the guards of each cache entry, and calls the target of the first that \
    passes; otherwise asks on_miss(wrapper, args, kwargs) what to call (a callable, a code object or a CacheEntry; None \
    for the original function).";

fn make_type(py: Python<'_>) -> PyResult<Py<PyType>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as isize,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    let get = |name: &'static std::ffi::CStr, get: ffi::getter, set: Option<ffi::setter>| ffi::PyGetSetDef {
        name: name.as_ptr(),
        get: Some(get),
        set,
        doc: ptr::null(),
        closure: ptr::null_mut(),
    };
    let method = |name: &'static std::ffi::CStr, function: ffi::PyMethodDefPointer, flags: c_int| {
        ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth: function, ml_flags: flags, ml_doc: ptr::null() }
    };
    let with_keywords = |function| ffi::PyMethodDefPointer { PyCFunctionWithKeywords: function };
    // CPython keeps pointers into these tables for as long as the type lives, which is as long as the process.
    let members = Box::leak(Box::new([
        member(c"__vectorcalloffset__", offset_of!(WrapperObject, vectorcall)),
        member(c"__dictoffset__", offset_of!(WrapperObject, dict)),
        member(c"__weaklistoffset__", offset_of!(WrapperObject, weak_references)),
        // SAFETY: an all-zero definition ends the table.
        unsafe { std::mem::zeroed() },
    ]));
    let getters = Box::leak(Box::new([
        get(c"__dict__", ffi::PyObject_GenericGetDict, Some(ffi::PyObject_GenericSetDict)),
        get(c"cache", get_cache, None),
        get(c"on_miss", get_on_miss, None),
        get(c"function", get_function, None),
        get(c"misses", get_misses, None),
        get(c"disabled", get_disabled, Some(set_disabled)),
        // SAFETY: as above.
        unsafe { std::mem::zeroed() },
    ]));
    let methods = Box::leak(Box::new([
        method(c"lookup", with_keywords(lookup), ffi::METH_VARARGS | ffi::METH_KEYWORDS),
        method(c"miss_reasons", with_keywords(miss_reasons), ffi::METH_VARARGS | ffi::METH_KEYWORDS),
        method(c"__reduce__", ffi::PyMethodDefPointer { PyCFunction: reduce }, ffi::METH_NOARGS),
        // SAFETY: as above.
        unsafe { std::mem::zeroed() },
    ]));
    let slot = |slot: c_int, pointer: *mut c_void| ffi::PyType_Slot { slot, pfunc: pointer };
    let mut slots = [
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_descr_get, descr_get as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getters.as_mut_ptr().cast()),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_GC
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR;
    let mut spec = ffi::PyType_Spec {
        name: c"pydynamo._core.CompiledFunction".as_ptr(),
        basicsize: size_of::<WrapperObject>() as c_int,
        itemsize: 0,
        flags: flags as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: a complete specification; the tables it names live on, the slots array is copied.
    let ty = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
    Ok(ty.cast_into::<PyType>()?.unbind())
}
