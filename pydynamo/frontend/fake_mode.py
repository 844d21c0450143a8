"""The mode under which a translation runs operators on fake tensors.

Knows torch's fake tensors (2.11 to 2.15), nothing of translations.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorConverter, FakeTensorMode
from torch._subclasses.meta_utils import MetaConverter
from torch.nested._internal.nested_tensor import _tensor_symint_registry

from pydynamo.frontend import fake_corrections, fake_operators
from pydynamo.frontend.without_dynamo import copied, dynamo_is_loaded

_initialize = copied(FakeTensorMode.__init__)
_running = threading.local()


class _Unheard(logging.Filter):
    """Drops what torch logs of operators that fail on fake tensors: that is a graph break, and eager tells the user."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_running, "depth", 0)


for _name in ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes"):
    logging.getLogger(_name).addFilter(_Unheard())


def as_it_was_made(value: torch.Tensor) -> contextlib.AbstractContextManager[Any]:
    """Leaves inference mode while a fake is made: what a block of it meets first is no inference tensor for that."""
    if torch.is_inference_mode_enabled() and not value.is_inference():
        return torch.inference_mode(False)
    return contextlib.nullcontext()


class TranslationMode(FakeTensorMode):
    """Fake tensors of one translation; ``make_mode`` makes it.

    It keeps account of what the operators of a call leave behind even if a later one fails (see ``Traces``).
    """

    shape_env: Any
    static_shapes: bool

    def __init__(self) -> None:
        _initialize(self)
        #: of the operators that ran since it was cleared
        self.traces = Traces()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # what torch would wrap the method below in imports torch._dynamo; torch's hook is off while we translate
        return False

    def __enter__(self) -> Self:
        _running.depth = getattr(_running, "depth", 0) + 1
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        _running.depth -= 1
        super().__exit__(*error)

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return self.dispatch(func, types, args, kwargs or {})

    @property
    def avoid_device_init(self) -> bool:
        """Never stand in for a missing CUDA device.

        Torch's own mode asks at each entry whether there is a device and, if a CUDA build finds none, puts an object that
        belongs to the current thread into a table that is every thread's: after that thread's end the next entry elsewhere
        calls into freed memory. A translation only sees tensors that exist, so that it needs no stand-in.
        """
        return False

    def fake_of(self, value: torch.Tensor) -> torch.Tensor:
        """A fake of ``value`` with its sizes as they are; tensors that share memory have fakes that do."""
        with as_it_was_made(value):
            return self._fake_of(value)

    def _fake_of(self, value: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            made = self._fake_of_plain(value)
        if made is not None:
            return made
        env, static = self.shape_env, self.static_shapes
        self.shape_env, self.static_shapes = None, True
        try:
            return self.from_tensor(value, static_shapes=True)
        finally:
            self.shape_env, self.static_shapes = env, static

    def _fake_of_plain(self, value: torch.Tensor) -> torch.Tensor | None:
        """The fake of a tensor that is no view and no result; None for the others, which torch's way is for."""
        if (
            type(value) not in (torch.Tensor, torch.nn.Parameter)
            or value.layout is not torch.strided
            or value._is_view()
            or not value.is_leaf
            or value.is_inference()
            or value.is_quantized
            or value.is_nested
            or value.is_conj()
            or value.is_neg()
            or value.device.type == "meta"
            or torch._C._functorch.is_functorch_wrapped_tensor(value)
            or torch._is_functional_tensor(value)
            or value in _tensor_symint_registry
        ):
            return None
        gradient = None
        if value.grad is not None:
            gradient = self._fake_of_plain(value.grad)
            if gradient is None:
                return None
        storage = value.untyped_storage()
        converter = self.fake_tensor_converter.meta_converter
        number = converter.describer.get_tensor_id(value)
        known = converter.tensor_memo.get(number)
        if known is not None:
            return known
        storage_number = converter.describer.get_storage_id(storage)
        if storage_number in converter.storage_memo or value.storage_offset() or not storage.size():
            return None
        size, stride = value.shape, value.stride()
        meta = torch.empty_strided(size, stride, dtype=value.dtype, device="meta")
        fake = FakeTensor(self, meta, value.device)
        if value.requires_grad:
            fake.requires_grad = True
        if isinstance(value, torch.nn.Parameter):
            fake._is_param = True
        if getattr(value, "_is_buffer", False):
            fake._is_buffer = True
            fake.persistent = value.persistent
        fake.grad = gradient
        converter.storage_memo[storage_number] = meta.untyped_storage()
        converter.tensor_memo[number] = fake
        return fake

    def dispatch(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        self.traces.note(func, args, kwargs)
        parent = super().dispatch
        if self.propagate_real_tensors:
            return parent(func, types, args, kwargs)
        func, args, kwargs = fake_corrections.call(func, args, kwargs)
        fake = fake_operators.run(self, func, args, kwargs, lambda: parent(func, types, args, kwargs))
        return fake_corrections.result(self, func, args, kwargs, fake)


@functools.cache
def _light() -> type[TranslationMode]:
    """The mode for a process in which nobody has imported ``torch._dynamo``."""

    class LightMetaConverter(MetaConverter[Any]):
        meta_tensor = copied(MetaConverter.meta_tensor)

    class LightConverter(FakeTensorConverter):
        from_real_tensor = copied(FakeTensorConverter.from_real_tensor)

    class LightMode(TranslationMode):
        _dispatch_impl = copied(FakeTensorMode._dispatch_impl)

        def __init__(self) -> None:
            super().__init__()
            self.cache_enabled = False  # its entries are checked by means of symbolic shapes
            self.fake_tensor_converter.__class__ = LightConverter
            self.fake_tensor_converter.meta_converter.__class__ = LightMetaConverter

    return LightMode


def make_mode() -> TranslationMode:
    """A mode for one translation."""
    return TranslationMode() if dynamo_is_loaded() else _light()()


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
        self.drawn |= drawn and not _drops_nothing(func, args, kwargs)
        self.unknown |= unknown
        if written and written[0][1] in _STATISTICS and _only_reads_statistics(func, args, kwargs):
            return
        for position, name in written:
            value = args[position] if position < len(args) else kwargs.get(name)
            values = value if isinstance(value, list | tuple) else [value]
            self.written += [v for v in values if isinstance(v, torch.Tensor)]


def _drops_nothing(func: Any, args: Any, kwargs: Any) -> bool:
    """True for attention without dropout, which draws numbers only to drop something."""
    rate = _argument(func, args, kwargs, "dropout_p")
    return isinstance(rate, int | float) and rate == 0


def _only_reads_statistics(func: Any, args: Any, kwargs: Any) -> bool:
    """True for normalization in evaluation."""
    return False in (_argument(func, args, kwargs, name) for name in ("training", "train"))


def _argument(func: Any, args: Any, kwargs: Any, name: str) -> Any:
    """The argument of this name, None if the operator has none."""
    for position, parameter in enumerate(func._schema.arguments):
        if parameter.name == name:
            return args[position] if position < len(args) else kwargs.get(name, parameter.default_value)
    return None


#: running statistics that the schemas do not call written
_STATISTICS = frozenset({"running_mean", "running_var"})
_KNOWN_NAMESPACES = frozenset({"aten", "prim", "prims", "quantized", "c10"})


@functools.cache
def _effects_of(func: Any) -> tuple[bool, bool, tuple[tuple[int, str], ...]]:
    """Whether an operator draws random numbers, whether it may do anything, and the parameters that it writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return False, True, ()
    # other operators have to declare what they write to, but not that they draw numbers
    foreign = func.namespace not in _KNOWN_NAMESPACES
    written = tuple(
        (position, parameter.name)
        for position, parameter in enumerate(schema.arguments)
        if parameter.name in _STATISTICS or (parameter.alias_info is not None and parameter.alias_info.is_write)
    )
    return foreign or torch.Tag.nondeterministic_seeded in func.tags, False, written


#: of what torch itself would remember for the life of the process
_CACHE_LIMIT = 4096
_SHAPES = "torch.fx.experimental.symbolic_shapes"


def trim_caches() -> None:
    """Forget what torch remembers, after a translation: constants and sizes that change would fill memory with it.

    Results of operators go once there are too many, as do facts about expressions. Methods of shape environments remember
    the environment with each answer, mostly without a limit, and so keep every one alive: they forget each time.
    """
    results = getattr(FakeTensorMode, "cache", None)
    if results is not None and len(results) > _CACHE_LIMIT:
        FakeTensorMode.cache_clear()
    shapes = sys.modules.get(_SHAPES)
    if hasattr(shapes, "ShapeEnv"):
        of_environments, of_expressions = _shape_caches()
        for method in of_environments:
            method.cache_clear()
        for function in of_expressions:
            if function.cache_info().currsize > _CACHE_LIMIT:
                function.cache_clear()


@functools.cache
def _shape_caches() -> tuple[list[Any], list[Any]]:
    """The methods of shape environments that remember, and the functions beside them that do."""
    shapes = sys.modules[_SHAPES]
    spaces = (vars(shapes.ShapeEnv), vars(shapes))
    methods, functions = ([value for value in space.values() if hasattr(value, "cache_clear")] for space in spaces)
    # torch 2.15 wraps some of them so that they do not tell their size
    return methods, [function for function in functions if hasattr(function, "cache_info")]
