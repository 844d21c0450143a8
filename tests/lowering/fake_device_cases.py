"""Programs that use the host and a device, in every mode and through both frontends, on a device that computes nothing.

    python -m pydynamo.lowering.testing.fake_device tests/lowering/fake_device_cases.py [CASE ...]

Prints how many kernels each launches; fails at the first whose results or arguments look unlike eager's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

import pydynamo
from pydynamo.lowering.capture import backend
from pydynamo.lowering.testing.fake_device import watch

MODES = ("default", "reduce-overhead", "max-autotune")
CALLS = 5  # a CUDA graph is made in the third
Case = tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]


def cases() -> dict[str, Case]:
    """Programs that use the host and the device."""

    def C(*shape: int, **kw: Any) -> Any:
        return torch.randn(*shape, device="cuda", **kw)

    def counted(x: Any, n: Any) -> Any:
        n += 1
        return x * 2, x / n

    def swapped(x: Any, a: Any, b: Any) -> Any:
        a.copy_(b)
        b.add_(2)
        return x + 1

    def adam(p: Any, g: Any, m: Any, step: Any) -> None:
        step += 1
        m.lerp_(g, 0.1)
        p.sub_(m / (1 - 0.9**step))

    def drawn(x: Any) -> Any:
        return torch.rand_like(x) + F.dropout(x, 0.5, True), torch.arange(3) + 1, torch.bernoulli(x.sigmoid())

    def trained(x: Any, w: Any) -> Any:
        loss = F.dropout(F.gelu(x @ w), 0.1, True).float().logsumexp(1).mean()
        return torch.autograd.grad(loss, w)

    def on_host(x: Any, c: Any) -> Any:
        return x.sum(), c * 2, c.t(), c.view(-1)[1:], c.expand(3, *c.shape)

    half = {"dtype": torch.bfloat16}
    return {
        "scalar of the host": (lambda x, c: x * c + 1, lambda: (C(8, 8), torch.tensor(2.0))),
        "counter": (counted, lambda: (C(8), torch.tensor(1.0))),
        "host swaps": (swapped, lambda: (C(8), torch.ones(4), torch.ones(4))),
        "index from the host": (lambda x, i: x[i] * 2, lambda: (C(8), torch.tensor([1, 2]))),
        "made on the host": (lambda x: x + torch.arange(8).to(x.device), lambda: (C(8),)),
        "results on the host": (on_host, lambda: (C(8), torch.ones(4, 3))),
        "back to the host": (lambda x, c: (x * 2).cpu() + c, lambda: (C(8), torch.ones(8))),
        "host alone": (lambda c: c.cumsum(0) * 2, lambda: (torch.ones(3),)),
        "constants": (lambda x: x + torch.tensor(3.0) * torch.tensor([1.0, 2.0], device=x.device), lambda: (C(2),)),
        "optimizer": (adam, lambda: (C(64), C(64), C(64), torch.tensor(0.0))),
        "random": (drawn, lambda: (C(33),)),
        "training": (trained, lambda: (C(64, 48, **half), C(48, 32, **half).requires_grad_())),
        "product": (
            lambda x, w, b: F.linear(x, w, b).relu(),
            lambda: (C(64, 64, **half), C(64, 64, **half), C(64, **half)),
        ),
        "checked index": (lambda w, i: F.embedding(i, w) + 1, lambda: (C(64, 64), torch.arange(5, device="cuda"))),
        "unaligned": (lambda x: x[1:].exp().sum(), lambda: (C(5001),)),
        "data decides": (lambda x: x[x > 0] + 1, lambda: (C(50),)),
    }


def same_looks(want: Any, got: Any) -> None:
    """Raise AssertionError unless two structures hold tensors alike; those of the host have equal values."""
    if isinstance(want, (tuple, list)):
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            same_looks(a, b)
    elif isinstance(want, torch.Tensor):
        assert (want.device, want.dtype, want.shape) == (got.device, got.dtype, got.shape), (want, got)
        assert want.is_cuda or torch.equal(want, got), (want, got)


def check(name: str, case: Case, compiled: Callable[..., Any]) -> None:
    """Call eager and compiled code as often."""
    fn, make = case
    mine, others = make(), make()
    for _ in range(CALLS):
        want, got = fn(*mine), compiled(*others)
        if name != "data decides":  # by numbers that nobody computes
            same_looks(want, got)
    same_looks(mine, others)


def ways(fn: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """`fn` compiled in every mode through both frontends."""
    for mode in MODES:
        torch._dynamo.reset()
        yield f"torch {mode}", torch.compile(fn, backend=backend, options={"mode": mode})
        yield f"pydynamo {mode}", pydynamo.compile(fn, backend="triton", options={"mode": mode})


def main(names: list[str]) -> None:
    """Run the cases; raises at the first that is not right."""
    launched = watch()
    known = cases()
    for name in names or known:
        fn, _ = known[name]
        for way, compiled in ways(fn):
            launched.clear()
            try:
                check(name, known[name], compiled)
            except Exception as e:
                raise AssertionError(f"{name}, {way}: {e}") from e
            print(f"{name}, {way}: {len(launched)} launches")


if __name__ == "__main__":
    main(sys.argv[1:])
