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


@program
def test_a_list_that_says_itself_whether_it_is_sorted_in_reverse():
    def f(x, numbers):
        try:
            numbers.sort(reverse=numbers)
        except TypeError as error:
            print(error)
        numbers.sort(key=str, reverse=len(numbers))
        return x + 1, numbers, sorted(numbers, reverse=0)

    return f, [(torch.ones(1), [1, 3, 2]), (torch.ones(1), [])]
