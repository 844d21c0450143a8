"""Lowering: a captured FX graph becomes fused Triton kernels.

    torch.compile(fn, backend="pydynamo")               # through torch's backend entry point
    pydynamo.lowering.compile_fx(gm, example_inputs)    # directly, for a Dynamo graph
    pydynamo.lowering.explain(fn, *args)                # what became of it, stage by stage

It knows FX graphs and Triton, never the bytecode translator.  Importing this package imports nothing else:
compile workers need it without torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydynamo.lowering.capture import backend, compile_fx
    from pydynamo.lowering.config import Options
    from pydynamo.lowering.explain import explain

_HOMES = {"backend": "capture", "compile_fx": "capture", "Options": "config", "explain": "explain"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["Options", "backend", "compile_fx", "explain"]
