"""The code objects of the sources below some paths, for the scripts that write them to a file for the Rust crate.

Owns: which sources count and the walk through nested code objects. Knows nothing of what is written for each.
"""

from __future__ import annotations

import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import BinaryIO


def code_objects(paths: Sequence[str]) -> Iterator[CodeType]:
    """Every code object below `paths`, or of the standard library without one; compiled here, so no stale `.pyc` gets in."""
    for path in paths or (sysconfig.get_path("stdlib"),):
        top = Path(path)
        for source in [top] if top.is_file() else sorted(top.rglob("*.py")):
            if not paths and "site-packages" in source.parts:
                continue
            try:
                todo = [compile(source.read_bytes(), str(source), "exec", dont_inherit=True)]
            except (SyntaxError, ValueError, RecursionError, UnicodeError):
                continue  # test data that is meant not to compile
            while todo:
                code = todo.pop()
                todo += [const for const in code.co_consts if isinstance(const, CodeType)]
                yield code


def name_of(code: CodeType) -> bytes:
    """How reports name `code`: file, line and qualified name."""
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}".encode(errors="replace")


def dump(out: str, paths: Sequence[str], write: Callable[[BinaryIO, CodeType], None]) -> None:
    """Write the minor version as one byte to the file `out`, then what `write` makes of each code object."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20_000)
    count = 0
    with open(out, "wb") as file:
        file.write(bytes([sys.version_info[1]]))
        for code in code_objects(paths):
            write(file, code)
            count += 1
    print(f"{sys.version.split()[0]}: {count} code objects")
