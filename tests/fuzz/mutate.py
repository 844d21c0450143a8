"""Mutates real code, assembles it, and runs what the verifier accepted: nothing may crash, hang or break a promise.

    python -m tests.fuzz.mutate --mutants 200000 --seed 1

Mutants have numbers. Most are edited instruction lists; others go by way of text, of the sweeps and native transformations,
begin with a damaged code object, or hold values that make no sense. The parent starts workers, each of which names the mutant
it is at in a shared counter before it makes and runs it. A worker that dies or stands still is replaced; its mutant is run
again alone, made as small as it goes, and printed as text. `--show NUMBER` prints and replays one, `--reduce NUMBER` makes it
smaller. The last line reports mutants per second, how many were accepted, and how many crashed, hung or broke a promise; the
exit status says whether any did.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .execute import ENDLESS
from .minimise import Reducer
from .worker import BROKEN, POSITION, Fuzzer, work

#: A worker hangs that used so many seconds of the processor on one mutant, or took so many by the clock.
HANG_LIMIT, CLOCK_LIMIT = 20.0, 120.0
#: More findings than this are not looked for.
MOST_FINDINGS = 200


class Worker:
    """A worker process as the parent sees it."""

    def __init__(self, seed: int, start: int, stop: int, path: Path, environment: dict[str, str]) -> None:
        self.seed, self.start, self.stop, self.path, self.environment = seed, start, stop, path, environment
        self.accepted = self.endless = 0
        self.launch(start)

    def launch(self, start: int) -> None:
        self.path.write_bytes(POSITION.pack(start, 0))
        command = [sys.executable, "-m", "tests.fuzz.mutate", "--work", str(self.path)]
        command += ["--seed", str(self.seed), "--range", f"{start}:{self.stop}"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment
        )
        self.progress(start)

    def progress(self, number: int) -> None:
        self.seen, self.since, self.used = number, time.monotonic(), self.processor_time()

    def processor_time(self) -> float:
        """Seconds of the processor that the worker used."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def position(self) -> tuple[int, int]:
        number, accepted = POSITION.unpack(self.path.read_bytes()[: POSITION.size])
        return number, accepted

    def stands_still(self) -> bool:
        return time.monotonic() - self.since > CLOCK_LIMIT or self.processor_time() - self.used > HANG_LIMIT

    def poll(self) -> tuple[int, str] | None:
        """The mutant at which the worker came to grief and how, if it did; a new process goes on behind it."""
        status = self.process.poll()
        number, accepted = self.position()
        if number != self.seen:
            self.progress(number)
        if status is None and self.stands_still():
            self.process.kill()
            self.process.wait()
            status = -signal.SIGKILL
        if status is None or number >= self.stop:
            return None
        self.accepted += accepted
        self.launch(number if status == 0 else number + 1)
        if status == ENDLESS:
            self.endless += 1
        if status in (0, ENDLESS):
            return None
        if status == BROKEN:
            return number, Path(f"{self.path}.broken").read_text().strip()
        return number, "hang" if status == -signal.SIGKILL else f"status {status}"

    def done(self) -> bool:
        return self.process.poll() is not None and self.position()[0] >= self.stop


def reduced(seed: int, number: int, environment: dict[str, str]) -> str:
    """A mutant run alone and made smaller, in a process of its own."""
    command = [sys.executable, "-m", "tests.fuzz.mutate", "--seed", str(seed), "--reduce", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stdout.strip() or f"the reducer ended with {done.returncode}: {done.stderr[-500:]}"


def show(seed: int, number: int) -> None:
    """Prints and runs one mutant in this process."""
    faulthandler.enable()
    fuzzer = Fuzzer(seed)
    case = fuzzer.kitchen.case(number)
    print(Reducer(fuzzer).describe(case), flush=True)
    dish = fuzzer.kitchen.cook(case)
    print(f"refused: {dish.refusal!r}" if dish.code is None else "accepted", flush=True)
    fuzzer.serve(case, dish)


def reduce(seed: int, number: int) -> int:
    """Makes one mutant smaller and prints it."""
    reducer = Reducer(Fuzzer(seed))
    how, case = reducer.reduce(number)
    print(f"alone: {how or 'fine'}")
    if how:
        print(reducer.describe(case))
    return 1 if how else 0


def fuzz(seed: int, first: int, mutants: int, jobs: int, seconds: float, debug_memory: bool) -> int:
    """Runs the workers and reports."""
    environment = dict(os.environ)
    if debug_memory:
        environment["PYTHONMALLOC"] = "debug"
    begun = time.monotonic()
    share = -(-mutants // jobs)
    findings = 0
    with tempfile.TemporaryDirectory(prefix="pydynamo-fuzz-") as folder:
        starts = [first + i * share for i in range(jobs)]
        workers = [Worker(seed, start, start + share, Path(folder, str(start)), environment) for start in starts]
        while not all(worker.done() for worker in workers):
            if time.monotonic() - begun > seconds or findings >= MOST_FINDINGS:
                break
            time.sleep(0.2)
            for worker in workers:
                found = worker.poll()
                if found:
                    number, how = found
                    findings += 1
                    print(f"mutant {number} (seed {seed}): {how}", flush=True)
                    print(reduced(seed, number, environment), flush=True)
        for worker in workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        made = sum(worker.position()[0] - worker.start for worker in workers)
        accepted = sum(worker.accepted + worker.position()[1] for worker in workers)
    took = time.monotonic() - begun
    version = ".".join(map(str, sys.version_info[:3]))
    print(
        f"{version}: {made} mutants in {took:.0f} s ({made / took:.0f}/s), {accepted} accepted and run, "
        f"{sum(worker.endless for worker in workers)} looped for ever but could be interrupted, "
        f"{findings} crashed, hung or broke a promise"
    )
    return 1 if findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=2000, help="how many to make")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other mutants")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument(
        "--debug-memory", action="store_true", help="let CPython fill and fence what it allocates: slower"
    )
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one mutant and run it in this process")
    parser.add_argument("--reduce", type=int, metavar="NUMBER", help="run one mutant and make it as small as it goes")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--range", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.show is not None:
        show(args.seed, args.show)
        return 0
    if args.reduce is not None:
        return reduce(args.seed, args.reduce)
    if args.work:
        start, stop = map(int, args.range.split(":"))
        work(args.seed, start, stop, args.work)
    return fuzz(args.seed, args.first, args.mutants, args.jobs, args.seconds, args.debug_memory)


if __name__ == "__main__":
    sys.exit(main())
