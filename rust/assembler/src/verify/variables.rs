//! Locals: loads, and how cells get where they belong.
use super::machine::Machine;
use super::slot::Slot;
use super::special::want_prologue;
use crate::code::LocalKind;
use crate::error::{ErrorKind, Result};

#[inline(always)]
pub(super) fn load_fast(m: &mut Machine<'_>, local: u32, unchecked: bool) -> Result<()> {
    if unchecked {
        m.want_bound(local)?;
    }
    let slot = Slot::of(m.local_tag(local));
    m.push(slot);
    Ok(())
}

#[inline(always)]
pub(super) fn load_borrowed(m: &mut Machine<'_>, local: u32, which: u32) -> Result<()> {
    m.want_bound(local)?;
    let slot = Slot::borrowed(m.local_tag(local), m.index << 1 | which);
    m.push(slot);
    Ok(())
}

pub(super) fn want_not_free(m: &Machine<'_>, local: u32) -> Result<()> {
    if m.meta.locals[local as usize] == LocalKind::Free {
        return Err(
            m.error(ErrorKind::BadLocal, "the slot of a free variable keeps its cell: use DELETE_DEREF")
        );
    }
    Ok(())
}

/// The cells of the closure come into their slots.
pub(super) fn copy_free_vars(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    want_prologue(m)?;
    let free = m.meta.locals.iter().filter(|kind| **kind == LocalKind::Free).count();
    if arg as usize != free {
        let reason = format!("COPY_FREE_VARS says {arg}, but there are {free} free variables");
        return Err(m.error(ErrorKind::BadPrologue, reason));
    }
    for (local, kind) in m.meta.locals.iter().enumerate() {
        if *kind == LocalKind::Free {
            m.set_local(local as u32, true, true);
        }
    }
    Ok(())
}

/// What a comprehension sets aside; the local is unbound afterwards.
pub(super) fn load_and_clear(m: &mut Machine<'_>, arg: u32) -> Result<()> {
    want_not_free(m, arg)?;
    let slot = if m.locals.is_bound(arg) { Slot::of(m.local_tag(arg)) } else { Slot::taken_from(arg) };
    m.release(arg)?;
    m.set_local(arg, false, false);
    m.push(slot);
    Ok(())
}
