"""Tensors made from nothing: constants, ranges, and random numbers from a seed drawn once per call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import Index, contiguous_strides, flatten
from pydynamo.lowering.ir import Buffer, Lazy
from pydynamo.lowering.lower.core import Lowering, aten, handles, prims
from pydynamo.lowering.lower.pointwise import filled
from pydynamo.lowering.operators import RAND
from pydynamo.lowering.random_codegen import random
from pydynamo.lowering.spec import is_size
from pydynamo.lowering.symbols import Size

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value


@handles(
    aten.full,
    aten.full_like,
    aten.scalar_tensor,
    aten.zeros,
    aten.ones,
    aten.zeros_like,
    aten.ones_like,
    aten.new_zeros,
    aten.new_ones,
    aten.new_full,
    aten.empty_like,
    aten.empty,
    aten.new_empty,
    aten.empty_permuted,
)
def full(low: Lowering, node: Any, *args: Any, **kw: Any) -> Any:
    name = node.target.overloadpacket.__name__
    out = node.meta["spec"]
    if name == "scalar_tensor":
        c = args[0]
    elif "full" in name:
        c = args[2] if name == "new_full" else args[1]
    else:
        c = int("ones" in name)
    if not isinstance(c, (int, float, bool, Size)):
        return NotImplemented
    return filled(out.shape, c, out.dtype)


@handles(aten.arange, prims.iota)
def arange(low: Lowering, node: Any, *args: Any, **kw: Any) -> Any:
    out = node.meta["spec"]
    dt = out.dtype
    if node.target is prims.iota.default:
        start, step = kw.get("start", 0), kw.get("step", 1)
    elif node.target is aten.arange.default:
        start, step = 0, 1
    else:
        start, step = args[0], args[2] if len(args) > 2 else 1
    if not (is_size(start) and is_size(step)):
        return NotImplemented

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        i = k.op("mul", torch.int64, k.integer(idx[0]), k.constant(step, torch.int64))
        return k.cast(k.op("add", torch.int64, i, k.constant(start, torch.int64)), dt)

    return Lazy(out.shape, dt, fn, (), 1)


@handles(RAND)
def rand(low: Lowering, node: Any, seeds: Any, number: int, shape: Sequence[int]) -> Any:
    if not isinstance(seeds, Buffer):
        return NotImplemented
    seed = low.rows(seeds)[number]

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        return random(k, seed, flatten(idx, contiguous_strides(shape)))

    return Lazy(shape, torch.float32, fn, (seed,), 8)
