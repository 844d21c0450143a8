"""Dictionaries (dict, OrderedDict, defaultdict, Counter), their views, and sets."""

from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, defines, type_name
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.hashed_iterators import DictIterator, SetIterator
from pydynamo.frontend.variables.set_order import Layout, added, by_insertion, is_plain
from pydynamo.frontend.variables.user_keys import check_can_be_built

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator

DICT_TYPES: frozenset[type] = frozenset({dict, collections.OrderedDict, collections.defaultdict, collections.Counter})
Pair = tuple[VariableTracker, VariableTracker]


class DictVariable(VariableTracker):
    """A dictionary with known keys, in order."""

    mutable = True

    def __init__(
        self,
        entries: dict[Any, Pair] | None = None,
        cls: type = dict,
        source: Source | None = None,
        factory: VariableTracker | None = None,
    ) -> None:
        self.entries: dict[Any, Pair] = entries if entries is not None else {}
        self.cls = cls
        self.source = source
        self.factory = factory

    @classmethod
    def from_pairs(cls, pairs: list[Pair], kind: type = dict, source: Source | None = None) -> DictVariable:
        made = cls({}, kind, source)
        for key, value in pairs:
            made.put(key, value)
        return made

    def put(self, key: VariableTracker, value: VariableTracker, code: Any = None) -> None:
        """Store without telling the ledger; an equal key that is there stays. ``code`` is the key's, if it was asked."""
        code = key.realize().hash_key() if code is None else code
        old = self.entries.get(code)
        self.entries[code] = (old[0] if old is not None else key, value)

    def is_built_whole(self) -> bool:
        """True if the instruction that makes the dictionary anew puts its entries in."""
        return True

    def python_type(self) -> type:
        return self.cls

    def is_constant(self) -> bool:
        return self.cls is dict and all(
            k.realize().is_constant() and v.realize().is_constant() for k, v in self.entries.values()
        )

    def as_constant(self) -> Any:
        if self.cls is not dict:
            unsupported("data-dependent-value", f"a constant {self.cls.__name__} is needed")
        return {k.realize().as_constant(): v.realize().as_constant() for k, v in self.entries.values()}

    def as_fx(self) -> Any:
        return {k.realize().as_constant(): v.realize().as_fx() for k, v in self.entries.values()}

    def as_fake(self) -> Any:
        return {k.realize().as_constant(): v.realize().as_fake() for k, v in self.entries.values()}

    def truth(self, tx: Translator) -> bool:
        return bool(self.entries)

    def length(self, tx: Translator) -> VariableTracker:
        return constant(len(self.entries))

    def lookup(self, key: VariableTracker, code: Any = None) -> VariableTracker | None:
        """The value for ``key``, or None; no default factory. ``code`` is the key's, if it was asked."""
        pair = self.entries.get(key.realize().hash_key() if code is None else code)
        return pair[1] if pair is not None else None

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        found = self.lookup(key)
        if found is not None:
            return found
        if self.cls is collections.Counter:
            return constant(0)
        if self.factory is not None:
            value = self.factory.call_function(tx, [], {})
            self.setitem(tx, key, value)
            return value
        tx.raise_error(KeyError, key)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self.store(tx, key, value, key.realize().hash_key())

    def store(self, tx: Translator, key: VariableTracker, value: VariableTracker, code: Any) -> None:
        """Store, under a key whose code was asked already."""
        tx.ledger.mutate(self)
        self.put(key, value, code)

    def delitem(self, tx: Translator, key: VariableTracker, code: Any = None) -> None:
        code = key.realize().hash_key() if code is None else code
        if code not in self.entries:
            if self.cls is collections.Counter:
                return
            tx.raise_error(KeyError, key)
        tx.ledger.mutate(self)
        del self.entries[code]

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return item.realize().hash_key() in self.entries

    def get_iter(self, tx: Translator) -> VariableTracker:
        return DictView(self, "keys").get_iter(tx)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin
        from pydynamo.frontend.variables.objects import ClassVariable

        if name == "__class__":
            return ClassVariable(self.cls, None)
        if name == "default_factory" and self.cls is collections.defaultdict:
            return self.factory if self.factory is not None else constant(None)
        if defines(self.cls, name) and callable(getattr(self.cls, name)):
            return MethodOfBuiltin(self, name)
        if defines(self.cls, name):
            unsupported("unsupported-attribute", f"attribute {name!r} of {self.describe()}")
        if self.source is not None and self.cls.__dictoffset__:
            unsupported("unsupported-attribute", f"attribute {name!r}, which only {self.describe()} itself may have")
        tx.raise_error(AttributeError, f"'{type_name(self.cls)}' object has no attribute '{name}'")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.dict_methods import call_dict_method

        return call_dict_method(tx, self, name, args, kwargs)

    def children(self) -> list[VariableTracker]:
        return [value for pair in self.entries.values() for value in pair]

    def reconstruct(self, cg: PyCodegen) -> None:
        check_can_be_built(self.entries)
        if self.cls is dict:
            cg.build_map(list(self.entries.values()))
            return
        factory = self.factory
        if self.cls is collections.defaultdict:
            cg.call(
                lambda: cg.load_object(collections.defaultdict),
                [
                    lambda: cg(factory) if factory is not None else cg.load_const(None),
                    lambda: cg.build_map(list(self.entries.values())),
                ],
            )
        else:
            cg.call(lambda: cg.load_object(self.cls), [lambda: cg.build_map(list(self.entries.values()))])


class DictView(VariableTracker):
    """``d.keys()``, ``d.values()`` or ``d.items()``: follows later changes of the dictionary."""

    def __init__(self, owner: DictVariable, kind: str) -> None:
        self.owner = owner
        self.kind = kind

    def python_type(self) -> type:
        ordered = issubclass(self.owner.cls, collections.OrderedDict)
        return type(getattr(collections.OrderedDict() if ordered else {}, self.kind)())

    def values(self) -> list[VariableTracker]:
        """What the view shows now."""
        from pydynamo.frontend.variables.sequence import SequenceVariable

        pairs = self.owner.entries.values()
        if self.kind == "keys":
            return [key for key, _ in pairs]
        if self.kind == "values":
            return [value for _, value in pairs]
        return [SequenceVariable([key, value], tuple) for key, value in pairs]

    def get_iter(self, tx: Translator) -> VariableTracker:
        return DictIterator(self)

    def length(self, tx: Translator) -> VariableTracker:
        return constant(len(self.owner.entries))

    def truth(self, tx: Translator) -> bool:
        return bool(self.owner.entries)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if self.kind == "keys":
            return self.owner.contains(tx, item)
        return super().contains(tx, item)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend import protocols

        if name in ("__iter__", "__len__", "__contains__") and not kwargs:
            return protocols.call_dunder(tx, name, self, args)
        if name == "isdisjoint" and self.kind == "keys":
            return SetVariable.from_values(self.values(), set).call_method(tx, name, args, kwargs)
        return super().call_method(tx, name, args, kwargs)

    def children(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call_method_of(self.owner, self.kind)


class SetVariable(VariableTracker):
    """A set or frozenset with known members, in an order that is not promised."""

    def __init__(self, members: dict[Any, VariableTracker], cls: type = set, source: Source | None = None) -> None:
        self.members = members
        self.cls = cls
        self.source = source
        self.mutable = cls is set
        self.layout: Layout = None

    @classmethod
    def from_values(cls, values: list[VariableTracker], kind: type, source: Source | None = None) -> SetVariable:
        members: dict[Any, VariableTracker] = {}
        for value in values:
            members.setdefault(value.realize().hash_key(), value)
        made = cls(members, kind, source)
        if source is None:
            made.layout = added(members)
        return made

    def python_type(self) -> type:
        return self.cls

    def is_constant(self) -> bool:
        return all(item.realize().is_constant() for item in self.members.values())

    def as_constant(self) -> Any:
        in_order = [item.realize().as_constant() for item in self.ordered()]
        for made in (self.cls(in_order), self.cls(self.layout or ())):
            if list(made) == in_order:
                return made
        unsupported("unsupported-iteration", "a set whose order cannot be brought about again")

    def hash_key(self) -> Any:
        if self.cls is set:
            return super().hash_key()
        return frozenset(self.members)

    def truth(self, tx: Translator) -> bool:
        return bool(self.members)

    def length(self, tx: Translator) -> VariableTracker:
        return constant(len(self.members))

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return item.realize().hash_key() in self.members

    def ordered(self) -> list[VariableTracker]:
        """The members in iteration order, when that is certain: it hangs on how the set came to be."""
        if len(self.members) <= 1:
            return list(self.members.values())
        if self.layout is not None:
            return [self.members[code] for code in self.layout]
        if all(type(code) is int and 0 <= code < 8 for code in self.members):
            return [self.members[code] for code in sorted(self.members)]  # places of their own in the smallest table
        unsupported("unsupported-iteration", "the order of a set is not known while compiling")

    def get_iter(self, tx: Translator) -> VariableTracker:
        return SetIterator(self, self.ordered())

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if defines(self.cls, name) and callable(getattr(self.cls, name)):
            return MethodOfBuiltin(self, name)
        if defines(self.cls, name):
            unsupported("unsupported-attribute", f"attribute {name!r} of {self.describe()}")
        tx.raise_error(AttributeError, f"'{type_name(self.cls)}' object has no attribute '{name}'")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.dict_methods import call_set_method

        return call_set_method(tx, self, name, args, kwargs)

    def children(self) -> list[VariableTracker]:
        return list(self.members.values())

    def reconstruct(self, cg: PyCodegen) -> None:
        check_can_be_built(self.members)
        members = list(self.members.values())
        if self.layout is not None:
            members = self.ordered()
            if not by_insertion(self.layout):
                layout = frozenset(self.layout)
                if list(self.cls(layout)) != list(self.layout):
                    unsupported("reconstruction-failure", "a set whose order cannot be brought about again")
                # not a constant itself: CPython makes frozen sets of texts anew, in another order
                cg.call(lambda: cg.load_object(functools.partial(self.cls, layout)), [])
                return
        elif len(members) > 1 and all(is_plain(code) for code in self.members):
            members = self.ordered()
        if self.cls is set:
            cg.build("BUILD_SET", members)
        else:
            cg.call(
                lambda: cg.load_object(frozenset),
                [lambda: cg.build("BUILD_TUPLE", members)],
            )
