"""Comparison and identity of tracked values, by Python's protocol."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.operators import (
    SETLIKE,
    attempt,
    enum_with_methods,
    graph_operand,
    is_graph_value,
    is_user_object,
    number_beside,
    raise_like_python,
)
from pydynamo.frontend.variables.attributes import IdentityNumber
from pydynamo.frontend.variables.base import VariableTracker, type_name
from pydynamo.frontend.variables.constant import ConstantVariable, constant, fold
from pydynamo.frontend.variables.dicts import DictVariable, DictView
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
DUNDER_OF = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", ">=": "__ge__"}
_MIRROR = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}


def compare(tx: Translator, symbol: str, left: VariableTracker, right: VariableTracker) -> VariableTracker:
    """``left <symbol> right``"""
    left, right = left.realize(), right.realize()
    function = COMPARE[symbol]
    if is_graph_value(left) or is_graph_value(right):
        if graph_operand(left) and graph_operand(right):
            from pydynamo.frontend.variables.tensor import TensorVariable, graph_binary

            left, right = number_beside(tx, left, right), number_beside(tx, right, left)
            if not isinstance(left, TensorVariable) and not isinstance(right, TensorVariable):
                left, right = _with_exact_conditions(tx, left), _with_exact_conditions(tx, right)
            if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
                return fold(tx, function, [left, right])
            return graph_binary(tx, function, left, right)
        other = right if is_graph_value(left) else left
        if not is_user_object(other) and symbol in ("==", "!="):
            from pydynamo.frontend.variables.tensor import SymNumberVariable

            if (
                isinstance(left, SymNumberVariable)
                or isinstance(right, SymNumberVariable)
                or (isinstance(other, ConstantVariable))
            ):
                return constant(symbol == "!=")
        if not is_user_object(other):
            unsupported("unsupported-operator", f"{left.describe()} {symbol} {right.describe()}")
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if not enum_with_methods(left) and not enum_with_methods(right):
            return fold(tx, function, [left, right])
    given = left, right
    if is_user_object(left) or is_user_object(right):
        from pydynamo.frontend.variables.container_objects import plain_operand

        names = DUNDER_OF[symbol], DUNDER_OF[_MIRROR[symbol]], "__eq__"
        left, right = plain_operand(left, *names), plain_operand(right, *names)
    if is_user_object(left) or is_user_object(right):
        return _user_compare(tx, symbol, left, right)
    if isinstance(left, SequenceVariable) and isinstance(right, SequenceVariable):
        same_kind = left.cls is right.cls or (issubclass(left.cls, tuple) and issubclass(right.cls, tuple))
        if same_kind:
            return _sequence_compare(tx, symbol, left.items, right.items)
    if isinstance(left, SETLIKE) and isinstance(right, SETLIKE):
        from pydynamo.frontend.variables.dict_methods import as_set

        if not any(isinstance(v, DictView) and v.kind == "values" for v in (left, right)):
            return constant(function(as_set(tx, left).members.keys(), as_set(tx, right).members.keys()))
    counters = [isinstance(v, DictVariable) and v.cls is collections.Counter for v in (left, right)]
    if any(counters):
        if not all(counters):
            unsupported("unsupported-operator", f"{left.describe()} {symbol} {right.describe()}")
        return left.call_method(tx, DUNDER_OF[symbol], [right], {})
    if isinstance(left, DictVariable) and isinstance(right, DictVariable) and symbol in ("==", "!="):
        return constant(_dict_equal(tx, left, right) == (symbol == "=="))
    if isinstance(left, SliceVariable) and isinstance(right, SliceVariable):
        return _sequence_compare(tx, symbol, left.items, right.items)
    if isinstance(left, IdentityNumber) and isinstance(right, IdentityNumber) and symbol in ("==", "!="):
        return constant(is_same(tx, left.target, right.target) == (symbol == "=="))
    if symbol in ("==", "!="):
        if left.identity() is right.identity():
            return constant(symbol == "==")
        if _never_equal(left, right):
            note_distinct(tx, left, right)
            return constant(symbol == "!=")
        unsupported("unsupported-operator", f"{left.describe()} {symbol} {right.describe()}")
    return raise_like_python(tx, function, *given)


def _with_exact_conditions(tx: Translator, value: VariableTracker) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    if isinstance(value, SymNumberVariable) and not value.has_exact_conditions():
        return value.specialize(tx)
    return value


_CONTENTS = (list, tuple, dict, set, str, bytes, int, float, complex, range, slice, type(None), type(Ellipsis))


def _never_equal(left: VariableTracker, right: VariableTracker) -> bool:
    """True if two different objects of these types are not equal, whatever they hold."""
    kinds = left.python_type(), right.python_type()
    by_identity = [kind.__eq__ is object.__eq__ for kind in kinds]
    if all(by_identity):
        return True
    families = [next((f for f in _CONTENTS if issubclass(k, f) and k.__eq__ is f.__eq__), None) for k in kinds]
    if None not in families:
        numbers = (int, float, complex)
        return families[0] is not families[1] and not (families[0] in numbers and families[1] in numbers)
    return any(by_identity) and any(family is not None for family in families)


def _user_compare(tx: Translator, symbol: str, left: VariableTracker, right: VariableTracker) -> VariableTracker:
    normal = (left, DUNDER_OF[symbol], right)
    mirrored = (right, DUNDER_OF[_MIRROR[symbol]], left)
    left_type, right_type = left.python_type(), right.python_type()
    # a real subclass: what an abstract class is told of counts for nothing here
    first = left_type is not right_type and left_type in right_type.__mro__
    attempts = [mirrored, normal] if first else [normal, mirrored]
    result = attempt(tx, attempts) if symbol != "!=" else _differ(tx, attempts)
    if result is not None:
        return result
    if symbol in ("==", "!="):
        return constant(is_same(tx, left, right) == (symbol == "=="))
    tx.raise_error(
        TypeError,
        f"'{symbol}' not supported between instances of '{type_name(left_type)}' and '{type_name(right_type)}'",
    )


def _differ(tx: Translator, attempts: list[tuple[VariableTracker, str, VariableTracker]]) -> VariableTracker | None:
    """``!=``: a class without ``__ne__`` has that of object, which turns around what ``__eq__`` says."""
    from pydynamo.frontend.variables.class_lookup import special_method

    result: VariableTracker | None
    for owner, _, other in attempts:
        if is_user_object(owner) and special_method(tx, owner, "__ne__") is None:
            equal = attempt(tx, [(owner, "__eq__", other)])
            result = constant(not tx.truth(equal)) if equal is not None else None
        else:
            result = attempt(tx, [(owner, "__ne__", other)])
        if result is not None:
            return result
    return None


def _sequence_compare(
    tx: Translator, symbol: str, left: list[VariableTracker], right: list[VariableTracker]
) -> VariableTracker:
    if symbol in ("==", "!=") and len(left) != len(right):
        return constant(symbol == "!=")
    for mine, other in zip(left, right, strict=False):
        if not same_or_equal(tx, mine.realize(), other.realize()):
            if symbol in ("==", "!="):
                return constant(symbol == "!=")
            return compare(tx, symbol, mine, other)
    return constant(COMPARE[symbol](len(left), len(right)))


def _dict_equal(tx: Translator, left: DictVariable, right: DictVariable) -> bool:
    if left.cls is right.cls is collections.OrderedDict and list(left.entries) != list(right.entries):
        return False
    if len(left.entries) != len(right.entries):
        return False
    for code in list(left.entries):
        if code not in left.entries:
            continue  # a value's comparison has taken it out
        value = left.entries[code][1]
        if code not in right.entries or not same_or_equal(tx, value.realize(), right.entries[code][1].realize()):
            return False
    return True


def same_or_equal(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """``left is right or left == right``, as containers compare."""
    left, right = left.realize(), right.realize()
    if left.identity() is right.identity():
        return True
    if _is_nan(left) and _is_nan(right):
        return is_same(tx, left, right)
    return tx.truth(compare(tx, "==", left, right))


def _is_nan(value: VariableTracker) -> bool:
    """True for the numbers that only identity makes equal."""
    return isinstance(value, ConstantVariable) and type(value.value) is float and value.value != value.value


def note_distinct(tx: Translator, left: VariableTracker, right: VariableTracker) -> None:
    """Guard that two sourced objects stay two objects."""
    if left.source is not None and right.source is not None:
        tx.output.guards.add("IS_NOT", left.source, right.source)


def _is_same_nan(tx: Translator, left: ConstantVariable, right: ConstantVariable) -> bool:
    """Identity of two that are equal to nothing, themselves included: guarded, where the caller hands them in."""
    if left.source is None or right.source is None:
        if left.value is right.value and (left.source is None) != (right.source is None):
            unsupported("unsupported-operator", "identity of equal constants")
        return left.value is right.value
    same = left.value is right.value
    tx.output.guards.add("IS" if same else "IS_NOT", left.source, right.source)
    return same


def is_same(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """``left is right``"""
    left, right = left.realize(), right.realize()
    if left.identity() is right.identity():
        return True
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if type(left.value) is not type(right.value):
            return False
        if _is_nan(left) and _is_nan(right):
            return _is_same_nan(tx, left, right)
        singleton = left.identity() is left.value or right.identity() is right.value
        if singleton or left.value != right.value:
            return False
        if left.source is None and right.source is None:
            # literals, and what Python itself made of them: these are the objects that the program would have
            return left.value is right.value
        unsupported("unsupported-operator", "identity of equal constants")
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    if isinstance(left, SymNumberVariable) or isinstance(right, SymNumberVariable):
        if left.python_type() is not right.python_type():
            return False
        if left.python_type() is bool:
            return tx.truth(left) == tx.truth(right)
        unsupported("unsupported-operator", "identity of numbers")
    if isinstance(left, SequenceVariable) and isinstance(right, SequenceVariable):
        if left.cls is tuple and right.cls is tuple and not left.items and not right.items:
            return True
        if left.cls is right.cls is tuple and (left.source is None or right.source is None):
            if left.is_constant() and right.is_constant():
                unsupported("unsupported-operator", "identity of constant tuples")
    note_distinct(tx, left, right)
    return False
