"""Kernels and models on one GPU: pydynamo's Triton path against eager and torch's Inductor, in one process.

    python benchmarks/gpu.py --out gpu                       # everything, under 8 minutes; gpu.json and gpu.md
    python benchmarks/gpu.py --only kernels --out kernels
    python benchmarks/gpu.py --tiny --interpret --out tiny   # the same logic on a CPU, under the interpreter

Bandwidth is compared with a device-to-device copy that is measured in the same run.  Times are medians over
repetitions between CUDA events after warm-up; with a time budget, what does not fit is listed as skipped.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parent))
import gpu_models

BUDGET = 460.0  # seconds for one call
Fn = Callable[..., Any]


@dataclasses.dataclass
class Case:
    """A function with its arguments; `nbytes` is what it must move at least; `goal` is a share of copy speed."""

    name: str
    fn: Fn
    args: tuple[Any, ...]
    nbytes: int = 0
    goal: float = 0.0
    backward: bool = False
    autotune: bool = False


@dataclasses.dataclass
class Row:
    name: str
    system: str
    ms: float = math.nan
    compile_s: float = math.nan  # first call, empty caches on disk
    warm_s: float = math.nan  # first call of a new compilation that finds the caches filled
    peak_mb: float = math.nan
    kernels: int = 0
    vs_copy: float = math.nan
    goal: float = 0.0
    note: str = ""


class Bench:
    """Clock, devices and the systems under test."""

    def __init__(self, tiny: bool, interpret: bool, budget: float) -> None:
        self.tiny, self.interpret = tiny, interpret
        self.device = torch.device("cpu" if interpret else "cuda")
        self.until = time.perf_counter() + budget
        self.rows: list[Row] = []
        self.copy_bytes_per_s = math.nan

    # ------------------------------------------------------------------ measuring
    def sync(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def time(self, run: Callable[[], Any], seconds: float = 0.25) -> float:
        """Median milliseconds of one call."""
        run()
        self.sync()
        t = time.perf_counter()
        run()
        self.sync()
        once = max(time.perf_counter() - t, 1e-6)
        n = 1 if self.tiny else max(3, min(100, int(seconds / once)))
        if self.device.type != "cuda":
            return 1e3 * once
        samples = []
        for _ in range(n):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            run()
            end.record()
            end.synchronize()
            samples.append(start.elapsed_time(end))
        return statistics.median(samples)

    def copy_speed(self) -> float:
        """Bytes per second, read plus written, of a large copy."""
        n = 1 << (10 if self.tiny else 30)
        a = torch.empty(n, dtype=torch.uint8, device=self.device)
        b = torch.empty_like(a)
        self.copy_bytes_per_s = 2 * n / (self.time(lambda: b.copy_(a)) / 1e3)
        return self.copy_bytes_per_s

    # ------------------------------------------------------------------ systems
    def systems(self, case: Case) -> dict[str, Callable[[Fn], Fn]]:
        from pydynamo.lowering.capture import backend

        def own(mode: str) -> Callable[[Fn], Fn]:
            options = {"mode": mode, "interpret": self.interpret}
            return lambda f: torch.compile(f, backend=backend, options=options, dynamic=False)

        out: dict[str, Callable[[Fn], Fn]] = {"eager": lambda f: f, "pydynamo": own("default")}
        if not self.interpret:
            out["inductor"] = lambda f: torch.compile(f, dynamic=False)
            out["pydynamo reduce-overhead"] = own("reduce-overhead")
            out["inductor reduce-overhead"] = lambda f: torch.compile(f, mode="reduce-overhead", dynamic=False)
        if case.autotune:
            out["pydynamo max-autotune"] = own("max-autotune")
            if not self.interpret:
                out["inductor max-autotune"] = lambda f: torch.compile(
                    f, mode="max-autotune-no-cudagraphs", dynamic=False
                )
        if case.nbytes and not self.tiny:  # kernels: launch overhead is a case of its own
            out = {k: v for k, v in out.items() if "overhead" not in k}
        return out

    def run(self, case: Case) -> None:
        """One row for each system."""
        for system, compile_ in self.systems(case).items():
            row = Row(case.name, system, goal=case.goal)
            self.rows.append(row)
            if time.perf_counter() > self.until:
                row.note = "skipped: out of time"
                continue
            try:
                self._measure(case, compile_, row)
            except Exception as e:  # one failure must not hide the other rows
                row.note = f"{type(e).__name__}: {str(e).splitlines()[0][:120] if str(e) else ''}"
            if self.device.type == "cuda":
                torch.cuda.empty_cache()

    def _measure(self, case: Case, compile_: Callable[[Fn], Fn], row: Row) -> None:
        from pydynamo.lowering import pipeline

        torch._dynamo.reset()
        pipeline.RECENT.clear()
        step = stepper(compile_(case.fn), case)
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        t = time.perf_counter()
        step()
        self.sync()
        row.compile_s = time.perf_counter() - t
        row.ms = self.time(step)
        row.kernels = sum(len(c.kernels) for c in pipeline.RECENT)
        if self.device.type == "cuda":
            row.peak_mb = torch.cuda.max_memory_allocated() / 2**20
        if row.system in ("pydynamo", "inductor"):
            torch._dynamo.reset()
            again = stepper(compile_(case.fn), case)
            t = time.perf_counter()
            again()
            self.sync()
            row.warm_s = time.perf_counter() - t
        if case.nbytes:
            row.vs_copy = case.nbytes / (row.ms / 1e3) / self.copy_bytes_per_s


def stepper(fn: Fn, case: Case) -> Callable[[], Any]:
    """One call, or one call with gradients of everything that wants one."""
    if not case.backward:

        def forward() -> Any:
            with torch.no_grad():
                return fn(*case.args)

        return forward
    wants = [a for a in case.args if isinstance(a, torch.Tensor) and a.requires_grad]
    if isinstance(case.fn, torch.nn.Module):
        wants += list(case.fn.parameters())

    def step() -> Any:
        out = fn(*case.args)
        return torch.autograd.grad(out, wants, torch.ones_like(out))

    return step


# ---------------------------------------------------------------------- cases
def kernel_cases(tiny: bool, device: torch.device) -> list[Case]:
    """The kernel table of the design."""
    bf = torch.bfloat16

    def R(*shape: int, dtype: torch.dtype = bf, grad: bool = False) -> torch.Tensor:
        small = tuple(min(n, 48 if len(shape) < 4 else 6) for n in shape) if tiny else shape
        return torch.randn(small, device=device, dtype=dtype).requires_grad_(grad)

    def ids(high: int, n: int) -> torch.Tensor:
        return torch.randint(min(high, 48) if tiny else high, (min(n, 48) if tiny else n,), device=device)

    def rms(x: Any, r: Any, w: Any) -> Any:
        h = x + r
        y = h.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(h.dtype) * w, h

    def norm(x: Any, w: Any, b: Any) -> Any:
        return F.layer_norm(x, (x.shape[-1],), w, b)

    def adam(p: Any, g: Any, m: Any, v: Any) -> None:
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p.sub_(1e-3 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8))

    def batch_norm(x: Any, w: Any, b: Any) -> Any:
        return F.relu(F.batch_norm(x, None, None, w, b, True))

    f32 = torch.float32
    image = R(128, 256, 56, 56).to(memory_format=torch.channels_last)
    channels = image.shape[1]
    table = [
        (
            "gelu(x*w+b)+res",
            lambda x, w, b, r: F.gelu(x * w + b) + r,
            (R(16384, 8192), R(8192), R(8192), R(16384, 8192)),
            3,
            0.95,
            False,
        ),
        (
            "x.t()+y f32",
            lambda x, y: x.t() + y,
            (R(8192, 8192, dtype=f32), R(8192, 8192, dtype=f32)),
            3,
            0.85,
            False,
        ),
        ("softmax 4096", lambda x: x.softmax(-1), (R(16384, 4096),), 2, 0.90, False),
        ("softmax 131072", lambda x: x.softmax(-1), (R(4096, 131072),), 2, 0.85, False),
        ("rms_norm+residual", rms, (R(16384, 4096), R(16384, 4096), R(4096)), 4, 0.90, False),
        ("layer_norm forward", norm, (R(16384, 4096), R(4096), R(4096)), 2, 0.90, False),
        (
            "layer_norm both ways",
            norm,
            (R(16384, 4096, grad=True), R(4096, grad=True), R(4096, grad=True)),
            5,
            0.75,
            True,
        ),
        (
            "cross_entropy forward",
            lambda x, t: F.cross_entropy(x.float(), t),
            (R(8192, 128256), ids(128256, 8192)),
            1,
            0.85,
            False,
        ),
        (
            "cross_entropy both ways",
            lambda x, t: F.cross_entropy(x.float(), t),
            (R(8192, 128256, grad=True), ids(128256, 8192)),
            3,
            0.85,
            True,
        ),
        ("swiglu forward", lambda g, u: F.silu(g) * u, (R(8192, 14336), R(8192, 14336)), 3, 0.93, False),
        (
            "swiglu both ways",
            lambda g, u: F.silu(g) * u,
            (R(8192, 14336, grad=True), R(8192, 14336, grad=True)),
            8,
            0.93,
            True,
        ),
        ("column sum", lambda x: x.sum(0), (R(16384, 8192),), 1, 0.85, False),
        (
            "dropout+add+layer_norm",
            lambda x, r, w, b: norm(F.dropout(x, 0.1, True) + r, w, b),
            (R(16384, 4096), R(16384, 4096), R(4096), R(4096)),
            3,
            0.85,
            False,
        ),
        ("batch_norm+relu nhwc", batch_norm, (image, R(channels), R(channels)), 3, 0.80, False),
        ("adam", adam, tuple(R(1 << 29, dtype=f32).abs_() for _ in range(4)), 7, 0.90, False),
    ]
    cases = []
    for name, fn, args, passes, goal, backward in table:
        unit = args[0].numel() * args[0].element_size()
        cases.append(Case(name, fn, args, passes * unit, goal, backward))
    w = R(50304, 768, grad=True)
    cases.append(Case("embedding backward", lambda w, i: F.embedding(i, w), (w, ids(50304, 16384)), backward=True))
    cases.append(
        Case(
            "linear+gelu",
            lambda x, w, b: F.gelu(F.linear(x, w, b)),
            (R(8192, 4096), R(16384, 4096), R(16384)),
            autotune=True,
        )
    )
    cases.append(Case("one small kernel", lambda x: x * 2 + 1, (R(10000),)))
    return cases


def model_case(name: str, train: bool, tiny: bool, device: torch.device) -> Case:
    dtype = torch.float32 if tiny else torch.bfloat16
    model, args = gpu_models.build(name, not tiny, device, dtype)
    return Case(f"{name} {'training' if train else 'inference'}", model.train(train), args, backward=train)


# ---------------------------------------------------------------------- reporting
def ratio(rows: Sequence[Row], name: str, a: str, b: str) -> float:
    """How much faster `a` is than `b` on one case; nan if either is missing."""
    ms = {r.system: r.ms for r in rows if r.name == name}
    return ms.get(b, math.nan) / ms.get(a, math.nan)


def geomean(values: Sequence[float]) -> float:
    good = [v for v in values if math.isfinite(v) and v > 0]
    return math.exp(sum(map(math.log, good)) / len(good)) if good else math.nan


def table(rows: Sequence[Row], copy: float) -> str:
    """One Markdown table, a summary line above it."""
    names = list(dict.fromkeys(r.name for r in rows))
    over = [ratio(rows, n, "pydynamo", "inductor") for n in names]
    lines = [
        f"Copy: {copy / 1e12:.2f} TB/s.  Against Inductor default: {geomean(over):.2f}x over "
        f"{sum(map(math.isfinite, over))} cases (geometric mean).",
        "",
        "| case | system | ms | vs eager | vs Inductor | of copy | goal | peak MB | cold s | warm s | kernels | note |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        faster = [ratio(rows, r.name, r.system, base) for base in ("eager", "inductor")]
        cells = [
            r.name,
            r.system,
            f"{r.ms:.3f}",
            *(f"{x:.2f}" for x in faster),
            f"{r.vs_copy:.0%}" if math.isfinite(r.vs_copy) else "",
            f"{r.goal:.0%}" if r.goal else "",
            f"{r.peak_mb:.0f}",
            f"{r.compile_s:.2f}",
            f"{r.warm_s:.2f}",
            str(r.kernels or ""),
            r.note,
        ]
        lines.append("| " + " | ".join(c.replace("nan", "").replace("|", "/") for c in cells) + " |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", default="gpu", help="name of the .json and .md files")
    parser.add_argument("--only", choices=["kernels", "models"], default=None)
    parser.add_argument("--names", nargs="*", default=None, help="only cases whose name contains one of these")
    parser.add_argument("--tiny", action="store_true", help="small sizes, one repetition")
    parser.add_argument("--interpret", action="store_true", help="run on the CPU under the interpreter")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds")
    given = parser.parse_args(argv)
    if not given.interpret and not torch.cuda.is_available():
        print("this benchmark needs a CUDA device (or --tiny --interpret)", file=sys.stderr)
        return 2
    caches = tempfile.mkdtemp(prefix="pydynamo-bench-")
    for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "PYDYNAMO_CACHE_DIR"):
        os.environ[name] = str(Path(caches) / name.lower())
    bench = Bench(given.tiny, given.interpret, given.budget)
    copy = bench.copy_speed()

    def wanted(name: str) -> bool:
        return given.names is None or any(n in name for n in given.names)

    if given.only != "models":
        for case in kernel_cases(given.tiny, bench.device):
            if wanted(case.name):
                bench.run(case)
    if given.only != "kernels":
        for name in gpu_models.NAMES:
            for train in (False, True):
                if wanted(f"{name} {'training' if train else 'inference'}"):
                    bench.run(model_case(name, train, given.tiny, bench.device))
    about = {
        "torch": torch.__version__,
        "copy_bytes_per_s": copy,
        "device": torch.cuda.get_device_name() if bench.device.type == "cuda" else "cpu (interpreted)",
    }
    Path(f"{given.out}.json").write_text(
        json.dumps(about | {"rows": [dataclasses.asdict(r) for r in bench.rows]}, indent=1)
    )
    text = table(bench.rows, copy)
    Path(f"{given.out}.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
