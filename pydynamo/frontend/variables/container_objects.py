"""Instances of Python classes that derive from dict, OrderedDict or list: an object with attributes, and its contents.

Attributes and special methods are those of any object. What reaches a method of the builtin base works on the contents,
past the overrides of the class, as it does in CPython; the places where CPython's own method calls an override are written
out here, or break the graph.
"""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import asm
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.replacing import replace_dict, replace_list
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.class_lookup import lookup, special_method
from pydynamo.frontend.variables.constant import NONE, constant
from pydynamo.frontend.variables.dicts import DICT_TYPES, DictVariable, DictView
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator

_BASES: tuple[type, ...] = (collections.OrderedDict, dict, list)
#: methods of OrderedDict that go through the item methods of a subclass
_THROUGH_ITEMS = frozenset({"setdefault", "pop", "popitem", "copy", "__or__", "__ror__", "__ior__"})
_ITEM_METHODS = ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__missing__")


def builtin_base(cls: type) -> type | None:
    """The builtin container that a class in Python derives from; None for any other class."""
    if cls in DICT_TYPES or cls in _BASES:
        return None
    for base in cls.__mro__:
        if base in _BASES:
            return base
        made_in_python = base.__flags__ & (1 << 9) and "__module__" in base.__dict__
        new = base.__dict__.get("__new__")
        if not made_in_python or not isinstance(new, staticmethod | types.FunctionType | None):
            return None
    return None


def has_plain_items(cls: type) -> bool:
    """True if what the class shows as its items is what its builtin base holds."""
    names = ("__len__", "__iter__", "__getitem__") if builtin_base(cls) is list else ("__len__",)
    return all(lookup(cls, name)[0] in _BASES for name in names)


class DictContents(DictVariable):
    """What an object of a dict subclass holds. Loading it loads the object."""

    owner: ContainerObjectVariable

    def is_built_whole(self) -> bool:
        return False

    def is_constant(self) -> bool:
        return False

    def reconstruct(self, cg: PyCodegen) -> None:
        cg(self.owner)


class ListContents(SequenceVariable):
    """What an object of a list subclass holds. Loading it loads the object."""

    owner: ContainerObjectVariable

    def is_constant(self) -> bool:
        return False

    def reconstruct(self, cg: PyCodegen) -> None:
        cg(self.owner)


class _HiddenView(DictView):
    """A view of the contents, which the object's own method of that name does not give."""

    def reconstruct(self, cg: PyCodegen) -> None:
        unsupported("reconstruction-failure", f"{self.kind}() of {self.owner.describe()}, which has its own")


class ContainerObjectVariable(ObjectVariable):
    """An instance of a Python class that derives from a builtin container."""

    def __init__(
        self, cls: type, contents: DictContents | ListContents, value: Any = None, source: Source | None = None
    ) -> None:
        super().__init__(cls, value, source)
        self.contents = contents
        contents.owner = self

    @classmethod
    def empty(cls, kind: type) -> ContainerObjectVariable:
        """``base.__new__(kind)``"""
        base = builtin_base(kind)
        assert base is not None
        return cls(kind, ListContents([], list) if base is list else DictContents({}, base))

    def hash_key(self) -> Any:
        if lookup(self.cls, "__hash__")[1] is None:
            unsupported("hash", f"{self.describe()} as a key")
        return super().hash_key()

    def as_fx(self) -> Any:
        return self.contents.as_fx() if isinstance(self.contents, ListContents) else super().as_fx()

    def as_fake(self) -> Any:
        return self.contents.as_fake() if isinstance(self.contents, ListContents) else super().as_fake()

    def children(self) -> list[VariableTracker]:
        return self.contents.children()

    def overrides(self, *names: str) -> bool:
        """True if the class has one of these methods in Python."""
        return any(lookup(self.cls, name)[0] not in (None, object, *_BASES) for name in names)

    # methods of the base -----------------------------------------------------------------------------------------
    def call_base(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        """``base.name(self, *args, **kwargs)``, past the overrides of the class."""
        if name == "__getattribute__":
            key = args[0].realize().as_constant()
            found = self.plain_getattr(tx, key)
            if found is None:
                tx.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{key}'")
            return found
        if name in ("__repr__", "__sizeof__", "__reduce__", "__reduce_ex__", "__class_getitem__"):
            unsupported("unsupported-method", f"{name} of {self.describe()}")
        if isinstance(self.contents, ListContents):
            return self._call_list(tx, self.contents, name, args, kwargs)
        return self._call_dict(tx, self.contents, name, args, kwargs)

    def _call_list(
        self, tx: Translator, contents: ListContents, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        from pydynamo.frontend.protocols import iterate

        if name == "__init__":
            if kwargs or len(args) > 1:
                unsupported("unsupported-builtin", f"{self.cls.__name__}() with these arguments")
            items = list(iterate(tx, args[0])) if args else []
            tx.ledger.mutate(contents)
            contents.items = items
            return NONE
        if name in ("__iter__", "__reversed__") and self.overrides(name):
            unsupported("unsupported-iteration", f"list.{name} of {self.describe()}, which has its own")
        result = self._on_contents(tx, contents, name, args, kwargs)
        return self if result is contents else result

    def _call_dict(
        self, tx: Translator, contents: DictContents, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        ordered = issubclass(contents.cls, collections.OrderedDict)
        if (
            ordered
            and name in _THROUGH_ITEMS
            and (name in ("copy", "__or__", "__ror__") or self.overrides(*_ITEM_METHODS))
        ):
            unsupported("unsupported-method", f"OrderedDict.{name} of {self.describe()}")
        if name in ("__init__", "update", "__ior__"):
            self._update(tx, contents, args, kwargs, through_items=ordered and self.overrides("__setitem__"))
            return self if name == "__ior__" else NONE
        if name == "__getitem__" and contents.lookup(args[0]) is None:
            missing = special_method(tx, self, "__missing__")
            if missing is not None:
                return missing.call_function(tx, args, {})
        if name == "copy":
            return DictVariable(dict(contents.entries))
        if name in ("keys", "values", "items") and not args and not kwargs:
            return (_HiddenView if self.overrides(name) else DictView)(contents, name)
        if name in ("__iter__", "__reversed__") and self.overrides(name):
            unsupported("unsupported-iteration", f"dict.{name} of {self.describe()}, which has its own")
        if name == "fromkeys":
            unsupported("unsupported-method", f"{self.cls.__name__}.fromkeys")
        return self._on_contents(tx, contents, name, args, kwargs)

    def _on_contents(
        self, tx: Translator, contents: DictContents | ListContents, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        from pydynamo.frontend.comparison import DUNDER_OF, compare
        from pydynamo.frontend.operators import binary

        if len(args) == 1 and not kwargs:
            symbol = next((symbol for symbol, dunder in DUNDER_OF.items() if dunder == name), None)
            other = contents_of(args[0].realize())
            if symbol is not None:
                if not isinstance(other, DictVariable if isinstance(contents, DictContents) else SequenceVariable):
                    return constant(NotImplemented)
                return compare(tx, symbol, contents, other)
            if name in ("__add__", "__or__", "__ror__", "__iadd__"):
                if other.python_type() not in _BASES:
                    unsupported("unsupported-operator", f"{name} of {self.describe()} and {other.describe()}")
                bare = name.strip("_")
                if bare == "ror":
                    return binary(tx, "or", other, _plain_copy(contents))
                if bare == "iadd":
                    return contents.call_method(tx, "extend", [other], {}) and self
                return binary(tx, bare, _plain_copy(contents), other)
        return contents.call_method(tx, name, args, kwargs)

    def _update(self, tx: Translator, contents: DictContents, args: Args, kwargs: Kwargs, through_items: bool) -> None:
        from pydynamo.frontend.variables.dict_methods import pairs_of

        if len(args) > 1:
            unsupported("unsupported-builtin", f"{self.cls.__name__}() with these arguments")
        pairs = list(pairs_of(tx, args[0])) if args else []
        pairs += [(constant(name), value) for name, value in kwargs.items()]
        for key, value in pairs:
            if through_items:
                self.setitem(tx, key, value)
            else:
                contents.setitem(tx, key, value)

    # codegen -----------------------------------------------------------------------------------------------------
    def reconstruct(self, cg: PyCodegen) -> None:
        from pydynamo.frontend.variables.user_keys import check_can_be_built

        if isinstance(self.contents, DictContents):
            check_can_be_built(self.contents.entries)
        base: Any = self.contents.cls
        cg.call(lambda: cg.load_object(base.__new__), [lambda: cg.load_object(self.cls)])
        cg.fill_later(self)

    def fill(self, cg: PyCodegen) -> None:
        """Emit what puts the contents into the object, which exists."""
        contents = self.contents
        helper: Any = replace_list if isinstance(contents, ListContents) else replace_dict
        cg.call(lambda: cg.load_object(helper), [lambda: cg(self), lambda: self._build(cg)])
        cg.emit(asm.instruction("POP_TOP"))

    def _build(self, cg: PyCodegen) -> None:
        if isinstance(self.contents, ListContents):
            cg.build("BUILD_LIST", self.contents.items)
        else:
            cg.build_map(list(self.contents.entries.values()))


def _plain_copy(contents: DictContents | ListContents) -> VariableTracker:
    if isinstance(contents, ListContents):
        return SequenceVariable(list(contents.items), list)
    return DictVariable(dict(contents.entries))


def contents_of(value: VariableTracker) -> VariableTracker:
    """What an object of a container's subclass holds; any other value as it is."""
    return value.contents if isinstance(value, ContainerObjectVariable) else value


def plain_operand(value: VariableTracker, *dunders: str) -> VariableTracker:
    """The contents, if the operators of these names are those of the builtin base; otherwise the value as it is."""
    if isinstance(value, ContainerObjectVariable) and not value.overrides(*dunders):
        # what `|` makes of an OrderedDict's subclass is of that class
        return value if value.contents.cls is collections.OrderedDict and "__or__" in dunders else value.contents
    return value
