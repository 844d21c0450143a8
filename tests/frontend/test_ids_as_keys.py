"""``id()`` as a key of containers that the program keeps: what was stored before is found, for each object its own."""

from __future__ import annotations

import collections
import copy
import threading
from collections.abc import Callable
from typing import Any

import torch

import pydynamo

X = torch.ones(1)


class Owner:
    pass


def _results(make: Callable[[], tuple[Callable[..., Any], list[Any]]], wrap: Callable[[Any], Any]) -> list[Any]:
    fn, calls = make()
    compiled = wrap(fn)
    return [compiled(X, *call) for call in calls]


def _check(make: Callable[[], tuple[Callable[..., Any], list[Any]]]) -> None:
    pydynamo.reset()
    wanted = _results(make, lambda fn: fn)
    assert _results(make, lambda fn: pydynamo.compile(fn, backend="eager", fullgraph=True)) == wanted


def test_ids_that_were_stored_before() -> None:
    def make() -> tuple[Callable[..., Any], list[Any]]:
        first, second = Owner(), Owner()
        by_id, seen, pairs = {id(first): "first", 70000: "number"}, {id(first)}, {(id(first), "a"): 1}

        def f(x: Any, owner: Any) -> Any:
            local = {id(owner): 1}
            found = [by_id.get(id(owner)), id(owner) in seen, (id(owner), "a") in pairs, id(owner) in local]
            by_id.setdefault(id(owner), "new")
            seen.add(id(owner))
            return found, len(by_id), len(seen), by_id[id(owner)], x.ndim

        return f, [(first,), (first,), (second,), (second,), (first,)]

    _check(make)


def test_the_number_was_asked_for_before_the_container_was_met() -> None:
    def make() -> tuple[Callable[..., Any], list[Any]]:
        first, second = Owner(), Owner()
        by_id = {id(first): "first"}

        def f(x: Any, owner: Any) -> Any:
            number = id(owner)
            local = {number: "local"}
            found = by_id.get(number)
            return found, local[id(owner)], number in local

        return f, [(first,), (second,), (first,)]

    _check(make)


def test_a_default_dictionary_by_id() -> None:
    def make() -> tuple[Callable[..., Any], list[Any]]:
        states: Any = collections.defaultdict(dict)
        owner, other = Owner(), Owner()

        def f(x: Any, key: Any) -> Any:
            state = states[id(key)]
            state["count"] = state.get("count", 0) + 1
            return state["count"], len(states)

        return f, [(owner,), (owner,), (other,), (X,), (other,), (X,), (owner,)]

    _check(make)


def test_the_number_of_the_thread() -> None:
    thread = threading.get_ident()
    by_thread = {thread: "this"}

    def f(x: Any) -> Any:
        return x + 1, by_thread.get(threading.get_ident()), threading.get_ident()

    found = pydynamo.compile(f, backend="eager")(X)
    assert found[1:] == ("this", thread)


def test_a_scaler_of_gradients_steps_once() -> None:
    def train(wrap: Callable[[Any], Any]) -> list[Any]:
        torch.manual_seed(0)
        module = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        scaler = torch.amp.GradScaler("cpu")

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = module(x).square().mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            return loss.detach()

        run = wrap(step)
        return [[run(x) for x in torch.randn(3, 4, 3)], [p.detach() for p in module.parameters()]]

    pydynamo.reset()
    wanted = train(lambda fn: fn)
    torch.testing.assert_close(train(lambda fn: pydynamo.compile(fn, backend="eager")), wanted)


def test_a_copier_keeps_the_ids_of_classes() -> None:
    class Bag:
        def __init__(self, **given: Any) -> None:
            self.given = given

    def f(x: Any) -> Any:
        memo: dict[int, Any] = {}
        bag = copy.deepcopy([x, Bag(a=1), Bag, Bag(b=x)], memo)
        return bag[2] is Bag, type(bag[1]) is Bag, bag[3].given["b"].equal(x), id(Bag) in memo

    assert pydynamo.compile(f, backend="eager")(X) == f(X)
