"""Inputs whose sources read alike stay different parameters of the graph."""

from __future__ import annotations

from collections.abc import Callable

import torch

import pydynamo


class Holder:
    def __init__(self) -> None:
        self.a_b = torch.ones(2)
        self.a = {"b": torch.zeros(2)}


def test_sources_that_differ_in_punctuation_only() -> None:
    def fn(x: torch.Tensor, holder: Holder) -> torch.Tensor:
        return x + holder.a_b * holder.a["b"] + holder.a_b

    x, holder = torch.rand(2), Holder()
    assert torch.equal(pydynamo.compile(fn, backend="eager", fullgraph=True)(x, holder), fn(x, holder))


def test_a_local_and_a_free_variable_of_one_name() -> None:
    def make(c: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        def inner(x: torch.Tensor) -> torch.Tensor:
            return x * c

        return inner

    one, other = make(torch.full((2,), 2.0)), make(torch.full((2,), 3.0))

    def fn(c: torch.Tensor) -> torch.Tensor:
        return one(c) + other(c) + c

    x = torch.rand(2)
    assert torch.equal(pydynamo.compile(fn, backend="eager", fullgraph=True)(x), fn(x))
