//! Constants that a guard compares a value with: the exact type and the exact value.
use crate::shim;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyEllipsis, PyFloat, PyFrozenSet, PyInt, PyList, PyNone, PyRange, PySlice,
    PyString, PyTuple, PyType,
};
use std::ptr;

/// A reference that keeps its object alive only when the object cannot be referenced weakly.
#[derive(Debug)]
pub(crate) enum Held {
    Weak { pointer: usize, reference: Py<PyAny> },
    Strong(Py<PyAny>),
}

impl Held {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // SAFETY: the type of a live object. A type that is not on the heap never dies: no weak reference is needed.
        let (weak, immortal) = unsafe {
            let ty = ffi::Py_TYPE(object.as_ptr());
            let immortal = ffi::PyType_Check(object.as_ptr()) != 0
                && ffi::PyType_HasFeature(object.as_ptr().cast(), ffi::Py_TPFLAGS_HEAPTYPE) == 0;
            (shim::pydynamo_type_has_weakrefs(ty) != 0, immortal)
        };
        if !weak || immortal {
            return Ok(Self::Strong(object.clone().unbind()));
        }
        // SAFETY: a live object of a type with weak references; the result is a new reference or NULL with an exception.
        let reference = unsafe {
            Bound::from_owned_ptr_or_err(
                object.py(),
                ffi::PyWeakref_NewRef(object.as_ptr(), ptr::null_mut()),
            )?
        };
        Ok(Self::Weak { pointer: object.as_ptr() as usize, reference: reference.unbind() })
    }

    /// Whether `object` is the held object, which is alive.
    ///
    /// # Safety
    /// `object` must be alive and the GIL held.
    #[inline]
    pub(crate) unsafe fn is(&self, object: *mut PyObject) -> bool {
        match self {
            Self::Strong(held) => held.as_ptr() == object,
            Self::Weak { pointer, reference } => {
                // SAFETY: `reference` is a weak reference, `object` is alive by the caller's word.
                *pointer == object as usize
                    && unsafe { shim::pydynamo_weakref_is(reference.as_ptr(), object) != 0 }
            }
        }
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Strong(held) => Some(held.bind(py).clone()),
            Self::Weak { reference, .. } => {
                reference.bind(py).call0().ok().filter(|object| !object.is_none())
            }
        }
    }

    /// Whether the object still exists. Runs no code of the user's.
    pub(crate) fn is_alive(&self, _: Python<'_>) -> bool {
        match self {
            Self::Strong(_) => true,
            // SAFETY: `reference` is a weak reference; None never equals the address of the dead object.
            Self::Weak { pointer, reference } => unsafe {
                shim::pydynamo_weakref_is(reference.as_ptr(), *pointer as *mut PyObject) != 0
            },
        }
    }

    pub(crate) fn describe(&self, py: Python<'_>) -> String {
        match self.get(py) {
            None => "an object that no longer exists".into(),
            Some(object) => short_repr(&object),
        }
    }
}

/// `repr`, cut to a readable length; the type's name where `repr` itself fails.
pub(crate) fn short_repr(object: &Bound<'_, PyAny>) -> String {
    const LIMIT: usize = 80;
    let text = match object.repr() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("<{} object>", object.get_type()),
    };
    if text.chars().count() <= LIMIT { text } else { text.chars().take(LIMIT).chain("...".chars()).collect() }
}

/// A snapshot of a constant.
#[derive(Debug)]
pub(crate) enum Constant {
    /// None, True, False, Ellipsis, and any object with no value to compare.
    Identity(Py<PyAny>),
    Int(i64),
    BigInt(Py<PyAny>),
    Float(u64),
    Complex(u64, u64),
    Str(Py<PyAny>),
    /// bytes and range: immutable, compared by `==` of builtin types.
    Builtin(Py<PyAny>),
    Slice(Box<[Constant; 3]>),
    Tuple(Box<[Constant]>),
    List(Box<[Constant]>),
    /// frozenset: equal sets whose elements also have equal types.
    FrozenSet(Py<PyAny>, Box<[Constant]>),
    /// Any other type: exact type, then its own `==`.
    Other(Py<PyAny>),
}

impl Constant {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let keep = || object.clone().unbind();
        if object.is_exact_instance_of::<PyNone>()
            || object.is_exact_instance_of::<PyBool>()
            || object.is_exact_instance_of::<PyEllipsis>()
            || object.is_instance_of::<PyType>()
        {
            return Ok(Self::Identity(keep()));
        }
        if object.is_exact_instance_of::<PyInt>() {
            return Ok(object.extract::<i64>().map_or_else(|_| Self::BigInt(keep()), Self::Int));
        }
        if let Ok(value) = object.cast_exact::<PyFloat>() {
            return Ok(Self::Float(value.extract::<f64>()?.to_bits()));
        }
        if object.is_exact_instance_of::<PyComplex>() {
            let (re, im): (f64, f64) =
                (object.getattr("real")?.extract()?, object.getattr("imag")?.extract()?);
            return Ok(Self::Complex(re.to_bits(), im.to_bits()));
        }
        if object.is_exact_instance_of::<PyString>() {
            return Ok(Self::Str(keep()));
        }
        if object.is_exact_instance_of::<PyBytes>() || object.is_exact_instance_of::<PyRange>() {
            return Ok(Self::Builtin(keep()));
        }
        if object.is_exact_instance_of::<PySlice>() {
            let part = |name: &str| Self::new(&object.getattr(name)?);
            return Ok(Self::Slice(Box::new([part("start")?, part("stop")?, part("step")?])));
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return Ok(Self::Tuple(tuple.iter().map(|item| Self::new(&item)).collect::<PyResult<_>>()?));
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            return Ok(Self::List(list.iter().map(|item| Self::new(&item)).collect::<PyResult<_>>()?));
        }
        if let Ok(set) = object.cast_exact::<PyFrozenSet>() {
            let items = set.iter().map(|item| Self::new(&item)).collect::<PyResult<_>>()?;
            return Ok(Self::FrozenSet(keep(), items));
        }
        Ok(Self::Other(keep()))
    }

    /// Whether `object` is this constant. False, with no exception set, where a comparison fails.
    ///
    /// # Safety
    /// `object` must be alive (the caller holds a reference) and the GIL held.
    pub(crate) unsafe fn matches(&self, object: *mut PyObject) -> bool {
        // SAFETY: each arm checks the exact type before it uses that type's functions; items are borrowed from a
        // tuple or list that the caller's reference keeps alive, and are taken before anything can run user code.
        unsafe {
            match self {
                Self::Identity(held) => held.as_ptr() == object,
                Self::Int(value) => {
                    if ffi::PyLong_CheckExact(object) == 0 {
                        return false;
                    }
                    let mut overflow = 0;
                    let found = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
                    overflow == 0 && found == *value
                }
                Self::BigInt(held) => {
                    ffi::PyLong_CheckExact(object) != 0 && rich_equal(held.as_ptr(), object)
                }
                Self::Float(bits) => {
                    ffi::PyFloat_CheckExact(object) != 0 && ffi::PyFloat_AS_DOUBLE(object).to_bits() == *bits
                }
                Self::Complex(re, im) => {
                    ffi::PyComplex_CheckExact(object) != 0
                        && ffi::PyComplex_RealAsDouble(object).to_bits() == *re
                        && ffi::PyComplex_ImagAsDouble(object).to_bits() == *im
                }
                Self::Str(held) => {
                    held.as_ptr() == object
                        || ffi::PyUnicode_CheckExact(object) != 0
                            && ffi::PyUnicode_Compare(held.as_ptr(), object) == 0
                }
                Self::Builtin(held) | Self::Other(held) => {
                    held.as_ptr() == object
                        || ffi::Py_TYPE(held.as_ptr()) == ffi::Py_TYPE(object)
                            && rich_equal(held.as_ptr(), object)
                }
                Self::Slice(parts) => {
                    if ffi::Py_TYPE(object) != &raw mut ffi::PySlice_Type {
                        return false;
                    }
                    let slice = object.cast::<ffi::PySliceObject>();
                    parts[0].matches((*slice).start)
                        && parts[1].matches((*slice).stop)
                        && parts[2].matches((*slice).step)
                }
                Self::Tuple(items) => {
                    ffi::PyTuple_CheckExact(object) != 0
                        && ffi::PyTuple_GET_SIZE(object) as usize == items.len()
                        && items
                            .iter()
                            .enumerate()
                            .all(|(i, item)| item.matches(ffi::PyTuple_GET_ITEM(object, i as isize)))
                }
                Self::List(items) => {
                    ffi::PyList_CheckExact(object) != 0
                        && ffi::PyList_GET_SIZE(object) as usize == items.len()
                        && items.iter().enumerate().all(|(i, item)| list_item_matches(object, i, item))
                }
                Self::FrozenSet(held, items) => {
                    if held.as_ptr() == object {
                        return true;
                    }
                    ffi::Py_TYPE(object) == &raw mut ffi::PyFrozenSet_Type
                        && rich_equal(held.as_ptr(), object)
                        && set_types_match(object, items)
                }
            }
        }
    }

    /// As Python would show it.
    pub(crate) fn describe(&self, py: Python<'_>) -> String {
        let join = |items: &[Self], open: &str, close: &str| {
            let texts: Vec<_> = items.iter().map(|item| item.describe(py)).collect();
            format!("{open}{}{close}", texts.join(", "))
        };
        match self {
            Self::Identity(held)
            | Self::BigInt(held)
            | Self::Str(held)
            | Self::Builtin(held)
            | Self::Other(held)
            | Self::FrozenSet(held, _) => short_repr(held.bind(py)),
            Self::Int(value) => value.to_string(),
            Self::Float(bits) => short_repr(PyFloat::new(py, f64::from_bits(*bits)).as_any()),
            Self::Complex(re, im) => {
                short_repr(PyComplex::from_doubles(py, f64::from_bits(*re), f64::from_bits(*im)).as_any())
            }
            Self::Slice(parts) => join(&parts[..], "slice(", ")"),
            Self::Tuple(items) => join(items, "(", if items.len() == 1 { ",)" } else { ")" }),
            Self::List(items) => join(items, "[", "]"),
        }
    }
}

/// # Safety
/// `list` must be a live exact list; the GIL is held.
unsafe fn list_item_matches(list: *mut PyObject, index: usize, constant: &Constant) -> bool {
    // SAFETY: the size is read again, since comparing an earlier item may have run code that shrank the list; the item
    // is taken so that it survives its own comparison.
    unsafe {
        if index >= ffi::PyList_GET_SIZE(list) as usize {
            return false;
        }
        let item = ffi::PyList_GET_ITEM(list, index as isize);
        ffi::Py_INCREF(item);
        let equal = constant.matches(item);
        ffi::Py_DECREF(item);
        equal
    }
}

/// `1 == True == 1.0`, so equal sets may still differ in their elements' types: each element must match one constant.
///
/// # Safety
/// `set` must be a live exact frozenset; the GIL is held.
unsafe fn set_types_match(set: *mut PyObject, constants: &[Constant]) -> bool {
    // SAFETY: iterating a frozenset, which cannot change; each item is an owned reference, dropped after use.
    unsafe {
        let iterator = ffi::PyObject_GetIter(set);
        if iterator.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        let mut all = true;
        loop {
            let item = ffi::PyIter_Next(iterator);
            if item.is_null() {
                break;
            }
            all = all && constants.iter().any(|constant| constant.matches(item));
            ffi::Py_DECREF(item);
        }
        ffi::Py_DECREF(iterator);
        if !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        all
    }
}

/// `left == right` as a truth value; false, with the exception dropped, where it fails.
///
/// # Safety
/// Both must be alive and the GIL held.
unsafe fn rich_equal(left: *mut PyObject, right: *mut PyObject) -> bool {
    // SAFETY: live objects by the caller's word.
    unsafe {
        match ffi::PyObject_RichCompareBool(left, right, ffi::Py_EQ) {
            1 => true,
            0 => false,
            _ => {
                ffi::PyErr_Clear();
                false
            }
        }
    }
}
