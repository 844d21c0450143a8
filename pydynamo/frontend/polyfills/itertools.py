"""The iterators of itertools as generators, as lazy as the originals.

What the originals do when they are made (asking for iterators, checking numbers) is done outside the generator. A
``zip`` of one iterable is asked for items where a loop over an iterator would ask it for its iterator once more.
"""

from __future__ import annotations

import operator
from typing import Any


def chain(*iterables: Any) -> Any:
    for iterable in iterables:
        yield from iterable


def chain_from_iterable(iterables: Any) -> Any:
    return _chained(zip(iterables))


def _chained(source: Any) -> Any:
    for (iterable,) in source:
        yield from iterable


def repeat(value: Any, *times: Any) -> Any:
    return _repeated(value, range(times[0]) if times else None)


def _repeated(value: Any, times: Any) -> Any:
    if times is None:
        while True:
            yield value
    for _ in times:
        yield value


def count(start: Any = 0, step: Any = 1) -> Any:
    if not (_is_number(start) and _is_number(step)):
        raise TypeError("a number is required")
    return _counted(start, step)


def _is_number(value: Any) -> Any:
    """``PyNumber_Check``"""
    kind = type(value)
    if kind is int or kind is float:
        return True
    return (
        hasattr(kind, "__index__")
        or hasattr(kind, "__int__")
        or hasattr(kind, "__float__")
        or isinstance(value, complex)
    )


def _counted(start: Any, step: Any) -> Any:
    while True:
        yield start
        start = start + step


def cycle(iterable: Any) -> Any:
    return _cycled(zip(iterable))


def _cycled(source: Any) -> Any:
    saved = []
    for (item,) in source:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def islice(iterable: Any, *bounds: Any) -> Any:
    limits = slice(*bounds)
    stop = None if limits.stop is None else _size(limits.stop)
    if stop == -1:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    start = 0 if limits.start is None else _size(limits.start)
    if start < 0 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    step = 1 if limits.step is None else _size(limits.step)
    if step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _sliced(iter(iterable), start, stop, step)


def _size(value: Any) -> Any:
    try:
        return operator.index(value)
    except Exception:
        return -1


def _sliced(iterator: Any, start: Any, stop: Any, step: Any) -> Any:
    position = 0
    wanted = start
    while stop is None or position < stop:
        if stop is not None and wanted >= stop and position >= stop:
            return
        try:
            item = next(iterator)
        except StopIteration:
            return
        if position == wanted:
            yield item
            wanted = wanted + step
        position = position + 1


def accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    return _accumulated(zip(iterable), func, initial)


def _accumulated(source: Any, func: Any, initial: Any) -> Any:
    total = initial
    if initial is None:
        try:
            total = next(source)[0]
        except StopIteration:
            return
    yield total
    for (item,) in source:
        total = total + item if func is None else func(total, item)
        yield total


def starmap(function: Any, iterable: Any) -> Any:
    return _starred(function, zip(iterable))


def _starred(function: Any, source: Any) -> Any:
    for (args,) in source:
        yield function(*args)


def takewhile(predicate: Any, iterable: Any) -> Any:
    return _taken(predicate, zip(iterable))


def _taken(predicate: Any, source: Any) -> Any:
    for (item,) in source:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Any:
    return _left(predicate, zip(iterable))


def _left(predicate: Any, source: Any) -> Any:
    for (item,) in source:
        if not predicate(item):
            yield item
            break
    for (item,) in source:
        yield item


def filterfalse(predicate: Any, iterable: Any) -> Any:
    return _refused(predicate, zip(iterable))


def _refused(predicate: Any, source: Any) -> Any:
    for (item,) in source:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data: Any, selectors: Any) -> Any:
    return _chosen(zip(data, selectors))  # noqa: B905


def _chosen(source: Any) -> Any:
    for item, chosen in source:
        if chosen:
            yield item


def pairwise(iterable: Any) -> Any:
    return _paired(zip(iterable))


def _paired(source: Any) -> Any:
    try:
        before = next(source)[0]
    except StopIteration:
        return
    for (item,) in source:
        yield before, item
        before = item


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    return _zipped([iter(iterable) for iterable in iterables], fillvalue)


def _zipped(iterators: Any, fillvalue: Any) -> Any:
    running = [True] * len(iterators)
    while True:
        row = []
        for index in range(len(iterators)):
            value = fillvalue
            if running[index]:
                try:
                    value = next(iterators[index])
                except StopIteration:
                    running[index] = False
            row.append(value)
        if True not in running:
            return
        yield tuple(row)


def product(*iterables: Any, repeat: Any = 1) -> Any:
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    pools = [tuple(iterable) for iterable in iterables] * repeat if repeat else []
    rows: list[Any] = [()]
    for pool in pools:
        rows = [(*row, item) for row in rows for item in pool]
    return _given(rows)


def _given(rows: Any) -> Any:
    yield from rows


def _choices(length: Any, size: Any, ordered: Any) -> Any:
    rows: list[Any] = [()]
    for _ in range(size):
        grown = []
        for row in rows:
            for index in range(length):
                if index not in row and (ordered or not row or index > row[-1]):
                    grown.append((*row, index))
        rows = grown
    return rows


def _check_size(r: Any) -> None:
    if r < 0:
        raise ValueError("r must be non-negative")


def combinations(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    _check_size(r)
    return _given([tuple([pool[index] for index in row]) for row in _choices(len(pool), r, False)])


def permutations(iterable: Any, r: Any = None) -> Any:
    pool = tuple(iterable)
    if r is None:
        r = len(pool)
    if not isinstance(r, int):
        raise TypeError("Expected int as r")
    _check_size(r)
    return _given([tuple([pool[index] for index in row]) for row in _choices(len(pool), r, True)])


def combinations_with_replacement(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    _check_size(r)
    rows: list[Any] = [()]
    for _ in range(r):
        rows = [(*row, index) for row in rows for index in range(row[-1] if row else 0, len(pool))]
    return _given([tuple([pool[index] for index in row]) for row in rows])


def groupby(iterable: Any, key: Any = None) -> Any:
    return _grouped(zip(iterable), key)


def _grouped(source: Any, key: Any) -> Any:
    pending: list[Any] = []  # the item read ahead, under its key
    ended: list[Any] = []  # not empty once there are no more items
    turn = [0]  # a group ends when the next one is asked for

    def ready() -> Any:
        if not pending and not ended:
            for (item,) in source:
                pending.append(([item if key is None else key(item)], item))
                break
            else:
                ended.append(True)
        return bool(pending)

    def group(wanted: Any, mine: Any) -> Any:
        while turn[0] == mine and ready() and pending[0][0] == wanted:
            yield pending.pop()[1]

    while ready():
        wanted = pending[0][0]
        yield wanted[0], group(wanted, turn[0])
        turn[0] = turn[0] + 1
        while ready() and pending[0][0] == wanted:
            pending.pop()


def batched(iterable: Any, n: Any, *, strict: Any = False) -> Any:
    if n < 1:
        raise ValueError("n must be at least one")
    source = zip(iterable)

    def rows() -> Any:
        while True:
            row = []
            for (item,) in source:
                row.append(item)
                if len(row) == n:
                    break
            if not row:
                return
            if strict and len(row) != n:
                raise ValueError("batched(): incomplete batch")
            yield tuple(row)

    return rows()
