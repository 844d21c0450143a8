//! Takes every code object of some corpora (`scripts/dump_corpus.py`) apart and puts it together again, counts the identical
//! ones and times both ways: `cargo run --release --example identity -- FILE...`
use std::time::{Duration, Instant};

use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::code::{Assembled, CodeMeta, Options, Program, RawCode};
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{Result, disasm};

#[path = "../benches/common/corpus.rs"]
mod corpus;
use corpus::{Corpus, Record};

const ROUNDS: usize = 7;

fn main() {
    for path in std::env::args().skip(1) {
        let corpus = Corpus::load(&path);
        check(&path, &corpus);
    }
}

fn check(path: &str, corpus: &Corpus) {
    let (mut same, mut shown, mut insts) = (0, 0, 0);
    let mut pipeline = Pipeline::default();
    for record in &corpus.records {
        let what = match pipeline.roundtrip(corpus.version, record.raw()) {
            Ok(()) => differences(record, &pipeline.out),
            Err(error) => error.to_string(),
        };
        insts += pipeline.program.insts.len();
        if what.is_empty() {
            same += 1;
        } else if shown < 10 {
            shown += 1;
            println!("  {}: {what}", record.name);
        }
    }
    let all = corpus.records.iter();
    let apart = best(|| {
        for record in all.clone() {
            let _ = disasm::disassemble(corpus.version, &record.raw(), &mut pipeline.program);
        }
    });
    let both = best(|| {
        for record in all.clone() {
            let _ = pipeline.roundtrip(corpus.version, record.raw());
        }
    });
    #[allow(clippy::cast_precision_loss)]
    let per = |time: Duration| time.as_secs_f64() * 1e9 / insts as f64;
    println!(
        "{path}: {same} of {} identical; {insts} instructions, {:.1} ns each apart and together, {:.1} of it apart",
        corpus.records.len(),
        per(both),
        per(apart)
    );
}

/// The shortest of some runs.
fn best(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let begin = Instant::now();
        run();
        begin.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

#[derive(Default)]
struct Pipeline {
    program: Program,
    scratch: Scratch,
    out: Assembled,
}

impl Pipeline {
    fn roundtrip(&mut self, version: Version, raw: RawCode) -> Result<()> {
        disasm::disassemble(version, &raw, &mut self.program)?;
        let meta = CodeMeta {
            version,
            flags: 0,
            firstlineno: raw.firstlineno,
            set_name: u32::MAX,
            names: 0,
            consts: &[],
            locals: &[],
            trusted_locals: &[],
            has_class_cell: false,
            class_dict: pydynamo_assembler::inst::NO_INDEX,
        };
        assemble::assemble(
            &self.program,
            &meta,
            Options { original: Some(raw), ..Options::default() },
            &mut self.scratch,
            &mut self.out,
        )
    }
}

fn differences(record: &Record, out: &Assembled) -> String {
    let mut what = Vec::new();
    for (name, old, new) in [
        ("co_code", &record.code, &out.code),
        ("co_linetable", &record.linetable, &out.linetable),
        ("co_exceptiontable", &record.exceptiontable, &out.exceptiontable),
    ] {
        if old != new {
            let at = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            what.push(format!(
                "{name} differs at byte {at} of {} / {}: {:x?} / {:x?}",
                old.len(),
                new.len(),
                &old[at..old.len().min(at + 8)],
                &new[at..new.len().min(at + 8)]
            ));
        }
    }
    // CPython reserves no less than one slot, and its own estimate is sometimes too large.
    if out.stacksize > record.stacksize {
        what.push(format!("co_stacksize is {} instead of {}", out.stacksize, record.stacksize));
    }
    what.join(", ")
}
