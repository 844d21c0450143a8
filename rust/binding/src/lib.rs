//! `pydynamo._core`: a thin binding. Passes live in `pydynamo-assembler`, the frontend's runtime in `pydynamo-runtime`.
use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pydynamo_runtime::register(module)
}
