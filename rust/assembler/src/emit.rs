//! The three byte strings of a finished code object, each written by one walk over records and layout.
use crate::code::Program;
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX};
use crate::layout::Layout;
use crate::version::Version;
use crate::{exntable, linetable, shape};

/// Instructions whose positions are compared at a time: the bits of a word.
const CHUNK: usize = 64;

/// Writes `co_code`.
pub fn code(version: Version, insts: &[Inst], layout: &Layout, out: &mut Vec<u8>) {
    let shapes = shape::of(version);
    out.clear();
    out.resize(2 * layout.units() as usize, 0);
    let out = out.as_chunks_mut::<2>().0;
    let starts = &layout.starts()[..=insts.len()];
    for (inst, pair) in insts.iter().zip(starts.windows(2)) {
        let (start, end) = (pair[0], pair[1]);
        let shape = shapes[inst.opcode as usize];
        let arg = if shape.is_jump() { end.abs_diff(starts[inst.target as usize]) } else { inst.arg };
        let at = end - 1 - shape.caches();
        out[at as usize] = [inst.opcode, arg as u8];
        if at != start {
            prefixes(version, &mut out[start as usize..at as usize], arg);
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
    let starts = &layout.starts()[..=insts.len()];
    let mut from = 0;
    // Whether a run of one position ends is anybody's guess, and a wrong guess costs more than all else here: so ask first, 64 times
    // without a branch, then go through the answers.
    for base in (0..insts.len()).step_by(CHUNK) {
        let chunk = &insts[base..insts.len().min(base + CHUNK + 1)];
        let mut ends = 0_u64;
        if merges {
            for (bit, pair) in chunk.windows(2).enumerate() {
                ends |= u64::from(!pair[0].loc.same(&pair[1].loc)) << bit;
            }
        } else {
            ends = u64::MAX.checked_shr((CHUNK + 1 - chunk.len()) as u32).unwrap_or(0);
        }
        if chunk.len() <= CHUNK {
            ends |= 1 << (chunk.len() - 1);
        }
        while ends != 0 {
            let last = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let end = starts[last + 1];
            writer.write(end - from, &insts[last].loc).map_err(|what| unwritable(what, last))?;
            from = end;
        }
    }
    writer.finish();
    Ok(())
}

/// The error for an instruction's position.
#[cold]
fn unwritable(what: &str, index: usize) -> Error {
    Error::at(ErrorKind::BadLineTable, index as u32, what)
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
