"""Iterators in C: whom they ask for what, when they do, and what an error leaves of them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.cases.harness import program  # noqa: E402 - needs torch

X = (torch.ones(2),)


@program
def test_iterators_of_c_code_ask_the_object_that_they_go_over():
    import itertools

    class Indexed:
        def __getitem__(self, index):
            said.append(index)
            return (5, 6, 7)[index]

        def __len__(self):
            said.append("len")
            return 3

    said = []

    def f(x):
        said.clear()
        v = Indexed()
        items = [0]
        items[:0] = v
        first, *rest = v
        head, *middle, last = reversed(v)
        turned = reversed(v)
        said.append("made")
        made = [list(iter(v)), tuple(iter(v)), [*iter(v)], (*iter(v),), sorted(iter(v)), list(turned)]
        items.extend(iter(v))
        items += iter(v)
        late = iter(v)
        made.append([next(late), list(late), list(late)])
        made.append([list(itertools.product(v)), list(itertools.combinations(iter(v), 2))])
        return x + 1, made, items, first, rest, head, middle, last, list(said)

    return f, [X]


@program
def test_iterators_of_itertools_ask_for_iterators_once_and_when_they_are_made():
    import itertools

    class Source:
        def __init__(self):
            self.count = 0

        def __iter__(self):
            said.append("iter")
            return self

        def __next__(self):
            self.count += 1
            said.append(self.count)
            if self.count > 3:
                raise StopIteration
            return self.count

    said = []

    def f(x, make):
        said.clear()
        made = []
        for given in (Source(), 5):
            try:
                iterator = make(given)
                said.append("made")
                made.append([str(item) if type(item) is not tuple else item[0] for item in iterator])
            except (TypeError, ValueError) as e:
                made.append(str(e))
        return x + 1, made, list(said)

    makers = [
        lambda v: itertools.chain(v, v),
        lambda v: itertools.islice(v, 1, None),
        lambda v: itertools.islice(v, -1),
        lambda v: itertools.islice(v, -2, 3),
        lambda v: itertools.islice(v, 0, 3, 0),
        lambda v: itertools.accumulate(v),
        lambda v: itertools.takewhile(lambda n: n < 2, v),
        lambda v: itertools.dropwhile(lambda n: n < 2, v),
        lambda v: itertools.filterfalse(None, v),
        lambda v: itertools.compress(v, [1, 0, 1]),
        lambda v: itertools.pairwise(v),
        lambda v: itertools.zip_longest([1], v),
        lambda v: itertools.groupby(v),
        lambda v: itertools.islice(itertools.cycle(v), 5),
        lambda v: itertools.product(v, repeat=-1),
        lambda v: itertools.product(v, repeat=0),
        lambda v: itertools.combinations(v, -1),
        lambda v: itertools.combinations(v, 2),
        lambda v: itertools.permutations(v, 2),
        lambda v: itertools.combinations_with_replacement(v, 2),
        lambda v: itertools.tee(v)[1],
        lambda v: itertools.tee(v, 0),
        lambda v: itertools.repeat(v, "a"),
        lambda v: reversed(v),
    ]
    return f, [(torch.ones(2), make) for make in makers]


@program
def test_iterators_of_c_code_go_on_after_an_error():
    import itertools

    def odd(n):
        said.append(n)
        if n == 2 and said.count(2) == 1:
            raise KeyError(n)
        return n % 2

    class Indexed:
        def __getitem__(self, index):
            odd(index)
            return (5, 6, 7, 8)[index]

    said = []

    def f(x, make):
        said.clear()
        iterator = make()
        made = []
        for _ in range(5):
            try:
                made.append(next(iterator))
            except (KeyError, StopIteration) as e:
                made.append(repr(e))
        return x + 1, made, list(said)

    makers = [
        lambda: iter(Indexed()),
        lambda: map(odd, [1, 2, 3]),
        lambda: itertools.chain(Indexed()),
        lambda: itertools.accumulate([1, 2, 3], lambda a, b: a + odd(b)),
        lambda: itertools.starmap(odd, [(1,), (2,), (3,)]),
        lambda: itertools.filterfalse(odd, [1, 2, 4]),
        lambda: itertools.takewhile(odd, [1, 2, 3]),
        lambda: itertools.dropwhile(odd, [1, 2, 4]),
    ]
    return f, [(torch.ones(2), make) for make in makers]


@program
def test_methods_of_sets_look_no_further_in_an_iterator_once_they_know():
    def f(x):
        made = []
        for name in ("issubset", "issuperset", "isdisjoint", "intersection", "difference", "union"):
            for members in ({1}, {1, 9}, {2, 3}, set()):
                numbers = iter([1, 1, 2, 3, 4])
                result = getattr(members, name)(numbers)
                made.append((name, result, list(numbers)))
        return x + 1, made

    return f, [X]


@program
def test_generator_expressions_ask_for_the_iterator_where_python_does():
    class Source:
        def __iter__(self):
            said.append("iter")
            return iter([1, 2])

    said = []

    def f(x):
        said.clear()
        made = (v for v in Source())
        said.append("made")
        try:
            wrong = (v for v in 5)
            said.append("made")
            list(wrong)
        except TypeError as e:
            said.append(str(e))
        return x + 1, list(made), list(said)

    return f, [X]


@program
def test_count_wants_numbers_when_it_is_made():
    import fractions
    import itertools

    class Index:
        def __index__(self):
            return 3

        def __add__(self, other):
            return 4

    def f(x):
        said = []
        for arguments in (
            (),
            (1.5, -1),
            (1j,),
            (Index(),),
            (fractions.Fraction(1, 2),),
            ("a",),
            (1, "b"),
            (None,),
            ([],),
        ):
            try:
                counted = itertools.count(*arguments)
            except TypeError as e:
                said.append(str(e))
            else:
                next(counted)
                said.append(next(counted))
        return x + 1, said

    return f, [X]
