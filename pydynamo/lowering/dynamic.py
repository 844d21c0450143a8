"""Graphs with symbolic sizes: one specialized compilation for each set of sizes that arrives.

Whether a size may change is the frontend's question; what is compiled here is always exact for the sizes it
runs on.
"""

from __future__ import annotations

import copy
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.config import Options
from pydynamo.lowering.pipeline import Compiled, compile_graph, device_of


def _symbolic(v: Any) -> bool:
    if isinstance(v, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return True
    if isinstance(v, torch.Tensor):
        return any(isinstance(n, torch.SymInt) for n in (*v.shape, *v.stride(), v.storage_offset()))
    return isinstance(v, (tuple, list)) and any(_symbolic(x) for x in v)


def has_symbols(gm: torch.fx.GraphModule) -> bool:
    """True if any value of the graph has a symbolic size or number."""
    return any(_symbolic(n.meta.get("val")) for n in gm.graph.nodes)


def _signature(args: list[Any]) -> tuple[Any, ...]:
    return tuple((a.dtype, tuple(a.shape), a.stride(), a.device) if isinstance(a, torch.Tensor) else a for a in args)


def concrete(gm: torch.fx.GraphModule, args: list[Any]) -> torch.fx.GraphModule:
    """The graph with every value traced anew for the sizes of `args`."""
    gm = copy.deepcopy(gm)
    mode = private.FakeTensorMode()
    fakes = iter([mode.from_tensor(a, static_shapes=True) if isinstance(a, torch.Tensor) else a for a in args])
    env: dict[torch.fx.Node, Any] = {}
    with mode:
        for node in gm.graph.nodes:
            if node.op == "placeholder":
                val = next(fakes)
            elif node.op == "call_function":
                a, k = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: env[n])
                val = node.target(*a, **k)
            elif node.op == "get_attr":
                val = getattr(gm, node.target)
                val = mode.from_tensor(val, static_shapes=True) if isinstance(val, torch.Tensor) else val
            else:
                break
            env[node] = node.meta["val"] = val
    for node in list(gm.graph.nodes):  # sizes are numbers now
        if node.op == "call_function" and isinstance(node.meta["val"], (int, float, bool)):
            number = node.meta["val"]
            for user in list(node.users):
                user.args = torch.fx.node.map_arg(
                    user.args, lambda n, node=node, number=number: number if n is node else n
                )
                user.kwargs = torch.fx.node.map_arg(
                    user.kwargs, lambda n, node=node, number=number: number if n is node else n
                )
    return gm


def specialized(gm: torch.fx.GraphModule, options: Options, backward: bool) -> Any:
    """A callable that compiles for each new set of sizes."""
    variants: dict[tuple[Any, ...], Compiled] = {}

    def call(args: list[Any]) -> Any:
        key = _signature(args)
        done = variants.get(key)
        if done is None:
            from pydynamo.lowering.capture import clean

            exact = clean(concrete(gm, args))
            done = variants[key] = compile_graph(exact, device_of(exact), options, backward)
        return done.call(args)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call
