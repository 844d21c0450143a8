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
    let extended_arg = shape::extended_arg(version);
    out.clear();
    out.resize(2 * layout.units() as usize, 0);
    for (index, (inst, bounds)) in (0_u32..).zip(insts.iter().zip(layout.starts().windows(2))) {
        let &[start, end] = bounds else { break };
        let shape = shapes[inst.opcode as usize];
        let arg = if shape.is_jump() { layout.distance(index, inst.target) } else { inst.arg };
        let unit = end - 1 - shape.caches();
        let at = 2 * unit as usize;
        out[at] = inst.opcode;
        out[at + 1] = arg as u8;
        if unit != start {
            for (unit, shift) in (start..unit).rev().zip([8, 16, 24]) {
                let at = 2 * unit as usize;
                out[at] = extended_arg;
                out[at + 1] = (arg >> shift) as u8;
            }
        }
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
    out.clear();
    out.reserve(3 * insts.len());
    let mut writer = linetable::Writer::new(out, firstlineno);
    let (mut loc, mut from) = (Location::NONE, 0);
    for (index, (inst, &start)) in (0_u32..).zip(insts.iter().zip(layout.starts())) {
        if !merges || inst.loc != loc || inst.written.opens_entry() {
            let written = writer.write(start - from, &loc);
            written.map_err(|what| unwritable(what, index))?;
            (loc, from) = (inst.loc, start);
        }
    }
    let written = writer.write(layout.units() - from, &loc);
    written.map_err(|what| unwritable(what, insts.len() as u32))
}

/// The error for the instructions that end before `next`.
#[cold]
fn unwritable(what: &str, next: u32) -> Error {
    Error::at(ErrorKind::BadLineTable, next.saturating_sub(1), what)
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
