"""Sums of columns beside reductions of the same tensor's rows, as the gradients of a norm are.

A kernel that has rows in registers can add up their columns, too, so that memory is read once: each program takes some
rows, one block after the other, and leaves partial sums.  This only says which sums are cut that way; whether they get
into the kernel of the rows is decided by tracing them there, and those that do not are cut in the usual way after all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pydynamo.lowering.ir import Loop, Op, Split
from pydynamo.lowering.symbols import ceil_div, hint, same
from pydynamo.lowering.triton_codegen import CHUNK_BLOCK

if TYPE_CHECKING:
    from pydynamo.lowering.lower.core import Lowering

PROGRAMS = 264  # two on each multiprocessor, which is what registers allow, so that all run at once
LONGEST = 8192  # columns: of more, accumulators do not fit into registers
SHORTEST = 512
ROWS = 8  # blocks of rows that a program takes, at least


def together(low: Lowering, ops: Sequence[Op], but: Collection[Split] = ()) -> list[Op]:
    """`ops`, with the sums of columns cut anew that want the tensors of which rows are reduced; `but` stay as they are."""
    rows = [op for op in ops if isinstance(op, Loop) and op.kind in ("sum", "welford", "max", "softmax") and op.rdims]
    behind: dict[str, frozenset[str]] = {}  # what is computed element by element -> what is read for it
    for op in ops:
        if isinstance(op, Loop) and op.kind is None:
            behind |= dict.fromkeys(op.writes, _wanted(op, behind))
    new: dict[int, Loop] = {}
    for op in ops:
        if isinstance(op, Loop) and op.split is not None and op.split not in but:
            chunk = _chunk(low, op.split)
            if chunk and any(_shares(low, _wanted(op, behind), other, behind, op.split) for other in rows):
                new |= _cut(low, op, op.split, chunk)
    return [new.get(id(op), op) for op in ops]


def _chunk(low: Lowering, s: Split) -> int:
    """Rows for one program, or 0 where the form does not pay."""
    *leading, c = s.shape
    if not all(isinstance(n, int) for n in s.shape) or not isinstance(c, int) or len(s.shape) - 1 in s.dims:
        return 0
    if any(n != 1 and d not in s.dims for d, n in enumerate(leading)):
        return 0
    x, o = hint(math.prod(leading)), low.options
    if not SHORTEST <= c <= min(LONGEST, o.persistent_limit):
        return 0
    block = max(1, min(CHUNK_BLOCK, o.max_block) >> (c - 1).bit_length())
    if x * c < o.together_min or x < 2 * c or x < ROWS * block:
        return 0
    chunk = max(ROWS * block, -(-x // PROGRAMS))
    return -(-chunk // block) * block


def _wanted(op: Loop, behind: dict[str, frozenset[str]]) -> frozenset[str]:
    return op.reads.union(*(behind.get(n, frozenset()) for n in op.reads))


def _shares(low: Lowering, wanted: frozenset[str], rows: Loop, behind: dict[str, frozenset[str]], s: Split) -> bool:
    """True if `rows` are of a tensor of that size, and take one of that size that is wanted here."""
    if not same(rows.r, s.shape[-1]) or not same(rows.x * rows.r, math.prod(s.shape)):
        return False
    return any(same(math.prod(low.roots[n].shape), math.prod(s.shape)) for n in wanted & _wanted(rows, behind))


def _cut(low: Lowering, op: Loop, s: Split, chunk: int) -> dict[int, Loop]:
    """The two loops of the sum, in their new form, by the identities of those whose places they take."""
    (old,), c = op.outs, s.shape[-1]
    kept = s.fold.shape[:-1]
    parts = ceil_div(math.prod(s.shape[:-1]), chunk)
    stage = low.buffer((*kept, parts), old.dtype, (*(c for _ in kept[:-1]), 1, c))
    first = Loop(
        (stage,), s.shape, s.body, op.reads, rdims=(len(s.shape) - 1,), kind="columns", node=op.node, chunk=chunk
    )
    fold = Loop(s.fold.outs, (*kept, parts), stage.at, stage.reads, rdims=(len(kept),), kind="sum", node=s.fold.node)
    first.split = s
    return {id(op): first, id(s.fold): fold}
