"""Triton text of reductions and scans: in registers (persistent), or by accumulators and a loop over r.

NaN: max, min, argmax and argmin take the NaN, the first one, as torch does; ties take the smallest index.
welford gives (mean, sum of squared deviations); softmax gives (max, sum of exp(v - max)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from pydynamo.lowering import numerics
from pydynamo.lowering.index import Index, contiguous_strides, flatten
from pydynamo.lowering.ir import Loop
from pydynamo.lowering.kernel import Kernel, NoFuse, Value
from pydynamo.lowering.numerics import identity, tl_compute

BIG = 2**31 - 1
XR = frozenset("xr")
Store = Callable[[Sequence[Value]], None]


def _acc_type(loop: Loop, v: Value) -> torch.dtype:
    return torch.int32 if v.dtype is torch.bool else v.dtype


def _operand(k: Kernel, loop: Loop, v: Value) -> tuple[Value, str, torch.dtype]:
    """The value broadcast over the block, neutral in the lanes beyond the row."""
    dt = _acc_type(loop, v)
    t = tl_compute(dt)
    text = str(v) if v.dtype is not torch.bool else f"{v}.to(tl.int32)"
    neutral = identity(loop.kind or "", v.dtype)
    w = k.emit(f"tl.where(rm, tl.broadcast_to({text}, {k.block}), {neutral}).to({t})", dt, XR)
    return w, t, dt


def reduce(k: Kernel, loop: Loop, v: Value, store: Store, ridx: Sequence[Index]) -> None:
    """Trace the reduction of `v` and hand the results to `store` (at once, or when the loop over r
    closes)."""
    kind = loop.kind or ""
    if kind in ("welford", "softmax") and v.dtype not in (torch.float32, torch.float64):
        v = Value(v, torch.float32, v.deps)
    looped = k.inner is not None
    if k.mode == "loop" and not looped:
        raise NoFuse("a reduction belongs inside the loop over r")
    sizes = [loop.shape[i] for i in sorted(loop.rdims)]
    where = flatten(ridx, contiguous_strides(sizes))  # position in the row, in logical order
    emit = _Looped(k, loop, where) if looped else _Persistent(k, loop, where)
    getattr(emit, _METHOD.get(kind, kind))(v, store)


_METHOD = {"max": "extremum", "min": "extremum", "argmax": "arg", "argmin": "arg", "any": "any_"}


class _Persistent:
    def __init__(self, k: Kernel, loop: Loop, where: Index) -> None:
        self.k, self.loop, self.where = k, loop, where

    def sum(self, v: Value, store: Store) -> None:
        w, t, dt = _operand(self.k, self.loop, v)
        store((self.k.reduced(f"tl.sum({w}, 1)[:, None].to({t}){_from_zero(dt)}", dt),))

    def prod(self, v: Value, store: Store) -> None:
        w, _, dt = _operand(self.k, self.loop, v)
        self.k.helpers["_mul"] = None
        store((self.k.reduced(f"tl.reduce({w}, 1, _mul)[:, None]", dt),))

    def any_(self, v: Value, store: Store) -> None:
        w, _, _ = _operand(self.k, self.loop, _truth(self.k, v))
        store((self.k.reduced(f"tl.max({w}, 1)[:, None] != 0", torch.bool),))

    def extremum(self, v: Value, store: Store) -> None:
        w, _, dt = _operand(self.k, self.loop, v)
        m = self.k.reduced(_extremum(self.k, self.loop, str(w), dt), dt)
        store((_unbool(self.k, m, v),))

    def arg(self, v: Value, store: Store) -> None:
        k = self.k
        w, _, dt = _operand(k, self.loop, v)
        m = k.reduced(_extremum(k, self.loop, str(w), dt), dt)
        where = k.emit(f"tl.broadcast_to({self.where}, {k.block})", torch.int32, XR)
        store((k.reduced(_first(w, m, str(where), dt, "rm"), torch.int64),))

    def welford(self, v: Value, store: Store) -> None:
        k, n = self.k, self.loop.r
        w = k.emit(f"tl.where(rm, tl.broadcast_to({v}, {k.block}), 0)", v.dtype, XR)
        count = k.constant(n, v.dtype)
        mean = k.reduced(numerics.spell("div", v.dtype, (f"tl.sum({w}, 1)[:, None]", count)), v.dtype)
        d = k.emit(f"{v} - {mean}", v.dtype, v.deps | mean.deps)
        d = k.emit(f"tl.where(rm, tl.broadcast_to({d}, {k.block}), 0)", v.dtype, XR)
        off = k.reduced(f"tl.sum({d}, 1)[:, None] / {n}", v.dtype)  # what rounding left in the mean
        m2 = k.reduced(f"tl.sum({d} * {d}, 1)[:, None] - {off} * {off} * {n}", v.dtype)
        store(
            (
                k.reduced(f"{mean} + {off}", v.dtype),
                k.reduced(f"tl.maximum({m2}, 0.0, propagate_nan=tl.PropagateNan.ALL)", v.dtype),
            )
        )

    def softmax(self, v: Value, store: Store) -> None:
        k = self.k
        w, _, dt = _operand(k, self.loop, v)
        m = k.reduced(_extremum(k, self.loop, str(w), dt), dt)
        e = k.emit(f"tl.where(rm, tl.exp({w} - {m}), 0.0)", dt, XR)
        store((m, k.reduced(f"tl.sum({e}, 1)[:, None]", dt)))


class _Looped:
    """Accumulators of shape [XB, RB]: declared before the loop, updated in it, folded after it."""

    def __init__(self, k: Kernel, loop: Loop, where: Index) -> None:
        self.k, self.loop, self.where = k, loop, where

    def _acc(self, init: str, t: str, columns: str = "RB") -> str:
        self.k.count += 1
        name = f"acc{self.k.count}"
        self.k.lines.append((f"{name} = tl.full([XB, {columns}], {init}, {t})", ""))
        return name

    def _close(self, fn: Callable[[], Sequence[Value]], store: Store) -> None:
        self.k.finals.append(lambda: store(fn()))

    def _block(self, v: Value) -> str:
        text = f"{v}.to(tl.int32)" if v.dtype is torch.bool else str(v)
        return f"tl.broadcast_to({text}, [XB, RB])"

    def _fold(
        self,
        v: Value,
        store: Store,
        update: str,
        final: Callable[[str], str],
        out: torch.dtype | None = None,
        post: Callable[[Value], Value] | None = None,
    ) -> None:
        k, dt = self.k, _acc_type(self.loop, v)
        acc = self._acc(identity(self.loop.kind or "", v.dtype), tl_compute(dt))
        new = update.format(acc=acc, v=self._block(v))
        k.write(f"{acc} = tl.where(rm, {new}, {acc})", True)

        def fn() -> Sequence[Value]:
            r = k.reduced(final(acc), out or dt)
            return (post(r) if post else r,)

        self._close(fn, store)

    def sum(self, v: Value, store: Store) -> None:
        t = tl_compute(_acc_type(self.loop, v))
        self._fold(v, store, f"({{acc}} + {{v}}).to({t})", lambda a: f"tl.sum({a}, 1)[:, None].to({t})")

    def prod(self, v: Value, store: Store) -> None:
        self.k.helpers["_mul"] = None
        t = tl_compute(_acc_type(self.loop, v))
        self._fold(v, store, f"({{acc}} * {{v}}).to({t})", lambda a: f"tl.reduce({a}, 1, _mul)[:, None]")

    def any_(self, v: Value, store: Store) -> None:
        self._fold(_truth(self.k, v), store, "{acc} | {v}", lambda a: f"tl.max({a}, 1)[:, None] != 0", torch.bool)

    def extremum(self, v: Value, store: Store) -> None:
        dt = _acc_type(self.loop, v)
        nan = ", propagate_nan=tl.PropagateNan.ALL" if dt.is_floating_point else ""
        fn = "maximum" if self.loop.kind == "max" else "minimum"
        self._fold(
            v,
            store,
            f"tl.{fn}({{acc}}, {{v}}{nan})",
            lambda a: _extremum(self.k, self.loop, a, dt),
            dt,
            lambda r: _unbool(self.k, r, v),
        )

    def arg(self, v: Value, store: Store) -> None:
        k, dt = self.k, _acc_type(self.loop, v)
        acc = self._acc(identity(self.loop.kind or "", v.dtype), tl_compute(dt))
        pos = self._acc(str(BIG), "tl.int32")
        w = k.emit(self._block(v), dt, XR, share=False)
        better = f"{w} > {acc}" if self.loop.kind == "argmax" else f"{w} < {acc}"
        if dt.is_floating_point:
            better = f"(({better}) & ({acc} == {acc})) | (({w} != {w}) & ({acc} == {acc}))"
        take = k.emit(f"rm & (({better}) | ({pos} == {BIG}))", torch.bool, XR, share=False)
        k.write(f"{acc} = tl.where({take}, {w}, {acc})", True)
        k.write(f"{pos} = tl.where({take}, tl.broadcast_to({self.where}, [XB, RB]), {pos})", True)

        def fn() -> Sequence[Value]:
            m = k.reduced(_extremum(k, self.loop, acc, dt), dt)
            return (k.reduced(_first(acc, m, pos, dt, ""), torch.int64),)

        self._close(fn, store)

    def welford(self, v: Value, store: Store) -> None:
        k, t, n = self.k, tl_compute(v.dtype), self.loop.r
        mean, m2 = self._acc("0", t), self._acc("0", t)
        # every lane that still takes part has seen as many elements as there were steps
        share = k.emit(f"tl.full([1, 1], 1.0, {t}) / (r0 // RB + 1)", v.dtype, XR)
        d = k.emit(f"{self._block(v)} - {mean}", v.dtype, XR, share=False)
        k.write(f"{mean} = tl.where(rm, tl.fma({d}, {share}, {mean}), {mean})", True)
        k.write(f"{m2} = tl.where(rm, tl.fma({d}, {self._block(v)} - {mean}, {m2}), {m2})", True)

        def fn() -> Sequence[Value]:
            w = k.reduced(f"(({n} + RB - 1 - tl.arange(0, RB)[None, :]) // RB).to({t})", v.dtype)
            m = k.reduced(f"tl.sum({mean} * {w}, 1)[:, None] / {n}", v.dtype)
            s = k.reduced(
                f"tl.sum(tl.where({w} > 0, {m2} + {w} * ({mean} - {m}) * ({mean} - {m}), 0), 1)[:, None]",
                v.dtype,
            )
            return m, s

        self._close(fn, store)

    def softmax(self, v: Value, store: Store) -> None:
        """One exponential for each element, and one for each group of neighbours, whose sum is rescaled to a new
        maximum.

        A group is what one 128-bit load of a half type brings, so that it is folded in a thread's registers.  Where
        neighbours in memory are other rows, each element is a group of its own.
        """
        k, t = self.k, tl_compute(v.dtype)
        size = "1" if k.side else "8 if RB >= 8 else RB"
        k.lines.append((f"GROUP: tl.constexpr = {size}", ""))
        m = self._acc("float('-inf')", t, "RB // GROUP")
        s = self._acc("0", t, "RB // GROUP")
        w = k.emit(f"tl.where(rm, {self._block(v)}, float('-inf'))", v.dtype, XR, share=False)
        w = k.emit(f"tl.reshape({w}, [XB, RB // GROUP, GROUP])", v.dtype, XR, share=False)
        k.helpers["_max_nan"] = None
        new = k.emit(
            f"tl.maximum({m}, tl.reduce({w}, 2, _max_nan), propagate_nan=tl.PropagateNan.ALL)",
            v.dtype,
            XR,
            share=False,
        )
        base = k.emit(f"tl.where({new} == float('-inf'), 0.0, {new})", v.dtype, XR, share=False)  # nothing finite yet
        old, terms = _power(f"{m} - {base}", v.dtype), _power(f"{w} - {base}[:, :, None]", v.dtype)
        k.write(f"{s} = {s} * {old} + tl.sum({terms}, 2)", True)
        k.write(f"{m} = {new}", True)

        def fn() -> Sequence[Value]:
            top = k.reduced(_extremum(k, self.loop, m, v.dtype), v.dtype)
            total = k.reduced(f"tl.sum({s} * tl.where({m} == {top}, 1.0, tl.exp({m} - {top})), 1)[:, None]", v.dtype)
            # a row of -inf only is nan in eager too
            return top, k.reduced(f"tl.where({top} == float('-inf'), float('nan'), {total})", v.dtype)

        self._close(fn, store)


def _power(text: str, dt: torch.dtype) -> str:
    """exp of a number that is not above zero, for a sum that is at least one: what is tiny may become zero, and
    hardware's own power of two, which does that, takes half the instructions."""
    return f"tl.exp2(({text}) * 1.4426950408889634)" if dt is torch.float32 else f"tl.exp({text})"


def _truth(k: Kernel, v: Value) -> Value:
    return v if v.dtype is torch.bool else k.cast(v, torch.bool)


def _unbool(k: Kernel, m: Value, v: Value) -> Value:
    return k.emit(f"{m} != 0", torch.bool, m.deps) if v.dtype is torch.bool else m


def _extremum(k: Kernel, loop: Loop, w: str, dt: torch.dtype) -> str:
    big = loop.kind in ("max", "argmax", "softmax")
    if dt.is_floating_point:
        fn = "_max_nan" if big else "_min_nan"
        k.helpers[fn] = None
        return f"tl.reduce({w}, 1, {fn})[:, None]"
    return f"tl.{'max' if big else 'min'}({w}, 1)[:, None].to({tl_compute(dt)})"


def _first(w: str, m: str, where: str, dt: torch.dtype, mask: str) -> str:
    eq = f"({w} == {m})"
    if dt.is_floating_point:
        eq = f"({eq} | (({w} != {w}) & ({m} != {m})))"
    if mask:
        eq = f"({eq} & {mask})"
    return f"tl.min(tl.where({eq}, {where}, {BIG}), 1)[:, None].to(tl.int64)"


def _from_zero(dt: torch.dtype) -> str:
    """A sum starts at 0.0, so that it is never -0.0."""
    return " + 0.0" if dt.is_floating_point else ""


def scan(k: Kernel, loop: Loop, v: Value) -> Value:
    """Inclusive scan along r."""
    dt = _acc_type(loop, v)
    t = tl_compute(dt)
    fn = "_add" if loop.kind == "scan_sum" else "_mul"
    k.helpers[fn] = None
    text = f"{v}.to(tl.int32)" if v.dtype is torch.bool else str(v)
    neutral = "0" if fn == "_add" else "1"
    w = k.emit(f"tl.where(rm, tl.broadcast_to({text}, {k.block}), {neutral}).to({t})", dt, XR)
    if k.inner is None:
        start = _from_zero(dt) if fn == "_add" else ""
        return k.emit(f"tl.associative_scan({w}, 1, {fn}){start}", dt, XR)
    k.count += 1
    carry = f"carry{k.count}"
    k.lines.append((f"{carry} = tl.full([XB, 1], {neutral}, {t})", ""))
    sign = "+" if fn == "_add" else "*"
    out = k.emit(f"({carry} {sign} tl.associative_scan({w}, 1, {fn})).to({t})", dt, XR, share=False)
    k.write(f"{carry} = tl.sum(tl.where(tl.arange(0, RB)[None, :] == RB - 1, {out}, 0), 1)[:, None].to({t})", True)
    return out
