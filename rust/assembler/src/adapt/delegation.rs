//! Where SEND leads when what it sends to is exhausted, from 3.12 on.
//!
//! CPython takes it that this is END_SEND, one unit, and that the unit behind it begins an instruction: whoever traces has that
//! one marked as the start of a line. Where SEND leads to something else, the mark would fall between an instruction and its
//! EXTENDED_ARG, or behind the code, where it overwrites what is not CPython's. With a NOP in front nothing goes wrong.
use super::Adapted;
use crate::code::Program;
use crate::op::Op;
use crate::shape;
use crate::tables::{self, Tables};
use crate::version::Version;

/// Whether SEND may lead to an instruction.
pub(crate) fn leads_well(tables: &Tables, program: &Program, target: u32) -> bool {
    let Some([end, _, ..]) = program.insts.get(target as usize..) else { return false };
    !tables.info[end.opcode as usize].is_jump()
        && shape::prefixes(end.arg) == 0
        && end.written.prefixes() == 0
}

/// Puts a NOP in front of whatever SEND must not lead to, and lets it lead there.
pub(super) fn mend(out: &mut Adapted, version: Version, original: &Program) {
    if version < Version::V312 {
        return;
    }
    let tables = tables::get(version);
    let sends: Vec<usize> = (0..out.program.insts.len())
        .filter(|&index| {
            let inst = &out.program.insts[index];
            tables.op(inst.opcode) == Op::SEND
                && inst.target as usize > index
                && !leads_well(tables, &out.program, inst.target)
        })
        .collect();
    if sends.is_empty() {
        return;
    }
    let targets = sends.iter().map(|&send| out.program.insts[send].target).collect();
    let moved = out.insert_nops(version, original, targets);
    for send in sends {
        out.program.insts[moved[send] as usize].target -= 1;
    }
}
