"""Protocols of classes that exist (descriptors, hooks, super, operators, metaclasses): captured in one graph."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

from harness import program, torch, whole

ONE = torch.ones(3)


# -- classes that exist -------------------------------------------------------------------------------------------


@whole
def test_a_descriptor_in_python():
    class Scaled:
        def __init__(self, k):
            self.k = k

        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            if obj is None:
                return self.k
            return getattr(obj, self.name) * self.k

        def __set__(self, obj, value):
            setattr(obj, self.name, value)

    class Box:
        a = Scaled(3)

    def f(x):
        b = Box()
        b.a = x
        return b.a + Box.a

    return f, [(ONE,), (ONE,)]


@whole
def test_getattr_and_setattr_hooks():
    class Proxy:
        def __init__(self, inner):
            object.__setattr__(self, "inner", inner)

        def __getattr__(self, name):
            if name.startswith("x_"):
                return self.inner[name[2:]]
            raise AttributeError(name)

        def __setattr__(self, name, value):
            self.inner[name] = value

    def f(x):
        p = Proxy({"a": x})
        p.b = 3
        return p.x_a * p.x_b, hasattr(p, "zzz")

    return f, [(ONE,), (ONE,)]


@whole
def test_getattribute_in_python():
    class Loud:
        def __init__(self):
            self.v = 2

        def __getattribute__(self, name):
            if name == "w":
                return 5
            return object.__getattribute__(self, name)

    def f(x):
        loud = Loud()
        return x * loud.v + loud.w

    return f, [(ONE,), (ONE,)]


@whole
def test_forms_of_super():
    class A:
        def run(self, x):
            return x + 1

        @classmethod
        def make(cls, x):
            return x * 2

        @staticmethod
        def plain(x):
            return x - 1

        @property
        def value(self):
            return 4

    class B(A):
        def run(self, x):
            return super(B, self).run(x) * 2

        @classmethod
        def make(cls, x):
            return super().make(x) + 1

        @staticmethod
        def plain(x):
            return super(B, B).plain(x) * 3

        @property
        def value(self):
            return super().value + 1

    def f(x):
        b = B()
        return b.run(x) + B.make(x) + b.plain(x) + b.value

    return f, [(ONE,), (ONE,)]


@whole
def test_diamond_inheritance():
    class Root:
        def run(self, x):
            return x + 1

    class L(Root):
        def run(self, x):
            return super().run(x) * 2

    class R(Root):
        def run(self, x):
            return super().run(x) - 3

    class Both(L, R):
        def run(self, x):
            return super().run(x) + 10

    def f(x):
        return Both().run(x), [c.__name__ for c in Both.__mro__]

    return f, [(ONE,), (ONE,)]


@whole
def test_an_abstract_base_class():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

        def double(self):
            return self.area() * 2

    class Square(Shape):
        def __init__(self, a):
            self.a = a

        def area(self):
            return self.a * self.a

    def f(x):
        return Square(x).double(), isinstance(Square(x), Shape)

    return f, [(ONE,), (ONE,)]


@whole
def test_slots():
    class S:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a

    def f(x):
        s = S(x)
        s.b = 2
        had = hasattr(s, "b")
        del s.b
        return s.a * 2, had, hasattr(s, "b")

    return f, [(ONE,), (ONE,)]


@whole
def test_properties_with_setter_and_deleter():
    class P:
        def __init__(self):
            self._v = 1

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * 2

        @v.deleter
        def v(self):
            self._v = -1

    def f(x):
        p = P()
        p.v = 4
        a = p.v
        del p.v
        return x * a + p.v

    return f, [(ONE,), (ONE,)]


@whole
def test_dict_and_vars_of_an_object():
    class P:
        def __init__(self):
            self.a = 1
            self.b = 2

    def f(x):
        p = P()
        return x * sum(p.__dict__.values()), list(vars(p)), p.__class__.__name__

    return f, [(ONE,), (ONE,)]


@whole
def test_class_getitem_and_generic():
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        def __init__(self, v):
            self.v = v

    def f(x):
        return Box[int](x).v + Box(x).v

    return f, [(ONE,), (ONE,)]


@whole
def test_new_in_python():
    class Single:
        def __new__(cls, *args):
            made = super().__new__(cls)
            made.tag = len(args)
            return made

        def __init__(self, v):
            self.v = v

    def f(x):
        s = Single(x)
        return s.v * s.tag

    return f, [(ONE,), (ONE,)]


@whole
def test_metaclass_call_and_attributes():
    class Meta(type):
        @property
        def size(cls):
            return 3

        def __len__(cls):
            return 2

        def __contains__(cls, item):
            return item == 4

    class Thing(metaclass=Meta):
        pass

    def f(x):
        return x * Thing.size + len(Thing), 4 in Thing

    return f, [(ONE,), (ONE,)]


@whole
def test_iteration_protocol_of_a_class():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for i in range(self.n):
                yield i

    class Seq:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i >= 3:
                raise IndexError
            return i + 1

    def f(x):
        for i in Count(3):
            x = x + i
        for i in Seq():
            x = x * i
        return x, 2 in Seq(), list(reversed(Seq()))

    return f, [(ONE,), (ONE,)]


@whole
def test_hash_and_eq_in_python():
    class Key:
        def __init__(self, a):
            self.a = a

        def __eq__(self, other):
            return isinstance(other, Key) and self.a == other.a

        def __hash__(self):
            return hash(self.a)

    def f(x):
        table = {Key(1): 2}
        table[Key(1)] = 5
        return x * table[Key(1)], len(table), Key(1) in table

    return f, [(ONE,), (ONE,)]


@whole
def test_format_and_str_in_python():
    class P:
        def __init__(self, a):
            self.a = a

        def __repr__(self):
            return f"P({self.a!r})"

        def __format__(self, spec):
            return f"<{self.a:{spec}}>"

    def f(x):
        return x + 1, str(P(1)), f"{P(2):>4}", "%s" % P(3), "{}".format(P(4)), f"{[1]!s:>5}"

    return f, [(ONE,), (ONE,)]
