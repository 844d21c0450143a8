"""Classes as they are made and inherited: construction, super, metaclass hooks, slots, what counts as an instance."""

import abc
import types
import weakref

import torch
from harness import program

ONE = torch.ones(2)


@program
def test_inheritance_and_super():
    class A:
        tag = "A"

        def __init__(self, k):
            self.k = k

        def go(self, x):
            return x + self.k

        @classmethod
        def make(cls, k):
            return cls(k)

        @staticmethod
        def twice(v):
            return v * 2

    class B(A):
        tag = "B"

        def go(self, x):
            return super().go(x) * 2

        @classmethod
        def make(cls, k):
            return super().make(k + 1)

    class M:
        def go(self, x):
            return super().go(x) - 1

        def who(self):
            return __class__.__name__, type(self).__name__

    class C(M, B):
        def __init__(self, k):
            super().__init__(k=k)
            self.own = self.tag + super().tag

    def f(x, k):
        c = C.make(k)
        return (
            c.go(x),
            c.own,
            c.k,
            c.who(),
            isinstance(c, A),
            issubclass(C, (int, M)),
            [q.__name__ for q in C.__mro__],
            C.twice(x),
            super(C, c).go(x),
            A.go(c, x),
            c.__class__ is C,
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_new_init_and_singletons():
    class S:
        one = None

        def __new__(cls, *a):
            if cls.one is None:
                cls.one = super().__new__(cls)
                cls.one.made = 0
            return cls.one

        def __init__(self, n):
            self.made += n

    class N(int):
        def __new__(cls, v):
            self = super().__new__(cls, v * 2)
            self.note = v
            return self

    def f(x, n):
        return x * S(n).made, S(1) is S(2), N(n), N(n).note, N(n) + 1

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_slots():
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a

    def f(x, n):
        p = P(n)
        out = [p.a, hasattr(p, "b"), hasattr(p, "__dict__")]
        p.b = x
        for bad in ("c", "a"):
            try:
                setattr(p, bad, 1)
            except AttributeError as e:
                out.append(type(e).__name__)
        return p, out, p.b * p.a

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_abstract_and_init_subclass():
    registry = []

    class Base(abc.ABC):
        def __init_subclass__(cls, tag="none", **kw):
            super().__init_subclass__(**kw)
            registry.append((cls.__name__, tag))

        @abc.abstractmethod
        def go(self, x): ...

    class Real(Base, tag="real"):
        def go(self, x):
            return x + 1

    def f(x):
        try:
            Base()
        except TypeError as e:
            said = type(e).__name__
        return Real().go(x), said, list(registry), isinstance(Real(), Base)

    return f, [(torch.ones(1),)]


@program
def test_type_tricks():
    class A:
        pass

    def f(x, v):
        T = type("T", (A,), {"k": 1, "go": lambda self, q: q + self.k})
        return (x, type(v).__name__, type(v) is int, isinstance(v, (int, str)), isinstance(v, int | None), T().go(x), T.__name__, issubclass(T, A), type(A()).__name__,
                isinstance(A, type), callable(A), type(None).__name__, type(x) is torch.Tensor, isinstance(x, torch.Tensor), type(type(v)).__name__)  # fmt: skip

    return f, [(torch.ones(1), 1), (torch.ones(1), "s"), (torch.ones(1), None)]


@program
def test_instancecheck_hook():
    class Meta(type):
        def __instancecheck__(cls, v):
            return v == 3

        def __call__(cls, *a):
            made = super().__call__(*a)
            made.by = "meta"
            return made

        def __getitem__(cls, k):
            return f"item {k}"

        def __iter__(cls):
            return iter([1, 2])

        def __len__(cls):
            return 4

    class C(metaclass=Meta):
        pass

    def f(x, n):
        return x, isinstance(n, C), C().by, C[n], list(C), len(C)

    return f, [(torch.ones(1), 3), (torch.ones(1), 4)]


@program
def test_class_made_at_every_call():
    def f(x, n):
        class In:
            items = []
            k = n

            def add(self, v):
                self.items.append(v)
                return self.k

        a, b = In(), In()
        a.add(1)
        return x * b.add(2), In.items, a.items is b.items, a

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_objects_that_say_they_are_of_another_class():
    class Proxy:
        def __init__(self, inner):
            object.__setattr__(self, "inner", inner)

        @property
        def __class__(self):
            return torch.Tensor

        def __getattr__(self, name):
            return getattr(self.inner, name)

    def f(x, p):
        return x + p.sum(), isinstance(p, torch.Tensor), type(p).__name__, p.__class__ is torch.Tensor, p.shape

    return f, [(ONE, Proxy(ONE)), (torch.ones(3), Proxy(torch.ones(3)))]


@program
def test_init_that_returns_something():
    class C:
        def __init__(self, value):
            self.value = value
            return value

    def f(x, value):
        try:
            return C(value).value, x
        except TypeError as e:
            return str(e), x + 1

    return f, [(torch.ones(1), None), (torch.ones(1), 1), (torch.ones(1), "a"), (torch.ones(1), torch.ones(2))]


@program
def test_functions_made_in_the_function_keep_their_annotations():
    import functools

    def f(x):
        def annotated(a: int, b: "str" = "x") -> float:
            return a

        @functools.wraps(annotated)
        def wrapped(*args):
            return annotated(*args)

        def bare():
            pass

        return x + 1, annotated.__annotations__, annotated, wrapped, wrapped.__annotations__, bare.__annotations__

    return f, [(torch.ones(2),)]


@program
def test_a_group_of_exceptions_has_the_narrower_class():
    def f(x):
        groups = [BaseExceptionGroup("a", [ValueError(1)]), BaseExceptionGroup("b", [KeyboardInterrupt()])]
        return x + 1, [type(group).__name__ for group in groups]

    return f, [(torch.ones(2),)]


@program
def test_a_class_that_decides_by_itself_what_its_subclasses_are():
    import abc

    class Shaped(abc.ABC):
        asked = []

        @classmethod
        def __subclasshook__(cls, other):
            cls.asked.append(other.__name__)
            return hasattr(other, "shape")

    class Thing:
        shape = ()

    def f(x):
        return x + 1, isinstance(Thing(), Shaped), issubclass(int, Shaped), Shaped.asked

    return f, [(torch.ones(2),)]
