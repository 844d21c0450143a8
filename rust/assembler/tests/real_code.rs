//! Code objects of real compilers (`tests/fixtures`), taken apart, edited and put together.
mod common;

use common::{Corpus, Record, corpora, meta};
use proptest::prelude::*;
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::churn::{self, Random};
use pydynamo_assembler::code::{Assembled, Options, Program};
use pydynamo_assembler::disasm::Unedited;
use pydynamo_assembler::glue::Glue;
use pydynamo_assembler::instrument::{Site, instrument};
use pydynamo_assembler::op::Op;
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{disasm, sweep, tables};

fn apart(version: Version, record: &Record) -> Program {
    let mut program = Program::default();
    disasm::disassemble(version, &record.raw(), &mut program).unwrap();
    program
}

fn together(version: Version, record: &Record, program: &Program) -> Assembled {
    let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
    let meta = meta(version, record.firstlineno);
    let options = Options { original: Some(record.raw()), ..Options::default() };
    assemble::assemble(program, &meta, options, &mut scratch, &mut out)
        .unwrap_or_else(|error| panic!("{version:?} {}: {error}", record.name));
    out
}

fn each(mut check: impl FnMut(Version, &Record)) {
    for Corpus { version, records } in corpora() {
        assert!(!records.is_empty());
        for record in &records {
            check(version, record);
        }
    }
}

fn count(version: Version, program: &Program, op: Op) -> usize {
    program.insts.iter().filter(|inst| tables::get(version).op(inst.opcode) == op).count()
}

#[test]
fn unedited_code_comes_out_as_it_went_in() {
    each(|version, record| {
        let out = together(version, record, &apart(version, record));
        assert_eq!(out.code, record.code, "{version:?} {}", record.name);
        assert_eq!(out.linetable, record.linetable, "{version:?} {}", record.name);
        assert_eq!(out.exceptiontable, record.exceptiontable, "{version:?} {}", record.name);
        assert!(out.stacksize <= record.stacksize, "{version:?} {}", record.name);
    });
}

#[test]
fn code_that_nobody_may_edit_stays_where_it_is_and_keeps_its_tables() {
    let mut scratch = Scratch::default();
    let (mut program, mut unedited) = (Program::default(), Unedited::default());
    each(|version, record| {
        let raw = record.raw();
        disasm::disassemble_unedited(version, &raw, &mut program, &mut unedited).unwrap();
        disasm::check_lines(&raw).unwrap();
        let meta = meta(version, record.firstlineno);
        let size = assemble::size_in_place(&program, &meta, &unedited, false, &mut scratch);
        assert_eq!(unedited.code(), record.code, "{version:?} {}", record.name);
        let edited = together(version, record, &apart(version, record));
        assert_eq!(size, Some(edited.stacksize), "{version:?} {}", record.name);
    });
}

#[test]
fn any_truncation_of_a_table_is_refused_or_harmless() {
    each(|version, record| {
        for cut in 0..record.linetable.len() {
            let raw =
                pydynamo_assembler::code::RawCode { linetable: &record.linetable[..cut], ..record.raw() };
            let read = disasm::disassemble(version, &raw, &mut Program::default());
            assert_eq!(read.is_ok(), cut == 0, "{cut}");
            assert_eq!(disasm::check_lines(&raw), read, "{cut}");
        }
        for cut in 0..record.exceptiontable.len() {
            let table = &record.exceptiontable[..cut];
            let raw = pydynamo_assembler::code::RawCode { exceptiontable: table, ..record.raw() };
            let at_entry = cut == 0 || record.exceptiontable[cut] & 0x80 != 0;
            assert_eq!(
                disasm::disassemble(version, &raw, &mut Program::default()).is_ok(),
                at_entry,
                "{cut}"
            );
        }
    });
}

#[test]
fn sweeps_leave_compiled_code_that_assembles() {
    each(|version, record| {
        let mut program = apart(version, record);
        sweep::remove_unreachable(version, &mut program);
        sweep::remove_pointless_jumps(version, &mut program);
        sweep::remove_dead_stores(version, &mut program, record.locals as usize);
        sweep::propagate_line_nums(&mut program);
        let out = together(version, record, &program);
        assert!(out.stacksize <= record.stacksize);
    });
}

#[test]
fn every_line_and_every_block_gets_a_probe() {
    each(|version, record| {
        let old = apart(version, record);
        for site in [Site::Line, Site::Block] {
            let mut program = old.clone();
            let arguments = instrument(version, &mut program, site, 7, 8);
            assert!(!arguments.is_empty(), "{version:?} {}", record.name);
            let calls = count(version, &program, Op::CALL) - count(version, &old, Op::CALL);
            assert_eq!(calls, arguments.len());
            let prologue = Glue::new(version, &old).prologue();
            assert!(prologue > 0);
            assert_eq!(program.insts[..prologue], old.insts[..prologue]);
            let out = together(version, record, &program);
            assert!(out.stacksize <= record.stacksize + 3);
            if site == Site::Line {
                let mut lines: Vec<_> =
                    old.insts[prologue..].iter().filter_map(|inst| inst.loc.line.get()).collect();
                let mut probed = arguments.clone();
                lines.sort_unstable();
                lines.dedup();
                probed.sort_unstable();
                probed.dedup();
                // A line may consist of nothing but the opening of a handler.
                assert!(probed.iter().all(|line| lines.contains(line)));
                assert!(lines.len() - probed.len() <= 1, "{version:?} {} {lines:?} {probed:?}", record.name);
            }
        }
    });
}

#[test]
fn nops_force_every_number_of_prefixes() {
    let mut seen = [false; 3];
    for (most, level) in [(1, 0), (40, 1), (4000, 2)] {
        each(|version, record| {
            let mut program = apart(version, record);
            churn::insert_nops(version, &mut program, &mut Random::new(1), 2, most);
            let out = together(version, record, &program);
            let extended_arg = pydynamo_assembler::shape::extended_arg(version);
            let longest = out.code.chunks(2).fold((0, 0), |(longest, run), unit| {
                let run = if unit[0] == extended_arg { run + 1 } else { 0 };
                (longest.max(run), run)
            });
            seen[level] |= longest.0 >= level;
        });
    }
    assert_eq!(seen, [true; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn shuffled_blocks_assemble_with_the_same_stack(seed: u64, every in 1..20_u32, nops in 0..3_u32) {
        each(|version, record| {
            let mut program = apart(version, record);
            let mut random = Random::new(seed);
            let counted = [Op::YIELD_VALUE, Op::CALL, Op::FOR_ITER, Op::RETURN_VALUE];
            let before = counted.map(|op| count(version, &program, op));
            if nops > 0 {
                churn::insert_nops(version, &mut program, &mut random, 3, 5 * nops);
            }
            churn::permute_blocks(version, &mut program, &mut random, every);
            assert_eq!(counted.map(|op| count(version, &program, op)), before);
            let out = together(version, record, &program);
            assert_eq!(out.stacksize, together(version, record, &apart(version, record)).stacksize);
            let raw = common::raw(&out, record.firstlineno);
            let mut again = Program::default();
            disasm::disassemble(version, &raw, &mut again).unwrap();
            assert_eq!(together(version, record, &again).code, out.code);
        });
    }
}
