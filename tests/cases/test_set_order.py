"""The order of a set hangs on how it came to be: by displays, one by one, from tables, by algebra, after removals."""

from harness import program, torch

ONE = torch.ones(2)
#: in a table of 8, 16 or 32 places some of these meet
NUMBERS = (0, 16, 1, 2, 3)


@program
def test_filled_from_a_list_and_from_a_dictionary():
    def f(x):
        return x * 2, list(set([0, 16, 1, 2, 3])), list(set({0: 1, 16: 1, 1: 1, 2: 1, 3: 1})), list({0, 16, 1, 2, 3})

    return f, [(ONE,)]


@program
def test_filled_by_a_comprehension_and_a_loop():
    def f(x):
        made = set()
        for n in (24, 8, 16, 0, 32, 40):
            made.add(n)
        return x * 2, list({n * 8 for n in range(7)}), list(made), max(made)

    return f, [(ONE,)]


@program
def test_unions_and_differences():
    def f(x):
        a, b = {1, 9, 17}, {33, 25, 2, 10}
        return x * 2, list(a | b), list(b | a), list((a | b) - {9}), list(a ^ b), list((a | b) & {33, 1, 25, 9})

    return f, [(ONE,)]


@program
def test_after_removals():
    def f(x):
        made = {0, 8, 16, 24}
        made.discard(8)
        made.add(32)
        first = made.pop()
        made.add(40)
        return x * 2, first, list(made), made.pop(), list(made)

    return f, [(ONE,)]


@program
def test_texts_after_a_break():
    def f(x):
        made = {"a", "b", "c", "hello"} | {"world", "x"}
        y = x * 2
        print("between")
        return y, "".join(made), [c for c in set("gibberish")]

    return f, [(ONE,)]


@program
def test_returned_and_walked_over_later():
    def f(x, before):
        made = {"a", "b", "c"} | {"d", "e", "f", "g"}
        return x * 2, made, list(before)

    made = [set("abc") | set("defg")]
    return f, [(ONE, made[0]), lambda last: (ONE, last[1]), lambda last: (ONE, last[1])]


@program
def test_frozen_sets():
    def f(x):
        frozen = frozenset([40, 8, 16, 24, 0, 1])
        return x * 2, list(frozen), list(frozen | {48}), list(set(frozen)), list(frozen.copy())

    return f, [(ONE,)]


@program
def test_updates_in_place():
    def f(x):
        made = {1, 9}
        made |= {17, 33}
        made.update([25, 41], {49: 0, 57: 0})
        made -= {9}
        made &= {1, 17, 25, 41, 57, 65}
        made ^= {65, 1}
        return x * 2, list(made)

    return f, [(ONE,)]
