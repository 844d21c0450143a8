"""Sums of columns in the kernel that reduces the rows: the gradients of norms."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import call, check, compiled, kernels

from pydynamo.lowering import launch
from pydynamo.lowering.config import Options
from pydynamo.lowering.lower import columns
from pydynamo.lowering.testing.aot import inspect_elsewhere, kernels_of

SMALL = {"together_min": 1, "split_min": 256, "split_rows": 64}


def rms(x, w):
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w


PROGRAMS = {
    "layer norm": (lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b), 2),
    "layer norm after a sum": (lambda x, w, b: F.layer_norm(x + x.sin(), (x.shape[-1],), w, b), 2),
    "root mean square": (lambda x, w, b: rms(x, w) + b, 2),
    "softmax and scale": (lambda x, w, b: x.softmax(-1) * w, 1),
    "two norms": (lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b) * rms(x.cos(), w), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(2048, 512), (3, 401, 520), (1, 1300, 600)])
def test_gradients_of_rows_and_of_columns(name, shape):
    fn, sums = PROGRAMS[name]
    torch.manual_seed(0)
    args = [torch.randn(shape), torch.randn(shape[-1]), torch.randn(shape[-1])]
    check(fn, [a.requires_grad_() for a in args], tol=5e-5, grad_tol=1e-3, options=SMALL)  # thousands of rows are added
    assert max(k.text.count("tl.zeros(") for k in kernels()) == sums


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradients_of_halves(dtype):
    torch.manual_seed(0)
    args = [torch.randn(1100, 512, dtype=dtype), torch.randn(512, dtype=dtype), torch.randn(512, dtype=dtype)]
    fn, _ = PROGRAMS["layer norm"]
    _, want = call(fn, [a.double().requires_grad_() for a in args])  # eager's own sums of halves are far off
    _, got = call(compiled(fn, options=SMALL), [a.requires_grad_() for a in args])
    assert any(k.chunk for k in kernels())
    for a, b in zip(want, got, strict=True):
        assert (a - b).abs().max() < 1e-2 * a.abs().max()


def both(x, g, w):
    """A gradient with respect to rows, and one with respect to weights."""
    d = g * w
    return d - x * (d * x).sum(1, keepdim=True), (g * x).sum(0)


@pytest.mark.parametrize(
    ("shape", "together"),
    [
        ((16384, 4096), True),
        ((16384, 768), True),
        ((25088, 8192), True),
        ((16384, 16384), False),  # accumulators beyond what registers hold
        ((4096, 4096), False),  # too few rows for partial sums
        ((2048, 1024), False),  # the cache keeps it
        ((65536, 64), False),
    ],
)
def test_memory_is_read_once_where_that_pays(shape, together):
    x = torch.empty(shape, dtype=torch.bfloat16)
    found = kernels_of(both, x, x, torch.empty(shape[1], dtype=torch.bfloat16))
    assert any(k.chunk for k in found) == together
    assert not together or len(found) == 2


def test_a_sum_that_finds_no_place_beside_the_rows_is_cut_as_if_there_were_none():
    def many(x, g, w):
        return *both(x, g, w), g.sum(0), (g + x).sum(0), (g * 2 - x).sum(0)

    x = torch.empty(16384, 768)
    found = kernels_of(many, x, x, torch.empty(768))
    together = [k for k in found if k.chunk]
    assert len(together) == 1 and "tl.sum(t" in together[0].text
    assert any(k.mode == "loop" and k.x > 768 for k in found)


def test_an_unknown_number_of_rows_keeps_two_kernels():
    x = torch.empty(16384, 768)
    assert not any(k.chunk for k in kernels_of(both, x, x, torch.empty(768), dynamic=True))


def test_every_row_belongs_to_one_program():
    for rows in (16384, 16385, 25088, 99991):
        x = torch.empty(rows, 768)
        (k,) = [k for k in kernels_of(both, x, x, torch.empty(768)) if k.chunk]
        programs, _, _ = k.grid(k.configs[0])
        assert (programs - 1) * k.chunk < rows <= programs * k.chunk
        assert programs <= columns.PROGRAMS and k.chunk % k.configs[0].xb == 0
        assert k.constexprs(k.configs[0])["EVEN_X"] == (rows % k.chunk == 0)


def test_two_programs_fit_on_a_multiprocessor_and_load_ahead():
    def norm(g, x, w, mean, rstd):
        return torch.ops.aten.native_layer_norm_backward(g, x, [x.shape[1]], mean, rstd, w, w, [True] * 3)

    sources = []
    for rows, c in ((16384, 4096), (16384, 768)):
        x = torch.empty(rows, c, dtype=torch.bfloat16)
        sources += kernels_of(norm, x, x, torch.empty(c, dtype=torch.bfloat16), *(torch.empty(rows, 1),) * 2)
    sources = [s for s in sources if s.chunk]
    for r in inspect_elsewhere(sources):
        assert not r.error and not r.spilled
        assert r.registers * 32 * r.warps * 2 <= 65536 and r.loads == 0  # all go to shared memory first
    assert len(sources) == 2 and launch.ALIGNMENT == 16 and Options().together_min > 1 << 20
