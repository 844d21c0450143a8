//! Fetches: how a guard program gets from one value to another.
use super::check::Register;
use super::constant::Held;
pub(crate) use super::dict_item::DictItem;
use super::dict_item::dict_item;
use super::program::Registers;
use crate::shim;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ptr;

/// One way to a value; the parent is the register it starts from.
pub(crate) enum Fetch {
    Global(Py<PyAny>),
    Closure(usize),
    Function,
    Constant(Held),
    Attr(Py<PyAny>),
    /// The same of an instance of a class that was seen to leave such a look-up to the instance's dict, which is the parent.
    PlainAttr {
        item: DictItem,
        owner: Register,
        class: PlainClass,
    },
    /// The instance's dict, None where there is none.
    OwnDict,
    InstanceDict,
    Item(DictItem),
    DictKey(usize),
    Index(usize),
    Subscript(DictItem),
    TypeOf,
    ClassAttr(Py<PyAny>),
    CodeOf,
    DefaultsOf,
    KwdefaultsOf,
    GlobalsOf,
    CellOf(usize),
    MethodSelf,
    MethodFunction,
    CellContents,
    Derived(Py<PyAny>),
}

impl Fetch {
    /// The value, as an owned reference; NULL, with no exception set, where there is none.
    ///
    /// # Safety
    /// `parent` must be alive (NULL for the kinds that start a path), and so must be what the registers that this names hold;
    /// `function` is a live function object; the GIL is held.
    pub(crate) unsafe fn run(
        &self,
        py: Python<'_>,
        parent: *mut PyObject,
        registers: &Registers,
        function: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: (whole function) every arm checks the type it relies on; borrowed results are taken at once.
        unsafe {
            match self {
                Self::Global(name) => {
                    let function = function.cast::<ffi::PyFunctionObject>();
                    let found = dict_item((*function).func_globals, name.as_ptr());
                    if found.is_null() { dict_item((*function).func_builtins, name.as_ptr()) } else { found }
                }
                Self::Closure(index) => closure_cell(function, *index),
                Self::Function => taken(function),
                Self::Constant(held) => held.get(py).map_or(ptr::null_mut(), Bound::into_ptr),
                Self::Attr(name) => or_cleared(ffi::PyObject_GetAttr(parent, name.as_ptr())),
                Self::PlainAttr { item, owner, class } => {
                    let owner = registers.get(*owner);
                    let found =
                        if class.is_still_class_of(owner) { item.find(parent) } else { ptr::null_mut() };
                    if found.is_null() {
                        or_cleared(ffi::PyObject_GetAttr(owner, item.key.as_ptr()))
                    } else {
                        found
                    }
                }
                Self::OwnDict => {
                    let dict = shim::pydynamo_instance_dict(parent);
                    taken(if dict.is_null() { ffi::Py_None() } else { dict })
                }
                Self::InstanceDict => taken(shim::pydynamo_instance_dict(parent)),
                Self::Item(item) => item.find(parent),
                Self::DictKey(index) => dict_key(parent, *index),
                Self::Index(index) => sequence_item(parent, *index),
                // A dict's own look-up: `defaultdict` would make the missing item.
                Self::Subscript(item) if has_dict_subscript(parent) => item.find(parent),
                Self::Subscript(item) => or_cleared(ffi::PyObject_GetItem(parent, item.key.as_ptr())),
                Self::TypeOf => taken(ffi::Py_TYPE(parent).cast()),
                Self::ClassAttr(name) => class_attribute(parent, name.as_ptr()),
                Self::CodeOf => function_field(parent, |function| function.func_code),
                Self::DefaultsOf => {
                    or_none(parent, function_field(parent, |function| function.func_defaults))
                }
                Self::KwdefaultsOf => {
                    or_none(parent, function_field(parent, |function| function.func_kwdefaults))
                }
                Self::GlobalsOf => function_field(parent, |function| function.func_globals),
                Self::CellOf(index) => {
                    if ffi::PyFunction_Check(parent) == 0 {
                        ptr::null_mut()
                    } else {
                        closure_cell(parent, *index)
                    }
                }
                Self::MethodSelf => {
                    if is_method(parent) {
                        taken(shim::pydynamo_method_self(parent))
                    } else {
                        ptr::null_mut()
                    }
                }
                Self::MethodFunction => {
                    if is_method(parent) {
                        taken(shim::pydynamo_method_function(parent))
                    } else {
                        ptr::null_mut()
                    }
                }
                Self::CellContents => {
                    if ffi::PyCell_Check(parent) == 0 {
                        ptr::null_mut()
                    } else {
                        taken(shim::pydynamo_cell_get(parent))
                    }
                }
                Self::Derived(callable) => {
                    let arguments = [parent];
                    or_cleared(ffi::PyObject_Vectorcall(
                        callable.as_ptr(),
                        arguments.as_ptr(),
                        1,
                        ptr::null_mut(),
                    ))
                }
            }
        }
    }

    /// The text of the value that this fetches from the value whose text is `parent`.
    pub(crate) fn source(&self, py: Python<'_>, parent: &str) -> String {
        let text = |object: &Py<PyAny>| object.bind(py).to_string();
        let repr = |object: &Py<PyAny>| super::constant::short_repr(object.bind(py));
        match self {
            Self::Global(name) => text(name),
            Self::Closure(index) => format!("closure[{index}]"),
            Self::Function => "function".into(),
            Self::Constant(held) => held.describe(py),
            Self::Attr(name) | Self::ClassAttr(name) => format!("{parent}.{}", text(name)),
            Self::OwnDict | Self::InstanceDict => format!("{parent}.__dict__"),
            Self::PlainAttr { item, .. } | Self::Item(item) | Self::Subscript(item) => {
                format!("{parent}[{}]", repr(&item.key))
            }
            Self::DictKey(index) => format!("list({parent})[{index}]"),
            Self::Index(index) => format!("{parent}[{index}]"),
            Self::TypeOf => format!("type({parent})"),
            Self::CodeOf => format!("{parent}.__code__"),
            Self::DefaultsOf => format!("{parent}.__defaults__"),
            Self::KwdefaultsOf => format!("{parent}.__kwdefaults__"),
            Self::GlobalsOf => format!("{parent}.__globals__"),
            Self::CellOf(index) => format!("{parent}.__closure__[{index}].cell_contents"),
            Self::MethodSelf => format!("{parent}.__self__"),
            Self::MethodFunction => format!("{parent}.__func__"),
            Self::CellContents => format!("{parent}.cell_contents"),
            Self::Derived(callable) => format!("{}({parent})", repr(callable)),
        }
    }

    /// The object that makes this fetch differ from another of its kind, for finding equal ones.
    pub(crate) fn key(&self, py: Python<'_>) -> FetchKey {
        let text = |object: &Py<PyAny>| object.bind(py).to_string();
        let pointer = |object: &Py<PyAny>| FetchDetail::Pointer(object.as_ptr() as usize);
        let item = |object: &Py<PyAny>| {
            if object.bind(py).is_exact_instance_of::<pyo3::types::PyString>() {
                FetchDetail::Text(text(object))
            } else {
                pointer(object)
            }
        };
        let detail = match self {
            Self::Global(name) | Self::Attr(name) | Self::ClassAttr(name) => FetchDetail::Text(text(name)),
            Self::PlainAttr { item: found, .. } | Self::Item(found) | Self::Subscript(found) => {
                item(&found.key)
            }
            Self::Closure(index) | Self::DictKey(index) | Self::Index(index) | Self::CellOf(index) => {
                FetchDetail::Pointer(*index)
            }
            Self::Constant(held) => {
                FetchDetail::Pointer(held.get(py).map_or(0, |object| object.as_ptr() as usize))
            }
            Self::Derived(callable) => pointer(callable),
            Self::Function
            | Self::OwnDict
            | Self::InstanceDict
            | Self::TypeOf
            | Self::CodeOf
            | Self::DefaultsOf
            | Self::KwdefaultsOf
            | Self::GlobalsOf
            | Self::MethodSelf
            | Self::MethodFunction
            | Self::CellContents => FetchDetail::Nothing,
        };
        (std::mem::discriminant(self), detail)
    }
}

/// A class whose instances give an attribute from their own dict first: it has the default `__getattribute__`, and no
/// data descriptor under the attribute's name.
#[derive(Clone, Copy)]
pub(crate) struct PlainClass {
    class: *const ffi::PyTypeObject,
    /// CPython gives every version of every class another tag, so that neither a change nor a new class at the same
    /// address goes unseen.
    version: u32,
}

// SAFETY: the pointer is compared, never followed.
unsafe impl Send for PlainClass {}
// SAFETY: as above.
unsafe impl Sync for PlainClass {}

impl PlainClass {
    /// None if an attribute of that name may come from elsewhere.
    pub(crate) fn new(class: &Bound<'_, PyType>, name: &Bound<'_, PyAny>) -> Option<Self> {
        let ty = class.as_type_ptr();
        // SAFETY: live types and an interned name; results of the look-ups are borrowed and only read. The
        // look-ups also give the class its version tag.
        unsafe {
            let getter = pyo3::intern!(class.py(), "__getattribute__").as_ptr();
            let default = shim::type_lookup(&raw mut ffi::PyBaseObject_Type, getter);
            if shim::type_lookup(ty, getter) != default {
                return None;
            }
            let shadowing = shim::type_lookup(ty, name.as_ptr());
            if !shadowing.is_null() && (*ffi::Py_TYPE(shadowing)).tp_descr_set.is_some() {
                return None;
            }
            let version = (*ty).tp_version_tag;
            (version != 0).then_some(Self { class: ty, version })
        }
    }

    /// # Safety
    /// `object` must be alive and the GIL held.
    unsafe fn is_still_class_of(self, object: *mut PyObject) -> bool {
        // SAFETY: the type of a live object is alive.
        unsafe {
            let ty = ffi::Py_TYPE(object);
            ty.cast_const() == self.class && (*ty).tp_version_tag == self.version
        }
    }
}

/// Equal for fetches that do the same.
pub(crate) type FetchKey = (std::mem::Discriminant<Fetch>, FetchDetail);

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum FetchDetail {
    Nothing,
    Text(String),
    Pointer(usize),
}

/// # Safety
/// `object` must be NULL or alive; the GIL is held.
unsafe fn taken(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: by the caller's word.
    unsafe { ffi::Py_XINCREF(object) };
    object
}

/// # Safety
/// The GIL is held.
unsafe fn or_cleared(result: *mut PyObject) -> *mut PyObject {
    if result.is_null() {
        // SAFETY: dropping the exception of the call that just failed.
        unsafe { ffi::PyErr_Clear() };
    }
    result
}

/// Whether `object[key]` is a dict's own look-up, `__missing__` aside.
///
/// # Safety
/// `object` must be alive and the GIL held.
unsafe fn has_dict_subscript(object: *mut PyObject) -> bool {
    // SAFETY: types of a live object and of the dict type, whose tables of functions are NULL or live as long as they do.
    unsafe {
        let subscript = |ty: *mut ffi::PyTypeObject| {
            (*ty).tp_as_mapping.as_ref().and_then(|methods| methods.mp_subscript).map(|f| f as usize)
        };
        ffi::PyDict_Check(object) != 0
            && subscript(ffi::Py_TYPE(object)) == subscript(&raw mut ffi::PyDict_Type)
    }
}

/// # Safety
/// `dict` must be alive and the GIL held.
unsafe fn dict_key(dict: *mut PyObject, index: usize) -> *mut PyObject {
    // SAFETY: the type is checked; no code runs between the steps.
    unsafe {
        if ffi::PyDict_Check(dict) == 0 {
            return ptr::null_mut();
        }
        let (mut cursor, mut key, mut value) = (0, ptr::null_mut(), ptr::null_mut());
        for _ in 0..=index {
            if ffi::PyDict_Next(dict, &raw mut cursor, &raw mut key, &raw mut value) == 0 {
                return ptr::null_mut();
            }
        }
        taken(key)
    }
}

/// # Safety
/// `sequence` must be alive and the GIL held.
unsafe fn sequence_item(sequence: *mut PyObject, index: usize) -> *mut PyObject {
    // SAFETY: type and size are checked before the item is read.
    unsafe {
        if ffi::PyTuple_Check(sequence) != 0 {
            if index < ffi::PyTuple_GET_SIZE(sequence) as usize {
                return taken(ffi::PyTuple_GET_ITEM(sequence, index as isize));
            }
        } else if ffi::PyList_Check(sequence) != 0 && index < ffi::PyList_GET_SIZE(sequence) as usize {
            return taken(ffi::PyList_GET_ITEM(sequence, index as isize));
        }
        ptr::null_mut()
    }
}

/// The raw attribute that a class and its bases give, no descriptor called.
///
/// # Safety
/// `class` and `name` must be alive and the GIL held.
unsafe fn class_attribute(class: *mut PyObject, name: *mut PyObject) -> *mut PyObject {
    // SAFETY: the type is checked; the borrowed result is taken before anything else runs.
    unsafe {
        if ffi::PyType_Check(class) == 0 {
            return ptr::null_mut();
        }
        taken(shim::type_lookup(class.cast(), name))
    }
}

/// # Safety
/// `function` must be a live function object and the GIL held.
unsafe fn closure_cell(function: *mut PyObject, index: usize) -> *mut PyObject {
    // SAFETY: `__closure__` is NULL or a tuple of cells; the index is checked.
    unsafe {
        let closure = (*function.cast::<ffi::PyFunctionObject>()).func_closure;
        if closure.is_null() || index >= ffi::PyTuple_GET_SIZE(closure) as usize {
            return ptr::null_mut();
        }
        taken(shim::pydynamo_cell_get(ffi::PyTuple_GET_ITEM(closure, index as isize)))
    }
}

/// # Safety
/// `object` must be alive and the GIL held.
unsafe fn function_field(
    object: *mut PyObject,
    field: impl FnOnce(&ffi::PyFunctionObject) -> *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the type is checked, so the struct may be read; the field is NULL or alive.
    unsafe {
        if ffi::PyFunction_Check(object) == 0 {
            return ptr::null_mut();
        }
        taken(field(&*object.cast::<ffi::PyFunctionObject>()))
    }
}

/// A function's field that is None to Python where it is NULL to C.
///
/// # Safety
/// `object` must be alive and the GIL held.
unsafe fn or_none(object: *mut PyObject, field: *mut PyObject) -> *mut PyObject {
    // SAFETY: by the caller's word; None is immortal.
    unsafe {
        if field.is_null() && ffi::PyFunction_Check(object) != 0 { taken(ffi::Py_None()) } else { field }
    }
}

/// # Safety
/// `object` must be alive and the GIL held.
unsafe fn is_method(object: *mut PyObject) -> bool {
    // SAFETY: by the caller's word.
    unsafe { shim::pydynamo_is_method(object) != 0 }
}
