"""Scatters that are really selections, and functional copies: no atomics, so they fuse like pointwise code.

A scatter whose index has one entry along its dimension writes ``where(position == index, value, self)``.
Everything else that scatters stays an extern call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import ZERO, Index
from pydynamo.lowering.ir import Lazy
from pydynamo.lowering.lower.core import Lowering, aten, broadcast, handles
from pydynamo.lowering.lower.joining import inside
from pydynamo.lowering.lower.pointwise import is_tensor
from pydynamo.lowering.lower.views import clamp_slice

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value

Inner = Callable[["Kernel", Sequence[Index]], "Value"]


def choose(k: Kernel, dt: torch.dtype, cond: Value, a: Value, b: Value) -> Value:
    """``where(cond, a, b)`` as a value of dtype `dt`."""
    r = k.op("where", dt, cond, a, b)
    return type(r)(r, dt, r.deps)


@handles(aten.scatter.value, aten.scatter.src)
def scatter(low: Lowering, node: Any, x: Any, dim: int, index: Any, value: Any) -> Any:
    if not x.shape or not index.shape:
        return NotImplemented
    d = dim % len(x.shape)
    if index.shape != tuple(1 if i == d else n for i, n in enumerate(x.shape)):
        return NotImplemented
    dt = x.dtype

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        at = [ZERO if i == d else e for i, e in enumerate(idx)]
        raw = index.at(k, at)
        k.indirect(raw, x.shape[d], wrap=False, what="scatter")
        hit = k.op("eq", torch.bool, k.integer(idx[d]), k.cast(raw, torch.int64), operands=torch.int64)
        new = k.cast(value.at(k, at), dt) if is_tensor(value) else k.constant(value, dt)
        return choose(k, dt, hit, new, k.cast(x.at(k, idx), dt))

    return Lazy(x.shape, dt, fn, (x, index, value), 3)


def within(
    low: Lowering, x: Any, dim: int, start: int, count: int, source: Inner, inputs: Sequence[Any]
) -> Lazy:
    """`x` with the positions [start, start + count) along `dim` taken from `source`."""
    dt = x.dtype

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        e = idx[dim]
        lo, hi = e.bounds()
        if lo >= start and hi < start + count:
            return k.cast(source(k, idx), dt)
        if hi < start or lo >= start + count:
            return k.cast(x.at(k, idx), dt)
        cond = k.emit(inside(e, start, start + count, lo, hi), torch.bool, e.deps)
        new = k.masked(cond, lambda: k.cast(source(k, idx), dt))
        return choose(k, dt, cond, new, k.cast(x.at(k, idx), dt))

    return Lazy(x.shape, dt, fn, (x, *inputs), 2)


@handles(aten.slice_scatter)
def slice_scatter(
    low: Lowering,
    node: Any,
    x: Any,
    src: Any,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Any:
    if step != 1 or not is_tensor(src):
        return NotImplemented
    d = dim % len(x.shape)
    at, n = clamp_slice(start, x.shape[d]), src.shape[d]

    def source(k: Kernel, idx: Sequence[Index]) -> Value:
        return src.at(k, [e + (-at) if i == d else e for i, e in enumerate(idx)])

    return within(low, x, d, at, n, source, (src,))


@handles(aten.select_scatter)
def select_scatter(low: Lowering, node: Any, x: Any, src: Any, dim: int, index: Any) -> Any:
    if not isinstance(index, int):
        return NotImplemented
    d = dim % len(x.shape)
    at = index % x.shape[d]
    return within(
        low, x, d, at, 1, lambda k, idx: src.at(k, [e for i, e in enumerate(idx) if i != d]), (src,)
    )


@handles(aten.copy)
def copy(low: Lowering, node: Any, x: Any, src: Any, non_blocking: bool = False) -> Any:
    shape, dt = x.shape, x.dtype
    return Lazy(shape, dt, lambda k, idx: k.cast(src.at(k, broadcast(idx, shape, src.shape)), dt), (src,), 0)
