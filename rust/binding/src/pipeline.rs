//! The core's last steps in one place: stack, verification, encoding, code object.
use crate::capi::GilCell;
use crate::consts::const_kinds;
use crate::layout::CodeView;
use crate::locals::{self, Locals};
use crate::lower::Failure;
use crate::spec::{Parts, Spec};
use crate::state::{Operand, state};
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::code::{Assembled, CodeMeta, ConstKind, Options, Program, RegionDepth, Trust};
use pydynamo_assembler::disasm::Unedited;
use pydynamo_assembler::inst::NO_INDEX;
use pydynamo_assembler::stack::{self, Depths};
use pydynamo_assembler::verify::{self, Origin};
use pydynamo_assembler::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Memory that is used again by the next call.
#[derive(Default)]
struct Workspace {
    scratch: Scratch,
    depths: Depths,
    out: Assembled,
    kinds: Vec<ConstKind>,
    trust: Vec<Trust>,
    verifier: verify::Scratch,
}

static WORKSPACE: GilCell<Option<Box<Workspace>>> = GilCell::new(None);
/// Workspaces that served larger code than this (in bytes) are dropped.
const KEPT_BYTES: usize = 1 << 20;

fn with_workspace<T>(body: impl FnOnce(&mut Workspace) -> T) -> T {
    // SAFETY: the GIL is held; the workspace is taken out, so that a call from within `body` makes another.
    let mut workspace = unsafe { WORKSPACE.get().take() }.unwrap_or_default();
    let result = body(&mut workspace);
    if workspace.out.code.capacity() <= KEPT_BYTES {
        // SAFETY: the GIL is held.
        unsafe { *WORKSPACE.get() = Some(workspace) };
    }
    result
}

/// Assembles a program into a code object. `placed` is told the first unit of each instruction, prefixes included.
#[allow(clippy::too_many_arguments)]
pub fn assemble<'py>(
    py: Python<'py>,
    spec: &Spec<'py>,
    consts: &Bound<'py, PyTuple>,
    names: &Bound<'py, PyTuple>,
    locals: &Locals<'py>,
    program: &Program,
    options: Options<'_>,
    placed: Option<&mut Vec<u32>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    with_workspace(|work| {
        let Workspace { scratch, out, kinds, trust, .. } = work;
        let meta = meta(spec, consts, names, locals, kinds, trust);
        if !options.verify {
            indices_in_range(program, &meta)?;
        }
        assemble::assemble(program, &meta, options, scratch, out)?;
        if let Some(units) = placed {
            units.clear();
            units.extend((0..program.insts.len() as u32).map(|index| scratch.unit_of(index)));
        }
        Ok(spec.new_code(py, &Parts::of_assembled(py, out), consts, names)?)
    })
}

/// Makes the code object again that a program was taken from which nobody edited. `None`: some instruction cannot stay where it
/// was, or something is wrong; [`assemble`] does, or says, what is needed.
pub fn put_back<'py>(
    view: &CodeView<'py>,
    spec: &Spec<'py>,
    locals: &Locals<'py>,
    program: &Program,
    unedited: &Unedited,
    verify: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if view.raw().linetable.is_empty() {
        return Ok(None);
    }
    with_workspace(|work| {
        let Workspace { scratch, kinds, trust, .. } = work;
        let meta = meta(spec, &spec.consts, &spec.names, locals, kinds, trust);
        if !verify && indices_in_range(program, &meta).is_err() {
            return Ok(None);
        }
        let Some(stacksize) = assemble::size_in_place(program, &meta, unedited, verify, scratch) else {
            return Ok(None);
        };
        let parts = Parts::with_tables_of(view, unedited.code(), stacksize);
        spec.new_code(view.object.py(), &parts, &spec.consts, &spec.names).map(Some)
    })
}

/// Refuses operands beyond their pool. The verifier does so, too, but some of CPython's own constructors read what they
/// find in unverified code.
fn indices_in_range(program: &Program, meta: &CodeMeta<'_>) -> Result<(), Failure> {
    let state = state();
    for (index, inst) in program.insts.iter().enumerate() {
        let (first, second, len) = match state.operands[inst.opcode as usize] {
            Operand::Const => (inst.arg, 0, meta.consts.len()),
            Operand::Name => (inst.arg, 0, meta.names as usize),
            Operand::NameBits => {
                (inst.arg >> state.name_shifts[inst.opcode as usize], 0, meta.names as usize)
            }
            Operand::Local | Operand::Cell => (inst.arg, 0, meta.locals.len()),
            Operand::Pair => (inst.arg >> 4, inst.arg & 15, meta.locals.len()),
            Operand::Plain | Operand::Jump | Operand::Compare | Operand::Illegal => continue,
        };
        if first.max(second) as usize >= len {
            let reason = format!("the operand names number {} of {len}", first.max(second));
            return Err(Error::at(ErrorKind::OperandOutOfRange, index as u32, reason).into());
        }
    }
    Ok(())
}

/// What the core must know beside the instructions.
fn meta<'a>(
    spec: &Spec<'_>,
    consts: &Bound<'_, PyTuple>,
    names: &Bound<'_, PyTuple>,
    locals: &'a Locals<'_>,
    kinds: &'a mut Vec<ConstKind>,
    trust: &'a mut Vec<Trust>,
) -> CodeMeta<'a> {
    const_kinds(consts, kinds);
    let class_dict =
        if locals.trusted(spec.argcount as usize, trust) { locals.class_dict() } else { NO_INDEX };
    spec.trust_stars(trust);
    CodeMeta {
        version: state().version,
        flags: spec.flags as u32,
        firstlineno: spec.firstlineno,
        names: names.len() as u32,
        set_name: locals::set_name(names),
        consts: kinds,
        locals: &locals.kinds,
        trusted_locals: trust,
        has_class_cell: locals.has_class_cell(),
        class_dict,
    }
}

/// Proves a program that was just taken apart safe, as it stands, with the stack size that its code object states.
pub fn verify<'py>(
    spec: &Spec<'py>,
    locals: &Locals<'py>,
    program: &Program,
    stacksize: i32,
) -> Result<(), Failure> {
    with_workspace(|work| {
        let Workspace { verifier, kinds, trust, .. } = work;
        let meta = meta(spec, &spec.consts, &spec.names, locals, kinds, trust);
        let needed = verify::verify(program, &meta, Origin::Compiler, verifier)?.max_depth;
        if i64::from(needed) > i64::from(stacksize) {
            let reason = format!("co_stacksize is {stacksize}, but the code needs {needed}");
            return Err(Error::whole(ErrorKind::StackMismatch, reason).into());
        }
        Ok(())
    })
}

/// The stack size that a program needs.
pub fn stack_size(program: &Program) -> Result<u32, Failure> {
    with_workspace(|work| {
        stack::analyze(state().version, program, &mut work.depths)?;
        Ok(work.depths.max)
    })
}

/// Turns the stated depths of a program that was just taken apart into depths below the stack at each region's first
/// instruction, so that edits carry them along. Leaves those as they are that cannot be computed.
pub fn anchor_regions(program: &mut Program) {
    if program.regions.is_empty() {
        return;
    }
    with_workspace(|work| {
        if stack::analyze(state().version, program, &mut work.depths).is_err() {
            return;
        }
        let mut anchored = vec![false; program.regions.len()];
        for (i, inst) in program.insts.iter().enumerate() {
            let Some(done) = anchored.get_mut(inst.region as usize).filter(|done| !**done) else { continue };
            *done = true;
            let region = &mut program.regions[inst.region as usize];
            if let (RegionDepth::Fixed(stated), Some(before)) = (region.depth, work.depths.before(i))
                && let Some(height) = before.checked_sub(stated)
            {
                region.depth = RegionDepth::Below { anchor: i as u32, height, stated };
            }
        }
    });
}
