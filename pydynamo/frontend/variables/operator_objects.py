"""The callables that the operator module makes: itemgetter, attrgetter, methodcaller."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator

GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


class GetterVariable(VariableTracker):
    """``cls(*args, **kwargs)`` of one of the three classes, made in the trace."""

    def __init__(self, cls: Any, args: Args, kwargs: Kwargs) -> None:
        self.cls = cls
        self.args = args
        self.kwargs = kwargs

    def python_type(self) -> type:
        kind: type = self.cls
        return kind

    def truth(self, tx: Translator) -> bool:
        return True

    def hash_key(self) -> Any:
        return Identity(self)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) != 1 or kwargs:
            unsupported("unsupported-builtin", f"{self.cls.__name__} with these arguments")
        owner = args[0].realize()
        if self.cls is operator.methodcaller:
            name = self.args[0].realize().as_constant()
            return owner.getattr(tx, name).realize().call_function(tx, list(self.args[1:]), dict(self.kwargs))
        found = [self._get(tx, owner, key.realize()) for key in self.args]
        return found[0] if len(found) == 1 else SequenceVariable(found, tuple)

    def _get(self, tx: Translator, owner: VariableTracker, key: VariableTracker) -> VariableTracker:
        from pydynamo.frontend.protocols import getitem

        if self.cls is operator.itemgetter:
            return getitem(tx, owner, key)
        value = owner
        for name in key.as_constant().split("."):
            value = value.realize().getattr(tx, name)
        return value

    def children(self) -> list[VariableTracker]:
        return [*self.args, *self.kwargs.values()]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(
            lambda: cg.load_object(self.cls),
            [lambda a=a: cg(a) for a in self.args],  # type: ignore[misc]
            {name: (lambda v=v: cg(v)) for name, v in self.kwargs.items()},  # type: ignore[misc]
        )


def make_getter(tx: Translator, cls: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``itemgetter(...)`` and its like; odd arguments are left to Python."""
    texts = args if cls is operator.attrgetter else args[:1] if cls is operator.methodcaller else []
    if not args or (kwargs and cls is not operator.methodcaller):
        unsupported("unsupported-builtin", f"{cls.__name__} with these arguments")
    if not all(isinstance(t.realize().as_constant(), str) for t in texts):
        unsupported("unsupported-builtin", f"{cls.__name__} of something that is not a name")
    return GetterVariable(cls, list(args), dict(kwargs))
