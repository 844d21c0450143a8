"""Writes that real tensors refuse for the types of elements and fake ones let pass: they are tried on one real element.

A graph that a backend made functional computes a new tensor and copies it, which nothing refuses. Knows operators only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from pydynamo.frontend.first_run import random_state, set_random_state

_REFUSALS = ("can't be cast to", "not implemented for")


def may_refuse(written: Iterable[torch.Tensor]) -> bool:
    """True if a tensor that is written to holds no floating-point numbers."""
    return any(not tensor.is_floating_point() for tensor in written)


def refusal(call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What the operator says of such types; '' if nothing. Numbers that it draws are drawn again when it is called."""
    args, kwargs = tree_map(_one_element, (tuple(args), dict(kwargs)))
    numbers = random_state()
    try:
        with torch.no_grad():
            call(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as error:
        if any(words in str(error) for words in _REFUSALS):
            return str(error)
    except Exception:
        return ""  # one element is too few for these arguments: what it says is of no concern
    finally:
        set_random_state(numbers)
    return ""


def _one_element(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.ones([1] * value.dim(), dtype=value.dtype, device="cpu")
    return None if isinstance(value, torch.Generator) else value  # a generator of the program's keeps its state
