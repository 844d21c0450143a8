"""torch.vmap and torch.func.grad: one graph, and what eager code gives, gradients through them included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

import pydynamo


def batched(x: Tensor, w: Tensor) -> Any:
    return torch.vmap(lambda row: (row * w[0]).sum() + row[0])(x)


def over_two(x: Tensor, w: Tensor) -> Any:
    return torch.vmap(lambda a, b: (a * b, torch.stack([a, a + 1]) * b.shape[0]), in_dims=(1, None), out_dims=1)(
        x, w[0, :3]
    )


def one_is_shared(x: Tensor, w: Tensor) -> Any:
    def body(a: Tensor, b: Tensor) -> Any:
        return [torch.relu(a) * b.mean(), w.sum() * a]

    return torch.func.vmap(body, (0, None))(x, w)


def gradient(x: Tensor, w: Tensor) -> Any:
    return torch.func.grad(lambda a: (a.sin() ** 2 * w).sum())(x)


def gradient_and_value(x: Tensor, w: Tensor) -> Any:
    return torch.func.grad_and_value(lambda a, b: (a * b).pow(2).sum(), argnums=(1, 0))(x, w)


def of_each_sample(x: Tensor, w: Tensor) -> Any:
    def loss(weight: Tensor, row: Tensor) -> Tensor:
        return (weight * row).tanh().sum()

    return torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(w[0], x)


def twice(x: Tensor, w: Tensor) -> Any:
    return torch.func.grad(lambda a: torch.func.grad(lambda b: (b**3).sum())(a).sum())(x) + w


FUNCTIONS = [batched, over_two, one_is_shared, gradient, gradient_and_value, of_each_sample, twice]


def _outcome(fn: Callable[..., Any]) -> list[Any]:
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    w = torch.linspace(1, 2, 12).reshape(3, 4).requires_grad_()
    found = fn(x, w)
    leaves = pytree.tree_leaves(found)
    sum(leaf.sum() for leaf in leaves).backward()
    return [pytree.tree_structure(found), *(leaf.detach() for leaf in leaves), x.grad, w.grad]


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_transform_is_captured_whole(backend: str, fn: Callable[..., Any]) -> None:
    pydynamo.reset()
    compiled = pydynamo.compile(fn, backend=backend, fullgraph=True)
    for _ in range(2):
        (kind, *found), (wanted_kind, *wanted) = _outcome(compiled), _outcome(fn)
        assert kind == wanted_kind
        for mine, theirs in zip(found, wanted, strict=True):
            assert (mine is None) == (theirs is None)
            if mine is not None:
                torch.testing.assert_close(mine, theirs)


def random(x: Tensor, w: Tensor) -> Any:
    return torch.vmap(lambda row: row + torch.rand_like(row), randomness="different")(x).shape


def writing(x: Tensor, w: Tensor) -> Any:
    return torch.vmap(lambda row: row.add_(1))(x.detach().clone())


def noting(x: Tensor, w: Tensor) -> Any:
    seen: list[Any] = []

    def body(row: Tensor) -> Tensor:
        seen.append(row.dim())
        return row * 2

    return torch.vmap(body)(x), seen


def with_aux(x: Tensor, w: Tensor) -> Any:
    return torch.func.grad(lambda a: ((a * w).sum(), a + 1), has_aux=True)(x)


def of_trees(x: Tensor, w: Tensor) -> Any:
    return torch.vmap(lambda d: d["x"] * 2)({"x": x})


@pytest.mark.parametrize("fn", [random, writing, noting, with_aux, of_trees])
def test_what_is_not_followed_breaks_the_graph_and_stays_right(fn: Callable[..., Any]) -> None:
    pydynamo.reset()
    x, w = torch.ones(3, 4), torch.ones(3, 4)
    torch.testing.assert_close(pydynamo.compile(fn, backend="eager")(x, w), fn(x, w))
    with pytest.raises(pydynamo.Unsupported):
        pydynamo.compile(fn, backend="eager", fullgraph=True)(x, w)


def test_a_batch_of_another_size_is_the_same_program() -> None:
    def f(x: Tensor) -> Any:
        return torch.vmap(lambda row: row * row.shape[0] + x.shape[0])(x)

    compiled = pydynamo.compile(f, backend="eager", fullgraph=True)
    for count in (2, 3, 4, 5):
        for width in (2, 6):
            torch.testing.assert_close(compiled(torch.ones(count, width)), f(torch.ones(count, width)))


@pytest.mark.parametrize("size", [(0, 2), (3, 2)])
def test_errors_are_those_of_torch(size: tuple[int, ...]) -> None:
    def f(x: Tensor, y: Tensor) -> Any:
        return torch.vmap(torch.add)(x, y)

    x, y = torch.ones(size), torch.ones(2, 2)
    for fn in (f, pydynamo.compile(f, backend="eager")):
        with pytest.raises(ValueError):
            fn(x, y)
