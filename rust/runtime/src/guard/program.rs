//! Finished guard programs and the loop that runs them.
use super::check::{Check, Register};
use super::constant::{Constant, Held};
use super::fetch::Fetch;
use crate::bind::{Call, bind};
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use pyo3::ffi::{self, PyObject};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple};
use std::ptr;

/// One operation.
pub(crate) enum Op {
    /// Puts a value into the next register.
    Fetch(Register, Fetch),
    Check(Check),
}

/// A program: first registers are arguments, the others are filled by the fetches in their order.
pub(crate) struct Program {
    pub shape: CodeShape,
    /// The code object it was made for.
    pub code: Held,
    /// Argument slots of the first registers.
    pub local_slots: Box<[usize]>,
    pub ops: Box<[Op]>,
    /// The text of each register's value.
    pub sources: Box<[String]>,
}

/// What a program runs over: the bound arguments by slot, and the function.
#[derive(Clone, Copy)]
pub(crate) struct Inputs {
    pub slots: *const *mut PyObject,
    pub slot_count: usize,
    pub function: *mut PyObject,
}

/// The values of a run. Arguments are borrowed from the call, fetched values are owned.
pub(crate) struct Registers {
    inline: [*mut PyObject; INLINE],
    spilled: Vec<*mut PyObject>,
    borrowed: usize,
    used: usize,
}

const INLINE: usize = 48;

impl Registers {
    fn new(count: usize) -> Self {
        let spilled = if count > INLINE { vec![ptr::null_mut(); count] } else { Vec::new() };
        Self { inline: [ptr::null_mut(); INLINE], spilled, borrowed: 0, used: 0 }
    }

    fn slots(&self) -> &[*mut PyObject] {
        if self.spilled.is_empty() { &self.inline } else { &self.spilled }
    }

    #[inline]
    fn push(&mut self, object: *mut PyObject) {
        let used = self.used;
        if self.spilled.is_empty() {
            self.inline[used] = object;
        } else {
            self.spilled[used] = object;
        }
        self.used += 1;
    }

    #[inline]
    pub(crate) fn get(&self, register: Register) -> *mut PyObject {
        self.slots()[register]
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        for &object in &self.slots()[self.borrowed..self.used] {
            // SAFETY: fetched values are owned references; the GIL is held while a program runs.
            unsafe { ffi::Py_DECREF(object) };
        }
    }
}

impl Program {
    /// Runs the program; `failed` sees the operation that did not hold and the registers so far.
    ///
    /// # Safety
    /// `inputs` must hold live objects, `function` be a live function object, and the GIL held.
    #[inline]
    pub(crate) unsafe fn run<R>(
        &self,
        py: Python<'_>,
        inputs: Inputs,
        failed: impl FnOnce(&Op, &Registers) -> R,
    ) -> Result<(), Option<R>> {
        if inputs.slot_count < self.shape.slot_count() {
            return Err(None);
        }
        let mut registers = Registers::new(self.sources.len());
        for &slot in &self.local_slots {
            // SAFETY: slots of the program are below its shape's slot count, checked above.
            registers.push(unsafe { *inputs.slots.add(slot) });
        }
        registers.borrowed = registers.used;
        for op in &self.ops {
            // SAFETY: live objects by the caller's word; fetched ones are owned by `registers`.
            let holds = unsafe {
                match op {
                    Op::Fetch(parent, fetch) => {
                        let parent =
                            if *parent == NO_PARENT { ptr::null_mut() } else { registers.get(*parent) };
                        let value = fetch.run(py, parent, &registers, inputs.function);
                        if !value.is_null() {
                            registers.push(value);
                        }
                        !value.is_null()
                    }
                    Op::Check(check) => check.holds(py, &registers),
                }
            };
            if !holds {
                return Err(Some(failed(op, &registers)));
            }
        }
        Ok(())
    }

    /// Whether the call passes.
    ///
    /// # Safety
    /// As for [`Program::run`].
    #[inline]
    pub(crate) unsafe fn passes(&self, py: Python<'_>, inputs: Inputs) -> bool {
        // SAFETY: by the caller's word.
        unsafe { self.run(py, inputs, |_, _| ()).is_ok() }
    }

    /// Whether a guard names an object that no longer exists, so that the program can never pass.
    pub(crate) fn refers_to_the_dead(&self, py: Python<'_>) -> bool {
        !self.code.is_alive(py)
            || self.ops.iter().any(|op| match op {
                Op::Check(Check::Is(_, held) | Check::Type(_, held))
                | Op::Fetch(_, Fetch::Constant(held)) => !held.is_alive(py),
                _ => false,
            })
    }

    /// Whether it was made for this code object.
    ///
    /// # Safety
    /// `code` must be alive and the GIL held.
    #[inline]
    pub(crate) unsafe fn is_for(&self, code: *mut PyObject) -> bool {
        // SAFETY: by the caller's word.
        unsafe { self.code.is(code) }
    }

    /// Why the call does not pass; None if it does.
    ///
    /// # Safety
    /// As for [`Program::run`].
    pub(crate) unsafe fn reason(&self, py: Python<'_>, inputs: Inputs) -> Option<String> {
        let explain = |op: &Op, registers: &Registers| match op {
            Op::Check(check) => check.explain(py, registers, &self.sources),
            Op::Fetch(..) => format!("{}: cannot be fetched", self.sources[registers.used]),
        };
        // SAFETY: by the caller's word.
        let text = match unsafe { self.run(py, inputs, explain) } {
            Ok(()) => return None,
            Err(Some(text)) => text,
            Err(None) => "the function's parameters changed".into(),
        };
        Some(format!("{}: {text}", self.shape.name))
    }
}

/// The parent of fetches that start a path.
pub(crate) const NO_PARENT: Register = usize::MAX;

/// The Python face of a [`Program`].
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct GuardProgram(pub(crate) Program);

#[pymethods]
impl GuardProgram {
    #[pyo3(signature = (function, args=None, kwargs=None))]
    fn check(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyTuple>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        // SAFETY: `with_inputs` gives live inputs.
        with_inputs(py, function, args, kwargs, |inputs| unsafe { self.0.passes(py, inputs) })
    }

    #[pyo3(signature = (function, args=None, kwargs=None))]
    fn check_verbose(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyTuple>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<String>> {
        // SAFETY: `with_inputs` gives live inputs.
        with_inputs(py, function, args, kwargs, |inputs| unsafe { self.0.reason(py, inputs) })
    }

    fn describe(&self, py: Python<'_>) -> Vec<String> {
        let checks = self.0.ops.iter().filter_map(|op| match op {
            Op::Check(check) => Some(check.describe(py, &self.0.sources)),
            Op::Fetch(..) => None,
        });
        checks.collect()
    }

    fn __len__(&self) -> usize {
        self.0.ops.iter().filter(|op| matches!(op, Op::Check(_))).count()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The wrapped program has this owner only, so its references are this object's.
        for op in &self.0.ops {
            match op {
                Op::Check(Check::Custom { function, .. }) | Op::Fetch(_, Fetch::Derived(function)) => {
                    visit.call(function)?;
                }
                Op::Check(Check::Is(_, Held::Strong(object)) | Check::Equals(_, Constant::Other(object)))
                | Op::Fetch(_, Fetch::Constant(Held::Strong(object))) => visit.call(object)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<GuardProgram of {}: {} conditions>", self.0.shape.name, self.__len__())
    }
}

/// Binds a call given as a tuple and a dict, and hands the inputs to `run`.
pub(crate) fn with_inputs<R>(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    args: Option<&Bound<'_, PyTuple>>,
    kwargs: Option<&Bound<'_, PyDict>>,
    run: impl FnOnce(Inputs) -> R,
) -> PyResult<R> {
    let Ok(function) = function.cast::<PyFunction>() else {
        return Err(pydynamo_error(py, "guards run over calls of a Python function"));
    };
    let code = function.getattr("__code__")?;
    let shape = CodeShape::of(code.cast()?)?;
    let mut arguments: Vec<_> = args.iter().flat_map(|args| args.iter()).collect();
    let nargs = arguments.len();
    let mut names = Vec::new();
    for (name, value) in kwargs.iter().flat_map(|kwargs| kwargs.iter()) {
        names.push(name.cast_into::<PyString>()?);
        arguments.push(value);
    }
    let kwnames = PyTuple::new(py, names)?;
    let pointers: Vec<_> = arguments.iter().map(Bound::as_ptr).collect();
    let call = Call { args: pointers.as_ptr(), nargs, kwnames: kwnames.as_ptr() };
    // SAFETY: a function object with its own code's shape, and a vectorcall over objects that `arguments` keeps alive.
    let Some(bound) = (unsafe { bind(&shape, function.as_ptr(), call) }) else {
        return Err(pydynamo_error(
            py,
            format!("these arguments do not fit the parameters of {}", shape.name),
        ));
    };
    let inputs =
        Inputs { slots: bound.slots.as_ptr(), slot_count: bound.slots.len(), function: function.as_ptr() };
    Ok(run(inputs))
}
