"""Makes a mutant that crashes or hangs smaller: leaves out changes and instructions while it still does so.

Each trial runs in a forked process. Knows nothing of what a trial does: it asks whether a smaller case still fails.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydynamo import bytecode

from .routes import Broken, Case
from .worker import BROKEN, Fuzzer, restrict

T = TypeVar("T")
#: Seconds after which a trial hangs, and that all trials together may take.
TRIAL_LIMIT, TOTAL_LIMIT = 4.0, 300.0
#: How a trial leaves with an exception that is no finding of the fuzzer's.
ESCAPED = 1


def smallest(items: Sequence[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Items without those that the failure does not need, found by leaving out ever smaller pieces."""
    kept = list(items)
    size = max(1, len(kept) // 2)
    while kept:
        shrunk = False
        at = 0
        while at < len(kept):
            trial = kept[:at] + kept[at + size :]
            if fails(trial):
                kept, shrunk = trial, True
            else:
                at += size
        if size == 1 and not shrunk:
            break
        size = max(1, size // 2)
    return kept


def minimise(case: Case, fails: Callable[[Case], bool], length: Callable[[Case], int]) -> Case:
    """The smallest case found that fails. `length` is the number of instructions in a case's list."""
    for part in ("spoilers", "moves", "harms"):
        kept = smallest(getattr(case, part), lambda some, part=part: fails(replace(case, **{part: tuple(some)})))
        case = replace(case, **{part: tuple(kept)})
    count = length(case)
    if count:
        every = frozenset(range(count))
        left = smallest(range(count), lambda some: fails(replace(case, dropped=every - frozenset(some))))
        case = replace(case, dropped=every - frozenset(left))
    return case


def how_it_ends(action: Callable[[], object], limit: float = TRIAL_LIMIT) -> str | None:
    """How an action in a process of its own comes to grief, if it does: a signal, "hang" or "broken"."""
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            faulthandler.disable()
            restrict()
            action()
        except Broken:
            os._exit(BROKEN)
        finally:
            os._exit(ESCAPED if sys.exc_info()[0] else 0)
    end = time.monotonic() + limit
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "hang"
        time.sleep(0.002)
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return {BROKEN: "broken", ESCAPED: "an exception that nobody expected"}.get(os.WEXITSTATUS(status))


class Reducer:
    """Minimises the mutants of one seed."""

    def __init__(self, fuzzer: Fuzzer) -> None:
        self.fuzzer = fuzzer

    def play(self, case: Case) -> None:
        self.fuzzer.serve(case, self.fuzzer.kitchen.cook(case))

    def reduce(self, number: int) -> tuple[str | None, Case]:
        """How a mutant ends, and the smallest case that ends so."""
        whole = self.fuzzer.kitchen.case(number)
        how = how_it_ends(lambda: self.play(whole))
        if how is None:
            return None, whole
        end = time.monotonic() + TOTAL_LIMIT

        def fails(case: Case) -> bool:
            return time.monotonic() < end and how_it_ends(lambda: self.play(case)) == how

        def length(case: Case) -> int:
            return len(self.listed(case) or ())

        return how, minimise(whole, fails, length)

    def listed(self, case: Case) -> list[Any] | None:
        """The list of a case before it was assembled."""
        try:
            return self.fuzzer.kitchen.cook(case).insts
        except Broken:
            return None

    def describe(self, case: Case) -> str:
        """A case as text: where it comes from, what was done, the list or the damaged attributes."""
        code = self.fuzzer.subjects[case.subject].code
        lines = [f"# {code.co_qualname}, by way of {case.route} (luck {case.seed})"]
        for part in ("harms", "moves", "spoilers"):
            if getattr(case, part):
                lines.append(f"# {part}: " + ", ".join(f"{name} {seed}" for name, seed in getattr(case, part)))
        try:
            dish = self.fuzzer.kitchen.cook(case)
        except Broken as error:
            return "\n".join([*lines, f"# {error}"])
        if dish.damaged is not None:
            for name in dir(code):
                if name.startswith("co_") and name not in ("co_lines", "co_positions", "co_branches", "co_lnotab"):
                    old, new = getattr(code, name), getattr(dish.damaged, name)
                    if old != new:
                        lines.append(f"# {name}: {old!r}\n#     now {new!r}")
        insts = dish.insts
        if insts is None and dish.code is not None:
            insts = bytecode.cleaned_instructions(dish.code)
        if insts is not None:
            try:
                lines.append(bytecode.format(insts).rstrip())
            except Exception as error:
                lines.append(f"# has no text: {error!r}")
        return "\n".join(lines)
