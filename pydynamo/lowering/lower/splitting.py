"""Long reductions with few results are split over programs: partial results first, then a small reduction."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import torch

from pydynamo.lowering.config import Options
from pydynamo.lowering.index import ZERO, Index, flatten, unflatten
from pydynamo.lowering.ir import Buffer, IndexFn, Lazy, Loop, Split, Tensorish
from pydynamo.lowering.numerics import compute_dtype
from pydynamo.lowering.symbols import Int, ceil_div, divides, hint, same

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value
    from pydynamo.lowering.lower.core import Lowering

SPLITTABLE = ("sum", "prod", "max", "min", "any", "welford", "softmax")


def split_reduce(
    low: Lowering, v: Tensorish, kind: str, dims: Sequence[int], outs: Sequence[torch.dtype], body: IndexFn
) -> list[Buffer] | None:
    """The split form's results (kept dimensions only), or None where one kernel is enough.

    Sizes that are not known yet are judged by their hints: either form is right for every size.
    """
    o = low.options
    kept = [d for d in range(len(v.shape)) if d not in dims]
    r = prod([v.shape[d] for d in dims])
    order = low.order_hint(len(v.shape), v.shape)
    inner = bool(order) and _fastest(order, v.shape) in dims
    parts = _parts(o, hint(prod([v.shape[d] for d in kept])), hint(r), inner) if kind in SPLITTABLE else 1
    if kind == "softmax" and hint(r) <= o.persistent_limit:
        return None
    if kind == "welford" and parts > 1:  # equal chunks, so that their means weigh the same
        equal = next((p for p in range(parts, 1, -1) if divides(p, r)), 1)
        if equal == 1:
            return _two_sums(low, v, dims, outs[0], r, body)
        parts = equal
    if parts < 2:
        return None
    chunk = ceil_div(r, parts)
    if isinstance(r, int):
        parts = -(-r // hint(chunk))
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
        if same(chunk * parts, r):
            return k.cast(body(k, full), acc) if kind in ("any",) else body(k, full)
        inside = k.emit(f"({flat}) < {r}", torch.bool, flat.deps)
        value = k.masked(inside, lambda: k.cast(body(k, full), acc) if kind == "any" else body(k, full))
        held = k.constant(neutral, value.dtype)
        w = k.op("where", value.dtype, inside, value, held)
        return type(w)(w, value.dtype, w.deps)

    stages = [low.buffer(shape[:-1], dt if kind in ("welford", "softmax") else acc) for dt in outs]
    korder = [kept.index(d) for d in order if d in kept]
    first = Loop(
        stages,
        shape,
        partial,
        v.reads,
        rdims=(len(shape) - 1,),
        kind=kind,
        order=(len(kept), *korder, len(kept) + 1),
    )
    low.ops.append(first)
    if kind == "welford":
        return _join_welford(low, stages, chunk)
    if kind == "softmax":
        return _join_softmax(low, stages)
    folded = _fold(low, stages[0], stages[0].at, stages[0].reads, kind, outs[0])
    last = low.ops[-1]
    if kind == "sum" and isinstance(last, Loop) and order == tuple(range(len(v.shape))):
        first.split = Split(v.shape, dims, body, last)
    return [folded]


def _parts(o: Options, x: int, r: int, inner: bool) -> int:
    """Into how many parts a reduction of `x` results over `r` elements is cut; 1: not at all."""
    programs = x if inner else -(-x // 128)
    enough = o.split_rows // 4 if inner else o.split_rows
    if programs >= enough or r < (o.split_min * 4 if inner else o.split_min):
        return 1
    wanted = o.split_rows if inner else 2 * o.split_rows  # a step along columns has fewer bytes in flight
    parts = min(-(-wanted // max(programs, 1)), max(2, r // (2048 if inner else 128)))
    return 1 << (parts - 1).bit_length()


def _two_sums(low: Lowering, v: Tensorish, dims: Sequence[int], dt: torch.dtype, r: Int, body: IndexFn) -> list[Buffer]:
    """Mean and sum of squared deviations by two sums, each of which is split: for rows that have no equal parts."""
    total = low.reduce(v, "sum", dims, [dt], body)[0]
    mean = low.realize(
        Lazy(total.shape, dt, lambda k, idx: k.op("div", dt, total.at(k, idx), k.constant(r, dt)), (total,))
    )

    def square(k: Kernel, idx: Sequence[Index]) -> Value:
        at = [ZERO if i in dims else e for i, e in enumerate(idx)]
        d = k.op("sub", dt, k.hold(body(k, idx), dt), mean.at(k, at))
        return k.op("mul", dt, d, d)

    deviations = Lazy(v.shape, dt, square, (v, mean))
    m2 = low.reduce(deviations, "sum", dims, [dt])[0]
    kept = [d for d in range(len(v.shape)) if d not in dims]
    return [b.view([b.shape[d] for d in kept], [b.stride[d] for d in kept]) for b in (mean, m2)]


def _join_softmax(low: Lowering, stages: Sequence[Buffer]) -> list[Buffer]:
    """Maximum, and sum of exp(v - maximum), from those of the parts."""
    tops, totals = stages
    dt = tops.dtype
    top = _fold(low, tops, tops.at, tops.reads, "max", dt)

    def share(k: Kernel, idx: Sequence[Index]) -> Value:
        a, m = tops.at(k, idx), top.at(k, idx[:-1])
        scaled = k.op("mul", dt, totals.at(k, idx), k.op("exp", dt, k.op("sub", dt, a, m)))
        # a part of -inf only has no finite sum and no weight, unless the whole row is such
        low_, rest = k.constant(float("-inf"), dt), k.constant(0.0, dt)
        nothing = k.op(
            "bitwise_and",
            torch.bool,
            k.op("eq", torch.bool, a, low_, operands=dt),
            k.op("ne", torch.bool, m, low_, operands=dt),
        )
        return k.op("where", dt, nothing, rest, scaled)

    return [top, _fold(low, totals, share, tops.reads | totals.reads | top.reads, "sum", dt)]


def _fold(low: Lowering, stage: Buffer, body: IndexFn, reads: frozenset[str], kind: str, dtype: torch.dtype) -> Buffer:
    """Reduce over the last dimension of `stage`, the parts."""
    out = low.buffer(stage.shape[:-1], dtype)
    low.ops.append(Loop((out,), stage.shape, body, reads, rdims=(len(stage.shape) - 1,), kind=kind))
    return out


def _join_welford(low: Lowering, stages: Sequence[Buffer], chunk: Int) -> list[Buffer]:
    """Mean, and sum of squared deviations, from those of equal chunks."""
    means, m2s = stages
    dt, parts = means.dtype, means.shape[-1]

    def share(k: Kernel, idx: Sequence[Index]) -> Value:
        return k.op("div", dt, means.at(k, idx), k.constant(parts, dt))

    mean = _fold(low, means, share, means.reads, "sum", dt)

    def deviation(k: Kernel, idx: Sequence[Index]) -> Value:
        d = k.op("sub", dt, means.at(k, idx), mean.at(k, idx[:-1]))
        between = k.op("mul", dt, k.op("mul", dt, d, d), k.constant(chunk, dt))
        return k.op("add", dt, m2s.at(k, idx), between)

    return [mean, _fold(low, m2s, deviation, means.reads | m2s.reads | mean.reads, "sum", dt)]


def _fastest(order: Sequence[int], shape: Sequence[Int]) -> int:
    return next((d for d in reversed(order) if not same(shape[d], 1)), order[-1])


def _neutral(kind: str, dt: torch.dtype) -> float | int | bool:
    if kind in ("sum", "any"):
        return 0
    if kind == "prod":
        return 1
    if dt.is_floating_point:
        return float("-inf") if kind in ("max", "softmax") else float("inf")
    if dt is torch.bool:
        return kind == "min"
    return torch.iinfo(dt).min if kind == "max" else torch.iinfo(dt).max
