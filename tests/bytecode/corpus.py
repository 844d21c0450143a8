"""Code objects and programs that the assembler's tests share."""

from __future__ import annotations

import contextlib
import functools
import sysconfig
import textwrap
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

MODULES = """
    abc argparse ast asyncio/base_events asyncio/tasks bdb bisect collections/__init__ contextlib
    copy csv dataclasses decimal difflib enum fractions functools heapq inspect io json/decoder
    locale optparse pprint queue random re/_parser statistics string subprocess tarfile tempfile
    textwrap threading tokenize traceback typing unittest/mock uuid zipfile/__init__
""".split()


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all below it."""
    todo = [code]
    while todo:
        current = todo.pop()
        yield current
        todo += [const for const in current.co_consts if isinstance(const, types.CodeType)]


@functools.cache
def code_objects() -> tuple[types.CodeType, ...]:
    """Those of some forty standard library modules that use about everything the language has."""
    library = Path(sysconfig.get_path("stdlib"))
    found: list[types.CodeType] = []
    for module in MODULES:
        path = library / f"{module}.py"
        if path.exists():
            found += nested(compile(path.read_bytes(), str(path), "exec"))
    assert len(found) > 1000
    return tuple(found)


#: Modules of CPython's own tests that compile programs from strings: what no library does stands there.
PROGRAMS = """
    test_compile test_except_star test_grammar test_patma test_peepholer test_super test_syntax test_type_aliases
    test_type_annotations test_type_params test_typing test_unpack_ex test_with test_async_def test_coroutines
""".split()


@functools.cache
def programs() -> tuple[types.CodeType, ...]:
    """The code objects of every string in those modules that is a program; none where CPython came without its tests."""
    folder = Path(sysconfig.get_path("stdlib")) / "test"
    texts: dict[str, None] = {}
    found: list[types.CodeType] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in (folder / f"{name}.py" for name in PROGRAMS):
            if path.exists():
                for code in nested(compile(path.read_bytes(), str(path), "exec")):
                    texts.update((const, None) for const in code.co_consts if isinstance(const, str) and "\n" in const)
        for text in texts:
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                found += nested(compile(textwrap.dedent(text), "<program>", "exec", dont_inherit=True))
    return tuple(found)


def describe(code: types.CodeType) -> str:
    """For messages: where a code object is from."""
    return f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}"


SAME = (
    "co_code co_linetable co_exceptiontable co_consts co_names co_varnames co_cellvars co_freevars co_flags "
    "co_argcount co_posonlyargcount co_kwonlyargcount co_nlocals co_filename co_name co_qualname "
    "co_firstlineno"
).split()


def difference(old: types.CodeType, new: types.CodeType) -> str:
    """The first attribute in which two code objects differ; empty if there is none and the new stack is
    enough.
    """
    for name in SAME:
        if getattr(old, name) != getattr(new, name):
            return f"{describe(old)}: {name}: {getattr(old, name)!r} != {getattr(new, name)!r}"
    if new.co_stacksize > old.co_stacksize:
        return f"{describe(old)}: co_stacksize {old.co_stacksize} became {new.co_stacksize}"
    return ""
