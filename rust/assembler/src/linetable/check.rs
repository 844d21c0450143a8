//! Checking a line table whose positions nobody wants, at a fraction of what reading them costs.
use super::{CODE_LONG, CODE_NO_COLUMNS, CODE_NONE, CODE_ONE_LINE, ENTRY, Reader};
use crate::error::Result;
use crate::location::Location;

/// What an entry of one code looks like where its numbers take a byte each.
#[derive(Clone, Copy)]
struct Form {
    /// Bits of the entry, as a little-endian number, of which only the head's first may be set.
    mask: u64,
    width: u8,
    /// How far the line moves.
    delta: u8,
    /// All ones if the second byte says how far the line moves.
    signed: u8,
    /// All ones if the third byte says how many more lines there are.
    lines: u8,
}

const FORMS: [Form; 16] = {
    let mut forms = [Form { mask: 0x8080, width: 2, delta: 0, signed: 0, lines: 0 }; 16];
    let mut code = CODE_ONE_LINE;
    while code < CODE_NO_COLUMNS {
        forms[code as usize] =
            Form { mask: 0x80_8080, width: 3, delta: code - CODE_ONE_LINE, signed: 0, lines: 0 };
        code += 1;
    }
    forms[CODE_NO_COLUMNS as usize] = Form { mask: 0xc080, width: 2, delta: 0, signed: 0xff, lines: 0 };
    forms[CODE_LONG as usize] = Form { mask: 0xc0_c0c0_c080, width: 5, delta: 0, signed: 0xff, lines: 0xff };
    forms[CODE_NONE as usize] = Form { mask: 0x80, width: 1, delta: 0, signed: 0, lines: 0 };
    forms
};

/// Checks a whole table, to the entry with which it covers more than `most` units. Returns how many units it covers.
///
/// # Errors
/// As [`Reader::read`].
pub(crate) fn check(table: &[u8], firstlineno: i32, most: u32) -> Result<u32> {
    const WORD: usize = 8;
    let mut reader = Reader::new(table, firstlineno);
    let mut units = 0;
    while units <= most {
        // Which form comes next is anybody's guess, so all are checked by the same steps.
        let start = reader.pos.min(table.len().saturating_sub(WORD));
        if let Some(word) = table.get(start..).and_then(<[u8]>::first_chunk::<WORD>)
            && reader.pos < table.len()
        {
            let word = u64::from_le_bytes(*word) >> (8 * (reader.pos - start));
            let form = FORMS[(word >> 3 & 0xf) as usize];
            let (second, third) = ((word >> 8) as u8 & form.signed, (word >> 16) as u8 & form.lines);
            let step = i32::from(second >> 1);
            let step = i32::from(form.delta) + if second & 1 == 0 { step } else { -step };
            let end = reader.pos + usize::from(form.width);
            if let Some(line) = reader.line.checked_add(step)
                && line.checked_add(i32::from(third)).is_some()
                && line != i32::MIN
                && word & form.mask == u64::from(ENTRY)
                && end <= table.len()
            {
                reader.line = line;
                reader.pos = end;
                units += (word as u32 & 7) + 1;
                continue;
            }
        }
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
