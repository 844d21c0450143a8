"""An AttributeError tells what was read from which object, whether it is looked at inside or outside compiled code."""

from __future__ import annotations

import math  # noqa: F401 - one of the texts names it
from typing import Any

import pytest
import torch

import pydynamo


class Plain:
    pass


class Slotted:
    __slots__ = ("slot",)


class Asking:
    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            return plain.missing
        raise AttributeError(f"no {name}")


class Named:
    def __getattr__(self, name: str) -> Any:
        raise AttributeError("told", name="other", obj=plain)


plain, slotted, asking, named = Plain(), Slotted(), Asking(), Named()


def _function() -> None:
    pass


READS = [
    "plain.missing",
    "getattr(plain, 'missing')",
    "plain.missing()",
    "plain.missing.more",
    "Plain.missing",
    "slotted.slot",
    "slotted.missing",
    "asking.missing",
    "asking.inner",
    "named.missing",
    "math.missing",
    "_function.missing",
    "'text'.missing",
    "(1, 2).missing",
    "_raises()",
]
DELETIONS = ["plain.missing", "slotted.slot"]


def _raises() -> None:
    raise AttributeError("by hand")


def _function_of(statement: str, inside: bool) -> Any:
    told = "(type(error), error.args, error.name, error.obj)" if inside else "error"
    scope = dict(globals())
    text = f"def f(x):\n  try:\n    {statement}\n  except AttributeError as error:\n    return {told}, x + 1"
    exec(text, scope)  # noqa: S102 - the test's own text
    return scope["f"]


def _told(error: Any) -> Any:
    return (type(error), error.args, error.name, error.obj) if isinstance(error, AttributeError) else error


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("statement", [*READS, *(f"del {place}" for place in DELETIONS)])
def test_as_eager(statement: str, inside: bool) -> None:
    fn = _function_of(statement, inside)
    compiled = pydynamo.compile(fn, backend="eager")
    for _ in range(2):
        assert _told(compiled(torch.ones(2))[0]) == _told(fn(torch.ones(2))[0])


def test_what_left_the_frame_tells_it() -> None:
    def f(x: Any) -> Any:
        return x + plain.missing  # type: ignore[attr-defined]

    for fn in (f, pydynamo.compile(f, backend="eager")):
        with pytest.raises(AttributeError) as caught:
            fn(torch.ones(2))
        assert (caught.value.name, caught.value.obj) == ("missing", plain)
