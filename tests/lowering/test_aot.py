"""Kernels compiled for sm_90 on a machine without a GPU: no spills, 128-bit accesses, tensor cores."""

import pytest
import torch
import torch.nn.functional as F

from pydynamo.lowering.config import Options
from pydynamo.lowering.testing.aot import inspect_elsewhere, kernels_of

BF, F32 = torch.bfloat16, torch.float32


def E(*shape, dt=BF):
    return torch.empty(shape, dtype=dt)


def rms(x, r, w):
    h = (x + r).float()
    return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(BF) * w, x + r


WIDE = {
    "gelu_residual": (
        lambda x, w, b, r: F.gelu(x * w + b) + r,
        [E(512, 8192), E(8192), E(8192), E(512, 8192)],
    ),
    "add_f32": (lambda x, y: x + y, [E(512, 512, dt=F32), E(512, 512, dt=F32)]),
    "transpose_add": (lambda x, y: x.t() + y, [E(512, 512, dt=F32), E(512, 512, dt=F32)]),
    "softmax": (lambda x: x.softmax(1), [E(1024, 4096)]),
    "softmax_looped": (lambda x: x.softmax(1), [E(1024, 131072)]),
    "rms_norm_residual": (rms, [E(1024, 4096), E(1024, 4096), E(4096)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4096,), w, b), [E(1024, 4096), E(4096), E(4096)]),
    "swiglu": (lambda g, u: F.silu(g) * u, [E(512, 14336), E(512, 14336)]),
    "column_sum": (lambda x: x.sum(0), [E(16384, 8192)]),
    "cross_entropy": (lambda x: x.float().log_softmax(1), [E(512, 50304)]),
    "cat": (lambda x, y: torch.cat([x, y], 1) * 2, [E(64, 1024), E(64, 512)]),
}


# sizes that are not known before the launch: those of the examples are multiples of 16, and launches say which are
SIZED = {
    "sized_gelu_residual": (lambda x, w, r: F.gelu(x * w) + r, [E(48, 4096), E(4096), E(48, 4096)]),
    "sized_softmax": (lambda x: x.softmax(1), [E(48, 4096)]),
    "sized_layer_norm": (lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b), [E(48, 4096), E(4096), E(4096)]),
    "sized_long_row": (lambda x: x.softmax(1), [E(512, 32768)]),
    "sized_add_f32": (lambda x, y: x * 2 + y, [E(64, 512, dt=F32), E(64, 512, dt=F32)]),
}


@pytest.fixture(scope="module")
def reports():
    kernels = {name: kernels_of(fn, *args) for name, (fn, args) in WIDE.items()}
    kernels |= {name: kernels_of(fn, *args, dynamic=True) for name, (fn, args) in SIZED.items()}
    product = kernels_of(
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        E(8192, 4096),
        E(16384, 4096),
        E(16384),
        options=Options(mode="max-autotune"),
    )
    kernels["matmul"] = [k for k in product if k.mode == "matmul"]
    kernels["checked_index"] = kernels_of(
        lambda w, i: F.embedding(i, w), E(1000, 64), torch.zeros(99, dtype=torch.int64)
    )
    kernels["scan"] = kernels_of(lambda x: x.cumsum(1), E(16, 1000, dt=F32))
    kernels["arg"] = kernels_of(lambda x: (x.argmax(1), x.var(1)), E(16, 40000, dt=F32))
    by_key = {r.key: r for r in inspect_elsewhere([k for ks in kernels.values() for k in ks])}
    return {name: [by_key[k.key] for k in ks] for name, ks in kernels.items()}


def test_every_kernel_compiles_and_none_spills(reports):
    for name, rs in reports.items():
        assert rs, name
        for r in rs:
            assert not r.error, f"{name}: {r.error}"
            assert r.spilled == 0, f"{name}: {r}"


@pytest.mark.parametrize("name", WIDE)
def test_accesses_of_rows_and_elements_are_128_bits_wide(reports, name):
    for r in reports[name]:
        assert r.wide_loads == r.loads > 0, r
    assert sum(r.wide_stores for r in reports[name]) > 0 or name == "column_sum"


@pytest.mark.parametrize("name", SIZED)
def test_accesses_with_sizes_at_run_time_are_128_bits_wide_where_they_are_multiples_of_16(reports, name):
    (r,) = reports[name]
    assert r.wide_loads == r.loads > 0 and r.wide_stores == r.stores > 0, r


def test_rows_fit_their_threads(reports):
    """Two programs or more on a multiprocessor, which has 65,536 registers, or one that is as large as can be."""
    for name, rs in reports.items():
        for r in rs:
            if name != "matmul":
                assert r.registers * 32 * r.warps * (1 if r.warps == 32 else 2) <= 65536, (name, r)


def test_online_softmax_takes_one_exponential_for_an_element(reports):
    (r,) = reports["cross_entropy"]
    assert 0 < r.exponentials <= 42, (
        r
    )  # 16 elements of a thread and two groups of eight, the same for the last step, ends


def test_the_matmul_template_uses_tensor_cores(reports):
    (r,) = reports["matmul"]
    assert r.tensor_core > 0 and r.spilled == 0 and r.wide_stores > 0
