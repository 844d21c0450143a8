"""`pydynamo replay`: runs a report of an internal error again."""

from __future__ import annotations

import sys
import traceback

import click

from pydynamo.cli import corpus, terminal


@click.command("replay")
@click.argument("report")
@click.option("--traceback", "whole", is_flag=True, help="The traceback that comes up now, too.")
def command(report: str, whole: bool) -> None:
    """Compile the function of REPORT again, from stand-ins of its arguments, and compare the error that comes up.

    The code in the report is run: replay only reports that you trust. Status 0: the same error; 1: another, or none.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise corpus.BadTarget("this needs torch: install pydynamo[torch]") from None
    from pydynamo.backends import lookup
    from pydynamo.frontend.crash_replay import replay

    outcome = replay(report, lookup)
    console = terminal.console()
    found = outcome.found
    shown = "none" if found is None else f"{type(found).__qualname__}: {found}"
    console.print(f"reported: {outcome.reported['type']}: {outcome.reported['message']}", markup=False)
    console.print(f"now:      {shown}", markup=False)
    if found is None and outcome.broke is not None:
        console.print(outcome.broke, markup=False)
    if whole and found is not None:
        console.print("".join(traceback.format_exception(found)), markup=False)
    console.print("the same error" if outcome.is_same else "not the same", markup=False)
    if not outcome.is_same:
        sys.exit(1)
