"""Compiled code keeps nothing alive that the program let go, and compiling again and again does not grow."""

from __future__ import annotations

import functools
import gc
import tracemalloc
import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402
from pydynamo.frontend.wrapper import Unit  # noqa: E402


def gone(reference: weakref.ref[Any]) -> bool:
    gc.collect()
    return reference() is None


def test_inputs_are_let_go() -> None:
    compiled = pydynamo.compile(lambda x, items: x + items[0], backend="eager")
    x, items = torch.ones(3), [torch.ones(3)]
    compiled(x, items)
    references = [weakref.ref(x), weakref.ref(items[0])]
    del x, items
    assert all(gone(reference) for reference in references)
    assert compiled(torch.ones(3), [torch.ones(3)]).tolist() == [2.0] * 3


def test_a_deleted_model_is_freed() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    compiled = pydynamo.compile(model, backend="eager")
    compiled(torch.ones(1, 2))
    references = [weakref.ref(model), weakref.ref(model[0]), weakref.ref(model[0].weight)]
    del model, compiled
    assert all(gone(reference) for reference in references)


def test_a_method_compiled_for_all_instances_keeps_none() -> None:
    class Net(torch.nn.Module):
        def __init__(self, scale: float) -> None:
            super().__init__()
            self.scale = scale
            self.weight = torch.nn.Parameter(torch.ones(2))

        @pydynamo.compile(backend="eager")
        def forward(self, x: Any) -> Any:
            return x * self.weight * self.scale

    first = Net(2.0)
    assert first(torch.ones(2)).tolist() == [2.0, 2.0]
    reference = weakref.ref(first)
    del first
    assert gone(reference)
    assert Net(3.0)(torch.ones(2)).tolist() == [3.0, 3.0]


def test_a_closure_goes_with_the_compiled_function() -> None:
    class Big:
        pass

    def make() -> tuple[Any, weakref.ref[Big]]:
        big = Big()
        big.number = 2  # type: ignore[attr-defined]
        return pydynamo.compile(lambda x: x * big.number, backend="eager"), weakref.ref(big)  # type: ignore[attr-defined]

    compiled, reference = make()
    compiled(torch.ones(1))
    assert reference() is not None
    del compiled
    assert gone(reference)


def test_a_function_with_a_break_goes_too() -> None:
    def make() -> Any:
        def f(x: Any) -> Any:
            y = x + 1
            pydynamo.graph_break()
            return y * 2

        return f

    f = make()
    pydynamo.compile(f, backend="eager")(torch.ones(1))
    reference = weakref.ref(f)
    del f
    assert gone(reference)


def noisy(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        pydynamo.graph_break()
        return function(x)

    return wrapper


def test_what_continues_a_frame_behind_several_breaks_goes_too() -> None:
    """Each continuation refers to the next one from its code, whose constants the collector does not look through."""

    def work(number: int) -> None:
        scope: dict[str, Any] = {"noisy": noisy, "graph_break": pydynamo.graph_break}
        exec(
            "def f(x):\n"
            "    graph_break()\n"
            "    @noisy\n"
            "    def inner(x):\n"
            f"        return x + {number}\n"
            "    for i in range(2):\n"
            "        graph_break()\n"
            "        x = inner(x)\n"
            "    graph_break()\n"
            "    return x * 2\n",
            scope,
        )
        pydynamo.compile(scope["f"], backend="eager")(torch.ones(1))

    def compiled_after(rounds: range) -> int:
        for number in rounds:
            work(number)
        gc.collect()
        return sum(type(thing) is Unit for thing in gc.get_objects())

    before = compiled_after(range(10))
    assert compiled_after(range(10, 20)) <= before


def growth(work: Any, warm: int, rounds: int, allowed: float) -> float:
    """Bytes of Python memory that a round of ``work`` adds in the long run: the least of three measurements.

    Garbage is collected as the rounds go: tables grow with the most that was alive at a time, and stay. A leak shows in
    each measurement, a table that grows once or what earlier tests left behind only in one.
    """

    def go(count: int) -> None:
        for number in range(count):
            work()
            if number % 8 == 7:
                gc.collect()

    tracemalloc.start()
    try:
        go(warm)
        least = float("inf")
        for _ in range(3):
            before, _ = tracemalloc.get_traced_memory()
            go(rounds)
            after, _ = tracemalloc.get_traced_memory()
            least = min(least, (after - before) / rounds)
            if least < allowed:
                break
    finally:
        tracemalloc.stop()
    return least


def test_recompiling_and_resetting_do_not_grow() -> None:
    def f(x: Any, n: int) -> Any:
        if n > 2:
            pydynamo.graph_break()
        return x + n

    compiled = pydynamo.compile(f, backend="eager", dynamic=False)
    x = torch.zeros(1)

    def work() -> None:
        for n in (1, 2, 3):
            compiled(x, n)
        pydynamo.reset()

    assert growth(work, warm=80, rounds=40, allowed=700) < 700


def test_functions_made_and_compiled_in_a_loop_do_not_grow() -> None:
    def work() -> None:
        pydynamo.compile(lambda x: x + 1, backend="eager")(torch.zeros(1))

    assert growth(work, warm=80, rounds=40, allowed=700) < 700


def test_shapes_that_change_leave_nothing_behind() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    compiled = pydynamo.compile(lambda x: (x * 2 + x.shape[0]).reshape(-1, 1).sum(0), backend="eager")

    def environments() -> int:
        FakeTensorMode.cache_clear()  # of bounded size
        for _ in range(5):  # what only C++ held is garbage after the collection that let go of it
            gc.collect()
        return sum(type(found) is ShapeEnv for found in gc.get_objects())

    before = environments()
    for size in range(2, 10):
        for longer in (0, 1):
            assert compiled(torch.ones(size + longer)).item() == (size + longer) * (size + longer + 2)
        pydynamo.reset()
    assert environments() <= before
