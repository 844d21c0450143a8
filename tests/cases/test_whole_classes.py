"""Classes of every kind, made outside and inside a compiled function: all of it is captured in one graph."""

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


# -- classes that exist -------------------------------------------------------------------------------------------
@whole
def test_dataclass_features():
    @dataclasses.dataclass
    class Config:
        width: int = 2
        names: list = dataclasses.field(default_factory=list)
        extra: dict = dataclasses.field(default_factory=dict)

        def __post_init__(self):
            self.area = self.width * 2

    def f(x):
        c = Config(3)
        c.names.append("a")
        d = dataclasses.replace(c, width=5)
        return x * c.area + d.area + len(c.names), c == d, d

    return f, [(ONE,), (ONE,)]


@whole
def test_a_frozen_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Point:
        a: int
        b: int = 3

    def f(x):
        p = Point(1)
        try:
            p.a = 3
        except dataclasses.FrozenInstanceError:
            x = x + 10
        return x * p.b + p.a

    return f, [(ONE,), (ONE,)]


@whole
def test_a_frozen_dataclass_as_a_dictionary_key():
    @dataclasses.dataclass(frozen=True)
    class Key:
        a: int
        b: str = "k"

    def f(x):
        table = {Key(1): 3, Key(2): 5}
        return x * table[Key(2)], Key(3) in table

    return f, [(ONE,), (ONE,)]


@whole
def test_dataclass_asdict_astuple_and_fields():
    @dataclasses.dataclass
    class Inner:
        v: int

    @dataclasses.dataclass
    class Outer:
        inner: Inner
        items: list

    def f(x):
        o = Outer(Inner(2), [1, 2])
        d = dataclasses.asdict(o)
        names = [field.name for field in dataclasses.fields(o)]
        return x * d["inner"]["v"], d, dataclasses.astuple(o), names, dataclasses.is_dataclass(o)

    return f, [(ONE,), (ONE,)]


@whole
def test_a_dataclass_with_slots_and_order():
    @dataclasses.dataclass(slots=True, order=True)
    class P:
        a: int
        b: int

    def f(x):
        best = max(P(1, 5), P(2, 0))
        return x * best.a, P(1, 2) < P(1, 3), sorted([P(2, 1), P(1, 1)])

    return f, [(ONE,), (ONE,)]


@whole
def test_a_dataclass_with_kw_only_and_initvar():
    @dataclasses.dataclass(kw_only=True)
    class P:
        a: int
        scale: dataclasses.InitVar[int] = 2

        def __post_init__(self, scale):
            self.b = self.a * scale

    def f(x):
        return x * P(a=3).b + P(a=1, scale=5).b

    return f, [(ONE,), (ONE,)]


@whole
def test_the_repr_of_a_dataclass():
    @dataclasses.dataclass
    class P:
        a: int
        b: str

    def f(x):
        return x + 1, repr(P(1, "z")), f"{P(2, 'y')}"

    return f, [(ONE,), (ONE,)]


@whole
def test_typing_namedtuple():
    class Point(typing.NamedTuple):
        a: typing.Any
        b: int = 3

        def total(self):
            return self.a * self.b

    def f(x):
        p = Point(x)
        q = p._replace(b=7)
        a, b = q
        return p.total() + q.total() + b, q._asdict(), Point._fields, Point._make([x, 2])

    return f, [(ONE,), (ONE,)]


@whole
def test_enum_members():
    class Mode(enum.Enum):
        ADD = 1
        MUL = 2

        @property
        def twice(self):
            return self.value * 2

        def apply(self, y):
            return y + 1 if self is Mode.ADD else y * 3

    def f(x, mode):
        by_value = Mode(2)
        names = [m.name for m in Mode]
        return mode.apply(x) + by_value.twice, names, mode == Mode.ADD, mode.value, Mode["MUL"] is by_value, mode

    return f, [(ONE, Mode.ADD), (ONE, Mode.MUL)]


@whole
def test_int_enum_and_auto():
    class Level(enum.IntEnum):
        LOW = enum.auto()
        HIGH = enum.auto()

    def f(x, level):
        return x * level + Level.HIGH, level < Level.HIGH, level + 1, Level.LOW == 1, int(level)

    return f, [(ONE, Level.LOW), (ONE, Level.HIGH)]


@whole
def test_flag():
    class Bits(enum.Flag):
        A = 1
        B = 2
        C = 4

    def f(x, bits):
        both = Bits.A | Bits.B
        if both & bits:
            x = x + 1
        if Bits.C in (bits | Bits.C):
            x = x * 2
        return x, both, bits ^ Bits.A, ~bits, bool(bits & Bits.C), both.value

    return f, [(ONE, Bits.A), (ONE, Bits.C)]


@whole
def test_str_enum_in_match_and_dict():
    class Kind(str, enum.Enum):
        LEFT = "left"
        RIGHT = "right"

    def f(x, kind):
        table = {Kind.LEFT: 2, Kind.RIGHT: 3}
        match kind:
            case Kind.LEFT:
                x = x + 1
            case Kind.RIGHT:
                x = x - 1
        return x * table[kind], kind == "left", kind.upper()

    return f, [(ONE, Kind.LEFT), (ONE, Kind.RIGHT)]


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
def test_cached_property():
    class Box:
        def __init__(self, v):
            self.v = v
            self.calls = 0

        @functools.cached_property
        def heavy(self):
            self.calls += 1
            return self.v * 2

    def f(x):
        b = Box(x)
        return b.heavy + b.heavy, b.calls

    return f, [(ONE,), (ONE,)]


@whole
def test_total_ordering():
    @functools.total_ordering
    class V:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return self.v == other.v

        def __lt__(self, other):
            return self.v < other.v

    def f(x):
        return x * max(V(1), V(4), V(2)).v, V(1) >= V(1), V(2) > V(1), V(1) <= V(0)

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


@program
def test_subclasses_of_list_dict_and_tuple():
    class Items(list):
        def total(self):
            return sum(self)

    class Table(dict):
        def __missing__(self, key):
            return 7

    def f(x):
        items = Items([1, 2])
        items.append(3)
        t = Table(a=1)
        return x * items.total() + t["a"] + t["zz"], len(items)

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
def test_singledispatch():
    @functools.singledispatch
    def show(value, x):
        return x

    @show.register
    def _(value: int, x):
        return x * value

    @show.register(str)
    def _(value, x):
        return x + len(value)

    def f(x):
        return show(3, x) + show("ab", x) + show(1.5, x)

    return f, [(ONE,), (ONE,)]


@whole
def test_singledispatchmethod_and_partialmethod():
    class P:
        def power(self, x, n):
            return x**n

        square = functools.partialmethod(power, n=2)

    def f(x):
        return P().square(x * 2)

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
