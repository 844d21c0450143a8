//! Transformations that run in the core from end to end: no Python object is made for an instruction.
use crate::api::{take_apart, with_program};
use crate::layout::CodeView;
use crate::pipeline;
use crate::spec::Spec;
use crate::state::state;
use pydynamo_assembler::churn::{self, Random};
use pydynamo_assembler::code::{Options, Program};
use pydynamo_assembler::instrument::{self, Site};
use pydynamo_assembler::sweep;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Takes `code` apart, lets `edit` change the program and add constants behind the old ones, and puts it together again.
fn transform<'py>(
    code: &Bound<'py, PyAny>,
    verify: bool,
    edit: impl FnOnce(&mut Program, &Spec<'py>) -> PyResult<Vec<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let view = CodeView::new(code)?;
    with_program(|program| {
        take_apart(&view, program)?;
        pipeline::anchor_regions(program);
        let spec = Spec::of_code(&view);
        let added = edit(program, &spec)?;
        let consts = if added.is_empty() {
            spec.consts.clone()
        } else {
            PyTuple::new(py, spec.consts.iter().chain(added).collect::<Vec<_>>())?
        };
        let options = Options { verify, original: Some(view.raw()) };
        pipeline::assemble(py, &spec, &consts, &spec.names, &spec.locals(), program, options, None)
            .map_err(|failure| failure.into_exception(py, None))
    })
}

fn probe<'py>(
    code: &Bound<'py, PyAny>,
    callable: &Bound<'py, PyAny>,
    site: Site,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !callable.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "the probe must be callable with one int, {} is not",
            callable.get_type().name()?
        )));
    }
    transform(code, verify, |program, spec| {
        let first = spec.consts.len() as u32;
        let arguments = instrument::instrument(state().version, program, site, first, first + 1);
        let mut added = vec![callable.clone()];
        for argument in arguments {
            added.push(argument.into_pyobject(code.py())?.into_any());
        }
        Ok(added)
    })
}

/// A code object that calls `callable(line)` whenever it comes to another source line.
///
/// Raises `TypeError` if `callable` is not callable, `BytecodeError` for a code object that is damaged.
#[pyfunction]
#[pyo3(signature = (code, callable, /, *, verify = true))]
fn instrument_lines<'py>(
    code: &Bound<'py, PyAny>,
    callable: &Bound<'py, PyAny>,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    probe(code, callable, Site::Line, verify)
}

/// A code object that calls `callable(number)` whenever it comes to a basic block; blocks are counted from 0.
///
/// Raises `TypeError` if `callable` is not callable, `BytecodeError` for a code object that is damaged.
#[pyfunction]
#[pyo3(signature = (code, callable, /, *, verify = true))]
fn instrument_blocks<'py>(
    code: &Bound<'py, PyAny>,
    callable: &Bound<'py, PyAny>,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    probe(code, callable, Site::Block, verify)
}

/// A code object that does the same but looks different: NOPs strewn in, blocks laid out in another order. For tests of
/// whatever reads or runs bytecode.
///
/// Before about every `every`-th instruction up to `nops` NOPs are put (0: none); about every `cut`-th instruction begins
/// a piece that may be moved (0: none moves). The same `seed` gives the same result.
#[pyfunction]
#[pyo3(signature = (code, /, seed, *, nops = 3, every = 4, cut = 8, verify = true))]
fn shuffled<'py>(
    code: &Bound<'py, PyAny>,
    seed: u64,
    nops: u32,
    every: u32,
    cut: u32,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if every == 0 {
        return Err(PyValueError::new_err("every must be at least 1"));
    }
    transform(code, verify, |program, _| {
        let mut random = Random::new(seed);
        if nops > 0 {
            churn::insert_nops(state().version, program, &mut random, every, nops);
        }
        if cut > 0 {
            churn::permute_blocks(state().version, program, &mut random, cut);
        }
        Ok(Vec::new())
    })
}

/// A code object without what it does not need: code that control cannot reach, jumps to the next instruction and, if
/// asked for, stores to locals that nobody reads (which debuggers, `locals()` and finalizers may notice).
#[pyfunction]
#[pyo3(signature = (code, /, *, unreachable = true, pointless_jumps = true, dead_stores = false, verify = true))]
#[allow(clippy::fn_params_excessive_bools)] // keywords in Python
fn swept<'py>(
    code: &Bound<'py, PyAny>,
    unreachable: bool,
    pointless_jumps: bool,
    dead_stores: bool,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    transform(code, verify, |program, spec| {
        let version = state().version;
        if unreachable {
            sweep::remove_unreachable(version, program);
        }
        if dead_stores {
            sweep::remove_dead_stores(version, program, spec.locals().names.len());
        }
        if pointless_jumps {
            sweep::remove_pointless_jumps(version, program);
        }
        Ok(Vec::new())
    })
}

/// Adds the functions to the module.
///
/// # Errors
/// Whatever Python raises while they are added.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(instrument_lines, module)?)?;
    module.add_function(wrap_pyfunction!(instrument_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(shuffled, module)?)?;
    module.add_function(wrap_pyfunction!(swept, module)?)
}
