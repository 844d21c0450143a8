"""The mode under which a translation runs operators on fake tensors."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


class TranslationMode(FakeTensorMode):
    """Never stands in for a missing CUDA device.

    Torch's own mode asks at each entry whether there is a device and, if a CUDA build finds none, puts an object that
    belongs to the current thread into a table that is every thread's: after that thread's end the next entry elsewhere
    calls into freed memory. A translation only sees tensors that exist, so that it needs no stand-in.

    It keeps account of what the operators of a call leave behind even if a later one fails (see ``Traces``).
    """

    def __init__(self) -> None:
        super().__init__()
        #: of the operators that ran since it was cleared
        self.traces = Traces()

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.traces.note(func, args, kwargs or {})
        return super().dispatch(func, types, args, kwargs)

    @property
    def avoid_device_init(self) -> bool:
        return False


class Traces:
    """What operators leave behind besides their results: numbers drawn, tensors written to, and what nobody can know."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin a new account."""
        self.drawn = False
        self.unknown = False
        self.written: list[torch.Tensor] = []

    def note(self, func: Any, args: Any, kwargs: Any) -> None:
        """An ATen operator is called."""
        drawn, unknown, written = _effects_of(func)
        if not (drawn or unknown or written):
            return
        self.drawn |= drawn
        self.unknown |= unknown
        for position, name in written:
            value = args[position] if position < len(args) else kwargs.get(name)
            values = value if isinstance(value, list | tuple) else [value]
            self.written += [v for v in values if isinstance(v, torch.Tensor)]


#: running statistics that the schemas do not call written
_STATISTICS = frozenset({"running_mean", "running_var"})
_KNOWN_NAMESPACES = frozenset({"aten", "prim", "prims", "quantized", "c10"})


@functools.cache
def _effects_of(func: Any) -> tuple[bool, bool, tuple[tuple[int, str], ...]]:
    """Whether an operator draws random numbers, whether it may do anything, and the parameters that it writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None or getattr(func, "namespace", "") not in _KNOWN_NAMESPACES:
        return False, True, ()
    written = tuple(
        (position, parameter.name)
        for position, parameter in enumerate(schema.arguments)
        if parameter.name in _STATISTICS or (parameter.alias_info is not None and parameter.alias_info.is_write)
    )
    return torch.Tag.nondeterministic_seeded in func.tags, False, written


#: remembered results of operators on fake tensors; torch itself keeps every one for the life of the process
_CACHE_LIMIT = 4096


def trim_cache() -> None:
    """Forget torch's remembered results once there are too many: constants that change would fill memory with them."""
    cache = getattr(FakeTensorMode, "cache", None)
    if cache is not None and len(cache) > _CACHE_LIMIT:
        FakeTensorMode.cache_clear()
