//! Memory that will be read soon is asked for ahead.
use super::Instruction;
use crate::capi::{self, Obj};
use std::mem::offset_of;

/// From how many instructions on things lie beyond what the processor's nearer caches hold.
pub const FAR: usize = 1 << 12;

/// How many instructions (or entries) ahead of the one that is worked on memory is asked for, in a list of `len`: what jumps
/// and regions refer to may lie anywhere, where the processor does not expect it. Short lists are all within its reach.
pub const fn ahead(len: usize) -> usize {
    if len > FAR { 16 } else { len }
}

/// Asks for the memory of what an instruction that will be worked on soon jumps to.
#[inline]
pub fn prefetch_target(item: Option<&Obj>) {
    if let Some(&item) = item
        && Instruction::check(item)
    {
        // SAFETY: the type was just checked; callers pass items of a list that is alive.
        prefetch(unsafe { (*item.cast::<Instruction>()).target });
    }
}

/// Asks for the memory of what may be an instruction.
#[inline]
pub fn prefetch(object: Obj) {
    capi::prefetch(object);
    capi::prefetch(object.wrapping_byte_add(offset_of!(Instruction, index)));
}
