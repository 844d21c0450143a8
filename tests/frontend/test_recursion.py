"""Deep recursion ends in RecursionError, never in a crash, and does not spoil what comes after."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402


def test_recursion_is_traced_like_any_call() -> None:
    def fall(x: Any, n: int) -> Any:
        return x if n == 0 else fall(x, n - 1) + 1

    assert pydynamo.compile(fall, backend="eager")(torch.zeros(1), 20).item() == 20


def test_endless_recursion_raises_recursion_error() -> None:
    def fall(x: Any) -> Any:
        return fall(x + 1)

    compiled = pydynamo.compile(fall, backend="eager")
    for _ in range(2):
        with pytest.raises(RecursionError):
            compiled(torch.zeros(1))
    assert pydynamo.compile(lambda x: x + 1, backend="eager")(torch.zeros(1)).item() == 1


def test_a_compiled_function_that_calls_itself_through_its_wrapper_raises_recursion_error() -> None:
    script = """
        import sys, torch, pydynamo

        @pydynamo.compile(backend="eager")
        def fall(x, n):
            pydynamo.graph_break()
            return fall(x + 1, n)

        sys.setrecursionlimit({limit})
        try:
            fall(torch.zeros(1), 1.5)
        except RecursionError:
            print("RecursionError")
    """
    for limit in (1000, 60_000):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script.format(limit=limit))], capture_output=True, text=True
        )
        assert done.stdout.strip() == "RecursionError", done.stderr[-2000:]
