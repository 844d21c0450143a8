"""Guard programs: each condition holds exactly when it should, says why not, and never raises."""

import gc
import math
import weakref
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from pydynamo._core import GuardBuilder, GuardProgram
from pydynamo.errors import PydynamoError

limit = 3.0


def one(x: Any) -> Any:
    return x, limit


def program(function: FunctionType, add: Callable[[GuardBuilder, int], object], name: str = "x") -> GuardProgram:
    builder = GuardBuilder(function.__code__)
    add(builder, builder.local(name))
    return builder.build()


def passes(guards: GuardProgram, *args: Any) -> bool:
    """Both ways of running agree."""
    reason = guards.check_verbose(one, args)
    assert guards.check(one, args) is (reason is None)
    return reason is None


CONSTANTS = [
    *(
        None,
        True,
        False,
        ...,
        0,
        1,
        -1,
        2**70,
        1.0,
        0.0,
        -0.0,
        math.nan,
        math.inf,
        1j,
        complex(0.0, -0.0),
        "",
        "a",
    ),
    *(
        "b" * 200,
        b"",
        b"a",
        (),
        (1,),
        (1.0,),
        (True,),
        ((),),
        [1],
        [],
        [[1.0]],
        range(3),
        range(0, 3, 2),
        int,
        float,
    ),
    *(
        slice(1),
        slice(1.0),
        slice(None, 1, (2,)),
        frozenset(),
        frozenset({1}),
        frozenset({True}),
        frozenset({"a"}),
    ),
]


@pytest.mark.parametrize("index", range(len(CONSTANTS)))
def test_equals_tells_every_constant_from_every_other(index: int) -> None:
    guards = program(one, lambda g, x: g.equals(x, CONSTANTS[index]))
    found = [other for other, value in enumerate(CONSTANTS) if passes(guards, value)]
    assert found == [index]


def test_equals_compares_values_not_identities() -> None:
    text = "some text " * 3
    for constant, equal in [
        (10**20, 10**19 * 10),
        (1000, int("1000")),
        (text, "".join(["some text "] * 3)),
        (("a" * 50, [1.5]), ("a" * 49 + "a", [0.5 + 1])),
        (math.nan, -(-math.nan)),
        (frozenset({"x", 1.0}), frozenset({1.0, "x"})),
        (b"bytes", bytes([98, 121, 116, 101, 115])),
    ]:
        assert passes(program(one, lambda g, x, constant=constant: g.equals(x, constant)), equal)


def test_equals_takes_a_snapshot_of_a_list() -> None:
    value = [1, 2]
    guards = program(one, lambda g, x: g.equals(x, value))
    value.append(3)
    assert passes(guards, [1, 2])
    assert not passes(guards, value)


def test_equals_of_other_types_uses_their_own_equality() -> None:
    class Point:
        def __init__(self, x: int) -> None:
            self.x = x

        def __eq__(self, other: object) -> bool:
            if self.x < 0:
                raise ValueError
            return isinstance(other, Point) and other.x == self.x

        __hash__ = None  # type: ignore[assignment]

    guards = program(one, lambda g, x: g.equals(x, Point(1)))
    assert passes(guards, Point(1))
    assert not passes(guards, Point(2))
    assert not passes(guards, 1)
    assert not passes(program(one, lambda g, x: g.equals(x, Point(-1))), Point(1)), "an error is a miss"


def test_subclasses_of_constant_types_do_not_pass() -> None:
    class Int(int): ...

    class Text(str): ...

    assert not passes(program(one, lambda g, x: g.equals(x, 1)), Int(1))
    assert not passes(program(one, lambda g, x: g.equals(x, "a")), Text("a"))


class Plain:
    kind = "class attribute"

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Raising:
    @property
    def trouble(self) -> int:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    def __getitem__(self, key: object) -> object:
        raise RuntimeError("no")


def add_one(function: FunctionType) -> Any:
    return function


def make_closure(value: Any) -> Any:
    def inner(x: Any, y: Any = 5, *, z: Any = 6) -> Any:
        return value

    return inner


CASES: list[tuple[str, Callable[[GuardBuilder, int], object], list[Any], list[Any]]] = [
    ("type_is", lambda g, x: g.type_is(x, int), [1], [True, 1.0, None]),
    ("is_object", lambda g, x: g.is_object(x, limit), [limit], [3, None]),
    ("is_object of a type", lambda g, x: g.is_object(x, Plain), [Plain], [Plain(), int]),
    ("is_not_object", lambda g, x: g.is_not_object(x, Plain), [1], [Plain]),
    ("truth", lambda g, x: g.truth(x, True), [1, "a", [0]], [0, "", [], Raising()]),
    ("falsehood", lambda g, x: g.truth(x, False), [0, "", []], [1, "a", Raising()]),
    (
        "length",
        lambda g, x: g.length(x, 2),
        [[1, 2], (1, 2), {1: 1, 2: 2}, {1, 2}, "ab"],
        [[1], 3, Raising()],
    ),
    (
        "dict_keys",
        lambda g, x: g.dict_keys(x, ["a", 1]),
        [{"a": 1, 1: 2}, OrderedDict([("a", 1), (1, 2)])],
        [{1: 1, "a": 2}, {"a": 1}, {"a": 1, 1: 2, 2: 3}, {"a": 1, 1.0: 2}, [("a", 1)], {}],
    ),
    ("contains", lambda g, x: g.contains(x, "a"), [{"a": 1}, {"a"}, frozenset("a")], [{}, set(), ["a"], 1]),
    ("does not contain", lambda g, x: g.contains(x, "a", False), [{}, set()], [{"a": 1}, ["b"]]),
    ("an unhashable key", lambda g, x: g.contains(x, [], False), [], [{}, {1: 2}]),
    ("has_attr", lambda g, x: g.has_attr(x, "kind"), [Plain(), Plain(kind=1)], [1]),
    (
        "has no attr",
        lambda g, x: g.has_attr(x, "trouble", False),
        [1, Plain()],
        [Raising(), Plain(trouble=1)],
    ),
    ("in_instance_dict", lambda g, x: g.in_instance_dict(x, "a"), [Plain(a=1)], [Plain(), 1]),
    (
        "not in_instance_dict",
        lambda g, x: g.in_instance_dict(x, "kind", False),
        [Plain(), 1],
        [Plain(kind=1)],
    ),
    ("attr", lambda g, x: g.equals(g.attr(x, "kind"), 1), [Plain(kind=1)], [Plain(), 1]),
    ("a raising attr", lambda g, x: g.exists(g.attr(x, "trouble")), [Plain(trouble=1)], [Raising(), 1]),
    ("dict_attr", lambda g, x: g.exists(g.dict_attr(x, "kind")), [Plain(kind=1), Plain], [Plain(), 1]),
    ("instance_dict", lambda g, x: g.length(g.instance_dict(x), 1), [Plain(a=1)], [Plain(), 1]),
    ("item", lambda g, x: g.equals(g.item(x, "a"), 1), [{"a": 1}], [{"a": 2}, {}, [1], Raising()]),
    (
        "dict_key",
        lambda g, x: g.equals(g.dict_key(x, 1), "b"),
        [{"a": 1, "b": 2}],
        [{"a": 1}, {"b": 1}, [1, 2], {}],
    ),
    ("index", lambda g, x: g.equals(g.index(x, 1), 2), [[1, 2], (1, 2, 3)], [[1], (1, 3), {1: 2}, "12"]),
    (
        "subscript",
        lambda g, x: g.equals(g.subscript(x, -1), 2),
        [[1, 2], {-1: 2}],
        [[1], [], {}, Raising(), 3],
    ),
    ("type_of", lambda g, x: g.is_object(g.type_of(x), int), [1], [True]),
    ("code_of", lambda g, x: g.is_object(g.code_of(x), add_one.__code__), [add_one], [one, 1]),
    ("defaults_of", lambda g, x: g.equals(g.defaults_of(x), (5,)), [make_closure(1)], [one, 1]),
    ("no defaults", lambda g, x: g.equals(g.defaults_of(x), None), [one], [make_closure(1), 1]),
    ("kwdefaults_of", lambda g, x: g.equals(g.item(g.kwdefaults_of(x), "z"), 6), [make_closure(1)], [one, 1]),
    ("globals_of", lambda g, x: g.equals(g.item(g.globals_of(x), "limit"), 3.0), [one, add_one], [1]),
    ("cell_of", lambda g, x: g.equals(g.cell_of(x, 0), 1), [make_closure(1)], [make_closure(2), one, 1]),
    ("cell_of past the end", lambda g, x: g.exists(g.cell_of(x, 7)), [], [make_closure(2)]),
    ("method_self", lambda g, x: g.equals(g.method_self(x), [1]), [[1].__init__.__call__], [[1].append, 1]),
    (
        "cell_contents",
        lambda g, x: g.equals(g.cell_contents(x), 1),
        [make_closure(1).__closure__[0]],
        [make_closure(2).__closure__[0], 1],
    ),
    ("derived", lambda g, x: g.equals(g.derived(lambda v: v + 1, x), 2), [1], [2, "a", None]),
    ("custom", lambda g, x: g.custom(lambda v: v > 1, [x], "above one"), [2, 3.0], [1, "a", None]),
    ("a raising custom", lambda g, x: g.custom(lambda v: 1 / 0, [x], "never"), [], [1]),
    (
        "shape of an int",
        lambda g, x: g.shape("s > 2 and s % 2 == 0", {"s": (x,)}),
        [4, 6],
        [2, 5, 3.0, 2**80, None],
    ),
    ("same_object", lambda g, x: g.same_object(g.index(x, 0), g.index(x, 1)), [[one, one]], [[[], []]]),
    (
        "all_different",
        lambda g, x: g.all_different([g.index(x, i) for i in range(20)]),
        [list(range(20))],
        [[*range(19), 0], [*range(18), None, None]],
    ),
]


@pytest.mark.parametrize(("add", "good", "bad"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_condition(add: Callable[[GuardBuilder, int], object], good: list[Any], bad: list[Any]) -> None:
    if add is CASES[[case[0] for case in CASES].index("method_self")][1]:
        good = []
    guards = program(one, add)
    assert [value for value in good if not passes(guards, value)] == []
    assert [value for value in bad if passes(guards, value)] == []
    assert len(guards.describe()) == len(guards) == 1


def test_bound_methods_are_taken_apart() -> None:
    class Owner:
        def method(self) -> None: ...

        def other(self) -> None: ...

    owner = Owner()
    builder = GuardBuilder(one.__code__)
    x = builder.local("x")
    builder.is_object(builder.method_self(x), owner)
    builder.is_object(builder.method_function(x), Owner.method)
    guards = builder.build()
    assert passes(guards, owner.method)
    assert not passes(guards, owner.other)
    assert not passes(guards, Owner().method)
    assert not passes(guards, Owner.method)


def test_globals_come_before_builtins() -> None:
    space: dict[str, Any] = {"__builtins__": {"len": len, "limit": 1}}
    exec("def f(x): pass", space)
    builder = GuardBuilder(space["f"].__code__)
    builder.equals(builder.global_var("limit"), 1)
    builder.is_object(builder.global_var("len"), len)
    guards = builder.build()
    assert guards.check(space["f"], (0,))
    space["limit"] = 2
    assert guards.check_verbose(space["f"], (0,)) == "f: limit: is 2, expected 1"
    del space["limit"], space["__builtins__"]["len"]
    assert guards.check_verbose(space["f"], (0,)) == "f: len: cannot be fetched"


def test_closures_are_those_of_the_function_that_is_called() -> None:
    first, second = make_closure(1), make_closure(2)
    builder = GuardBuilder(first.__code__)
    builder.equals(builder.closure("value"), 1)
    guards = builder.build()
    assert guards.check(first, (0,))
    assert guards.check_verbose(second, (0,)) == f"{first.__qualname__}: value: is 2, expected 1"


def test_arguments_are_bound_as_the_function_binds_them() -> None:
    def f(a: Any, b: Any = 2, *rest: Any, k: Any = 3, **more: Any) -> None: ...

    builder = GuardBuilder(f.__code__)
    for name, value in [("a", 1), ("b", 2), ("rest", (7,)), ("k", 3)]:
        builder.equals(builder.local(name), value)
    builder.dict_keys(builder.local("more"), ["z"])
    guards = builder.build()
    assert guards.check(f, (1, 2, 7), {"z": 1})
    assert not guards.check(f, (1, 2, 7), {"y": 1})
    assert guards.check_verbose(f, (1,), {"z": 1}) == f"{f.__qualname__}: rest: is (), expected (7,)"
    with pytest.raises(PydynamoError, match="do not fit the parameters"):
        guards.check(f, ())


def test_messages_name_the_path_what_was_found_and_what_was_expected() -> None:
    builder = GuardBuilder(one.__code__)
    x = builder.local("x")
    builder.type_is(x, Plain)
    builder.equals(builder.dict_attr(builder.item(builder.dict_attr(x, "layers"), "0"), "scale"), 1.5)
    builder.length(builder.attr(x, "items"), 2)
    guards = builder.build()
    assert guards.check_verbose(one, (Plain(layers={"0": Plain(scale=1.5)}, items=[1, 2]),)) is None
    for value, text in [
        (1, f"one: x: type is <class 'int'>, expected {Plain!r}"),
        (Plain(layers={"0": Plain(scale=2)}), "one: x.layers['0'].scale: is 2, expected 1.5"),
        (Plain(layers={}), "one: x.layers['0']: cannot be fetched"),
        (Plain(layers={"0": Plain(scale=1.5)}, items="abc"), "one: x.items: length is 3, expected 2"),
    ]:
        assert guards.check_verbose(one, (value,)) == text
    assert guards.describe() == [
        f"type(x) is {Plain!r}",
        "x.layers['0'].scale == 1.5",
        "len(x.items) == 2",
    ]


def test_objects_are_held_weakly_and_never_mistaken_once_dead() -> None:
    for _ in range(100):
        value = Plain()
        builder = GuardBuilder(one.__code__)
        builder.is_object(builder.local("x"), value)
        builder.exists(builder.constant(value, "the_object"))
        guards = builder.build()
        assert passes(guards, value)
        dead = weakref.ref(value)
        address = id(value)
        del value
        gc.collect()
        assert dead() is None
        others = [Plain() for _ in range(1000)]
        assert not any(passes(guards, other) for other in others)
        if any(id(other) == address for other in others):
            return
    pytest.skip("no object took the address of a dead one")


def test_types_are_held_weakly() -> None:
    def make() -> type:
        class Local: ...

        return Local

    cls = make()
    builder = GuardBuilder(one.__code__)
    builder.type_is(builder.local("x"), cls)
    guards = builder.build()
    assert passes(guards, cls())
    dead = weakref.ref(cls)
    del cls
    gc.collect()
    assert dead() is None
    assert not passes(guards, make()())


def test_the_same_condition_is_kept_once() -> None:
    builder = GuardBuilder(one.__code__)
    x = builder.local("x")
    assert builder.local("x") == x
    assert builder.attr(x, "a") == builder.attr(x, "a") != builder.dict_attr(x, "a")
    for _ in range(3):
        builder.type_is(x, int)
        builder.equals(builder.global_var("limit"), 3.0)
        builder.equals(x, 1)
    builder.equals(x, 1.0)
    assert len(builder) == 4


class Shuffled:
    """Instances with an attribute, after some that come and go."""

    kind: Any = "class attribute"

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def without(self, *names: str) -> "Shuffled":
        for name in names:
            del self.__dict__[name]
        return self


#: how a key may be elsewhere among a dict's entries than it was, or not there at all
PLACES: list[tuple[dict[str, Any], bool]] = [
    ({"a": 0, "b": 1, "c": 2}, True),
    ({"b": 1}, True),
    ({"c": 2, "a": 0, "b": 1}, True),
    ({"a": 1, "c": 1}, False),
    ({"a": 1, "b": 2, "c": 1}, False),
    ({}, False),
    ({"".join(["a", "a"])[1:]: 0, "".join(["b", "b"])[1:]: 1}, True),
    ({str(number): 1 for number in range(100)} | {"b": 1}, True),
]


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_an_item_is_found_wherever_it_is(kind: type) -> None:
    guards = program(one, lambda g, x: g.equals(g.item(x, "b"), 1))
    for _ in range(2):
        for items, expected in PLACES:
            assert passes(guards, kind(items)) is expected, items
    gone_and_back = kind(a=0, b=1, c=2)
    assert passes(guards, gone_and_back)
    del gone_and_back["b"]
    assert not passes(guards, gone_and_back)
    gone_and_back["b"] = 1
    assert passes(guards, gone_and_back)
    del gone_and_back["a"]
    assert passes(guards, gone_and_back)


def test_an_attribute_is_found_wherever_it_is() -> None:
    guards = program(one, lambda g, x: g.equals(g.attr(x, "b", cls=Shuffled), 1))
    for _ in range(2):
        for items, expected in PLACES:
            assert passes(guards, Shuffled(**items)) is expected, items
    assert passes(guards, Shuffled(a=0, b=1, c=2).without("a"))
    assert not passes(guards, Shuffled(a=0, b=1, c=2).without("b"))


def test_an_attribute_of_the_class_is_found_once_the_instance_has_none() -> None:
    guards = program(one, lambda g, x: g.equals(g.attr(x, "kind", cls=Shuffled), "class attribute"))
    assert not passes(guards, Shuffled(a=1, kind="own"))
    assert passes(guards, Shuffled(a=1, kind="own").without("kind"))
    assert passes(guards, Shuffled())


def test_a_class_that_takes_an_attribute_over_is_seen() -> None:
    class Changing(Shuffled):
        pass

    guards = program(one, lambda g, x: g.equals(g.attr(x, "kind", cls=Changing), 1))
    value = Changing(a=0, kind=1)
    assert passes(guards, value)
    assert passes(guards, value)
    Changing.kind = property(lambda self: 2)
    assert not passes(guards, value)
    Changing.kind = property(lambda self: 1)
    assert passes(guards, value)
    Changing.kind = "class attribute"
    value.kind = 3
    assert not passes(guards, value)


def test_another_instance_dict_is_seen() -> None:
    guards = program(
        one, lambda g, x: (g.equals(g.attr(x, "kind", cls=Shuffled), 1), g.in_instance_dict(x, "b", False))
    )
    value = Shuffled(kind=1)
    assert passes(guards, value)
    value.__dict__ = {"kind": 2}
    assert not passes(guards, value)
    value.__dict__ = {"b": 0, "kind": 1}
    assert not passes(guards, value)
    value.__dict__ = {"a": 0, "kind": 1}
    assert passes(guards, value)


def test_user_code_that_frees_what_guards_hold_does_no_harm() -> None:
    class Emptying:
        def __init__(self, target: list[Any]) -> None:
            self.target = target

        def __eq__(self, other: object) -> bool:
            self.target.clear()
            return True

        __hash__ = None  # type: ignore[assignment]

    values: list[Any] = []
    values.extend([Emptying(values), [object(), Emptying(values)], Emptying(values)])
    builder = GuardBuilder(one.__code__)
    x = builder.local("x")
    third = builder.index(builder.index(x, 1), 1)
    builder.exists(third)
    builder.equals(builder.index(x, 0), values[0])
    builder.equals(x, [values[0], 2])
    builder.equals(third, 4)
    assert not passes(builder.build(), values)


def test_mistakes_in_building_are_named() -> None:
    builder = GuardBuilder(one.__code__)
    x = builder.local("x")
    for use, why in [
        (lambda: builder.local("nothing"), "one has no parameter 'nothing'"),
        (lambda: builder.closure("limit"), "one has no free variable 'limit'"),
        (lambda: builder.equals(99, 1), "node 99 was not made by this GuardBuilder"),
        (lambda: builder.attr(99, "a"), "node 99 was not made by this GuardBuilder"),
        (lambda: builder.shape("s ++", {"s": (x,)}), "shape expression"),
        (lambda: builder.shape("t > 1", {"s": (x,)}), "unknown name"),
        (lambda: builder.shape("s > 1", {"s": (x, "width", 1)}), "not 'width'"),
        (lambda: builder.custom(3, [x], "three"), "needs a callable"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(PydynamoError, match=why.replace("'", ".").replace("+", r"\+")):
            use()
    builder.build()
    with pytest.raises(PydynamoError, match="has been built already"):
        builder.equals(x, 1)


def test_long_paths_use_no_stack() -> None:
    builder = GuardBuilder(one.__code__)
    node = builder.local("x")
    nested: Any = 1
    for _ in range(20_000):
        node = builder.index(node, 0, "deep")
        nested = [nested]
    builder.equals(node, 1)
    assert passes(builder.build(), nested)
    while isinstance(nested, list):
        nested = nested[0]
