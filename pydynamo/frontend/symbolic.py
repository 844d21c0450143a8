"""Numbers and sizes that change between calls: when they become symbols, and the guards that symbols need.

What was seen at a source is kept in the history of the root, so that one root's shapes do not make another's dynamic.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch

from pydynamo import config
from pydynamo.frontend.exc import RestartTranslation, unsupported
from pydynamo.frontend.fake_mode import as_it_was_made
from pydynamo.frontend.guards import TensorGuard
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.tensor import SymNumberVariable

if TYPE_CHECKING:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from pydynamo.frontend.output_graph import OutputGraph


#: numbers beyond it are baked in: symbols are of 64 bits, and products of two have to fit
_LARGEST = 1 << 31


class ShapeExpression:
    """A condition over symbols, and the source of each."""

    def __init__(self, condition: str, sources: dict[str, Source]) -> None:
        self.condition = condition
        self.sources = sources

    def __repr__(self) -> str:
        return self.condition


class SymbolicShapes:
    """The symbols of one translation, and the policy that makes them."""

    def __init__(self, history: dict[str, Any], dynamic: bool | None, static: set[str]) -> None:
        self.history = history
        self.dynamic = dynamic
        self.static = static
        self.shape_env: Any = None
        #: name -> the symbol, where its number comes from, and the number made of it
        self.symbols: dict[str, tuple[Any, Source, Any]] = {}

    # policy ------------------------------------------------------------------------------------------------------
    def number_is_dynamic(self, value: float, source: Source) -> bool:
        """Remember ``value``; True if the number at ``source`` is to be a symbol."""
        key = source.name
        if self.dynamic is False or key in self.static:
            return False
        if abs(value) > _LARGEST if isinstance(value, int) else not math.isfinite(value):
            return False
        before = self.history.setdefault(key, value)
        if self.dynamic is True and isinstance(value, int):
            return True
        if config.automatic_dynamic and type(before) is type(value) and before != value:
            return True
        return False

    def dynamic_sizes(self, value: torch.Tensor, source: Source) -> frozenset[int]:
        """Remember the sizes; the dimensions that are to be symbols."""
        marked = frozenset(getattr(value, "_pydynamo_dynamic", ())) | frozenset(
            getattr(value, "_dynamo_dynamic_indices", ())
        )
        fixed = frozenset(getattr(value, "_pydynamo_static", ()))
        if self.dynamic is False or source.name in self.static or isinstance(value, torch.nn.Parameter):
            return frozenset()
        # by rank: sizes of tensors that differ in it say nothing of each other
        sizes, changed = self.history.setdefault(f"{source.name}.shape{value.dim()}", (tuple(value.shape), set()))
        if config.automatic_dynamic:
            changed.update(i for i, (a, b) in enumerate(zip(sizes, value.shape, strict=True)) if a != b)
        wanted = set(range(value.dim())) if self.dynamic is True else changed | marked
        wanted = {i for i in wanted if value.shape[i] not in (0, 1)} - fixed
        return frozenset(wanted) if value.is_contiguous() else frozenset()

    # symbols -----------------------------------------------------------------------------------------------------
    def environment(self, fake_mode: FakeTensorMode) -> Any:
        """The ShapeEnv, made when the first symbol is."""
        if self.shape_env is None:
            from torch.fx.experimental.symbolic_shapes import ShapeEnv

            # sizes and numbers that depend on data come without guards: what an operator takes for granted of them only a
            # check while running could hold, so they are breaks, with symbols as without
            self.shape_env = ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
            fake_mode.shape_env = self.shape_env
            fake_mode.static_shapes = False
        return self.shape_env

    def dispatcher(self) -> AbstractContextManager[Any]:
        """Where operators run: with symbols, composite ones must be taken apart in Python, as C++ would ask for numbers."""
        if self.shape_env is None:
            return nullcontext()
        from torch._dispatch.python import enable_python_dispatcher

        made: AbstractContextManager[Any] = enable_python_dispatcher()
        return made

    def _adapter(self, source: Source) -> Any:
        from pydynamo.frontend.torch_source import NamedSource

        return NamedSource(source.name)

    def number(self, output: OutputGraph, value: float, source: Source) -> SymNumberVariable:
        """A symbol for the Python number at ``source``, as a graph input."""
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        env = self.environment(output.fake_mode)
        adapter = self._adapter(source)
        symbol = env.create_unspecified_symbol(value, source=adapter, dynamic_dim=DimDynamic.DYNAMIC)
        make = env.create_symintnode if isinstance(value, int) else env.create_symfloatnode
        sym = make(symbol, hint=value, source=adapter)
        self.symbols[str(symbol)] = (symbol, source, sym)
        output.guards.add("NUMBER_TYPE", source, type(value))
        if isinstance(value, int):
            env.constrain_symbol_range(symbol, -_LARGEST, _LARGEST)
        else:
            output.guards.add("CALL", source, math.isfinite)  # algebra is not true of inf and nan
        node = output.placeholder(source, value, sym)
        return SymNumberVariable(node, sym, self, source)

    def check_size(self, sym: torch.SymInt) -> None:
        """Bake in the numbers that ``sym`` is made of if it is too large for a symbol."""
        if sym.node.hint is None or abs(sym.node.hint) <= _LARGEST**2:
            return
        involved = {str(symbol) for symbol in sym.node.expr.free_symbols}
        for name, (_, source, own) in self.symbols.items():
            if name in involved or not involved:
                self._bake_in(own, source)
        unsupported("data-dependent-value", "a number that is too large for a symbol")

    def exact_float(self, node: torch.fx.Node, sym: torch.SymFloat) -> float:
        """The value of ``sym``, with all that it was computed from baked in: algebra does not round as Python does."""
        involved: set[str] = set()
        steps, seen = [node], {node}
        while steps:
            step = steps.pop()
            value = step.meta.get("example_value")
            if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
                involved.update(str(symbol) for symbol in value.node.expr.free_symbols)
                steps += [used for used in step.all_input_nodes if used not in seen]
                seen.update(step.all_input_nodes)
        for name in sorted(involved):
            _, source, own = self.symbols[name]
            self._bake_in(own, source)
        return float(sym.node.hint)

    def _bake_in(self, sym: Any, source: Source) -> None:
        if source.kind != "size":
            raise RestartTranslation("static", source.name)
        int(sym)

    def fake_tensor(self, output: OutputGraph, value: torch.Tensor, source: Source) -> torch.Tensor:
        """The fake of an input tensor, guarded."""
        dims = self.dynamic_sizes(value, source)
        if not dims:
            output.guards.add("TENSOR_MATCH", source, TensorGuard(value, tuple(value.shape), _strides(value)))
            try:
                return output.fake_mode.fake_of(value)
            except RuntimeError as error:  # its base has got other data since the view was taken
                unsupported("tensor-subclass", f"{source.name} is no view that can be described: {error}")
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        env = self.environment(output.fake_mode)
        sizes: list[Any] = []
        for axis, size in enumerate(value.shape):
            if axis not in dims:
                sizes.append(size)
                continue
            at = Source("size", axis, source)
            symbol = env.create_symbol(size, self._adapter(at), dynamic_dim=DimDynamic.DYNAMIC)
            sizes.append(env.create_symintnode(symbol, hint=size, source=self._adapter(at)))
            self.symbols[str(symbol)] = (symbol, at, sizes[-1])
        wanted = tuple(None if axis in dims else size for axis, size in enumerate(value.shape))
        output.guards.add("TENSOR_MATCH", source, TensorGuard(value, wanted, None))
        output.guards.add("CALL", source, torch.Tensor.is_contiguous)
        strides: list[Any] = []
        step: Any = 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step = step * size
        with as_it_was_made(value):
            with torch.no_grad(), output.fake_mode:
                fake = torch.empty_strided(sizes, strides, dtype=value.dtype, device=value.device)
            if value.requires_grad:
                fake = fake.requires_grad_() if value.is_leaf else fake.requires_grad_().view_as(fake)
        return fake

    def add_guards(self, output: OutputGraph) -> None:
        """Turn the conditions on the symbols into guards."""
        if self.shape_env is None:
            return
        from torch.utils._sympy.printers import PythonPrinter

        printer = PythonPrinter()
        for name, (symbol, source, _) in self.symbols.items():
            bounds = self.shape_env.var_to_range.get(symbol)
            terms = []
            if bounds is not None and getattr(bounds.lower, "is_Integer", False):
                terms.append(f"{name} >= {bounds.lower}")
            if bounds is not None and getattr(bounds.upper, "is_Integer", False) and int(bounds.upper) < 1 << 62:
                terms.append(f"{name} <= {bounds.upper}")
            if terms:
                output.guards.add("EXPRESSION", source, ShapeExpression(" and ".join(terms), {name: source}))
        for guard in self.shape_env.guards:
            names = {str(s) for s in guard.expr.free_symbols}
            sources = {name: self.symbols[name][1] for name in sorted(names) if name in self.symbols}
            condition = printer.doprint(guard.expr)
            first = next(iter(sources.values()), None)
            output.guards.add("EXPRESSION", first, ShapeExpression(condition, sources))


def _strides(value: torch.Tensor) -> tuple[int, ...] | None:
    return tuple(value.stride()) if value.layout is torch.strided else None
