//! torch's own eval-frame hook, put aside while this package's Python code runs: it would trace the compiler itself.
use pyo3::prelude::*;

/// Puts torch's hook back when it goes.
pub(crate) struct TorchHookAside<'py> {
    set_eval_frame: Bound<'py, PyAny>,
    callback: Bound<'py, PyAny>,
}

impl<'py> TorchHookAside<'py> {
    /// None where there is nothing to put aside: torch is not imported, or its hook is off.
    pub(crate) fn new(py: Python<'py>) -> Option<Self> {
        let modules = py.import("sys").ok()?.getattr("modules").ok()?;
        let module = modules.get_item("torch._C._dynamo.eval_frame").ok()?;
        let set_eval_frame = module.getattr("set_eval_frame").ok()?;
        let callback = set_eval_frame.call1((py.None(),)).ok()?;
        (!callback.is_none()).then_some(Self { set_eval_frame, callback })
    }
}

impl Drop for TorchHookAside<'_> {
    fn drop(&mut self) {
        // The callback is one that torch gave out itself, so that it cannot be refused.
        let _ = self.set_eval_frame.call1((&self.callback,));
    }
}
