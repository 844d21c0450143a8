"""The whole intermediate form of lowering: four small classes.

A graph value is a :class:`Buffer` (memory), a :class:`Lazy` (an index function without memory of its own),
or a Python constant.  What runs is a list of :class:`Loop` and :class:`Extern` in program order.
Addresses are :class:`pydynamo.lowering.index.Index`.  Shapes and strides count elements; they are ints, or a
:class:`pydynamo.lowering.symbols.Size` where they are known at run time only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.index import Index, flatten
from pydynamo.lowering.symbols import Int, same

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value

IndexFn = Callable[["Kernel", Sequence[Index]], "Value"]
NO_READS: frozenset[str] = frozenset()


class Buffer:
    """A strided window on the storage called `name`; `offset` is relative to the tensor bound to that
    name."""

    __slots__ = ("device", "dtype", "name", "offset", "shape", "stride")
    cost = 0
    dear = False

    def __init__(
        self,
        name: str,
        shape: Sequence[Int],
        stride: Sequence[Int],
        dtype: torch.dtype,
        device: torch.device,
        offset: Int = 0,
    ) -> None:
        self.name, self.dtype, self.device, self.offset = name, dtype, device, offset
        self.shape, self.stride = tuple(shape), tuple(stride)

    @property
    def reads(self) -> frozenset[str]:
        return frozenset((self.name,))

    def view(self, shape: Sequence[Int], stride: Sequence[Int], offset: Int | None = None) -> Buffer:
        """Another window on the same storage."""
        return Buffer(self.name, shape, stride, self.dtype, self.device, self.offset if offset is None else offset)

    def at(self, k: Kernel, idx: Sequence[Index]) -> Value:
        return k.load(self, flatten(idx, self.stride, self.offset))

    def __repr__(self) -> str:
        off = "" if same(self.offset, 0) else f" + {self.offset!r}"
        return f"{self.name}{off}: {short(self.dtype)}{list(self.shape)} by {list(self.stride)}"


class Opaque:
    """A graph value that is no strided tensor (a number known at run time, an object); only externs take
    it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class OpaqueOut(Buffer):
    """An extern's result that no kernel can read: its layout is not checked."""

    __slots__ = ()


class Lazy:
    """A tensor as a function from an index to a value; `cost` counts operations, `reads` names storages.

    `dear`: it takes a division, a root or the like, which one does not want to do once for each element that it is
    broadcast to.  `narrow`: the half-precision value of which this is the float32 form, and which takes half the memory.
    """

    __slots__ = ("cost", "dear", "dtype", "fn", "narrow", "node", "reads", "shape")

    def __init__(
        self,
        shape: Sequence[Int],
        dtype: torch.dtype,
        fn: IndexFn,
        inputs: Sequence[Any] = (),
        cost: int = 1,
        dear: bool = False,
    ) -> None:
        self.shape, self.dtype, self.fn = tuple(shape), dtype, fn
        self.cost, self.reads, self.dear = cost, NO_READS, dear
        for v in inputs:
            if isinstance(v, (Lazy, Buffer)):
                self.cost += v.cost
                self.reads = self.reads | v.reads
                self.dear = self.dear or v.dear
        self.node: Any = None  # the graph node it came from, for provenance
        self.narrow: Lazy | None = None

    def at(self, k: Kernel, idx: Sequence[Index]) -> Value:
        return k.evaluate(self, idx)

    def __repr__(self) -> str:
        return f"lazy {short(self.dtype)}{list(self.shape)} cost {self.cost} of {sorted(self.reads)}"


Tensorish = Buffer | Lazy
REDUCTIONS = ("sum", "prod", "max", "min", "any", "argmax", "argmin", "welford", "softmax")


class Loop:
    """One loop nest over `shape` that stores into `outs`.

    `kind` is None (pointwise), one of REDUCTIONS over the dimensions `rdims`, "scan_sum"/"scan_prod" along
    `rdims`, "scatter" (store, or atomic addition, at an address that the body computes), or "columns": sums along
    the columns of `chunk` rows each, in a kernel that has the rows of `rdims` in registers.
    `split` tells what a sum was cut from, so that it can be cut in another way.
    `order` lists the dimensions from the slowest to the fastest, as memory likes it.
    """

    __slots__ = (
        "atomic",
        "body",
        "chunk",
        "kind",
        "mutates",
        "node",
        "order",
        "out_index",
        "outs",
        "rdims",
        "reads",
        "shape",
        "split",
    )

    def __init__(
        self,
        outs: Sequence[Buffer],
        shape: Sequence[Int],
        body: Callable[..., Any],
        reads: frozenset[str],
        *,
        rdims: Sequence[int] = (),
        kind: str | None = None,
        order: Sequence[int] | None = None,
        node: Any = None,
        mutates: bool = False,
        out_index: Callable[..., Index] | None = None,
        atomic: bool = False,
        chunk: int = 0,
    ) -> None:
        self.outs, self.shape, self.rdims, self.kind = tuple(outs), tuple(shape), tuple(rdims), kind
        self.order = tuple(order) if order is not None else tuple(range(len(self.shape)))
        self.body, self.reads, self.node, self.mutates = body, reads, node, mutates
        self.out_index, self.atomic, self.chunk = out_index, atomic, chunk
        self.split: Split | None = None

    @property
    def x(self) -> Int:
        """Number of kept positions."""
        return math.prod(n for i, n in enumerate(self.shape) if i not in self.rdims)

    @property
    def r(self) -> Int:
        """Number of reduced positions for each kept one."""
        return math.prod(self.shape[i] for i in self.rdims)

    @property
    def writes(self) -> frozenset[str]:
        return frozenset(b.name for b in self.outs)

    def __repr__(self) -> str:
        what = f"{self.kind} over {list(self.rdims)}" if self.kind else "pointwise"
        return f"loop {list(self.shape)} {what} -> {', '.join(map(repr, self.outs))} reads {sorted(self.reads)}"


class Split:
    """A sum over `dims` of `shape` that was cut into partial sums, which the loop `fold` adds up."""

    __slots__ = ("body", "dims", "fold", "shape")

    def __init__(self, shape: Sequence[Int], dims: Sequence[int], body: Callable[..., Any], fold: Loop) -> None:
        self.shape, self.dims, self.body, self.fold = tuple(shape), tuple(dims), body, fold


class Extern:
    """A call of an ATen (or any other) operator on real tensors."""

    __slots__ = ("args", "kwargs", "mutates", "node", "outs", "reads", "reason", "single", "target")

    def __init__(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outs: Sequence[Buffer | None],
        reads: frozenset[str],
        *,
        node: Any = None,
        mutates: frozenset[str] = NO_READS,
        single: bool = True,
        reason: str = "",
    ) -> None:
        self.target, self.args, self.kwargs, self.outs = target, args, kwargs, tuple(outs)
        self.reads, self.node, self.mutates, self.single, self.reason = reads, node, mutates, single, reason

    @property
    def writes(self) -> frozenset[str]:
        return frozenset(b.name for b in self.outs if b is not None) | self.mutates

    def __repr__(self) -> str:
        return f"extern {self.target} -> {', '.join(map(repr, self.outs))} reads {sorted(self.reads)}"


Op = Loop | Extern


def short(dtype: torch.dtype) -> str:
    """``f32`` for torch.float32 and so on, for printing."""
    s = str(dtype).removeprefix("torch.")
    return {"bool": "b1", "bfloat16": "bf16"}.get(s, s.replace("float", "f").replace("uint", "u").replace("int", "i"))
