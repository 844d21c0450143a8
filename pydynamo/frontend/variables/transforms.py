"""``torch.vmap`` and ``torch.func.grad``: calls of them are one node, which transforms the graph of the function.

The function is traced once, with the slices or arguments that it would see, into nodes that become a graph of its own.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import torch
import torch.fx

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.checkpoint import traced_alone
from pydynamo.frontend.variables.constant import constant

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.tensor import TensorVariable


class VmappedCall:
    """The target of a node: the body over slices of its first arguments; the others are the same for all."""

    def __init__(self, body: torch.fx.GraphModule, in_dims: tuple[int | None, ...], out_dims: int) -> None:
        self.body = body
        self.in_dims = in_dims
        self.out_dims = out_dims
        self.__name__ = "vmap"

    def __call__(self, *args: Any) -> Any:
        in_dims = (*self.in_dims, *(None for _ in args[len(self.in_dims) :]))
        return torch.vmap(self.body, in_dims, self.out_dims)(*args)

    def __repr__(self) -> str:
        return f"vmap({self.body.graph})"


class GradientCall:
    """The target of a node: the gradients of what the body gives with respect to some of its arguments."""

    def __init__(self, body: torch.fx.GraphModule, argnums: int | tuple[int, ...], with_value: bool) -> None:
        self.body = body
        self.argnums = argnums
        self.with_value = with_value
        self.__name__ = "grad"

    def __call__(self, *args: Any) -> Any:
        transform = torch.func.grad_and_value if self.with_value else torch.func.grad
        return transform(lambda *given: self.body(*given)[0], self.argnums)(*args)

    def __repr__(self) -> str:
        return f"grad({self.body.graph})"


_DEFAULTS: dict[str, dict[str, Any]] = {
    "vmap": {"in_dims": 0, "out_dims": 0, "randomness": "error", "chunk_size": None},
    "grad": {"argnums": 0, "has_aux": False},
    "grad_and_value": {"argnums": 0, "has_aux": False},
}
_MODULES = ("torch.func", "torch._functorch.apis", "torch._functorch.eager_transforms")


def is_transform(fn: Any) -> bool:
    """True for the transforms that are followed."""
    return isinstance(fn, types.FunctionType) and fn.__name__ in _DEFAULTS and fn.__module__ in _MODULES


def transformed(tx: Translator, fn: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``fn(function, ...)``"""
    names = list(_DEFAULTS[fn.__name__])
    given = dict(zip(names, args[1:], strict=False)) | kwargs
    if not args or len(args) > 1 + len(names) or not set(given) <= set(names):
        unsupported("unsupported-torch-call", f"{fn.__name__}() with these arguments")
    options = _DEFAULTS[fn.__name__] | {name: value.realize().as_constant() for name, value in given.items()}
    return TransformedVariable(fn.__name__, args[0].realize(), options)


class TransformedVariable(VariableTracker):
    """What a transform returned, made in the trace: only called."""

    def __init__(self, kind: str, function: VariableTracker, options: dict[str, Any]) -> None:
        self.kind = kind
        self.function = function
        self.options = options

    def python_type(self) -> type:
        return types.FunctionType

    def truth(self, tx: Translator) -> bool:
        return True

    def children(self) -> list[VariableTracker]:
        return [self.function]

    def describe(self) -> str:
        return f"{self.kind} of {self.function.describe()}"

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        inputs = [_tensor(arg) for arg in args]
        if kwargs or not inputs:
            unsupported("unsupported-torch-call", f"{self.describe()} with keyword arguments, or without any")
        return self._vmapped(tx, inputs) if self.kind == "vmap" else self._gradient(tx, inputs)

    def _vmapped(self, tx: Translator, inputs: list[TensorVariable]) -> VariableTracker:
        options = self.options
        dims = options["in_dims"]
        in_dims = (dims,) * len(inputs) if type(dims) is int else dims
        usual = type(options["out_dims"]) is int and options["randomness"] == "error" and options["chunk_size"] is None
        if not usual or type(in_dims) is not tuple or not all(type(dim) in (int, type(None)) for dim in in_dims):
            unsupported("unsupported-torch-call", "vmap() with these arguments")
        if len(in_dims) != len(inputs) or not any(dim is not None for dim in in_dims):
            unsupported("operator-error", "vmap() over nothing")
        for value, dim in zip(inputs, in_dims, strict=True):
            rank = value.fake.dim()
            if dim is not None and not (-rank <= dim < rank and value.fake.shape[dim] != 0):
                unsupported("operator-error", "vmap() over a dimension that is not there, or is empty")
        slices = [
            tx.output.call_method(tx, "select", [value, constant(dim), constant(0)], {}) if dim is not None else value
            for value, dim in zip(inputs, in_dims, strict=True)
        ]
        tensors = [_tensor(value) for value in slices]
        result, body, captured = self._trace(tx, tensors)
        found = tx.output.call_function(tx, VmappedCall(body, in_dims, options["out_dims"]), [*inputs, *captured], {})
        tx.output.forget([value.node for value, dim in zip(tensors, in_dims, strict=True) if dim is not None])
        return _like(result, found)

    def _gradient(self, tx: Translator, inputs: list[TensorVariable]) -> VariableTracker:
        argnums = self.options["argnums"]
        wanted = (argnums,) if type(argnums) is int else argnums
        if self.options["has_aux"] or type(wanted) is not tuple or not torch.is_grad_enabled():
            unsupported("unsupported-torch-call", f"{self.kind}() with these arguments")
        if not all(type(index) is int and -len(inputs) <= index < len(inputs) for index in wanted):
            unsupported("operator-error", f"{self.kind}() of an argument that is not there")
        if any(not inputs[index].fake.is_floating_point() for index in wanted):
            unsupported("operator-error", f"{self.kind}() of numbers that are not real")
        argnums = argnums % len(inputs) if type(argnums) is int else tuple(index % len(inputs) for index in wanted)
        result, body, captured = self._trace(tx, inputs)
        if _tensor(result).fake.dim() != 0:
            unsupported("operator-error", f"{self.kind}() of a function that gives no number")
        call = GradientCall(body, argnums, self.kind == "grad_and_value")
        return tx.output.call_function(tx, call, [*inputs, *captured], {})

    def _trace(self, tx: Translator, inputs: list[TensorVariable]) -> tuple[VariableTracker, Any, Args]:
        """The result of the function, its graph, and what it uses besides its arguments."""
        output = tx.output
        before = output.leaves_traces, output.changes.drawn
        result, nodes = traced_alone(tx, self.function, list(inputs), {}, f"a function under {self.kind}()")
        if before != (output.leaves_traces, output.changes.drawn):
            unsupported("unsupported-torch-call", f"random numbers under {self.kind}()")
        body, captured = _graph_of(nodes, [value.node for value in inputs], [leaf.node for leaf in _leaves(result)])
        output.forget(nodes)
        return result, body, [_value_of(tx, node) for node in captured]


def _tensor(value: VariableTracker) -> TensorVariable:
    from pydynamo.frontend.variables.tensor import TensorVariable

    value = value.realize()
    if not isinstance(value, TensorVariable):
        unsupported("unsupported-torch-call", f"a function under a transform of {value.describe()}")
    return value


def _leaves(result: VariableTracker) -> list[TensorVariable]:
    from pydynamo.frontend.variables.sequence import SequenceVariable

    result = result.realize()
    if isinstance(result, SequenceVariable) and result.cls in (tuple, list) and result.items:
        return [_tensor(item) for item in result.items]
    return [_tensor(result)]


def _like(result: VariableTracker, found: VariableTracker) -> VariableTracker:
    """What the node gave, a tuple, in the form of what the function returned."""
    from pydynamo.frontend.variables.sequence import SequenceVariable

    result = result.realize()
    assert isinstance(found, SequenceVariable)
    return SequenceVariable(found.items, result.cls) if isinstance(result, SequenceVariable) else found.items[0]


def _value_of(tx: Translator, node: torch.fx.Node) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

    fake = node.meta.get("example_value")
    if isinstance(fake, torch.Tensor):
        return TensorVariable(node, fake)
    if isinstance(fake, torch.SymInt):
        return SymNumberVariable(node, fake, tx.output.symbols)
    unsupported(
        "unsupported-torch-call", "a function under a transform that uses more than tensors of its surroundings"
    )


def _graph_of(
    nodes: list[torch.fx.Node], given: list[torch.fx.Node], outputs: list[torch.fx.Node]
) -> tuple[torch.fx.GraphModule, list[torch.fx.Node]]:
    """The graph of these nodes, and what it takes after what is given."""
    inside = set(nodes)
    body = torch.fx.Graph()
    if len(set(given)) != len(given):
        unsupported("unsupported-torch-call", "a function under a transform that is given one tensor twice")
    taken = list(given)
    used = [value for node in nodes for value in node.all_input_nodes] + outputs
    taken += [value for value in dict.fromkeys(used) if value not in inside and value not in given]
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    for value in taken:
        copies[value] = body.placeholder(value.name)
        copies[value].meta = dict(value.meta)
    for node in nodes:
        copies[node] = body.node_copy(node, copies.__getitem__)
    body.output(tuple(copies[node] for node in outputs))
    return torch.fx.GraphModule({}, body, "TransformedBody"), taken[len(given) :]
