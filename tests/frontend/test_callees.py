"""A call that cannot be inlined runs its callee compiled, with the same results."""

from __future__ import annotations

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
