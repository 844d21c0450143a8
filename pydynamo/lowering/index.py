"""Index algebra: affine sums of digits ``(v // d) % m`` of the loop variables.

Every address in a generated kernel is an :class:`Index`.  A flat loop variable is taken apart into the
coordinates of a shape by :func:`unflatten`, and strides put it together again; because sums of adjacent
digits
merge, the address of a contiguous tensor comes out as the bare variable, and two addresses are the same
exactly when their :attr:`Index.key` is the same.  All quantities count elements, not bytes, and may be sizes that
are known at run time only; a simplification is made only where it is proven right for all their values.

This module knows nothing of tensors, graphs or Triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pydynamo.lowering.symbols import Int, alike, ceil_div, divides, hint, le, same, split

NO_DEPS: frozenset[str] = frozenset()


class Atom:
    """What digits are taken of: a loop variable, a loaded integer, or an expression too hard to take apart.

    ``size`` is an exclusive upper bound of its value; ``deps`` says which loop variables it changes with.
    """

    __slots__ = ("deps", "name", "opaque", "size")

    def __init__(self, name: str, size: Int, deps: Iterable[str], opaque: bool = False) -> None:
        self.name, self.size, self.deps, self.opaque = name, size, frozenset(deps), opaque

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Atom({self.name} < {self.size})"


Digit = tuple[Atom, Int, Int]  # (base, div, mod): (base // div) % mod


class Index:
    """An immutable sum ``const + Σ coefficient * digit``."""

    __slots__ = ("_key", "_str", "const", "terms")

    def __init__(self, terms: dict[Digit, Int] | None = None, const: Int = 0) -> None:
        self.terms: dict[Digit, Int] = terms or {}
        self.const = const
        self._key: tuple[object, ...] | None = None
        self._str: str | None = None

    # ------------------------------------------------------------------ facts
    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal canonical forms; hashable."""
        if self._key is None:
            self._key = (frozenset(self.terms.items()), self.const)
        return self._key

    @property
    def deps(self) -> frozenset[str]:
        """Names of the loop variables that this index changes with."""
        out = NO_DEPS
        for atom, _, _ in self.terms:
            out = out | atom.deps
        return out

    @property
    def opaque(self) -> bool:
        """True if some part needed a division that the algebra could not resolve into digits."""
        return any(a.opaque for (a, _, _) in self.terms)

    def bounds(self) -> tuple[Int, Int]:
        """Smallest and largest value, both inclusive (exact for independent digits)."""
        lo = hi = self.const
        for (_, _, m), k in self.terms.items():
            if k > 0:
                hi += k * (m - 1)
            else:
                lo += k * (m - 1)
        return lo, hi

    def stride_of(self, var: str) -> Int | None:
        """The step when `var` grows by one inside its lowest digit: 0 if independent, None if not affine."""
        step: Int = 0
        for (a, d, _), k in self.terms.items():
            if var in a.deps:
                if a.name != var:
                    return None
                if same(d, 1):
                    step = step + k
        return step

    def divisible_by(self, n: int) -> bool:
        """True if every value is known to be a multiple of `n`."""
        return divides(n, self.const) and all(divides(n, k) for k in self.terms.values())

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: Index | Int) -> Index:
        if not isinstance(other, Index):
            return self if same(other, 0) else Index(self.terms, self.const + other)
        if not other.terms:
            return self + other.const
        if not self.terms:
            return other + self.const
        terms = dict(self.terms)
        for t, k in other.terms.items():
            if t in terms:
                k = terms[t] + k
                if same(k, 0):
                    del terms[t]
                    continue
            terms[t] = k
        return Index(_merge(terms), self.const + other.const)

    def __mul__(self, k: Int) -> Index:
        if type(k) is int and k < 2:
            if k == 1:
                return self
            if k == 0:
                return ZERO
        return Index({t: v * k for t, v in self.terms.items()}, self.const * k)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, d: Int) -> Index:
        return self.digit(d, None)

    def __mod__(self, m: Int) -> Index:
        return self.digit(1, m)

    def digit(self, d: Int, m: Int | None) -> Index:
        """``(self // d) % m`` (``m=None``: no modulus), for values that are not negative."""
        if m is not None and same(m, 1):
            return ZERO
        q = self if same(d, 1) else self._div(d)
        return q if m is None else q._mod(m)

    def _div(self, d: Int) -> Index:
        whole: dict[Digit, Int] = {}
        rest_terms: dict[Digit, Int] = {}
        for t, k in self.terms.items():
            if divides(d, k):
                whole[t] = k // d
            else:
                rest_terms[t] = k
        carry, left = split(self.const, d)
        rest = Index(rest_terms, left)
        lo, hi = rest.bounds()
        if le(0, lo) and le(hi + 1, d):
            return Index(_merge(whole), carry)
        if len(rest.terms) == 1 and same(rest.const, 0):
            (((atom, d0, m0), k),) = rest.terms.items()
            if le(1, k) and divides(k, d):  # k * digit // d == digit // (d / k)
                low = _digit_of_digit(atom, d0, m0, d // k, None)
                return Index(_merge(_sum(whole, low)), carry)
        higher = _without_low(rest, d)
        if higher is not None:
            return Index(_merge(_sum(whole, higher.terms)), carry + higher.const)
        lift = _lift(lo, d)
        return Index(_merge(_sum(whole, opaque_digit(rest + lift * d, d, None))), carry - lift)

    def _mod(self, m: Int) -> Index:
        lo, hi = self.bounds()
        if le(0, lo) and le(hi + 1, m):
            return self
        rest = Index({t: k for t, k in self.terms.items() if not divides(m, k)}, split(self.const, m)[1])
        if not rest.terms and isinstance(rest.const, int):
            return rest
        lo, hi = rest.bounds()
        if le(0, lo) and le(hi + 1, m):
            return rest
        if same(rest.const, 0):
            parts: dict[Digit, Int] = {}
            high: Int = 0
            for (atom, d0, m0), k in rest.terms.items():
                if not (le(1, k) and divides(k, m)):
                    break
                cut = _digit_of_digit(atom, d0, m0, 1, m // k)
                for t in cut:
                    parts[t] = parts.get(t, 0) + k
                    high = high + k * (t[2] - 1)
            else:
                if le(high + 1, m):
                    return Index(_merge(parts))
        return Index(opaque_digit(rest + _lift(lo, m) * m, 1, m))

    # ------------------------------------------------------------------ text
    def __str__(self) -> str:
        if self._str is None:
            out = []
            for (a, d, m), k in sorted(self.terms.items(), key=lambda t: (t[0][0].name, hint(t[0][1]))):
                bare = same(d, 1)
                e = a.name if bare else f"{a.name} // {d}"
                if not le(a.size, m * d):
                    e = f"{e} % {m}" if bare else f"({e}) % {m}"
                if not same(k, 1):
                    e = f"({e}) * {k}" if " " in e else f"{e} * {k}"
                elif " " in e:
                    e = f"({e})"
                out.append(e)
            if not out or not same(self.const, 0):
                out.append(str(self.const))
            self._str = " + ".join(out)
        return self._str

    def __repr__(self) -> str:
        return f"Index({self})"

    def evaluate(self, values: dict[str, int]) -> int:
        """The value for given loop variables; for tests."""
        total = hint(self.const)
        for (a, d, m), k in self.terms.items():
            base = values[a.name] if a.name in values else eval(a.name, {}, dict(values))
            total += hint(k) * ((base // hint(d)) % hint(m))
        return total


ZERO = Index()


def const(c: Int) -> Index:
    """The index that is always `c`."""
    return ZERO if same(c, 0) else Index(None, c)


def var(atom: Atom) -> Index:
    """The index that is the whole of `atom`; an atom below 2 in size is the constant 0."""
    return ZERO if le(atom.size, 1) else Index({(atom, 1, atom.size): 1})


def _lift(lo: Int, d: Int) -> Int:
    """How often to add `d` before dividing by it: Triton truncates, so what is divided must not be negative."""
    return 0 if le(0, lo) else -(lo // d)


def _without_low(e: Index, d: Int) -> Index | None:
    """``e // d`` where e is g times something plus less than g, and g divides d: ``something // (d // g)``."""
    steps = {k for k in e.terms.values() if isinstance(k, int) and isinstance(d, int) and 1 < k < d and d % k == 0}
    for g in sorted(steps, reverse=True):
        low = Index({t: k for t, k in e.terms.items() if not divides(g, k)}, e.const)
        lo, hi = low.bounds()
        if le(0, lo) and le(hi + 1, g):
            high = Index({t: k // g for t, k in e.terms.items() if divides(g, k)})
            if le(0, high.bounds()[0]):
                return high.digit(d // g, None)
    return None


def _digit_of_digit(atom: Atom, d0: Int, m0: Int, d: Int, m: Int | None) -> dict[Digit, Int]:
    """``(((atom // d0) % m0) // d) % m`` as one digit where that is exact, else as an opaque one."""
    if le(m0, d):
        return {}
    bare = same(d, 1)
    if bare and (m is None or divides(m, m0)):
        return {(atom, d0, m0 if m is None else m): 1}
    top = le(atom.size, m0 * d0)  # the top digit: no modulus to respect
    if divides(d, m0):
        inner = m0 // d
        if m is None or le(inner, m):
            return {(atom, d0 * d, inner): 1}
        if top or divides(m, inner):
            return {(atom, d0 * d, m): 1}
    elif top:
        return {(atom, d0 * d, _smaller(ceil_div(m0, d), m)): 1}
    if bare and m is not None and (top or le(m0, m)):
        return {(atom, d0, _smaller(m0, m)): 1}
    return opaque_digit(Index({(atom, d0, m0): 1}), d, m)


def _smaller(inner: Int, m: Int | None) -> Int:
    """The modulus of a digit that is below `inner` anyway."""
    return inner if m is None or le(inner, m) else m


def opaque_digit(e: Index, d: Int, m: Int | None) -> dict[Digit, Int]:
    """A digit of a whole expression, which becomes an atom of its own."""
    _, hi = e.bounds()
    top = ceil_div(hi + 1, d)
    if le(top, 1):
        return {}
    return {(Atom(f"({e})", hi + 1, e.deps, opaque=True), d, _smaller(top, m)): 1}


def _sum(a: dict[Digit, Int], b: dict[Digit, Int]) -> dict[Digit, Int]:
    out = dict(a)
    for t, k in b.items():
        out[t] = out.get(t, 0) + k
    return out


def _merge(terms: dict[Digit, Int]) -> dict[Digit, Int]:
    """Join neighbouring digits: k*(v//d % m) + k*m*(v//(d*m) % n) == k*(v//d % (m*n))."""
    if len(terms) < 2:
        return terms
    again = True
    while again:
        again = False
        for (atom, d, m), k in terms.items():
            high = next(
                (t for t, kk in terms.items() if t[0] == atom and same(t[1], d * m) and same(kk, k * m)),
                None,
            )
            if high is not None:
                out = {t: v for t, v in terms.items() if t != high and t != (atom, d, m)}
                joined = (atom, d, m * high[2])
                out[joined] = out.get(joined, 0) + k
                terms, again = out, True
                break
    return terms


# ---------------------------------------------------------------------- shapes
def contiguous_strides(shape: Sequence[Int]) -> tuple[Int, ...]:
    """Row-major strides; a zero-sized dimension counts as one, as torch does."""
    out: list[Int] = []
    step: Int = 1
    for n in reversed(shape):
        out.append(step)
        if n != 0:
            step = step * n
    return tuple(reversed(out))


def flatten(idx: Sequence[Index], strides: Sequence[Int], offset: Int = 0) -> Index:
    """``offset + Σ idx * stride``."""
    terms: dict[Digit, Int] = {}
    c = offset
    for e, st in zip(idx, strides, strict=True):
        if type(st) is int and not st:
            continue
        c = c + e.const * st
        for t, k in e.terms.items():
            terms[t] = terms[t] + k * st if t in terms else k * st
    return Index(_merge({t: k for t, k in terms.items() if not same(k, 0)}), c)


def unflatten(flat: Index, shape: Sequence[Int]) -> list[Index]:
    """Row-major coordinates of the position `flat`, which must lie inside `shape`."""
    out: list[Index] = []
    d: Int = 1
    total: Int = math.prod(shape)
    for n in reversed(shape):
        out.append(ZERO if le(n, 1) else flat.digit(d, None if same(d * n, total) else n))
        d = d * n
    return out[::-1]


def view_index(idx: Sequence[Index], new: Sequence[Int], old: Sequence[Int]) -> list[Index]:
    """Coordinates in a tensor of shape `old` of the element `idx` of its reshape to `new`.

    Only groups of dimensions that really split or merge pass through flattening.
    """
    if alike(new, old):
        return list(idx)
    out: list[Index] = []
    i = j = 0
    while i < len(new) or j < len(old):
        i0, j0 = i, j
        ni: Int = 1
        nj: Int = 1
        while not (i > i0 and j > j0 and same(ni, nj)):
            if (i < len(new) and hint(ni) <= hint(nj)) or j >= len(old):
                if i >= len(new):
                    if ni != nj:  # a reshape keeps the number of elements: equal for the sizes at hand
                        raise ValueError(f"{list(new)} and {list(old)} have different numbers of elements")
                    break
                ni = ni * new[i]
                i += 1
            else:
                nj = nj * old[j]
                j += 1
        flat = flatten(idx[i0:i], contiguous_strides(new[i0:i]))
        out += unflatten(flat, old[j0:j])
    return out


def view_strides(shape: Sequence[Int], stride: Sequence[Int], new: Sequence[Int]) -> tuple[Int, ...] | None:
    """Strides of a reshape of a strided tensor without a copy, or None if it needs one."""
    if 0 in shape:
        return contiguous_strides(new)
    old = [(n, s) for n, s in zip(shape, stride, strict=True) if not same(n, 1)]
    out: list[Int] = [0] * len(new)
    j = len(new) - 1
    i = len(old) - 1
    while i >= 0:
        chunk, step = old[i]
        base = step
        while i > 0 and same(old[i - 1][1], old[i][0] * old[i][1]):
            i -= 1
            chunk = chunk * old[i][0]
        i -= 1
        while j >= 0 and (not same(chunk, 1) or same(new[j], 1)):
            if not divides(new[j], chunk):
                return None
            out[j] = base
            base = base * new[j]
            chunk = chunk // new[j]
            j -= 1
        if not same(chunk, 1):
            return None
    while j >= 0:
        if not same(new[j], 1):
            return None
        out[j] = out[j + 1] * new[j + 1] if j + 1 < len(new) else 1
        j -= 1
    return tuple(out)
