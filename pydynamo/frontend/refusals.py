"""Writes that real tensors refuse for the types of elements and fake ones let pass: they are tried on one real element.

A graph that a backend made functional computes a new tensor and copies it, which nothing refuses. Knows operators only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

_REFUSALS = ("can't be cast to", "not implemented for")


def may_refuse(written: Iterable[torch.Tensor]) -> bool:
    """True if a tensor that is written to holds no floating-point numbers."""
    return any(not tensor.is_floating_point() for tensor in written)


def refusal(call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What the operator says of such types; '' if nothing. Must not be asked of what draws random numbers."""
    args, kwargs = tree_map(_one_element, (tuple(args), dict(kwargs)))
    try:
        with torch.no_grad():
            call(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as error:
        if any(words in str(error) for words in _REFUSALS):
            return str(error)
    except Exception:
        return ""  # one element is too few for these arguments: what it says is of no concern
    return ""


def _one_element(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.ones([1] * value.dim(), dtype=value.dtype)
    return value
