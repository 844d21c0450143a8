"""pydynamo: a CPython bytecode assembler with a compiler frontend for PyTorch.

Importing this package imports no torch; names are loaded when they are first used.
"""

from __future__ import annotations

# Not from `typing`, which would be most of what importing this package costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    from importlib import import_module

    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
