"""What ``compile`` gives for a module is called as the module would be, whoever has hooks, and wherever it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as nn_module

import pydynamo

#: registers a hook that notes its call: on the module, on its wrapper, for all modules
HOOKS: dict[str, Callable[[nn.Module, Any], Any]] = {
    "forward": lambda module, note: module.register_forward_hook(lambda *_: note()),
    "pre": lambda module, note: module.register_forward_pre_hook(lambda *_: note()),
    "backward": lambda module, note: module.register_full_backward_hook(lambda *_: note()),
    "backward pre": lambda module, note: module.register_full_backward_pre_hook(lambda *_: note()),
}
GLOBAL_HOOKS: dict[str, Callable[[Any], Any]] = {
    "forward": lambda note: nn_module.register_module_forward_hook(lambda *_: note()),
    "pre": lambda note: nn_module.register_module_forward_pre_hook(lambda *_: note()),
    "backward": lambda note: nn_module.register_module_full_backward_hook(lambda *_: note()),
}


def _calls_of(run: Any, register: Callable[[Any], Any]) -> tuple[int, int, int]:
    """How often a hook ran while ``run`` was called: before it was registered, while it was, after it was removed."""
    calls: list[int] = []
    x = torch.ones(2, 3, requires_grad=True)

    def seen() -> int:
        calls.clear()
        run(x).sum().backward()
        return len(calls)

    before = seen()
    handle = register(lambda: calls.append(1))
    try:
        during = seen()
    finally:
        handle.remove()
    return before, during, seen()


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize("on_wrapper", [False, True], ids=["module", "wrapper"])
def test_a_hook_runs_from_its_registration_to_its_removal(kind: str, on_wrapper: bool) -> None:
    module = nn.Linear(3, 3)
    compiled = pydynamo.compile(module, backend="eager")
    target = compiled if on_wrapper else module
    assert _calls_of(compiled, lambda note: HOOKS[kind](target, note)) == (0, 1, 0)


@pytest.mark.parametrize("kind", GLOBAL_HOOKS)
def test_a_hook_of_all_modules_runs_for_the_module(kind: str) -> None:
    compiled = pydynamo.compile(nn.Linear(3, 3), backend="eager")
    before, during, after = _calls_of(compiled, GLOBAL_HOOKS[kind])
    assert before == after == 0 < during


def test_a_table_of_hooks_that_was_replaced_is_seen() -> None:
    module = nn.Linear(3, 3)
    compiled = pydynamo.compile(module, backend="eager")
    compiled(torch.ones(1, 3))
    module._forward_hooks = type(module._forward_hooks)()
    assert _calls_of(compiled, lambda note: HOOKS["forward"](module, note)) == (0, 1, 0)


def test_a_class_with_a_call_of_its_own_runs_it() -> None:
    class Twice(nn.Module):
        def __call__(self, x: Tensor) -> Tensor:
            return super().__call__(x) * 2

        def forward(self, x: Tensor) -> Tensor:
            return x + 1

    compiled, x = pydynamo.compile(Twice(), backend="eager"), torch.ones(2)
    for _ in range(2):
        assert compiled(x).tolist() == [4.0, 4.0]


def test_a_compiled_module_inside_compiled_code_is_one_graph_with_it() -> None:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: list[Any]) -> Any:
        graphs.append(graph)
        return graph.forward

    module = nn.Linear(3, 3)
    inner = pydynamo.compile(module, backend="eager")
    compiled = pydynamo.compile(lambda x: inner(x) * 2, backend=backend)
    x = torch.ones(2, 3)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), module(x) * 2)
    assert len(graphs) == 1
    assert _calls_of(compiled, lambda note: HOOKS["forward"](module, note)) == (0, 1, 0)


def test_keyword_arguments_and_errors_are_the_modules_own() -> None:
    class Net(nn.Module):
        def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
            return x * scale

    compiled = pydynamo.compile(Net(), backend="eager")
    assert compiled(torch.ones(1), scale=3.0).item() == compiled(x=torch.ones(1), scale=3.0).item() == 3.0
    with pytest.raises(TypeError, match="forward"):
        compiled(torch.ones(1), torch.ones(1))
