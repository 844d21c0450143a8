"""A comprehension's variable that is called like a variable of the enclosing function."""

import torch
from harness import program

ONE = torch.ones(2)


def around(k):
    def plain(x):
        return x + k, [k for k in (1, 2)], k

    def breaking(x):
        found = [k for k in (1, 2)]
        print(found)
        return x + k + found[0]

    def breaking_inside(x):
        found = [print(k) or k for k in (1, 2)]
        return x + k + found[0]

    def empty(x):
        return x * k, [k for (k,) in []]

    def failing(x):
        try:
            return [k for k in (1, None) if k + 1]
        except TypeError:
            print("caught")
            return x + k

    return plain, breaking, breaking_inside, empty, failing


@program
def test_a_comprehensions_variable_in_a_function_that_is_called():
    def f(x, n):
        return [inner(x) for inner in around(n)]

    return f, [(ONE, 3), (ONE, 4)]


@program
def test_a_comprehensions_variable_in_the_function_itself():
    return around(3)[0], [(ONE,), (ONE,)]


@program
def test_a_comprehensions_variable_across_a_break():
    return around(3)[1], [(ONE,), (ONE,)]


@program
def test_a_break_in_the_comprehension():
    return around(3)[2], [(ONE,), (ONE,)]


@program
def test_a_comprehension_that_fails():
    return around(3)[4], [(ONE,), (ONE,)]
