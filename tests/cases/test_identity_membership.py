"""`in`, `index`, `count`, `remove` and comparison of containers try identity first, then equality, in order."""

import copy
import operator

import torch
from harness import program


@program
def test_not_implemented_equality():
    class B:
        def __eq__(self, o):
            return NotImplemented

        __hash__ = None

    def f(x):
        b, c = B(), B()
        return x + 1, b in [b], c in [b], b in (c, b), b == b, b == c, b != c

    return f, [(torch.ones(1),)]


@program
def test_equality_that_is_always_false():
    class Never:
        def __eq__(self, o):
            return False

        def __hash__(self):
            return 1

    def f(x):
        n = Never()
        return (
            x,
            n in [n],
            [n].index(n),
            [n].count(n),
            n in {n},
            {n: 1}[n],
            [n] == [n],
            (n, 1) == (n, 1),
            n == n,
        )

    return f, [(torch.ones(1),)]


@program
def test_equality_that_is_always_true():
    class Always:
        def __eq__(self, o):
            return True

    def f(x):
        a = Always()
        return x, a in [1, 2], [3, a].index(5), [1, a, a].count(1), 7 in [a], a != a

    return f, [(torch.ones(1),)]


@program
def test_nan_is_itself():
    def f(x, n):
        m = float("nan")
        return x, n in [n], n in (m,), [n] == [n], n == n, [n].index(n), {n: 1}.get(n), n in {n}, (n,) == (m,)

    nan = float("nan")
    return f, [(torch.ones(1), nan), (torch.ones(1), nan)]


@program
def test_order_of_comparisons():
    log = []

    class C:
        def __init__(self, n):
            self.n = n

        def __eq__(self, o):
            log.append((self.n, getattr(o, "n", o)))
            return isinstance(o, C) and self.n == o.n

        __hash__ = None

    def f(x):
        items = [C(1), C(2), C(3)]
        return x, C(2) in items, items.index(C(3)), items.count(C(1)), items == [C(1), C(2), C(4)], 5 in items

    return f, [(torch.ones(1),)]


@program
def test_remove_takes_the_identical_one():
    class C:
        def __init__(self, n):
            self.n = n

    def f(x):
        a, b = C(1), C(2)
        items = [a, b, a]
        items.remove(b)
        del items[0]
        return x, len(items), items[0] is a, b in items

    return f, [(torch.ones(1),)]


@program
def test_tensor_in_a_list_of_itself():
    def f(x):
        return x + 1, x in [x], [x].index(x), any(t is x for t in [x * 2, x])

    return f, [(torch.ones(2),)]


@program
def test_tensor_in_a_list_of_others():
    def f(x, y):
        try:
            return x in [y]
        except RuntimeError as e:
            return str(e)

    return f, [(torch.ones(1), torch.ones(1)), (torch.ones(2), torch.ones(2))]


@program
def test_equal_numbers_of_other_types():
    def f(x, n):
        return (
            x,
            True in [n],
            n in [1.0, 2.0],
            {1: "int", 2.0: "float"}.get(n),
            [0, False].count(n),
            (n,) == (float(n),),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 0)]


@program
def test_identity_of_arguments_and_locals():
    def f(x, a, b):
        c = a
        return x, a is b, c is a, [] is [], a is not None, (a, b)[0] is a, type(a) is list

    shared = [1]
    return f, [(torch.ones(1), shared, shared), (torch.ones(1), shared, [1]), (torch.ones(1), [1], [1])]


@program
def test_none_and_sentinels():
    missing = object()

    def f(x, d):
        got = d.get("k", missing)
        return x, got is missing, got is None, None in d.values(), missing in [missing], missing == missing

    return f, [(torch.ones(1), {}), (torch.ones(1), {"k": None}), (torch.ones(1), {"k": 0})]


@program
def test_contains_hook():
    class Even:
        def __contains__(self, v):
            return v % 2

    class Walked:
        def __iter__(self):
            return iter([1, 2])

    class Indexed:
        def __getitem__(self, i):
            return [3, 4][i]

    def f(x, n):
        return x, n in Even(), n not in Even(), n in Walked(), n in Indexed()

    return f, [(torch.ones(1), 2), (torch.ones(1), 3), (torch.ones(1), 4)]


@program
def test_contains_on_a_thing_without():
    def f(x, n):
        try:
            return 1 in n
        except TypeError as e:
            return str(e)

    return f, [(torch.ones(1), 5), (torch.ones(1), None)]


@program
def test_dict_key_by_own_hash():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return self.n % 2

        def __eq__(self, o):
            return isinstance(o, Key) and self.n == o.n

    def f(x, n):
        d = {Key(1): "one", Key(3): "three"}
        d[Key(n)] = "new"
        return x, len(d), d[Key(1)], d.get(Key(5)), Key(3) in d, [k.n for k in d]

    return f, [(torch.ones(1), 1), (torch.ones(1), 5)]


@program
def test_unhashable_key():
    def f(x, k):
        try:
            return {k: 1}
        except TypeError as e:
            return str(e)

    return f, [(torch.ones(1), [1]), (torch.ones(1), {}), (torch.ones(1), (1, [2])), (torch.ones(1), (1, 2))]


@program
def test_tensor_as_key():
    def f(x, y):
        d = {x: "x", y: "y"}
        return d[x], d[y], x in d, (x + 1) in d, len(d)

    return f, [(torch.ones(1), torch.ones(1))]


@program
def test_copies_that_are_the_thing_itself():
    def f(s, t, nothing):
        made, word = frozenset([1, 2]), (3, *t)
        sets = (
            s.copy() is s,
            made.copy() is made,
            frozenset(s) is s,
            frozenset(made) is made,
            set(s) is s,
            copy.copy(s) is s,
        )
        slices = (
            t[:] is t,
            t[0:2] is t,
            t[0:9] is t,
            t[::1] is t,
            t[1:] is t,
            t[::-1] is t,
            word[:] is word,
            word[-9:] is word,
        )
        sums = (
            t + () is t,
            () + t is t,
            t + nothing is t,
            nothing + t is t,
            t * 1 is t,
            1 * t is t,
            t * 2 is t,
            t * True is t,
        )
        calls = tuple(t) is t, copy.copy(t) is t, copy.deepcopy(t) is t, list(t) is t, sorted(t) is t
        again = t
        again += ()
        return sets, slices, sums, calls, again is t

    return f, [(frozenset([1, 2]), (1, 2), ()), (frozenset(), (1.5, "a"), ())]


@program
def test_equal_literals_and_what_is_made_of_them():
    def f(x):
        a = "xyzpdq"
        b, c = a, a[:3] + a[3:]
        d, e = 1000003, 1000002 + len(a) - 5
        names = a is b, a is c, a is not c, operator.is_(a, c), operator.is_not(a, c), c is c
        return names, d is e, d is d, a == c, a in [c], [q is a for q in (a, b, c)], x + len(c)

    return f, [(torch.ones(2),)]


@program
def test_a_tuple_of_the_code_is_one_object():
    def made():
        return ("a", 1)

    def f(x):
        in_loop = [((1, "b"), (2, (3, 4))) for _ in range(2)]
        a, b = made(), made()
        print(a is b)
        inner = in_loop[0][1][1]
        return x + 1, in_loop, in_loop[0] is in_loop[1], a is b, [a, b, made()], [inner, in_loop[1][1][1]]

    return f, [(torch.ones(1),)] * 2


@program
def test_a_tuple_of_the_code_that_comes_back_as_an_argument():
    def made():
        return (1, 2)

    def f(x, given):
        return x + 1, given is made(), [given, made()]

    return f, [(torch.ones(1), made()), (torch.ones(1), tuple([1, 2])), (torch.ones(1), made())]
