//! Any bytes as a code object's tables: refused with an error, or taken apart, put together and taken apart again into the same.
//!
//! Input: version, then lengths of the line table and of the exception table, then both tables and the code.
#![no_main]
use libfuzzer_sys::fuzz_target;
use pydynamo_assembler::assemble::{self, Scratch};
use pydynamo_assembler::code::{Assembled, CodeMeta, ConstKind, LocalKind, Options, Program, RawCode, Trust};
use pydynamo_assembler::inst::NO_INDEX;
use pydynamo_assembler::version::Version;
use pydynamo_assembler::{disasm, sweep};

const FIRST: i32 = 7;

fn meta(version: Version) -> CodeMeta<'static> {
    const LOCALS: [LocalKind; 4] = [
        LocalKind::Local { arg: true },
        LocalKind::Cell { arg: true },
        LocalKind::Local { arg: false },
        LocalKind::Free,
    ];
    const CONSTS: [ConstKind; 5] =
        [ConstKind::None, ConstKind::Str, ConstKind::Int, ConstKind::StrTuple(2), ConstKind::Other];
    CodeMeta {
        version,
        flags: 3,
        firstlineno: FIRST,
        names: 8,
        consts: &CONSTS,
        locals: &LOCALS,
        set_name: NO_INDEX,
        trusted_locals: &[Trust::None; 4],
        has_class_cell: false,
        class_dict: NO_INDEX,
    }
}

fuzz_target!(|data: &[u8]| {
    let [version, lines, exceptions, rest @ ..] = data else { return };
    let version = Version::ALL[*version as usize % Version::ALL.len()];
    let (lines, rest) = rest.split_at((*lines as usize).min(rest.len()));
    let (exceptions, code) = rest.split_at((*exceptions as usize).min(rest.len()));
    let raw = RawCode { code, live: false, linetable: lines, exceptiontable: exceptions, firstlineno: FIRST };
    let mut program = Program::default();
    if disasm::disassemble(version, &raw, &mut program).is_err() {
        return;
    }
    let (mut scratch, mut out) = (Scratch::default(), Assembled::default());
    for verify in [false, true] {
        let made = assemble::assemble(&program, &meta(version), Options { verify, ..Options::default() }, &mut scratch, &mut out);
        if made.is_err() || scratch.adapted().is_some() {
            continue;
        }
        let raw = RawCode {
            code: &out.code,
            live: false,
            linetable: &out.linetable,
            exceptiontable: &out.exceptiontable,
            firstlineno: FIRST,
        };
        let mut again = Program::default();
        disasm::disassemble(version, &raw, &mut again).expect("what was assembled comes apart");
        for (index, (old, new)) in program.insts.iter().zip(&again.insts).enumerate() {
            assert_eq!((old.opcode, old.arg, old.target), (new.opcode, new.arg, new.target), "at {index}");
            assert_eq!(old.loc.line, new.loc.line, "at {index}");
        }
        assert_eq!(program.insts.len(), again.insts.len());
    }
    sweep::remove_unreachable(version, &mut program);
    sweep::remove_pointless_jumps(version, &mut program);
    sweep::remove_dead_stores(version, &mut program, 4);
    let _ = assemble::assemble(&program, &meta(version), Options { verify: true, ..Options::default() }, &mut scratch, &mut out);
});
