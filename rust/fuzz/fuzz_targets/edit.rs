//! Edits of real code objects: whatever they do, assembly and verification end in an error or in tables that come apart again.
//!
//! Input: version, code object, then edits of five bytes each: kind, place, and three bytes that the kind reads.
#![no_main]
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::churn::{self, Random};
use pydynamo_assembler::code::{Assembled, Options, Program, RawCode, Region, RegionDepth};
use pydynamo_assembler::disasm;
use pydynamo_assembler::inst::{Inst, NO_INDEX};
use pydynamo_assembler::instrument::{self, Site};
use pydynamo_assembler::version::Version;

#[path = "../../assembler/benches/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
#[path = "common/subject.rs"]
mod subject;
use subject::Subject;

/// More edits than this find nothing new, they only take longer.
const MOST_EDITS: usize = 24;
/// Programs longer than this are not edited further, for the same reason.
const LONG: usize = 400;
/// Only programs shorter than this get NOPs by the hundred, enough for jumps with prefixes.
const SHORT: usize = 80;

static SUBJECTS: LazyLock<Vec<Vec<Subject>>> = LazyLock::new(Subject::all);

fn edit(program: &mut Program, version: Version, edit: &[u8; 5]) {
    let count = program.insts.len();
    if count == 0 {
        return;
    }
    let [kind, place, a, b, c] = *edit;
    let at = place as usize * count / 256;
    let (near, far) = ((at + a as usize) % count, a as usize * count / 256);
    match kind % 12 {
        0 => program.insts[at].opcode = a,
        1 => program.insts[at].arg = u32::from_le_bytes([a, b, c, 0]),
        2 => program.insts[at].target = if c & 1 == 0 { near } else { far } as u32,
        3 => drop(program.insts.remove(at)),
        4 => program.insts.insert(at, Inst::new(a, u32::from(b))),
        5 => program.insts.insert(at, program.insts[near]),
        6 => program.insts.swap(at, near),
        7 => {
            let region = if b & 1 == 0 { NO_INDEX } else { u32::from(b >> 1) };
            program.insts[at.min(near)..at.max(near)].iter_mut().for_each(|inst| inst.region = region);
        }
        8 => {
            let depth = match c & 3 {
                0 => RegionDepth::Below {
                    anchor: near as u32,
                    height: u32::from(b),
                    stated: u32::from(c >> 2),
                },
                _ => RegionDepth::Fixed(u32::from(c >> 2)),
            };
            program.regions.push(Region { target: at as u32, depth, lasti: b & 1 == 1 });
        }
        9 => {
            let most = if count < SHORT && c & 7 == 0 { b } else { b & 3 };
            churn::insert_nops(version, program, &mut Random::new(u64::from(a)), 4, u32::from(most));
        }
        10 => churn::permute_blocks(version, program, &mut Random::new(u64::from(a)), 1 + u32::from(b)),
        _ => {
            let site = if a & 1 == 0 { Site::Line } else { Site::Block };
            instrument::instrument(version, program, site, u32::from(b), u32::from(c));
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [version, record, edits @ ..] = data else { return };
    let subjects = &SUBJECTS[*version as usize % SUBJECTS.len()];
    let subject = &subjects[*record as usize % subjects.len()];
    let mut program = subject.program.clone();
    for change in edits.as_chunks::<5>().0.iter().take(MOST_EDITS) {
        if program.insts.len() > LONG {
            break;
        }
        edit(&mut program, subject.version, change);
    }
    let meta = subject.meta();
    let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
    for verify in [false, true] {
        match assemble::assemble(&program, &meta, Options { verify, ..Options::default() }, &mut scratch, &mut out) {
            Ok(()) => {
                let raw = RawCode {
                    code: &out.code,
                    live: false,
                    linetable: &out.linetable,
                    exceptiontable: &out.exceptiontable,
                    firstlineno: subject.firstlineno,
                };
                disasm::disassemble(subject.version, &raw, &mut Program::default())
                    .expect("what was assembled comes apart");
            }
            Err(error) => {
                let inside = error.index.is_none_or(|index| (index as usize) < program.insts.len());
                assert!(inside, "an error speaks of an instruction that there is not: {error}");
            }
        }
    }
});
