"""Iterators over dictionaries, their views, and sets: they follow later changes of what they iterate, as CPython's do."""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.iterators import AnyIterator, stop

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.dicts import DictView, SetVariable


class DictIterator(AnyIterator):
    """``iter(view)`` or ``reversed(view)``: gives the entries as they are when it comes to them."""

    def __init__(self, view: DictView, reverse: bool = False) -> None:
        self.view = view
        self.reverse = reverse
        self.keys = list(view.owner.entries)
        self.index = 0
        self.done = False

    def python_type(self) -> type:
        ordered = issubclass(self.view.owner.cls, collections.OrderedDict)
        real = getattr(collections.OrderedDict() if ordered else {}, self.view.kind)()
        return type(reversed(real) if self.reverse else iter(real))

    def next(self, tx: Translator) -> VariableTracker:
        if self.done:
            stop(tx)
        owner = self.view.owner
        if len(owner.entries) != len(self.keys):
            ordered = issubclass(owner.cls, collections.OrderedDict)
            what = "OrderedDict mutated" if ordered else "dictionary changed size"
            tx.raise_error(RuntimeError, f"{what} during iteration")
        if list(owner.entries) != self.keys:
            # which keys are met then depends on how the table was laid out
            unsupported("unsupported-iteration", "a dictionary whose keys were exchanged while it is iterated over")
        if self.index >= len(self.keys):
            self.done = True
            stop(tx)
        self.index += 1
        return self.view.values()[-self.index if self.reverse else self.index - 1]

    def waits_for_changes(self, cg: PyCodegen) -> bool:
        """True if the dictionary is the caller's, and does not have the keys yet that it had when the iterator was made."""
        before = cg.ledger.contents.get(self.view.owner)
        return not cg.changes_made and not self.done and before is not None and list(before) != self.keys

    def children(self) -> list[VariableTracker]:
        return [self.view]

    def reconstruct(self, cg: PyCodegen) -> None:
        make = reversed if self.reverse else iter
        owner = self.view.owner
        if self.done and (owner.source is not None or owner.is_built_whole()):
            cg.call(lambda: cg.load_object(_exhausted), [lambda: cg.load_object(make), lambda: cg(self.view)])
            return
        if owner.source is None and not owner.is_built_whole():
            unsupported("reconstruction-failure", "an iterator in use over a dictionary that is filled later")
        changed = list(owner.entries) != self.keys
        if (changed and (owner.source is None or cg.changes_made)) or self.waits_for_changes(cg):
            unsupported("reconstruction-failure", "an iterator in use over a dictionary that has changed")
        cg.call(
            lambda: cg.load_object(_advanced),
            [
                lambda: cg.load_object(make),
                lambda: cg(self.view),
                lambda: cg.load_const(self.index),
            ],
        )


class SetIterator(AnyIterator):
    """``iter(set)``; members in the order in which the set gave them when the iterator was made."""

    def __init__(self, owner: SetVariable, items: list[VariableTracker]) -> None:
        self.owner = owner
        self.items = items
        self.index = 0
        self.done = False
        self.members = list(owner.members)

    def python_type(self) -> type:
        return type(iter(set()))

    def next(self, tx: Translator) -> VariableTracker:
        if self.done:
            stop(tx)
        if len(self.owner.members) != len(self.items):
            tx.raise_error(RuntimeError, "Set changed size during iteration")
        if list(self.owner.members) != self.members:
            unsupported("unsupported-iteration", "a set whose members were exchanged while it is iterated over")
        if self.index >= len(self.items):
            self.done = True
            stop(tx)
        self.index += 1
        return self.items[self.index - 1]

    def children(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.done:
            cg.call(lambda: cg.load_object(_exhausted), [lambda: cg.load_object(iter), lambda: cg(self.owner)])
            return
        if self.owner.source is None:
            # one built anew may give its members in another order
            unsupported("reconstruction-failure", "an iterator in use over a set")
        before = cg.ledger.contents.get(self.owner)
        if before is not None and list(self.owner.members if cg.changes_made else before) != self.members:
            unsupported("reconstruction-failure", "an iterator in use over a set that has changed")
        cg.call(
            lambda: cg.load_object(_advanced),
            [lambda: cg.load_object(iter), lambda: cg(self.owner), lambda: cg.load_const(self.index)],
        )


def _advanced(make: Any, iterable: Any, count: int) -> Any:
    """An iterator that has given ``count`` items."""
    iterator = make(iterable)
    next(itertools.islice(iterator, count, count), None)
    return iterator


def _exhausted(make: Any, iterable: Any) -> Any:
    """An iterator at its end."""
    iterator = make(iterable)
    collections.deque(iterator, maxlen=0)
    return iterator
