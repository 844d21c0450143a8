"""Builtin functions and the constructors of builtin types."""

from __future__ import annotations

import itertools
import math
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import comparison
from pydynamo.frontend import operators as ops
from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.policy import break_reason_of_builtin
from pydynamo.frontend.polyfills.registry import polyfill_for_function
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.c_signatures import check_call
from pydynamo.frontend.variables.constant import NONE, answer_to, constant, fold, run_python
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.natives import NativeFunctionVariable
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.text import text_of

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator

Handler = Callable[["Translator", Args, Kwargs], VariableTracker]

#: builtins that are pure functions of constants
_FOLDABLE: frozenset[Any] = frozenset(
    {
        abs,
        operator.abs,
        round,
        pow,
        divmod,
        chr,
        ord,
        hex,
        bin,
        oct,
        ascii,
        format,
        hash,
        int.from_bytes,
        str.maketrans,
        float.fromhex,
        bytes.fromhex,
        *(value for name, value in vars(math).items() if callable(value)),
    }
)
_OPERATORS: dict[Any, tuple[str, bool]] = {}
for _name, (_plain, _inplace) in ops.BINARY.items():
    _OPERATORS[_plain] = (_name, False)
    _OPERATORS[_inplace] = (_name, True)
_COMPARISONS = {function: symbol for symbol, function in comparison.COMPARE.items()}
_UNARY = {operator.neg: "neg", operator.pos: "pos", operator.invert: "invert", operator.inv: "invert"}


class BuiltinVariable(NativeFunctionVariable):
    """A function written in C, an unbound method of a builtin type included."""

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.builtin_functions import HANDLERS

        fn = self.fn
        handler = HANDLERS.get(fn) if _hashable(fn) else None
        if _hashable(fn):
            check_call(tx, fn, len(args), kwargs)
        if handler is not None:
            return handler(tx, args, kwargs)
        if fn in _OPERATORS and len(args) == 2 and not kwargs:
            name, inplace = _OPERATORS[fn]
            return ops.binary(tx, name, args[0], args[1], inplace)
        if fn in _COMPARISONS and len(args) == 2 and not kwargs:
            return comparison.compare(tx, _COMPARISONS[fn], args[0], args[1])
        if fn in _UNARY and len(args) == 1 and not kwargs:
            return ops.unary(tx, _UNARY[fn], args[0])
        replacement = polyfill_for_function(fn)
        if replacement is not None:
            check_call(tx, fn, len(args), kwargs, like=replacement)
            made = tx.function_at(replacement, sources.const(replacement)).call_function(tx, args, kwargs)
            return _as_iterators(fn, made)
        if fn in _FOLDABLE:
            return self._fold(tx, args, kwargs)
        from pydynamo.frontend.variables.torch_ops import class_applied, special_function

        special = special_function(fn) if class_applied(fn) is not None else None
        if special is not None:
            return special(tx, args, kwargs)
        owner = getattr(fn, "__objclass__", None)
        if isinstance(owner, type) and args:
            return self._unbound(tx, owner, args, kwargs)
        bound_to = getattr(fn, "__self__", None)
        if isinstance(bound_to, type) and fn.__name__ == "__new__" and args:
            from pydynamo.frontend.variables.classes import new_instance

            return new_instance(tx, bound_to, args[0].realize(), args[1:], kwargs)
        if isinstance(bound_to, type) and fn.__name__ == "fromkeys":
            from pydynamo.frontend.variables.dicts import DICT_TYPES, DictVariable

            if bound_to not in DICT_TYPES:
                unsupported("opaque-object", f"{bound_to.__qualname__}.fromkeys")
            return DictVariable({}, bound_to).call_method(tx, "fromkeys", args, kwargs)
        unsupported(break_reason_of_builtin(fn), f"call of builtin {getattr(fn, '__qualname__', fn)!r}")

    def _fold(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [arg.realize() for arg in args]
        if any(ops.is_graph_value(value) for value in values) and self.fn in (abs, round, pow):
            if self.fn is round and values[0].python_type() is float:
                return fold(tx, self.fn, values, kwargs)
            if self.fn is pow and len(values) == 2:
                return ops.binary(tx, "pow", values[0], values[1])
            return tx.output.call_function(tx, self.fn, values, kwargs)
        if values and ops.is_user_object(values[0]):
            name = {
                abs: "__abs__",
                round: "__round__",
                hash: "__hash__",
                divmod: "__divmod__",
                pow: "__pow__",
            }.get(self.fn)
            if name is not None:
                from pydynamo.frontend.variables.class_lookup import ask

                if name in ("__abs__", "__round__") and not hasattr(values[0].python_type(), name):
                    if not ops.is_user_class(values[0].python_type()):
                        unsupported("unsupported-builtin", f"{name} of {values[0].describe()}")
                    unlike = type(values[0].python_type().__name__, (), {})()
                    run_python(tx, lambda: self.fn(unlike))
                result = ask(tx, values[0], name, values[1:])
                return result if self.fn is not hash else answer_to(tx, hash, name, result, values[0].python_type())
        return fold(tx, self.fn, values, kwargs)

    def _unbound(self, tx: Translator, owner: type, args: Args, kwargs: Kwargs) -> VariableTracker:
        target = args[0].realize()
        name = self.fn.__name__
        if not issubclass(target.python_type(), owner):
            unsupported("unsupported-method", f"{owner.__name__}.{name} of {target.describe()}")
        if owner is object or ops.is_user_object(target):
            return MethodOfSuper(owner, name, target).call_function(tx, args[1:], kwargs)
        if getattr(target.python_type(), name, None) is not getattr(owner, name, None):
            unsupported("unsupported-method", f"{owner.__name__}.{name} of {target.describe()}, which has its own")
        return target.call_method(tx, name, args[1:], kwargs)

    def describe(self) -> str:
        return f"builtin {getattr(self.fn, '__qualname__', self.fn)}"


def _as_iterators(fn: Any, made: VariableTracker) -> VariableTracker:
    """What a function of itertools gives, with its class."""
    from pydynamo.frontend.inline import in_place_of

    if fn is itertools.tee:
        for item in made.realize().children():
            in_place_of(item, type(itertools.tee(())[0]))
    return in_place_of(made, itertools.chain) if fn == itertools.chain.from_iterable else made


def _hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


class MethodOfBuiltin(VariableTracker):
    """A method of a builtin value, bound: ``items.append``."""

    def __init__(self, owner: VariableTracker, name: str) -> None:
        self.owner = owner
        self.name = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.owner.realize().call_method(tx, self.name, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__self__":
            return self.owner
        if name == "__name__":
            return constant(self.name)
        return super().getattr(tx, name)

    def hash_key(self) -> Any:
        return Identity(self)

    def children(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_method_value(self.owner, self.name)


class MethodOfSuper(VariableTracker):
    """A C method of a base class, called past the overrides of the object's own class."""

    def __init__(self, base: type, name: str, owner: VariableTracker) -> None:
        self.base = base
        self.name = name
        self.owner = owner

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.class_lookup import refuse_arguments
        from pydynamo.frontend.variables.container_objects import ContainerObjectVariable
        from pydynamo.frontend.variables.dict_methods import call_dict_method
        from pydynamo.frontend.variables.dicts import DictVariable
        from pydynamo.frontend.variables.exceptions import ExceptionVariable
        from pydynamo.frontend.variables.objects import ObjectVariable, reduced

        owner, name = self.owner.realize(), self.name
        if isinstance(owner, ExceptionVariable) and name == "__init__" and not kwargs:
            owner.args = list(args)
            return NONE
        if self.base is object and isinstance(owner, ObjectVariable):
            if name == "__init__":
                refuse_arguments(tx, owner.cls, name, args, kwargs)
                return NONE
            if name == "__setattr__" and len(args) == 2:
                owner.plain_setattr(tx, args[0].realize().as_constant(), args[1])
                return NONE
            if name in ("__getattribute__", "__getattr__") and len(args) == 1:
                key = args[0].realize().as_constant()
                found = owner.plain_getattr(tx, key)
                if found is None:
                    tx.raise_error(AttributeError, f"'{owner.cls.__name__}' object has no attribute '{key}'")
                return found
            if name == "__delattr__" and len(args) == 1:
                owner.plain_delattr(tx, args[0].realize().as_constant())
                return NONE
            if name == "__init_subclass__" and not args and not kwargs:
                return NONE
            if name in ("__str__", "__format__"):
                if name == "__format__" and args and args[0].realize().as_constant():
                    tx.raise_error(TypeError, f"unsupported format string passed to {owner.cls.__name__}.__format__")
                return text_of(tx, owner, str)
            if name == "__reduce_ex__":
                return reduced(tx, owner)
            if name in ("__eq__", "__ne__") and len(args) == 1:
                if comparison.is_same(tx, owner, args[0]):
                    return constant(name == "__eq__")
                return constant(NotImplemented)
        if isinstance(owner, ContainerObjectVariable) and self.base is not object:
            return owner.call_base(tx, name, args, kwargs)
        if self.base is dict and type(owner) is DictVariable:
            return call_dict_method(tx, owner, name, args, kwargs, plain=True)
        if issubclass(self.base, tuple) and isinstance(owner, SequenceVariable):
            plain = SequenceVariable(owner.items, tuple)
            return plain.call_method(tx, name, args, kwargs)
        unsupported("unsupported-method", f"{self.base.__name__}.{name} of {owner.describe()}")
