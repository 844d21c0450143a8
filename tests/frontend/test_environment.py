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
