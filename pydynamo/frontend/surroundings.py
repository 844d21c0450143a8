"""Where compiled functions run as they are: inside what looks at each operator, or makes something else of it.

A translation runs operators of its own, and a backend's code runs others than the function has; both would be seen there.
Knows torch's modes and transforms only.
"""

from __future__ import annotations

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext


def is_transforming() -> bool:
    """True inside ``torch.func``'s transforms, where tensors are wrapped."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def sees_operators() -> bool:
    """True inside transforms, modes that get the operators, and torch.jit's tracing; not for a mere default device."""
    return (
        is_transforming()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._is_tracing()
        or (
            torch._C._len_torch_function_stack() > 0
            and any(type(mode) is not DeviceContext for mode in _get_current_function_mode_stack())
        )
    )
