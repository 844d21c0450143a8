"""Compiled functions inside ``torch.func``'s transforms, modes and traces: as eager, whatever the backend."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call, functionalize, grad, jvp, vjp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import pydynamo

Function = Callable[..., Any]
W = torch.tensor([1.0, 2.0, 3.0])


def _x() -> Tensor:
    return torch.arange(6.0).reshape(2, 3)


def elementwise(x: Tensor) -> Tensor:
    return (x * 2).sin()


def summed(x: Tensor) -> Tensor:
    return (x * x).sum()


def closed_over(x: Tensor) -> Tensor:
    return x * W + torch.ones(3)


def broken(x: Tensor) -> Tensor:
    x = x + 1
    print(end="")
    return x * 2


def branches(x: Tensor) -> Tensor:
    return x if x.sum() > 0 else -x


def asks_number(x: Tensor) -> Tensor:
    return x * x.sum().item()


def draws(x: Tensor) -> Tensor:
    return x + torch.rand(3)


def draws_alone() -> Tensor:
    return torch.rand(3)


def writes(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)
    y.mul_(2)
    return x * 2


def writes_to_own(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    return x.add_(y) * 2


def _inside_gradient(make: Callable[[Function], Function]) -> Any:
    def outer(scale: Tensor) -> Tensor:
        result: Tensor = make(lambda x: x * scale)(_x())
        return result.sum()

    return grad(outer)(torch.tensor(2.0))


def _of_module(make: Callable[[Function], Function]) -> Any:
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 3)
    call = make(lambda parameters, x: functional_call(module, parameters, (x,)).sum())
    return grad(call)(dict(module.named_parameters()), _x())


def _same(fn: Function, run: Callable[[Function], Any]) -> Callable[[Callable[[Function], Function]], Any]:
    return lambda make: run(make(fn))


CASES: dict[str, Callable[[Callable[[Function], Function]], Any]] = {
    "vmap": _same(elementwise, lambda f: vmap(f)(_x())),
    "vmap, write": _same(writes, lambda f: vmap(f)(_x(), _x())),
    "vmap, write to a copy": _same(writes_to_own, lambda f: vmap(f)(_x(), _x())),
    "vmap, closed over": _same(closed_over, lambda f: vmap(f)(_x())),
    "vmap, a break": _same(broken, lambda f: vmap(f)(_x())),
    "vmap, a branch": _same(branches, lambda f: vmap(f)(_x())),
    "vmap, a number": _same(asks_number, lambda f: vmap(f)(_x())),
    "vmap, random numbers refused": _same(draws, lambda f: vmap(f)(_x())),
    "vmap, random numbers": _same(draws, lambda f: vmap(f, randomness="different")(_x())),
    "grad": _same(summed, lambda f: grad(f)(_x())),
    "grad, a branch": _same(branches, lambda f: grad(lambda x: f(x).sum())(_x())),
    "grad, a break": _same(broken, lambda f: grad(lambda x: f(x).sum())(_x())),
    "grad of grad": _same(summed, lambda f: grad(lambda x: grad(f)(x).sum())(_x())),
    "vmap of grad": _same(summed, lambda f: vmap(grad(f))(_x())),
    "grad, closed over": _inside_gradient,
    "grad, a module": _of_module,
    "jvp": _same(elementwise, lambda f: jvp(f, (_x(),), (_x(),))),
    "vjp": _same(elementwise, lambda f: vjp(f, _x())[1](_x())),
    "functionalize": _same(writes, lambda f: functionalize(f)(_x(), _x())),
    "before and after": _same(
        elementwise, lambda f: (f(_x()), vmap(f)(_x()), f(_x()), vmap(f)(_x()), grad(summed)(_x()))
    ),
    "write before and after": _same(writes, lambda f: (f(_x(), _x()), vmap(f)(_x(), _x()), f(_x(), _x()))),
}


def _outcome(run: Callable[[], Any]) -> str:
    torch.manual_seed(0)
    try:
        return repr(run())
    except RuntimeError as error:
        return repr(error)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_as_eager(case: Callable[[Any], Any], backend: str) -> None:
    want = _outcome(lambda: case(lambda fn: fn))
    assert _outcome(lambda: case(lambda fn: pydynamo.compile(fn, backend=backend))) == want


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
@pytest.mark.parametrize("first", ["inside", "outside"])
def test_a_function_without_arguments(first: str, randomness: str) -> None:
    """No input tells that a transform is on."""

    def run(fn: Function) -> Any:
        calls = [lambda: vmap(lambda x: x + fn(), randomness=randomness)(_x()), fn]
        return [_outcome(call) for call in (calls if first == "inside" else calls[::-1])]

    assert run(pydynamo.compile(draws_alone, backend="aot_eager")) == run(draws_alone)


class _Dispatched(TorchDispatchMode):
    """Writes down each operator."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class _Called(TorchFunctionMode):
    """Writes down each function of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("mode", [_Dispatched, _Called])
@pytest.mark.parametrize("fn", [elementwise, closed_over, broken, draws, writes_to_own, draws_alone])
def test_modes_see_what_eager_runs(fn: Function, mode: Any, backend: str) -> None:
    """And nothing of a translation, or of a backend."""
    args = [_x() for _ in range(fn.__code__.co_argcount)]

    def seen(call: Function) -> list[list[str]]:
        found = []
        for on in (True, False, True):
            with mode() if on else contextlib.nullcontext() as active:
                call(*args)
            found.append(active.seen if active is not None else [])
        return found

    assert seen(pydynamo.compile(fn, backend=backend)) == seen(fn)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("tracing", ["real", "fake", "symbolic"])
def test_tracing_sees_what_eager_runs(tracing: str, backend: str) -> None:
    compiled = pydynamo.compile(writes, backend=backend)
    for _ in range(2):
        got, want = (make_fx(fn, tracing_mode=tracing)(_x(), _x()).code for fn in (compiled, writes))
        assert got == want
        compiled(_x(), _x())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torch_jit_sees_what_eager_runs() -> None:
    got, want = (torch.jit.trace(fn, (_x(),)).code for fn in (pydynamo.compile(elementwise), elementwise))
    assert got == want


def test_a_default_device_is_no_such_mode() -> None:
    graphs: list[Any] = []

    def backend(module: Any, examples: Any) -> Any:
        graphs.append(module)
        return module.forward

    compiled = pydynamo.compile(elementwise, backend=backend)
    for _ in range(2):
        with torch.device("cpu"):
            compiled(_x())
    assert len(graphs) == 1


def test_a_backend_of_the_user_gets_no_wrapped_tensors() -> None:
    seen: list[Any] = []

    def backend(module: Any, examples: Any) -> Any:
        seen.extend(examples)
        return make_fx(lambda x: module(x))(*examples)

    assert torch.equal(vmap(pydynamo.compile(elementwise, backend=backend))(_x()), elementwise(_x()))
    assert not seen
    pydynamo.reset()
    assert torch.equal(pydynamo.compile(elementwise, backend=backend)(_x()), elementwise(_x()))
    assert len(seen) == 1
