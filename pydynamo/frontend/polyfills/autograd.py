"""The context that an autograd.Function is given, as far as a trace of its two methods needs it."""

from __future__ import annotations

from typing import Any


class Context:
    """Stands for ``ctx``. What is missing here breaks the graph."""

    def __init__(self, needs_input_grad: Any) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: Any = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for the backward pass."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which results have no gradient."""
