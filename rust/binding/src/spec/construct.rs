//! The last step: CPython's constructor is given a spec and what assembly made, and what it cannot be told is put right.
use super::{Original, Spec, Variables};
use crate::capi::{self, Obj};
use crate::layout::{CodeView, read};
use crate::locals::{FAST_HIDDEN, same_text};
use crate::spare;
use crate::state::state;
use pydynamo_assembler::code::Assembled;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// What assembly makes of a code object.
pub struct Parts<'a, 'py> {
    pub code: &'a [u8],
    pub linetable: Bound<'py, PyAny>,
    pub exceptiontable: Bound<'py, PyAny>,
    pub stacksize: u32,
}

impl<'a, 'py> Parts<'a, 'py> {
    /// Those that were made.
    pub fn of_assembled(py: Python<'py>, assembled: &'a Assembled) -> Self {
        let table = |bytes| PyBytes::new(py, bytes).into_any();
        Self {
            code: &assembled.code,
            linetable: table(&assembled.linetable),
            exceptiontable: table(&assembled.exceptiontable),
            stacksize: assembled.stacksize,
        }
    }

    /// This code, and the tables that a code object has.
    pub fn with_tables_of(view: &CodeView<'py>, code: &'a [u8], stacksize: u32) -> Self {
        let layout = &state().layout;
        // SAFETY: fields of a live code object.
        let table = |offset| unsafe { Bound::from_borrowed_ptr(view.object.py(), view.field(offset)) };
        Self {
            code,
            linetable: table(layout.linetable),
            exceptiontable: table(layout.exceptiontable),
            stacksize,
        }
    }
}

impl<'py> Spec<'py> {
    /// Makes the code object.
    ///
    /// # Errors
    /// What CPython refuses.
    pub fn new_code(
        &self,
        py: Python<'py>,
        parts: &Parts<'_, 'py>,
        consts: &Bound<'py, PyTuple>,
        names: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        spare::with_bytes(py, parts.code, |code| self.of_parts(py, code, parts, consts, names))?
    }

    /// The same. `code`, an exact bytes object, is `parts.code`.
    fn of_parts(
        &self,
        py: Python<'py>,
        code: Obj,
        parts: &Parts<'_, 'py>,
        consts: &Bound<'py, PyTuple>,
        names: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        #[cfg(not(Py_3_13))]
        if let (None, Some(original)) = (&self.variables, self.original) {
            let constructor = capi::CodeConstructor {
                filename: self.filename.as_ptr(),
                name: self.name.as_ptr(),
                qualname: self.qualname.as_ptr(),
                flags: self.flags,
                code,
                firstlineno: self.firstlineno,
                linetable: parts.linetable.as_ptr(),
                consts: consts.as_ptr(),
                names: names.as_ptr(),
                localsplusnames: original.localsplusnames,
                localspluskinds: original.localspluskinds,
                argcount: self.argcount,
                posonlyargcount: self.posonlyargcount,
                kwonlyargcount: self.kwonlyargcount,
                stacksize: parts.stacksize as i32,
                exceptiontable: parts.exceptiontable.as_ptr(),
            };
            // SAFETY: all parts are live objects of the types that a code object has, and they agree with each other as
            // they did in the original.
            return unsafe {
                if capi::_PyCode_Validate(&raw const constructor) < 0 {
                    return Err(PyErr::fetch(py));
                }
                Bound::from_owned_ptr_or_err(py, capi::_PyCode_New(&raw const constructor))
            };
        }
        let own;
        let variables = match (&self.variables, self.original) {
            (Some(variables), _) => variables,
            (None, Some(original)) => {
                // SAFETY: the original outlives the spec.
                own = unsafe { Variables::of_original(py, original)? };
                &own
            }
            (None, None) => return Err(PyValueError::new_err("a code object without variables")),
        };
        // SAFETY: all arguments are live objects of the types that the constructor asks for.
        let object = unsafe {
            Bound::from_owned_ptr_or_err(
                py,
                capi::PyUnstable_Code_NewWithPosOnlyArgs(
                    self.argcount,
                    self.posonlyargcount,
                    self.kwonlyargcount,
                    variables.varnames.len() as i32,
                    parts.stacksize as i32,
                    self.flags,
                    code,
                    consts.as_ptr(),
                    names.as_ptr(),
                    variables.varnames.as_ptr(),
                    variables.freevars.as_ptr(),
                    variables.cellvars.as_ptr(),
                    self.filename.as_ptr(),
                    self.name.as_ptr(),
                    self.qualname.as_ptr(),
                    self.firstlineno,
                    parts.linetable.as_ptr(),
                    parts.exceptiontable.as_ptr(),
                ),
            )?
        };
        self.restore_hidden(&object);
        Ok(object)
    }

    /// Locals of comprehensions that were inlined into a class or a module are hidden from `locals()`. CPython's
    /// constructor cannot be told, so the marks are copied from the original.
    fn restore_hidden(&self, code: &Bound<'py, PyAny>) {
        let Some(Original { localsplusnames: old_names, localspluskinds: old_kinds, .. }) =
            self.original.filter(|original| original.all_kinds & FAST_HIDDEN != 0)
        else {
            return;
        };
        let layout = &state().layout;
        // SAFETY: the fields are tuples of names and bytes of kinds, of code objects that are alive.
        unsafe {
            let old_kinds = capi::bytes_content(old_kinds);
            let (old_names, new_names) = (
                capi::tuple_items(old_names),
                capi::tuple_items(read::<Obj>(code.as_ptr(), layout.localsplusnames)),
            );
            let mut kinds = capi::bytes_content(read::<Obj>(code.as_ptr(), layout.localspluskinds)).to_vec();
            for (i, kind) in kinds.iter_mut().enumerate() {
                let hidden =
                    |j: usize| old_kinds[j] & FAST_HIDDEN != 0 && same_text(old_names[j], new_names[i]);
                let hidden = if i < old_names.len() && same_text(old_names[i], new_names[i]) {
                    hidden(i)
                } else {
                    (0..old_names.len()).any(hidden)
                };
                if hidden {
                    *kind |= FAST_HIDDEN;
                }
            }
            let kinds = PyBytes::new(code.py(), &kinds).into_ptr();
            #[allow(clippy::cast_ptr_alignment)] // the field is a pointer's
            // Nobody else has seen the code object yet, and it owns what stands in this field.
            let field = code.as_ptr().cast::<u8>().add(layout.localspluskinds).cast::<Obj>();
            ffi::Py_DECREF(field.replace(kinds));
        }
    }
}
