//! The mark that says "this suspension is in no `try`".
//!
//! `generator.close()` skips the body, `finally` blocks included, if the generator is suspended where only the handler is
//! in force that CPython wraps every generator in. 3.12 reads that from the operand of YIELD_VALUE, later versions from a bit
//! of RESUME's. An instruction that moved or was copied into a `try` must not keep the mark. Nor may, from 3.13 on, one that
//! waits for another generator: what closing that one raises would be left behind, set and not raised. CPython's own compiler
//! marks `lambda: (yield from it)` so, and code that nobody edited stays as it is.
use crate::code::Program;
use crate::inst::Inst;
use crate::op::Op;
use crate::tables::{self, Tables};
use crate::version::Version;

/// CALL_INTRINSIC_1's operand that makes a RuntimeError of a StopIteration.
const STOPITERATION_ERROR: u32 = 3;
/// Bit of RESUME's operand, 3.13 and later. In 3.15 a fifth place of RESUME took its bit.
const fn depth_1(version: Version) -> u32 {
    if matches!(version, Version::V315) { 8 } else { 4 }
}

/// Which place in the code a RESUME says that it is.
pub(crate) const fn place(version: Version, resume: &Inst) -> u32 {
    resume.arg & if matches!(version, Version::V315) { 7 } else { 3 }
}

/// Whether close() would skip a generator that waits for another one, with this RESUME behind its YIELD_VALUE.
pub(crate) const fn skips_another(version: Version, resume: &Inst) -> bool {
    !matches!(version, Version::V311 | Version::V312)
        && resume.arg & depth_1(version) != 0
        && matches!(place(version, resume), 2 | 3)
}

/// Whether any generator would be skipped that waits for another one.
pub(crate) fn skips_any_other(version: Version, program: &Program) -> bool {
    let tables = tables::get(version);
    let skips = |inst: &Inst| tables.op(inst.opcode) == Op::RESUME && skips_another(version, inst);
    program.insts.iter().any(skips)
}

/// The operand without the mark, if the instruction at `index` carries it wrongly.
pub(super) fn unmarked(version: Version, tables: &Tables, program: &Program, index: usize) -> Option<u32> {
    let inst = &program.insts[index];
    match tables.op(inst.opcode) {
        Op::YIELD_VALUE if version == Version::V312 && inst.arg == 1 => {
            in_try(tables, program, inst.region).then_some(2)
        }
        Op::RESUME if version >= Version::V313 && inst.arg & depth_1(version) != 0 => {
            let is_wrong = skips_another(version, inst) || in_try(tables, program, inst.region);
            is_wrong.then_some(inst.arg & !depth_1(version))
        }
        _ => None,
    }
}

/// Whether the region's handler is more than the two that close() may skip: the one around every generator, and the one that
/// `yield from` and `await` put around their suspension, which ends where its CLEANUP_THROW is.
fn in_try(tables: &Tables, program: &Program, region: u32) -> bool {
    let handler = |region: u32| program.insts.get(program.regions.get(region as usize)?.target as usize..);
    match handler(region) {
        Some([throw, ..]) if tables.op(throw.opcode) == Op::CLEANUP_THROW => {
            handler(throw.region).is_some_and(|outer| !wraps_generator(tables, outer))
        }
        Some(handler) => !wraps_generator(tables, handler),
        None => false,
    }
}

/// Whether this is the handler that CPython wraps every generator in.
fn wraps_generator(tables: &Tables, handler: &[Inst]) -> bool {
    let [first, second, ..] = handler else { return false };
    let first_two = (tables.op(first.opcode), first.arg, tables.op(second.opcode));
    first_two == (Op::CALL_INTRINSIC_1, STOPITERATION_ERROR, Op::RERAISE)
}
