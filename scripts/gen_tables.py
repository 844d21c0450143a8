"""Writes the assembler's opcode tables from what each interpreter says of itself.

    python scripts/gen_tables.py --python CMD --python CMD …

runs ``CMD scripts/gen_tables.py --dump`` once for each interpreter (CMD may hold arguments, as in ``"uv run python3.14"``)
and rewrites ``rust/assembler/src/op.rs``, ``rust/assembler/src/tables/v3XX.rs`` and the stack effects that the Rust tests
compare with, ``rust/assembler/tests/effects/v3XX.txt``. The results are checked in; run this again only when a version is
added, with **every** supported interpreter, because ``op.rs`` is the union of all of them.

What no interpreter publishes (which opcodes never fall through, how far a name operand is shifted …) is stated below.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
CRATE = TOP / "rust" / "assembler"

# Control never reaches the instruction after one of these.
TERMINAL = {
    "RETURN_VALUE",
    "RETURN_CONST",
    "RAISE_VARARGS",
    "RERAISE",
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
}
# Opcodes that no code object may be made of: fillers, prefixes, and those only the interpreter itself may use.
INTERNAL = {
    "CACHE",
    "EXTENDED_ARG",
    "RESERVED",
    "INTERPRETER_EXIT",
    "EXIT_INIT_CHECK",
    "ENTER_EXECUTOR",
    "TRACE_RECORD",
    "DO_TRACING",
}
# Two 4-bit local indices in one operand.
FUSED_PAIR = {
    "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST",
}
# The operand is `name index << shift | flag bits`: {opcode: [(first version that shifts so, shift)]}
NAME_SHIFT = {
    "LOAD_GLOBAL": [(311, 1)],
    "LOAD_ATTR": [(312, 1)],
    "LOAD_SUPER_ATTR": [(312, 2)],
    "IMPORT_NAME": [(315, 2)],
}
COMPARE_SHIFT = {311: 0, 312: 4, 313: 5, 314: 5, 315: 5}
# Samples for the recorded stack effects.
SAMPLE_ARGS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 26, 255, 256, 1000]


def dump() -> dict[str, Any]:
    """What this interpreter says of its opcodes, as JSON-able data."""
    import dis
    import importlib.util
    import opcode

    version = sys.version_info.major * 100 + sys.version_info.minor
    every = dict(getattr(dis, "_all_opmap", opcode.opmap))
    pseudo = {n: c for n, c in every.items() if c > 255}
    opmap = {n: c for n, c in opcode.opmap.items() if c < 256}
    special = {n: c for n, c in every.items() if c < 256 and n not in opmap}
    special.update(getattr(opcode, "_specialized_opmap", {}))
    metadata = getattr(opcode, "_opcode_metadata", opcode)
    bases = {special[name]: opmap[base] for base, names in metadata._specializations.items() for name in names}
    caches = opcode._inline_cache_entries
    if not hasattr(caches, "items"):
        caches = {opcode.opname[i]: n for i, n in enumerate(caches) if n and i < 256}
    has_arg = getattr(opcode, "hasarg", None)
    if has_arg is None:
        has_arg = [c for c in opmap.values() if c >= opcode.HAVE_ARGUMENT]
    jumps = getattr(opcode, "hasjump", opcode.hasjrel)
    if opcode.hasjabs:
        raise SystemExit(f"{version} has absolute jumps: not supported")
    effects = []
    for name, code in sorted(opmap.items()):
        for arg in SAMPLE_ARGS if code in has_arg else [None]:
            for jump in (False, True):
                try:
                    effects.append([name, arg or 0, jump, dis.stack_effect(code, arg, jump=jump)])
                except ValueError:
                    pass
    commons = [getattr(c, "__name__", repr(c)) for c in getattr(opcode, "_common_constants", [])]
    return {
        "version": version,
        "magic": int.from_bytes(importlib.util.MAGIC_NUMBER[:2], "little"),
        "opmap": opmap,
        "specialised": special,
        "bases": sorted(bases.items()),
        "pseudo": pseudo,
        "caches": {n: c for n, c in caches.items() if c},
        "instrumented": getattr(opcode, "MIN_INSTRUMENTED_OPCODE", None),
        "arg": sorted(c for c in has_arg if c < 256),
        "jump": sorted(c for c in jumps if c < 256),
        "const": sorted(c for c in opcode.hasconst if c < 256),
        "name": sorted(c for c in opcode.hasname if c < 256),
        "local": sorted(c for c in opcode.haslocal if c < 256),
        "free": sorted(c for c in opcode.hasfree if c < 256),
        "compare": sorted(c for c in opcode.hascompare if c < 256),
        "cmp_op": list(opcode.cmp_op),
        "nb_ops": [list(x) for x in opcode._nb_ops],
        "intrinsic_1": list(getattr(opcode, "_intrinsic_1_descs", [])),
        "intrinsic_2": list(getattr(opcode, "_intrinsic_2_descs", [])),
        "special_methods": list(getattr(opcode, "_special_method_names", [])),
        "common_constants": commons,
        "effects": effects,
    }


def flags_of(data: dict[str, Any], name: str, code: int) -> list[str]:
    """The names of the flags of one opcode, in the order of their bits."""
    flags = []
    for flag, key in (
        ("HAS_ARG", "arg"),
        ("HAS_CONST", "const"),
        ("HAS_NAME", "name"),
        ("HAS_LOCAL", "local"),
        ("HAS_FREE", "free"),
        ("HAS_COMPARE", "compare"),
        ("JUMP_REL", "jump"),
    ):
        if code in data[key]:
            flags.append(flag)
    if "JUMP_REL" in flags:
        if "BACKWARD" in name or name == "END_ASYNC_FOR":
            flags.append("JUMP_BACKWARD")
        if "_IF_" in name:
            flags.append("JUMP_COND")
        if name == "END_ASYNC_FOR":
            flags.append("NO_EDGE")
    if name in TERMINAL:
        flags.append("TERMINAL")
    if name in FUSED_PAIR:
        flags.append("FUSED_PAIR")
    if illegal(data, name):
        flags.append("ILLEGAL")
    return flags


def illegal(data: dict[str, Any], name: str) -> bool:
    """Whether no code object may contain this opcode as an instruction."""
    return name in INTERNAL or name.startswith("INSTRUMENTED_") or name in data["specialised"]


def real_ops(data: dict[str, Any]) -> dict[str, int]:
    """The opcodes with an `Op` of their own: all but instrumented and specialised ones."""
    return {
        n: c for n, c in data["opmap"].items() if not n.startswith("INSTRUMENTED_") and n not in data["specialised"]
    }


def max_arg(data: dict[str, Any], name: str, code: int) -> int:
    """The largest operand that means something, where a fixed one is known; else 2**32 - 1."""
    if code not in data["arg"]:
        return 0
    fixed = {
        "BINARY_OP": len(data["nb_ops"]) - 1,
        "CALL_INTRINSIC_1": len(data["intrinsic_1"]) - 1,
        "CALL_INTRINSIC_2": len(data["intrinsic_2"]) - 1,
        "LOAD_SPECIAL": len(data["special_methods"]) - 1,
        "LOAD_COMMON_CONSTANT": len(data["common_constants"]) - 1,
        "LOAD_SMALL_INT": 255,
        "CONVERT_VALUE": 3,
        "IS_OP": 1,
        "CONTAINS_OP": 1,
        "RAISE_VARARGS": 2,
        "COMPARE_OP": ((len(data["cmp_op"]) if data["version"] > 311 else 6) << COMPARE_SHIFT[data["version"]]) - 1,
    }
    if name in FUSED_PAIR:
        return 255
    return fixed.get(name, 2**32 - 1)


def name_shift(version: int, name: str) -> int:
    """How far the name index is shifted in the operand."""
    return max((shift for first, shift in NAME_SHIFT.get(name, []) if version >= first), default=0)


def rust_str(text: str) -> str:
    return json.dumps(text)


def rust_list(items: list[str]) -> str:
    return "&[" + ", ".join(rust_str(x) for x in items) + "]"


def table_source(data: dict[str, Any]) -> str:
    """The Rust source of one version's tables."""
    by_code: dict[int, str] = {c: n for n, c in data["specialised"].items()}
    by_code.update({c: n for n, c in data["opmap"].items()})
    ops = real_ops(data)
    version = data["version"]
    out = [
        f"//! Opcodes of CPython 3.{version % 100}. Written by `scripts/gen_tables.py`: do not edit.\n",
        "use super::{OpFlags, OpInfo, Tables};\nuse crate::op::Op;\n\n",
        "const NONE: OpInfo = OpInfo::UNASSIGNED;\n\n",
        "const fn op(name: &'static str, op: Op, flags: u32, caches: u8, name_shift: u8, max_arg: u32) -> OpInfo {\n",
        "OpInfo { name, op, flags: OpFlags(flags), caches, name_shift, max_arg }\n}\n\n",
    ]
    used = sorted({f for c, n in by_code.items() for f in flags_of(data, n, c)})
    out += [f"const {f}: u32 = OpFlags::{f}.0;\n" for f in used]
    out += ["\n/// The tables of this version.\npub static TABLES: Tables = Tables {\n"]
    first = data["instrumented"]
    out += [
        f"magic: {data['magic']},\n",
        f"first_instrumented: {f'Some({first})' if first else 'None'},\n",
        f"compare_shift: {COMPARE_SHIFT[version]},\n",
        f"compare_ops: {rust_list(data['cmp_op'])},\n",
        "binary_ops: &[" + ", ".join(f"({rust_str(n)}, {rust_str(s)})" for n, s in data["nb_ops"]) + "],\n",
        f"intrinsics_1: {rust_list(data['intrinsic_1'])},\n",
        f"intrinsics_2: {rust_list(data['intrinsic_2'])},\n",
        f"special_methods: {rust_list(data['special_methods'])},\n",
        f"common_constants: {rust_list(data['common_constants'])},\n",
        "pseudo: &["
        + ", ".join(f"({rust_str(n)}, {c})" for n, c in sorted(data["pseudo"].items(), key=lambda x: x[1]))
        + "],\n",
        "opcodes: {\nlet mut t = [None; Op::COUNT];\n",
        *(f"t[Op::{n} as usize] = Some({c});\n" for n, c in sorted(ops.items(), key=lambda x: x[1])),
        "t\n},\n",
        "sorted: &["
        + ", ".join(f"({rust_str(n)}, {c})" for n, c in sorted((n, c) for c, n in by_code.items()))
        + "],\n",
        "specialised: &[" + ", ".join(f"({code}, {base})" for code, base in data["bases"]) + "],\n",
        "info: [\n",
    ]
    for code in range(256):
        name = by_code.get(code)
        if name is None:
            out.append("NONE,\n")
            continue
        flags = flags_of(data, name, code)
        variant = f"Op::{name}" if name in ops else "Op::INVALID"
        limit = max_arg(data, name, code)
        limit_text = "u32::MAX" if limit == 2**32 - 1 else str(limit)
        out.append(
            f"op({rust_str(name)}, {variant}, {' | '.join(flags) or '0'}, {data['caches'].get(name, 0)}, "
            f"{name_shift(version, name)}, {limit_text}),\n"
        )
    out.append("],\n};\n")
    return "".join(out)


def op_source(versions: list[dict[str, Any]]) -> str:
    """The Rust source of the union of all versions' opcodes."""
    where: dict[str, list[int]] = {}
    for data in versions:
        for name in real_ops(data):
            where.setdefault(name, []).append(data["version"] % 100)
    names = sorted(where)
    out = [
        "//! Every opcode of every supported CPython, under one name. Written by `scripts/gen_tables.py`: do not edit.\n\n",
        "/// An operation, whatever number it has in a given version (see [`crate::tables::Tables`]).\n",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n",
        "#[repr(u8)]\n#[allow(non_camel_case_types)]\npub enum Op {\n",
        "/// An opcode without a meaning for assembly: unassigned, instrumented or specialised.\nINVALID,\n",
    ]
    for name in names:
        at = where[name]
        span = f"3.{at[0]}" if len(at) == 1 else f"3.{at[0]} to 3.{at[-1]}"
        out.append(f"/// In CPython {span}.\n{name},\n")
    out += [
        "}\n\nimpl Op {\n",
        f"/// How many there are.\npub const COUNT: usize = {len(names) + 1};\n\n",
        "/// CPython's name.\n#[must_use]\npub const fn name(self) -> &'static str {\nNAMES[self as usize]\n}\n",
        "}\n\n",
        'static NAMES: [&str; Op::COUNT] = ["INVALID", ' + ", ".join(rust_str(n) for n in names) + "];\n",
    ]
    return "".join(out)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if path.suffix == ".rs":
        subprocess.run(["rustfmt", "--edition", "2024", str(path)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", action="store_true", help="print this interpreter's data as JSON")
    parser.add_argument("--python", action="append", default=[], metavar="CMD", help="an interpreter to ask")
    args = parser.parse_args()
    if args.dump:
        json.dump(dump(), sys.stdout)
        return
    versions = []
    for command in args.python:
        done = subprocess.run([*shlex.split(command), __file__, "--dump"], check=True, capture_output=True, text=True)
        versions.append(json.loads(done.stdout))
    versions.sort(key=lambda data: data["version"])
    if [data["version"] for data in versions] != sorted(COMPARE_SHIFT):
        parser.error(f"give each of {sorted(COMPARE_SHIFT)} once with --python")
    write(CRATE / "src" / "op.rs", op_source(versions))
    for data in versions:
        write(CRATE / "src" / "tables" / f"v{data['version']}.rs", table_source(data))
        lines = [f"{name} {arg} {'jump' if jump else 'next'} {effect}\n" for name, arg, jump, effect in data["effects"]]
        write(CRATE / "tests" / "effects" / f"v{data['version']}.txt", "".join(lines))


if __name__ == "__main__":
    main()
