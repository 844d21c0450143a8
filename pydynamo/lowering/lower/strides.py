"""Questions about dimensions and strides: order in memory, overlap, which dimensions an operator means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydynamo.lowering.index import contiguous_strides
from pydynamo.lowering.symbols import Int, alike, hint, le


def injective(shape: Sequence[Int], stride: Sequence[Int]) -> bool:
    """True if no two elements share an address."""
    span: Int = 1
    steps = [(st, n) for st, n in zip(stride, shape, strict=True) if not le(n, 1)]
    for st, n in sorted(steps, key=lambda p: (hint(p[0]), hint(p[1]))):
        if st < span:
            return False
        span = st * (n - 1) + span
    return True


def memory_order(stride: Sequence[Int], shape: Sequence[Int]) -> tuple[int, ...]:
    """Dimensions from the slowest to the fastest in memory (stable for ties and for size one)."""
    if alike(stride, contiguous_strides(shape)):
        return tuple(range(len(shape)))
    return tuple(sorted(range(len(shape)), key=lambda d: (-hint(stride[d]) if hint(shape[d]) > 1 else 0, d)))


def keep_strides(stride: Sequence[Int], dims: Sequence[int], rank: int) -> list[Int]:
    it = iter(stride)
    return [0 if i in dims else next(it) for i in range(rank)]


def normalize_dims(dims: Any, rank: int) -> list[int]:
    """Sorted non-negative dimensions; None or empty means all."""
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return list(range(rank))
    if isinstance(dims, int):
        dims = [dims]
    return sorted({d % rank if rank else 0 for d in dims}) if rank else []


def prod(xs: Sequence[Int]) -> Int:
    return math.prod(xs)
