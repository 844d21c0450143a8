//! From the core's program to a Python list of instructions.
use crate::capi::Obj;
use crate::entry::InstructionExnTabEntry;
use crate::instruction::{self, Flags, Instruction, Parts};
use crate::layout::CodeView;
use crate::state::{Operand, state};
use pydynamo_assembler::code::{Program, RegionDepth};
use pydynamo_assembler::inst::{Inst, NO_INDEX};
use pydynamo_assembler::layout::Layout;
use pydynamo_assembler::shape;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// First and last instruction of a region.
#[derive(Clone, Copy)]
struct Extent {
    first: u32,
    last: u32,
}

/// Makes the list of a code object that was taken apart into `program`.
///
/// # Errors
/// `MemoryError`.
pub fn of_program<'py>(view: &CodeView<'py>, program: &Program) -> PyResult<Bound<'py, PyList>> {
    let py = view.object.py();
    let state = state();
    let (consts, names) = (view.tuple(state.layout.consts), view.tuple(state.layout.names));
    let localsplus = view.field(state.layout.localsplusnames);
    let locals = view.tuple(state.layout.localsplusnames);
    let starts = Starts::new(program, view.units().0.len() as u32 / 2);
    let mut extents = vec![Extent { first: NO_INDEX, last: NO_INDEX }; program.regions.len()];
    let at = |pool: &[Obj], index: u32| pool.get(index as usize).copied().unwrap_or(state.not_provided);
    let mut unit = 0;
    // SAFETY: the list is filled with as many objects as it has room for; until then nobody else sees it. The operands are
    // borrowed from tuples that the code object owns.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(program.insts.len() as ffi::Py_ssize_t))?
            .cast_into_unchecked::<PyList>();
        let items = (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item;
        for (i, inst) in program.insts.iter().enumerate() {
            let mut flags = 0;
            let mut argval = std::ptr::null_mut();
            match state.operands[inst.opcode as usize] {
                Operand::Const => argval = at(consts, inst.arg),
                Operand::Name => argval = at(names, inst.arg),
                Operand::NameBits => argval = at(names, inst.arg >> state.name_shifts[inst.opcode as usize]),
                Operand::Local => argval = at(locals, inst.arg),
                Operand::Pair => {
                    argval = localsplus;
                    flags |= Flags::PAIR;
                }
                Operand::Plain | Operand::Jump | Operand::Compare | Operand::Illegal => {}
            }
            if state.has_arg[inst.opcode as usize] || inst.arg != 0 {
                flags |= Flags::HAS_ARG;
            }
            let start = starts.of(i, unit);
            unit = start + starts.size(inst);
            let object = instruction::make(&Parts {
                opcode: inst.opcode,
                flags: Flags::of(flags),
                written: inst.written,
                arg: inst.arg,
                offset: starts.opcode_offset(i, start, inst),
                loc: inst.loc,
                argval,
            });
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            items.add(i).write(object.cast());
            if inst.region != NO_INDEX {
                let extent = &mut extents[inst.region as usize];
                if extent.first == NO_INDEX {
                    extent.first = i as u32;
                }
                extent.last = i as u32;
            }
        }
        let item = |index: u32| *items.add(index as usize);
        for (i, inst) in program.insts.iter().enumerate() {
            if inst.target != NO_INDEX {
                let (this, target) = (item(i as u32).cast::<Instruction>(), item(inst.target));
                (*this).set_target(Some(target));
                let end = starts.end((*this).offset().unwrap_or(0), inst);
                let target_offset = (*target.cast::<Instruction>()).offset().unwrap_or(0);
                (*this).arg = end.abs_diff(starts.first_unit(inst.target, target_offset, program));
            }
        }
        if !extents.is_empty() {
            attach_entries(py, program, &extents, &item)?;
        }
        Ok(list)
    }
}

/// Makes one entry per region and gives it to the region's instructions.
fn attach_entries(
    py: Python<'_>,
    program: &Program,
    extents: &[Extent],
    item: &impl Fn(u32) -> Obj,
) -> PyResult<()> {
    // SAFETY: `item` gives live instructions of the list that is being made.
    let object = |index: u32| unsafe { Bound::from_borrowed_ptr(py, item(index)) };
    let mut entries = Vec::with_capacity(extents.len());
    for (region, extent) in program.regions.iter().zip(extents) {
        if extent.first == NO_INDEX {
            entries.push(None);
            continue;
        }
        let (depth, height) = match region.depth {
            RegionDepth::Fixed(depth) => (depth, None),
            RegionDepth::Below { height, stated, .. } => (stated, Some(height)),
        };
        let target = object(region.target);
        if let Some(handler) = Instruction::from_object(target.as_ptr()) {
            handler.flags.set(Flags::JUMP_TARGET, true);
        }
        let (start, end) = (object(extent.first).unbind(), object(extent.last).unbind());
        let entry =
            InstructionExnTabEntry::disassembled(start, end, target.unbind(), depth, height, region.lasti);
        entries.push(Some(Bound::new(py, entry)?));
    }
    for (i, inst) in program.insts.iter().enumerate() {
        if inst.region != NO_INDEX
            && let (Some(this), Some(entry)) =
                (Instruction::from_object(item(i as u32)), &entries[inst.region as usize])
        {
            this.set_entry(Some(entry.as_ptr()));
        }
    }
    Ok(())
}

/// Where instructions begin. Nearly always that is the sum of the sizes before; only where jumps have prefixes it takes a
/// layout.
struct Starts {
    layout: Option<Layout>,
    shapes: &'static shape::Shapes,
}

impl Starts {
    fn new(program: &Program, units: u32) -> Self {
        let mut this = Self { layout: None, shapes: shape::of(state().version) };
        let sum: u32 = program.insts.iter().map(|inst| this.size(inst)).sum();
        if sum != units {
            let mut layout = Layout::default();
            if layout.compute(state().version, program).is_ok() {
                this.layout = Some(layout);
            }
        }
        this
    }

    /// Units of an instruction whose operand is known.
    fn size(&self, inst: &Inst) -> u32 {
        1 + self.shapes[inst.opcode as usize].caches()
            + shape::prefixes(inst.arg).max(inst.written.prefixes())
    }

    /// Its first unit, be it a prefix.
    fn of(&self, index: usize, sum: u32) -> u32 {
        self.layout.as_ref().map_or(sum, |layout| layout.start(index as u32))
    }

    /// The unit behind an instruction whose opcode is at `offset`.
    fn end(&self, offset: u32, inst: &Inst) -> u32 {
        offset / 2 + 1 + self.shapes[inst.opcode as usize].caches()
    }

    /// The first unit, be it a prefix, of an instruction whose opcode is at `offset`.
    fn first_unit(&self, index: u32, offset: u32, program: &Program) -> u32 {
        let inst = &program.insts[index as usize];
        match &self.layout {
            Some(layout) => layout.start(index),
            None => offset / 2 - shape::prefixes(inst.arg).max(inst.written.prefixes()),
        }
    }

    /// The byte offset of its opcode, behind prefixes, as `dis` counts.
    fn opcode_offset(&self, index: usize, start: u32, inst: &Inst) -> u32 {
        let size = match &self.layout {
            Some(layout) => layout.size(index as u32),
            None => self.size(inst),
        };
        2 * (start + size - 1 - self.shapes[inst.opcode as usize].caches())
    }
}
