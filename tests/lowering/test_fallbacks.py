"""What happens where a compiler, a driver or a library does not do what was expected of it."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import check, compiled, externs, kernels, pipeline

from pydynamo.lowering import cudagraphs, launch
from pydynamo.lowering import torch_private as private
from pydynamo.lowering.config import Options
from pydynamo.lowering.operators import rand
from pydynamo.lowering.testing.aot import kernels_of
from pydynamo.lowering.triton_codegen import Config
from pydynamo.lowering.wrapper import fit


class Refused:
    """A launcher of kernels whose source a driver does not take."""

    def __init__(self, real, source, wanted):
        self.real, self.refused = real, wanted in source.text

    def __call__(self, *args):
        assert not self.refused, "launched what was refused"
        self.real(*args)

    def ready(self):
        if self.refused:
            raise RuntimeError("no kernel image\nis available")


@pytest.fixture
def refuse(monkeypatch):
    real = pipeline.launcher

    def these(wanted):
        monkeypatch.setattr(pipeline, "launcher", lambda s, *rest: Refused(real(s, *rest), s, wanted))

    return these


def several(x, y):
    return (x.softmax(1) * 2).sum(0) + 1, (y.t() + x).exp(), F.dropout(x, 0.5, False).relu().cumsum(1)


@pytest.mark.parametrize("wanted", ["tl.exp", "tl.sum", "associative_scan", "tl.store"])
def test_operators_of_a_kernel_that_cannot_be_loaded_are_torchs(refuse, wanted):
    refuse(wanted)
    x, y = torch.randn(9, 40, requires_grad=True), torch.randn(40, 9)
    check(several, [x, y])
    assert any("cannot be used here" in e for e in externs())
    assert all(wanted not in k.text for k in kernels())


def test_stores_into_arguments_survive_a_kernel_that_cannot_be_loaded(refuse):
    def step(p, g):
        p.sub_(g * 0.1)
        return p.t() * 2

    refuse("tl.store")
    check(step, [torch.randn(5, 7), torch.randn(5, 7)])
    assert kernels() == []


def test_masks_made_by_torch_and_in_kernels_are_the_same(refuse):
    """Where only one of forward and backward has a kernel that works."""
    x = torch.ones(6, 37, requires_grad=True)
    torch.manual_seed(3)
    (want,) = torch.autograd.grad(compiled(lambda x: F.dropout(x.sin(), 0.4, True) * 1.0)(x).sum(), x)
    refuse("tl_math.sin" if "tl_math.sin" in kernels()[0].text else "sin")
    torch.manual_seed(3)
    (got,) = torch.autograd.grad(compiled(lambda x: F.dropout(x.sin(), 0.4, True) * 1.0)(x).sum(), x)
    assert torch.equal(want, got)


def test_random_numbers_of_the_extern_form_are_those_of_kernels():
    seeds = torch.tensor([[12345, 0], [2**31 - 2, 0]])
    got = compiled(lambda s: (rand(s, 0, [7, 33]), rand(s, 1, [130]), rand(s, 1, [3, 5]).t() + 0))(seeds)
    assert [k for k in kernels() if "rand4x" in k.text]
    for g, w in zip(got, (rand(seeds, 0, [7, 33]), rand(seeds, 1, [130]), rand(seeds, 1, [3, 5]).t()), strict=True):
        assert torch.equal(g, w) and 0 <= w.min() and w.max() < 1


def test_a_result_of_another_shape_than_was_traced_is_passed_on():
    for t in (None, torch.empty(0), torch.ones(3), torch.ones(())):
        assert fit(t, (2, 3), (3, 1)) is t
    assert fit(torch.ones(3, 2).t(), (2, 3), (3, 1)).stride() == (3, 1)


@pytest.mark.parametrize("mutates, on_host", [(True, False), (False, True)])
def test_no_cuda_graph_of_what_a_replay_would_not_do_again(mutates, on_host):
    run = lambda args: args  # noqa: E731
    assert cudagraphs.recorded(run, mutates, on_host) is run


# ---------------------------------------------------------------------- launches
@pytest.fixture
def direct(monkeypatch):
    """A direct launcher of one kernel; `calls` says who launched what."""
    (source,) = kernels_of(lambda x: x + 1, torch.ones(100))
    calls = []

    class Static:
        broken = False

        def _load_kernel(self, *args):
            if self.broken == "load":
                raise RuntimeError("invalid image")
            return 1, 0, 0

        def _launch_kernel(self, *args):
            if self.broken:
                raise TypeError("takes 8 arguments")
            calls.append("torch")

    static = Static()
    for home, name, value in (
        (torch.cuda, "get_device_capability", lambda d=None: (9, 0)),
        (private, "current_device", lambda: 0),
        (private, "current_stream", lambda index: 0),
        (private, "static_launcher", lambda: static),
        (launch.runtime, "binary", lambda *a: launch.Binary("k.cubin", "kernel", 4, 0, 2, True)),
        (launch, "through_triton", lambda *a: lambda stream, values, grid: calls.append("triton")),
    ):
        monkeypatch.setattr(home, name, value)
    return static, calls, launch.DirectLauncher(source, Options(), torch.device("cuda", 0))


@pytest.mark.parametrize("broken", [False, "launch", "load"])
def test_tritons_launcher_takes_over_where_torchs_refuses(direct, caplog, broken):
    static, calls, run = direct
    static.broken = broken
    launch._told.clear()
    launch._functions.clear()
    x = torch.ones(104)
    run.ready()
    for t in (x, x, x[1:101], x[1:101]):
        run(t, t)
    assert calls == ["triton" if broken else "torch"] * 4
    assert len(caplog.records) == bool(broken)


def test_kernels_of_one_text_are_loaded_once(direct, monkeypatch):
    static, calls, run = direct
    loads = []
    launch._functions.clear()
    monkeypatch.setattr(static, "_load_kernel", lambda *a: loads.append(a) or (1, 0, 0))
    other = launch.DirectLauncher(run.src, run.options, run.device)
    for r in (run, other):
        r.ready()
        r(torch.ones(104), torch.ones(104))
    assert len(loads) == 1 and calls == ["torch"] * 2


def test_a_configuration_that_cannot_be_loaded_is_not_the_fastest(direct, monkeypatch):
    static, _, run = direct
    configs = [Config(64, 1), Config(128, 1)]
    monkeypatch.setattr(run, "_clock", lambda f: f() or 1.0)
    real = launch.bind

    def bind(src, config, *rest):
        if config.xb == 64:
            raise ValueError("out of resource: shared memory")
        return real(src, config, *rest)

    monkeypatch.setattr(launch, "bind", bind)
    assert run._measure(configs, None, [0, 0], None, None).xb == 128


def test_grids_of_tiles_have_one_dimension():
    """The others hold 65,535 programs at most."""
    (k,) = kernels_of(lambda x, y: x.t() + y, torch.empty(5_000_000, 17), torch.empty(17, 5_000_000))
    grid = k.grid(k.configs[0])
    assert k.mode == "tile" and grid[0] > 65535 and grid[1:] == (1, 1)


def test_gradients_through_a_mask_get_no_float32_copy():
    """Batch norm's backward reads the masked gradient twice: the mask is cheaper than memory for it."""

    def f(x, w, b):
        return F.batch_norm(x, None, None, w, b, True).relu()

    x = torch.randn(4, 8, 6, 6).bfloat16().to(memory_format=torch.channels_last).requires_grad_()
    w, b = (torch.randn(8, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    y = compiled(f)(x, w, b)
    torch.autograd.grad(y, (x, w, b), torch.ones_like(y))
    full = [d for c in pipeline.RECENT for b in c.ops if hasattr(b, "outs") for d in b.outs if d and d.shape == x.shape]
    assert full and all(d.dtype is not torch.float32 for d in full)
