"""Activation checkpoints: one graph, eager's results and gradients, and a backward pass that computes again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import pydynamo


class Block(nn.Module):
    def __init__(self, rate: float = 0.0) -> None:
        super().__init__()
        self.first, self.second, self.rate = nn.Linear(4, 8), nn.Linear(8, 4), rate

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return x + scale * F.dropout(self.second(torch.relu(self.first(x))), self.rate, self.training)


class Stack(nn.Module):
    def __init__(self, call: Callable[..., Any], rate: float = 0.0) -> None:
        super().__init__()
        self.blocks, self.call = nn.ModuleList(Block(rate) for _ in range(3)), call

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = self.call(block, x)
        return x.square().sum()


def _plain(block: nn.Module, x: Tensor) -> Any:
    return checkpoint(block, x, use_reentrant=False)


def _reentrant(block: nn.Module, x: Tensor) -> Any:
    return checkpoint(block, x, use_reentrant=True)


def _with_keywords(block: nn.Module, x: Tensor) -> Any:
    return checkpoint(block.__call__, x, scale=0.5, use_reentrant=False, preserve_rng_state=True)


def _nested(block: nn.Module, x: Tensor) -> Any:
    def outer(y: Tensor) -> Any:
        return checkpoint(block, torch.sin(y), use_reentrant=False) + y

    return checkpoint(outer, x, use_reentrant=False)


def _several(block: nn.Module, x: Tensor) -> Any:
    def two(y: Tensor, rest: dict[str, Tensor]) -> Any:
        z = block(y)
        return {"a": z, "b": [z * 2, y.shape[0]], "c": rest["w"]}

    out = checkpoint(two, x, {"w": x * 3}, use_reentrant=False)
    return out["a"] + out["b"][0] * out["b"][1] + out["c"]


def _with_autocast(block: nn.Module, x: Tensor) -> Any:
    def low(y: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return block(y)

    return checkpoint(low, x, use_reentrant=False).float()


CALLS = [_plain, _reentrant, _with_keywords, _nested, _several, _with_autocast]


class Counted(TorchDispatchMode):
    """Counts the products."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func in (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)
        return func(*args, **(kwargs or {}))


def _step(module: nn.Module, fn: Callable[..., Any]) -> list[Tensor]:
    torch.manual_seed(1)
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    loss = fn(x)
    loss.backward()
    assert x.grad is not None
    return [loss.detach(), x.grad, *(p.grad for p in module.parameters() if p.grad is not None)]


@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_checkpointed_model_is_one_graph_and_trains_as_eager(
    backend: str, call: Callable[..., Any], rate: float
) -> None:
    torch.manual_seed(0)
    module = Stack(call, rate)
    other = copy.deepcopy(module)
    wanted = _step(other, other)
    found = _step(module, pydynamo.compile(module, backend=backend, fullgraph=True))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_backward_computes_again_what_was_not_kept() -> None:
    module = Stack(_plain)
    x = torch.ones(3, 4, requires_grad=True)
    counts = []
    for fn in (module, pydynamo.compile(module, backend="eager", fullgraph=True)):
        fn(x)
        loss = fn(x)
        with Counted() as counted:
            loss.backward()
        counts.append(counted.count)
    assert counts[0] == counts[1] > 0


def test_aot_marks_the_region_for_recomputation() -> None:
    from torch._dynamo.backends.common import aot_autograd

    marked = []

    def forward(module: torch.fx.GraphModule, inputs: Any) -> Any:
        return module

    def partition(joint: torch.fx.GraphModule, inputs: Any, **options: Any) -> Any:
        from torch._functorch.partitioners import default_partition

        marked.extend(node.name for node in joint.graph.nodes if node.meta.get("recompute"))
        return default_partition(joint, inputs, **options)

    backend = aot_autograd(fw_compiler=forward, partition_fn=partition)
    module = Stack(_plain)
    pydynamo.compile(module, backend=backend, fullgraph=True)(torch.ones(3, 4, requires_grad=True)).backward()
    assert any("addmm" in name for name in marked)


def test_checkpoint_sequential() -> None:
    module = nn.Sequential(*(Block() for _ in range(4)))

    def f(x: Tensor) -> Any:
        return checkpoint_sequential(module, 2, x, use_reentrant=False).sum()

    torch.testing.assert_close(
        _step(module, pydynamo.compile(f, backend="eager", fullgraph=True))[0], _step(module, f)[0]
    )


def test_without_gradients_nothing_is_kept_together() -> None:
    module = Stack(_plain)
    with torch.no_grad():
        report = pydynamo.explain(pydynamo.compile(module, backend="eager", fullgraph=True))(torch.ones(3, 4))
        assert "checkpoint" not in str(report)


@pytest.mark.parametrize("kind", ["object", "tensor", "raise"])
def test_what_a_region_must_not_do_breaks_the_graph_and_stays_right(kind: str) -> None:
    class Effect(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.calls = nn.Linear(4, 4), 0
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            if kind == "object":
                self.calls += 1
            elif kind == "tensor":
                self.seen.add_(1)
            elif x.dim() == 1:
                raise ValueError("one dimension")
            return self.linear(x)

    module = Effect()
    other = copy.deepcopy(module)
    x = torch.ones(3, 4, requires_grad=True) if kind != "raise" else torch.ones(4, requires_grad=True)

    def run(m: nn.Module) -> Any:
        def f(y: Tensor) -> Any:
            try:
                return checkpoint(m, y * 2, use_reentrant=False).sum()
            except ValueError as error:
                return y.sum() + len(str(error))

        return f

    wanted = run(other)(x)
    wanted.backward()
    found = pydynamo.compile(run(module), backend="eager")(x)
    found.backward()
    torch.testing.assert_close(found, wanted)
    assert (module.calls, module.seen) == (other.calls, other.seen)
    with pytest.raises(pydynamo.Unsupported):
        pydynamo.compile(run(Effect()), backend="eager", fullgraph=True)(x)
