//! The condition "torch's global state is as it was": grad mode, autocast, default dtype, modes and transforms.
use super::torch_link::TorchLink;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ptr;

/// A snapshot of torch's global state.
pub(crate) struct TorchState {
    /// Bound `check` of torch's own `GlobalStateGuard`: grad mode, autocast, default dtype, deterministic algorithms,
    /// allowed reductions, threads, torch function state.
    check: Py<PyAny>,
    guard: Py<PyAny>,
    /// What it leaves out, where that can be read natively.
    native: Option<NativeState>,
    /// The same through Python, where it cannot: (reader, value).
    readers: Vec<(Py<PyAny>, Py<PyAny>)>,
}

#[derive(PartialEq, Eq)]
struct NativeFacts {
    grad: bool,
    inference: bool,
    function_modes: i64,
    dispatch_modes: i64,
    functorch: usize,
}

struct NativeState {
    link: &'static TorchLink,
    facts: NativeFacts,
}

impl NativeFacts {
    fn now(link: &TorchLink) -> Self {
        // SAFETY: static functions of torch that read this thread's state and cannot fail.
        unsafe {
            Self {
                grad: (link.grad_mode)(),
                inference: (link.inference_mode)(),
                function_modes: (link.function_modes)(),
                dispatch_modes: (link.dispatch_modes)(),
                functorch: link.functorch_depth_bytes(),
            }
        }
    }
}

impl TorchState {
    pub(crate) fn now(py: Python<'_>) -> PyResult<Self> {
        let extension = py.import("torch")?.getattr("_C")?;
        let guard = extension.getattr("_dynamo")?.getattr("guards")?.getattr("GlobalStateGuard")?.call0()?;
        let native = TorchLink::get(py).map(|link| NativeState { link, facts: NativeFacts::now(link) });
        let mut readers = Vec::new();
        if native.is_none() {
            for name in
                ["is_inference_mode_enabled", "_len_torch_function_stack", "_len_torch_dispatch_stack"]
            {
                let reader = extension.getattr(name)?;
                let value = reader.call0()?.unbind();
                readers.push((reader.unbind(), value));
            }
        }
        Ok(Self { check: guard.getattr("check")?.unbind(), guard: guard.unbind(), native, readers })
    }

    /// Whether the state is as it was when this was made.
    pub(crate) fn matches(&self, py: Python<'_>) -> bool {
        if self.native.as_ref().is_some_and(|native| NativeFacts::now(native.link) != native.facts) {
            return false;
        }
        // SAFETY: a live bound method, called without arguments; the result is an owned reference or NULL.
        unsafe {
            let result = ffi::PyObject_Vectorcall(self.check.as_ptr(), ptr::null(), 0, ptr::null_mut());
            if !is_true_result(result) {
                return false;
            }
        }
        self.readers.iter().all(|(reader, value)| {
            reader.bind(py).call0().is_ok_and(|now| now.eq(value.bind(py)).unwrap_or(false))
        })
    }

    /// What differs now, in words.
    pub(crate) fn difference(&self, py: Python<'_>) -> String {
        if let Some(native) = &self.native {
            let now = NativeFacts::now(native.link);
            let was = &native.facts;
            if now.grad != was.grad {
                return format!("grad mode is {}, expected {}", python_bool(now.grad), python_bool(was.grad));
            }
            if now.inference != was.inference {
                return format!("inference mode is {}", python_bool(now.inference));
            }
            if now != *was {
                return "the stack of torch function modes, dispatch modes or functorch transforms changed"
                    .into();
            }
        }
        match self.guard.bind(py).call_method0("reason").and_then(|reason| reason.extract::<String>()) {
            Ok(reason) if !reason.trim().is_empty() => format!("changed: {}", reason.trim()),
            _ => "torch's global state changed".into(),
        }
    }
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Whether a call gave True; drops the result, and the exception where there is one.
///
/// # Safety
/// `result` must be an owned reference, or NULL with an exception set; the GIL is held.
pub(crate) unsafe fn is_true_result(result: *mut PyObject) -> bool {
    // SAFETY: by the caller's word.
    unsafe {
        if result.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        let truth = if result == ffi::Py_True() { 1 } else { ffi::PyObject_IsTrue(result) };
        ffi::Py_DECREF(result);
        if truth < 0 {
            ffi::PyErr_Clear();
        }
        truth == 1
    }
}
