"""What surrounds the kernels: options, fallback, provenance, printing, dynamic sizes, CUDA graph logic, layering."""

import os
import subprocess
import sys

import pytest
import torch
from lowering_harness import check, compiled, externs, kernels, pipeline

import pydynamo.lowering as lowering
from pydynamo.errors import PydynamoError
from pydynamo.lowering.compile_pool import compile_all
from pydynamo.lowering.config import Options
from pydynamo.lowering.cudagraphs import Recorder
from pydynamo.lowering.launch import fastest
from pydynamo.lowering.triton_codegen import Config


def test_compile_fx_takes_a_dynamo_graph_directly():
    gm = torch.fx.symbolic_trace(lambda x: (torch.relu(x) + 1,))
    f = lowering.compile_fx(gm, [torch.randn(3)], {"interpret": True})
    x = torch.randn(3)
    assert torch.equal(f(x)[0], torch.relu(x) + 1)


def test_without_interpret_cpu_tensors_get_a_clear_message(monkeypatch):
    monkeypatch.delenv("PYDYNAMO_TRITON_INTERPRET")
    with pytest.raises(Exception, match="needs a GPU"):
        compiled(lambda x: x + 1)(torch.randn(3))


@pytest.mark.parametrize(
    "given, message",
    [
        ({"fast": 1}, "unknown option"),
        ({"mode": "warp"}, "unknown mode"),
        ({"interpret": 1}, "must be a bool"),
    ],
)
def test_wrong_options_are_refused(given, message):
    with pytest.raises(PydynamoError, match=message):
        Options.make(given)


def test_unknown_operators_become_extern_calls_inside_the_same_function():
    check(lambda x: (torch.linalg.inv(x) * 2).sum(), [torch.randn(4, 4, dtype=torch.float64)])
    assert any("linalg_inv" in e for e in externs()) and kernels()


def test_complex_and_sorted_values_pass_through():
    check(lambda x: torch.view_as_real(torch.fft.fft(x) * 2) + 1, [torch.randn(8)], tol=1e-5)
    check(lambda x: (x.sort(0).values * 2, x.topk(2, 0).indices + 1), [torch.randn(8)])


def test_kernels_say_where_they_come_from():
    def user_function(x):
        return (x * 3).exp()

    compiled(user_function)(torch.randn(5))
    (k,) = kernels()
    assert "return (x * 3).exp()" in k.doc and "exp" in k.doc


def test_explain_shows_every_stage():
    e = lowering.explain(lambda x: x.softmax(0).sum(), torch.randn(30))
    assert "kernel" in str(e) and "softmax" in e.text("loops")
    for stage in ("graph", "schedule", "kernels", "wrapper"):
        assert e.text(stage)


def test_changing_sizes_share_one_compilation():
    f = compiled(lambda x: (x * 2).sum(1).cumsum(0), dynamic=True)
    for n in (3, 5, 8):
        x = torch.randn(n, n + 1)
        torch.testing.assert_close(f(x), (x * 2).sum(1).cumsum(0))
    assert len(pipeline.RECENT) == 1


def test_training_with_changing_sizes():
    f = compiled(lambda x, w: (x @ w).tanh().sum(), dynamic=True)
    w = torch.randn(4, 3, requires_grad=True)
    for n in (2, 6):
        x = torch.randn(n, 4)
        (g,) = torch.autograd.grad(f(x, w), w)
        (h,) = torch.autograd.grad((x @ w).tanh().sum(), w)
        torch.testing.assert_close(g, h)


def test_fused_float_option_rounds_once():
    x = torch.randn(1000).bfloat16()
    f = compiled(lambda x: x * 1.1 + x, options={"interpret": True, "round_half": False})
    assert torch.equal(f(x), (x.float() * 1.1 + x.float()).bfloat16())


def test_recorder_copies_what_moves_and_keeps_results_apart():
    weight = torch.ones(3)
    ran = []

    def run(args):
        ran.append(len(args))
        return (args[0] * args[1],)

    def capture(fn):
        results = fn()

        def replay():
            results[0].copy_(recorder.static[0] * recorder.static[1])

        return replay, results

    recorder = Recorder(run, capture)
    held = [recorder([torch.full((3,), float(i)), weight])[0] for i in range(5)]
    assert [h[0].item() for h in held] == [0, 1, 2, 3, 4]
    assert len(ran) == 3 and recorder.copied == [0]


def test_recorder_records_again_where_an_address_changes_after_all():
    def capture(fn):
        results = fn()
        a, b = recorder.static
        captures.append(recorder.copied)
        return lambda: results[0].copy_(a * b), results

    captures = []
    recorder = Recorder(lambda args: (args[0] * args[1],), capture)
    held, kept = torch.full((2,), 3.0), torch.full((2,), 5.0)
    for i in range(8):
        if i == 5:
            held = torch.full((2,), 7.0)
        got = recorder([held, kept])[0]
        assert got.tolist() == (held * kept).tolist()
    assert captures == [[], [0]] and not recorder.off
    for i in range(8):  # a program that makes everything anew each time
        kept = torch.full((2,), float(i))
        assert recorder([held.clone(), kept])[0].tolist() == (held * kept).tolist()
    assert captures == [[], [0], [0, 1]]


def test_recorder_gives_up_where_a_capture_fails():
    def broken(fn):
        raise RuntimeError("operation not permitted when stream is capturing")

    r = Recorder(lambda args: (args[0] + 1,), broken)
    x = torch.zeros(1)
    assert [r([x])[0].item() for _ in range(4)] == [1] * 4 and "capturing" in r.off


def test_the_fastest_configuration_wins():
    configs = [Config(64, 1), Config(128, 1), Config(256, 1)]
    assert fastest(configs, lambda c: {64: 3.0, 128: 1.0, 256: 2.0}[c.xb]).xb == 128


def test_parallel_compilation_compiles_each_kernel_once(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    import pydynamo.lowering.compile_pool as compile_pool

    seen = []
    monkeypatch.setattr(compile_pool, "workers", lambda: 4)
    monkeypatch.setattr(
        compile_pool, "compile_elsewhere", lambda job: seen.append(job[0]) or ("bad" if job[0] == "3" else "")
    )
    jobs = [(str(i), {}, {}, (), ("cuda", 90, 32), {}) for i in (1, 2, 3, 4, 4, 4)]
    with ThreadPoolExecutor(2) as threads:
        assert compile_all(jobs, lambda: threads) == ["bad"]
    assert sorted(seen) == ["1", "2", "3", "4"]


def test_a_worker_process_compiles_and_reports_errors(tmp_path, monkeypatch):
    from pydynamo.lowering.compile_pool import Worker

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    source = tmp_path / "kadd.py"
    source.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(p0, XB: tl.constexpr):\n"
        "    x = tl.arange(0, XB)\n    tl.store(p0 + x, tl.load(p0 + x) + 1)\n"
    )
    options = {"num_warps": 1}
    worker = Worker()
    good = worker.compile((str(source), {"p0": "*fp32"}, {"XB": 32}, (0,), ("cuda", 90, 32), options))
    bad = worker.compile((str(source), {"p0": "*fp32"}, {"XB": 33}, (0,), ("cuda", 90, 32), options))
    worker.close()
    assert good == "" and "Error" in bad
    assert list((tmp_path / "triton").rglob("*.cubin"))


def test_lowering_does_not_import_the_translator():
    code = (
        "import sys, pydynamo.lowering.capture, pydynamo.lowering.explain; "
        "print([m for m in sys.modules if m.startswith(('pydynamo.frontend', 'pydynamo.bytecode', 'pydynamo._core'))])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert out.stdout.strip() == "[]"


def test_compiling_loads_nothing_of_inductor_that_torchs_own_capture_has_not_loaded():
    """torch._dynamo imports parts of Inductor by itself, and AOTAutograd imports torch._dynamo; we add nothing."""
    code = """
import sys, torch, pydynamo
def inductor(): return {m for m in sys.modules if m.startswith("torch._inductor")}
def f(x): return (x.softmax(1) * 2).sum()
x = torch.randn(4, 8, requires_grad=True)
torch.compile(f, backend="aot_eager")(x).backward()
before = inductor()
pydynamo.compile(f, backend="triton", options={"interpret": True})(x).backward()
torch._dynamo.reset()
torch.compile(f, backend="pydynamo", options={"interpret": True})(x).backward()
print(sorted(inductor() - before))
"""
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert out.stdout.strip() == "[]"


def test_private_torch_names_stay_in_one_module():
    from pathlib import Path

    folder = Path(lowering.__file__).parent
    for path in folder.rglob("*.py"):
        text = path.read_text()
        assert "torch._inductor" not in text.replace("torch._inductor`", ""), path
        if path.name != "torch_private.py":
            for name in (
                "torch._functorch",
                "torch._decomp",
                "torch._subclasses",
                "torch._prims",
                "torch._dynamo.",
            ):
                assert f"import {name}" not in text and f"from {name}" not in text, (path, name)


def test_a_graph_on_a_gpu_is_lowered_without_one():
    """Everything but the launches: host numbers are moved, seeds are drawn on the device."""
    from pydynamo.lowering import torch_private as private
    from pydynamo.lowering.capture import clean
    from pydynamo.lowering.decompositions import decompositions
    from pydynamo.lowering.randoms import replace_dropout
    from pydynamo.lowering.wrapper import generate

    with private.FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(64, 64, device="cuda", dtype=torch.bfloat16)
        gm = private.make_fx(
            lambda x: torch.nn.functional.dropout(x @ x, 0.1, True) * torch.tensor(2.0),
            decomposition_table=decompositions(),
        )(x)
    replace_dropout(gm)
    device = pipeline.device_of(clean(gm))
    assert device.type == "cuda"
    options = Options()
    low, _, steps = pipeline.lower_and_schedule(gm, device, options)
    done = pipeline.generate_kernels(low, steps, options)
    (kernel,) = pipeline.sources(done)
    text, _ = generate(low.inputs, done, low.roots, low.results, low.constants, False, device, [print])
    assert "tl.rand" in kernel.text and "_to_device" in text


def test_the_command_shows_the_kernels_of_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nf = torch.compile(lambda x: x.softmax(0) * 2, backend='pydynamo')\nf(torch.randn(9))\n"
    )
    run = [sys.executable, "-m", "pydynamo", "kernels", "--interpret", str(script)]
    out = subprocess.run(
        run, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert "persistent kernel" in out.stdout and "x.softmax(0) * 2" in out.stdout, out.stderr


def test_launches_pass_plain_pointers_and_compile_once_for_each_alignment(monkeypatch):
    import pydynamo.lowering.launch as launch
    from pydynamo.lowering.testing.aot import kernels_of

    launched, compiled_for = [], []

    def bind(src, config, target, aligned, device):
        compiled_for.append(aligned)
        return lambda *args: launched.append(args)

    monkeypatch.setattr(launch, "target_of", lambda device: None)
    monkeypatch.setattr(launch, "bind", bind)
    monkeypatch.setattr(launch.private, "current_stream", lambda index: 7)
    monkeypatch.setattr(launch.private, "current_device", lambda: 0)
    (src,) = kernels_of(lambda x: x + 1, torch.empty(5000))
    run = launch.DirectLauncher(src, Options(), torch.device("cuda", 0))
    base = torch.zeros(6000)
    aligned, odd = base[:5000], base[1:5001]
    for x in (aligned, aligned, odd, odd):
        run(x, aligned)
    assert compiled_for == [None, (False, True)]
    first, *_, last = launched
    assert first == (7, [aligned.data_ptr(), aligned.data_ptr()], src.grid(src.configs[0]))
    assert last[1][0] == odd.data_ptr() and len(launched) == 4
