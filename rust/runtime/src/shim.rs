//! The Rust face of the C shims (`shim.h`): fields whose layout only the interpreter's own headers know.
use pyo3::ffi::{PyObject, PyTypeObject};
use std::ffi::c_int;

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
    pub(crate) fn pydynamo_stack_is_low() -> c_int;
    pub(crate) fn pydynamo_method_new(function: *mut PyObject, object: *mut PyObject) -> *mut PyObject;
}
