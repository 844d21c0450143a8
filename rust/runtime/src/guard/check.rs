//! Checks: the conditions of a guard program.
use super::constant::{Constant, Held, short_repr};
use super::program::Registers;
use super::shape_expr::ShapeExpr;
use super::tensor::TensorCheck;
use super::torch_link::TorchLink;
use super::torch_state::{TorchState, is_true_result};
use crate::shim;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ptr;

/// Number of a register.
pub(crate) type Register = usize;

/// One condition.
pub(crate) enum Check {
    /// The fetches before it succeed: nothing more.
    Exists(Register),
    Type(Register, Held),
    Is(Register, Held),
    IsNot(Register, Held),
    Equals(Register, Constant),
    Truth(Register, bool),
    Length(Register, usize),
    DictKeys(Register, Box<[Constant]>),
    Contains(Register, Py<PyAny>, bool),
    HasAttr(Register, Py<PyAny>, bool),
    /// Over an instance's dict, or None where the instance has none.
    InInstanceDict(Register, Py<PyAny>, bool),
    /// A class whose bases and itself do not define the name.
    ClassLacks(Register, Py<PyAny>),
    Tensor(Register, Box<TensorCheck>),
    /// `_dynamo_dynamic_indices` is a subset of this frozenset.
    DynamicMarks(Register, Py<PyAny>),
    Same(Register, Register),
    AllDifferent(Box<[Register]>),
    Shape(Box<ShapeCheck>),
    Custom {
        function: Py<PyAny>,
        registers: Box<[Register]>,
        description: String,
    },
    TorchState(Box<TorchState>),
}

/// A shape expression and where its symbols come from.
pub(crate) struct ShapeCheck {
    pub expression: ShapeExpr,
    pub symbols: Vec<(String, SymbolSource)>,
    pub link: Option<&'static TorchLink>,
}

#[derive(Clone, Copy)]
pub(crate) enum SymbolSource {
    Int(Register),
    Size(Register, usize),
    Stride(Register, usize),
    Offset(Register),
}

impl Check {
    /// Whether the condition holds; false, with no exception set, where it cannot be decided.
    ///
    /// # Safety
    /// The registers that this names hold live objects, which the caller keeps alive; the GIL is held.
    pub(crate) unsafe fn holds(&self, py: Python<'_>, registers: &Registers) -> bool {
        // SAFETY: (whole function) live objects by the caller's word; types are checked before they are relied on.
        unsafe {
            match self {
                Self::Exists(_) => true,
                Self::Type(register, class) => class.is(ffi::Py_TYPE(registers.get(*register)).cast()),
                Self::Is(register, object) => object.is(registers.get(*register)),
                Self::IsNot(register, object) => !object.is(registers.get(*register)),
                Self::Equals(register, constant) => constant.matches(registers.get(*register)),
                Self::Truth(register, expected) => {
                    let found = ffi::PyObject_IsTrue(registers.get(*register));
                    if found < 0 {
                        ffi::PyErr_Clear();
                    }
                    found == i32::from(*expected)
                }
                Self::Length(register, expected) => length(registers.get(*register)) == *expected as isize,
                Self::DictKeys(register, keys) => dict_keys_match(registers.get(*register), keys),
                Self::Contains(register, key, present) => {
                    contains(registers.get(*register), key.as_ptr()) == Some(*present)
                }
                Self::HasAttr(register, name, present) => {
                    has_attr(registers.get(*register), name.as_ptr()) == Some(*present)
                }
                Self::InInstanceDict(register, name, present) => {
                    let dict = registers.get(*register);
                    let found =
                        if dict == ffi::Py_None() { Some(false) } else { contains(dict, name.as_ptr()) };
                    found == Some(*present)
                }
                Self::ClassLacks(register, name) => {
                    let class = registers.get(*register);
                    ffi::PyType_Check(class) != 0 && shim::type_lookup(class.cast(), name.as_ptr()).is_null()
                }
                Self::Tensor(register, tensor) => tensor.matches(py, registers.get(*register)),
                Self::DynamicMarks(register, allowed) => marks_allowed(py, registers.get(*register), allowed),
                Self::Same(first, second) => registers.get(*first) == registers.get(*second),
                Self::AllDifferent(members) => all_different(registers, members),
                Self::Shape(shape) => {
                    shape.expression.evaluate(|index| shape.value(py, registers, index)) == Some(true)
                }
                Self::Custom { function, registers: members, .. } => {
                    let values: Vec<_> = members.iter().map(|register| registers.get(*register)).collect();
                    let arguments = values.as_ptr();
                    is_true_result(ffi::PyObject_Vectorcall(
                        function.as_ptr(),
                        arguments,
                        values.len(),
                        ptr::null_mut(),
                    ))
                }
                Self::TorchState(state) => state.matches(py),
            }
        }
    }

    /// What was found and what is expected, after the source text of the value.
    pub(crate) fn explain(&self, py: Python<'_>, registers: &Registers, sources: &[String]) -> String {
        // SAFETY: a check is explained right after it failed, while its registers are alive.
        let value = |register: Register| unsafe { Bound::from_borrowed_ptr(py, registers.get(register)) };
        let found = |register: Register| short_repr(&value(register));
        let condition = self.describe(py, sources);
        match self {
            Self::Type(register, class) => {
                let found = short_repr(value(*register).get_type().as_any());
                format!("{}: type is {found}, expected {}", sources[*register], class.describe(py))
            }
            Self::Equals(register, constant) => {
                format!("{}: is {}, expected {}", sources[*register], found(*register), constant.describe(py))
            }
            Self::Length(register, expected) => match value(*register).len() {
                Ok(length) => format!("{}: length is {length}, expected {expected}", sources[*register]),
                Err(_) => format!("{condition}, but it has no length"),
            },
            Self::DictKeys(register, _) => match value(*register).cast::<pyo3::types::PyDict>() {
                Ok(dict) => format!("{condition}, found {}", short_repr(dict.keys().as_any())),
                Err(_) => format!("{condition}, but it is not a dict"),
            },
            Self::Tensor(register, tensor) => match tensor.difference(&value(*register)) {
                Ok(Some(text)) => format!("{}: {text}", sources[*register]),
                _ => format!("{}: not a tensor like {}", sources[*register], tensor.describe(py)),
            },
            Self::Shape(shape) => {
                let values = shape.symbols.iter().enumerate().map(|(index, (name, _))| {
                    // SAFETY: as above.
                    let value = unsafe { shape.value(py, registers, index) };
                    value.map_or_else(|| format!("{name} has no value"), |value| format!("{name} = {value}"))
                });
                format!("{condition}, where {}", values.collect::<Vec<_>>().join(", "))
            }
            Self::TorchState(state) => format!("torch state: {}", state.difference(py)),
            Self::Truth(register, _) | Self::Is(register, _) => {
                format!("{condition}, found {}", found(*register))
            }
            _ => format!("not true: {condition}"),
        }
    }

    /// The condition in words.
    pub(crate) fn describe(&self, py: Python<'_>, sources: &[String]) -> String {
        let name = |register: &Register| sources[*register].as_str();
        let list = |members: &[Register]| members.iter().map(name).collect::<Vec<_>>().join(", ");
        let not = |present: bool| if present { "" } else { "not " };
        match self {
            Self::Exists(register) => format!("{} can be fetched", name(register)),
            Self::Type(register, class) => format!("type({}) is {}", name(register), class.describe(py)),
            Self::Is(register, object) => format!("{} is {}", name(register), object.describe(py)),
            Self::IsNot(register, object) => format!("{} is not {}", name(register), object.describe(py)),
            Self::Equals(register, constant) => format!("{} == {}", name(register), constant.describe(py)),
            Self::Truth(register, expected) => {
                format!("bool({}) is {}", name(register), if *expected { "True" } else { "False" })
            }
            Self::Length(register, expected) => format!("len({}) == {expected}", name(register)),
            Self::DictKeys(register, keys) => {
                let keys: Vec<_> = keys.iter().map(|key| key.describe(py)).collect();
                format!("list({}) == [{}]", name(register), keys.join(", "))
            }
            Self::Contains(register, key, present) | Self::InInstanceDict(register, key, present) => {
                format!("{} {}in {}", short_repr(key.bind(py)), not(*present), name(register))
            }
            Self::HasAttr(register, attribute, present) => {
                format!("{}hasattr({}, {})", not(*present), name(register), short_repr(attribute.bind(py)))
            }
            Self::ClassLacks(register, key) => {
                format!("{} does not define {}", name(register), short_repr(key.bind(py)))
            }
            Self::Tensor(register, tensor) => format!("{}: {}", name(register), tensor.describe(py)),
            Self::DynamicMarks(register, allowed) => {
                format!("dynamic dimensions of {} are among {}", name(register), short_repr(allowed.bind(py)))
            }
            Self::Same(first, second) => format!("{} is {}", name(first), name(second)),
            Self::AllDifferent(members) => format!("all of {} are different objects", list(members)),
            Self::Shape(shape) => {
                let symbols = shape.symbols.iter().map(|(symbol, source)| match source {
                    SymbolSource::Int(register) => format!("{symbol}: {}", name(register)),
                    SymbolSource::Size(register, dim) => format!("{symbol}: {}.size({dim})", name(register)),
                    SymbolSource::Stride(register, dim) => {
                        format!("{symbol}: {}.stride({dim})", name(register))
                    }
                    SymbolSource::Offset(register) => {
                        format!("{symbol}: {}.storage_offset()", name(register))
                    }
                });
                format!("{} ({})", shape.expression.text(), symbols.collect::<Vec<_>>().join(", "))
            }
            Self::Custom { registers, description, .. } => format!("{description} ({})", list(registers)),
            Self::TorchState(_) => "torch's global state is unchanged".into(),
        }
    }
}

impl ShapeCheck {
    /// # Safety
    /// As for [`Check::holds`].
    unsafe fn value(&self, py: Python<'_>, registers: &Registers, index: usize) -> Option<i64> {
        let (register, method, dim) = match self.symbols[index].1 {
            SymbolSource::Int(register) => {
                // SAFETY: a live object whose type is checked before it is read as an int.
                unsafe {
                    let object = registers.get(register);
                    if ffi::PyLong_Check(object) == 0 {
                        return None;
                    }
                    let mut overflow = 0;
                    let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
                    return (overflow == 0).then_some(value);
                }
            }
            SymbolSource::Size(register, dim) => (register, "size", Some(dim)),
            SymbolSource::Stride(register, dim) => (register, "stride", Some(dim)),
            SymbolSource::Offset(register) => (register, "storage_offset", None),
        };
        // SAFETY: a live object; it is read natively only if it is an instance of torch's tensor base class.
        unsafe {
            let object = registers.get(register);
            if let Some(link) = self.link.filter(|link| link.is_tensor(object)) {
                let tensor = link.tensor(object);
                let at =
                    |dim: usize, values: Option<&[i64]>| values.and_then(|values| values.get(dim).copied());
                return match (method, dim) {
                    ("size", Some(dim)) => at(dim, tensor.sizes(tensor.dim()?)),
                    ("stride", Some(dim)) => at(dim, tensor.strides(tensor.dim()?)),
                    _ => tensor.offset(),
                };
            }
            let object = Bound::from_borrowed_ptr(py, object);
            let value = match dim {
                Some(dim) => object.call_method1(method, (dim,)),
                None => object.call_method0(method),
            };
            value.and_then(|value| value.extract()).ok()
        }
    }
}

/// `len(object)`; -1, with no exception set, where that fails.
///
/// # Safety
/// Live objects, GIL held.
#[inline]
unsafe fn length(object: *mut PyObject) -> isize {
    // SAFETY: the exact types of dicts, whose length is that of the table, are checked.
    unsafe {
        let ty = ffi::Py_TYPE(object);
        if ty == &raw mut ffi::PyDict_Type || ty == &raw mut shim::ORDERED_DICT {
            return ffi::PyDict_Size(object);
        }
        let found = ffi::PyObject_Size(object);
        if found < 0 {
            ffi::PyErr_Clear();
        }
        found
    }
}

/// # Safety
/// Live objects, GIL held.
unsafe fn dict_keys_match(dict: *mut PyObject, keys: &[Constant]) -> bool {
    // SAFETY: the type is checked; each key is taken while it is compared, and the cursor stays valid to call with
    // whatever the dict has become since, by PyDict_Next's contract of checking bounds.
    unsafe {
        if ffi::PyDict_Check(dict) == 0 || ffi::PyDict_Size(dict) as usize != keys.len() {
            return false;
        }
        let (mut cursor, mut key, mut value) = (0, ptr::null_mut(), ptr::null_mut());
        for constant in keys {
            if ffi::PyDict_Next(dict, &raw mut cursor, &raw mut key, &raw mut value) == 0 {
                return false;
            }
            ffi::Py_INCREF(key);
            let same = constant.matches(key);
            ffi::Py_DECREF(key);
            if !same {
                return false;
            }
        }
        true
    }
}

/// # Safety
/// Live objects, GIL held.
unsafe fn contains(container: *mut PyObject, key: *mut PyObject) -> Option<bool> {
    // SAFETY: the container's type is checked before its own function is used.
    unsafe {
        let found = if ffi::PyDict_Check(container) != 0 {
            ffi::PyDict_Contains(container, key)
        } else if ffi::PyAnySet_Check(container) != 0 {
            ffi::PySet_Contains(container, key)
        } else {
            return None;
        };
        if found < 0 {
            ffi::PyErr_Clear();
            return None;
        }
        Some(found == 1)
    }
}

/// # Safety
/// Live objects, GIL held.
unsafe fn has_attr(object: *mut PyObject, name: *mut PyObject) -> Option<bool> {
    // SAFETY: the result is owned and dropped at once.
    unsafe {
        let value = ffi::PyObject_GetAttr(object, name);
        if !value.is_null() {
            ffi::Py_DECREF(value);
            return Some(true);
        }
        let missing = ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) != 0;
        ffi::PyErr_Clear();
        missing.then_some(false)
    }
}

/// # Safety
/// Live objects, GIL held.
unsafe fn marks_allowed(py: Python<'_>, tensor: *mut PyObject, allowed: &Py<PyAny>) -> bool {
    // SAFETY: the dict is NULL or alive; the mark is taken while it is compared.
    unsafe {
        let dict = shim::pydynamo_instance_dict(tensor);
        if dict.is_null() {
            return true;
        }
        let dict = Bound::from_borrowed_ptr(py, dict);
        match dict
            .cast::<pyo3::types::PyDict>()
            .map(|dict| dict.get_item(pyo3::intern!(py, "_dynamo_dynamic_indices")))
        {
            Ok(Ok(Some(marks))) => marks.le(allowed.bind(py)).unwrap_or(false),
            Ok(Ok(None)) => true,
            _ => false,
        }
    }
}

const SMALL_TABLE: usize = 256;

fn all_different(registers: &Registers, members: &[Register]) -> bool {
    const QUADRATIC_LIMIT: usize = 16;
    if members.len() <= QUADRATIC_LIMIT {
        return members.iter().enumerate().all(|(index, first)| {
            members[index + 1..].iter().all(|second| registers.get(*first) != registers.get(*second))
        });
    }
    // A table at most half full, with linear probing; objects are aligned to 16 bytes, and 0 marks a free place.
    let mask = (members.len() * 2).next_power_of_two() - 1;
    let mut small = [0; SMALL_TABLE];
    let mut large = Vec::new();
    let table = if mask < SMALL_TABLE {
        &mut small[..]
    } else {
        large.resize(mask + 1, 0);
        &mut large[..]
    };
    members.iter().all(|register| {
        let pointer = registers.get(*register) as usize;
        let mut place = (pointer >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 & mask;
        while table[place] != 0 {
            if table[place] == pointer {
                return false;
            }
            place = (place + 1) & mask;
        }
        table[place] = pointer;
        true
    })
}
