"""Programs on a device that computes nothing: where tensors lie, what runs on the host, every mode and both frontends."""

import json
import re
from pathlib import Path

import pytest

from pydynamo.lowering.testing import fake_device

ROOT = Path(__file__).parents[2]
CASES = str(Path(__file__).with_name("fake_device_cases.py"))


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    try:
        fake_device.build(tmp_path_factory.mktemp("fake"))
    except RuntimeError as e:
        pytest.skip(str(e))

    def run(*arguments):
        done = fake_device.run(list(arguments))
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        return done.stdout

    return run


def test_no_kernel_is_given_memory_of_the_host(device):
    out = device(CASES, "counter", "host swaps", "results on the host", "host alone", "scalar of the host")
    assert out.count("launches") == 5 * 6


@pytest.mark.slow
def test_training_in_cuda_graphs_and_tuned_products_launch(device):
    out = device(CASES, "training", "product")
    found = {way: int(n) for way, n in re.findall(r"(.*): (\d+) launches", out)}
    for front in ("torch", "pydynamo"):  # three kernels, five calls; two of them and a capture where replays follow
        assert found[f"training, {front} default"] == 15 > found[f"training, {front} reduce-overhead"] >= 9


@pytest.mark.slow
def test_every_program_runs_in_every_mode_through_both_frontends(device):
    assert device(CASES).count("launches") == 6 * 16


@pytest.mark.slow
def test_the_benchmark_measures_kernels_and_a_model(device, tmp_path):
    out = tmp_path / "gpu"
    names = ["--names", "one small kernel", "softmax 4096", "linear+gelu", "layer_norm both ways", "mlp training"]
    device(str(ROOT / "benchmarks" / "gpu.py"), "--tiny", "--out", str(out), *names)
    rows = json.loads(out.with_suffix(".json").read_text())["rows"]
    assert len(rows) > 20
    assert [(r["name"], r["system"], r["note"]) for r in rows if r["note"] and "inductor" not in r["system"]] == []
