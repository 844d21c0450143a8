"""Turns everything a program can show into a flat list of (path, token) pairs that can be compared.

One walk covers results, arguments, globals, classes, defaults and closures together, so that *aliasing* is
part of what is compared: the second visit of an object says which earlier visit it is. Two runs that are
equal give equal lists. Knows nothing of compilers or of how programs are made.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import inspect
import itertools
import random
import re
import types
from collections.abc import Iterator
from typing import Any

import torch

Trace = list[tuple[str, Any]]

_ATOMS = (type(None), bool, int, str, bytes, complex, type(...), type(NotImplemented), range, slice)
_TORCH_ATOMS = (torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format)
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
_ORDERED_VIEWS = tuple(type(getattr(collections.OrderedDict(), n)()) for n in ("keys", "values", "items"))
_ITERATORS = (
    type(iter([])), type(iter(())), type(iter({})), type(iter({}.values())), type(iter({}.items())),
    type(iter(range(1))), type(iter(set())), type(iter("")), type(reversed([])), zip, map, filter, enumerate,
    itertools.count,
    itertools.chain, itertools.islice, itertools.cycle, itertools.repeat, itertools.accumulate,
    itertools.product, itertools.permutations, itertools.combinations, itertools.starmap, itertools.takewhile,
    itertools.dropwhile, itertools.groupby, itertools.zip_longest, itertools.pairwise,
)  # fmt: skip
_CLASS_NOISE = {
    "__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "__static_attributes__",
    "__qualname__",
    "__firstlineno__", "__abstractmethods__", "_abc_impl", "__annotate__", "__annotate_func__",
    "__annotations_cache__",
    "__slotnames__", "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__replace__", "__classdictcell__",
}  # fmt: skip
_MODULE_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def scrub(text: str) -> str:
    """Text without memory addresses, which differ from run to run."""
    return _ADDRESS.sub("0x…", text)


class Walker:
    """One walk over everything visible after a call.  `home` is the name of the program's own module."""

    def __init__(self, home: str, *, lax: bool = False, drain: bool = False) -> None:
        self.home, self.lax, self.drain = home, lax, drain
        self.trace: Trace = []
        self._seen: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._alive: list[Any] = []

    def walk(self, path: str, value: Any) -> None:
        emit = self.trace.append
        kind = type(value)
        if kind is float:
            emit((path, ("float", repr(value))))
        elif kind in _ATOMS:
            emit((path, (kind.__name__, repr(value))))
        elif kind in _TORCH_ATOMS:
            emit((path, (kind.__name__, str(value))))
        elif kind is tuple:
            # A tuple's identity is not compared: it cannot change, and constant folding shares it freely.
            emit((path, ("tuple", len(value))))
            for i, item in enumerate(value):
                self.walk(f"{path}[{i}]", item)
        else:
            self._object(path, value)

    def _object(self, path: str, value: Any) -> None:
        seen = self._seen.get(id(value))
        if seen is not None:
            self.trace.append((path, ("same object as visit", seen)))
            return
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        if isinstance(value, torch.Tensor):
            self._tensor(path, value)
        elif isinstance(value, type):
            self._class(path, value)
        elif isinstance(value, types.FunctionType):
            self._function(path, value)
        elif isinstance(value, types.MethodType):
            self.trace.append((path, ("method", value.__func__.__qualname__)))
            self.walk(path + ".__self__", value.__self__)
        elif isinstance(value, BaseException):
            self.exception(path, value)
        elif isinstance(value, (types.BuiltinFunctionType, types.ModuleType, types.CodeType)):
            self.trace.append((path, (type(value).__name__, getattr(value, "__name__", ""))))
        else:
            self._instance(path, value)

    def _instance(self, path: str, value: Any) -> None:
        kind = type(value)
        self.trace.append((path, ("a", self._name(kind))))
        if isinstance(value, enum.Enum):
            self.trace.append((path + ".name", value.name))
            return
        if isinstance(value, types.GeneratorType):
            self.trace.append((path + ".state", (value.__qualname__, inspect.getgeneratorstate(value))))
            self._drain(path, value)
            return
        if isinstance(value, _ITERATORS):
            self._drain(path, value)
            return
        if isinstance(value, random.Random):
            self.trace.append((path + ".state", hash(value.getstate())))
            return
        if isinstance(value, types.CellType):
            self._cell(path, value)
            return
        if isinstance(value, functools.partial):
            self.walk(path + ".func", value.func)
            self.walk(path + ".args", value.args)
            self.walk(path + ".keywords", value.keywords)
        self._contents(path, value)
        self._attributes(path, value)

    def _contents(self, path: str, value: Any) -> None:
        if isinstance(value, (int, float, str, bytes)):
            base = next(b for b in (int, float, str, bytes) if isinstance(value, b))
            self.trace.append((path, base.__repr__(value)))
        elif isinstance(value, dict):
            if isinstance(value, collections.defaultdict):
                self.walk(path + ".default_factory", value.default_factory)
            self.trace.append((path + " keys", dict.__len__(value)))
            ordered = isinstance(value, collections.OrderedDict)
            items = collections.OrderedDict.items(value) if ordered else dict.items(value)
            for i, (key, item) in enumerate(items):
                self.walk(f"{path} key {i}", key)
                self.walk(f"{path}[{_short(key)}]", item)
        elif isinstance(value, (set, frozenset)):
            self._unordered(path, value)
        elif isinstance(value, (*_VIEWS, *_ORDERED_VIEWS, list, tuple, collections.deque)):
            if isinstance(value, collections.deque):
                self.trace.append((path + ".maxlen", value.maxlen))
            items = list(value)
            self.trace.append((path + " length", len(items)))
            for i, item in enumerate(items):
                self.walk(f"{path}[{i}]", item)
        elif isinstance(value, types.MappingProxyType):
            self.walk(path + " items", dict(value))
        elif type(value).__module__ in ("builtins", "numpy", "decimal", "fractions", "datetime"):
            self.trace.append((path, scrub(repr(value))))

    def _unordered(self, path: str, value: Any) -> None:
        entries: list[tuple[str, Trace]] = []
        for item in value:
            if isinstance(item, torch.Tensor) or type(item).__hash__ is object.__hash__:
                entries.append((self._name(type(item)), []))  # hashed by address: no stable order, so only counted
                continue
            inner = Walker(self.home, lax=self.lax)
            inner.walk("", item)
            entries.append((repr(inner.trace), inner.trace))
        self.trace.append((path + " set", [key for key, _ in sorted(entries, key=lambda entry: entry[0])]))

    def _attributes(self, path: str, value: Any) -> None:
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            for name, item in list(attributes.items()):
                if isinstance(value, torch.nn.Module) and name.startswith("_") and not item:
                    continue
                if name in _MODULE_HOOKS:
                    item = list(item.values())
                self.walk(f"{path}.{name}", item)
        for base in type(value).__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                if name in ("__dict__", "__weakref__"):
                    continue
                with contextlib.suppress(AttributeError):
                    self.walk(f"{path}.{name}", getattr(value, name))

    def _drain(self, path: str, value: Iterator[Any]) -> None:
        if not self.drain:
            return
        try:
            items = list(itertools.islice(value, 6))
        except Exception as error:  # the iterator is the program's own code: whatever it raises is an observation
            self.exception(path + " drained", error)
        else:
            self.walk(path + " drained", tuple(items))

    def _cell(self, path: str, cell: types.CellType) -> None:
        try:
            content = cell.cell_contents
        except ValueError:
            self.trace.append((path, "empty cell"))
        else:
            self.walk(path + ".cell_contents", content)

    def _tensor(self, path: str, t: torch.Tensor) -> None:
        storage = t.untyped_storage()._cdata
        group = self._storages.setdefault(storage, len(self._storages))
        self._alive.append(t.untyped_storage())
        emit = self.trace.append
        emit((path, ("tensor", self._name(type(t)), str(t.dtype), tuple(t.shape))))
        emit((path + " autograd", (t.requires_grad, t.is_leaf, t.grad_fn is None, t.is_inference())))
        emit((path + " storage", (group, t.storage_offset())))
        if not self.lax:
            emit((path + " strides", t.stride()))
        try:
            emit((path + " values", _rounded(t) if self.lax else repr(t.detach().tolist())))
        except Exception as error:  # a tensor without values (fake, meta) that leaked out of a compiler
            emit((path + " values", f"none: {type(error).__name__}"))
        if t.is_leaf and t.grad is not None:
            self.walk(path + ".grad", t.grad)
        if extra := getattr(t, "__dict__", None):
            for name, item in extra.items():
                if not name.startswith("_dynamo"):
                    self.walk(f"{path}.{name}", item)

    def _class(self, path: str, cls: type) -> None:
        self.trace.append((path, ("class", self._name(cls))))
        if cls.__module__ != self.home:
            return
        for base in cls.__bases__:
            self.walk(path + " base", base)
        for name, item in sorted(vars(cls).items()):
            if name in _CLASS_NOISE or isinstance(item, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                continue
            if isinstance(item, (staticmethod, classmethod)):
                item = item.__func__
            if isinstance(item, property):
                item = item.fget
            if issubclass(cls, enum.Enum) and not isinstance(item, types.FunctionType):
                continue
            if isinstance(item, types.FunctionType) and item.__module__ != self.home:
                continue
            self.walk(f"{path}.{name}", item)

    def _function(self, path: str, fn: types.FunctionType) -> None:
        self.trace.append((path, ("function", fn.__qualname__)))
        if fn.__module__ != self.home:
            return
        if fn.__defaults__:
            self.walk(path + ".__defaults__", fn.__defaults__)
        if fn.__kwdefaults__:
            self.walk(path + ".__kwdefaults__", fn.__kwdefaults__)
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            self._cell(f"{path} closure {name}", cell)
        for name, item in fn.__dict__.items():
            if not name.startswith(("_torchdynamo", "_pydynamo", "_dynamo")):
                self.walk(f"{path}.{name}", item)

    def exception(self, path: str, error: BaseException) -> None:
        """Type, arguments and the chain of an exception; its own attributes too."""
        self._seen.setdefault(id(error), len(self._seen))
        self._alive.append(error)
        self.trace.append((path, ("raises", self._name(type(error)))))
        if not isinstance(error, RecursionError):
            # its text says in which C function the limit was met, which is chance
            self.trace.append((path + " text", scrub(str(error))))
        for i, item in enumerate(error.args):
            if not isinstance(item, str):
                self.walk(f"{path}.args[{i}]", item)
        for name, item in error.__dict__.items():
            self.walk(f"{path}.{name}", item)
        if error.__cause__ is not None:
            self.walk(path + ".__cause__", error.__cause__)
        if error.__context__ is not None and not error.__suppress_context__:
            self.walk(path + ".__context__", error.__context__)
        self.trace.append((path + " suppress_context", error.__suppress_context__))

    def _name(self, kind: type) -> str:
        module = kind.__module__
        return f"{'' if module in (self.home, 'builtins') else module + '.'}{kind.__qualname__}"


def _rounded(t: torch.Tensor) -> str:
    flat = t.detach().reshape(-1).tolist()
    return repr([f"{v:.4g}" if isinstance(v, float) else v for v in flat])


def _short(key: Any) -> str:
    return repr(key) if isinstance(key, (str, int, float, bool, type(None))) else type(key).__name__


def first_difference(eager: Trace, other: Trace) -> tuple[str, Any, Any] | None:
    """Where two traces part first: (path, eager's token, the other's), or None when they are equal."""
    for (path_a, a), (path_b, b) in zip(eager, other, strict=False):
        if path_a != path_b:
            return path_a, a, f"{path_b}: {b}"
        if a != b:
            return path_a, a, b
    if len(eager) != len(other):
        longer = eager if len(eager) > len(other) else other
        path, token = longer[min(len(eager), len(other))]
        return (path, token, "nothing") if longer is eager else (path, "nothing", token)
    return None
