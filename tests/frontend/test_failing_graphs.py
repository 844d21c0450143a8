"""A frame whose graph fails and leaves nothing behind runs again, uncompiled; the others are cut before that is needed."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import pydynamo
from pydynamo._core import CompiledFunction, CompiledGraph
from pydynamo.frontend.fake_mode import Traces


class Graphs:
    """Counts graphs and their calls."""

    def __init__(self) -> None:
        self.made: list[torch.fx.GraphModule] = []
        self.calls = 0

    def __call__(self, module: torch.fx.GraphModule, examples: list[Any]) -> Any:
        self.made.append(module)

        def run(*args: Any) -> Any:
            self.calls += 1
            return module.forward(*args)

        return run


def failing_in_try(x: Any, i: Any, log: list[str]) -> Any:
    log.append("before")
    try:
        return (x * 2)[i] + 1
    except IndexError:
        return None


@pytest.mark.parametrize("index", [0, 5])
def test_one_graph_holds_an_operator_that_may_fail(index: int) -> None:
    graphs = Graphs()
    compiled = pydynamo.compile(failing_in_try, backend=graphs)
    log: list[str] = []
    result = compiled(torch.ones(3), torch.tensor([index]), log)
    assert len(graphs.made) == graphs.calls == 1
    assert log == ["before"]
    assert (result is None) == (index == 5)


def changes(x: Any, i: Any) -> Any:
    x.add_(1)
    try:
        return x[i]
    except IndexError:
        return x


def draws(x: Any, i: Any) -> Any:
    y = torch.rand(3)
    try:
        return y[i]
    except IndexError:
        return x


def fails_then_changes(x: Any, i: Any) -> Any:
    try:
        y = (x * 2)[i]
        x.mul_(2)
    except IndexError:
        return x
    return y


def changes_its_own(x: Any, i: Any) -> Any:
    y = x * 2
    y += 1
    y[0] = 3
    try:
        return y[i]
    except IndexError:
        return y


def draws_between(x: Any, i: Any) -> Any:
    try:
        y = F.dropout(x[i], 0.5)
        return y[i] + torch.rand(1)
    except IndexError:
        return torch.rand(2)


@pytest.mark.parametrize("fn", [draws, draws_between])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_numbers_drawn_before_a_failure_are_drawn_again(fn: Any, backend: str) -> None:
    compiled = pydynamo.compile(fn, backend=backend, fullgraph=True)
    for index in (0, 7, 1, 2):  # the third fails after numbers were drawn
        torch.manual_seed(0)
        expected = fn(torch.ones(3), torch.tensor([index])), torch.rand(1)
        torch.manual_seed(0)
        result = compiled(torch.ones(3), torch.tensor([index])), torch.rand(1)
        assert torch.equal(result[0], expected[0])
        assert torch.equal(result[1], expected[1])


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_attention_draws_numbers_only_to_drop_something(rate: float) -> None:
    traces = Traces()
    q = torch.ones(1, 1, 2, 8)
    traces.note(torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default, (q, q, q, rate), {})
    assert traces.drawn == (rate > 0)


@pytest.mark.parametrize("fn", [changes, fails_then_changes])
def test_what_cannot_be_taken_back_ends_the_graph(fn: Any) -> None:
    with pytest.raises(pydynamo.Unsupported) as caught:
        pydynamo.compile(fn, backend="eager", fullgraph=True)(torch.ones(3), torch.tensor([0]))
    assert caught.value.reason == "failing-operator-in-try"
    for index in (0, 7):
        torch.manual_seed(0)
        a, b = torch.ones(3), torch.ones(3)
        expected = fn(a, torch.tensor([index]))
        torch.manual_seed(0)
        assert torch.equal(pydynamo.compile(fn, backend="eager")(b, torch.tensor([index])), expected)
        assert torch.equal(a, b)


def test_a_tensor_of_the_graph_may_change() -> None:
    compiled = pydynamo.compile(changes_its_own, backend="eager", fullgraph=True)
    for index in (0, 7):
        expected = changes_its_own(torch.ones(3), torch.tensor([index]))
        assert torch.equal(compiled(torch.ones(3), torch.tensor([index])), expected)


def inner(x: Any, i: Any) -> Any:
    return x[i]


def outer(x: Any, i: Any) -> Any:
    y = x * 2
    return inner(y, i) + 1


def test_the_traceback_is_that_of_eager() -> None:
    def lines(fn: Any) -> list[tuple[str, int | None]]:
        with pytest.raises(IndexError) as caught:
            fn(torch.ones(3), torch.tensor([5]))
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert caught.value.__context__ is None
        return [(frame.name, frame.lineno) for frame in frames if frame.name in ("inner", "outer", "forward")]

    compiled = pydynamo.compile(outer, backend="eager")
    compiled(torch.ones(3), torch.tensor([0]))
    assert lines(compiled) == lines(outer) != []


def original(x: int) -> str:
    return "original"


def wrapper_of(run: Any, repeatable: bool = True) -> CompiledFunction:
    """A compiled function whose code calls the graph and returns what it gives."""
    graph = CompiledGraph("graph", run, repeatable)
    scope: dict[str, Any] = {"graph": graph}
    exec("def replacement(x):\n    return graph(x)", scope)
    wrapped = CompiledFunction(original, lambda *_: scope["replacement"])
    assert repr(graph) == "graph"
    return wrapped


def raising(error: BaseException) -> Any:
    def run(*_: Any) -> Any:
        raise error

    return run


@pytest.mark.parametrize("error", [ValueError("no"), RuntimeError("no"), MemoryError()])
def test_the_original_runs_when_the_graph_raises(error: Exception) -> None:
    assert wrapper_of(raising(error))(1) == "original"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), RecursionError("deep")])
def test_some_exceptions_are_not_the_graphs_own(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        wrapper_of(raising(error))(1)
    assert caught.value is error


def test_an_unrepeatable_graph_just_raises() -> None:
    with pytest.raises(ValueError, match="no"):
        wrapper_of(raising(ValueError("no")), repeatable=False)(1)


def test_an_exception_of_another_call_is_left_alone() -> None:
    """Only the frame that called the graph runs again, and only for the exception that the graph raised."""
    graph = CompiledGraph("graph", raising(ValueError("graph")), True)
    scope: dict[str, Any] = {"graph": graph}
    exec("def caught(x):\n    try:\n        graph(x)\n    except ValueError:\n        raise KeyError(x)", scope)
    exec("def called(x):\n    return caught(x)", scope)
    for name in ("caught", "called"):
        with pytest.raises(KeyError):
            CompiledFunction(original, lambda *_, n=name: scope[n])(1)
    exec("def passed_on(x):\n    return f(x)", {"f": scope["graph"]}, scope)
    scope["f"] = wrapper_of(raising(TypeError("inner")), repeatable=False)
    exec("def nested(x):\n    return f(x)", scope)
    with pytest.raises(TypeError, match="inner"):
        CompiledFunction(original, lambda *_: scope["nested"])(1)


@torch.library.custom_op("pydynamo_tests::noisy", mutates_args=())
def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(x.shape)


@noisy.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def custom_in_try(x: Any, i: Any) -> Any:
    try:
        return noisy(x)[i] + torch.rand(1)
    except IndexError:
        return torch.rand(2)


def normalizes_then_fails(x: Any, i: Any, norm: torch.nn.Module) -> Any:
    y = norm(x.view(1, 3))
    try:
        return y[0][i]
    except IndexError:
        return y[0]


@pytest.mark.parametrize("index", [0, 7])
def test_operators_of_others_are_taken_back_too(index: int) -> None:
    compiled = pydynamo.compile(custom_in_try, backend="eager", fullgraph=True)
    torch.manual_seed(0)
    expected = custom_in_try(torch.ones(3), torch.tensor([index]))
    torch.manual_seed(0)
    assert torch.equal(compiled(torch.ones(3), torch.tensor([index])), expected)


def test_normalization_in_evaluation_changes_nothing() -> None:
    norm = torch.nn.BatchNorm1d(3).eval()
    compiled = pydynamo.compile(normalizes_then_fails, backend="eager", fullgraph=True)
    for index in (0, 7):
        args = torch.arange(3.0), torch.tensor([index]), norm
        assert torch.equal(compiled(*args), normalizes_then_fails(*args))
    with pytest.raises(pydynamo.Unsupported):
        compiled(torch.arange(3.0), torch.tensor([0]), norm.train())
