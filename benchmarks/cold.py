"""What `roundtrip` of a code object costs that nobody looked at lately, and why: `python benchmarks/cold.py`.

Real programs and the tables of `pydynamo bench` meet each code object once. So its memory is not in the processor's caches,
and the branches that its instructions lead through come in an order that the processor has not learned. Both can be told
apart: `code.replace()` touches the same memory and leads through other branches; the same call once more has both behind it.
"""

from __future__ import annotations

import gc
import statistics
import time
import types
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from pydynamo import bytecode
from pydynamo.cli import measure

PASSES = 7


def replace(code: types.CodeType) -> object:
    return code.replace()


def nothing(code: types.CodeType) -> None:
    """What calling and looking at the clock cost alone."""


# Each is timed as the last of its calls, which follow each other with one code object before the next one's turn.
SITUATIONS: dict[str, tuple[Callable[[types.CodeType], object], ...]] = {
    "roundtrip, not looked at lately": (bytecode.roundtrip,),
    "roundtrip, its memory touched by code.replace()": (replace, bytecode.roundtrip),
    "roundtrip, once more": (bytecode.roundtrip, bytecode.roundtrip),
    "code.replace(), not looked at lately": (replace,),
    "code.replace(), once more": (replace, replace),
    "a call that does nothing": (nothing,),
}


def median(calls: tuple[Callable[[types.CodeType], object], ...], codes: list[types.CodeType]) -> float:
    """The median over code objects of the shortest time of the last call, in seconds."""
    *before, last = calls
    best = [float("inf")] * len(codes)
    for _ in range(PASSES):
        gc.collect()
        gc.disable()
        for index, code in enumerate(codes):
            for call in before:
                call(code)
            start = time.perf_counter()
            last(code)
            best[index] = min(best[index], time.perf_counter() - start)
        gc.enable()
    return statistics.median(best)


def main() -> None:
    measure.contenders()  # as in `pydynamo bench`: torch is there, and takes its share of the caches
    codes = measure.sample().codes
    table = Table(title=f"medians over {len(codes):,} code objects")
    table.add_column("")
    table.add_column("ns", justify="right")
    for name, calls in SITUATIONS.items():
        table.add_row(name, f"{1e9 * median(calls, codes):,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
