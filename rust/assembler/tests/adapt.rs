//! What CPython needs and the caller need not think of.
mod common;

use common::{meta, number};
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::code::{Assembled, Options, Program, RawCode, Region, RegionDepth};
use pydynamo_assembler::exntable;
use pydynamo_assembler::inst::Inst;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables;
use pydynamo_assembler::version::Version;

const NONE: u32 = u32::MAX;

fn inst(version: Version, op: Op, arg: u32, region: u32) -> Inst {
    Inst { region, ..Inst::new(number(version, op), arg) }
}

fn region(target: u32, lasti: bool) -> Region {
    Region { target, depth: RegionDepth::Fixed(0), lasti }
}

/// The names of what is laid out, and the scratch to ask more of.
fn laid_out(version: Version, program: &Program) -> (Vec<&'static str>, Scratch) {
    let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
    let meta = meta(version, 1);
    assemble::assemble(program, &meta, Options::default(), &mut scratch, &mut out).unwrap();
    let insts = scratch.adapted().map_or(&program.insts, |adapted| &adapted.program.insts);
    (insts.iter().map(|inst| tables::get(version).info[inst.opcode as usize].name).collect(), scratch)
}

/// `LOAD_CONST; LOAD_ATTR; RETURN_VALUE` with a handler that raises again, whose region begins at the LOAD_ATTR.
fn guarded_attribute(version: Version, first: u32) -> Program {
    let insts = vec![
        inst(version, Op::LOAD_CONST, 0, first),
        inst(version, Op::LOAD_ATTR, 0, 0),
        inst(version, Op::RETURN_VALUE, 0, 0),
        inst(version, Op::RERAISE, 0, NONE),
    ];
    Program { insts, regions: vec![region(3, false), region(3, true)] }
}

#[test]
fn a_region_does_not_begin_at_a_call_into_python() {
    for version in Version::ALL {
        let (names, scratch) = laid_out(version, &guarded_attribute(version, NONE));
        if version < Version::V313 {
            assert_eq!(names, ["LOAD_CONST", "LOAD_ATTR", "RETURN_VALUE", "RERAISE"]);
            continue;
        }
        assert_eq!(names, ["LOAD_CONST", "NOP", "LOAD_ATTR", "RETURN_VALUE", "RERAISE"]);
        let adapted = scratch.adapted().unwrap();
        assert_eq!((adapted.program.insts[1].region, adapted.program.regions[0].target), (0, 4));
        assert_eq!(adapted.origin, [0, 1, 1, 2, 3]);
        assert_eq!(scratch.unit_of(1), 2, "the caller's instruction is the LOAD_ATTR, not the NOP");
        let (names, _) = laid_out(version, &guarded_attribute(version, 0));
        assert_eq!(names[1], "LOAD_ATTR", "inside a region nothing is added");
    }
}

/// A generator that yields once, with the mark that says "in no try", under the handler `of_try` or the one around every generator.
fn generator(version: Version, of_try: bool) -> Program {
    let mut insts = vec![inst(version, Op::RETURN_GENERATOR, 0, NONE), inst(version, Op::POP_TOP, 0, NONE)];
    insts.push(inst(version, Op::RESUME, 0, NONE));
    insts.push(inst(version, Op::LOAD_CONST, 0, 0));
    insts.push(inst(version, Op::YIELD_VALUE, u32::from(version == Version::V312), 0));
    let mark = if version == Version::V312 {
        1
    } else if version == Version::V315 {
        9
    } else {
        5
    };
    insts.push(inst(version, Op::RESUME, mark, 0));
    insts.push(inst(version, Op::RETURN_VALUE, 0, NONE));
    let handler = insts.len() as u32;
    if of_try {
        insts.push(inst(version, Op::PUSH_EXC_INFO, 0, NONE));
    } else {
        insts.push(inst(version, Op::CALL_INTRINSIC_1, 3, NONE));
    }
    insts.push(inst(version, Op::RERAISE, 1, NONE));
    Program { insts, regions: vec![region(handler, true)] }
}

#[test]
fn a_suspension_in_a_try_says_so() {
    for version in [Version::V312, Version::V313, Version::V314, Version::V315] {
        let (_, scratch) = laid_out(version, &generator(version, false));
        assert!(scratch.adapted().is_none(), "{version:?}");
        let (_, scratch) = laid_out(version, &generator(version, true));
        let adapted = scratch.adapted().unwrap();
        let marks = (adapted.program.insts[4].arg, adapted.program.insts[5].arg);
        assert_eq!(marks, if version == Version::V312 { (2, 1) } else { (0, 1) }, "{version:?}");
    }
}

#[test]
fn a_jump_turned_back_belongs_to_no_region_that_is_deeper_than_its_stack() {
    // Two regions around each other; the inner one counts on a value that is not there at the jump.
    for version in [Version::V312, Version::V313, Version::V314, Version::V315] {
        for (level, expected) in [(0, 0), (1, 1)] {
            let deep = |target, depth| Region { target, depth: RegionDepth::Fixed(depth), lasti: false };
            let program = Program {
                insts: vec![
                    inst(version, Op::NOP, 0, NONE),
                    Inst { target: 0, ..inst(version, Op::JUMP_FORWARD, 0, 0) },
                    inst(version, Op::RERAISE, 0, 1),
                    inst(version, Op::RERAISE, 0, NONE),
                ],
                regions: vec![deep(2, level), deep(3, 0)],
            };
            let (_, scratch) = laid_out(version, &program);
            let adapted = scratch.adapted().unwrap();
            assert_eq!(adapted.program.insts[1].region, expected, "{version:?}");
        }
    }
}

/// A loop of `NOP`s at depth 0 or 1; before it a block that is left, in a region whose handler counts on `level` values.
fn loop_behind(version: Version, level: u32, before: u32, inside: u32, back: u32) -> Program {
    let deep = |target, depth| Region { target, depth: RegionDepth::Fixed(depth), lasti: false };
    let insts = vec![
        inst(version, Op::LOAD_CONST, 0, NONE),
        Inst { target: 3, ..inst(version, Op::JUMP_FORWARD, 0, NONE) },
        inst(version, Op::RETURN_VALUE, 0, before),
        inst(version, Op::NOP, 0, inside),
        Inst { target: 3, ..inst(version, Op::JUMP_BACKWARD, 0, back) },
        inst(version, Op::RERAISE, 0, NONE),
        inst(version, Op::RERAISE, 0, NONE),
    ];
    Program { insts, regions: vec![deep(5, level), deep(6, 0)] }
}

#[test]
fn a_jump_back_lands_behind_an_instruction_of_the_region_that_it_lands_in() {
    for version in Version::ALL {
        let asks = version < Version::V313;
        for (level, before, inside, back, nop) in [
            (0, 0, NONE, NONE, Some(NONE)), // a handler that has nothing to do with the loop
            (9, 0, NONE, NONE, Some(NONE)), // and whose stack is not there
            (9, 0, 1, 1, Some(1)),
            (0, NONE, 1, 1, Some(1)),
            (0, NONE, 1, NONE, Some(1)),
            (9, NONE, 0, NONE, Some(NONE)), // the NOP in the loop cannot raise, and so may be where the stack is too low
            (0, NONE, NONE, 1, None),
            (0, 1, 1, 1, None),
        ] {
            let program = loop_behind(version, level, before, inside, back);
            let (_, scratch) = laid_out(version, &program);
            let nop = nop.filter(|_| asks);
            assert_eq!(scratch.adapted().is_some(), nop.is_some(), "{version:?} {before} {inside} {back}");
            let (Some(adapted), Some(region)) = (scratch.adapted(), nop) else { continue };
            assert_eq!(adapted.program.insts.len(), program.insts.len() + 1);
            assert_eq!(adapted.program.insts[3].region, region, "{version:?} {before} {inside} {back}");
            assert_eq!(adapted.program.insts[5].target, 4, "the jump goes behind the NOP");
            assert_eq!((adapted.place[3], adapted.origin[3], adapted.origin[4]), (4, 3, 3));
            assert_eq!(adapted.program.regions[0].target, 6);
        }
    }
}

#[test]
fn code_that_nobody_edited_lands_where_it_did() {
    for version in [Version::V311, Version::V312] {
        let program = loop_behind(version, 9, 0, NONE, NONE);
        let (mut scratch, mut made) = (Scratch::default(), Assembled::default());
        let meta = meta(version, 1);
        let options = |original| Options { original, ..Options::default() };
        // Nothing was known of where it came from, so there is a NOP; the same bytes again need none.
        assemble::assemble(&program, &meta, options(None), &mut scratch, &mut made).unwrap();
        assert!(scratch.adapted().is_some());
        let original = {
            let mut program = program.clone();
            program.regions.clear();
            program.insts.iter_mut().for_each(|inst| inst.region = NONE);
            let mut out = Assembled::default();
            assemble::assemble(&program, &meta, options(None), &mut Scratch::default(), &mut out).unwrap();
            out
        };
        let mut table = Vec::new();
        let entry = exntable::Entry { start: 2, end: 3, target: 5, depth: 9, lasti: false };
        exntable::write(&mut table, &entry);
        let raw = |exceptiontable| RawCode { exceptiontable, ..common::raw(&original, 1) };
        let mut out = Assembled::default();
        assemble::assemble(&program, &meta, options(Some(raw(&table))), &mut scratch, &mut out).unwrap();
        assert!(scratch.adapted().is_none());
        assert_eq!((&out.code, &out.exceptiontable), (&original.code, &table));
        // An edit of the region alone is one, too.
        let options = options(Some(raw(&[])));
        assemble::assemble(&program, &meta, options, &mut scratch, &mut out).unwrap();
        assert!(scratch.adapted().is_some());
    }
}

#[test]
fn send_leads_to_a_whole_unit_that_is_not_the_last() {
    for version in Version::ALL {
        let send = |target| Inst { target, ..inst(version, Op::SEND, 0, NONE) };
        let jump = Inst { target: 4, ..inst(version, Op::JUMP_FORWARD, 0, NONE) };
        let tail = [inst(version, Op::NOP, 0, NONE), inst(version, Op::RERAISE, 0, NONE)];
        for (end, is_mended) in [
            (vec![inst(version, Op::NOP, 0, NONE), tail[1]], false),
            (vec![tail[1]], true),
            (vec![inst(version, Op::LOAD_CONST, 300, NONE), tail[0], tail[1]], true),
            (vec![jump, tail[0], tail[1]], true),
        ] {
            let start = [inst(version, Op::NOP, 0, NONE), inst(version, Op::NOP, 0, NONE), send(3)];
            let program = Program { insts: [&start[..], &end[..]].concat(), regions: Vec::new() };
            let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
            // Nothing but the verifier looks, and only from 3.12 on.
            let options = Options { verify: true, ..Options::default() };
            let _ = assemble::assemble(&program, &meta(version, 1), options, &mut scratch, &mut out);
            let Some(adapted) = scratch.adapted().filter(|_| version >= Version::V312 && is_mended) else {
                assert!(version < Version::V312 || !is_mended, "{version:?} {end:?}");
                continue;
            };
            let insts = &adapted.program.insts;
            assert_eq!((insts[2].target, insts[3].opcode), (3, number(version, Op::NOP)));
            assert_eq!((insts[4].opcode, adapted.place[3]), (end[0].opcode, 4));
        }
    }
}
