"""Compare a function compiled by the Triton path with eager: values, dtypes, strides, arguments,
gradients."""

import copy

import torch

import pydynamo
from pydynamo.lowering import pipeline
from pydynamo.lowering.capture import backend

TOL = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


FRONTS = ("torch", "pydynamo")


def compiled(fn, front="torch", **kw):
    torch._dynamo.reset()
    pipeline.RECENT.clear()
    dynamic = kw.pop("dynamic", False)
    if front == "pydynamo":
        options = {"interpret": True} | kw.pop("options", {})
        return pydynamo.compile(fn, backend="triton", dynamic=dynamic, options=options | kw)
    return torch.compile(fn, backend=backend, dynamic=dynamic, **kw)


def kernels():
    """Kernel sources of the graphs compiled since the last `compiled`."""
    return [k for c in pipeline.RECENT for k in c.kernels]


def externs():
    return sorted({r for c in pipeline.RECENT for r in c.reasons})


def flat(x):
    if isinstance(x, (tuple, list)):
        return [t for y in x for t in flat(y)]
    return [x]


def clone_args(args):
    """Clone keeping strides, offsets, shared storages and requires_grad."""
    stores, out = {}, []
    for a in args:
        if not isinstance(a, torch.Tensor):
            out.append(copy.copy(a))
            continue
        s = a.detach().untyped_storage()
        store = stores.setdefault(s.data_ptr(), s.clone()) if s.nbytes() else s.clone()
        t = torch.empty(0, dtype=a.dtype).set_(store, a.storage_offset(), a.size(), a.stride())
        out.append(t.requires_grad_(a.requires_grad))
    return out


def weighable(o):
    return (o.abs() if o.is_complex() else o).float()


def call(fn, args):
    out = fn(*args)
    wants = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    grads = []
    if wants:
        loss = sum(
            (torch.nan_to_num(weighable(o), 0.0, 0.0, 0.0) * torch.linspace(0.5, 1.5, o.numel()).view(o.shape)).sum()
            for o in flat(out)
            if isinstance(o, torch.Tensor) and o.requires_grad
        )
        grads = list(torch.autograd.grad(loss, wants, allow_unused=True))
    return flat(out), grads


def assert_same(what, want, got, tol=None, strides=False, zero_sign=False):
    if not isinstance(want, torch.Tensor):
        assert want == got, f"{what}: {want!r} became {got!r}"
        return
    want, got = want.detach(), got.detach()
    assert (want.dtype, want.shape) == (got.dtype, got.shape), (
        f"{what}: {want.dtype}{tuple(want.shape)} became {got.dtype}{tuple(got.shape)}"
    )
    if strides:
        assert want.stride() == got.stride(), f"{what}: strides {want.stride()} became {got.stride()}"
    assert want.is_complex() == got.is_complex()
    if want.is_complex():
        want, got = torch.view_as_real(want), torch.view_as_real(got)
    if not want.dtype.is_floating_point:
        bad = want != got
    else:
        a, b = want.double(), got.double()
        t = TOL[want.dtype] if tol is None else tol
        finite = torch.where(torch.isfinite(a), a.abs(), 0.0)
        scale = torch.maximum(finite, finite.max() * 1e-2) if t and finite.numel() else finite
        bad = (a.isnan() != b.isnan()) | (~a.isnan() & (a != b) & ~((a - b).abs() <= t * scale))
        if zero_sign:
            bad |= ~a.isnan() & ~b.isnan() & (a == 0) & (b == 0) & (torch.signbit(want) != torch.signbit(got))
    if bad.any():
        i = tuple(bad.nonzero()[0].tolist())
        raise AssertionError(
            f"{what}: {int(bad.sum())} of {bad.numel()} differ, first at {i}: {want[i].item()!r} "
            f"became {got[i].item()!r}"
        )


def sharing(tensors):
    """For each tensor the first one that shares its memory."""
    seen = {}
    return [
        seen.setdefault(t.untyped_storage().data_ptr(), i) if isinstance(t, torch.Tensor) and t.numel() else None
        for i, t in enumerate(tensors)
    ]


def check(fn, args, tol=None, grad_tol=1e-5, **kw):
    """Run eager and compiled on clones of `args` and compare everything."""
    a, b = clone_args(args), clone_args(args)
    opts = {k: kw.pop(k) for k in ("strides", "zero_sign") if k in kw}
    want, want_grads = call(fn, a)
    got, got_grads = call(compiled(fn, **kw), b)
    assert len(want) == len(got)
    for i, (p, q) in enumerate(zip(want, got)):
        assert_same(f"result {i}", p, q, tol, **opts)
        if isinstance(p, torch.Tensor):
            assert p.requires_grad == q.requires_grad, (
                f"result {i}: requires_grad {p.requires_grad} became {not p.requires_grad}"
            )
    assert sharing([*a, *want]) == sharing([*b, *got])
    for i, (p, q) in enumerate(zip(a, b)):
        assert_same(f"argument {i} after the call", p, q, tol)
    for i, (p, q) in enumerate(zip(want_grads, got_grads)):
        if p is None or q is None:
            assert p is q, f"gradient {i}: {p} became {q}"
        else:
            assert_same(f"gradient {i}", p, q, max(grad_tol, tol or 0))
