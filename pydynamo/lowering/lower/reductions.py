"""Reductions, scans, and the operators that are made of them: mean, variance, softmax, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import Index
from pydynamo.lowering.ir import Buffer, Lazy, Loop, Tensorish
from pydynamo.lowering.lower.core import Lowering, aten, handles, prims
from pydynamo.lowering.lower.pointwise import converted
from pydynamo.lowering.lower.strides import memory_order, normalize_dims, prod
from pydynamo.lowering.lower.views import reshape
from pydynamo.lowering.numerics import HALF, compute_dtype
from pydynamo.lowering.operators import SOFTMAX_STATS
from pydynamo.lowering.symbols import Int, Size

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value


def reduced(
    low: Lowering,
    x: Tensorish,
    kind: str,
    dims: Sequence[int],
    keepdim: bool,
    out: torch.dtype,
    acc: torch.dtype | None = None,
) -> Tensorish:
    """`x` reduced over `dims` by `kind`, converted to `acc` first; dimensions of size one cost nothing."""
    dt = acc or x.dtype
    real = [d for d in dims if x.shape[d] != 1]
    keep = tuple(1 if d in dims else n for d, n in enumerate(x.shape))
    if real:
        store = torch.int64 if kind.startswith("arg") else torch.bool if kind == "any" else out

        def body(k: Kernel, idx: Sequence[Index]) -> Value:
            return k.hold(x.at(k, idx), dt)

        (v,) = low.reduce(x, kind, real, [store], body)
        y: Tensorish = v.view(keep, v.stride)
    elif kind.startswith("arg"):
        y = Lazy(keep, torch.int64, lambda k, idx: k.constant(0, torch.int64), (), 0)
    elif kind == "sum":
        y = _sum_of_one(x, keep, out)
    else:
        y = converted(x, keep, out)  # not x itself: a result must not share memory with an argument
    y = converted(y, keep, out) if y.dtype != out else y
    return y if keepdim else drop(y, dims)


def _sum_of_one(x: Tensorish, shape: Sequence[Int], out: torch.dtype) -> Lazy:
    """Each element of `x` added to nothing: a sum starts from 0.0, so it is never -0.0."""
    y = converted(x, shape, out)
    if not out.is_floating_point:
        return y
    return Lazy(y.shape, out, lambda k, idx: k.op("add", out, y.at(k, idx), k.constant(0.0, out)), (y,), 1)


def drop(y: Tensorish, dims: Sequence[int]) -> Tensorish:
    """`y` without the dimensions `dims`, all of size one."""
    shape = tuple(n for d, n in enumerate(y.shape) if d not in dims)
    if isinstance(y, Buffer):
        return y.view(shape, [s for d, s in enumerate(y.stride) if d not in dims])
    result: Tensorish = reshape(y, shape)
    return result


def _acc(dt: torch.dtype) -> torch.dtype:
    return compute_dtype(dt)


@handles(aten.sum, prims.sum)
def sum_(
    low: Lowering,
    node: Any,
    x: Any,
    dims: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    output_dtype: Any = None,
) -> Any:
    out = node.meta["spec"].dtype
    return reduced(low, x, "sum", normalize_dims(dims, len(x.shape)), keepdim, out, _acc(out))


@handles(aten.prod)
def prod_(low: Lowering, node: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    out = node.meta["spec"].dtype
    if out in HALF:
        return NotImplemented
    return reduced(low, x, "prod", normalize_dims(dim, len(x.shape)), keepdim, out, out)


@handles(aten.amax, aten.amin)
def amax(low: Lowering, node: Any, x: Any, dims: Any = (), keepdim: bool = False) -> Any:
    kind = "max" if node.target.overloadpacket is aten.amax else "min"
    return reduced(low, x, kind, normalize_dims(dims, len(x.shape)), keepdim, x.dtype)


@handles(aten.max.default, aten.min.default)
def max_all(low: Lowering, node: Any, x: Any) -> Any:
    kind = "max" if node.target is aten.max.default else "min"
    return reduced(low, x, kind, normalize_dims(None, len(x.shape)), False, x.dtype)


@handles(aten.max.dim, aten.min.dim)
def max_dim(low: Lowering, node: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
    kind = "max" if node.target is aten.max.dim else "min"
    dims = normalize_dims(dim, len(x.shape))
    return (
        reduced(low, x, kind, dims, keepdim, x.dtype),
        reduced(low, x, "arg" + kind, dims, keepdim, torch.int64),
    )


@handles(aten.any, aten.all)
def any_(low: Lowering, node: Any, x: Any, dims: Any = None, keepdim: bool = False) -> Any:
    every = node.target.overloadpacket is aten.all
    ds, out = normalize_dims(dims, len(x.shape)), node.meta["spec"].dtype
    flag = Lazy(
        x.shape,
        torch.bool,
        lambda k, idx: (
            k.op("logical_not", torch.bool, k.cast(x.at(k, idx), torch.bool))
            if every
            else k.cast(x.at(k, idx), torch.bool)
        ),
        (x,),
        1,
    )
    y = reduced(low, flag, "any", ds, keepdim, torch.bool)
    return Lazy(
        y.shape,
        out,
        lambda k, idx: k.cast(k.op("logical_not", torch.bool, y.at(k, idx)) if every else y.at(k, idx), out),
        (y,),
        1,
    )


@handles(aten.argmax, aten.argmin)
def argmax(low: Lowering, node: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    kind = "argmax" if node.target.overloadpacket is aten.argmax else "argmin"
    return reduced(low, x, kind, normalize_dims(dim, len(x.shape)), keepdim, torch.int64)


@handles(aten.mean)
def mean(low: Lowering, node: Any, x: Any, dims: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    out = node.meta["spec"].dtype
    ds = normalize_dims(dims, len(x.shape))
    n = prod([x.shape[d] for d in ds])
    s = reduced(low, x, "sum", ds, keepdim, _acc(out), _acc(out))

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        acc = _acc(out)
        return k.cast(k.op("div", acc, s.at(k, idx), k.constant(n, acc)), out)

    return Lazy(s.shape, out, fn, (s,), 1)


@handles(aten.linalg_vector_norm)
def vector_norm(
    low: Lowering,
    node: Any,
    x: Any,
    ord: float = 2,
    dims: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Any:
    out = node.meta["spec"].dtype
    if ord not in (1, 2) or not out.is_floating_point or not x.dtype.is_floating_point:
        return NotImplemented
    acc = _acc(out)
    ds = normalize_dims(dims, len(x.shape))

    def term(k: Kernel, idx: Sequence[Index]) -> Value:
        v = k.hold(k.cast(x.at(k, idx), out) if dtype is not None else x.at(k, idx), acc)
        return k.op("mul", acc, v, v) if ord == 2 else k.op("abs", acc, v)

    s = reduced(low, Lazy(x.shape, acc, term, (x,), 1), "sum", ds, keepdim, acc, acc)

    def root(k: Kernel, idx: Sequence[Index]) -> Value:
        v = s.at(k, idx)
        return k.cast(k.op("sqrt", acc, v) if ord == 2 else v, out)

    return Lazy(s.shape, out, root, (s,), 2)


def mean_m2(low: Lowering, x: Tensorish, dims: Sequence[int]) -> tuple[Tensorish, Tensorish]:
    """Mean and sum of squared deviations over `dims`, in the compute type, dimensions kept."""
    acc = _acc(x.dtype)
    real = [d for d in dims if x.shape[d] != 1]
    if not real:
        return converted(x, x.shape, acc), Lazy(
            x.shape,
            acc,
            lambda k, idx: k.op("sub", acc, k.hold(x.at(k, idx), acc), k.hold(x.at(k, idx), acc)),
            (x,),
            1,
        )
    m, s = low.reduce(x, "welford", real, [acc, acc], lambda k, idx: k.hold(x.at(k, idx), acc))
    return m, s


@handles(aten.var, aten.var_mean)
def var(low: Lowering, node: Any, x: Any, dims: Any = None, *args: Any, **kw: Any) -> Any:
    if "correction" not in str(node.target):
        return NotImplemented
    keepdim = kw.get("keepdim", False)
    c = kw.get("correction", 1)
    c = 1 if c is None else c
    ds = normalize_dims(dims, len(x.shape))
    n = prod([x.shape[d] for d in ds])
    if isinstance(n, Size) and not isinstance(c, int):
        return NotImplemented
    m, s = mean_m2(low, x, ds)
    acc, out = _acc(x.dtype), x.dtype
    freedom = n - c
    if not freedom > 0:
        freedom = 0

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        return k.cast(k.op("div", acc, s.at(k, idx), k.constant(freedom, acc)), out)

    v: Tensorish = Lazy(s.shape, out, fn, (s,), 1)
    mean_: Tensorish = converted(m, m.shape, out) if out != acc else m
    if not keepdim:
        v, mean_ = drop(v, ds), drop(mean_, ds)
    return (v, mean_) if node.target.overloadpacket is aten.var_mean else v


# ---------------------------------------------------------------------- softmax
@handles(SOFTMAX_STATS)
def softmax_stats(low: Lowering, node: Any, x: Any, dim: int) -> Any:
    acc = node.meta["spec"][0].dtype
    d = dim % len(x.shape)
    if x.shape[d] == 1:

        def one(k: Kernel, idx: Sequence[Index]) -> Value:
            v = k.hold(x.at(k, idx), acc)
            return k.op("exp", acc, k.op("sub", acc, v, v))

        return converted(x, x.shape, acc), Lazy(x.shape, acc, one, (x,), 2)
    top, total = low.reduce(x, "softmax", [d], [acc, acc], lambda k, idx: k.hold(x.at(k, idx), acc))
    return top, total


# ---------------------------------------------------------------------- scans
@handles(aten.cumsum, aten.cumprod)
def cumsum(low: Lowering, node: Any, x: Any, dim: int, *, dtype: Any = None) -> Any:
    out = node.meta["spec"].dtype
    kind = "scan_sum" if node.target.overloadpacket is aten.cumsum else "scan_prod"
    if not x.shape or x.shape[dim % len(x.shape)] == 1:
        of_one = _sum_of_one if kind == "scan_sum" and x.shape else converted  # eager copies what has no dimensions
        return of_one(x, x.shape, out)
    if out in HALF and kind == "scan_prod":
        return NotImplemented
    d = dim % len(x.shape)
    acc = torch.float64 if out is torch.float32 and low.device.type == "cpu" else _acc(out)
    b = low.buffer(x.shape, out)
    order = memory_order(b.stride, b.shape)
    low.ops.append(
        Loop(
            (b,),
            x.shape,
            lambda k, idx: k.hold(x.at(k, idx), acc),
            x.reads,
            rdims=(d,),
            kind=kind,
            order=order,
        )
    )
    return b
