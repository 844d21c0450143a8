//! From the units that an interpreter runs, specialised as it saw fit, to those of `co_code`.
//!
//! CPython's own conversion clears the inline caches of the last instruction without asking whether they are there: of a
//! code object that ends too early it clears memory that is not its own, and of an instrumented opcode it asks for records
//! that a code object never instrumented does not have. So whoever wants `co_code` of a code object that may be damaged
//! asks [`are_whole`] first, and takes what [`plain`] makes where the answer is no.
use crate::code::RawCode;
use crate::op::Op;
use crate::shape::{self, Shape};
use crate::tables::{self, OpFlags};
use crate::version::Version;

/// What an opcode in memory stands for.
#[derive(Clone, Copy)]
struct Unit {
    /// The opcode before it was specialised.
    base: u8,
    /// Units that the instruction takes; 0 if none may begin with this opcode.
    step: u8,
}

const fn units(version: Version) -> [Unit; 256] {
    let table = tables::get(version);
    let mut out = [Unit { base: 0, step: 0 }; 256];
    let mut opcode = 0;
    while opcode < 256 {
        let info = &table.info[opcode];
        let legal = !info.has(OpFlags::ILLEGAL) || matches!(info.op, Op::EXTENDED_ARG);
        out[opcode] = Unit { base: opcode as u8, step: if legal { 1 + info.caches } else { 0 } };
        opcode += 1;
    }
    let mut i = 0;
    while i < table.specialised.len() {
        let (special, base) = table.specialised[i];
        out[special as usize] = out[base as usize];
        i += 1;
    }
    out
}

static UNITS: [[Unit; 256]; 5] = [
    units(Version::V311),
    units(Version::V312),
    units(Version::V313),
    units(Version::V314),
    units(Version::V315),
];

/// An opcode as it is read: what it stands for, and that one's shape.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) base: u8,
    pub(crate) shape: Shape,
}

const fn reads(version: Version, specialised: bool) -> [Read; 256] {
    let (shapes, table) = (shape::of(version), tables::get(version));
    let mut out = [Read { base: 0, shape: shapes[0] }; 256];
    let mut opcode = 0;
    while opcode < 256 {
        out[opcode] = Read { base: opcode as u8, shape: shapes[opcode] };
        opcode += 1;
    }
    let mut i = 0;
    while specialised && i < table.specialised.len() {
        let (special, base) = table.specialised[i];
        out[special as usize] = out[base as usize];
        i += 1;
    }
    out
}

static READS: [[[Read; 256]; 5]; 2] = {
    let mut out = [[[Read { base: 0, shape: shape::of(Version::V311)[0] }; 256]; 5]; 2];
    let mut i = 0;
    while i < 5 {
        out[0][i] = reads(Version::ALL[i], false);
        out[1][i] = reads(Version::ALL[i], true);
        i += 1;
    }
    out
};

/// How opcodes are read: those of `co_code`, or those that an interpreter may have `specialised`.
pub(crate) fn reading(version: Version, specialised: bool) -> &'static [Read; 256] {
    &READS[usize::from(specialised)][version as usize]
}

/// Whether these units are whole instructions from the first to the last, none of them instrumented or unknown.
#[must_use]
pub fn are_whole(version: Version, code: &[[u8; 2]]) -> bool {
    let units = &UNITS[version as usize];
    let mut pos = 0;
    while let Some([opcode, _]) = code.get(pos) {
        let step = units[*opcode as usize].step;
        if step == 0 {
            return false;
        }
        pos += step as usize;
    }
    pos == code.len()
}

/// Whether a code object's units are these, which are those of `co_code`.
pub(crate) fn same(version: Version, raw: &RawCode<'_>, code: &[u8]) -> bool {
    if !raw.live || raw.code.len() != code.len() {
        return raw.code == code;
    }
    plain(version, raw.code.as_chunks().0) == code
}

/// The bytes of `co_code`: specialisation undone, inline caches empty. Opcodes that no code object may contain stay.
#[must_use]
pub fn plain(version: Version, code: &[[u8; 2]]) -> Vec<u8> {
    let units = &UNITS[version as usize];
    let mut out = vec![0; 2 * code.len()];
    let mut pos = 0;
    while let Some([opcode, arg]) = code.get(pos) {
        let unit = units[*opcode as usize];
        out[2 * pos] = unit.base;
        out[2 * pos + 1] = *arg;
        pos += usize::from(unit.step.max(1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opcode(version: Version, name: &str) -> u8 {
        tables::get(version).by_name(name).unwrap()
    }

    #[test]
    fn specialised_code_is_whole_and_becomes_plain() {
        for version in Version::ALL {
            let (special, base) = (opcode(version, "STORE_ATTR_SLOT"), opcode(version, "STORE_ATTR"));
            let nop = opcode(version, "NOP");
            let mut code = vec![[special, 3], [9, 9], [9, 9], [9, 9], [9, 9], [nop, 0]];
            assert!(are_whole(version, &code), "{version:?}");
            assert_eq!(plain(version, &code), [base, 3, 0, 0, 0, 0, 0, 0, 0, 0, nop, 0], "{version:?}");
            code.truncate(4);
            assert!(!are_whole(version, &code), "{version:?}");
            assert_eq!(plain(version, &code), [base, 3, 0, 0, 0, 0, 0, 0], "{version:?}");
        }
    }

    #[test]
    fn every_base_is_an_instruction_of_the_same_version() {
        for version in Version::ALL {
            for (special, base) in tables::get(version).specialised {
                let unit = UNITS[version as usize][*special as usize];
                assert_eq!(unit.base, *base, "{version:?}");
                assert_ne!(unit.step, 0, "{version:?} {special}");
            }
        }
    }

    #[test]
    fn instrumented_and_unknown_opcodes_are_not_whole_and_stay() {
        for version in Version::ALL {
            let table = tables::get(version);
            for code in 0..=255 {
                let info = &table.info[code as usize];
                if info.name.is_empty() || info.name.starts_with("INSTRUMENTED") || info.name == "CACHE" {
                    assert!(!are_whole(version, &[[code, 0]]), "{version:?} {code}");
                    assert_eq!(plain(version, &[[code, 7]]), [code, 7], "{version:?} {code}");
                }
            }
        }
    }
}
