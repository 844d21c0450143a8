"""functools.lru_cache and functools.singledispatch: callables in front of Python functions, asked for real."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import constant, is_constant_value, run_python
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.tensor import SymNumberVariable
from pydynamo.frontend.variables.trial import trial

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_DISPATCHER: Any = functools.singledispatch(lambda _: None).__code__  # type: ignore[attr-defined]


class CacheVariable(VariableTracker):
    """A function with an lru_cache that exists. Calls with constants are answered by the cache, if the function is pure."""

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def identity(self) -> object:
        return self.value

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        given = [self._known(value.realize()) for value in args]
        named = {name: self._known(value.realize()) for name, value in kwargs.items()}
        assert self.source is not None
        if is_assumed_constant(self.value.__wrapped__) or self.value.__wrapped__.__module__ == "typing":
            return held(tx, run_python(tx, lambda: self.value(*given, **named)))
        fn = tx.wrap_at(self.value.__wrapped__, sources.attr(self.source, "__wrapped__"))
        with trial(tx, "opaque-call", self.describe(), []):
            fn.call_function(tx, list(args), dict(kwargs)).realize()
        if not tx.ledger.is_empty():
            unsupported("opaque-call", f"{self.describe()} may read what the function changed")
        # It is pure, so it may be run now: the cache may hold what the function no longer gives.
        found = self.value(*given, **named)

        def gives(cache: Any) -> bool:
            """Eager calls it at this point, too. So an entry that was dropped is made again, and hits are counted."""
            return cache(*given, **named) is found

        tx.output.guards.add("CALL", self.source, gives)
        return held(tx, found)

    def _known(self, value: VariableTracker) -> Any:
        """The argument itself: a constant, a class, or an object that counts by identity and is held already."""
        real = getattr(value, "value", None)
        if isinstance(real, type) or is_special_form(real):
            return real
        if value.is_constant() or isinstance(value, SymNumberVariable):
            return _hashable(value)
        if isinstance(value, SequenceVariable) and value.cls in (tuple, torch.Size):
            return value.cls(self._known(item.realize()) for item in value.items)
        source = value.source
        if source is None or source.kind != "const" or source.key is not real or real is None:
            unsupported("opaque-call", f"{self.describe()} called with {value.describe()}")
        if type(real).__hash__ is not object.__hash__ or type(real).__eq__ is not object.__eq__:
            unsupported("opaque-call", f"{self.describe()} called with {value.describe()}")
        return real

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
            assert self.source is not None
            return tx.wrap_at(getattr(self.value, name), sources.attr(self.source, name))
        return super().getattr(tx, name)

    def describe(self) -> str:
        return f"cached function {getattr(self.value, '__qualname__', self.value)}"


def _hashable(value: VariableTracker) -> Any:
    known = value.as_constant()
    if not is_constant_value(known) and type(known) not in (tuple, torch.Size):
        unsupported("hash", f"{value.describe()} as a key")
    try:
        hash(known)
    except TypeError:  # something in a tuple
        unsupported("hash", f"{value.describe()} as a key")
    return known


def is_special_form(value: Any) -> bool:
    """True for objects of ``typing`` that count by identity, such as ``Union``: they live as long as the process."""
    kind = type(value)
    return kind.__module__ == "typing" and kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__


def is_assumed_constant(fn: Any) -> bool:
    """True for what ``torch.compiler.assume_constant_result`` has marked: its author promises that it never changes."""
    return getattr(fn, "_dynamo_marked_constant", False) is True


def assumed_constant(tx: Translator, fn: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """What a marked function gives for these arguments, now and for ever."""
    given = [value.realize().as_constant() for value in args]
    named = {name: value.realize().as_constant() for name, value in kwargs.items()}
    return held(tx, run_python(tx, lambda: fn(*given, **named)))


def held(tx: Translator, value: Any) -> VariableTracker:
    """An object that compiled code may hold itself."""
    return constant(value) if is_constant_value(value) else tx.wrap_at(value, sources.const(value))


def is_dispatcher(fn: types.FunctionType) -> bool:
    """True for what ``functools.singledispatch`` makes."""
    return fn.__code__ is _DISPATCHER


def call_dispatcher(tx: Translator, fn: Any, source: Source, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call the implementation for the first argument's class."""
    if not args:
        unsupported("uncaught-exception", f"{fn.__qualname__} without an argument to dispatch on")
    cls = args[0].realize().python_type()
    implementation = fn.dispatch(cls)

    def dispatches(found: Any) -> bool:
        return found.dispatch(cls) is implementation

    tx.output.guards.add("CALL", source, dispatches)
    return tx.wrap_at(implementation, sources.const(implementation)).call_function(tx, args, kwargs)
