//! Long cascades: thousands of jumps, each pushed over its limit by the one before.
//!
//! Looking at every near jump again after every growth would be quadratic. Instead a tree of counters lies over the
//! jumps, each node counting how much the jumps below it grew. A jump's distance is the sum of a few nodes; if it has
//! `slack` units left and `k` nodes, then it cannot be over its limit before one of them counts `slack / k` more. So it leaves a
//! watch at each and is looked at again only when one goes off; each look takes a fixed share off the slack.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Near;
use crate::shape;

/// A watch: the count at which it goes off, the jump (a place in the list of near ones), and which of its looks left it.
type Watch = Reverse<(u32, u32, u32)>;

struct Cascade<'a> {
    near: &'a [Near],
    grown: &'a mut [u32],
    /// Leaves of the tree; the root is node 1, the children of `n` are `2n` and `2n + 1`.
    leaves: usize,
    counts: Vec<u32>,
    watches: Vec<BinaryHeap<Watch>>,
    /// How often each near jump was looked at: watches of earlier looks are void.
    looks: Vec<u32>,
    /// Near jumps to look at.
    todo: Vec<u32>,
}

/// Grows `grown` (by jump) from where it is to the least layout in which every near jump fits.
pub(super) fn settle(near: &[Near], grown: &mut [u32]) {
    let leaves = grown.len().next_power_of_two();
    let mut counts = vec![0; 2 * leaves];
    counts[leaves..leaves + grown.len()].copy_from_slice(grown);
    for node in (1..leaves).rev() {
        counts[node] = counts[2 * node] + counts[2 * node + 1];
    }
    let mut cascade = Cascade {
        near,
        grown,
        leaves,
        counts,
        watches: vec![BinaryHeap::new(); 2 * leaves],
        looks: vec![0; near.len()],
        todo: (0..near.len() as u32).rev().collect(),
    };
    while let Some(place) = cascade.todo.pop() {
        cascade.look(place);
    }
}

impl Cascade<'_> {
    fn look(&mut self, place: u32) {
        let near = self.near[place as usize];
        self.looks[place as usize] += 1;
        let nodes = Nodes::new(near.lo, near.hi, self.leaves);
        let distance = near.base + nodes.clone().map(|node| self.counts[node]).sum::<u32>();
        let has = near.prefixes + self.grown[near.rank as usize];
        let needs = shape::prefixes(distance);
        if needs > has {
            self.grown[near.rank as usize] = needs - near.prefixes;
            self.todo.push(place);
            self.count(near.rank, needs - has);
        } else if has < 3 {
            let slack = (1_u32 << (8 * (has + 1))) - distance;
            let share = slack.div_ceil(nodes.clone().count().max(1) as u32);
            let look = self.looks[place as usize];
            for node in nodes {
                self.watches[node].push(Reverse((self.counts[node] + share, place, look)));
            }
        }
    }

    /// Counts the growth of a jump at every node above it.
    fn count(&mut self, rank: u32, by: u32) {
        let mut node = self.leaves + rank as usize;
        while node > 0 {
            self.counts[node] += by;
            while let Some(&Reverse((at, place, look))) = self.watches[node].peek() {
                if at > self.counts[node] {
                    break;
                }
                self.watches[node].pop();
                if self.looks[place as usize] == look {
                    self.todo.push(place);
                }
            }
            node /= 2;
        }
    }
}

/// The fewest nodes that together cover the leaves `lo..hi`.
#[derive(Clone)]
struct Nodes {
    lo: usize,
    hi: usize,
}

impl Nodes {
    fn new(lo: u32, hi: u32, leaves: usize) -> Self {
        Self { lo: lo as usize + leaves, hi: hi as usize + leaves }
    }
}

impl Iterator for Nodes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.lo < self.hi {
            if self.lo & 1 == 1 {
                self.lo += 1;
                return Some(self.lo - 1);
            }
            if self.hi & 1 == 1 {
                self.hi -= 1;
                return Some(self.hi);
            }
            self.lo /= 2;
            self.hi /= 2;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Looks at all jumps until nothing changes.
    fn settle_slowly(near: &[Near], grown: &mut [u32]) {
        let mut settled = false;
        while !settled {
            settled = true;
            for jump in near {
                let distance = jump.base + grown[jump.lo as usize..jump.hi as usize].iter().sum::<u32>();
                let needed = shape::prefixes(distance);
                let grown = &mut grown[jump.rank as usize];
                if needed > jump.prefixes + *grown {
                    *grown = needed - jump.prefixes;
                    settled = false;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn watches_find_what_looking_at_everything_finds(
            jumps in prop::collection::vec((0..40_u32, any::<bool>(), 0..3_u32, any::<(u8, u8)>()), 1..120),
        ) {
            let count = jumps.len() as u32;
            let near: Vec<_> = (0..).zip(&jumps).map(|(rank, &(slack, wide, prefixes, (lo, hi)))| {
                let (lo, hi) = (u32::from(lo) % count, u32::from(hi) % (count + 1));
                let limit = if wide { 0xffff } else { 0xff };
                Near { rank, base: limit - slack, prefixes, lo: lo.min(hi), hi: lo.max(hi) }
            }).collect();
            let (mut fast, mut slow) = (vec![0; jumps.len()], vec![0; jumps.len()]);
            settle(&near, &mut fast);
            settle_slowly(&near, &mut slow);
            prop_assert_eq!(fast, slow);
        }
    }
}
