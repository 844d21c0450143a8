"""What code in C says and does: wrong arguments, special methods looked up on the class, sorting, deques, iterators."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.cases.harness import program  # noqa: E402 - needs torch

X = (torch.ones(2),)


@program
def test_wrong_numbers_of_arguments_raise_what_c_code_says():
    import bisect
    import collections
    import functools
    import heapq
    import itertools

    def f(x, call):
        try:
            return x + 1, call()
        except TypeError as e:
            return x + 2, str(e)

    calls = [
        lambda: len(),
        lambda: any([1], 2),
        lambda: next(),
        lambda: hasattr(1),
        lambda: repr(1, 2),
        lambda: sorted([1], 2),
        lambda: min([1], base=2),
        lambda: frozenset(1, 2),
        lambda: dict({}, {}),
        lambda: object(1),
        lambda: functools.reduce(max),
        lambda: collections.Counter([1], [2]),
        lambda: itertools.groupby([1], str, str),
        lambda: heapq.heapreplace([1]),
        lambda: bisect.bisect([1]),
    ]
    return f, [(torch.ones(2), call) for call in calls]


@program
def test_arguments_of_the_wrong_kind_raise_where_c_code_looks_at_them():
    import collections
    import functools
    import heapq
    import types

    def f(x, call):
        try:
            return x + 1, call()
        except (TypeError, IndexError) as e:
            return x + 2, type(e).__name__, str(e)

    class Plain:
        pass

    calls = [
        lambda: functools.partial(True),
        lambda: types.MethodType([1], 2),
        lambda: collections.defaultdict(b""),
        lambda: collections.deque([1], "2"),
        lambda: getattr([], 1, None),
        lambda: vars(1),
        lambda: 1 in 2,
        lambda: Plain() in 2,
        lambda: Plain() in "ab",
        lambda: 1 in Plain(),
        lambda: [*...],
        lambda: round(Plain()),
        lambda: abs(Plain()),
        lambda: enumerate(1, Plain()),
        lambda: collections.deque([1])["a":],
        lambda: heapq.heappop([]),
        lambda: heapq.heapreplace([], 1),
        lambda: heapq.heappush((), 1),
        lambda: [].pop(1, 2),
        lambda: collections.deque() + 1,
        lambda: {}.update([1]),
    ]
    return f, [(torch.ones(2), call) for call in calls]


@program
def test_attributes_of_containers_that_are_no_methods():
    import collections

    def f(x, kind):
        return x + 1, kind().__module__, kind.__module__, hasattr(kind(), "__doc__")

    return f, [(torch.ones(2), kind) for kind in (collections.defaultdict, collections.OrderedDict, collections.deque)]


@program
def test_special_methods_are_looked_up_on_the_class():
    class Named:
        def __str__(self):
            return "class"

        def __index__(self):
            return 1

        def __round__(self):
            return "round"

    def f(x):
        n = Named()
        n.__str__ = n.__index__ = n.__round__ = n.__hash__ = None
        return x + 1, str(n), f"{n}", [10, 20][n], round(n), int(n), hash(n) == hash(n)

    return f, [X, X]


@program
def test_what_special_methods_return_is_checked():
    class Bad:
        def __str__(self):
            return 5

        def __format__(self, spec):
            return 7

        def __iter__(self):
            return 5

        def __int__(self):
            return "no"

    def f(x, call):
        try:
            return x + 1, call(Bad())
        except TypeError as e:
            return x + 2, str(e)

    return f, [(torch.ones(2), call) for call in (str, format, iter, list, int, lambda b: f"{b}")]


@program
def test_sorting_asks_only_less_than_and_hides_the_list():
    class Item:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            asked.append((self.v, other.v))
            if self.v == 9:
                raise KeyError
            return self.v < other.v

    asked = []

    def f(x, values):
        items = [Item(v) for v in values]
        try:
            items.sort()
        except KeyError:
            asked.append("raised")
        return x + 1, [item.v for item in items]

    return f, [(torch.ones(2), values) for values in ([3, 1, 2, 2], [3, 2, 1, 9, 0], [1], [])]


@program
def test_a_list_is_empty_while_it_is_sorted():
    def f(x, grows):
        items = [3, 1, 2]
        seen = []

        def key(v):
            seen.append(len(items))
            if grows:
                items.append(v)
            return v

        try:
            items.sort(key=key)
        except ValueError as e:
            seen.append(str(e))
        return x + 1, items, seen

    return f, [(torch.ones(2), False), (torch.ones(2), True)]


@program
def test_a_deque_notices_changes_that_keep_its_length():
    import collections

    def f(x, change):
        d = collections.deque([1, 2, 3], maxlen=3)
        seen = []
        try:
            for v in d:
                seen.append(v)
                change(d)
        except RuntimeError as e:
            seen.append(str(e))
        return x + 1, seen, d

    changes = [
        lambda d: d.append(5),
        lambda d: d.rotate(),
        lambda d: d.extend([]),
        lambda d: d.reverse(),
        lambda d: d.__setitem__(0, 7),
    ]
    return f, [(torch.ones(2), change) for change in changes]


@program
def test_iterators_at_their_end_keep_their_type():
    import collections

    def f(x, make):
        it = make()
        rest = list(it)
        return x + 1, rest, it, next(it, "end")

    makers = [
        lambda: iter([1]),
        lambda: iter((1,)),
        lambda: iter(collections.deque([1])),
        lambda: reversed([1]),
        lambda: reversed((1,)),
    ]
    return f, [(torch.ones(2), make) for make in makers]


@program
def test_merged_dictionaries_have_the_class_whose_operator_is_asked():
    import collections

    def f(x):
        plain, ordered, default = {"a": 1}, collections.OrderedDict(b=2), collections.defaultdict(list, c=3)
        return x + 1, plain | ordered, plain | default, ordered | plain, default | ordered, ordered | default

    return f, [X]


@program
def test_what_makes_a_list_asks_for_the_length():
    class Sized:
        def __iter__(self):
            said.append("iter")
            return iter([2, 1])

        def __len__(self):
            said.append("len")
            return 2

        def __length_hint__(self):
            said.append("hint of sized")
            return 2

    class Hinted:
        def __iter__(self):
            said.append("iter")
            return (v for v in [2, 1])

        def __length_hint__(self):
            said.append("hint")
            return NotImplemented

    said = []

    def f(x, kind):
        v = kind()
        made = [list(v), tuple(v), [*v], (*v,), sorted(v), {*v}, set(v), sum(v), dict.fromkeys(v), (lambda *a: a)(*v)]
        items = [0]
        items.extend(v)
        items += v
        items[:0] = v
        first, *rest = v
        return x + 1, made, items, first, rest, "".join(map(str, v)), list(map(str, v)), list(enumerate(v))

    return f, [(torch.ones(2), kind) for kind in (Sized, Hinted)]


@program
def test_iterators_of_c_code_are_of_their_own_classes():
    import collections
    import itertools
    import types

    class Indexed:
        def __getitem__(self, index):
            return [1, 2][index]

        def __len__(self):
            return 2

    def f(x):
        makers = [
            itertools.chain([1]),
            itertools.chain.from_iterable([[1]]),
            itertools.count(),
            itertools.repeat(1),
            itertools.tee([1])[0],
            iter(Indexed()),
            reversed(Indexed()),
            iter(int, 0),
            collections.Counter("ab").__reversed__(),
            {"a": 1}.__reversed__(),
            (v for v in [1]),
        ]
        said = [(type(m).__name__, isinstance(m, types.GeneratorType), hasattr(m, "send")) for m in makers]
        try:
            makers[0].send(1)
        except AttributeError as e:
            said.append(str(e))
        try:
            said.append(collections.Counter.fromkeys("ab"))
        except NotImplementedError as e:
            said.append(str(e))
        return x + 1, said, isinstance(makers[0], itertools.chain), next(makers[0]), next(makers[5])

    return f, [(torch.ones(2),)]


@program
def test_super_and_class_patterns_that_have_nothing_to_go_by():
    class Thing:
        def starred(*args):
            return super().x

        def deleted(self):
            del self
            return super()

        @staticmethod
        def static():
            return super()

    def pattern():
        match 1:
            case max(0, 1):
                return "matched"

    def f(x, call):
        def interpolated():
            f"""no docstring"""  # noqa: B021

        try:
            return x + 1, call()
        except (RuntimeError, TypeError) as e:
            return x + 2, str(e), interpolated.__doc__

    calls = [
        pattern,
        Thing().starred,
        Thing().deleted,
        Thing.static,
        lambda: super(int, "a"),
        lambda: super(5, 6),
    ]
    return f, [(torch.ones(2), call) for call in calls]


@program
def test_keywords_of_the_methods_of_dictionaries():
    import collections

    def f(x, call):
        try:
            return x + 1, call()
        except TypeError as e:
            return x + 2, str(e)

    calls = [
        lambda: collections.OrderedDict.fromkeys("ab", value=3),
        lambda: collections.OrderedDict(a=1).pop("b", default=2),
        lambda: collections.OrderedDict(a=1, b=2).popitem(last=False),
        lambda: dict.fromkeys("ab", value=3),
        lambda: {"a": 1}.popitem(last=False),
        lambda: {"a": 1}.copy(deep=True),
    ]
    return f, [(torch.ones(2), call) for call in calls]
