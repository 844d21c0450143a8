//! Layout against a naive reference, and the time it takes at its worst.
mod common;

use std::time::{Duration, Instant};

use common::{number, program, seeds, versions};
use proptest::prelude::*;
use pydynamo_assembler::ErrorKind;
use pydynamo_assembler::adapt::Adapted;
use pydynamo_assembler::code::Program;
use pydynamo_assembler::inst::Inst;
use pydynamo_assembler::layout::Layout;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables::{self, OpFlags};
use pydynamo_assembler::version::Version;

/// From minimal sizes, recompute everything until nothing changes.
fn naive(version: Version, program: &Program) -> Vec<u32> {
    let tables = tables::get(version);
    let prefixes = |arg: u32| [0xff, 0xffff, 0xff_ffff].iter().filter(|&&limit| arg > limit).count() as u32;
    let mut sizes: Vec<u32> = program
        .insts
        .iter()
        .map(|inst| {
            let info = &tables.info[inst.opcode as usize];
            1 + u32::from(info.caches) + if info.is_jump() { 0 } else { prefixes(inst.arg) }
        })
        .collect();
    loop {
        let mut starts = vec![0];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut settled = true;
        for (i, inst) in program.insts.iter().enumerate() {
            let info = &tables.info[inst.opcode as usize];
            if info.is_jump() {
                let needed = 1
                    + u32::from(info.caches)
                    + prefixes(starts[i + 1].abs_diff(starts[inst.target as usize]));
                if needed > sizes[i] {
                    sizes[i] = needed;
                    settled = false;
                }
            }
        }
        if settled {
            return starts;
        }
    }
}

fn adapted(version: Version, program: &Program) -> Option<Program> {
    let mut layout = Layout::default();
    if layout.measure(version, program).unwrap() {
        return Some(program.clone());
    }
    let mut out = Adapted::default();
    match out.adapt(version, program) {
        Ok(()) => {
            assert!(
                layout.measure(version, &out.program).unwrap(),
                "some jump still has the wrong direction"
            );
            Some(out.program)
        }
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::BadJump, "{error}");
            None
        }
    }
}

/// `count` times NOP with a jump in front of every `every`-th, each over the same number of instructions.
fn jumps(version: Version, count: u32, every: u32, span: i64) -> Program {
    let nop = Inst::new(number(version, Op::NOP), 0);
    let (ahead, back) = (number(version, Op::JUMP_FORWARD), number(version, Op::JUMP_BACKWARD));
    let mut insts = Vec::new();
    for i in 0..count {
        if i % every == 0 {
            let target = (i64::from(i) + span).clamp(0, i64::from(count) - 1) as u32;
            insts.push(Inst { opcode: if target > i { ahead } else { back }, target, ..nop });
        } else {
            insts.push(nop);
        }
    }
    Program { insts, regions: Vec::new() }
}

fn timed(version: Version, program: &Program) -> (Layout, Duration) {
    let mut layout = Layout::default();
    let begin = Instant::now();
    layout.compute(version, program).unwrap();
    (layout, begin.elapsed())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_least_layout_is_found(version in versions(), seeds in seeds(0..600)) {
        if let Some(program) = adapted(version, &program(version, &seeds)) {
            let mut layout = Layout::default();
            layout.compute(version, &program).unwrap();
            prop_assert_eq!(layout.starts(), &naive(version, &program)[..]);
        }
    }

    #[test]
    fn dense_jumps_near_a_limit_find_the_least_layout(
        version in versions(), targets in prop::collection::vec((any::<bool>(), 120..260_u32), 300..700),
    ) {
        let (ahead, back) = (number(version, Op::JUMP_FORWARD), number(version, Op::JUMP_BACKWARD));
        let count = targets.len() as u32;
        let insts = (0..count).zip(&targets).map(|(i, &(forward, span))| {
            let target = if forward { (i + span).min(count - 1) } else { i.saturating_sub(span) };
            Inst { opcode: if target > i { ahead } else { back }, target, ..Inst::new(0, 0) }
        });
        let program = Program { insts: insts.collect(), regions: Vec::new() };
        let mut layout = Layout::default();
        layout.compute(version, &program).unwrap();
        prop_assert_eq!(layout.starts(), &naive(version, &program)[..]);
    }
}

#[test]
fn a_cascade_of_a_thousand_jumps_at_the_boundary_settles_in_the_least_layout() {
    // Each jump spans the next one only: the last must grow, so all must, one after the other.
    let version = Version::V312;
    for (span, every) in [(256, 255), (255, 85), (257, 128)] {
        let program = jumps(version, 1000 * every, every, span);
        let (layout, _) = timed(version, &program);
        assert_eq!(layout.starts(), naive(version, &program));
    }
}

#[test]
fn a_cascade_over_the_second_limit_is_not_quadratic() {
    let version = Version::V312;
    let small = timed(version, &jumps(version, 100_000, 1, 32_768)).1;
    let large = timed(version, &jumps(version, 400_000, 1, 32_768)).1;
    assert!(
        large < 20 * small + Duration::from_millis(50),
        "{small:?} for 100,000 jumps, {large:?} for 400,000"
    );
}

#[test]
fn a_conditional_jump_that_becomes_backward_goes_over_an_unconditional_one() {
    for version in [Version::V312, Version::V313, Version::V314, Version::V315] {
        let op = |op| number(version, op);
        let mut jump = Inst::new(op(Op::POP_JUMP_IF_TRUE), 0);
        jump.target = 0;
        let insts = vec![Inst::new(op(Op::NOP), 0), jump, Inst::new(op(Op::RETURN_VALUE), 0)];
        let program = adapted(version, &Program { insts, regions: Vec::new() }).unwrap();
        let names: Vec<_> =
            program.insts.iter().map(|inst| tables::get(version).info[inst.opcode as usize].name).collect();
        let last = program.insts.len() as u32 - 1;
        if version < Version::V314 {
            assert_eq!(names, ["NOP", "POP_JUMP_IF_FALSE", "JUMP_BACKWARD", "RETURN_VALUE"]);
        } else {
            assert_eq!(names, ["NOP", "POP_JUMP_IF_FALSE", "NOT_TAKEN", "JUMP_BACKWARD", "RETURN_VALUE"]);
        }
        assert_eq!((program.insts[1].target, program.insts[last as usize - 1].target), (last, 0));
    }
}

#[test]
fn for_iter_reaches_back_to_its_end_over_a_trampoline() {
    for version in Version::ALL {
        let op = |op| number(version, op);
        let exit: &[Op] = match version {
            Version::V311 => &[],
            Version::V312 => &[Op::END_FOR],
            Version::V313 => &[Op::END_FOR, Op::POP_TOP],
            Version::V314 | Version::V315 => &[Op::END_FOR, Op::POP_ITER],
        };
        let mut insts: Vec<_> = exit.iter().map(|&exit| Inst::new(op(exit), 0)).collect();
        insts.push(Inst::new(op(Op::RETURN_VALUE), 0));
        let for_iter = insts.len();
        insts.push(Inst { target: 0, ..Inst::new(op(Op::FOR_ITER), 0) });
        insts.push(Inst { target: for_iter as u32, ..Inst::new(op(Op::JUMP_BACKWARD), 0) });
        let end = insts.len();
        let program = adapted(version, &Program { insts, regions: Vec::new() }).unwrap();
        assert_eq!(program.insts[for_iter].target as usize, end);
        for (inst, &exit) in program.insts[end..].iter().zip(exit) {
            assert_eq!(inst.opcode, op(exit));
        }
        let back = program.insts.last().unwrap();
        assert_eq!((back.opcode, back.target as usize), (op(Op::JUMP_BACKWARD), exit.len()));
    }
}

#[test]
fn for_iter_to_anything_but_end_for_is_refused_by_the_callers_index() {
    let version = Version::V313;
    let op = |op| number(version, op);
    let mut cond = Inst::new(op(Op::POP_JUMP_IF_TRUE), 0);
    cond.target = 0;
    let for_iter = Inst { target: 0, ..Inst::new(op(Op::FOR_ITER), 0) };
    let insts = vec![Inst::new(op(Op::NOP), 0), cond, for_iter, Inst::new(op(Op::RETURN_VALUE), 0)];
    let error = Adapted::default().adapt(version, &Program { insts, regions: Vec::new() }).unwrap_err();
    assert_eq!((error.kind, error.index), (ErrorKind::BadJump, Some(2)), "{error}");
}

#[test]
fn every_jump_has_a_remedy_for_the_wrong_direction() {
    for version in Version::ALL {
        let tables = tables::get(version);
        for (opcode, info) in (0_u8..=255).zip(&tables.info) {
            if !info.is_jump() || info.has(OpFlags::ILLEGAL) {
                continue;
            }
            let exit: &[Op] =
                &[Op::END_FOR, if version < Version::V314 { Op::POP_TOP } else { Op::POP_ITER }];
            let exit = exit.iter().filter(|&&op| tables.opcode(op).is_some());
            let mut insts: Vec<_> = exit.map(|&op| Inst::new(number(version, op), 0)).collect();
            insts.push(Inst::new(number(version, Op::RETURN_VALUE), 0));
            let target = if info.has(OpFlags::JUMP_BACKWARD) { insts.len() as u32 + 1 } else { 0 };
            insts.push(Inst { target, ..Inst::new(opcode, 0) });
            insts.push(Inst::new(number(version, Op::RETURN_VALUE), 0));
            assert!(
                adapted(version, &Program { insts, regions: Vec::new() }).is_some(),
                "{version:?} {}",
                info.name
            );
        }
    }
}
