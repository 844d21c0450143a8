"""Index algebra: affine sums of digits ``(v // d) % m`` of the loop variables.

Every address in a generated kernel is an :class:`Index`.  A flat loop variable is taken apart into the
coordinates of a shape by :func:`unflatten`, and strides put it together again; because sums of adjacent
digits
merge, the address of a contiguous tensor comes out as the bare variable, and two addresses are the same
exactly when their :attr:`Index.key` is the same.  All quantities count elements, not bytes.

This module knows nothing of tensors, graphs or Triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

NO_DEPS: frozenset[str] = frozenset()


class Atom:
    """What digits are taken of: a loop variable, a loaded integer, or an expression too hard to take apart.

    ``size`` is an exclusive upper bound of its value; ``deps`` says which loop variables it changes with.
    """

    __slots__ = ("deps", "name", "opaque", "size")

    def __init__(self, name: str, size: int, deps: Iterable[str], opaque: bool = False) -> None:
        self.name, self.size, self.deps, self.opaque = name, size, frozenset(deps), opaque

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Atom({self.name} < {self.size})"


Digit = tuple[Atom, int, int]  # (base, div, mod): (base // div) % mod


class Index:
    """An immutable sum ``const + Σ coefficient * digit``."""

    __slots__ = ("_key", "_str", "const", "terms")

    def __init__(self, terms: dict[Digit, int] | None = None, const: int = 0) -> None:
        self.terms: dict[Digit, int] = terms or {}
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

    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value, both inclusive (exact for independent digits)."""
        lo = hi = self.const
        for (_, _, m), k in self.terms.items():
            if k > 0:
                hi += k * (m - 1)
            else:
                lo += k * (m - 1)
        return lo, hi

    def stride_of(self, var: str) -> int | None:
        """The step when `var` grows by one inside its lowest digit: 0 if independent, None if not affine."""
        step = 0
        for (a, d, _), k in self.terms.items():
            if var in a.deps:
                if a.name != var:
                    return None
                if d == 1:
                    step += k
        return step

    def divisible_by(self, n: int) -> bool:
        """True if every value is known to be a multiple of `n`."""
        return self.const % n == 0 and all(k % n == 0 for k in self.terms.values())

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.const + other) if other else self
        if not other.terms:
            return self + other.const
        if not self.terms:
            return other + self.const
        terms = dict(self.terms)
        for t, k in other.terms.items():
            k += terms.get(t, 0)
            if k:
                terms[t] = k
            else:
                terms.pop(t, None)
        return Index(_merge(terms), self.const + other.const)

    def __mul__(self, k: int) -> Index:
        if k == 1:
            return self
        if k == 0:
            return ZERO
        return Index({t: v * k for t, v in self.terms.items()}, self.const * k)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, d: int) -> Index:
        return self.digit(d, None)

    def __mod__(self, m: int) -> Index:
        return self.digit(1, m)

    def digit(self, d: int, m: int | None) -> Index:
        """``(self // d) % m`` (``m=None``: no modulus), for values that are not negative."""
        if m == 1:
            return ZERO
        q = self._div(d) if d > 1 else self
        return q if m is None else q._mod(m)

    def _div(self, d: int) -> Index:
        whole = {t: k // d for t, k in self.terms.items() if k % d == 0}
        rest = Index({t: k for t, k in self.terms.items() if k % d}, self.const % d)
        carry = self.const // d
        lo, hi = rest.bounds()
        if lo >= 0 and hi < d:
            return Index(_merge(whole), carry)
        if len(rest.terms) == 1 and not rest.const:
            (((atom, d0, m0), k),) = rest.terms.items()
            if k > 0 and d % k == 0:  # k * digit // d == digit // (d / k)
                low = _digit_of_digit(atom, d0, m0, d // k, None)
                return Index(_merge(_sum(whole, low)), carry)
        lift = max(0, -(lo // d))  # Triton truncates: what is divided must not be negative
        return Index(_merge(_sum(whole, opaque_digit(rest + lift * d, d, None))), carry - lift)

    def _mod(self, m: int) -> Index:
        lo, hi = self.bounds()
        if lo >= 0 and hi < m:
            return self
        rest = Index({t: k for t, k in self.terms.items() if k % m}, self.const % m)
        if not rest.terms:
            return rest
        lo, hi = rest.bounds()
        if lo >= 0 and hi < m:
            return rest
        if not rest.const:
            parts: dict[Digit, int] = {}
            high = 0
            for (atom, d0, m0), k in rest.terms.items():
                if k <= 0 or m % k:
                    break
                cut = _digit_of_digit(atom, d0, m0, 1, m // k)
                for t in cut:
                    parts[t] = parts.get(t, 0) + k
                    high += k * (t[2] - 1)
            else:
                if high < m:
                    return Index(_merge(parts))
        return Index(opaque_digit(rest + max(0, -(lo // m)) * m, 1, m))

    # ------------------------------------------------------------------ text
    def __str__(self) -> str:
        if self._str is None:
            out = []
            for (a, d, m), k in sorted(self.terms.items(), key=lambda t: (t[0][0].name, t[0][1])):
                e = a.name if d == 1 else f"{a.name} // {d}"
                if m * d < a.size:
                    e = f"({e}) % {m}" if d != 1 else f"{e} % {m}"
                if k != 1:
                    e = f"({e}) * {k}" if " " in e else f"{e} * {k}"
                elif " " in e:
                    e = f"({e})"
                out.append(e)
            if self.const or not out:
                out.append(str(self.const))
            self._str = " + ".join(out)
        return self._str

    def __repr__(self) -> str:
        return f"Index({self})"

    def evaluate(self, values: dict[str, int]) -> int:
        """The value for given loop variables; for tests."""
        total = self.const
        for (a, d, m), k in self.terms.items():
            base = values[a.name] if a.name in values else eval(a.name, {}, dict(values))
            total += k * ((base // d) % m)
        return total


ZERO = Index()


def const(c: int) -> Index:
    """The index that is always `c`."""
    return Index(None, c) if c else ZERO


def var(atom: Atom) -> Index:
    """The index that is the whole of `atom`; an atom below 2 in size is the constant 0."""
    return Index({(atom, 1, atom.size): 1}) if atom.size > 1 else ZERO


def _digit_of_digit(atom: Atom, d0: int, m0: int, d: int, m: int | None) -> dict[Digit, int]:
    """``(((atom // d0) % m0) // d) % m`` as one digit where that is exact, else as an opaque one."""
    if d >= m0:
        return {}
    if (d == 1 and m is not None and m0 % m == 0) or (d == 1 and m is None):
        return {(atom, d0, min(m0, m or m0)): 1}
    if m0 % d == 0:
        inner = m0 // d
        if m is None or inner <= m:
            return {(atom, d0 * d, inner): 1}
        if inner % m == 0 or m0 * d0 >= atom.size:
            return {(atom, d0 * d, m): 1}
    elif m0 * d0 >= atom.size:  # the top digit: no modulus to respect
        inner = -(-m0 // d)
        return {(atom, d0 * d, inner if m is None else min(m, inner)): 1}
    elif d == 1 and m is not None and m0 <= m:
        return {(atom, d0, m0): 1}
    if d == 1 and m is not None and m0 * d0 >= atom.size:
        return {(atom, d0, min(m, m0)): 1}
    return opaque_digit(Index({(atom, d0, m0): 1}), d, m)


def opaque_digit(e: Index, d: int, m: int | None) -> dict[Digit, int]:
    """A digit of a whole expression, which becomes an atom of its own."""
    _, hi = e.bounds()
    atom = Atom(f"({e})", hi + 1, e.deps, opaque=True)
    top = -(-(hi + 1) // d)
    if top <= 1:
        return {}
    return {(atom, d, top if m is None else min(m, top)): 1}


def _sum(a: dict[Digit, int], b: dict[Digit, int]) -> dict[Digit, int]:
    out = dict(a)
    for t, k in b.items():
        out[t] = out.get(t, 0) + k
    return out


def _merge(terms: dict[Digit, int]) -> dict[Digit, int]:
    """Join neighbouring digits: k*(v//d % m) + k*m*(v//(d*m) % n) == k*(v//d % (m*n))."""
    if len(terms) < 2:
        return terms
    again = True
    while again:
        again = False
        for (atom, d, m), k in terms.items():
            high = next((t for t, kk in terms.items() if t[0] == atom and t[1] == d * m and kk == k * m), None)
            if high is not None:
                out = {t: v for t, v in terms.items() if t != high and t != (atom, d, m)}
                joined = (atom, d, m * high[2])
                out[joined] = out.get(joined, 0) + k
                terms, again = out, True
                break
    return terms


# ---------------------------------------------------------------------- shapes
def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides; a zero-sized dimension counts as one, as torch does."""
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


def flatten(idx: Sequence[Index], strides: Sequence[int], offset: int = 0) -> Index:
    """``offset + Σ idx * stride``."""
    terms: dict[Digit, int] = {}
    c = offset
    for e, st in zip(idx, strides, strict=True):
        if st:
            c += e.const * st
            for t, k in e.terms.items():
                terms[t] = terms.get(t, 0) + k * st
    return Index(_merge({t: k for t, k in terms.items() if k}), c)


def unflatten(flat: Index, shape: Sequence[int]) -> list[Index]:
    """Row-major coordinates of the position `flat`, which must lie inside `shape`."""
    out, d = [], 1
    total = math.prod(shape)
    for n in reversed(shape):
        out.append(flat.digit(d, None if d * n == total else n) if n > 1 else ZERO)
        d *= n
    return out[::-1]


def view_index(idx: Sequence[Index], new: Sequence[int], old: Sequence[int]) -> list[Index]:
    """Coordinates in a tensor of shape `old` of the element `idx` of its reshape to `new`.

    Only groups of dimensions that really split or merge pass through flattening.
    """
    if tuple(new) == tuple(old):
        return list(idx)
    out: list[Index] = []
    i = j = 0
    while i < len(new) or j < len(old):
        i0, j0, ni, nj = i, j, 1, 1
        while not (ni == nj and i > i0 and j > j0):
            if (ni <= nj and i < len(new)) or j >= len(old):
                if i >= len(new):
                    break
                ni *= new[i]
                i += 1
            else:
                nj *= old[j]
                j += 1
        flat = flatten(idx[i0:i], contiguous_strides(new[i0:i]))
        out += unflatten(flat, old[j0:j])
    return out


def view_strides(shape: Sequence[int], stride: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """Strides of a reshape of a strided tensor without a copy, or None if it needs one."""
    if 0 in shape:
        return contiguous_strides(new)
    old = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]
    out: list[int] = [0] * len(new)
    j = len(new) - 1
    i = len(old) - 1
    while i >= 0:
        chunk, step = old[i]
        base = step
        while i > 0 and old[i - 1][1] == old[i][0] * old[i][1]:
            i -= 1
            chunk *= old[i][0]
        i -= 1
        while j >= 0 and (chunk > 1 or new[j] == 1):
            if chunk % new[j]:
                return None
            out[j] = base
            base *= new[j]
            chunk //= new[j]
            j -= 1
        if chunk != 1:
            return None
    while j >= 0:
        if new[j] != 1:
            return None
        out[j] = out[j + 1] * new[j + 1] if j + 1 < len(new) else 1
        j -= 1
    return tuple(out)
