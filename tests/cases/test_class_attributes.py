"""Class attributes are read and written as they are now: between calls, through instances, subclasses and metaclasses."""

import collections
import enum

import pytest
import torch
from harness import program


@program
def test_counter_on_a_class():
    class C:
        n = 0

    def f(x):
        C.n += 1
        return x * C.n

    return f, [(torch.ones(1),)] * 4


@program
def test_list_on_a_class():
    class Log:
        seen = []

    def f(x):
        Log.seen.append(x.shape[0])
        return x * 2

    return f, [(torch.ones(3),), (torch.ones(3),), (torch.ones(4),)]


@program
def test_list_on_a_class_through_self():
    class Log:
        seen = []

        def note(self, v):
            self.seen.append(v)
            return len(self.seen)

    def f(x):
        return x * Log().note(1), Log().note(2)

    return f, [(torch.ones(1),)] * 2


@program
def test_class_attribute_changed_from_outside():
    class C:
        k = 2

    def f(x):
        return x * C.k

    def change(_):
        C.k += 1
        return (torch.ones(2),)

    return f, [(torch.ones(2),), change, change]


@program
def test_attribute_of_a_base_changed():
    class A:
        k = 1

    class B(A):
        pass

    b = B()

    def f(x):
        return x * b.k + B.k

    def change(_):
        A.k = 7
        return (torch.ones(1),)

    def shadow(_):
        B.k = 3
        return (torch.ones(1),)

    return f, [(torch.ones(1),), change, shadow]


@program
def test_instance_attribute_appears_over_the_class():
    class C:
        k = 1

    c = C()

    def f(x):
        return x * c.k

    def own(_):
        c.k = 5
        return (torch.ones(1),)

    def gone(_):
        del c.k
        return (torch.ones(1),)

    return f, [(torch.ones(1),), own, gone]


@program
def test_method_is_replaced_on_the_class():
    class C:
        def go(self, x):
            return x + 1

    c = C()

    def f(x):
        return c.go(x)

    def swap(_):
        C.go = lambda self, x: x * 10
        return (torch.ones(1),)

    return f, [(torch.ones(1),), swap]


@program
def test_method_is_replaced_on_the_instance():
    class C:
        def go(self, x):
            return x + 1

    c = C()

    def f(x):
        return c.go(x)

    def swap(_):
        c.go = lambda x: x * 10
        return (torch.ones(1),)

    return f, [(torch.ones(1),), swap]


@program
def test_property_is_added_to_the_class():
    class C:
        pass

    c = C()
    c.k = 1

    def f(x):
        return x * c.k

    def add(_):
        C.k = property(lambda self: 9)
        return (torch.ones(1),)

    return f, [(torch.ones(1),), add]


@program
def test_special_method_is_added_to_the_class():
    class C:
        pass

    c = C()

    def f(x):
        return x * (1 if c else 2), "len" if hasattr(c, "__len__") else "none"

    def add(_):
        C.__len__ = lambda self: 0
        return (torch.ones(1),)

    return f, [(torch.ones(1),), add]


@program
def test_operator_is_replaced():
    class V:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return self.n + other

    v = V(2)

    def f(x):
        return v + x

    def swap(_):
        V.__add__ = lambda self, other: other - self.n
        return (torch.ones(1),)

    return f, [(torch.ones(1),), swap]


@program
def test_subclass_counter_splits_from_the_base():
    class A:
        made = 0

        def __init__(self):
            type(self).made += 1

    class B(A):
        pass

    def f(x):
        A()
        B()
        return x, A.made, B.made

    return f, [(torch.ones(1),)] * 3


@program
def test_classmethod_counter():
    class C:
        total = 0

        @classmethod
        def bump(cls, by):
            cls.total += by
            return cls.total

    def f(x, k):
        return x * C.bump(k)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 2)]


@program
def test_class_dict_attribute_written_and_deleted():
    class C:
        table = {}

    def f(x, key):
        C.table[key] = x.shape[0]
        C.last = key
        if key == "b":
            del C.last
        return x, hasattr(C, "last"), dict(C.table)

    return f, [(torch.ones(1), "a"), (torch.ones(2), "b"), (torch.ones(2), "a")]


@program
def test_attribute_of_a_metaclass():
    class Meta(type):
        level = 1

        @property
        def double(cls):
            return cls.level * 2

    class C(metaclass=Meta):
        pass

    def f(x):
        return x * C.level + C.double

    def change(_):
        Meta.level = 4
        return (torch.ones(1),)

    return f, [(torch.ones(1),), change]


@program
def test_tensor_on_a_class():
    class State:
        total = torch.zeros(1)

    def f(x):
        State.total = State.total + x
        return State.total * 1

    return f, [(torch.ones(1),)] * 3


@program
def test_tensor_on_a_class_in_place():
    class State:
        total = torch.zeros(1)

    def f(x):
        State.total += x
        return State.total

    return f, [(torch.ones(1),)] * 3


@program
def test_setattr_and_getattr_with_a_name():
    class C:
        a = 1

    def f(x, name):
        setattr(C, name, getattr(C, name, 10) + 1)
        return x * getattr(C, name)

    return f, [(torch.ones(1), "a"), (torch.ones(1), "b"), (torch.ones(1), "b")]


@program
def test_class_type_of_an_instance_changes():
    class A:
        k = 1

    class B:
        k = 2

    o = A()

    def f(x):
        return x * o.k, type(o).__name__

    def turn(_):
        o.__class__ = B
        return (torch.ones(1),)

    return f, [(torch.ones(1),), turn]


@program
def test_class_attribute_as_a_function_constant():
    class Config:
        scale = 2.0
        mode = "add"

    def f(x):
        return x * Config.scale if Config.mode == "mul" else x + Config.scale

    def mul(_):
        Config.mode = "mul"
        return (torch.ones(1),)

    def scaled(_):
        Config.scale = 3.0
        return (torch.ones(1),)

    return f, [(torch.ones(1),), mul, scaled]


class _NamedPair(collections.namedtuple("_NamedPair", "p")):
    pass


#: by name: what makes a class, and what makes an object of it
KINDS = {
    "a named tuple": (lambda: type("N", (_NamedPair,), {}), lambda cls: cls(1)),
    "an exception": (lambda: type("N", (ValueError,), {}), lambda cls: cls()),
    "an enum": (lambda: enum.Enum("N", "A"), lambda cls: cls.A),
    "a number": (lambda: type("N", (int,), {}), lambda cls: cls(3)),
    "a list": (lambda: type("N", (list,), {}), lambda cls: cls()),
    "a module": (lambda: type("N", (torch.nn.Module,), {}), lambda cls: cls()),
    "an object": (lambda: type("N", (), {}), lambda cls: cls()),
    "a tensor": (lambda: type("N", (torch.Tensor,), {}), lambda cls: torch.ones(1).as_subclass(cls)),
}


@pytest.mark.parametrize(("make", "instance"), KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("inside", [False, True])
def test_attributes_that_a_class_of_any_kind_gets_and_loses(make, instance, inside):
    def run(decorate):
        cls = make()

        def f(held):
            held = instance(cls) if inside else held
            return hasattr(held, "note"), getattr(held, "note", 0)

        def count(held):
            cls.calls = getattr(cls, "calls", 0) + 1
            return held.calls, type(held).calls

        f, count = decorate(f), decorate(count)
        seen = [f(instance(cls))]
        cls.note = 5
        seen.append(f(instance(cls)))
        del cls.note
        seen.append(f(instance(cls)))
        cls.__getattr__ = lambda self, name: f"no {name}"
        seen.append(f(instance(cls)))
        return [*seen, count(instance(cls)), count(instance(cls))]

    import pydynamo

    assert run(lambda function: pydynamo.compile(function, backend="eager")) == run(lambda function: function)


@program
def test_truth_of_classes():
    class Says(type):
        def __bool__(cls):
            return cls.says

    class Counts(type):
        def __len__(cls):
            return cls.count

    class Bare(type):
        pass

    class Saying(metaclass=Says):
        says = False

    class Counting(metaclass=Counts):
        count = 0

    class Plain(metaclass=Bare):
        pass

    class Members(enum.Enum):
        ONE = 1

    class NoMembers(enum.Enum):
        pass

    def f(x):
        told = [bool(cls) for cls in (Saying, Counting, Plain, Members, NoMembers, int)]
        return told, not Saying, 1 if Counting else 2, Saying and 3, Plain or 4, x + 1

    def changed(cls, name, value):
        return lambda *_: setattr(cls, name, value) or (torch.ones(2),)

    return f, [
        (torch.ones(2),),
        changed(Saying, "says", True),
        changed(Counting, "count", 3),
        changed(Bare, "__bool__", lambda cls: False),
        changed(Bare, "__bool__", lambda cls: 5),
    ]
