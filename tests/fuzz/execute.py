"""Runs mutants: calls them, uses up the generators that they give, and stops those that do not end.

Knows nothing of how a mutant came about.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import types
from collections.abc import Callable
from typing import Any

from . import samples
from .subjects import Subject

#: Seconds of the processor's time that a run may take, and between reminders to one that caught the first.
RUN_LIMIT, REMINDER = 0.03, 0.01
#: Reminders to one run, after which the process is left.
PATIENCE = 60
#: Runs of each accepted mutant: enough for the interpreter to specialise it. Those that do not end get fewer.
RUNS, ENDLESS_RUNS = 12, 2
#: The file that mutants say they are from.
MUTANTS = "samples"
#: How a worker leaves when its mutant loops for ever but can be interrupted.
ENDLESS = 77


class Alarm:
    """Stops whatever runs after a while, again and again if it catches that, and in the end by leaving the process.

    Code that loops for ever and catches everything is legal. What matters is that it can be interrupted.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGPROF, self.ring)
        signal.signal(signal.SIGUSR1, self.tripped)
        self.armed, self.rings = False, 0

    def ring(self, _: int, frame: types.FrameType | None) -> None:
        # What a run leaves behind may die when it is over, and a generator runs once more to be closed.
        while frame is not None and frame.f_code is not attempt.__code__ and frame.f_code.co_filename != MUTANTS:
            if frame.f_code is tracer.__code__:
                # What a tracer raises comes up at instructions that cannot raise. The mutant goes on alone until the next ring.
                sys.settrace(None)
                return
            frame = frame.f_back
        if self.armed and frame is not None:
            self.rings += 1
            if self.rings > PATIENCE:
                os._exit(ENDLESS)
            raise samples.Endless

    def tripped(self, _: int, frame: types.FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename == MUTANTS:
            raise samples.Rung

    def start(self) -> None:
        self.rings = 0
        self.armed = True
        signal.setitimer(signal.ITIMER_PROF, RUN_LIMIT, REMINDER)

    def stop(self) -> None:
        while True:
            try:
                self.armed = False
                signal.setitimer(signal.ITIMER_PROF, 0)
                return
            except samples.Endless:  # it rang on the way in
                continue


def drive(value: object, rng: random.Random) -> None:
    """Uses up generators and coroutines by every way in, and asks them what they wait for."""
    if isinstance(value, types.AsyncGeneratorType):
        for _ in range(4):
            drive(value.__anext__(), rng)
            repr(value.ag_await)
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
            repr(getattr(value, "gi_yieldfrom", None) or getattr(value, "cr_await", None))
        except (StopIteration, StopAsyncIteration):
            break
        except TypeError:
            sent = None


def attempt(function: types.FunctionType, args: tuple[Any, ...], rng: random.Random) -> None:
    """One run of a mutant. The alarm rings for nothing else."""
    drive(function(*args), rng)


def tracer(frame: types.FrameType, event: str, arg: object) -> Any:
    """Follows each instruction and looks at the frame."""
    if frame.f_code.co_filename != MUTANTS:
        return None
    frame.f_trace_opcodes = True
    samples.look_at(frame)
    return tracer


def arguments(code: types.CodeType, i: int) -> tuple[Any, ...]:
    """What the i-th run is called with."""
    args = samples.ARGUMENTS[i % len(samples.ARGUMENTS)]
    if code.co_argcount == 2 or code.co_flags & 4:
        return args
    return (*args, *args, *args)[: code.co_argcount]


def run(code: types.CodeType, subject: Subject, scope: dict[str, Any], rng: random.Random, alarm: Alarm) -> None:
    """Calls the mutant a few times. Whatever it raises is its own affair."""
    free = code.co_freevars
    closure = tuple(types.CellType(1) for _ in free) if free else None
    function = types.FunctionType(code, scope, "mutant", subject.function.__defaults__, closure)
    traced = rng.random() < 0.1
    endless = 0
    for i in range(RUNS):
        follow: Callable[..., Any] | None = tracer if traced and i >= RUNS // 2 else None
        try:
            alarm.start()
            if follow:
                sys.settrace(follow)
            attempt(function, arguments(code, i), rng)
        except BaseException:  # noqa: BLE001 - its own affair
            endless += alarm.rings > 0
        if follow:
            alarm.stop()
            sys.settrace(None)
        if endless >= ENDLESS_RUNS:
            break
    alarm.stop()


def look(code: types.CodeType) -> None:
    """Reads what tools read of a code object."""
    list(code.co_positions())
    list(code.co_lines())
    with contextlib.suppress(TypeError, ValueError):  # constants may refuse it
        hash(code)
