"""Operators and protocols that a user's class defines: which are asked, in which order, with what result."""

import abc
import types
import weakref

import torch
from harness import program


@program
def test_arithmetic_operators():
    class V:
        def __init__(self, n):
            self.n = n

        def __add__(self, o):
            return V(self.n + (o.n if isinstance(o, V) else o))

        __radd__ = __add__

        def __mul__(self, o):
            return NotImplemented if isinstance(o, str) else V(self.n * o)

        def __matmul__(self, o):
            return ("@", self.n, o)

        def __iadd__(self, o):
            self.n += o
            return self

        def __neg__(self):
            return V(-self.n)

        def __abs__(self):
            return abs(self.n)

        def __pow__(self, e, m=None):
            return (e, m)

        def __rsub__(self, o):
            return ("rsub", o)

        def __getitem__(self, k):
            return k

        def __setitem__(self, k, v):
            self.n = (k, v)

        def __int__(self):
            return 7

        def __index__(self):
            return 1

        def __bool__(self):
            return self.n != 0

        def __invert__(self):
            return "~"

        def __divmod__(self, o):
            return "dm"

        def __round__(self, d=0):
            return ("round", d)

    def f(x, n):
        a = V(n)
        b = a
        b += 5
        c = a + 1
        out = [
            c.n,
            (2 + a).n,
            (a * 3).n,
            a @ 1,
            (-a).n,
            abs(V(-2)),
            a**2,
            pow(a, 2, 3),
            1 - a,
            a[1:2, ...],
            int(a),
            [4, 5][a],
            bool(V(0)),
            ~a,
            divmod(a, 1),
            round(a, 2),
            b is a,
            sum([V(1), V(2)]).n,
        ]
        try:
            a * "s"
        except TypeError as e:
            out.append(str(e))
        a["k"] = n
        return x, out, a.n, x * int(c)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_reflected_operator_of_a_subclass_goes_first():
    class A:
        def __add__(self, o):
            return "A.add"

        def __eq__(self, o):
            return "A.eq"

        def __lt__(self, o):
            return "A.lt"

    class B(A):
        def __radd__(self, o):
            return "B.radd"

        def __eq__(self, o):
            return "B.eq"

        def __gt__(self, o):
            return "B.gt"

    def f(x):
        return x, A() + B(), B() + A(), A() == B(), A() < B(), 1 + B(), 1 == A(), A() != B()

    return f, [(torch.ones(1),)]


@program
def test_operators_with_tensors_on_either_side():
    class Scaled:
        def __init__(self, k):
            self.k = k

        def __mul__(self, t):
            return t * self.k

        def __rmul__(self, t):
            return t * self.k + 1

        __array_priority__ = 1000

    def f(x):
        return Scaled(2) * x, 3 * Scaled(2)

    return f, [(torch.ones(2),)]


@program
def test_comparison_and_hash():
    class V:
        def __init__(self, n):
            self.n = n

        def __eq__(self, o):
            return isinstance(o, V) and self.n == o.n

        def __lt__(self, o):
            return self.n < o.n

        def __hash__(self):
            return hash(self.n)

        def __repr__(self):
            return f"V{self.n}"

    def f(x, n):
        vs = [V(3), V(n), V(1)]
        return (
            x,
            sorted(vs),
            min(vs),
            max(vs),
            {V(1), V(1), V(n)} == {V(n), V(1)},
            V(1) != V(n),
            V(n) in vs,
            vs.index(V(n)),
            V(2) > V(n),
            len({v: v.n for v in vs}),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_iteration_and_call_protocols():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for k in range(self.n):
                yield k

        def __len__(self):
            return self.n

        def __reversed__(self):
            return iter("rev")

        def __call__(self, x, *more, k=1):
            return x * k + len(more)

        def __contains__(self, v):
            return v == "in"

    class Steps:
        def __init__(self):
            self.k = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.k += 1
            if self.k > 3:
                raise StopIteration
            return self.k

    def f(x, n):
        c, s = Count(n), Steps()
        a, *b = s
        return (
            c(x, 1, 2, k=n),
            list(c),
            len(c),
            list(reversed(c)),
            "in" in c,
            0 in c,
            a,
            b,
            s.k,
            [*c],
            dict(zip(c, "abc")),
            bool(Count(0)),
            callable(c),
            next(iter(c), "none"),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 3)]


@program
def test_what_hash_and_len_make_of_what_the_methods_return():
    class Own:
        def __init__(self, value):
            self.value = value

        def __hash__(self):
            return self.value

        def __len__(self):
            return self.value

        def __bool__(self):
            return self.value

    def f(x, value):
        own = Own(value)
        found = []
        for ask in (hash, len, bool):
            try:
                found.append(ask(own))
            except (TypeError, ValueError, OverflowError) as error:
                found.append((type(error), str(error)))
        return found, x + 1

    return f, [(torch.ones(2), value) for value in (3, -1, 2**80, True, "no", 1.5)]


@program
def test_the_order_in_which_operators_are_asked():
    import abc

    said = []

    def asked(name, answer=NotImplemented):
        def method(self, other):
            said.append(f"{type(self).__name__}.{name}")
            return answer

        return method

    class Eq:
        __eq__ = asked("__eq__", True)
        __hash__ = None

    class Ne:
        __eq__ = asked("__eq__")
        __ne__ = asked("__ne__")
        __hash__ = None

    class Base:
        __add__ = asked("__add__")
        __radd__ = asked("__radd__")
        __lt__ = asked("__lt__")
        __gt__ = asked("__gt__")

    class Same(Base):
        pass

    class Own(Base):
        __radd__ = asked("own __radd__")

    class Abstract(abc.ABC):
        __eq__ = asked("__eq__")
        __hash__ = None

    class Registered:
        __eq__ = asked("__eq__")
        __hash__ = None

    Abstract.register(Registered)

    def f(x, call, a, b):
        said.clear()
        try:
            result = call(a, b)
        except TypeError as e:
            result = str(e)
        return x + 1, result, list(said)

    import operator

    calls = [
        *((operator.ne, a, b) for a in (Eq(), Ne(), 1) for b in (Eq(), Ne())),
        *((op, Base(), b) for op in (operator.add, operator.lt) for b in (Same(), Own(), Base())),
        (operator.eq, Abstract(), Registered()),
        (operator.eq, Registered(), Abstract()),
    ]
    return f, [(torch.ones(2), *call) for call in calls]


@program
def test_protocols_that_can_and_cannot_be_asked():
    import typing

    class Unasked(typing.Protocol):
        def method(self): ...

    @typing.runtime_checkable
    class Methods(typing.Protocol):
        def method(self): ...

    @typing.runtime_checkable
    class Data(typing.Protocol):
        y: int

    class Thing:
        def __init__(self):
            self.y = 1

        def method(self):
            pass

    def f(x, protocol, ask):
        @typing.runtime_checkable
        class Own(typing.Protocol):
            def method(self): ...

        said = [isinstance(Thing(), Own), isinstance(3, Own)]
        try:
            said.append(isinstance(Thing(), protocol) if ask == "instance" else issubclass(Thing, protocol))
        except TypeError as e:
            said.append(str(e))
        return x + 1, said

    return f, [(torch.ones(2), p, ask) for p in (Unasked, Methods, Data) for ask in ("instance", "class")]
