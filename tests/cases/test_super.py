"""``super()`` without arguments finds the frame's class and object, wherever the frame broke and whatever its name means."""

import torch
from harness import program


@program
def test_super_behind_breaks():
    class Base:
        attr = 5

        def m(self, number):
            return ("base", type(self).__name__, number)

    class Derived(Base):
        attr = 7

        def m(self, y):
            print(end="")
            first = super().m(1)
            attr = super().attr
            print(end="")
            later = super().m
            exec("")
            return first, attr, later(2), super().attr, y + 1

    return Derived().m, [(torch.ones(2),)] * 3


@program
def test_super_behind_a_handler():
    class Base:
        attr = 5

        def m(self, number):
            return ("base", type(self).__name__, number)

    class Derived(Base):
        def m(self, y):
            y = y + 1
            try:
                exec("raise ValueError")
            except ValueError:
                exec("")
            return super().m(3), super().attr, y

    return Derived().m, [(torch.ones(2),)] * 3


@program
def test_super_in_a_loop_that_breaks():
    class Base:
        def m(self, y):
            return y * 2

    class Derived(Base):
        def m(self, y):
            for _ in range(3):
                y = super().m(y)
                print(end="")
            return y

    return Derived().m, [(torch.ones(2),)] * 2


@program
def test_super_without_a_parameter():
    class Base:
        def m(self, number):
            return number

    class Derived(Base):
        def caught(*args):
            print(end="")
            try:
                return super().m(1)
            except RuntimeError as error:
                return str(error)

        def raised(*args):
            return super().m(1)

    return lambda which, y: (getattr(Derived, which)(Derived(), y), y + 1), [
        ("caught", torch.ones(2)),
        ("raised", torch.ones(2)),
    ]


@program
def test_super_that_is_another_function():
    space = {}
    exec(
        """
class Fake:
    attr = 9

    def __init__(self, count):
        self.count = count

    def m(self, number):
        return ("fake", self.count, number)


def super(*args):
    return Fake(len(args))


class Base:
    attr = 5

    def m(self, number):
        return ("base", number)


class Derived(Base):
    def broken(self, y):
        print(end="")
        return super().m(1), super().attr, y + 1

    def whole(self, y):
        return super().m(1), super().attr, y + 1


def through_a_call(which, y):
    return getattr(Derived(), which)(y)
""",
        space,
    )
    return space["through_a_call"], [("broken", torch.ones(2)), ("whole", torch.ones(2))] * 2


@program
def test_super_where_classes_change():
    class Base:
        def m(self, y):
            return y + 1

        @property
        def p(self):
            return "Base"

        @classmethod
        def c(cls):
            return "Base"

    class Mixed:
        pass

    class Between(Base):
        pass

    class Derived(Mixed, Between):
        def m(self, y):
            return super().m(y) * 2

        @property
        def p(self):
            return "Derived of " + super().p

        @classmethod
        def c(cls):
            return "Derived of " + super().c()

        def missing(self):
            try:
                return super().nothing
            except AttributeError as error:
                return str(error)

    derived = Derived()

    def f(y):
        return derived.m(y), derived.p, derived.c(), derived.missing()

    def changed(cls, name, value):
        return lambda *_: setattr(cls, name, value) or (torch.ones(2),)

    return f, [
        (torch.ones(2),),
        changed(Between, "m", lambda self, y: y - 5),
        changed(Mixed, "m", lambda self, y: y * 0),
        lambda *_: delattr(Mixed, "m") or (torch.ones(2),),
        changed(Mixed, "p", "Mixed"),
        changed(Between, "c", classmethod(lambda cls: "Between")),
        changed(Base, "nothing", 3),
        changed(Derived, "__bases__", (Base,)),
        changed(Base, "m", lambda self, y: y + 50),
    ]
