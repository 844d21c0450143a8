"""Backends by name: functions from an FX graph and example inputs to a callable. Knows nothing of the translator."""

from __future__ import annotations

import functools
import importlib.util
import logging
import shutil
from collections.abc import Callable
from typing import Any

from pydynamo.errors import NeedsNumbers

log = logging.getLogger("pydynamo")
Backend = Callable[..., Callable[..., Any]]
_registry: dict[str, Backend] = {}


def register(name: str) -> Callable[[Backend], Backend]:
    """Register a backend under ``name``."""

    def add(backend: Backend) -> Backend:
        _registry[name] = backend
        return backend

    return add


@register("eager")
def eager(module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """Run the graph as it is."""
    forward: Callable[..., Any] = module.forward
    return forward


@register("aot_eager")
def aot_eager(module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """Trace forward and backward with AOTAutograd and run the ATen graphs as they are."""
    from torch._functorch.aot_autograd import aot_module_simplified

    _keep_what_tracing_loses(module)
    # Hooks of the user on all modules would see a call of the traced graph, which is a module, too: eager() runs past them.
    made: Callable[..., Any] = aot_module_simplified(module, example_inputs, fw_compiler=eager, bw_compiler=eager)
    return made


@register("inductor")
def inductor(module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """torch's own compiler, reached as a plain FX backend."""
    import torch
    from torch._inductor.compile_fx import compile_fx

    if any(isinstance(value, torch.SymFloat) for value in example_inputs):
        raise NeedsNumbers  # its C++ would name a variable that nobody passes
    _keep_what_tracing_loses(module)
    # Folding constants would make `x + zeros` the very tensor `x`, which the program may tell apart and write to.
    made: Callable[..., Any] = compile_fx(
        module, example_inputs, config_patches={"joint_graph_constant_folding": False}
    )
    return made


def _keep_what_tracing_loses(module: Any) -> None:
    """What eager refuses and how it lays out results, where AOTAutograd would forget it."""
    from pydynamo.lowering import before_tracing

    before_tracing.keep_checks(module)
    before_tracing.keep_layouts(module)


@register("triton")
def triton(module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """pydynamo's own Triton lowering."""
    from pydynamo.lowering import backend

    made: Callable[..., Any] = backend(module, example_inputs, **options)
    return made


for _traced in (aot_eager, inductor, triton):
    _traced.wants_fake_inputs = True  # type: ignore[attr-defined]


def list_backends() -> list[str]:
    """The names of the backends that pydynamo brings along."""
    return sorted(_registry)


def lookup(backend: Any, mode: str | None = None, options: dict[str, Any] | None = None) -> Backend:
    """The backend for a name or callable. Raises ValueError for an unknown name."""
    if backend is None:
        found: Backend = default
    elif not isinstance(backend, str):
        found = backend
    elif backend in _registry:
        found = _registry[backend]
    else:
        try:
            from torch._dynamo.backends.registry import lookup_backend

            found = lookup_backend(backend)
        except Exception as error:
            raise ValueError(
                f"no backend named {backend!r}; there are {', '.join(list_backends())} and those registered with torch"
            ) from error
    keywords: dict[str, Any] = {}
    if mode is not None:
        keywords["mode"] = mode
    if options:
        keywords["options"] = options
    if not keywords:
        return found
    bound: Any = functools.partial(found, **keywords)
    bound.wants_fake_inputs = getattr(found, "wants_fake_inputs", False)
    return bound  # type: ignore[no-any-return]


def default(module: Any, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """The backend for who names none: chosen for each graph, by where its tensors are."""
    return _registry[default_backend(_on_cuda(module, example_inputs))](module, example_inputs, **options)


default.wants_fake_inputs = True  # type: ignore[attr-defined]


def _on_cuda(module: Any, example_inputs: list[Any]) -> bool:
    """True if an input or a value inside of the graph is on a CUDA device."""
    inside = (node.meta.get("example_value") for node in module.graph.nodes)
    return any(getattr(value, "is_cuda", False) is True for value in (*example_inputs, *inside))


@functools.cache
def default_backend(cuda: bool) -> str:
    """``triton`` for graphs on CUDA, else ``inductor`` where a C++ compiler is found, else ``eager``."""
    if cuda and importlib.util.find_spec("triton") is not None:
        name = "triton"
    elif shutil.which("g++") or shutil.which("clang++"):
        name = "inductor"
    else:
        name = "eager"
    log.info("pydynamo: default backend for graphs on %s: %s", "CUDA" if cuda else "the CPU", name)
    return name
