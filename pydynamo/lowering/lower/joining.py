"""cat, stack, padding, gather, embedding and indexing: masks and indices that were loaded."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import ZERO, Index
from pydynamo.lowering.ir import Lazy, Tensorish
from pydynamo.lowering.lower.core import Lowering, aten, broadcast, broadcast_shapes, handles
from pydynamo.lowering.lower.pointwise import is_tensor
from pydynamo.lowering.symbols import Int, le

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value


@handles(aten.cat)
def cat(low: Lowering, node: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    out = node.meta["spec"]
    shape, dt = tuple(out.shape), out.dtype
    parts = [t for t in tensors if 0 not in t.shape]
    if any(len(t.shape) != len(shape) for t in parts):
        return NotImplemented
    d = dim % len(shape)
    if sum(t.shape[d] for t in parts) != shape[d]:
        return NotImplemented

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        result: Value | None = None
        at: Int = 0
        for t in parts:
            n, start = t.shape[d], at
            at = at + n
            e = idx[d]
            lo, hi = e.bounds()
            moved = [x + (-start) if i == d else x for i, x in enumerate(idx)]
            if le(start, lo) and le(hi + 1, at):
                return k.cast(t.at(k, moved), dt)
            if le(hi + 1, start) or le(at, lo):
                continue
            cond = k.emit(inside(e, start, at, lo, hi), torch.bool, e.deps)
            v = k.masked(cond, functools.partial(_cast_at, k, t, moved, dt))
            if result is None:
                result = v
            else:
                w = k.op("where", dt, cond, v, result)
                result = type(w)(w, dt, w.deps)
        assert result is not None
        return result

    return Lazy(shape, dt, fn, parts, 2 * len(parts))


def _cast_at(k: Kernel, t: Tensorish, idx: Sequence[Index], dt: torch.dtype) -> Value:
    return k.cast(t.at(k, idx), dt)


def inside(e: Index, lo: Int, hi: Int, least: Int, most: Int) -> str:
    """Triton text of lo <= e < hi, without the halves that always hold."""
    tests = []
    if not le(lo, least):
        tests.append(f"(({e}) >= {lo})")
    if not le(most + 1, hi):
        tests.append(f"(({e}) < {hi})")
    return " & ".join(tests)


@handles(aten.constant_pad_nd)
def pad(low: Lowering, node: Any, x: Any, padding: Sequence[int], value: Any = 0) -> Any:
    out = node.meta["spec"]
    shape, dt = tuple(out.shape), out.dtype
    if not isinstance(value, (int, float, bool)):
        return NotImplemented
    before: list[Int] = [0] * len(shape)
    for j in range(len(padding) // 2):
        before[len(shape) - 1 - j] = padding[2 * j]

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        tests, deps = [], frozenset[str]()
        for e, b, n in zip(idx, before, x.shape, strict=True):
            lo, hi = e.bounds()
            if not (le(b, lo) and le(hi + 1, b + n)):
                if le(hi + 1, b) or le(b + n, lo):  # a constant position outside: nothing of x is seen
                    return k.constant(value, dt)
                tests.append(inside(e, b, b + n, lo, hi))
                deps |= e.deps
        moved = [e + (-b) for e, b in zip(idx, before, strict=True)]
        if not tests:
            return k.cast(x.at(k, moved), dt)
        cond = k.emit(" & ".join(tests), torch.bool, deps)
        v = k.masked(cond, lambda: k.cast(x.at(k, moved), dt))
        w = k.op("where", dt, cond, v, k.constant(value, dt))
        return type(w)(w, dt, w.deps)

    return Lazy(shape, dt, fn, (x,), 2)


# ---------------------------------------------------------------------- loaded indices
@handles(aten.embedding)
def embedding(low: Lowering, node: Any, weight: Any, indices: Any, *rest: Any) -> Any:
    shape = tuple(node.meta["spec"].shape)

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        i = k.indirect(indices.at(k, idx[:-1]), weight.shape[0], wrap=False, what="embedding")
        return weight.at(k, [i, idx[-1]])

    return Lazy(shape, weight.dtype, fn, (weight, indices), 2)


@handles(aten.gather)
def gather(low: Lowering, node: Any, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if not x.shape or not index.shape:
        return NotImplemented
    d = dim % len(x.shape)

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        i = k.indirect(index.at(k, idx), x.shape[d], wrap=False, what="gather")
        return x.at(k, [i if j == d else e for j, e in enumerate(idx)])

    return Lazy(index.shape, x.dtype, fn, (x, index), 2)


@handles(aten.index_select)
def index_select(low: Lowering, node: Any, x: Any, dim: int, index: Any) -> Any:
    if not x.shape or len(index.shape) != 1:
        return NotImplemented
    d = dim % len(x.shape)

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        i = k.indirect(index.at(k, [idx[d]]), x.shape[d], wrap=False, what="index_select")
        return x.at(k, [i if j == d else e for j, e in enumerate(idx)])

    return Lazy(node.meta["spec"].shape, x.dtype, fn, (x, index), 2)


@handles(aten.index.Tensor, aten._unsafe_index.Tensor)
def index_tensor(low: Lowering, node: Any, x: Any, indices: Sequence[Any]) -> Any:
    if any(i is not None and (not is_tensor(i) or i.dtype in (torch.bool, torch.uint8)) for i in indices):
        return NotImplemented
    used = [d for d, i in enumerate(indices) if i is not None]
    if not used:
        return NotImplemented
    shape = tuple(node.meta["spec"].shape)
    ishape = broadcast_shapes(*(indices[d].shape for d in used))
    at = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [d for d in range(len(x.shape)) if d not in used]

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        inner = idx[at : at + len(ishape)]
        outer = iter([*idx[:at], *idx[at + len(ishape) :]])
        full: list[Index] = [ZERO] * len(x.shape)
        for d in used:
            i = indices[d]
            full[d] = k.indirect(i.at(k, broadcast(inner, ishape, i.shape)), x.shape[d], wrap=True, what="index")
        for d in rest:
            full[d] = next(outer)
        return x.at(k, full)

    return Lazy(shape, x.dtype, fn, (x, *(indices[d] for d in used)), 2 + len(used))
