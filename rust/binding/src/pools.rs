//! The pools of a code object: constants, names and locals. The tuples of the original stay as they are, as a prefix, so
//! that operands of unedited instructions hold; what is new is appended. Every look-up that is not answered by the
//! instruction's old operand goes through a hash table.
use crate::capi::{self, Obj};
use crate::names::Places;
use crate::nesting::can_be_walked;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PySlice, PyString, PyTuple,
};
use std::collections::HashMap;

/// A tuple that can grow.
struct Grown<'py> {
    base: Bound<'py, PyTuple>,
    added: Vec<Bound<'py, PyAny>>,
}

impl<'py> Grown<'py> {
    fn base_items(&self) -> &[Obj] {
        // SAFETY: `self` owns the tuple.
        unsafe { capi::tuple_items(self.base.as_ptr()) }
    }

    fn push(&mut self, value: Bound<'py, PyAny>) -> u32 {
        self.added.push(value);
        (self.base.len() + self.added.len() - 1) as u32
    }

    fn tuple(&self) -> PyResult<Bound<'py, PyTuple>> {
        if self.added.is_empty() {
            return Ok(self.base.clone());
        }
        let all: Vec<_> = self.base.iter().chain(self.added.iter().cloned()).collect();
        PyTuple::new(self.base.py(), all)
    }
}

/// `co_consts`: by identity first, then by CPython's constant key.
pub struct ConstPool<'py> {
    items: Grown<'py>,
    by_identity: HashMap<usize, u32>,
    by_key: Option<Bound<'py, PyDict>>,
}

impl<'py> ConstPool<'py> {
    /// A pool that begins with these constants.
    pub fn new(base: Bound<'py, PyTuple>) -> Self {
        Self { items: Grown { base, added: Vec::new() }, by_identity: HashMap::new(), by_key: None }
    }

    /// The constants it began with.
    pub fn base(&self) -> &[Obj] {
        self.items.base_items()
    }

    /// Where `value` is, after appending it if it is new. `None`: it cannot be walked.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn index(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<u32>> {
        if self.by_identity.is_empty() {
            self.by_identity = HashMap::with_capacity(self.base().len());
            for (i, item) in self.items.base_items().iter().enumerate() {
                self.by_identity.entry(*item as usize).or_insert(i as u32);
            }
        }
        let identity = value.as_ptr() as usize;
        if let Some(index) = self.by_identity.get(&identity) {
            return Ok(Some(*index));
        }
        if !can_be_walked(value)? {
            return Ok(None);
        }
        let key = key_of(value)?;
        let keys = self.keys(value.py())?;
        let index = if let Some(known) = keys.get_item(&key)? {
            known.extract()?
        } else {
            let index = self.items.push(value.clone());
            keys.set_item(key, index)?;
            index
        };
        // The identity of a merged constant is remembered only while the pool owns the object.
        if index as usize >= self.base().len()
            && self.items.added[index as usize - self.base().len()].is(value)
        {
            self.by_identity.insert(identity, index);
        }
        Ok(Some(index))
    }

    fn keys(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(keys) = &self.by_key {
            return Ok(keys.clone());
        }
        let keys = PyDict::new(py);
        for (i, item) in self.items.base.iter().enumerate() {
            if can_be_walked(&item)? {
                let key = key_of(&item)?;
                if !keys.contains(&key)? {
                    keys.set_item(key, i)?;
                }
            }
        }
        self.by_key = Some(keys.clone());
        Ok(keys)
    }

    /// The finished pool.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn tuple(&self) -> PyResult<Bound<'py, PyTuple>> {
        self.items.tuple()
    }
}

fn identity_key<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let kind = py.get_type::<PyAny>().into_any();
    let address = (value.as_ptr() as usize).into_pyobject(py)?.into_any();
    Ok(PyTuple::new(py, [kind, address])?.into_any())
}

/// A hashable object that is equal for two constants exactly when CPython's compiler would merge them: type and value, the
/// sign of zeros, nested; anything else by identity. So are code objects, too, though the compiler merges equal ones: their hash and
/// their comparison walk all code in them by recursion. The constant can be walked.
fn key_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let kind = value.get_type();
    let with_kind = |mut parts: Vec<Bound<'py, PyAny>>| -> PyResult<Bound<'py, PyAny>> {
        parts.insert(0, kind.clone().into_any());
        Ok(PyTuple::new(py, parts)?.into_any())
    };
    if value.is_none() || value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyString>() {
        return Ok(value.clone());
    }
    if value.is_exact_instance_of::<PyBool>() || value.is_exact_instance_of::<PyBytes>() {
        return with_kind(vec![value.clone()]);
    }
    let sign = |number: f64| PyBool::new(py, number.is_sign_negative()).to_owned().into_any();
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return with_kind(vec![value.clone(), sign(number.value())]);
    }
    if let Ok(number) = value.cast_exact::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return with_kind(vec![value.clone(), sign(number.real()), sign(number.imag())]);
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        return with_kind(tuple.iter().map(|item| key_of(&item)).collect::<PyResult<_>>()?);
    }
    if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
        let parts = set.iter().map(|item| key_of(&item)).collect::<PyResult<Vec<_>>>()?;
        return with_kind(vec![PyFrozenSet::new(py, parts)?.into_any()]);
    }
    if value.is_exact_instance_of::<PySlice>() {
        let part = |name| key_of(&value.getattr(name)?);
        return with_kind(["start", "stop", "step"].into_iter().map(part).collect::<PyResult<_>>()?);
    }
    identity_key(value)
}

/// `co_names`.
pub struct NamePool<'py> {
    items: Grown<'py>,
    places: Option<Places>,
}

impl<'py> NamePool<'py> {
    /// A pool that begins with these names.
    pub fn new(base: Bound<'py, PyTuple>) -> Self {
        Self { items: Grown { base, added: Vec::new() }, places: None }
    }

    /// The names it began with.
    pub fn base(&self) -> &[Obj] {
        self.items.base_items()
    }

    /// Where `name`, an exact `str`, is, after appending it if it is new.
    pub fn index(&mut self, name: &Bound<'py, PyString>) -> u32 {
        let Grown { base, added } = &mut self.items;
        // SAFETY: the pool owns the tuple.
        let base = unsafe { capi::tuple_items(base.as_ptr()) };
        let places = self.places.get_or_insert_with(|| Places::of(base));
        let next = base.len() + added.len();
        let place = places.find_or_add(name.as_ptr(), next as u32, |place| {
            let place = place as usize;
            base.get(place).copied().unwrap_or_else(|| added[place - base.len()].as_ptr())
        });
        if place as usize == next {
            added.push(name.clone().into_any());
        }
        place
    }

    /// The finished pool.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn tuple(&self) -> PyResult<Bound<'py, PyTuple>> {
        self.items.tuple()
    }
}
