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


def test_kernels_of_any_shape_draw_the_same_number_for_a_position():
    """Four neighbours are drawn together where rows allow it, and one by one elsewhere."""
    masks = []
    for shape in ((600,), (6, 100), (24, 25), (2, 3, 100), (600, 1)):
        x = torch.ones(shape)
        torch.manual_seed(3)
        masks.append(compiled(lambda x: F.dropout(x, 0.5, True) * (x.sum(-1, keepdim=True) * 0 + 1))(x).flatten() != 0)
        torch.manual_seed(3)
        masks.append(
            compiled(lambda x: F.dropout(x, 0.5, True).cumsum(-1))(x).diff(dim=-1, prepend=x[..., :1] * 0).flatten()
            != 0
        )
    assert all(torch.equal(m, masks[0]) for m in masks)
