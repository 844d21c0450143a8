"""What functools and collections do in C, in Python."""

from __future__ import annotations

import functools
from typing import Any


class Key:
    """What ``functools.cmp_to_key`` gives, and what calling that gives for an item: it compares as ``compare`` says."""

    __slots__ = ("_compare", "_items", "obj")

    def __init__(self, compare: Any, *items: Any) -> None:
        self._compare = compare
        self._items = items
        self.obj = items[0] if items else None

    def __call__(self, *items: Any, **named: Any) -> Any:
        if len(items) + len(named) > 1:
            kind = "keyword argument" if not items else "argument"
            raise TypeError(f"K() takes at most 1 {kind} ({len(items) + len(named)} given)")
        if not items and "obj" not in named:
            raise TypeError("K() missing required argument 'obj' (pos 1)")
        return Key(self._compare, *items, *named.values())

    def _order(self, other: Any) -> Any:
        if type(other) is not type(self):
            raise TypeError("other argument must be K instance")
        if not self._items or not other._items:
            raise AttributeError("object")
        return self._compare(self.obj, other.obj)

    def __lt__(self, other: Any) -> Any:
        return self._order(other) < 0

    def __gt__(self, other: Any) -> Any:
        return self._order(other) > 0

    def __le__(self, other: Any) -> Any:
        return self._order(other) <= 0

    def __ge__(self, other: Any) -> Any:
        return self._order(other) >= 0

    def __eq__(self, other: Any) -> Any:
        return self._order(other) == 0

    def __ne__(self, other: Any) -> Any:
        return self._order(other) != 0

    __hash__ = None  # type: ignore[assignment]


#: the class in C that a ``Key`` stands for
KEY_WRAPPER = type(functools.cmp_to_key(max))
Key.__name__ = "functools.KeyWrapper"  # what messages call it


def real_key(compare: Any, *items: Any) -> Any:
    """What a ``Key`` becomes when it leaves the trace."""
    made: Any = functools.cmp_to_key(compare)
    return made(items[0]) if items else made


def cmp_to_key(mycmp: Any) -> Any:
    """``functools.cmp_to_key``"""
    return Key(mycmp)


def count_elements(mapping: Any, iterable: Any) -> None:
    """``collections._count_elements``"""
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1
