"""Python's arithmetic and bitwise operators on tracked values.

Follows Python's protocol: builtin types by what they are, user types through their special methods.
"""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import VariableTracker, type_name
from pydynamo.frontend.variables.constant import ConstantVariable, constant, fold, run_python
from pydynamo.frontend.variables.dicts import DictVariable, DictView, SetVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, is_namedtuple

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: name -> (function, in-place function)
BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    name.strip("_"): (getattr(operator, name), getattr(operator, "i" + name.strip("_")))
    for name in (
        "add",
        "and_",
        "floordiv",
        "lshift",
        "matmul",
        "mul",
        "mod",
        "or_",
        "pow",
        "rshift",
        "sub",
        "truediv",
        "xor",
    )
}
_UNARY: dict[str, Any] = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}
SETLIKE = (SetVariable, DictView)


def is_graph_value(value: VariableTracker) -> bool:
    """True for tensors and symbols, whose operators go into the graph."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

    return isinstance(value, TensorVariable | SymNumberVariable)


def is_user_object(value: VariableTracker) -> bool:
    """True for values whose special methods are Python code that can be inlined."""
    from pydynamo.frontend.variables.objects import ObjectVariable

    return isinstance(value, ObjectVariable) or (isinstance(value, SequenceVariable) and is_namedtuple(value.cls))


def number_beside(tx: Translator, value: VariableTracker, other: VariableTracker) -> VariableTracker:
    """``value`` beside a symbol: a bool, known or not, counts as the int that it is."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    if isinstance(other, SymNumberVariable):
        if isinstance(value, ConstantVariable) and type(value.value) is bool:
            return constant(int(value.value))
        if isinstance(value, SymNumberVariable) and value.python_type() is bool:
            return constant(int(tx.truth(value)))
    if isinstance(value, SymNumberVariable) and value.python_type() is bool and _python_number(other):
        return constant(tx.truth(value))
    return value


def _exact_numbers(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker
) -> tuple[VariableTracker, VariableTracker]:
    """The operands as constants where shape expressions do not compute what Python does: floats, powers, zero."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

    if isinstance(left, TensorVariable):
        return left, right
    whole = left.python_type() is int and right.python_type() is int
    known = isinstance(right, ConstantVariable) and whole and (right.value > 0 if name != "pow" else right.value >= 0)
    if known:
        return left, right
    fixed = [v.specialize(tx) if isinstance(v, SymNumberVariable) else v for v in (left, right)]
    return fixed[0], fixed[1]


def is_user_class(kind: type) -> bool:
    """True for classes made by Python code."""
    return bool(kind.__flags__ & (1 << 9))


def _python_number(value: VariableTracker) -> bool:
    return isinstance(value, ConstantVariable) and isinstance(value.value, int | float | complex)


def graph_operand(value: VariableTracker) -> bool:
    from pydynamo.frontend.variables.tensor import TensorVariable

    return is_graph_value(value) or _python_number(value) or isinstance(value, TensorVariable)


def binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool = False
) -> VariableTracker:
    """``left <name> right`` or ``left <name>= right``."""
    left, right = left.realize(), right.realize()
    function = BINARY[name][1 if inplace else 0]
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if not enum_with_methods(left) and not enum_with_methods(right):
            return fold(tx, function, [left, right])
    if is_graph_value(left) or is_graph_value(right):
        from pydynamo.frontend.variables.tensor import TensorVariable, graph_binary

        if graph_operand(left) and graph_operand(right):
            if not isinstance(left, TensorVariable):
                function = BINARY[name][0]  # a number is not changed in place: the graph must not rebind its name
            left, right = number_beside(tx, left, right), number_beside(tx, right, left)
            if name in ("mod", "floordiv", "pow") and not isinstance(right, TensorVariable):
                left, right = _exact_numbers(tx, name, left, right)
            if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
                return fold(tx, function, [left, right])
            return graph_binary(tx, function, left, right)
        if not is_user_object(left) and not is_user_object(right):
            return _graph_with_container(tx, name, function, left, right)
    if name == "or" and _is_type_test(left) and _is_type_test(right):
        return fold(tx, function, [left, right])
    given = left, right
    if is_user_object(left) or is_user_object(right):
        from pydynamo.frontend.variables.container_objects import plain_operand

        dunders = f"__{name}__", f"__r{name}__"
        left, right = left if inplace else plain_operand(left, *dunders), plain_operand(right, *dunders)
    result = _counters(tx, name, left, right, inplace) or _builtin_binary(tx, name, left, right, inplace)
    if result is not None:
        return result
    if is_user_object(left) or is_user_object(right):
        return _user_binary(tx, name, left, right, inplace)
    return raise_like_python(tx, function, *given)


def _graph_with_container(
    tx: Translator, name: str, function: Callable[..., Any], left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    if isinstance(left, SymNumberVariable):
        return binary(tx, name, left.specialize(tx), right)
    if isinstance(right, SymNumberVariable):
        return binary(tx, name, left, right.specialize(tx))
    unsupported("unsupported-operator", f"{name} of {left.describe()} and {right.describe()}")


def enum_with_methods(value: VariableTracker) -> bool:
    import enum

    if not isinstance(value, ConstantVariable) or not isinstance(value.value, enum.Enum):
        return False
    kind = type(value.value)
    if isinstance(value.value, enum.Flag) and all(
        getattr(kind, name) is getattr(enum.Flag, name) for name in ("__or__", "__and__", "__xor__", "__invert__")
    ):
        return False
    return not isinstance(value.value, int | str)


def _is_type_test(value: VariableTracker) -> bool:
    """True for classes, and for unions of them."""
    from pydynamo.frontend.variables.classes import ClassVariable

    if isinstance(value, ClassVariable):
        return type(value.value) is type
    return isinstance(value, ConstantVariable) and (value.value is None or isinstance(value.value, types.UnionType))


def _counters(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker | None:
    """Operators of Counters, which are written in Python; None for other values."""
    counters = [isinstance(v, DictVariable) and v.cls is collections.Counter for v in (left, right)]
    if not any(counters):
        return None
    dunder = f"__{'i' if inplace else ''}{name}__"
    if not all(counters) or not hasattr(collections.Counter, dunder):
        unsupported("unsupported-operator", f"{name} of {left.describe()} and {right.describe()}")
    return left.call_method(tx, dunder, [right], {})


def _builtin_binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker | None:
    """Containers; None if the pair is not one of theirs."""

    import torch

    if isinstance(left, SequenceVariable) and not is_namedtuple(left.cls):
        if name == "add" and inplace and left.mutable:
            return _then(left, left.call_method(tx, "extend", [right], {}))
        if name == "add" and isinstance(right, SequenceVariable):
            plain = tuple if issubclass(left.cls, tuple) else left.cls
            if (issubclass(right.cls, tuple) if plain is tuple else right.cls is plain) and plain in (
                list,
                tuple,
            ):
                if plain is tuple and not (left.items and right.items):
                    # CPython gives the other one itself, if it is a plain tuple
                    other = right if not left.items else left
                    if other.cls is tuple:
                        return other
                if is_namedtuple(right.cls):
                    return SequenceVariable(left.items + right.items, plain)
                return SequenceVariable(left.items + right.items, type(left.cls() + right.cls()))
        if name == "mul" and isinstance(right, ConstantVariable) and isinstance(right.value, int):
            if len(left.items) * right.value > 1 << 16:
                unsupported("too-long", "a very long sequence")
            if inplace and left.cls is list:
                tx.ledger.mutate(left)
                left.items[:] = left.items * right.value
                return left
            if left.cls is tuple and right.value == 1:
                return left
            if left.cls in (list, tuple, torch.Size):
                return SequenceVariable(left.items * right.value, type(left.cls() * 1))
    if name == "mul" and isinstance(right, SequenceVariable) and _python_number(left) and right.cls in (list, tuple):
        if isinstance(left.as_constant(), int):
            return _builtin_binary(tx, name, right, left, False)
    if name == "mod" and isinstance(left, ConstantVariable) and isinstance(left.value, str | bytes):
        if right.is_constant():
            return fold(tx, operator.mod, [left, right])
        if isinstance(left.value, str):
            from pydynamo.frontend.variables.text import stand_in

            pattern, shown = left.value, stand_in(tx, right)
            return constant(run_python(tx, lambda: pattern % shown))
    if name == "or" and isinstance(left, DictVariable) and isinstance(right, DictVariable):
        if inplace:
            return _then(left, left.call_method(tx, "update", [right], {}))
        chosen = _class_of_merged(left, right)
        merged = DictVariable(dict(left.entries), chosen.cls, factory=chosen.factory)
        for code, (key, value) in right.entries.items():
            merged.put(key, value, code)
        return merged
    if isinstance(left, SETLIKE) and isinstance(right, SETLIKE):
        return _set_binary(tx, name, left, right, inplace)
    return None


def _class_of_merged(left: DictVariable, right: DictVariable) -> DictVariable:
    """Which of the two has its class in ``left | right``: the one whose operator CPython asks."""
    special = left.cls is not right.cls and issubclass(right.cls, left.cls) and "__ror__" in right.cls.__dict__
    return right if special else left


def _then(result: VariableTracker, _: VariableTracker) -> VariableTracker:
    return result


_SET_METHODS = {"or": "union", "and": "intersection", "sub": "difference", "xor": "symmetric_difference"}


def _set_binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker | None:
    from pydynamo.frontend.variables.dict_methods import as_set

    method = _SET_METHODS.get(name)
    if method is None or any(isinstance(v, DictView) and v.kind == "values" for v in (left, right)):
        return None
    if inplace and isinstance(left, SetVariable) and left.cls is set:
        update = "update" if method == "union" else method + "_update"
        return _then(left, left.call_method(tx, update, [as_set(tx, right)], {}))
    start = left if isinstance(left, SetVariable) else as_set(tx, left)
    result = start.call_method(tx, method, [as_set(tx, right)], {})
    if start is not left and name in ("and", "xor") and isinstance(result, SetVariable):
        result.layout = None  # views of dictionaries have algorithms of their own
    return result


#: sequences of C code, whose + and * are not operators of numbers
_CONCATENATED = (str, bytes, bytearray, list, tuple, range, collections.deque)


def _overrides(right: type, left: type, name: str) -> bool:
    """True if the subclass on the right has a mirrored method of its own, so that it is asked first."""
    from pydynamo.frontend.variables.class_lookup import lookup

    mirrored = f"__r{name}__"
    return lookup(right, mirrored)[1] is not lookup(left, mirrored)[1]


def _user_binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker:
    attempts: list[tuple[VariableTracker, str, VariableTracker]] = []
    if inplace:
        attempts.append((left, f"__i{name}__", right))
    normal = (left, f"__{name}__", right)
    mirrored = (right, f"__r{name}__", left)
    left_type, right_type = left.python_type(), right.python_type()
    if left_type is not right_type and left_type in right_type.__mro__ and _overrides(right_type, left_type, name):
        attempts += [mirrored, normal]
    else:
        attempts += [normal, mirrored] if left_type is not right_type else [normal]
    result = attempt(tx, attempts)
    if result is not None:
        return result
    if any(issubclass(kind, _CONCATENATED) for kind in (left_type, right_type)):
        # sequences repeat and concatenate after both sides declined, and raise errors of their own
        unsupported("unsupported-operator", f"{name} of {left.describe()} and {right.describe()}")
    symbol = {
        "add": "+",
        "sub": "-",
        "mul": "*",
        "truediv": "/",
        "floordiv": "//",
        "mod": "%",
        "pow": "** or pow()",
        "matmul": "@",
        "and": "&",
        "or": "|",
        "xor": "^",
        "lshift": "<<",
        "rshift": ">>",
    }[name]
    if inplace:
        symbol = "**=" if name == "pow" else symbol + "="
    tx.raise_error(
        TypeError,
        f"unsupported operand type(s) for {symbol}: '{type_name(left_type)}' and '{type_name(right_type)}'",
    )


def attempt(tx: Translator, attempts: list[tuple[VariableTracker, str, VariableTracker]]) -> VariableTracker | None:
    """The first special method that does not answer NotImplemented."""
    from pydynamo.frontend.variables.class_lookup import special_method

    for owner, dunder, other in attempts:
        if is_user_object(owner):
            method = special_method(tx, owner, dunder)
        elif hasattr(owner.python_type(), dunder):
            method = None
            if not is_user_object(other):
                unsupported("unsupported-operator", f"{dunder} of {owner.describe()}")
            if is_graph_value(owner) or isinstance(owner, ConstantVariable):
                if is_graph_value(owner):
                    unsupported("unsupported-operator", f"{dunder} of a tensor and {other.describe()}")
                continue
            if dunder in (
                "__eq__",
                "__ne__",
                "__lt__",
                "__le__",
                "__gt__",
                "__ge__",
                "__add__",
                "__radd__",
                "__mul__",
                "__rmul__",
                "__or__",
                "__ror__",
                "__and__",
                "__sub__",
                "__xor__",
            ):
                if dunder == "__iadd__":
                    unsupported("unsupported-operator", f"{dunder} of {owner.describe()}")
                continue
            unsupported("unsupported-operator", f"{dunder} of {owner.describe()}")
        else:
            method = None
        if method is None:
            continue
        result = method.call_function(tx, [other], {}).realize()
        if not (isinstance(result, ConstantVariable) and result.value is NotImplemented):
            return result
    return None


def _skeleton(value: VariableTracker) -> Any:
    """A Python value of the same type, for the sake of Python's own error message."""
    import torch

    if isinstance(value, ConstantVariable):
        return value.value
    kind = value.python_type()
    if is_user_object(value):
        from pydynamo.frontend.variables.container_objects import builtin_base

        base = builtin_base(kind)
        if not is_user_class(kind) or kind.__flags__ & (1 << 8):
            unsupported("unsupported-operator", f"operator on {value.describe()}")
        return type(kind.__name__, (base,) if base is not None else (), {})()
    if kind is torch.Size:
        return torch.Size(())
    if kind in (list, tuple, dict, set, frozenset):
        return kind()
    unsupported("unsupported-operator", f"operator on {value.describe()}")


def raise_like_python(tx: Translator, function: Callable[..., Any], *operands: VariableTracker) -> VariableTracker:
    """Operands of builtin types that do not go together: raise what Python raises."""
    values = [_skeleton(operand) for operand in operands]
    run_python(tx, lambda: function(*values))
    unsupported("unsupported-operator", f"{function.__name__} of {' and '.join(o.describe() for o in operands)}")


def unary(tx: Translator, name: str, value: VariableTracker) -> VariableTracker:
    """``-value``, ``+value`` or ``~value``."""
    from pydynamo.frontend.variables.class_lookup import special_method

    value = value.realize()
    function: Callable[..., Any] = _UNARY[name]
    if isinstance(value, ConstantVariable) and not enum_with_methods(value):
        return fold(tx, function, [value])
    if is_graph_value(value):
        return tx.output.call_function(tx, function, [value], {})
    if isinstance(value, DictVariable) and hasattr(value.cls, f"__{name}__"):
        return value.call_method(tx, f"__{name}__", [], {})
    if is_user_object(value):
        method = special_method(tx, value, f"__{name}__")
        if method is not None:
            return method.call_function(tx, [], {})
    return raise_like_python(tx, function, value)
