//! Memory for instructions: chunks of cells, used in the order of their addresses.
//!
//! A list of a million instructions is made in one sweep, read in one and freed in one; so its objects should lie behind
//! each other, and their memory should come from the system, and go back to it, in few large pieces. A cell is laid out as
//! the interpreter lays out what `_PyObject_GC_New` gives: the collector's two words, then the object.
use super::Instruction;
use crate::capi::GilCell;
use std::ptr;

/// Bytes of a chunk, and its alignment: what a huge page has on most machines.
const CHUNK: usize = 2 << 20;
/// How many empty chunks are kept beside the first one, which stays for ever.
const KEPT: usize = 1;
/// Cells of a chunk.
const CELLS: u32 = ((CHUNK - size_of::<Chunk>()) / size_of::<Cell>()) as u32;

/// An instruction with what the collector keeps before it: two words, zero while it does not know the object.
#[repr(C)]
struct Cell {
    collector: [usize; 2],
    object: Instruction,
}

/// What a dead cell holds in the place of the object.
#[repr(C)]
struct Dead {
    next: *mut Instruction,
}

/// The head of a chunk; its cells follow.
#[repr(C, align(16))]
struct Chunk {
    /// Dead cells, a linked list.
    dead: *mut Instruction,
    /// Neighbours in the list of chunks that have room.
    next: *mut Chunk,
    previous: *mut Chunk,
    /// Live cells.
    live: u32,
    /// Cells from this one on were not used since the chunk was last empty.
    fresh: u32,
    /// It is in the list.
    has_room: bool,
    /// It is never given back.
    is_first: bool,
}

const _: () = assert!(
    size_of::<Chunk>().is_multiple_of(16) && size_of::<Cell>().is_multiple_of(16) && CHUNK.is_power_of_two()
);
const _: () = assert!(std::mem::offset_of!(Cell, object) == size_of::<[usize; 2]>());

struct Slab {
    /// The chunks with room; cells come from its head.
    rooms: *mut Chunk,
    /// How many chunks of that list are empty, not counting the first chunk.
    empty: usize,
    /// Whether there ever was a chunk.
    started: bool,
    /// Empty chunks stay mapped, however many.
    held: bool,
}

static SLAB: GilCell<Slab> =
    GilCell::new(Slab { rooms: ptr::null_mut(), empty: 0, started: false, held: false });

impl Slab {
    unsafe fn link(&mut self, chunk: *mut Chunk) {
        // SAFETY: `chunk` is mapped and in no list; those in the list are mapped.
        unsafe {
            (*chunk).has_room = true;
            (*chunk).previous = ptr::null_mut();
            (*chunk).next = self.rooms;
            if let Some(next) = self.rooms.as_mut() {
                next.previous = chunk;
            }
        }
        self.rooms = chunk;
    }

    unsafe fn unlink(&mut self, chunk: *mut Chunk) {
        // SAFETY: `chunk` is in the list, all of which is mapped.
        unsafe {
            let Chunk { next, previous, .. } = *chunk;
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => self.rooms = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            (*chunk).has_room = false;
        }
    }

    /// The first chunk with room, found after the head had none.
    #[cold]
    unsafe fn next_chunk(&mut self) -> *mut Chunk {
        // SAFETY: chunks in the list are mapped; a new one is zero, which is a valid head.
        unsafe {
            while let Some(full) = self.rooms.as_mut() {
                if !full.dead.is_null() || full.fresh < CELLS {
                    return full;
                }
                self.unlink(full);
            }
            let chunk = system::map(CHUNK, self.started).cast::<Chunk>();
            if !chunk.is_null() {
                (*chunk).is_first = !self.started;
                self.empty += usize::from(self.started);
                self.started = true;
                self.link(chunk);
            }
            chunk
        }
    }

    /// Gives empty chunks back until few enough are left.
    #[cold]
    unsafe fn trim(&mut self) {
        let mut chunk = self.rooms;
        while self.empty > KEPT && !chunk.is_null() {
            // SAFETY: chunks in the list are mapped; nothing lives in an empty one.
            unsafe {
                let next = (*chunk).next;
                if (*chunk).live == 0 && !(*chunk).is_first {
                    self.unlink(chunk);
                    system::unmap(chunk.cast(), CHUNK);
                    self.empty -= 1;
                }
                chunk = next;
            }
        }
    }
}

/// Memory for an instruction, with the collector's words before it zero; NULL if there is none.
///
/// # Safety
/// The GIL is held.
#[inline]
pub unsafe fn allocate() -> *mut Instruction {
    // SAFETY: the GIL is held; the list holds mapped chunks, and a chunk's dead and fresh cells belong to nobody.
    unsafe {
        let slab = SLAB.get();
        let mut chunk = slab.rooms;
        if chunk.is_null() || ((*chunk).dead.is_null() && (*chunk).fresh == CELLS) {
            chunk = slab.next_chunk();
            if chunk.is_null() {
                return ptr::null_mut();
            }
        }
        let head = &mut *chunk;
        if head.live == 0 && !head.is_first {
            slab.empty -= 1;
        }
        head.live += 1;
        let object = if head.dead.is_null() {
            let cell = chunk.add(1).cast::<Cell>().add(head.fresh as usize);
            head.fresh += 1;
            &raw mut (*cell).object
        } else {
            let object = head.dead;
            head.dead = (*object.cast::<Dead>()).next;
            object
        };
        object.cast::<[usize; 2]>().sub(1).write([0; 2]);
        object
    }
}

/// Takes the memory of a dead instruction back.
///
/// # Safety
/// The GIL is held, `object` came from [`allocate`], and nobody uses it again.
#[inline]
#[allow(clippy::cast_ptr_alignment)] // the address is that of a chunk
pub unsafe fn free(object: *mut Instruction) {
    // SAFETY: chunks are aligned to their size, so the chunk of a cell is found by its address.
    unsafe {
        let chunk = object.map_addr(|address| address & !(CHUNK - 1)).cast::<Chunk>();
        let head = &mut *chunk;
        object.cast::<Dead>().write(Dead { next: head.dead });
        head.dead = object;
        head.live -= 1;
        if !head.has_room {
            SLAB.get().link(chunk);
        }
        if head.live == 0 {
            // The next ones come in the order of addresses again.
            head.dead = ptr::null_mut();
            head.fresh = 0;
            if !head.is_first {
                let slab = SLAB.get();
                if slab.empty < KEPT || slab.held {
                    slab.empty += 1;
                } else {
                    slab.unlink(chunk);
                    system::unmap(chunk.cast(), CHUNK);
                }
            }
        }
    }
}

/// Whether memory stays mapped although nothing lives there.
///
/// # Safety
/// The GIL is held.
pub unsafe fn hold(held: bool) {
    // SAFETY: the GIL is held.
    unsafe {
        let slab = SLAB.get();
        slab.held = held;
        if !held && slab.empty > KEPT {
            slab.trim();
        }
    }
}

/// Where the cell after that of `object` has its object.
pub fn following(object: *mut Instruction) -> *mut Instruction {
    object.wrapping_byte_add(size_of::<Cell>())
}

/// Pages of the system.
mod system {
    use std::ffi::c_void;
    use std::ptr;

    /// `size` bytes, zero, aligned to `size`; NULL if there are none. `whole` says that all of it will be used.
    pub fn map(size: usize, whole: bool) -> *mut c_void {
        // SAFETY: fresh anonymous memory twice the size holds an aligned piece; what stands around it is given back.
        unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(ptr::null_mut(), 2 * size, access, kind, -1, 0);
            if start == libc::MAP_FAILED {
                return ptr::null_mut();
            }
            let before = start.addr().wrapping_neg() % size;
            let aligned = start.byte_add(before);
            if before > 0 {
                libc::munmap(start, before);
            }
            libc::munmap(aligned.byte_add(size), size - before);
            #[cfg(target_os = "linux")]
            if whole {
                // One page fault instead of 512, where the system has huge pages to give; elsewhere this does nothing.
                libc::madvise(aligned, size, libc::MADV_HUGEPAGE);
            }
            #[cfg(not(target_os = "linux"))]
            let _ = whole;
            aligned
        }
    }

    /// Gives what `map` gave back.
    ///
    /// # Safety
    /// Nobody uses the memory.
    pub unsafe fn unmap(start: *mut c_void, size: usize) {
        // SAFETY: as the contract says.
        unsafe { libc::munmap(start, size) };
    }
}
