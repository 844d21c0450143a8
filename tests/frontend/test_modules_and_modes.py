"""Hooks, lazy modules, gradients and autocast: what surrounds a module's forward, traced as torch runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pydynamo

BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


def _counting() -> tuple[Callable[..., Any], list[int]]:
    seen: list[int] = []

    def backend(module: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        seen.append(sum(node.op.startswith("call") for node in module.graph.nodes))
        return module.forward

    return backend, seen


def _hooked() -> nn.Linear:
    module = nn.Linear(3, 3)
    module.register_forward_pre_hook(lambda _, inputs: (inputs[0] + 1,))
    module.register_forward_hook(lambda _, args, kwargs, out: out * 2 + len(kwargs), with_kwargs=True)
    return module


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: lambda x: m(x)], ids=["root", "inner"])
def test_forward_hooks_are_part_of_the_graph(wrap: Callable[[nn.Module], Any]) -> None:
    module = _hooked()
    backend, seen = _counting()
    compiled = pydynamo.compile(wrap(module), backend=backend, fullgraph=True)
    x = torch.randn(2, 3)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), module(x))
    assert len(seen) == 1


def test_a_removed_hook_is_noticed() -> None:
    module = nn.Linear(3, 3)
    handle = module.register_forward_hook(lambda _, inputs, out: out * 2)
    compiled = pydynamo.compile(lambda x: module(x) + 1, backend="eager", fullgraph=True)
    x = torch.randn(2, 3)
    torch.testing.assert_close(compiled(x), module(x) + 1)
    handle.remove()
    torch.testing.assert_close(compiled(x), module(x) + 1)


@pytest.mark.parametrize("root", [True, False])
def test_backward_hooks_run(root: bool) -> None:
    calls: list[str] = []
    module = nn.Linear(3, 3)
    module.register_full_backward_hook(lambda *_: calls.append("backward"))
    compiled = pydynamo.compile(module if root else lambda x: module(x) * 2, backend="eager")
    compiled(torch.randn(2, 3, requires_grad=True)).sum().backward()
    assert calls == ["backward"]


def test_a_lazy_module_is_initialized_as_in_eager_code() -> None:
    torch.manual_seed(0)
    expected = nn.LazyLinear(4)
    x = torch.randn(2, 3)
    torch.manual_seed(1)
    wanted = expected(x)
    torch.manual_seed(1)
    inner = nn.LazyLinear(4)
    compiled = pydynamo.compile(lambda x: inner(x), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), wanted)
    assert type(inner) is nn.Linear


def test_slices_of_module_containers() -> None:
    layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
    chain = nn.Sequential(*layers)

    def fn(x: Tensor) -> Tensor:
        for layer in layers[::-1]:
            x = layer(x)
        return chain[:2](x) * len(layers[1:])

    x = torch.randn(2, 3)
    torch.testing.assert_close(pydynamo.compile(fn, backend="eager", fullgraph=True)(x), fn(x))


def test_an_in_place_operator_on_a_number_is_out_of_place() -> None:
    def fn(x: Tensor) -> tuple[Any, ...]:
        n: Any = 3
        m: Any = 2
        n += x
        m -= n
        return n, m

    x = torch.randn(3)
    torch.testing.assert_close(pydynamo.compile(fn, backend="eager", fullgraph=True)(x), fn(x))


def test_a_size_plus_a_tuple_has_the_type_that_torch_gives_it() -> None:
    def fn(x: Tensor) -> tuple[Any, ...]:
        return x.shape + (1,), (1,) + x.shape, x.shape * 2, x + 1

    x = torch.randn(3)
    found, wanted = pydynamo.compile(fn, backend="eager", fullgraph=True)(x), fn(x)
    assert [type(part) for part in found] == [type(part) for part in wanted]
    assert found[:3] == wanted[:3]


def test_the_gradient_of_an_input_is_read_at_each_call() -> None:
    def fn(p: Tensor) -> Tensor:
        return p * 2 if p.grad is None else p + p.grad

    compiled = pydynamo.compile(fn, backend="eager", fullgraph=True)
    p = torch.randn(3, requires_grad=True)
    for grad in (None, torch.ones(3), torch.full((3,), 2.0)):
        p.grad = grad
        torch.testing.assert_close(compiled(p), fn(p))


@BACKENDS
def test_outputs_alias_mutated_inputs(backend: str) -> None:
    def fn(x: Tensor) -> tuple[Tensor, ...]:
        y = x.view(-1)
        x.add_(1)
        return x, y, x[1:]

    compiled = pydynamo.compile(fn, backend=backend, fullgraph=True)
    mine, theirs = torch.zeros(4), torch.zeros(4)
    for _ in range(2):
        found, wanted = compiled(mine), fn(theirs)
        torch.testing.assert_close(found, wanted)
        assert found[0] is mine
        assert found[1].data_ptr() == mine.data_ptr()
        assert found[2]._base is mine


def _matmuls(x: Tensor) -> tuple[Any, ...]:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
        inside = torch.is_autocast_enabled("cpu")
    return y, x @ x, inside, torch.is_autocast_enabled("cpu")


@torch.autocast("cpu", dtype=torch.bfloat16)
def _decorated(x: Tensor) -> Tensor:
    return x @ x


@BACKENDS
@pytest.mark.parametrize("fn", [_matmuls, _decorated])
def test_autocast_is_traced(backend: str, fn: Callable[..., Any]) -> None:
    x = torch.randn(3, 3)
    compiled = pydynamo.compile(fn, backend=backend, fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), fn(x))
    assert not torch.is_autocast_enabled("cpu")


@BACKENDS
@pytest.mark.parametrize("mode", [lambda: torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad])
def test_a_break_inside_a_mode_stays_inside(backend: str, mode: Callable[[], Any]) -> None:
    def fn(x: Tensor) -> tuple[Tensor, ...]:
        with mode():
            y = x @ x
            pydynamo.graph_break()
            z = y @ y
        return y, z, x @ x

    x = torch.randn(3, 3, requires_grad=True)
    found, wanted = pydynamo.compile(fn, backend=backend)(x), fn(x)
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs)
        assert mine.requires_grad == theirs.requires_grad


def test_autocast_is_left_when_the_graph_raises() -> None:
    def fn(x: Tensor, index: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x[index] @ x

    compiled = pydynamo.compile(fn, backend="eager")
    compiled(torch.randn(3, 3), torch.tensor([0, 1]))
    with pytest.raises(IndexError):
        compiled(torch.randn(3, 3), torch.tensor([0, 9]))
    assert not torch.is_autocast_enabled("cpu")


@torch.inference_mode()
def _inferred(x: Tensor) -> Tensor:
    return x * 2


def _inference(x: Tensor) -> tuple[Tensor, Tensor, bool]:
    with torch.inference_mode():
        y = x * 3
        with torch.inference_mode(False):
            z = x * 2
    return y, z + 1, torch.is_inference_mode_enabled()


@BACKENDS
@pytest.mark.parametrize("dynamic", [True, False])
def test_inference_mode_is_traced(backend: str, dynamic: bool) -> None:
    x = torch.randn(3, requires_grad=True)
    for fn in (_inferred, lambda x: _inference(x)):
        found, wanted = pydynamo.compile(fn, backend=backend, dynamic=dynamic, fullgraph=True)(x), fn(x)
        torch.testing.assert_close(found, wanted)
    assert found[1].requires_grad and not found[0].requires_grad
    assert not torch.is_inference_mode_enabled()


def test_results_of_inference_mode_are_inference_tensors() -> None:
    compiled = pydynamo.compile(_inferred, backend="eager", fullgraph=True)
    assert compiled(torch.ones(3)).is_inference()


def test_inference_mode_is_left_when_the_graph_raises() -> None:
    def fn(x: Tensor, index: Tensor) -> Tensor:
        with torch.inference_mode():
            return x[index] * 2

    compiled = pydynamo.compile(fn, backend="eager")
    compiled(torch.randn(3), torch.tensor([0, 1]))
    with pytest.raises(IndexError) as caught:
        compiled(torch.randn(3), torch.tensor([0, 9]))
    assert not torch.is_inference_mode_enabled()
    del caught
    assert torch.ones(1, requires_grad=True).mul(2).requires_grad


@BACKENDS
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_are_captured_with_their_gradients(backend: str, kind: type[nn.Module]) -> None:
    layer = kind(3, 4, num_layers=2)
    x = torch.randn(5, 2, 3, requires_grad=True)
    compiled = pydynamo.compile(layer, backend=backend, fullgraph=True)
    leaves = [x, *layer.parameters()]
    for _ in range(2):
        found = torch.autograd.grad(compiled(x)[0].sum(), leaves)
        torch.testing.assert_close(found, torch.autograd.grad(layer(x)[0].sum(), leaves))


def test_a_recurrent_layer_whose_weight_was_replaced_is_followed() -> None:
    layer = nn.GRU(3, 4)
    compiled = pydynamo.compile(lambda x: layer(x)[0], backend="eager")
    x = torch.randn(5, 2, 3)
    torch.testing.assert_close(compiled(x), layer(x)[0])
    layer.weight_ih_l0 = nn.Parameter(torch.zeros(12, 3))
    torch.testing.assert_close(compiled(x), layer(x)[0])
