"""Integers, floats and ranges that vary between calls keep Python's types and results."""

import math
import operator  # noqa: F401

import torch
from harness import program


@program
def test_membership_in_a_range():
    def f(x, n):
        return x.dim(), n in range(1, 10, 2), n not in range(3), n in range(n), n in range(0, 20, n or 1)

    return f, [(torch.ones(2), 3), (torch.ones(2), 4), (torch.ones(2), 0), (torch.ones(2), -2)]


@program
def test_range_object():
    def f(x, n):
        r = range(n, 20, 3)
        return (
            x,
            r,
            len(r),
            r[0],
            r[-1],
            r[1:],
            list(r)[:2],
            r == range(n, 20, 3),
            r.start,
            r.index(n),
            r.count(1),
            bool(range(0, n)),
            reversed(r),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 5)]


@program
def test_comparisons_give_bools():
    def f(x, n, v):
        return (
            x,
            n > 2,
            n == 3,
            n != 3,
            n == 3.0,
            1 < n < 5,
            v > 1,
            n < v,
            not n,
            bool(n),
            bool(v),
            n is None,
            [n > 1, v == v],
            (n > 1) + 1,
            (n > 1) is True,
        )

    return f, [(torch.ones(1), 3, 1.5), (torch.ones(1), 4, 2.5), (torch.ones(1), 0, 0.0)]


@program
def test_integer_arithmetic():
    def f(x, n):
        return (
            x * n,
            n // 3,
            n % 3,
            -n // 2,
            divmod(n, -4),
            n**2,
            2 ** (n % 5),
            n << 2,
            n >> 1,
            ~n,
            n & 6,
            n | 1,
            n ^ 5,
            abs(-n),
            +n,
            -n,
            n.bit_length(),
            round(n, -1),
            n / 4,
        )

    return f, [(torch.ones(1), 7), (torch.ones(1), 10), (torch.ones(1), 13)]


@program
def test_float_arithmetic():
    def f(x, v):
        return (
            x * v,
            v // 0.5,
            v % 0.3,
            -v,
            abs(v),
            round(v),
            round(v, 1),
            int(v),
            v**2,
            v.is_integer(),
            v.hex(),
            math.floor(v),
            math.trunc(v),
            divmod(v, 2),
            v.as_integer_ratio(),
            v == int(v),
        )

    return f, [(torch.ones(1), 1.5), (torch.ones(1), 2.75), (torch.ones(1), -4.0)]


@program
def test_types_are_kept():
    def f(x, n, v):
        return (x, type(n).__name__, type(v).__name__, isinstance(n, int), isinstance(n, bool), isinstance(v, float), type(n + v).__name__, type(n / 2).__name__,
                type(n // 2).__name__, type(n * True).__name__, type(x.shape[0]).__name__, type(v // 1).__name__, n.__class__ is int)  # fmt: skip

    return f, [(torch.ones(1), 3, 1.5), (torch.ones(2), 4, 2.5), (torch.ones(3), 5, 3.5)]


@program
def test_int_becomes_float_becomes_bool():
    def f(x, n):
        return x * n, n + 1, n == 1, str(n), isinstance(n, bool), type(n).__name__

    return f, [(torch.ones(1), 1), (torch.ones(1), 1.0), (torch.ones(1), True), (torch.ones(1), 2)]


@program
def test_sizes_as_numbers():
    def f(x):
        n = x.shape[0]
        return (
            x.sum(),
            n,
            n + 1,
            n * 2.0,
            n // 2,
            n % 2 == 0,
            str(n),
            [0] * n,
            "ab" * n,
            range(n),
            list(range(n)),
            (1, 2, 3, 4, 5)[n],
            {n: "v"},
            n in (2, 3),
            max(n, 3),
            sum([n, n]),
            math.sqrt(n),
            float(n),
            bool(n),
            -n,
            pow(n, 2),
            divmod(n, 2),
            n.bit_length(),
        )

    return f, [(torch.ones(2),), (torch.ones(3),), (torch.ones(4),)]


@program
def test_numbers_as_indices_and_keys():
    def f(x, n, items):
        return (
            x[n],
            items[n],
            items[-n],
            items[n:],
            items[:n],
            {1: "a", 2: "b"}.get(n),
            "abc"[n],
            (4, 5, 6)[n],
            [items[i] for i in range(n)],
        )

    return f, [(torch.arange(4.0), 1, [1, 2, 3]), (torch.arange(4.0), 2, [1, 2, 3])]


@program
def test_errors_of_numbers():
    def f(x, n):
        out = []
        for make in (
            lambda: 1 // n,
            lambda: 1 % n,
            lambda: 1.0 / n,
            lambda: [1, 2][n],
            lambda: "a" + n,
            lambda: 0**-n,
            lambda: 1 << -n,
            lambda: math.sqrt(-n),
            lambda: int("q"),
            lambda: n(),
        ):
            try:
                out.append(make())
            except Exception as e:
                out.append((type(e).__name__, str(e)))
        return x, out

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_special_floats():
    def f(x, v):
        return (
            x + v,
            v,
            -v,
            v == v,
            v < 1,
            math.isnan(v),
            math.isinf(v),
            max(v, 1.0),
            min(1.0, v),
            [v],
            v * 0,
            math.copysign(1, v),
            str(v),
            v in (v,),
            bool(v),
        )

    return f, [
        (torch.ones(1), float("nan")),
        (torch.ones(1), float("inf")),
        (torch.ones(1), -0.0),
        (torch.ones(1), 0.0),
    ]


@program
def test_big_integers():
    def f(x, n):
        return (
            x,
            n * n,
            n**3,
            n + 2**70,
            -n,
            n // 7,
            n % 1000,
            hash(n) == hash(n),
            n == 2**64,
            len(str(n)),
            n > 2**63,
        )

    return f, [(torch.ones(1), 2**64), (torch.ones(1), 2**65), (torch.ones(1), 3)]


@program
def test_zero_and_one():
    def f(x, n):
        y = x * n
        if n == 0:
            y = y + 10
        elif n == 1:
            y = y + 20
        return y, [5] * n, n or "zero", n and "some"

    return f, [(torch.ones(1), 3), (torch.ones(1), 1), (torch.ones(1), 0), (torch.ones(1), 2)]


@program
def test_loops_over_varying_counts():
    def f(x, n):
        total, k = 0, 0
        for i in range(n):
            if i == 3:
                break
            total += i
        else:
            total += 100
        while k < n:
            k += 2
        return x * total, k

    return f, [(torch.ones(1), 2), (torch.ones(1), 3), (torch.ones(1), 5), (torch.ones(1), 4)]


@program
def test_builtins_on_numbers():
    def f(x, n, v):
        return (
            x,
            sum([n, v, 1]),
            min(n, v),
            max([n, v], key=lambda e: -e),
            sorted([n, v, 2]),
            pow(n, 3, 5),
            complex(n, v),
            float(n),
            int(v),
            hash(n),
            ord(chr(65 + n)),
            all([n, v]),
            any([0, n]),
            list(enumerate([n], n)),
            round(v, n % 3),
            bytes([n]),
            isinstance(n, (int, str)),
            format(n),
            tuple([n]),
        )

    return f, [(torch.ones(1), 2, 1.5), (torch.ones(1), 3, 2.5), (torch.ones(1), 4, 0.5)]


@program
def test_int_subclass_and_bool_arguments():
    class N(int):
        tag = "n"

    def f(x, n):
        return (
            x * n,
            n + 1,
            type(n).__name__,
            type(n + 1).__name__,
            getattr(n, "tag", None),
            isinstance(n, int),
        )

    return f, [(torch.ones(1), N(3)), (torch.ones(1), 3), (torch.ones(1), True), (torch.ones(1), N(4))]


@program
def test_numbers_kept_in_containers_between_calls():
    seen = []

    def f(x, n, v):
        seen.append(n)
        seen.append({"v": v})
        return x * sum(e for e in seen if isinstance(e, int)), seen[-1]["v"]

    return f, [(torch.ones(1), 1, 0.5), (torch.ones(1), 2, 1.5), (torch.ones(1), 3, 2.5)]


@program
def test_tensor_made_from_numbers():
    def f(x, n, v):
        return (
            torch.full((n,), v),
            torch.tensor([n, n + 1]),
            torch.tensor(v),
            torch.arange(n),
            torch.zeros(n, 2),
            torch.ones(2) * n + v,
            torch.tensor([v, n]).dtype,
            torch.linspace(0, v, n),
            x.new_full((n,), n),
        )

    return f, [(torch.ones(1), 2, 0.5), (torch.ones(1), 3, 1.5), (torch.ones(1), 4, 2.5)]


@program
def test_chained_and_short_circuit_order():
    log = []

    def see(v):
        log.append(v)
        return v

    def f(x, n):
        a = see(1) < see(n) < see(3)
        b = see(n) and see("yes") or see("no")
        c = see(0) or see(n) or see(9)
        return x, a, b, c, not see(n), see(2) if see(n) > 1 else see(3)

    return f, [(torch.ones(1), 0), (torch.ones(1), 2), (torch.ones(1), 5)]


@program
def test_ranges_of_the_same_numbers_are_not_one_range():
    def f(x, r):
        own = [range(0), range(-10), range(0, 3, 2), range(0, 4, 2)]
        return x + 1, r.stop, r.step, r, own, [o.stop for o in own]

    return f, [(torch.ones(1), r) for r in (range(0), range(-10), range(0, 3, 2), range(0, 4, 2), range(1, 0))]


@program
def test_numbers_and_ranges_too_large_for_c():
    def f(x, v):
        return x + 1, v + 1, v // 10**390, next(iter(range(v))), v in range(v + 1)

    return f, [(torch.ones(1), v) for v in (10**400, 10**400 + 1, 10**30)]


@program
def test_a_nan_is_equal_to_itself_in_containers():
    nan = float("nan")

    def f(x, items, v):
        return x + 1, v in items, items == [v], items.count(v), v == v

    return f, [(torch.ones(1), [nan], nan), (torch.ones(1), [nan], float("nan")), (torch.ones(1), [nan, nan], nan)]
