"""Classes made inside the traced program.

The trace makes a class of its own, whose functions and other attributes stand for tracked values: ``wrap`` finds the
tracked value of each by its identity, so that such a class is read like one that exists. Nothing of it is ever run, and
it never leaves the trace: compiled code that needs the class itself is a graph break, since each call makes a new one.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.class_lookup import lookup
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import ConstantVariable, is_constant_value
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.functions import CellVariable, NestedFunctionVariable, UserFunctionVariable
from pydynamo.frontend.variables.iterators import Identity

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: descriptors that are made of functions
WRAPPERS: tuple[Any, ...] = (staticmethod, classmethod, property, functools.cached_property)
_DROPPED = ("__classcell__", "__classdictcell__")


class _Attribute:
    """Stands for a tracked value in a class."""


class StandInVariable(VariableTracker):
    """A descriptor made in the trace, as a real one of stand-ins: only good for the body of a class."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def python_type(self) -> type:
        return type(self.value)

    def hash_key(self) -> Any:
        return Identity(self)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if isinstance(self.value, property) and name in ("getter", "setter", "deleter"):
            return MethodOfBuiltin(self, name)
        return super().getattr(tx, name)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if isinstance(self.value, property) and name in ("getter", "setter", "deleter") and len(args) == 1:
            return StandInVariable(getattr(self.value, name)(stand_in(tx, args[0])))
        return super().call_method(tx, name, args, kwargs)


def make_wrapper(tx: Translator, cls: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``staticmethod(fn)`` and its like."""
    return StandInVariable(
        cls(*(stand_in(tx, arg) for arg in args), **{name: stand_in(tx, value) for name, value in kwargs.items()})
    )


def stand_in(tx: Translator, value: VariableTracker) -> Any:
    """A real object that stands for ``value`` in a class."""
    value = value.realize()
    if isinstance(value, ConstantVariable) and is_constant_value(value.value):
        return value.value
    if isinstance(value, ClassVariable | StandInVariable):
        return value.value
    if isinstance(value, UserFunctionVariable):
        return value.fn
    if value.is_constant() and type(value.as_constant()) is tuple:
        return value.as_constant()
    made: Any = _function(tx, value) if isinstance(value, NestedFunctionVariable) else _Attribute()
    tx.root.by_id[id(made)] = value
    tx.root.keep_alive.append(made)
    return made


def _function(tx: Translator, value: NestedFunctionVariable) -> types.FunctionType:
    names = value.code.co_freevars
    cells = tuple(types.CellType({}) if name == "__classdict__" else types.CellType() for name in names)
    defaults = (None,) * len(value.default_values)
    made = types.FunctionType(value.code, value.globals, value.code.co_name, defaults, cells)
    made.__kwdefaults__ = dict.fromkeys(value.kwdefault_values)
    return made


def is_made(tx: Translator, cls: Any) -> bool:
    """True for a class of the trace."""
    return cls in tx.ledger.made_classes if isinstance(cls, type) else False


def _register(tx: Translator, cls: type) -> VariableTracker:
    tx.ledger.made_classes.add(cls)
    return ClassVariable(cls, None)


def build_class(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``__build_class__(body, name, *bases, **keywords)``"""
    from pydynamo.frontend.inline import InlineTranslator

    body, name = args[0].realize(), args[1].realize().as_constant()
    if not isinstance(body, NestedFunctionVariable):
        unsupported("class-body", "a class body that is not code of the function")
    metaclass = kwargs.pop("metaclass", None) if kwargs else None
    frame = InlineTranslator(body, tx)
    frame.namespace = DictVariable({})
    cell = frame.run().realize()
    made = make_class(tx, name, args[2:], frame.namespace, metaclass, kwargs)
    if isinstance(cell, CellVariable):
        cell.contents = made
    return made


def make_class(
    tx: Translator,
    name: str,
    bases: Args,
    namespace: DictVariable,
    metaclass: VariableTracker | None = None,
    keywords: Kwargs | None = None,
) -> VariableTracker:
    """``type(name, bases, namespace)``"""
    parents = [base.realize() for base in bases]
    if not all(isinstance(parent, ClassVariable) for parent in parents):
        unsupported("class-body", f"class {name} with bases that are not classes")
    classes = [parent.as_constant() for parent in parents]
    kinds = {type(cls) for cls in classes}
    if metaclass is not None:
        kinds.add(metaclass.realize().as_constant())
    if keywords or not kinds <= {type, abc.ABCMeta}:
        unsupported("class-body", f"class {name} with a metaclass or keywords")
    if any(lookup(cls, "__init_subclass__")[0] is not object for cls in classes):
        unsupported("class-body", f"class {name}, whose base has an __init_subclass__")
    real: dict[str, Any] = {}
    named: list[tuple[str, VariableTracker]] = []
    for key, value in namespace.entries.values():
        attribute = key.realize().as_constant()
        value = value.realize()
        if attribute in _DROPPED:
            continue
        real[attribute] = _annotations(tx, value) if attribute == "__annotations__" else _attribute(tx, value)
        if hasattr(value.python_type(), "__set_name__") and not isinstance(value, StandInVariable):
            named.append((attribute, value))
    for parent in classes:
        if tx.ledger.attrs.get(id(parent)) is not None:
            unsupported("class-body", f"class {name}, whose base was changed")
    maker: Any = abc.ABCMeta if abc.ABCMeta in kinds else type
    try:
        cls = maker(name, tuple(classes), real)
    except TypeError as error:
        tx.raise_error(TypeError, str(error))
    if named:
        unsupported("class-body", f"class {name} with descriptors that are told their names")
    return _register(tx, cls)


def _attribute(tx: Translator, value: VariableTracker) -> Any:
    made = stand_in(tx, value)
    if type(made) is _Attribute and hasattr(value.python_type(), "__get__"):
        if not isinstance(value, NestedFunctionVariable):
            unsupported("class-body", f"{value.describe()} in a class")
    return made


def _annotations(tx: Translator, value: VariableTracker) -> Any:
    if not isinstance(value, DictVariable):
        unsupported("class-body", "annotations that are no dictionary")
    return {key.realize().as_constant(): _annotation(item.realize()) for key, item in value.entries.values()}


def _annotation(value: VariableTracker) -> Any:
    """Annotations are read by dataclasses alone: what is not a constant is as good as an object."""
    return value.as_constant() if value.is_constant() else getattr(value, "value", object)


def process_dataclass(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``dataclasses._process_class``, for a class of the trace: it writes real functions."""
    cls = args[0].realize()
    if not isinstance(cls, ClassVariable) or not is_made(tx, cls.value):
        unsupported("class-body", "a dataclass of a class that exists")
    for name, value in vars(cls.value).items():
        if isinstance(value, _Attribute):
            unsupported("class-body", f"the default of field {name!r} is not a constant")
    settings = [arg.realize().as_constant() for arg in args[1:]]
    named = {name: value.realize().as_constant() for name, value in kwargs.items()}
    process: Any = dataclasses._process_class  # type: ignore[attr-defined]
    return _register(tx, process(cls.value, *settings, **named))


def make_field(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``dataclasses.field(...)``"""
    given = {name: stand_in(tx, value) for name, value in kwargs.items()}
    if args or any(isinstance(value, _Attribute) for value in given.values()):
        unsupported("class-body", "a field whose settings are not constants")
    return StandInVariable(dataclasses.field(**given))


def make_namedtuple(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``collections.namedtuple(...)``"""
    given = [arg.realize().as_constant() for arg in args]
    named = {name: value.realize().as_constant() for name, value in kwargs.items()}
    named.setdefault("module", tx.scope.get("__name__"))
    try:
        made = collections.namedtuple(*given, **named)  # type: ignore[misc]
    except (TypeError, ValueError) as error:
        tx.raise_error(type(error), str(error))
    return _register(tx, made)


def set_attribute(tx: Translator, cls: type, name: str, value: VariableTracker) -> None:
    """A store to a class of the trace."""
    if name.startswith("__") or type(cls) not in (type, abc.ABCMeta):
        unsupported("class-body", f"a store to {name!r} of a class made inside the function")
    setattr(cls, name, _attribute(tx, value.realize()))
