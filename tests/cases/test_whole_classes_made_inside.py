"""Classes made inside a compiled function: all of it is captured in one graph."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

from harness import program, torch, whole

ONE = torch.ones(3)


@whole
def test_a_class_made_inside():
    def f(x):
        class Box:
            scale = 2

            def __init__(self, value):
                self.value = value

            def scaled(self):
                return self.value * self.scale

        return Box(x).scaled() + Box.scale

    return f, [(ONE,), (ONE * 2,)]


@whole
def test_a_class_made_inside_that_closes_over_arguments():
    def f(x, n):
        class Adder:
            offset = n + 1

            def run(self):
                return x + self.offset + n

        return Adder().run()

    return f, [(ONE, 1), (ONE, 1)]


@whole
def test_a_class_made_inside_with_a_base_made_inside_and_super():
    def f(x):
        class Base:
            def __init__(self, v):
                self.v = v

            def run(self, y):
                return y + self.v

        class Derived(Base):
            def __init__(self, v):
                super().__init__(v * 2)

            def run(self, y):
                return super().run(y) * 3

        return Derived(x).run(x), isinstance(Derived(x), Base)

    return f, [(ONE,), (ONE,)]


@whole
def test_a_class_made_inside_with_an_outside_base():
    class Base:
        def run(self, y):
            return y + self.bias()

        def bias(self):
            return 1

    def f(x):
        class Mine(Base):
            def bias(self):
                return x * 2

        return Mine().run(x)

    return f, [(ONE,), (ONE,)]


@whole
def test_type_with_three_arguments():
    def f(x):
        made = type("Made", (), {"k": 3, "run": lambda self, y: y * self.k})
        return made().run(x), made.__name__

    return f, [(ONE,), (ONE,)]


@whole
def test_class_and_static_methods_of_a_class_made_inside():
    def f(x):
        class Tool:
            factor = 3

            @classmethod
            def make(cls, y):
                return y * cls.factor

            @staticmethod
            def add(y):
                return y + 1

            @property
            def seven(self):
                return 7

        return Tool.make(x) + Tool.add(x) + Tool().seven

    return f, [(ONE,), (ONE,)]


@whole
def test_a_decorator_on_a_class_made_inside():
    def mark(cls):
        cls.marked = 5
        return cls

    def f(x):
        @mark
        class Box:
            pass

        return x + Box.marked

    return f, [(ONE,), (ONE,)]


@whole
def test_a_dataclass_made_inside():
    def f(x):
        @dataclasses.dataclass
        class Pair:
            a: typing.Any
            b: int = 2

        p = Pair(x)
        return p.a * p.b

    return f, [(ONE,), (ONE,)]


@whole
def test_a_namedtuple_made_inside():
    def f(x):
        Point = collections.namedtuple("Point", "a b")
        p = Point(x, x + 1)
        return p.a * p.b

    return f, [(ONE,), (ONE,)]


@whole
def test_an_exception_class_made_inside():
    def f(x):
        class Stop(Exception):
            pass

        try:
            raise Stop(3)
        except Stop as error:
            return x + error.args[0]

    return f, [(ONE,), (ONE,)]


@whole
def test_a_context_manager_class_made_inside():
    def f(x):
        log = []

        class Manager:
            def __enter__(self):
                log.append("in")
                return self

            def __exit__(self, *_):
                log.append("out")

        with Manager():
            y = x * 2
        return y, log

    return f, [(ONE,), (ONE,)]


@whole
def test_operators_of_a_class_made_inside():
    def f(x):
        class V:
            def __init__(self, v):
                self.v = v

            def __add__(self, other):
                return V(self.v + other.v)

            def __len__(self):
                return 4

            def __getitem__(self, i):
                return self.v * i

            def __call__(self, y):
                return self.v - y

            def __bool__(self):
                return False

        a = V(x) + V(x * 2)
        return a(x) + len(a) + a[3], bool(a)

    return f, [(ONE,), (ONE,)]


@whole
def test_a_loop_and_a_comprehension_in_a_class_body():
    def f(x):
        class Table:
            rows = [i * 2 for i in range(3)]
            total = 0
            for r in (1, 2, 3):
                total += r
            if total > 5:
                kind = "big"

        return x * Table.total + Table.rows[2], Table.kind

    return f, [(ONE,), (ONE,)]


@program
def test_a_class_made_inside_with_keyword_and_init_subclass():
    class Base:
        seen = []

        def __init_subclass__(cls, tag=None, **kw):
            super().__init_subclass__(**kw)
            cls.tag = tag

    def f(x):
        class Mine(Base, tag=4):
            pass

        return x * Mine.tag

    return f, [(ONE,), (ONE,)]


@program
def test_exception_classes_of_the_function_that_call_super():
    def f(x):
        class Base(Exception):
            def __init__(self, a, *, b=None):
                super().__init__(a)
                self.b = b

            def __str__(self):
                return f"{self.args[0]}:{self.b}"

        class Derived(Base, KeyError):
            pass

        try:
            raise Derived(3, b=x.shape[0])
        except LookupError as e:
            return x + 1, str(e), e.args, isinstance(e, Base)

    return f, [(torch.ones(2),), (torch.ones(3),)]
