"""Failing mutants are made smaller as far as they still fail in the same way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from .minimise import Reducer, how_it_ends, smallest
from .routes import Broken, Case, Dish
from .worker import Fuzzer


class StandIn(Fuzzer):
    """Runs no mutant, but fails where it looks as it should not."""

    def __init__(self, bad: Callable[[Dish], bool], failure: Callable[[], Any]) -> None:
        super().__init__(seed=5)
        self.bad, self.failure = bad, failure

    def serve(self, case: Case, dish: Dish) -> bool:
        if self.bad(dish):
            self.failure()
        return dish.code is not None

    def first(self) -> Case:
        """The first bad mutant that more was done to than had to be."""
        for number in range(20_000):
            case = self.kitchen.case(number)
            if not case.spoilers and len(case.moves) + len(case.harms) > 1 and self.bad(self.kitchen.cook(case)):
                return case
        raise AssertionError("no mutant is bad")


def has_delete_global(dish: Dish) -> bool:
    """No sample has one."""
    return any(getattr(inst, "opname", None) == "DELETE_GLOBAL" for inst in dish.insts or ())


def has_no_constants(dish: Dish) -> bool:
    """Every sample has one."""
    return dish.damaged is not None and dish.damaged.co_consts == ()


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def breach() -> None:
    raise Broken("on purpose")


@pytest.mark.parametrize(("failure", "how"), [(crash, "signal 11"), (breach, "broken")])
def test_only_what_the_failure_needs_is_left(failure: Callable[[], Any], how: str) -> None:
    fuzzer = StandIn(has_delete_global, failure)
    reducer = Reducer(fuzzer)
    found, small = reducer.reduce(fuzzer.first().number)
    assert found == how
    assert len(small.moves) + len(small.harms) == 1
    assert [inst.opname for inst in fuzzer.kitchen.cook(small).insts or ()] == ["DELETE_GLOBAL"]
    assert "DELETE_GLOBAL" in reducer.describe(small)


def test_only_damage_that_the_failure_needs_is_left() -> None:
    fuzzer = StandIn(has_no_constants, crash)
    reducer = Reducer(fuzzer)
    _, small = reducer.reduce(fuzzer.first().number)
    assert ([name for name, _ in small.harms], small.moves) == (["constants"], ())
    assert "now ()" in reducer.describe(small)


def test_what_does_not_fail_is_left_alone() -> None:
    fuzzer = StandIn(has_delete_global, lambda: None)
    case = fuzzer.first()
    assert Reducer(fuzzer).reduce(case.number) == (None, case)


def test_jumps_to_what_is_left_out_lead_on() -> None:
    fuzzer = Fuzzer(seed=5)
    loops = next(i for i, subject in enumerate(fuzzer.subjects) if subject.code.co_name == "loops")
    case = Case(0, loops, "list", 0)
    whole = fuzzer.kitchen.cook(case).insts or []
    loop = next(inst for inst in whole if inst.opname == "FOR_ITER")
    target = whole.index(loop.target)
    insts = fuzzer.kitchen.cook(replace(case, dropped=frozenset({target}))).insts or []
    loop = next(inst for inst in insts if inst.opname == "FOR_ITER")
    assert insts.index(loop.target) == target
    assert len(insts) == len(whole) - 1


def test_a_hang_is_told_from_a_crash() -> None:
    assert how_it_ends(lambda: time.sleep(60), limit=0.2) == "hang"
    assert how_it_ends(crash) == "signal 11"
    assert how_it_ends(lambda: None) is None


def test_pieces_are_left_out_until_none_can_be() -> None:
    needed = {3, 17, 40}
    assert set(smallest(range(50), lambda some: needed <= set(some))) == needed
    assert smallest([1, 2, 3], lambda some: True) == []
    assert smallest([1, 2, 3], lambda some: len(some) == 3) == [1, 2, 3]
