"""Sizes as arguments of kernels: one compilation serves many sizes, through torch.compile and through pydynamo.compile."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import assert_same, call, clone_args, compiled, pipeline

import pydynamo

SIZES = [(5, 7), (17, 33), (40, 12)]


def R(*shape, seed=0, grad=False, dtype=torch.float32):
    t = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)
    return t.requires_grad_(grad)


def by_torch(fn):
    return compiled(fn, dynamic=True)


def by_pydynamo(fn):
    torch._dynamo.reset()
    pipeline.RECENT.clear()
    return pydynamo.compile(fn, backend="triton", dynamic=True, options={"interpret": True})


FRONTS = {"torch": by_torch, "pydynamo": by_pydynamo}


def layer_norm(x, w):
    return F.layer_norm(x, x.shape[-1:]) * w.sum()


def heads(x, w):
    b, s, d = x.shape
    q, k, v = ((x @ m).view(b, s, 2, d // 2).transpose(1, 2) for m in w.unbind(0))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(b, s, d)


def cross_entropy(x, t):
    return F.cross_entropy(x, t % x.shape[1])


DOUBLE = {"dtype": torch.float64, "grad": True}

# name -> (function, arguments for two sizes)
CASES = {
    "pointwise": (lambda x, y: (x * 2 + y).relu() * x.shape[0], lambda a, b: (R(a, b), R(b, seed=1))),
    "softmax": (lambda x: x.softmax(-1), lambda a, b: (R(a, b),)),
    "softmax_columns": (lambda x: x.softmax(0), lambda a, b: (R(a, b),)),
    "log_softmax_half": (lambda x: x.log_softmax(-1), lambda a, b: (R(a, b, dtype=torch.bfloat16),)),
    "layer_norm": (layer_norm, lambda a, b: (R(a, b), R(3))),
    "reductions": (
        lambda x: (x.sum(1), x.amax(0), x.mean(), x.var(1), x.argmax(1), x.prod(0)),
        lambda a, b: (R(a, b),),
    ),
    "scan": (lambda x: x.cumsum(1) + x.sum(0), lambda a, b: (R(a, b),)),
    "cat": (lambda x, y: torch.cat([x, y * 2, x[:, 1:]], 1), lambda a, b: (R(a, b), R(a, 4, seed=1))),
    "slices": (
        lambda x: x[1 : x.shape[0] - 1, -3:] + x[:, : x.shape[1] // 2].sum(),
        lambda a, b: (R(a, b),),
    ),
    "views": (
        lambda x: x.view(x.shape[0], x.shape[1] // 2, 2).transpose(1, 2).flatten(1) * 2,
        lambda a, b: (R(a, 2 * b),),
    ),
    "transposed": (lambda x, y: x.t() + y, lambda a, b: (R(a, b), R(b, a, seed=1))),
    "pad_flip_roll": (
        lambda x: (F.pad(x, (1, 2)), x.flip(0), x.roll(2, 1), x.repeat(2, 1)),
        lambda a, b: (R(a, b),),
    ),
    "gather": (
        lambda x, i: (x.gather(1, i % x.shape[1]), x[:, i[0] % x.shape[1]]),
        lambda a, b: (R(a, b), torch.arange(3 * a).view(a, 3)),
    ),
    "embedding": (
        lambda w, i: F.embedding(i % w.shape[0], w).sum(1),
        lambda a, b: (R(11, 8), torch.arange(a * b).view(a, b)),
    ),
    "matmul_epilogue": (lambda x, w, b: F.gelu(x @ w + b) * 2, lambda a, b: (R(a, b), R(b, 6, seed=1), R(6, seed=2))),
    "arange_mask": (
        lambda x: x.masked_fill(torch.arange(x.shape[1]) > torch.arange(x.shape[0])[:, None], -1.0).tril(),
        lambda a, b: (R(a, b),),
    ),
    "numbers": (
        lambda x: x * x.shape[1] + x.shape[0] / 2 + torch.full((x.shape[0], 1), x.shape[1]),
        lambda a, b: (R(a, b),),
    ),
    "attention": (heads, lambda a, b: (R(2, b, 8), R(3, 8, 8, seed=1))),
    "cross_entropy": (cross_entropy, lambda a, b: (R(a, b), torch.arange(a))),
    "scatter": (
        lambda x, i: torch.zeros(x.shape[0], 5).scatter_add(1, i % 5, x),
        lambda a, b: (R(a, b), torch.arange(a * b).view(a, b)),
    ),
    "split": (
        lambda x: [t * 2 for t in x.split([2, x.shape[0] - 2])] + list(x.chunk(2, 1)),
        lambda a, b: (R(a, b),),
    ),
    "mutation": (lambda x: x.mul_(2).add_(x.shape[0]), lambda a, b: (R(a, b),)),
    "strided_inputs": (lambda x, y: x * 2 + y, lambda a, b: (R(a, 2 * b)[:, ::2], R(b, a).t())),
}


FIXED_BY = {("strided_inputs", "pydynamo")}  # this frontend makes sizes symbolic of contiguous tensors only


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("name", CASES)
def test_one_compilation_serves_many_sizes(name, front):
    fn, make = CASES[name]
    f, graphs = FRONTS[front](fn), 0
    for n, (a, b) in enumerate(SIZES):
        args = make(a, b)
        want, _ = call(fn, given := clone_args(args))
        got, _ = call(f, mine := clone_args(args))
        assert len(want) == len(got)
        for i, (p, q) in enumerate(zip(want, got)):
            assert_same(f"result {i} at {a, b}", p, q, 2e-5 if p.dtype == torch.float32 else None, strides=True)
        for p, q in zip(given, mine):
            assert_same("argument", p, q)
        graphs = graphs if n else len(pipeline.RECENT)
    if (name, front) not in FIXED_BY:
        assert len(pipeline.RECENT) == graphs > 0, [g.wrapper for g in pipeline.RECENT]


TRAINED = {
    "softmax": (lambda x: x.softmax(-1), lambda a, b: (R(a, b, **DOUBLE),)),
    "layer_norm": (
        lambda x, w, b: F.layer_norm(x, (8,), w, b),
        lambda a, b: (
            R(a, b, 8, **DOUBLE),
            R(8, **DOUBLE),
            R(8, seed=1, **DOUBLE),
        ),
    ),
    "linear_gelu": (
        lambda x, w, b: F.gelu(F.linear(x, w, b)).sum(),
        lambda a, b: (
            R(a, b, 8, **DOUBLE),
            R(6, 8, **DOUBLE),
            R(6, **DOUBLE),
        ),
    ),
    "attention": (
        heads,
        lambda a, b: (R(2, b, 8, **DOUBLE), R(3, 8, 8, seed=1, **DOUBLE)),
    ),
    "cross_entropy": (cross_entropy, lambda a, b: (R(a, b, **DOUBLE), torch.arange(a))),
    "cat_slices": (
        lambda x, y: torch.cat([x[:, 1:], y], 1)[:, 2:].sin(),
        lambda a, b: (R(a, b, **DOUBLE), R(a, 4, seed=1, **DOUBLE)),
    ),
    "broadcast": (
        lambda x, y: (x * y).exp().mean(),
        lambda a, b: (R(a, b, **DOUBLE), R(b, **DOUBLE)),
    ),
}


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("name", TRAINED)
def test_gradients_for_many_sizes_from_one_compilation(name, front):
    fn, make = TRAINED[name]
    f, graphs = FRONTS[front](fn), 0
    for n, (a, b) in enumerate(SIZES):
        args = make(a, b)
        want, want_grads = call(fn, clone_args(args))
        got, got_grads = call(f, clone_args(args))
        for p, q in zip(want + want_grads, got + got_grads, strict=True):
            assert_same(f"at {a, b}", p, q, 1e-9)
        graphs = graphs if n else len(pipeline.RECENT)
    assert len(pipeline.RECENT) == graphs == 2


def test_a_row_block_grows_with_the_row():
    f = by_torch(lambda x: (x.softmax(1), x.sum(1)))
    for n in (5, 70, 600, 33):
        x = R(3, n)
        for p, q in zip((x.softmax(1), x.sum(1)), f(x)):
            assert_same(f"at {n}", p, q, 1e-5)
    assert len(pipeline.RECENT) == 1


def test_rows_beyond_the_registers_get_a_looped_kernel_of_their_own():
    options = {"interpret": True, "persistent_limit": 64}
    f = compiled(lambda x: x.softmax(1), dynamic=True, options=options)
    for n in (30, 200, 50, 170):
        assert_same(f"at {n}", R(3, n).softmax(1), f(R(3, n)), 1e-5)
    assert [g.kernels[0].mode for g in pipeline.RECENT] == ["persistent", "loop"]


def test_an_empty_result_at_run_time_is_empty():
    f = by_torch(lambda x: x[4:] * 2)
    for n in (9, 4, 6):
        assert_same(f"at {n}", R(n, 3)[4:] * 2, f(R(n, 3)))


def test_dropout_with_symbolic_sizes_has_one_mask_in_both_directions():
    f = by_torch(lambda x: F.dropout(x, 0.5, True))
    for n in (40, 64):
        x = torch.ones(n, 8, requires_grad=True)
        y = f(x)
        y.sum().backward()
        assert torch.equal(x.grad, y.detach()) and 0 < (y == 0).sum() < y.numel()
