"""`pydynamo verify`: proves every code object of a file or module safe, or names the instruction that is not."""

from __future__ import annotations

import json

import click

from pydynamo import bytecode
from pydynamo.cli import corpus, terminal
from pydynamo.errors import BytecodeError


@click.command("verify")
@click.argument("target")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(target: str, as_json: bool) -> int:
    """Prove that no code object of TARGET can make the interpreter read outside its stack, locals, constants or names.

    TARGET is a .pyc or .py file or a module, with `:qualname` for one function and what is nested in it. Exits with 1 if any
    code object is rejected.
    """
    code, _ = corpus.find(target)
    proved, rejected = 0, []
    for inner in corpus.walk(code):
        try:
            bytecode.verify(inner)
            proved += 1
        except BytecodeError as error:
            rejected.append((inner, error))
    if as_json:
        click.echo(
            json.dumps(
                {
                    "target": target,
                    "proved": proved,
                    "rejected": [
                        {
                            "code": inner.co_qualname,
                            "file": inner.co_filename,
                            "line": inner.co_firstlineno,
                            "kind": why.kind,
                            "index": why.index,
                            "opname": why.opname,
                            "reason": why.reason,
                            "stack": why.stack,
                        }
                        for inner, why in rejected
                    ],
                },
                indent=1,
            )
        )
        return 1 if rejected else 0
    out = terminal.console()
    for inner, why in rejected:
        out.print(f"[red]rejected[/] {inner.co_filename}:{inner.co_firstlineno} {inner.co_qualname}")
        out.print(f"  {why}", markup=False)
    out.print(f"{'[red]' if rejected else '[green]'}{proved:,} proved safe, {len(rejected):,} rejected")
    return 1 if rejected else 0
