//! Checking a line table whose positions nobody wants, at a fraction of what reading them costs.
use super::{CODE_LONG, CODE_NO_COLUMNS, CODE_NONE, CODE_ONE_LINE, ENTRY, Reader};
use crate::error::Result;
use crate::location::Location;

/// What an entry of one code looks like where its numbers take a byte each.
#[derive(Clone, Copy)]
struct Form {
    /// Bits of the entry, as a little-endian number, of which only the head's first may be set.
    mask: u64,
    width: u64,
}

const FORMS: [Form; 16] = {
    let mut forms = [Form { mask: 0x8080, width: 2 }; 16];
    let mut code = CODE_ONE_LINE;
    while code < CODE_NO_COLUMNS {
        forms[code as usize] = Form { mask: 0x80_8080, width: 3 };
        code += 1;
    }
    forms[CODE_NO_COLUMNS as usize] = Form { mask: 0xc080, width: 2 };
    forms[CODE_LONG as usize] = Form { mask: 0xc0_c0c0_c080, width: 5 };
    forms[CODE_NONE as usize] = Form { mask: 0x80, width: 1 };
    forms
};

const WORD: usize = 8;
/// The bytes that are looked through for heads at a time: the bits of a word.
const BLOCK: usize = 64;
/// Those that are looked at by one step.
const GROUP: usize = 16;
/// How far an entry whose numbers take a byte each moves the line at most.
const STEP: i64 = 63;
/// Lines that are no farther from 0 fit 32 bits.
const FAR: i64 = i32::MAX as i64;

/// Checks a whole table, to the entry with which it covers more than `most` units. Returns how many units it covers.
///
/// # Errors
/// As [`Reader::read`].
pub(crate) fn check(table: &[u8], firstlineno: i32, most: u32) -> Result<u32> {
    let slowly = || check_slowly(Reader::new(table, firstlineno), most);
    let begins_well = table.first().is_some_and(|head| head & ENTRY != 0);
    // How far from 0 any line can be. As long as that fits 32 bits nobody needs to know what the lines are.
    let mut reach = i64::from(firstlineno).abs() + STEP * table.len() as i64;
    if !begins_well || table.len() < GROUP || reach > FAR {
        return slowly();
    }
    let (mut start, mut units) = (0, 0);
    // Where an entry ends is known without reading it, so that no step waits for the one before.
    for base in (0..=table.len()).step_by(BLOCK) {
        // The first entry has no end of another before it.
        let mut ends = heads(table, base) & !u64::from(base == 0);
        while ends != 0 {
            let end = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            units += if let Some(covered) = step(table, start, end) {
                covered
            } else {
                let Some((covered, moved)) = wide_step(table, start, end) else { return slowly() };
                reach += moved;
                if reach > FAR {
                    return slowly();
                }
                covered
            };
            start = end;
            if units > most {
                return Ok(units);
            }
        }
    }
    Ok(units)
}

/// Which of the bytes of a block begin entries: those with the highest bit. Behind the table's last byte another one seems to begin.
#[inline]
fn heads(table: &[u8], base: usize) -> u64 {
    let (mut bits, last) = (0, table.len() - GROUP);
    for at in (base..base + BLOCK).step_by(GROUP) {
        // The last bytes are looked at together with some that come before them, and then there are none.
        let from = at.min(last);
        if let Some(group) = table.get(from..).and_then(<[u8]>::first_chunk) {
            let group = u64::from(highest_bits(group)).checked_shr((at - from) as u32).unwrap_or(0);
            bits |= group << (at - base);
        }
    }
    bits | 1_u64.checked_shl((table.len() - base) as u32).unwrap_or(0)
}

/// The highest bit of each byte.
#[inline]
fn highest_bits(group: &[u8; GROUP]) -> u16 {
    // Multiplied with it, the highest bits of a word's bytes go to its highest byte, in their order.
    const GATHER: u64 = 0x0002_0408_1020_4081;
    let word = u128::from_le_bytes(*group);
    let gather = |word: u64| (word & 0x8080_8080_8080_8080).wrapping_mul(GATHER) >> 56;
    (gather(word as u64) | gather((word >> 64) as u64) << 8) as u16
}

/// Checks the entry from `start` to the next one at `end`, if its numbers take a byte each. Returns how many units it covers.
#[inline(always)]
fn step(table: &[u8], start: usize, end: usize) -> Option<u32> {
    // Which form comes next is anybody's guess, so all are checked by the same steps.
    let at = start.min(table.len() - WORD);
    let word = u64::from_le_bytes(*table.get(at..)?.first_chunk()?) >> (8 * (start - at));
    let form = FORMS[(word >> 3 & 0xf) as usize];
    let is_plain = (end - start) as u64 == form.width && word & form.mask == u64::from(ENTRY);
    is_plain.then_some((word as u32 & 7) + 1)
}

/// The same for any entry. Returns how many units it covers, and how far its lines are at most from the line before.
#[inline(never)]
fn wide_step(table: &[u8], start: usize, end: usize) -> Option<(u32, i64)> {
    let mut reader = Reader { pos: start, ..Reader::new(table, 0) };
    let mut loc = Location::NONE;
    let covered = reader.read_slowly(&mut loc).ok().filter(|_| reader.pos == end)?;
    let [line, end_line] = [reader.line, loc.end_line.get().unwrap_or(0)].map(|line| i64::from(line).abs());
    Some((covered, line + end_line))
}

/// The same as [`check`], as it is read.
#[inline(never)]
fn check_slowly(mut reader: Reader<'_>, most: u32) -> Result<u32> {
    let mut units = 0;
    while units <= most {
        match reader.read_slowly(&mut { Location::NONE })? {
            0 => break,
            covered => units += covered,
        }
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linetable::Writer;
    use crate::location::OptI32;
    use proptest::prelude::*;

    fn read(table: &[u8], firstlineno: i32) -> Result<u32> {
        let (mut reader, mut units) = (Reader::new(table, firstlineno), 0);
        loop {
            match reader.read()? {
                (0, _) => return Ok(units),
                (covered, _) => units += covered,
            }
        }
    }

    /// Near each other, so that short forms come up, or anywhere.
    fn tables() -> impl Strategy<Value = Vec<u8>> {
        let number = || prop_oneof![8 => -3..100_i32, 1 => any::<i32>()];
        let position = (number(), 0..3_i32, prop::option::weighted(0.8, (0..130_i32, 0..130_i32)));
        prop::collection::vec((1..30_u32, prop::option::weighted(0.9, position)), 0..30).prop_map(|runs| {
            let mut table = Vec::new();
            let mut writer = Writer::new(&mut table, 1, 0);
            for (units, position) in runs {
                let loc = position.map_or(Location::NONE, |(line, lines, columns)| Location {
                    end_line: OptI32::some(i32::saturating_add(line, lines)),
                    col: columns.map(|columns| columns.0).into(),
                    end_col: columns.map(|columns| columns.1).into(),
                    ..Location::of_line(line)
                });
                let _ = writer.write(units, &loc);
            }
            writer.finish();
            table
        })
    }

    proptest! {
        #[test]
        fn checking_a_table_finds_what_reading_it_finds(
            mut table in tables(), first in prop_oneof![Just(1), any::<i32>()],
            change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())), cut in prop::option::of(0..40_usize),
        ) {
            if let (Some((at, byte)), false) = (change, table.is_empty()) {
                let at = at.index(table.len());
                table[at] = byte;
            }
            table.truncate(cut.unwrap_or(usize::MAX));
            prop_assert_eq!(check(&table, first, u32::MAX - 8), read(&table, first));
        }
    }
}
