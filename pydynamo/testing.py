"""pydynamo in torch.compile's place, for other projects' tests: torch's signatures over pydynamo's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydynamo import api
from pydynamo.api import compile, graph_break, is_compiling, reset
from pydynamo.errors import Unsupported

__all__ = ["Unsupported", "compile_for_torch_tests", "disable", "graph_break", "is_compiling", "reset"]


def compile_for_torch_tests(fn: Any, *, backend: Any, fullgraph: bool = False, dynamic: bool | None = None) -> Any:
    """``compile`` with the arguments that torch's test plugin passes."""
    return compile(fn, backend=backend, fullgraph=fullgraph, dynamic=dynamic)


def disable(
    fn: Callable[..., Any] | None = None,
    recursive: bool = True,
    *,
    reason: str | None = None,
    wrapping: bool = True,
) -> Any:
    """``disable`` with torch's signature; torch itself calls it so for functions of its own."""
    del recursive, reason
    if fn is None:
        return disable
    return api.disable(fn) if wrapping else fn
