"""Tensors and symbolic numbers: values that live in the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import RestartTranslation, unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import constant, from_python, is_constant_value
from pydynamo.frontend.variables.gradients import clear_gradient, load_gradient, store_gradient
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.tensor_names import BREAKING, DUNDER_METHODS, FACT_METHODS, FACTS, VIEWS

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.symbolic import SymbolicShapes
    from pydynamo.frontend.translator import Translator


class TensorVariable(VariableTracker):
    """A tensor: ``node`` in the graph, ``fake`` for its metadata."""

    mutable = True

    def __init__(
        self, node: torch.fx.Node, fake: torch.Tensor, source: Source | None = None, cls: type = torch.Tensor
    ) -> None:
        self.node = node
        self.fake = fake
        self.source = source
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def as_fx(self) -> Any:
        return self.node

    def as_fake(self) -> Any:
        return self.fake

    def hash_key(self) -> Any:
        return Identity(self)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "requires_grad_" and self._already_requires(args, kwargs):
            return self
        if name in BREAKING:
            unsupported(BREAKING[name], f"Tensor.{name}()")
        method = getattr(torch.Tensor, name, None)
        if method is None or (name.startswith("__") and name not in DUNDER_METHODS):
            return super().call_method(tx, name, args, kwargs)
        if name in ("__len__", "__iter__", "__contains__", "__getitem__", "__setitem__"):
            return self._container_method(tx, name, args)
        if name in FACT_METHODS and not _moves(name, args):
            return self._fact_method(tx, name, args, kwargs)
        if name == "new":
            return self._new(tx, args, kwargs)
        if name == "type":
            args = [_as_type_name(args[0]), *args[1:]]
        return tx.output.call_method(tx, name, [self, *args], kwargs)

    def _new(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """``Tensor.new``: of sizes it makes an empty tensor, of anything else it copies."""
        given = [arg.realize() for arg in args]
        of_sizes = all(value.python_type() is int for value in given)
        if kwargs or not (of_sizes or (len(given) == 1 and given[0].python_type() is torch.Size)):
            unsupported("unsupported-torch-call", "Tensor.new() of anything but sizes")
        from pydynamo.frontend.variables.sequence import SequenceVariable

        size = SequenceVariable(given, tuple) if of_sizes and given else given[0] if given else constant(0)
        return tx.output.call_method(tx, "new_empty", [self, size], {})

    def _container_method(self, tx: Translator, name: str, args: Args) -> VariableTracker:
        if name == "__len__":
            return self.length(tx)
        if name == "__iter__":
            return self.get_iter(tx)
        if name == "__getitem__":
            return self.getitem(tx, args[0].realize())
        if name == "__setitem__":
            self.setitem(tx, args[0].realize(), args[1])
            return constant(None)
        return constant(self.contains(tx, args[0]))

    def _fact_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if any(not arg.realize().is_constant() for arg in [*args, *kwargs.values()]):
            return tx.output.call_method(tx, name, [self, *args], kwargs)
        values = [arg.realize().as_constant() for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        answer = tx.output.propagate(lambda: getattr(self.fake, name)(*values, **keywords))
        if name == "size" and not values and not keywords:
            return self.shape(tx)
        if name == "type":
            return constant(answer)
        if _symbolic(answer):
            return tx.output.call_method(tx, name, [self, *args], kwargs)
        return from_python(answer)

    def shape(self, tx: Translator) -> VariableTracker:
        """``tensor.shape``"""
        from pydynamo.frontend.variables.sequence import SequenceVariable

        items: list[VariableTracker] = []
        for axis, size in enumerate(self.fake.shape):
            items.append(
                constant(size) if type(size) is int else tx.output.call_method(tx, "size", [self, constant(axis)], {})
            )
        return SequenceVariable(items, torch.Size)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin
        from pydynamo.frontend.variables.objects import ClassVariable

        if name == "shape":
            return self.shape(tx)
        if name in FACTS:
            answer = tx.output.propagate(lambda: getattr(self.fake, name))
            if _symbolic(answer):
                return tx.output.call_function(tx, getattr, [self, constant(name)], {})
            return from_python(answer)
        if name in VIEWS:
            return tx.output.call_function(tx, getattr, [self, constant(name)], {})
        if name == "data":
            return tx.output.call_method(tx, "detach", [self], {})
        if name == "__class__":
            return ClassVariable(self.cls, None)
        if name == "grad":
            return load_gradient(tx, self)
        if name == "grad_fn" and self.fake.is_leaf:
            return constant(None)
        if name in (
            "grad_fn",
            "_grad",
            "names",
            "output_nr",
            "_version",
            "_base",
            "__dict__",
            "_backward_hooks",
        ):
            return super().getattr(tx, name)
        if callable(getattr(torch.Tensor, name, None)) and _is_on_class(name):
            return MethodOfBuiltin(self, name)
        if self.source is not None and not _is_on_class(name):
            return tx.attribute_of_input_tensor(self, name)
        if not _is_on_class(name):
            tx.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")
        return super().getattr(tx, name)

    def _already_requires(self, args: Args, kwargs: Kwargs) -> bool:
        """True if ``requires_grad_(...)`` changes nothing."""
        given = [*args, *kwargs.values()]
        if len(given) > 1 or any(name != "requires_grad" for name in kwargs):
            return False
        wanted = given[0].realize().as_constant() if given else True
        return type(wanted) is bool and self.fake.requires_grad is wanted

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name != "grad":
            unsupported("tensor-mutation", f"store to Tensor.{name}")
        store_gradient(tx, self, value.realize())

    def delattr(self, tx: Translator, name: str) -> None:
        if name != "grad":
            super().delattr(tx, name)
        clear_gradient(tx, self)

    def truth(self, tx: Translator) -> bool:
        unsupported("data-dependent-branch", f"truth of a tensor ({self.node.name})")

    def length(self, tx: Translator) -> VariableTracker:
        if self.fake.dim() == 0:
            tx.raise_error(TypeError, "len() of a 0-d tensor")
        size = self.fake.shape[0]
        return constant(size) if type(size) is int else tx.output.call_method(tx, "size", [self, constant(0)], {})

    def get_iter(self, tx: Translator) -> VariableTracker:
        from pydynamo.frontend.variables.sequence import SequenceVariable

        if self.fake.dim() == 0:
            tx.raise_error(TypeError, "iteration over a 0-d tensor")
        if type(self.fake.shape[0]) is not int:
            unsupported("unsupported-iteration", "iteration over a tensor of symbolic length")
        parts = tx.output.call_method(tx, "unbind", [self, constant(0)], {})
        assert isinstance(parts, SequenceVariable)
        return parts.get_iter(tx)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        self._has_dimensions_for(key)
        return tx.output.call_function(tx, operator.getitem, [self, key], {})

    def _has_dimensions_for(self, key: VariableTracker) -> None:
        # torch looks up the size of the first dimension where there is none, and follows what it finds as a symbol
        if self.fake.dim() == 0 and key.realize().python_type() is int:
            unsupported("operator-error", "a number as index into a tensor without dimensions")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self._has_dimensions_for(key)
        tx.output.call_function(tx, operator.setitem, [self, key, value.realize()], {})

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        unsupported("data-dependent-value", "membership in a tensor")

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_graph_output(self)

    def describe(self) -> str:
        return f"tensor {self.source.name}" if self.source is not None else f"tensor {self.node.name}"


def _is_on_class(name: str) -> bool:
    """True if tensors have the attribute; what only the class itself has, such as ``__name__``, they have not."""
    return any(name in base.__dict__ for base in torch.Tensor.__mro__)


def _moves(name: str, args: Args) -> bool:
    return name == "type" and bool(args)


def _as_type_name(kind: VariableTracker) -> VariableTracker:
    """The name of a class such as ``torch.HalfTensor``: the class itself cannot be written in a graph."""
    kind = kind.realize()
    if kind.is_constant() and isinstance(kind.as_constant(), type) and hasattr(kind.as_constant(), "dtype"):
        return constant(f"{kind.as_constant().__module__}.{kind.as_constant().__name__}")
    return kind


def _symbolic(answer: Any) -> bool:
    if isinstance(answer, tuple | list):
        return any(_symbolic(part) for part in answer)
    return isinstance(answer, torch.SymInt | torch.SymFloat | torch.SymBool)


class SymNumberVariable(VariableTracker):
    """A Python number that changes between calls: ``sym`` from the ShapeEnv, ``node`` in the graph."""

    def __init__(self, node: torch.fx.Node, sym: Any, symbols: SymbolicShapes, source: Source | None = None) -> None:
        self.node = node
        self.sym = sym
        self.symbols = symbols
        self.source = source

    def python_type(self) -> type:
        return {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(self.sym)]

    def as_fx(self) -> Any:
        return self.node

    def as_fake(self) -> Any:
        return self.sym

    def as_constant(self) -> Any:
        self._demand_static()
        if isinstance(self.sym, torch.SymFloat):
            return self.symbols.exact_float(self.node, self.sym)
        return self.python_type()(self.sym)

    def has_exact_conditions(self) -> bool:
        """False for a float that was computed: conditions on it are solved by algebra, which does not round."""
        return not isinstance(self.sym, torch.SymFloat) or self.source is not None

    def _demand_static(self) -> None:
        """A symbol of an input whose value is needed: translate again with the value baked in and guarded."""
        if self.source is not None:
            raise RestartTranslation("static", self.source.name)

    def specialize(self, tx: Translator) -> VariableTracker:
        """The number as a constant, guarded."""
        return constant(self.as_constant())

    def hash_key(self) -> Any:
        return self.as_constant()

    def truth(self, tx: Translator) -> bool:
        return bool(self.sym if self.has_exact_conditions() else self.as_constant())

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return self.specialize(tx).getattr(tx, name)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.specialize(tx).call_method(tx, name, args, kwargs)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_graph_output(self)

    def describe(self) -> str:
        return f"the number {self.source.name}" if self.source is not None else f"the number {self.node.name}"


_OUT_OF_PLACE: dict[Callable[..., Any], Callable[..., Any]] = {
    getattr(operator, "i" + name): getattr(operator, name if name not in ("and", "or") else name + "_")
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("lshift", "rshift", "xor", "and", "or"),
    )
}


def graph_binary(
    tx: Translator, function: Callable[..., Any], left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    """A binary operator or comparison with a tensor or symbol on one side.

    Only a tensor is changed in place: for a number on the left the generated code would assign to a literal, or to a
    name that later nodes still use.
    """
    if not isinstance(left, TensorVariable):
        function = _OUT_OF_PLACE.get(function, function)
    return tx.output.call_function(tx, function, [left, right], {})


def wrap_result(tx: Translator, value: Any, node: torch.fx.Node, known: dict[int, VariableTracker]) -> VariableTracker:
    """What fake propagation gave, as a tracked value; a result that is an argument is that argument."""
    from pydynamo.frontend.variables.dicts import DictVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable, is_namedtuple

    if isinstance(value, torch.Tensor):
        if id(value) in known:
            return known[id(value)]
        node.meta["example_value"] = value
        return TensorVariable(node, value)
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        if isinstance(value, torch.SymInt):
            tx.output.symbols.check_size(value)
        exact = value.node.maybe_as_int() if isinstance(value, torch.SymInt) else None
        if exact is not None:
            return constant(exact)
        node.meta["example_value"] = value
        return SymNumberVariable(node, value, tx.output.symbols)
    if is_constant_value(value):
        return constant(value)
    kind = type(value)
    if kind in (tuple, list, torch.Size) or is_namedtuple(kind):
        node.meta["example_value"] = value
        items = [
            wrap_result(tx, part, tx.output.getitem_node(node, index, part), known) for index, part in enumerate(value)
        ]
        return SequenceVariable(items, kind)
    if kind is dict and all(isinstance(key, str) for key in value):
        return DictVariable.from_pairs(
            [
                (constant(key), wrap_result(tx, part, tx.output.getitem_node(node, key, part), known))
                for key, part in value.items()
            ]
        )
    unsupported("unsupported-torch-call", f"an operator that returns {kind.__name__}")
