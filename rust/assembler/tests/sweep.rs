//! Sweeps remove what nobody notices and keep lines and regions.
mod common;

use common::number;
use pydynamo_assembler::code::{Program, Region, RegionDepth};
use pydynamo_assembler::inst::Inst;
use pydynamo_assembler::location::Location;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::sweep;
use pydynamo_assembler::tables;
use pydynamo_assembler::version::Version;

const V: Version = Version::V313;

/// Writes programs down: operation, operand, and for jumps the target.
struct Writer(Program);

impl Writer {
    fn new() -> Self {
        Self(Program::default())
    }

    fn op(mut self, op: Op, arg: u32) -> Self {
        self.0.insts.push(Inst { loc: Location::of_line(1), ..Inst::new(number(V, op), arg) });
        self
    }

    fn jump(self, op: Op, target: u32) -> Self {
        self.op(op, 0).change(|inst| inst.target = target)
    }

    fn line(self, line: i32) -> Self {
        self.change(|inst| inst.loc = Location::of_line(line))
    }

    fn region(self, region: u32) -> Self {
        self.change(|inst| inst.region = region)
    }

    fn change(mut self, change: impl FnOnce(&mut Inst)) -> Self {
        change(self.0.insts.last_mut().unwrap());
        self
    }

    fn handler(mut self, target: u32) -> Self {
        self.0.regions.push(Region { target, depth: RegionDepth::Fixed(0), lasti: false });
        self
    }
}

fn names(program: &Program) -> Vec<&'static str> {
    program.insts.iter().map(|inst| tables::get(V).info[inst.opcode as usize].name).collect()
}

#[test]
fn unreachable_code_goes_and_handlers_stay() {
    let mut program = Writer::new()
        .jump(Op::JUMP_FORWARD, 2)
        .op(Op::NOP, 0)
        .op(Op::LOAD_CONST, 0)
        .region(0)
        .op(Op::RETURN_VALUE, 0)
        .region(0)
        .jump(Op::JUMP_FORWARD, 6)
        .op(Op::RERAISE, 0)
        .op(Op::RERAISE, 0)
        .handler(5)
        .handler(6)
        .0;
    assert_eq!(sweep::remove_unreachable(V, &mut program), 3);
    assert_eq!(names(&program), ["JUMP_FORWARD", "LOAD_CONST", "RETURN_VALUE", "RERAISE"]);
    assert_eq!((program.insts[0].target, program.regions[0].target), (1, 3));
    assert_eq!(sweep::remove_unreachable(V, &mut program), 0);
}

#[test]
fn jumps_to_the_next_instruction_go_also_one_over_another() {
    let mut program = Writer::new()
        .jump(Op::JUMP_FORWARD, 3)
        .jump(Op::JUMP_FORWARD, 2)
        .jump(Op::JUMP_FORWARD, 3)
        .op(Op::RETURN_VALUE, 0)
        .0;
    assert_eq!(sweep::remove_pointless_jumps(V, &mut program), 3);
    assert_eq!(names(&program), ["RETURN_VALUE"]);
}

#[test]
fn a_jump_that_is_a_line_of_its_own_becomes_a_nop() {
    let mut program = Writer::new()
        .op(Op::LOAD_CONST, 0)
        .jump(Op::JUMP_FORWARD, 2)
        .line(2)
        .op(Op::RETURN_VALUE, 0)
        .line(3)
        .0;
    assert_eq!(sweep::remove_pointless_jumps(V, &mut program), 1);
    assert_eq!(names(&program), ["LOAD_CONST", "NOP", "RETURN_VALUE"]);
    assert_eq!(program.insts[1].loc, Location::of_line(2));
}

#[test]
fn a_jump_over_something_stays() {
    let mut program = Writer::new()
        .jump(Op::JUMP_FORWARD, 2)
        .op(Op::NOP, 0)
        .op(Op::RETURN_VALUE, 0)
        .jump(Op::JUMP_BACKWARD, 0)
        .0;
    assert_eq!(sweep::remove_pointless_jumps(V, &mut program), 0);
}

#[test]
fn a_store_that_nobody_reads_becomes_a_pop() {
    let mut program = Writer::new()
        .op(Op::LOAD_CONST, 0)
        .op(Op::STORE_FAST, 0)
        .op(Op::LOAD_CONST, 0)
        .op(Op::STORE_FAST, 0)
        .op(Op::LOAD_FAST, 0)
        .op(Op::RETURN_VALUE, 0)
        .0;
    assert_eq!(sweep::remove_dead_stores(V, &mut program, 1), 1);
    assert_eq!(names(&program)[1..4], ["POP_TOP", "LOAD_CONST", "STORE_FAST"]);
}

#[test]
fn a_handler_that_reads_keeps_stores_before_and_in_its_region() {
    let program = |region| {
        Writer::new()
            .op(Op::LOAD_CONST, 0)
            .op(Op::STORE_FAST, 0)
            .op(Op::NOP, 0)
            .region(region)
            .op(Op::LOAD_CONST, 0)
            .region(region)
            .op(Op::STORE_FAST, 0)
            .region(region)
            .op(Op::LOAD_CONST, 0)
            .op(Op::RETURN_VALUE, 0)
            .op(Op::LOAD_FAST, 0)
            .op(Op::RETURN_VALUE, 0)
            .handler(7)
            .0
    };
    // The store in the region is its last instruction: after it nothing can raise that leads to the handler.
    assert_eq!(sweep::dead_stores(V, &program(0), 1), [0, 0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(sweep::remove_dead_stores(V, &mut program(u32::MAX), 1), 2);
}

#[test]
fn fused_stores_fall_apart_where_half_is_dead() {
    let mut program = Writer::new()
        .op(Op::LOAD_CONST, 0)
        .op(Op::LOAD_CONST, 0)
        .op(Op::STORE_FAST_STORE_FAST, 0x01)
        .op(Op::LOAD_FAST, 1)
        .op(Op::STORE_FAST_LOAD_FAST, 0x11)
        .op(Op::RETURN_VALUE, 0)
        .0;
    assert_eq!(sweep::remove_dead_stores(V, &mut program, 2), 1);
    assert_eq!(
        names(&program)[2..],
        ["POP_TOP", "STORE_FAST", "LOAD_FAST", "STORE_FAST_LOAD_FAST", "RETURN_VALUE"]
    );
}

#[test]
fn a_store_that_may_put_back_an_unbound_local_stays() {
    let mut program = Writer::new()
        .op(Op::LOAD_FAST_AND_CLEAR, 0)
        .op(Op::STORE_FAST, 0)
        .op(Op::LOAD_CONST, 0)
        .op(Op::RETURN_VALUE, 0)
        .0;
    assert_eq!(sweep::remove_dead_stores(V, &mut program, 1), 0);
}

#[test]
fn a_long_chain_in_reverse_is_not_quadratic() {
    // Block i, laid out as the (n - i)-th, passes local 0 on to block i + 1; only the last one reads it.
    let n = 20_000;
    let mut writer =
        Writer::new().op(Op::LOAD_CONST, 0).op(Op::STORE_FAST, 0).jump(Op::JUMP_FORWARD, 2 * n + 2);
    writer = writer.op(Op::LOAD_FAST, 0).op(Op::RETURN_VALUE, 0);
    for i in 1..n {
        writer = writer.op(Op::NOP, 0).jump(Op::JUMP_BACKWARD, 2 * i + 1);
    }
    writer = writer.op(Op::NOP, 0);
    let mut program = writer.0;
    let last = program.insts.len() as u32 - 1;
    program.insts[2].target = last;
    program.insts[last as usize] = Inst { target: last - 2, ..Inst::new(number(V, Op::JUMP_BACKWARD), 0) };
    let begin = std::time::Instant::now();
    assert_eq!(sweep::remove_unreachable(V, &mut program), 0);
    assert_eq!(sweep::remove_dead_stores(V, &mut program, 64), 0);
    assert!(begin.elapsed().as_secs() < 2, "{:?}", begin.elapsed());
}

#[test]
fn lines_reach_instructions_that_have_none() {
    let mut program = Writer::new().op(Op::NOP, 0).op(Op::NOP, 0).line(7).op(Op::RETURN_VALUE, 0).0;
    program.insts[0].loc = Location::NONE;
    program.insts[2].loc = Location::NONE;
    sweep::propagate_line_nums(&mut program);
    let lines: Vec<_> = program.insts.iter().map(|inst| inst.loc.line.get()).collect();
    assert_eq!(lines, [None, Some(7), Some(7)]);
}
