//! `co_linetable`: which units of code come from which source position.
//!
//! Owns the entries' encoding, both ways, and the question when two instructions share an entry. Format: CPython's
//! `InternalDocs/code_objects.md`. An entry is a byte `0x80 | code << 3 | (units - 1)`, then what its code says.
mod check;

use crate::error::{Error, ErrorKind, Result};
use crate::location::{Location, OptI32};
use crate::varint;
use crate::version::Version;

pub(crate) use check::check;

const ENTRY: u8 = 0x80;
const MAX_UNITS: u32 = 8;
/// Codes below are the short form: same line, column `code * 8` and up, both columns in one byte.
const CODE_ONE_LINE: u8 = 10;
const CODE_NO_COLUMNS: u8 = 13;
const CODE_LONG: u8 = 14;
const CODE_NONE: u8 = 15;
/// Numbers below take one byte.
const ONE_BYTE: u8 = 0x40;
/// The longest entry: head, line delta and three more integers.
const MAX_ENTRY: usize = 1 + 4 * 6;

fn damaged(offset: usize, what: &str) -> Error {
    Error::whole(ErrorKind::BadLineTable, format!("co_linetable is damaged at byte {offset}: {what}"))
}

/// Reads a table from front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
    line: i32,
}

impl<'a> Reader<'a> {
    /// A reader at the table's beginning.
    #[must_use]
    pub const fn new(table: &'a [u8], firstlineno: i32) -> Self {
        Self { bytes: table, pos: 0, line: if firstlineno == i32::MIN { i32::MIN + 1 } else { firstlineno } }
    }

    /// Reads an entry: how many units it covers (1 to 8), and their position; 0 units at the table's end.
    ///
    /// # Errors
    /// [`ErrorKind::BadLineTable`] if the table is truncated or holds numbers that do not fit a position.
    #[inline]
    pub fn read(&mut self) -> Result<(u32, Location)> {
        // The two frequent forms differ by half of the entries, at random, so they are told apart without a branch.
        if let Some(&[head, second, third]) = self.bytes.get(self.pos..).and_then(<[u8]>::first_chunk) {
            let code = head >> 3 & 0xf;
            if head & ENTRY != 0 && code < CODE_NO_COLUMNS {
                let short = code < CODE_ONE_LINE;
                // All ones for the short form.
                let mask = u8::from(short).wrapping_neg();
                let delta = code.wrapping_sub(CODE_ONE_LINE) & !mask;
                let short_col = code << 3 | second >> 4 & 7;
                let col = short_col & mask | second & !mask;
                let end_col = short_col.wrapping_add(second & 0xf) & mask | third & !mask;
                // CPython looks for entries by their first bit, so nothing inside of one may have it.
                let inside = (second | third & !mask) & ENTRY == 0;
                if let Some(line) = self.line.checked_add(i32::from(delta)).filter(|_| inside) {
                    self.line = line;
                    self.pos += 3 - usize::from(short);
                    return Ok((u32::from(head & 7) + 1, on_line(line, i32::from(col), i32::from(end_col))));
                }
            }
        }
        let mut loc = Location::NONE;
        let units = self.read_slowly(&mut loc)?;
        Ok((units, loc))
    }

    #[inline(never)]
    fn read_slowly(&mut self, loc: &mut Location) -> Result<u32> {
        let Some(&head) = self.bytes.get(self.pos) else { return Ok(0) };
        if head & ENTRY == 0 {
            return Err(damaged(self.pos, "an entry was expected to begin here"));
        }
        let code = head >> 3 & 0xf;
        if code == CODE_LONG
            && let Some(found) = self.small_long_form()
        {
            *loc = found;
            return Ok(u32::from(head & 7) + 1);
        }
        let start = self.pos;
        *loc = if code < CODE_ONE_LINE {
            let Some(&second) = self.bytes.get(self.pos + 1) else { return Err(self.truncated()) };
            self.pos += 2;
            let col = i32::from(code << 3 | second >> 4 & 7);
            on_line(self.line, col, col + i32::from(second & 0xf))
        } else if code < CODE_NO_COLUMNS {
            let Some(&[_, col, end_col]) = self.bytes.get(self.pos..self.pos + 3) else {
                return Err(self.truncated());
            };
            self.move_line(i64::from(code - CODE_ONE_LINE))?;
            self.pos += 3;
            on_line(self.line, i32::from(col), i32::from(end_col))
        } else {
            self.rare_form(code)?
        };
        if let Some(at) = self.bytes[start + 1..self.pos].iter().position(|byte| byte & ENTRY != 0) {
            return Err(damaged(start + 1 + at, "an entry begins inside of another"));
        }
        Ok(u32::from(head & 7) + 1)
    }

    /// Reads a long form whose numbers take a byte each, as most do. None: it is not one, or wants a closer look.
    #[inline]
    fn small_long_form(&mut self) -> Option<Location> {
        let &[_, delta, lines, col, end_col] = self.bytes.get(self.pos..)?.first_chunk()?;
        if delta | lines | col | end_col >= ONE_BYTE {
            return None;
        }
        let step = i32::from(delta >> 1);
        let line = self.line.checked_add(if delta & 1 == 0 { step } else { -step })?;
        let end_line = line.checked_add(i32::from(lines))?;
        if line == i32::MIN {
            return None;
        }
        self.line = line;
        self.pos += 5;
        let column = |plus_one: u8| match plus_one {
            0 => OptI32::NONE,
            _ => OptI32::some(i32::from(plus_one) - 1),
        };
        Some(Location {
            line: OptI32::some(line),
            end_line: OptI32::some(end_line),
            col: column(col),
            end_col: column(end_col),
        })
    }

    #[cold]
    fn truncated(&self) -> Error {
        damaged(self.pos, "it ends inside an entry")
    }

    fn move_line(&mut self, delta: i64) -> Result<()> {
        match i32::try_from(i64::from(self.line) + delta) {
            Ok(line) if OptI32::some(line).is_some() => {
                self.line = line;
                Ok(())
            }
            _ => Err(damaged(self.pos, "the line number does not fit 32 bits")),
        }
    }

    fn rare_form(&mut self, code: u8) -> Result<Location> {
        let head = self.pos;
        let mut pos = head + 1;
        let bytes = self.bytes;
        let truncated = || damaged(head, "it ends inside an entry, or a number does not fit 32 bits");
        let loc = match code {
            CODE_NONE => Location::NONE,
            CODE_NO_COLUMNS => {
                let delta = varint::read_signed_le(bytes, &mut pos).ok_or_else(truncated)?;
                self.move_line(i64::from(delta))?;
                Location::of_line(self.line)
            }
            _ => {
                let delta = varint::read_signed_le(bytes, &mut pos).ok_or_else(truncated)?;
                self.move_line(i64::from(delta))?;
                let mut next = || varint::read_le(bytes, &mut pos).ok_or_else(truncated);
                let (lines, col, end_col) = (next()?, next()?, next()?);
                // CPython adds them as they are, 32 bits wide: its compiler writes ends that come before the start, too.
                let end_line = self
                    .line
                    .checked_add(lines.cast_signed())
                    .filter(|line| OptI32::some(*line).is_some())
                    .ok_or_else(|| damaged(head, "the end line does not fit 32 bits"))?;
                let column = |plus_one: u32| match plus_one.checked_sub(1) {
                    None => Ok(OptI32::NONE),
                    Some(col) => i32::try_from(col)
                        .map(OptI32::some)
                        .map_err(|_| damaged(head, "a column does not fit 31 bits")),
                };
                Location {
                    line: OptI32::some(self.line),
                    end_line: OptI32::some(end_line),
                    col: column(col)?,
                    end_col: column(end_col)?,
                }
            }
        };
        self.pos = pos;
        Ok(loc)
    }
}

const fn on_line(line: i32, col: i32, end_col: i32) -> Location {
    Location {
        line: OptI32::some(line),
        end_line: OptI32::some(line),
        col: OptI32::some(col),
        end_col: OptI32::some(end_col),
    }
}

/// Whether equal positions of neighbouring instructions share an entry: 3.11 begins one at every instruction.
#[must_use]
pub const fn merges(version: Version) -> bool {
    !matches!(version, Version::V311)
}

/// Writes a table from front to back, as CPython's `assemble.c` does.
#[derive(Debug)]
pub struct Writer<'a> {
    /// Longer than what is written, so that entries are stored without asking for room byte by byte.
    out: &'a mut Vec<u8>,
    pos: usize,
    line: i32,
}

impl<'a> Writer<'a> {
    /// A writer that replaces what is in `out`, with room for about so many entries at first.
    pub fn new(out: &'a mut Vec<u8>, firstlineno: i32, entries: usize) -> Self {
        out.clear();
        out.resize(3 * entries + MAX_ENTRY, 0);
        // An absent line has the least number there is, which must not look like a step from here.
        Self { out, pos: 0, line: firstlineno.max(i32::MIN + 1) }
    }

    /// Says that the next `units` units (at least one) come from `loc`. More than eight become several entries, of which only the first moves the
    /// line.
    ///
    /// # Errors
    /// What is wrong with `loc`, in words: the format has no way to end before it starts.
    #[inline]
    pub fn write(&mut self, mut units: u32, loc: &Location) -> std::result::Result<(), &'static str> {
        while units > MAX_UNITS {
            self.entry(MAX_UNITS, loc)?;
            units -= MAX_UNITS;
        }
        self.entry(units, loc)
    }

    /// Cuts `out` to what was written.
    pub fn finish(self) {
        self.out.truncate(self.pos);
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "one branch for conditions that hold together or not at all"
    )]
    #[inline]
    fn entry(&mut self, units: u32, loc: &Location) -> std::result::Result<(), &'static str> {
        let head = ENTRY | (units as u8).wrapping_sub(1) & 7;
        let (line, col, end_col) = (loc.line.raw(), loc.col.raw() as u32, loc.end_col.raw() as u32);
        // Absent lines and columns are far from all others in this arithmetic.
        let delta = (i64::from(line) - i64::from(self.line)) as u64;
        let on_a_line = (loc.end_line.raw() == line) & (delta < 3);
        let narrow = (col | end_col) < 128;
        if on_a_line & narrow
            && let Some(room) = self.room()
        {
            let width = end_col.wrapping_sub(col);
            let short = (delta == 0) & (col < 80) & (width < 16);
            // All ones for the short form: chosen by a mask, because half of the guesses of a branch would be wrong.
            let mask = u8::from(short).wrapping_neg();
            let code = (col as u8 >> 3) & mask | (CODE_ONE_LINE + delta as u8) & !mask;
            let second = ((col as u8 & 7) << 4 | width as u8 & 0xf) & mask | col as u8 & !mask;
            *room = [head | code << 3, second, end_col as u8];
            self.pos += 3 - usize::from(short);
            self.line = line;
            return Ok(());
        }
        self.rare_form(head, loc)
    }

    #[inline]
    fn room(&mut self) -> Option<&mut [u8; 3]> {
        if self.out.len() < self.pos + MAX_ENTRY {
            self.make_room();
        }
        self.out.get_mut(self.pos..).and_then(<[u8]>::first_chunk_mut)
    }

    #[cold]
    fn make_room(&mut self) {
        let longer = 2 * self.out.len() + MAX_ENTRY;
        self.out.resize(longer, 0);
    }

    fn put(&mut self, byte: u8) {
        self.out[self.pos] = byte;
        self.pos += 1;
    }

    #[inline(never)]
    fn rare_form(&mut self, head: u8, loc: &Location) -> std::result::Result<(), &'static str> {
        self.room();
        let Some(line) = loc.line.get() else {
            self.put(head | CODE_NONE << 3);
            return Ok(());
        };
        let end_line = loc.end_line.get().unwrap_or(line);
        let lines = end_line
            .checked_sub(line)
            .ok_or("its position ends more than 2**31 lines away from where it starts")?
            .cast_unsigned();
        let delta = i64::from(line) - i64::from(self.line);
        if delta.unsigned_abs() > i32::MAX as u64 {
            return Err("its line is more than 2**31 away from that of the instruction before");
        }
        self.line = line;
        let column = |col: OptI32| col.get().map_or(0, |col| u32::try_from(col).map_or(0, |col| col + 1));
        let (col, end_col) = (column(loc.col), column(loc.end_col));
        if lines == 0 && (col == 0 || end_col == 0) {
            self.put(head | CODE_NO_COLUMNS << 3);
            varint::write_signed_le(|byte| self.put(byte), delta);
        } else {
            let long = head | CODE_LONG << 3;
            let signed = delta.unsigned_abs() << 1 | u64::from(delta < 0);
            if signed | u64::from(lines | col | end_col) < u64::from(ONE_BYTE)
                && let Some(room) = self.out.get_mut(self.pos..).and_then(<[u8]>::first_chunk_mut)
            {
                *room = [long, signed as u8, lines as u8, col as u8, end_col as u8];
                self.pos += 5;
                return Ok(());
            }
            self.put(long);
            varint::write_signed_le(|byte| self.put(byte), delta);
            for number in [lines, col, end_col] {
                varint::write_le(|byte| self.put(byte), number);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(firstlineno: i32, runs: &[(u32, Location)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, firstlineno, 2);
        for (units, loc) in runs {
            writer.write(*units, loc).unwrap();
        }
        writer.finish();
        out
    }

    fn decode(table: &[u8], firstlineno: i32) -> Result<Vec<Location>> {
        let mut reader = Reader::new(table, firstlineno);
        let mut units = Vec::new();
        loop {
            match reader.read()? {
                (0, _) => return Ok(units),
                (count, loc) => units.extend(std::iter::repeat_n(loc, count as usize)),
            }
        }
    }

    fn at(line: i32, end_line: i32, columns: Option<(i32, i32)>) -> Location {
        Location {
            line: OptI32::some(line),
            end_line: OptI32::some(end_line),
            col: columns.map(|(col, _)| col).into(),
            end_col: columns.map(|(_, end_col)| end_col).into(),
        }
    }

    #[test]
    fn each_form_is_chosen_where_cpython_chooses_it() {
        let cases: [(Location, &[u8]); 9] = [
            (at(1, 1, Some((79, 94))), &[0x80 | 9 << 3, 0x7f]),
            (at(1, 1, Some((79, 95))), &[0x80 | 10 << 3, 79, 95]),
            (at(1, 1, Some((80, 81))), &[0x80 | 10 << 3, 80, 81]),
            (at(3, 3, Some((0, 127))), &[0x80 | 12 << 3, 0, 127]),
            (at(4, 4, Some((0, 1))), &[0x80 | 14 << 3, 6, 0, 1, 2]),
            (at(1, 1, Some((0, 128))), &[0x80 | 14 << 3, 0, 0, 1, 0x41, 2]),
            (at(1, 2, None), &[0x80 | 14 << 3, 0, 1, 0, 0]),
            (at(0, 0, None), &[0x80 | 13 << 3, 3]),
            (Location::NONE, &[0x80 | 15 << 3]),
        ];
        for (loc, bytes) in cases {
            assert_eq!(encode(1, &[(1, loc)]), bytes, "{loc:?}");
        }
    }

    #[test]
    fn a_long_instruction_moves_the_line_once() {
        let loc = at(3, 3, Some((1, 2)));
        let table = encode(1, &[(11, loc)]);
        assert_eq!(table, [0x80 | 12 << 3 | 7, 1, 2, 0x82, 0x11]);
        assert_eq!(decode(&table, 1).unwrap(), vec![loc; 11]);
    }

    #[test]
    fn damage_is_reported_with_its_place() {
        for table in
            [&[0x00][..], &[0x80], &[0x80 | 10 << 3, 1], &[0x80 | 14 << 3, 0, 0, 0], &[0x80 | 13 << 3, 0x7f]]
        {
            let error = decode(table, 1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadLineTable);
            assert!(error.reason.contains("byte 0"), "{error}");
        }
        assert!(decode(&[0x80 | 11 << 3, 0, 0], i32::MAX).is_err(), "the line overflows");
    }

    #[test]
    fn a_position_whose_end_is_too_far_away_is_refused() {
        let mut out = Vec::new();
        assert!(Writer::new(&mut out, 1, 0).write(1, &at(-5, i32::MAX, Some((0, 1)))).is_err());
    }

    /// Positions that the format can hold: both columns or none, unless there are several lines.
    fn locations() -> impl Strategy<Value = Location> {
        let line = prop_oneof![8 => 1..200, 1 => -5..1, 1 => -0x3fff_ffff..0x3fff_ffff_i32];
        let lines = prop_oneof![6 => Just(0), 1 => -3..100, 1 => 0..0x3fff_ffff_i32];
        let col = || prop_oneof![4 => 0..130, 1 => 0..i32::MAX];
        let columns = prop::option::weighted(0.8, (col(), col()));
        let some = (line, lines, columns).prop_map(|(line, lines, columns)| at(line, line + lines, columns));
        prop_oneof![1 => Just(Location::NONE), 8 => some]
    }

    proptest! {
        #[test]
        fn every_table_reads_back_unit_by_unit(
            runs in prop::collection::vec((1..30_u32, locations()), 0..30), first in -10..1000_i32,
        ) {
            let table = encode(first, &runs);
            let expected: Vec<_> =
                runs.iter().flat_map(|(units, loc)| std::iter::repeat_n(*loc, *units as usize)).collect();
            prop_assert_eq!(decode(&table, first).unwrap(), expected);
        }

        #[test]
        fn any_bytes_read_without_panic(table: Vec<u8>, first: i32) {
            let _ = decode(&table, first);
        }
    }
}
