//! Instructions that are not ours but look like them (torch's dataclass, say): read through Python, lowered as copies.
use crate::entry::InstructionExnTabEntry;
use crate::errors;
use crate::instruction::Instruction;
use pydynamo_assembler::ErrorKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

/// A list and what is lowered in its place.
pub struct Converted<'py> {
    /// The objects of the list.
    pub items: Vec<Bound<'py, PyAny>>,
    /// Instructions of our own, one for each.
    pub rows: Vec<Bound<'py, PyAny>>,
}

/// Reads a list that holds foreign instructions.
///
/// # Errors
/// `TypeError` for objects that are no instructions, and whatever reading them raises.
pub fn convert<'py>(list: &Bound<'py, PyList>) -> PyResult<Converted<'py>> {
    let items: Vec<_> = list.iter().collect();
    let mut rows = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        rows.push(if Instruction::check(item.as_ptr()) { item.clone() } else { copy(item, i)? });
    }
    Ok(Converted { items, rows })
}

fn copy<'py>(item: &Bound<'py, PyAny>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    let py = item.py();
    let Ok(opname) = item.getattr("opname") else {
        return Err(PyTypeError::new_err(format!(
            "item {index} of the list is no Instruction but {}",
            item.get_type().name()?
        )));
    };
    let opcode: u32 = item.getattr("opcode")?.extract()?;
    let known = crate::state::state().tables.by_name(&opname.extract::<String>()?);
    if known.map(u32::from) != Some(opcode) {
        let reason = format!("item {index}: {opname} is not opcode {opcode} in this version");
        return Err(errors::bytecode_error(py, ErrorKind::UnknownOpcode, reason));
    }
    let kwargs = PyDict::new(py);
    kwargs.set_item("opcode", opcode)?;
    kwargs.set_item("opname", opname)?;
    for name in ["arg", "argval", "positions", "target", "exn_tab_entry"] {
        let mut value = item.getattr(name)?;
        if name == "argval" && is_sentinel(&value)? {
            value = crate::instruction::sentinel(py);
        }
        kwargs.set_item(name, value)?;
    }
    crate::instruction::class(py).call((), Some(&kwargs))
}

/// Whether `value` is some other library's `_NotProvided`.
fn is_sentinel(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = value.cast::<PyType>().cloned().unwrap_or_else(|_| value.get_type());
    Ok(class.name()?.to_str()? == "_NotProvided")
}

/// Our copy of a foreign exception table entry.
///
/// # Errors
/// `TypeError` if it does not look like one.
pub fn entry<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, InstructionExnTabEntry>> {
    let field = |name: &str| object.getattr(name).map(Bound::unbind);
    let depth = object.getattr("depth")?.extract()?;
    let lasti = object.getattr("lasti")?.is_truthy()?;
    let mut entry = InstructionExnTabEntry::disassembled(depth, None, lasti);
    entry.set_ends(field("start")?, field("end")?, field("target")?);
    Bound::new(object.py(), entry)
}
