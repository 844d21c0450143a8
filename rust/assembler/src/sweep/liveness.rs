//! Which locals may still be read: a backward dataflow over blocks, with an edge from everywhere in a region to its handler.
use crate::code::Program;
use crate::inst::Inst;
use crate::op::Op;
use crate::tables::{self, OpFlags, OpInfo};
use crate::version::Version;

/// What an instruction does to localsplus, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read(u32),
    Write(u32),
}

/// The accesses of an instruction: at most two.
pub(super) fn accesses(info: &OpInfo, arg: u32) -> [Option<Access>; 2] {
    use Access::{Read, Write};
    let (first, second) = (arg >> 4, arg & 15);
    match info.op {
        Op::STORE_FAST => [Some(Write(arg)), None],
        Op::STORE_FAST_STORE_FAST => [Some(Write(first)), Some(Write(second))],
        Op::STORE_FAST_LOAD_FAST => [Some(Write(first)), Some(Read(second))],
        Op::LOAD_FAST_AND_CLEAR | Op::DELETE_FAST => [Some(Read(arg)), Some(Write(arg))],
        _ if info.has(OpFlags::FUSED_PAIR) => [Some(Read(first)), Some(Read(second))],
        // Cells are read by whoever shares them, whatever this instruction does.
        _ if info.flags.any(OpFlags::HAS_LOCAL.union(OpFlags::HAS_FREE)) => [Some(Read(arg)), None],
        _ => [None, None],
    }
}

/// A straight run of instructions in one region.
#[derive(Clone, Debug)]
struct Block {
    start: u32,
    end: u32,
    /// Blocks that control may go to from the end.
    next: [Option<u32>; 2],
    /// The block of the region's handler.
    handler: Option<u32>,
}

/// The locals that may still be read, at the boundaries of blocks.
#[derive(Debug)]
pub struct Liveness {
    blocks: Vec<Block>,
    /// Words per set.
    words: usize,
    /// Sets at each block's start, one after the other.
    live_in: Vec<u64>,
}

impl Liveness {
    /// Computes the sets of a program with so many slots of localsplus. Operands outside of them are ignored.
    #[must_use]
    pub fn compute(version: Version, program: &Program, locals: usize) -> Self {
        let blocks = blocks(version, program);
        let words = locals.div_ceil(64);
        let live_in = vec![0; words * blocks.len()];
        let mut liveness = Self { blocks, words, live_in };
        if words > 0 {
            liveness.solve(version, program);
        }
        liveness
    }

    fn solve(&mut self, version: Version, program: &Program) {
        let count = self.blocks.len();
        let words = self.words;
        let (mut reads, mut writes) = (vec![0; words * count], vec![0; words * count]);
        for (block, (reads, writes)) in
            self.blocks.iter().zip(reads.chunks_mut(words).zip(writes.chunks_mut(words)))
        {
            summarize(version, &program.insts[block.start as usize..block.end as usize], reads, writes);
        }
        let mut before = vec![Vec::new(); count];
        for (index, block) in (0_u32..).zip(&self.blocks) {
            for next in block.next.into_iter().chain([block.handler]).flatten() {
                before[next as usize].push(index);
            }
        }
        // Successors first where possible: then chains settle in one go, in whatever order they are laid out.
        let mut todo = self.reverse_postorder();
        let mut waiting = vec![true; count];
        let mut live = vec![0; words];
        while let Some(index) = todo.pop() {
            waiting[index as usize] = false;
            self.live_out(index, &mut live);
            let at = words * index as usize;
            let handler = self.blocks[index as usize].handler;
            let mut grew = false;
            for word in 0..words {
                let mut value = live[word] & !writes[at + word] | reads[at + word];
                if let Some(handler) = handler {
                    value |= self.live_in[words * handler as usize + word];
                }
                grew |= value != self.live_in[at + word];
                self.live_in[at + word] = value;
            }
            if grew {
                for &block in &before[index as usize] {
                    if !std::mem::replace(&mut waiting[block as usize], true) {
                        todo.push(block);
                    }
                }
            }
        }
    }

    /// All blocks, so that popping from the end meets successors before predecessors where there is no loop.
    fn reverse_postorder(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        for root in 0..self.blocks.len() as u32 {
            let mut path = vec![(root, 0)];
            if std::mem::replace(&mut seen[root as usize], true) {
                continue;
            }
            while let Some((index, step)) = path.last_mut() {
                let block = &self.blocks[*index as usize];
                let next = [block.next[0], block.next[1], block.handler];
                if let Some(&next) = next.get(*step) {
                    *step += 1;
                    if let Some(next) = next
                        && !std::mem::replace(&mut seen[next as usize], true)
                    {
                        path.push((next, 0));
                    }
                } else {
                    order.push(*index);
                    path.pop();
                }
            }
        }
        order.reverse();
        order
    }

    fn live_out(&self, index: u32, live: &mut [u64]) {
        live.fill(0);
        for next in self.blocks[index as usize].next.into_iter().flatten() {
            for (live, word) in live.iter_mut().zip(&self.live_in[self.words * next as usize..]) {
                *live |= word;
            }
        }
    }

    /// Visits every instruction from the last to the first, with the locals that may be read after it.
    pub(super) fn visit(
        &self,
        version: Version,
        program: &Program,
        mut visit: impl FnMut(u32, &dyn Fn(u32) -> bool),
    ) {
        let info = &tables::get(version).info;
        let mut live = vec![0; self.words];
        for (index, block) in (0..self.blocks.len() as u32).zip(&self.blocks).rev() {
            self.live_out(index, &mut live);
            for at in (block.start..block.end).rev() {
                let inst = &program.insts[at as usize];
                visit(at, &|local| {
                    live.get(local as usize / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
                });
                for access in accesses(&info[inst.opcode as usize], inst.arg).into_iter().flatten().rev() {
                    apply(access, &mut live);
                }
                if let Some(handler) = block.handler {
                    for (live, word) in live.iter_mut().zip(&self.live_in[self.words * handler as usize..]) {
                        *live |= word;
                    }
                }
            }
        }
    }
}

fn apply(access: Access, live: &mut [u64]) {
    let (Access::Read(local) | Access::Write(local)) = access;
    if let Some(word) = live.get_mut(local as usize / 64) {
        let bit = 1 << (local % 64);
        match access {
            Access::Read(_) => *word |= bit,
            Access::Write(_) => *word &= !bit,
        }
    }
}

/// What a run reads before it writes it, and what it writes.
fn summarize(version: Version, insts: &[Inst], reads: &mut [u64], writes: &mut [u64]) {
    let info = &tables::get(version).info;
    for inst in insts {
        for access in accesses(&info[inst.opcode as usize], inst.arg).into_iter().flatten() {
            let (Access::Read(local) | Access::Write(local)) = access;
            let (word, bit) = (local as usize / 64, 1 << (local % 64));
            if word >= reads.len() {
                continue;
            }
            match access {
                Access::Read(_) if writes[word] & bit == 0 => reads[word] |= bit,
                Access::Read(_) => {}
                Access::Write(_) => writes[word] |= bit,
            }
        }
    }
}

fn blocks(version: Version, program: &Program) -> Vec<Block> {
    let info = &tables::get(version).info;
    let insts = &program.insts;
    let mut heads = vec![false; insts.len() + 1];
    let mut mark = |index: u32| {
        if let Some(head) = heads.get_mut(index as usize) {
            *head = true;
        }
    };
    for (index, inst) in (0_u32..).zip(insts) {
        let info = &info[inst.opcode as usize];
        if info.is_jump() {
            mark(inst.target);
        }
        if info.is_jump() || !info.falls_through() {
            mark(index + 1);
        }
        if index > 0 && insts[index as usize - 1].region != inst.region {
            mark(index);
        }
    }
    program.regions.iter().for_each(|region| mark(region.target));
    mark(0);
    mark(insts.len() as u32);
    let starts: Vec<u32> = (0..=insts.len() as u32).filter(|&index| heads[index as usize]).collect();
    let block_at =
        |index: u32| starts.binary_search(&index).ok().filter(|&b| b + 1 < starts.len()).map(|b| b as u32);
    let pairs = starts.windows(2).filter_map(|pair| pair.first_chunk().copied());
    pairs
        .map(|[start, end]| {
            let last = &insts[end as usize - 1];
            let info = &info[last.opcode as usize];
            let jumps = info.is_jump() && !info.has(OpFlags::NO_EDGE);
            let region = program.regions.get(insts[start as usize].region as usize);
            Block {
                start,
                end,
                next: [
                    if info.falls_through() { block_at(end) } else { None },
                    if jumps { block_at(last.target) } else { None },
                ],
                handler: region.and_then(|region| block_at(region.target)),
            }
        })
        .collect()
}
