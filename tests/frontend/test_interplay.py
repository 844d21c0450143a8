"""Next to torch.compile, debuggers and monitoring tools in one process."""

from __future__ import annotations

import cProfile
import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402


def double(x: Any) -> Any:
    return x * 2


def ours(fn: Any) -> Any:
    return pydynamo.compile(fn, backend="eager")


def theirs(fn: Any) -> Any:
    return torch.compile(fn, backend="eager")


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="torch.compile has no 3.15 yet")
@pytest.mark.parametrize("order", [(ours, theirs), (theirs, ours)], ids=["ours first", "theirs first"])
def test_both_compilers_in_one_process_and_one_inside_the_other(order: tuple[Any, Any]) -> None:
    x = torch.ones(2)
    for compiler in (*order, *order):
        assert compiler(lambda v: v * 2 + 1)(x).tolist() == [3.0, 3.0]
    outer, inner = order
    compiled = inner(double)
    assert outer(lambda v: compiled(v) + 1)(x).tolist() == [3.0, 3.0]
    assert outer(inner(lambda v: v * 5))(x).tolist() == [5.0, 5.0]


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="torch.compile has no 3.15 yet")
def test_modules_are_made_inside_though_dynamo_has_put_itself_before_their_constructor() -> None:
    theirs(lambda v: v + 1)(torch.ones(1))
    made = pydynamo.compile(lambda v: torch.nn.ReLU()(v) + 1, backend="eager", fullgraph=True)
    assert made(torch.ones(1)).tolist() == [2.0]


def program(x: Any) -> Any:
    y = x + 1
    print(end="")
    return helper(y)


def helper(y: Any) -> Any:
    return y * 3


def events_of(run: Any) -> list[tuple[str, str, int]]:
    """What a debugger is told of this file's functions while ``run`` runs: function, event, line."""
    seen: list[tuple[str, str, int]] = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename == __file__:
            seen.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(torch.ones(1))
    finally:
        sys.settrace(before)
    return seen


def test_a_trace_function_sees_the_users_frames() -> None:
    compiled = ours(program)
    compiled(torch.ones(1))
    assert ("program", "call") in [(name, event) for name, event, _ in events_of(compiled)]


@pytest.mark.smoke
def test_a_debugger_is_told_what_eager_tells_it() -> None:
    compiled = ours(program)
    expected = events_of(program)
    assert [name for name, event, _ in expected if event == "call"] == ["program", "helper"]
    assert events_of(compiled) == expected  # never compiled before
    compiled(torch.ones(1))
    assert events_of(compiled) == expected
    assert compiled(torch.ones(1)).item() == 6


def starts_the_trace(x: Any, seen: list[str]) -> Any:
    def trace(frame: Any, event: str, arg: Any) -> Any:
        seen.append(f"{frame.f_code.co_name} {event}")
        return trace

    before = sys.gettrace()
    x = x * 2
    sys.settrace(trace)
    try:
        x = helper(x)
    finally:
        sys.settrace(before)
    return x


def test_a_trace_that_starts_inside_sees_what_is_called_then() -> None:
    for _ in range(2):
        seen: list[str] = []
        assert ours(starts_the_trace)(torch.ones(1), seen).item() == 6
        assert [event for event in seen if event.startswith("helper")] == [
            "helper call",
            "helper line",
            "helper return",
        ]


def test_lines_of_a_compiled_function_are_the_users() -> None:
    def failing(x: Any) -> Any:
        y = x + 1
        return y.view(3, 7)

    first = failing.__code__.co_firstlineno
    with pytest.raises(RuntimeError) as caught:
        ours(failing)(torch.ones(2))
    places = [(entry.path.name, entry.lineno + 1) for entry in caught.traceback]
    assert any(name == "test_interplay.py" and first <= line <= first + 2 for name, line in places)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_sees_the_users_functions() -> None:
    compiled = ours(program)
    compiled(torch.ones(1))
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    started: set[str] = set()
    monitoring.use_tool_id(4, "pydynamo test")
    try:
        monitoring.register_callback(4, monitoring.events.PY_START, lambda code, at: started.add(code.co_name))
        monitoring.set_events(4, monitoring.events.PY_START)
        compiled(torch.ones(1))
    finally:
        monitoring.set_events(4, 0)
        monitoring.free_tool_id(4)
    assert started >= {"program", "helper"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_a_profiler_sees_what_really_runs() -> None:
    compiled = ours(program)
    compiled(torch.ones(1))
    profile = cProfile.Profile()
    profile.runcall(compiled, torch.ones(1))
    assert not [entry for entry in profile.getstats() if getattr(entry.code, "co_name", "") == "helper"]


def test_tracing_while_compiling_does_not_disturb_either() -> None:
    seen: list[str] = []
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))
    try:
        assert ours(lambda x: x * 4)(torch.ones(1)).item() == 4
    finally:
        sys.settrace(before)
    assert seen
