//! `co_exceptiontable`: which units of code are protected by which handler.
//!
//! Owns the entries' encoding, both ways. Format: CPython's `InternalDocs/exception_handling.md`; an entry is start, length,
//! target and `depth << 1 | lasti`, each a big-endian varint, all but the last in code units. Entries are sorted and
//! disjoint: the innermost region wins when the table is written, so nesting is not in it.
use crate::error::{Error, ErrorKind, Result};
use crate::varint;

/// Marks the first byte of an entry, which lets CPython search the table by halves.
const ENTRY: u8 = 0x80;

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First unit protected.
    pub start: u32,
    /// Unit after the last one protected.
    pub end: u32,
    /// First unit of the handler.
    pub target: u32,
    /// Depth to which the stack is unwound.
    pub depth: u32,
    /// Whether the offset of the raising instruction is pushed.
    pub lasti: bool,
}

/// Reads a table from front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
    units: u32,
    last_end: u32,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of the table of a code object of so many units.
    #[must_use]
    pub const fn new(table: &'a [u8], units: u32) -> Self {
        Self { bytes: table, pos: 0, units, last_end: 0 }
    }

    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::BadExceptionTable`] if the table is truncated, or the entry is empty, leaves the code, or does not come after
    /// the one before.
    #[inline(always)]
    pub fn next_entry(&mut self) -> Result<Option<Entry>> {
        let head = self.pos;
        let Some(&first) = self.bytes.get(head) else { return Ok(None) };
        let damaged = |what| {
            Error::whole(
                ErrorKind::BadExceptionTable,
                format!("co_exceptiontable is damaged at byte {head}: {what}"),
            )
        };
        if first & ENTRY == 0 {
            return Err(damaged("an entry was expected to begin here"));
        }
        let mut next = |first: bool| {
            if !first && self.bytes.get(self.pos).is_some_and(|byte| byte & ENTRY != 0) {
                return Err(damaged("the entry is cut short by another"));
            }
            varint::read_be(self.bytes, &mut self.pos)
                .ok_or_else(|| damaged("it ends inside an entry, or a number does not fit 32 bits"))
        };
        let (start, length, target, depth_lasti) = (next(true)?, next(false)?, next(false)?, next(false)?);
        let end = start.checked_add(length).filter(|&end| end <= self.units && target < self.units);
        let Some(end) = end else { return Err(damaged("the region or its handler lies outside the code")) };
        if length == 0 {
            return Err(damaged("the region is empty"));
        }
        if start < self.last_end {
            return Err(damaged("the regions are unsorted or overlap"));
        }
        self.last_end = end;
        Ok(Some(Entry { start, end, target, depth: depth_lasti >> 1, lasti: depth_lasti & 1 != 0 }))
    }
}

/// Appends an entry. Depths have 31 bits.
pub fn write(out: &mut Vec<u8>, entry: &Entry) {
    varint::write_be(out, entry.start, ENTRY);
    varint::write_be(out, entry.end - entry.start, 0);
    varint::write_be(out, entry.target, 0);
    varint::write_be(out, entry.depth << 1 | u32::from(entry.lasti), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(table: &[u8], units: u32) -> Result<Vec<Entry>> {
        let mut reader = Reader::new(table, units);
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }

    #[test]
    fn bytes_are_those_of_the_format_document() {
        let mut out = Vec::new();
        write(&mut out, &Entry { start: 20, end: 28, target: 100, depth: 3, lasti: false });
        assert_eq!(out, [0x94, 8, 0x41, 0x24, 6]);
    }

    #[test]
    fn damage_is_refused() {
        let good = [0x82, 2, 9, 0];
        assert_eq!(decode(&good, 10).unwrap().len(), 1);
        for (table, why) in [
            (&good[..3], "ends inside"),
            (&[0x02, 2, 9, 0], "expected to begin"),
            (&[0x82, 2, 0x89, 0], "cut short"),
            (&[0x82, 0, 9, 0], "empty"),
            (&[0x82, 9, 9, 0], "outside"),
            (&[0x82, 2, 10, 0], "outside"),
            (&[0x82, 2, 9, 0, 0x83, 1, 9, 0], "overlap"),
            (&[0x84, 2, 9, 0, 0x80, 1, 9, 0], "unsorted"),
        ] {
            let error = decode(table, 10).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadExceptionTable);
            assert!(error.reason.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_table_reads_back(
            steps in prop::collection::vec((0..5000_u32, 1..5000_u32, 0..100_000_u32, 0..5000_u32, any::<bool>()), 0..20),
        ) {
            let mut end = 0;
            let entries: Vec<_> = steps
                .into_iter()
                .map(|(gap, length, target, depth, lasti)| {
                    let start = end + gap;
                    end = start + length;
                    Entry { start, end, target, depth, lasti }
                })
                .collect();
            let mut out = Vec::new();
            for entry in &entries {
                write(&mut out, entry);
            }
            prop_assert_eq!(decode(&out, end.max(100_000)).unwrap(), entries);
        }

        #[test]
        fn any_bytes_read_without_panic(table: Vec<u8>, units: u32) {
            let _ = decode(&table, units);
        }
    }
}
