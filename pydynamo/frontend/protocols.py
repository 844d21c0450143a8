"""Iteration, membership, subscripts, sorting: what Python does through a value's methods."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydynamo.frontend.comparison import DUNDER_OF, compare, same_or_equal
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.operators import BINARY, binary, is_user_object
from pydynamo.frontend.variables.base import Kwargs, VariableTracker, has_special
from pydynamo.frontend.variables.constant import ConstantVariable, constant, from_python, run_python

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator


def contains(tx: Translator, container: VariableTracker, item: VariableTracker) -> bool:
    """``item in container``"""
    container, item = container.realize(), item.realize()
    if is_user_object(container):
        from pydynamo.frontend.variables.class_lookup import special_method

        method = special_method(tx, container, "__contains__")
        if method is not None:
            return tx.truth(method.call_function(tx, [item], {}))
    return container.contains(tx, item)


def contains_by_iteration(tx: Translator, container: VariableTracker, item: VariableTracker) -> bool:
    """Membership by walking over the container."""
    return any(same_or_equal(tx, candidate, item) for candidate in iterate(tx, container))


def iterate(tx: Translator, value: VariableTracker) -> Iterator[VariableTracker]:
    """The items of ``value``, one after the other, as a for loop sees them."""
    yield from stepping(tx, value.realize().get_iter(tx).realize())


def listed(tx: Translator, value: VariableTracker) -> Iterator[VariableTracker]:
    """The items of ``value`` as what makes a list or tuple of them takes them: it asks how many there may be."""
    value = value.realize()
    iterator = value.get_iter(tx).realize()
    if is_user_object(value):
        _ask_for_length(tx, value)
    else:
        _ask_what_is_left(tx, value)
    yield from stepping(tx, iterator)


#: what makes a tuple asks no longer how many items there may be
tupled = iterate if sys.version_info >= (3, 14) else listed


def fast_listed(tx: Translator, value: VariableTracker) -> list[VariableTracker]:
    """The items of ``value`` where C code takes a list or tuple as it is, and makes a list of any other's iterator."""
    value = value.realize()
    return list(listed(tx, value.get_iter(tx) if is_user_object(value) else value))


def _ask_for_length(tx: Translator, value: VariableTracker) -> None:
    """``operator.length_hint(value)`` for an object of a class in Python, for the sake of what its methods do."""
    from pydynamo.frontend.variables.class_lookup import ask

    cls = value.python_type()
    if issubclass(cls, tuple):
        return
    if has_special(cls, "__len__"):
        try:
            value.length(tx)
        except ObservedException as error:
            if not issubclass(error.vt.python_type(), TypeError):
                raise
        else:
            return
    if has_special(cls, "__length_hint__"):
        hint = ask(tx, value, "__length_hint__").realize()
        if not (hint.is_constant() and (hint.as_constant() is NotImplemented or type(hint.as_constant()) is int)):
            unsupported("unsupported-method", f"what __length_hint__ of {value.describe()} returns")
        if type(hint.as_constant()) is int and hint.as_constant() < 0:
            tx.raise_error(ValueError, "__length_hint__() should return >= 0")


def _ask_what_is_left(tx: Translator, value: VariableTracker) -> None:
    """The same for an iterator over the indices of such an object, which asks for the object's length."""
    from pydynamo.frontend.inline import GeneratorVariable

    if not isinstance(value, GeneratorVariable) or value.over is None or value.closed:
        return
    if has_special(value.over.python_type(), "__len__"):
        try:
            value.over.length(tx)
        except ObservedException as error:
            if not issubclass(error.vt.python_type(), TypeError):
                raise


def stepping(tx: Translator, iterator: VariableTracker) -> Iterator[VariableTracker]:
    """What ``next()`` gives until the iterator ends."""
    for _ in range(1 << 17):
        try:
            yield iterator.next(tx)
        except ObservedException as error:
            if issubclass(error.vt.python_type(), StopIteration):
                return
            raise
    unsupported("too-long", "a very long iteration")


def getitem(tx: Translator, owner: VariableTracker, key: VariableTracker) -> VariableTracker:
    """``owner[key]``"""
    return owner.realize().getitem(tx, key.realize())


def as_index(tx: Translator, value: VariableTracker) -> int:
    """The integer that ``value`` stands for as an index."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    value = value.realize()
    if isinstance(value, SymNumberVariable):
        value = value.specialize(tx)
    if is_user_object(value):
        from pydynamo.frontend.variables.class_lookup import ask

        value = ask(tx, value, "__index__").realize()
    index = value.as_constant()
    return int(run_python(tx, lambda: operator.index(index)))


def sorts_in_reverse(tx: Translator, reverse: VariableTracker) -> bool:
    """The argument ``reverse`` of a sort."""
    if sys.version_info < (3, 12) and not issubclass(reverse.python_type(), int):
        unsupported("unsupported-builtin", "sorting in reverse by what 3.11 takes for no number")
    return tx.truth(reverse)


def sort_items(tx: Translator, items: list[VariableTracker], kwargs: Kwargs) -> list[VariableTracker]:
    """``sorted(items, key=…, reverse=…)``; ``items`` is left in the order of the moment where a comparison raises."""
    unknown = set(kwargs) - {"key", "reverse"}
    if unknown:
        unsupported("unsupported-builtin", f"sorting with {unknown}")
    key = kwargs["key"].realize() if "key" in kwargs else None
    keyed = key is not None and not (isinstance(key, ConstantVariable) and key.value is None)
    reverse = "reverse" in kwargs and sorts_in_reverse(tx, kwargs["reverse"].realize())
    rows = [
        _SortRow(tx, key.call_function(tx, [item], {}).realize() if keyed and key is not None else item.realize(), item)
        for item in items
    ]
    try:
        rows.sort(reverse=reverse)
    finally:
        items[:] = [row.item for row in rows]
    return items


class _SortRow:
    """An item being sorted: asks only ``<`` of the items, in the order in which CPython asks it."""

    __slots__ = ("item", "key", "tx")

    def __init__(self, tx: Translator, key: VariableTracker, item: VariableTracker) -> None:
        self.tx = tx
        self.key = key
        self.item = item

    def __lt__(self, other: _SortRow) -> bool:
        return self.tx.truth(compare(self.tx, "<", self.key, other.key))


def call_dunder(tx: Translator, name: str, owner: VariableTracker, args: list[VariableTracker]) -> VariableTracker:
    """A special method of a builtin container, called by name."""
    if name == "__len__":
        return owner.length(tx)
    if name == "__iter__":
        return owner.get_iter(tx)
    if name == "__getitem__":
        return getitem(tx, owner, args[0])
    if name == "__setitem__":
        owner.setitem(tx, args[0], args[1])
        return from_python(None)
    if name == "__delitem__":
        owner.delitem(tx, args[0])
        return from_python(None)
    if name == "__contains__":
        return constant(contains(tx, owner, args[0]))
    other = args[0].realize()
    if owner.python_type() is not other.python_type():
        unsupported("unsupported-method", f"{name} between different types")
    for symbol, dunder in DUNDER_OF.items():
        if dunder == name:
            return compare(tx, symbol, owner, other)
    bare = name.strip("_")
    if bare.startswith("i") and bare[1:] in BINARY:
        return binary(tx, bare[1:], owner, other, inplace=True)
    return binary(tx, bare, owner, other)
