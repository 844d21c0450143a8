"""Numbers that change between calls: what is too large for a symbol, not finite, or rounded on the way."""

from harness import check, program, pytest, torch

ONE = torch.ones(2)


def big_numbers():
    def f(x, n):
        m = n * n
        return x + (m % 7), m, m >> 60, -m, ~m, m.bit_length(), n // 3, divmod(-n, 7), n**3, m * m * m

    return f, [(ONE, n) for n in (3, 2**31, 2**32, 2**62, 2**63, -(2**63), 2**64, 5, -(2**31), 2**30)]


def not_finite():
    def f(x, a):
        if a != a:
            return x * 0 + 7
        if a - a != 0:
            return x + 100
        return x * a if a > 1 else x - a

    return f, [(ONE, a) for a in (0.5, 0.25, 2.5, float("nan"), float("inf"), -float("inf"), 0.75, -0.0, 0.0)]


def rounding():
    def f(x, a):
        seen = [
            a + 0.1 - 0.1 == a,
            a * 3 == a + a + a,
            (a + 1e16) - 1e16 == a,
            a / 3 * 3 == a,
            a * 10 > 3.0000000000000004,
        ]
        return x * a, seen, bool(a - 0.1 + 0.1 - a), round(a * 10) > 3, int(a * 7)

    return f, [(ONE, a) for a in (0.3, 0.1, 0.7, 1e-3, 1.7)]


def rounding_of_whole_numbers():
    def f(x, n):
        size = x.shape[0]
        seen = [n * 0.1 > 0.3, n / 3 * 3 == n, n * 0.1 + n * 0.2 == n * 0.3, size * 0.1 > 0.3, size / 2 == size // 2]
        return x * n, seen, n**0.5, n / 7, int(n * 1.5), round(n * 0.5), size**-0.5, size * float("inf") > 1

    return f, [(torch.ones(k), n) for k, n in ((2, 3), (2, 4), (3, 5), (4, 6), (3, 7), (5, 3))]


def sums():
    def f(x, a, b, c):
        return x * a, sum([a, b, c]), sum((a, b, c), 0.5), sum([a] * 10), max(a, b), min(a, b, c), a + b + c

    return f, [
        (ONE, *t) for t in ((0.1, 0.2, 0.3), (0.2, 0.2, 0.3), (1e16, 1.0, -1e16), (0.1, 0.7, 1e16), (0.1, -0.0, 3.0))
    ]


@pytest.mark.parametrize("dynamic", [None, True, False])
@pytest.mark.parametrize("make", [big_numbers, not_finite, rounding, rounding_of_whole_numbers, sums])
def test_numbers(make, dynamic):
    check(make, dynamic=dynamic)


@program
def test_infinity_beside_a_symbol():
    def f(x, s):
        return x * s, max(1, s * float("inf")), min(s * -float("inf"), 3)

    return f, [(ONE, -0.5), (ONE, 0.5), (ONE, 1.5)]


def cancelled():
    def f(x, a, b):
        size = x.shape[0]
        seen = [(a + b) - b == a, (size + b) - b == size, a * 0 == 0, bool(a - a), bool((a + b) - a - b)]
        print("between")
        return x * a, seen, a + 0.1 - 0.1 == a

    pairs = ((0.3, 1.0), (0.1, 2.0), (-0.7, 1e17), (1e-3, 3.3), (1.7, 1e16))
    return f, [(torch.ones(2 + i), a, b) for i, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize("dynamic", [None, True, False])
def test_terms_that_cancel(dynamic):
    check(cancelled, dynamic=dynamic)


@program
def test_many_numbers_that_vary_and_have_to_be_known():
    def f(x, numbers):
        return x * 2, hash(frozenset(numbers)), sorted(numbers)[0], [v + 1 for v in numbers]

    return f, [(torch.ones(2), [(v * step) % 997 for v in range(150)]) for step in (1, 7, 11)]
