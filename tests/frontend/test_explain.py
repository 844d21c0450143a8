"""``explain`` says what one call captured, and the logs show the bytecode before and after."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pydynamo


def broken(x: torch.Tensor, n: int) -> torch.Tensor:
    y = x * n + 1
    pydynamo.graph_break()
    return y.sin()


def test_explanation_counts_graphs_operators_breaks_and_guards() -> None:
    found = pydynamo.explain(broken)(torch.ones(3), 3)
    assert torch.equal(found.result, broken(torch.ones(3), 3))
    assert (len(found.graphs), found.op_count) == (2, 3)
    assert [reason.reason for reason in found.breaks] == ["explicit-break"]
    assert found.breaks[0].source_line.strip() == "pydynamo.graph_break()"
    assert "n == 3" in found.guards
    assert found.compile_seconds > 0


def test_explanation_reads_well() -> None:
    found = pydynamo.explain(broken)(torch.ones(3), 3)
    assert repr(found).startswith("broken: 2 graphs, 3 operators, 1 graph break, ")
    detail = found.detail()
    assert "ORIGINAL BYTECODE broken" in detail
    assert "MODIFIED BYTECODE broken" in detail
    assert "__compiled_fn_" in detail


def test_the_bytecode_log_shows_both_codes(capsys: pytest.CaptureFixture[str]) -> None:
    def small(x: Any) -> Any:
        return x + 1

    pydynamo.set_logs(bytecode=True)
    try:
        pydynamo.compile(small, backend="eager")(torch.ones(2))
    finally:
        pydynamo.set_logs(bytecode=False)
    err = capsys.readouterr().err
    assert "ORIGINAL BYTECODE" in err
    assert "MODIFIED BYTECODE" in err


def test_a_log_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no log named 'nothing'"):
        pydynamo.set_logs(nothing=True)
