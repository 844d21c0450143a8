"""What functools and collections do in C, in Python."""

from __future__ import annotations

from typing import Any


class _Key:
    """An item that compares as ``compare`` says."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) >= 0

    def __eq__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) == 0

    __hash__ = None  # type: ignore[assignment]


def cmp_to_key(mycmp: Any) -> Any:
    """``functools.cmp_to_key``"""
    return lambda obj: _Key(mycmp, obj)


def count_elements(mapping: Any, iterable: Any) -> None:
    """``collections._count_elements``"""
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1
