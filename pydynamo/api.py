"""The public functions: ``compile`` and what goes with it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from pydynamo.frontend.markers import disable, graph_break, is_compiling

__all__ = [
    "allow_in_graph",
    "compile",
    "disable",
    "explain",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "reset",
    "set_logs",
]


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Compile a function, method or nn.Module; also a decorator, with or without arguments.

    ``fullgraph`` raises Unsupported where a graph break would be. ``dynamic``: True makes sizes and numbers symbols, False
    bakes them in, None makes those symbols that change. ``backend``: a name (see ``list_backends``) or a callable
    ``(graph module, example inputs) -> callable``. Raises ValueError for an unknown backend, TypeError for something that
    cannot be called.

    >>> pydynamo.compile(lambda x: x * 2 + 1, backend="eager")(torch.ones(3))
    tensor([3., 3., 3.])
    """
    if model is None:
        return functools.partial(
            compile,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
        )
    if disable:
        return model
    import torch

    from pydynamo.backends import lookup
    from pydynamo.frontend.root import Options
    from pydynamo.frontend.wrapper import CompiledFunction, compiled_function

    how = Options(lookup(backend, mode, options), fullgraph, dynamic)
    if isinstance(model, CompiledFunction):
        model = model.function
    if isinstance(model, torch.nn.Module):
        from pydynamo.frontend.module_wrapper import OptimizedModule

        return OptimizedModule(model._orig_mod if isinstance(model, OptimizedModule) else model, how)
    if isinstance(model, types.FunctionType):
        return compiled_function(model, how)
    if isinstance(model, types.MethodType) and isinstance(model.__func__, types.FunctionType):
        return types.MethodType(compiled_function(model.__func__, how), model.__self__)
    if isinstance(model, functools.partial):
        return functools.partial(
            compile(model.func, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options),
            *model.args,
            **model.keywords,
        )
    call = getattr(type(model), "__call__", None)  # noqa: B004
    if isinstance(call, types.FunctionType) and not isinstance(model, type):
        return types.MethodType(compiled_function(call, how), model)
    if callable(model):
        return _wrap_callable(model, how)
    raise TypeError(f"pydynamo.compile needs a function or module, got {type(model).__name__}")


def _wrap_callable(model: Any, how: Any) -> Any:
    from pydynamo.frontend.wrapper import compiled_function

    def call(*args: Any, **kwargs: Any) -> Any:
        return model(*args, **kwargs)

    function: Any = call
    return compiled_function(function, how)


def explain(fn: Any, **options: Any) -> Callable[..., Any]:
    """A function that compiles ``fn`` afresh, calls it once and returns an ``Explanation`` of what was captured.

    See :class:`pydynamo.frontend.explain.Explanation`: graphs, breaks, guards, operators, compile times, bytecode.
    """
    from pydynamo.frontend.explain import explain

    return explain(fn, compile(fn, **{"backend": "eager", **options}))


def reset() -> None:
    """Forget everything compiled so far."""
    from pydynamo.frontend import wrapper

    wrapper.reset()


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Record calls of ``fn`` in the graph without looking inside."""
    from pydynamo.frontend.variables.torch_ops import graph_functions

    graph_functions()[fn] = getattr(fn, "__name__", "function")
    return fn


def mark_dynamic(tensor: Any, index: int | list[int] | tuple[int, ...]) -> None:
    """Make dimensions of this input symbols from the first compilation on."""
    found = set(getattr(tensor, "_pydynamo_dynamic", ()))
    found.update([index] if isinstance(index, int) else index)
    tensor._pydynamo_dynamic = found


def mark_static(tensor: Any, index: int | list[int] | tuple[int, ...] | None = None) -> None:
    """Keep dimensions of this input (all by default) baked in."""
    found = set(getattr(tensor, "_pydynamo_static", ()))
    found.update(range(tensor.dim()) if index is None else [index] if isinstance(index, int) else index)
    tensor._pydynamo_static = found


def list_backends() -> list[str]:
    """The names of the backends that pydynamo brings along."""
    from pydynamo import backends

    return backends.list_backends()


def set_logs(**kinds: bool) -> None:
    """Turn logs on or off: bytecode, graph, guards, recompiles, graph_breaks, source, side_effects."""
    from pydynamo.frontend import logs

    logs.set_logs(**kinds)
