"""Random numbers inside kernels: four neighbours are drawn together where a block's lanes are neighbours."""

from __future__ import annotations

import torch

from pydynamo.lowering.index import ZERO, Index
from pydynamo.lowering.ir import Buffer
from pydynamo.lowering.kernel import Access, Kernel, Value
from pydynamo.lowering.symbols import divides, same


def random(k: Kernel, key: Buffer, position: Index) -> Value:
    """A uniform float32 number of [0, 1) for the element at `position`; `key` holds the seed."""
    k.args.setdefault(key.name, key.dtype)
    k.accesses.append(Access(key.name, ZERO, key.dtype, False))
    seed = f"tl.load({{{key.name}}} + {key.offset})"
    fours = _fours(k, position)
    if fours is not None:
        k.helpers["_four_each"] = None
        return k.emit(f"_four_each({seed}, {fours}, {k.block})", torch.float32, position.deps)
    k.helpers["_one_of_four"] = None
    at = str(position) if position.terms else f"tl.full({k.ones}, {position.const}, tl.int32)"
    return k.emit(f"_one_of_four({seed}, {at})", torch.float32, position.deps)


def _fours(k: Kernel, position: Index) -> str | None:
    """``position // 4`` for every fourth lane of the block, where four neighbouring lanes have four neighbouring
    positions: they are then drawn together."""
    lane = "x" if k.flat else "r"
    size = k.layout.x if k.flat else k.layout.r
    rest = dict(position.terms)
    step = rest.pop((k.x_atom if k.flat else k.r_atom, 1, size), 0)
    if not isinstance(size, int) or size < 4 or not same(step, 1) or not divides(4, position.const):
        return None
    if any(lane in atom.deps or not divides(4, c) for (atom, _, _), c in rest.items()):
        return None
    block = f"{lane.upper()}B // 4"
    lanes = f"tl.arange(0, {block})" if k.flat else f"tl.arange(0, {block})[None, :]"
    start = {"flat": "tl.program_id(0)", "tile": "at"}.get(k.mode)
    if start is not None:
        lanes = f"{start}{{wide}} * ({block}) + {lanes}"
    elif k.inner is not None:
        lanes = f"r0 // 4 + {lanes}{{wide}}"
    others = Index({t: c // 4 for t, c in rest.items()}, position.const // 4)
    return f"({lanes}) + ({others})"
