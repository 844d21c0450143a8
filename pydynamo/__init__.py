"""pydynamo: a CPython bytecode assembler with a compiler frontend for PyTorch.

Importing this package imports no torch; names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydynamo.api import (
        allow_in_graph,
        compile,
        disable,
        explain,
        graph_break,
        is_compiling,
        list_backends,
        mark_dynamic,
        mark_static,
        reset,
        set_logs,
    )
    from pydynamo.errors import BytecodeError, PydynamoError, Unsupported

_NAMES = {
    **dict.fromkeys(
        (
            "allow_in_graph",
            "compile",
            "disable",
            "explain",
            "graph_break",
            "is_compiling",
            "list_backends",
            "mark_dynamic",
            "mark_static",
            "reset",
            "set_logs",
        ),
        "pydynamo.api",
    ),
    **dict.fromkeys(("BytecodeError", "PydynamoError", "Unsupported"), "pydynamo.errors"),
}
__all__ = [
    "BytecodeError",
    "PydynamoError",
    "Unsupported",
    "allow_in_graph",
    "compile",
    "disable",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "reset",
    "set_logs",
]


def __getattr__(name: str) -> Any:
    module = _NAMES.get(name)
    if module is None:
        raise AttributeError(f"module 'pydynamo' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
