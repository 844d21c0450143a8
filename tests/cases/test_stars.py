"""Stars in calls and displays: what is unpacked, and what an error says when it cannot be."""

import torch
from harness import program


class Pairs:
    def keys(self):
        return ["p", "q"]

    def __getitem__(self, key):
        return {"p": 1, "q": 2}[key]


class Raises:
    def keys(self):
        raise KeyError("z")


VALUES = [{"b": 2}, (1, "a"), None, [("a", 1)], "ab", 5, {1: 2}, {"a": 1, "k": 3}, Pairs(), Raises(), {7}, range(2)]


def _attempt(form, value):
    try:
        return form(value)
    except Exception as error:
        return type(error).__name__, str(error)


@program
def test_mappings_in_calls():
    def taken(x, *args, k=2, **more):
        return args, k, more

    def f(x):
        y = x + 1
        forms = [
            lambda t: taken(x, **t)[1:],
            lambda t: taken(x, k=1, **t)[1:],
            lambda t: taken(x, **{"a": 1}, **t)[1:],
            lambda t: dict(**t),
        ]
        return y, [_attempt(form, value) for form in forms for value in VALUES]

    return f, [(torch.ones(2),)]


@program
def test_mappings_in_displays():
    def f(x):
        y = x + 1
        forms = [lambda t: {**t}, lambda t: {"a": 0, **t}, lambda t: {**t, **{"p": 1}}]
        return y, [_attempt(form, value) for form in forms for value in VALUES]

    return f, [(torch.ones(2),)]


@program
def test_sequences_in_calls_and_displays():
    def taken(*args):
        return args

    def f(x):
        y = x + 1
        forms = [
            lambda t: taken(*t),
            lambda t: taken(1, *t),
            lambda t: taken(*t, *t),
            lambda t: [*t],
            lambda t: (0, *t),
        ]
        return y, [_attempt(form, value) for form in forms for value in VALUES]

    return f, [(torch.ones(2),)]


def _one_by_one(form):
    """The value's error leaves an inlined function, one call a value."""

    def inner(x, value):
        return form(x, value)

    def f(x, value):
        return [inner(x + k, value) for k in range(2)]

    return f, [(torch.ones(2), value) for value in VALUES[:7]]


@program
def test_errors_of_mappings_leave_the_function():
    def taken(x, **more):
        return x * len(more), sorted(more, key=str)

    return _one_by_one(lambda x, value: taken(x, **value))


@program
def test_errors_of_sequences_leave_the_function():
    def taken(x, *args):
        return x * len(args), args

    return _one_by_one(lambda x, value: taken(*value))
