//! From a Python list of instructions to the core's program.
//!
//! One walk stamps each object with its place and makes the records; it runs no Python code, so nothing can change under its
//! hands. A stamp is believed only if the list really has the object at that place, so stale stamps of other lists do no
//! harm; jumps to what has no stamp yet are kept until all have one. Operands that the old `arg` does not answer are kept for
//! another step, which asks the pools.
use crate::capi::{Obj, tuple_items};
use crate::errors::{self, Culprit};
use crate::foreign;
use crate::instruction::{self, Flags, Instruction};
use crate::locals::Locals;
use crate::nesting;
use crate::pairs::{WidePair, split_pairs};
use crate::pools::{ConstPool, NamePool};
use crate::regions::Regions;
use crate::state::{Operand, state};
use pydynamo_assembler::code::Program;
use pydynamo_assembler::inst::{Inst, NO_INDEX};
use pydynamo_assembler::tables::OpFlags;
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{Error, ErrorKind};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::collections::HashMap;

/// What operands refer to.
pub struct Pools<'py> {
    pub consts: ConstPool<'py>,
    pub names: NamePool<'py>,
    pub locals: Locals<'py>,
}

/// An error of the core, or of Python.
pub enum Failure {
    Core(Error),
    Python(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl Failure {
    /// The same failure, its index counted in the list whose item `origin` gives for each record.
    pub fn in_terms_of(mut self, origin: Option<&[u32]>) -> Self {
        if let (Self::Core(error), Some(origin)) = (&mut self, origin) {
            error.index = error.index.and_then(|index| origin.get(index as usize).copied());
        }
        self
    }

    /// The exception to raise; `list` is where its index counts.
    pub fn into_exception(self, py: Python<'_>, list: Option<&Bound<'_, PyList>>) -> PyErr {
        match self {
            Self::Core(error) => errors::raise(py, &error, list.map_or(Culprit::Unknown, Culprit::In)),
            Self::Python(error) => error,
        }
    }
}

type Outcome<T> = Result<T, Failure>;

fn fail<T>(kind: ErrorKind, index: usize, reason: impl Into<String>) -> Outcome<T> {
    Err(Failure::Core(Error::at(kind, index as u32, reason)))
}

/// Where targets are found.
pub struct Places<'a> {
    /// The objects of the list.
    items: &'a [Obj],
    /// Places of those that are not ours.
    foreign: HashMap<usize, u32>,
}

impl Places<'_> {
    /// The place of an instruction in the list.
    #[inline]
    pub fn of(&self, object: Obj) -> Option<u32> {
        let index = if Instruction::check(object) {
            // SAFETY: a live instruction, whose type was just checked.
            unsafe { (*object.cast::<Instruction>()).index }
        } else {
            *self.foreign.get(&(object as usize))?
        };
        (self.items.get(index as usize) == Some(&object)).then_some(index)
    }
}

/// An operand that the pools must answer.
struct Pending<'py> {
    index: u32,
    operand: Operand,
    argval: Bound<'py, PyAny>,
    bits: u32,
}

/// Where the records of a program come from, if that is not one by one from the list.
pub type Origin = Option<Vec<u32>>;

/// Lowers `list` into `program` (whose memory is used again), growing the pools.
///
/// The result says which list item each record stands for, where records were split.
///
/// # Errors
/// Whatever makes the list no program: see the error's kind.
pub fn lower<'py>(
    list: &Bound<'py, PyList>,
    pools: &mut Pools<'py>,
    program: &mut Program,
) -> Outcome<Origin> {
    let py = list.py();
    // SAFETY: the list is alive, and until the last use of `items` no Python code runs that could change it.
    let items: &[Obj] = unsafe {
        let len = ffi::PyList_GET_SIZE(list.as_ptr()) as usize;
        if len == 0 {
            &[]
        } else {
            std::slice::from_raw_parts((*list.as_ptr().cast::<ffi::PyListObject>()).ob_item, len)
        }
    };
    if items.len() >= NO_INDEX as usize / 2 {
        return Err(Error::whole(
            ErrorKind::TooLarge,
            "the list has more instructions than a code object can hold",
        )
        .into());
    }
    let mut pending = Vec::new();
    // SAFETY: pointers to objects; `records` checks that they are instructions before it reads them as such.
    let rows = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<*mut Instruction>(), items.len()) };
    let places = Places { items, foreign: HashMap::new() };
    if !records(py, rows, &places, pools, program, &mut pending)? {
        pending.clear();
        // Foreign instructions are read through Python, so the list is copied first and its copies lowered.
        let copy = foreign::convert(list)?;
        let rows: Vec<*mut Instruction> = copy.rows.iter().map(|row| row.as_ptr().cast()).collect();
        let items: Vec<Obj> = copy.items.iter().map(Bound::as_ptr).collect();
        let mut places = Places { items: &items, foreign: HashMap::new() };
        for (i, item) in items.iter().enumerate() {
            if !Instruction::check(*item) && places.foreign.insert(*item as usize, i as u32).is_some() {
                return fail(
                    ErrorKind::DuplicateInstruction,
                    i,
                    "the instruction stands in the list twice: copy it",
                );
            }
        }
        records(py, &rows, &places, pools, program, &mut pending)?;
    }
    let pairs = settle(pending, pools, program)?;
    if pairs.is_empty() { Ok(None) } else { Ok(Some(split_pairs(program, &pairs))) }
}

/// Makes the records of `rows`, unless one of them is no instruction of ours.
fn records<'py>(
    py: Python<'py>,
    rows: &[*mut Instruction],
    places: &Places<'_>,
    pools: &Pools<'py>,
    program: &mut Program,
    pending: &mut Vec<Pending<'py>>,
) -> Outcome<bool> {
    let state = state();
    let ahead = instruction::ahead(rows.len());
    let mut unplaced = Vec::new();
    program.insts.clear();
    program.insts.reserve(rows.len());
    program.regions.clear();
    let mut regions = Regions::default();
    let (consts, names, locals) = (pools.consts.base(), pools.names.base(), &pools.locals);
    for (i, row) in rows.iter().enumerate() {
        instruction::prefetch_target(places.items.get(i + ahead));
        if !Instruction::check(row.cast()) {
            return Ok(false);
        }
        // SAFETY: a live instruction, kept alive by the list or its copy; no other reference to it exists.
        let inst = unsafe { &mut **row };
        if inst.index != i as u32 {
            // Whichever of two places is met first, the stamp is that of the other.
            if rows.get(inst.index as usize) == Some(row) {
                let (first, other) = (inst.index.min(i as u32), inst.index.max(i as u32));
                let reason = format!("the instruction stands in the list twice, also at {other}: copy it");
                return fail(ErrorKind::DuplicateInstruction, first as usize, reason);
            }
            inst.index = i as u32;
        }
        let inst = &*inst;
        let mut record = Inst::new(inst.opcode, inst.arg);
        record.written = inst.written;
        record.loc = inst.loc;
        // SAFETY: `argval` is a live object.
        let owned = |object: Obj| unsafe { Bound::from_borrowed_ptr(py, object) };
        let operand = state.operands[inst.opcode as usize];
        let known = match operand {
            Operand::Plain => None,
            Operand::Const => Some((consts, 0)),
            Operand::Name => Some((names, 0)),
            Operand::NameBits => Some((names, state.name_shifts[inst.opcode as usize])),
            Operand::Local | Operand::Cell => Some((&locals.names[..], 0)),
            Operand::Jump => {
                let Some(target) = inst.target() else {
                    return fail(
                        ErrorKind::BadTarget,
                        i,
                        "the jump has no target: set target to an instruction of the list",
                    );
                };
                match places.of(target) {
                    Some(place) => record.target = place,
                    None => unplaced.push((i, target)),
                }
                record.arg = 0;
                None
            }
            Operand::Compare => {
                record.arg = comparison(py, inst, i)?;
                None
            }
            Operand::Pair => {
                pair(inst, i, locals, &mut record, pending, &owned)?;
                None
            }
            Operand::Illegal => return fail_illegal(inst, i),
        };
        if let Some((pool, shift)) = known {
            let by_arg = operand != Operand::NameBits && inst.flags.has(Flags::ARG_NEWER);
            match inst.argval_given() {
                // `arg` as disassembly left it still says where the operand is.
                Some(argval)
                    if !by_arg
                        && (pool.get((inst.arg >> shift) as usize) != Some(&argval)
                            || operand == Operand::Cell && locals.is_plain(inst.arg)) =>
                {
                    let bits = inst.arg & ((1 << shift) - 1);
                    pending.push(Pending { index: i as u32, operand, argval: owned(argval), bits });
                }
                None if !inst.flags.has(Flags::HAS_ARG) => {
                    return fail(
                        ErrorKind::OperandOutOfRange,
                        i,
                        "the instruction has no operand: give argval (or arg)",
                    );
                }
                _ => {}
            }
        } else if operand == Operand::Plain
            && (inst.flags.has(Flags::ARGVAL_NEWER) || !inst.flags.has(Flags::HAS_ARG))
        {
            record.arg = plain(py, inst, i)?;
        }
        if let Some(entry) = inst.entry() {
            record.region = regions.carry(py, i as u32, entry)?;
        }
        program.insts.push(record);
    }
    for (i, target) in unplaced {
        let Some(place) = places.of(target) else {
            return fail(ErrorKind::BadTarget, i, "the jump's target is not in the list");
        };
        program.insts[i].target = place;
    }
    regions.finish(py, places, program)?;
    Ok(true)
}

fn fail_illegal<T>(inst: &Instruction, index: usize) -> Outcome<T> {
    let reason = match inst.opname_str() {
        "EXTENDED_ARG" | "CACHE" => {
            "the assembler writes these itself: leave them out, see strip_extended_args()".to_owned()
        }
        name => format!("{name} is specialised, instrumented or internal: no code object may contain it"),
    };
    fail(ErrorKind::IllegalOpcode, index, reason)
}

/// An operand that is a number.
#[cold]
fn plain(py: Python<'_>, inst: &Instruction, index: usize) -> Outcome<u32> {
    let number = |object: Obj| {
        // SAFETY: a live object; reading an exact int runs no Python code.
        let value = unsafe { Bound::from_borrowed_ptr(py, object) };
        value.is_exact_instance_of::<pyo3::types::PyInt>().then(|| value.extract::<u32>().ok())
    };
    let info = &state().tables.info[inst.opcode as usize];
    let argval = inst.argval_given().and_then(number);
    if info.has(OpFlags::HAS_ARG) {
        match (argval, inst.arg()) {
            (Some(Some(argval)), _) => Ok(argval),
            (Some(None), _) => {
                fail(ErrorKind::OperandOutOfRange, index, "argval does not fit an operand: 0 to 2**32 - 1")
            }
            (None, Some(arg)) => Ok(arg),
            (None, None) => {
                fail(ErrorKind::OperandOutOfRange, index, "the instruction has no operand: give arg")
            }
        }
    } else {
        Ok(inst.arg)
    }
}

/// COMPARE_OP: `argval` may be the comparison's symbol.
fn comparison(py: Python<'_>, inst: &Instruction, index: usize) -> Outcome<u32> {
    let by_arg = inst.flags.has(Flags::HAS_ARG) && !inst.flags.has(Flags::ARGVAL_NEWER);
    let Some(argval) = inst.argval_given().filter(|_| !by_arg) else {
        return match inst.arg() {
            Some(arg) => Ok(arg),
            None => fail(
                ErrorKind::OperandOutOfRange,
                index,
                "the comparison has no operand: give argval, such as '<'",
            ),
        };
    };
    // SAFETY: a live object.
    let argval = unsafe { Bound::from_borrowed_ptr(py, argval) };
    if let Ok(number) = argval.extract::<u32>() {
        return Ok(number);
    }
    let text = argval.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    let tables = state().tables;
    let asks_bool = text.is_some_and(|text| text.starts_with("bool("));
    let symbol =
        text.map(|text| text.strip_prefix("bool(").and_then(|t| t.strip_suffix(')')).unwrap_or(text));
    let Some(number) = symbol.and_then(|symbol| tables.compare_ops.iter().position(|op| *op == symbol))
    else {
        return fail(
            ErrorKind::OperandOutOfRange,
            index,
            format!("comparisons are {}", tables.compare_ops.join(" ")),
        );
    };
    if let Some(arg) = inst.arg()
        && arg >> tables.compare_shift == number as u32
        && !asks_bool
    {
        // The same comparison: its hints stay.
        return Ok(arg);
    }
    // The low bits tell the specialised comparisons which outcomes are true: unordered 1, less 2, greater 4, equal 8.
    let outcomes = [2, 2 | 8, 8, 1 | 2 | 4, 4, 4 | 8][number];
    Ok(match state().version {
        Version::V311 => number as u32,
        Version::V312 => (number as u32) << 4 | outcomes,
        _ => (number as u32) << 5 | u32::from(asks_bool) << 4 | outcomes,
    })
}

fn pair<'py>(
    inst: &Instruction,
    index: usize,
    locals: &Locals<'py>,
    record: &mut Inst,
    pending: &mut Vec<Pending<'py>>,
    owned: &dyn Fn(Obj) -> Bound<'py, PyAny>,
) -> Outcome<()> {
    if let Some(names) = inst.pair_names() {
        if locals.tuple == Some(names) || inst.flags.has(Flags::ARG_NEWER) {
            return Ok(());
        }
        // SAFETY: `names` is a tuple that the instruction owns.
        let names = unsafe { tuple_items(names) };
        let (first, second) = (names.get(inst.arg as usize >> 4), names.get(inst.arg as usize & 15));
        let (Some(first), Some(second)) = (first, second) else {
            return fail(ErrorKind::BadLocal, index, "the operand names no locals");
        };
        for (i, name) in [(0, *first), (1, *second)] {
            pending.push(Pending {
                index: index as u32,
                operand: Operand::Pair,
                argval: owned(name),
                bits: i,
            });
        }
        return Ok(());
    }
    if let Some(argval) = inst.argval_given().filter(|_| !inst.flags.has(Flags::ARG_NEWER)) {
        let argval = owned(argval);
        let Some(argval) = argval.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2) else {
            return fail(ErrorKind::BadLocal, index, "argval must be a tuple of two names of locals");
        };
        for (i, name) in argval.iter().enumerate() {
            pending.push(Pending {
                index: index as u32,
                operand: Operand::Pair,
                argval: name,
                bits: i as u32,
            });
        }
        return Ok(());
    }
    if inst.arg().is_none() {
        return fail(
            ErrorKind::OperandOutOfRange,
            index,
            "the instruction has no operand: give argval, two names",
        );
    }
    record.arg = inst.arg;
    Ok(())
}

/// Asks the pools for the pending operands. Pairs that do not fit are returned, in order.
fn settle<'py>(
    pending: Vec<Pending<'py>>,
    pools: &mut Pools<'py>,
    program: &mut Program,
) -> Outcome<Vec<WidePair>> {
    let mut wide = Vec::new();
    let mut first_of_pair = 0;
    for item in pending {
        let index = item.index as usize;
        let info = &state().tables.info[program.insts[index].opcode as usize];
        let arg = match item.operand {
            Operand::Const => match pools.consts.index(&item.argval)? {
                Some(arg) => arg,
                None => {
                    return fail(ErrorKind::BadConstant, index, nesting::REASON);
                }
            },
            Operand::Name | Operand::NameBits => {
                let name = exact_name(&item.argval, index, ErrorKind::BadName)?;
                let place = pools.names.index(name);
                match place
                    .checked_shl(u32::from(info.name_shift))
                    .filter(|arg| arg >> info.name_shift == place)
                {
                    Some(arg) => arg | item.bits,
                    None => return fail(ErrorKind::TooLarge, index, "too many names"),
                }
            }
            _ => {
                let name = exact_name(&item.argval, index, ErrorKind::BadLocal)?;
                let of_cell = item.operand == Operand::Cell;
                let place = if of_cell { pools.locals.cell_index(name) } else { pools.locals.index(name) };
                let Some(place) = place else {
                    let reason = "it is not the name of a local: add it to code_options['co_varnames'] (or co_cellvars)";
                    return fail(ErrorKind::BadLocal, index, reason);
                };
                place
            }
        };
        if item.operand != Operand::Pair {
            program.insts[index].arg = arg;
        } else if item.bits == 0 {
            first_of_pair = arg;
        } else if first_of_pair < 16 && arg < 16 {
            program.insts[index].arg = first_of_pair << 4 | arg;
        } else {
            wide.push(WidePair { index: item.index, first: first_of_pair, second: arg });
        }
    }
    Ok(wide)
}

fn exact_name<'a, 'py>(
    argval: &'a Bound<'py, PyAny>,
    index: usize,
    kind: ErrorKind,
) -> Outcome<&'a Bound<'py, PyString>> {
    match argval.cast_exact::<PyString>() {
        Ok(name) => Ok(name),
        Err(_) => {
            fail(kind, index, format!("argval must be a str (a name), not {}", argval.get_type().name()?))
        }
    }
}
