"""Sizes at run time against the numbers that they stand for."""

import random

import pytest

from pydynamo.lowering.index import Atom, contiguous_strides, flatten, unflatten, var, view_index
from pydynamo.lowering.symbols import Scope, Size, ceil_div, divides, extreme, hint, le, same


def value(v, given):
    return v if isinstance(v, int) else eval(repr(v), {"max": max, "min": min}, dict(given))


def expressions(rng, scope, names, count):
    pool = [*(scope.symbol(n) for n in names), 1, 2, 3, 16]
    for _ in range(count):
        a, b = rng.choice(pool), rng.choice(pool)
        op = rng.choice(("+", "-", "*", "//", "%", "max", "min"))
        if op in ("//", "%") and not le(1, b):
            continue
        made = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "//": lambda: a // b,
            "%": lambda: a % b,
            "max": lambda: extreme(scope, "max", [a, b]),
            "min": lambda: extreme(scope, "min", [a, b]),
        }[op]()
        yield op, a, b, made
        if len(pool) < 24 and len(repr(made)) < 120:
            pool.append(made)


PLAIN = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "max": max,
    "min": min,
}


@pytest.mark.parametrize("seed", range(6))
def test_arithmetic_and_proofs_agree_with_numbers(seed):
    rng = random.Random(seed)
    hints = {"s0": rng.randint(2, 40), "s1": rng.randint(2, 40)}
    scope = Scope(hints)
    made = list(expressions(rng, scope, hints, 150))
    for _ in range(6):
        given = {n: rng.randint(2, 60) for n in hints}
        for op, a, b, v in made:
            p, q = value(a, given), value(b, given)
            if op in ("//", "%") and not q:
                continue
            assert value(v, given) == PLAIN[op](p, q), (op, a, b, v, given)
            if le(a, b):
                assert p <= q, (a, b, given)
            if same(a, b):
                assert p == q
            if q and divides(b, a):
                assert p % q == 0, (a, b, given)
    for _, a, _, _ in made:
        assert hint(a) == value(a, hints)


def test_a_decision_that_no_proof_makes_is_kept_as_an_assumption():
    scope = Scope({"s0": 10, "s1": 4})
    s0, s1 = scope.symbol("s0"), scope.symbol("s1")
    before = set(scope.assumed)
    assert s0 * s1 >= s0 and s0 != 1 and s0 * 2 > s0 and set(scope.assumed) == before
    assert s0 > s1 and s0 - 5 != 0
    held = " and ".join(scope.assumed)
    assert eval(held, {}, {"s0": 9, "s1": 2}) and not eval(held, {}, {"s0": 5, "s1": 2})
    assert not eval(held, {}, {"s0": 7, "s1": 8})


def test_a_size_used_as_a_number_ties_the_compilation_to_it():
    scope = Scope({"s0": 3})
    assert list(range(scope.symbol("s0"))) == [0, 1, 2]
    assert not eval(" and ".join(scope.assumed), {}, {"s0": 4})


def test_sizes_below_two_are_numbers():
    scope = Scope({"s0": 1})
    assert scope.symbol("s0") == 1 and not isinstance(scope.symbol("s0"), Size)


def test_rounding_up_stays_positive():
    s = Scope({"s0": 5}).symbol("s0")
    assert le(1, ceil_div(s, 64))


@pytest.mark.parametrize("seed", range(6))
def test_addresses_with_symbolic_shapes_equal_brute_force(seed):
    rng = random.Random(seed)
    scope = Scope({"s0": 6, "s1": 5})
    s0, s1 = scope.symbol("s0"), scope.symbol("s1")
    shapes = [(s0, s1, 4), (s0 * s1, 4), (s0, s1 * 4), (4, s0, s1), (2, s0, 2, s1), (s0, 2, s1, 2)]
    for _ in range(30):
        a, b = rng.choice(shapes), rng.choice(shapes)
        axes = rng.sample(range(len(b)), len(b))
        x = var(Atom("x", s0 * s1 * 4, ("x",)))
        idx = view_index(unflatten(x, a), a, b)
        permuted = [contiguous_strides([b[i] for i in axes])[axes.index(i)] for i in range(len(b))]
        address = flatten(idx, permuted)
        for _ in range(2):
            given = {"s0": rng.randint(2, 7), "s1": rng.randint(2, 7)}
            text = str(address)
            for hole, size in scope.sizes.items():
                text = text.replace(f"{{{hole}}}", str(value(size, given)))
            numbers = [value(n, given) for n in b]
            strides = [value(n, given) for n in permuted]
            for v in rng.sample(range(given["s0"] * given["s1"] * 4), 8):
                want, rest = 0, v
                for n, st in zip(reversed(numbers), reversed(strides)):
                    want, rest = want + rest % n * st, rest // n
                assert eval(text, {}, {"x": v}) == want, (text, a, b, given, v)
