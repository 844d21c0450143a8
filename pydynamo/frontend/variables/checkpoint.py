"""``torch.utils.checkpoint.checkpoint``: the function is inlined, and its nodes are kept together as a region of the graph.

Backward runs the region again, not the function: what the function does besides computing breaks the graph.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.regions import Region
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: arguments of checkpoint() itself and the only value that is followed
_DEFAULTS = {"debug": False, "determinism_check": "default", "early_stop": True}


def is_checkpoint(fn: Any) -> bool:
    """True for the function itself, whatever torch has wrapped around it."""
    return isinstance(fn, types.FunctionType) and (fn.__module__, fn.__name__) == (
        "torch.utils.checkpoint",
        "checkpoint",
    )


def call_checkpoint(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``checkpoint(function, *args, **kwargs)``"""
    if not args:
        unsupported("autograd", "checkpoint() without a function to run")
    function, given, named = args[0].realize(), list(args[1:]), dict(kwargs)
    reentrant = named.pop("use_reentrant", constant(None)).realize().as_constant()
    preserve = tx.truth(named.pop("preserve_rng_state", constant(True)))
    for name, usual in _DEFAULTS.items():
        if name in named and named.pop(name).realize().as_constant() != usual:
            unsupported("autograd", f"checkpoint({name}=…)")
    if reentrant is None or "context_fn" in named or (reentrant and named):
        unsupported("autograd", "checkpoint() with these arguments")
    if not torch.is_grad_enabled():
        return function.call_function(tx, given, named)
    if reentrant and not any(_needs_gradient(value) for value in given):
        # this variant then gives results without gradients
        unsupported("autograd", "a reentrant checkpoint whose arguments need no gradient")
    result, inside = traced_alone(tx, function, given, named, "a checkpointed function")
    if inside:
        tx.output.regions.append(Region(inside, preserve))
    return result


def _needs_gradient(value: VariableTracker) -> bool:
    value = value.realize()
    return isinstance(value, TensorVariable) and value.fake.requires_grad


def traced_alone(
    tx: Translator, function: VariableTracker, given: Args, named: Kwargs, what: str
) -> tuple[VariableTracker, list[torch.fx.Node]]:
    """The result of a call and the nodes that it recorded; what it does besides computing breaks the graph."""
    output = tx.output
    before, effects = set(output.graph.nodes), tx.ledger.snapshot()
    versions = {node: _version(node) for node in before}
    grad = torch.is_grad_enabled()
    autocast = torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")
    try:
        result = function.call_function(tx, given, named)
    except ObservedException:
        unsupported("autograd", f"{what} that raises")
    if torch.is_grad_enabled() != grad or autocast != (
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
    ):
        unsupported("autograd", f"{what} that switches a mode")
    if not effects.is_current():
        unsupported("autograd", f"{what} that changes objects")
    nodes = [node for node in output.graph.nodes if node not in before]
    if any(_version(node) != versions.get(node, 0) for node in (*before, *nodes) if node in before or _is_input(node)):
        unsupported("autograd", f"{what} that changes a tensor in place")
    return result, [node for node in nodes if not _is_input(node)]


def _is_input(node: torch.fx.Node) -> bool:
    return node.op == "placeholder"


def _version(node: torch.fx.Node) -> int:
    fake = node.meta.get("example_value")
    return fake._version if isinstance(fake, torch.Tensor) and not fake.is_inference() else 0
