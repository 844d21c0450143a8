//! Blocks: at which instructions they begin, the state that was noted for each, and which are still to be looked at.
//!
//! Blocks are numbered in the order of the program. Most programs fit a word or two of bits, so asking which block begins at an
//! instruction, where the current one ends and which one is next takes a few steps and no table with a row per instruction.

/// A place where paths meet, and the state that holds there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) slots: u32,
    pub(super) depth: u32,
    pub(super) seen: bool,
}

const WORD: usize = u64::BITS as usize;

/// The blocks of a program. Reused from one to the next.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// A bit per instruction: a block begins here.
    heads: Vec<u64>,
    /// How many begin before each word.
    before: Vec<u32>,
    len: u32,
    states: Vec<Block>,
    /// A bit per block: it is to be looked at.
    pending: Vec<u64>,
    /// All words of `pending` before this one are empty.
    lowest: usize,
}

impl Blocks {
    /// No blocks, of so many instructions.
    pub(super) fn reset(&mut self, len: usize) {
        self.len = len as u32;
        self.heads.clear();
        self.heads.resize(len.div_ceil(WORD), 0);
    }

    /// A block begins at this instruction.
    #[inline]
    pub(super) fn add_head(&mut self, index: u32) {
        self.heads[index as usize / WORD] |= 1 << (index as usize % WORD);
    }

    /// All heads are known: numbers the blocks.
    pub(super) fn number(&mut self) {
        self.before.clear();
        self.states.clear();
        for (word, base) in self.heads.iter().zip((0..).step_by(WORD)) {
            self.before.push(self.states.len() as u32);
            let mut bits = *word;
            while bits != 0 {
                let start = base + bits.trailing_zeros();
                bits &= bits - 1;
                self.states.push(Block { start, slots: 0, depth: 0, seen: false });
            }
        }
        self.lowest = 0;
        self.pending.clear();
        self.pending.resize(self.states.len().div_ceil(WORD), 0);
    }

    pub(super) fn count(&self) -> usize {
        self.states.len()
    }

    pub(super) fn is_head(&self, index: u32) -> bool {
        self.heads[index as usize / WORD] >> (index as usize % WORD) & 1 != 0
    }

    /// The number of the block that begins at `index`.
    #[inline]
    pub(super) fn at(&self, index: u32) -> u32 {
        let (word, bit) = (index as usize / WORD, index as usize % WORD);
        self.before[word] + (self.heads[word] & ((1 << bit) - 1)).count_ones()
    }

    /// The first head from `index` on, or the end of the program.
    #[inline]
    pub(super) fn next_head(&self, index: u32) -> u32 {
        let mut place = index as usize / WORD;
        let mut wanted = !0 << (index as usize % WORD);
        while let Some(word) = self.heads.get(place) {
            let bits = word & wanted;
            if bits != 0 {
                return (WORD * place) as u32 + bits.trailing_zeros();
            }
            place += 1;
            wanted = !0;
        }
        self.len
    }

    pub(super) fn get(&self, block: u32) -> Block {
        self.states[block as usize]
    }

    /// Notes that a state reaches the block for the first time.
    pub(super) fn see(&mut self, block: u32, slots: usize, depth: usize) {
        let b = &mut self.states[block as usize];
        (b.seen, b.slots, b.depth) = (true, slots as u32, depth as u32);
    }

    /// The block is to be looked at, if it `changed`.
    #[inline]
    pub(super) fn queue(&mut self, block: u32, changed: bool) {
        let (word, bit) = (block as usize / WORD, block as usize % WORD);
        self.pending[word] |= u64::from(changed) << bit;
        self.lowest = self.lowest.min(if changed { word } else { usize::MAX });
    }

    /// The first block that is to be looked at, which it is no longer.
    pub(super) fn take(&mut self) -> Option<u32> {
        while let Some(word) = self.pending.get_mut(self.lowest) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some((WORD * self.lowest) as u32 + bit);
            }
            self.lowest += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(len: usize, heads: &[u32]) -> Blocks {
        let mut blocks = Blocks::default();
        blocks.reset(len);
        for index in heads {
            blocks.add_head(*index);
        }
        blocks.number();
        blocks
    }

    #[test]
    fn heads_are_numbered_in_order_and_found_across_words() {
        let heads = [0, 63, 64, 200, 299];
        let blocks = blocks(300, &heads);
        assert_eq!(heads.map(|index| blocks.at(index)), [0, 1, 2, 3, 4]);
        assert_eq!(heads.map(|index| blocks.get(blocks.at(index)).start), heads);
        let next = [0, 1, 63, 64, 65, 200, 201, 299, 300].map(|index| blocks.next_head(index));
        assert_eq!(next, [0, 63, 63, 64, 200, 200, 299, 299, 300]);
    }

    #[test]
    fn a_whole_word_without_heads_ends_with_the_program() {
        let blocks = blocks(64, &[]);
        assert_eq!([blocks.next_head(0), blocks.next_head(63), blocks.next_head(64)], [64; 3]);
    }

    #[test]
    fn blocks_are_taken_in_order_and_again_when_they_are_queued_again() {
        let heads: Vec<u32> = (0..200).collect();
        let mut blocks = blocks(200, &heads);
        for block in [150, 3, 70, 3] {
            blocks.queue(block, true);
        }
        blocks.queue(5, false);
        assert_eq!([blocks.take(), blocks.take()], [Some(3), Some(70)]);
        blocks.queue(1, true);
        assert_eq!([blocks.take(), blocks.take(), blocks.take()], [Some(1), Some(150), None]);
    }
}
