//! What is assembled comes apart into the same records, and what is damaged is refused.
mod common;

use common::{number, program, raw, seeds, versions};
use proptest::prelude::*;
use pydynamo_assembler::adapt::Adapted;
use pydynamo_assembler::code::{Assembled, Program, RawCode, RegionDepth};
use pydynamo_assembler::inst::{Inst, NO_INDEX};
use pydynamo_assembler::layout::Layout;
use pydynamo_assembler::location::Location;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{ErrorKind, Result, disasm, emit};

/// Lays out and writes a program that nobody could run, so without a look at its stack; the program as laid out.
fn encode(version: Version, program: &Program, firstlineno: i32) -> Result<(Assembled, Program)> {
    let (mut layout, mut adapted, mut out) = (Layout::default(), Adapted::default(), Assembled::default());
    let mut program = program.clone();
    if !layout.measure(version, &program)? {
        adapted.adapt(version, &program)?;
        program = adapted.program;
    }
    layout.compute(version, &program)?;
    emit::code(version, &program.insts, &layout, &mut out.code);
    emit::lines(version, &program.insts, &layout, firstlineno, &mut out.linetable)?;
    let depths: Vec<u32> = program
        .regions
        .iter()
        .map(|region| match region.depth {
            RegionDepth::Fixed(depth) | RegionDepth::Below { stated: depth, .. } => depth,
        })
        .collect();
    emit::exceptions(&program, &layout, &depths, &mut out.exceptiontable);
    Ok((out, program))
}

fn decode(version: Version, out: &Assembled, firstlineno: i32) -> Result<Program> {
    let mut program = Program::default();
    disasm::disassemble(version, &raw(out, firstlineno), &mut program)?;
    Ok(program)
}

/// A location as the table keeps it: without columns on one line unless both are known.
fn kept(mut loc: Location) -> Location {
    if loc.line == loc.end_line && !(loc.col.is_some() && loc.end_col.is_some()) {
        (loc.col, loc.end_col) = (Location::NONE.col, Location::NONE.col);
    }
    loc
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_program_comes_back(version in versions(), seeds in seeds(0..400), first in 0..50) {
        let program = program(version, &seeds);
        let Ok((out, laid_out)) = encode(version, &program, first) else { return Ok(()) };
        let back = decode(version, &out, first).unwrap();
        prop_assert_eq!(back.insts.len(), laid_out.insts.len());
        for (index, (old, new)) in laid_out.insts.iter().zip(&back.insts).enumerate() {
            prop_assert_eq!((old.opcode, old.target), (new.opcode, new.target), "{}", index);
            prop_assert_eq!(kept(old.loc), new.loc, "{}", index);
            if old.target == NO_INDEX {
                prop_assert_eq!(old.arg, new.arg);
            }
            let region = |program: &Program, inst: &Inst| {
                program.regions.get(inst.region as usize).map(|r| (r.target, r.depth, r.lasti))
            };
            prop_assert_eq!(region(&laid_out, old), region(&back, new));
        }
        let (again, _) = encode(version, &back, first).unwrap();
        prop_assert_eq!(&again.code, &out.code);
        prop_assert_eq!(&again.linetable, &out.linetable);
        prop_assert_eq!(&again.exceptiontable, &out.exceptiontable);
    }

    #[test]
    fn any_bytes_come_apart_or_are_refused(
        version in versions(), code: Vec<u8>, linetable: Vec<u8>, exceptiontable: Vec<u8>, firstlineno: i32,
    ) {
        let mut program = Program::default();
        let raw = RawCode { code: &code, live: false, linetable: &linetable, exceptiontable: &exceptiontable, firstlineno };
        let _ = disasm::disassemble(version, &raw, &mut program);
    }

    #[test]
    fn a_damaged_byte_is_refused_or_gives_a_program(
        version in versions(), seeds in seeds(1..60), table in 0..3_usize, at: prop::sample::Index, byte: u8, cut: bool,
    ) {
        let Ok((mut out, _)) = encode(version, &program(version, &seeds), 1) else { return Ok(()) };
        let bytes = [&mut out.code, &mut out.linetable, &mut out.exceptiontable].into_iter().nth(table).unwrap();
        if bytes.is_empty() {
            return Ok(());
        }
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        if let Ok(program) = decode(version, &out, 1) {
            let _ = encode(version, &program, 1).unwrap();
        }
    }
}

fn refused(version: Version, code: &[u8], linetable: &[u8], exceptiontable: &[u8]) -> ErrorKind {
    let raw = RawCode { code, live: false, linetable, exceptiontable, firstlineno: 1 };
    disasm::disassemble(version, &raw, &mut Program::default()).unwrap_err().kind
}

#[test]
fn damaged_code_is_refused() {
    let version = Version::V313;
    let op = |op| number(version, op);
    let (ext, nop, load) = (op(Op::EXTENDED_ARG), op(Op::NOP), op(Op::LOAD_ATTR));
    assert_eq!(refused(version, &[nop], &[], &[]), ErrorKind::BadCode);
    assert_eq!(refused(version, &[nop, 0, ext, 1], &[], &[]), ErrorKind::BadCode);
    assert_eq!(refused(version, &[ext, 1, ext, 1, ext, 1, ext, 1, nop, 0], &[], &[]), ErrorKind::BadCode);
    assert_eq!(refused(version, &[load, 0, 0, 0], &[], &[]), ErrorKind::BadCode);
    assert_eq!(refused(version, &[0, 0], &[], &[]), ErrorKind::IllegalOpcode);
    assert_eq!(refused(version, &[254, 0], &[], &[]), ErrorKind::IllegalOpcode);
    assert_eq!(refused(version, &[op(Op::JUMP_FORWARD), 0], &[], &[]), ErrorKind::BadJump);
    assert_eq!(refused(version, &[op(Op::JUMP_BACKWARD), 9, 0, 0], &[], &[]), ErrorKind::BadJump);
    let into_prefix = [op(Op::JUMP_FORWARD), 1, ext, 1, nop, 0];
    assert_eq!(refused(version, &into_prefix, &[], &[]), ErrorKind::BadJump);
}

#[test]
fn tables_that_do_not_fit_the_code_are_refused() {
    let version = Version::V313;
    let op = |op| number(version, op);
    let code = [op(Op::NOP), 0, op(Op::LOAD_ATTR), 0].into_iter().chain([0; 18]).collect::<Vec<u8>>();
    let lines = [0xf8 | 7, 0xf8 | 2];
    let mut program = Program::default();
    let raw = RawCode {
        code: &code,
        live: false,
        linetable: &lines,
        exceptiontable: &[0x80, 1, 1, 0],
        firstlineno: 1,
    };
    disasm::disassemble(version, &raw, &mut program).unwrap();
    assert_eq!(refused(version, &code, &lines[..1], &[]), ErrorKind::BadLineTable);
    assert_eq!(refused(version, &code, &[0xff, 0xff], &[]), ErrorKind::BadLineTable);
    assert_eq!(refused(version, &code, &lines, &[0x80, 2, 1, 0]), ErrorKind::BadExceptionTable);
    assert_eq!(refused(version, &code, &lines, &[0x82, 1, 1, 0]), ErrorKind::BadExceptionTable);
    assert_eq!(refused(version, &code, &lines, &[0x80, 1, 2, 0]), ErrorKind::BadExceptionTable);
}
