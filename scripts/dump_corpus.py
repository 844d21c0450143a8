"""Write every code object below some paths to a file that `examples/identity.rs` and the benches read.

Run it with the interpreter whose bytecode is wanted: `python scripts/dump_corpus.py OUT [PATH...]`; without a path,
the standard library. Format: the minor version as one byte, then
per code object eight little-endian u32 (the lengths of name, co_code, co_linetable and co_exceptiontable, then
co_firstlineno, co_stacksize, co_flags and the length of localsplus), followed by those four byte strings.
"""

from __future__ import annotations

import struct
import sys
from types import CodeType
from typing import BinaryIO

from corpus import dump, name_of


def write(out: BinaryIO, code: CodeType) -> None:
    """Append `code` to `out`."""
    parts = (name_of(code), code.co_code, code.co_linetable, code.co_exceptiontable)
    locals_ = len(set(code.co_varnames + code.co_cellvars + code.co_freevars))
    numbers = (code.co_firstlineno, code.co_stacksize, code.co_flags, locals_)
    out.write(struct.pack("<4I4i", *map(len, parts), *numbers))
    out.writelines(parts)


if __name__ == "__main__":
    dump(sys.argv[1], sys.argv[2:], write)
