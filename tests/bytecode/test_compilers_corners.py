"""What CPython's compiler writes in its corners, which no library does and the verifier once refused."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

import pytest

from pydynamo.bytecode import roundtrip, shuffled, transform_code_object, verify
from tests.bytecode.corpus import difference, nested

VERSION = sys.version_info[:2]

#: By name: the first version that has the syntax, and the source.
SOURCES: dict[str, tuple[tuple[int, int], str]] = {
    "generics": (
        (3, 12),
        """
class Outer[T]:
    class Inner[U](dict[str, T]):
        def method[V: (int, str)](self, x: V = 1, *, y: U = 2) -> T: return [x for x in y]
        type Alias[W] = tuple[T, U, W]
    def generic[V](self, x: V, *, y=3): return lambda: (x, y)
""",
    ),
    "defaults of keywords alone": ((3, 12), "def f[V](*, y=3): return y\ndef g[V](x=1): return x\n"),
    "a user's own names": (
        (3, 11),
        """
def f(*format, __classdict__=1, **x):
    format = list(format)
    def g(): return __classdict__, format
    return g, [format for format in format]
def h(format, xs):
    for x in xs:
        y = [format for format in x]
        if x: del format
    def inner(x: format): pass
    return inner
""",
    ),
    "conditional annotations of a class in a class": (
        (3, 11),
        """
class A:
    class B:
        if x:
            y: int
    if z: q: str
    def m(self):
        class C:
            if self: r: int
""",
    ),
    "a cell of a comprehension in a try": (
        (3, 11),
        """
def f(xs, x):
    try: g = [lambda: x for x in xs]
    except E: pass
    return lambda: x
def h(xs, T):
    try: [1 for T in xs]
    finally: g = lambda: T
""",
    ),
    "loops over chains of comparisons": (
        (3, 11),
        "while not a is b is c: pass\nwhile not a in b not in c: pass\nwhile not a < b < c: pass\nwhile not a in b < c: pass\n",
    ),
    "a position that ends before it starts": (
        (3, 12),
        """

class D[T]:
    try: pass
    except y:
        def f[x](): __class__
    else:
        pass
""",
    ),
    "groups of exceptions": ((3, 11), "try:\n    a\nexcept* A:\n    b\nfinally:\n    c\n"),
}
#: What is right only as it stands: CPython itself goes wrong there.
AS_WRITTEN: dict[str, str] = {
    "the first argument's name in a comprehension": """
class C:
    def f(self, xs):
        y = [self for self in xs]
        return super().f(lambda: self)
""",
    "an asynchronous comprehension in a call": "async def f(): g(y or [z async for T in c])\n",
    "a lambda that delegates": "f = lambda: (yield from g())\n",
}


def no_change(instructions: Any, options: Any) -> None: ...


def codes(source: str) -> list[CodeType]:
    return list(nested(compile(source, "<source>", "exec", dont_inherit=True)))


@pytest.mark.parametrize("name", [*SOURCES, *AS_WRITTEN])
def test_it_is_taken_as_it_is(name: str) -> None:
    since, source = SOURCES.get(name) or ((3, 11), AS_WRITTEN[name])
    for code in codes(source) if since <= VERSION else ():
        verify(code)
        assert not difference(code, roundtrip(code))
        assert not difference(code, transform_code_object(code, no_change))


@pytest.mark.parametrize("name", SOURCES)
def test_its_pieces_may_stand_anywhere(name: str) -> None:
    since, source = SOURCES[name]
    for code in codes(source) if since <= VERSION else ():
        for seed in range(20):
            verify(shuffled(code, seed, every=2, cut=2))
            verify(shuffled(code, seed, every=1, nops=1, cut=0))
