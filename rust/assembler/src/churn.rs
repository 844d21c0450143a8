//! Edits that change nothing a program does: the assembler's own test bench.
//!
//! NOPs are strewn in, and blocks are put in another order with jumps between them. What comes out must run like what went in; CPython's test
//! suite is the judge. Everything follows from a seed.
use crate::code::Program;
use crate::edit::Rewrite;
use crate::glue::Glue;
use crate::inst::{Inst, NO_INDEX};
use crate::op::Op;
use crate::stack::effects;
use crate::tables;
use crate::version::Version;

/// A small generator of numbers (SplitMix64): the same everywhere, with no crate behind it.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// Puts up to `most` NOPs before about every `every`-th instruction where NOPs may stand. They have the position and the region
/// of the instruction behind them; jumps to it run through them.
pub fn insert_nops(version: Version, program: &mut Program, random: &mut Random, every: u32, most: u32) {
    let Some(nop) = tables::get(version).opcode(Op::NOP) else { return };
    let glue = Glue::new(version, program);
    let mut rewrite = Rewrite::with_capacity(program.insts.len() * 2);
    for (index, inst) in program.insts.iter().enumerate() {
        rewrite.arrive();
        if index >= glue.prologue() && glue.admits(index) && random.below(every) == 0 {
            for _ in 0..=random.below(most) {
                rewrite.push(Inst { region: inst.region, loc: inst.loc, ..Inst::new(nop, 0) });
            }
        }
        rewrite.push(*inst);
    }
    rewrite.finish(program);
}

/// Some order of the pieces that begin at `starts`, in which the first is first, no piece stands before one that it jumps back to, and
/// none behind one that it jumps forward to from within a region: forward jumps cannot raise, and its handler counts on that.
fn order(insts: &[Inst], starts: &[usize], random: &mut Random) -> Vec<usize> {
    let piece_of = |index: usize| starts.partition_point(|start| *start <= index) - 1;
    let mut followers = vec![Vec::new(); starts.len()];
    let mut waits_for = vec![0_u32; starts.len()];
    for (index, inst) in insts.iter().enumerate() {
        if let Some(target) = inst.jump() {
            let (here, there) = (piece_of(index), piece_of(target as usize));
            let is_back = target as usize <= index;
            let (first, then) = if is_back { (there, here) } else { (here, there) };
            if first != 0 && first != then && (is_back || inst.region != NO_INDEX) {
                followers[first].push(then);
                waits_for[then] += 1;
            }
        }
    }
    let mut order = vec![0];
    let mut ready: Vec<usize> = (1..starts.len()).filter(|piece| waits_for[*piece] == 0).collect();
    while !ready.is_empty() {
        let piece = ready.swap_remove(random.below(ready.len() as u32) as usize);
        order.push(piece);
        for then in &followers[piece] {
            waits_for[*then] -= 1;
            if waits_for[*then] == 0 {
                ready.push(*then);
            }
        }
    }
    order
}

/// Cuts the program into pieces, also in the middle of straight-line code, and lays them out in another order.
///
/// A piece that ran on into the next one gets a jump to it, with the position of what is behind it and the region of what is ahead, where
/// the stack is the same. The first piece holds the prologue and stays first. Jumps back stay jumps back: there CPython looks for
/// signals, and a loop that is closed by other jumps and by exceptions alone could not be interrupted.
pub fn permute_blocks(version: Version, program: &mut Program, random: &mut Random, every: u32) {
    let tables = tables::get(version);
    let Some(jump) = tables.opcode(Op::JUMP_FORWARD) else { return };
    let insts = &program.insts;
    let effects = effects::get(version);
    let runs_on = |index: usize| tables.info[insts[index].opcode as usize].falls_through();
    let glue = Glue::new(version, program);
    let mut starts = vec![0];
    for index in glue.prologue().max(1)..insts.len() {
        let before = &insts[index - 1];
        let natural = before.jump().is_some() || !runs_on(index - 1);
        // The jump there may raise, if only for a signal: a handler is told of the state before what can raise, and of no other.
        let raises = |inst: &Inst| !effects[tables.op(inst.opcode) as usize].quiet;
        let may_jump = !runs_on(index - 1) || insts[index].region == NO_INDEX || raises(&insts[index]);
        if !glue.holds(index) && may_jump && (natural || random.below(every) == 0) {
            starts.push(index);
        }
    }
    let count = starts.len();
    starts.push(insts.len());
    let order = order(insts, &starts[..count], random);
    let mut place = vec![0; insts.len()];
    let mut out = Vec::with_capacity(insts.len() * 2);
    for (at, &piece) in order.iter().enumerate() {
        for index in starts[piece]..starts[piece + 1] {
            place[index] = out.len() as u32;
            out.push(insts[index]);
        }
        let end = starts[piece + 1];
        if end > 0 && runs_on(end - 1) && order.get(at + 1) != Some(&(piece + 1)) && end < insts.len() {
            // Direction and opcode are the assembler's work.
            let (loc, region) = (insts[end - 1].loc, insts[end].region);
            out.push(Inst { target: end as u32, region, loc, ..Inst::new(jump, 0) });
        }
    }
    program.insts = out;
    crate::edit::renumber(&mut program.insts, &place);
    crate::edit::renumber_regions(&mut program.regions, &place);
}
