"""torch's own fake-tensor functions, run without importing what only symbolic shapes need.

Functions of ``torch._subclasses`` import ``torch._dynamo`` (a second) and ``torch.fx.experimental.symbolic_shapes`` (sympy,
a third of one) whenever they run, mostly for a setting that nobody changed or for a helper that does nothing where all
sizes are numbers. A copy of such a function with an ``import`` of its own is answered here instead; nothing that other
code sees is changed. Whatever is not known here imports the real module, so that the worst case is torch's own cost.

Names what torch 2.11 to 2.15 import there. Must not know modes or translations.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch._refs
from torch._guards import Source

_SHAPES = "torch.fx.experimental.symbolic_shapes"


class _UnknownSource(Source):
    """Where a tensor came from, for code that only hands it on."""

    def __init__(self, *parts: Any) -> None:
        pass

    @property
    def _name_template(self) -> str:
        return "unknown"

    @property
    def name(self) -> str:
        return "unknown"


class _RandomValueSource(Source):
    """No source is one of these."""


class _StandIn:
    """Stands for a module that may never be imported: what is known of it, and the real one for everything else."""

    def __init__(self, name: str, **known: Any) -> None:
        self._name = name
        self._known = known

    def __getattr__(self, name: str) -> Any:
        known = self._known.get(name, self)
        if isinstance(known, _StandIn) and known is not self:
            return known
        if known is not self and self._name not in sys.modules:
            return known
        return getattr(builtins.__import__(self._name, fromlist=[name]), name)


def _of_numbers(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """The function ``name`` of symbolic shapes: ``answer`` knows it for plain numbers, and gives NotImplemented else."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = answer(*args, **kwargs)
        if found is NotImplemented:
            return getattr(builtins.__import__(_SHAPES, fromlist=[name]), name)(*args, **kwargs)
        return found

    return call


def _switch(name: str, default: str) -> bool:
    return os.environ.get(name, default) == "1"


_dynamo = _StandIn(
    "torch._dynamo",
    config=_StandIn(
        "torch._dynamo.config",
        fake_tensor_cache_enabled=_switch("TORCH_FAKE_TENSOR_DISPATCH_CACHE", "1"),
        fake_tensor_cache_crosscheck_enabled=_switch("TORCH_FAKE_TENSOR_DISPATCH_CACHE_CROSSCHECK", "0"),
        _custom_ops_profile=None,
    ),
    source=_StandIn(
        "torch._dynamo.source",
        AttrSource=_UnknownSource,
        ConstantSource=_UnknownSource,
        RandomValueSource=_RandomValueSource,
    ),
)
_functorch = _StandIn(
    "torch._functorch",
    config=_StandIn(
        "torch._functorch.config",
        fake_tensor_allow_meta=os.environ.get("FAKE_ALLOW_META", "1") != "0",
        fake_tensor_allow_unsafe_data_ptr_access=True,
        fake_tensor_propagate_real_tensors=False,
    ),
)
_torch = _StandIn("torch", _dynamo=_dynamo, _functorch=_functorch)
_shapes = _StandIn(
    _SHAPES,
    compute_unbacked_bindings=_of_numbers(
        "compute_unbacked_bindings", lambda env, *rest, **options: None if env is None else NotImplemented
    ),
    free_unbacked_symbols=_of_numbers(
        "free_unbacked_symbols", lambda value: set() if isinstance(value, int | float) else NotImplemented
    ),
    guard_or_false=_of_numbers("guard_or_false", lambda value: value if isinstance(value, bool) else NotImplemented),
    is_symbolic=_of_numbers("is_symbolic", lambda value: False if isinstance(value, int | bool) else NotImplemented),
)
#: ``import a.b.c`` gives ``a``; ``from a.b import c`` looks into ``a.b``
_PLAIN = frozenset({"torch._dynamo.config", "torch._functorch.config"})
_FROM = {"torch._dynamo.source": _dynamo.source, _SHAPES: _shapes}


class _NoTraceback:
    """A mode keeps the stack that made it, for a message of which there is no need here."""

    @staticmethod
    def extract_stack() -> list[Any]:
        return []


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if not level and name not in sys.modules:
        if fromlist and name in _FROM:
            return _FROM[name]
        if not fromlist and name in _PLAIN:
            return _torch
    found = builtins.__import__(name, globals, locals, fromlist or (), level)
    return _torch if found is torch else found


def dynamo_is_loaded() -> bool:
    """True once something imported ``torch._dynamo``."""
    return "torch._dynamo" in sys.modules


@functools.cache
def spare_import() -> None:
    """Let torch's reference operators run without importing ``torch._dynamo`` as long as nobody has.

    Each is wrapped in ``torch._disable_dynamo``, which imports it at the first call to keep it out of the function, and
    remembers how at the function. As long as there is nothing to keep out, the function itself will do.
    """
    for module in (torch._refs, torch._refs.nn.functional, torch._refs.special, torch._decomp.decompositions):
        for value in vars(module).values():
            while isinstance(value, types.FunctionType):
                inside = getattr(value, "__wrapped__", None)
                if value.__code__ is _DISABLED_CODE and value.__closure__:
                    inside = value.__closure__[_FUNCTION].cell_contents
                    if not hasattr(inside, _DISABLED):
                        setattr(inside, _DISABLED, _until_dynamo_is_loaded(inside))
                value = inside


#: where ``torch._disable_dynamo`` remembers, and the code of the wrappers that it makes
_DISABLED = "__dynamo_disable"
_DISABLED_CODE = torch._disable_dynamo(lambda: None).__code__
_FUNCTION = _DISABLED_CODE.co_freevars.index("fn")


def _until_dynamo_is_loaded(function: Any) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if not dynamo_is_loaded():
            return function(*args, **kwargs)
        disabled = torch._dynamo.disable(function, True, wrapping=False)
        setattr(function, _DISABLED, disabled)
        return disabled(*args, **kwargs)

    return run


def copied(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose imports of ``torch._dynamo`` and symbolic shapes are answered here."""
    assert isinstance(function, types.FunctionType)
    scope = {
        **function.__globals__,
        "torch": _torch,
        "traceback": _NoTraceback,
        "__builtins__": {**vars(builtins), "__import__": _import},
    }
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made
