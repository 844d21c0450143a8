"""Every private torch interface that lowering uses, in one place, each with what it is for.

Checked on torch 2.11.0 and 2.15.0.  A newer version that moved one of them fails here, with one clear message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from pydynamo.errors import PydynamoError

CHECKED = ("2.11.0", "2.15.0")

try:
    # graph capture after autograd: forward and backward graphs of core ATen
    from torch._decomp import core_aten_decompositions, get_decompositions
    from torch._dynamo import disable as dynamo_disable
    from torch._dynamo import register_backend
    from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    # type promotion as eager does it
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as PromotionKind

    # the layout that eager's kernels give what they make
    from torch._prims_common import elementwise_dtypes, suggest_memory_format

    # shapes without data
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
except ImportError as e:
    raise PydynamoError(
        f"the Triton lowering was checked on torch {', '.join(CHECKED)}; torch {torch.__version__} "
        f"has moved something that it needs: {e}"
    ) from e


# which device is current, without the checks that torch.cuda makes first; this build may have no CUDA
current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


def static_launcher() -> Any:
    """torch's own loader and launcher of cubins (``_load_kernel``, ``_launch_kernel``); None where it has none."""
    found = getattr(torch._C, "_StaticCudaLauncher", None)
    return found if hasattr(found, "_load_kernel") and hasattr(found, "_launch_kernel") else None


def current_stream(index: int) -> int:
    """Handle of the current stream of a device, as an integer (without building a Stream object)."""
    return int(torch._C._cuda_getCurrentRawStream(index))


def allocator(device: torch.device) -> Callable[[Any, Any, torch.dtype], torch.Tensor]:
    """A function from shape, strides and dtype to fresh memory on `device`; where it can be, without a parser of
    keyword arguments before it."""
    direct = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None)
    if device.type == "cuda" and direct is not None and torch.cuda.device_count() == 1:
        found: Callable[[Any, Any, torch.dtype], torch.Tensor] = direct
        return found
    return lambda shape, stride, dtype: torch.empty_strided(shape, stride, dtype=dtype, device=device)


def aot(gm: Any, example_inputs: Any, **kwargs: Any) -> Any:
    """AOTAutograd on a Dynamo graph; returns the compiled callable."""
    return aot_module_simplified(gm, example_inputs, keep_inference_input_mutations=True, **kwargs)


def expression_of(v: torch.SymInt) -> Any:
    """The sympy expression of a symbolic integer, with what torch has found out about its symbols put in."""
    return v.node.expr


def symbols_of(v: torch.SymInt) -> dict[str, int | None]:
    """The symbols in a symbolic integer, each with torch's hint; None if its value depends on data."""
    env = v.node.shape_env
    hints = getattr(env, "backed_var_to_val", None)
    if hints is None:
        hints = env.var_to_val
    found = {s: hints.get(s) for s in v.node.expr.free_symbols}
    return {s.name: None if h is None else int(h) for s, h in found.items()}


def overlaps(t: torch.Tensor) -> bool:
    """True if a dimension of `t` repeats one place in memory (symbolic sizes: only where that is known)."""
    if t.layout is not torch.strided or not all(isinstance(n, int) for n in (*t.shape, *t.stride())):
        return False
    return t.numel() > 0 and any(st == 0 and n > 1 for n, st in zip(t.shape, t.stride(), strict=True))


def is_view(node: Any) -> bool:
    """True if the operator of a graph node returns a window on its first argument."""
    schema = getattr(node.target, "_schema", None)
    return (
        schema is not None
        and len(schema.returns) == 1
        and schema.returns[0].alias_info is not None
        and not schema.is_mutable
    )


__all__ = [
    "CHECKED",
    "FakeTensor",
    "FakeTensorMode",
    "PromotionKind",
    "allocator",
    "aot",
    "core_aten_decompositions",
    "current_device",
    "current_stream",
    "dynamo_disable",
    "elementwise_dtypes",
    "expression_of",
    "get_decompositions",
    "is_view",
    "make_boxed_func",
    "make_fx",
    "min_cut_rematerialization_partition",
    "overlaps",
    "register_backend",
    "static_launcher",
    "suggest_memory_format",
    "symbols_of",
]
