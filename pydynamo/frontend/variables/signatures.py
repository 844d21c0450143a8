"""``inspect.signature`` of functions in Python: names, kinds and defaults of parameters, read from the code."""

from __future__ import annotations

import collections
import inspect
import types
from typing import TYPE_CHECKING, NoReturn

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.functions import (
    BoundMethodVariable,
    FunctionVariable,
    NestedFunctionVariable,
    UserFunctionVariable,
)

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_Kind = inspect._ParameterKind
#: attributes with which a function says itself what its signature is
_OVERRIDES = ("__signature__", "__text_signature__", "__partialmethod__", "_partialmethod")
_METHODS = frozenset({"keys", "values", "items", "get", "__getitem__", "__contains__", "__iter__", "__len__"})


class ParameterVariable(VariableTracker):
    """One ``inspect.Parameter``."""

    def __init__(self, name: str, kind: _Kind, default: VariableTracker | None) -> None:
        self.name = name
        self.kind = kind
        self.default = default

    def python_type(self) -> type:
        return inspect.Parameter

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("name", "kind"):
            return constant(getattr(self, name))
        if name == "default":
            return self.default if self.default is not None else ClassVariable(inspect.Parameter.empty, None)
        if name == "empty":
            return ClassVariable(inspect.Parameter.empty, None)
        if isinstance(getattr(inspect.Parameter, name, None), _Kind):
            return constant(getattr(inspect.Parameter, name))
        unsupported("inspection", f"{name} of a parameter")


class ParametersVariable(DictVariable):
    """``Signature.parameters``, which cannot be changed."""

    mutable = False

    def __init__(self, parameters: list[ParameterVariable]) -> None:
        super().__init__({}, collections.OrderedDict)
        for parameter in parameters:
            self.put(constant(parameter.name), parameter)

    def python_type(self) -> type:
        return types.MappingProxyType

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return super().getattr(tx, name) if name in _METHODS else self._refuse(name)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        return super().call_method(tx, name, args, kwargs) if name in _METHODS else self._refuse(name)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self._refuse("store to a subscript")

    def delitem(self, tx: Translator, key: VariableTracker, code: object = None) -> None:
        self._refuse("deletion of a subscript")

    def as_constant(self) -> object:
        self._refuse("value")

    def _refuse(self, what: str) -> NoReturn:
        unsupported("inspection", f"{what} of the parameters of a signature")


class SignatureVariable(VariableTracker):
    """An ``inspect.Signature`` that was made in the trace."""

    def __init__(self, parameters: ParametersVariable) -> None:
        self.parameters = parameters

    def python_type(self) -> type:
        return inspect.Signature

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name != "parameters":
            unsupported("inspection", f"{name} of a signature")
        return self.parameters


def signature(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``inspect.signature(*args)``"""
    function = args[0].realize() if args else None
    bound = isinstance(function, BoundMethodVariable)
    if isinstance(function, BoundMethodVariable):
        function = function.function.realize()
    if len(args) != 1 or kwargs or not isinstance(function, FunctionVariable):
        unsupported("inspection", f"inspect.signature() of {args[0].describe() if args else 'nothing'}")
    parameters = _parameters(tx, _unwrapped(tx, function))
    if bound:
        first = parameters[0].kind if parameters else _Kind.KEYWORD_ONLY
        if first in (_Kind.KEYWORD_ONLY, _Kind.VAR_KEYWORD):
            unsupported("inspection", "inspect.signature() of a method without a first parameter")
        if first != _Kind.VAR_POSITIONAL:
            del parameters[0]
    return SignatureVariable(ParametersVariable(parameters))


def _unwrapped(tx: Translator, function: FunctionVariable) -> FunctionVariable:
    """The function behind those that ``functools.wraps`` has put before it."""
    for _ in range(100):
        wrapped = _wrapped(tx, function)
        if wrapped is None:
            return function
        inner = wrapped.realize()
        if not isinstance(inner, FunctionVariable):
            break
        function = inner
    unsupported("inspection", "inspect.signature() of a function that wraps something else")


def _wrapped(tx: Translator, function: FunctionVariable) -> VariableTracker | None:
    names = (*_OVERRIDES, "__wrapped__")
    if isinstance(function, NestedFunctionVariable):
        held = set(function.attributes)
    else:
        assert isinstance(function, UserFunctionVariable)
        if any(tx.ledger.load_attr(function, name) is not None for name in names):
            unsupported("inspection", "inspect.signature() of a function that was changed")
        held = set(function.fn.__dict__)
        for name in names:
            tx.output.guards.add("DICT_HAS", function.source, (name, name in held))
    if any(name in held for name in _OVERRIDES):
        unsupported("inspection", "inspect.signature() of a function that says itself what it is")
    return function.getattr(tx, "__wrapped__") if "__wrapped__" in held else None


def _parameters(tx: Translator, function: FunctionVariable) -> list[ParameterVariable]:
    code = function.code
    names = iter(code.co_varnames)
    defaults: list[VariableTracker | None] = [*function.defaults(tx)]
    positional = code.co_argcount
    made = []
    for index, default in enumerate([None] * (positional - len(defaults)) + defaults):
        only = index < code.co_posonlyargcount
        kind = _Kind.POSITIONAL_ONLY if only else _Kind.POSITIONAL_OR_KEYWORD
        made.append(ParameterVariable(next(names), kind, default))
    keyword_defaults = function.kwdefaults(tx)
    keyword_only = [next(names) for _ in range(code.co_kwonlyargcount)]
    if code.co_flags & inspect.CO_VARARGS:
        made.append(ParameterVariable(next(names), _Kind.VAR_POSITIONAL, None))
    made += [ParameterVariable(name, _Kind.KEYWORD_ONLY, keyword_defaults.get(name)) for name in keyword_only]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        made.append(ParameterVariable(next(names), _Kind.VAR_KEYWORD, None))
    return made
