"""Dropout: the same mask both ways, drawn from torch's generator, without saving it."""

import torch
import torch.nn.functional as F
from lowering_harness import compiled, pipeline


def test_forward_and_backward_use_one_mask_that_is_not_saved():
    x = torch.ones(64, 100, requires_grad=True)
    y = compiled(lambda x: F.dropout(x.sin(), 0.25, True))(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(y == 0, g == 0)
    forward, backward = pipeline.RECENT
    assert "tl.rand" in forward.text("kernels") and "tl.rand" in backward.text("kernels")
    assert "torch.bool" not in forward.wrapper
    assert abs((y == 0).float().mean().item() - 0.25) < 0.03


def test_seeds_follow_manual_seed_and_differ_between_calls_and_layers():
    f = compiled(lambda x: (F.dropout(x, 0.5, True), F.dropout(x, 0.5, True)))
    x = torch.ones(40, 50)
    torch.manual_seed(1)
    a, b = f(x)
    c, _ = f(x)
    torch.manual_seed(1)
    d, e = f(x)
    assert torch.equal(a, d) and torch.equal(b, e)
    assert not torch.equal(a, b) and not torch.equal(a, c)


def test_neighbouring_lanes_are_independent():
    torch.manual_seed(0)
    kept = (compiled(lambda x: F.dropout(x, 0.5, True))(torch.ones(100, 200)) != 0).view(-1, 4).sum(1)
    counts = torch.bincount(kept, minlength=5) / kept.numel()
    assert (counts - torch.tensor([1, 4, 6, 4, 1]) / 16).abs().max() < 0.03


def test_probabilities_zero_and_one_and_evaluation_need_no_numbers():
    x = torch.randn(10)
    y = compiled(lambda x: (F.dropout(x, 0.0, True), F.dropout(x, 1.0, True), F.dropout(x, 0.5, False)))(x)
    assert torch.equal(y[0], x) and torch.equal(y[1], x * 0) and torch.equal(y[2], x)
