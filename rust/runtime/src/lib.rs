//! The frontend's native runtime. [`register`] adds its classes and functions to the extension module.
mod bind;
mod cache;
mod code_shape;
mod dispatch;
mod errors;
mod graph_call;
mod guard;
mod hand_over;
mod hook;
mod intercept;
mod shim;
mod torch_hook;
mod twin;
mod wrapper;

use pyo3::prelude::*;

/// Adds everything this crate offers to `pydynamo._core`.
///
/// # Errors
/// Whatever Python raises while the names are added.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<guard::GuardBuilder>()?;
    module.add_class::<guard::GuardProgram>()?;
    module.add_class::<cache::CacheEntry>()?;
    module.add_class::<cache::CodeCache>()?;
    module.add("CompiledFunction", wrapper::compiled_function_type(module.py())?)?;
    module.add("CompiledGraph", graph_call::compiled_graph_type(module.py())?)?;
    module.add_class::<intercept::Interception>()?;
    module.add_class::<intercept::FrameCall>()?;
    module.add_class::<hook::SuspendedCall>()?;
    module.add_class::<hand_over::HandOver>()?;
    module.add_function(wrap_pyfunction!(hook::hook_unavailable, module)?)?;
    module.add_function(wrap_pyfunction!(hook::hook_statistics, module)?)?;
    Ok(())
}
