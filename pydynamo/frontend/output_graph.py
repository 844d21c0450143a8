"""The FX graph under construction: inputs, one fake propagation per operator, outputs, and the call of the backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)

from pydynamo.frontend.exc import Unsupported, unsupported
from pydynamo.frontend.failing import may_fail, tensors_in, would_be_seen, writes_over_itself
from pydynamo.frontend.fake_mode import TranslationMode
from pydynamo.frontend.first_run import Changes
from pydynamo.frontend.guards import GuardSet, global_state
from pydynamo.frontend.refusals import may_refuse, refusal
from pydynamo.frontend.regions import Region, fold_regions
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable, wrap_result

if TYPE_CHECKING:
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.symbolic import SymbolicShapes
    from pydynamo.frontend.translator import Translator

Backend = Callable[[torch.fx.GraphModule, list[Any]], Callable[..., Any]]


class GraphInput:
    """A placeholder and where its value comes from."""

    def __init__(self, node: torch.fx.Node, source: Source, example: Any) -> None:
        self.node = node
        self.source = source
        self.example = example


class OutputGraph:
    """Everything one translation captures besides side effects."""

    def __init__(self, fake_mode: TranslationMode, symbols: SymbolicShapes) -> None:
        self.graph = torch.fx.Graph()
        self.fake_mode = fake_mode
        self.symbols = symbols
        self.guards = GuardSet()
        self.guards.add("GLOBAL_STATE", None, global_state())
        self.inputs: list[GraphInput] = []
        #: what a failing graph leaves behind besides numbers that it has drawn; '' if nothing, so that its frame can run
        #: again from its start
        self.leaves_traces = ""
        self.changes = Changes()
        #: whether an operator was recorded whose failure makes that necessary
        self.may_run_again = False
        #: what checkpointed calls recorded
        self.regions: list[Region] = []
        #: the nodes that run though nobody needs what they give
        self._seen: list[torch.fx.Node] = []
        #: how many outputs come after those that were asked for
        self.more_outputs = 0
        self._items: dict[tuple[torch.fx.Node, Any], torch.fx.Node] = {}
        self._last_input: torch.fx.Node | None = None
        self.ops = 0

    # inputs --------------------------------------------------------------------------------------------------------
    def placeholder(self, source: Source, example: Any, fake: Any) -> torch.fx.Node:
        """A new graph input for the value at ``source``."""
        name = "L_" + "".join(c if c.isalnum() else "_" for c in source.name.removeprefix("L[").replace("'", ""))
        with (
            self.graph.inserting_after(self._last_input)
            if self._last_input is not None
            else self.graph.inserting_before(next(iter(self.graph.nodes), None))
        ):
            node = self.graph.placeholder(name.rstrip("_") + "_")
            # fx makes the name unique, but writes the target as the parameter
            node.target = node.name
        self._last_input = node
        node.meta["example_value"] = fake
        self.inputs.append(GraphInput(node, source, example))
        return node

    # operators -----------------------------------------------------------------------------------------------------
    def call_function(self, tx: Translator, target: Callable[..., Any], args: Args, kwargs: Kwargs) -> VariableTracker:
        """Record ``target(*args, **kwargs)``."""
        return self._record(tx, "call_function", target, args, kwargs)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        """Record ``args[0].name(*args[1:], **kwargs)``."""
        return self._record(tx, "call_method", name, args, kwargs)

    def _record(self, tx: Translator, op: str, target: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
        args = [arg.realize() for arg in args]
        kwargs = {name: arg.realize() for name, arg in kwargs.items()}
        name = target if op == "call_method" else getattr(target, "__name__", "")
        leaf = kwargs.get("requires_grad")
        if leaf is not None and (not leaf.is_constant() or leaf.as_constant()):
            # Inside a graph that is traced for its gradients a leaf is a constant: it would come back requiring none.
            unsupported("autograd", f"{name} makes a leaf that requires gradients")
        if writes_over_itself(name, args):
            unsupported("operator-error", f"{name} writes several elements of a tensor to one place")
        failing = may_fail(name, args)
        seen = would_be_seen(tx) if failing else ""
        if seen and self.leaves_traces:
            unsupported("failing-operator-in-try", f"{name} {seen}, and {self.leaves_traces} before it")
        self.may_run_again |= bool(seen)
        fx_args = tuple(arg.as_fx() for arg in args)
        fx_kwargs = {key: arg.as_fx() for key, arg in kwargs.items()}
        fakes = [arg.as_fake() for arg in args]
        fake_kwargs = {key: arg.as_fake() for key, arg in kwargs.items()}
        self.fake_mode.traces.clear()
        call = _method(name) if op == "call_method" else target
        result = self.propagate(lambda: call(*fakes, **fake_kwargs), name)
        self._refuse_types(name, call, fakes, fake_kwargs)
        self._note_traces(name, target)
        known: dict[int, VariableTracker] = {}
        for value in [*args, *kwargs.values()]:
            tensors_in(value, known)
        node = self.graph.create_node(op, target, fx_args, fx_kwargs)
        if failing:
            node.meta["may_fail"] = True
        traces = self.fake_mode.traces
        kept = traces.written and not self._are_new(traces.written)  # by what it writes to
        noticed = failing or traces.drawn or _may_be_refused(fakes)
        if noticed and not kept and isinstance(_first(result), torch.Tensor):
            self._seen.append(node)
        wrapped = wrap_result(tx, result, node, known)
        if _is_fact(wrapped) and result is not None:
            self._erase(node)
            return wrapped
        self.ops += 1
        node.meta["user_stack"] = tx.user_stack()
        return wrapped

    def _refuse_types(self, name: str, call: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
        """Break if the write that was just propagated is one that real tensors refuse."""
        traces = self.fake_mode.traces
        if traces.written and not traces.unknown and may_refuse(traces.written):
            found = refusal(call, args, kwargs)
            if found:
                unsupported("operator-error", f"{name}: {found}")

    def _note_traces(self, name: str, target: Any) -> None:
        """Keep account of what the operator that was just propagated leaves behind if a later one fails."""
        traces = self.fake_mode.traces
        left = ""
        if traces.unknown or not _is_of_torch(target):
            left = f"nobody knows what {name} does"
        elif traces.written and not self._are_new(traces.written):
            left = f"{name} changes a tensor"
        if not left and not traces.drawn:
            return
        self.changes.note(traces, not traces.unknown and _is_of_torch(target))
        if not left or self.leaves_traces:  # numbers that were drawn can be taken back
            return
        if self.may_run_again:
            unsupported("failing-operator-in-try", f"{left} after an operator that may fail in a try block")
        self.leaves_traces = left

    def _are_new(self, tensors: list[torch.Tensor]) -> bool:
        """True if no input shares memory with any of the tensors."""
        try:
            given = {
                entry.node.meta["example_value"].untyped_storage()._cdata
                for entry in self.inputs
                if isinstance(entry.node.meta["example_value"], torch.Tensor)
            }
            return not any(tensor.untyped_storage()._cdata in given for tensor in tensors)
        except (NotImplementedError, RuntimeError):
            return False  # a layout without a storage

    def _erase(self, node: torch.fx.Node) -> None:
        for user in list(node.users):
            self._erase(user)
            self._items = {key: value for key, value in self._items.items() if value is not user}
        self.graph.erase_node(node)

    def forget_after(self, last: torch.fx.Node | None) -> None:
        """Take back every node after ``last``."""
        for node in reversed(self.graph.nodes):
            if node is last:
                break
            self.graph.erase_node(node)
        kept = set(self.graph.nodes)
        self._items = {key: node for key, node in self._items.items() if node in kept}

    def forget(self, nodes: list[torch.fx.Node]) -> None:
        """Take back these nodes, which nothing else uses."""
        for node in reversed(nodes):
            self.graph.erase_node(node)
        kept = set(self.graph.nodes)
        self._items = {key: node for key, node in self._items.items() if node in kept}

    def side_effect(self, target: Callable[..., Any], *args: Any) -> None:
        """Record a call for its effect (a mode switch), without propagation."""
        self.graph.create_node("call_function", target, args, {})

    def propagate(self, thunk: Callable[[], Any], name: str = "") -> Any:
        """Run an operator on fake tensors; a failure is a graph break, and eager raises the error."""
        try:
            with self.fake_mode, self.symbols.dispatcher():
                return thunk()
        except (Unsupported, RecursionError):
            raise
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            unsupported("data-dependent-value", f"{name}: {error}")
        except UnsupportedOperatorException as error:
            unsupported("unsupported-torch-call", f"{name}: {error}")
        except (
            RuntimeError,
            TypeError,
            ValueError,
            IndexError,
            AttributeError,
            NotImplementedError,
            AssertionError,
            ArithmeticError,
            KeyError,
        ) as error:
            unsupported("operator-error", f"{name}: {type(error).__name__}: {str(error)[:300]}")

    def getitem_node(self, node: torch.fx.Node, index: Any, fake: Any) -> torch.fx.Node:
        """The node of one item of an operator that returns several values."""
        if (node, index) not in self._items:
            item = self.graph.create_node("call_function", operator.getitem, (node, index), {})
            item.meta["example_value"] = fake
            self._items[node, index] = item
        return self._items[node, index]

    # the end -------------------------------------------------------------------------------------------------------
    def is_empty(self) -> bool:
        """True if running the graph would do nothing."""
        return all(node.op == "placeholder" for node in self.graph.nodes)

    def finish(self, outputs: list[torch.fx.Node]) -> torch.fx.GraphModule:
        """Close the graph with these outputs; dead pure nodes and unused inputs go."""
        unused = self._unused(outputs)
        self.more_outputs = len(unused)
        self.graph.output((*outputs, *unused))
        self.graph.eliminate_dead_code(_is_impure)
        fold_regions(self.graph, self.regions)
        kept = []
        for entry in self.inputs:
            if entry.node.users:
                kept.append(entry)
            else:
                self.graph.erase_node(entry.node)
        self.inputs = kept
        return torch.fx.GraphModule({}, self.graph, "CompiledGraph")

    def _unused(self, outputs: list[torch.fx.Node]) -> list[torch.fx.Node]:
        """Tensors that no output needs, but whose operators would be missed: they draw random numbers or may fail.

        Backends drop what gives no output; without gradients, as the backward pass must not go through them.
        """
        needed = set(outputs)
        found = []
        seen = set(self._seen)
        for node in reversed(self.graph.nodes):
            if node not in needed and node in seen:
                needed.add(node)
                several = node.meta.get("example_value")
                one = self.getitem_node(node, 0, several[0]) if isinstance(several, (tuple, list)) else node
                found.append(self.graph.create_node("call_method", "detach", (one,), {}))
            if node in needed:
                needed.update(node.all_input_nodes)
        return found


def _method(name: str) -> Callable[..., Any]:
    return lambda owner, *args, **kwargs: getattr(owner, name)(*args, **kwargs)


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, (tuple, list)) and result else result


def _may_be_refused(fakes: list[Any]) -> bool:
    """True for what fake tensors do not refuse where real ones may: whole numbers, mostly, and tensors without elements."""
    return any(
        not fake.is_floating_point() or any(type(size) is int and size == 0 for size in fake.shape)
        for fake in fakes
        if isinstance(fake, torch.Tensor)
    )


def _is_fact(value: VariableTracker) -> bool:
    from pydynamo.frontend.variables.sequence import SequenceVariable

    if isinstance(value, SequenceVariable):
        return bool(value.items) and all(_is_fact(item) for item in value.items)
    return not isinstance(value, TensorVariable | SymNumberVariable)


def _is_of_torch(target: Any) -> bool:
    """True for methods of tensors, Python's operators, functions of torch, and calls of them that are our own."""
    module = getattr(target, "__module__", None) or ""
    return isinstance(target, str) or module.split(".")[0] in ("torch", "_operator", "builtins", "math", "pydynamo", "")


_PURE_FUNCTIONS = frozenset({operator.getitem, getattr})


def _is_impure(node: torch.fx.Node) -> bool:
    """True for nodes that stay though nobody uses them: mutation, random numbers, failures, mode switches."""
    if node.op in ("placeholder", "output") or "may_fail" in node.meta:
        return True
    if node.op == "call_method":
        name = str(node.target)
        return name not in _PURE_METHODS
    return node.target not in _PURE_FUNCTIONS


_PURE_METHODS = frozenset(
    {
        "size",
        "stride",
        "dim",
        "numel",
        "view",
        "reshape",
        "permute",
        "transpose",
        "t",
        "detach",
        "unbind",
        "expand",
        "unsqueeze",
        "squeeze",
        "chunk",
        "split",
        "float",
        "half",
        "bfloat16",
        "contiguous",
        "flatten",
    }
)
