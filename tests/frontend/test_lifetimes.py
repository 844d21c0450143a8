"""What a program lets go is gone when it is gone in eager: exceptions, the frames that they hold, objects with ``__del__``.

Each program writes what happens into ``LOG``; finalizers write there too. The collector is off: whatever takes part in a
cycle that the program does not make would be seen as missing.
"""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402

LOG: list[Any] = []


class Held:
    """Something that a frame holds."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __del__(self) -> None:
        LOG.append(f"{self.name} gone")


class Error(Exception):
    def __del__(self) -> None:
        LOG.append("error gone")


@pydynamo.disable
def opaque(*_: Any) -> Any:
    held = Held("opaque")  # noqa: F841 - the frame holds it
    raise Error("opaque")


class Suppressing:
    def __enter__(self) -> Suppressing:
        return self

    def __exit__(self, *_: Any) -> bool:
        LOG.append("exit")
        return True


def returns_from_handler(y: Any) -> Any:
    try:
        return opaque(y * 2).sum()
    except Error as error:
        result = y.sum() + len(str(error))
    LOG.append("handled")
    return result


def suppresses(y: Any) -> Any:
    with Suppressing():
        opaque(y)
    LOG.append("with over")
    return y + 1


def raises_to_the_caller(y: Any) -> Any:
    y = y + 1
    raise Error("out")


def catches_what_a_callee_raises(y: Any) -> Any:
    try:
        raises_to_the_caller(y)
    except Error:
        print(end="")
        y = y * 2
    LOG.append("handled")
    print(end="")
    return y


def handles_in_a_loop(y: Any) -> Any:
    for number in range(3):
        try:
            opaque(y)
        except Error:
            y = y + 1
        LOG.append(number)
    return y


def keeps_the_error_for_a_while(y: Any) -> Any:
    kept: Any = None
    try:
        opaque(y)
    except Error as error:
        kept = error
    y = y + len(kept.args)
    print(end="")
    kept = None
    LOG.append("dropped")
    return y


def runs_finally(y: Any) -> Any:
    try:
        try:
            opaque(y)
        finally:
            LOG.append("finally")
    except Error:
        y = y + 1
    LOG.append("handled")
    return y


def raises_from(y: Any) -> Any:
    try:
        try:
            opaque(y)
        except Error as error:
            raise KeyError("k") from error
    except KeyError as error:
        y = y + len(error.args)
    LOG.append("handled")
    return y


def passes_an_object_on(y: Any) -> Any:
    try:
        opaque(Held("argument"), y * 2)
    except Error:
        LOG.append("in handler")
    return y


def leaves_a_generator_behind(y: Any) -> Any:
    def numbers() -> Iterator[Any]:
        try:
            yield y + 1
            yield y + 2
        finally:
            LOG.append("closed")

    @pydynamo.disable
    def step() -> Any:
        generator = numbers()
        next(generator)
        raise Error("with a generator")

    try:
        step()
    except Error:
        LOG.append("in handler")
    LOG.append("handled")
    return y.sin()


def breaks_after_an_error(y: Any) -> Any:
    try:
        opaque(y)
    except (KeyError, Error):
        y = y + 2
    else:
        y = y + 3
    print(end="")
    LOG.append("behind")
    return y * 2


class Entered(Held):
    def __enter__(self) -> Entered:
        return self

    def __exit__(self, *_: Any) -> None:
        LOG.append("exit")


def made(name: str) -> Held:
    return Held(name)


def deletes(y: Any) -> Any:
    held = Held("deleted")
    y = y + len(held.name)
    del held
    LOG.append("behind")
    return y * 2


def stores_over(y: Any) -> Any:
    y = y + 1
    for number in range(3):
        held = Held(str(number))
        y = y + len(held.name)
        LOG.append(number)
    return y


def throws_away(y: Any) -> Any:
    y = y + 1
    Held("thrown away")
    made("thrown away by another")
    LOG.append("behind")
    return y


def keeps_until_the_end(y: Any) -> Any:
    y = y + 1
    held = made("kept")  # noqa: F841 - the frame holds it
    print(end="")
    LOG.append("behind")
    return y * 2


def enters(y: Any) -> Any:
    with Entered("entered"):
        y = y + 1
        print(end="")
    LOG.append("behind")
    return y


def keeps_in_a_list(y: Any) -> Any:
    held = [made(str(number)) for number in range(2)]
    y = y + len(held)
    held.pop()
    LOG.append("popped")
    return y


def hands_to_a_callee(y: Any) -> Any:
    def callee(held: Held, y: Any) -> Any:
        y = y + len(held.name)
        print(end="")
        del held
        LOG.append("in callee")
        return y

    return callee(made("handed"), y + 1)


PROGRAMS: list[Callable[[Any], Any]] = [
    returns_from_handler,
    suppresses,
    raises_to_the_caller,
    catches_what_a_callee_raises,
    handles_in_a_loop,
    keeps_the_error_for_a_while,
    runs_finally,
    raises_from,
    passes_an_object_on,
    leaves_a_generator_behind,
    breaks_after_an_error,
    deletes,
    stores_over,
    throws_away,
    keeps_until_the_end,
    enters,
    keeps_in_a_list,
    hands_to_a_callee,
]


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def told(f: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    LOG.clear()
    try:
        result = f(torch.ones(2)).tolist()
    except Error as error:
        result = str(error)
    LOG.append("back")
    return result, list(LOG)


@pytest.mark.smoke
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_let_go_is_gone(program: Callable[[Any], Any]) -> None:
    compiled = pydynamo.compile(program, backend="eager")
    for _ in range(3):
        assert told(compiled) == told(program)


def plain(x: Any, thing: Any) -> Any:
    return x + 1


def broken(x: Any, thing: Any) -> Any:
    y = x + 1
    print(end="")
    return y * 2


def broken_in_a_loop(x: Any, thing: Any) -> Any:
    for _ in range(3):
        x = x + 1
        print(end="")
    return x


def caught(x: Any, thing: Any) -> Any:
    try:
        raise ValueError(thing)
    except ValueError as error:
        return x + len(error.args)


def caught_behind_a_break(x: Any, thing: Any) -> Any:
    try:
        opaque(x)
    except Error:
        return x + 1


def leaving(x: Any, thing: Any) -> Any:
    raise Error("leaving")


def generated(x: Any, thing: Any) -> Any:
    def items() -> Iterator[Any]:
        yield x
        yield x + 1

    return sum(items())


def hidden(x: Any, thing: Any) -> Any:
    return (lambda: (x + 1, thing))()[0]


def stored(x: Any, thing: Any) -> Any:
    thing.y = x + 1
    return thing.y


def attributes_that_are_missing(x: Any, thing: Any) -> Any:
    return x + getattr(thing, "missing", 3)


def branching(x: Any, thing: Any) -> Any:
    return x + 1 if x.sum() > 0 else x - 1


class Thing:
    pass


FIRST_CALLS = [plain, broken, broken_in_a_loop, caught, caught_behind_a_break, leaving, generated, hidden, stored]
FIRST_CALLS += [attributes_that_are_missing, branching]


@pytest.mark.parametrize("program", FIRST_CALLS, ids=lambda program: program.__name__)
def test_the_call_that_compiles_lets_its_arguments_go(program: Callable[[Any, Any], Any]) -> None:
    compiled = pydynamo.compile(program, backend="eager")
    x, thing = torch.ones(2), Thing()
    references = [weakref.ref(x), weakref.ref(thing)]
    with contextlib.suppress(Error):
        compiled(x, thing)
    del x, thing
    assert [reference() for reference in references] == [None, None]
