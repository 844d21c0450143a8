"""The standard library's containers, iterators and helpers: all of it is captured in one graph."""

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


@program
def test_copy_of_containers():
    def f(x):
        data = {"a": [1, [2]], "b": ([4], 3)}
        shallow, deep = copy.copy(data), copy.deepcopy(data)
        deep["a"][1].append(5)
        shallow["a"].append(9)
        return x * 2, data, shallow, deep

    return f, [(ONE,), (ONE,)]


@whole
def test_deepcopy_of_an_argument():
    def f(x, data):
        mine = copy.deepcopy(data)
        mine["k"].append(1)
        return x * len(mine["k"]), mine

    return f, [(ONE, {"k": [1, 2], "t": (1, "a"), "s": {1}}), (ONE, {"k": [1, 2], "t": (1, "a"), "s": {1}})]


@whole
def test_deepcopy_keeps_aliases_and_cycles_of_lists():
    def f(x):
        inner = [1]
        both = [inner, inner]
        made = copy.deepcopy(both)
        made[0].append(2)
        return x * len(made[1]), made[0] is made[1], made[0] is inner

    return f, [(ONE,), (ONE,)]


@program
def test_copy_of_objects():
    class P:
        def __init__(self, a, b):
            self.a = a
            self.b = b

    class Own:
        def __init__(self, v):
            self.v = v

        def __copy__(self):
            return Own(self.v + 1)

        def __deepcopy__(self, memo):
            return Own(self.v + 2)

    def f(x):
        p = P([1], x)
        q, r = copy.copy(p), copy.deepcopy(p)
        return q.a is p.a, r.a is p.a, q.b + r.b, copy.copy(Own(1)).v, copy.deepcopy(Own(1)).v

    return f, [(ONE,), (ONE,)]


@whole
def test_lru_cache_on_a_pure_function():
    @functools.lru_cache(maxsize=None)
    def power(n):
        return n * n

    def f(x):
        return x * power(3) + power(3) + power(2)

    return f, [(ONE,), (ONE,)]


@program
def test_cache_decorator_made_inside():
    def f(x):
        @functools.cache
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        return x * fib(6)

    return f, [(ONE,), (ONE,)]


@whole
def test_wraps_and_decorators_with_arguments():
    def scale(k):
        def deco(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                return fn(*args, **kwargs) * k

            return inner

        return deco

    @scale(3)
    def g(x, *, b=1):
        return x + b

    def f(x):
        @scale(2)
        def h(y):
            "doc"
            return y - 1

        return g(x, b=2) + h(x), h.__name__, h.__doc__, g.__name__

    return f, [(ONE,), (ONE,)]


@whole
def test_reduce_and_cmp_to_key():
    def f(x):
        items = sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))
        return functools.reduce(lambda a, b: a * b, [x, x + 1, 2], 1), items, functools.reduce(operator.add, [1, 2, 3])

    return f, [(ONE,), (ONE,)]


@whole
def test_partials():
    def g(a, b, c=3):
        return a * b + c

    def f(x):
        p = functools.partial(g, x, c=5)
        q = functools.partial(p, 2)
        return q(), p(3, c=1), q.func is g, q.args, q.keywords

    return f, [(ONE,), (ONE,)]


@whole
def test_itertools_infinite():
    def f(x):
        c = itertools.count(2, 3)
        r = itertools.repeat(x, 2)
        cyc = itertools.cycle("ab")
        return [next(c) for _ in range(3)], sum(r), [next(cyc) for _ in range(3)], list(zip(itertools.count(), "xy"))

    return f, [(ONE,), (ONE,)]


@whole
def test_itertools_finite():
    def f(x):
        return (
            x + 1,
            list(itertools.accumulate([1, 2, 3])),
            list(itertools.accumulate([1, 2, 3], operator.mul, initial=2)),
            list(itertools.chain([1], (2, 3))),
            list(itertools.chain.from_iterable([[1], [2]])),
            list(itertools.compress("abc", [1, 0, 1])),
            list(itertools.dropwhile(lambda v: v < 2, [1, 2, 1])),
            list(itertools.takewhile(lambda v: v < 2, [1, 2, 1])),
            list(itertools.filterfalse(lambda v: v % 2, range(5))),
            list(itertools.islice(range(10), 2, 8, 3)),
            list(itertools.pairwise([1, 2, 3])),
            list(itertools.starmap(pow, [(2, 3), (3, 2)])),
            list(itertools.zip_longest([1, 2], [3], fillvalue=0)),
            [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 3, 3])],
        )

    return f, [(ONE,), (ONE,)]


@whole
def test_itertools_combinatoric_and_tee():
    def f(x):
        a, b = itertools.tee([1, 2, 3])
        first = next(a)
        return (
            x * first,
            list(itertools.product("ab", [1, 2])),
            list(itertools.product([0, 1], repeat=2)),
            list(itertools.permutations([1, 2, 3], 2)),
            list(itertools.combinations([1, 2, 3], 2)),
            list(itertools.combinations_with_replacement("ab", 2)),
            list(a),
            list(b),
        )

    return f, [(ONE,), (ONE,)]


@whole
def test_itertools_over_tensors():
    def f(xs):
        total = 0
        for a, b in itertools.pairwise(xs):
            total = total + a * b
        for a, b in itertools.combinations(xs, 2):
            total = total - a * b
        return list(itertools.accumulate(xs)), total

    return f, [([ONE, ONE * 2, ONE * 3],), ([ONE, ONE, ONE],)]


@whole
def test_counter():
    def f(x):
        c = collections.Counter("abca")
        c.update(["a", "z"])
        d = c - collections.Counter(a=1)
        e = c + collections.Counter(q=2)
        return (
            x * c["a"] + c["missing"],
            c.most_common(2),
            d,
            sorted(e.items()),
            sum(c.values()),
            c.total(),
            list(collections.Counter(a=2, b=1).elements()),
        )

    return f, [(ONE,), (ONE,)]


@whole
def test_counter_operators():
    def f(x):
        a, b = collections.Counter(a=3, b=1), collections.Counter(a=1, b=2, c=4)
        c = collections.Counter(a)
        c.subtract(b)
        return x + 1, a & b, a | b, +c, -c, c, a == b, a <= b

    return f, [(ONE,), (ONE,)]


@whole
def test_ordered_dict():
    def f(x):
        od = collections.OrderedDict([("a", 1), ("b", 2), ("c", 3)])
        od.move_to_end("a")
        od.move_to_end("c", last=False)
        first = od.popitem(last=False)
        return x * od["a"], list(od), first, od == collections.OrderedDict(b=2, a=1), list(reversed(od))

    return f, [(ONE,), (ONE,)]


@whole
def test_defaultdict():
    def f(x):
        d = collections.defaultdict(list)
        for i in range(4):
            d[i % 2].append(x * i)
        n = collections.defaultdict(lambda: 5, a=1)
        return d[0][1] + n["b"], dict(n), "zz" in d, len(d), n.default_factory is None

    return f, [(ONE,), (ONE,)]


@whole
def test_deque():
    def f(x):
        d = collections.deque([1, 2, 3], maxlen=3)
        d.append(4)
        d.appendleft(0)
        d.rotate(1)
        d.extendleft([7])
        last, first = d.pop(), d.popleft()
        return x * last, first, list(d), d.maxlen, len(d), 3 in d, d.count(0)

    return f, [(ONE,), (ONE,)]


@whole
def test_chainmap():
    def f(x):
        base = {"a": 1, "b": 2}
        m = collections.ChainMap({"a": 5}, base)
        child = m.new_child({"c": 9})
        m["z"] = 3
        return x * m["a"] + m["b"] + child["c"], sorted(m), len(m), m.get("q", 0), "b" in m, base, m.maps[0]

    return f, [(ONE,), (ONE,)]


@whole
def test_userdict_and_simple_namespace():
    def f(x):
        u = collections.UserDict(a=1)
        u["b"] = 2
        ns = types.SimpleNamespace(v=x, w=3)
        ns.z = 4
        return x * u["b"] + ns.w, ns.v + ns.z, sorted(u)

    return f, [(ONE,), (ONE,)]


@whole
def test_operator_module():
    def f(x):
        class_like = types.SimpleNamespace(a=types.SimpleNamespace(b=4))
        return (
            operator.add(x, 1), operator.itemgetter(1)([1, 2]), operator.itemgetter(0, 2)("abc"),
            operator.attrgetter("a.b")(class_like), operator.methodcaller("upper")("q"), operator.neg(3),
            operator.mul(x, 2), operator.concat([1], [2]), operator.countOf([1, 1], 1), operator.indexOf([5, 6], 6),
            operator.iadd([1], [2]), operator.lt(1, 2), operator.matmul(x, x), operator.xor(1, 3), operator.inv(4),
            operator.is_none(None) if hasattr(operator, "is_none") else True, operator.delitem([1, 2], 0),
        )  # fmt: skip

    return f, [(ONE,), (ONE,)]


@whole
def test_contextlib():
    @contextlib.contextmanager
    def scaled(k):
        yield k * 2

    def f(x):
        log = []
        with contextlib.ExitStack() as stack:
            k = stack.enter_context(scaled(3))
            stack.callback(log.append, "bye")
            x = x * k
        with contextlib.suppress(KeyError, ValueError):
            {}["a"]
            x = x + 100
        with contextlib.nullcontext(5) as five:
            x = x + five
        return x, log

    return f, [(ONE,), (ONE,)]


@whole
def test_contextlib_closing_and_redirects():
    class Resource:
        def __init__(self):
            self.open = True

        def close(self):
            self.open = False

    @contextlib.contextmanager
    def guard(log):
        try:
            yield
        except ValueError as error:
            log.append(str(error))
        finally:
            log.append("end")

    def f(x):
        r = Resource()
        log = []
        with contextlib.closing(r) as same:
            y = x * 2 if same.open else x
        with guard(log):
            raise ValueError("v")
        return y, r.open, log

    return f, [(ONE,), (ONE,)]


@whole
def test_contextmanager_as_a_decorator():
    @contextlib.contextmanager
    def twice(log):
        log.append(1)
        yield
        log.append(2)

    class Deco(contextlib.ContextDecorator):
        def __enter__(self):
            return self

        def __exit__(self, *exc):
            return False

    def f(x):
        log = []

        @twice(log)
        def g(y):
            return y + 1

        @Deco()
        def h(y):
            return y * 3

        return g(x) + g(x) + h(x), log

    return f, [(ONE,), (ONE,)]


@whole
def test_an_exit_stack_that_swallows():
    class Swallow:
        def __enter__(self):
            return 1

        def __exit__(self, kind, value, tb):
            return kind is KeyError

    def f(x):
        with contextlib.ExitStack() as stack:
            stack.enter_context(Swallow())
            stack.push(lambda *exc: None)
            raise KeyError("a")
        return x + 1

    return f, [(ONE,), (ONE,)]


@whole
def test_heapq_and_bisect():
    def f(x):
        h = [5, 3, 8]
        heapq.heapify(h)
        heapq.heappush(h, 1)
        small = heapq.heappop(h)
        return x * small, h, bisect.bisect_left([1, 3, 5], 3), heapq.nlargest(2, [1, 9, 4]), heapq.nsmallest(1, [4, 2])

    return f, [(ONE,), (ONE,)]
