"""Scatters: as selections where they are that, as atomic additions where they accumulate.

A scatter whose index has one entry along its dimension writes ``where(position == index, value, self)``, which
fuses like pointwise code.  What accumulates becomes a copy and a loop of atomic additions.  A scatter in which
the last writer wins, and half types, stay extern calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import ZERO, Index, flatten
from pydynamo.lowering.ir import Lazy, Loop
from pydynamo.lowering.lower.core import Lowering, aten, broadcast, broadcast_shapes, handles
from pydynamo.lowering.lower.joining import inside
from pydynamo.lowering.lower.pointwise import is_tensor
from pydynamo.lowering.lower.views import clamp_slice, position
from pydynamo.lowering.spec import is_size
from pydynamo.lowering.symbols import Int, alike, le

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
    if not alike(index.shape, [1 if i == d else n for i, n in enumerate(x.shape)]):
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


def within(low: Lowering, x: Any, dim: int, start: Int, count: Int, source: Inner, inputs: Sequence[Any]) -> Lazy:
    """`x` with the positions [start, start + count) along `dim` taken from `source`."""
    dt = x.dtype

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        e = idx[dim]
        lo, hi = e.bounds()
        if le(start, lo) and le(hi + 1, start + count):
            return k.cast(source(k, idx), dt)
        if le(hi + 1, start) or le(start + count, lo):
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
    if step != 1 or not is_tensor(src) or not x.shape or len(src.shape) != len(x.shape):
        return NotImplemented
    d = dim % len(x.shape)
    at, n = clamp_slice(start, x.shape[d]), src.shape[d]
    room = x.shape[d] if end is None else clamp_slice(end, x.shape[d])
    if not alike([*src.shape, at + n], [*x.shape[:d], n, *x.shape[d + 1 :], room]):
        return NotImplemented  # which eager refuses

    def source(k: Kernel, idx: Sequence[Index]) -> Value:
        return src.at(k, [e + (-at) if i == d else e for i, e in enumerate(idx)])

    return within(low, x, d, at, n, source, (src,))


@handles(aten.select_scatter)
def select_scatter(low: Lowering, node: Any, x: Any, src: Any, dim: int, index: Any) -> Any:
    if not is_size(index) or not -len(x.shape) <= dim < len(x.shape):
        return NotImplemented
    d = dim % len(x.shape)
    at = position(index, x.shape[d])
    if not alike(src.shape, [n for i, n in enumerate(x.shape) if i != d]) or not (le(0, at) and le(at + 1, x.shape[d])):
        return NotImplemented  # which eager refuses
    return within(low, x, d, at, 1, lambda k, idx: src.at(k, [e for i, e in enumerate(idx) if i != d]), (src,))


@handles(aten.copy)
def copy(low: Lowering, node: Any, x: Any, src: Any, non_blocking: bool = False) -> Any:
    shape, dt = x.shape, x.dtype
    return Lazy(shape, dt, lambda k, idx: k.cast(src.at(k, broadcast(idx, shape, src.shape)), dt), (src,), 0)


# ---------------------------------------------------------------------- atomics
ADDABLE = (torch.float32, torch.float64, torch.int32, torch.int64)
At = Callable[["Kernel", Sequence[Index]], list[Index]]


def accumulated(low: Lowering, x: Any, shape: Sequence[int], where: At, value: Inner, inputs: Sequence[Any]) -> Any:
    """A copy of `x` to which ``value(idx)`` is added at ``where(idx)``, atomically, for every idx of `shape`."""
    if x.dtype not in ADDABLE or 0 in shape:
        return NotImplemented
    out = low.realize(Lazy(x.shape, x.dtype, x.at, (x,), 0))
    reads = out.reads.union(*(v.reads for v in inputs if is_tensor(v)))

    def target(k: Kernel, idx: Sequence[Index]) -> Index:
        return flatten(where(k, idx), out.stride, out.offset)

    low.ops.append(Loop((out,), shape, value, reads, kind="scatter", out_index=target, atomic=True))
    return out


@handles(aten.scatter_add)
def scatter_add(low: Lowering, node: Any, x: Any, dim: int, index: Any, src: Any) -> Any:
    if not x.shape or not index.shape:
        return NotImplemented
    d = dim % len(x.shape)

    def where(k: Kernel, idx: Sequence[Index]) -> list[Index]:
        i = k.indirect(index.at(k, idx), x.shape[d], wrap=False, what="scatter_add")
        return [i if j == d else e for j, e in enumerate(idx)]

    return accumulated(low, x, index.shape, where, lambda k, idx: src.at(k, idx), (index, src))


@handles(aten.index_add)
def index_add(low: Lowering, node: Any, x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    if not x.shape or len(index.shape) != 1 or alpha != 1:
        return NotImplemented
    d = dim % len(x.shape)

    def where(k: Kernel, idx: Sequence[Index]) -> list[Index]:
        i = k.indirect(index.at(k, [idx[d]]), x.shape[d], wrap=False, what="index_add")
        return [i if j == d else e for j, e in enumerate(idx)]

    return accumulated(low, x, source.shape, where, lambda k, idx: source.at(k, idx), (index, source))


@handles(aten.index_put, aten._unsafe_index_put)
def index_put(low: Lowering, node: Any, x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False) -> Any:
    used = [d for d, i in enumerate(indices) if i is not None]
    masks = any(indices[d].dtype in (torch.bool, torch.uint8) for d in used)
    if not accumulate or not used or value.dtype is not x.dtype or masks:
        return NotImplemented
    ishape = broadcast_shapes(*(indices[d].shape for d in used))
    at = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [d for d in range(len(x.shape)) if d not in used]
    kept = [x.shape[d] for d in rest]
    shape = (*kept[:at], *ishape, *kept[at:])

    def where(k: Kernel, idx: Sequence[Index]) -> list[Index]:
        inner, outer = idx[at : at + len(ishape)], iter([*idx[:at], *idx[at + len(ishape) :]])
        full: list[Index] = [ZERO] * len(x.shape)
        for d in used:
            i = indices[d]
            loaded = i.at(k, broadcast(inner, ishape, i.shape))
            full[d] = k.indirect(loaded, x.shape[d], wrap=True, what="index_put")
        for d in rest:
            full[d] = next(outer)
        return full

    def put(k: Kernel, idx: Sequence[Index]) -> Value:
        return value.at(k, broadcast(idx, shape, value.shape))

    return accumulated(low, x, shape, where, put, (*(indices[d] for d in used), value))
