//! The instructions at which blocks begin, a bit for each instruction: straight-line code is what stands between two bits.

/// A set of instructions.
#[derive(Debug, Default)]
pub(super) struct Heads {
    words: Vec<u64>,
    len: u32,
}

impl Heads {
    /// None of so many instructions.
    pub(super) fn reset(&mut self, len: usize) {
        self.len = len as u32;
        self.words.clear();
        self.words.resize(len.div_ceil(64), 0);
    }

    pub(super) fn add(&mut self, index: u32) {
        self.words[index as usize / 64] |= 1 << (index % 64);
    }

    /// The first from `index` on, or the end of the program.
    pub(super) fn next(&self, index: u32) -> u32 {
        let mut place = index as usize / 64;
        let mut seen = !0 << (index % 64);
        while let Some(word) = self.words.get(place) {
            let bits = word & seen;
            if bits != 0 {
                return 64 * place as u32 + bits.trailing_zeros();
            }
            place += 1;
            seen = !0;
        }
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_head_is_found_across_words() {
        let mut heads = Heads::default();
        heads.reset(300);
        for index in [0, 63, 64, 200, 299] {
            heads.add(index);
        }
        let next = [0, 1, 63, 64, 65, 200, 201, 299, 300].map(|index| heads.next(index));
        assert_eq!(next, [0, 63, 63, 64, 200, 200, 299, 299, 300]);
        heads.reset(64);
        assert_eq!([heads.next(0), heads.next(63), heads.next(64)], [64; 3]);
    }
}
