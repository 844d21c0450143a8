"""Guards: what must still hold for compiled code to be used again, collected in the order they were needed.

``GuardSet.build`` turns them into a native guard program; the tables say what each kind of guard and each kind of source
means there. Knows sources, not values.
"""

from __future__ import annotations

import collections
import functools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from pydynamo._core import GuardBuilder, GuardProgram
from pydynamo.errors import PydynamoError
from pydynamo.frontend.source import Source


class TensorGuard:
    """What an input tensor must look like: like ``example``, except that None in ``sizes`` or ``strides`` matches any."""

    __slots__ = ("example", "sizes", "strides")

    def __init__(
        self, example: torch.Tensor, sizes: tuple[int | None, ...], strides: tuple[int | None, ...] | None
    ) -> None:
        self.example = example
        self.sizes = sizes
        self.strides = strides

    def __repr__(self) -> str:
        return f"{type(self.example).__name__} {self.example.dtype} {self.sizes} strides {self.strides}"


class GuardSet:
    """An ordered set of guards ``(kind, source, payload)``."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()
        self.items: list[tuple[str, Source | None, Any]] = []

    def add(self, kind: str, source: Source | None, payload: Any = None) -> None:
        """Add a guard unless it is there; payloads are compared by identity or, if constants, by type and value."""
        code: Any
        if isinstance(payload, int | float | str | complex | bytes):
            code = (type(payload), repr(payload))
        elif isinstance(payload, tuple):
            code = repr(payload)
        else:
            code = payload if isinstance(payload, Source) else id(payload)
        key = (kind, source, code)
        if key not in self._seen:
            self._seen.add(key)
            self.items.append((kind, source, payload))

    def build(self, code: types.CodeType) -> GuardProgram:
        """The guard program over calls of functions with this code."""
        writer = _Writer(code)
        fetched: set[Source] = set()
        for kind, source, _ in self.items:
            if kind != "PRESENT" and source is not None:
                fetched.update(_way_to(source))
        for kind, source, payload in self.items:
            if kind != "PRESENT" or source not in fetched:  # what is fetched for another guard is there
                _CHECKS[kind](writer, source, payload)
        return writer.builder.build()


def _way_to(source: Source) -> Iterator[Source]:
    step: Source | None = source
    while step is not None:
        yield step
        step = step.base


#: stands for what is not there
_NOTHING = object()


class _Writer:
    """A native builder, and the node of each source."""

    def __init__(self, code: types.CodeType) -> None:
        self.builder = GuardBuilder(code)
        self.freevars = code.co_freevars
        self.nodes: dict[Source, int] = {}
        #: what is guarded already
        self.types: dict[Source | None, type] = {}

    def node(self, source: Source | None) -> int:
        assert source is not None
        found = self.nodes.get(source)
        if found is not None:
            return found
        path = []
        step: Source | None = source
        while step is not None and step not in self.nodes:
            path.append(step)
            step = step.base
        base = self.nodes[step] if step is not None else -1
        for step in reversed(path):
            base = self.nodes[step] = _FETCHES[step.kind](self, base, step)
        return base

    def cell(self, function: int, index: int) -> int:
        """A cell itself of a function's closure."""
        return self.builder.index(self.builder.attr(function, "__closure__"), index)

    def symbol(self, source: Source) -> tuple[Any, ...]:
        """Where a shape expression finds a number."""
        return (self.node(source.base), "size", source.key) if source.kind == "size" else (self.node(source),)


Fetch = Callable[[_Writer, int, Source], int]
#: kind of source -> its node, from the node of its base
_FETCHES: dict[str, Fetch] = {
    "local": lambda w, n, s: w.builder.local(s.key),
    "global": lambda w, n, s: w.builder.global_var(s.key),
    "cell": lambda w, n, s: w.cell(w.builder.function(), w.freevars.index(s.key)),
    "deref": lambda w, n, s: w.builder.closure(s.key),
    "const": lambda w, n, s: w.builder.constant(s.key, s.name),
    "attr": lambda w, n, s: w.builder.attr(n, s.key, cls=w.types.get(s.base)),
    "item": lambda w, n, s: w.builder.subscript(n, s.key),
    "dictitem": lambda w, n, s: w.builder.item(n, s.key),
    "listitem": lambda w, n, s: w.builder.index(n, s.key),
    "type": lambda w, n, s: w.builder.type_of(n),
    "dictattr": lambda w, n, s: w.builder.dict_attr(n, s.key),
    "closure": lambda w, n, s: w.builder.cell_of(n, s.key),
    "closure_cell": lambda w, n, s: w.cell(n, s.key),
    "contents": lambda w, n, s: w.builder.cell_contents(n),
    "defaults": lambda w, n, s: w.builder.index(w.builder.defaults_of(n), s.key),
    "kwdefaults": lambda w, n, s: w.builder.item(w.builder.kwdefaults_of(n), s.key),
    "mro": lambda w, n, s: w.builder.class_attr(n, s.key),
    "size": lambda w, n, s: w.builder.subscript(w.builder.attr(n, "shape"), s.key),
}


def global_state() -> tuple[Any, ...]:
    """The process-wide and thread-local modes that change what operators do."""
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_autocast_dtype("cpu"),
        torch.get_autocast_dtype("cuda"),
        torch.is_autocast_cache_enabled(),
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
    )


def _global_state(w: _Writer, source: Source | None, state: tuple[Any, ...]) -> None:
    if global_state() != state:
        raise PydynamoError("the translation left torch's global state changed")
    w.builder.torch_state()


def _tensor(w: _Writer, source: Source | None, guard: TensorGuard) -> None:
    builder, node, example = w.builder, w.node(source), guard.example
    builder.tensor(
        node,
        example,
        sizes=guard.sizes,
        strides=guard.strides,
        check_strides=guard.strides is not None,
    )
    if isinstance(example, torch.nn.Parameter):
        return
    for mark in ("_pydynamo_dynamic", "_dynamo_dynamic_indices"):
        if not hasattr(example, mark):
            builder.in_instance_dict(node, mark, False)
    if example.requires_grad:
        builder.is_object(builder.attr(node, "is_leaf"), example.is_leaf)


def _same_keys(w: _Writer, source: Source | None, keys: tuple[Any, ...]) -> None:
    """The keys of a dict in order, or the members of a set."""
    node = w.node(source)
    kind = w.types.get(source, dict)
    if kind in (set, frozenset):
        w.builder.custom(functools.partial(_same_members, frozenset(keys)), [node], f"members are {keys}")
    elif issubclass(kind, collections.OrderedDict) and len(keys) > 1:
        w.builder.custom(functools.partial(_same_order, keys), [node], f"keys are {keys}")
    else:
        w.builder.dict_keys(node, keys)


def _same_order(wanted: tuple[Any, ...], found: collections.OrderedDict[Any, Any]) -> bool:
    """The order that an OrderedDict shows is not that of the table below it."""
    keys = tuple(collections.OrderedDict.__iter__(found))
    return len(keys) == len(wanted) and all(
        a is b or (type(a) is type(b) and a == b) for a, b in zip(keys, wanted, strict=True)
    )


def _same_members(wanted: frozenset[Any], found: Any) -> bool:
    return len(found) == len(wanted) and {(type(x), x) for x in found} == {(type(x), x) for x in wanted}


def _has_key(w: _Writer, source: Source | None, payload: tuple[Any, bool]) -> None:
    w.builder.contains(w.node(source), *payload)


def _kwdefaults(w: _Writer, source: Source | None, names: tuple[str, ...]) -> None:
    node = w.builder.kwdefaults_of(w.node(source))
    if names:
        w.builder.dict_keys(node, names)
    else:
        w.builder.truth(node, False)


def _defaults(w: _Writer, source: Source | None, count: int) -> None:
    node = w.builder.defaults_of(w.node(source))
    if count:
        w.builder.length(node, count)
    else:
        w.builder.truth(node, False)


def _type_is(w: _Writer, source: Source | None, cls: type) -> None:
    w.types[source] = cls
    w.builder.type_is(w.node(source), cls)


def _expression(w: _Writer, source: Source | None, shape: Any) -> None:
    places = {name: w.symbol(at) for name, at in shape.sources.items()}
    if not any(w.types.get(at) is float for at in shape.sources.values()):
        try:
            w.builder.shape(shape.condition, places)
        except PydynamoError:
            pass  # written with functions that the native evaluator does not know
        else:
            return
    scope = {"math": math, "torch": torch}
    function = eval(f"lambda {', '.join(shape.sources)}: {shape.condition}", scope)
    w.builder.custom(function, [w.node(at) for at in shape.sources.values()], shape.condition)


def _no_subclass(cls: type, of: type) -> bool:
    return not issubclass(cls, of)


def _lacks_slot(name: str, found: Any) -> bool:
    """True if nothing is in the slot."""
    try:
        object.__getattribute__(found, name)
    except AttributeError:
        return True
    return False


def _refers(reference: Any, target: Any) -> bool:
    return reference() is target


#: kind of guard -> adds its condition
_CHECKS: dict[str, Callable[[_Writer, Source | None, Any], None]] = {
    "TYPE_MATCH": _type_is,
    "ID_MATCH": lambda w, s, p: w.builder.is_object(w.node(s), p),
    "EQUALS_MATCH": lambda w, s, p: w.builder.equals(w.node(s), p),
    "CODE_MATCH": lambda w, s, p: w.builder.is_object(w.builder.code_of(w.node(s)), p),
    "LENGTH": lambda w, s, p: w.builder.length(w.node(s), p),
    "KEYS": _same_keys,
    "HAS_KEY": _has_key,
    "DICT_HAS": lambda w, s, p: w.builder.in_instance_dict(w.node(s), *p),
    "GLOBAL_HAS": lambda w, s, p: w.builder.contains(w.builder.globals_of(w.builder.function()), *p),
    "CLASS_LACKS": lambda w, s, p: w.builder.class_lacks(w.node(s), p),
    "DEFAULTS": _defaults,
    "KWDEFAULTS": _kwdefaults,
    "TENSOR_MATCH": _tensor,
    "IS": lambda w, s, p: w.builder.same_object(w.node(s), w.node(p)),
    "REFERS": lambda w, s, p: w.builder.custom(_refers, [w.node(s), w.node(p)], f"{s.name if s else ''}() is {p.name}"),
    "LACKS_SLOT": lambda w, s, p: w.builder.custom(functools.partial(_lacks_slot, p), [w.node(s)], f"no slot {p!r}"),
    "SUBCLASS": lambda w, s, p: w.builder.custom(issubclass, [w.node(s), w.node(p)], "is a subclass"),
    "NO_SUBCLASS": lambda w, s, p: w.builder.custom(_no_subclass, [w.node(s), w.node(p)], "is no subclass"),
    "IS_NOT": lambda w, s, p: w.builder.all_different([w.node(s), w.node(p)]),
    "PRESENT": lambda w, s, p: w.builder.all_different([w.node(s), w.builder.constant(_NOTHING, "nothing")]),
    "UNIQUE": lambda w, s, p: w.builder.all_different([w.node(at) for at in p]),
    "GLOBAL_STATE": _global_state,
    "NUMBER_TYPE": _type_is,
    "EXPRESSION": _expression,
    "CALL": lambda w, s, p: w.builder.custom(p, [w.node(s)], f"{p.__name__}({s.name if s else ''})"),
}
