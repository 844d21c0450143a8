"""A quick tracer for small graphs: the operators run on real tensors and are written down as they run.

Values carry eager's real strides.  It knows no gradients, no mutation and no symbolic sizes; compiling a user's
function goes through AOTAutograd instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pydynamo.errors import PydynamoError


class _Recorder(TorchDispatchMode):
    def __init__(self, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.table = table
        self.graph = torch.fx.Graph()
        self.attributes: dict[str, torch.Tensor] = {}
        self.nodes: dict[int, torch.fx.Node] = {}
        self.alive: list[torch.Tensor] = []  # an id means one tensor only as long as that lives

    def track(self, t: torch.Tensor, node: torch.fx.Node) -> None:
        self.nodes[id(t)] = node
        self.alive.append(t)

    def node_of(self, a: Any) -> Any:
        if isinstance(a, torch.Tensor):
            node = self.nodes.get(id(a))
            return self._constant(a) if node is None else node
        if isinstance(a, (tuple, list)):
            return type(a)(self.node_of(x) for x in a)
        return a

    def _constant(self, t: torch.Tensor) -> torch.fx.Node:
        name = f"_tensor_constant{len(self.attributes)}"
        self.attributes[name] = t
        node = self.graph.create_node("get_attr", name)
        node.meta["val"] = t
        self.track(t, node)
        return node

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        decomposition = self.table.get(func)
        if decomposition is not None:
            with self:
                out = decomposition(*args, **kwargs)
            if out is not NotImplemented:
                return out
        if torch.Tag.core not in func.tags and func._can_decompose():
            with self:
                return func.decompose(*args, **kwargs)
        if func._schema.is_mutable:
            raise PydynamoError(f"a recorded graph must not write in place: {func}")
        out = func(*args, **kwargs)
        node = self.graph.call_function(
            func, tuple(self.node_of(a) for a in args), {k: self.node_of(v) for k, v in kwargs.items()}
        )
        node.meta["val"] = out
        if isinstance(out, torch.Tensor):
            self.track(out, node)
        else:
            for i, t in enumerate(out):
                item = self.graph.call_function(operator.getitem, (node, i))
                item.meta["val"] = t
                self.track(t, item)
        return out


def record(
    fn: Callable[..., Sequence[torch.Tensor]],
    inputs: Sequence[torch.Tensor],
    decompositions: Mapping[Any, Callable[..., Any]],
) -> torch.fx.GraphModule:
    """`fn` on `inputs` as a graph of the operators that `decompositions` leaves."""
    recorder = _Recorder(decompositions)
    for i, t in enumerate(inputs):
        t = t.detach()
        node = recorder.graph.placeholder(f"arg{i}")
        node.meta["val"] = t
        recorder.track(t, node)
    given = list(recorder.alive)
    with torch.no_grad(), recorder:
        out = fn(*given)
    recorder.graph.output([recorder.node_of(t) for t in out])
    return torch.fx.GraphModule(recorder.attributes, recorder.graph)
