//! Fused instructions on two locals, whose operand has four bits for each: what to do when that is not enough.
use crate::state::state;
use pydynamo_assembler::code::{Program, RegionDepth};
use pydynamo_assembler::inst::{Inst, NO_INDEX, Written};
use pydynamo_assembler::op::Op;

/// A pair of locals one of which has an index of 16 or more.
pub struct WidePair {
    pub index: u32,
    pub first: u32,
    pub second: u32,
}

/// The two single instructions of a fused one.
fn halves(op: Op) -> (Op, Op) {
    match op {
        Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => (Op::LOAD_FAST_BORROW, Op::LOAD_FAST_BORROW),
        Op::STORE_FAST_STORE_FAST => (Op::STORE_FAST, Op::STORE_FAST),
        Op::STORE_FAST_LOAD_FAST => (Op::STORE_FAST, Op::LOAD_FAST),
        _ => (Op::LOAD_FAST, Op::LOAD_FAST),
    }
}

/// Splits fused pairs whose operands need more than four bits. The result says which old record each new one stands for.
pub fn split_pairs(program: &mut Program, pairs: &[WidePair]) -> Vec<u32> {
    let tables = state().tables;
    let old = std::mem::take(&mut program.insts);
    let mut origin = Vec::with_capacity(old.len() + pairs.len());
    let mut place = Vec::with_capacity(old.len());
    let mut next = pairs.iter().peekable();
    program.insts.reserve(old.len() + pairs.len());
    for (i, inst) in old.iter().enumerate() {
        place.push(program.insts.len() as u32);
        origin.push(i as u32);
        if let Some(pair) = next.next_if(|pair| pair.index as usize == i) {
            let (first, second) = halves(tables.op(inst.opcode));
            for (op, arg) in [(first, pair.first), (second, pair.second)] {
                let opcode = tables.opcode(op).unwrap_or(inst.opcode);
                program.insts.push(Inst { opcode, arg, written: Written::PLAIN, ..*inst });
            }
            origin.push(i as u32);
        } else {
            program.insts.push(*inst);
        }
    }
    let moved = |index: u32| place.get(index as usize).copied().unwrap_or(NO_INDEX);
    for inst in &mut program.insts {
        if inst.target != NO_INDEX {
            inst.target = moved(inst.target);
        }
    }
    for region in &mut program.regions {
        region.target = moved(region.target);
        if let RegionDepth::Below { anchor, .. } = &mut region.depth {
            *anchor = moved(*anchor);
        }
    }
    origin
}
