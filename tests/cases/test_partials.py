"""functools: partials keep their types and parts, caches and wrappers behave."""

import functools
import operator

import torch
from harness import program


@program
def test_parts_of_a_partial():
    def f(x, n):
        p = functools.partial(pow, n)
        return x + 1, p.args, p.keywords, p.func is pow, type(p.args).__name__, type(p).__name__

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_partial_is_called():
    def h(a, b, *, c=1, **kw):
        return a * 100 + b * 10 + c, sorted(kw)

    def f(x, n):
        p = functools.partial(h, n, c=n)
        return x, p(1), p(2, c=5), p(3, z=1), functools.partial(p, 4)()

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_partial_of_partial_is_flat():
    def f(x, n):
        p = functools.partial(functools.partial(max, n, key=abs), 2)
        return x, p.func is max, p.args, p.keywords, p()

    return f, [(torch.ones(1), -3), (torch.ones(1), 1)]


@program
def test_partial_with_tensors():
    def scale(w, x, b=0):
        return x * w + b

    def f(x, w):
        p = functools.partial(scale, w, b=x)
        return p(x), p.args[0] is w, p.keywords["b"] is x, p

    return f, [(torch.ones(2), torch.full((2,), 3.0))] * 2


@program
def test_partial_is_returned_and_used_outside():
    def f(x, n):
        return functools.partial(operator.add, n), functools.partial(torch.add, x)

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_partial_passed_in():
    def f(x, p):
        return p(x), p.args, p.keywords

    return f, [
        (torch.ones(1), functools.partial(torch.mul, 2)),
        (torch.ones(1), functools.partial(torch.mul, 3)),
        (torch.ones(1), functools.partial(torch.add, alpha=2, other=1)),
    ]


@program
def test_partial_in_a_closure_is_changed():
    def h(x, k=1):
        return x * k

    p = functools.partial(h, k=2)

    def f(x):
        return p(x)

    def change(_):
        p.keywords["k"] = 7
        return (torch.ones(1),)

    return f, [(torch.ones(1),), change]


@program
def test_partial_has_attributes():
    def f(x):
        p = functools.partial(int, base=2)
        p.note = "binary"
        return x * p("101"), p.note, p.__dict__

    return f, [(torch.ones(1),)] * 2


@program
def test_partial_with_bad_call():
    def h(a, b):
        return a + b

    def f(x):
        try:
            return functools.partial(h, 1, 2)(3)
        except TypeError as e:
            return x, str(e)

    return f, [(torch.ones(1),)]


@program
def test_partial_of_a_method():
    class C:
        def __init__(self, k):
            self.k = k

        def go(self, x, y):
            return x * self.k + y

        half = functools.partialmethod(go, 2)

    def f(x, k):
        c = C(k)
        p = functools.partial(c.go, x)
        return p(1), c.half(x), p.func.__self__ is c

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_partial_in_map_and_sort():
    def f(x, items, n):
        return (
            x,
            list(map(functools.partial(operator.mul, n), items)),
            sorted(items, key=functools.partial(pow, -1)),
            functools.reduce(functools.partial(max), items),
        )

    return f, [(torch.ones(1), [3, 1, 2], 2), (torch.ones(1), [5, 4], 3)]


@program
def test_lru_cache_counts():
    log = []

    @functools.lru_cache(maxsize=None)
    def square(n):
        log.append(n)
        return n * n

    def f(x, n):
        return x * square(n) + square(n), square.cache_info().hits

    return f, [(torch.ones(1), 2), (torch.ones(1), 3), (torch.ones(1), 2)]


@program
def test_lru_cache_with_tensors():
    log = []

    @functools.lru_cache(maxsize=2)
    def twice(x):
        log.append("run")
        return x * 2

    def f(x):
        return twice(x), twice(x) is twice(x)

    x = torch.ones(1)
    return f, [(x,), (x,)]


@program
def test_wraps_keeps_the_name():
    calls = []

    def deco(fn):
        @functools.wraps(fn)
        def run(*args, **kw):
            calls.append((args[1:], sorted(kw)))
            return fn(*args, **kw)

        return run

    @deco
    def h(x, k, *, z=0):
        """Doc."""
        return x * k + z

    def f(x, n):
        return h(x, n), h(x, k=n, z=1), h.__name__, h.__doc__, h.__wrapped__(x, 1)

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_cached_property():
    class C:
        hits = 0

        def __init__(self, k):
            self.k = k

        @functools.cached_property
        def double(self):
            C.hits += 1
            return self.k * 2

    c = C(3)

    def f(x):
        return x * c.double + c.double, C.hits, sorted(vars(c))

    return f, [(torch.ones(1),)] * 2


@program
def test_singledispatch():
    @functools.singledispatch
    def kind(v):
        return "other"

    @kind.register
    def _(v: int):
        return "int"

    @kind.register(list)
    def _(v):
        return f"list of {len(v)}"

    def f(x, v):
        return x, kind(v), kind([v])

    return f, [(torch.ones(1), 1), (torch.ones(1), "s"), (torch.ones(1), True)]


@program
def test_reduce_forms():
    def f(x, items):
        try:
            r = functools.reduce(operator.add, items)
        except TypeError as e:
            r = str(e)
        return (
            x,
            r,
            functools.reduce(lambda a, b: a * 2 + b, items, 1),
            functools.reduce(torch.add, [x, x, x]),
        )

    return f, [(torch.ones(1), [1, 2, 3]), (torch.ones(1), [5]), (torch.ones(1), [])]


@program
def test_total_ordering_and_cmp_to_key():
    @functools.total_ordering
    class V:
        def __init__(self, n):
            self.n = n

        def __eq__(self, o):
            return self.n == o.n

        def __lt__(self, o):
            return self.n < o.n

    def f(x, a, b):
        order = sorted([3, 1, 2], key=functools.cmp_to_key(lambda p, q: (q - p) * (1 if a < b else -1)))
        return x, V(a) <= V(b), V(a) > V(b), V(a) >= V(b), max(V(a), V(b)).n, order

    return f, [(torch.ones(1), 1, 2), (torch.ones(1), 2, 1), (torch.ones(1), 2, 2)]


@program
def test_operator_module():
    def f(x, n, items):
        return (x, operator.itemgetter(0, -1)(items), operator.attrgetter("shape", "ndim")(x), operator.methodcaller("sum")(x), operator.index(n),
                operator.countOf(items, n), operator.concat(items, [n]), operator.not_(n), operator.iadd(items, [n]) is items, operator.length_hint(items))  # fmt: skip

    return f, [(torch.ones(2), 1, [1, 2]), (torch.ones(2), 0, [0, 0])]


@program
def test_what_cmp_to_key_gives_is_what_the_caller_gets():
    import functools

    def order(a, b):
        return (a > b) - (a < b)

    def f(x, act, leave):
        key = functools.cmp_to_key(order)
        one, two = key(1), key(2)
        if leave:
            torch._dynamo.graph_break()
        said = [one < two, one != two, one.obj, two >= one, type(one).__name__, type(one) is type(key), key.obj]
        try:
            said.append(act(one, key))
        except (TypeError, AttributeError) as e:
            said.append(str(e))
        return x + 1, said, type(one), one.__class__, callable(one), [k.obj for k in sorted([two, one])]

    actions = [
        lambda one, key: one < 1,
        lambda one, key: key < one,
        lambda one, key: hash(one),
        lambda one, key: one.missing,
        lambda one, key: key(),
        lambda one, key: key(1, 2),
        lambda one, key: one(5).obj,
        lambda one, key: setattr(one, "obj", 7),
        lambda one, key: setattr(one, "more", 7),
        lambda one, key: isinstance(one, type(key)),
    ]
    return f, [(torch.ones(2), act, leave) for act in actions for leave in (False, True)]
