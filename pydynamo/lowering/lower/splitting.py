"""Long reductions with few results are split over programs: partial results first, then a small reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from pydynamo.lowering.index import ZERO, Index, flatten, unflatten
from pydynamo.lowering.ir import Buffer, IndexFn, Loop, Tensorish
from pydynamo.lowering.numerics import compute_dtype

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value
    from pydynamo.lowering.lower.core import Lowering

SPLITTABLE = ("sum", "prod", "max", "min", "any", "welford")


def split_reduce(
    low: Lowering, v: Tensorish, kind: str, dims: Sequence[int], outs: Sequence[torch.dtype], body: IndexFn
) -> list[Buffer] | None:
    """The split form's results (kept dimensions only), or None where one kernel is enough."""
    o = low.options
    kept = [d for d in range(len(v.shape)) if d not in dims]
    x, r = _size(v.shape, kept), _size(v.shape, dims)
    order = low.order_hint(len(v.shape), v.shape)
    inner = bool(order) and _fastest(order, v.shape) in dims
    programs = x if inner else -(-x // 128)
    enough = o.split_rows // 4 if inner else o.split_rows
    if kind not in SPLITTABLE or programs >= enough or r < (o.split_min * 4 if inner else o.split_min):
        return None
    parts = min(-(-o.split_rows // max(programs, 1)), max(2, r // (2048 if inner else 128)))
    parts = 1 << (parts - 1).bit_length()
    if kind == "welford":  # equal chunks, so that their means weigh the same
        parts = next((p for p in range(parts, 1, -1) if r % p == 0), 1)
    if parts < 2:
        return None
    chunk = -(-r // parts)
    parts = -(-r // chunk)
    rorder = [d for d in order if d in dims]
    rshape = [v.shape[d] for d in rorder]
    acc = torch.bool if kind == "any" else compute_dtype(outs[0]) if kind in ("sum", "prod") else v.dtype
    neutral = _neutral(kind, acc)
    shape = (*(v.shape[d] for d in kept), parts, chunk)

    def partial(k: Kernel, idx: Sequence[Index]) -> Value:
        flat = flatten(idx[-2:], (chunk, 1))
        full: list[Index] = [ZERO] * len(v.shape)
        for d, e in zip(kept, idx, strict=False):
            full[d] = e
        for d, e in zip(rorder, unflatten(flat, rshape), strict=True):
            full[d] = e
        if parts * chunk == r:
            return k.cast(body(k, full), acc) if kind in ("any",) else body(k, full)
        inside = k.emit(f"({flat}) < {r}", torch.bool, flat.deps)
        value = k.masked(inside, lambda: k.cast(body(k, full), acc) if kind == "any" else body(k, full))
        held = k.constant(neutral, value.dtype)
        w = k.op("where", value.dtype, inside, value, held)
        return type(w)(w, value.dtype, w.deps)

    stages = [low.buffer(shape[:-1], acc if kind != "welford" else dt) for dt in outs]
    korder = [kept.index(d) for d in order if d in kept]
    low.ops.append(
        Loop(
            stages,
            shape,
            partial,
            v.reads,
            rdims=(len(shape) - 1,),
            kind=kind,
            order=(len(kept), *korder, len(kept) + 1),
        )
    )
    if kind == "welford":
        return _join_welford(low, stages, chunk)
    return [_fold(low, stages[0], stages[0].at, stages[0].reads, kind, outs[0])]


def _fold(low: Lowering, stage: Buffer, body: IndexFn, reads: frozenset[str], kind: str, dtype: torch.dtype) -> Buffer:
    """Reduce over the last dimension of `stage`, the parts."""
    out = low.buffer(stage.shape[:-1], dtype)
    low.ops.append(Loop((out,), stage.shape, body, reads, rdims=(len(stage.shape) - 1,), kind=kind))
    return out


def _join_welford(low: Lowering, stages: Sequence[Buffer], chunk: int) -> list[Buffer]:
    """Mean, and sum of squared deviations, from those of equal chunks."""
    means, m2s = stages
    dt, parts = means.dtype, means.shape[-1]

    def share(k: Kernel, idx: Sequence[Index]) -> Value:
        return k.op("div", dt, means.at(k, idx), k.constant(float(parts), dt))

    mean = _fold(low, means, share, means.reads, "sum", dt)

    def deviation(k: Kernel, idx: Sequence[Index]) -> Value:
        d = k.op("sub", dt, means.at(k, idx), mean.at(k, idx[:-1]))
        between = k.op("mul", dt, k.op("mul", dt, d, d), k.constant(float(chunk), dt))
        return k.op("add", dt, m2s.at(k, idx), between)

    return [mean, _fold(low, m2s, deviation, means.reads | m2s.reads | mean.reads, "sum", dt)]


def _size(shape: Sequence[int], dims: Sequence[int]) -> int:
    n = 1
    for d in dims:
        n *= shape[d]
    return n


def _fastest(order: Sequence[int], shape: Sequence[int]) -> int:
    return next((d for d in reversed(order) if shape[d] > 1), order[-1])


def _neutral(kind: str, dt: torch.dtype) -> float | int | bool:
    if kind in ("sum", "any"):
        return 0
    if kind == "prod":
        return 1
    if dt.is_floating_point:
        return float("-inf") if kind == "max" else float("inf")
    if dt is torch.bool:
        return kind == "min"
    return torch.iinfo(dt).min if kind == "max" else torch.iinfo(dt).max
