//! The bytecode assembler: code object in, editable instructions, legal code object out.
//!
//! This crate knows CPython's formats for 3.11 to 3.15 and nothing of Python's C API: pools of constants and names stay
//! with the caller, who passes their sizes and the kinds that the verifier needs ([`code::CodeMeta`]).
//!
//! The pipeline, one module a step:
//!
//! ```text
//! RawCode ─disasm─► Program ─(edits, sweep)─► Program ─adapt─► what CPython needs ─layout─► sizes, offsets
//!                                                                  │                          │
//!                                                                  ├─verify / stack ─► depths, stack size
//!                                                                  └─emit, linetable, exntable ─► Assembled
//! ```
pub mod adapt;
pub mod assemble;
pub mod churn;
pub mod code;
pub mod disasm;
pub mod edit;
pub mod emit;
pub mod error;
pub mod exntable;
pub mod glue;
pub mod inst;
pub mod instrument;
pub mod layout;
pub mod linetable;
pub mod location;
pub mod op;
pub mod shape;
pub mod stack;
pub mod sweep;
pub mod tables;
pub mod units;
pub mod varint;
pub mod verify;
pub mod version;

pub use error::{Error, ErrorKind, Result};
