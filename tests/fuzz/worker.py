"""A worker process: makes and runs mutants by number, and says in a shared file which one it is at.

Knows nothing of the parent but the file.
"""

from __future__ import annotations

import faulthandler
import gc
import mmap
import os
import random
import resource
import struct
import sys
import types
from pathlib import Path

from .execute import Alarm, look, run
from .routes import Broken, Case, Dish, Kitchen
from .subjects import subjects

MEMORY_LIMIT = 2 << 30
#: How a worker leaves when a promise was broken; the file beside the counter says how.
BROKEN = 78
#: A worker goes on with fresh globals after so many mutants, and makes room for a fresh process after so many.
FRESH_GLOBALS, LIFETIME = 1000, 20_000
#: The shared file: the number that the worker is at, and how many it accepted.
POSITION = struct.Struct("<QQ")


class Fuzzer:
    """Makes and runs mutants by number."""

    def __init__(self, seed: int) -> None:
        self.scope, self.subjects = subjects()
        self.kitchen = Kitchen(seed, self.subjects)
        self.alarm = Alarm()
        self.rng = random.Random()

    def mutant(self, number: int) -> bool:
        """Makes and runs one; whether the verifier accepted it."""
        case = self.kitchen.case(number)
        return self.serve(case, self.kitchen.cook(case))

    def serve(self, case: Case, dish: Dish) -> bool:
        """Runs what was accepted."""
        if dish.code is None:
            return False
        self.rng.seed(case.seed)
        look(dish.code)
        run(self.whole(case, dish.code), self.subjects[case.subject], dict(self.scope), self.rng, self.alarm)
        return True

    def whole(self, case: Case, code: types.CodeType) -> types.CodeType:
        """What to run: the function around the mutant, if that can make closures of it."""
        subject = self.subjects[case.subject]
        return subject.rebuilt(code) if len(code.co_freevars) == len(subject.code.co_freevars) else code

    def refresh(self) -> None:
        """New globals, as mutants write to the classes among them."""
        self.scope = subjects()[0]


def restrict() -> None:
    """Keeps the process from doing harm."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(300)
    sys.unraisablehook = lambda _: None


def work(seed: int, start: int, stop: int, counter: Path) -> None:
    """Mutants from `start` on, the current one always in the counter file, until `stop` or the end of a lifetime."""
    restrict()
    faulthandler.enable(file=open(f"{counter}.fault", "w"))  # noqa: SIM115 - for as long as the process lives
    fuzzer = Fuzzer(seed)
    with open(counter, "r+b") as file, mmap.mmap(file.fileno(), POSITION.size) as shared:
        accepted = 0
        end = min(stop, start + LIFETIME)
        for number in range(start, end):
            POSITION.pack_into(shared, 0, number, accepted)
            try:
                accepted += fuzzer.mutant(number)
            except Broken as error:
                Path(f"{counter}.broken").write_text(f"broken: {error}")
                os._exit(BROKEN)
            if number % FRESH_GLOBALS == 0:
                fuzzer.refresh()
                gc.collect()
        POSITION.pack_into(shared, 0, end, accepted)
    os._exit(0)
