"""A worker process that judges programs, and the client that feeds it and starts another when it dies.

Programs come and verdicts go over pipes of their own, so a program may print, close its standard streams or
crash the interpreter without harm to the fuzzer.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

#: what torch and the compiler set up once is no program's time
_WARM_UP = """
import torch
def f(x): (x * 2).sum().backward()
def make(): return f
def calls(): return [((torch.ones(1, requires_grad=True),), {})]
"""
RESTART_EVERY = 400  # programs: bounds what a leak of the system under test can take


def serve(read_fd: int, write_fd: int) -> None:
    """Loop of the worker: one JSON line in, one out."""
    import logging

    import torch

    from tests.fuzz_frontend.execute import default_compiler, judge, load_compiler

    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    compiler, reset = load_compiler(default_compiler())
    judge(_WARM_UP, compiler, reset, seconds=600.0)
    with os.fdopen(read_fd) as requests, os.fdopen(write_fd, "w") as answers:
        for line in requests:
            request = json.loads(line)
            start = time.perf_counter()
            verdict = judge(request["source"], compiler, reset, seconds=request["seconds"], **request["options"])
            verdict.seconds = time.perf_counter() - start
            answers.write(json.dumps(dataclasses.asdict(verdict)) + "\n")
            answers.flush()


class Client:
    """Feeds programs to one worker at a time."""

    def __init__(self, *, seconds: float = 10.0, **options: Any) -> None:
        self.seconds, self.options = seconds, options
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0
        self._answered = False

    def judge(self, source: str) -> Any:
        """The verdict for one program; a worker that dies or hangs gives `crash` or `timeout`."""
        from tests.fuzz_frontend.execute import Verdict

        if self._process is None or self._served >= RESTART_EVERY:
            self._start()
        self._served += 1
        try:
            request = {"source": source, "seconds": self.seconds, "options": self.options}
            os.write(self._to, json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            return self._buried()
        buffer = b""
        # the worker itself stops what takes too much processor time; this is for one that waits or stands still
        limit = 120.0 + 20 * self.seconds
        deadline = time.monotonic() + limit
        while not buffer.endswith(b"\n"):
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.close()
                return Verdict("timeout", compiled="the worker did not answer and was killed")
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                return self._buried()
            buffer += chunk
        self._answered = True
        return Verdict(**json.loads(buffer))

    def _start(self) -> None:
        self.close()
        from_parent, self._to = os.pipe()
        self._from, to_parent = os.pipe()
        environment = {"OMP_NUM_THREADS": "1", "PYDYNAMO_STRICT": "1", **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz_frontend.worker", str(from_parent), str(to_parent)],
            pass_fds=(from_parent, to_parent),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if os.environ.get("FUZZ_STDERR") else subprocess.DEVNULL,
            env=environment,
        )
        os.close(from_parent)
        os.close(to_parent)
        self._served = 0

    def _buried(self) -> Any:
        from tests.fuzz_frontend.execute import Verdict

        assert self._process is not None
        code = self._process.wait()
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        self.close()
        if not self._answered and code > 0:
            raise SystemExit(f"the worker ends before its first answer ({name}); FUZZ_STDERR=1 shows why")
        return Verdict("crash", compiled=f"the process ended with {name}")

    def close(self) -> None:
        """Ends the worker."""
        if self._process is None:
            return
        for fd in (self._to, self._from):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._process.kill()
        self._process.wait()
        self._process = None


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
