"""Operators whose results torch's fake tensors describe wrongly, and what is done about them.

A program may look at the shape and the strides of what it computes, and a translation builds on what it sees: a fake that
is wrong makes a wrong answer. Found by comparing fake with real for all of torch's sample inputs (2.11 and 2.15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from pydynamo.lowering.layouts import roll_strides

aten = torch.ops.aten

#: the strides of their results are the kernel's own choice, but their meta kernels say "contiguous"
_LAID_OUT_BY_KERNEL = frozenset(
    (
        *(aten._fft_r2c.default, aten._fft_c2r.default, aten._fft_c2c.default, aten.max_unpool2d.default),
        *(aten.native_batch_norm.default, aten._native_batch_norm_legit.default),
        *(aten._native_batch_norm_legit.no_stats, aten._native_batch_norm_legit_functional.default),
        *(aten._native_batch_norm_legit_no_training.default, aten._batch_norm_with_update_functional.default),
        *(aten._batch_norm_with_update.default, aten._batch_norm_no_update.default),
    )
)
#: beyond so many elements no kernel is asked
_ASKED = 1 << 20
_REMEMBERED = 1024


def call(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """What to propagate in place of the operator ``func`` on its arguments, with the same result."""
    if func is aten.floor_divide.default or (func is aten.div.Tensor_mode and kwargs.get("rounding_mode") == "floor"):
        overload = "Tensor" if isinstance(args[1], torch.Tensor) else "Scalar"
        return getattr(aten.remainder, overload), args, {}  # which does not forget strides
    if func is aten.linalg_vector_norm.default and len(args) > 2 and isinstance(args[2], (list, tuple)):
        # before torch 2.15 dimensions of size one that are counted from the end stay in the fake result
        x, order, dims, *rest = args
        return func, (x, order, [dim + x.dim() if -x.dim() <= dim < 0 else dim for dim in dims], *rest), kwargs
    return func, args, kwargs


def result(mode: FakeTensorMode, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], fake: Any) -> Any:
    """``fake``, or one that is laid out as the operator's kernel does it."""
    if func is aten.roll.default:
        return _rolled(mode, fake, *args, **kwargs)
    if func not in _LAID_OUT_BY_KERNEL:
        return fake
    first, *others = fake if isinstance(fake, (list, tuple)) else (fake,)
    if type(first) is not FakeTensor or first.fake_device.type != "cpu":
        return fake
    tensors = [first, *(arg for arg in args if isinstance(arg, torch.Tensor))]
    if any(t._has_symbolic_sizes_strides or t.numel() > _ASKED for t in tensors):
        return fake
    strides = _kernels_strides(func, args, kwargs)
    made = _with_strides(mode, first, strides)
    return made if not isinstance(fake, (list, tuple)) else (made, *others)


def _with_strides(mode: FakeTensorMode, fake: FakeTensor, strides: tuple[int, ...]) -> FakeTensor:
    if strides == fake.stride():
        return fake
    look = torch.empty_strided(fake.shape, strides, dtype=fake.dtype, device="meta")
    return FakeTensor(mode, look, fake.fake_device)


def _rolled(mode: FakeTensorMode, fake: Any, x: Any, shifts: Sequence[int], dims: Sequence[int] = ()) -> Any:
    """``fake``, laid out as the host's kernel does it; raises where only the kernel does."""
    if type(fake) is not FakeTensor or fake.fake_device.type != "cpu" or x._has_symbolic_sizes_strides:
        return fake
    return _with_strides(mode, fake, roll_strides(x.shape, x.stride(), shifts, dims))


_strides: dict[Any, tuple[int, ...]] = {}


def _kernels_strides(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    key = (func, str([_look(arg) for arg in args]), str(kwargs))
    if key not in _strides:
        if len(_strides) >= _REMEMBERED:
            _strides.clear()
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            made = func(*map(_zeros, args), **kwargs)
            _strides[key] = (made[0] if isinstance(made, tuple) else made).stride()
    return _strides[key]


def _look(value: Any) -> Any:
    return (value.shape, value.stride(), value.dtype) if isinstance(value, torch.Tensor) else value


def _zeros(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu").zero_()
