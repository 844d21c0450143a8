"""Write every code object below some paths to a file that `examples/identity.rs` and the benches read.

Run it with the interpreter whose bytecode is wanted: `python scripts/dump_corpus.py OUT [PATH...]`; without a path,
the standard library. Sources are compiled here, so no stale `.pyc` gets in. Format: the minor version as one byte, then
per code object eight little-endian u32 (the lengths of name, co_code, co_linetable and co_exceptiontable, then
co_firstlineno, co_stacksize, co_flags and the length of localsplus), followed by those four byte strings.
"""

from __future__ import annotations

import struct
import sys
import sysconfig
import warnings
from pathlib import Path
from types import CodeType
from typing import BinaryIO


def write(out: BinaryIO, code: CodeType) -> int:
    """Append `code` and the code objects among its constants; how many they are."""
    todo, count = [code], 0
    while todo:
        code = todo.pop()
        todo += [const for const in code.co_consts if isinstance(const, CodeType)]
        name = f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}".encode(errors="replace")
        parts = (name, code.co_code, code.co_linetable, code.co_exceptiontable)
        locals_ = len(set(code.co_varnames + code.co_cellvars + code.co_freevars))
        numbers = (code.co_firstlineno, code.co_stacksize, code.co_flags, locals_)
        out.write(struct.pack("<4I4i", *map(len, parts), *numbers))
        out.writelines(parts)
        count += 1
    return count


def main(out: str, *paths: str) -> None:
    """Compile what lies below `paths` and write it to `out`."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20_000)
    files = count = 0
    with open(out, "wb") as file:
        file.write(bytes([sys.version_info[1]]))
        for path in paths or (sysconfig.get_path("stdlib"),):
            top = Path(path)
            for source in [top] if top.is_file() else sorted(top.rglob("*.py")):
                if not paths and "site-packages" in source.parts:
                    continue
                try:
                    code = compile(source.read_bytes(), str(source), "exec", dont_inherit=True)
                except (SyntaxError, ValueError, RecursionError, UnicodeError):
                    continue  # test data that is meant not to compile
                files += 1
                count += write(file, code)
    print(f"{sys.version.split()[0]}: {count} code objects of {files} files")


if __name__ == "__main__":
    main(*sys.argv[1:])
