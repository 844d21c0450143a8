"""The GPU benchmark's logic, at tiny sizes under the interpreter."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def gpu():
    spec = importlib.util.spec_from_file_location("gpu_benchmark", ROOT / "benchmarks" / "gpu.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_cases_are_measured_and_reported(gpu, tmp_path):
    out = tmp_path / "tiny"
    assert gpu.main(["--tiny", "--interpret", "--out", str(out), "--names", "softmax 4096", "mlp training"]) == 0
    rows = json.loads(out.with_suffix(".json").read_text())["rows"]
    assert {(r["name"], r["system"]) for r in rows} >= {
        ("softmax 4096", "pydynamo"),
        ("mlp training", "eager"),
    }
    assert all(r["note"] == "" and r["ms"] > 0 for r in rows)
    assert "| softmax 4096 | pydynamo |" in out.with_suffix(".md").read_text()


def test_what_does_not_fit_in_the_budget_is_said_to_be_skipped(gpu, tmp_path):
    out = tmp_path / "none"
    gpu.main(["--tiny", "--interpret", "--out", str(out), "--names", "swiglu", "--budget", "0"])
    assert all("skipped" in r["note"] for r in json.loads(out.with_suffix(".json").read_text())["rows"])


@pytest.mark.slow
def test_every_case_runs_at_tiny_size(gpu, tmp_path):
    out = tmp_path / "all"
    gpu.main(["--tiny", "--interpret", "--out", str(out)])
    assert [r for r in json.loads(out.with_suffix(".json").read_text())["rows"] if r["note"]] == []


def test_ratios_and_geometric_means(gpu):
    rows = [
        gpu.Row("a", "pydynamo", ms=1.0),
        gpu.Row("a", "inductor", ms=2.0),
        gpu.Row("b", "pydynamo", ms=4.0),
    ]
    assert gpu.ratio(rows, "a", "pydynamo", "inductor") == 2.0
    assert math.isnan(gpu.ratio(rows, "b", "pydynamo", "inductor"))
    assert gpu.geomean([2.0, 8.0, math.nan]) == 4.0
