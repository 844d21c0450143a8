//! `pydynamo._core`: a thin binding. Passes live in `pydynamo-assembler`, the frontend's runtime in `pydynamo-runtime`.
//!
//! | module | owns |
//! |---|---|
//! | `capi`, `layout`, `state` | the running interpreter: C API, layout of code objects, its opcodes |
//! | `instruction`, `entry` | the objects that Python edits |
//! | `list` | program → list of instructions |
//! | `lower`, `regions`, `pools`, `names`, `nesting`, `pairs`, `foreign` | list of instructions → program and pools |
//! | `spec`, `spare` | all of a code object but its instructions; how CPython is given those |
//! | `pipeline` | program → verified code object |
//! | `native` | transformations that never leave the core |
//! | `api`, `errors` | what Python calls, and what it gets when that fails |
#![allow(missing_docs)]
mod api;
mod capi;
mod consts;
mod entry;
mod errors;
mod foreign;
mod instruction;
mod layout;
mod list;
mod locals;
mod lower;
mod names;
mod native;
mod nesting;
mod pairs;
mod pipeline;
mod pools;
mod regions;
mod spare;
mod spec;
mod state;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    api::register(module)?;
    native::register(module)?;
    pydynamo_runtime::register(module)?;
    // A list of everything, private names included, says nothing; the stub is where one looks.
    module.delattr("__all__")
}
