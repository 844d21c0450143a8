"""How often dictionaries and sets ask a key for its hash and compare it: methods of the user see each time."""

from harness import program, torch

ONE = torch.ones(2)


@program
def test_each_operation_asks_as_often_as_python_does():
    class Key:
        def __init__(self, n, log):
            self.n, self.log = n, log

        def __hash__(self):
            self.log.append(("hash", self.n))
            return self.n % 3

        def __eq__(self, other):
            self.log.append(("eq", self.n, other.n))
            return self.n % 3 == other.n % 3

    def f(x, log, a, b, c):
        def note(what):
            log.append(what)

        made = {a: 1, c: 2}
        note("store")
        made[b] = 3
        note("get")
        found = made.get(b), made[a], b in made
        note("setdefault")
        made.setdefault(b, 4)
        made.setdefault(c, 4)
        note("pop")
        made.pop(b)
        made.pop(b, None)
        note("update")
        made.update({b: 5})
        note("del")
        del made[a]
        note("sets")
        members = {a, b, c}
        members.add(b)
        members.discard(a)
        note("lists")
        positions = [a, b].index(b), [a, c].count(b), a in [c, b]
        return x * len(made), found, positions, len(members), a != b, list(made.values())

    def call(*_):
        log = []
        return ONE, log, Key(1, log), Key(4, log), Key(2, log)

    return f, [call, call]


@program
def test_methods_that_are_none():
    class NotTrue:
        __bool__ = None

    class NotContainer:
        __contains__ = None

        def __iter__(self):
            return iter([1])

    class NotIterable:
        __iter__ = None

        def __getitem__(self, i):
            return i

    class NotCallable:
        __call__ = None

    class NotAdded:
        __add__ = None

    def f(x):
        seen = []
        for ask in (
            lambda: bool(NotTrue()),
            lambda: 1 in NotContainer(),
            lambda: list(NotIterable()),
            lambda: NotCallable()(),
            lambda: NotAdded() + 1,
        ):
            try:
                seen.append(ask())
            except TypeError as e:
                seen.append(str(e))
        return x * 2, seen

    return f, [(ONE,)]


@program
def test_an_index_that_stops_the_iteration():
    class Stops:
        def __getitem__(self, i):
            if i == 2:
                raise StopIteration
            return i

    def f(x):
        return x * 2, list(Stops())

    return f, [(ONE,)]
