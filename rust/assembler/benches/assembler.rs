//! What a code object costs: `cargo bench -p pydynamo-assembler`.
//!
//! `PYDYNAMO_CORPUS=FILE` measures a corpus of `scripts/dump_corpus.py` instead of the fixtures. Throughput is in instructions.
#![allow(missing_docs)]
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::code::{Assembled, CodeMeta, Options, Program};
use pydynamo_assembler::disasm;
use pydynamo_assembler::inst::Inst;
use pydynamo_assembler::layout::Layout;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables;
use pydynamo_assembler::version::Version;

#[path = "common/corpus.rs"]
mod corpus;
use corpus::Corpus;

fn meta(version: Version, firstlineno: i32) -> CodeMeta<'static> {
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
        class_dict: pydynamo_assembler::inst::NO_INDEX,
    }
}

fn real_code(c: &mut Criterion) {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sample-3.13.bin");
    let path = std::env::var("PYDYNAMO_CORPUS").unwrap_or_else(|_| fixture.into());
    let corpus = Corpus::load(&path);
    let version = corpus.version;
    let programs: Vec<(Program, &_)> = corpus
        .records
        .iter()
        .map(|record| {
            let mut program = Program::default();
            disasm::disassemble(version, &record.raw(), &mut program).expect("a compiler wrote it");
            (program, record)
        })
        .collect();
    let mut group = c.benchmark_group("real code");
    group.throughput(Throughput::Elements(
        programs.iter().map(|(program, _)| program.insts.len() as u64).sum(),
    ));
    group.bench_function("disassemble", |b| {
        let mut program = Program::default();
        b.iter(|| {
            for record in &corpus.records {
                let _ = black_box(disasm::disassemble(version, &record.raw(), &mut program));
            }
        });
    });
    group.bench_function("assemble", |b| {
        let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
        b.iter(|| {
            for (program, record) in &programs {
                let meta = meta(version, record.firstlineno);
                let options = Options { original: Some(record.raw()), ..Options::default() };
                let _ = black_box(assemble::assemble(program, &meta, options, &mut scratch, &mut out));
            }
        });
    });
    group.bench_function("lay out", |b| {
        let mut layout = Layout::default();
        b.iter(|| {
            for (program, _) in &programs {
                let _ = black_box(layout.compute(version, program));
            }
        });
    });
    group.finish();
}

/// NOPs with a jump at every `every`-th instruction, over `span` of them.
fn jumps(count: u32, every: u32, span: i64) -> Program {
    let version = Version::V313;
    let number = |op| tables::get(version).opcode(op).unwrap_or_default();
    let insts = (0..count).map(|i| {
        let target = (i64::from(i) + span).clamp(0, i64::from(count) - 1) as u32;
        let op = if target > i { Op::JUMP_FORWARD } else { Op::JUMP_BACKWARD };
        if i % every == 0 {
            Inst { target, ..Inst::new(number(op), 0) }
        } else {
            Inst::new(number(Op::NOP), 0)
        }
    });
    Program { insts: insts.collect(), regions: Vec::new() }
}

fn layout(c: &mut Criterion) {
    let mut group = c.benchmark_group("layout");
    for count in [1_000_u32, 10_000, 100_000, 1_000_000] {
        group.throughput(Throughput::Elements(u64::from(count)));
        for (name, program) in [
            ("a cascade at 255", jumps(count, 85, 255)),
            ("a cascade at 65535", jumps(count, 1, 32_768)),
            ("jumps back to the start", jumps(count, 10, -i64::from(count))),
        ] {
            let mut layout = Layout::default();
            group.bench_with_input(BenchmarkId::new(name, count), &program, |b, program| {
                b.iter(|| layout.compute(Version::V313, program));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, real_code, layout);
criterion_main!(benches);
