"""Names that a module lacks are looked for among the builtins: what was found there, or not, may change between calls."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import pydynamo

NAME = "a_name_of_nothing"
_SOURCE = """
def called(x):
    return x * abs(-2)

def missing(x):
    try:
        return x + a_name_of_nothing
    except NameError as error:
        return str(error)

def _called():
    return abs(-2)

def called_inside(x):
    return x * _called()

def handler(x):
    try:
        raise KeyError("it")
    except LookupError:
        return x + 1
    except IndexError:
        return x + 2

def _items(log):
    try:
        for item in [1, 2, 3]:
            yield item
    except IndexError:
        log.append("noticed")

def left_early(x):
    log = []
    for item in _items(log):
        if item > 1:
            break
    return x * item, log
"""


class Other(Exception):
    pass


def _other_abs(x: Any) -> Any:
    return 7


def _module(**names: Any) -> dict[str, Any]:
    scope: dict[str, Any] = names
    exec(compile(_SOURCE, "names.py", "exec"), scope)  # noqa: S102 - the test's own text
    return scope


def _outcome(fn: Callable[[Any], Any]) -> str:
    try:
        return repr(fn(torch.ones(2)))
    except Exception as error:
        return repr(error)


@pytest.fixture(params=[False, True], ids=["itself", "inlined"])
def called_from(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """How the function runs: as the one that is compiled, or called by it, with globals of another module."""
    return (lambda fn: lambda x: fn(x)) if request.param else lambda fn: fn


CHANGES = {
    "called": ("abs", _other_abs),
    "called_inside": ("abs", _other_abs),
    "missing": (NAME, 5),
    "handler": ("LookupError", Other),
    "left_early": ("IndexError", GeneratorExit),
}


@pytest.mark.parametrize("place", ["module", "builtins"])
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_name_means_may_change(
    name: str, place: str, called_from: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = _module()
    fn = called_from(scope[name])
    compiled = pydynamo.compile(fn, backend="eager")
    before = _outcome(fn)
    assert _outcome(compiled) == before
    changed, value = CHANGES[name]
    table = scope if place == "module" else vars(builtins)
    with monkeypatch.context() as patch:
        patch.setitem(table, changed, value)
        after = _outcome(fn)
        assert after != before
        assert _outcome(compiled) == after
    assert _outcome(compiled) == before


def test_a_handler_that_the_trace_defines_counts() -> None:
    scope = _module()
    exec("def sets(x):\n    global IndexError\n    IndexError = GeneratorExit\n    return left_early(x)", scope)  # noqa: S102
    want = _outcome(scope["sets"])
    del scope["IndexError"]
    assert _outcome(pydynamo.compile(scope["sets"], backend="eager")) == want


@pytest.mark.parametrize("name", CHANGES)
def test_a_module_may_have_builtins_of_its_own(name: str, called_from: Callable[[Any], Any]) -> None:
    own = {"abs": _other_abs, NAME: 5, "LookupError": IndexError, "IndexError": GeneratorExit, "NameError": KeyError}
    fn = called_from(_module(__builtins__=own)[name])
    assert _outcome(pydynamo.compile(fn, backend="eager")) == _outcome(fn)


def test_other_builtins_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs: list[Iterator[Any]] = []

    def backend(module: Any, examples: Any) -> Any:
        graphs.append(module)
        return module.forward

    compiled = pydynamo.compile(_module()["called"], backend=backend)
    _outcome(compiled)
    monkeypatch.setattr(builtins, NAME, 5, raising=False)
    _outcome(compiled)
    assert len(graphs) == 1
