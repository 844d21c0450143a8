//! Verifies every code object of a file written by `scripts/dump_meta.py`, and compares stack sizes with CPython's.
//!
//! `cargo run --release --example verify_corpus -- FILE...`
use std::collections::BTreeMap;

use pydynamo_assembler::code::{CodeMeta, ConstKind, LocalKind, Program, RawCode, Trust};
use pydynamo_assembler::disasm;
use pydynamo_assembler::tables;
use pydynamo_assembler::verify::{self, Origin, Scratch};
use pydynamo_assembler::version::Version;

/// How often each program is verified when time is taken.
const REPEATS: usize = 5;

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, tail) = self.0.split_at(count);
        self.0 = tail;
        head
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four bytes"))
    }
}

struct Case {
    name: String,
    program: Program,
    flags: u32,
    stacksize: u32,
    names: u32,
    set_name: u32,
    consts: Vec<ConstKind>,
    locals: Vec<LocalKind>,
    trusted: Vec<Trust>,
}

fn trust(number: u8) -> Trust {
    [
        Trust::None,
        Trust::Iterator,
        Trust::Tuple,
        Trust::Dict,
        Trust::Any,
        Trust::Int,
        Trust::Set,
        Trust::AsyncIterator,
    ][number as usize]
}

fn constant(bytes: &[u8]) -> ConstKind {
    let size = u32::from_le_bytes(bytes[1..5].try_into().expect("four bytes"));
    match bytes[0] {
        0 => ConstKind::None,
        1 => ConstKind::Str,
        2 => ConstKind::Int,
        3 => ConstKind::Bool,
        4 => ConstKind::StrTuple(size),
        5 => ConstKind::Tuple(size),
        8 => ConstKind::Slice,
        6 => ConstKind::Code {
            freevars: size,
            generator: bytes[5] != 0,
            args: [trust(bytes[6]), trust(bytes[8])],
            takes_more: false,
        },
        _ => ConstKind::Other,
    }
}

fn local(number: u8) -> LocalKind {
    match number {
        0 | 1 => LocalKind::Local { arg: number == 1 },
        2 | 3 => LocalKind::Cell { arg: number == 3 },
        _ => LocalKind::Free,
    }
}

fn read(bytes: &[u8]) -> (Version, Vec<Case>) {
    let version = Version::from_release(3, bytes[0]).expect("a supported version");
    let mut reader = Reader(&bytes[1..]);
    let mut cases = Vec::new();
    while !reader.0.is_empty() {
        let [name, code, table, flags, stacksize, names, set_name, consts, locals] =
            std::array::from_fn(|_| reader.number());
        let name = String::from_utf8_lossy(reader.take(name as usize)).into_owned();
        let raw = RawCode {
            code: reader.take(code as usize),
            live: false,
            linetable: &[],
            exceptiontable: reader.take(table as usize),
            firstlineno: 1,
        };
        let mut program = Program::default();
        disasm::disassemble(version, &raw, &mut program).expect("a code object that CPython made");
        let consts = (0..consts).map(|_| constant(reader.take(10))).collect();
        let (locals, trusted) = (0..locals)
            .map(|_| {
                let pair = reader.take(2);
                (local(pair[0]), trust(pair[1]))
            })
            .unzip();
        cases.push(Case { name, program, flags, stacksize, names, set_name, consts, locals, trusted });
    }
    (version, cases)
}

/// Nanoseconds that this process has spent on a processor, so that a busy machine does not count.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn main() {
    let mut bad = 0;
    for path in std::env::args().skip(1) {
        let (version, mut cases) = read(&std::fs::read(&path).expect("a readable file"));
        let mut scratch = Scratch::default();
        let (mut smaller, mut larger, mut refused, mut demoted) = (0, 0, 0, 0);
        let mut reasons: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let mut best = f64::INFINITY;
        let total: usize = cases.iter().map(|case| case.program.insts.len()).sum();
        for round in 0..3 {
            let start = cpu_time();
            for case in &mut cases {
                let meta = CodeMeta {
                    version,
                    flags: case.flags,
                    firstlineno: 1,
                    names: case.names,
                    set_name: case.set_name,
                    consts: &case.consts,
                    locals: &case.locals,
                    trusted_locals: &case.trusted,
                    has_class_cell: false,
                    class_dict: pydynamo_assembler::inst::NO_INDEX,
                };
                let result = verify::verify(&case.program, &meta, Origin::Compiler, &mut scratch);
                if round != 0 {
                    // In the pipeline the program is in the cache, as it is here after the first time.
                    for _ in 1..REPEATS {
                        let _ = std::hint::black_box(verify::verify(
                            &case.program,
                            &meta,
                            Origin::Compiler,
                            &mut scratch,
                        ));
                    }
                    continue;
                }
                match result {
                    Ok(info) => {
                        smaller += usize::from(info.max_depth < case.stacksize);
                        if info.max_depth > case.stacksize {
                            larger += 1;
                            println!("  larger: {} {} > {}", case.name, info.max_depth, case.stacksize);
                        }
                        demoted +=
                            verify::demote_borrows(&mut case.program, &meta, &mut scratch).unwrap_or(1);
                    }
                    Err(error) => {
                        refused += 1;
                        let index = error.index.map_or(0, |i| i as usize);
                        let op = case
                            .program
                            .insts
                            .get(index)
                            .map_or("", |i| tables::get(version).info[i.opcode as usize].name);
                        let key = format!("{op} {} {}", error.kind.id(), error.reason);
                        let entry =
                            reasons.entry(key).or_insert_with(|| (0, format!("{}: {error}", case.name)));
                        entry.0 += 1;
                    }
                }
            }
            if round != 0 {
                best = best.min(cpu_time() - start);
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "a count of instructions is far below 2**52")]
        let per_instruction = best / (total * REPEATS) as f64;
        println!(
            "{path}: {} code objects, {total} instructions, {refused} refused, stack smaller {smaller} larger {larger}, \
             {demoted} borrows demoted, {per_instruction:.1} ns per instruction",
            cases.len(),
        );
        let mut list: Vec<_> = reasons.into_iter().collect();
        list.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (reason, (count, example)) in list.iter().take(25) {
            println!("  {count} × {reason}\n      {example}");
        }
        bad += refused + larger;
    }
    std::process::exit(i32::from(bad != 0));
}
