"""Norms of rows of zeros: the host's kernels add a bias of zero where there is none, and so give 0.0 for -0.0."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import compiled

KINDS = {
    "layer": lambda x, w, b: F.layer_norm(x, (8,), w, b),
    "group": lambda x, w, b: F.group_norm(x, 2, w, b),
    "batch": lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
    "batch, running": lambda x, w, b: F.batch_norm(x, torch.zeros(8), torch.ones(8), w, b, False),
    "instance": lambda x, w, b: F.instance_norm(x, None, None, w, b),
}


@pytest.mark.parametrize("weight", [None, 1.0, -1.0])
@pytest.mark.parametrize("bias", [None, 0.0])
@pytest.mark.parametrize("kind", KINDS)
def test_signs_of_zeros(kind, weight, bias):
    x = torch.zeros(3, 8, 8)
    x.view(-1)[::2] = -0.0
    parameters = [None if value is None else torch.full((8,), value) for value in (weight, bias)]

    def norm(x):
        return KINDS[kind](x, *parameters)

    assert torch.equal(torch.signbit(compiled(norm)(x)), torch.signbit(norm(x)))
