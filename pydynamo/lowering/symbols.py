"""Sizes that are known at run time only: polynomials over the symbols of a graph, with a hint for each.

A :class:`Size` computes like an int.  A comparison is answered by proof where the lower bounds of the symbols give
one; otherwise by the hint, and what was taken for granted is kept in ``Scope.assumed`` as Python text.  Whoever runs
what was compiled checks those relations first, so that no answer rests on a guess.  Code that only wants to
simplify asks :func:`le`, :func:`same` and :func:`divides`, which say False where nothing is proven and assume nothing.

Text: ``repr`` is Python over the symbols' names; ``str`` is a hole ``{size_N}`` that code generation fills with a
kernel parameter.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Monomial = tuple[str, ...]  # sorted names, repeated for powers
LEAST = 2  # a symbol stands for this at least: smaller sizes are compiled as the numbers they are


class Scope:
    """The symbols of one compilation: their hints, what is known of them, and what was assumed."""

    def __init__(self, hints: Mapping[str, int]) -> None:
        self.values: dict[str, int] = {}  # hint of every name, also of quotients and remainders
        self.lower: dict[str, int | None] = {}
        self.fixed: dict[str, int] = {}  # symbols that are compiled as numbers
        self.assumed: dict[str, None] = {}
        self.holes: dict[tuple[tuple[Monomial, int], ...], str] = {}
        self.sizes: dict[str, Size] = {}  # by hole
        for name, value in hints.items():
            if value >= LEAST:
                self.values[name], self.lower[name] = value, LEAST
                self.assumed[f"{name} >= {LEAST}"] = None
            else:
                self.fix(name, value)

    def fix(self, name: str, value: int) -> None:
        """Compile the symbol `name` as a number."""
        self.fixed[name] = value
        self.assumed[f"{name} == {value}"] = None

    def symbol(self, name: str) -> Size | int:
        """The size that is the symbol `name`."""
        known = self.fixed.get(name)
        return Size(self, {(name,): 1}) if known is None else known

    def named(self, text: str, value: int, lower: int | None) -> Size:
        """A size that no polynomial expresses, by its Python text."""
        self.values[text] = value
        self.lower[text] = lower
        return Size(self, {(text,): 1})


class Size:
    """A polynomial with integer coefficients; immutable. Results that are constant are plain ints."""

    __slots__ = ("_key", "_low", "scope", "terms")

    def __init__(self, scope: Scope, terms: dict[Monomial, int]) -> None:
        self.scope, self.terms = scope, terms
        self._key: tuple[tuple[Monomial, int], ...] | None = None
        self._low: int | str | None = ""

    # ------------------------------------------------------------------ facts
    @property
    def key(self) -> tuple[tuple[Monomial, int], ...]:
        """Equal for equal polynomials; hashable."""
        if self._key is None:
            self._key = tuple(sorted(self.terms.items()))
        return self._key

    @property
    def hint(self) -> int:
        """The value for the hints of the symbols."""
        total, values = 0, self.scope.values
        for names, k in self.terms.items():
            for n in names:
                k *= values[n]
            total += k
        return total

    @property
    def low(self) -> int | None:
        """A proven lower bound, or None: every name is written as its lower bound plus something not negative."""
        if isinstance(self._low, str):
            self._low = self._lower()
        return self._low

    def _lower(self) -> int | None:
        moved: dict[Monomial, int] = {}
        for names, k in self.terms.items():
            parts: dict[Monomial, int] = {(): k}
            for n in names:
                lo = self.scope.lower[n]
                if lo is None:
                    return None
                grown: dict[Monomial, int] = {}
                for m, c in parts.items():
                    up = tuple(sorted((*m, n)))
                    grown[up] = grown.get(up, 0) + c
                    if lo:
                        grown[m] = grown.get(m, 0) + c * lo
                parts = grown
            for m, c in parts.items():
                moved[m] = moved.get(m, 0) + c
        least = moved.pop((), 0)
        return least if all(c >= 0 for c in moved.values()) else None

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        out = []
        for names, k in self.key:
            if not names:
                out.append(str(k))
            elif k == 1:
                out.append("*".join(names))
            else:
                out.append("*".join((str(k), *names)))
        return " + ".join(out) if len(out) == 1 else f"({' + '.join(out)})"

    def __str__(self) -> str:
        scope = self.scope
        hole = scope.holes.get(self.key)
        if hole is None:
            hole = scope.holes[self.key] = f"size_{len(scope.holes)}"
            scope.sizes[hole] = self
        return f"{{{hole}}}"

    def __format__(self, spec: str) -> str:
        return str(self)

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: Int) -> Any:
        if isinstance(other, Size):
            terms = dict(self.terms)
            for m, k in other.terms.items():
                terms[m] = terms.get(m, 0) + k
        elif type(other) is int:
            if not other:
                return self
            terms = dict(self.terms)
            terms[()] = terms.get((), 0) + other
        else:
            return NotImplemented
        return _made(self.scope, terms)

    def __neg__(self) -> Any:
        return Size(self.scope, {m: -k for m, k in self.terms.items()})

    def __sub__(self, other: Int) -> Any:
        return self + -other if isinstance(other, (int, Size)) else NotImplemented

    def __rsub__(self, other: int) -> Any:
        return -self + other

    def __mul__(self, other: Int) -> Any:
        if type(other) is int:
            return self if other == 1 else _made(self.scope, {m: k * other for m, k in self.terms.items()})
        if not isinstance(other, Size):
            return NotImplemented
        terms: dict[Monomial, int] = {}
        for m, k in self.terms.items():
            for n, c in other.terms.items():
                both = tuple(sorted(m + n))
                terms[both] = terms.get(both, 0) + k * c
        return _made(self.scope, terms)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, d: Int) -> Any:
        return _quotient(self.scope, self, d)

    def __mod__(self, d: Int) -> Any:
        return _remainder(self.scope, self, d)

    def __rfloordiv__(self, n: int) -> Any:
        return _quotient(self.scope, n, self)

    def __rmod__(self, n: int) -> Any:
        return _remainder(self.scope, n, self)

    # ------------------------------------------------------------------ decisions
    def _decide(self, other: Any, relation: str) -> bool:
        if not isinstance(other, (int, Size)):
            raise TypeError(f"a size is not compared with {other!r}")
        known = _known(self, other, relation)
        if known is not None:
            return known
        truth = bool(_RELATIONS[relation](self.hint, hint(other)))
        said = relation if truth else _OPPOSITE[relation]
        self.scope.assumed[f"{self!r} {said} {other!r}"] = None
        return truth

    def __lt__(self, other: Int) -> bool:
        return self._decide(other, "<")

    def __le__(self, other: Int) -> bool:
        return self._decide(other, "<=")

    def __gt__(self, other: Int) -> bool:
        return self._decide(other, ">")

    def __ge__(self, other: Int) -> bool:
        return self._decide(other, ">=")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, Size)) and self._decide(other, "==")

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, (int, Size)) or self._decide(other, "!=")

    def __bool__(self) -> bool:
        return self._decide(0, "!=")

    def __index__(self) -> int:
        """The number, where nothing but a number will do: what is compiled then serves this size alone."""
        self.scope.assumed[f"{self!r} == {self.hint}"] = None
        return self.hint


Int: TypeAlias = int | Size
_RELATIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _made(scope: Scope, terms: dict[Monomial, int]) -> Int:
    terms = {m: k for m, k in terms.items() if k}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Size(scope, terms)


def _least(v: Int) -> int | None:
    return v if isinstance(v, int) else v.low


def _known(a: Int, b: Int, relation: str) -> bool | None:
    """Whether the relation holds for all values, or None where that is not proven."""
    if relation in (">", "<"):
        return _known_ge(a, b + 1) if relation == ">" else _known_ge(b, a + 1)
    if relation in (">=", "<="):
        return _known_ge(a, b) if relation == ">=" else _known_ge(b, a)
    equal = _known_eq(a, b)
    return equal if relation == "==" or equal is None else not equal


def _known_ge(a: Int, b: Int) -> bool | None:
    d = a - b
    least = _least(d)
    if least is not None and least >= 0:
        return True
    most = _least(-d)
    return False if most is not None and most >= 1 else None


def _known_eq(a: Int, b: Int) -> bool | None:
    d = a - b
    if isinstance(d, int):
        return d == 0
    for side in (d, -d):
        least = _least(side)
        if least is not None and least >= 1:
            return False
    return None


# ---------------------------------------------------------------------- division
def split(c: Int, d: Int) -> tuple[Int, Int]:
    """(q, r) with ``c == q * d + r``; r lies in [0, d) where both are numbers, else it is what does not divide."""
    if isinstance(c, int) and isinstance(d, int):
        return divmod(c, d)
    if isinstance(d, int):
        assert isinstance(c, Size)
        whole = {m: k // d for m, k in c.terms.items() if m and k % d == 0}
        rest = {m: k for m, k in c.terms.items() if m and k % d}
        q, r = divmod(c.terms.get((), 0), d)
        whole[()], rest[()] = q, r
        return _made(c.scope, whole), _made(c.scope, rest)
    terms: dict[Monomial, int] = {(): c} if isinstance(c, int) else c.terms
    if len(d.terms) == 1:
        ((names, k),) = d.terms.items()
        whole, rest = {}, {}
        for m, v in terms.items():
            left = _without(m, names) if v % k == 0 else None
            if left is None:
                rest[m] = v
            else:
                whole[left] = v // k
        return _made(d.scope, whole), _made(d.scope, rest)
    return _long_division(d.scope, terms, d.terms)


def _without(m: Monomial, names: Monomial) -> Monomial | None:
    left = list(m)
    for n in names:
        if n not in left:
            return None
        left.remove(n)
    return tuple(left)


def _long_division(scope: Scope, terms: dict[Monomial, int], by: dict[Monomial, int]) -> tuple[Int, Int]:
    """Polynomial division by the greatest monomial; (0, all) unless it is exact."""
    lead = max(by, key=lambda m: (len(m), m))
    k = by[lead]
    rest, whole = dict(terms), dict[Monomial, int]()
    for _ in range(16):
        if not rest:
            return _made(scope, whole), 0
        top = max(rest, key=lambda m: (len(m), m))
        left = _without(top, lead) if rest[top] % k == 0 else None
        if left is None:
            break
        c = rest[top] // k
        whole[left] = whole.get(left, 0) + c
        for m, v in by.items():
            both = tuple(sorted(m + left))
            rest[both] = rest.get(both, 0) - c * v
        rest = {m: v for m, v in rest.items() if v}
    return 0, _made(scope, dict(terms))


def _inside(r: Int, d: Int) -> bool:
    return le(0, r) and le(r + 1, d)


def _factor(v: Int) -> str:
    """Text that stands beside an operator."""
    text = repr(v)
    return text if text.isalnum() else f"({text})"


def _quotient(scope: Scope, n: Int, d: Int) -> Int:
    q, r = split(n, d)
    if same(r, 0) or _inside(r, d):
        return q
    least = _least(r)
    low = least // d if least is not None and isinstance(d, int) and d > 0 else 0 if le(0, r) and le(1, d) else None
    return q + scope.named(f"({_factor(r)} // {_factor(d)})", hint(r) // hint(d), low)


def _remainder(scope: Scope, n: Int, d: Int) -> Int:
    _, r = split(n, d)
    if same(r, 0) or _inside(r, d):
        return r
    return scope.named(f"({_factor(r)} % {_factor(d)})", hint(r) % hint(d), 0 if le(1, d) else None)


# ---------------------------------------------------------------------- questions that assume nothing
def hint(v: Int) -> int:
    """The value for the hints: for choices that are right either way."""
    return v if isinstance(v, int) else v.hint


def le(a: Int, b: Int) -> bool:
    """True if ``a <= b`` is proven."""
    if type(a) is int and type(b) is int:
        return a <= b
    return _known_ge(b, a) is True


def same(a: Int, b: Int) -> bool:
    """True if ``a == b`` is proven."""
    if type(a) is int and type(b) is int:
        return a == b
    if isinstance(a, Size) and isinstance(b, Size):
        return a.terms == b.terms
    return False


def alike(a: Sequence[Int], b: Sequence[Int]) -> bool:
    """True if two shapes are proven equal."""
    return len(a) == len(b) and all(map(same, a, b))


def ceil_div(n: Int, d: Int) -> Int:
    """``n / d``, rounded up."""
    return (n + (d - 1)) // d


def divides(d: Int, v: Int) -> bool:
    """True if `v` is proven to be a multiple of `d`."""
    if type(d) is int and type(v) is int:
        return v % d == 0
    r = split(v, d)[1]
    return type(r) is int and r == 0


def extreme(scope: Scope, which: str, values: Sequence[Int]) -> Int:
    """``max`` or ``min`` of sizes, as a size."""
    best = values[0]
    for v in values[1:]:
        small, big = (best, v) if which == "max" else (v, best)
        if le(small, big):
            best = v
        elif not le(big, small):
            break
    else:
        return best
    lows = [_least(v) for v in values]
    known = [v for v in lows if v is not None]
    low = max(known, default=None) if which == "max" else min(known) if len(known) == len(lows) else None
    pick = max if which == "max" else min
    return scope.named(f"{which}({', '.join(map(repr, values))})", pick(map(hint, values)), low)
