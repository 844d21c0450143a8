"""A weak table whose keys count by identity.

Equal code objects are not the same: each has constants of its own, whose identity the program may see, and code that was
loaded twice is equal. Knows nothing of what it holds.
"""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByIdentity(Generic[K, V]):
    """Values by living object; an entry goes with its key, or, where there are more than ``limit``, with the older half."""

    __slots__ = ("_entries", "_limit")

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._entries: dict[int, tuple[weakref.ref[K], V]] = {}

    def get(self, key: K) -> V | None:
        """The value for this very object, None if there is none."""
        found = self._entries.get(id(key))
        return found[1] if found is not None and found[0]() is key else None

    def put(self, key: K, value: V) -> None:
        """Keep ``value``, which must not refer to ``key``, as long as ``key`` lives."""
        entries, number = self._entries, id(key)

        def gone(reference: weakref.ref[K]) -> None:
            entry = entries.get(number)
            if entry is not None and entry[0] is reference:  # and not of a later object at the same address
                entries.pop(number, None)

        entries[number] = weakref.ref(key, gone), value
        if self._limit is not None and len(entries) > self._limit:
            for old in list(entries)[: self._limit // 2]:
                entries.pop(old, None)

    def __len__(self) -> int:
        return len(self._entries)
