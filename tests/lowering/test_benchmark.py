"""The GPU benchmark's logic, at tiny sizes under the interpreter."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import pytest
import torch

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
    bench = gpu.Bench(True, True, gpu.time.time() + 1, str(tmp_path / "none"))
    for name, make, systems in bench.plan("kernels"):
        bench.run(name, make, systems)
    rows = json.loads((tmp_path / "none.json").read_text())["rows"]
    assert len(rows) > 30 and all("skipped" in r["note"] for r in rows)


@pytest.mark.slow
def test_every_case_runs_at_tiny_size(gpu, tmp_path):
    out = tmp_path / "all"
    gpu.main(["--tiny", "--interpret", "--out", str(out)])
    assert [r for r in json.loads(out.with_suffix(".json").read_text())["rows"] if r["note"]] == []


def test_ratios_and_geometric_means(gpu):
    import gpu_table

    rows = [
        gpu.Row("a", "pydynamo", ms=1.0, compile_s=1.0),
        gpu.Row("a", "inductor", ms=2.0, compile_s=4.0),
        gpu.Row("b", "pydynamo", ms=4.0, vs_copy=0.5, goal=0.9),
    ]
    assert gpu_table.ratio(rows, "a", "pydynamo", "inductor") == 2.0
    assert math.isnan(gpu_table.ratio(rows, "b", "pydynamo", "inductor"))
    assert gpu_table.geomean([2.0, 8.0, math.nan]) == 4.0
    text = gpu_table.table(rows, 4e12)
    assert "2.00x as fast, cold compilation in 0.25" in text and "0 of 1 reached; not: b 50% of 90%" in text


class Slow:
    """Rows that take as long as a bad day would have it, by a clock of their own."""

    def __init__(self, gpu, tmp_path, monkeypatch, seconds):
        self.now = 0.0
        self.bench = gpu.Bench(True, True, 480.0, str(tmp_path / "slow"), lambda: self.now)
        monkeypatch.setattr(self.bench, "compilers", lambda: dict.fromkeys(("eager", "pydynamo", "inductor front")))
        monkeypatch.setattr(self.bench, "free", lambda: None)

        def measure(case, compile_, row, reference):
            self.now += seconds(row)
            row.ms = 1.0

        monkeypatch.setattr(self.bench, "_measure", measure)


@pytest.mark.parametrize("slow", [1, 30, 70, 200])
def test_nothing_is_started_that_would_not_end_in_time(gpu, tmp_path, monkeypatch, slow):
    s = Slow(gpu, tmp_path, monkeypatch, lambda row: slow if row.system == "pydynamo" else 1)
    for i in range(20):
        s.bench.run(f"case {i} training", lambda: gpu.Case("x", None, ()), ["eager", "pydynamo"])
    assert s.now < 480 and s.now > 1
    rows = json.loads((tmp_path / "slow.json").read_text())["rows"]
    assert len(rows) == 40
    assert all(r["note"] in ("", "skipped: out of time") for r in rows)
    assert slow == 1 or any(r["note"] for r in rows)


def test_a_run_goes_on_behind_the_rows_that_were_written(gpu, tmp_path, monkeypatch):
    s = Slow(gpu, tmp_path, monkeypatch, lambda row: 1)
    s.bench.run("a", lambda: gpu.Case("a", None, ()), ["eager"])
    again = Slow(gpu, tmp_path, monkeypatch, lambda row: 1)
    again.bench.resume()
    again.bench.run("a", lambda: gpu.Case("a", None, ()), ["eager", "pydynamo"])
    assert again.now == 1 and [r.system for r in again.bench.rows] == ["eager", "pydynamo"]


def test_the_watchdog_writes_what_there_is_and_ends_the_run(gpu, tmp_path, monkeypatch):
    s = Slow(gpu, tmp_path, monkeypatch, lambda row: 1)
    s.bench.run("a", lambda: gpu.Case("a", None, ()), ["eager"])
    (tmp_path / "slow.md").unlink()
    s.now, ended = 1000.0, []
    s.bench.watch(ended.append).join(20)
    assert ended == [0] and "| a | eager |" in (tmp_path / "slow.md").read_text()


def test_differences_are_found_and_measured(gpu):
    a = torch.tensor([1.0, -4.0])
    assert gpu.worst([a], [a + torch.tensor([0.0, 0.4])]) == pytest.approx(0.1)
    assert gpu.worst([a], [a * math.nan]) == math.inf
