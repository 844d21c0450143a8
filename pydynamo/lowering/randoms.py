"""Random numbers: one draw of seeds per call, counter-based numbers inside kernels, and backward gets the
seed.

``native_dropout`` becomes ``x * (rand(seeds, i) > p) * scale`` before forward and backward are parted.  If
the
partitioner then saves the mask for backward, what is saved instead are the seeds, and backward makes the mask
again: the same numbers, for no memory.  Seeds come from torch's generator, so torch.manual_seed governs them.
"""

from __future__ import annotations

import operator
from typing import Any

import torch

from pydynamo.lowering.operators import RAND, SEEDS

aten = torch.ops.aten


def replace_dropout(gm: torch.fx.GraphModule) -> None:
    """Spell every training dropout of `gm` by seeds and rand."""
    drops = [n for n in gm.graph.nodes if n.target is aten.native_dropout.default and _trains(n)]
    if not drops:
        return
    graph = gm.graph
    first = next(n for n in graph.nodes if n.op != "placeholder")
    like = drops[0].args[0].meta["val"]
    with graph.inserting_before(first):
        all_seeds = _call(graph, SEEDS, (len(drops), like.device), like)
    for i, node in enumerate(drops):
        x, p = node.args[0], float(node.args[1])
        val = x.meta["val"]
        with graph.inserting_before(node):
            numbers = _call(graph, RAND, (all_seeds, i, list(val.shape)), val)
            keep = _call(graph, aten.gt.Scalar, (numbers, p), val)
            kept = _call(graph, aten.mul.Tensor, (x, keep), val)
            y = _call(graph, aten.mul.Tensor, (kept, 1.0 / (1.0 - p)), val)
        for made in (numbers, keep, kept, y):
            made.meta["stack_trace"] = node.meta.get("stack_trace")
        for user in list(node.users):
            if user.target is operator.getitem:
                user.replace_all_uses_with(y if user.args[1] == 0 else keep)
                graph.erase_node(user)
        graph.erase_node(node)
    gm.recompile()


def _trains(node: torch.fx.Node) -> bool:
    p, train = node.args[1], node.args[2]
    return (
        train is not False
        and isinstance(p, (int, float))
        and 0 < p < 1
        and all(u.target is operator.getitem for u in node.users)
    )


def _call(graph: torch.fx.Graph, target: Any, args: tuple[Any, ...], like: torch.Tensor) -> torch.fx.Node:
    node = graph.call_function(target, args)
    mode = getattr(like, "fake_mode", None)
    fakes = torch.fx.node.map_arg(args, lambda n: n.meta["val"])
    if mode is None:
        node.meta["val"] = target(*fakes)
    else:
        with mode:
            node.meta["val"] = target(*fakes)
    return node


def share_seeds(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule, results: int) -> None:
    """Where forward saves a mask or random numbers for backward, save the seeds instead."""
    output = next(n for n in forward.graph.nodes if n.op == "output")
    saved = list(output.args[0])
    by_name = {n.name: n for n in backward.graph.nodes if n.op == "placeholder"}
    changed = False
    for slot, node in enumerate(saved):
        if slot < results or not isinstance(node, torch.fx.Node) or node.name not in by_name:
            continue
        chain = _chain(node)
        if chain is None:
            continue
        old = by_name[node.name]
        source = chain[0].args[0]
        saved[slot] = source
        _rebuild(backward, old, chain, source)
        changed = True
    if changed:
        output.args = (type(output.args[0])(saved),)
        for gm in (forward, backward):
            gm.graph.eliminate_dead_code()
            gm.recompile()


def _chain(node: torch.fx.Node) -> list[torch.fx.Node] | None:
    """[rand] or [rand, gt] if `node` is random numbers or a mask of them."""
    if node.target is RAND:
        return [node]
    if node.target is aten.gt.Scalar and isinstance(node.args[0], torch.fx.Node) and node.args[0].target is RAND:
        return [node.args[0], node]
    return None


def _rebuild(gm: torch.fx.GraphModule, old: torch.fx.Node, chain: list[torch.fx.Node], source: Any) -> None:
    graph = gm.graph
    last = [n for n in graph.nodes if n.op == "placeholder"][-1]
    with graph.inserting_after(last):
        numbers = graph.call_function(RAND, (old, *chain[0].args[1:]))
    numbers.meta = dict(chain[0].meta)
    new = numbers
    if len(chain) == 2:
        with graph.inserting_after(numbers):
            new = graph.call_function(aten.gt.Scalar, (numbers, chain[1].args[1]))
        new.meta = dict(chain[1].meta)
    old.replace_all_uses_with(new, delete_user_cb=lambda u: u is not numbers)
    old.meta = {**old.meta, "val": source.meta["val"]}
