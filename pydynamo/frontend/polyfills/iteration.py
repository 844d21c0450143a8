"""Iterators that CPython makes in C, as generators: over indices, calls, and shared items; heaps and bisection."""

from __future__ import annotations

import operator
from typing import Any


class _Indexed:
    def __getitem__(self, index: int) -> Any:
        raise IndexError


#: what ``iter()`` of an object that has only ``__getitem__`` is
INDEX_ITERATOR = type(iter(_Indexed()))


def by_index(sequence: Any) -> Any:
    """``iter()`` of an object that has only ``__getitem__``."""
    index = 0
    while True:
        try:
            item = sequence[index]
        except (IndexError, StopIteration):
            return
        yield item
        index = index + 1


def by_index_backwards(sequence: Any, length: Any) -> Any:
    """``reversed()`` of an object of that length that has only ``__len__`` and ``__getitem__``."""
    for index in range(length - 1, -1, -1):
        try:
            item = sequence[index]
        except (IndexError, StopIteration):
            return
        yield item


def by_call(function: Any, sentinel: Any) -> Any:
    """``iter(function, sentinel)``"""
    while True:
        try:
            item = function()
        except StopIteration:
            return
        if [item] == [sentinel]:  # one object is always equal to itself
            return
        yield item


def count_of(a: Any, b: Any) -> Any:
    """``operator.countOf``"""
    return sum([1 for item in a if [item] == [b]])


def index_of(a: Any, b: Any) -> Any:
    """``operator.indexOf``"""
    index = 0
    for item in a:
        if [item] == [b]:
            return index
        index = index + 1
    raise ValueError("sequence.index(x): x not in sequence")


def tee(iterable: Any, n: Any = 2) -> Any:
    """``itertools.tee``: each iterator has a queue of what it did not give yet."""
    if n < 0:
        raise ValueError("n must be >= 0")
    if n == 0:
        return ()
    source = iter(iter(iterable))  # the original asks the iterator for its iterator as well
    queues: Any = [[] for _ in range(n)]

    def items(mine: Any) -> Any:
        while True:
            if not mine:
                try:
                    item = next(source)
                except StopIteration:
                    return
                for queue in queues:
                    queue.append(item)
            yield mine.pop(0)

    return tuple([items(queue) for queue in queues])


# heaps: the same comparisons in the same order as CPython's, so that equal items end up in equal places --------------
def _rise(heap: Any, top: Any, position: Any) -> None:
    item = heap[position]
    while position > top:
        parent = (position - 1) >> 1
        above = heap[parent]
        if not item < above:
            break
        heap[position] = above
        position = parent
    heap[position] = item


def _sink(heap: Any, position: Any) -> None:
    end, start = len(heap), position
    item = heap[position]
    child = 2 * position + 1
    while child < end:
        other = child + 1
        if other < end and not heap[child] < heap[other]:
            child = other
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    _rise(heap, start, position)


def _check_list(heap: Any, name: Any) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"{name} must be list, not {type(heap).__name__}")


def heappush(heap: Any, item: Any) -> None:
    _check_list(heap, "heappush() argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    _check_list(heap, "heappop() argument")
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        _sink(heap, 0)
        return first
    return last


def heapreplace(heap: Any, item: Any) -> Any:
    _check_list(heap, "heapreplace() argument 1")
    if not heap:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return first


def heappushpop(heap: Any, item: Any) -> Any:
    _check_list(heap, "heappushpop() argument 1")
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _sink(heap, 0)
    return item


def heapify(heap: Any) -> None:
    _check_list(heap, "heapify() argument")
    for position in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, position)


# bisection ---------------------------------------------------------------------------------------------------------
def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    lo = operator.index(lo)
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    lo = operator.index(lo)
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    position = bisect_left(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(position, x)


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    position = bisect_right(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(position, x)
