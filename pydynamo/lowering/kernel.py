"""Tracing of a fused group of loops into the body of one Triton kernel.

A :class:`Kernel` is handed to the index functions of the group (define by run): they ask it for loads,
constants
and operations, and it writes lines, shares common subexpressions, and forwards a value that an earlier loop
of
the group has stored.  A load of such a buffer at *another* index raises :class:`NoFuse`, so the scheduler
cannot
claim a fusion that code generation cannot do.

Modes: ``flat`` (1-D over x), ``tile`` (x and r parallel), ``persistent`` (a whole reduced row in registers)
and ``loop`` (the row in steps).  Text assembly is in triton_codegen; spellings are in numerics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pydynamo.lowering import numerics
from pydynamo.lowering.index import NO_DEPS, ZERO, Atom, Index, unflatten, var, view_index
from pydynamo.lowering.ir import Buffer, Lazy, Loop
from pydynamo.lowering.numerics import HALF, compute_dtype, tl_compute
from pydynamo.lowering.symbols import Int, Size, alike, le, same


class NoFuse(Exception):
    """This loop cannot be part of this kernel."""


class NotReady(NoFuse):
    """In loop mode: the value exists only after the loop that is open now."""


class Value(str):
    """The name of a value in the kernel: its torch dtype, and the loop variables that it changes with."""

    dtype: torch.dtype
    deps: frozenset[str]

    def __new__(cls, name: str, dtype: torch.dtype, deps: frozenset[str]) -> Value:
        v = str.__new__(cls, name)
        v.dtype, v.deps = dtype, deps
        return v


class Layout:
    """How x and r walk the dimensions of a leading shape."""

    __slots__ = ("kept", "order", "r", "rdims", "shape", "x")

    def __init__(self, shape: Sequence[Int], rdims: Sequence[int] = (), order: Sequence[int] | None = None) -> None:
        self.shape, self.rdims = tuple(shape), frozenset(rdims)
        self.order = tuple(order) if order is not None else tuple(range(len(self.shape)))
        self.kept = tuple(n for i, n in enumerate(self.shape) if i not in self.rdims)
        self.x: Int = math.prod(self.kept)
        self.r: Int = math.prod(self.shape[i] for i in self.rdims)

    def index(self, x: Index, r: Index) -> list[Index]:
        xs = [d for d in self.order if d not in self.rdims]
        rs = [d for d in self.order if d in self.rdims]
        out: list[Index] = [ZERO] * len(self.shape)
        for dims, flat in ((xs, x), (rs, r)):
            for d, e in zip(dims, unflatten(flat, [self.shape[d] for d in dims]), strict=True):
                out[d] = e
        return out


class Access:
    """One load or store, for the cost model and for the choice of tiles and of the index width."""

    __slots__ = ("dtype", "index", "name", "store")

    def __init__(self, name: str, index: Index, dtype: torch.dtype, store: bool) -> None:
        self.name, self.index, self.dtype, self.store = name, index, dtype, store


Mark = tuple[int, ...]
MOST_COLUMNS = 2  # accumulators of a block's size that leave registers for the rest


class Kernel:
    def __init__(self, layout: Layout, mode: str, side: bool = False) -> None:
        self.layout, self.mode = layout, mode
        self.flat = mode == "flat"
        self.side = side
        self.x_atom, self.r_atom = Atom("x", layout.x, ("x",)), Atom("r", layout.r, ("r",))
        self.ones = "[1]" if self.flat else "[1, 1]"
        self.block = "[XB]" if self.flat else "[XB, RB]"
        self.lines: list[tuple[str, str]] = []  # (text, name of the stored buffer or "")
        self.inner: list[tuple[str, str]] | None = None  # lines of the loop over r that is open
        self.cse: dict[tuple[str, torch.dtype], Value] = {}
        self.inner_cse: dict[tuple[str, torch.dtype], Value] = {}
        self.memo: dict[Any, Value] = {}
        self.inner_memo: dict[Any, Value] = {}
        self.args: dict[str, torch.dtype] = {}
        self.stored: dict[str, tuple[Any, Value, Loop, int]] = {}
        self.future: set[str] = set()  # loop mode: written by loops that are not traced yet
        self.passes = 0  # loop mode: how many loops over r were opened
        self.accesses: list[Access] = []
        self.origins: dict[Any, None] = {}
        self.helpers: dict[str, None] = {}
        self.masks: tuple[Value, ...] = ()
        self.finals: list[Callable[[], None]] = []
        self.asserts = False
        self.atomics = False
        self.columns: list[tuple[Buffer, str]] = []  # (partial sums, accumulator)
        self.chunk = 0  # rows that a program takes one block after the other, for its partial sums of columns
        self.count = 0
        self._index: list[Index] | None = None

    # ------------------------------------------------------------------ undo
    def mark(self) -> Mark:
        return (
            len(self.lines),
            len(self.inner or ()),
            len(self.cse),
            len(self.inner_cse),
            len(self.memo),
            len(self.inner_memo),
            len(self.args),
            len(self.stored),
            len(self.accesses),
            len(self.origins),
            len(self.finals),
            self.count,
            len(self.helpers),
            len(self.columns),
        )

    def rollback(self, m: Mark) -> None:
        del self.lines[m[0] :]
        if self.inner is not None:
            del self.inner[m[1] :]
        del self.accesses[m[8] :]
        del self.finals[m[10] :]
        for d, n in (
            (self.cse, m[2]),
            (self.inner_cse, m[3]),
            (self.memo, m[4]),
            (self.inner_memo, m[5]),
            (self.args, m[6]),
            (self.stored, m[7]),
            (self.origins, m[9]),
            (self.helpers, m[12]),
        ):
            while len(d) > n:
                d.popitem()
        self.count = m[11]
        del self.columns[m[13] :]
        self.chunk = self.chunk if self.columns else 0
        self.masks = ()

    # ------------------------------------------------------------------ values
    def emit(self, text: str, dtype: torch.dtype, deps: frozenset[str], share: bool = True) -> Value:
        """Name the value of `text`; the same text is written once."""
        inside = self.inner is not None and "r" in deps
        cse = self.inner_cse if inside else self.cse
        key = (text, dtype)
        if share and key in cse:
            return cse[key]
        self.count += 1
        v = Value(f"t{self.count}", dtype, deps)
        self.write(f"{v} = {text}", inside)
        if share:
            cse[key] = v
        return v

    def write(self, text: str, inside: bool, store: str = "") -> None:
        (self.inner if inside and self.inner is not None else self.lines).append((text, store))

    def op(self, name: str, dtype: torch.dtype, *args: Value, operands: torch.dtype | None = None) -> Value:
        """Operation `name` on values that are all held in `operands` (default: `dtype`); the result is
        `dtype`.

        No rounding is done here: a half dtype means its float32 compute type.
        """
        deps = NO_DEPS
        for a in args:
            deps = deps | a.deps
        return self.emit(numerics.spell(name, operands or dtype, args), compute_dtype(dtype), deps)

    def constant(self, c: float | Int | bool, dtype: torch.dtype) -> Value:
        """The number `c`, rounded to `dtype`."""
        if isinstance(c, Size):
            held = torch.int64 if dtype is torch.bool else dtype
            v = self.emit(f"tl.full({self.ones}, {c}, {tl_compute(held)})", torch.int64, NO_DEPS)
            if dtype in HALF or dtype is torch.bool:
                return self.emit(numerics.cast(v, compute_dtype(held), dtype), dtype, NO_DEPS)
            return Value(v, dtype, NO_DEPS)
        return self.emit(numerics.constant(c, dtype, self.ones), dtype, NO_DEPS)

    def cast(self, v: Value, dtype: torch.dtype) -> Value:
        """Convert with eager's rounding; the result is held in the compute type of `dtype`."""
        if v.dtype == dtype:
            return v
        text = numerics.cast(v, v.dtype, dtype)
        return Value(v, dtype, v.deps) if text == v else self.emit(text, dtype, v.deps)

    def hold(self, v: Value, dtype: torch.dtype) -> Value:
        """Read `v` as the compute dtype `dtype`: a half value is already float32."""
        if v.dtype in HALF and dtype is torch.float32:
            return Value(v, dtype, v.deps)
        return self.cast(v, dtype)

    def integer(self, e: Index, dtype: torch.dtype = torch.int64) -> Value:
        """The number `e` as a value."""
        text = str(e) if e.terms else f"tl.full({self.ones}, {e.const}, tl.int64)"
        return self.cast(self.emit(f"({text}).to(tl.int64)" if e.terms else text, torch.int64, e.deps), dtype)

    def indirect(self, v: Value, size: Int, *, wrap: bool, what: str) -> Index:
        """An index that was loaded: checked against `size`; with `wrap`, negative ones count from the end."""
        i = self.cast(v, torch.int64)
        if wrap:
            i = self.emit(f"tl.where({i} < 0, {i} + {size}, {i})", torch.int64, i.deps)
        ok = self.emit(f"({i} >= 0) & ({i} < {size})", torch.bool, i.deps)
        self.require(ok, f"{what}: index out of range for size {size}")
        return ZERO if le(size, 1) else Index({(Atom(str(i), size, i.deps), 1, size): 1})

    def require(self, cond: Value, message: str) -> None:
        """Stop with `message` where `cond` fails in a lane that exists."""
        parts = [f"({cond})"] + [f"({d}m == 0)" for d in ("x", "r") if d in cond.deps]
        parts += [f"({m} == 0)" for m in self.masks]
        text = f'tl.device_assert({" | ".join(parts)}, "{message}")'
        deps = cond.deps
        for m in self.masks:
            deps = deps | m.deps
        inside = self.inner is not None and "r" in deps
        cse = self.inner_cse if inside else self.cse
        if (text, torch.bool) not in cse:
            cse[(text, torch.bool)] = cond
            self.write(text, inside)
        self.asserts = True

    def evaluate(self, lazy: Lazy, idx: Sequence[Index]) -> Value:
        """The value of `lazy` at `idx`, computed once for each index and mask."""
        key = (lazy, tuple(e.key for e in idx), self.masks)
        v = self.memo.get(key)
        if v is None:
            v = self.inner_memo.get(key)
        if v is None:
            if lazy.node is not None:
                self.origins[lazy.node] = None
            v = lazy.fn(self, idx)
            (self.inner_memo if self.inner is not None and "r" in v.deps else self.memo)[key] = v
        return v

    def masked(self, cond: Value, fn: Callable[[], Value]) -> Value:
        """Evaluate `fn` where loads happen only under `cond`."""
        saved = self.masks
        self.masks = (*saved, cond)
        try:
            return fn()
        finally:
            self.masks = saved

    # ------------------------------------------------------------------ memory
    def _pointer(self, name: str, e: Index, extra: frozenset[str], dtype: torch.dtype) -> tuple[str, frozenset[str]]:
        self.args.setdefault(name, dtype)
        text, deps = str(e), e.deps
        if not e.terms:
            small = isinstance(e.const, int) and -(2**31) <= e.const < 2**31
            text = f"tl.full({self.ones}, {e.const}, tl.int{32 if small else 64})"
        for d in ("x", "r"):
            if d in extra and d not in deps:
                shape = "[XB]" if self.flat else ("[XB, 1]" if d == "x" else "[1, RB]")
                text = f"{text} + tl.zeros({shape}, tl.int32)"
                deps = deps | {d}
        return f"{{{name}}} + ({text})", deps

    def load(self, b: Buffer, e: Index) -> Value:
        """The element at `e`, held in the compute type."""
        hit = self.stored.get(b.name)
        if hit is not None:
            key, v, loop, made = hit
            if key != e.key:
                raise NoFuse(f"{b.name} is stored by this kernel at another index")
            if made != self.passes and "r" in v.deps:
                return self._again(loop, b)
            return v
        if b.name in self.future:
            raise NotReady(b.name)
        extra = NO_DEPS
        for m in self.masks:
            extra = extra | m.deps
        ptr, deps = self._pointer(b.name, e, extra, b.dtype)
        limits = [f"{d}m" for d in ("x", "r") if d in deps] + list(self.masks)
        mask = f", {' & '.join(limits)}, other=0" if limits else ""
        self.accesses.append(Access(b.name, e, b.dtype, False))
        to = "" if b.dtype not in HALF and b.dtype is not torch.bool else f".to({tl_compute(b.dtype)})"
        return self.emit(f"tl.load({ptr}{mask}){to}", b.dtype, deps)

    def _again(self, loop: Loop, b: Buffer) -> Value:
        """Recompute in this loop over r a full-size value that an earlier loop over r has stored."""
        if loop.kind is not None or self.inner is None:
            raise NoFuse("a scan cannot be recomputed, nor a row outside of a loop")
        return self.cast(loop.body(self, self.index_of(loop)), b.dtype)

    def store(self, b: Buffer, e: Index, v: Value, loop: Loop, deps: frozenset[str]) -> None:
        """Store `v`, and forward it to later loops of the group."""
        v = self.cast(v, b.dtype)
        ptr, have = self._pointer(b.name, e, v.deps | deps, b.dtype)
        limits = [f"{d}m" for d in ("x", "r") if d in have]
        mask = f", {' & '.join(limits)}" if limits else ""
        val = f"{v}.to({numerics.TL[b.dtype]})" if b.dtype in HALF else str(v)
        inside = self.inner is not None and "r" in have
        self.write(f"tl.store({ptr}, {val}{mask})", inside, b.name)
        self.accesses.append(Access(b.name, e, b.dtype, True))
        self.stored[b.name] = (e.key, v, loop, self.passes)

    # ------------------------------------------------------------------ loops
    @property
    def index(self) -> list[Index]:
        if self._index is None:
            self._index = self.layout.index(var(self.x_atom), var(self.r_atom))
        return self._index

    def index_of(self, loop: Loop) -> list[Index]:
        """Coordinates of `loop` in terms of this kernel's x and r; raises NoFuse where they do not line
        up."""
        lay, idx, n = self.layout, self.index, loop.x * loop.r
        if alike(loop.shape, lay.shape):
            out = idx
        elif same(n, lay.x * lay.r):
            out = view_index(idx, lay.shape, loop.shape)
        elif same(n, lay.x) and not loop.rdims:
            kept = [e for i, e in enumerate(idx) if i not in lay.rdims]
            out = view_index(kept, lay.kept, loop.shape)
        else:
            raise NoFuse("another iteration space")
        if any(e.opaque for e in out):
            raise NoFuse("another iteration order")
        if loop.rdims or loop.kind is not None:
            for i, e in enumerate(out):
                if ("x" if i in loop.rdims else "r") in e.deps:
                    raise NoFuse("another reduction")
            if not same(loop.x, lay.x):
                raise NoFuse("another reduction")
        return list(out)

    def add(self, loop: Loop) -> None:
        """Trace one loop; raises NoFuse and leaves the kernel as it was where that is impossible."""
        m = self.mark()
        try:
            self._add(loop)
        except NoFuse:
            self.rollback(m)
            raise

    def _add(self, loop: Loop) -> None:
        idx = self.index_of(loop)
        if loop.node is not None:
            self.origins[loop.node] = None
        if loop.kind is None:
            v = loop.body(self, idx)
            self._store_all(loop, idx, (v,))
        elif loop.kind == "scatter":
            self._scatter(loop, idx)
        elif loop.kind == "columns":
            self._columns(loop, idx)
        elif loop.kind.startswith("scan"):
            from pydynamo.lowering.reduce_codegen import scan

            self._store_all(loop, idx, (scan(self, loop, loop.body(self, idx)),))
        else:
            from pydynamo.lowering.reduce_codegen import reduce

            kept = [e for i, e in enumerate(idx) if i not in loop.rdims]
            reduce(
                self,
                loop,
                loop.body(self, idx),
                lambda vs: self._store_all(loop, kept, vs),
                [e for i, e in enumerate(idx) if i in loop.rdims],
            )

    def _store_all(self, loop: Loop, idx: Sequence[Index], values: Sequence[Value]) -> None:
        deps = NO_DEPS
        for e in idx:
            deps = deps | e.deps
        for b, v in zip(loop.outs, values, strict=True):
            e = ZERO + b.offset
            for i, st in zip(idx, b.stride, strict=True):
                if not same(st, 0):
                    e = e + i * st
            self._check_mutation(loop, b, e)
            self.store(b, e, v, loop, deps)

    def _check_mutation(self, loop: Loop, b: Buffer, e: Index) -> None:
        if loop.mutates and any(a.name == b.name and a.index.key != e.key for a in self.accesses):
            raise NoFuse(f"{b.name} is read elsewhere in this kernel and then changed")

    def _scatter(self, loop: Loop, idx: Sequence[Index]) -> None:
        (b,) = loop.outs
        if any(a.name == b.name for a in self.accesses):
            raise NoFuse("scatter into a buffer that this kernel uses")
        assert loop.out_index is not None
        e = loop.out_index(self, idx)
        v = self.cast(loop.body(self, idx), b.dtype)
        deps = v.deps
        for i in idx:
            deps = deps | i.deps
        ptr, have = self._pointer(b.name, e, deps, b.dtype)
        limits = " & ".join(f"{d}m" for d in ("x", "r") if d in have) or f"tl.full({self.ones}, True, tl.int1)"
        val = f"{v}.to({numerics.TL[b.dtype]})" if b.dtype in HALF else str(v)
        if "x" in have or "r" in have:
            shape = self.block if "r" in have else ("[XB]" if self.flat else "[XB, 1]")
            val = f"tl.broadcast_to({val}, {shape})"
        call = (
            f'tl.atomic_add({ptr}, {val}, {limits}, sem="relaxed")'
            if loop.atomic
            else f"tl.store({ptr}, {val}, {limits})"
        )
        self.write(call, self.inner is not None and "r" in have, b.name)
        self.atomics = True
        self.accesses.append(Access(b.name, e, b.dtype, True))
        self.stored[b.name] = (("scatter", id(loop)), v, loop, self.passes)

    def _columns(self, loop: Loop, idx: Sequence[Index]) -> None:
        """Add rows to an accumulator of the block's shape, which is folded when the program has seen all of its rows."""
        if self.mode != "persistent" or self.chunk not in (0, loop.chunk) or len(self.columns) == MOST_COLUMNS:
            raise NoFuse("sums of columns go with rows in registers, and few at a time")
        (b,) = loop.outs
        v = self.cast(loop.body(self, idx), b.dtype)
        self.count += 1
        name = f"acc{self.count}"
        self.args.setdefault(b.name, b.dtype)
        self.write(f"{name} += tl.where(xm, tl.broadcast_to({v}, {self.block}), 0)", False, b.name)
        self.accesses.append(Access(b.name, var(self.r_atom), b.dtype, True))
        self.columns.append((b, name))
        self.stored[b.name] = (("columns", id(loop)), v, loop, self.passes)
        self.chunk = loop.chunk

    def reduced(self, text: str, dtype: torch.dtype) -> Value:
        """A value that no longer changes with r; in loop mode it exists after the loop."""
        return self.emit(text, dtype, frozenset("x"), share=False)

    # ------------------------------------------------------------------ loop mode
    def open_loop(self) -> None:
        """Start a loop over r."""
        self.inner = []
        self.passes += 1

    def close_loop(self) -> None:
        """Write the loop over r, then fold its accumulators."""
        body, self.inner = self.inner or [], None
        self.inner_cse.clear()
        self.inner_memo.clear()
        if body:
            n = self.layout.r
            at = ("    r = r0 + tl.arange(0, RB)[None, :]{wide}", "")
            inner = [("    " + text, store) for text, store in body]
            self.lines += [(f"for r0 in range(0, {n} // RB * RB, RB):", ""), at]
            self.lines += [("    rm = tl.full([1, RB], True, tl.int1)", ""), *inner]
            # what is left over: its masks are no concern of the steps before
            self.lines += [
                ("if not EVEN_R:", ""),
                (f"    r0 = {n} // RB * RB", ""),
                at,
                (f"    rm = r < {n}", ""),
                *inner,
            ]
        finals, self.finals = self.finals, []
        for final in finals:
            final()


def trace(loops: Sequence[Loop], layout: Layout, mode: str, side: bool = False) -> Kernel:
    """One kernel of all `loops`, in order; raises NoFuse where they do not fit.

    `side`: neighbouring x, not neighbouring r, lie side by side in memory.
    """
    k = Kernel(layout, mode, side)
    if mode != "loop":
        for loop in loops:
            k.add(loop)
        return k
    k.future = {b.name for loop in loops if not loop.mutates for b in loop.outs}
    rest = list(loops)
    while rest:
        before = len(rest)
        rest = [loop for loop in rest if not (_row_only(loop, layout) and _ready(k, loop))]
        k.open_loop()
        rest = [loop for loop in rest if _row_only(loop, layout) or not _ready(k, loop)]
        k.close_loop()
        if len(rest) == before:
            raise NoFuse("the loops wait for each other")
    return k


def _row_only(loop: Loop, layout: Layout) -> bool:
    return not loop.rdims and same(loop.x, layout.x)


def _ready(k: Kernel, loop: Loop) -> bool:
    try:
        k.add(loop)
    except NotReady:
        return False
    return True
