"""Control flow in all its forms: match, exceptions, exception groups, generators, coroutines: captured in one graph."""

import contextlib
import sys

import pytest
from harness import program, torch, whole

ONE = torch.ones(3)


@whole
def test_match_values_and_guards():
    def f(x, v):
        match v:
            case 1 | 2:
                return x + 1
            case int(n) if n > 10:
                return x * n
            case "a":
                return x - 1
            case None:
                return x - 2
            case True:
                return x
            case _:
                return x * 0

    return f, [(ONE, 1), (ONE, "a"), (ONE, None), (ONE, 3.5)]


@whole
def test_match_sequences():
    def f(x, v):
        match v:
            case []:
                return x
            case [a]:
                return x + a
            case [1, *rest]:
                return x * len(rest)
            case (a, b, *_, c):
                return x + a + b + c

    return f, [(ONE, []), (ONE, [4]), (ONE, [1, 2, 3]), (ONE, (5, 6, 7, 8))]


@whole
def test_match_mappings():
    def f(x, v):
        match v:
            case {"op": "add", "n": n, **rest}:
                return x + n, rest
            case {"op": "mul", "n": [a, b]}:
                return x * a * b, None
            case {}:
                return x, {}

    return f, [(ONE, {"op": "add", "n": 2, "q": 1}), (ONE, {"op": "mul", "n": [2, 3]}), (ONE, {"z": 1})]


@whole
def test_match_classes():
    class P:
        __match_args__ = ("a", "b")

        def __init__(self, a, b):
            self.a = a
            self.b = b

    def f(x, v):
        match v:
            case P(0, b):
                return x + b
            case P(a=a, b=[first, *_]):
                return x * a + first
            case P() as p:
                return x - p.a
            case str() | bytes():
                return x * 3
            case float(value):
                return x * value

    return f, [(ONE, P(0, 3)), (ONE, P(2, [5, 6])), (ONE, P(7, 1)), (ONE, "s"), (ONE, 2.5)]


@whole
def test_match_on_a_tensor_and_nested_patterns():
    def f(x, v):
        match v:
            case {"k": [torch.Tensor() as t, (int() as n)]}:
                return t * n
            case torch.Tensor():
                return x + v
            case [{"a": [1, {"b": c}]}]:
                return x * c

    return f, [(ONE, {"k": [ONE, 2]}), (ONE, ONE * 3), (ONE, [{"a": [1, {"b": 4}]}])]


@program
def test_except_star():
    def f(x):
        log = []
        try:
            raise ExceptionGroup("g", [ValueError("a"), KeyError("b"), TypeError("c")])
        except* ValueError as group:
            log.append(("value", len(group.exceptions)))
            x = x + 1
        except* (KeyError, TypeError) as group:
            log.append(("other", [type(e).__name__ for e in group.exceptions]))
            x = x * 2
        return x, log

    return f, [(ONE,), (ONE,)]


@program
def test_except_star_of_a_plain_exception_and_the_rest():
    def f(x):
        log = []
        try:
            try:
                raise ValueError("plain")
            except* ValueError as group:
                log.append(type(group).__name__)
        finally:
            log.append("end")
        try:
            try:
                raise ExceptionGroup("g", [ValueError("a"), KeyError("b")])
            except* ValueError:
                log.append("v")
        except ExceptionGroup as rest:
            log.append([type(e).__name__ for e in rest.exceptions])
        return x + len(log), log

    return f, [(ONE,), (ONE,)]


@whole
def test_nested_exceptions():
    def f(x):
        log = []

        def g(n):
            try:
                if n == 0:
                    raise ValueError("zero")
                if n == 1:
                    raise KeyError("one")
                return "fine"
            except ValueError as error:
                raise RuntimeError("wrapped") from error
            finally:
                log.append(n)

        for n in range(3):
            try:
                log.append(g(n))
            except RuntimeError as error:
                log.append((str(error), str(error.__cause__)))
            except (KeyError, TypeError) as error:
                log.append(repr(error))
            else:
                log.append("else")
        return x * len(log), log

    return f, [(ONE,), (ONE,)]


@whole
def test_loops_with_else_break_continue():
    def f(x, n):
        total = 0
        for i in range(10):
            if i == 2:
                continue
            if i == n:
                break
            total += i
        else:
            total = 1000
        while total > 3:
            total -= 4
        else:
            x = x + 1
        return x * total

    return f, [(ONE, 5), (ONE, 5)]


@whole
def test_generators():
    def f(x):
        def gen(n):
            got = yield n
            while got is not None:
                got = yield got * 2
            return "done"

        def outer():
            result = yield from gen(1)
            yield result

        g = outer()
        return x * next(g), g.send(5), g.send(None), list(v * 2 for v in range(3))

    return f, [(ONE,), (ONE,)]


@whole
def test_generator_throw_and_close():
    def f(x):
        log = []

        def gen():
            try:
                while True:
                    try:
                        yield 1
                    except ValueError as error:
                        log.append(str(error))
                        yield 2
            finally:
                log.append("closed")

        g = gen()
        a = next(g)
        b = g.throw(ValueError("v"))
        g.close()
        return x * (a + b), log

    return f, [(ONE,), (ONE,)]


@whole
def test_throw_into_a_delegating_generator():
    def f(x):
        log = []

        def inner():
            try:
                yield 1
            except ValueError:
                log.append("inner")
                yield 2

        def outer():
            yield from inner()
            yield 3

        g = outer()
        next(g)
        return x * g.throw(ValueError()), next(g), log

    return f, [(ONE,), (ONE,)]


@whole
def test_a_coroutine_driven_by_send():
    async def double(v):
        return v * 2

    async def both(x):
        a = await double(x)
        b = await double(a)
        return a + b

    def f(x):
        coroutine = both(x)
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value

    return f, [(ONE,), (ONE,)]


@whole
def test_an_awaitable_object_and_a_closed_coroutine():
    class Step:
        def __init__(self, v):
            self.v = v

        def __await__(self):
            got = yield self.v
            return got + 1

    async def run(x):
        a = await Step(3)
        return x * a

    def f(x):
        c = run(x)
        first = c.send(None)
        try:
            c.send(10)
        except StopIteration as stop:
            out = stop.value
        other = run(x)
        other.close()
        return out, first

    return f, [(ONE,), (ONE,)]


@whole
def test_async_with_and_async_for():
    class Manager:
        async def __aenter__(self):
            return 2

        async def __aexit__(self, *exc):
            return False

    class Count:
        def __init__(self):
            self.i = 0

        def __aiter__(self):
            return self

        async def __anext__(self):
            self.i += 1
            if self.i > 3:
                raise StopAsyncIteration
            return self.i

    async def run(x):
        async with Manager() as k:
            x = x * k
        async for i in Count():
            x = x + i
        return x

    def f(x):
        try:
            run(x).send(None)
        except StopIteration as stop:
            return stop.value

    return f, [(ONE,), (ONE,)]


@whole
def test_closures_and_nonlocal():
    def f(x):
        count = 0

        def bump(by=1, *, twice=False):
            nonlocal count
            count += by * (2 if twice else 1)
            return count

        bump()
        bump(3, twice=True)
        fns = [lambda y, k=k: y * k for k in range(3)]
        return sum(fn(x) for fn in fns) + count

    return f, [(ONE,), (ONE,)]


@whole
def test_recursion_and_mutual_recursion():
    def f(x):
        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)

        def fact(n):
            return 1 if n < 2 else n * fact(n - 1)

        return x * fact(5), even(6), odd(4)

    return f, [(ONE,), (ONE,)]


@whole
def test_walrus_ternary_chained_comparison_and_assertion():
    def f(x, n):
        assert n > 0, "n must be positive"
        if (m := n * 2) > 3:
            x = x + m
        return x if 0 < n < 10 else -x, [y for v in (1, 2, 3) if (y := v * 2) > 2], n and 5, n or 7, not n

    return f, [(ONE, 3), (ONE, 3)]


@whole
def test_comprehensions_nested():
    def f(x):
        rows = [[i * j for j in range(3)] for i in range(2)]
        flat = {v for row in rows for v in row if v}
        table = {k: [v for v in range(k)] for k in (1, 2)}
        return x * sum(map(sum, rows)), rows, sorted(flat), table

    return f, [(ONE,), (ONE,)]


@whole
def test_unpacking_and_star_assignment():
    def f(x):
        a, (b, *c), d = 1, (2, 3, 4), 5
        e = f = a + d
        i, j = 0, [1, 2]
        i, j[i] = 1, 9
        return x * (a + b + d), c, e, f, i, j

    return f, [(ONE,), (ONE,)]


@whole
def test_global_and_delete():
    def f(x):
        a = [1, 2, 3]
        del a[0], a[-1]
        b = 1
        del b
        try:
            b
        except UnboundLocalError as error:
            return x + len(a), type(error).__name__

    return f, [(ONE,), (ONE,)]


@whole
def test_try_finally_with_return():
    def f(x):
        log = []

        def g():
            for i in range(3):
                try:
                    if i == 1:
                        return i
                finally:
                    log.append(i)

        return x * g(), log

    return f, [(ONE,), (ONE,)]


@program
def test_async_generator_driven_by_hand():
    async def agen():
        yield 1
        yield 2

    async def run(x):
        async for v in agen():
            x = x * 10 + v
        return x + sum([v async for v in agen()])

    def f(x):
        try:
            run(x).send(None)
        except StopIteration as stop:
            return stop.value

    return f, [(ONE,), (ONE,)]
