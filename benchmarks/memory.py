"""Does compiling again and again grow? Thousands of recompilations and resets, with what the process holds as they go.

    python benchmarks/memory.py [--rounds N] [--only NAME] [--json FILE]

Each case compiles N times (10,000 by default) and prints, at fifths of the way, the memory of the process and the number of
objects that the collector knows, after a collection. The first fifth fills tables that stay as they are (torch's and
Python's own among them), so that growth is what the other four fifths add, in bytes for each compilation.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from rich.console import Console

import pydynamo

Row = dict[str, Any]
#: one step of a case compiles so many times
Step = tuple[Callable[[int], None], int]


def new_functions() -> Step:
    """A new function object with the same code, each time."""
    x = torch.zeros(2)

    def step(number: int) -> None:
        pydynamo.compile(lambda x: x * 2 + number, backend="eager")(x)

    return step, 1


def new_code() -> Step:
    """A new code object, each time."""
    x = torch.zeros(2)

    def step(number: int) -> None:
        scope: dict[str, Any] = {}
        exec(f"def f(x): return x * 2 + {number}", scope)
        pydynamo.compile(scope["f"], backend="eager")(x)

    return step, 1


def failing_guards() -> Step:
    """Guards that fail until the limit is reached, then a reset."""
    x = torch.zeros(2)
    compiled = pydynamo.compile(lambda x, n: x * 2 + n, backend="eager", dynamic=False)

    def step(number: int) -> None:
        for offset in range(8):
            compiled(x, number * 8 + offset)
        pydynamo.reset()

    return step, 8


def changing_shapes() -> Step:
    """A size that becomes a symbol at the second shape, then a reset."""
    compiled = pydynamo.compile(lambda x: (x * 2 + x.shape[0]).sum(), backend="eager")

    def step(number: int) -> None:
        for size in (2 + number % 50, 3 + number % 50):
            compiled(torch.zeros(size))
        pydynamo.reset()

    return step, 2


def graph_breaks() -> Step:
    """A function in three pieces, then a reset."""

    def f(x: Any, n: int) -> Any:
        y = x + n
        pydynamo.graph_break()
        try:
            y = y * 2
            pydynamo.graph_break()
        finally:
            y = y + 1
        return y

    compiled = pydynamo.compile(f, backend="eager", dynamic=False)
    x = torch.zeros(2)

    def step(number: int) -> None:
        compiled(x, number)
        pydynamo.reset()

    return step, 3


def models() -> Step:
    """A new model, compiled and deleted."""
    x = torch.zeros(1, 2)

    def step(number: int) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        seen = weakref.ref(model)
        pydynamo.compile(model, backend="eager")(x)
        del model
        if number % 256 == 0:
            gc.collect()
            assert seen() is None, "a deleted model is still there"

    return step, 1


def one_forward_for_many_models() -> Step:
    """One compiled forward, called on model after model: each root has a history of its own."""

    class Net(torch.nn.Module):
        def __init__(self, scale: float) -> None:
            super().__init__()
            self.scale = scale

        @pydynamo.compile(backend="eager", dynamic=False)
        def forward(self, x: Any) -> Any:
            return x * self.scale

    x = torch.zeros(2)

    def step(number: int) -> None:
        if number % 200 == 0:
            pydynamo.reset()
        Net(float(number))(x)

    return step, 1


def training() -> Step:
    """A training step through AOTAutograd, then a reset (torch's part weighs most)."""
    weight = torch.ones(2, requires_grad=True)
    compiled = pydynamo.compile(lambda x, n: (x * weight + n).sum(), backend="aot_eager", dynamic=False)
    x = torch.ones(2)

    def step(number: int) -> None:
        compiled(x, number).backward()
        weight.grad = None
        pydynamo.reset()

    return step, 1


CASES: dict[str, Callable[[], Step]] = {
    made.__name__: made
    for made in (
        new_functions,
        new_code,
        failing_guards,
        changing_shapes,
        graph_breaks,
        models,
        one_forward_for_many_models,
        training,
    )
}


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure(name: str, total: int) -> Iterator[Row]:
    """What is held after each fifth of so many compilations."""
    step, weight = CASES[name]()
    steps = max(total // weight // 5, 1)
    for fifth in range(5):
        for number in range(fifth * steps, (fifth + 1) * steps):
            step(number)
            if number % 64 == 63:
                gc.collect()
        gc.collect()
        yield {"compilations": (fifth + 1) * steps * weight, "bytes": resident(), "objects": len(gc.get_objects())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10_000, help="compilations of each case")
    parser.add_argument("--only", choices=CASES, action="append", help="this case, again for several")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    torch.set_num_threads(1)
    console.print("held after each fifth of the compilations: MB (thousands of objects)")
    figures: dict[str, list[Row]] = {}
    for name in options.only or CASES:
        rows = figures[name] = list(measure(name, options.rounds // 20 if name == "training" else options.rounds))
        count = rows[-1]["compilations"] - rows[0]["compilations"]
        grown = [(rows[-1][key] - rows[0][key]) / count for key in ("bytes", "objects")]
        held = "  ".join(f"{row['bytes'] / 1e6:.1f} ({row['objects'] / 1e3:.0f})" for row in rows)
        console.print(
            f"{name}, {rows[-1]['compilations']}: {held}; for each {grown[0]:.0f} bytes, {grown[1]:.2f} objects"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
