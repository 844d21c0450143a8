"""What a function is: a generator function, a coroutine function; and special methods as ``contextlib`` looks them up.

``inspect`` answers these from flags of the code and from the class, which a translation knows without running it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.class_lookup import special_method
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.functions import BoundMethodVariable, FunctionVariable, UserFunctionVariable
from pydynamo.frontend.variables.objects import ObjectVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: what ``inspect.markcoroutinefunction`` leaves at a function (3.12+)
_MARK = "_is_coroutine_mark"


def _asks(name: str, flag: int) -> Callable[[Translator, Args, Kwargs], VariableTracker]:
    def answer(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) != 1 or kwargs:
            unsupported("inspection", f"call of inspect.{name} with these arguments")
        value = args[0].realize()
        while isinstance(value, BoundMethodVariable):
            value = value.function.realize()
        if isinstance(value, ClassVariable):
            return constant(False)
        if not isinstance(value, FunctionVariable):
            unsupported("inspection", f"call of inspect.{name} with {value.describe()}")
        marked = isinstance(value, UserFunctionVariable) and _MARK in value.fn.__dict__
        if marked or tx.ledger.load_attr(value, _MARK) is not None:
            unsupported("inspection", f"call of inspect.{name} with a marked function")
        return constant(bool(value.code.co_flags & flag))

    return answer


is_generator_function = _asks("isgeneratorfunction", inspect.CO_GENERATOR)
is_coroutine_function = _asks("iscoroutinefunction", inspect.CO_COROUTINE)
is_async_generator_function = _asks("isasyncgenfunction", inspect.CO_ASYNC_GENERATOR)


def lookup_special(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``contextlib._lookup_special(obj, name, default)`` (3.15+): what the class gives, bound, else the default."""
    owner, name, default = args[0].realize(), args[1].realize().as_constant(), args[2]
    if isinstance(owner, ObjectVariable):
        return special_method(tx, owner, name) or default
    return owner.getattr(tx, name) if hasattr(owner.python_type(), name) else default
