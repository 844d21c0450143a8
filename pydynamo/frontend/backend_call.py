"""The call of the backend with a finished graph."""

from __future__ import annotations

import linecache
import logging
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from pydynamo.errors import BackendError, NeedsNumbers
from pydynamo.frontend import events
from pydynamo.frontend.exc import RestartTranslation
from pydynamo.frontend.overlaps import Apart, overlap, places_of
from pydynamo.frontend.surroundings import is_transforming

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator


log = logging.getLogger("pydynamo")

#: what a backend's own tracing meets in operators that this graph only has in its backward pass or its decompositions
_HANGS_ON_DATA = (DataDependentOutputException, DynamicOutputShapeException)
#: what operators raise themselves, where tracing sees earlier than fake tensors did that eager will refuse them, too
_RAISED_BY_OPERATORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


def _forget_source_with(module: torch.fx.GraphModule) -> None:
    """torch.fx keeps the source text of every module it ever generated, for tracebacks; let it go with the module."""
    loader = getattr(torch.fx.graph_module, "_loader", None)
    cache = getattr(loader, "eval_cache", None)
    filename = module.forward.__code__.co_filename
    if isinstance(cache, dict) and filename in cache:
        weakref.finalize(module, _forget_source, cache, filename).atexit = False


def _forget_source(cache: dict[str, str], filename: str) -> None:
    cache.pop(filename, None)
    linecache.cache.pop(filename, None)


def _is_restart_for_number(error: Exception) -> bool:
    """True for what torch raises where it needs a plain number; by name, as nobody else has loaded its Dynamo."""
    return type(error).__name__ == "TensorifyScalarRestartAnalysis"


def _float_to_be_known(root: RootTranslator, error: Exception) -> str | None:
    """An input that varies, where the backend, or an operator below AOTAutograd, needs a plain number."""
    if not isinstance(error, NeedsNumbers):
        if not _is_restart_for_number(error):
            return None
        from torch._dynamo.symbolic_convert import TensorifyState

        TensorifyState.clear()  # names of symbols, which mean other numbers in other graphs
    floats = (e for e in root.graph.inputs if isinstance(e.node.meta["example_value"], torch.SymFloat))
    return next((entry.source.name for entry in floats), None)


def call_backend(root: RootTranslator, module: torch.fx.GraphModule, name: str) -> Callable[..., Any]:
    """What the backend makes of ``module``."""
    _forget_source_with(module)
    backend = root.options.backend
    plain = module.forward
    try:
        compiled = _compiled(backend, root, module)
    except RecursionError:
        raise
    except Exception as error:
        number = _float_to_be_known(root, error)
        if number is not None:
            raise RestartTranslation("static", number) from error
        if root.options.fullgraph or not _runs_as_it_is(backend, error):
            raise BackendError(
                f"the backend {_name_of(backend)} failed on a graph of {root.code.co_qualname}: "
                f"{type(error).__name__}: {error}"
            ) from error
        log.warning(
            "%s: the backend %s cannot compile a graph, which runs operator by operator instead: %s",
            root.code.co_qualname,
            _name_of(backend),
            error,
        )
        compiled = plain
    if not callable(compiled):
        raise BackendError(f"the backend gave {compiled!r}, which is not callable")
    if compiled != plain and compiled is not module:
        compiled = _while_apart(root, compiled, plain)
        if not any(isinstance(entry.example, torch.Tensor) for entry in root.graph.inputs):
            compiled = _outside_transforms(compiled, plain)
    events.graph_compiled(name, module)
    if root.closed_modes:
        from pydynamo.frontend.variables.contexts import restoring_modes

        return restoring_modes(compiled)
    return compiled


def _outside_transforms(compiled: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """``compiled`` for a graph that makes its tensors itself: no guard of an input would tell the transform."""

    def run(*args: Any) -> Any:
        return plain(*args) if is_transforming() else compiled(*args)

    return run


def _while_apart(root: RootTranslator, compiled: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """``compiled``, as long as no memory overlaps that the graph writes to."""
    graph = root.graph
    if not graph.leaves_traces:
        return compiled
    places = places_of([entry.node.meta["example_value"] for entry in graph.inputs], graph.changes.writes_to)
    if not places:
        return compiled
    if overlap(places, [entry.example for entry in graph.inputs]):
        return plain
    return Apart(compiled, plain, places)


def _runs_as_it_is(backend: Any, error: Exception) -> bool:
    """True if what the backend raised is no fault of its own, and the graph is for operators to run one by one."""
    if isinstance(error, _HANGS_ON_DATA):
        return True
    if not getattr(backend, "wants_fake_inputs", False):
        return False
    return type(error) in _RAISED_BY_OPERATORS or _is_limit_of_autograd(error) or _is_restart_for_number(error)


def _is_limit_of_autograd(error: Exception) -> bool:
    """True for what AOTAutograd says itself of graphs that it does not take."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    where = step.tb_frame.f_globals.get("__name__", "") if step is not None else ""
    return isinstance(error, AssertionError) and where.startswith("torch._functorch.")


def _name_of(backend: Any) -> str:
    backend = getattr(backend, "func", backend)
    return getattr(backend, "__qualname__", None) or type(backend).__qualname__


def _compiled(backend: Any, root: RootTranslator, module: torch.fx.GraphModule) -> Any:
    graph = root.graph
    if getattr(backend, "wants_fake_inputs", False):
        examples = [entry.node.meta["example_value"] for entry in graph.inputs]
        from torch._guards import TracingContext, tracing

        # what raises the errors of linear algebra has no result: AOTAutograd would drop it
        torch.fx.node.has_side_effect(torch.ops.aten._linalg_check_errors.default)
        with tracing(TracingContext(graph.fake_mode)):
            return backend(module, examples)
    return backend(module, [entry.example for entry in graph.inputs])
