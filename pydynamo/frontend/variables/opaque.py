"""Objects that are not looked into: they may be passed on and compared by identity."""

from __future__ import annotations

import itertools
import types
import weakref
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: one of each builtin container and view that has an iterator of its own
_ITERABLES: tuple[Any, ...] = (
    *([], (), {}, set(), "", "\u00e9", b"", range(0), range(1 << 70)),
    *({}.values(), {}.items()),
)
#: iterators in C: ``iter()`` of one is itself
_ITERATORS = frozenset(
    {
        types.GeneratorType,
        zip,
        map,
        filter,
        enumerate,
        reversed,
        *(type(iter(made)) for made in _ITERABLES),
        *(getattr(itertools, name) for name in dir(itertools) if hasattr(getattr(itertools, name), "__next__")),
    }
)


class WeakReferenceVariable(VariableTracker):
    """A weak reference that exists; calling it gives its object, where the trace has met that already."""

    def __init__(self, value: weakref.ref[Any], source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def identity(self) -> object:
        return self.value

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        target = self.value()
        known = tx.root.by_id.get(id(target)) if target is not None else None
        if args or kwargs or known is None or known.source is None:
            unsupported("opaque-object", f"call of {self.describe()}")
        tx.output.guards.add("REFERS", self.source, known.source)
        return known


class OpaqueVariable(VariableTracker):
    """An object that may be passed on, and compared by identity, but not looked into."""

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def identity(self) -> object:
        return self.value

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        reason = "random" if type(self.value).__module__ in ("random", "_random") else "opaque-object"
        unsupported(reason, f"call of {self.describe()}")

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        reason = "random" if type(self.value).__module__ in ("random", "_random") else "opaque-object"
        unsupported(reason, f"attribute {name!r} of {self.describe()}")

    def truth(self, tx: Translator) -> bool:
        unsupported("opaque-object", f"truth of {self.describe()}")

    def get_iter(self, tx: Translator) -> VariableTracker:
        if type(self.value) in _ITERATORS:
            return self
        return super().get_iter(tx)
