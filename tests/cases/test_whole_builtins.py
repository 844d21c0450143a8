"""Builtin types and functions (strings, lists, dictionaries, sets, tuples): captured in one graph."""

import bisect
import collections
import contextlib
import copy
import functools
import heapq
import itertools
import math
import operator
import string
import types

from harness import program, torch, whole

ONE = torch.ones(3)


@whole
def test_dictionary_methods():
    def f(x):
        d = {"a": 1}
        d |= {"b": 2}
        e = d | {"c": 3}
        d.setdefault("q", []).append(x)
        popped = e.pop("a"), e.pop("zz", None)
        e.update(k=1)
        return (
            d["q"][0] * 2, popped, dict.fromkeys("ab", 0), list(e.items()), d.keys() & e.keys(), e.popitem(),
            {k: v for k, v in e.items() if v}, "a" in d.keys(), (1, 2) in {1: 2}.items(), d.get("n"),
        )  # fmt: skip

    return f, [(ONE,), (ONE,)]


@whole
def test_list_methods():
    def f(x):
        a = [3, 1, 2]
        a.sort(reverse=True)
        a.insert(1, 9)
        a.extend(range(2))
        a.remove(9)
        del a[0]
        a[1:2] = [7, 8]
        b = a[::-1]
        b.reverse()
        c = a.copy()
        c *= 2
        return x * a.index(8), a, b, c.count(7), a + [1], [*a, *b], a.pop(0), [1, 2] < [1, 3], max(a)

    return f, [(ONE,), (ONE,)]


@whole
def test_set_methods():
    def f(x):
        a, b = {1, 2, 3}, {2, 3, 4}
        a.add(9)
        a.discard(100)
        return (
            x * len(a | b), a & b, a - b, a ^ b, a <= b, {2} < b, a.isdisjoint({50}), sorted(a.union([7])),
            frozenset([1]) | {2}, a.intersection(b, {2}), {i % 3 for i in range(9)},
        )  # fmt: skip

    return f, [(ONE,), (ONE,)]


@whole
def test_string_methods():
    def f(x, s):
        return (
            x * len(s), s.upper(), s.split(), s.replace("a", "b"), s.strip(), s.startswith(("h", "x")), s.find("l"),
            "-".join(["a", "b"]), s.center(20, "*"), s.partition(" "), s.title(), s.zfill(12), s.encode(), s[::-1],
            s.count("l"), s.isalpha(), s.swapcase(), s.rsplit(" ", 1), s.splitlines(), s.casefold(), "a\tb".expandtabs(),
            "%05.2f|%s|%r" % (1.5, "q", "w"), "{:>8}|{k!r}".format("z", k=1), s.translate(str.maketrans("l", "L")),
            s.removeprefix("he"), string.ascii_lowercase[:3], "abc" < s, s * 2, "l" in s,
        )  # fmt: skip

    return f, [(ONE, "hello wall"), (ONE, "hello wall")]


@whole
def test_f_strings():
    def f(x, n, name):
        width = 8
        return (
            x * n,
            f"{n=} {name!r:>{width}} {n:05d} {n / 3:.3f} {name!s} {name!a} {1 + 1} {n:#x} {x.shape} {x.dtype}",
            f"{'nested ' + f'{name}'}",
            f"{len(name):,} {True} {None}",
            f"{[1, name]} { {'a': 1} } {(1,)}",
        )

    return f, [(ONE, 3, "né"), (ONE, 3, "né")]


@whole
def test_math_and_numbers():
    def f(x, n):
        return (
            x * math.sqrt(16), math.prod([1, 2, 3]), math.pi, divmod(7, 2), pow(2, 5, 7), round(2.567, 2), abs(-3),
            int("12"), float("1.5"), n.bit_length(), (3).to_bytes(2, "big"), int.from_bytes(b"\x01\x02", "big"),
            hex(255), bin(5), oct(8), chr(97), ord("a"), 1e3.is_integer(), (1.5).as_integer_ratio(), complex(1, 2).real,
            math.isclose(0.1 + 0.2, 0.3), math.gcd(12, 18), math.inf > 3, sum([0.1] * 3), min(3, 1, key=lambda v: -v),
        )  # fmt: skip

    return f, [(ONE, 5), (ONE, 5)]


@whole
def test_sequence_builtins():
    def f(x):
        a = [3, 1, 2]
        return (
            x * sum(a), sorted(a, key=lambda v: -v), list(reversed(a)), list(enumerate(a, 1)), any(v > 2 for v in a),
            all(a), list(map(lambda p, q: p + q, a, a)), list(filter(None, [0, 1])), dict(zip("ab", a)), slice(1, 3).stop,
            list(zip(a, "xyz", strict=True)), max(a, default=0), min([], default=4), list(range(5))[slice(1, None, 2)],
            tuple(v for v in a), {*a}, list(iter(lambda it=iter(a): next(it), 2)), callable(len), isinstance(a, list | tuple),
        )  # fmt: skip

    return f, [(ONE,), (ONE,)]


@whole
def test_tuples_and_star_expressions():
    def f(x, *args, **kwargs):
        first, *rest = args
        (a, b), c = (1, 2), 3
        return x * first, rest, [*rest, *kwargs.values()], {**kwargs, "z": a + b + c}, (*args,), args[-1:]

    return f, [(ONE, 1, 2, 3), (ONE, 1, 2, 3)]


@program
def test_mapping_proxy_and_views():
    def f(x):
        d = {"a": 1, "b": 2}
        view = d.items()
        p = types.MappingProxyType(d)
        d["c"] = 3
        return x * p["c"], len(view), list(p), sorted(d.keys() - {"a"}), dict(p)

    return f, [(ONE,), (ONE,)]
