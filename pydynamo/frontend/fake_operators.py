"""Operators on fake tensors without torch's detours, where the answer cannot differ: all sizes are numbers, one device.

Three ways, the first that fits: the result for the same kinds of arguments was seen before; an elementwise operator, whose
shape follows from broadcasting and whose dtype its own kernel tells; an operator for which torch's mode would run the meta
kernel and nothing else. All others go torch's way. Names private parts of torch 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses import fake_impls, fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from pydynamo.frontend.without_dynamo import dynamo_is_loaded, spare_import

_SCALARS = frozenset({int, float, bool, complex, str, type(None), torch.dtype, torch.layout, torch.memory_format})
_REMEMBERED = 4096


class Kind:
    """What is known of an operator."""

    __slots__ = ("elementwise", "fresh", "in_place", "ours", "plain")

    def __init__(self, mode: FakeTensorMode, func: Any) -> None:
        schema = func._schema
        returns_tensors = all(str(entry.type) == "Tensor" for entry in schema.returns)
        drawn = torch.Tag.nondeterministic_seeded in func.tags
        depends = torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags
        builtin = func.namespace == "aten" and func not in FakeTensorMode.lift_fns and not depends
        #: results are tensors of their own, which are determined by what the arguments look like
        self.fresh = builtin and returns_tensors and not schema.is_mutable and not _aliases(schema)
        pointwise = builtin and torch.Tag.pointwise in func.tags and not drawn and len(schema.returns) == 1
        self.elementwise = pointwise and self.fresh
        self.in_place = pointwise and _changes_first(schema)
        self.plain = builtin and _is_plain(mode, func)
        self.ours = self.fresh or self.in_place or self.plain


def _aliases(schema: Any) -> bool:
    return any(entry.alias_info is not None for entry in (*schema.arguments, *schema.returns))


def _changes_first(schema: Any) -> bool:
    """True if the first argument alone is changed, and returned."""
    changed = [entry.alias_info is not None and entry.alias_info.is_write for entry in schema.arguments]
    return bool(changed) and changed[0] and not any(changed[1:]) and schema.returns[0].alias_info is not None


def _is_plain(mode: FakeTensorMode, func: Any) -> bool:
    """True if torch's mode would, with all sizes known, run the operator's meta kernel and nothing else."""
    if not fake_impls.has_meta(func):
        return False
    if func.is_view:  # torch's rules are for symbolic sizes; the kernels of views are the same on every device
        return True
    if (
        func in fake_tensor._DISPATCH_META_HANDLERS
        or func in fake_tensor._DISPATCH_HANDLE_DIRECTLY
        or torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
        or torch._library.simple_registry.singleton.find(func.name()).fake_impl.kernel
        or any(check(func) for check, _ in fake_impls.op_implementations_checks)
    ):
        return False
    from torch._decomp import decomposition_table, meta_table

    return (
        func in meta_table
        or mode.cpp_meta_supports_symint(func)
        or func not in decomposition_table
        or not fake_tensor.torch_decomp_decompositions(func)
    )


_kinds: dict[Any, Kind] = {}


def _kind(mode: FakeTensorMode, func: Any) -> Kind | None:
    known = _kinds.get(func)
    if known is None and isinstance(func, torch._ops.OpOverload):
        known = _kinds[func] = Kind(mode, func)
    return known


class _Call:
    """The arguments of one call: what they look like, their device, and the tensors among them."""

    __slots__ = ("device", "key", "mode", "tensors")

    def __init__(self, mode: FakeTensorMode, func: Any) -> None:
        self.mode = mode
        self.device: torch.device | None = None
        self.key: list[Any] = [func]
        self.tensors: list[Any] = []

    def take(self, values: Iterable[Any]) -> bool:
        """Look at arguments; False if they are not for us."""
        key = self.key
        for value in values:
            kind = type(value)
            if kind is FakeTensor:
                if (
                    value.fake_mode is not self.mode
                    or value.constant is not None
                    or value._has_symbolic_sizes_strides
                    or value.layout is not torch.strided
                    or value.is_conj()
                    or value.is_neg()
                ):
                    return False
                if self.device is None:
                    self.device = value.fake_device
                elif value.fake_device != self.device:
                    return False
                self.tensors.append(value)
                key.append((value.dtype, value.shape, value.stride(), value.storage_offset()))
            elif kind is list or kind is tuple:
                key.append(len(value))
                if not self.take(value):
                    return False
            elif kind in _SCALARS:
                key.append(kind)
                key.append(value)
            else:
                return False
        return True

    def take_named(self, values: Mapping[str, Any]) -> bool:
        """Look at keyword arguments."""
        self.key.append(tuple(values))
        return self.take(values.values())


def run(
    mode: FakeTensorMode,
    func: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    torchs_way: Callable[[], Any],
) -> Any:
    """What the operator gives for fake tensors of ``mode``."""
    kind = _kind(mode, func)
    call = _Call(mode, func)
    if (
        kind is None
        or not kind.ours
        or not call.take(args)
        or (kwargs and not call.take_named(kwargs))
        or call.device is None
    ):
        if not dynamo_is_loaded():
            spare_import()
        return torchs_way()
    key = None
    if kind.fresh:
        key = (*call.key, call.device, torch.get_default_dtype(), torch.is_inference_mode_enabled())
        seen = _seen.get(key)
        if seen is not None:
            return seen.make(mode)
    result = _elementwise(call, func, args, kwargs, kind.in_place) if kind.elementwise or kind.in_place else None
    if result is None and not dynamo_is_loaded():
        spare_import()
    if result is None and kind.plain:
        result = _run_meta_kernel(call, func, args, kwargs)
    if result is None:
        result = torchs_way()
    if key is not None:
        _remember(key, call, result)
    return result


# results that were seen before -----------------------------------------------------------------------------------------
class _Seen:
    """What the results of a call looked like."""

    __slots__ = ("container", "looks")

    def __init__(self, container: type | None, looks: list[tuple[Any, ...] | None]) -> None:
        self.container = container
        self.looks = looks

    def make(self, mode: FakeTensorMode) -> Any:
        """New tensors that look like that."""
        made: list[Any] = []
        for look in self.looks:
            if look is None:
                made.append(None)
                continue
            size, stride, dtype, device = look
            made.append(FakeTensor(mode, torch.empty_strided(size, stride, dtype=dtype, device="meta"), device))
        return made[0] if self.container is None else self.container(made)


_seen: dict[Any, _Seen] = {}


def _remember(key: Any, call: _Call, result: Any) -> None:
    container = type(result) if type(result) in (tuple, list) else None
    results = [result] if container is None else result
    memory = {tensor.untyped_storage()._cdata for tensor in call.tensors}
    looks: list[tuple[Any, ...] | None] = []
    for made in results:
        if made is None:
            looks.append(None)
            continue
        if (
            type(made) is not FakeTensor
            or made.constant is not None
            or made._has_symbolic_sizes_strides
            or made.layout is not torch.strided
            or made.storage_offset()
            or made.is_conj()
            or made.is_neg()
        ):
            return
        at = made.untyped_storage()._cdata
        if at in memory:
            return
        memory.add(at)
        looks.append((made.shape, made.stride(), made.dtype, made.fake_device))
    if len(_seen) >= _REMEMBERED:
        _seen.clear()
    _seen[key] = _Seen(container, looks)


# elementwise operators --------------------------------------------------------------------------------------------------
def _elementwise(call: _Call, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], in_place: bool) -> Any:
    """The result of an elementwise operator on dense tensors, None if it is not so simple."""
    shape: Sequence[int] = call.tensors[0].shape
    for tensor in call.tensors:
        if not tensor.is_contiguous():
            return None
        if tensor.shape != shape:
            common = _broadcast(shape, tensor.shape)
            if common is None:
                return None
            shape = common
    if in_place and shape != args[0].shape:
        raise RuntimeError(f"output with shape {list(args[0].shape)} doesn't match the broadcast shape {list(shape)}")
    dtype = _dtype_of_result(func, args, kwargs)
    if dtype is None:
        return None
    if in_place:
        return args[0]
    return FakeTensor(call.mode, torch.empty(shape, dtype=dtype, device="meta"), call.device)


def _broadcast(one: Sequence[int], other: Sequence[int]) -> Sequence[int] | None:
    if len(one) < len(other):
        one, other = other, one
    shape = list(one)
    for axis in range(-len(other), 0):
        size, asked = shape[axis], other[axis]
        if size == 1:
            shape[axis] = asked
        elif asked not in (1, size):
            return None
    return torch.Size(shape)


_dtypes: dict[Any, torch.dtype | None] = {}


def _dtype_of_result(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> torch.dtype | None:
    """The dtype that the operator's own kernel gives for one element; None if it gives no such thing."""
    key = (func, _outline(args), tuple(kwargs), _outline(kwargs.values()), torch.get_default_dtype())
    if key not in _dtypes:
        if len(_dtypes) >= _REMEMBERED:
            _dtypes.clear()
        _dtypes[key] = _ask_kernel(func, args, kwargs)
    return _dtypes[key]


def _outline(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(
        (value.dtype, value.dim() == 0)
        if type(value) is FakeTensor
        else _outline(value)
        if type(value) in (list, tuple)
        else (type(value), value)
        for value in values
    )


def _ask_kernel(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> torch.dtype | None:
    def small(value: Any) -> Any:
        if type(value) is FakeTensor:
            return torch.ones((1,) if value.dim() else (), dtype=value.dtype, device="cpu")
        return [small(item) for item in value] if type(value) in (list, tuple) else value

    try:
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            result = func(*map(small, args), **{name: small(value) for name, value in kwargs.items()})
    except Exception:  # torch's way says what is wrong
        return None
    dtype = result.dtype
    assert isinstance(dtype, torch.dtype)
    return dtype


# meta kernels -----------------------------------------------------------------------------------------------------------
def _run_meta_kernel(call: _Call, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the meta kernel gives; None if there is none for these arguments."""
    try:
        with in_kernel_invocation_manager(call.mode):
            result = func(*args, **kwargs)
    except NotImplementedError:
        return None
    return _wrap(call, result)


def _wrap(call: _Call, result: Any) -> Any:
    kind = type(result)
    if kind is FakeTensor:
        return result
    if isinstance(result, torch.Tensor):
        return FakeTensor(call.mode, result, call.device)
    if kind is tuple or kind is list:
        return kind(_wrap(call, item) for item in result)
    return result
