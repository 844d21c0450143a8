"""`pydynamo dis`: a code object's instructions as text with labels and regions, or what a transformation does to them."""

from __future__ import annotations

import difflib
import importlib
import types
from collections.abc import Callable

import click
from rich.text import Text

from pydynamo import bytecode
from pydynamo.cli import corpus, terminal, transforms

# What is coloured in a line of the textual form: a pattern and its style, later ones over earlier ones.
_COLOURS = (
    (r"\b[A-Z][A-Z0-9_]+\b", "cyan"),
    (r"'[^']*'|\"[^\"]*\"", "green"),
    (r"\b[LT]\d+\b", "bold magenta"),
    (r"^\s*(try|end)\b", "yellow"),
    (r"^ *(\d+|-)(?= )", "dim"),
    (r"  # .*$", "dim"),
)


def coloured(text: str) -> Text:
    """The textual form with colours."""
    result = Text(text)
    for line_start, line in _lines_with_offsets(text):
        styled = Text(line)
        for pattern, style in _COLOURS:
            styled.highlight_regex(pattern, style)
        for span in styled.spans:
            result.stylize(span.style, line_start + span.start, line_start + span.end)
    return result


def _lines_with_offsets(text: str) -> list[tuple[int, str]]:
    offset, result = 0, []
    for line in text.splitlines(keepends=True):
        result.append((offset, line.rstrip("\n")))
        offset += len(line)
    return result


def listing(code: types.CodeType) -> str:
    """The code object's textual form for reading: line numbers in a margin where they change, columns left out."""
    result, shown, margin = [], "", ""
    for text in bytecode.format(bytecode.cleaned_instructions(code, safe=True)).splitlines():
        if text.startswith("line "):
            line = text.split()[1]
            margin = line if line != shown else ""
            shown = line
        elif text.startswith(" "):
            result.append(f"{margin:>5} {text}")
            margin = ""
        else:
            result.append(f"{'':>5} {text}")
    return "\n".join(result) + "\n"


def heading(code: types.CodeType) -> str:
    """One line that says which code object follows."""
    return (
        f"{code.co_qualname}  ({code.co_filename}:{code.co_firstlineno}, "
        f"{len(code.co_code) // 2} code units, stack {code.co_stacksize})"
    )


def before_after(code: types.CodeType, transform: Callable[[types.CodeType], types.CodeType]) -> Text:
    """The difference that a transformation makes, whole listings with - and + lines."""
    before, after = listing(code).splitlines(), listing(transform(code)).splitlines()
    result = Text()
    for line in difflib.unified_diff(before, after, "before", "after", lineterm="", n=max(len(before), 1)):
        if line.startswith(("---", "+++", "@@")):
            continue
        style = {"-": "red", "+": "green"}.get(line[:1], "dim")
        result.append(line + "\n", style)
    return result if result else Text("(no difference)\n", "dim")


def named_transform(name: str) -> Callable[[types.CodeType], types.CodeType]:
    """A transformation by its name, or `module:function`, a callback as for `transform_code_object`."""
    if name in transforms.NAMED:
        return transforms.NAMED[name]
    module_name, _, attribute = name.partition(":")
    if not attribute:
        raise corpus.BadTarget(f"no transformation {name!r}: one of {', '.join(transforms.NAMED)}, or module:function")
    try:
        callback = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise corpus.BadTarget(f"{name}: {error}") from None
    return lambda code: bytecode.transform_code_object(code, callback)


@click.command("dis", epilog="Transformations: " + ", ".join(transforms.NAMED) + ", or module:function.")
@click.argument("target")
@click.option("--before-after", "transform", metavar="TRANSFORM", help="Show what a transformation changes.")
@click.option("--recursive", "-r", is_flag=True, help="Nested functions and classes too.")
def command(target: str, transform: str | None, recursive: bool) -> None:
    """Show the instructions of TARGET: a .py or .pyc file, a module, or either with `:qualname`.

    \b
    pydynamo dis json.decoder:JSONDecoder.decode
    pydynamo dis script.py -r
    pydynamo dis heapq:heappush --before-after lines
    """
    code, _ = corpus.find(target)
    apply = None if transform is None else named_transform(transform)
    out = terminal.console()
    for inner in corpus.walk(code) if recursive else [code]:
        # The listing first: it refuses a damaged code object, whose `co_code` CPython itself cannot make without harm.
        text = coloured(listing(inner)) if apply is None else before_after(inner, apply)
        out.print(Text(heading(inner), "bold"))
        out.print(text, end="")
        out.print()
