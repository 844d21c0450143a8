"""Lists, dicts, sets and their kin: types, order, aliasing and mutation as eager leaves them."""

import collections
import copy
import dataclasses
import enum
import heapq

import torch
from harness import program


@program
def test_views_of_a_dict_keep_their_types():
    def f(x):
        d = {"a": x + 1, "b": 2}
        return d.items(), d.keys(), d.values(), collections.OrderedDict(d).keys()

    return f, [(torch.ones(2),)] * 2


@program
def test_views_of_an_argument_are_live():
    def f(x, d):
        keys, values = d.keys(), d.values()
        d["new"] = x.shape[0]
        return x, keys, values, list(keys), "new" in keys, keys & {"new", "z"}, len(values)

    return f, [(torch.ones(2), {"a": 1}), (torch.ones(3), {})]


@program
def test_iterators_are_returned():
    def f(x, items, d):
        it = iter(items)
        next(it)
        return (
            x,
            it,
            iter(d),
            zip(items, "ab"),
            enumerate(items, 1),
            map(str, items),
            filter(None, items),
            reversed(items),
            iter(range(3)),
            iter((1,)),
            iter({1}),
        )

    return f, [(torch.ones(1), [1, 0, 3], {"a": 1})] * 2


@program
def test_nested_list_written_through_a_row():
    def f(x):
        grid = [[1, 2], [3, 4]]
        row = grid[0]
        for i in range(2):
            grid[0][i] = x if i == 0 else row[i - 1] + 1
        return row[-1], grid, row is grid[0]

    return f, [(torch.ones(2),)]


@program
def test_nested_argument_written_through_an_alias():
    def f(x, grid):
        row = grid["rows"][0]
        row.append(x * 2)
        grid["first"] = row
        row[0] = "changed"
        return row, grid["rows"][0] is grid["first"]

    return f, [(torch.ones(1), {"rows": [[1], [2]]}), (torch.ones(1), {"rows": [[x for x in "ab"]]})]


@program
def test_two_arguments_are_one_list():
    def f(x, a, b):
        a.append(x.shape[0])
        return x * len(b), a is b, a == b

    shared = [1]
    return f, [(torch.ones(1), [1], [1]), (torch.ones(1), shared, shared), (torch.ones(1), [1], [1])]


@program
def test_self_containing():
    def f(x):
        a = [x]
        a.append(a)
        d = {"me": None}
        d["me"] = d
        return a, d, a[1][1] is a

    return f, [(torch.ones(1),)]


@program
def test_augmented_assignment_and_aliases():
    def f(x, items, pair, text):
        a, b, c = items, pair, text
        a += [1]
        b += (1,)
        c += "!"
        d = items
        d = d + [2]
        items *= 2
        return x, items, pair, text, a is items, b is pair, d

    return f, [(torch.ones(1), [0], (0,), "t")] * 2


@program
def test_slices():
    def f(x, items, n):
        a = list(items)
        a[n:2] = [9, 9, 9]
        del a[-1]
        a[::2] = [0] * len(a[::2])
        try:
            a[::2] = [1]
        except ValueError as e:
            a.append(str(e))
        return (
            x,
            a,
            items[n:],
            items[::-1],
            items[-2:],
            slice(n, 3),
            items[slice(0, n)],
            slice(1, n).indices(5),
        )

    return f, [(torch.ones(1), [1, 2, 3, 4], 1), (torch.ones(1), [1, 2, 3, 4], 2)]


@program
def test_list_methods():
    def f(x, n):
        a = [3, 1, 2]
        a.insert(n, 7)
        a.extend(k for k in range(n))
        a.sort(key=lambda v: (v % 2, -v), reverse=True)
        b = a.copy()
        b.reverse()
        return x, a, b, a.pop(n), a.index(1), a.count(n), a.append(1), a.sort(), a == b, a < b

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_dict_methods_and_order():
    def f(x, k):
        d = {"a": 1, "b": 2}
        d["a"] = d.pop("a")
        d.setdefault(k, []).append(1) if k == "l" else d.setdefault(k, 5)
        d.update([("z", 0)], y=1)
        e = d | {"b": 3}
        d |= {"w": 1}
        return (
            x,
            d,
            e,
            list(d),
            list(reversed(d)),
            d.popitem(),
            d.get("q"),
            d.get("q", k),
            {**d, "a": 0},
            dict.fromkeys("ab", k),
            d == e,
            len(d),
        )

    return f, [(torch.ones(1), "c"), (torch.ones(1), "l"), (torch.ones(1), "a")]


@program
def test_changing_a_dict_while_walking_it():
    def f(x, d):
        try:
            for k in d:
                d[k + "x"] = 1
        except RuntimeError as e:
            return x, str(e)

    return f, [(torch.ones(1), {"a": 1}), (torch.ones(1), {})]


@program
def test_sets():
    def f(x, items):
        a, b = set(items), {1, 2, 3}
        a.add(len(a))
        return (
            x,
            a,
            a & b,
            a | b,
            a - b,
            a ^ b,
            a <= b,
            a.isdisjoint(b),
            frozenset(a) == a,
            len(a),
            sorted(a),
            {frozenset(a): 1},
            2 in a,
            a.pop() in b or True,
        )

    return f, [(torch.ones(1), [1]), (torch.ones(1), [2, 2, 5])]


@program
def test_set_argument_is_changed():
    def f(x, s):
        t = s
        s |= {9}
        s.discard(1)
        s.update([7, 7])
        s -= {7}
        return x, t is s, len(s)

    return f, [(torch.ones(1), {1, 2}), (torch.ones(1), set())]


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
def test_copies():
    def f(x, items):
        a = [items, x]
        b, c = copy.copy(a), copy.deepcopy(a)
        items.append(1)
        return b[0] is items, c[0] is items, b[1] is x, c[1] is x, c, b

    return f, [(torch.ones(1), [0])] * 2


@program
def test_comprehensions():
    def f(x, items, n):
        k = n
        return (x, [i * k for i in items if i != n], {i: x * i for i in items}, {i % 2 for i in items}, [[j for j in range(i)] for i in items],
                [i for row in [items, [n]] for i in row], [(lambda: i + k)() for i in items], [w := i for i in items], w, tuple(i for i in items))  # fmt: skip

    return f, [(torch.ones(1), [1, 2, 3], 2), (torch.ones(1), [2], 3)]


@program
def test_unpacking():
    def f(x, items, d):
        a, *b = items
        *c, (e, g) = [*items, (1, x)]
        h = {**d, "z": 0, **{"a": 9}}
        i, j = d
        return (
            a,
            b,
            c,
            e,
            g,
            h,
            [*items, *d, *"xy"],
            (*b, *c),
            {*items, 1},
            max(*items),
            i + j,
            dict(**d, q=1),
        )

    return f, [(torch.ones(1), [1, 2, 3], {"a": 1, "b": 2}), (torch.ones(1), [4, 5], {"p": 1, "q0": 2})]


@program
def test_heap_of_an_argument():
    def f(x, heap, n):
        heapq.heappush(heap, n)
        return x, heapq.heappop(heap), heapq.nsmallest(2, heap), list(heap)

    return f, [(torch.ones(1), [3, 5, 9], 1), (torch.ones(1), [3, 5, 9], 4)]


@program
def test_sort_is_stable_and_calls_the_key_once():
    log = []

    def key(p):
        log.append(p)
        return p[0]

    def f(x, pairs):
        pairs.sort(key=key, reverse=True)
        return x, sorted(pairs, key=key), min(pairs, key=key), max(pairs, key=lambda p: p[1])

    return f, [(torch.ones(1), [(1, "b"), (2, "a"), (1, "a")]), (torch.ones(1), [(1, "z")])]


@program
def test_tensor_values_survive_in_containers():
    kept = {}

    def f(x, k):
        y = x + 1
        kept[k] = [y, {"same": y, "view": y[:1]}]
        y.add_(1)
        return kept[k][0] is y, sum(v[0].sum() for v in kept.values())

    return f, [(torch.ones(2), "a"), (torch.ones(2), "b"), (torch.ones(2), "a")]


@program
def test_list_length_guard():
    def f(xs):
        total = 0
        for i, t in enumerate(xs):
            total = total + t * i
        return total, len(xs)

    return f, [([torch.ones(1)] * 2,), ([torch.ones(1)] * 3,), ([],), ([torch.ones(2), torch.ones(2)],)]


@program
def test_dict_keys_guard():
    def f(d):
        return {k: v * 2 for k, v in d.items()}, list(d)

    x = torch.ones(1)
    return f, [({"a": x, "b": x},), ({"b": x, "a": x},), ({"a": x},), ({"a": 1, "b": x},), ({},)]


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


@program
def test_copies_and_iterators_of_objects_that_hold_a_dictionary():
    import copy

    class Named(dict):
        pass

    def f(x):
        named = Named(a=1, b=2)
        named.extra = 3
        steps = iter(named.items())
        first = next(steps)
        return x + 1, copy.copy(named), copy.copy(named).extra, first, filter(None, named), steps

    return f, [(torch.ones(2),)]
