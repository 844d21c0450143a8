"""``str``, ``repr`` and ``format`` of tracked values."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import operators as ops
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.constant import ConstantVariable, constant, fold
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
        return value.call_method(tx, name, [], {})
    if isinstance(value, SequenceVariable) and value.is_constant():
        return fold(tx, function, [value])
    from pydynamo.frontend.variables.classes import ClassVariable

    if isinstance(value, ClassVariable):
        return constant(function(value.value))
    from pydynamo.frontend.variables.dicts import DictVariable

    if isinstance(value, DictVariable) and value.is_constant():
        return fold(tx, function, [value])
    unsupported("data-dependent-value", f"the text of {value.describe()}")


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
