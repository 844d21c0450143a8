"""``.grad`` of tensors: read from the program once, stored through the ledger like any attribute.

The graph never looks at ``.grad``, and what is stored to it is replayed after the graph, so that both stay in program
order: a gradient that is changed in place is a tensor of the graph whoever refers to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.constant import NONE

if TYPE_CHECKING:
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.tensor import TensorVariable

_PROFILER = torch.autograd.profiler


def _leaf(tx: Translator, owner: TensorVariable) -> tuple[torch.Tensor, Source]:
    """The real tensor, where that is an input and a leaf: the gradient of others is not known, and torch warns."""
    example = next((entry.example for entry in tx.output.inputs if entry.node is owner.node), None)
    if owner.source is None or not isinstance(example, torch.Tensor) or not example.is_leaf or not owner.fake.is_leaf:
        unsupported("autograd", "Tensor.grad of a tensor that is no leaf of the program's")
    return example, owner.source


def load_gradient(tx: Translator, owner: TensorVariable) -> VariableTracker:
    """``tensor.grad``"""
    example, source = _leaf(tx, owner)
    stored = tx.ledger.load_attr(owner, "grad")
    return stored if stored is not None else LazyVariable(tx, example.grad, sources.attr(source, "grad"))


def store_gradient(tx: Translator, owner: TensorVariable, value: VariableTracker) -> None:
    """``tensor.grad = value``; whatever torch would refuse is left to it."""
    from pydynamo.frontend.variables.tensor import TensorVariable

    _leaf(tx, owner)
    if not (value.is_constant() and value.as_constant() is None):
        if not isinstance(value, TensorVariable) or value is owner:
            unsupported("tensor-mutation", f"store of {value.describe()} to Tensor.grad")
        mine, given = owner.fake, value.fake
        sizes = (*mine.shape, *given.shape)
        alike = all(type(size) is int for size in sizes) and mine.shape == given.shape
        if not alike or mine.dtype != given.dtype or mine.device != given.device or mine.layout != given.layout:
            unsupported("tensor-mutation", "store of a tensor of another kind to Tensor.grad")
        if torch.is_inference_mode_enabled():
            unsupported("tensor-mutation", "store to Tensor.grad in inference mode")
    tx.ledger.store_attr(owner, "grad", value)


def clear_gradient(tx: Translator, owner: TensorVariable) -> None:
    """``del tensor.grad``, which leaves None there."""
    store_gradient(tx, owner, NONE)


def zero_gradients(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``Optimizer.zero_grad``: a profiler would be told of it, which then has to see the original."""
    from pydynamo.frontend.polyfills.optimizers import zero_grad

    name = "_is_profiler_enabled"
    if getattr(_PROFILER, name):
        unsupported("opaque-call", "Optimizer.zero_grad while a profiler runs")
    tx.output.guards.add("ID_MATCH", sources.attr(sources.const(_PROFILER), name), False)
    function: Any = zero_grad
    return tx.function_at(function, sources.const(function)).call_function(tx, args, kwargs)
