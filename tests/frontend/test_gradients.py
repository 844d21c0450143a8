"""Stores to and reads of ``.grad`` in a compiled function, tensors as keys, and whole steps of training: all as in eager."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pydynamo


def exchange(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad, q.grad = q.grad, p.grad
    return x + 1


def old_one_is_returned(p: Tensor, q: Tensor, x: Tensor) -> Any:
    old = p.grad
    p.grad = None
    return old, [old], p.grad is None


def computed(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad = x * 2
    before = p.grad + 1
    p.grad.mul_(3)
    return before, p.grad, p.grad + x


def same_for_two(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad = q.grad = x.clone()
    q.grad.add_(1)
    return p.grad is q.grad, p.grad * 2


def zeroed_then_dropped(p: Tensor, q: Tensor, x: Tensor) -> Any:
    kept = p.grad
    p.grad.zero_()
    p.grad = None
    kept.add_(x)
    return kept, p.grad


def deleted(p: Tensor, q: Tensor, x: Tensor) -> Any:
    del p.grad
    setattr(q, "grad", x.neg())
    return p.grad, getattr(q, "grad", None), hasattr(p, "grad")


def history(p: Tensor, q: Tensor, x: Tensor) -> Any:
    return p.grad_fn, p.grad.grad_fn, (x * 2).grad_fn


def with_history(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad = q * x
    return p.grad.requires_grad, p.grad.is_leaf


def keys(p: Tensor, q: Tensor, x: Tensor) -> Any:
    made = {p: 1, q: x}
    made[x] = p
    seen = {p, q}
    seen.add(p)
    y = x + 1
    return made[q] + made[p], y in made, x in made, len(seen), p in seen, y in seen, {y: 1}[y], {(p, 1): 2}[p, 1]


CAPTURED = [
    *(exchange, old_one_is_returned, computed, same_for_two, zeroed_then_dropped, deleted, history, with_history, keys)
]


def other_shape(p: Tensor, q: Tensor, x: Tensor) -> Any:
    q.grad = None
    p.grad = x[:1]


def other_dtype(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad = x.double()


def no_tensor(p: Tensor, q: Tensor, x: Tensor) -> Any:
    p.grad = 1  # type: ignore[assignment]


def itself(p: Tensor, q: Tensor, x: Tensor) -> Any:
    x.grad = x


def of_a_result(p: Tensor, q: Tensor, x: Tensor) -> Any:
    y = x * 2
    y.grad = x
    return y.grad is x, y


LEFT_TO_TORCH = [other_shape, other_dtype, no_tensor, itself, of_a_result]


def tensors() -> tuple[Tensor, Tensor, Tensor]:
    p, q = nn.Parameter(torch.ones(3)), nn.Parameter(torch.arange(3.0))
    p.grad, q.grad = torch.full((3,), 5.0), torch.full((3,), 7.0)
    return p, q, torch.tensor([1.0, -2.0, 3.0])


def observed(f: Callable[..., Any], args: tuple[Tensor, ...]) -> list[Any]:
    """What a call gives, and what it leaves: values, and which of the tensors are one."""
    grads = [t.grad for t in args]
    try:
        result = f(*args)
    except (RuntimeError, TypeError) as error:
        result = type(error), str(error)
    known: list[Any] = [*args, *grads]
    after = [t.grad for t in args]
    parts = result if isinstance(result, tuple) else (result,)
    flat = [part for item in parts for part in (item if isinstance(item, list) else [item])]
    found = [*flat, *after]
    same = [[a is b for b in [*known, *found]] for a in found if isinstance(a, Tensor)]
    return [same, *([v.tolist() if isinstance(v, Tensor) else v for v in [*found, *known]])]


@pytest.mark.parametrize("f", CAPTURED, ids=lambda f: f.__name__)
def test_gradients_and_keys_are_captured(f: Any) -> None:
    compiled = pydynamo.compile(f, backend="eager", fullgraph=True)
    for _ in range(2):
        assert observed(compiled, tensors()) == observed(f, tensors())


@pytest.mark.parametrize("f", LEFT_TO_TORCH, ids=lambda f: f.__name__)
def test_stores_that_torch_refuses_or_warns_of(f: Any) -> None:
    assert observed(pydynamo.compile(f, backend="eager"), tensors()) == observed(f, tensors())


def test_one_code_for_each_kind_of_gradient() -> None:
    def f(p: Tensor) -> Any:
        return p * 2 if p.grad is None else p.grad + p

    compiled = pydynamo.compile(f, backend="eager", fullgraph=True)
    p = nn.Parameter(torch.ones(2))
    for grad in (None, torch.ones(2), None, torch.full((2,), 4.0)):
        p.grad = grad
        assert torch.equal(compiled(p), f(p))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.unused = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.second(self.first(x).relu())
        return y.pow(2).mean()


OPTIMIZERS: dict[str, Any] = {
    "sgd": functools.partial(torch.optim.SGD, lr=0.1),
    "momentum": functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": functools.partial(torch.optim.Adam, lr=0.1),
    "adamw": functools.partial(torch.optim.AdamW, lr=0.1, amsgrad=True),
}


def steps_of_training(make: Any, through_optimizer: bool, to_none: bool, compiled: bool) -> tuple[list[Any], int]:
    torch.manual_seed(0)
    model = Model()
    optimizer = make(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)
    owner = optimizer if through_optimizer else model
    graphs: list[Any] = []

    def step(x: Tensor) -> Any:
        owner.zero_grad(set_to_none=to_none)
        loss = model(x)
        loss.backward()
        optimizer.step()
        return loss

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module

    run = pydynamo.compile(step, backend=backend) if compiled else step
    seen: list[Any] = []
    for _ in range(4):
        before = [p.grad for p in model.parameters()]
        loss = run(torch.randn(5, 3))
        after = [p.grad for p in model.parameters()]
        seen.append([loss.detach(), *(p.detach().clone() for p in model.parameters())])
        seen.append([None if g is None else g.clone() for g in after])
        seen.append([a is b for a, b in zip(before, after, strict=True)])
        scheduler.step()
    seen.append(optimizer.state_dict())
    return seen, len(graphs)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value.tolist() if isinstance(value, Tensor) else value


@pytest.mark.parametrize("to_none", [True, False])
@pytest.mark.parametrize("through_optimizer", [True, False])
@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_training(name: str, foreach: bool, through_optimizer: bool, to_none: bool) -> None:
    make = functools.partial(OPTIMIZERS[name], foreach=foreach)
    expected, _ = steps_of_training(make, through_optimizer, to_none, compiled=False)
    found, graphs = steps_of_training(make, through_optimizer, to_none, compiled=True)
    assert list(leaves(found)) == list(leaves(expected))
    assert graphs <= 2  # without gradients and with them; rates that change make no new one


@pytest.mark.parametrize("to_none", [True, False])
def test_clearing_is_captured_whole(to_none: bool) -> None:
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for owner in (model, optimizer):
        model(torch.ones(2, 3)).backward()
        f = pydynamo.compile(lambda x, owner=owner: (owner.zero_grad(to_none), x + 1), backend="eager", fullgraph=True)
        assert f(torch.ones(1))[1].item() == 2
        for p in model.first.parameters():
            assert p.grad is None if to_none else not p.grad.any()


def test_a_profiler_is_told_of_clearing() -> None:
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def f(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        return x + 1

    compiled = pydynamo.compile(f, backend="eager")
    compiled(torch.ones(1))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        compiled(torch.ones(1))
    assert any("zero_grad" in event.key for event in profile.key_averages())
