"""Which values that are used again get memory, and which are computed again: by the bytes that either moves."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.ir import Lazy
from pydynamo.lowering.symbols import hint

if TYPE_CHECKING:
    from pydynamo.lowering.lower.core import Lowering

SEVERAL = 3  # users that are likely to run in no more than two kernels


def worth_memory(low: Lowering, node: Any, out: Lazy) -> bool:
    """True if storing `out` and reading it back costs less than computing it again for each user."""
    users = len(node.users)
    if out.cost > low.options.inline_limit or (users > 1 and out.cost > low.options.share_limit):
        return True
    # a store, and a load for each kernel that reads it, against all its loads for each of them
    loads = _whole_reads(low, out) if users > 1 else 0
    return loads > 2 or (loads == 2 and (users > SEVERAL or _gets_memory(node)))


def _whole_reads(low: Lowering, v: Lazy) -> int:
    """How many tensors of about its own size `v` is made of."""
    n = hint(prod(v.shape))
    return sum(2 * hint(prod(low.roots[r].shape)) > n for r in v.reads if r in low.roots)


def _gets_memory(node: Any, depth: int = 3) -> bool:
    """True if the caller or an operator of torch's own wants `node`, or a window on it."""
    from pydynamo.lowering.lower.core import handler_of

    for u in node.users:
        if u.op == "output" or (handler_of(u.target) is None and u.target is not operator.getitem):
            return True
        if depth > 0 and private.is_view(u) and _gets_memory(u, depth - 1):
            return True
    return False
