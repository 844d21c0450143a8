"""``str``, ``repr`` and ``format`` of tracked values."""

from __future__ import annotations

import enum
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import operators as ops
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, bad_answer, type_name
from pydynamo.frontend.variables.constant import ConstantVariable, constant, fold, run_python
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.exceptions import ExceptionVariable


def text_of(tx: Translator, value: VariableTracker, function: Callable[[Any], str]) -> VariableTracker:
    """``str(value)`` or ``repr(value)``"""
    from pydynamo.frontend.variables.exceptions import ExceptionVariable
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    value = value.realize()
    if isinstance(value, SymNumberVariable):
        value = value.specialize(tx)
    if isinstance(value, ConstantVariable) and not isinstance(value.value, enum.Enum):
        return fold(tx, function, [value])
    if isinstance(value, ExceptionVariable) and function is str and (value.cls.__str__ is BaseException.__str__):
        if not value.args:
            return constant("")
        if len(value.args) == 1:
            return text_of(tx, value.args[0], str)
    if isinstance(value, ExceptionVariable) and value.cls.__repr__ is BaseException.__repr__:
        shown = _text_of_exception(tx, value, function)
        if shown is not None:
            return shown
    if isinstance(value, ConstantVariable) and isinstance(value.value, enum.Enum):
        written = value.python_type().__str__ if function is str else value.python_type().__repr__
        if getattr(written, "__module__", "enum") == "enum":
            return constant(function(value.value))
    if ops.is_user_object(value):
        name = "__str__" if function is str and value.python_type().__str__ is not object.__str__ else "__repr__"
        from pydynamo.frontend.variables.class_lookup import ask

        shown = ask(tx, value, name)
        if not issubclass(shown.realize().python_type(), str):
            given = shown.realize().python_type()
            before = f"{name} returned non-string (type {type_name(given)})"
            tx.raise_error(TypeError, bad_answer(value.python_type(), name, "a str", given, before))
        return shown
    from pydynamo.frontend.variables.classes import ClassVariable

    if isinstance(value, ClassVariable):
        return constant(function(value.value))
    if isinstance(value, SequenceVariable | DictVariable) and value not in _open:
        _open.append(value)
        try:
            return constant(function(stand_in(tx, value)))
        finally:
            _open.remove(value)
    unsupported("data-dependent-value", f"the text of {value.describe()}")


#: containers whose text is being written: one that holds itself is left to eager
_open: list[VariableTracker] = []


def stand_in(tx: Translator, value: VariableTracker) -> Any:
    """A Python value that is written as ``value`` is."""
    value = value.realize()
    if value.is_constant() and isinstance(value, ConstantVariable) and not isinstance(value.value, enum.Enum):
        return value.value
    if isinstance(value, SequenceVariable) and value.cls in (list, tuple, torch.Size):
        items = [stand_in(tx, item) for item in value.items]
        if value.cls is not torch.Size:
            return value.cls(items)
        if all(type(item) is int for item in items):
            return torch.Size(items)
    if isinstance(value, DictVariable) and value.cls is dict:
        return {stand_in(tx, key): stand_in(tx, item) for key, item in value.entries.values()}
    return Text(tx, value)


class Text:
    """Stands for a tracked value where Python writes texts by itself."""

    def __init__(self, tx: Translator, value: VariableTracker) -> None:
        self._tx = tx
        self._value = value

    def __str__(self) -> str:
        return str(text_of(self._tx, self._value, str).as_constant())

    def __repr__(self) -> str:
        return str(text_of(self._tx, self._value, repr).as_constant())

    def __format__(self, spec: str) -> str:
        from pydynamo.frontend.variables.builtin_functions import format_value

        return str(format_value(self._tx, self._value, spec).as_constant())

    def _as_number(self) -> Any:
        unsupported("data-dependent-value", f"{self._value.describe()} written as a number")

    __int__ = __index__ = __float__ = __complex__ = _as_number


def formatted(tx: Translator, pattern: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``pattern.format(*args, **kwargs)`` where not all arguments are constants."""
    fields = [field for _, field, _, _ in string.Formatter().parse(pattern) if field is not None]
    if any("." in field or "[" in field for field in fields):
        unsupported("unsupported-method", "str.format that looks into its arguments")
    shown = [stand_in(tx, arg) for arg in args]
    named = {name: stand_in(tx, arg) for name, arg in kwargs.items()}
    return constant(run_python(tx, lambda: pattern.format(*shown, **named)))


def _text_of_exception(
    tx: Translator, error: ExceptionVariable, function: Callable[[Any], str]
) -> VariableTracker | None:
    """The text of an exception that is written from its arguments alone; None if its class writes it another way."""
    whole = text_of(tx, SequenceVariable(list(error.args), tuple), repr).as_constant() if len(error.args) != 1 else ""
    if function is repr:
        inside = whole or f"({text_of(tx, error.args[0], repr).as_constant()})"
        return constant(error.cls.__name__ + inside)
    if error.cls.__str__ is KeyError.__str__ and len(error.args) == 1:
        return text_of(tx, error.args[0], repr)
    if error.cls.__str__ is not KeyError.__str__ and not _writes_its_arguments(error.cls):
        return None
    return constant(whole if error.args else "") if len(error.args) != 1 else text_of(tx, error.args[0], str)


def _writes_its_arguments(cls: type) -> bool:
    """True if ``str()`` of an exception is made of its arguments alone, as BaseException does it."""
    base = next(base for base in cls.__mro__ if "__str__" in base.__dict__)
    if base is BaseException:
        return True
    if base.__module__ != "builtins":
        return False
    try:
        return str(base("probe")) == "probe" and str(base("a", "b")) == "('a', 'b')"
    except TypeError:
        return False
