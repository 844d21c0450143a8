"""autograd.Function in compiled code: results and gradients of each kind of function, and what breaks the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import pydynamo

BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])
scale = 3.0
log: list[str] = []
shared = torch.full((3,), 5.0)


class Saved(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, k: float) -> Tensor:
        ctx.save_for_backward(x, w)
        ctx.k = k
        return (x * w).sin() * k

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, w = ctx.saved_tensors
        inner = g * (x * w).cos() * ctx.k
        return inner * w if ctx.needs_input_grad[0] else None, inner * x if ctx.needs_input_grad[1] else None, None


class Straight(Function):
    """Gradients that autograd would not give by itself."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * scale


class Two(Function):
    @staticmethod
    def forward(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        return x * n, x + n

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.n = inputs[1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Any:
        return g * ctx.n * 10 + h, None


class Indices(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = x.sort()
        ctx.mark_non_differentiable(places)
        ctx.save_for_backward(places)
        return values, places

    @staticmethod
    def backward(ctx: Any, g: Tensor, _: Any) -> Tensor:
        (places,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(0, places, g * 7)


class Mixed(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return g @ x * 2


class Noisy(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        log.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        log.append("backward")
        return g * 2


class Outside(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * shared

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * shared


class InPlace(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * 2


def saved(x: Tensor, w: Tensor) -> Tensor:
    return Saved.apply(x * 2, w, 1.5).sum() + x.sum()


def saved_for_one(x: Tensor, w: Tensor) -> Tensor:
    return Saved.apply(x, w.detach(), 2.0).sum()


def straight(x: Tensor, w: Tensor) -> Tensor:
    return (Straight.apply(x * w) * 2).sum()


straighten = Straight.apply


def by_another_name(x: Tensor, w: Tensor) -> Tensor:
    apply = Straight.apply
    return (straighten(x * w) * 2 + apply(x)).sum()


def two(x: Tensor, w: Tensor) -> Tensor:
    a, b = Two.apply(x, 4)
    return (a * w + b).sum()


def indices(x: Tensor, w: Tensor) -> Tensor:
    values, places = Indices.apply(x)
    return (values * w).sum() + places.sum()


def mixed(x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return Mixed.apply(torch.outer(x, w)).float().sum()


def without_grad(x: Tensor, w: Tensor) -> Tensor:
    with torch.no_grad():
        y = Saved.apply(x, w, 1.0)
    return (y * x).sum()


def twice(x: Tensor, w: Tensor) -> Tensor:
    return sum(Straight.apply(x * i).sum() for i in range(3)) + Two.apply(w, 2)[0].sum()


def noisy(x: Tensor, w: Tensor) -> Tensor:
    return Noisy.apply(x + 1).sum()


def outside(x: Tensor, w: Tensor) -> Tensor:
    return Outside.apply(x + 1).sum()


def in_place(x: Tensor, w: Tensor) -> Tensor:
    return InPlace.apply(x * 1).sum()


def outcome(fn: Callable[..., Tensor]) -> tuple[Any, ...]:
    log.clear()
    x, w = (torch.tensor([0.5, 1.5, -2.0]) * k for k in (1, 2))
    x.requires_grad_(), w.requires_grad_()
    out = fn(x, w)
    grads = torch.autograd.grad(out, [x, w], allow_unused=True)
    return out.detach(), [g if g is None else g.clone() for g in grads], list(log)


@BACKENDS
@pytest.mark.parametrize(
    "fn", [saved, saved_for_one, straight, by_another_name, two, indices, mixed, without_grad, twice]
)
def test_a_pure_function_is_captured_whole(fn: Callable[..., Tensor], backend: str) -> None:
    compiled = pydynamo.compile(fn, backend=backend, fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(outcome(compiled), outcome(fn))


@pytest.mark.parametrize("fn", [noisy, outside, in_place])
def test_what_does_more_than_compute_from_its_arguments_breaks(fn: Callable[..., Tensor]) -> None:
    with pytest.raises(pydynamo.Unsupported) as caught:
        pydynamo.compile(fn, backend="eager", fullgraph=True)(torch.ones(3, requires_grad=True), torch.ones(3))
    assert caught.value.reason in ("autograd", "opaque-call")
    compiled = pydynamo.compile(fn, backend="eager")
    for _ in range(2):
        found, wanted = outcome(compiled), outcome(fn)
        torch.testing.assert_close(found[:2], wanted[:2])
        assert found[2] == wanted[2]


@BACKENDS
def test_a_global_that_a_method_reads_is_guarded(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pydynamo.compile(straight, backend=backend, fullgraph=True)
    for value in (3.0, 11.0):
        monkeypatch.setitem(globals(), "scale", value)
        torch.testing.assert_close(outcome(compiled), outcome(straight))
