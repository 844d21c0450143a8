"""Calls that eager refuses: numbers beyond the range of a dtype, dtypes for which there is no kernel.

Shapes and dtypes alone do not tell: decompositions and kernels of ours would compute something. Such an operator stays
whole and runs as eager runs it, which raises.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

aten = torch.ops.aten
Look = tuple[torch.dtype, int]  # of a tensor: its dtype and how many dimensions it has

# operators that compute with a number as it is, or convert it as a cast does; and those that do so for integers, which wrap
_FREE = frozenset((aten.mul, aten.div, aten.true_divide))
_WRAP = frozenset(
    (
        *(aten.add, aten.sub, aten.rsub, aten.floor_divide, aten.remainder, aten.fmod, aten.pow),
        *(aten.bitwise_and, aten.bitwise_or, aten.bitwise_xor, aten.eq, aten.ne, aten.lt, aten.le, aten.gt, aten.ge),
        *(aten.maximum, aten.minimum, aten.where),
    )
)
# beside the elementwise ones, operators of which a single element tells for which dtypes they have kernels
_TOLD = frozenset(
    (
        *(aten.argmax, aten.argmin, aten.var, aten.var_mean, aten.std, aten.std_mean, aten.mean, aten.logsumexp),
        *(aten._softmax, aten._log_softmax, aten.mse_loss, aten.smooth_l1_loss, aten.huber_loss),
        *(
            aten.binary_cross_entropy,
            aten.soft_margin_loss,
            aten.logaddexp,
            aten.logaddexp2,
            aten.lerp,
            aten.hardswish,
            aten.log_sigmoid_forward,
            aten.glu,
        ),
    )
)
_NUMBER = ("number", "Optional[number]", "float", "Optional[float]")


def refused(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    tensors: Mapping[int | str, Look],
    made: Iterable[torch.dtype] = (),
) -> bool:
    """True if eager raises at these arguments whatever the elements are.

    `tensors`: the arguments that are tensors, by position or name; `made`: dtypes of results.
    """
    if not isinstance(op, torch._ops.OpOverload):
        return False
    dtypes = {dtype for dtype, _ in tensors.values()}
    if takes_numbers(op) and _number_too_large(op, args, kwargs, dtypes | set(made)):
        return True
    plain = len(dtypes) == 1 and all(dt.is_floating_point for dt in dtypes)
    if not dtypes or (plain and not any(type(v) is bool for v in (*args, *kwargs.values()))):
        return False
    if torch.Tag.pointwise not in op.tags and op.overloadpacket not in _TOLD:
        return False
    given = [tensors.get(i, v) for i, v in enumerate(args)]
    named = [(name, tensors.get(name, v)) for name, v in kwargs.items()]
    try:
        key = (op, tuple(map(_typed, given)), tuple((name, *_typed(v)) for name, v in named))
        return _kernel_refuses(key, torch.get_default_dtype())
    except TypeError:  # lists and other values that cannot be looked up: nothing is known
        return False


def _typed(value: Any) -> tuple[type, Any]:
    return (type(value), value)


@functools.lru_cache(4096)
def _kernel_refuses(key: tuple[Any, ...], default: torch.dtype) -> bool:
    op, args, kwargs = key
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
        try:
            op(*(_one(v) for _, v in args), **{name: _one(v) for name, _, v in kwargs})
        except (RuntimeError, NotImplementedError, IndexError):
            return True
    return False


def _one(value: Any) -> Any:
    """A tensor of ones that looks so, on the host; any other value as it is."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], torch.dtype):
        return torch.ones((1,) * value[1], dtype=value[0], device="cpu")
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _number_too_large(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dtypes: Iterable[torch.dtype]) -> bool:
    if op.overloadpacket in _FREE:
        return False
    at, names = _scalars(op)
    numbers = [args[i] for i in at if i < len(args)] + [v for name, v in kwargs.items() if name in names]
    numbers = [v for v in numbers if type(v) in (int, float)]
    return bool(numbers) and any(
        not fits(v, dt) for dt in dtypes if dt.is_floating_point or op.overloadpacket not in _WRAP for v in numbers
    )


def takes_numbers(op: Any) -> bool:
    """True if some argument of `op` is a number."""
    return isinstance(op, torch._ops.OpOverload) and bool(_scalars(op)[0])


@functools.cache
def _scalars(op: Any) -> tuple[list[int], set[str]]:
    """Positions and names of the arguments of `op` that are numbers beside tensors, not sizes or dimensions."""
    found = [i for i, a in enumerate(op._schema.arguments) if str(a.type) in _NUMBER]
    return found, {op._schema.arguments[i].name for i in found}


def fits(number: Any, dtype: torch.dtype) -> bool:
    """True if eager writes `number` into a tensor of `dtype`."""
    return dtype.is_complex or _fits(type(number).__name__, number, dtype)


@functools.lru_cache(4096)
def _fits(kind: str, number: float, dtype: torch.dtype) -> bool:
    """The same, where `kind` keeps 1 and 1.0 apart."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        try:
            torch.empty(2, dtype=dtype, device="cpu").fill_(number)  # a single element is not checked
        except RuntimeError:
            return False
    return True
