"""A call that cannot be inlined runs its callee compiled, with the same results."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import torch

import pydynamo


def helper(x: torch.Tensor, scale: int = 2) -> torch.Tensor:
    y = x + 1
    pydynamo.graph_break()
    return y * scale


class Inner(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x).relu()
        pydynamo.graph_break()
        return y.sin() + 1


class Scaler:
    def __init__(self, by: int) -> None:
        self.by = by

    def scale(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.by
        pydynamo.graph_break()
        return y + self.by


def operators(fn: Callable[..., Any], *args: Any) -> list[list[str]]:
    found = pydynamo.explain(fn)(*args)
    want = fn(*args)
    assert torch.equal(found.result, want)
    return [
        [str(getattr(n.target, "__name__", n.target)) for n in g.graph.nodes if n.op.startswith("call")]
        for g in found.graphs
    ]


def test_a_function_that_breaks_is_compiled_by_itself() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        return helper(x.sin(), scale=3).cos()

    assert operators(outer, torch.ones(3)) == [["sin"], ["add"], ["mul"], ["cos"]]


def test_a_method_that_breaks_is_compiled_by_itself() -> None:
    scaler = Scaler(3)

    def outer(x: torch.Tensor) -> torch.Tensor:
        return scaler.scale(x.sin()).cos()

    assert operators(outer, torch.ones(3)) == [["sin"], ["mul"], ["add"], ["cos"]]


def test_a_module_that_breaks_is_compiled_by_itself() -> None:
    inner = Inner()

    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x * 2).cos()

    assert operators(outer, torch.ones(3, 2)) == [["mul"], ["linear", "relu"], ["sin", "add"], ["cos"]]


def test_a_module_with_a_hook_keeps_it() -> None:
    inner = Inner()
    seen: list[int] = []
    inner.register_forward_hook(lambda module, args, out: seen.append(1))

    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x * 2).cos()

    x = torch.ones(3, 2)
    got = pydynamo.compile(outer, backend="eager")(x)
    assert seen == [1]
    assert torch.equal(got, outer(x))


def test_functions_made_for_each_call_are_not_compiled_anew_each_time() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        def inner(y: torch.Tensor) -> torch.Tensor:
            pydynamo.graph_break()
            return y + x

        return inner(x * 2).cos()

    compiled = pydynamo.compile(outer, backend="eager")
    for _ in range(3):
        x = torch.rand(3)
        assert torch.equal(compiled(x), outer(x))


def doubling(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs) * 2

    return decorated


@doubling
def decorated_sine(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    pydynamo.graph_break()
    return y + 1


@doubling
def decorated_cosine(x: torch.Tensor) -> torch.Tensor:
    y = x.cos()
    pydynamo.graph_break()
    return y - 1


def test_decorated_functions_that_break_are_compiled_each_by_itself() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        return decorated_sine(x) + decorated_cosine(x)

    assert operators(outer, torch.ones(3)) == [["sin"], ["add"], ["mul"], ["cos"], ["sub"], ["add"]]


def test_a_nested_function_is_compiled_for_what_it_closes_over() -> None:
    def outer(x: torch.Tensor, by: int) -> torch.Tensor:
        def inner(y: torch.Tensor) -> torch.Tensor:
            z = y * by
            pydynamo.graph_break()
            return z + x

        return inner(x.sin())

    graphs = 0

    def backend(module: torch.fx.GraphModule, examples: list[Any]) -> Any:
        nonlocal graphs
        graphs += 1
        return module.forward

    compiled = pydynamo.compile(outer, backend=backend, dynamic=False)
    for by in (2, 3, 2, 3):
        x = torch.rand(3)
        assert torch.equal(compiled(x, by), outer(x, by))
    assert graphs == 4  # mul twice


def test_functions_that_are_gone_are_not_kept() -> None:
    gone: list[weakref.ref[Any]] = []

    def outer(x: torch.Tensor) -> torch.Tensor:
        def inner(y: torch.Tensor) -> torch.Tensor:
            pydynamo.graph_break()
            return y + x

        gone.append(weakref.ref(inner))
        return inner(x)

    pydynamo.compile(outer, backend="eager")(torch.ones(3))
    gc.collect()
    assert [reference() for reference in gone] == [None]
