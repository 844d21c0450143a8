"""Functions of torch that ask for the state of the process: answered while compiling, and asked again before each call."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import fold

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: Python functions by module and name: not all of these modules are loaded with torch
_IN_PYTHON = frozenset(
    {
        ("torch.distributed", "is_available"),
        ("torch.distributed.distributed_c10d", "is_initialized"),
        ("torch.fx._symbolic_trace", "is_fx_tracing"),
        ("torch.onnx", "is_in_onnx_export"),
        ("torch.autograd", "_is_checkpoint_valid"),
        ("torch.nn.attention", "_get_flash_version"),
    }
)
_IN_C = frozenset(
    fn
    for fn in (
        getattr(torch._C, name, None)
        for name in (
            "_are_functorch_transforms_active",
            "_get_privateuse1_backend_name",
            "_is_any_autocast_enabled",
            "is_autocast_cpu_enabled",
            "is_autocast_cache_enabled",
            "get_autocast_gpu_dtype",
            "get_autocast_cpu_dtype",
            "_get_cublas_allow_tf32",
            "_get_cudnn_allow_tf32",
            "_get_math_sdp_enabled",
            "_get_flash_sdp_enabled",
            "_get_mem_efficient_sdp_enabled",
            "_get_cudnn_sdp_enabled",
        )
    )
    if fn is not None
)


class Unchanged:
    """A guard: the function still gives the same answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.__name__ = f"{answer!r} ="

    def __call__(self, fn: Any) -> bool:
        return bool(fn() == self.answer)


def is_query(fn: Any) -> bool:
    """True if the function only tells a fact about the process."""
    if isinstance(fn, types.FunctionType):
        return (fn.__module__, fn.__name__) in _IN_PYTHON
    return isinstance(fn, types.BuiltinFunctionType) and fn in _IN_C


def ask(tx: Translator, fn: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """The answer of now."""
    answer = fold(tx, fn, args, kwargs)
    tx.output.guards.add("CALL", sources.const(fn), Unchanged(answer.as_constant()))
    return answer
