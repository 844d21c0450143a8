//! How a code object takes its arguments, and binding a call to it the way the function itself would.
use crate::errors::pydynamo_error;
use crate::shim::{self, RawCodeShape};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyString, PyTuple};
use std::ffi::c_int;

/// Parameters of a code object, in the order of its local slots.
#[derive(Debug)]
pub(crate) struct CodeShape {
    pub name: String,
    pub raw: RawCodeShape,
    /// Parameter names by slot: positional, keyword-only, then `*args` and `**kwargs` where there are.
    pub parameters: Vec<Py<PyString>>,
    pub free_variables: Vec<Py<PyString>>,
}

impl CodeShape {
    pub(crate) fn of(code: &Bound<'_, PyCode>) -> PyResult<Self> {
        let py = code.py();
        let mut raw = RawCodeShape::default();
        // SAFETY: `code` is a code object; `raw` is a live struct of the layout that the shim fills.
        unsafe { shim::pydynamo_code_shape_of(code.as_ptr(), &raw mut raw) };
        // SAFETY: both calls return new references to tuples, or NULL with an exception set.
        let (varnames, freevars) = unsafe {
            (
                Bound::from_owned_ptr_or_err(py, shim::pydynamo_code_varnames(code.as_ptr()))?,
                Bound::from_owned_ptr_or_err(py, shim::pydynamo_code_freevars(code.as_ptr()))?,
            )
        };
        let name = code.getattr("co_qualname")?.extract::<String>()?;
        let mut shape = Self { name, raw, parameters: Vec::new(), free_variables: Vec::new() };
        for name in varnames.cast::<PyTuple>()?.iter().take(shape.slot_count()) {
            shape.parameters.push(interned(&name)?);
        }
        for name in freevars.cast::<PyTuple>()?.iter() {
            shape.free_variables.push(interned(&name)?);
        }
        Ok(shape)
    }

    pub(crate) fn has_varargs(&self) -> bool {
        self.raw.flags & ffi::CO_VARARGS != 0
    }

    pub(crate) fn has_varkeywords(&self) -> bool {
        self.raw.flags & ffi::CO_VARKEYWORDS != 0
    }

    pub(crate) fn argcount(&self) -> usize {
        self.raw.argcount as usize
    }

    pub(crate) fn named_count(&self) -> usize {
        self.argcount() + self.raw.kwonlyargcount as usize
    }

    /// How many local slots hold arguments when a frame starts.
    pub(crate) fn slot_count(&self) -> usize {
        self.named_count() + usize::from(self.has_varargs()) + usize::from(self.has_varkeywords())
    }

    /// Whether a call with `nargs` positional arguments and no keywords is bound just as it stands.
    pub(crate) fn binds_directly(&self, nargs: usize) -> bool {
        nargs == self.argcount() && self.slot_count() == nargs
    }

    /// Fails, saying why, unless `other` can stand in for this code: same parameters and free variables.
    pub(crate) fn check_replacement(&self, py: Python<'_>, other: &CodeShape) -> PyResult<()> {
        match self.difference(py, other) {
            None => Ok(()),
            Some(what) => Err(pydynamo_error(
                py,
                format!("code of {} cannot replace code of {}: {what}", other.name, self.name),
            )),
        }
    }

    fn difference(&self, py: Python<'_>, other: &CodeShape) -> Option<String> {
        const GENERATOR_FLAGS: c_int = ffi::CO_GENERATOR | ffi::CO_COROUTINE | ffi::CO_ASYNC_GENERATOR;
        const FUNCTION_FLAGS: c_int = ffi::CO_OPTIMIZED | ffi::CO_NEWLOCALS;
        let numbers =
            |shape: &CodeShape| (shape.raw.posonlyargcount, shape.raw.argcount, shape.raw.kwonlyargcount);
        if numbers(self) != numbers(other) {
            return Some(format!(
                "it has (positional-only, positional, keyword-only) = {:?} parameters, {:?} are needed",
                numbers(other),
                numbers(self)
            ));
        }
        if self.has_varargs() != other.has_varargs() || self.has_varkeywords() != other.has_varkeywords() {
            return Some("only one of them takes *args or **kwargs".into());
        }
        if other.raw.flags & FUNCTION_FLAGS != FUNCTION_FLAGS {
            return Some("it is not the code of a function (co_flags lack OPTIMIZED or NEWLOCALS)".into());
        }
        if (self.raw.flags & GENERATOR_FLAGS) != (other.raw.flags & GENERATOR_FLAGS) {
            return Some("only one of them is a generator or coroutine".into());
        }
        let text =
            |names: &[Py<PyString>]| names.iter().map(|name| name.bind(py).to_string()).collect::<Vec<_>>();
        let (mine, its) = (text(&self.free_variables), text(&other.free_variables));
        if mine != its {
            return Some(format!("its free variables are {its:?}, {mine:?} are needed"));
        }
        // Positional-only names and the names of *args and **kwargs are nobody's interface; the others are.
        let first = self.raw.posonlyargcount as usize;
        let last = self.named_count();
        let (mine, its) = (text(&self.parameters[first..last]), text(&other.parameters[first..last]));
        if mine != its {
            return Some(format!("its parameters are {its:?}, {mine:?} are needed"));
        }
        None
    }
}

fn interned(name: &Bound<'_, PyAny>) -> PyResult<Py<PyString>> {
    let mut pointer = name.cast::<PyString>()?.clone().unbind().into_ptr();
    // SAFETY: `pointer` is an owned reference to a str; the call replaces it by an owned reference to its interned twin.
    unsafe {
        ffi::PyUnicode_InternInPlace(&raw mut pointer);
        Ok(Bound::from_owned_ptr(name.py(), pointer).cast_into_unchecked::<PyString>().unbind())
    }
}
