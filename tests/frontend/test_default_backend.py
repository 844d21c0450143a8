"""Who names no backend gets one for each graph: by where its tensors are, and by what the machine has."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch

import pydynamo
from pydynamo import backends
from pydynamo.errors import BackendError


class OnCuda:
    is_cuda = True


def test_the_choice_follows_the_tensors_of_the_graph() -> None:
    module = torch.fx.symbolic_trace(lambda x: x + 1)
    assert not backends._on_cuda(module, [torch.ones(2), 3])
    assert backends._on_cuda(module, [3, OnCuda()])
    next(iter(module.graph.nodes)).meta["example_value"] = OnCuda()
    assert backends._on_cuda(module, [torch.ones(2)])


@pytest.mark.parametrize(("compiler", "name"), [("/usr/bin/g++", "inductor"), (None, "eager")])
def test_graphs_on_the_cpu_are_compiled_where_a_compiler_is_found_and_the_log_says_so(
    compiler: str | None, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    used: list[str] = []

    def stand_in(module: torch.fx.GraphModule, example_inputs: list[object]) -> object:
        used.append(name)
        return module.forward

    monkeypatch.setattr(backends.shutil, "which", lambda program: compiler)
    monkeypatch.setitem(backends._registry, name, stand_in)
    backends.default_backend.cache_clear()
    with caplog.at_level(logging.INFO, logger="pydynamo"):
        assert torch.equal(pydynamo.compile(lambda x: x * 2)(torch.ones(2)), torch.full((2,), 2.0))
    backends.default_backend.cache_clear()
    assert used == [name]
    assert f"on the CPU: {name}" in caplog.text


@pytest.mark.parametrize("fullgraph", [False, True])
def test_what_a_backend_raises_is_told_with_its_name(fullgraph: bool) -> None:
    def broken(module: Any, examples: Any) -> Any:
        raise KeyError("no such kernel")

    compiled = pydynamo.compile(lambda x: x + 1, backend=broken, fullgraph=fullgraph)
    with pytest.raises(BackendError, match=r"broken failed on a graph of .*KeyError: 'no such kernel'") as caught:
        compiled(torch.ones(1))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_backend_that_gives_nothing_to_call_is_told() -> None:
    compiled = pydynamo.compile(lambda x: x + 1, backend=lambda module, examples: None)
    with pytest.raises(BackendError, match="gave None, which is not callable"):
        compiled(torch.ones(1))


def store_by_mask(x: torch.Tensor, mask: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[mask] = v  # in the backward pass as many gradients as the mask has true elements
    return y * 2


def test_what_no_backend_can_trace_runs_as_it_was_captured(caplog: pytest.LogCaptureFixture) -> None:
    x, v = torch.arange(6.0) - 3, torch.tensor(5.0, requires_grad=True)
    compiled = pydynamo.compile(store_by_mask, backend="aot_eager")
    out = compiled(x, x > 0, v)
    out.sum().backward()
    assert torch.equal(out, store_by_mask(x, x > 0, v))
    assert v.grad == 4
    assert "store_by_mask: the backend aot_eager cannot compile a graph" in caplog.text
    with pytest.raises(BackendError, match="nonzero"):
        pydynamo.compile(store_by_mask, backend="aot_eager", fullgraph=True)(x, x > 0, v)
