//! Calls of a probe at every source line or every block, put in natively.
//!
//! A probe is `callable(argument)`; both are constants. Pools stay with the caller: the callable's index comes in, and the
//! arguments come out, to be appended as `first_argument`, `first_argument + 1`, … Stack picture of a probe, from 3.13 on:
//!
//! ```text
//! LOAD_CONST callable   … callable
//! PUSH_NULL             … callable NULL
//! LOAD_CONST argument   … callable NULL argument
//! CALL 1                … result
//! POP_TOP               …
//! ```
use crate::code::Program;
use crate::edit::Rewrite;
use crate::glue::Glue;
use crate::inst::Inst;
use crate::location::Location;
use crate::op::Op;
use crate::tables::{self, Tables};
use crate::version::Version;

/// Where probes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// Wherever another source line begins, and at each instruction with a line that jumps lead to. The argument is the line.
    Line,
    /// At the head of each basic block. The argument counts the blocks that have a probe.
    Block,
}

/// Puts probes into a program. Returns their arguments, in the order of the constants that they load.
///
/// The prologue gets none, nor what must stay together ([`Glue`]); a handler's first one comes behind its PUSH_EXC_INFO.
pub fn instrument(
    version: Version,
    program: &mut Program,
    site: Site,
    callable: u32,
    first_argument: u32,
) -> Vec<i32> {
    let tables = tables::get(version);
    let heads = heads(tables, program);
    let glue = Glue::new(version, program);
    let mut arguments = Vec::new();
    let mut rewrite = Rewrite::with_capacity(program.insts.len() * 2);
    let mut line = Location::NONE.line;
    // A site that admits no probe passes it on to the next instruction of its block.
    let mut due = false;
    for (index, (inst, &head)) in program.insts.iter().zip(&heads).enumerate() {
        let has_line = inst.loc.line.is_some();
        due = match site {
            Site::Line => {
                (due && !head) || has_line && (head || inst.loc.line != line || index == glue.prologue())
            }
            Site::Block => due || head || index == glue.prologue(),
        };
        if has_line {
            line = inst.loc.line;
        }
        rewrite.arrive();
        let here = due && index >= glue.prologue() && glue.admits(index) && !glue.opens_handler(index);
        if here && (site == Site::Block || has_line) {
            let argument = match site {
                Site::Line => inst.loc.line.get().unwrap_or_default(),
                Site::Block => arguments.len() as i32,
            };
            let argument_at = first_argument + arguments.len() as u32;
            arguments.push(argument);
            for inst in probe(tables, inst, callable, argument_at) {
                rewrite.push(inst);
            }
            due = false;
        }
        rewrite.push(*inst);
    }
    rewrite.finish(program);
    arguments
}

/// Which instructions control may come to from elsewhere than the one before.
fn heads(tables: &Tables, program: &Program) -> Vec<bool> {
    let mut heads = vec![false; program.insts.len()];
    let regions = program.regions.iter().map(|region| region.target);
    for target in program.insts.iter().filter_map(Inst::jump).chain(regions) {
        if let Some(head) = heads.get_mut(target as usize) {
            *head = true;
        }
    }
    for (inst, head) in program.insts.iter().zip(heads.iter_mut().skip(1)) {
        let info = &tables.info[inst.opcode as usize];
        *head |= info.is_jump() || !info.falls_through();
    }
    heads
}

fn probe(tables: &Tables, at: &Inst, callable: u32, argument: u32) -> impl Iterator<Item = Inst> {
    let old = [
        (Op::PUSH_NULL, 0),
        (Op::LOAD_CONST, callable),
        (Op::LOAD_CONST, argument),
        (Op::PRECALL, 1),
        (Op::CALL, 1),
        (Op::POP_TOP, 0),
    ];
    let new = [
        (Op::LOAD_CONST, callable),
        (Op::PUSH_NULL, 0),
        (Op::LOAD_CONST, argument),
        (Op::PRECALL, 1),
        (Op::CALL, 1),
        (Op::POP_TOP, 0),
    ];
    // The callable moved below the NULL when TO_BOOL came.
    let sequence = if tables.opcode(Op::TO_BOOL).is_some() { new } else { old };
    let (region, loc) =
        (at.region, Location { col: Location::NONE.col, end_col: Location::NONE.col, ..at.loc });
    sequence.into_iter().filter_map(move |(op, arg)| {
        // PRECALL is in 3.11 only.
        let opcode = tables.opcode(op)?;
        Some(Inst { region, loc, ..Inst::new(opcode, arg) })
    })
}
