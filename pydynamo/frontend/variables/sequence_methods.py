"""Methods of lists, tuples and deques."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, type_name
from pydynamo.frontend.variables.constant import NONE, constant, run_python
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator


def call_sequence_method(
    tx: Translator, seq: SequenceVariable, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """``seq.name(*args, **kwargs)``"""
    from pydynamo.frontend import protocols

    if not hasattr(seq.cls, name):
        tx.raise_error(AttributeError, f"'{type_name(seq.cls)}' object has no attribute '{name}'")
    if name in _DUNDERS and len(args) == _DUNDERS[name] and not kwargs:
        return protocols.call_dunder(tx, name, seq, args)
    if name in ("count", "index"):
        return _search(tx, seq, name, args, kwargs)
    if name == "numel" and not args:
        total = 1
        for item in seq.items:
            total *= item.realize().as_constant()
        return constant(total)
    if not seq.mutable:
        unsupported("unsupported-method", f"{seq.cls.__name__}.{name}")
    handler = _MUTATORS.get(name)
    if handler is None or (seq.cls is list and name in _DEQUE_ONLY) or (kwargs and name != "sort"):
        unsupported("unsupported-method", f"{seq.cls.__name__}.{name}")
    return handler(tx, seq, args, kwargs)


_DUNDERS = {
    "__len__": 0,
    "__iter__": 0,
    "__getitem__": 1,
    "__setitem__": 2,
    "__delitem__": 1,
    "__contains__": 1,
    "__eq__": 1,
    "__ne__": 1,
    "__add__": 1,
    "__mul__": 1,
    "__iadd__": 1,
    "__lt__": 1,
    "__le__": 1,
    "__gt__": 1,
    "__ge__": 1,
}
_DEQUE_ONLY = frozenset({"appendleft", "popleft", "extendleft", "rotate"})


def _search(tx: Translator, seq: SequenceVariable, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend import comparison, protocols

    if kwargs or not args or (name == "count" and len(args) != 1):
        unsupported("unsupported-method", f"{seq.cls.__name__}.{name} with these arguments")
    bounds = [protocols.as_index(tx, arg.realize()) for arg in args[1:]]
    window = range(
        *slice(*(bounds if len(bounds) == 2 else [*bounds, None] if bounds else [None])).indices(len(seq.items))
    )
    found = 0
    for position in window:
        if comparison.same_or_equal(tx, seq.items[position].realize(), args[0].realize()):
            if name == "index":
                return constant(position)
            found += 1
    if name == "index":
        if issubclass(seq.cls, tuple):
            tx.raise_error(ValueError, "tuple.index(x): x not in tuple")
        unsupported("uncaught-exception", "index() of a value that is not there")
    return constant(found)


def _exactly(tx: Translator, args: Args, count: int) -> None:
    if len(args) != count:
        unsupported("unsupported-method", "wrong number of arguments")


def _turn(tx: Translator, seq: SequenceVariable) -> None:
    """Call before items come or go."""
    tx.ledger.mutate(seq)
    seq.turns += 1


def _trim(seq: SequenceVariable, left: bool) -> None:
    if seq.maxlen is not None:
        while len(seq.items) > seq.maxlen:
            seq.items.pop(0 if left else -1)


def _append(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 1)
    _turn(tx, seq)
    seq.items.append(args[0])
    _trim(seq, left=True)
    return NONE


def _appendleft(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 1)
    _turn(tx, seq)
    seq.items.insert(0, args[0])
    _trim(seq, left=False)
    return NONE


def _extend(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import iterate, listed

    _exactly(tx, args, 1)
    if args[0].realize() is seq:
        values = iter(list(seq.items))
    else:
        values = (listed if seq.cls is list else iterate)(tx, args[0])
    tx.ledger.mutate(seq)
    for value in values:
        seq.turns += 1
        seq.items.append(value)
        _trim(seq, left=True)
    return NONE


def _extendleft(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import iterate

    _exactly(tx, args, 1)
    values = list(iterate(tx, args[0]))
    tx.ledger.mutate(seq)
    for value in values:
        seq.turns += 1
        seq.items.insert(0, value)
        _trim(seq, left=False)
    return NONE


def _insert(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import as_index

    _exactly(tx, args, 2)
    if seq.maxlen is not None:
        unsupported("unsupported-method", "insert() into a bounded deque")
    index = as_index(tx, args[0].realize())
    _turn(tx, seq)
    seq.items.insert(index, args[1])
    return NONE


def _pop(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import as_index

    if len(args) > 1:
        unsupported("unsupported-method", "wrong number of arguments")
    if not seq.items:
        tx.raise_error(IndexError, "pop from empty list" if seq.cls is list else "pop from an empty deque")
    index = as_index(tx, args[0].realize()) if args else -1
    if args and seq.cls is not list:
        unsupported("unsupported-method", "wrong number of arguments")
    if not -len(seq.items) <= index < len(seq.items):
        tx.raise_error(IndexError, "pop index out of range")
    _turn(tx, seq)
    return seq.items.pop(index)


def _popleft(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 0)
    if not seq.items:
        tx.raise_error(IndexError, "pop from an empty deque")
    _turn(tx, seq)
    return seq.items.pop(0)


def _clear(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 0)
    _turn(tx, seq)
    seq.items.clear()
    return NONE


def _reverse(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 0)
    tx.ledger.mutate(seq)
    seq.items.reverse()
    return NONE


def _rotate(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import as_index

    shift = collections.deque(seq.items)
    shift.rotate(as_index(tx, args[0].realize()) if args else 1)
    tx.ledger.mutate(seq)
    seq.turns += len(seq.items) > 1
    seq.items[:] = shift
    return NONE


def _remove(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.comparison import same_or_equal

    _exactly(tx, args, 1)
    for position, item in enumerate(seq.items):
        if same_or_equal(tx, item.realize(), args[0].realize()):
            _turn(tx, seq)
            del seq.items[position]
            return NONE
    if seq.cls is list:
        empty: list[object] = []
        run_python(tx, lambda: empty.remove(None))
    unsupported("uncaught-exception", "remove() of a value that is not there")


def _copy(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    _exactly(tx, args, 0)
    return SequenceVariable(list(seq.items), seq.cls, maxlen=seq.maxlen)


def _sort(tx: Translator, seq: SequenceVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.protocols import sort_items, sorts_in_reverse

    if args or seq.cls is not list:
        unsupported("unsupported-method", "sort() with these arguments")
    if "reverse" in kwargs:  # which may be the list itself
        kwargs = {**kwargs, "reverse": constant(sorts_in_reverse(tx, kwargs["reverse"].realize()))}
    tx.ledger.mutate(seq)
    rows = list(seq.items)
    seq.items.clear()  # as whoever looks at a list that is being sorted sees it
    try:
        sort_items(tx, rows, kwargs)
    finally:
        changed = bool(seq.items)
        seq.items[:] = rows
    if changed:
        tx.raise_error(ValueError, "list modified during sort")
    return NONE


_MUTATORS = {
    "append": _append,
    "appendleft": _appendleft,
    "extend": _extend,
    "extendleft": _extendleft,
    "insert": _insert,
    "pop": _pop,
    "popleft": _popleft,
    "clear": _clear,
    "reverse": _reverse,
    "rotate": _rotate,
    "remove": _remove,
    "copy": _copy,
    "__copy__": _copy,
    "sort": _sort,
}
