"""The bytecode that PyCodegen writes for small functions."""

from __future__ import annotations

import dis
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402
from pydynamo.frontend import events  # noqa: E402

pytestmark = pytest.mark.smoke


def compiled_code(fn: Any, *args: Any) -> Any:
    """The code object written for a call."""
    seen: list[Any] = []
    with events.listening(lambda kind, facts: seen.append(facts["new"]) if kind == "bytecode" else None):
        pydynamo.compile(fn, backend="eager")(*args)
    return seen[-1]


def test_a_graph_with_one_output_is_load_stage_call_unpack_return() -> None:
    def f(x: Any, n: int) -> Any:
        return x * n + 1

    code = compiled_code(f, torch.ones(2), 3)
    names = [
        i.opname for i in dis.get_instructions(code) if i.opname not in ("RESUME", "PUSH_NULL", "PRECALL", "CACHE")
    ]
    assert names[0] == "LOAD_CONST" and names[1].startswith("LOAD_FAST")
    assert names[2:] == ["CALL", "UNPACK_SEQUENCE", "RETURN_VALUE"], names


def test_another_number_recompiles_once_and_then_is_dynamic() -> None:
    def f(x: Any, n: int) -> Any:
        return x * n + 1

    graphs: list[Any] = []

    def backend(module: Any, example_inputs: list[Any]) -> Any:
        graphs.append(module)
        return module.forward

    compiled = pydynamo.compile(f, backend=backend)
    for n in (3, 4, 5, 6):
        assert compiled(torch.ones(2), n).tolist() == [n + 1.0] * 2
    assert len(graphs) == 2
