"""Write every code object below some paths, with all that the verifier looks at, for `examples/verify_corpus.rs`.

Run it with the interpreter whose bytecode is wanted: `python scripts/dump_meta.py OUT [PATH...]`; without a path, the
standard library. Format: the minor version as one byte, then per code object nine little-endian u32 (lengths of name,
co_code, co_exceptiontable; co_flags, co_stacksize, len(co_names), `CodeMeta::set_name`, number of constants, number of
locals), those three byte strings, ten bytes per constant (kind, size, whether generator, and what two parameters vouch
for) and two bytes per local (kind, trust).
"""

from __future__ import annotations

import dis
import struct
import sys
from types import CodeType
from typing import BinaryIO

from corpus import dump, name_of

VERSION = sys.version_info[:2]


def trust_of(name: str) -> int:
    """`Trust::of_name` of the crate, as a number."""
    if name == ".0" and VERSION < (3, 15):
        return 1
    if name in (".defaults", ".type_params"):
        return 2
    if name == ".kwdefaults":
        return 3
    if name == ".format" or (name == "format" and VERSION >= (3, 14)):
        return 5
    if name == "__conditional_annotations__" and VERSION >= (3, 14):
        return 6
    return 4 if name.startswith("___stack") else 0


def is_async_first(code: CodeType) -> bool:
    """Whether the first loop of a comprehension is an `async for`."""
    names = [inst.opname for inst in dis.get_instructions(code)]
    return VERSION < (3, 15) and "GET_ANEXT" in names and names[names.index("GET_ANEXT") - 1].startswith("LOAD_FAST")


def const_of(const: object) -> bytes:
    """`ConstKind` of the crate, as ten bytes."""
    kind, size, generator, trust = 7, 0, False, (0, 0)
    if const is None:
        kind = 0
    elif type(const) is str:
        kind = 1
    elif type(const) is int:
        kind = 2
    elif type(const) is bool:
        kind = 3
    elif type(const) is tuple:
        kind = 4 if all(type(item) is str for item in const) else 5
        size = len(const)
    elif type(const) is slice:
        kind = 8
    elif type(const) is CodeType:
        kind, size, generator = 6, len(const.co_freevars), bool(const.co_flags & 0x20)
        names = const.co_varnames[: min(2, const.co_argcount)]
        found = [7 if name == ".0" and is_async_first(const) else trust_of(name) for name in names] + [0, 0]
        trust = (found[0], found[1])
    return struct.pack("<BI?HH", kind, size, generator, *trust)


def locals_of(code: CodeType) -> bytes:
    """`LocalKind` and `Trust` of each slot of localsplus, as two bytes each."""
    count = code.co_argcount + code.co_kwonlyargcount
    args = count + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    out = bytearray()
    for i, name in enumerate(code.co_varnames):
        kind = (3 if i < args else 2) if name in code.co_cellvars else (1 if i < args else 0)
        out += bytes([kind, trust_of(name)])
    for name in code.co_cellvars:
        if name not in code.co_varnames:
            out += bytes([2, trust_of(name)])
    for name in code.co_freevars:
        out += bytes([4, trust_of(name)])
    return bytes(out)


def write(out: BinaryIO, code: CodeType) -> None:
    """Append `code` to `out`."""
    parts = (name_of(code), code.co_code, code.co_exceptiontable)
    kinds = locals_of(code)
    where = [i for i, name in enumerate(code.co_names) if trust_of(name) == 6]
    set_name = where[0] if where else 2**32 - 1
    numbers = (
        code.co_flags,
        code.co_stacksize,
        len(code.co_names),
        set_name,
        len(code.co_consts),
        len(kinds) // 2,
    )
    out.write(struct.pack("<9I", *map(len, parts), *numbers))
    out.writelines(parts)
    out.writelines(map(const_of, code.co_consts))
    out.write(kinds)


if __name__ == "__main__":
    dump(sys.argv[1], sys.argv[2:], write)
