"""What lowering knows of a graph value: its shape, strides and dtype, with sizes of this project's own.

Traced values carry torch's symbolic integers.  They are turned into :class:`Spec` once, before lowering, and stand in
``node.meta["spec"]``; no handler sees a torch.SymInt, so none can add a guard to torch's shape environment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.symbols import Int, Scope, Size, extreme, hint, same


class Unknown(Exception):
    """An expression of sizes that has no counterpart here."""


@dataclasses.dataclass(slots=True)
class Spec:
    """A strided tensor without data."""

    shape: tuple[Any, ...]
    stride: tuple[Any, ...]
    dtype: torch.dtype
    device: torch.device
    offset: Any = 0

    @property
    def empty(self) -> bool:
        """True if it has no elements."""
        return 0 in self.shape


def is_dense(shape: Sequence[Int], stride: Sequence[Int]) -> bool:
    """True if the elements are proven to fill their span of memory without gaps or overlap."""
    if 0 in shape:
        return True
    step: Int = 1
    for n, s in sorted(zip(shape, stride, strict=True), key=lambda p: (hint(p[1]), hint(p[0]))):
        if same(n, 1):
            continue
        if not same(s, step):
            return False
        step = step * n
    return True


def describe(gm: torch.fx.GraphModule, convert: Convert) -> None:
    """Give every node of the graph its spec."""
    for node in gm.graph.nodes:
        node.meta["spec"] = convert.value(node.meta.get("val"))


class Convert:
    """From torch's values to specs; `scope` says what each symbol is."""

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope
        self.memo: dict[Any, Int] = {}

    def value(self, v: Any) -> Any:
        """A spec for a strided tensor, a size for a symbolic integer, both inside tuples; anything else as it is."""
        if isinstance(v, torch.Tensor):
            if v.layout is not torch.strided or v.is_quantized:
                return v
            shape = v.shape
            stride = v.stride()
            offset = v.storage_offset()
            if self.scope is not None:
                shape, stride, offset = self._all(shape), self._all(stride), self.size(offset)
            return Spec(tuple(shape), tuple(stride), v.dtype, v.device, offset)
        if isinstance(v, torch.SymInt):
            return self.size(v)
        if isinstance(v, (tuple, list)):
            return tuple(self.value(x) for x in v)
        return v

    def _all(self, sizes: Sequence[Any]) -> tuple[Int, ...]:
        return tuple(map(self.size, sizes))

    def size(self, v: Any) -> Int:
        """A number or a torch.SymInt as a size."""
        return v if type(v) is int else self.expression(private.expression_of(v))

    def expression(self, e: Any) -> Int:
        """A sympy expression as a size; raises Unknown where it is none."""
        done = self.memo.get(e)
        if done is None:
            done = self.memo[e] = self._expression(e)
        return done

    def _expression(self, e: Any) -> Int:
        assert self.scope is not None
        if e.is_Integer:
            return int(e)
        if e.is_Symbol:
            if e.name not in self.scope.values and e.name not in self.scope.fixed:
                raise Unknown(f"the size {e} depends on data")
            return self.scope.symbol(e.name)
        kind = type(e).__name__
        args = [self.expression(a) for a in e.args]
        if kind == "Add":
            total: Int = 0
            for a in args:
                total = total + a
            return total
        if kind in ("Mul", "Pow", "PowByNatural"):
            product: Int = 1
            if kind != "Mul":
                power = args[1]
                if not isinstance(power, int) or not 0 <= power <= 8:
                    raise Unknown(f"the size {e}")
                args = [args[0]] * power
            for a in args:
                product = product * a
            return product
        if kind in ("FloorDiv", "CleanDiv"):
            return args[0] // args[1]
        if kind in ("Mod", "PythonMod"):
            return args[0] % args[1]
        if kind == "ModularIndexing":
            return args[0] // args[1] % args[2]
        if kind in ("Max", "Min"):
            return extreme(self.scope, kind.lower(), args)
        if kind == "Identity":
            return args[0]
        raise Unknown(f"the size {e}")


def free_symbols(v: Any) -> Mapping[str, int | None]:
    """Names of the symbols in the sizes of `v`, with torch's hints (None: the size depends on data)."""
    found: dict[str, int | None] = {}
    sizes: list[Any] = []
    if isinstance(v, torch.Tensor) and v.layout is torch.strided:
        sizes = [*v.shape, *v.stride(), v.storage_offset()]
    elif isinstance(v, torch.SymInt):
        sizes = [v]
    elif isinstance(v, (tuple, list)):
        for x in v:
            found |= free_symbols(x)
    for s in sizes:
        if isinstance(s, torch.SymInt):
            found |= private.symbols_of(s)
    return found


def is_size(v: Any) -> bool:
    """True for an integer, known or not."""
    return isinstance(v, (int, Size)) and not isinstance(v, bool)
