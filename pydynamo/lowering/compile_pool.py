"""Parallel compilation of a graph's kernels in worker processes, with a progress bar for the long ones."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed

from pydynamo.lowering.compile_worker import Job, compile_job

log = logging.getLogger("pydynamo.lowering")
FEW = 3  # kernels that are not worth the start of a process
PATIENCE = 2.0  # seconds after which the progress bar appears
_pool: Executor | None = None


def workers() -> int:
    """Worker processes: $PYDYNAMO_COMPILE_WORKERS, else one for each core, at most sixteen."""
    given = os.environ.get("PYDYNAMO_COMPILE_WORKERS", "")
    return int(given) if given.isdigit() else min(16, os.cpu_count() or 1)


def pool() -> Executor:
    """The process pool, started on first use and kept."""
    global _pool
    if _pool is None:
        _pool = ProcessPoolExecutor(workers(), mp_context=multiprocessing.get_context("spawn"))
    return _pool


def compile_all(jobs: Sequence[Job], executor: Callable[[], Executor] = pool) -> list[str]:
    """Compile every distinct job in parallel; returns what failed (to be raised by whoever needs that kernel)."""
    todo = list({repr(j): j for j in jobs}.values())
    if len(todo) <= FEW or workers() < 2:
        return []
    started, failed = time.perf_counter(), []
    with _progress(len(todo)) as advance:
        for done in as_completed([executor().submit(compile_job, j) for j in todo]):
            if done.result():
                failed.append(done.result())
            advance()
    log.info(
        "compiled %d kernels in %.1f s, %d failed", len(todo), time.perf_counter() - started, len(failed)
    )
    return failed


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on the terminal, once compiling takes longer than a moment."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
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
