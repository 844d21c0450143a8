//! Functions that run other code in a function's surroundings: same globals, closure, defaults and names.
use pyo3::prelude::*;
use pyo3::types::PyCode;

/// A function of `code` with everything else like `original`, which must be a Python function with as many free variables.
pub(crate) fn twin<'py>(
    original: &Bound<'py, PyAny>,
    code: &Bound<'py, PyCode>,
) -> PyResult<Bound<'py, PyAny>> {
    let get = |name: &str| original.getattr(name);
    let (globals, name, defaults) = (get("__globals__")?, get("__name__")?, get("__defaults__")?);
    let function = original.get_type().call1((code, globals, name, defaults, get("__closure__")?))?;
    for name in ["__kwdefaults__", "__qualname__", "__module__"] {
        function.setattr(name, get(name)?)?;
    }
    Ok(function)
}
