"""A call that does not fit its parameters raises what CPython raises, word for word."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pydynamo


def two(a: int, b: int = 1) -> int:
    return a + b


def many(a: int, b: int, c: int, /, d: int = 4, *, e: int, f: int = 6) -> int:
    return a + b + c + d + e + f


def anything(*args: int, **named: int) -> int:
    return len(args) + len(named)


CALLS: dict[str, Callable[[], Any]] = {
    "too many with defaults": lambda: two(1, 2, 3),
    "none": lambda: two(),  # type: ignore[call-arg]
    "twice": lambda: two(1, a=2),  # type: ignore[misc]
    "unknown": lambda: two(1, c=2),  # type: ignore[call-arg]
    "several missing": lambda: many(e=1),  # type: ignore[call-arg]
    "keyword-only missing": lambda: many(1, 2, 3),  # type: ignore[call-arg]
    "too many, keyword-only given": lambda: many(1, 2, 3, 4, 5, e=1),  # type: ignore[misc]
    "positional-only by name": lambda: many(1, 2, c=3, e=1),  # type: ignore[call-arg]
    "fits": lambda: anything(1, 2, a=3),
}


def text(call: Callable[[], Any]) -> str:
    try:
        return repr(call())
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("name", CALLS)
def test_the_text_is_that_of_cpython(name: str) -> None:
    call = CALLS[name]

    def fn(x: torch.Tensor) -> Any:
        return x + 1, text(call)

    x = torch.ones(2)
    assert pydynamo.compile(fn, backend="eager")(x)[1] == fn(x)[1]


def test_the_keywords_of_a_partial_may_change() -> None:
    def fn(x: torch.Tensor) -> Any:
        made = functools.partial(two, b=5)
        before = made(1)
        made.keywords["b"] = 7
        return x + before, made(1), made.keywords

    x = torch.ones(2)
    assert repr(pydynamo.compile(fn, backend="eager")(x)) == repr(fn(x))
