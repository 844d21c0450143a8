//! The `Instruction` object: its memory, life and type. `attributes` owns what Python reads and writes, `methods` what it
//! calls.
//!
//! A type of our own, made with the plain C API: disassembly makes one object per instruction, so making and freeing must
//! cost some ten nanoseconds. Their memory is ours (`slab`); `opname`, `target` and `exn_tab_entry` are slots that the
//! interpreter's specialised LOAD_ATTR reads directly; an object joins the garbage collector only once it refers to
//! something that can refer back, and those that a transformation was given only if they outlive it (`batch`).
mod ahead;
mod attributes;
pub mod batch;
mod debt;
mod methods;
mod position;
mod release;
mod slab;

use crate::capi::{self, Obj};
use crate::state::{Operand, state};
use pydynamo_assembler::inst::Written;
use pydynamo_assembler::location::Location;
use pyo3::ffi;
use pyo3::prelude::*;
use release::release_all;
use std::ffi::{c_int, c_ulong, c_void};
use std::mem::offset_of;
use std::ptr;

pub use ahead::{ahead, prefetch, prefetch_target};
pub use debt::settle as settle_debt;
pub use methods::{create, deep_copy, short_of};

/// `offset` of an instruction that has none.
const NO_OFFSET: u32 = u32::MAX;
/// What is known of an instruction beyond its fields.
#[derive(Clone, Copy)]
pub struct Flags(u8);

impl Flags {
    /// `arg` is not None.
    pub const HAS_ARG: u8 = 1;
    /// `is_jump_target`.
    pub const JUMP_TARGET: u8 = 1 << 1;
    /// `starts_line` reads None although there is a position.
    pub const LINE_HIDDEN: u8 = 1 << 2;
    /// The garbage collector knows the object.
    pub const TRACKED: u8 = 1 << 3;
    /// `argval` holds the names of localsplus, and `arg` says which two of them are meant.
    pub const PAIR: u8 = 1 << 4;
    /// `arg` was set after `argval`.
    pub const ARG_NEWER: u8 = 1 << 5;
    /// `argval` was set after `arg`.
    pub const ARGVAL_NEWER: u8 = 1 << 6;
    /// The garbage collector is to know the object if it outlives the [`batch`] that it belongs to.
    pub const DEFERRED: u8 = 1 << 7;

    /// No flag.
    pub const NONE: Self = Self(0);

    /// These flags.
    pub const fn of(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether a flag (or one of several) is set.
    pub const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Sets or clears a flag.
    pub const fn set(&mut self, bit: u8, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }
}

/// A bytecode instruction as Python sees it. Fields are native; what Python sees of them is made when asked for.
#[repr(C)]
pub struct Instruction {
    ob_base: ffi::PyObject,
    weakrefs: Obj,
    /// Interned and borrowed from [`crate::state::State`], which lives for ever.
    opname: Obj,
    /// An instruction (owned) or None (borrowed: None lives for ever).
    target: Obj,
    /// An exception table entry (owned) or None (borrowed).
    entry: Obj,
    /// Owned; NULL if it follows from `arg`; see also [`Flags::PAIR`].
    argval: Obj,
    /// Owned; NULL if it follows from the rest.
    argrepr: Obj,
    /// Source position.
    pub loc: Location,
    /// The operand, if [`Flags::HAS_ARG`].
    pub arg: u32,
    /// Byte offset, or [`NO_OFFSET`].
    offset: u32,
    /// Scratch of the lowering pass: the place in the list that is being lowered.
    pub index: u32,
    /// CPython's number.
    pub opcode: u8,
    /// See [`Flags`].
    pub flags: Flags,
    /// How disassembly found it written.
    pub written: Written,
}

/// What a new instruction is made of. References are borrowed; the instruction takes its own.
pub struct Parts {
    pub opcode: u8,
    pub flags: Flags,
    pub written: Written,
    pub arg: u32,
    pub offset: u32,
    pub loc: Location,
    /// NULL if it follows from `arg`.
    pub argval: Obj,
}

impl Parts {
    /// An instruction without operand, position and offset.
    pub fn new(opcode: u8) -> Self {
        Self {
            opcode,
            flags: Flags::NONE,
            written: Written::PLAIN,
            arg: 0,
            offset: NO_OFFSET,
            loc: Location::NONE,
            argval: state().not_provided,
        }
    }
}

/// None, borrowed.
fn none() -> Obj {
    // SAFETY: None is a static object.
    unsafe { ffi::Py_None() }
}

/// Makes an instruction; NULL with `MemoryError` set if there is no memory.
///
/// # Safety
/// The GIL is held and `parts.argval` is live or NULL.
pub unsafe fn make(parts: &Parts) -> *mut Instruction {
    // SAFETY: the GIL is held; every field is written before the object is seen by anyone. It owns no reference to its
    // type, which has no subtypes and lives for ever.
    unsafe {
        let this = slab::allocate();
        if this.is_null() {
            return ffi::PyErr_NoMemory().cast();
        }
        (*this).ob_base.ob_type = state().instruction_type;
        capi::_Py_NewReference(this.cast());
        ffi::Py_XINCREF(parts.argval);
        (*this).weakrefs = ptr::null_mut();
        (*this).opname = state().opnames[parts.opcode as usize];
        (*this).target = none();
        (*this).entry = none();
        (*this).argval = parts.argval;
        (*this).argrepr = ptr::null_mut();
        (*this).loc = parts.loc;
        (*this).arg = parts.arg;
        (*this).offset = parts.offset;
        (*this).index = 0;
        (*this).opcode = parts.opcode;
        (*this).flags = parts.flags;
        (*this).written = parts.written;
        if can_refer_back(parts.argval) {
            (*this).track();
        }
        this
    }
}

/// Whether a constant might lead back to an instruction that holds it.
unsafe fn can_refer_back(object: Obj) -> bool {
    // SAFETY: `object` is NULL or live. Tuples and code objects are traversed by the collector but are immutable, and
    // those that reach an instruction here are constants, which are older than the instruction.
    unsafe {
        !object.is_null()
            && ffi::PyObject_IS_GC(object) != 0
            && ffi::PyTuple_CheckExact(object) == 0
            && ffi::PyCode_Check(object) == 0
    }
}

impl Instruction {
    /// Whether `object` is an instruction of this type.
    pub fn check(object: Obj) -> bool {
        // SAFETY: callers pass live objects.
        unsafe { ffi::Py_TYPE(object) == state().instruction_type }
    }

    /// The instruction behind a live object, if it is one.
    ///
    /// The reference is good as long as the object lives and no Python code runs.
    pub fn from_object<'a>(object: Obj) -> Option<&'a mut Self> {
        // SAFETY: the type is checked; the GIL keeps other threads away, and the caller honours the lifetime above.
        if Self::check(object) { unsafe { object.cast::<Self>().as_mut() } } else { None }
    }

    /// The garbage collector is to know the object, now or when its batch ends.
    fn track(&mut self) {
        if !self.flags.has(Flags::TRACKED | Flags::DEFERRED) {
            self.track_now();
        }
    }

    /// Leaves it to the object's batch whether the garbage collector gets to know it.
    pub fn defer(&mut self) {
        if !self.flags.has(Flags::TRACKED | Flags::DEFERRED) {
            self.flags.set(Flags::DEFERRED, true);
            batch::one_more();
        }
    }

    fn track_now(&mut self) {
        self.flags.set(Flags::TRACKED, true);
        debt::grow();
        // SAFETY: the object lies behind the collector's two words, which are zero; it is fully initialised, and is not
        // tracked yet.
        unsafe { ffi::PyObject_GC_Track((&raw mut *self).cast()) };
    }

    /// Its name.
    pub fn opname_str(&self) -> &'static str {
        state().tables.info[self.opcode as usize].name
    }

    /// How its operand is resolved.
    pub fn operand(&self) -> Operand {
        state().operands[self.opcode as usize]
    }

    /// Changes the operation; `opname` follows.
    pub fn set_opcode(&mut self, opcode: u8) {
        if self.flags.has(Flags::PAIR) && opcode != self.opcode {
            self.set_argval(state().not_provided);
        }
        self.opcode = opcode;
        self.opname = state().opnames[opcode as usize];
    }

    /// The operand, if there is one.
    pub fn arg(&self) -> Option<u32> {
        self.flags.has(Flags::HAS_ARG).then_some(self.arg)
    }

    /// Sets the operand: it is now newer than `argval`. None leaves the operand to `argval`.
    pub fn set_arg(&mut self, arg: Option<u32>) {
        self.arg = arg.unwrap_or(0);
        self.flags.set(Flags::HAS_ARG, arg.is_some());
        self.flags.set(Flags::ARG_NEWER, arg.is_some());
        self.flags.set(Flags::ARGVAL_NEWER, arg.is_none() && self.argval_given().is_some());
    }

    /// What was given as `argval`, borrowed: not NULL, not the sentinel, not a pair that follows from `arg`.
    pub fn argval_given(&self) -> Option<Obj> {
        (!self.argval.is_null() && self.argval != state().not_provided && !self.flags.has(Flags::PAIR))
            .then_some(self.argval)
    }

    /// Names of localsplus if `argval` is two of them, as `arg` says; borrowed.
    pub fn pair_names(&self) -> Option<Obj> {
        self.flags.has(Flags::PAIR).then_some(self.argval)
    }

    /// Sets `argval` (NULL: it follows from `arg`), which is now newer than `arg`.
    pub fn set_argval(&mut self, argval: Obj) {
        let given = !argval.is_null() && argval != state().not_provided;
        self.flags.set(Flags::PAIR, false);
        self.flags.set(Flags::ARGVAL_NEWER, given);
        if given {
            self.flags.set(Flags::ARG_NEWER, false);
        }
        // SAFETY: `argval` is NULL or live; the old value is released last, when the object is consistent again.
        unsafe {
            ffi::Py_XINCREF(argval);
            let old = std::mem::replace(&mut self.argval, argval);
            if can_refer_back(argval) {
                self.track();
            }
            ffi::Py_XDECREF(old);
        }
    }

    /// The jump target, borrowed.
    pub fn target(&self) -> Option<Obj> {
        (self.target != none()).then_some(self.target)
    }

    /// Sets the jump target; a native one learns that it is a target.
    pub fn set_target(&mut self, target: Option<Obj>) {
        if let Some(inst) = target.and_then(Self::from_object) {
            inst.flags.set(Flags::JUMP_TARGET, true);
        }
        // SAFETY: `target` is live; see `swap_reference`.
        let old = unsafe { swap_reference(&mut self.target, target) };
        if target.is_some() {
            self.track();
        }
        release(old);
    }

    /// The exception table entry, borrowed.
    pub fn entry(&self) -> Option<Obj> {
        (self.entry != none()).then_some(self.entry)
    }

    /// Sets the exception table entry.
    pub fn set_entry(&mut self, entry: Option<Obj>) {
        // SAFETY: `entry` is live; see `swap_reference`.
        let old = unsafe { swap_reference(&mut self.entry, entry) };
        if entry.is_some() {
            self.track();
        }
        release(old);
    }

    /// The byte offset, if it was ever laid out.
    pub fn offset(&self) -> Option<u32> {
        (self.offset != NO_OFFSET).then_some(self.offset)
    }

    /// Takes note of where assembly put the instruction and of its operand there (if it is the same instruction there).
    pub fn was_assembled(&mut self, offset: u32, opcode: u8, arg: u32) {
        self.offset = offset;
        if opcode == self.opcode && !self.flags.has(Flags::PAIR) {
            self.arg = arg;
            if state().has_arg[opcode as usize] {
                self.flags.set(Flags::HAS_ARG, true);
            }
        }
    }

    /// Sets the byte offset.
    pub fn set_offset(&mut self, offset: Option<u32>) {
        self.offset = offset.unwrap_or(NO_OFFSET);
    }
}

/// Puts an owned `new` (or a borrowed None) into `slot` and gives what was there.
///
/// # Safety
/// `new` is live; the caller owns the result unless it is None.
unsafe fn swap_reference(slot: &mut Obj, new: Option<Obj>) -> Obj {
    // SAFETY: as the contract says.
    unsafe {
        let new = new.map_or_else(none, |object| {
            ffi::Py_INCREF(object);
            object
        });
        std::mem::replace(slot, new)
    }
}

/// Releases what `swap_reference` gave.
fn release(old: Obj) {
    if old != none() {
        // SAFETY: owned by the caller, given up here.
        unsafe { ffi::Py_DECREF(old) };
    }
}

unsafe extern "C" fn dealloc(object: Obj) {
    // SAFETY: called by the interpreter once, with the GIL, when the last reference is gone.
    unsafe {
        let this = object.cast::<Instruction>();
        if (*this).flags.has(Flags::TRACKED) {
            ffi::PyObject_GC_UnTrack(object.cast());
            debt::shrink();
        }
        if !(*this).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        if (*this).flags.has(Flags::DEFERRED) {
            batch::one_died();
        }
        (*this).flags = Flags::NONE;
        let mut last = [ptr::null_mut(); 4];
        for (last, reference) in
            last.iter_mut().zip([(*this).target, (*this).entry, (*this).argval, (*this).argrepr])
        {
            if reference.is_null() || reference == none() {
                continue;
            }
            if ffi::Py_REFCNT(reference) > 1 {
                ffi::Py_DECREF(reference);
            } else {
                *last = reference;
            }
        }
        slab::free(this);
        if last.iter().any(|r| !r.is_null()) {
            release_all(last);
        }
    }
}

unsafe extern "C" fn traverse(object: Obj, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector on a live object; every slot is NULL or live.
    unsafe {
        let this = object.cast::<Instruction>();
        for reference in [(*this).target, (*this).entry, (*this).argval, (*this).argrepr] {
            if !reference.is_null() && reference != none() {
                let stop = visit(reference, arg);
                if stop != 0 {
                    return stop;
                }
            }
        }
        0
    }
}

unsafe extern "C" fn clear(object: Obj) -> c_int {
    // SAFETY: called by the collector on a live object, which stays consistent: every slot is replaced before its old
    // value is released.
    unsafe {
        let this = &mut *object.cast::<Instruction>();
        let owned = |reference: Obj| if reference == none() { ptr::null_mut() } else { reference };
        let target = owned(std::mem::replace(&mut this.target, none()));
        let entry = owned(std::mem::replace(&mut this.entry, none()));
        let argval = std::mem::replace(&mut this.argval, ptr::null_mut());
        this.flags.set(Flags::PAIR, false);
        let argrepr = std::mem::replace(&mut this.argrepr, ptr::null_mut());
        release_all([target, entry, argval, argrepr]);
    }
    0
}

/// Makes the type. It lives as long as the process.
///
/// # Errors
/// `MemoryError`, in practice.
pub fn make_type(py: Python<'_>) -> PyResult<*mut ffi::PyTypeObject> {
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = vec![
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_new, methods::new as *mut c_void),
        slot(ffi::Py_tp_repr, methods::repr as *mut c_void),
        slot(ffi::Py_tp_methods, methods::table().cast()),
        slot(ffi::Py_tp_setattro, attributes::set_attribute as *mut c_void),
        slot(ffi::Py_tp_getset, attributes::getset_table().cast()),
        slot(ffi::Py_tp_members, attributes::member_table().cast()),
        slot(ffi::Py_tp_doc, methods::DOC.as_ptr().cast_mut().cast()),
        ffi::PyType_Slot::default(),
    ];
    let flags: c_ulong = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_IMMUTABLETYPE;
    let mut spec = ffi::PyType_Spec {
        name: c"pydynamo._core.Instruction".as_ptr(),
        basicsize: size_of::<Instruction>() as c_int,
        itemsize: 0,
        flags: flags as std::ffi::c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec is complete; tables it points to are leaked; the type is copied from the spec.
    let ty = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
    Ok(ty.unbind().into_ptr().cast())
}

/// The class, as a Python object.
pub fn class(py: Python<'_>) -> Bound<'_, PyAny> {
    // SAFETY: the type lives for ever.
    unsafe { Bound::from_borrowed_ptr(py, state().instruction_type.cast()) }
}

/// The sentinel `_NotProvided`.
pub fn sentinel(py: Python<'_>) -> Bound<'_, PyAny> {
    // SAFETY: the sentinel lives for ever.
    unsafe { Bound::from_borrowed_ptr(py, state().not_provided) }
}

/// Offsets that the member table names.
const OPNAME_OFFSET: usize = offset_of!(Instruction, opname);
const TARGET_OFFSET: usize = offset_of!(Instruction, target);
const ENTRY_OFFSET: usize = offset_of!(Instruction, entry);
const WEAKREFS_OFFSET: usize = offset_of!(Instruction, weakrefs);
