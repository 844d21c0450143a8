"""The call of the backend with a finished graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import events

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator


def call_backend(root: RootTranslator, module: torch.fx.GraphModule, name: str) -> Callable[..., Any]:
    """What the backend makes of ``module``."""
    backend = root.options.backend
    graph = root.graph
    if getattr(backend, "wants_fake_inputs", False):
        examples = [entry.node.meta["example_value"] for entry in graph.inputs]
        from torch._guards import TracingContext, tracing

        with tracing(TracingContext(graph.fake_mode)):
            compiled = backend(module, examples)
    else:
        compiled = backend(module, [entry.example for entry in graph.inputs])
    if not callable(compiled):
        from pydynamo.errors import PydynamoError

        raise PydynamoError(f"the backend gave {compiled!r}, which is not callable")
    events.graph_compiled(name, module)
    if root.autocasts:
        from pydynamo.frontend.variables.contexts import restoring_autocast

        return restoring_autocast(compiled)
    return compiled
