"""The same source loaded twice gives functions whose code is equal: each keeps the constants that are its own."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pydynamo
from pydynamo.frontend import asm
from pydynamo.frontend.by_identity import ByIdentity

_SOURCE = """
import gc

def plain(x):
    return x + 1, (1, "words of it", 2.5), "some words", 12345678, b"bytes of it", frozenset

def broken(x):
    x = x + 1
    gc.isenabled()
    return x, (1, "words of it", 2.5), "some words", 12345678

def broken_twice(x):
    gc.isenabled()
    x = x + 1
    gc.isenabled()
    return x, (1, "words of it", 2.5), "some words", 12345678

def inner(x):
    def made():
        return (1, "words of it", 2.5)
    return x + 1, made.__code__, made(), (lambda: "some words")()

def defaulted(x, words=("words", 1.5)):
    return x + 1, words
"""
_NAMES = ["plain", "broken", "broken_twice", "inner", "defaulted"]


def _loaded_twice(name: str, one_module: bool) -> list[Callable[..., Any]]:
    scope: dict[str, Any] = {}
    found = []
    for _ in range(2):
        exec(compile(_SOURCE, "twice.py", "exec"), scope)  # noqa: S102 - the test's own text
        found.append(scope[name])
        if not one_module:
            scope = {}
    assert found[0].__code__ == found[1].__code__
    assert found[0].__code__ is not found[1].__code__
    return found


def _same(got: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    assert [a is b for a, b in zip(got[1:], want[1:], strict=True)] == [True] * (len(want) - 1)


@pytest.mark.parametrize("one_module", [True, False])
@pytest.mark.parametrize("name", _NAMES)
def test_each_is_compiled_with_its_own(name: str, one_module: bool) -> None:
    x = torch.ones(2)
    for function in _loaded_twice(name, one_module):
        _same(pydynamo.compile(function, backend="eager")(x), function(x))


@pytest.mark.parametrize("broken", [True, False])
@pytest.mark.parametrize("one_module", [True, False])
@pytest.mark.parametrize("name", _NAMES)
def test_each_is_called_with_its_own(name: str, one_module: bool, broken: bool) -> None:
    def calls(x: Any, function: Any) -> Any:
        if broken:
            gc.isenabled()
        return function(x)

    compiled = pydynamo.compile(calls, backend="eager")
    x = torch.ones(2)
    functions = _loaded_twice(name, one_module)
    for function in functions * 2:
        _same(compiled(x, function), function(x))


@pytest.mark.parametrize("name", _NAMES)
def test_a_function_may_be_given_the_other_ones_code(name: str) -> None:
    first, second = _loaded_twice(name, True)
    assert isinstance(first, types.FunctionType)
    compiled = pydynamo.compile(lambda x: first(x), backend="eager")
    x = torch.ones(2)
    compiled(x)
    first.__code__ = second.__code__
    _same(compiled(x), first(x))


def test_what_was_decoded_goes_with_its_code() -> None:
    first, second = (function.__code__ for function in _loaded_twice("plain", True))
    assert asm.decode(first) is asm.decode(first)
    assert asm.decode(first) is not asm.decode(second)

    code = compile("1 + x", "gone.py", "eval")
    asm.decode(code)
    gone = weakref.ref(code)
    del code
    gc.collect()
    assert gone() is None


class _Equal:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def test_a_table_by_identity_is_weak_and_bounded() -> None:
    table: ByIdentity[_Equal, int] = ByIdentity(limit=8)
    keys = [_Equal() for _ in range(8)]
    for number, key in enumerate(keys):
        table.put(key, number)
    assert [table.get(key) for key in keys] == list(range(8))
    assert table.get(_Equal()) is None
    keys.pop(0)
    assert len(table) == 7
    more = [_Equal() for _ in range(100)]
    for number, key in enumerate(more):
        table.put(key, number)
        assert table.get(key) == number
        assert len(table) <= 8
    keys.clear()
    more.clear()
    del key
    assert not len(table)
