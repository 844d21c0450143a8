"""`pydynamo kernels SCRIPT`: run a script, then show what its compiled graphs became, down to the Triton kernels."""

from __future__ import annotations

import os
import runpy
import sys

import click

STAGES = ("summary", "graph", "loops", "schedule", "kernels", "wrapper", "ptx")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--stage", type=click.Choice(STAGES), default="summary", show_default=True, help="what to show")
@click.option("--interpret", is_flag=True, help="run kernels on CPU tensors, under Triton's interpreter")
def command(script: str, arguments: tuple[str, ...], stage: str, interpret: bool) -> None:
    """Run SCRIPT with ARGUMENTS and show the kernels of everything that it compiles with backend "triton" of
    pydynamo.compile or "pydynamo" of torch.compile: graph nodes and source lines, loops, Triton source, PTX."""
    if interpret:
        os.environ["PYDYNAMO_TRITON_INTERPRET"] = "1"
    from pydynamo.lowering import pipeline
    from pydynamo.lowering.capture import register
    from pydynamo.lowering.explain import Explanation

    register()
    pipeline.RECENT.clear()
    given = sys.argv
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv = given
    found = Explanation(list(pipeline.RECENT))
    if not found.graphs:
        click.echo(f"{script} compiled no graph with this backend", err=True)
        sys.exit(1)
    click.echo(str(found) if stage == "summary" else found.text(stage))
