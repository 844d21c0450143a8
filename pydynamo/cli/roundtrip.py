"""`pydynamo roundtrip`: every code object below some paths, taken apart and put together again, compared with itself."""

from __future__ import annotations

import json
import platform
import time
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from pydynamo import bytecode
from pydynamo.cli import compare, corpus, measure, terminal
from pydynamo.errors import BytecodeError

SHOWN = 10  # examples of each kind of difference in the table


@dataclass
class Report:
    """What a run found: counts, and for each kind of difference the places where it was seen."""

    python: str = field(default_factory=platform.python_version)
    files: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    code_objects: int = 0
    code_units: int = 0
    identical: int = 0
    smaller_stack: int = 0
    seconds_apart_and_together: float = 0.0
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, place: str) -> None:
        self.kinds.setdefault(kind, []).append(place)


def check(code: types.CodeType, report: Report) -> None:
    """One code object (not those nested in it): apart, together, compared; natively, and by a callback that edits nothing."""
    report.code_objects += 1
    place = f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}"
    start = time.perf_counter()
    try:
        result = bytecode.roundtrip(code)
    except BytecodeError as error:
        report.add("rejected", f"{place}: {error}")
        return
    finally:
        report.seconds_apart_and_together += time.perf_counter() - start
    # Only now: of a damaged code object CPython itself cannot make `co_code` without harm.
    report.code_units += len(code.co_code) // 2
    # What roundtrip() may leave as it is, because nobody can edit it, is written anew on the way by instructions.
    try:
        edited = bytecode.transform_code_object(code, measure.leave_alone)
    except BytecodeError as error:
        report.add("rejected once it could be edited", f"{place}: {error}")
        return
    kinds = dict.fromkeys(compare.differences(code, result) + compare.differences(code, edited))
    report.identical += not kinds
    report.smaller_stack += result.co_stacksize < code.co_stacksize
    for kind in kinds:
        report.add(kind, place)


def run(paths: Sequence[Path]) -> Report:
    """Checks every code object in every file below the paths. Files that are not this Python's are counted, not checked."""
    report = Report()
    found = corpus.files(paths)
    if not found:
        raise corpus.BadTarget(f"no .py or .pyc file below {', '.join(map(str, paths))}")
    with terminal.progress("taking apart", len(found)) as (bar, task):
        for path in found:
            bar.update(task, now=f"{report.code_objects:,} code objects")
            try:
                module = corpus.read(path)
            except corpus.BadTarget as error:
                report.unreadable[str(path)] = error.message
            else:
                report.files += 1
                for code in corpus.walk(module):
                    check(code, report)
            bar.advance(task)
    return report


def show(report: Report) -> None:
    """The report as a table, with the first places of each kind of difference below it."""
    out = terminal.console()
    rows = terminal.table("result", "code objects", "share", title=f"roundtrip on CPython {report.python}")

    def share(count: int) -> str:
        return f"{100 * count / max(report.code_objects, 1):.3f}%"

    rows.add_row("[green]identical", f"{report.identical:,}", share(report.identical))
    for kind, places in sorted(report.kinds.items(), key=lambda item: -len(item[1])):
        rows.add_row(f"[red]{kind}", f"{len(places):,}", share(len(places)))
    rows.add_section()
    rows.add_row("all", f"{report.code_objects:,}", "")
    out.print(rows)
    seconds = report.seconds_apart_and_together
    out.print(
        f"{report.files:,} files, {report.code_units:,} code units; "
        f"{seconds:.2f} s apart and together, {1e9 * seconds / max(report.code_units, 1):.0f} ns per code unit"
    )
    if report.smaller_stack:
        out.print(f"{report.smaller_stack:,} with a smaller co_stacksize: CPython's counts code that cannot be reached")
    if report.unreadable:
        reasons = Counter(message.split(": ", 2)[1] for message in report.unreadable.values())
        out.print(f"left out, {len(report.unreadable)} files: " + "; ".join(f"{n} {why}" for why, n in reasons.items()))
    for kind, places in report.kinds.items():
        out.print(f"\n[bold]{kind}[/]")
        for place in places[:SHOWN]:
            out.print(f"  {place}", markup=False)
        if len(places) > SHOWN:
            out.print(f"  … and {len(places) - SHOWN:,} more (--json lists all)")


@click.command("roundtrip")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Take apart and put together every code object below PATHs, and compare.

    PATH is a file, a folder, or one of the words `stdlib` and `site-packages`; without any, the standard library is taken.
    Exits with 1 if any code object differs or is rejected.
    """
    report = run([path for name in paths or ("stdlib",) for path in corpus.expand(name)])
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
    else:
        show(report)
    return 0 if report.identical == report.code_objects else 1
