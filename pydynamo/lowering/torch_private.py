"""Every private torch interface that lowering uses, in one place, each with what it is for.

Checked on torch 2.11.0.  A newer version that moved one of them fails here, with one clear message.
"""

from __future__ import annotations

from typing import Any

import torch

from pydynamo.errors import PydynamoError

CHECKED = ("2.11.0",)

try:
    # graph capture after autograd: forward and backward graphs of core ATen
    from torch._decomp import core_aten_decompositions, get_decompositions
    from torch._dynamo import disable as dynamo_disable
    from torch._dynamo import register_backend
    from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    # type promotion as eager does it
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as PromotionKind
    from torch._prims_common import elementwise_dtypes, is_non_overlapping_and_dense_or_false

    # shapes without data
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
except ImportError as e:
    raise PydynamoError(
        f"the Triton lowering was checked on torch {', '.join(CHECKED)}; torch {torch.__version__} "
        f"has moved something that it needs: {e}"
    ) from e


def current_stream(index: int) -> int:
    """Handle of the current stream of a device, as an integer (without building a Stream object)."""
    return int(torch._C._cuda_getCurrentRawStream(index))


def aot(gm: Any, example_inputs: Any, **kwargs: Any) -> Any:
    """AOTAutograd on a Dynamo graph; returns the compiled callable."""
    return aot_module_simplified(gm, example_inputs, keep_inference_input_mutations=True, **kwargs)


def is_dense(t: torch.Tensor) -> bool:
    """True if the elements of `t` fill their span of memory without gaps or overlap."""
    return bool(is_non_overlapping_and_dense_or_false(t))


__all__ = [
    "CHECKED",
    "FakeTensor",
    "FakeTensorMode",
    "PromotionKind",
    "aot",
    "core_aten_decompositions",
    "current_stream",
    "dynamo_disable",
    "elementwise_dtypes",
    "get_decompositions",
    "is_dense",
    "make_boxed_func",
    "make_fx",
    "min_cut_rematerialization_partition",
    "register_backend",
]
