"""What optimizers do besides telling the profiler of it."""

from __future__ import annotations

from typing import Any


def zero_grad(self: Any, set_to_none: bool = True) -> None:
    """``Optimizer.zero_grad``"""
    if not hasattr(self, "_zero_grad_profile_name"):
        self._patch_step_function()
    for group in self.param_groups:
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if gradient.grad_fn is None:
                gradient.requires_grad_(False)
            else:
                gradient.detach_()
            gradient.zero_()
