//! Programs for property tests, and code objects of real compilers.
#![allow(dead_code, unused_imports)]
#[path = "../../benches/common/corpus.rs"]
mod corpus;

pub use corpus::{Corpus, Record};
use proptest::prelude::*;
use pydynamo_assembler::code::{Assembled, CodeMeta, Program, RawCode, Region, RegionDepth};
use pydynamo_assembler::inst::{Inst, NO_INDEX};
use pydynamo_assembler::location::{Location, OptI32};
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables;
use pydynamo_assembler::version::Version;

/// The number of an operation that the version has.
pub fn number(version: Version, op: Op) -> u8 {
    tables::get(version).opcode(op).unwrap_or_else(|| panic!("{version:?} has no {op:?}"))
}

/// The parts of an assembled code object as disassembly wants them.
pub fn raw(out: &Assembled, firstlineno: i32) -> RawCode<'_> {
    RawCode {
        code: &out.code,
        live: false,
        linetable: &out.linetable,
        exceptiontable: &out.exceptiontable,
        firstlineno,
    }
}

/// A code object of this version with nothing in its pools.
pub fn meta(version: Version, firstlineno: i32) -> CodeMeta<'static> {
    CodeMeta {
        version,
        flags: 0,
        firstlineno,
        names: 0,
        set_name: u32::MAX,
        consts: &[],
        locals: &[],
        trusted_locals: &[],
        has_class_cell: false,
        class_dict: NO_INDEX,
    }
}

pub fn versions() -> impl Strategy<Value = Version> {
    prop::sample::select(&Version::ALL)
}

/// Operands around the limits of EXTENDED_ARG.
pub fn operands() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..300_u32, 1 => 0xfff0..0x1_0010_u32, 1 => 0xff_fff0..0x100_0010_u32, 1 => any::<u32>()]
}

pub fn locations() -> impl Strategy<Value = Location> {
    let columns = prop::option::weighted(0.8, (0..140, 0..140));
    let some = (1..60, 0..2, columns).prop_map(|(line, lines, columns)| Location {
        line: OptI32::some(line),
        end_line: OptI32::some(line + lines),
        col: columns.map(|(col, _)| col).into(),
        end_col: columns.map(|(_, end_col)| end_col).into(),
    });
    prop_oneof![1 => Just(Location::NONE), 6 => some]
}

/// What one instruction of a random program is to be; indices are taken modulo the program's length.
#[derive(Clone, Debug)]
pub struct Seed {
    pub pick: u8,
    pub arg: u32,
    pub target: u32,
    pub region: u32,
    pub loc: Location,
}

pub fn seeds(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Seed>> {
    let seed = (any::<u8>(), operands(), any::<u32>(), any::<u32>(), locations())
        .prop_map(|(pick, arg, target, region, loc)| Seed { pick, arg, target, region, loc });
    prop::collection::vec(seed, length)
}

/// A program that can be laid out (not one that makes sense to run): any opcode, jumps anywhere, and a RETURN_VALUE at the end.
pub fn program(version: Version, seeds: &[Seed]) -> Program {
    let tables = tables::get(version);
    let legal: Vec<u8> = (0..=255)
        .filter(|&op| {
            let info = &tables.info[op as usize];
            !info.has(tables::OpFlags::ILLEGAL)
        })
        .collect();
    let count = seeds.len() as u32 + 1;
    let mut insts: Vec<Inst> = (0..)
        .zip(seeds)
        .map(|(_, seed)| {
            let opcode = legal[seed.pick as usize % legal.len()];
            let mut inst = Inst::new(opcode, seed.arg);
            if tables.info[opcode as usize].is_jump() {
                inst = Inst { arg: 0, target: seed.target % count, ..inst };
            }
            inst.region = if seed.region % 5 < 3 { seed.region % 3 } else { NO_INDEX };
            inst.loc = seed.loc;
            inst
        })
        .collect();
    insts.push(Inst::new(number(version, Op::RETURN_VALUE), 0));
    let regions = (0..3).map(|i| Region {
        target: (count - 1).min(i * 7),
        depth: RegionDepth::Fixed(i),
        lasti: i == 1,
    });
    Program { insts, regions: regions.collect() }
}

/// The fixtures of all versions.
pub fn corpora() -> Vec<Corpus> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    Version::ALL.map(|version| Corpus::load(&format!("{folder}/sample-3.{}.bin", version.minor()))).into()
}
