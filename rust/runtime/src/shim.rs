//! The Rust face of the C shims (`shim.h`): fields whose layout only the interpreter's own headers know.
use pyo3::ffi::{PyObject, PyTypeObject};
use std::ffi::{c_char, c_int};

/// `pydynamo_code_shape`: how a code object takes its arguments.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RawCodeShape {
    pub argcount: i32,
    pub posonlyargcount: i32,
    pub kwonlyargcount: i32,
    pub flags: i32,
    pub nlocals: i32,
    pub nfreevars: i32,
}

unsafe extern "C" {
    /// `collections.OrderedDict`.
    #[link_name = "PyODict_Type"]
    pub(crate) static mut ORDERED_DICT: PyTypeObject;

    pub(crate) fn pydynamo_code_shape_of(code: *mut PyObject, shape: *mut RawCodeShape);
    pub(crate) fn pydynamo_code_varnames(code: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_code_freevars(code: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_weakref_is(reference: *mut PyObject, object: *mut PyObject) -> c_int;
    pub(crate) fn pydynamo_instance_dict(object: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_cell_get(cell: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_type_has_weakrefs(ty: *mut PyTypeObject) -> c_int;
    pub(crate) fn pydynamo_is_method(object: *mut PyObject) -> c_int;
    pub(crate) fn pydynamo_method_function(method: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_method_self(method: *mut PyObject) -> *mut PyObject;
    /// The raw attribute that a type and its bases give, borrowed; NULL, with no exception set, if there is none.
    #[link_name = "_PyType_Lookup"]
    pub(crate) fn type_lookup(ty: *mut PyTypeObject, name: *mut PyObject) -> *mut PyObject;
    pub(crate) fn pydynamo_is_watched() -> c_int;
    pub(crate) fn pydynamo_bounded_vectorcall(
        callable: *mut PyObject,
        args: *const *mut PyObject,
        nargsf: usize,
        kwnames: *mut PyObject,
    ) -> *mut PyObject;
    pub(crate) fn pydynamo_method_new(function: *mut PyObject, object: *mut PyObject) -> *mut PyObject;

    pub(crate) fn pydynamo_hook_unavailable() -> *const c_char;
    pub(crate) fn pydynamo_hook_configure(calls: *const HookCalls, retired: *mut PyObject);
    pub(crate) fn pydynamo_hook_open_region();
    pub(crate) fn pydynamo_hook_close_region();
    pub(crate) fn pydynamo_hook_suspend();
    pub(crate) fn pydynamo_hook_resume();
    pub(crate) fn pydynamo_hook_skip_next(code: *mut PyObject);
    pub(crate) fn pydynamo_hook_statistics(retargeted: *mut isize, rebuilt: *mut isize);
    pub(crate) fn pydynamo_hook_set_probe(probe: *const Probe);
    pub(crate) fn pydynamo_hook_probe_result() -> c_int;
}

/// `pydynamo_decide` and `pydynamo_rebuild`: (code, function, argument slots, their number).
pub(crate) type Decide =
    unsafe extern "C" fn(*mut PyObject, *mut PyObject, *const *mut PyObject, c_int) -> *mut PyObject;

/// `pydynamo_hook_calls`: what the hook calls upward.
#[repr(C)]
pub(crate) struct HookCalls {
    pub decide: Decide,
    pub rebuild: Decide,
    pub report_mismatch: unsafe extern "C" fn(*mut PyObject, *mut PyObject, *const c_char),
}

/// `pydynamo_probe`.
#[repr(C)]
pub(crate) struct Probe {
    pub code: *mut PyObject,
    pub function: *mut PyObject,
    pub globals: *mut PyObject,
    pub args: *const *mut PyObject,
    pub nargs: c_int,
}
