//! `CompiledGraph`: how compiled code calls what a backend made. Has a name for listings, and keeps hooks off the backend.
//!
//! A graph that leaves nothing behind when it fails says so of its exception, and whoever called the frame runs the
//! original function instead (`take_failure`): what the user's program does before and after the failing operator then
//! happens in its own order.
use crate::errors::pydynamo_error;
use crate::shim;
use pyo3::exceptions::{PyException, PyRecursionError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::ptr;

#[repr(C)]
struct GraphObject {
    head: PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    /// Owned, never changed; NULL only while the object is made.
    name: *mut PyObject,
    /// Owned; Python code may put another callable in its place, never NULL.
    run: *mut PyObject,
    /// Whether the frame that calls it may run again from its start if the graph fails.
    repeatable: bool,
}

/// The exception with which a repeatable graph failed and the code of the frame that called it. Only compared, never followed.
#[derive(Clone, Copy)]
struct Failure {
    exception: *mut PyObject,
    code: *mut PyObject,
}

const NO_FAILURE: Failure = Failure { exception: ptr::null_mut(), code: ptr::null_mut() };

thread_local! {
    static FAILURE: Cell<Failure> = const { Cell::new(NO_FAILURE) };
}

/// Notes the exception that is set, if a frame may run again because of it.
#[cold]
fn note_failure(py: Python<'_>) {
    let error = PyErr::take(py).expect("a failed call sets an exception");
    let again = error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyRecursionError>(py);
    // SAFETY: the GIL is held; the frame and its code are borrowed from the running frame, which outlives this call.
    let code = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() { ptr::null_mut() } else { ffi::PyFrame_GetCode(frame).cast::<PyObject>() }
    };
    if again && !code.is_null() {
        FAILURE.set(Failure { exception: error.value(py).as_ptr(), code });
    }
    // SAFETY: a reference of our own, or NULL.
    unsafe { ffi::Py_XDECREF(code) };
    error.restore(py);
}

/// Whether the exception that is set is one with which a repeatable graph failed in a frame of this code; it is cleared then.
#[cold]
pub(crate) fn take_failure(py: Python<'_>, code: *mut PyObject) -> bool {
    let failure = FAILURE.get();
    if failure.exception.is_null() || failure.code != code {
        return false; // none, or that of a frame further out, while this one runs in a finalizer or a tracer
    }
    FAILURE.set(NO_FAILURE);
    let Some(error) = PyErr::take(py) else { return false };
    if error.value(py).as_ptr() == failure.exception {
        return true;
    }
    error.restore(py);
    false
}

static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type object, made on first use.
pub(crate) fn compiled_graph_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    TYPE.get_or_try_init(py, || make_type(py)).map(|ty| ty.bind(py))
}

unsafe extern "C" fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython calls this with the GIL held, a live callable of this type and a valid vectorcall, which is passed
    // on; `run` is set, and held here because the call may put another in its place.
    unsafe {
        shim::pydynamo_hook_suspend();
        let graph = callable.cast::<GraphObject>();
        let run = (*graph).run;
        ffi::Py_INCREF(run);
        let result = ffi::PyObject_Vectorcall(run, args, nargsf, kwnames);
        ffi::Py_DECREF(run);
        shim::pydynamo_hook_resume();
        if result.is_null() && (*graph).repeatable {
            note_failure(Python::assume_attached());
        }
        result
    }
}

unsafe extern "C" fn new(
    ty: *mut ffi::PyTypeObject,
    args: *mut PyObject,
    kwargs: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython calls `tp_new` with the GIL held, a live tuple and a live dict or NULL.
    let (py, args) = unsafe {
        let py = Python::assume_attached();
        (py, Bound::from_borrowed_ptr(py, args))
    };
    let made = || -> PyResult<*mut PyObject> {
        let args = args.cast::<PyTuple>()?;
        let (name, run, repeatable) = args.extract::<(Bound<'_, PyString>, Bound<'_, PyAny>, bool)>()?;
        if !kwargs.is_null() || !run.is_callable() {
            return Err(pydynamo_error(py, "CompiledGraph takes a name, a callable and a bool, by position"));
        }
        // SAFETY: the generic allocator gives a zeroed object of this type's size, tracked by the collector; its fields
        // are set before anyone else sees it, and nothing in between can start a collection.
        unsafe {
            let object = ffi::PyType_GenericAlloc(ty, 0);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            let graph = object.cast::<GraphObject>();
            (*graph).vectorcall = Some(vectorcall);
            (*graph).name = name.into_ptr();
            (*graph).run = run.into_ptr();
            (*graph).repeatable = repeatable;
            Ok(object)
        }
    };
    made().unwrap_or_else(|error| {
        error.restore(py);
        ptr::null_mut()
    })
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: CPython calls this once, with the GIL held, when the last reference is gone; the fields are this object's.
    unsafe {
        ffi::PyObject_GC_UnTrack(object.cast());
        let graph = object.cast::<GraphObject>();
        ffi::Py_XDECREF((*graph).name);
        ffi::Py_XDECREF((*graph).run);
        let ty = ffi::Py_TYPE(object);
        ffi::PyObject_GC_Del(object.cast());
        ffi::Py_DECREF(ty.cast());
    }
}

/// There is no `tp_clear`: `run` must not be NULL while calls are possible, and a cycle through it is broken elsewhere.
unsafe extern "C" fn traverse(object: *mut PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with the GIL held, a live object and its own visitor.
    unsafe {
        let graph = object.cast::<GraphObject>();
        for target in [ffi::Py_TYPE(object).cast(), (*graph).run] {
            let result = if target.is_null() { 0 } else { visit(target, arg) };
            if result != 0 {
                return result;
            }
        }
        0
    }
}

unsafe extern "C" fn name(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: a live object of this type by CPython's word, whose name is set.
    unsafe {
        let name = (*object.cast::<GraphObject>()).name;
        ffi::Py_INCREF(name);
        name
    }
}

unsafe extern "C" fn get_name(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    // SAFETY: as for `name`.
    unsafe { name(object) }
}

unsafe extern "C" fn get_run(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    // SAFETY: as for `name`.
    unsafe {
        let run = (*object.cast::<GraphObject>()).run;
        ffi::Py_INCREF(run);
        run
    }
}

unsafe extern "C" fn set_run(object: *mut PyObject, value: *mut PyObject, _: *mut c_void) -> c_int {
    // SAFETY: a live object of this type and a live value, or NULL for `del`, by CPython's word and with the GIL held; the
    // field is consistent before the old callable, whose end may run any code, is let go.
    unsafe {
        if value.is_null() || ffi::PyCallable_Check(value) == 0 {
            pydynamo_error(Python::assume_attached(), "the run of a CompiledGraph is a callable")
                .restore(Python::assume_attached());
            return -1;
        }
        let graph = object.cast::<GraphObject>();
        ffi::Py_INCREF(value);
        let old = std::mem::replace(&mut (*graph).run, value);
        ffi::Py_DECREF(old);
        0
    }
}

const DOC: &std::ffi::CStr = c"CompiledGraph(name, run, repeatable, /)\n--\n\n\
    Calls `run` with this thread's interceptions suspended; its repr is its name. If it is repeatable and raises, the \
    CompiledFunction whose frame called it runs its original function instead.";

fn make_type(py: Python<'_>) -> PyResult<Py<PyType>> {
    let get = |name: &'static std::ffi::CStr, get: ffi::getter, set: Option<ffi::setter>| ffi::PyGetSetDef {
        name: name.as_ptr(),
        get: Some(get),
        set,
        doc: ptr::null(),
        closure: ptr::null_mut(),
    };
    // CPython keeps pointers into these tables for as long as the type lives, which is as long as the process.
    let members = Box::leak(Box::new([
        ffi::PyMemberDef {
            name: c"__vectorcalloffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: offset_of!(GraphObject, vectorcall) as isize,
            flags: ffi::Py_READONLY,
            doc: ptr::null(),
        },
        ffi::PyMemberDef {
            name: c"repeatable".as_ptr(),
            type_code: ffi::Py_T_BOOL,
            offset: offset_of!(GraphObject, repeatable) as isize,
            flags: 0,
            doc: ptr::null(),
        },
        // SAFETY: an all-zero definition ends the table.
        unsafe { std::mem::zeroed() },
    ]));
    let getters = Box::leak(Box::new([
        get(c"__name__", get_name, None),
        get(c"__wrapped__", get_run, None),
        get(c"run", get_run, Some(set_run)),
        // SAFETY: as above.
        unsafe { std::mem::zeroed() },
    ]));
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_repr, name as *mut c_void),
        slot(ffi::Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getters.as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_HAVE_VECTORCALL;
    let mut spec = ffi::PyType_Spec {
        name: c"pydynamo._core.CompiledGraph".as_ptr(),
        basicsize: size_of::<GraphObject>() as c_int,
        itemsize: 0,
        flags: flags as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: a complete specification; the tables it names live on, the slots array is copied.
    let ty = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
    Ok(ty.cast_into::<PyType>()?.unbind())
}
