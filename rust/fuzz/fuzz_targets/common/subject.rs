//! Code objects to start from, with pools that fit: kinds of locals and constants are read off the instructions, as the corpus
//! keeps none.
use pydynamo_assembler::code::{CodeMeta, ConstKind, LocalKind, Program, Trust};
use pydynamo_assembler::disasm;
use pydynamo_assembler::inst::NO_INDEX;
use pydynamo_assembler::op::Op;
use pydynamo_assembler::tables;
use pydynamo_assembler::version::Version;

use super::corpus::Corpus;

/// Names, and constants beyond those that the code uses.
const SPARE: u32 = 64;

/// A code object taken apart.
pub struct Subject {
    pub version: Version,
    pub program: Program,
    pub firstlineno: i32,
    flags: u32,
    locals: Vec<LocalKind>,
    trust: Vec<Trust>,
    consts: Vec<ConstKind>,
}

impl Subject {
    /// The code objects of the checked-in fixtures, by version.
    pub fn all() -> Vec<Vec<Self>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../assembler/tests/fixtures");
        (11..=15).map(|minor| Self::load(&Corpus::load(&format!("{folder}/sample-3.{minor}.bin")))).collect()
    }

    fn load(corpus: &Corpus) -> Vec<Self> {
        let take_apart = |record: &super::corpus::Record| {
            let mut program = Program::default();
            disasm::disassemble(corpus.version, &record.raw(), &mut program).expect("a compiler wrote it");
            let mut trust = vec![Trust::None; record.locals as usize];
            if record.name.ends_with('>') && !trust.is_empty() {
                // The `.0` of a comprehension; harmless elsewhere.
                trust[0] = Trust::Iterator;
            }
            Self {
                version: corpus.version,
                firstlineno: record.firstlineno,
                flags: record.flags,
                locals: locals(corpus.version, &program, record.locals),
                consts: consts(corpus.version, &program),
                trust,
                program,
            }
        };
        corpus.records.iter().map(take_apart).collect()
    }

    pub fn meta(&self) -> CodeMeta<'_> {
        CodeMeta {
            version: self.version,
            flags: self.flags,
            firstlineno: self.firstlineno,
            names: SPARE,
            consts: &self.consts,
            locals: &self.locals,
            set_name: NO_INDEX,
            trusted_locals: &self.trust,
            has_class_cell: true,
            class_dict: NO_INDEX,
        }
    }
}

/// All that are neither cells nor free are arguments, so that they hold something.
fn locals(version: Version, program: &Program, count: u32) -> Vec<LocalKind> {
    let tables = tables::get(version);
    let mut kinds = vec![LocalKind::Local { arg: true }; count as usize];
    for inst in &program.insts {
        match tables.op(inst.opcode) {
            Op::MAKE_CELL => kinds[inst.arg as usize] = LocalKind::Cell { arg: true },
            Op::COPY_FREE_VARS => {
                let own = kinds.len() - inst.arg as usize;
                kinds[own..].fill(LocalKind::Free);
            }
            _ => {}
        }
    }
    kinds
}

/// What whoever takes a constant wants it to be.
fn consts(version: Version, program: &Program) -> Vec<ConstKind> {
    let tables = tables::get(version);
    let op = |index: usize| program.insts.get(index).map(|inst| (tables.op(inst.opcode), inst.arg));
    let defaults = |index: usize| {
        let takes = |index| match op(index) {
            Some((Op::MAKE_FUNCTION, flags)) => flags & 1 == 1 && version < Version::V313,
            Some((Op::SET_FUNCTION_ATTRIBUTE, kind)) => kind == 1,
            _ => false,
        };
        (2..8).any(|ahead| takes(index + ahead))
    };
    let mut kinds = vec![ConstKind::Other; SPARE as usize];
    for (index, inst) in program.insts.iter().enumerate() {
        let kind = match (tables.op(inst.opcode), op(index + 1)) {
            (Op::KW_NAMES, _) | (Op::LOAD_CONST, Some((Op::CALL_KW, _))) => ConstKind::StrTuple(1),
            (Op::LOAD_CONST, Some((Op::BUILD_CONST_KEY_MAP | Op::MATCH_KEYS, count))) => {
                ConstKind::Tuple(count)
            }
            (Op::LOAD_CONST, Some((Op::MATCH_CLASS, _))) => ConstKind::StrTuple(0),
            (Op::LOAD_CONST, Some((Op::MAKE_FUNCTION, _))) => {
                let freevars = match index.checked_sub(1).and_then(op) {
                    Some((Op::BUILD_TUPLE, count)) => count,
                    _ => 0,
                };
                ConstKind::Code { freevars, generator: false, args: [Trust::None; 2], takes_more: false }
            }
            (Op::LOAD_CONST, _) if defaults(index) => ConstKind::Tuple(1),
            (Op::LOAD_CONST | Op::RETURN_CONST, _) => ConstKind::Other,
            _ => continue,
        };
        let place = inst.arg as usize;
        if kinds.len() <= place {
            kinds.resize(place + 1, ConstKind::Other);
        }
        if kinds[place] == ConstKind::Other {
            kinds[place] = kind;
        }
    }
    kinds
}
