"""Parallel compilation of a graph's kernels in worker processes, with a progress bar for the long ones."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed

from pydynamo.lowering.binaries import Job

log = logging.getLogger("pydynamo.lowering")
FEW = 3  # kernels that are not worth the start of a process, where there are few cores
EARLY = 8  # workers that are started before there is anything to compile
PATIENCE = 2.0  # seconds after which the progress bar appears
_pool: Executor | None = None
_local = threading.local()


def workers() -> int:
    """Worker processes: $PYDYNAMO_COMPILE_WORKERS, else one for each core, at most sixteen."""
    given = os.environ.get("PYDYNAMO_COMPILE_WORKERS", "")
    return int(given) if given.isdigit() else min(16, _cores())


def _cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


class Worker:
    """A process that compiles; a plain subprocess, so that the user's main module is not imported again."""

    def __init__(self) -> None:
        env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
        env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        command = [sys.executable, "-m", "pydynamo.lowering.compile_worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        atexit.register(self.close)

    def compile(self, job: Job) -> str:
        """An error, or an empty string."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        try:
            pickle.dump(job, stdin)
            stdin.flush()
            return str(pickle.load(stdout))
        except (EOFError, OSError) as e:
            return f"a compile worker has died: {e}"

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):  # it may be gone already
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def _own_worker() -> Worker:
    """This thread's worker process."""
    worker = getattr(_local, "worker", None)
    if worker is None or worker.process.poll() is not None:
        worker = _local.worker = Worker()
    found: Worker = worker
    return found


def compile_elsewhere(job: Job) -> str:
    """Compile in this thread's own worker process."""
    return _own_worker().compile(job)


def pool() -> Executor:
    """Threads, one for each worker process, started on first use and kept."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(workers())
    return _pool


def start_early(executor: Callable[[], Executor] = pool) -> None:
    """Start workers while the graph is still being traced: their imports take longer than most kernels."""
    if workers() > FEW and _pool is None:
        for _ in range(min(EARLY, workers())):
            executor().submit(_own_worker)


def compile_all(jobs: Sequence[Job], executor: Callable[[], Executor] = pool) -> list[str]:
    """Compile every distinct job in parallel; returns what failed (to be raised by whoever needs that kernel)."""
    todo = list({repr(j): j for j in jobs}.values())
    few = FEW if workers() <= FEW else 0
    if len(todo) <= few or workers() < 2:
        return []
    started, failed = time.perf_counter(), []
    with _progress(len(todo)) as advance:
        for done in as_completed([executor().submit(compile_elsewhere, j) for j in todo]):
            if done.result():
                failed.append(done.result())
            advance()
    log.info("compiled %d kernels in %.1f s, %d failed", len(todo), time.perf_counter() - started, len(failed))
    return failed


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on the terminal, once compiling takes longer than a moment."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:  # a tree that is used without being installed
        yield lambda: None
        return

    bar = Progress(console=Console(file=sys.stderr), transient=True)
    task = bar.add_task("compiling Triton kernels", total=total)
    started, shown = time.perf_counter(), False

    def advance() -> None:
        nonlocal shown
        bar.advance(task)
        if not shown and time.perf_counter() - started > PATIENCE:
            bar.start()
            shown = True

    try:
        yield advance
    finally:
        if shown:
            bar.stop()
