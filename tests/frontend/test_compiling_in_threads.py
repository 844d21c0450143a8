"""Several threads compile and call at once; what torch keeps for the process or for a thread must not leak between them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402


def run_together(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(number)`` in so many threads that start together; raises what the first of them raised."""
    gate = threading.Barrier(count)
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            gate.wait(30)
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]


def test_eight_threads_compile_and_call_one_function() -> None:
    def f(x: Any, k: int) -> Any:
        for _ in range(k):
            x = x * 2
        return x.sum()

    compiled = pydynamo.compile(f, backend="eager")

    def work(number: int) -> None:
        for step in range(6):
            x = torch.ones(number % 3 + 2)
            assert compiled(x, step % 3).item() == f(x, step % 3).item()

    run_together(8, work)


def test_eight_threads_compile_functions_of_their_own() -> None:
    def work(number: int) -> None:
        def f(x: Any, y: Any) -> Any:
            return x * number + y

        compiled = pydynamo.compile(f, backend="eager")
        for size in (2, 3, 4):
            assert compiled(torch.ones(size), torch.ones(size)).tolist() == [number + 1.0] * size

    run_together(8, work)


def test_one_compilation_serves_threads_that_miss_together() -> None:
    graphs: list[Any] = []

    def backend(module: Any, example_inputs: list[Any]) -> Any:
        graphs.append(module)
        return module.forward

    compiled = pydynamo.compile(lambda x: x + 1, backend=backend)
    run_together(8, lambda number: compiled(torch.ones(2)))
    assert len(graphs) == 1


def test_threads_that_ended_leave_nothing_behind_that_later_ones_trip_over() -> None:
    def once(number: int) -> None:
        assert pydynamo.compile(lambda x: x * number + 1, backend="eager")(torch.ones(1)).item() == number + 1

    for number in range(6):
        run_together(1, lambda _, number=number: once(number))  # type: ignore[misc]
    once(7)


def test_grad_mode_of_a_thread_is_its_own() -> None:
    compiled = pydynamo.compile(lambda x: x * 2, backend="eager")

    def work(number: int) -> None:
        with torch.set_grad_enabled(number % 2 == 0):
            for _ in range(5):
                assert compiled(torch.ones(1, requires_grad=True)).requires_grad == (number % 2 == 0)

    run_together(4, work)


def test_reset_while_others_call() -> None:
    compiled = pydynamo.compile(lambda x, n: x + n, backend="eager", dynamic=False)

    def work(number: int) -> None:
        for step in range(8):
            if number == 0:
                pydynamo.reset()
            assert compiled(torch.zeros(1), step).item() == step

    run_together(3, work)
