"""The frontend's speed on this machine, next to torch.compile's in the same process (backend "eager" for both).

    python benchmarks/frontend.py [--json FILE]

Prints what one warm call costs over the bare call of the captured graph, what a compilation costs in a fresh process and in
an old one, and what importing costs. Times are the best of many short runs, so that other work on the machine disturbs
little; only ratios mean anything.
Exits with 0 whatever was reached: this measures, it does not test.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from rich.console import Console
from rich.table import Table

import pydynamo

Row = dict[str, Any]
#: share of torch's overhead that is aimed at, by row
GOALS = {"x*2+1": 0.2, "10 tensors": 0.2, "50 Linear": 1.0, "64 floats": 1.0}


class Scale(torch.nn.Module):
    """A layer that holds a Python float."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


class Stack(torch.nn.Module):
    """Layers one after the other."""

    def __init__(self, layers: list[torch.nn.Module]) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def two_operators(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def nothing(x: torch.Tensor) -> torch.Tensor:
    return x


def ten_tensors(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any) -> Any:
    return a + b + c + d + e + f + g + h + i + j


def three_operators(x: torch.Tensor) -> torch.Tensor:
    return (x * 2 + 1).relu()


def warm_cases() -> list[tuple[str, Callable[..., Any], tuple[Any, ...], int]]:
    """Name, function or module, arguments, calls in one timed run."""
    x = torch.randn(4)
    return [
        ("x*2+1", two_operators, (x,), 100),
        ("nothing", nothing, (x,), 1000),
        ("10 tensors", ten_tensors, tuple(torch.randn(4) for _ in range(10)), 100),
        ("50 Linear", Stack([torch.nn.Linear(4, 4) for _ in range(50)]), (x,), 10),
        ("64 floats", Stack([Scale(1 + i / 64) for i in range(64)]), (x,), 10),
    ]


def best(calls: list[tuple[Callable[..., Any], tuple[Any, ...]]], count: int, runs: int = 100) -> list[float]:
    """Microseconds of one call of each, the runs of all taken in turn."""
    found = [float("inf")] * len(calls)
    clock = time.perf_counter
    repeat = range(count)
    for run in range(runs + 2):
        for index, (function, args) in enumerate(calls):
            start = clock()
            for _ in repeat:
                function(*args)
            spent = clock() - start
            if run >= 2:
                found[index] = min(found[index], spent)
    return [spent / count * 1e6 for spent in found]


def measure_warm(name: str, function: Callable[..., Any], args: tuple[Any, ...], count: int) -> Row:
    """One warm call: eager, the bare graph, pydynamo and torch."""
    graphs: list[Callable[..., Any]] = []

    def backend(module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        graphs.append(module.forward)
        return module.forward

    ours = pydynamo.compile(function, backend=backend, fullgraph=True)
    ours(*args)
    parameters = tuple(function.parameters()) if isinstance(function, torch.nn.Module) else ()
    bare = (graphs[0], (*args, *parameters)) if graphs else (nothing, args)
    theirs = torch.compile(function, backend=backend, fullgraph=True)
    theirs(*args)
    eager, graph, mine, other = best([(function, args), bare, (ours, args), (theirs, args)], count)
    return {
        "name": name,
        "eager": eager,
        "graph": graph,
        "pydynamo": mine,
        "torch": other,
        "pydynamo_over": mine - graph,
        "torch_over": other - graph,
        "share": (mine - graph) / (other - graph),
        "goal": GOALS.get(name),
    }


def guard_cost(layers: int = 64) -> float:
    """Microseconds of guards for each layer that holds a Python float."""
    from pydynamo.frontend.wrapper import CompiledFunction

    x = torch.randn(4)

    def compiled(count: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        module = Stack([Scale(1 + i / count) for i in range(count)])
        run = pydynamo.compile(Stack.forward, backend="eager", fullgraph=True)
        run(module, x)
        assert isinstance(run, CompiledFunction)
        return run.lookup, ((module, x),)

    few, many = best([compiled(1), compiled(1 + layers)], 20)
    return (many - few) / layers


def compile_times(make: Callable[[Callable[..., Any]], Callable[..., Any]], forget: Callable[[], Any]) -> Row:
    """Milliseconds of compiling three operators again and again, in a process that has compiled before."""
    x = torch.randn(4)
    times = []
    for _ in range(15):
        forget()
        run = make(three_operators)
        start = time.perf_counter()
        run(x)
        times.append((time.perf_counter() - start) * 1e3)
    return {"best": min(times[1:]), "median": statistics.median(times[1:])}


_FIRST = """
import sys, time, torch
x = torch.randn(4)
def f(x): return (x * 2 + 1).relu()
def g(x): return (x * 3 - 1).relu()
clock = time.process_time
start = clock()
import {module}
f, g = ({module}.compile(h, backend="eager") for h in (f, g))
loaded = clock()
f(x)
first = clock()
g(x)
second = clock()
print(loaded - start, first - loaded, second - first, "torch._dynamo" in sys.modules)
"""


def first_compile(module: str, runs: int = 5) -> Row:
    """Milliseconds of processor time in a fresh process, the best of a few: of loading the compiler, which decorating
    does, of the first compilation, and of the second."""
    found = []
    for _ in range(runs):
        out = subprocess.run(
            [sys.executable, "-c", _FIRST.format(module=module)], capture_output=True, text=True, check=True
        ).stdout.split()
        found.append(out)
    best = {name: min(float(out[i]) for out in found) * 1e3 for i, name in enumerate(("load", "first", "second"))}
    return {**best, "imports_dynamo": found[0][3] == "True"}


def import_time(runs: int = 15) -> float:
    """Milliseconds that ``import pydynamo`` takes in a fresh process."""
    statement = "import time; t = time.perf_counter(); import pydynamo; print(time.perf_counter() - t)"

    def once() -> float:
        out = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
        return float(out.stdout) * 1e3

    return min(once() for _ in range(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    torch.set_num_threads(1)

    rows = []
    with torch.no_grad():
        for case in warm_cases():
            rows.append(measure_warm(*case))
    table = Table(title="one warm call, µs (over: more than the bare graph)")
    for heading in ("", "eager", "graph", "pydynamo", "torch", "pydynamo over", "torch over", "share", "goal"):
        table.add_column(heading, justify="left" if not heading else "right")
    for row in rows:
        goal = "≤ 0.5 µs" if row["name"] == "nothing" else f"≤ {row['goal']:.2f}" if row["goal"] else ""
        numbers = (
            f"{row[key]:.2f}" for key in ("eager", "graph", "pydynamo", "torch", "pydynamo_over", "torch_over", "share")
        )
        table.add_row(row["name"], *numbers, goal)
    console.print(table)

    with torch.no_grad():
        layer = guard_cost()
        again = compile_times(lambda f: pydynamo.compile(f, backend="eager"), pydynamo.reset)
        torch_again = compile_times(lambda f: torch.compile(f, backend="eager"), torch._dynamo.reset)
    first, torch_first = first_compile("pydynamo"), first_compile("torch")
    imported = import_time()
    console.print(f"guards of a layer with a Python float: {layer:.3f} µs (goal ≤ 0.2)")
    table = Table(title="compiling three operators, ms of processor time (again: of time)")
    for heading in ("", "decorating", "first", "second", "again"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, fresh, warm in (("pydynamo", first, again), ("torch", torch_first, torch_again)):
        table.add_row(name, *(f"{n:.1f}" for n in (fresh["load"], fresh["first"], fresh["second"], warm["best"])))
    console.print(table)
    console.print(f"torch._dynamo imported by compiling: {first['imports_dynamo']}")
    console.print(f"import pydynamo: {imported:.1f} ms (goal ≤ 30)")
    if options.json:
        figures = {
            "warm": rows,
            "guard_per_layer_us": layer,
            "compile_ms": {"pydynamo": {**again, **first}, "torch": {**torch_again, **torch_first}},
            "import_ms": imported,
        }
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
