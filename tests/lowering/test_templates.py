"""The matmul template with its epilogue, interpreted, against eager."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import check, compiled, kernels, pipeline

MODE = {"options": {"interpret": True, "mode": "max-autotune"}}


def R(*shape, dt=torch.bfloat16, seed=0):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) / 2).to(dt)


CASES = {
    "plain": (lambda a, b: a @ b, [R(48, 64), R(64, 40, seed=1)]),
    "ragged": (lambda a, b: a @ b * 2, [R(50, 33), R(33, 70, seed=1)]),
    "linear_gelu": (lambda x, w, b: F.gelu(F.linear(x, w, b)), [R(64, 32), R(96, 32, seed=1), R(96, seed=2)]),
    "residual_cast": (
        lambda x, w, r: F.relu(x @ w + r).float(),
        [R(64, 32), R(32, 64, seed=1), R(64, 64, seed=2)],
    ),
    "transposed_operands": (lambda x, w: (x.t() @ w.t()).sigmoid(), [R(32, 64), R(48, 32, seed=1)]),
    "fp16": (
        lambda x, w: (x @ w).tanh() + 1,
        [R(40, 40, dt=torch.float16), R(40, 40, dt=torch.float16, seed=1)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_template_equals_eager(name):
    fn, args = CASES[name]
    check(fn, args, tol=2e-2, **MODE)
    assert [k.mode for k in kernels()][:1] == ["matmul"]


def test_the_epilogue_is_in_the_template_and_the_product_is_not_stored():
    compiled(lambda x, w, b: F.gelu(F.linear(x, w, b)), **MODE)(R(64, 32), R(96, 32), R(96))
    template = kernels()[0]
    assert "libdevice.erf" in template.text and template.text.count("tl.store") == 1
    assert "choose" in pipeline.RECENT[-1].wrapper


def test_a_product_that_others_need_too_is_stored():
    check(lambda a, b: ((p := a @ b), p.relu(), p.sum(0)), [R(32, 32), R(32, 32, seed=1)], tol=2e-2, **MODE)
