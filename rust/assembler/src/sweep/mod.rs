//! Sweeps: what generated code can lose without anybody noticing.
//!
//! Each is a function of its own on a [`crate::code::Program`]; those that find something to remove also come as an analysis that only
//! tells, for callers who keep their own list of instructions.
mod dead_stores;
mod lines;
mod liveness;
mod pointless_jumps;
mod unreachable;

pub use dead_stores::{dead_stores, remove_dead_stores};
pub use lines::propagate_line_nums;
pub use liveness::Liveness;
pub use pointless_jumps::{Fate, pointless_jumps, remove_pointless_jumps};
pub use unreachable::{reachable, remove_unreachable};
