"""What a translation looks up besides the arguments is guarded: a change between two calls is seen by the second."""

from __future__ import annotations

import abc
import collections.abc
import enum
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pydynamo

Scope = dict[str, Any]

_SOURCE = """
import abc, collections.abc, enum, sys

class Base: k = 1
class Other: k = 2
class Plain(Base): pass
class Slotted: __slots__ = ("slot",)
class Counting(type): pass
class Counted(metaclass=Counting): pass
class Abstract(abc.ABC): pass
class Member(enum.Enum):
    ONE = 1
    def __init__(self, number):
        self.items = [number]
        self.word = "word"
plain, slotted = Plain(), Slotted()
keyed = {plain: 1}

def f(x):
{body}
"""


def _scope(body: str) -> Scope:
    """A module whose ``f`` has this body; ``found`` is what it gives."""
    lines = body if "return" in body else f"return ({body}), x + 1"
    scope: Scope = {"__name__": "facts", "loaded": types.ModuleType("loaded")}
    text = _SOURCE.replace("{body}", "\n".join("    " + line for line in lines.splitlines()))
    exec(compile(text, "facts.py", "exec"), scope)  # noqa: S102 - the test's own text
    return scope


def _set(owner: str, name: str, value: Any) -> Callable[[Scope], None]:
    return lambda scope: setattr(scope[owner], name, value)


def _unset(owner: str, name: str) -> Callable[[Scope], None]:
    return lambda scope: delattr(scope[owner], name)


def _own(name: str, value: Any) -> list[Callable[[Scope], None]]:
    return [_set("Plain", name, lambda self, *args: value), _unset("Plain", name)]


CASES: dict[str, tuple[str, list[Callable[[Scope], None]]]] = {
    "class name": ("Plain.__name__, type(plain).__name__", [_set("Plain", "__name__", "New")]),
    "class name in full": ("Plain.__qualname__", [_set("Plain", "__qualname__", "New")]),
    "class module": ("Plain.__module__", [_set("Plain", "__module__", "new")]),
    "class text": ("Plain.__doc__", [_set("Plain", "__doc__", "new"), _set("Plain", "__doc__", None)]),
    "bases": ("Plain.__bases__ == (Base,)", [lambda s: setattr(s["Plain"], "__bases__", (s["Other"],))]),
    "order of bases": ("Plain.__mro__[1] is Base", [lambda s: setattr(s["Plain"], "__bases__", (s["Other"],))]),
    "inherited": ("plain.k", [lambda s: setattr(s["Plain"], "__bases__", (s["Other"],))]),
    "slot": (
        "getattr(slotted, 'slot', None), hasattr(slotted, 'slot')",
        [_set("slotted", "slot", 1), _set("slotted", "slot", 2), _unset("slotted", "slot")],
    ),
    "slot that is caught": (
        "try:\n    return slotted.slot, x\nexcept AttributeError as error:\n    return str(error), x",
        [_set("slotted", "slot", 1), _unset("slotted", "slot")],
    ),
    "registered": (
        "isinstance(plain, Abstract), issubclass(Plain, Abstract)",
        [lambda s: s["Abstract"].register(s["Plain"])],
    ),
    "registered later than a base": (
        "isinstance(plain, (Abstract, int))",
        [lambda s: s["Abstract"].register(s["Base"])],
    ),
    "a method of a protocol": (
        "isinstance(plain, collections.abc.Sized)",
        [lambda s: collections.abc.Sized.register(s["Base"])],
    ),
    "equality": ("plain == plain, plain != 1, plain in [plain]", _own("__eq__", True) + _own("__eq__", False)),
    "text": ("str(plain)[:3], f'{plain}'[:3]", [*_own("__str__", "str"), *_own("__format__", "fmt")]),
    "text as formatted": (
        "str(plain)[:3], f'{plain}'[:3], format(plain)[:3]",
        [_set("Plain", "__str__", lambda self: "str"), *_own("__format__", "fmt")],
    ),
    "text for programs": ("repr(plain)[:3], str(plain)[:3]", _own("__repr__", "rep")),
    "inequality": ("plain != 1, plain != plain", _own("__ne__", "differs")),
    "membership": (
        "try:\n    return 3 in plain, x\nexcept TypeError:\n    return 'refused', x",
        [*_own("__contains__", True), *_own("__getitem__", 3), _set("Plain", "__iter__", lambda self: iter([3]))],
    ),
    "how instances are made": (
        "type(Plain()).__name__, getattr(Plain(), 'own', 0)",
        [
            _set("Plain", "__init__", lambda self: setattr(self, "own", 1)),
            _unset("Plain", "__init__"),
            _set("Base", "__init__", lambda self: setattr(self, "own", 2)),
            _set("Plain", "__new__", lambda cls: 3),
            _unset("Plain", "__new__"),
        ],
    ),
    "how a metaclass makes instances": (
        "type(Counted()).__name__",
        [_set("Counting", "__call__", lambda cls: 3), _unset("Counting", "__call__")],
    ),
    "attribute of a member": (
        "Member.ONE.word, Member.ONE.items, getattr(Member.ONE, 'more', 0)",
        [
            lambda s: setattr(s["Member"].ONE, "word", "new"),
            lambda s: s["Member"].ONE.items.append(5),
            lambda s: setattr(s["Member"].ONE, "more", 1),
        ],
    ),
    "attribute of a module": (
        "getattr(loaded, 'more', 0), hasattr(loaded, 'more')",
        [_set("loaded", "more", 1), _unset("loaded", "more"), _set("loaded", "__getattr__", lambda name: 2)],
    ),
    "imported module": (
        "import loaded_facts\nreturn loaded_facts.k, x",
        [lambda s: setattr(sys.modules["loaded_facts"], "k", 2), lambda s: _load(3)],
    ),
    "imported name": (
        "from loaded_facts import k\nreturn k, x",
        [lambda s: setattr(sys.modules["loaded_facts"], "k", 2), lambda s: _load(3), lambda s: _load(None)],
    ),
    "imported name that is missing": (
        "try:\n    from loaded_facts import more\nexcept ImportError as error:\n    return str(error), error.name, x\n"
        "return more, x",
        [lambda s: setattr(sys.modules["loaded_facts"], "more", 2)],
    ),
    "deleted name": (
        "global len\ntry:\n    del len\nexcept NameError as error:\n    return str(error), x\nreturn 'deleted', x",
        [lambda s: s.__setitem__("len", 1), lambda s: None],
    ),
}


def _load(k: int | None) -> None:
    module = sys.modules["loaded_facts"] = types.ModuleType("loaded_facts")
    if k is not None:
        module.__dict__["k"] = k


def _told(body: str, changes: list[Callable[[Scope], None]], compiled: bool) -> list[str]:
    scope = _scope(body)
    fn = pydynamo.compile(scope["f"], backend="eager") if compiled else scope["f"]
    told = []
    _load(1)
    try:
        for change in (lambda scope: None, *changes):
            change(scope)
            for _ in range(2):
                try:
                    told.append(repr(fn(torch.ones(2))))
                except Exception as error:
                    told.append(repr(error))
    finally:
        del sys.modules["loaded_facts"]
    return told


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_seen(case: str) -> None:
    want = _told(*CASES[case], compiled=False)
    assert len(set(want)) > 1
    assert _told(*CASES[case], compiled=True) == want


def test_registering_other_classes_does_not_matter() -> None:
    class Abstract(abc.ABC):  # noqa: B024 - nothing is asked of it
        pass

    class Plain(enum.Enum):
        ONE = 1

    graphs = 0

    def backend(module: Any, examples: Any) -> Any:
        nonlocal graphs
        graphs += 1
        return module.forward

    plain = types.SimpleNamespace(k=1)
    compiled = pydynamo.compile(lambda x: x + isinstance(plain, Abstract), backend=backend)
    compiled(torch.ones(2))
    Abstract.register(Plain)
    compiled(torch.ones(2))
    assert graphs == 1


def test_a_finalizer_that_a_class_gets_later_runs() -> None:
    told: list[int] = []

    class Plain:
        pass

    def f(x: Any) -> Any:
        made = Plain()
        made.number = 3  # type: ignore[attr-defined]
        return x + made.number  # type: ignore[attr-defined]

    compiled = pydynamo.compile(f, backend="eager")
    compiled(torch.ones(1))
    Plain.__del__ = lambda self: told.append(1)  # type: ignore[attr-defined]
    assert compiled(torch.ones(1)).item() == 4
    assert told == [1]
