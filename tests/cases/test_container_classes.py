"""Containers of the standard library's and the user's classes: types, order and mutation as eager leaves them."""

import collections
import copy
import dataclasses
import enum
import heapq

import torch
from harness import program


@program
def test_ordered_dict():
    def f(x, k):
        d = collections.OrderedDict(a=1, b=2, c=x)
        d.move_to_end(k)
        d.move_to_end("c", last=False)
        return (
            d,
            d.popitem(last=False),
            list(d),
            d == collections.OrderedDict(b=2, a=1),
            d.copy(),
            type(d | {}).__name__,
        )

    return f, [(torch.ones(1), "a"), (torch.ones(1), "b")]


@program
def test_defaultdict():
    def f(x, k):
        d = collections.defaultdict(list)
        d[k].append(x)
        d["n"].append(1)
        made = collections.defaultdict(lambda: len(made))
        made["a"], made["b"] = made["a"], made["zz"]
        return d, d.get("none"), "none" in d, len(d), dict(made), d.default_factory is list

    return f, [(torch.ones(1), "n"), (torch.ones(1), "m")]


@program
def test_counter():
    def f(x, s):
        c = collections.Counter(s)
        c["a"] += 2
        c.update("ab")
        c.subtract({"b": 5})
        return (
            x,
            c,
            c["none"],
            c.most_common(1),
            +c,
            c + c,
            sorted(c.elements()),
            c.total(),
            c == collections.Counter(s),
        )

    return f, [(torch.ones(1), "aab"), (torch.ones(1), "")]


@program
def test_deque():
    def f(x, q):
        q.append(x)
        q.appendleft(1)
        q.rotate(1)
        return (
            q[0],
            q[-1],
            len(q),
            q.maxlen,
            list(q),
            collections.deque([1, 2, 3], 2),
            1 in q,
            q.popleft(),
            q.copy(),
            q.count(1),
        )

    return f, [(torch.ones(1), collections.deque([5], 3)), (torch.ones(1), collections.deque())]


@program
def test_global_deque_as_history():
    history = collections.deque(maxlen=3)

    def f(x):
        history.append(x * 2)
        return sum(history), len(history)

    return f, [(torch.ones(1),)] * 5


@program
def test_namedtuple():
    Point = collections.namedtuple("Point", "a b", defaults=[5])

    def f(x, n):
        p = Point(n, x)
        a, b = p
        return (
            p,
            p._replace(a=n + 1),
            p._asdict(),
            p.a,
            p[1],
            len(p),
            Point(1),
            p == (n, x),
            Point._fields,
            Point._make([1, 2]),
            type(p).__name__,
            isinstance(p, tuple),
            p + (1,),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_dataclass():
    @dataclasses.dataclass
    class D:
        n: int
        x: object = None
        items: list = dataclasses.field(default_factory=list)

        def __post_init__(self):
            self.n += 1

    def f(x, n):
        d, e = D(n, x), D(n)
        d.items.append(n)
        r = dataclasses.replace(e, n=7)
        return (
            d,
            e,
            r,
            e == D(n),
            repr(e),
            dataclasses.asdict(e),
            [q.name for q in dataclasses.fields(d)],
            e.items is r.items,
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_dataclass_frozen_ordered_hashed():
    @dataclasses.dataclass(frozen=True, order=True)
    class V:
        n: int
        s: str = "s"

    def f(x, n):
        v = V(n)
        try:
            v.n = 3
        except dataclasses.FrozenInstanceError as e:
            said = str(e)
        return (
            x * v.n,
            said,
            V(1) < V(n),
            {V(2): "two"}.get(v),
            sorted([V(3), v])[0],
            hash(v) == hash(V(n)),
            v in [V(n)],
            V(n) is v,
        )

    return f, [(torch.ones(1), 2), (torch.ones(1), 5)]


@program
def test_enum():
    class E(enum.Enum):
        A = 1
        B = 2

        @property
        def double(self):
            return self.value * 2

    class I(enum.IntEnum):  # noqa: E742
        ONE = 1
        TWO = 2

    def f(x, n, e):
        c = E(n)
        return (
            x * c.double,
            c,
            c.name,
            c is E.A,
            E["B"],
            list(E),
            e is c,
            {E.A: "a"}.get(c),
            I(n) + 1,
            x * I.TWO,
            I.ONE < n,
            str(c),
            f"{c.value}",
            c in (E.A,),
            repr(I.TWO),
        )

    return f, [(torch.ones(1), 1, E.A), (torch.ones(1), 2, E.A), (torch.ones(1), 2, E.B)]


@program
def test_subclasses_of_builtins():
    class L(list):
        def total(self):
            return sum(self)

        def append(self, v):
            super().append(v * 2)

    class D(dict):
        def __missing__(self, k):
            self[k] = k + "!"
            return "missed"

        def __setitem__(self, k, v):
            super().__setitem__(k, [v])

    class T(tuple):
        pass

    def f(x, n):
        a, d, t = L([n]), D(a=1), T([n, x])
        a.append(n)
        d["b"] = n
        return (
            a,
            a.total(),
            d,
            d["zz"],
            d["zz"],
            t,
            t[0],
            type(a[:]).__name__,
            type(a + [1]).__name__,
            isinstance(d, dict),
            len(t),
            L(a) == a,
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_heap_of_an_argument():
    def f(x, heap, n):
        heapq.heappush(heap, n)
        return x, heapq.heappop(heap), heapq.nsmallest(2, heap), list(heap)

    return f, [(torch.ones(1), [3, 5, 9], 1), (torch.ones(1), [3, 5, 9], 4)]


@program
def test_an_ordered_dictionary_of_the_caller_loses_keys():
    def f(x, ordered):
        ordered.move_to_end("a")
        ordered.popitem(last=False)
        print(len(ordered))
        del ordered["c"]
        ordered["d"] = 5
        return x * 2, ordered, list(ordered)

    make = collections.OrderedDict
    return f, [(torch.ones(2), make(a=1, b=2, c=3)), (torch.ones(2), make(b=2, a=1, c=3))]
