"""The command line: `pydynamo` and `python -m pydynamo`.

This file owns the list of commands and how their errors reach a person; each command is a module of its own beside it.
A command is imported only when it runs, so that `pydynamo dis` does not wait for what `pydynamo kernels` needs. Nothing
else in the package imports this part.

Exit status: 0 all well, 1 the answer is no (a difference, a rejected code object), 2 the question makes no sense.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

# Command -> the module and the attribute that hold it, and its line in the list of commands.
COMMANDS: dict[str, tuple[str, str]] = {
    "dis": ("dis", "Show a code object's instructions with labels and regions, or what a transformation does to them."),
    "roundtrip": (
        "roundtrip",
        "Take every code object below PATHs apart and put it together again; show what differs.",
    ),
    "verify": ("verify", "Prove that no code object of a module or file can break the interpreter."),
    "bench": ("bench", "Measure this machine and interpreter against other assemblers and CPython's compiler."),
    "explain": ("explain", "Run a script and show graphs, graph breaks and guards of what it compiles."),
    "replay": ("replay", "Run the report of an internal error again."),
    "kernels": ("kernels", "Run a script and show the Triton kernels of what it compiles, stage by stage."),
}


class _LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps before it imports any of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"pydynamo.cli.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="pydynamo")
def cli() -> None:
    """CPython bytecode, taken apart, edited, proved safe and put together again."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits with its status; anything that a person asked wrongly is one line, never a traceback."""
    from pydynamo.errors import PydynamoError

    try:
        sys.exit(cli.main(args=arguments, prog_name="pydynamo", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except PydynamoError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader went away (`pydynamo dis json | head`): that is no error, and Python must not complain at exit.
        sys.stdout = None
        sys.exit(0)
