"""Classes of the user: attributes, descriptors, operators, protocols, inheritance, construction."""

import abc
import types
import weakref

import torch
from harness import program

ONE = torch.ones(2)


@program
def test_property_with_side_effects():
    class C:
        def __init__(self):
            self.log, self._v = [], 1

        @property
        def v(self):
            self.log.append("get")
            return self._v

        @v.setter
        def v(self, new):
            self.log.append(("set", new))
            self._v = new

        @v.deleter
        def v(self):
            self._v = None

    c = C()

    def f(x, n):
        c.v = n
        c.v += 1
        y = x * c.v
        del c.v
        return y, c.v

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_descriptors():
    class Data:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            return self if obj is None else getattr(obj, self.name, 0) + 1

        def __set__(self, obj, v):
            setattr(obj, self.name, v * 2)

    class Lazy:
        def __get__(self, obj, owner=None):
            obj.__dict__["lazy"] = "stored"
            return "computed"

    class C:
        d = Data()
        lazy = Lazy()

    def f(x, n):
        c = C()
        first = c.d
        c.d = n
        return x * c.d, first, c.lazy, c.lazy, vars(c), type(C.d).__name__

    return f, [(torch.ones(1), 3), (torch.ones(1), 4)]


@program
def test_getattr_setattr_delattr_hooks():
    class C:
        def __init__(self):
            object.__setattr__(self, "log", [])

        def __getattr__(self, name):
            self.log.append(("get", name))
            if name.startswith("no"):
                raise AttributeError(name)
            return len(name)

        def __setattr__(self, name, value):
            self.log.append(("set", name))
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            self.log.append(("del", name))
            object.__delattr__(self, name)

    def f(x):
        c = C()
        c.a = x
        c.a = c.a + c.ghost
        b = hasattr(c, "nothing"), getattr(c, "none", 5), getattr(c, "yes", 5)
        del c.a
        return c, b, c.a

    return f, [(torch.ones(1),)]


@program
def test_getattribute_override():
    class C:
        k = 2

        def __getattribute__(self, name):
            if name == "made":
                return 9
            return object.__getattribute__(self, name)

        def go(self):
            return self.made + self.k

    def f(x):
        return x * C().go(), C().made

    return f, [(torch.ones(1),)]


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
def test_bound_methods_are_values():
    class C:
        def __init__(self, k):
            self.k = k

        def go(self, x):
            return x * self.k

    c = C(2)

    def f(x, m):
        table = {"go": c.go, "fn": C.go}
        own = c.go
        c.k += 1
        return (
            own(x),
            table["fn"](c, x),
            m(x),
            own == c.go,
            own is c.go,
            own.__self__ is c,
            own.__func__ is C.go,
            own.__name__,
            types.MethodType(C.go, c)(x),
        )

    return f, [(torch.ones(1), c.go)] * 2


@program
def test_object_argument_is_changed():
    class State:
        def __init__(self):
            self.n, self.items, self.t = 0, [], torch.zeros(1)

    s = State()

    def f(x, s):
        s.n += 1
        s.items.append(s.n)
        s.t = s.t + x
        s.new = {"n": s.n}
        s.__dict__["direct"] = s.n
        if hasattr(s, "gone"):
            del s.gone
        else:
            s.gone = 1
        return s.t * s.n, s.new["n"]

    return f, [(torch.ones(1), s)] * 3


@program
def test_two_objects_of_one_class():
    class C:
        def __init__(self, k):
            self.k = k

    def f(x, a, b):
        a.k, b.k = b.k, a.k
        return x * a.k - b.k, a is b

    c, d = C(1), C(2)
    return f, [(torch.ones(1), c, d), (torch.ones(1), d, c), (torch.ones(1), c, c)]


@program
def test_namespace_vars_and_dir():
    def f(x, n):
        o = types.SimpleNamespace(a=n)
        o.b = x
        d = vars(o)
        d["c"] = 3
        return (
            o,
            o.c,
            sorted(d),
            o == types.SimpleNamespace(a=n),
            repr(types.SimpleNamespace(q=n)),
            [k for k in dir(o) if len(k) == 1],
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


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
def test_weak_references():
    class C:
        pass

    c = C()
    r = weakref.ref(c)

    def f(x):
        return x, r() is c, weakref.ref(c)() is c

    return f, [(torch.ones(1),)]


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
def test_attributes_that_were_made_and_deleted_again():
    class Plain:
        k = 5

    class Telling:
        def __delattr__(self, name):
            print("del", name)
            object.__delattr__(self, name)

    class Slotted:
        __slots__ = ("a",)

    def f(x, plain, telling, slotted):
        plain.t = 1
        del plain.t
        plain.k = 2
        mine = plain.k
        del plain.k
        telling.z = 3
        del telling.z
        telling.y = 1
        del telling.y
        telling.y = 2
        slotted.a = 1
        del slotted.a
        Plain.new = 3
        del Plain.new
        return x * mine + plain.k, hasattr(plain, "t"), telling.y, hasattr(slotted, "a"), hasattr(Plain, "new")

    return f, [(ONE, Plain(), Telling(), Slotted()), (ONE, Plain(), Telling(), Slotted())]


@program
def test_the_dictionary_of_a_namespace():
    def f(x, ns):
        ns.a += 1
        ns.new = x
        other = types.SimpleNamespace(**vars(ns))
        other.a = 100
        del other.new
        return (
            x * ns.a,
            ns,
            other,
            list(vars(ns)),
            vars(other),
            vars(other).keys() <= vars(ns).keys(),
            "new" in vars(ns),
        )

    return f, [(ONE, types.SimpleNamespace(a=1)), (ONE, types.SimpleNamespace(a=2, b="z"))]


@program
def test_a_getattribute_that_counts():
    class Counting:
        reads = 0

        def __init__(self):
            self.v = 1
            self.w = [1]

        def __getattribute__(self, name):
            Counting.reads += 1
            return object.__getattribute__(self, name)

    class Slotted:
        __slots__ = ("v",)
        reads = 0

        def __getattribute__(self, name):
            Slotted.reads += 1
            return object.__getattribute__(self, name)

    def f(x, counting, slotted):
        slotted.v = 3
        y = x * counting.v + counting.v + slotted.v
        counting.w.append(2)
        counting.z = 5
        print("between")
        return y, Counting.reads, Slotted.reads, counting.z, len(counting.w), slotted.v

    calls = [(ONE, Counting(), Slotted()), (ONE, Counting(), Slotted())]
    Counting.reads = Slotted.reads = 0
    return f, calls


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
def test_the_dictionary_of_an_object_is_one_object():
    class Plain:
        pass

    def f(x):
        p = Plain()
        d = p.__dict__
        d["a"] = 1
        return x + 1, vars(p) is p.__dict__, d is vars(p), p

    return f, [(torch.ones(2),)]


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
