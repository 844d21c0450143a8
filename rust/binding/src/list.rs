//! From the core's program to a Python list of instructions.
use crate::capi::Obj;
use crate::entry::InstructionExnTabEntry;
use crate::instruction::batch::Batch;
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

/// After how many instructions jumps ahead are looked at.
const STRIDE: u32 = 256;

/// First and last instruction of a region.
#[derive(Clone, Copy)]
struct Extent {
    first: u32,
    last: u32,
}

/// Makes the list of a code object that was taken apart into `program`. What is in it belongs to the batch, if there is one.
///
/// # Errors
/// `MemoryError`.
pub fn of_program<'py>(
    view: &CodeView<'py>,
    program: &Program,
    mut batch: Option<&mut Batch<'py>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = view.object.py();
    let state = state();
    let (consts, names) = (view.tuple(state.layout.consts), view.tuple(state.layout.names));
    let localsplus = view.field(state.layout.localsplusnames);
    let locals = view.tuple(state.layout.localsplusnames);
    let starts = Starts::new(program, view.units().0.len() as u32 / 2);
    let mut entries = Entries::new(program);
    // Jumps ahead are linked a little later, while they and their targets are still in the processor's caches; those whose
    // targets are not made by then, at last.
    let (mut ahead, mut far) = (Vec::new(), Vec::new());
    let near = instruction::ahead(program.insts.len());
    let at = |pool: &[Obj], index: u32| pool.get(index as usize).copied().unwrap_or(state.not_provided);
    let mut unit = 0;
    // SAFETY: the list is filled with as many objects as it has room for; until then nobody else sees it. The operands are
    // borrowed from tuples that the code object owns.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(program.insts.len() as ffi::Py_ssize_t))?
            .cast_into_unchecked::<PyList>();
        if batch.is_some() {
            Batch::hide(&list);
        }
        let items = (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item;
        let link = |i: u32, inst: &Inst| {
            let (this, target) =
                (items.add(i as usize).read().cast::<Instruction>(), items.add(inst.target as usize).read());
            (*this).set_target(Some(target));
            let end = starts.end((*this).offset().unwrap_or(0), inst);
            let target_offset = (*target.cast::<Instruction>()).offset().unwrap_or(0);
            (*this).arg = end.abs_diff(starts.first_unit(inst.target, target_offset, program));
        };
        for (i, inst) in program.insts.iter().enumerate() {
            if let Some(later) = program.insts.get(i + near)
                && later.target <= i as u32
            {
                instruction::prefetch(items.add(later.target as usize).read());
            }
            let mut flags = 0;
            let mut argval = std::ptr::null_mut();
            match state.operands[inst.opcode as usize] {
                Operand::Const => argval = at(consts, inst.arg),
                Operand::Name => argval = at(names, inst.arg),
                Operand::NameBits => argval = at(names, inst.arg >> state.name_shifts[inst.opcode as usize]),
                Operand::Local | Operand::Cell => argval = at(locals, inst.arg),
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
            (*object).index = i as u32;
            if let Some(batch) = &mut batch {
                batch.add(object);
                if inst.region != NO_INDEX || inst.target != NO_INDEX {
                    (*object).defer();
                }
            }
            if inst.region != NO_INDEX {
                let entry = entries.carried_by(py, program, i as u32, batch.as_deref_mut())?;
                (*object).set_entry(Some(entry));
            }
            if inst.target != NO_INDEX {
                if inst.target <= i as u32 {
                    link(i as u32, inst);
                } else {
                    ahead.push(i as u32);
                }
            }
            if i as u32 % STRIDE == STRIDE - 1 {
                for jump in ahead.drain(..) {
                    let inst = &program.insts[jump as usize];
                    if inst.target <= i as u32 {
                        link(jump, inst);
                    } else {
                        far.push(jump);
                    }
                }
            }
        }
        for jump in far.into_iter().chain(ahead) {
            link(jump, &program.insts[jump as usize]);
        }
        entries.finish(program, &|index| Bound::from_borrowed_ptr(py, items.add(index as usize).read()));
        Ok(list)
    }
}

/// The entries of a list that is being made, one a region that some instruction carries.
struct Entries<'py> {
    made: Vec<Option<(Bound<'py, InstructionExnTabEntry>, Extent)>>,
}

impl<'py> Entries<'py> {
    fn new(program: &Program) -> Self {
        Self { made: program.regions.iter().map(|_| None).collect() }
    }

    /// The entry that instruction `index` carries, borrowed. It gets its instructions from [`Self::finish`].
    #[inline]
    fn carried_by(
        &mut self,
        py: Python<'py>,
        program: &Program,
        index: u32,
        batch: Option<&mut Batch<'py>>,
    ) -> PyResult<Obj> {
        let number = program.insts[index as usize].region as usize;
        if let Some((entry, extent)) = &mut self.made[number] {
            extent.last = index;
            return Ok(entry.as_ptr());
        }
        let region = &program.regions[number];
        let (depth, height) = match region.depth {
            RegionDepth::Fixed(depth) => (depth, None),
            RegionDepth::Below { height, stated, .. } => (stated, Some(height)),
        };
        let entry = Bound::new(py, InstructionExnTabEntry::disassembled(depth, height, region.lasti))?;
        if let Some(batch) = batch {
            batch.add_entry(&entry);
        }
        let borrowed = entry.as_ptr();
        self.made[number] = Some((entry, Extent { first: index, last: index }));
        Ok(borrowed)
    }

    /// Gives each entry its first and last instruction and its handler.
    fn finish(self, program: &Program, item: &impl Fn(u32) -> Bound<'py, PyAny>) {
        let near = instruction::ahead(program.regions.len());
        for (i, (made, region)) in self.made.into_iter().zip(&program.regions).enumerate() {
            if let Some(later) = program.regions.get(i + near) {
                instruction::prefetch(item(later.target).as_ptr());
            }
            let Some((entry, extent)) = made else { continue };
            let target = item(region.target);
            if let Some(handler) = Instruction::from_object(target.as_ptr()) {
                handler.flags.set(Flags::JUMP_TARGET, true);
            }
            entry.borrow_mut().set_ends(
                item(extent.first).unbind(),
                item(extent.last).unbind(),
                target.unbind(),
            );
        }
    }
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
