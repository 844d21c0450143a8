//! What the verifier spends on code made to be expensive is bounded.
mod common;

use common::{meta, number};
use pydynamo_assembler::code::{CodeMeta, ConstKind, LocalKind, Program, Trust};
use pydynamo_assembler::error::ErrorKind;
use pydynamo_assembler::inst::Inst;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::verify::{self, Origin, Scratch};
use pydynamo_assembler::version::Version;

const DEEP: u32 = 1 << 23;

/// Many values, then jumps that each go to the next one or all to the end.
fn deep_and_branching(version: Version, depth: u32, jumps: u32, to_end: bool) -> Program {
    let inst = |op, arg| Inst::new(number(version, op), arg);
    let mut insts = vec![inst(Op::RESUME, 0), inst(Op::LOAD_CONST, 0), inst(Op::UNPACK_SEQUENCE, depth)];
    // Everything that was unpacked is packed again.
    let end = insts.len() as u32 + 2 * jumps;
    for _ in 0..jumps {
        insts.push(inst(Op::LOAD_CONST, 0));
        let target = if to_end { end } else { insts.len() as u32 + 1 };
        insts.push(Inst { target, ..inst(Op::POP_JUMP_IF_NONE, 0) });
    }
    insts.extend([inst(Op::BUILD_TUPLE, depth), inst(Op::RETURN_VALUE, 0)]);
    Program { insts, regions: Vec::new() }
}

fn refusal(version: Version, program: &Program, locals: &[LocalKind]) -> Option<ErrorKind> {
    let trusted_locals = vec![Trust::None; locals.len()];
    let meta =
        CodeMeta { consts: &[ConstKind::None], locals, trusted_locals: &trusted_locals, ..meta(version, 1) };
    verify::verify(program, &meta, Origin::Edited, &mut Scratch::default()).err().map(|error| error.kind)
}

#[test]
fn deep_stacks_that_meet_in_many_places_are_refused() {
    for to_end in [false, true] {
        let program = deep_and_branching(Version::V313, DEEP, 40, to_end);
        assert_eq!(refusal(Version::V313, &program, &[]), Some(ErrorKind::TooLarge), "{to_end}");
    }
}

#[test]
fn many_steps_over_deep_stacks_are_refused() {
    let version = Version::V313;
    let inst = |op, arg| Inst::new(number(version, op), arg);
    let mut program = deep_and_branching(version, DEEP, 0, true);
    let end = program.insts.split_off(program.insts.len() - 2);
    for _ in 0..40 {
        program.insts.extend([inst(Op::BUILD_TUPLE, DEEP), inst(Op::UNPACK_SEQUENCE, DEEP)]);
    }
    program.insts.extend(end);
    assert_eq!(refusal(version, &program, &[]), Some(ErrorKind::TooLarge));
}

#[test]
fn many_locals_times_many_targets_are_refused() {
    let locals = vec![LocalKind::Local { arg: false }; 1 << 20];
    let program = deep_and_branching(Version::V313, 1, 1 << 12, false);
    assert_eq!(refusal(Version::V313, &program, &locals), Some(ErrorKind::TooLarge));
}

#[test]
fn what_is_only_deep_or_only_branching_is_accepted() {
    for (depth, jumps) in [(DEEP, 1), (1, 20_000), (1_000, 1_000)] {
        for version in [Version::V312, Version::V313, Version::V315] {
            let program = deep_and_branching(version, depth, jumps, false);
            assert_eq!(refusal(version, &program, &[LocalKind::Free; 0]), None, "{depth} {jumps}");
        }
    }
}
