"""Activation checkpoints in a finished graph: the nodes that a checkpointed call recorded become one node of their own.

While the frame is translated they are nodes like all others. At the end it is known which of their values are used
outside: those are the outputs of the body. Knows graphs, nothing of values.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.fx


class CheckpointedCall:
    """The target of the node: runs the body under ``torch.utils.checkpoint``, and lets a tracer mark it for recomputation."""

    def __init__(self, body: torch.fx.GraphModule, preserve_rng_state: bool) -> None:
        self.body = body
        self.preserve_rng_state = preserve_rng_state
        self.__name__ = "checkpoint"

    def __call__(self, *args: Any) -> Any:
        if torch._guards.detect_fake_mode(args) is not None:
            from torch._higher_order_ops.wrap import tag_activation_checkpoint

            return tag_activation_checkpoint(self.body, *args, use_reentrant=False)
        from torch.utils.checkpoint import checkpoint

        return checkpoint(self.body, *args, use_reentrant=False, preserve_rng_state=self.preserve_rng_state)

    def __repr__(self) -> str:
        return f"checkpoint({self.body.graph})"


class Region:
    """The nodes of one checkpointed call, in order."""

    def __init__(self, nodes: list[torch.fx.Node], preserve_rng_state: bool) -> None:
        self.nodes = nodes
        self.preserve_rng_state = preserve_rng_state


def fold_regions(graph: torch.fx.Graph, regions: list[Region]) -> None:
    """Replace each region by a call of its own graph; a region inside another comes before it in the list."""
    for place, region in enumerate(regions):
        alive = set(graph.nodes)
        inside = [node for node in region.nodes if node in alive]
        if not inside:
            continue
        made = _fold(graph, inside, region.preserve_rng_state)
        gone = set(inside)
        for outer in regions[place + 1 :]:
            if gone & set(outer.nodes):
                first = next(index for index, node in enumerate(outer.nodes) if node in gone)
                rest = [node for node in outer.nodes if node not in gone]
                outer.nodes = [*outer.nodes[:first], *made, *rest[first:]]


def _fold(graph: torch.fx.Graph, nodes: list[torch.fx.Node], preserve_rng_state: bool) -> list[torch.fx.Node]:
    inside = set(nodes)
    given: dict[torch.fx.Node, torch.fx.Node] = {}
    body = torch.fx.Graph()
    for node in nodes:
        for value in node.all_input_nodes:
            if value not in inside and value not in given:
                given[value] = body.placeholder(value.name)
                given[value].meta = dict(value.meta)
    copies = dict(given)
    for node in nodes:
        copies[node] = body.node_copy(node, copies.__getitem__)
    shown = [node for node in nodes if any(user not in inside for user in node.users)]
    body.output(tuple(copies[node] for node in shown))
    target = CheckpointedCall(torch.fx.GraphModule({}, body, "CheckpointedBody"), preserve_rng_state)
    with graph.inserting_after(nodes[-1]):
        call = graph.call_function(target, tuple(given))
    call.meta["example_value"] = tuple(node.meta.get("example_value") for node in shown)
    made, last = [call], call
    for index, node in enumerate(shown):
        with graph.inserting_after(last):
            last = graph.call_function(operator.getitem, (call, index))
        last.meta["example_value"] = node.meta.get("example_value")
        made.append(last)
        node.replace_all_uses_with(last, delete_user_cb=lambda user: user not in inside)
    for node in reversed(nodes):
        graph.erase_node(node)
    return made
