"""Exceptions as objects: their fields, notes, groups, chains and descriptors, as eager leaves them."""

import torch
from harness import program

ONE = torch.ones(2)


@program
def test_custom_exception_keeps_its_fields():
    class Bad(ValueError):
        def __init__(self, code, why="bad"):
            super().__init__(why, code)
            self.code = code

    def check(n):
        if n > 1:
            raise Bad(n)
        return n

    def f(x, n):
        try:
            return x * check(n)
        except Bad as e:
            return e.code, str(e), e.args, isinstance(e, ValueError)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_exception_is_returned():
    def f(x, n):
        try:
            raise KeyError(n, x)
        except KeyError as e:
            kept = e
        return kept, x + 1

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_chain_of_exceptions():
    def f(x):
        try:
            try:
                try:
                    1 / 0
                except ZeroDivisionError as e:
                    raise KeyError("k") from e
            except KeyError:
                [][1]
        except IndexError as e:
            a, b = e.__context__, e.__context__.__cause__
            return (
                x,
                type(a).__name__,
                type(b).__name__,
                a.__suppress_context__,
                e.__cause__,
                a.__cause__ is b,
            )

    return f, [(torch.ones(1),)]


@program
def test_raise_from_none():
    def f(x):
        try:
            try:
                {}["a"]
            except KeyError:
                raise ValueError("v") from None
        except ValueError as e:
            return x, e.__cause__, type(e.__context__).__name__, e.__suppress_context__

    return f, [(torch.ones(1),)]


@program
def test_chained_exception_escapes():
    def f(x, n):
        try:
            return x[n]
        except IndexError as e:
            raise ValueError("wrapped", n) from e

    return f, [(torch.ones(2), 1), (torch.ones(2), 5)]


@program
def test_notes_and_with_traceback():
    def f(x):
        e = ValueError("v")
        e.add_note("one")
        try:
            raise e.with_traceback(None)
        except ValueError as got:
            return x, got is e, got.__notes__

    return f, [(torch.ones(1),)]


@program
def test_exception_group():
    def f(x):
        out = []
        try:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2), ValueError(3)])
        except* ValueError as g:
            out.append([e.args for e in g.exceptions])
        except* KeyError as g:
            out.append(len(g.exceptions))
        return x, out

    return f, [(torch.ones(1),)]


@program
def test_exceptions_whose_init_takes_other_arguments():
    class Two(Exception):
        def __init__(self, a, b):
            super().__init__(a)
            self.b = b

    class Keyword(ValueError):
        def __init__(self, *args, extra=None):
            super().__init__(*args)
            self.extra = extra

    def f(x, k):
        y = x + 1
        try:
            if k == 1:
                raise Two(1, y)
            if k == 2:
                raise Keyword("m", extra=[k])
        except Two as e:
            raise ValueError("outer", k) from e
        except Keyword as e:
            e.add_note("seen")
            e.extra.append(5)
            raise
        return y

    return f, [(ONE, 0), (ONE, 1), (ONE, 2)]


@program
def test_notes():
    def f(x):
        try:
            raise KeyError("k")
        except KeyError as e:
            e.add_note("one")
            e.add_note("two")
            kept = e
        return x * 2, kept, kept.__notes__

    return f, [(ONE,), (ONE,)]


@program
def test_a_property_of_an_exception_that_is_set():
    class Coded(Exception):
        @property
        def code(self):
            return self._code

        @code.setter
        def code(self, value):
            self._code = value + 1

    def f(x):
        try:
            raise Coded("a")
        except Coded as e:
            e.code = 4
            return x * e.code, e

    return f, [(ONE,)]


@program
def test_descriptors_of_an_exception_check_what_they_are_given():
    def f(x, e, which, value):
        made = ValueError("made")
        found = []
        for error in (made, e):
            try:
                setattr(error, which, value)
                found.append((type(error.__cause__), type(error.__context__), error.__suppress_context__))
            except TypeError as problem:
                found.append(str(problem))
        return found, x + 1

    names = ("__cause__", "__context__", "__traceback__")
    values = (None, KeyError("k"), 5)
    return f, [(torch.ones(1), OSError(1), name, value) for name in names for value in values]


@program
def test_raising_within_a_cycle_of_contexts():
    def f(x, length):
        errors = [ValueError(i) for i in range(length)]
        for i in range(length):
            errors[i].__context__ = errors[(i + 1) % length]
        try:
            try:
                raise errors[0]
            except ValueError:
                x = x + 1
                raise KeyError("new")
        except KeyError as e:
            return x, e.__context__ is errors[0], errors[-1].__context__ is errors[0]

    return f, [(torch.ones(1), n) for n in (1, 2, 3)]
