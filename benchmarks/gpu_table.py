"""The GPU benchmark's rows, and the table that is made of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

FAR = 0.02  # parts of the largest number; halves of two orders of summing differ by less


@dataclasses.dataclass
class Row:
    name: str
    system: str
    ms: float = math.nan
    compile_s: float = math.nan  # first call, empty caches on disk
    warm_s: float = math.nan  # first call of a new compilation that finds the caches filled
    peak_mb: float = math.nan  # above what was held before the step
    kernels: int = 0
    vs_copy: float = math.nan
    goal: float = 0.0
    error: float = math.nan  # largest difference from eager, in parts of the largest number
    call_us: float = math.nan  # one call on the host
    graph_us: float = math.nan  # one call in a CUDA graph
    note: str = ""
    trace: str = ""  # of the error that `note` names


def _of(rows: Sequence[Row], name: str, system: str, field: str) -> float:
    return next((getattr(r, field) for r in rows if r.name == name and r.system == system), math.nan)


def ratio(rows: Sequence[Row], name: str, a: str, b: str, field: str = "ms") -> float:
    """How much less `a` takes than `b` on one case; nan if either is missing."""
    return _of(rows, name, b, field) / (_of(rows, name, a, field) or math.nan)


def geomean(values: Sequence[float]) -> float:
    good = [v for v in values if math.isfinite(v) and v > 0]
    return math.exp(sum(map(math.log, good)) / len(good)) if good else math.nan


def is_model(name: str) -> bool:
    return name.endswith((" training", " inference"))


def summary(rows: Sequence[Row], copy: float) -> list[str]:
    """What the goals ask for, in a few lines."""
    names = list(dict.fromkeys(r.name for r in rows))
    lines = [f"Copy: {copy / 1e12:.2f} TB/s."]
    groups = {
        "kernels and models": names,
        "kernels": [n for n in names if not is_model(n)],
        "models": [n for n in names if is_model(n)],
    }
    for what, some in groups.items():
        over = [ratio(rows, n, "pydynamo", "inductor") for n in some]
        cold = [ratio(rows, n, "inductor", "pydynamo", "compile_s") for n in some]
        count = sum(map(math.isfinite, over))
        if count:
            lines.append(
                f"Against Inductor default, {what} ({count}): {geomean(over):.2f}x as fast, cold compilation in "
                f"{geomean(cold):.2f} of its time (geometric means)."
            )
    short = [f"{r.name} {r.vs_copy:.0%} of {r.goal:.0%}" for r in rows if r.system == "pydynamo" and r.vs_copy < r.goal]
    goals = sum(bool(r.goal) and math.isfinite(r.vs_copy) for r in rows if r.system == "pydynamo")
    if goals:
        lines.append(f"Goals against copy: {goals - len(short)} of {goals} reached; not: {', '.join(short) or 'none'}.")
    far = sorted((r for r in rows if "pydynamo" in r.system and r.error > FAR), key=lambda r: -r.error)
    if far:
        lines.append("Far from eager: " + ", ".join(f"{r.name} ({r.system}) {r.error:.1e}" for r in far) + ".")
    failed = [f"{r.name} ({r.system})" for r in rows if r.trace]
    if failed:
        lines.append(f"Failed: {', '.join(failed)}.")
    return lines


COLUMNS = (
    "case",
    "system",
    "ms",
    "vs eager",
    "vs Inductor",
    "of copy",
    "goal",
    "peak MB",
    "cold s",
    "warm s",
    "kernels",
)
FURTHER = ("error", "call µs", "in a graph µs", "note")


def table(rows: Sequence[Row], copy: float) -> str:
    """A summary, then one Markdown table, cases in their first order."""
    columns = (*COLUMNS, *FURTHER)
    lines = [*summary(rows, copy), "", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for name in dict.fromkeys(r.name for r in rows):
        for r in (r for r in rows if r.name == name):
            faster = [ratio(rows, r.name, r.system, base) for base in ("eager", "inductor")]
            cells = [
                r.name,
                r.system,
                f"{r.ms:.3f}",
                *(f"{x:.2f}" for x in faster),
                f"{r.vs_copy:.0%}",
                f"{r.goal:.0%}" if r.goal else "",
                f"{r.peak_mb:.0f}",
                f"{r.compile_s:.2f}",
                f"{r.warm_s:.2f}",
                str(r.kernels or ""),
                f"{r.error:.1e}",
                f"{r.call_us:.1f}",
                f"{r.graph_us:.2f}",
                r.note,
            ]
            lines.append("| " + " | ".join("" if c in ("nan", "nan%") else c.replace("|", "/") for c in cells) + " |")
    return "\n".join(lines) + "\n"
