"""Every graph-break reason has a page, and the example on a page breaks for that reason and runs as in eager."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import pydynamo
from pydynamo.frontend.reasons import REASONS

PAGES = Path(__file__).parents[2] / "docs" / "graph-breaks"


def example(reason: str) -> str | None:
    found = re.search(r"```python\n(.*?)```", (PAGES / f"{reason}.md").read_text(), re.DOTALL)
    return found and found[1]


def load(source: str) -> tuple[Any, tuple[Any, ...]]:
    scope: dict[str, Any] = {"torch": torch, "pydynamo": pydynamo, "__name__": "example"}
    exec(compile(source, "<example>", "exec"), scope)
    return scope["f"], scope["args"]


def outcome(fn: Any, args: tuple[Any, ...]) -> str:
    try:
        return repr(fn(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_every_reason_has_a_page_and_every_page_a_reason() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} - {"README"} == set(REASONS)
    index = (PAGES / "README.md").read_text()
    assert all(f"[{reason}]({reason}.md)" in index for reason in REASONS)


@pytest.mark.parametrize("reason", [name for name in sorted(REASONS) if example(name)])
def test_the_example_breaks_for_the_reason_of_its_page(reason: str) -> None:
    source = example(reason)
    assert source is not None
    fn, args = load(source)
    with pytest.raises(pydynamo.Unsupported) as caught:
        pydynamo.compile(fn, backend="eager", fullgraph=True)(*args)
    assert caught.value.reason == reason, str(caught.value)


@pytest.mark.parametrize("reason", ["data-dependent-branch", "io", "operator-error", "uncaught-exception"])
def test_without_fullgraph_the_example_runs_as_in_eager(reason: str) -> None:
    source = example(reason)
    assert source is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = outcome(pydynamo.compile(load(source)[0], backend="eager"), load(source)[1])
    assert got == outcome(*load(source))
