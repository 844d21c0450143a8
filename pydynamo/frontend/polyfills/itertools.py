"""The iterators of itertools as generators, as lazy as the originals."""

from __future__ import annotations

from typing import Any


def chain(*iterables: Any) -> Any:
    for iterable in iterables:
        yield from iterable


def chain_from_iterable(iterables: Any) -> Any:
    for iterable in iterables:
        yield from iterable


def repeat(value: Any, *times: Any) -> Any:
    if times:
        for _ in range(times[0]):
            yield value
    else:
        while True:
            yield value


def count(start: Any = 0, step: Any = 1) -> Any:
    while True:
        yield start
        start = start + step


def cycle(iterable: Any) -> Any:
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def islice(iterable: Any, *bounds: Any) -> Any:
    limits = slice(*bounds)
    start = limits.start or 0
    stop = limits.stop
    step = limits.step or 1
    iterator = iter(iterable)
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
    iterator = iter(iterable)
    total = initial
    if initial is None:
        try:
            total = next(iterator)
        except StopIteration:
            return
    yield total
    for item in iterator:
        total = total + item if func is None else func(total, item)
        yield total


def starmap(function: Any, iterable: Any) -> Any:
    for args in iterable:
        yield function(*args)


def takewhile(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Any:
    iterator = iter(iterable)
    for item in iterator:
        if not predicate(item):
            yield item
            break
    yield from iterator


def filterfalse(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data: Any, selectors: Any) -> Any:
    for item, chosen in zip(data, selectors):  # noqa: B905
        if chosen:
            yield item


def pairwise(iterable: Any) -> Any:
    iterator = iter(iterable)
    try:
        before = next(iterator)
    except StopIteration:
        return
    for item in iterator:
        yield before, item
        before = item


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    iterators = [iter(iterable) for iterable in iterables]
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
    pools = [tuple(iterable) for iterable in iterables] * repeat
    rows: list[Any] = [()]
    for pool in pools:
        rows = [(*row, item) for row in rows for item in pool]
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


def combinations(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    for row in _choices(len(pool), r, False):
        yield tuple([pool[index] for index in row])


def permutations(iterable: Any, r: Any = None) -> Any:
    pool = tuple(iterable)
    for row in _choices(len(pool), len(pool) if r is None else r, True):
        yield tuple([pool[index] for index in row])


def combinations_with_replacement(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    rows: list[Any] = [()]
    for _ in range(r):
        rows = [(*row, index) for row in rows for index in range(row[-1] if row else 0, len(pool))]
    for row in rows:
        yield tuple([pool[index] for index in row])


def groupby(iterable: Any, key: Any = None) -> Any:
    source = iter(iterable)
    pending: list[Any] = []  # the item read ahead, under its key
    turn = [0]  # a group ends when the next one is asked for

    def ready() -> Any:
        if not pending:
            for item in source:
                pending.append(([item if key is None else key(item)], item))
                break
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
    source = iter(iterable)

    def rows() -> Any:
        while True:
            row = []
            for item in source:
                row.append(item)
                if len(row) == n:
                    break
            if not row:
                return
            if strict and len(row) != n:
                raise ValueError("batched(): incomplete batch")
            yield tuple(row)

    return rows()
