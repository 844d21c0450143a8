"""What is on the stack at a break is what CPython takes it for in the code that continues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pydynamo


def double(*items: int, **named: int) -> int:
    pydynamo.graph_break()
    return 2 * (sum(items) + sum(named.values()))


def list_under_construction(x: torch.Tensor) -> Any:
    return [*range(2), double(3), *range(double(1))], x + 1


def set_under_construction(x: torch.Tensor) -> Any:
    return {*range(2), double(3), *range(double(1))}, x + 1


def dict_under_construction(x: torch.Tensor) -> Any:
    return {**{"a": 1}, "b": double(2), **{"c": double(3)}}, x + 1


def keywords_at_the_break(x: torch.Tensor) -> Any:
    named = {"a": 1}
    return double(*[1, 2], **named, b=double(3)), x + 1


def tuple_under_construction(x: torch.Tensor) -> Any:
    return (*range(2), double(3), *range(double(1))), x + 1


def iterator_over_a_tensor_of_changing_length(x: torch.Tensor) -> Any:
    total = 0
    for row in x:
        total = total + row * 2
    return total, x + 1


def iterator_alive_at_the_break(x: torch.Tensor) -> Any:
    total = x
    for factor in (1, 2, 3):
        total = total * factor + double(factor)
    return total


CASES = [
    value
    for name, value in list(globals().items())
    if name not in ("double",)
    and name[0].islower()
    and callable(value)
    and getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_compiled_equals_eager_and_nothing_fails_inside(
    fn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pydynamo import config

    monkeypatch.setattr(config, "strict", True)
    compiled = pydynamo.compile(fn, backend="eager")
    for size in (3, 4, 5):
        x = torch.rand(size)
        got, want = compiled(x), fn(x)
        assert repr(got) == repr(want)


def test_a_cell_that_is_not_bound_raises_as_a_local_does() -> None:
    def fn(x: torch.Tensor, bind: bool) -> Any:
        y = x + 1
        pydynamo.graph_break()
        if bind:
            late = 1
        use = late + 1
        return y, lambda: late + use

    compiled = pydynamo.compile(fn, backend="eager")
    for one in (fn, compiled):
        with pytest.raises(UnboundLocalError, match="late"):
            one(torch.ones(2), False)
    assert compiled(torch.ones(2), True)[1]() == 3


def test_keyword_names_belong_to_the_call_that_they_stand_before() -> None:
    def plain(a: int, *, c: int) -> int:
        return a + c

    def fn(x: torch.Tensor) -> Any:
        return double(plain(1, c=2)), x + 1

    x = torch.ones(2)
    assert repr(pydynamo.compile(fn, backend="eager", fullgraph=False)(x)) == repr(fn(x))


def test_what_follows_a_break_in_a_block_is_captured() -> None:
    graphs: list[Any] = []

    def backend(gm: Any, inputs: Any) -> Any:
        graphs.append([node.target for node in gm.graph.nodes if node.op.startswith("call_")])
        return gm.forward

    def fn(x: torch.Tensor) -> torch.Tensor:
        try:
            y = x + 1
            pydynamo.graph_break()
            y = y.sin() * 2
        finally:
            x = x - 3
        return y * x

    x = torch.rand(3)
    assert torch.equal(pydynamo.compile(fn, backend=backend)(x), fn(x))
    assert [len(graph) for graph in graphs] == [1, 4]


class Doubling:
    def apply(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Breaking(Doubling):
    def apply(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        pydynamo.graph_break()
        parent = super()
        str(type(parent))
        return parent.apply(y)

    def captured(self, x: torch.Tensor) -> torch.Tensor:
        def inner() -> torch.Tensor:
            return self.apply(x)

        pydynamo.graph_break()
        parent = super()
        return parent.apply(inner())

    def replaced(self, x: torch.Tensor) -> torch.Tensor:
        pydynamo.graph_break()
        self = Breaking()
        parent = super()
        assert parent.__self__ is self
        return parent.apply(x)

    def without_object(self, x: torch.Tensor) -> Any:
        y = x + 1
        pydynamo.graph_break()
        del self
        try:
            return y, super()
        except RuntimeError as error:
            return y, str(error)


@pytest.mark.parametrize("name", ["apply", "captured", "replaced", "without_object"])
def test_super_without_arguments_finds_the_object_of_the_frame(name: str) -> None:
    method = getattr(Breaking(), name)
    compiled = pydynamo.compile(method, backend="eager")
    for _ in range(2):
        x = torch.ones(2)
        got, want = compiled(x), method(x)
        assert str(got) == str(want)
