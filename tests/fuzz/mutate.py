"""Mutates real instruction lists, assembles them, and runs what the verifier accepted: nothing may crash or hang.

    python -m tests.fuzz.mutate --mutants 200000 --seed 1

The parent starts workers, each of which names the mutant it is at in a shared counter before it assembles and runs it. A
worker that dies or stands still is replaced; its mutant is run again alone and reported by number, and `--show NUMBER` replays
it. The last line reports mutants per second, how many were accepted, and how many crashed or hung; the exit status says whether
any did.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import gc
import mmap
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import types
from collections import Counter
from pathlib import Path
from typing import Any

from pydynamo.bytecode import (
    BytecodeError,
    Instruction,
    clean_and_assemble_instructions,
    cleaned_instructions,
    code_options,
    create_instruction,
    get_code_keys,
)

from . import samples

# Each run of a mutant is stopped after so many seconds; a worker that stands still for longer than the second is killed.
RUN_LIMIT, HANG_LIMIT = 0.25, 20.0
# Runs of each accepted mutant: enough for the interpreter to specialise it.
RUNS = 12
MEMORY_LIMIT = 3 << 30
# How a worker leaves when its mutant loops for ever but can be interrupted.
ENDLESS = 77
KEYS = get_code_keys()


class Subject:
    """A code object to mutate, and how to run what becomes of it."""

    def __init__(self, function: types.FunctionType, path: tuple[int, ...], code: types.CodeType) -> None:
        self.function, self.path, self.code = function, path, code

    def rebuilt(self, code: types.CodeType) -> types.CodeType:
        """The function's code with the subject, however deep, replaced."""
        codes = [self.function.__code__]
        for index in self.path:
            inner = codes[-1].co_consts[index]
            assert isinstance(inner, types.CodeType)
            codes.append(inner)
        for outer, index in zip(reversed(codes[:-1]), reversed(self.path), strict=True):
            consts = list(outer.co_consts)
            consts[index] = code
            code = outer.replace(co_consts=tuple(consts))
        return code


def subjects() -> tuple[dict[str, Any], list[Subject]]:
    """Every function of the samples and every code object inside of them."""
    scope, functions = samples.build()
    found: list[Subject] = []

    def walk(function: types.FunctionType, path: tuple[int, ...], code: types.CodeType) -> None:
        found.append(Subject(function, path, code))
        for index, const in enumerate(code.co_consts):
            if isinstance(const, types.CodeType):
                walk(function, (*path, index), const)

    for function in functions:
        if isinstance(function, types.FunctionType):
            walk(function, (), function.__code__)
    return scope, found


def legal_names() -> list[str]:
    """The opcodes that may be written, jumps apart."""
    import dis

    names = []
    for name in sorted(dis.opmap):
        try:
            create_instruction(name, arg=0)
        except (BytecodeError, ValueError, TypeError):
            try:
                create_instruction(name)
            except (BytecodeError, ValueError, TypeError):
                continue
        names.append(name)
    return names


NAMES = legal_names()


class Mutator:
    """Changes a list of instructions in place, at random."""

    def __init__(self, rng: random.Random, donors: list[Subject]) -> None:
        self.rng, self.donors = rng, donors
        self.moves = [
            self.delete,
            self.delete,
            self.duplicate,
            self.swap,
            self.move,
            self.operand,
            self.operand,
            self.operand,
            self.opcode,
            self.insert,
            self.insert,
            self.insert_neutral,
            self.insert_neutral,
            self.retarget,
            self.region,
            self.region,
            self.region_fields,
            self.splice,
            self.exchange_opcodes,
        ]

    def mutate(self, insts: list[Instruction]) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3, 5))):
            if len(insts) > 1:
                self.rng.choice(self.moves)(insts)

    def at(self, insts: list[Instruction]) -> int:
        return self.rng.randrange(len(insts))

    def delete(self, insts: list[Instruction]) -> None:
        del insts[self.at(insts)]

    def duplicate(self, insts: list[Instruction]) -> None:
        insts.insert(self.at(insts), copy.copy(insts[self.at(insts)]))

    def swap(self, insts: list[Instruction]) -> None:
        i = self.at(insts) - 1
        insts[i], insts[i + 1] = insts[i + 1], insts[i]

    def move(self, insts: list[Instruction]) -> None:
        start = self.at(insts)
        stop = min(len(insts), start + self.rng.randrange(1, 6))
        part = insts[start:stop]
        del insts[start:stop]
        where = self.rng.randrange(len(insts) + 1)
        insts[where:where] = part

    def number(self) -> int:
        return self.rng.choice((0, 0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 26, 33, 255, 256, self.rng.randrange(300)))

    def operand(self, insts: list[Instruction]) -> None:
        inst = insts[self.at(insts)]
        if inst.arg is not None:
            inst.arg = max(0, inst.arg + self.rng.choice((-2, -1, 1, 2))) if self.rng.random() < 0.6 else self.number()

    def opcode(self, insts: list[Instruction]) -> None:
        inst = insts[self.at(insts)]
        arg = inst.arg
        inst.opname = self.rng.choice(NAMES)
        inst.arg = arg if arg is not None else self.number()

    def exchange_opcodes(self, insts: list[Instruction]) -> None:
        """Another operation of the same family, which often passes for the first."""
        inst = insts[self.at(insts)]
        stem = inst.opname.split("_")[0]
        family = [name for name in NAMES if name.startswith(stem)]
        if family:
            arg = inst.arg
            inst.opname = self.rng.choice(family)
            inst.arg = arg if arg is not None else 0

    def made(self, name: str, insts: list[Instruction]) -> Instruction:
        inst = create_instruction("NOP")
        inst.opname = name
        inst.arg = self.number()
        inst.target = self.rng.choice(insts)
        inst.exn_tab_entry = self.rng.choice(insts).exn_tab_entry if self.rng.random() < 0.2 else None
        return inst

    def insert(self, insts: list[Instruction]) -> None:
        where = self.at(insts)
        inst = self.made(self.rng.choice(NAMES), insts)
        if self.rng.random() < 0.8:
            inst.exn_tab_entry = insts[where].exn_tab_entry
        insts.insert(where, inst)

    def insert_neutral(self, insts: list[Instruction]) -> None:
        """Something that leaves the stack as it was, or as deep as it was."""
        choices = [
            ["NOP"],
            ["COPY", "POP_TOP"],
            ["PUSH_NULL", "POP_TOP"],
            ["SWAP"],
            ["LOAD_FAST", "POP_TOP"],
            ["NOP"] * 300,
        ]
        choices += [
            ["LOAD_FAST", "STORE_FAST"],
            ["STORE_FAST", "LOAD_FAST"],
            ["LOAD_CONST", "SWAP", "POP_TOP"],
        ]
        choices += [
            ["LOAD_FAST_AND_CLEAR", "STORE_FAST"],
            ["DELETE_FAST"],
            ["MAKE_CELL"],
            ["GET_ITER"],
            ["RESUME"],
        ]
        where, entry = self.at(insts), insts[self.at(insts)].exn_tab_entry
        entry = insts[where].exn_tab_entry if self.rng.random() < 0.8 else entry
        arg = self.rng.randrange(6)
        for name in reversed(self.rng.choice(choices)):
            if name in NAMES:
                inst = self.made(name, insts)
                inst.arg = self.rng.randrange(1, 5) if name in ("COPY", "SWAP") else arg
                inst.exn_tab_entry = entry
                insts.insert(where, inst)

    def retarget(self, insts: list[Instruction]) -> None:
        jumps = [inst for inst in insts if inst.target is not None]
        if jumps:
            self.rng.choice(jumps).target = self.rng.choice(insts)

    def region(self, insts: list[Instruction]) -> None:
        entries = [inst.exn_tab_entry for inst in insts if inst.exn_tab_entry is not None]
        entry = self.rng.choice(entries) if entries and self.rng.random() < 0.7 else None
        start = self.at(insts)
        for inst in insts[start : start + self.rng.choice((1, 1, 2, 5, 20))]:
            inst.exn_tab_entry = entry

    def region_fields(self, insts: list[Instruction]) -> None:
        entries = [inst.exn_tab_entry for inst in insts if inst.exn_tab_entry is not None]
        if not entries:
            return
        entry = self.rng.choice(entries)
        what = self.rng.randrange(3)
        if what == 0:
            entry.target = self.rng.choice(insts)
        elif what == 1:
            entry.depth = max(0, entry.depth + self.rng.choice((-1, 1, 2)))
        else:
            entry.lasti = not entry.lasti

    def splice(self, insts: list[Instruction]) -> None:
        donor = cleaned_instructions(self.rng.choice(self.donors).code)
        start = self.rng.randrange(len(donor))
        part = donor[start : start + self.rng.randrange(1, 8)]
        inside = {id(inst) for inst in part}
        for inst in part:
            if inst.target is not None and id(inst.target) not in inside:
                inst.target = self.rng.choice(insts)
            inst.exn_tab_entry = None
        where = self.rng.randrange(len(insts) + 1)
        insts[where:where] = part


class Alarm:
    """Stops whatever runs after a while, again and again if it catches that, and in the end by leaving the process.

    Code that loops for ever and catches everything is legal. What matters is that it can be interrupted.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGALRM, self.ring)
        self.armed, self.rings = False, 0

    def ring(self, _: int, frame: types.FrameType | None) -> None:
        while frame is not None and frame.f_code is not attempt.__code__:
            frame = frame.f_back
        if self.armed and frame is not None:
            self.rings += 1
            if self.rings > 100:
                os._exit(ENDLESS)
            raise samples.Endless

    def start(self) -> None:
        self.rings = 0
        self.armed = True
        signal.setitimer(signal.ITIMER_REAL, RUN_LIMIT, 0.02)

    def stop(self) -> None:
        while True:
            try:
                self.armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                return
            except samples.Endless:  # it rang on the way in
                continue


def drive(value: object, rng: random.Random) -> None:
    """Uses up generators and coroutines by every way in."""
    if isinstance(value, types.AsyncGeneratorType):
        for _ in range(4):
            drive(value.__anext__(), rng)
        drive(value.aclose(), rng)
        return
    if not hasattr(value, "send") or not hasattr(value, "close"):
        repr(value)[:50]
        return
    sent: object = None
    for _ in range(8):
        try:
            what = rng.randrange(12)
            if what == 0:
                value.throw(ValueError("thrown"))
            elif what == 1:
                value.close()
                break
            else:
                value.send(sent)
                sent = rng.choice((None, 1, "s"))
        except (StopIteration, StopAsyncIteration):
            break
        except TypeError:
            sent = None


def attempt(function: types.FunctionType, args: tuple[Any, ...], rng: random.Random) -> None:
    """One run of a mutant. The alarm rings for nothing else."""
    drive(function(*args), rng)


def run(code: types.CodeType, subject: Subject, scope: dict[str, Any], rng: random.Random, alarm: Alarm) -> None:
    """Calls the mutant a few times. Whatever it raises is its own affair."""
    free = code.co_freevars
    closure = tuple(types.CellType(1) for _ in free) if free else None
    function = types.FunctionType(code, scope, "mutant", subject.function.__defaults__, closure)
    for i in range(RUNS):
        try:
            alarm.start()
            attempt(function, samples.ARGUMENTS[i % len(samples.ARGUMENTS)], rng)
        except BaseException:  # noqa: BLE001 - also Endless
            pass
    alarm.stop()


class Fuzzer:
    """Makes and runs mutants by number."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.scope, self.subjects = subjects()
        self.alarm = Alarm()
        self.kinds: Counter[str] = Counter()

    def mutant(self, number: int, report: bool = False) -> bool:
        """Makes and runs one; whether the verifier accepted it."""
        rng = random.Random(self.seed << 40 | number)
        subject = rng.choice(self.subjects)
        insts, options = cleaned_instructions(subject.code), code_options(subject.code)
        try:
            Mutator(rng, self.subjects).mutate(insts)
            _, code = clean_and_assemble_instructions(insts, KEYS, options)
        except (
            BytecodeError,
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            OverflowError,
            AttributeError,
        ) as error:
            self.kinds[type(error).__name__] += 1
            return False
        if report:
            import dis

            print(f"mutant {number} of {subject.code.co_qualname}")
            dis.dis(code, depth=0)
            sys.stdout.flush()
        run(subject.rebuilt(code), subject, dict(self.scope), rng, self.alarm)
        return True


def work(seed: int, start: int, stop: int, counter: str) -> None:
    """A worker: numbers from `start` on, the current one always in the counter file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(300)
    sys.unraisablehook = lambda *_: None
    faulthandler.enable(file=open(counter + ".fault", "w"))  # noqa: SIM115 - for as long as the process lives
    fuzzer = Fuzzer(seed)
    with open(counter, "r+b") as file, mmap.mmap(file.fileno(), 16) as shared:
        accepted = 0
        for number in range(start, stop):
            struct.pack_into("<QQ", shared, 0, number, accepted)
            accepted += fuzzer.mutant(number)
            if number % 500 == 0:
                gc.collect()
        struct.pack_into("<QQ", shared, 0, stop, accepted)
    print(dict(fuzzer.kinds), flush=True)
    os._exit(0)


class Worker:
    """A worker process as the parent sees it."""

    def __init__(self, seed: int, start: int, stop: int, path: Path) -> None:
        self.seed, self.stop, self.path = seed, stop, path
        self.accepted = self.endless = 0
        self.launch(start)

    def launch(self, start: int) -> None:
        self.path.write_bytes(struct.pack("<QQ", start, 0))
        self.seen, self.since = start, time.monotonic()
        command = [sys.executable, "-X", "dev=0", "-m", "tests.fuzz.mutate", "--work", str(self.path)]
        command += ["--seed", str(self.seed), "--range", f"{start}:{self.stop}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def position(self) -> tuple[int, int]:
        number, accepted = struct.unpack("<QQ", self.path.read_bytes()[:16])
        return number, accepted

    def poll(self) -> tuple[int, str] | None:
        """The mutant at which the worker came to grief and how, if it did; a new process goes on behind it."""
        number, accepted = self.position()
        status = self.process.poll()
        if number != self.seen:
            self.seen, self.since = number, time.monotonic()
        if status is None and time.monotonic() - self.since > HANG_LIMIT:
            self.process.kill()
            self.process.wait()
            status = -signal.SIGKILL
        if status is None or number >= self.stop:
            return None
        self.accepted += accepted
        self.launch(number + 1)
        if status == ENDLESS:
            self.endless += 1
            return None
        return number, "hang" if status == -signal.SIGKILL else f"status {status}"

    def done(self) -> bool:
        return self.process.poll() is not None and self.position()[0] >= self.stop


def again(seed: int, start: int, stop: int) -> int | None:
    """Runs some mutants in a process of their own; the signal that ended it."""
    path = Path(f"/tmp/pydynamo-fuzz-{os.getpid()}-again")
    path.write_bytes(bytes(16))
    command = [sys.executable, "-m", "tests.fuzz.mutate", "--work", str(path), "--seed", str(seed)]
    try:
        done = subprocess.run(
            [*command, "--range", f"{start}:{stop}"], timeout=HANG_LIMIT * 3, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return signal.SIGKILL
    return -done.returncode if done.returncode < 0 else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=2000, help="how many to make")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other mutants")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="disassemble and run one mutant in this process")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--range", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.show is not None:
        faulthandler.enable()
        print("accepted" if Fuzzer(args.seed).mutant(args.show, report=True) else "refused")
        return 0
    if args.work:
        start, stop = map(int, args.range.split(":"))
        work(args.seed, start, stop, args.work)
    share = -(-args.mutants // args.jobs)
    begun = time.monotonic()
    workers = [
        Worker(args.seed, i * share, (i + 1) * share, Path(f"/tmp/pydynamo-fuzz-{os.getpid()}-{i}"))
        for i in range(args.jobs)
    ]
    bad: list[tuple[int, str]] = []
    while not all(worker.done() for worker in workers) and time.monotonic() - begun < args.seconds and len(bad) < 200:
        time.sleep(0.1)
        for worker in workers:
            found = worker.poll()
            if found:
                number, how = found
                alone = again(args.seed, number, number + 1)
                print(f"mutant {number} (seed {args.seed}): {how}; alone: {alone or 'fine'}", flush=True)
                bad.append(found)
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.kill()
            worker.process.wait()
    made = sum(worker.position()[0] - i * share for i, worker in enumerate(workers))
    accepted = sum(worker.accepted + worker.position()[1] for worker in workers)
    seconds = time.monotonic() - begun
    version = ".".join(map(str, sys.version_info[:3]))
    print(
        f"{version}: {made} mutants in {seconds:.0f} s ({made / seconds:.0f}/s), {accepted} accepted and run, "
        f"{sum(worker.endless for worker in workers)} looped for ever but could be interrupted, {len(bad)} crashed or hung"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
