"""Kernels and models on one GPU: pydynamo's Triton path against eager and torch's Inductor, in one process.

    python benchmarks/gpu.py --out gpu                       # everything, under 8 minutes; gpu.json and gpu.md
    python benchmarks/gpu.py --only kernels --out kernels
    python benchmarks/gpu.py --tiny --interpret --out tiny   # the same logic on a CPU, under the interpreter

Bandwidth is compared with a device-to-device copy that is measured in the same run.  Kernels are timed on the device:
it is kept busy until the host has queued all repetitions.  Models are timed from the wall, as many steps after each
other.  Both files are written after every row, and a watchdog ends the run at its time limit, so that nothing is lost
to a slow compiler; what did not fit is listed as skipped.  An error that leaves the device unusable starts the program
anew, in the same process, behind the case that made it.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import math
import os
import statistics
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["GPU_BENCH_START"] = str(time.time())  # importing torch counts, too

import torch

sys.path.insert(0, str(Path(__file__).parent))
from gpu_cases import KERNELS, MODELS, Case, Fn, kernel_case, model_case, model_name
from gpu_table import Row, table

BUDGET = 455.0  # seconds for one call, from its start
RESERVE = 10.0  # seconds before the limit at which nothing is started any more
GUESS = {"kernel": 12.0, "model": 40.0, "inductor max-autotune": 60.0}  # seconds of one row, before one was seen
DEAR = 8.0  # seconds of compiling a model; one that took longer is not compiled again to see what caches bring
CYCLES = 2e9  # of the device in a second, at most
SLEEP = 2e-3  # seconds that the device sleeps while the host queues work, at least


class Bench:
    """Clock, devices and the systems under test."""

    def __init__(
        self, tiny: bool, interpret: bool, limit: float, out: str, clock: Callable[[], float] = time.time
    ) -> None:
        self.tiny, self.interpret, self.out, self.clock = tiny, interpret, out, clock
        self.device = torch.device("cpu" if interpret else "cuda")
        self.limit = limit  # by `clock`
        self.rows: list[Row] = []
        self.seen: dict[tuple[str, str], float] = {}  # (kind, system) -> longest row so far
        self.copy_bytes_per_s = math.nan
        self.lock = threading.Lock()

    # ------------------------------------------------------------------ measuring
    @property
    def cuda(self) -> bool:
        return self.device.type == "cuda"

    def sync(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def wall(self, run: Callable[[], Any], seconds: float) -> float:
        """Milliseconds of one call from the wall, many after each other."""
        run()
        self.sync()
        t = time.perf_counter()
        run()
        self.sync()
        once = max(time.perf_counter() - t, 1e-6)
        if self.tiny:
            return 1e3 * once
        n = max(2, min(50, int(seconds / 3 / once)))
        samples = []
        for _ in range(3):
            t = time.perf_counter()
            for _ in range(n):
                run()
            self.sync()
            samples.append((time.perf_counter() - t) / n)
        return 1e3 * statistics.median(samples)

    def on_device(self, run: Callable[[], Any], seconds: float = 0.15) -> float:
        """Milliseconds of one call on the device, whatever the host takes to queue it."""
        if not self.cuda:
            return self.wall(run, seconds)
        once = self.wall(run, 0.03) / 1e3
        n = max(1, min(20, int(0.02 / once)))
        good, late, sleep = [], [], SLEEP
        for _ in range(max(3, min(15, int(seconds / once / n)))):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(int(sleep * CYCLES))
            t = time.perf_counter()
            start.record()
            for _ in range(n):
                run()
            end.record()
            queued = time.perf_counter() - t
            end.synchronize()
            (good if queued < sleep else late).append(start.elapsed_time(end) / n)
            sleep = min(0.2, max(sleep, 1.5 * queued))
        return statistics.median(good or late)

    def copy_speed(self) -> float:
        """Bytes per second, read plus written, of a large copy."""
        n = 1 << (10 if self.tiny else 30)
        a = torch.empty(n, dtype=torch.uint8, device=self.device)
        b = torch.empty_like(a)
        self.copy_bytes_per_s = 2 * n / (self.on_device(lambda: b.copy_(a)) / 1e3)
        return self.copy_bytes_per_s

    # ------------------------------------------------------------------ systems
    def compilers(self) -> dict[str, Callable[[Fn], Fn]]:
        """What each system makes of a function; the first of them is the reference."""
        import pydynamo
        from pydynamo.lowering.capture import backend

        def own(mode: str = "default") -> dict[str, Any]:
            return {"mode": mode, "interpret": self.interpret}

        def ours(mode: str) -> Callable[[Fn], Fn]:
            return lambda f: torch.compile(f, backend=backend, options=own(mode), dynamic=False)

        def inductor(mode: str | None) -> Callable[[Fn], Fn]:
            return lambda f: torch.compile(f, mode=mode, dynamic=False)

        return {
            "eager": lambda f: f,
            "pydynamo": ours("default"),
            "inductor": inductor(None),
            "pydynamo front": lambda f: pydynamo.compile(f, backend="triton", dynamic=False, options=own()),
            "pydynamo reduce-overhead": ours("reduce-overhead"),
            "inductor reduce-overhead": inductor("reduce-overhead"),
            "pydynamo max-autotune": ours("max-autotune"),
            "inductor max-autotune": inductor("max-autotune-no-cudagraphs"),
        }

    def plan(self, only: str | None) -> Iterator[tuple[str, Callable[[], Case], list[str]]]:
        """(name, case, systems), the most telling first."""
        first = ["eager", "pydynamo", "inductor"]
        kernels = [(row[0], lambda row=row: kernel_case(row, self.tiny, self.device)) for row in KERNELS]
        models = [
            (model_name(n, train), lambda n=n, train=train: model_case(n, train, self.tiny, self.device))
            for n, train in MODELS
        ]
        if only != "models":
            for name, make in kernels:
                more = {"one small kernel": ["pydynamo front"], "linear+gelu": ["pydynamo max-autotune"]}
                yield name, make, first + more.get(name, [])
        if only != "kernels":
            for name, make in models:
                yield name, make, first
        if only != "models":
            for name, make in kernels:
                if name == "one small kernel":
                    yield name, make, ["pydynamo reduce-overhead", "inductor reduce-overhead"]
        if only != "kernels":
            for name, make in models:
                yield name, make, ["pydynamo front", "pydynamo reduce-overhead", "inductor reduce-overhead"]
        if only != "models":  # what may take a minute and tells least
            for name, make in kernels:
                if name == "linear+gelu":
                    yield name, make, ["inductor max-autotune"]

    def fits(self, kind: str, system: str) -> bool:
        """Whether a row of that kind is likely to end before the limit."""
        guess = self.seen.get((kind, system), GUESS.get(system, GUESS[kind]))
        return self.clock() + guess < self.limit - RESERVE

    def run(self, name: str, make: Callable[[], Case], systems: Sequence[str]) -> None:
        """One row for each system, written to disk at once; what is there already is left."""
        done = {(r.name, r.system) for r in self.rows}
        left = [s for s in systems if (name, s) not in done and not (self.interpret and "inductor" in s)]
        compilers = self.compilers()
        case: Case | None = None
        reference: list[torch.Tensor] | None = None
        for system in left:
            row = Row(name, system)
            kind = "model" if name.split()[-1] in ("training", "inference") else "kernel"
            start = self.clock()
            if not self.fits(kind, system):
                row.note = "skipped: out of time"
            else:
                try:
                    if case is None:
                        case = make()
                    row.goal = case.goal
                    reference = self._measure(case, compilers[system], row, reference)
                except Exception as e:  # one failure must not hide the other rows
                    row.note = f"{type(e).__name__}: {str(e).splitlines()[0][:120] if str(e) else ''}"
                    row.trace = "".join(traceback.format_exception(e))[-8000:]
                key = (kind, system)
                self.seen[key] = max(self.seen.get(key, 0.0), self.clock() - start)
            with self.lock:
                self.rows.append(row)
            self.write()
            self.free()
        del case, reference
        self.free()

    def free(self) -> None:
        """Give back what the last row held; an unusable device starts the program anew."""
        gc.collect()
        if not self.cuda:
            return
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except RuntimeError:
            os.environ["GPU_BENCH_LIMIT"] = str(self.limit)
            os.execv(sys.executable, [sys.executable, *sys.argv, *(["--resume"] if "--resume" not in sys.argv else [])])

    def _measure(
        self, case: Case, compile_: Callable[[Fn], Fn], row: Row, reference: list[torch.Tensor] | None
    ) -> list[torch.Tensor] | None:
        from pydynamo.lowering import pipeline

        torch._dynamo.reset()
        pipeline.RECENT.clear()
        grads: list[torch.Tensor] = []
        step = stepper(compile_(case.fn), case, case.args, grads)
        saved = [a.clone() for a in case.args] if case.writes else []
        if reference is None and row.system != "eager" and not case.random:
            out = stepper(case.fn, case, case.args, grads)()
            reference = [t.clone() for t in results(case, out)] if case.writes else results(case, out)
            put_back(case, saved)
        t = time.perf_counter()
        out = step()
        self.sync()
        row.compile_s = time.perf_counter() - t
        row.kernels = sum(len(c.kernels) for c in pipeline.RECENT)
        found = results(case, out)
        if reference is not None and not case.random:
            row.error = worst(reference, found)
        if reference is None and not case.random:  # what a CUDA graph returned must not be held
            reference = [t.clone() for t in found] if case.writes else found
        del out, found
        held = 0
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated()
        row.ms = self.wall(step, 1.0) if case.model else self.on_device(step)
        if self.cuda:
            row.peak_mb = (torch.cuda.max_memory_allocated() - held) / 2**20
        put_back(case, saved)
        if case.name == "one small kernel":
            row.call_us = self.host_us(step)
            row.graph_us = self.graph_us(step) if "overhead" not in row.system else math.nan
        if row.system in ("pydynamo", "inductor") and not self.interpret and (not case.model or row.compile_s < DEAR):
            del step
            torch._dynamo.reset()
            again = stepper(compile_(case.fn), case, case.args, grads)
            t = time.perf_counter()
            again()
            self.sync()
            row.warm_s = time.perf_counter() - t
        if case.nbytes:
            row.vs_copy = case.nbytes / (row.ms / 1e3) / self.copy_bytes_per_s
        return reference

    def host_us(self, run: Callable[[], Any]) -> float:
        """Microseconds of one call on the host, the device keeping up."""
        n = 10 if self.tiny else 2000
        self.sync()
        t = time.perf_counter()
        for _ in range(n):
            run()
        took = time.perf_counter() - t
        self.sync()
        return 1e6 * took / n

    def graph_us(self, run: Callable[[], Any]) -> float:
        """Microseconds of one call inside of a CUDA graph of many."""
        if not self.cuda:
            return math.nan
        graph, n = torch.cuda.CUDAGraph(), 100
        with torch.cuda.graph(graph):
            for _ in range(n):
                run()
        return 1e3 * self.on_device(graph.replay) / n

    # ------------------------------------------------------------------ reporting
    def write(self) -> None:
        """Both files, each replaced at once."""
        with self.lock:
            rows = list(self.rows)
        about = {
            "torch": torch.__version__,
            "copy_bytes_per_s": self.copy_bytes_per_s,
            "device": torch.cuda.get_device_name() if self.cuda else "cpu (interpreted)",
        }
        texts = {
            "json": json.dumps(about | {"rows": [dataclasses.asdict(r) for r in rows]}, indent=1),
            "md": table(rows, self.copy_bytes_per_s),
        }
        for suffix, text in texts.items():
            path = Path(f"{self.out}.{suffix}")
            tmp = path.with_suffix(f".{suffix}.tmp")
            tmp.write_text(text)
            os.replace(tmp, path)

    def resume(self) -> None:
        """Take over the rows that an earlier run has written."""
        path = Path(f"{self.out}.json")
        if path.exists():
            self.rows = [Row(**r) for r in json.loads(path.read_text())["rows"]]

    def watch(self, stop: Callable[[int], None] = os._exit) -> threading.Timer:
        """End the run at its limit, whatever it does then."""

        def over() -> None:
            self.write()
            print(Path(f"{self.out}.md").read_text(), "\nthe time limit is reached", flush=True)
            stop(0)

        timer = threading.Timer(max(0.0, self.limit - self.clock()), over)
        timer.daemon = True
        timer.start()
        return timer


def put_back(case: Case, saved: Sequence[torch.Tensor]) -> None:
    """The arguments as they were before a call that writes into them."""
    for a, b in zip(case.args, saved, strict=False):
        a.copy_(b)


def results(case: Case, out: Any) -> list[torch.Tensor]:
    """The tensors that a system's call made: results, gradients, or the arguments that it changed."""
    if case.writes:
        return [a for a in case.args if isinstance(a, torch.Tensor)]
    return [o for o in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(o, torch.Tensor)]


def worst(want: Sequence[torch.Tensor], got: Sequence[torch.Tensor]) -> float:
    """The largest difference, in parts of the largest number of the tensor that it is in; inf for a NaN too many."""
    bad = 0.0
    for a, b in zip(want, got, strict=True):
        a, b = a.detach().reshape(-1), b.detach().reshape(-1)
        top = max((c.abs().max().item() for c in a.split(1 << 26) if c.numel()), default=0.0)
        for p, q in zip(a.split(1 << 26), b.split(1 << 26), strict=True):
            off = (p.float() - q.float()).abs().max().item() if p.numel() else 0.0
            bad = max(bad, math.inf if math.isnan(off) else off / (top or 1.0))
    return bad


def stepper(fn: Fn, case: Case, args: tuple[Any, ...], grads: list[torch.Tensor]) -> Callable[[], Any]:
    """One call, or one call with gradients of everything that wants one; `grads` keeps the gradient that is fed in."""
    if not case.backward:

        def forward() -> Any:
            with torch.no_grad():
                return fn(*args)

        return forward
    wants = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    if isinstance(case.fn, torch.nn.Module):
        wants += list(case.fn.parameters())

    def step() -> Any:
        out = fn(*args)
        if not grads:
            grads.append(torch.ones_like(out))
        return (out, *torch.autograd.grad(out, wants, grads[0]))

    return step


def warm_up(bench: Bench) -> None:
    """Start what every system starts once: imports, worker processes, the library's handles."""
    x = torch.randn(64, 64, device=bench.device)
    for name, compile_ in bench.compilers().items():
        if name in ("eager", "pydynamo", "inductor") and not (bench.interpret and name == "inductor"):
            try:
                compile_(lambda x: (x @ x).relu() + 1)(x)
            except Exception as e:
                print(f"warm-up of {name}: {e}", file=sys.stderr)
    bench.sync()


def main(argv: Sequence[str] | None = None, start: float | None = None) -> int:
    """Run everything; `start`: when the time limit began to run, if that is not now."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", default="gpu", help="name of the .json and .md files")
    parser.add_argument("--only", choices=["kernels", "models"], default=None)
    parser.add_argument("--names", nargs="*", default=None, help="only cases whose name contains one of these")
    parser.add_argument("--tiny", action="store_true", help="small sizes, one repetition")
    parser.add_argument("--interpret", action="store_true", help="run on the CPU under the interpreter")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds")
    parser.add_argument("--resume", action="store_true", help="go on behind the rows that are in the .json file")
    given = parser.parse_args(argv)
    if not given.interpret and not torch.cuda.is_available():
        print("this benchmark needs a CUDA device (or --tiny --interpret)", file=sys.stderr)
        return 2
    limit = float(os.environ.pop("GPU_BENCH_LIMIT", 0)) or (start or time.time()) + given.budget
    caches = tempfile.mkdtemp(prefix="pydynamo-bench-")
    for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "PYDYNAMO_CACHE_DIR"):
        os.environ[name] = str(Path(caches) / name.lower())
    bench = Bench(given.tiny, given.interpret, limit, given.out)
    if given.resume:
        bench.resume()
    timer = bench.watch()
    bench.copy_speed()
    warm_up(bench)
    for name, make, systems in bench.plan(given.only):
        if given.names is None or any(n in name for n in given.names):
            bench.run(name, make, systems)
    timer.cancel()
    bench.write()
    print(Path(f"{given.out}.md").read_text())
    return 0


if __name__ == "__main__":
    code = main(start=float(os.environ["GPU_BENCH_START"]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Inductor's workers are waited for at exit, for up to five minutes; they end with their pipes
