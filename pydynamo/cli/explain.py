"""`pydynamo explain`: runs a script and shows what was compiled meanwhile."""

from __future__ import annotations

import os
import runpy
import sys

import click

from pydynamo.cli import corpus, terminal

_SETTINGS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def _run(script: str, arguments: tuple[str, ...]) -> None:
    """The script as `python SCRIPT ARGS` runs it; its `sys.exit` ends it, not us."""
    before = sys.argv, list(sys.path)
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    finally:
        sys.argv, sys.path = before


def _check(script: str) -> None:
    if not os.path.isfile(script):
        raise corpus.BadTarget(f"{script}: no such file")
    try:
        import torch  # noqa: F401
    except ImportError:
        raise corpus.BadTarget("this needs torch: install pydynamo[torch]") from None


@click.command("explain", context_settings=_SETTINGS)
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--detail", is_flag=True, help="Graphs, guards, and the bytecode before and after.")
def command(script: str, arguments: tuple[str, ...], detail: bool) -> None:
    """Run SCRIPT and show the graphs, graph breaks and guards of everything that it compiles with pydynamo.compile."""
    _check(script)
    from pydynamo.frontend.explain import explain

    def running() -> None:
        _run(script, arguments)

    running.__qualname__ = script
    found = explain(running, running)()
    terminal.console().print(found.detail() if detail else repr(found), markup=False)
