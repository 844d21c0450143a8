"""functools.lru_cache and functools.singledispatch: callables in front of Python functions, asked for real."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import constant, is_constant_value

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_DISPATCHER: Any = functools.singledispatch(lambda _: None).__code__  # type: ignore[attr-defined]


class CacheVariable(VariableTracker):
    """A function with an lru_cache that exists. Calls with constants that give a constant are answered by the cache."""

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
        from pydynamo.frontend.variables.trial import trial

        given = [value.realize() for value in (*args, *kwargs.values())]
        if not all(is_constant_value(value.as_constant()) if value.is_constant() else False for value in given):
            unsupported("opaque-call", f"{self.describe()} called with more than constants")
        assert self.source is not None
        fn = tx.wrap_at(self.value.__wrapped__, sources.attr(self.source, "__wrapped__"))
        with trial(tx, "opaque-call", self.describe(), []):
            found = fn.call_function(tx, list(args), dict(kwargs)).realize()
        if not found.is_constant() or not is_constant_value(found.as_constant()):
            unsupported("opaque-call", f"{self.describe()} keeps an object")
        if not tx.ledger.is_empty():
            unsupported("opaque-call", f"{self.describe()} may read what the function changed")
        # It is pure, so it may be run now: the cache may hold what the function no longer gives.
        named = {name: value.realize().as_constant() for name, value in kwargs.items()}
        return constant(self.value(*(value.realize().as_constant() for value in args), **named))

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
            assert self.source is not None
            return tx.wrap_at(getattr(self.value, name), sources.attr(self.source, name))
        return super().getattr(tx, name)

    def describe(self) -> str:
        return f"cached function {getattr(self.value, '__qualname__', self.value)}"


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
