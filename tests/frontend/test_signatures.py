"""``inspect.signature`` of functions is known while compiling, and asked of the function that is there in each call."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest
import torch

import pydynamo


class Layer:
    def of_two(self, x: Any, scale: float = 2.0) -> Any:
        return x * scale

    def of_any(*args: Any) -> Any:
        return args


def plain(a: Any, /, b: Any = 1, *rest: Any, c: Any, d: Any = None, **others: Any) -> None:
    pass


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return plain(*args, **kwargs)


def facts_of(function: Any) -> list[Any]:
    parameters = inspect.signature(function).parameters
    found: list[Any] = [len(parameters), "b" in parameters, list(parameters.keys()), bool(parameters)]
    for name, parameter in parameters.items():
        has_default = parameter.default is not inspect.Parameter.empty
        kind = (parameter.kind == inspect.Parameter.KEYWORD_ONLY, parameter.kind is parameter.VAR_KEYWORD)
        found.append((name, parameter.name, kind, parameter.default if has_default else None))
    return found


def facts(function: Any, x: Any) -> Any:
    return facts_of(function), x + 1


@pytest.mark.parametrize("function", [plain, wrapped, Layer().of_two, Layer.of_two, Layer().of_any])
def test_of_functions_that_exist(function: Any) -> None:
    compiled = pydynamo.compile(facts, backend="eager", fullgraph=True)
    x = torch.ones(2)
    assert compiled(function, x)[0] == facts(function, x)[0]


def of_its_own(x: Any) -> Any:
    def inner(a, b=3, *, c=x.shape):  # type: ignore[no-untyped-def] # annotations of what is wrapped are not modelled on 3.14
        pass

    @functools.wraps(inner)
    def outer(*args: Any) -> Any:
        return inner(*args)

    return facts_of(inner), facts_of(outer), x + 1


def test_of_functions_made_in_the_trace() -> None:
    x = torch.ones(2)
    assert pydynamo.compile(of_its_own, backend="eager", fullgraph=True)(x)[:2] == of_its_own(x)[:2]


def test_a_changed_function_is_asked_again() -> None:
    def changing(a: Any, b: Any = 1) -> None:
        pass

    compiled = pydynamo.compile(facts, backend="eager", fullgraph=True)
    x = torch.ones(2)
    assert compiled(changing, x)[0] == facts(changing, x)[0]
    changing.__defaults__ = (5, 6)
    assert compiled(changing, x)[0] == facts(changing, x)[0]
    changing.__wrapped__ = plain  # type: ignore[attr-defined]
    assert compiled(changing, x)[0] == facts(changing, x)[0]


def test_a_signature_that_leaves_breaks_the_graph() -> None:
    def leaves(x: Any) -> Any:
        return inspect.signature(plain), x + 1

    x = torch.ones(2)
    assert pydynamo.compile(leaves, backend="eager")(x)[0] == inspect.signature(plain)
