"""Random numbers: what a seed, a probability and a shape promise, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import FRONTS, check, compiled

FRONT = pytest.mark.parametrize(
    "front", [pytest.param(f, marks=[pytest.mark.slow] if f != "torch" else []) for f in FRONTS]
)


def seeded(f, *args):
    torch.manual_seed(7)
    return f(*args)


DRAWS = {
    "dropout": lambda x: F.dropout(x, 0.3, True),
    "rand": lambda x: torch.rand(40, 50) + x * 0,
    "rand_like": lambda x: torch.rand_like(x),
    "randn": lambda x: torch.randn(40, 50),
    "randn_like": lambda x: torch.randn_like(x) * 2,
    "randint": lambda x: torch.randint(0, 1000, (40, 50)),
    "randperm": lambda x: torch.randperm(2000),
    "bernoulli": lambda x: torch.bernoulli(x * 0 + 0.5),
    "normal": lambda x: torch.normal(x, x.abs()),
    "uniform": lambda x: torch.empty_like(x).uniform_(-1, 1),
    "exponential": lambda x: torch.empty_like(x).exponential_(),
    "multinomial": lambda x: torch.multinomial(x.abs(), 5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.3, True),
    "feature_dropout": lambda x: F.dropout2d(x.view(2, 20, 5, 10), 0.5, True),
}


@FRONT
@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_the_draw_and_the_next_call_differs(name, front):
    f = compiled(DRAWS[name], front)
    x = torch.ones(40, 50)
    first, second = seeded(f, x), f(x)
    assert torch.equal(first, seeded(f, x))
    assert not torch.equal(first, second)
    eager = DRAWS[name](x)
    assert (eager.dtype, eager.shape, eager.stride()) == (first.dtype, first.shape, first.stride())


@FRONT
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_dropout_keeps_scales_and_passes_gradients_of_what_it_kept(dtype, front):
    x = torch.ones(100, 90, dtype=dtype, requires_grad=True)
    y = compiled(lambda x: F.dropout(x, 0.25, True), front)(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert y.dtype == g.dtype == dtype and torch.equal(y, g)
    kept = y[y != 0]
    assert abs(kept.numel() / y.numel() - 0.75) < 0.02
    assert torch.equal(kept, F.dropout(x, 0.25, True).unique()[-1].expand(kept.shape))


@FRONT
@pytest.mark.parametrize(
    "view", [lambda x: x.t(), lambda x: x[::2], lambda x: x.expand(3, *x.shape), lambda x: x.view(-1)]
)
def test_masks_of_views_agree_forward_and_backward(view, front):
    x = torch.ones(30, 40, requires_grad=True)
    y = compiled(lambda x: F.dropout(view(x), 0.5, True), front)(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    want = torch.zeros_like(x)
    view(want.requires_grad_()).backward(y.detach())
    assert torch.equal(g, want.grad)


@FRONT
def test_two_layers_two_masks(front):
    a, b = compiled(lambda x: (F.dropout(x, 0.5, True), F.dropout(x, 0.5, True)), front)(torch.ones(50, 50))
    assert not torch.equal(a, b)
    assert abs(((a != 0) & (b != 0)).float().mean().item() - 0.25) < 0.05


@FRONT
def test_numbers_are_spread_as_they_should_be(front):
    u, n, i = compiled(lambda: (torch.rand(100, 100), torch.randn(100, 100), torch.randint(3, 9, (10000,))), front)()
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 0.02 and abs(u.var() - 1 / 12) < 0.005
    assert abs(n.mean()) < 0.05 and abs(n.var() - 1) < 0.06
    assert i.min() == 3 and i.max() == 8 and (i.bincount()[3:] > 1300).all()


@FRONT
def test_the_generator_moves_on_so_that_later_draws_differ(front):
    f = compiled(lambda x: F.dropout(x, 0.5, True), front)
    torch.manual_seed(3)
    f(torch.ones(10))
    after = torch.rand(3)
    torch.manual_seed(3)
    assert not torch.equal(after, torch.rand(3))


@FRONT
def test_recomputation_draws_the_same_numbers(front):
    def f(x):
        return torch.utils.checkpoint.checkpoint(lambda t: F.dropout(t.sin(), 0.5, True), x, use_reentrant=False)

    x = torch.ones(20, 20, requires_grad=True)
    y = compiled(f, front)(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(y == 0, g == 0)


@FRONT
def test_attention_with_dropout_is_one_mask(front):
    q = torch.randn(2, 2, 8, 4, requires_grad=True)
    f = compiled(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5), front)
    torch.manual_seed(0)
    y = f(q)
    assert y.shape == q.shape and y.isfinite().all()
    (g,) = torch.autograd.grad(y.sum(), q)
    assert g.isfinite().all()


@FRONT
@pytest.mark.parametrize(
    "drop",
    [
        lambda x: F.dropout(x, 0.0),
        lambda x: F.dropout(x, training=False),
        lambda x: torch.dropout(x, 0.0, True),
        lambda x: torch.dropout(x, 0.5, False),
    ],
    ids=["never", "evaluation", "never_of_torch", "evaluation_of_torch"],
)
def test_dropout_that_drops_nothing_is_its_input(drop, front):
    check(lambda x: drop(x).add_(1), [torch.ones(4, 3)], front=front)
    check(lambda x: (drop(x), x.sum()), [torch.ones(4, 3, requires_grad=True)], front=front)
