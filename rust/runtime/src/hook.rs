//! The eval-frame hook seen from Rust: installing it once it has proved itself, and what it calls upward.
use crate::bind::RebuiltCall;
use crate::code_shape::CodeShape;
use crate::errors::pydynamo_error;
use crate::intercept;
use crate::shim::{self, HookCalls, Probe};
use crate::twin::twin;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyDict, PyTuple};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// None once the hook has passed its self-test, else why there is none.
static VERDICT: PyOnceLock<Option<String>> = PyOnceLock::new();

thread_local! {
    /// Whether this thread is running the self-test, which opens regions itself.
    static EXAMINING: Cell<bool> = const { Cell::new(false) };
}

/// Fails with one clear message where the hook cannot be used.
pub(crate) fn require(py: Python<'_>) -> PyResult<()> {
    if EXAMINING.get() {
        return Ok(());
    }
    match verdict(py)? {
        None => Ok(()),
        Some(why) => Err(pydynamo_error(py, format!("the eval-frame hook cannot be installed: {why}"))),
    }
}

/// Why there is no hook in this process; None if there is.
pub(crate) fn verdict(py: Python<'_>) -> PyResult<Option<String>> {
    if let Some(verdict) = VERDICT.get(py) {
        return Ok(verdict.clone());
    }
    EXAMINING.set(true);
    let verdict = examine(py);
    EXAMINING.set(false);
    let verdict = verdict?;
    Ok(VERDICT.get_or_init(py, || verdict).clone())
}

const SELF_TEST: &CStr = c"
import sys

def retired():
    return None

def before(a, b, *rest, k=None, **more):
    return 'before'

def after(a, b, *rest, k=None, **more):
    listed = [a, b, k]
    def inner():
        return rest, more, listed
    try:
        1 / 0
    except ZeroDivisionError as error:
        kind = type(error)
    return inner(), kind

def failing(a, b, *rest, k=None, **more):
    local = a
    raise KeyError(local)

def counted(*values):
    return [sys.getrefcount(value) for value in values]

def run(watch):
    a, b, k = object(), object(), object()
    counts = counted(a, b, k, after.__code__, before.__code__)
    def swap(new):
        return lambda code, call: new.__code__ if code is before.__code__ else None
    with watch(swap(after)):
        got = before(a, b, 1, k=k, z=2)
    if got != (((1,), {'z': 2}, [a, b, k]), ZeroDivisionError):
        return 'a retargeted frame gave a wrong result'
    del got
    try:
        with watch(swap(failing)):
            before(a, b, k=k)
        return 'a retargeted frame lost an exception'
    except KeyError as error:
        if error.args != (a,):
            return 'a retargeted frame gave a wrong exception'
    if before(a, b) != 'before':
        return 'the hook stayed after its region'
    if counted(a, b, k, after.__code__, before.__code__) != counts:
        return 'a retargeted frame leaked a reference'
    return None
";

/// Looks at a known frame, then swaps the code of a few.
fn examine(py: Python<'_>) -> PyResult<Option<String>> {
    // SAFETY: gives NULL or a static text.
    let unavailable = unsafe { shim::pydynamo_hook_unavailable() };
    if !unavailable.is_null() {
        // SAFETY: a static, NUL-terminated text.
        return Ok(Some(unsafe { CStr::from_ptr(unavailable) }.to_string_lossy().into_owned()));
    }
    let names = PyDict::new(py);
    names.set_item("__name__", "pydynamo._self_test")?;
    names.set_item("__builtins__", py.import("builtins")?)?;
    py.run(SELF_TEST, Some(&names), None)?;
    let get = |name: &str| {
        names.get_item(name)?.ok_or_else(|| pydynamo_error(py, "the eval-frame hook's self-test is damaged"))
    };
    let retired = get("retired")?.getattr("__code__")?;
    let calls = HookCalls { decide, rebuild, report_mismatch };
    // SAFETY: a live struct, copied, and a live code object; done before any region is opened.
    unsafe { shim::pydynamo_hook_configure(&raw const calls, retired.as_ptr()) };

    let before = get("before")?;
    if !layout_agrees(py, &before, &names)? {
        return Ok(Some("the interpreter's frames are not laid out as its headers say".into()));
    }
    let watch = py.get_type::<intercept::Interception>();
    get("run")?.call1((watch,))?.extract()
}

/// Compares the frame of one known call with what is known about it, changing nothing.
fn layout_agrees(py: Python<'_>, function: &Bound<'_, PyAny>, names: &Bound<'_, PyDict>) -> PyResult<bool> {
    let object = || py.get_type::<PyAny>().call0();
    let (a, b, k) = (object()?, object()?, object()?);
    let code = function.getattr("__code__")?;
    let known = [a.as_ptr(), b.as_ptr(), k.as_ptr()];
    let probe = Probe {
        code: code.as_ptr(),
        function: function.as_ptr(),
        globals: names.as_ptr(),
        args: known.as_ptr(),
        nargs: known.len() as c_int,
    };
    let keywords = PyDict::new(py);
    keywords.set_item("k", &k)?;
    // SAFETY: the region is closed and the probe taken back before what they refer to goes away.
    unsafe {
        shim::pydynamo_hook_open_region();
        shim::pydynamo_hook_set_probe(&raw const probe);
        let result = function.call((&a, &b), Some(&keywords));
        shim::pydynamo_hook_set_probe(ptr::null());
        shim::pydynamo_hook_close_region();
        result?;
        Ok(shim::pydynamo_hook_probe_result() == 1)
    }
}

/// Runs a function that the hook calls: a panic becomes an exception, and an exception NULL.
fn upward(py: Python<'_>, run: impl FnOnce() -> PyResult<*mut PyObject>) -> *mut PyObject {
    let result = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(pydynamo_error(py, "internal error in the eval-frame hook")));
    result.unwrap_or_else(|error| {
        error.restore(py);
        ptr::null_mut()
    })
}

unsafe extern "C" fn decide(
    code: *mut PyObject,
    function: *mut PyObject,
    args: *const *mut PyObject,
    nargs: c_int,
) -> *mut PyObject {
    // SAFETY: the hook calls this with the GIL held and live objects, borrowed for the call.
    unsafe {
        let py = Python::assume_attached();
        let call = intercept::View { code, function, args, nargs: nargs as usize };
        upward(py, || intercept::decide(py, &call).map(|code| code.map_or(ptr::null_mut(), Bound::into_ptr)))
    }
}

unsafe extern "C" fn rebuild(
    code: *mut PyObject,
    function: *mut PyObject,
    args: *const *mut PyObject,
    nargs: c_int,
) -> *mut PyObject {
    // SAFETY: as for `decide`; the hook has checked that the code has as many argument slots as there are arguments.
    unsafe {
        let py = Python::assume_attached();
        upward(py, || {
            let code = Bound::from_borrowed_ptr(py, code).cast_into::<PyCode>()?;
            let function = twin(&Bound::from_borrowed_ptr(py, function), &code)?;
            let slots = std::slice::from_raw_parts(args, nargs as usize);
            let Some(rebuilt) = RebuiltCall::new(&CodeShape::of(&code)?, slots) else {
                return Ok(ptr::null_mut());
            };
            let call = rebuilt.call();
            Ok(ffi::PyObject_Vectorcall(function.as_ptr(), call.args, call.nargs, call.kwnames))
        })
    }
}

unsafe extern "C" fn report_mismatch(code: *mut PyObject, replacement: *mut PyObject, why: *const c_char) {
    // SAFETY: the hook calls this with the GIL held, two live code objects and a static text.
    unsafe {
        let py = Python::assume_attached();
        upward(py, || {
            let name = |code| -> PyResult<String> {
                Bound::from_borrowed_ptr(py, code).getattr("co_qualname")?.extract()
            };
            let why = CStr::from_ptr(why).to_string_lossy();
            let (its, mine) = (name(replacement)?, name(code)?);
            Err(pydynamo_error(py, format!("code of {its} cannot replace code of {mine}: {why}")))
        });
    }
}

/// While it lives, frames of this thread are not offered to anyone.
pub(crate) struct Suspended(());

impl Suspended {
    pub(crate) fn new(_: Python<'_>) -> Self {
        // SAFETY: a counter of this thread.
        unsafe { shim::pydynamo_hook_suspend() };
        Self(())
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        // SAFETY: as above; the value does not leave the thread that made it.
        unsafe { shim::pydynamo_hook_resume() };
    }
}

/// Why the eval-frame hook cannot be used in this process, or None: see `pydynamo.eval_frame`.
#[pyfunction]
pub(crate) fn hook_unavailable(py: Python<'_>) -> PyResult<Option<String>> {
    verdict(py)
}

/// How many frames were retargeted in place, and how many run as new calls for lack of room.
#[pyfunction]
pub(crate) fn hook_statistics(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let (mut retargeted, mut rebuilt) = (0, 0);
    // SAFETY: two live numbers.
    unsafe { shim::pydynamo_hook_statistics(&raw mut retargeted, &raw mut rebuilt) };
    let result = PyDict::new(py);
    result.set_item("retargeted", retargeted)?;
    result.set_item("rebuilt", rebuilt)?;
    Ok(result)
}

/// See `SuspendedCall` in `_core.pyi`.
#[pyclass(frozen, module = "pydynamo._core")]
pub(crate) struct SuspendedCall(Py<PyAny>);

#[pymethods]
impl SuspendedCall {
    #[new]
    fn new(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        if function.is_callable() {
            Ok(Self(function.clone().unbind()))
        } else {
            Err(pydynamo_error(function.py(), "SuspendedCall needs a callable"))
        }
    }

    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.clone_ref(py)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _suspended = Suspended::new(py);
        self.0.bind(py).call(args, kwargs)
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.0)
    }
}
