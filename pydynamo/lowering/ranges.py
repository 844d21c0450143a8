"""Numbers beyond the range of the dtype that they meet.

Eager's kernels convert a number to the dtype they compute in, and raise where it does not fit; an operator with such a
number stays whole and runs as eager runs it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

aten = torch.ops.aten

# operators that compute with a number as it is, or convert it as a cast does: true of all for integers, which wrap
_FREE = frozenset((aten.mul, aten.div, aten.true_divide))
_WRAP = frozenset(
    (
        *(aten.add, aten.sub, aten.rsub, aten.floor_divide, aten.remainder, aten.fmod, aten.pow),
        *(aten.bitwise_and, aten.bitwise_or, aten.bitwise_xor, aten.eq, aten.ne, aten.lt, aten.le, aten.gt, aten.ge),
        *(aten.maximum, aten.minimum, aten.where),
    )
)


def number_too_large(
    op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dtypes: Iterable[torch.dtype | None]
) -> bool:
    """True if a number among the arguments of `op` does not fit one of `dtypes`, those of its tensors."""
    if not isinstance(op, torch._ops.OpOverload) or op.overloadpacket in _FREE:
        return False
    at, names = _scalars(op)
    numbers = [args[i] for i in at if i < len(args)] + [v for name, v in kwargs.items() if name in names]
    numbers = [v for v in numbers if type(v) in (int, float)]
    return bool(numbers) and any(
        not fits(v, dt)
        for dt in set(dtypes)
        if dt is not None and (dt.is_floating_point or op.overloadpacket not in _WRAP)
        for v in numbers
    )


NUMBER = ("number", "Optional[number]", "float", "Optional[float]")


def takes_numbers(op: Any) -> bool:
    """True if some argument of `op` is such a number."""
    return isinstance(op, torch._ops.OpOverload) and bool(_scalars(op)[0])


@functools.cache
def _scalars(op: Any) -> tuple[list[int], set[str]]:
    """Positions and names of the arguments of `op` that are numbers beside tensors, not sizes or dimensions."""
    found = [i for i, a in enumerate(op._schema.arguments) if str(a.type) in NUMBER]
    return found, {op._schema.arguments[i].name for i in found}


def fits(number: Any, dtype: torch.dtype) -> bool:
    """True if eager writes `number` into a tensor of `dtype`."""
    return dtype.is_complex or _fits(type(number).__name__, number, dtype)


@functools.lru_cache(4096)
def _fits(kind: str, number: Any, dtype: torch.dtype) -> bool:
    """The same, where `kind` keeps 1 and 1.0 apart."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        try:
            torch.empty(2, dtype=dtype, device="cpu").fill_(number)  # a single element is not checked
        except RuntimeError:
            return False
    return True
