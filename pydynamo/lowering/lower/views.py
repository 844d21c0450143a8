"""Views: strided windows on memory where possible, else index arithmetic; nothing is copied here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydynamo.lowering.index import ZERO, Index, const, view_index, view_strides
from pydynamo.lowering.ir import Buffer, Lazy
from pydynamo.lowering.lower.core import Lowering, aten, broadcast, handles, prims
from pydynamo.lowering.spec import is_size
from pydynamo.lowering.symbols import Int, alike, same

Move = Callable[[Sequence[Index]], Sequence[Index]]


def moved(x: Any, shape: Sequence[Int], move: Move) -> Lazy:
    """A Lazy that reads `x` at a moved index."""
    return Lazy(shape, x.dtype, lambda k, idx: x.at(k, move(idx)), (x,), 0)


@handles(aten.view.default, aten._unsafe_view, aten.reshape, aten.unsqueeze, aten.squeeze, aten.flatten)
def view(low: Lowering, node: Any, x: Any, *rest: Any) -> Any:
    return reshape(x, tuple(node.meta["spec"].shape))


def reshape(x: Any, new: tuple[Int, ...]) -> Any:
    """`x` with another shape of as many elements."""
    old = x.shape
    if isinstance(x, Buffer) and alike(new, old):
        return x
    if isinstance(x, Buffer):
        stride = view_strides(old, x.stride, new)
        if stride is not None:
            return x.view(new, stride)
    return moved(x, new, lambda idx: view_index(idx, new, old))


@handles(aten.alias, aten.detach, aten.lift, aten.contiguous)
def alias(low: Lowering, node: Any, x: Any, *rest: Any, **kw: Any) -> Any:
    return x if not kw else NotImplemented


@handles(aten.permute, aten.t, aten.transpose.int, prims.transpose)
def permute(low: Lowering, node: Any, x: Any, *args: Any) -> Any:
    n = len(x.shape)
    if node.target is aten.t.default:
        dims = list(range(n))[::-1]
    elif node.target is aten.transpose.int:
        dims = list(range(n))
        if n:
            a, b = args[0] % n, args[1] % n
            dims[a], dims[b] = dims[b], dims[a]
    else:
        dims = [d % n for d in args[0]]
    shape = [x.shape[d] for d in dims]
    if isinstance(x, Buffer):
        return x.view(shape, [x.stride[d] for d in dims])
    back = [dims.index(d) for d in range(n)]
    return moved(x, shape, lambda idx: [idx[b] for b in back])


@handles(aten.expand, aten.broadcast_to, prims.broadcast_in_dim)
def expand(low: Lowering, node: Any, x: Any, *args: Any, **kw: Any) -> Any:
    shape = tuple(node.meta["spec"].shape)
    if node.target is prims.broadcast_in_dim.default:
        return NotImplemented
    off = len(shape) - len(x.shape)
    if isinstance(x, Lazy):
        x = low.before_broadcast(x, shape)
    if isinstance(x, Buffer):
        stride = [0] * off + [
            0 if n == 1 and shape[off + j] != 1 else s for j, (n, s) in enumerate(zip(x.shape, x.stride, strict=True))
        ]
        return x.view(shape, stride)
    return moved(x, shape, lambda idx: broadcast(idx, shape, x.shape))


def clamp_slice(start: Int | None, n: Int) -> Int:
    """Where a slice from `start` begins in a dimension of `n`."""
    s: Int = 0 if start is None else start
    if s < 0:
        s = s + n
    return 0 if s < 0 else n if s > n else s


def position(index: Int, n: Int) -> Int:
    """An index in a dimension of `n`, counted from its start."""
    return index + n if index < 0 else index


@handles(aten.slice.Tensor)
def slice_(low: Lowering, node: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return sliced(x, dim % len(x.shape), clamp_slice(start, x.shape[dim]), node.meta["spec"].shape[dim], step)


def sliced(x: Any, dim: int, start: Int, count: Int, step: int = 1) -> Any:
    """`count` positions of `x` along `dim`, from `start` by `step`."""
    shape = [count if i == dim else n for i, n in enumerate(x.shape)]
    if isinstance(x, Buffer):
        stride = [s * step if i == dim else s for i, s in enumerate(x.stride)]
        return x.view(shape, stride, x.offset + start * x.stride[dim])
    return moved(x, shape, lambda idx: [e * step + start if i == dim else e for i, e in enumerate(idx)])


@handles(aten.select.int)
def select(low: Lowering, node: Any, x: Any, dim: int, index: Any) -> Any:
    if not is_size(index):
        return NotImplemented
    return selected(x, dim % len(x.shape), position(index, x.shape[dim]))


def selected(x: Any, dim: int, j: Int) -> Any:
    shape = [n for i, n in enumerate(x.shape) if i != dim]
    if isinstance(x, Buffer):
        return x.view(shape, [s for i, s in enumerate(x.stride) if i != dim], x.offset + j * x.stride[dim])
    return moved(x, shape, lambda idx: [*idx[:dim], const(j), *idx[dim:]])


@handles(aten.flip, prims.rev)
def flip(low: Lowering, node: Any, x: Any, dims: Sequence[int]) -> Any:
    ds = {d % len(x.shape) for d in dims} if x.shape else set()
    return moved(x, x.shape, lambda idx: [e * -1 + (x.shape[i] - 1) if i in ds else e for i, e in enumerate(idx)])


@handles(aten.split_with_sizes, aten.split.Tensor, aten.chunk)
def split(low: Lowering, node: Any, x: Any, sizes: Any, dim: int = 0) -> Any:
    d, out = dim % len(x.shape), []
    at: Int = 0
    for v in node.meta["spec"]:
        out.append(sliced(x, d, at, v.shape[d]))
        at = at + v.shape[d]
    return tuple(out)


@handles(aten.unbind.int)
def unbind(low: Lowering, node: Any, x: Any, dim: int = 0) -> Any:
    d = dim % len(x.shape)
    return tuple(selected(x, d, j) for j in range(x.shape[d]))


@handles(aten.diagonal)
def diagonal(low: Lowering, node: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    n = len(x.shape)
    a, b = dim1 % n, dim2 % n
    shape = tuple(node.meta["spec"].shape)
    rest = [i for i in range(n) if i not in (a, b)]
    da, db = max(0, -offset), max(0, offset)
    if isinstance(x, Buffer):
        stride = [x.stride[i] for i in rest] + [x.stride[a] + x.stride[b]]
        return x.view(shape, stride, x.offset + da * x.stride[a] + db * x.stride[b])

    def move(idx: Sequence[Index]) -> Sequence[Index]:
        out: list[Index] = [ZERO] * n
        for i, e in zip(rest, idx[:-1], strict=True):
            out[i] = e
        out[a], out[b] = idx[-1] + da, idx[-1] + db
        return out

    return moved(x, shape, move)


@handles(aten.as_strided)
def as_strided(
    low: Lowering, node: Any, x: Any, size: Sequence[Int], stride: Sequence[Int], offset: Int | None = None
) -> Any:
    src = node.args[0].meta["spec"]
    b = low.env[node.args[0]] = low.realize(x, src)
    base = src.offset
    root = low.roots[b.name]
    if any(n > 1 and p != q for n, p, q in zip(src.shape, b.stride, src.stride, strict=True)):
        return NotImplemented
    if b.name not in low.inputs and not (same(b.offset, 0) and alike(root.shape, b.shape)):
        if b.offset != base:
            return NotImplemented
        return b.view(size, stride, base if offset is None else offset)
    return b.view(size, stride, b.offset + (0 if offset is None else offset - base))


@handles(aten.repeat)
def repeat(low: Lowering, node: Any, x: Any, repeats: Sequence[int]) -> Any:
    shape = tuple(node.meta["spec"].shape)
    off = len(shape) - len(x.shape)
    return moved(x, shape, lambda idx: [idx[off + j] % n for j, n in enumerate(x.shape)])


@handles(aten.roll)
def roll(low: Lowering, node: Any, x: Any, shifts: Any, dims: Any = ()) -> Any:
    if not dims:
        return NotImplemented
    shifts = shifts if isinstance(shifts, (list, tuple)) else [shifts]
    dims = [dims] if isinstance(dims, int) else dims
    move: dict[int, int] = {}
    for s, d in zip(shifts, dims, strict=True):
        move[d % len(x.shape)] = move.get(d % len(x.shape), 0) + s
    return moved(
        x,
        x.shape,
        lambda idx: [(e + (-move[i] % x.shape[i])) % x.shape[i] if move.get(i) else e for i, e in enumerate(idx)],
    )


@handles(aten.unfold)
def unfold(low: Lowering, node: Any, x: Any, dim: int, size: int, step: int) -> Any:
    if not x.shape:
        return NotImplemented
    d, shape = dim % len(x.shape), tuple(node.meta["spec"].shape)
    if isinstance(x, Buffer):
        stride = [s * step if i == d else s for i, s in enumerate(x.stride)]
        return x.view(shape, [*stride, x.stride[d]])
    return moved(x, shape, lambda idx: [e * step + idx[-1] if i == d else e for i, e in enumerate(idx[:-1])])
