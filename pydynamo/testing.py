"""pydynamo in torch.compile's place, for other projects' tests."""

from __future__ import annotations

from typing import Any

from pydynamo.api import compile, disable, graph_break, is_compiling, reset
from pydynamo.errors import Unsupported

__all__ = ["Unsupported", "compile_for_torch_tests", "disable", "graph_break", "is_compiling", "reset"]


def compile_for_torch_tests(
    fn: Any, *, backend: Any, fullgraph: bool = False, dynamic: bool | None = None
) -> Any:
    """``compile`` with the arguments that torch's test plugin passes."""
    return compile(fn, backend=backend, fullgraph=fullgraph, dynamic=dynamic)
