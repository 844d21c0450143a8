"""Golden kernel counts: (forward, backward); what cannot be one kernel says why."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import call, compiled, externs, kernels, pipeline

N, D = 32, 64


def R(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def rms_residual(x, r, w):
    h = x + r
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * w, h


GOLDEN = {
    "softmax": (lambda x: x.softmax(-1), [R(N, D)], (1, 1)),
    # gradients of weight and bias sum over the other axis: one more kernel for both
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (D,), w, b), [R(N, D), R(D), R(D)], (1, 2)),
    "rms_norm_residual": (rms_residual, [R(N, D), R(N, D, seed=1), R(D)], (1, 2)),
    # the mean over rows needs every row's loss
    "cross_entropy": (lambda x, t: F.cross_entropy(x, t), [R(N, D), torch.arange(N) % D], (2, 1)),
    "cross_entropy_rows": (
        lambda x, t: F.cross_entropy(x, t, reduction="none"),
        [R(N, D), torch.arange(N) % D],
        (1, 1),
    ),
    # the gradient of the bias sums over rows
    "gelu_bias_residual": (lambda x, b, r: F.gelu(x + b) + r, [R(N, D), R(D), R(N, D, seed=1)], (1, 1)),
    "swiglu": (lambda g, u: F.silu(g) * u, [R(N, D), R(N, D, seed=1)], (1, 1)),
    "dropout_add_layer_norm": (
        lambda x, r, w, b: F.layer_norm(F.dropout(x, 0.1, True) + r, (D,), w, b),
        [R(N, D), R(N, D, seed=1), R(D), R(D)],
        (1, 2),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_kernel_counts(name):
    fn, args, want = GOLDEN[name]
    call(compiled(fn), args)
    assert tuple(len(g.kernels) for g in pipeline.RECENT) == want
    assert [e for e in externs() if "seeds" not in e] == []


def test_adam_step_is_one_kernel_that_writes_in_place():
    def step(p, g, m, v, t):
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p.sub_(1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8))

    compiled(step)(*(R(1000, seed=i).detach().abs() for i in range(4)), torch.tensor(3.0))
    (k,) = kernels()
    assert "_empty" not in pipeline.RECENT[0].wrapper.split("def call")[1].split("_k0")[0]
    assert len(k.params) == 5


def test_values_used_only_inside_a_kernel_are_not_stored():
    compiled(lambda x: (x.exp().sum(1, keepdim=True) * x.exp()).softmax(1))(torch.randn(8, 30))
    (k,) = kernels()
    assert k.text.count("tl.store") == 1 and k.text.count("tl.load") == 1


def test_siblings_share_one_pass_over_their_input():
    compiled(lambda x: (x.sum(1), x.amax(1), x.mean(1), x.argmin(1), x * 2))(torch.randn(40, 70))
    (k,) = kernels()
    assert k.text.count("tl.load") == 1


def test_transposition_is_tiled_in_two_dimensions():
    compiled(lambda x, y: x.t() + y)(torch.randn(128, 96), torch.randn(96, 128))
    (k,) = kernels()
    assert k.mode == "tile"


SMALL = {"interpret": True, "persistent_limit": 64, "split_rows": 64, "split_min": 16}  # what counts as long


def test_few_long_rows_are_split_over_programs():
    x = torch.randn(3, 400)
    x[1, :250] = float("-inf")
    x[2] = float("-inf")
    f = compiled(lambda x: x.softmax(1), options=SMALL)
    torch.testing.assert_close(f(x), x.softmax(1), equal_nan=True)
    assert len(kernels()) == 3


@pytest.mark.parametrize("n", [400, 401])
def test_statistics_of_few_long_rows_are_split_over_programs(n):
    x = torch.randn(3, n) + 100
    f = compiled(lambda x: F.layer_norm(x, (n,)), options=SMALL)
    torch.testing.assert_close(f(x), F.layer_norm(x, (n,)), rtol=1e-4, atol=1e-4)
    assert len(kernels()) > 2


def test_weights_reach_the_library_as_views_not_as_copies():
    compiled(lambda x, w: x @ w.t())(torch.randn(4, 8), torch.randn(6, 8))
    assert kernels() == [] and "aten.mm" in externs()[0]
