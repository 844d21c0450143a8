"""Objects of the user: attributes, properties, descriptors, hooks and their dictionaries."""

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
def test_weak_references():
    class C:
        pass

    c = C()
    r = weakref.ref(c)

    def f(x):
        return x, r() is c, weakref.ref(c)() is c

    return f, [(torch.ones(1),)]


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
def test_the_dictionary_of_an_object_is_one_object():
    class Plain:
        pass

    def f(x):
        p = Plain()
        d = p.__dict__
        d["a"] = 1
        return x + 1, vars(p) is p.__dict__, d is vars(p), p

    return f, [(torch.ones(2),)]
