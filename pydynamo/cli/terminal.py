"""What the commands share of the terminal: consoles, tables, progress. Knows no code objects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table


def console() -> Console:
    """Standard output; full width where it is no terminal, so that what is piped on is not folded."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 120)


def table(*columns: str, title: str | None = None, caption: str | None = None) -> Table:
    """A table whose first column is text and whose others are figures."""
    result = Table(title=title, caption=caption, title_justify="left", caption_justify="left", header_style="bold")
    for index, name in enumerate(columns):
        result.add_column(name, justify="left" if index == 0 else "right", no_wrap=index > 0)
    return result


@contextmanager
def progress(what: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """A progress bar on standard error that disappears when done; silent where that is no terminal."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[now]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        yield bar, bar.add_task(what, total=total, now="")
