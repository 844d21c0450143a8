"""Scheduling: dead code, greedy fusion proven by code generation, and the choice of each kernel's shape.

Operations come in program order.  A loop joins the latest group that shares data with it, provided that
everything it depends on is done by then; whether the group can really hold it is decided by tracing it there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pydynamo.lowering.config import Options
from pydynamo.lowering.index import Index
from pydynamo.lowering.ir import Extern, Loop, Op
from pydynamo.lowering.kernel import Kernel, Layout, NoFuse, trace
from pydynamo.lowering.symbols import Int, Size, hint, le, same

MAX_LOOPS = 48
MAX_ARGS = 48
LONG_ROW, ROW_VALUES = 4096, 3  # elements of a row, and values loaded for it, that are worth a program of its own
MANY_ROWS = 1024  # that keep every multiprocessor busy
OUTER_LIMIT = 64  # rows of a column reduction that stay in registers


class Group:
    """Loops that run as one kernel."""

    __slots__ = ("kernel", "layout", "loops", "mode", "reads", "writes")

    def __init__(self, loop: Loop, kernel: Kernel) -> None:
        self.loops, self.layout, self.kernel = [loop], kernel.layout, kernel
        self.reads, self.writes = set(loop.reads), set(loop.writes)
        self.mode = kernel.mode

    def __repr__(self) -> str:
        lay = self.layout
        return f"kernel {self.mode} x={lay.x} r={lay.r}:\n" + "\n".join(f"    {loop!r}" for loop in self.loops)


Step = Group | Extern


def eliminate_dead(ops: Sequence[Op], live_names: Iterable[str]) -> list[Op]:
    """Drop loops whose results nobody reads; externs that may have effects stay."""
    live, out = set(live_names), []
    for op in reversed(ops):
        keep = (
            op.writes & live
            or (isinstance(op, Loop) and op.mutates)
            or (isinstance(op, Extern) and (op.mutates or not op.outs or _impure(op)))
        )
        if keep:
            live |= op.reads
            out.append(op)
    return out[::-1]


def _impure(op: Extern) -> bool:
    schema = getattr(op.target, "_schema", None)
    tags = getattr(op.target, "tags", ())
    return schema is None or schema.is_mutable or any("nondeterministic_seeded" in str(t) for t in tags)


def _views(op: Extern) -> bool:
    """True if the operator may return a window on one of its arguments."""
    schema = getattr(op.target, "_schema", None)
    return schema is not None and any(r.alias_info is not None for r in schema.returns)


def layout_of(loop: Loop) -> Layout:
    return Layout(loop.shape, loop.rdims, loop.order)


def first_mode(loop: Loop) -> str:
    return "persistent" if loop.rdims else "flat"


def schedule(ops: Sequence[Op], options: Options) -> list[Step]:
    """Groups and externs in an order that respects every dependence."""
    steps: list[Step] = []
    writer: dict[str, int] = {}  # storage -> last step that writes it
    users: dict[str, list[int]] = {}  # storage -> steps that touch it, ascending
    shared: dict[str, frozenset[str]] = {}  # result of an extern view -> storages that it may show
    barrier = 0
    for op in ops:
        if isinstance(op, Extern):
            if _views(op):
                seen = frozenset().union(*(shared.get(n, frozenset((n,))) for n in op.reads))
                shared |= {b.name: seen for b in op.outs if b is not None}
            at = len(steps)
            steps.append(op)
            if op.mutates:
                barrier = at
        else:
            at = _place(op, steps, writer, users, barrier, options)
        for n in (op.reads | op.writes).union(*(shared.get(n, frozenset()) for n in op.reads)):
            u = users.setdefault(n, [])
            if at not in u:
                u.append(at)
                u.sort()
        for n in op.writes:
            writer[n] = max(at, writer.get(n, 0))
    return steps


def _place(
    loop: Loop,
    steps: list[Step],
    writer: dict[str, int],
    users: dict[str, list[int]],
    barrier: int,
    options: Options,
) -> int:
    earliest = barrier
    near: set[int] = set()
    for n in loop.reads:
        earliest = max(earliest, writer.get(n, 0))
        near.update(users.get(n, ())[-4:])
    for n in loop.writes:
        for u in users.get(n, ()):
            earliest = max(earliest, u)
        near.update(users.get(n, ())[-1:])
    for n in loop.reads:  # what reads the other results of the same kernel, as the second halves of sums do
        made = steps[writer[n]] if n in writer else None
        if isinstance(made, Group):
            for m in made.writes - {n}:
                near.update(users.get(m, ())[-2:])
    groups = [(at, g) for at in near if at >= earliest and isinstance(g := steps[at], Group)]
    for at, group in sorted(groups, key=lambda p: _affinity(p[1], loop, p[0]), reverse=True)[:6]:
        if _join(group, loop, options):
            return at
    steps.append(Group(loop, trace([loop], layout_of(loop), first_mode(loop))))
    return len(steps) - 1


def _affinity(group: Group, loop: Loop, at: int) -> tuple[int, int, int]:
    """What fusing saves: values that need not be read back first, then reads that are shared, then
    lateness."""
    return len(loop.reads & group.writes), len(loop.reads & group.reads), at


def _join(group: Group, loop: Loop, options: Options) -> bool:
    lay = group.layout
    n = loop.x * loop.r
    if (
        len(group.loops) >= MAX_LOOPS
        or len(group.kernel.args) >= MAX_ARGS
        or loop.kind == "scatter"
        or group.kernel.atomics
    ):
        return False
    try:
        if loop.rdims and not lay.rdims:
            if not (same(lay.x, n) or same(lay.x, loop.x)):
                return False
            new = layout_of(loop)
            kernel = trace([*group.loops, loop], new, "persistent")
            if not _sound(kernel, [*group.loops, loop], options):
                return False
            group.layout, group.kernel, group.mode = new, kernel, "persistent"
        elif (loop.rdims and not (same(loop.x, lay.x) and same(loop.r, lay.r))) or not (
            same(n, lay.x) or same(n, lay.x * lay.r)
        ):
            return False
        else:
            if not _sound_to_add(group, loop, options):
                return False
            group.kernel.add(loop)
    except NoFuse:
        return False
    group.loops.append(loop)
    group.reads |= loop.reads
    group.writes |= loop.writes
    return True


def only_columns(group: Group) -> bool:
    """True for sums of columns beside which no rows are reduced."""
    return bool(group.kernel.columns) and all(loop.kind == "columns" or not loop.rdims for loop in group.loops)


def needs_loop(layout: Layout, options: Options) -> bool:
    """True if a row is too long for registers; for a length that is not known yet, where it is for the hint.

    A loop serves every length; registers serve those up to the limit, which is then taken for granted.
    """
    if not layout.rdims or hint(layout.r) > options.persistent_limit:
        return bool(layout.rdims)
    return layout.r > options.persistent_limit


def _sound(kernel: Kernel, loops: Sequence[Loop], options: Options) -> bool:
    if not needs_loop(kernel.layout, options):
        return True
    return _loopable(loops)


def _loopable(loops: Sequence[Loop]) -> bool:
    """Rows in steps are read more than once: nothing may change them meanwhile, and scans cannot be
    redone."""
    return not any(loop.mutates or (loop.kind or "").startswith("scan") for loop in loops)


def _sound_to_add(group: Group, loop: Loop, options: Options) -> bool:
    return _sound(group.kernel, [*group.loops, loop], options)


# ---------------------------------------------------------------------- final shape
def finish(group: Group, options: Options) -> Kernel:
    """The kernel that will run: looped if the row is long, tiled if accesses disagree on the fast
    direction."""
    r = group.layout.r
    if group.kernel.columns:
        return group.kernel
    side = bool(group.layout.rdims) and outer(group.kernel)
    narrow = side and (isinstance(r, Size) or r > OUTER_LIMIT)
    if needs_loop(group.layout, options) or (narrow and _loopable(group.loops)):
        group.mode = "loop"
        group.kernel = trace(group.loops, group.layout, "loop", side)
    elif group.mode == "flat":
        d = tile_width(group.kernel)
        mode, d = ("loop", row_width(group.kernel)) if same(d, 0) else ("tile", d)
        if not same(d, 0) and (mode == "tile" or _loopable(group.loops)):
            tiled = tile_layout(group.layout, d)
            if tiled is not None and (mode == "tile" or hint(tiled.x) >= MANY_ROWS):
                try:
                    group.kernel = trace(group.loops, tiled, mode)
                    group.mode, group.layout = mode, tiled
                except NoFuse:
                    pass
    return group.kernel


def row_width(kernel: Kernel) -> int:
    """Length of the long rows for each of which several values are loaded, else 0: where a program takes a row, they are
    loaded, and what hangs on them is computed, once and not for each of its elements."""
    found: dict[int, set[str]] = {}
    for a in kernel.accesses:
        atoms = {atom.name for (atom, _, _) in a.index.terms}
        divisors = [d for (_, d, _) in a.index.terms if isinstance(d, int)]
        if not a.store and atoms == {"x"} and len(divisors) == len(a.index.terms) and min(divisors) >= LONG_ROW:
            found.setdefault(min(divisors), set()).add(a.name)
    return max((d for d, names in found.items() if len(names) >= ROW_VALUES), default=0)


def tile_width(kernel: Kernel) -> Int:
    """Where some access steps by one only every d elements while another steps by one at once: d, else 0."""
    fast = 0
    slow: list[Int] = [0]
    for a in kernel.accesses:
        if a.index.opaque or not a.index.terms:
            continue
        unit = [d for (atom, d, _), c in a.index.terms.items() if atom.name == "x" and same(c, 1)]
        if any(same(d, 1) for d in unit):
            fast += 1
        elif any(hint(d) >= 16 for d in unit) and not same(a.index.stride_of("x") or 0, 0):
            slow = sorted(unit, key=hint)
    return slow[-1] if fast else 0


def tile_layout(layout: Layout, width: Int) -> Layout | None:
    """Turn the fastest dimensions, `width` elements together, into a parallel r."""
    n: Int = 1
    dims: list[int] = []
    for d in reversed(layout.order):
        if hint(n) >= hint(width):
            break
        n = n * layout.shape[d]
        dims.append(d)
    if not same(n, width) or len(dims) == len(layout.shape):
        return None
    return Layout(layout.shape, dims, layout.order)


def outer(kernel: Kernel) -> bool:
    """True if neighbouring x lie side by side in memory, not neighbouring r."""
    xs = rs = 0
    for a in kernel.accesses:
        if not a.store:
            size = math.prod(hint(m) for (_, _, m) in a.index.terms) * a.dtype.itemsize
            x, r = _step(a.index, "x"), _step(a.index, "r")
            if x == 1 and r not in (0, 1):
                xs += size
            elif r == 1:
                rs += size
    return xs > rs


def _step(e: Index, var: str) -> int | None:
    step = e.stride_of(var)
    return None if step is None else hint(step)


def needs_wide(kernel: Kernel, limit: int = 2**31 - 1) -> bool:
    """True if an element offset or loop position may not fit into 32 bits.

    Where sizes are not known yet their hints decide; that the narrow form fits is then taken for granted.
    """
    tops: list[Int] = [kernel.layout.x * 2, kernel.layout.r * 2]
    for a in kernel.accesses:
        reach = _size(a.index.const)
        for (atom, _, m), c in a.index.terms.items():
            reach = reach + _size(c) * (m - 1)
            if atom.opaque:
                tops.append(atom.size)
        tops.append(reach)
    if any(hint(t) > limit for t in tops):
        return True
    distinct: list[Size] = []
    for t in tops:
        if isinstance(t, Size) and not any(le(t, other) for other in distinct):
            distinct.append(t)
    return any(t > limit for t in distinct)


def _size(v: Int) -> Int:
    return v if v >= 0 else -v


__all__ = [
    "Group",
    "Step",
    "eliminate_dead",
    "finish",
    "needs_wide",
    "only_columns",
    "outer",
    "schedule",
    "tile_width",
]
