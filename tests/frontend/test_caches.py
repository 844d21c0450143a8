"""Functions with an ``lru_cache``, and those marked as constant, are answered while compiling."""

from __future__ import annotations

import collections.abc
import functools
import typing
from typing import Any

import pytest
import torch

import pydynamo


class Recipe:
    def __init__(self, order: list[int]) -> None:
        self.order = order


@functools.lru_cache
def recipe_for(pattern: str, axes: tuple[int, ...]) -> Recipe:
    return Recipe([axes.index(int(letter)) for letter in pattern])


@functools.lru_cache
def shape_for(recipe: Recipe, shape: tuple[int, ...]) -> tuple[list[int], int]:
    return [shape[axis] for axis in recipe.order], len(shape)


def rearranged(x: Any) -> Any:
    recipe = recipe_for("10", axes=(0, 1))
    shape, count = shape_for(recipe, tuple(x.shape))
    return x.permute(recipe.order).reshape(shape) + count, recipe


def test_a_cached_object_is_the_one_of_the_cache() -> None:
    compiled = pydynamo.compile(rearranged, backend="eager", fullgraph=True)
    for length in (2, 3, 4):
        x = torch.arange(length * 5.0).reshape(length, 5)
        got, want = compiled(x), rearranged(x)
        assert torch.equal(got[0], want[0])
        assert got[1] is want[1]


def test_a_cached_object_that_changed_is_looked_at_again() -> None:
    compiled = pydynamo.compile(rearranged, backend="eager")
    x = torch.arange(6.0).reshape(2, 3)
    compiled(x)
    held = recipe_for("10", axes=(0, 1))
    held.order = [0, 1]
    try:
        shape_for.cache_clear()
        assert torch.equal(compiled(x)[0], rearranged(x)[0])
    finally:
        held.order = [1, 0]
        shape_for.cache_clear()


class Made:
    by = 2


scale = 3


def _made(key: int) -> Made:
    return Made()


def _scaled(key: int) -> int:
    return key * scale


def _named(key: int) -> str:
    return "-".join(["a name", str(key)])


def _listed(key: int) -> tuple[Made, list[int]]:
    return Made(), [key]


@pytest.mark.parametrize("make", [_made, _scaled, _named, _listed])
@pytest.mark.parametrize("size", [None, 1, 2])
def test_a_cache_that_dropped_something_is_asked_again(make: Any, size: int | None) -> None:
    """By cache_clear, and by other keys; what it gives is what it holds then, and its counters are those of eager."""
    compiled_cache, eager_cache = (functools.lru_cache(size)(make) for _ in range(2))

    def asks(x: Any, cache: Any, key: int) -> Any:
        return x + 1, cache(key)

    compiled = pydynamo.compile(asks, backend="eager", fullgraph=True)
    x = torch.ones(2)

    def same_as_before(run: Any, cache: Any) -> list[bool]:
        same, last = [], None
        for step, key in enumerate([1, 1, 2, 1, 2, 2, 1, 1]):
            if step == 2:
                cache.cache_clear()
            found = run(x, cache, key)[1]
            same.append(found is last)
            last = found
        return same

    assert same_as_before(compiled, compiled_cache) == same_as_before(asks, eager_cache)
    assert compiled_cache.cache_info().currsize == eager_cache.cache_info().currsize
    for cache in (compiled_cache, eager_cache):
        cache.cache_clear()
    assert compiled(x, compiled_cache, 1)[1] is compiled_cache(1)


def test_what_a_cached_function_reads_counts_once_the_cache_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = functools.lru_cache(_scaled)

    def asks(x: Any) -> Any:
        return x * cache(2)

    compiled = pydynamo.compile(asks, backend="eager")
    x = torch.ones(2)
    for change in (lambda: None, lambda: monkeypatch.setitem(globals(), "scale", 5), cache.cache_clear):
        change()
        assert torch.equal(compiled(x), asks(x))


def test_caches_in_front_of_caches_are_asked_apart() -> None:
    inner = functools.lru_cache(_made)

    @functools.lru_cache
    def outer(key: int) -> Any:
        return inner(key)

    def asks(x: Any) -> Any:
        return x * outer(1).by, outer(1), inner(1)

    compiled = pydynamo.compile(asks, backend="eager", fullgraph=True)
    for cleared in ([], [outer], [inner], [outer, inner]):
        for cache in cleared:
            cache.cache_clear()
        got = compiled(torch.ones(2))
        assert got[1] is outer(1)
        assert got[2] is inner(1)


@pytest.mark.parametrize("wrong", [[1], {}])
def test_what_has_no_hash_is_refused(wrong: Any) -> None:
    def asks(x: Any) -> Any:
        try:
            return recipe_for("10", wrong)
        except TypeError as error:
            return type(error), x + 1

    x = torch.ones(2)
    assert pydynamo.compile(asks, backend="eager")(x)[0] is asks(x)[0]


calls = 0


@functools.lru_cache
def counts(by: int) -> int:
    global calls
    calls += by
    return calls


def test_a_function_that_changes_something_is_called_as_eager_would() -> None:
    def asks(x: Any) -> Any:
        return counts(3), x + 1

    compiled = pydynamo.compile(asks, backend="eager")
    assert [compiled(torch.ones(2))[0] for _ in range(3)] == [3, 3, 3]
    assert calls == 3


def assume_constant_result(fn: Any) -> Any:
    """What the function of torch.compiler does, without loading torch's own compiler."""
    fn._dynamo_marked_constant = True
    return fn


@assume_constant_result
def capability(of: str) -> str:
    with open("/dev/null") as nothing:  # nothing that could be traced
        return of + nothing.read()


@functools.lru_cache
@assume_constant_result
def cached_capability(of: str) -> bool:
    return capability(of) == of


def test_what_is_marked_as_constant_is_asked_once() -> None:
    def asks(x: Any) -> Any:
        return x + 1 if cached_capability("b") else x, capability("a")

    x = torch.ones(2)
    got = pydynamo.compile(asks, backend="eager", fullgraph=True)(x)
    assert torch.equal(got[0], x + 1)
    assert got[1] == "a"


def annotated(x: Any) -> Any:
    parts = torch.jit.annotate(typing.List[torch.Tensor], [])  # noqa: UP006
    parts.append(x)
    return parts[0] + 1


def test_subscripts_of_typing_are_known() -> None:
    x = torch.ones(2)
    assert torch.equal(pydynamo.compile(annotated, backend="eager", fullgraph=True)(x), x + 1)


class Row(collections.abc.Sequence[int]):
    def __init__(self, items: list[int]) -> None:
        self.items = items

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


def test_an_iterator_may_be_dropped_in_a_try_that_does_not_notice() -> None:
    def first_over(x: Any, row: Row) -> Any:
        for item in row:  # a generator that waits in a try block with a handler for IndexError
            if item > 1:
                return x * item
        return x

    compiled = pydynamo.compile(first_over, backend="eager", fullgraph=True)
    for items in ([1, 2, 3], [0, 5], [0]):
        x = torch.ones(2)
        assert torch.equal(compiled(x, Row(items)), first_over(x, Row(items)))


def test_an_iterator_that_notices_is_closed() -> None:
    log: list[str] = []

    def noticing() -> Any:
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def first(x: Any) -> Any:
        for item in noticing():
            return x * item

    assert torch.equal(pydynamo.compile(first, backend="eager")(torch.ones(2)), torch.ones(2))
    assert log == ["closed"]


@functools.lru_cache
def counted(key: Any) -> int:
    return len(key)


def test_a_key_that_cannot_be_hashed_is_refused_as_by_the_cache() -> None:
    def f(x: Any, key: Any) -> Any:
        try:
            return x + counted((1, key))
        except TypeError as error:
            return str(error)

    compiled = pydynamo.compile(f, backend="eager")
    for key in ([2], 2, (3,)):
        assert repr(compiled(torch.ones(1), key)) == repr(f(torch.ones(1), key))

    def inside(x: Any) -> Any:
        try:
            return x + counted((1, [2]))
        except TypeError as error:
            return str(error)

    assert repr(pydynamo.compile(inside, backend="eager")(torch.ones(1))) == repr(inside(torch.ones(1)))
