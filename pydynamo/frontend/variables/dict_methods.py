"""Methods of dictionaries and sets."""

from __future__ import annotations

import collections
import sys
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.operators import is_user_object
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, has_special, type_name
from pydynamo.frontend.variables.constant import NONE, constant
from pydynamo.frontend.variables.container_objects import plain_operand
from pydynamo.frontend.variables.dicts import DictVariable, DictView, SetVariable
from pydynamo.frontend.variables.hashed_iterators import DictIterator
from pydynamo.frontend.variables.iterators import AnyIterator
from pydynamo.frontend.variables.set_order import Layout, after, given_to, is_plain

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_DICT_DUNDERS = {
    "__len__": 0,
    "__iter__": 0,
    "__getitem__": 1,
    "__setitem__": 2,
    "__delitem__": 1,
    "__contains__": 1,
    "__eq__": 1,
    "__ne__": 1,
    "__or__": 1,
    "__ior__": 1,
}


def call_dict_method(
    tx: Translator, d: DictVariable, name: str, args: Args, kwargs: Kwargs, plain: bool = False
) -> VariableTracker:
    """``d.name(*args, **kwargs)``; ``plain`` for the method of dict itself."""
    from pydynamo.frontend import protocols
    from pydynamo.frontend.variables.class_lookup import lookup_source

    if not hasattr(d.cls, name):
        tx.raise_error(AttributeError, f"'{type_name(d.cls)}' object has no attribute '{name}'")
    counter = d.cls is collections.Counter and not plain
    if counter and isinstance(vars(d.cls).get(name), types.FunctionType) and name not in ("copy", "__delitem__"):
        function = vars(d.cls)[name]
        return tx.function_at(function, lookup_source(tx, d.cls, name)).call_function(tx, [d, *args], kwargs)
    if name in _DICT_DUNDERS and len(args) == _DICT_DUNDERS[name] and not kwargs:
        return protocols.call_dunder(tx, name, d, args)
    count = len(args)
    ordered = d.cls is collections.OrderedDict and name in ("popitem", "move_to_end", "fromkeys")
    if kwargs and name != "update" and not ordered:
        unsupported("unsupported-method", f"{d.cls.__name__}.{name} with keyword arguments")
    if name in ("keys", "values", "items") and count == 0:
        return DictView(d, name)
    if name == "get" and 1 <= count <= 2 and not kwargs:
        found = d.lookup(args[0])
        return found if found is not None else args[1] if count == 2 else NONE
    if name == "setdefault" and 1 <= count <= 2 and not kwargs:
        code = args[0].realize().hash_key()
        found = d.lookup(args[0], code)
        if found is None:
            found = args[1] if count == 2 else NONE
            d.store(tx, args[0], found, code)
        return found
    if name == "pop" and 1 <= count <= 2 and not kwargs:
        code = args[0].realize().hash_key()
        found = d.lookup(args[0], code)
        if found is not None:
            d.delitem(tx, args[0], code)
            return found
        if count == 2:
            return args[1]
        tx.raise_error(KeyError, args[0])
    if name == "popitem" and not args:
        return _popitem(tx, d, kwargs)
    if name == "clear" and count == 0:
        tx.ledger.mutate(d)
        d.entries.clear()
        return NONE
    if name in ("copy", "__copy__") and count == 0:
        return DictVariable(dict(d.entries), d.cls, factory=d.factory)
    if name == "update" and count <= 1:
        update(tx, d, args, kwargs)
        return NONE
    if name == "move_to_end" and count >= 1:
        return _move_to_end(tx, d, args, kwargs)
    if name == "__missing__":
        tx.raise_error(KeyError, args[0])
    if name == "fromkeys" and d.cls is collections.Counter:
        unsupported("unsupported-method", "Counter.fromkeys")
    if name == "fromkeys" and count in (1, 2):
        value = args[1] if count == 2 else kwargs.get("value", NONE)
        return DictVariable.from_pairs([(key, value) for key in protocols.iterate(tx, args[0])], d.cls)
    if name == "__reversed__" and count == 0:
        return DictIterator(DictView(d, "keys"), reverse=True)
    unsupported("unsupported-method", f"{d.cls.__name__}.{name}")


def update(tx: Translator, d: DictVariable, args: Args, kwargs: Kwargs) -> None:
    """``d.update(*args, **kwargs)``"""
    given: list[tuple[Any, VariableTracker, VariableTracker]] = []
    start = args[0].realize() if args else None
    if isinstance(start, DictVariable):
        given += [(code, key, value) for code, (key, value) in start.entries.items()]
    elif start is not None:
        given += [(key.realize().hash_key(), key, value) for key, value in pairs_of(tx, start)]
    given += [(name, constant(name), value) for name, value in kwargs.items()]
    if given:
        tx.ledger.mutate(d)
    for code, key, value in given:
        d.put(key, value, code)


def pairs_of(tx: Translator, value: VariableTracker) -> list[tuple[VariableTracker, VariableTracker]]:
    """What ``dict(value)`` takes from ``value``."""
    from pydynamo.frontend import protocols

    value = value.realize()
    if issubclass(value.python_type(), dict) and not issubclass(value.python_type(), collections.OrderedDict):
        value = plain_operand(value, "__iter__")
    if isinstance(value, DictVariable):
        return list(value.entries.values())
    if not isinstance(value, SetVariable | DictView) and hasattr(value.python_type(), "keys"):
        keys = list(protocols.iterate(tx, value.call_method(tx, "keys", [], {})))
        return [(key, protocols.getitem(tx, value, key)) for key in keys]
    pairs = []
    for entry in protocols.iterate(tx, value):
        if not any(has_special(entry.realize().python_type(), name) for name in ("__iter__", "__getitem__")):
            unsupported("unsupported-builtin", "a dictionary from entries that are not pairs")
        parts = list(protocols.iterate(tx, entry))
        if len(parts) != 2:
            unsupported("unsupported-builtin", "a dictionary from entries that are not pairs")
        pairs.append((parts[0], parts[1]))
    return pairs


def _popitem(tx: Translator, d: DictVariable, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.sequence import SequenceVariable

    last = True
    if kwargs:
        last = bool(kwargs["last"].realize().as_constant())
    if not d.entries:
        tx.raise_error(
            KeyError,
            "popitem(): dictionary is empty" if d.cls is not collections.OrderedDict else "dictionary is empty",
        )
    tx.ledger.mutate(d)
    code = list(d.entries)[-1 if last else 0]
    key, value = d.entries.pop(code)
    return SequenceVariable([key, value], tuple)


def _move_to_end(tx: Translator, d: DictVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    code = args[0].realize().hash_key()
    if code not in d.entries:
        tx.raise_error(KeyError, args[0])
    flag = args[1] if len(args) > 1 else kwargs.get("last")
    tx.ledger.mutate(d)
    pair = d.entries.pop(code)
    if flag is None or flag.realize().as_constant():
        d.entries[code] = pair
    else:
        rest = dict(d.entries)
        d.entries.clear()
        d.entries[code] = pair
        d.entries.update(rest)
    return NONE


_SET_DUNDERS = {
    "__len__": 0,
    "__iter__": 0,
    "__contains__": 1,
    "__eq__": 1,
    "__ne__": 1,
    "__or__": 1,
    "__and__": 1,
    "__sub__": 1,
    "__xor__": 1,
    "__le__": 1,
    "__lt__": 1,
    "__ge__": 1,
    "__gt__": 1,
}


def as_set(tx: Translator, value: VariableTracker) -> SetVariable:
    """``set(value)``; the order of ``value`` does not matter."""
    from pydynamo.frontend import protocols

    value = value.realize()
    if isinstance(value, SetVariable):
        copy = SetVariable(dict(value.members), set)
        copy.layout = value.layout
        return copy
    if isinstance(value, DictVariable):
        value = DictView(value, "keys")
    return SetVariable.from_values(list(protocols.iterate(tx, value)), set)


def call_set_method(tx: Translator, s: SetVariable, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``s.name(*args)``"""
    from pydynamo.frontend import protocols
    from pydynamo.frontend.variables.classes import ClassVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable

    if not hasattr(s.cls, name):
        tx.raise_error(AttributeError, f"'{type_name(s.cls)}' object has no attribute '{name}'")
    if kwargs:
        unsupported("unsupported-method", f"set.{name} with keyword arguments")
    if name in _SET_DUNDERS and len(args) == _SET_DUNDERS[name]:
        return protocols.call_dunder(tx, name, s, args)
    if name == "add" and len(args) == 1:
        code = args[0].realize().hash_key()
        if code not in s.members:
            tx.ledger.mutate(s)
            s.members[code] = args[0]
            s.layout = after(s.layout, "update", [[code] if is_plain(code) else None])
        return NONE
    if name in ("discard", "remove") and len(args) == 1:
        code = args[0].realize().hash_key()
        if code in s.members:
            tx.ledger.mutate(s)
            s.layout = after(s.layout, "difference_update", [[code]])
            del s.members[code]
        elif name == "remove":
            tx.raise_error(KeyError, args[0])
        return NONE
    if name == "clear" and not args:
        tx.ledger.mutate(s)
        s.members.clear()
        s.layout = after(s.layout, "clear", [])
        return NONE
    if name == "pop" and not args:
        if not s.members:
            tx.raise_error(KeyError, "pop from an empty set")
        first = s.ordered()[0]
        tx.ledger.mutate(s)
        if isinstance(s.layout, set):
            return s.members.pop(s.layout.pop())
        return s.members.pop(next(code for code, member in s.members.items() if member is first))
    if name == "copy" and not args:
        if s.cls is frozenset:
            return s
        return _new_set(dict(s.members), s.cls, after(s.layout, "copy", []))
    if name == "__reduce_ex__":
        items = SequenceVariable(s.ordered(), list)
        return SequenceVariable([ClassVariable(s.cls, None), SequenceVariable([items], tuple), NONE], tuple)
    if name in ("isdisjoint", "issubset", "issuperset") and len(args) == 1:
        other = _looked_at(tx, s.members, name, args[0]).members
        mine = s.members
        return constant(
            {
                "isdisjoint": not mine.keys() & other.keys(),
                "issubset": mine.keys() <= other.keys(),
                "issuperset": mine.keys() >= other.keys(),
            }[name]
        )
    if name.startswith("symmetric_difference") and len(args) != 1:
        unsupported("unsupported-method", f"set.{name} with these arguments")
    if name in _COMBINE:
        result, tables = _combined(tx, s, name, args)
        return _new_set(result, s.cls, after(s.layout, name, tables))
    if (name == "update" or name.removesuffix("_update") in _COMBINE) and s.cls is set:
        result, tables = _combined(tx, s, "union" if name == "update" else name.removesuffix("_update"), args)
        tx.ledger.mutate(s)
        s.layout = after(s.layout, name, tables)
        s.members.clear()
        s.members.update(result)
        return NONE
    unsupported("unsupported-method", f"{s.cls.__name__}.{name}")


def _combined(tx: Translator, s: SetVariable, name: str, args: Args) -> tuple[dict[Any, VariableTracker], list[Any]]:
    """The members of ``s.name(*args)``, and what stands for the arguments in the same operation on layouts."""
    result, tables = dict(s.members), []
    for arg in args:
        other = _looked_at(tx, result, name, arg)
        result = _COMBINE[name](result, other.members)
        tables.append(given_to(arg.realize(), other))
    return result, tables


#: the methods of sets that look no further in an iterator once they know
_ENDS_EARLY = ("isdisjoint", "issuperset", "intersection") + (("issubset",) if sys.version_info >= (3, 12) else ())


def _looked_at(tx: Translator, mine: dict[Any, VariableTracker], name: str, value: VariableTracker) -> SetVariable:
    """``set(value)``, of an iterator only as far as that method of a set of these members takes it."""
    from pydynamo.frontend import protocols

    value = value.realize()
    iterated = isinstance(value, AnyIterator) or is_user_object(value)
    if name not in _ENDS_EARLY or not iterated or issubclass(value.python_type(), set | frozenset):
        return as_set(tx, value)
    seen = SetVariable.from_values([], set)
    found = 0
    for item in protocols.iterate(tx, value):
        code = item.realize().hash_key()
        shared = code in mine
        found += shared and code not in seen.members
        seen.members.setdefault(code, item)
        if name == "isdisjoint" and shared:
            break
        if name == "issuperset" and not shared:
            break
        if name in ("intersection", "issubset") and shared and found == len(mine):
            break
    return seen


def _new_set(members: dict[Any, VariableTracker], cls: type, layout: Layout) -> SetVariable:
    made = SetVariable(members, cls)
    made.layout = layout
    return made


def _union(a: dict, b: dict) -> dict:  # type: ignore[type-arg]
    return {**a, **{k: v for k, v in b.items() if k not in a}}


_COMBINE: dict[str, Any] = {
    "union": _union,
    "intersection": lambda a, b: {k: v for k, v in a.items() if k in b},
    "difference": lambda a, b: {k: v for k, v in a.items() if k not in b},
    "symmetric_difference": lambda a, b: {
        **{k: v for k, v in a.items() if k not in b},
        **{k: v for k, v in b.items() if k not in a},
    },
}
