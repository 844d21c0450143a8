//! What is looked up once when the module is imported: the running version's tables, interned names, code layout.
use crate::capi::Obj;
use crate::layout::Layout;
use crate::spec::KEYS;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables::{self, OpFlags, Tables};
use pydynamo_assembler::version::Version;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How an operand is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operand {
    /// A number that means itself, or nothing.
    Plain,
    /// An index into `co_consts`.
    Const,
    /// An index into `co_names`, without flag bits.
    Name,
    /// An index into `co_names`, above flag bits.
    NameBits,
    /// An index into localsplus.
    Local,
    /// An index into localsplus, of a cell.
    Cell,
    /// Two indices into localsplus.
    Pair,
    /// A distance to another instruction.
    Jump,
    /// A comparison.
    Compare,
    /// No instruction of a code object.
    Illegal,
}

/// Facts about the running interpreter.
pub struct State {
    /// Its version.
    pub version: Version,
    /// Its opcodes.
    pub tables: &'static Tables,
    /// Where code objects keep their fields.
    pub layout: Layout,
    /// Interned opnames by opcode, owned for ever; NULL where unassigned.
    pub opnames: [Obj; 256],
    /// How each opcode's operand is resolved.
    pub operands: [Operand; 256],
    /// Whether each opcode has an operand.
    pub has_arg: [bool; 256],
    /// How many flag bits stand below each opcode's name index.
    pub name_shifts: [u8; 256],
    /// The `Instruction` type, owned for ever.
    pub instruction_type: *mut ffi::PyTypeObject,
    /// The value of `argval` where none was given, owned for ever.
    pub not_provided: Obj,
    /// [`KEYS`], interned and owned for ever.
    pub keys: [Obj; KEYS.len()],
    /// A dict from each key to None, owned for ever.
    pub options: Obj,
    /// Interned attribute names that `Instruction.__setattr__` handles itself.
    pub str_opname: Obj,
    pub str_target: Obj,
    pub str_exn_tab_entry: Obj,
}

static STATE: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

/// The state.
///
/// # Panics
/// Never once the module is imported: nothing of this crate can be reached before.
pub fn state() -> &'static State {
    // SAFETY: `init` stores a leaked box before any function that calls this is reachable from Python.
    unsafe { STATE.load(Ordering::Relaxed).as_ref() }.expect("pydynamo._core is not initialised")
}

/// Whether `object` is the sentinel `_NotProvided`.
pub fn is_not_provided(object: Obj) -> bool {
    object == state().not_provided
}

fn operand_of(info: &tables::OpInfo) -> Operand {
    let has = |flag| info.has(flag);
    if has(OpFlags::ILLEGAL) {
        Operand::Illegal
    } else if has(OpFlags::JUMP_REL) {
        Operand::Jump
    } else if has(OpFlags::FUSED_PAIR) {
        Operand::Pair
    } else if has(OpFlags::HAS_CONST) {
        Operand::Const
    } else if has(OpFlags::HAS_NAME) {
        if info.name_shift == 0 { Operand::Name } else { Operand::NameBits }
    } else if has(OpFlags::HAS_FREE) || info.op == Op::LOAD_DEREF {
        // `dis.hasfree` of 3.14 leaves out LOAD_DEREF.
        Operand::Cell
    } else if has(OpFlags::HAS_LOCAL) {
        Operand::Local
    } else if has(OpFlags::HAS_COMPARE) {
        Operand::Compare
    } else {
        Operand::Plain
    }
}

fn interned(py: Python<'_>, text: &str) -> Obj {
    pyo3::types::PyString::intern(py, text).unbind().into_ptr()
}

/// Looks everything up. Called once, by the module's initialisation.
///
/// # Errors
/// `ImportError` for an interpreter that is not supported.
pub fn init(py: Python<'_>, not_provided: Obj) -> PyResult<()> {
    if !STATE.load(Ordering::Relaxed).is_null() {
        return Ok(());
    }
    let info = py.version_info();
    let Some(version) = Version::from_release(info.major, info.minor) else {
        return Err(PyImportError::new_err(format!(
            "pydynamo supports CPython 3.11 to 3.15, this is {}.{}",
            info.major, info.minor
        )));
    };
    let tables = tables::get(version);
    check_magic(py, tables)?;
    let layout = Layout::of_interpreter(py, version)?;
    let mut opnames = [ptr::null_mut(); 256];
    let mut operands = [Operand::Illegal; 256];
    for (code, info) in tables.info.iter().enumerate() {
        if !info.name.is_empty() {
            opnames[code] = interned(py, info.name);
        }
        operands[code] = operand_of(info);
    }
    let has_arg = std::array::from_fn(|code| tables.info[code].has(OpFlags::HAS_ARG));
    let name_shifts = std::array::from_fn(|code| tables.info[code].name_shift);
    let instruction_type = crate::instruction::make_type(py)?;
    let keys = KEYS.map(|key| interned(py, key));
    let options = PyDict::new(py);
    for key in keys {
        // SAFETY: interned above.
        options.set_item(unsafe { Borrowed::from_ptr(py, key) }, py.None())?;
    }
    let state = State {
        version,
        tables,
        layout,
        opnames,
        operands,
        has_arg,
        name_shifts,
        instruction_type,
        not_provided,
        keys,
        options: options.unbind().into_ptr(),
        str_opname: interned(py, "opname"),
        str_target: interned(py, "target"),
        str_exn_tab_entry: interned(py, "exn_tab_entry"),
    };
    STATE.store(Box::into_raw(Box::new(state)), Ordering::Relaxed);
    Ok(())
}

/// Pre-releases renumber opcodes: the tables hold for one magic number only.
fn check_magic(py: Python<'_>, tables: &Tables) -> PyResult<()> {
    let magic: Vec<u8> = py.import("_frozen_importlib_external")?.getattr("MAGIC_NUMBER")?.extract()?;
    let found = u16::from_le_bytes([magic[0], magic[1]]);
    if found == tables.magic {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "this interpreter's bytecode has magic number {found}, pydynamo knows {}: use a released CPython",
        tables.magic
    )))
}
