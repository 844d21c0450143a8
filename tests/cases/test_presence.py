"""Names, attributes and items that come and go between calls: whoever catches their absence sees it."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402 - needs torch


class Owner:
    pass


MODULE = torch.nn.Module()
OWNER = Owner()
TABLE: dict[str, Any] = {}
ITEMS: list[Any] = []


def class_attribute(x: Any) -> Any:
    try:
        return Owner.shared, x + 1
    except AttributeError as e:
        return str(e), x + 1


def attribute(x: Any) -> Any:
    try:
        return OWNER.own, x + 1
    except AttributeError as e:
        return str(e), x + 1


def attribute_of_a_module(x: Any) -> Any:
    try:
        return MODULE.own, x + 1
    except AttributeError as e:
        return str(e), x + 1


def attribute_that_is_only_asked_for(x: Any) -> Any:
    try:
        OWNER.own  # noqa: B018
    except AttributeError:
        return "none", x + 1
    return "some", x + 1


def global_name(x: Any) -> Any:
    try:
        return PRESENT_AT_TIMES, x + 1  # type: ignore[name-defined] # noqa: F821
    except NameError as e:
        return str(e), x + 1


def key(x: Any) -> Any:
    try:
        return TABLE["own"], x + 1
    except KeyError as e:
        return str(e), x + 1


def index(x: Any) -> Any:
    try:
        return ITEMS[1], x + 1
    except IndexError as e:
        return str(e), x + 1


PROGRAMS = [
    class_attribute,
    attribute,
    attribute_of_a_module,
    attribute_that_is_only_asked_for,
    global_name,
    key,
    index,
]


def put(value: Any) -> None:
    Owner.shared = OWNER.own = TABLE["own"] = globals()["PRESENT_AT_TIMES"] = value
    MODULE.own = value
    ITEMS[:] = [0, value]


def take_away() -> None:
    if "own" in TABLE:
        del Owner.shared, OWNER.own, MODULE.own, TABLE["own"], globals()["PRESENT_AT_TIMES"]
    ITEMS[:] = [0]


@pytest.mark.parametrize("first", [True, False], ids=["there at first", "missing at first"])
@pytest.mark.parametrize("value", [5, [1], object()], ids=["number", "list", "object"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_comes_and_goes(f: Any, value: Any, first: bool) -> None:
    take_away()
    compiled = pydynamo.compile(f, backend="eager")
    for step in range(4):
        if (step % 2 == 0) is first:
            put(value)
        else:
            take_away()
        (found, sum_), (expected, _) = compiled(torch.ones(1)), f(torch.ones(1))
        assert found is expected or found == expected
        assert sum_ == 2
    take_away()
