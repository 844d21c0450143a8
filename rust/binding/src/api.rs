//! The functions of the assembler that Python calls.
use crate::capi::GilCell;
use crate::errors::{self, Culprit};
use crate::instruction::batch::Batch;
use crate::instruction::{self, Instruction};
use crate::layout::CodeView;
use crate::list;
use crate::lower::{self, Failure, Pools};
use crate::pipeline;
use crate::pools::{ConstPool, NamePool};
use crate::spec::{Spec, Variables};
use crate::state::{Operand, state};
use pydynamo_assembler::code::{Options, Program, RawCode};
use pydynamo_assembler::disasm::Unedited;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables::OpFlags;
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{disasm, shape, units};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PyTuple};
use std::convert::Infallible;

/// What `argval` reads where no operand value was given.
#[pyclass(module = "pydynamo._core", name = "_NotProvided", frozen)]
pub struct NotProvided;

/// A program whose memory is used again by the next call.
static PROGRAM: GilCell<Program> = GilCell::new(Program { insts: Vec::new(), regions: Vec::new() });
/// Programs above this size are not kept.
const KEPT_INSTRUCTIONS: usize = 1 << 16;

/// Runs `body` with an empty program.
pub fn with_program<T>(body: impl FnOnce(&mut Program) -> T) -> T {
    // SAFETY: the GIL is held; the program is taken out, so that a call from within `body` finds another.
    let mut program = unsafe { std::mem::take(PROGRAM.get()) };
    let result = body(&mut program);
    if program.insts.capacity() <= KEPT_INSTRUCTIONS {
        // SAFETY: the GIL is held.
        unsafe { *PROGRAM.get() = program };
    }
    result
}

pub fn take_apart(view: &CodeView<'_>, program: &mut Program) -> PyResult<()> {
    take_apart_with(view, &view.raw(), |version, raw| disasm::disassemble(version, raw, program))
}

fn take_apart_with(
    view: &CodeView<'_>,
    raw: &RawCode<'_>,
    disassemble: impl FnOnce(Version, &RawCode<'_>) -> pydynamo_assembler::Result<()>,
) -> PyResult<()> {
    let version = state().version;
    disassemble(version, raw).map_err(|error| {
        let plain = units::plain(version, raw.code.as_chunks().0);
        let found = error.index.and_then(|index| disasm::instruction_at(version, &plain, index));
        let culprit = found.map_or(Culprit::Unknown, |(opcode, arg)| Culprit::Raw(opcode, arg));
        errors::raise(view.object.py(), &error, culprit)
    })
}

/// The program taken apart last to go back as it is, whose memory is used again.
static UNEDITED: GilCell<Option<Box<(Program, Unedited)>>> = GilCell::new(None);

/// Runs `body` with a program that nobody is to edit: its instructions are without positions.
fn with_unedited<T>(
    view: &CodeView<'_>,
    body: impl FnOnce(&mut Program, &Unedited) -> PyResult<T>,
) -> PyResult<T> {
    // SAFETY: the GIL is held; what is there is taken out, so that a call from within `body` finds nothing.
    let mut kept = unsafe { UNEDITED.get().take() }.unwrap_or_default();
    let (program, unedited) = &mut *kept;
    take_apart_with(view, &view.raw_without_lines(), |version, raw| {
        disasm::disassemble_unedited(version, raw, program, unedited)
    })?;
    // What was asked for when the view was made has come by now, and what is asked for here comes while lines are checked.
    view.prefetch_pools();
    take_apart_with(view, &view.raw(), |_, raw| disasm::check_lines(raw))?;
    let result = body(program, unedited);
    if program.insts.capacity() <= KEPT_INSTRUCTIONS {
        // SAFETY: the GIL is held.
        unsafe { *UNEDITED.get() = Some(kept) };
    }
    result
}

/// Takes a code object apart and puts it together again without making Python objects.
///
/// Nobody can edit the instructions, so they stay where they are, and the tables are checked and taken over.
///
/// Raises `BytecodeError` for a code object that is damaged or that cannot be proved safe.
#[pyfunction]
#[pyo3(signature = (code, /, *, verify = true))]
fn roundtrip<'py>(code: &Bound<'py, PyAny>, verify: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let view = CodeView::new(code)?;
    with_unedited(&view, |program, unedited| {
        let spec = Spec::of_code(&view);
        let locals = spec.locals();
        if let Some(code) = pipeline::put_back(&view, &spec, &locals, program, unedited, verify)? {
            return Ok(code);
        }
        take_apart(&view, program)?;
        let options = Options { verify, original: Some(view.raw()) };
        pipeline::assemble(py, &spec, &spec.consts, &spec.names, &locals, program, options, None)
            // only a failure is worth the instruction objects that name its operands
            .map_err(|failure| failure.into_exception(py, instructions_of(&view, None).ok().as_ref()))
    })
}

/// Proves that a code object is safe to run, or raises `BytecodeError`.
///
/// What is proved is its `co_code`. Specialised opcodes that somebody wrote into it by hand look like the interpreter's own,
/// and run unproved: `roundtrip` gives a code object without them.
///
/// On 3.11 and 3.12 a signal's exception at a jump back goes to the handler of whatever stands before the jump's target. Where
/// that is a block or a region which is left, CPython's own compiler does not see to it that the handler finds its stack and its
/// locals, so it is not asked for here: the edit functions put a NOP between the two.
#[pyfunction]
#[pyo3(signature = (code, /))]
fn verify(code: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = code.py();
    let view = CodeView::new(code)?;
    with_unedited(&view, |program, _| {
        let spec = Spec::of_code(&view);
        let stacksize = view.int(state().layout.stacksize);
        pipeline::verify(&spec, &spec.locals(), program, stacksize)
            // only a failure is worth the instruction objects that name its operands
            .map_err(|failure| failure.into_exception(py, instructions_of(&view, None).ok().as_ref()))
    })
}

fn instructions_of<'py>(
    view: &CodeView<'py>,
    batch: Option<&mut Batch<'py>>,
) -> PyResult<Bound<'py, PyList>> {
    instruction::settle_debt(view.object.py())?;
    with_program(|program| {
        take_apart(view, program)?;
        pipeline::anchor_regions(program);
        list::of_program(view, program, batch)
    })
}

/// The instructions of a code object, to be edited.
///
/// CACHE and EXTENDED_ARG are left out, jump targets and exception regions are references to other instructions. `safe`
/// is there for those who know torch's function: nothing is rewritten either way.
#[pyfunction]
#[pyo3(signature = (code, safe = false))]
fn cleaned_instructions<'py>(code: &Bound<'py, PyAny>, safe: bool) -> PyResult<Bound<'py, PyList>> {
    let _ = safe;
    instructions_of(&CodeView::new(code)?, None)
}

/// The `code_options` of a code object: a dict of what `get_code_keys()` lists.
#[pyfunction]
#[pyo3(signature = (code, /))]
fn code_options<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let view = CodeView::new(code)?;
    options_of(&view, &view.co_code()?, &Spec::of_code(&view), &Variables::of_code(&view)?)
}

fn options_of<'py>(
    view: &CodeView<'py>,
    co_code: &Bound<'py, PyBytes>,
    spec: &Spec<'py>,
    variables: &Variables<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = view.object.py();
    let layout = &state().layout;
    // SAFETY: fields of a live code object.
    let field = |offset| unsafe { Bound::from_borrowed_ptr(py, view.field(offset)) };
    let int = |value: i32| -> PyResult<Bound<'py, PyAny>> { Ok(value.into_pyobject(py)?.into_any()) };
    let values = [
        int(spec.argcount)?,
        int(spec.posonlyargcount)?,
        int(spec.kwonlyargcount)?,
        int(variables.varnames.len() as i32)?,
        int(view.int(layout.stacksize))?,
        int(spec.flags)?,
        co_code.clone().into_any(),
        spec.consts.clone().into_any(),
        spec.names.clone().into_any(),
        variables.varnames.clone().into_any(),
        spec.filename.clone(),
        spec.name.clone(),
        spec.qualname.clone(),
        int(spec.firstlineno)?,
        field(layout.linetable),
        field(layout.exceptiontable),
        variables.freevars.clone().into_any(),
        variables.cellvars.clone().into_any(),
    ];
    // A copy of a dict that has the keys already: nothing grows.
    // SAFETY: the template lives for ever.
    let dict = unsafe { Borrowed::from_ptr(py, state().options) }.cast::<PyDict>()?.copy()?;
    for (key, value) in state().keys.iter().zip(values) {
        // SAFETY: keys live for ever.
        dict.set_item(unsafe { Borrowed::from_ptr(py, *key) }, value)?;
    }
    Ok(dict)
}

/// Takes `code` apart, calls `transformations(instructions, code_options)`, and puts together what it left.
///
/// `instructions` is a list to be changed in place, `code_options` a dict of the code object's other attributes: a
/// transformation that uses a new local adds it to `co_varnames`, names and constants are added by themselves. What the
/// callback returns is ignored. The result is proved safe to run unless `verify` is false.
///
/// Raises `BytecodeError` for instructions that make no legal code object. `code` itself never changes.
#[pyfunction]
#[pyo3(signature = (code, transformations, safe = false, *, verify = true))]
fn transform_code_object<'py>(
    code: &Bound<'py, PyAny>,
    transformations: &Bound<'py, PyAny>,
    safe: bool,
    verify: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let _ = safe;
    let view = CodeView::new(code)?;
    let co_code = view.co_code()?;
    let before = Spec::of_code(&view);
    let variables = Variables::of_code(&view)?;
    let options = options_of(&view, &co_code, &before, &variables)?;
    let mut batch = Batch::open(code.py());
    let instructions = instructions_of(&view, batch.as_mut())?;
    let made = transformations.call1((&instructions, &options)).and_then(|_| {
        let mut spec = Spec::of_options(&options)?;
        let unchanged = spec.variables.as_ref().is_some_and(|now| now.are(&variables))
            && (spec.argcount, spec.kwonlyargcount, spec.flags)
                == (before.argcount, before.kwonlyargcount, before.flags);
        spec.set_original(&view, unchanged);
        // Not the live units, which may have changed since.
        let original = RawCode { code: co_code.as_bytes(), live: false, ..view.raw() };
        let options = Options { verify, original: Some(original) };
        put_together(&instructions, &spec, options, None)
    });
    if let Some(batch) = batch {
        batch.close(instructions, made.is_ok());
    }
    made.map(|made| made.code)
}

/// A code object and the pools it was made with.
struct Made<'py> {
    code: Bound<'py, PyAny>,
    consts: Bound<'py, PyTuple>,
    names: Bound<'py, PyTuple>,
}

fn put_together<'py>(
    instructions: &Bound<'py, PyList>,
    spec: &Spec<'py>,
    options: Options<'_>,
    mut placed: Option<&mut Vec<u32>>,
) -> PyResult<Made<'py>> {
    let py = instructions.py();
    spec.check_consts()?;
    let mut pools = Pools {
        consts: ConstPool::new(spec.consts.clone()),
        names: NamePool::new(spec.names.clone()),
        locals: spec.locals(),
    };
    let made = with_program(|program| -> Result<Made<'py>, Failure> {
        let origin = lower::lower(instructions, &mut pools, program)?;
        let (consts, names) = (pools.consts.tuple()?, pools.names.tuple()?);
        let code = pipeline::assemble(
            py,
            spec,
            &consts,
            &names,
            &pools.locals,
            program,
            options,
            placed.as_deref_mut(),
        )
        .map_err(|failure| failure.in_terms_of(origin.as_deref()))?;
        if let (Some(placed), Some(origin)) = (placed.as_mut(), origin) {
            // Of the records that stand for one item the first counts.
            let mut firsts = vec![0; instructions.len()];
            for (record, item) in origin.iter().enumerate().rev() {
                firsts[*item as usize] = placed[record];
            }
            **placed = firsts;
        }
        Ok(Made { code, consts, names })
    });
    made.map_err(|failure| failure.into_exception(py, Some(instructions)))
}

/// Puts instructions together: `(instructions, code object)`.
///
/// `keys` is `get_code_keys()`, kept for those who know torch's function. `code_options` and the instructions' `offset`s
/// are brought up to date, but only once everything succeeded.
#[pyfunction]
#[pyo3(signature = (instructions, keys, code_options, *, verify = true))]
fn clean_and_assemble_instructions<'py>(
    instructions: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
    code_options: &Bound<'py, PyAny>,
    verify: bool,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let _ = keys;
    let Ok(list) = instructions.cast::<PyList>() else {
        return Err(PyTypeError::new_err(format!(
            "instructions must be a list, not {}",
            instructions.get_type().name()?
        )));
    };
    let Ok(options) = code_options.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!(
            "code_options must be a dict, not {}",
            code_options.get_type().name()?
        )));
    };
    let py = list.py();
    let spec = Spec::of_options(options)?;
    let mut units = Vec::new();
    let bytes = |key| -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(options.get_item(key)?.and_then(|value| value.cast_into_exact().ok()))
    };
    let stated = bytes(intern!(py, "co_code"))?.zip(bytes(intern!(py, "co_exceptiontable"))?);
    let original = stated.as_ref().map(|(code, exceptiontable)| RawCode {
        code: code.as_bytes(),
        exceptiontable: exceptiontable.as_bytes(),
        live: false,
        linetable: &[],
        firstlineno: spec.firstlineno,
    });
    let made = put_together(list, &spec, Options { verify, original }, Some(&mut units))?;
    let view = CodeView::new(&made.code)?;
    let layout = &state().layout;
    // SAFETY: fields of a live code object.
    let field = |offset| unsafe { Bound::from_borrowed_ptr(py, view.field(offset)) };
    let made_code = view.co_code()?;
    let code = made_code.as_bytes();
    for (item, unit) in list.iter().zip(&units) {
        let (offset, opcode, arg) = opcode_behind_prefixes(code, *unit);
        match Instruction::from_object(item.as_ptr()) {
            Some(inst) => inst.was_assembled(offset, opcode, arg),
            None => item.setattr("offset", offset)?,
        }
    }
    let names = spec.variables.as_ref().map_or(0, |variables| variables.varnames.len());
    options.set_item("co_nlocals", names)?;
    options.set_item("co_stacksize", view.int(layout.stacksize))?;
    options.set_item("co_consts", &made.consts)?;
    options.set_item("co_names", &made.names)?;
    options.set_item("co_code", &made_code)?;
    options.set_item("co_linetable", field(layout.linetable))?;
    options.set_item("co_exceptiontable", field(layout.exceptiontable))?;
    Ok((instructions.clone(), made.code.clone()))
}

/// Byte offset, opcode and operand of the instruction that begins, perhaps with EXTENDED_ARG, at a unit.
fn opcode_behind_prefixes(code: &[u8], unit: u32) -> (u32, u8, u32) {
    let (mut offset, mut arg) = (2 * unit as usize, 0);
    let prefix = state().tables.opcode(Op::EXTENDED_ARG);
    while let Some(&[opcode, low]) = code.get(offset..).and_then(<[u8]>::first_chunk) {
        arg = arg << 8 | u32::from(low);
        if Some(opcode) != prefix {
            return (offset as u32, opcode, arg);
        }
        offset += 2;
    }
    (offset as u32, 0, arg)
}

/// Makes an instruction by name. At most one of `arg`, `argval` and `target` may be given, except that opcodes with flag
/// bits (LOAD_GLOBAL, LOAD_ATTR, LOAD_SUPER_ATTR) take the bits as `arg` and the name as `argval`.
///
/// Raises `BytecodeError` if this version has no such opcode, `ValueError` for contradicting operands.
#[pyfunction]
#[pyo3(signature = (name, *, arg = None, argval = Given(None), target = None), text_signature = "(name, *, arg=None, argval=_NotProvided, target=None)")]
#[allow(clippy::needless_pass_by_value)] // what extraction gives
fn create_instruction<'py>(
    name: &Bound<'py, PyAny>,
    arg: Option<&Bound<'py, PyAny>>,
    argval: Given<'py>,
    target: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    instruction::create(name, arg, argval.0.as_ref(), target)
}

/// An argument that may be None and may be left out.
struct Given<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self(Some(object.to_owned())))
    }
}

/// Whether an opcode's operand has flag bits below its name index.
#[pyfunction]
#[pyo3(signature = (name, /))]
fn inst_has_op_bits(name: &str) -> bool {
    state().tables.by_name(name).is_some_and(|opcode| state().operands[opcode as usize] == Operand::NameBits)
}

/// Bytes that an instruction takes in `co_code`, without EXTENDED_ARG prefixes.
#[pyfunction]
#[pyo3(signature = (inst, /))]
fn instruction_size(inst: &Bound<'_, PyAny>) -> PyResult<u32> {
    let opcode = match Instruction::from_object(inst.as_ptr()) {
        Some(inst) => inst.opcode,
        None => inst.getattr("opcode")?.extract()?,
    };
    Ok(2 + 2 * shape::of(state().version)[opcode as usize].caches())
}

/// The stack size that a list of instructions needs.
///
/// Raises `BytecodeError` for underflow, depths that disagree where control meets, or control that falls off the end.
#[pyfunction]
#[pyo3(signature = (instructions, /))]
fn stacksize_analysis(instructions: &Bound<'_, PyList>) -> PyResult<u32> {
    let py = instructions.py();
    let empty = PyTuple::empty(py);
    let mut pools = Pools {
        consts: ConstPool::new(empty.clone()),
        names: NamePool::new(empty),
        locals: crate::locals::Locals::of_any_name(),
    };
    with_program(|program| {
        let origin = lower::lower(instructions, &mut pools, program)?;
        pipeline::stack_size(program).map_err(|failure| failure.in_terms_of(origin.as_deref()))
    })
    .map_err(|failure: Failure| failure.into_exception(py, Some(instructions)))
}

fn opcodes_with(py: Python<'_>, flag: OpFlags) -> PyResult<Bound<'_, PyFrozenSet>> {
    let info = &state().tables.info;
    let opcodes = (0_u16..256).filter(|code| {
        let info = &info[*code as usize];
        info.has(flag) && !info.has(OpFlags::ILLEGAL)
    });
    PyFrozenSet::new(py, opcodes)
}

/// Adds the assembler's functions and classes to the module.
///
/// # Errors
/// Whatever Python raises while they are added.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let sentinel = py.get_type::<NotProvided>();
    crate::state::init(py, sentinel.clone().into_any().unbind().into_ptr())?;
    module.add("_NotProvided", sentinel)?;
    module.add("Instruction", instruction::class(py))?;
    module.add_class::<crate::entry::InstructionExnTabEntry>()?;
    module.add_function(wrap_pyfunction!(roundtrip, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(cleaned_instructions, module)?)?;
    module.add_function(wrap_pyfunction!(code_options, module)?)?;
    module.add_function(wrap_pyfunction!(transform_code_object, module)?)?;
    module.add_function(wrap_pyfunction!(clean_and_assemble_instructions, module)?)?;
    module.add_function(wrap_pyfunction!(create_instruction, module)?)?;
    module.add_function(wrap_pyfunction!(inst_has_op_bits, module)?)?;
    module.add_function(wrap_pyfunction!(instruction_size, module)?)?;
    module.add_function(wrap_pyfunction!(stacksize_analysis, module)?)?;
    module.add("TERMINAL_OPCODES", opcodes_with(py, OpFlags::TERMINAL)?)?;
    module.add("JUMP_OPCODES", opcodes_with(py, OpFlags::JUMP_REL)?)?;
    Ok(())
}
