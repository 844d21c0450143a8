"""Functions that user code calls to steer the compiler; in uncompiled code they do next to nothing."""

from __future__ import annotations

import functools
import types
from typing import Any


def is_compiling() -> bool:
    """True inside code that is being compiled."""
    return False


def graph_break() -> None:
    """Break the graph here; does nothing in uncompiled code."""


def disable(fn: Any = None, recursive: bool = True) -> Any:
    """Keep a function out of compiled graphs: it is called as it is."""
    if fn is None:
        return functools.partial(disable, recursive=recursive)
    if isinstance(fn, types.FunctionType):

        @functools.wraps(fn)
        def plain(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        plain._pydynamo_disabled = True  # type: ignore[attr-defined]
        return plain
    return fn
