"""Variables of the environment are known while compiling; each that was read is guarded, and only those."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pydynamo

NAME = "PYDYNAMO_TEST_OF_THE_ENVIRONMENT"


def with_get(x: Any) -> Any:
    return os.environ.get(NAME, "none"), x + 1


def with_getenv(x: Any) -> Any:
    return os.getenv(NAME), x + 1


def with_membership(x: Any) -> Any:
    return NAME in os.environ, x + 1


def with_subscript(x: Any) -> Any:
    try:
        return os.environ[NAME], x + 1
    except KeyError as error:
        return error.args, x + 1


def with_wrong_key(x: Any) -> Any:
    try:
        return os.environ[3], x + 1  # type: ignore[index]
    except TypeError as error:
        return str(error), x + 1


@pytest.mark.parametrize("fn", [with_get, with_getenv, with_membership, with_subscript, with_wrong_key])
def test_reads_follow_the_environment(fn: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pydynamo.compile(fn, backend="eager", fullgraph=True)
    x = torch.ones(2)
    for value in (None, "one", "two", None):
        if value is None:
            monkeypatch.delenv(NAME, raising=False)
        else:
            monkeypatch.setenv(NAME, value)
        assert compiled(x)[0] == fn(x)[0]


def _chain(error: BaseException | None) -> list[tuple[str, tuple[Any, ...], str, bool]]:
    """An exception, and those that it hides or was raised within."""
    found = []
    while error is not None:
        found.append((type(error).__name__, error.args, repr(error.__cause__), error.__suppress_context__))
        error = error.__context__
    return found


def caught(x: Any) -> Any:
    try:
        os.environ[NAME]
    except KeyError as error:
        return error, x + 1


def caught_while_handling(x: Any) -> Any:
    try:
        try:
            raise ZeroDivisionError("before")
        except ZeroDivisionError:
            os.environ[NAME]
    except KeyError as error:
        return error, x + 1


def caught_and_raised_from(x: Any) -> Any:
    try:
        try:
            os.environ[NAME]
        except KeyError as error:
            raise ValueError("after") from error
    except ValueError as error:
        return error, x + 1


def caught_and_raised_again(x: Any) -> Any:
    try:
        try:
            os.environ[NAME]
        except KeyError:
            raise
    except KeyError as error:
        return error, x + 1


def raised(x: Any) -> Any:
    try:
        return os.environ[NAME], x + 1
    finally:
        x + 1


@pytest.mark.parametrize("fn", [caught, caught_while_handling, caught_and_raised_from, caught_and_raised_again, raised])
def test_what_is_missing_is_told_as_by_python(fn: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    told = []
    for function in (fn, pydynamo.compile(fn, backend="eager")):
        try:
            told.append(_chain(function(torch.ones(2))[0]))
        except KeyError as error:
            told.append(_chain(error))
    assert told[0] == told[1]


def test_other_variables_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = 0

    def backend(module: torch.fx.GraphModule, examples: list[Any]) -> Any:
        nonlocal graphs
        graphs += 1
        return module.forward

    compiled = pydynamo.compile(with_get, backend=backend)
    compiled(torch.ones(2))
    monkeypatch.setenv(NAME + "_OTHER", "1")
    compiled(torch.ones(2))
    assert graphs == 1


def test_stores_happen_for_real(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)

    def stores(x: Any) -> Any:
        os.environ[NAME] = "stored"
        return os.environ.get(NAME), x + 1

    assert pydynamo.compile(stores, backend="eager")(torch.ones(2))[0] == "stored" == os.environ[NAME]
    monkeypatch.delenv(NAME)
