//! The three byte strings of a finished code object, each written by one walk over records and layout.
use crate::code::Program;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::layout::Layout;
use crate::location::Location;
use crate::version::Version;
use crate::{exntable, linetable, shape};

/// Writes `co_code`.
pub fn code(version: Version, insts: &[Inst], layout: &Layout, out: &mut Vec<u8>) {
    let shapes = shape::of(version);
    out.clear();
    out.resize(2 * layout.units() as usize, 0);
    let out = out.as_chunks_mut::<2>().0;
    let mut unit = 0;
    for (index, (inst, &end)) in (0_u32..).zip(insts.iter().zip(layout.starts().iter().skip(1))) {
        let shape = shapes[inst.opcode as usize];
        let arg = if shape.is_jump() { layout.distance(index, inst.target) } else { inst.arg };
        let start = unit as usize;
        unit = end;
        let at = (end - 1 - shape.caches()) as usize;
        out[at] = [inst.opcode, arg as u8];
        if at != start {
            prefixes(version, &mut out[start..at], arg);
        }
    }
}

#[inline(never)]
fn prefixes(version: Version, out: &mut [[u8; 2]], arg: u32) {
    for (unit, shift) in out.iter_mut().rev().zip([8, 16, 24]) {
        *unit = [shape::extended_arg(version), (arg >> shift) as u8];
    }
}

/// Writes `co_linetable`.
///
/// # Errors
/// A position that the format cannot hold.
pub fn lines(
    version: Version,
    insts: &[Inst],
    layout: &Layout,
    firstlineno: i32,
    out: &mut Vec<u8>,
) -> Result<()> {
    let merges = linetable::merges(version);
    let mut writer = linetable::Writer::new(out, firstlineno, insts.len());
    let (mut loc, mut from) = (&Location::NONE, 0);
    for (inst, &start) in insts.iter().zip(layout.starts()) {
        if !merges || !inst.loc.same(loc) {
            let written = writer.write(start - from, loc);
            written.map_err(|what| unwritable(what, layout, start))?;
            (loc, from) = (&inst.loc, start);
        }
    }
    let written = writer.write(layout.units() - from, loc);
    written.map_err(|what| unwritable(what, layout, layout.units()))?;
    writer.finish();
    Ok(())
}

/// The error for the last instruction before unit `end`.
#[cold]
fn unwritable(what: &str, layout: &Layout, end: u32) -> Error {
    let next = layout.starts().partition_point(|&start| start < end);
    Error::at(ErrorKind::BadLineTable, next.saturating_sub(1) as u32, what)
}

/// Writes `co_exceptiontable`; `depths` says how deep the stack of each region's handler is.
pub fn exceptions(program: &Program, layout: &Layout, depths: &[u32], out: &mut Vec<u8>) {
    out.clear();
    if program.regions.is_empty() {
        return;
    }
    let (mut region, mut from) = (NO_INDEX, 0);
    let ends = std::iter::once((NO_INDEX, layout.units()));
    let starts = program.insts.iter().map(|inst| inst.region).zip(layout.starts().iter().copied());
    for (next, start) in starts.chain(ends) {
        if next == region {
            continue;
        }
        let open = program.regions.get(region as usize).zip(depths.get(region as usize));
        if let Some((open, &depth)) = open {
            let target = layout.start(open.target);
            exntable::write(
                out,
                &exntable::Entry { start: from, end: start, target, depth, lasti: open.lasti },
            );
        }
        (region, from) = (next, start);
    }
}
