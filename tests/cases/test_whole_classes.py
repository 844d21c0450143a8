"""Dataclasses, enums, tuples with names and other classes that exist: captured in one graph."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

from harness import program, torch, whole

ONE = torch.ones(3)


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
def test_an_enum_that_says_what_name_and_value_are():
    class Says(enum.Enum):
        ONE = 1

        @property
        def name(self):
            return f"my {self._name_}"

        @property
        def value(self):
            return ("my", self._value_)

    class Above(enum.Enum):
        @property
        def name(self):
            return "above"

    class Below(Above):
        ONE = 1

    def f(x):
        return Says.ONE.name, Says.ONE.value, Says.ONE._value_, Below.ONE.name, Below.ONE.value, x + 1

    return f, [(ONE,)]


@program
def test_an_enum_with_members_called_name_and_value():
    class Members(enum.Enum):
        name = 1
        value = 2
        other = 3

    def f(x):
        return Members.name, Members.value, Members.other._value_, Members.other.name, x + 1

    return f, [(ONE,)]


@program
def test_a_cached_property_under_another_name():
    class Cached:
        @functools.cached_property
        def first(self):
            return object()

    class Below(Cached):
        pass

    Below.second = Cached.__dict__["first"]

    class Nowhere:
        __slots__ = ()

        @functools.cached_property
        def first(self):
            return 1

    class Nameless:
        pass

    Nameless.first = functools.cached_property(lambda self: 5)
    held = Below()

    def f(x):
        told = []
        for o in (held, Below()):
            told += [o.second is o.first, sorted(o.__dict__)]
        for wrong in (Nowhere, Nameless):
            try:
                told.append(wrong().first)
            except TypeError as error:
                told += error.args
        return told, x + 1

    return f, [(ONE,)] * 2


def called(fn, *args, **kwargs):
    try:
        return type(fn(*args, **kwargs)).__name__
    except TypeError as error:
        return error.args


@program
def test_arguments_that_object_refuses():
    class Base:
        pass

    class Init(Base):
        def __init__(self, *args):
            super().__init__(*args)

    class New(Base):
        def __new__(cls, *args):
            return super().__new__(cls)

        def again(self, *args):
            super().__init__(*args)

    class NewPasses(Base):
        def __new__(cls, *args, **kwargs):
            return super().__new__(cls, *args, **kwargs)

    class Both(Base):
        def __new__(cls, *args):
            return super().__new__(cls)

        def __init__(self, *args):
            super().__init__(*args)

    class Again(Base):
        def again(self, *args, **kwargs):
            object.__init__(self, *args, **kwargs)

    class Partial:
        __init__ = functools.partialmethod(lambda self, k: setattr(self, "k", k), 3)

    def f(x):
        told = [called(cls, *args) for cls in (Base, Init, New, NewPasses, Both, object) for args in ((), (1,))]
        told += [called(NewPasses, k=1), called(New(1).again, 1), called(New(1).again)]
        told += [called(Again().again, 1), called(Again().again, k=1), called(Again().again), Partial().k]
        return told, x + 1

    return f, [(ONE,)] * 2


@program
def test_keywords_that_object_refuses_for_subclasses():
    class Base:
        pass

    def f(x):
        try:

            class Below(Base, tag=1):
                pass

        except TypeError as error:
            return error.args, x + 1
        return Below, x

    return f, [(ONE,)]


@program
def test_new_gives_an_instance_of_a_subclass():
    class Shape:
        def __new__(cls, kind):
            return object.__new__(Circle if kind == "circle" else cls)

        def __init__(self, kind):
            self.made = ("shape", kind)

    class Circle(Shape):
        def __init__(self, kind):
            self.made = ("circle", kind)

    def f(x):
        made = Shape("circle"), Shape("square")
        return [(type(shape).__name__, shape.made) for shape in made], x + 1

    return f, [(ONE,)]


@program
def test_new_of_an_abstract_class():
    class Base(abc.ABC):
        @abc.abstractmethod
        def m(self): ...

        def __new__(cls):
            return super().__new__(cls)

    class Filled(Base):
        def m(self):
            return 5

    def f(x):
        return called(Base), Filled().m(), x + 1

    return f, [(ONE,)]
