//! The instructions that a transformation is given, for as long as it runs.
//!
//! Nearly always they die with the list: nobody kept one. But exception regions tie them into cycles (an instruction refers
//! to its entry, the entry to its first instruction), which would leave them to the garbage collector; and letting it know
//! each of them costs time twice, when it is told and when it looks at all of them in vain. So it is told nothing of a
//! batch at first. When the transformation is over, references are counted: if each comes from the list or from
//! within it, the cycles are cut and everything dies with the list. Otherwise the collector gets to know what is left.
//!
//! Until then it takes whatever the batch refers to for alive, which is the safe side.
use super::ahead::{FAR, ahead};
use super::{Flags, Instruction, slab};
use crate::capi::{GilCell, Obj};
use crate::entry::InstructionExnTabEntry;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

struct Open {
    /// There is a batch; another one must wait for its end.
    is_open: bool,
    /// Its living instructions that the collector must be told of.
    deferred: usize,
}

static OPEN: GilCell<Open> = GilCell::new(Open { is_open: false, deferred: 0 });

/// An instruction of the batch shall be deferred.
pub fn one_more() {
    // SAFETY: the GIL is held by whoever has an instruction.
    unsafe { OPEN.get().deferred += 1 };
}

/// A deferred instruction died.
pub fn one_died() {
    // SAFETY: as in `one_more`.
    unsafe { OPEN.get().deferred -= 1 };
}

fn deferred() -> usize {
    // SAFETY: the GIL is held by whoever has a batch.
    unsafe { OPEN.get().deferred }
}

/// Instructions whose memory lies behind each other: from the first up to, not including, the last.
struct Run {
    first: *mut Instruction,
    end: *mut Instruction,
}

/// The instructions and entries of one list. What was not closed is handed over to the collector.
pub struct Batch<'py> {
    runs: Vec<Run>,
    entries: Vec<Bound<'py, InstructionExnTabEntry>>,
    py: Python<'py>,
}

impl<'py> Batch<'py> {
    /// A new batch, if none is open: one that begins while another transformation runs can do without.
    pub fn open(py: Python<'py>) -> Option<Self> {
        // SAFETY: the GIL is held.
        unsafe {
            if std::mem::replace(&mut OPEN.get().is_open, true) {
                return None;
            }
            slab::hold(true);
        }
        Some(Self { runs: Vec::new(), entries: Vec::new(), py })
    }

    /// Has the collector forget the list itself, which [`Self::close`] is given: it would look at each item.
    pub fn hide(list: &Bound<'py, PyList>) {
        // SAFETY: a list, which the collector knows.
        unsafe { ffi::PyObject_GC_UnTrack(list.as_ptr().cast()) };
    }

    /// Takes a new instruction in.
    #[inline]
    pub fn add(&mut self, object: *mut Instruction) {
        let end = slab::following(object);
        match self.runs.last_mut() {
            Some(run) if run.end == object => run.end = end,
            _ => self.runs.push(Run { first: object, end }),
        }
    }

    /// Takes a new entry in.
    pub fn add_entry(&mut self, entry: &Bound<'py, InstructionExnTabEntry>) {
        entry.borrow_mut().deferred = true;
        // SAFETY: a live object of a type that the collector knows, told of once.
        unsafe { ffi::PyObject_GC_UnTrack(entry.as_ptr().cast()) };
        self.entries.push(entry.clone());
    }

    /// Ends the batch together with the list that it is of. `lowered` says that its instructions were just stamped with
    /// their places.
    pub fn close(mut self, list: Bound<'py, PyList>, lowered: bool) {
        let known = references(list.as_ptr()) > 1;
        // SAFETY: a list; `hide` made the collector forget it.
        unsafe {
            if known && ffi::PyObject_GC_IsTracked(list.as_ptr()) == 0 {
                ffi::PyObject_GC_Track(list.as_ptr().cast());
            }
        }
        if deferred() == 0 && self.entries.is_empty() {
            return;
        }
        // What nothing else refers to dies here.
        self.entries.retain(|entry| references(entry.as_ptr()) > 1);
        if lowered
            && !known
            && let Some(knots) = self.knots(&list)
        {
            for (i, entry) in self.entries.iter().enumerate() {
                self.prefetch(i + ahead(self.entries.len()));
                entry.borrow_mut().let_go();
            }
            for (i, &knot) in knots.iter().enumerate() {
                super::prefetch_target(knots.get(i + ahead(knots.len())).map(|later| later.cast()).as_ref());
                // SAFETY: the list, which is alive, has it, and everything that it refers to.
                unsafe { (*knot).set_target(None) };
            }
        }
        // Dropping `self` tells the collector of what outlives the list.
        drop(list);
    }

    /// Whether each reference to the instructions of `list` and to the entries comes from among themselves. If so, gives
    /// the jumps that a cycle of targets must go through.
    fn knots(&self, list: &Bound<'py, PyList>) -> Option<Vec<*mut Instruction>> {
        // SAFETY: the list is alive, and nothing here runs Python code. Items are checked to be instructions before they are
        // read as such.
        let items: &[Obj] = unsafe {
            let len = ffi::PyList_GET_SIZE(list.as_ptr()) as usize;
            if len == 0 {
                return Some(Vec::new());
            }
            std::slice::from_raw_parts((*list.as_ptr().cast::<ffi::PyListObject>()).ob_item, len)
        };
        let member = |object: Obj| {
            let inst = read(object)?;
            (items.get(inst.index as usize) == Some(&object)).then_some(inst)
        };
        let near = ahead(items.len());
        let mut knots = Vec::new();
        let mut from_elsewhere = 0;
        let mut known_entry = std::ptr::null_mut();
        for (i, item) in items.iter().enumerate() {
            super::prefetch_target(items.get(i + near));
            let inst = read(*item)?;
            // In its own place, it stands in the list once.
            if inst.index as usize != i || !inst.weakrefs.is_null() {
                return None;
            }
            from_elsewhere += references(*item) - 1;
            if let Some(target) = inst.target() {
                let target = member(target)?;
                from_elsewhere -= 1;
                // A way that comes back goes back somewhere, and on from there. What lies far away is let go with them, as
                // its memory can be asked for ahead there.
                let back = i.checked_sub(target.index as usize);
                if back.is_some_and(|distance| distance > FAR || target.target().is_some()) {
                    knots.push(item.cast());
                }
            }
            if let Some(entry) = inst.entry() {
                if entry != known_entry {
                    // SAFETY: the instruction owns a reference.
                    let object = unsafe { Borrowed::from_ptr(self.py, entry) };
                    if !object.cast_exact::<InstructionExnTabEntry>().ok()?.borrow().deferred {
                        return None;
                    }
                    known_entry = entry;
                }
                from_elsewhere -= 1;
            }
        }
        for (i, entry) in self.entries.iter().enumerate() {
            self.prefetch(i + ahead(self.entries.len()));
            if has_weak_references(entry.as_any()) {
                return None;
            }
            from_elsewhere += references(entry.as_ptr()) - 1;
            for end in entry.borrow().ends() {
                member(end?.as_ptr())?;
                from_elsewhere -= 1;
            }
        }
        (from_elsewhere == 0).then_some(knots)
    }

    fn prefetch(&self, entry: usize) {
        if let Some(entry) = self.entries.get(entry) {
            entry.borrow().prefetch();
        }
    }

    /// Tells the collector of what is alive.
    fn hand_over(&mut self) {
        if deferred() > 0 {
            for run in &self.runs {
                let mut object = run.first;
                while object != run.end {
                    // SAFETY: the slab is held since the batch was opened, so the memory is that of an instruction, alive or
                    // dead; the dead have no flags.
                    let inst = unsafe { &mut *object };
                    if inst.flags.has(Flags::DEFERRED) {
                        inst.flags.set(Flags::DEFERRED, false);
                        one_died();
                        inst.track_now();
                    }
                    object = slab::following(object);
                }
            }
        }
        for entry in self.entries.drain(..) {
            entry.borrow_mut().deferred = false;
            if references(entry.as_ptr()) > 1 {
                // SAFETY: `add_entry` made the collector forget the object, and nobody has told it since.
                unsafe { ffi::PyObject_GC_Track(entry.as_ptr().cast()) };
            }
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.hand_over();
        // SAFETY: the GIL is held.
        unsafe {
            OPEN.get().is_open = false;
            slab::hold(false);
        }
    }
}

/// The instruction behind an object, if it is one.
fn read<'a>(object: Obj) -> Option<&'a Instruction> {
    // SAFETY: the type is checked; callers pass live objects, and use the result while nobody writes.
    if Instruction::check(object) { unsafe { object.cast::<Instruction>().as_ref() } } else { None }
}

fn references(object: Obj) -> isize {
    // SAFETY: callers pass live objects.
    unsafe { ffi::Py_REFCNT(object) }
}

fn has_weak_references(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: where an object's type says that it has a list of weak references, it has one: a pointer.
    unsafe {
        let offset = (*object.get_type_ptr()).tp_weaklistoffset;
        offset > 0 && !object.as_ptr().byte_offset(offset).cast::<Obj>().read().is_null()
    }
}
