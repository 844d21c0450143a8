//! Disassembly: the three tables of a code object become one list of records.
//!
//! CACHE and EXTENDED_ARG units go, jump targets and exception regions become indices, every record gets its position.
//! One walk over the units reads all three tables side by side; a second one over the jumps turns units into indices.
use std::cell::RefCell;

use crate::code::{Program, RawCode, Region, RegionDepth};
use crate::error::{Error, ErrorKind, Result};
use crate::inst::{Inst, NO_INDEX, Written};
use crate::layout::Layout;
use crate::linetable;
use crate::location::Location;
use crate::shape::{self, Shape, Shapes};
use crate::units::{self, Read};
use crate::version::Version;
use crate::{exntable, tables};

/// Code objects above this many units are refused, so that no sum of sizes can overflow 32 bits.
pub const MAX_UNITS: u32 = 1 << 28;

/// With one jump or region for so many instructions, all units' indices are noted.
const WORTH_A_TABLE: usize = 6;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What is reused from one code object to the next.
#[derive(Debug, Default)]
struct Scratch {
    /// First unit (be it a prefix) of each instruction.
    starts: Vec<u32>,
    /// Index of the instruction that begins at a unit, or [`NO_INDEX`].
    index_at: Vec<u32>,
    lines: Vec<Stretch>,
    /// First and last-plus-one unit of each region.
    spans: Vec<(u32, u32)>,
    /// The jumps, by index.
    jumps: Vec<u32>,
    /// Jumps with EXTENDED_ARG prefixes, and how many.
    wide_jumps: Vec<(u32, u32)>,
    /// `co_code`, if the program is to go back to where it came from.
    plain: Vec<u8>,
    layout: Layout,
}

/// Takes a code object apart into `program`, whose former content is dropped but whose memory is used again.
///
/// Each entry of `co_exceptiontable` becomes a region of its own, with the depth that is stated there.
///
/// # Errors
/// A code object that is damaged: opcodes that no code object may contain, a truncated instruction, a jump or a handler into the
/// middle of an instruction or out of the code, a damaged or ill-fitting line or exception table.
pub fn disassemble(version: Version, raw: &RawCode, program: &mut Program) -> Result<()> {
    SCRATCH.with_borrow_mut(|scratch| {
        disassemble_with::<true>(version, raw, program, scratch)?;
        if scratch.wide_jumps.is_empty() { Ok(()) } else { remember_long_jumps(version, program, scratch) }
    })
}

/// The same, for programs that go back to where they came from: no instruction gets its position, and the line table is left to
/// [`check_lines`]. See [`crate::code::Options::unedited`].
///
/// # Errors
/// As [`disassemble`].
pub fn disassemble_unedited(
    version: Version,
    raw: &RawCode,
    program: &mut Program,
    unedited: &mut Unedited,
) -> Result<()> {
    unedited.fits = disassemble_with::<false>(version, raw, program, &mut unedited.scratch)?;
    Ok(())
}

/// Checks the line table of code whose instructions are wanted without positions.
///
/// # Errors
/// A damaged or ill-fitting line table.
pub fn check_lines(raw: &RawCode) -> Result<()> {
    let units = u32::try_from(raw.code.len() / 2).unwrap_or(u32::MAX);
    fits(raw, units, linetable::check(raw.linetable, raw.firstlineno, units.min(MAX_UNITS))?)
}

/// What is known of a program that was taken apart and that nobody edits.
#[derive(Debug, Default)]
pub struct Unedited {
    /// Whether all jumps have the opcodes of their direction.
    pub(crate) fits: bool,
    scratch: Scratch,
}

impl Unedited {
    /// What is to be its `co_code` again.
    #[must_use]
    pub fn code(&self) -> &[u8] {
        &self.scratch.plain
    }
}

/// Says whether all jumps have the opcodes of their direction.
fn disassemble_with<const POSITIONS: bool>(
    version: Version,
    raw: &RawCode,
    program: &mut Program,
    scratch: &mut Scratch,
) -> Result<bool> {
    program.insts.clear();
    program.regions.clear();
    scratch.jumps.clear();
    scratch.wide_jumps.clear();
    scratch.spans.clear();
    if !raw.code.len().is_multiple_of(2) {
        return Err(Error::whole(ErrorKind::BadCode, "co_code has an odd number of bytes"));
    }
    let units = u32::try_from(raw.code.len() / 2).unwrap_or(u32::MAX);
    if units > MAX_UNITS {
        return Err(Error::whole(ErrorKind::TooLarge, format!("co_code is longer than {MAX_UNITS} units")));
    }
    program.insts.reserve(units as usize);

    let mut table = exntable::Reader::new(raw.exceptiontable, units);
    while let Some(entry) = table.next_entry()? {
        scratch.spans.push((entry.start, entry.end));
        // The target is a unit for now.
        program.regions.push(Region {
            target: entry.target,
            depth: RegionDepth::Fixed(entry.depth),
            lasti: entry.lasti,
        });
    }
    walk::<POSITIONS>(version, raw, program, scratch)?;
    resolve_targets(version, program, scratch, units)
}

fn walk<const POSITIONS: bool>(
    version: Version,
    raw: &RawCode,
    program: &mut Program,
    scratch: &mut Scratch,
) -> Result<()> {
    let reading = units::reading(version, raw.live);
    let units = (raw.code.len() / 2) as u32;
    scratch.starts.clear();
    scratch.starts.reserve(units as usize);
    scratch.plain.clear();
    if POSITIONS {
        read_lines(raw, units, &mut scratch.lines)?;
    } else {
        scratch.lines.clear();
        scratch.lines.push(Stretch::LAST);
        scratch.plain.resize(raw.code.len(), 0);
    }
    let lines = &scratch.lines[..];
    let plain = scratch.plain.as_chunks_mut::<2>().0;
    // The last stretch has no end, so there is always one.
    let (mut line, mut stretch) = (0, &lines[0]);
    let mut regions = Regions { spans: &scratch.spans, next: 0, current: NO_INDEX, boundary: 0 };
    regions.boundary = regions.spans.first().map_or(u32::MAX, |span| span.0);
    let code = raw.code.as_chunks::<2>().0;
    let mut pos = 0;
    while let Some(&[opcode, low]) = code.get(pos as usize) {
        let start = pos;
        let Read { base: opcode, mut shape } = reading[opcode as usize];
        let mut inst = Inst { region: regions.current, ..Inst::new(opcode, u32::from(low)) };
        if !POSITIONS {
            plain[pos as usize] = [opcode, low];
        }
        if shape.is_illegal() {
            let index = program.insts.len() as u32;
            let prefixed = prefixed(version, reading, code, pos, index)?;
            (pos, inst.arg) = (prefixed.pos, prefixed.arg);
            Read { base: inst.opcode, shape } = reading[prefixed.opcode as usize];
            legal(version, inst.opcode, index)?;
            if !POSITIONS {
                let rest = start as usize + 1..=pos as usize;
                for (unit, &[opcode, low]) in plain[rest.clone()].iter_mut().zip(&code[rest]) {
                    *unit = [reading[opcode as usize].base, low];
                }
            }
            if shape.is_jump() {
                scratch.wide_jumps.push((index, prefixed.count));
            } else if prefixed.count != shape::prefixes(inst.arg) {
                inst.written = Written::with_prefixes(prefixed.count);
            }
        }
        if pos >= regions.boundary {
            regions.advance(start, pos)?;
            inst.region = regions.current;
        }
        pos += 1 + shape.caches();
        // Whether it is a jump is anybody's guess, so it is noted as one, and forgotten if it is none.
        let jumps = scratch.jumps.len() + usize::from(shape.is_jump());
        scratch.jumps.push(program.insts.len() as u32);
        scratch.jumps.truncate(jumps);
        if POSITIONS {
            // Whether a new position begins is anybody's guess, so the first step is taken without a branch.
            line += usize::from(start >= stretch.end);
            stretch = &lines[line];
            while start >= stretch.end {
                line += 1;
                stretch = &lines[line];
            }
            inst.loc = stretch.loc;
        }
        scratch.starts.push(start);
        program.insts.push(inst);
    }
    if pos > units {
        let last = program.insts.len() as u32 - 1;
        return Err(Error::at(
            ErrorKind::BadCode,
            last,
            "co_code ends inside the instruction's inline caches",
        ));
    }
    regions.finish(units)
}

fn target_unit(shape: Shape, end: u32, distance: u32, units: u32, index: u32) -> Result<u32> {
    let target = if shape.is_backward() { end.checked_sub(distance) } else { end.checked_add(distance) };
    target
        .filter(|&target| target < units)
        .ok_or_else(|| Error::at(ErrorKind::BadJump, index, "the jump leaves the code"))
}

/// An instruction behind its prefixes.
struct Prefixed {
    /// The unit of its opcode.
    pos: u32,
    opcode: u8,
    arg: u32,
    /// How many prefixes there are.
    count: u32,
}

/// Reads the prefixes at `pos`, if it is those that stand there, and what follows.
#[cold]
fn prefixed(
    version: Version,
    reading: &[Read; 256],
    code: &[[u8; 2]],
    mut pos: u32,
    index: u32,
) -> Result<Prefixed> {
    let extended_arg = shape::extended_arg(version);
    let (mut count, mut arg) = (0, 0);
    loop {
        let Some(&[opcode, low]) = code.get(pos as usize) else {
            return Err(Error::at(ErrorKind::BadCode, index, "co_code ends behind an EXTENDED_ARG"));
        };
        if count > 3 {
            return Err(Error::at(ErrorKind::BadCode, index, "more than three EXTENDED_ARG prefixes"));
        }
        arg = arg << 8 | u32::from(low);
        // 3.11 specialises prefixes, too
        if reading[opcode as usize].base != extended_arg {
            return Ok(Prefixed { pos, opcode, arg, count });
        }
        count += 1;
        pos += 1;
    }
}

/// Opcode and operand of the instruction with this index in code that may be damaged behind it.
#[must_use]
pub fn instruction_at(version: Version, code: &[u8], index: u32) -> Option<(u8, u32)> {
    let shapes = shape::of(version);
    let mut units = code.as_chunks::<2>().0.iter();
    for at in 0..=index {
        let mut inst = (0, 0);
        for &[opcode, low] in units.by_ref() {
            inst = (opcode, inst.1 << 8 | u32::from(low));
            if opcode != shape::extended_arg(version) {
                break;
            }
        }
        if at == index {
            return Some(inst);
        }
        let caches = shapes[inst.0 as usize].caches() as usize;
        units = units.as_slice().get(caches..)?.iter();
    }
    None
}

/// Refuses opcodes that no code object may contain.
pub(crate) fn legal(version: Version, opcode: u8, index: u32) -> Result<()> {
    let info = &tables::get(version).info[opcode as usize];
    if !info.has(tables::OpFlags::ILLEGAL) {
        return Ok(());
    }
    let minor = version.minor();
    Err(if info.name.is_empty() {
        Error::at(ErrorKind::UnknownOpcode, index, format!("CPython 3.{minor} has no opcode {opcode}"))
    } else {
        let reason = format!(
            "{} (opcode {opcode}) cannot stand in a code object of CPython 3.{minor}: it is specialised, instrumented or internal",
            info.name
        );
        Error::at(ErrorKind::IllegalOpcode, index, reason)
    })
}

/// A stretch of code of one source position.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Unit at which it ends.
    end: u32,
    loc: Location,
}

impl Stretch {
    /// The one behind the last.
    const LAST: Self = Self { end: u32::MAX, loc: Location::NONE };
}

/// Reads the whole line table. After its last entry comes one without end.
fn read_lines(raw: &RawCode, units: u32, lines: &mut Vec<Stretch>) -> Result<()> {
    lines.clear();
    let mut reader = linetable::Reader::new(raw.linetable, raw.firstlineno);
    let mut end = 0;
    while end <= units {
        let (covered, loc) = reader.read()?;
        if covered == 0 {
            break;
        }
        end += covered;
        lines.push(Stretch { end, loc });
    }
    fits(raw, units, end)?;
    lines.push(Stretch::LAST);
    Ok(())
}

/// Checks that the line table covers the code. No table at all is a way to say that nothing is known.
fn fits(raw: &RawCode, units: u32, covered: u32) -> Result<()> {
    if covered == units || raw.linetable.is_empty() {
        return Ok(());
    }
    let reason = format!("co_linetable is truncated or too long: the code has {units} units");
    Err(Error::whole(ErrorKind::BadLineTable, reason))
}

/// The regions, entered and left along with the code.
struct Regions<'a> {
    spans: &'a [(u32, u32)],
    /// The next region to enter.
    next: usize,
    current: u32,
    /// The unit at which `current` changes.
    boundary: u32,
}

impl Regions<'_> {
    /// Moves to the region of the instruction whose first prefix is at unit `start` and whose opcode is at `pos`.
    #[cold]
    fn advance(&mut self, start: u32, pos: u32) -> Result<()> {
        while self.boundary <= pos {
            if self.boundary < start {
                return Err(inside(self.boundary));
            }
            self.step();
        }
        Ok(())
    }

    fn step(&mut self) {
        let next = self.spans.get(self.next);
        if let Some(&(_, end)) = next.filter(|span| span.0 == self.boundary) {
            self.current = self.next as u32;
            self.next += 1;
            self.boundary = end;
        } else {
            self.current = NO_INDEX;
            self.boundary = next.map_or(u32::MAX, |span| span.0);
        }
    }

    fn finish(&self, units: u32) -> Result<()> {
        if self.boundary < units { Err(inside(self.boundary)) } else { Ok(()) }
    }
}

fn inside(unit: u32) -> Error {
    let reason = format!("co_exceptiontable: a region begins or ends at unit {unit}, inside an instruction");
    Error::whole(ErrorKind::BadExceptionTable, reason)
}

/// From units to indices. Says whether all jumps have the opcodes of their direction.
#[inline(always)]
fn resolve_targets(
    version: Version,
    program: &mut Program,
    scratch: &mut Scratch,
    units: u32,
) -> Result<bool> {
    let starts = &scratch.starts[..];
    if scratch.jumps.is_empty() && program.regions.is_empty() {
        return Ok(true);
    }
    // A few are looked up faster than a table for all is made.
    let few = WORTH_A_TABLE * (scratch.jumps.len() + program.regions.len()) < starts.len();
    scratch.index_at.clear();
    if !few {
        scratch.index_at.resize(units as usize, NO_INDEX);
        for (index, &start) in (0..).zip(starts) {
            scratch.index_at[start as usize] = index;
        }
    }
    let shapes = shape::of(version);
    let mut fits = true;
    let index_of = |unit: u32| {
        let found = if few {
            starts.binary_search(&unit).ok().map(|index| index as u32)
        } else {
            scratch.index_at.get(unit as usize).copied()
        };
        found.unwrap_or(NO_INDEX)
    };
    for &jump in &scratch.jumps {
        let inst = &mut program.insts[jump as usize];
        let shape = shapes[inst.opcode as usize];
        let end = starts.get(jump as usize + 1).copied().unwrap_or(units);
        inst.target = index_of(target_unit(shape, end, inst.arg, units, jump)?);
        inst.arg = 0;
        if inst.target == NO_INDEX {
            return Err(Error::at(ErrorKind::BadJump, jump, "the jump lands inside an instruction"));
        }
        fits &= (inst.target <= jump) == shape.is_backward();
    }
    for region in &mut program.regions {
        region.target = index_of(region.target);
        if region.target == NO_INDEX {
            let reason = "co_exceptiontable: a handler begins inside an instruction";
            return Err(Error::whole(ErrorKind::BadExceptionTable, reason));
        }
    }
    Ok(fits)
}

/// CPython does not always find the shortest jumps: from 3.12 on it starts from sizes that may be too large and stops at the first layout
/// that holds. Where the shortest one differs, each such jump is told how it was written.
fn remember_long_jumps(version: Version, program: &mut Program, scratch: &mut Scratch) -> Result<()> {
    let shapes: &Shapes = shape::of(version);
    scratch.layout.compute(version, program)?;
    for &(jump, prefixes) in &scratch.wide_jumps {
        let inst = &mut program.insts[jump as usize];
        let size = scratch.layout.size(jump);
        if size < 1 + prefixes + shapes[inst.opcode as usize].caches() {
            inst.written = Written::with_prefixes(prefixes);
        }
    }
    Ok(())
}
