//! Where an instruction comes from in the source: `positions` and `starts_line`.
use super::{Flags, Instruction};
use pydynamo_assembler::location::{Location, OptI32};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple, PyType};

type Value<'py> = Bound<'py, PyAny>;

pub fn get_starts_line<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    Ok(match this.loc.line.get() {
        Some(line) if !this.flags.has(Flags::LINE_HIDDEN) => line.into_pyobject(py)?.into_any(),
        _ => py.None().into_bound(py),
    })
}

/// Sets `starts_line`. Another line than that of `positions` replaces them; None only hides the line.
pub fn set_starts_line(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let line = coordinate(value, "starts_line")?;
    this.flags.set(Flags::LINE_HIDDEN, line.is_none());
    if let Some(line) = line
        && this.loc.line.get() != Some(line)
    {
        this.loc = Location::of_line(line);
    }
    Ok(())
}

fn coordinate(value: &Value<'_>, what: &str) -> PyResult<Option<i32>> {
    if value.is_none() {
        return Ok(None);
    }
    if !value.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err(format!(
            "{what} must be an int or None, not {}",
            value.get_type().name()?
        )));
    }
    match value.extract::<i32>() {
        Ok(number) if number != i32::MIN => Ok(Some(number)),
        _ => Err(PyValueError::new_err(format!("{what} must fit in 32 bits"))),
    }
}

pub fn get_positions<'py>(py: Python<'py>, this: &Instruction) -> PyResult<Value<'py>> {
    static POSITIONS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if this.loc == Location::NONE {
        return Ok(py.None().into_bound(py));
    }
    let cls = POSITIONS.import(py, "dis", "Positions")?;
    let loc = this.loc;
    cls.call1((loc.line.get(), loc.end_line.get(), loc.col.get(), loc.end_col.get()))
}

/// Sets `positions` from None, a `dis.Positions`, or any four (line, end line, column, end column).
pub fn set_positions(this: &mut Instruction, value: &Value<'_>) -> PyResult<()> {
    let loc = if value.is_none() { Location::NONE } else { location_of(value)? };
    this.flags.set(Flags::LINE_HIDDEN, false);
    this.loc = loc;
    Ok(())
}

fn location_of(value: &Value<'_>) -> PyResult<Location> {
    let mut parts = [OptI32::NONE; 4];
    let names = ["lineno", "end_lineno", "col_offset", "end_col_offset"];
    for (i, (part, name)) in parts.iter_mut().zip(names).enumerate() {
        let item = if value.is_instance_of::<PyTuple>() { value.get_item(i) } else { value.getattr(name) };
        let item = item.map_err(|_| {
            PyTypeError::new_err(format!(
                "positions must be None, a dis.Positions or a tuple of four, not {value}"
            ))
        })?;
        *part = coordinate(&item, name)?.into();
    }
    let [line, end_line, col, end_col] = parts;
    Ok(Location { line, end_line, col, end_col })
}
