"""What every tracked value can do. Subclasses override what their kind of value supports; the rest breaks the graph."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator

Args = list["VariableTracker"]
Kwargs = dict[str, "VariableTracker"]


class VariableTracker:
    """One value of the traced program. ``source`` says how to fetch it, None if it was born in the trace."""

    source: Source | None = None
    #: True if the program can change the value in place
    mutable = False

    def realize(self) -> VariableTracker:
        """The value itself; only lazy values differ."""
        return self

    def python_type(self) -> type:
        """The exact type that ``type(value)`` gives."""
        unsupported("inspection", f"type of {self!r}")

    # constants ---------------------------------------------------------------------------------------------------
    def is_constant(self) -> bool:
        """True if the Python value is known now (containers: deeply, and then a copy)."""
        return False

    def as_constant(self) -> Any:
        """The known Python value; breaks the graph if there is none."""
        unsupported("data-dependent-value", f"the value of {self.describe()} is not known while compiling")

    def as_fx(self) -> Any:
        """The value as an argument of an FX node."""
        if self.is_constant():
            return self.as_constant()
        unsupported("unsupported-torch-call", f"{self.describe()} cannot be an argument of a graph node")

    def as_fake(self) -> Any:
        """The value as an argument of fake propagation."""
        return self.as_fx()

    def identity(self) -> object:
        """An object that stands for the value's identity."""
        return self

    def hash_key(self) -> Any:
        """What stands for the value as a dictionary key."""
        unsupported("hash", f"{self.describe()} as a key")

    # behaviour ---------------------------------------------------------------------------------------------------
    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        unsupported("opaque-call", f"call of {self.describe()}")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        method = self.getattr(tx, name).realize()
        if isinstance(method, MethodOfBuiltin) and method.owner is self:
            # a method in C of a value that has no model of its methods: calling it would come back here
            unsupported("opaque-object", f"{name}() of {self.describe()}")
        return method.call_function(tx, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        """``value.name``; raises AttributeError in the user's program if there is none."""
        unsupported("unsupported-attribute", f"attribute {name!r} of {self.describe()}")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        unsupported("unsupported-attribute", f"store to attribute {name!r} of {self.describe()}")

    def delattr(self, tx: Translator, name: str) -> None:
        unsupported("unsupported-attribute", f"deletion of attribute {name!r} of {self.describe()}")

    def truth(self, tx: Translator) -> bool:
        """``bool(value)``, known now."""
        unsupported("data-dependent-branch", f"truth of {self.describe()}")

    def length(self, tx: Translator) -> VariableTracker:
        unsupported("unsupported-builtin", f"len() of {self.describe()}")

    def get_iter(self, tx: Translator) -> VariableTracker:
        """``iter(value)``"""
        unsupported("unsupported-iteration", f"iteration over {self.describe()}")

    def next(self, tx: Translator) -> VariableTracker:
        """``next(value)``; raises StopIteration in the user's program at the end."""
        unsupported("unsupported-iteration", f"next() of {self.describe()}")

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        unsupported("unsupported-operator", f"subscript of {self.describe()}")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        unsupported("unsupported-operator", f"store to a subscript of {self.describe()}")

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        unsupported("unsupported-operator", f"deletion of a subscript of {self.describe()}")

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        from pydynamo.frontend.protocols import contains_by_iteration

        return contains_by_iteration(tx, self, item)

    # codegen -----------------------------------------------------------------------------------------------------
    def reconstruct(self, cg: PyCodegen) -> None:
        """Emit instructions that push the value; only asked when it has no source."""
        unsupported("reconstruction-failure", f"{self.describe()} cannot be rebuilt")

    def children(self) -> list[VariableTracker]:
        """The values that rebuilding this one rebuilds too."""
        return []

    def describe(self) -> str:
        """The value in words, for messages."""
        try:
            kind = self.python_type().__name__
        except Exception:
            kind = type(self).__name__
        return f"{self.source.name} ({kind})" if self.source is not None else f"a value of type {kind}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source.name if self.source else ''})"


#: sources that may have nothing at their end in a later call
_MAY_BE_GONE = frozenset(("attr", "global", "mro", "dictattr"))


class LazyVariable(VariableTracker):
    """A sourced value that nobody has looked at: no guard until then but that it is there."""

    def __init__(self, tx: Translator, value: Any, source: Source) -> None:
        if source.kind in _MAY_BE_GONE:
            tx.output.guards.add("PRESENT", source)
        self.tx = tx
        self.value = value
        self.source = source
        self.real: VariableTracker | None = None

    def realize(self) -> VariableTracker:
        if self.real is None:
            from pydynamo.frontend.builder import wrap

            assert self.source is not None
            self.real = wrap(self.tx, self.value, self.source)
        return self.real

    def peek_type(self) -> type:
        """The type of the value, unguarded: only for choosing how to realize it."""
        return type(self.value)


class NullVariable(VariableTracker):
    """The NULL of the calling convention, or an unbound local on the stack."""

    def describe(self) -> str:
        return "NULL"


class ExcInfoVariable(VariableTracker):
    """The stack slot in which PUSH_EXC_INFO keeps the exception handled before; remembers the one handled now."""

    def __init__(self, handled: VariableTracker) -> None:
        self.handled = handled


def type_name(cls: type) -> str:
    """The name of a class as CPython's messages write it: classes in C outside the builtins bear their module's."""
    in_python = cls.__flags__ & (1 << 9) and not cls.__flags__ & (1 << 8)
    if in_python or cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__qualname__}"


def bad_answer(owner: type, method: str, wanted: str, given: type, before: str) -> str:
    """What is said of a special method that returned something of another type; ``before`` is what 3.14 says."""
    if sys.version_info < (3, 15):
        return before
    names = [
        c.__qualname__ if c.__module__ in ("builtins", "__main__") else f"{c.__module__}.{c.__qualname__}"
        for c in (owner, given)
    ]
    return f"{names[0]}.{method}() must return {wanted}, not {names[1]}"


def defines(cls: type, name: str) -> bool:
    """True if instances of ``cls`` have the attribute from their class: what its metaclass has is not theirs."""
    return any(name in base.__dict__ for base in cls.__mro__)


def has_special(cls: type, name: str) -> bool:
    """True if instances of ``cls`` have the special method."""
    return any(base.__dict__.get(name) is not None for base in cls.__mro__)


def realized(values: list[VariableTracker]) -> list[VariableTracker]:
    """Each value realized."""
    return [value.realize() for value in values]
