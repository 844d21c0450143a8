//! LOAD_FAST_BORROW of 3.14: references on the stack that a local owns, and what to do with those that may outlive it.
use crate::code::Program;
use crate::op::Op;

/// Borrowed loads of the program at hand. A load's number is `instruction << 1 | which of a pair`.
pub(super) struct Borrows<'a> {
    /// The program borrows at all.
    pub(super) any: bool,
    pub(super) pair_opcode: Option<u8>,
    /// Where to note loads that must own, instead of failing.
    pub(super) demoted: Option<&'a mut Vec<bool>>,
}

impl Borrows<'_> {
    /// The local that a load borrows from.
    pub(super) fn local_of(&self, program: &Program, load: u32) -> u32 {
        let inst = &program.insts[load as usize >> 1];
        match (Some(inst.opcode) == self.pair_opcode, load & 1) {
            (false, _) => inst.arg,
            (true, 0) => inst.arg >> 4,
            (true, _) => inst.arg & 15,
        }
    }

    /// Notes that the load must own. False if that is not wanted.
    pub(super) fn demote(&mut self, load: u32) -> bool {
        match &mut self.demoted {
            Some(demoted) => {
                demoted[load as usize >> 1] = true;
                true
            }
            None => false,
        }
    }
}

/// The operation that loads the same and owns what it loads.
pub(super) const fn owning(op: Op) -> Option<Op> {
    match op {
        Op::LOAD_FAST_BORROW => Some(Op::LOAD_FAST),
        Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW => Some(Op::LOAD_FAST_LOAD_FAST),
        _ => None,
    }
}
