"""The assembler's speed on this machine and interpreter: against others, by size, and where others are quadratic.

    python benchmarks/assembler.py [--quick] [--json FILE]

Prints tables (the standard library's code objects; cost by size; the hard spots; peak memory) and the goals with what was
reached.
Times are the best of a few runs; the first table's are medians over code objects. Exits with 0 whatever was reached: this
measures, it does not test.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import platform
import resource
import subprocess
import sys
import time
import types
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from pydynamo import bytecode
from pydynamo.cli import bench, measure, terminal

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
Instructions = list[Any]
Edit = Callable[[Instructions, Any], None]


def straight_line(instructions: int) -> types.CodeType:
    """A function of about so many instructions, a new line every few."""
    pattern = "    a = b + a * c\n"
    per_line = _count("def f(a, b, c):\n" + pattern * 100) / 100
    lines = max(1, round(instructions / per_line))
    return _function("def f(a, b, c):\n" + pattern * lines)


def branches(instructions: int) -> types.CodeType:
    """The same with loops, conditions and handlers: blocks, jumps of every distance, regions."""
    pattern = (
        "    for i in a:\n        if i > b:\n            try:\n                c(i)\n"
        "            except ValueError:\n                b = c(b, i)\n"
    )
    per_pattern = _count("def f(a, b, c):\n" + pattern * 20) / 20
    return _function("def f(a, b, c):\n" + pattern * max(1, round(instructions / per_pattern)))


def _function(source: str) -> types.CodeType:
    code = compile(source, "<generated>", "exec", dont_inherit=True).co_consts[0]
    assert isinstance(code, types.CodeType)
    return code


def _count(source: str) -> int:
    return len(bytecode.cleaned_instructions(_function(source)))


def best(action: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs, in seconds of this process's processor time: others on the machine do not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def best_assembly(module: types.CodeType, edit: Edit, repeats: int) -> tuple[float, int, types.CodeType]:
    """The shortest time from the end of an edit to the finished code object, the number of instructions, the code."""
    times, count = [], 0
    edited_at = 0.0

    def timed(instructions: Instructions, options: Any) -> None:
        nonlocal edited_at, count
        edit(instructions, options)
        count = len(instructions)
        edited_at = time.process_time()

    for _ in range(repeats):
        code = bytecode.transform_code_object(module, timed)
        times.append(time.process_time() - edited_at)
    return min(times), count, code


def by_size(make: Callable[[int], types.CodeType], sizes: tuple[int, ...]) -> list[dict[str, float]]:
    """ns per instruction of both paths at each size."""
    rows = []
    for size in sizes:
        code = make(size)
        count = len(bytecode.cleaned_instructions(code))
        repeats = max(7, min(200, 300_000 // size))
        rows.append(
            {
                "instructions": count,
                "roundtrip": 1e9 * best(lambda code=code: bytecode.roundtrip(code), repeats) / count,
                "transform": 1e9
                * best(lambda code=code: bytecode.transform_code_object(code, measure.leave_alone), repeats)
                / count,
            }
        )
    return rows


# The hard spots. Each makes an edit that replaces the body of an empty module by `size` pieces of the thing.


def constants(size: int) -> Edit:
    """So many different constants, each loaded once."""

    def edit(instructions: Instructions, options: Any) -> None:
        body: Instructions = []
        for number in range(size):
            body += [bytecode.create_load_const(number + 0.5), bytecode.create_instruction("POP_TOP")]
        instructions[1:1] = body

    return edit


def names(size: int) -> Edit:
    """So many different names, each loaded once."""

    def edit(instructions: Instructions, options: Any) -> None:
        body: Instructions = []
        for number in range(size):
            body += [
                bytecode.create_instruction("LOAD_NAME", argval=f"name_{number}"),
                bytecode.create_instruction("POP_TOP"),
            ]
        instructions[1:1] = body

    return edit


def reversed_blocks(size: int) -> Edit:
    """So many blocks, each jumping to the one that stands before it."""

    def edit(instructions: Instructions, options: Any) -> None:
        ending = instructions[1:]
        blocks: list[Instructions] = []
        following = ending[0]
        for _ in range(size):
            nop = bytecode.create_instruction("NOP")
            blocks.append([nop, bytecode.create_jump_absolute(following)])
            following = nop
        # The last block made is the first to run; laid out, every block but the first run stands before its predecessor.
        entry = bytecode.create_jump_absolute(following)
        instructions[1:] = [entry, *ending, *(instruction for block in blocks for instruction in block)]

    return edit


def cascade(size: int) -> Edit:
    """So many conditional jumps of exactly the distance at which one more unit needs an EXTENDED_ARG.

    The last is one unit too far; its growth pushes the one before it over the edge, and so on to the first.
    """
    jump_name = "POP_JUMP_FORWARD_IF_TRUE" if sys.version_info < (3, 12) else "POP_JUMP_IF_TRUE"

    def edit(instructions: Instructions, options: Any) -> None:
        # Units between two jumps' starts: a bool on the stack, the jump with its caches, padding.
        head = [bytecode.create_load_const(True), bytecode.create_instruction(jump_name, target=instructions[1])]
        spacing, jump_units = 120, sum(bytecode.instruction_size(i) for i in head) // 2
        body: Instructions = []
        jumps: Instructions = []
        firsts: list[Instructions] = []
        for _ in range(size):
            load = bytecode.create_load_const(True)
            jump = bytecode.create_instruction(jump_name, target=instructions[1])
            padding = [bytecode.create_instruction("NOP") for _ in range(spacing - jump_units)]
            jumps.append(jump)
            firsts.append(padding)
            body += [load, jump, *padding]
        # From the end of a jump over 255 units: the rest of its own spacing, one whole spacing, and the difference.
        distance = 255 - (spacing - jump_units) - spacing
        for index, jump in enumerate(jumps):
            if index + 2 < size:
                # The target lies `distance` units into the stretch two further on; its head takes the first units.
                jump.target = firsts[index + 2][distance - jump_units]
        tail = [bytecode.create_instruction("NOP") for _ in range(256)]
        instructions[1:1] = [*body, *tail]

    return edit


SPOTS: tuple[tuple[str, Callable[[int], Edit], int], ...] = (
    ("different constants", constants, 32_000),
    ("different names", names, 32_000),
    ("blocks laid out in reverse", reversed_blocks, 10_000),
    ("jumps in one cascade at 255", cascade, 1_000),
)


def hard_spots(scale: int = 1) -> list[dict[str, Any]]:
    """Each spot at a quarter of its size and at its size: the same cost per instruction, or it is quadratic."""
    module = compile("pass", "<empty>", "exec", dont_inherit=True)
    rows = []
    for name, make, size in SPOTS:
        row: dict[str, Any] = {"spot": name, "size": size // scale}
        for label, count in (("quarter", size // scale // 4), ("full", size // scale)):
            seconds, built, code = best_assembly(module, make(count), 5)
            row[label] = 1e9 * seconds / built
            row[f"{label}_roundtrip"] = 1e9 * best(lambda code=code: bytecode.roundtrip(code), 5) / built
            row["instructions"] = built
        rows.append(row)
    return rows


def peak_memory(size: int, scale: int = 1) -> list[dict[str, Any]]:
    """MiB that each path needs at its peak beyond what the process held before, each case in a process of its own."""
    rows = []
    for case, count in (
        ("straight_line", size),
        ("branches", size),
        *((name, full // scale) for name, _, full in SPOTS),
    ):
        done = subprocess.run(
            [sys.executable, __file__, "--memory-of", case, "--size", str(count)],
            check=True,
            capture_output=True,
            text=True,
        )
        rows.append({"case": case, "size": count, **json.loads(done.stdout)})
    return rows


def _memory_of(case: str, size: int) -> None:
    spots = {name: make for name, make, _ in SPOTS}
    if case in spots:
        code = bytecode.transform_code_object(compile("pass", "<empty>", "exec", dont_inherit=True), spots[case](size))
    else:
        code = {"straight_line": straight_line, "branches": branches}[case](size)
    roundtrip = _added(lambda: bytecode.roundtrip(code))
    transform = _added(lambda: bytecode.transform_code_object(code, measure.leave_alone))
    count = len(bytecode.cleaned_instructions(code))
    print(json.dumps({"instructions": count, "roundtrip": roundtrip, "transform": transform}))


def _added(action: Callable[[], object]) -> float:
    """MiB that the process held at most while something ran, less what it held before."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        # What compiling left free would hide what is taken from it. Only glibc has this.
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is held now
    except OSError:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        action()
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    before = _status("VmHWM")
    action()
    return (_status("VmHWM") - before) / 1024


def _status(key: str) -> int:
    """A figure of this process in KiB, as Linux keeps it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def goals(results: measure.Results, sizes: dict[str, list[dict[str, float]]], spots: list[dict[str, Any]]) -> list[Any]:
    """(goal, wanted, reached or None where it could not be measured)."""
    transform, opnames = "pydynamo transform, no-op", "pydynamo transform, opnames"
    roundtrip = "pydynamo roundtrip"
    spread = max(
        max(row[path] for row in rows) / min(row[path] for row in rows)
        for rows in sizes.values()
        for path in ("roundtrip", "transform")
    )
    growth = max(row["full"] / row["quarter"] for row in spots)
    return [
        ("transform, no-op: × torch", "≥ 60", results.ratio("torch transform, no-op", transform)),
        ("transform, no-op: × bytecode", "≥ 60", results.ratio("bytecode", transform)),
        ("transform that reads opnames: × torch", "≥ 40", results.ratio("torch transform, opnames", opnames)),
        ("native roundtrip, verified: × torch", "≥ 200", results.ratio("torch transform, no-op", roundtrip)),
        ("the same per code unit, total over total", "≥ 200", results.unit_ratio("torch transform, no-op", roundtrip)),
        ("native roundtrip: × compile(ast), per code unit", "≥ 5", results.unit_ratio("compile(ast)", roundtrip)),
        ("cost per instruction, 100 to 1,000,000: largest over least", "≤ 2", spread),
        ("hard spots: cost at full size over cost at a quarter", "≤ 2", growth),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="The assembler's speed on this machine and interpreter.")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, to see that it runs")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        _memory_of(options.memory_of, options.size)
        return
    out = Console(highlight=False, width=130)
    say = Console(stderr=True)
    say.print(f"[dim]CPython {platform.python_version()}: the standard library")
    results = measure.run(measure.sample(200 if options.quick else None), 3, lambda name: say.print(f"[dim]  {name}"))
    bench.show(results)
    sizes = SIZES[:-2] if options.quick else SIZES
    say.print("[dim]by size")
    scaling = {make.__name__: by_size(make, sizes) for make in (straight_line, branches)}
    rows = terminal.table("ns per instruction at", *(f"{size:,}" for size in sizes), "largest / least")
    for make_name, figures in scaling.items():
        for path in ("roundtrip", "transform"):
            line = [row[path] for row in figures]
            rows.add_row(
                f"{make_name.replace('_', ' ')}, {path}", *(f"{x:,.1f}" for x in line), f"{max(line) / min(line):.2f}"
            )
    out.print(rows)
    say.print("[dim]hard spots")
    spots = hard_spots(10 if options.quick else 1)
    columns = ("hard spot", "size", "instructions", "assemble", "at a quarter", "roundtrip")
    rows = terminal.table(*columns, title="ns per instruction")
    for row in spots:
        rows.add_row(
            row["spot"],
            f"{row['size']:,}",
            f"{row['instructions']:,}",
            f"{row['full']:,.0f}",
            f"{row['quarter']:,.0f}",
            f"{row['full_roundtrip']:,.0f}",
        )
    out.print(rows)
    say.print("[dim]peak memory")
    memory = peak_memory(sizes[-1], 10 if options.quick else 1)
    rows = terminal.table(
        "peak memory", "size", "instructions", "roundtrip, MiB", "transform, MiB", "bytes per instruction"
    )
    for row in memory:
        per_instruction = [row[path] * 2**20 / row["instructions"] for path in ("roundtrip", "transform")]
        rows.add_row(
            row["case"].replace("_", " "),
            f"{row['size']:,}",
            f"{row['instructions']:,}",
            f"{row['roundtrip']:,.1f}",
            f"{row['transform']:,.1f}",
            " / ".join(f"{figure:,.0f}" for figure in per_instruction),
        )
    out.print(rows)
    reached = goals(results, scaling, spots)
    rows = terminal.table("goal", "wanted", "reached")
    for goal, wanted, value in reached:
        rows.add_row(goal, wanted, "not measured here" if value is None else f"{value:,.1f}")
    out.print(rows)
    if options.json:
        options.json.write_text(
            json.dumps(
                {
                    "results": asdict(results),
                    "by_size": scaling,
                    "hard_spots": spots,
                    "memory_mib": memory,
                    "goals": [{"goal": goal, "wanted": wanted, "reached": value} for goal, wanted, value in reached],
                },
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
