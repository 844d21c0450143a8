"""`pydynamo bench`: one table of how this machine's assemblers compare on this interpreter."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from pydynamo.cli import measure, terminal


def show(results: measure.Results) -> None:
    """Prints the table of figures and ratios."""
    rows = terminal.table(
        "",
        "raise",
        "µs per code object",
        "ns per code unit",
        "× our transform",
        "× our roundtrip",
        title=f"CPython {results.python}: {results.code_objects:,} code objects of the standard library, medians",
        caption=", ".join(f"{name} {version}" for name, version in results.versions.items())
        + "; compile(ast) works on whole modules: its ratios are per code unit",
    )
    group = "pydynamo"
    for figure in results.figures:
        if figure.group != group:
            rows.add_section()
            group = figure.group
        by_unit = figure.median is None
        ratio = results.unit_ratio if by_unit else results.ratio
        rows.add_row(
            figure.name,
            f"{figure.raised:,}" if figure.raised else "",
            "" if figure.median is None else f"{1e6 * figure.median:,.2f}",
            f"{1e9 * figure.per_unit:,.0f}",
            _times(ratio(figure.name, "pydynamo transform, no-op")),
            _times(ratio(figure.name, "pydynamo roundtrip")),
        )
    terminal.console().print(rows)


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"


@click.command("bench")
@click.option("--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="How many code objects.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="The best of so many runs counts."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(limit: int, repeats: int, as_json: bool) -> None:
    """Measure, on this machine and interpreter, what it costs to take a code object apart and put it together again:
    pydynamo against torch's assembler and `bytecode` (where installed), `dis`, and CPython's own compile()."""
    sample = measure.sample(limit)
    with terminal.progress("measuring", 9) as (bar, task):

        def step(name: str) -> None:
            bar.update(task, advance=1, now=name)

        results = measure.run(sample, repeats, step)
    if as_json:
        click.echo(json.dumps(asdict(results), indent=1))
    else:
        show(results)
