"""Floats that change between calls, where an operator takes them as a plain number: the right result with every backend."""

from __future__ import annotations

import pickle
import shutil
from typing import Any

import pytest
import torch
from torch import Tensor

import pydynamo
from pydynamo.frontend.torch_source import NamedSource


def as_factor(x: Tensor, y: Tensor, a: float, b: float) -> Any:
    return x.add(y, alpha=-a) + b


def in_place(x: Tensor, y: Tensor, a: float, b: float) -> Any:
    with torch.no_grad():
        x.add_(y, alpha=a).mul_(b)
    return x


def two(x: Tensor, y: Tensor, a: float, b: float) -> Any:
    return torch.add(x, y, alpha=a * b), torch.nn.functional.leaky_relu(y, b), y.clamp(a, b)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("f", [as_factor, in_place, two], ids=lambda f: f.__name__)
def test_each_call_computes_with_its_own_numbers(f: Any, backend: str) -> None:
    compiled = pydynamo.compile(f, backend=backend)
    for step in range(5):
        a, b = 0.125 * (step + 1), 3.0 - step % 3
        found, expected = ([g(torch.ones(3), torch.arange(3.0) - 1, a, b)] for g in (compiled, f))
        torch.testing.assert_close(found, expected)


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")
def test_inductor_gets_plain_floats_and_sizes_that_vary() -> None:
    def f(x: Tensor, b: float) -> Tensor:
        return x + b

    compiled = pydynamo.compile(f, backend="inductor")
    for size, b in ((3, 1.5), (3, 2.5), (4, 2.5), (5, 2.5)):
        assert torch.equal(compiled(torch.ones(size), b), torch.ones(size) + b)


def test_what_torch_is_told_of_a_symbol_fits_into_the_keys_of_its_caches() -> None:
    source = NamedSource("x.size()[0]")
    assert pickle.loads(pickle.dumps(source)) == source != NamedSource("y")
    assert source.name == "x.size()[0]"
