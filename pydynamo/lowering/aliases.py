"""Which values of a graph its caller can tell to share memory."""

from __future__ import annotations

from collections import Counter

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.spec import Spec, is_dense


def shared_bases(gm: torch.fx.GraphModule) -> set[torch.fx.Node]:
    """Nodes that need memory because results are views of them: several, or one with gaps or overlaps."""
    (output,) = (n for n in gm.graph.nodes if n.op == "output")
    results = {o: o.meta["spec"] for o in output.all_input_nodes if isinstance(o.meta.get("spec"), Spec)}
    count: Counter[torch.fx.Node] = Counter()
    for o, spec in results.items():
        base = o
        while private.is_view(base) and base.all_input_nodes:
            base = base.all_input_nodes[0]
        if base.op == "call_function":
            count[base] += 1 if base is o or is_dense(spec.shape, spec.stride) else 2
    return {n for n, c in count.items() if c > 1}
