"""Python's operators on tracked values: arithmetic, comparison, identity, membership, iteration, subscripts.

Follows Python's protocol: builtin types by what they are, user types through their special methods.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.variables.base import Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import ConstantVariable, constant, fold, from_python, run_python
from pydynamo.frontend.variables.dicts import DictVariable, DictView, SetVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable, is_namedtuple

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
COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_DUNDER_OF = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", ">=": "__ge__"}
_MIRROR = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
_UNARY: dict[str, Any] = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}
_SETLIKE = (SetVariable, DictView)


def is_graph_value(value: VariableTracker) -> bool:
    """True for tensors and symbols, whose operators go into the graph."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

    return isinstance(value, TensorVariable | SymNumberVariable)


def is_user_object(value: VariableTracker) -> bool:
    """True for values whose special methods are Python code that can be inlined."""
    from pydynamo.frontend.variables.objects import ObjectVariable

    return isinstance(value, ObjectVariable) or (isinstance(value, SequenceVariable) and is_namedtuple(value.cls))


def _number(tx: Translator, value: VariableTracker, other: VariableTracker) -> VariableTracker:
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


def _graph_operand(value: VariableTracker) -> bool:
    from pydynamo.frontend.variables.tensor import TensorVariable

    return is_graph_value(value) or _python_number(value) or isinstance(value, TensorVariable)


def binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool = False
) -> VariableTracker:
    """``left <name> right`` or ``left <name>= right``."""
    left, right = left.realize(), right.realize()
    function = BINARY[name][1 if inplace else 0]
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if not _enum_with_methods(left) and not _enum_with_methods(right):
            return fold(tx, function, [left, right])
    if is_graph_value(left) or is_graph_value(right):
        from pydynamo.frontend.variables.tensor import TensorVariable, graph_binary

        if _graph_operand(left) and _graph_operand(right):
            if not isinstance(left, TensorVariable):
                function = BINARY[name][0]  # a number is not changed in place: the graph must not rebind its name
            left, right = _number(tx, left, right), _number(tx, right, left)
            if name in ("mod", "floordiv", "pow") and not isinstance(right, TensorVariable):
                left, right = _exact_numbers(tx, name, left, right)
            if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
                return fold(tx, function, [left, right])
            return graph_binary(tx, function, left, right)
        if not is_user_object(left) and not is_user_object(right):
            return _graph_with_container(tx, name, function, left, right)
    result = _builtin_binary(tx, name, left, right, inplace)
    if result is not None:
        return result
    if is_user_object(left) or is_user_object(right):
        return _user_binary(tx, name, left, right, inplace)
    return _raise_like_python(tx, function, left, right)


def _graph_with_container(
    tx: Translator, name: str, function: Callable[..., Any], left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    if isinstance(left, SymNumberVariable):
        return binary(tx, name, left.specialize(tx), right)
    if isinstance(right, SymNumberVariable):
        return binary(tx, name, left, right.specialize(tx))
    unsupported("unsupported-operator", f"{name} of {left.describe()} and {right.describe()}")


def _enum_with_methods(value: VariableTracker) -> bool:
    import enum

    if not isinstance(value, ConstantVariable) or not isinstance(value.value, enum.Enum):
        return False
    kind = type(value.value)
    if isinstance(value.value, enum.Flag) and all(
        getattr(kind, name) is getattr(enum.Flag, name) for name in ("__or__", "__and__", "__xor__", "__invert__")
    ):
        return False
    return not isinstance(value.value, int | str)


def _builtin_binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker | None:
    """Containers; None if the pair is not one of theirs."""
    import collections

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
            if left.cls in (list, tuple, torch.Size):
                return SequenceVariable(left.items * right.value, type(left.cls() * 1))
    if name == "mul" and isinstance(right, SequenceVariable) and _python_number(left) and right.cls in (list, tuple):
        if isinstance(left.as_constant(), int):
            return _builtin_binary(tx, name, right, left, False)
    if name == "mod" and isinstance(left, ConstantVariable) and isinstance(left.value, str | bytes):
        if right.is_constant():
            return fold(tx, operator.mod, [left, right])
    if name == "or" and isinstance(left, DictVariable) and isinstance(right, DictVariable):
        if collections.Counter in (left.cls, right.cls):
            return None
        if inplace:
            return _then(left, left.call_method(tx, "update", [right], {}))
        merged = DictVariable(dict(left.entries), left.cls, factory=left.factory)
        for key, value in right.entries.values():
            merged.put(key, value)
        return merged
    if isinstance(left, _SETLIKE) and isinstance(right, _SETLIKE):
        return _set_binary(tx, name, left, right, inplace)
    return None


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
    return start.call_method(tx, method, [as_set(tx, right)], {})


def _user_binary(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker, inplace: bool
) -> VariableTracker:
    attempts: list[tuple[VariableTracker, str, VariableTracker]] = []
    if inplace:
        attempts.append((left, f"__i{name}__", right))
    normal = (left, f"__{name}__", right)
    mirrored = (right, f"__r{name}__", left)
    left_type, right_type = left.python_type(), right.python_type()
    if left_type is not right_type and issubclass(right_type, left_type):
        attempts += [mirrored, normal]
    else:
        attempts += [normal, mirrored] if left_type is not right_type else [normal]
    result = _attempt(tx, attempts)
    if result is not None:
        return result
    if any(hasattr(kind, "__getitem__") and not is_user_class(kind) for kind in (left_type, right_type)):
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
        f"unsupported operand type(s) for {symbol}: '{left_type.__name__}' and '{right_type.__name__}'",
    )


def _attempt(tx: Translator, attempts: list[tuple[VariableTracker, str, VariableTracker]]) -> VariableTracker | None:
    """The first special method that does not answer NotImplemented."""
    from pydynamo.frontend.variables.objects import special_method

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
    if kind is torch.Size:
        return torch.Size(())
    if kind in (list, tuple, dict, set, frozenset):
        return kind()
    unsupported("unsupported-operator", f"operator on {value.describe()}")


def _raise_like_python(tx: Translator, function: Callable[..., Any], *operands: VariableTracker) -> VariableTracker:
    """Operands of builtin types that do not go together: raise what Python raises."""
    values = [_skeleton(operand) for operand in operands]
    run_python(tx, lambda: function(*values))
    unsupported("unsupported-operator", f"{function.__name__} of {' and '.join(o.describe() for o in operands)}")


def unary(tx: Translator, name: str, value: VariableTracker) -> VariableTracker:
    """``-value``, ``+value`` or ``~value``."""
    from pydynamo.frontend.variables.objects import special_method

    value = value.realize()
    function: Callable[..., Any] = _UNARY[name]
    if isinstance(value, ConstantVariable) and not _enum_with_methods(value):
        return fold(tx, function, [value])
    if is_graph_value(value):
        return tx.output.call_function(tx, function, [value], {})
    if is_user_object(value):
        method = special_method(tx, value, f"__{name}__")
        if method is not None:
            return method.call_function(tx, [], {})
    return _raise_like_python(tx, function, value)


def compare(tx: Translator, symbol: str, left: VariableTracker, right: VariableTracker) -> VariableTracker:
    """``left <symbol> right``"""
    left, right = left.realize(), right.realize()
    function = COMPARE[symbol]
    if is_graph_value(left) or is_graph_value(right):
        if _graph_operand(left) and _graph_operand(right):
            from pydynamo.frontend.variables.tensor import graph_binary

            left, right = _number(tx, left, right), _number(tx, right, left)
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
        if not _enum_with_methods(left) and not _enum_with_methods(right):
            return fold(tx, function, [left, right])
    if is_user_object(left) or is_user_object(right):
        return _user_compare(tx, symbol, left, right)
    if isinstance(left, SequenceVariable) and isinstance(right, SequenceVariable):
        same_kind = left.cls is right.cls or (issubclass(left.cls, tuple) and issubclass(right.cls, tuple))
        if same_kind:
            return _sequence_compare(tx, symbol, left.items, right.items)
    if isinstance(left, _SETLIKE) and isinstance(right, _SETLIKE):
        from pydynamo.frontend.variables.dict_methods import as_set

        if not any(isinstance(v, DictView) and v.kind == "values" for v in (left, right)):
            return constant(function(as_set(tx, left).members.keys(), as_set(tx, right).members.keys()))
    if isinstance(left, DictVariable) and isinstance(right, DictVariable) and symbol in ("==", "!="):
        return constant(_dict_equal(tx, left, right) == (symbol == "=="))
    if isinstance(left, SliceVariable) and isinstance(right, SliceVariable):
        return _sequence_compare(tx, symbol, left.items, right.items)
    if symbol in ("==", "!="):
        if left.identity() is right.identity():
            return constant(symbol == "==")
        if _never_equal(left, right):
            note_distinct(tx, left, right)
            return constant(symbol == "!=")
        unsupported("unsupported-operator", f"{left.describe()} {symbol} {right.describe()}")
    return _raise_like_python(tx, function, left, right)


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
    normal = (left, _DUNDER_OF[symbol], right)
    mirrored = (right, _DUNDER_OF[_MIRROR[symbol]], left)
    left_type, right_type = left.python_type(), right.python_type()
    first = left_type is not right_type and issubclass(right_type, left_type)
    result = _attempt(tx, [mirrored, normal] if first else [normal, mirrored])
    if result is None and symbol == "!=":
        equal = _attempt(tx, [(left, "__eq__", right)])
        if equal is not None:
            return constant(not tx.truth(equal))
    if result is not None:
        return result
    if symbol in ("==", "!="):
        return constant(is_same(tx, left, right) == (symbol == "=="))
    tx.raise_error(
        TypeError,
        f"'{symbol}' not supported between instances of '{left_type.__name__}' and '{right_type.__name__}'",
    )


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
    import collections

    if left.cls is right.cls is collections.Counter:
        unsupported("unsupported-operator", "comparison of Counters")
    if left.cls is right.cls is collections.OrderedDict and list(left.entries) != list(right.entries):
        return False
    if len(left.entries) != len(right.entries):
        return False
    for code, (_, value) in left.entries.items():
        if code not in right.entries or not same_or_equal(tx, value.realize(), right.entries[code][1].realize()):
            return False
    return True


def same_or_equal(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """``left is right or left == right``, as containers compare."""
    left, right = left.realize(), right.realize()
    if left.identity() is right.identity():
        return True
    return tx.truth(compare(tx, "==", left, right))


def note_distinct(tx: Translator, left: VariableTracker, right: VariableTracker) -> None:
    """Guard that two sourced objects stay two objects."""
    if left.source is not None and right.source is not None:
        tx.output.guards.add("IS_NOT", left.source, right.source)


def is_same(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """``left is right``"""
    left, right = left.realize(), right.realize()
    if left.identity() is right.identity():
        return True
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if type(left.value) is not type(right.value):
            return False
        singleton = left.identity() is left.value or right.identity() is right.value
        if singleton or left.value != right.value:
            return False
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


def contains(tx: Translator, container: VariableTracker, item: VariableTracker) -> bool:
    """``item in container``"""
    container, item = container.realize(), item.realize()
    if is_user_object(container):
        from pydynamo.frontend.variables.objects import special_method

        method = special_method(tx, container, "__contains__")
        if method is not None:
            return tx.truth(method.call_function(tx, [item], {}))
    return container.contains(tx, item)


def contains_by_iteration(tx: Translator, container: VariableTracker, item: VariableTracker) -> bool:
    """Membership by walking over the container."""
    return any(same_or_equal(tx, candidate, item) for candidate in iterate(tx, container))


def iterate(tx: Translator, value: VariableTracker) -> Iterator[VariableTracker]:
    """The items of ``value``, one after the other, as a for loop sees them."""
    yield from stepping(tx, value.realize().get_iter(tx).realize())


def stepping(tx: Translator, iterator: VariableTracker) -> Iterator[VariableTracker]:
    """What ``next()`` gives until the iterator ends."""
    for _ in range(1 << 17):
        try:
            yield iterator.next(tx)
        except ObservedException as error:
            if issubclass(error.vt.python_type(), StopIteration):
                return
            raise
    unsupported("too-long", "a very long iteration")


def getitem(tx: Translator, owner: VariableTracker, key: VariableTracker) -> VariableTracker:
    """``owner[key]``"""
    return owner.realize().getitem(tx, key.realize())


def as_index(tx: Translator, value: VariableTracker) -> int:
    """The integer that ``value`` stands for as an index."""
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    value = value.realize()
    if isinstance(value, SymNumberVariable):
        value = value.specialize(tx)
    if is_user_object(value):
        value = value.call_method(tx, "__index__", [], {}).realize()
    index = value.as_constant()
    return int(run_python(tx, lambda: operator.index(index)))


def sort_items(tx: Translator, items: list[VariableTracker], kwargs: Kwargs) -> list[VariableTracker]:
    """``sorted(items, key=…, reverse=…)``"""
    unknown = set(kwargs) - {"key", "reverse"}
    if unknown:
        unsupported("unsupported-builtin", f"sorting with {unknown}")
    key = kwargs["key"].realize() if "key" in kwargs else None
    keyed = key is not None and not (isinstance(key, ConstantVariable) and key.value is None)
    reverse = "reverse" in kwargs and tx.truth(kwargs["reverse"])
    rows = [
        (key.call_function(tx, [item], {}).realize() if keyed and key is not None else item.realize(), item)
        for item in items
    ]

    def order(a: tuple[VariableTracker, Any], b: tuple[VariableTracker, Any]) -> int:
        if tx.truth(compare(tx, "<", a[0], b[0])):
            return -1
        return 1 if tx.truth(compare(tx, "<", b[0], a[0])) else 0

    return [item for _, item in sorted(rows, key=cmp_to_key(order), reverse=reverse)]


def call_dunder(tx: Translator, name: str, owner: VariableTracker, args: list[VariableTracker]) -> VariableTracker:
    """A special method of a builtin container, called by name."""
    if name == "__len__":
        return owner.length(tx)
    if name == "__iter__":
        return owner.get_iter(tx)
    if name == "__getitem__":
        return getitem(tx, owner, args[0])
    if name == "__setitem__":
        owner.setitem(tx, args[0], args[1])
        return from_python(None)
    if name == "__delitem__":
        owner.delitem(tx, args[0])
        return from_python(None)
    if name == "__contains__":
        return constant(contains(tx, owner, args[0]))
    other = args[0].realize()
    if owner.python_type() is not other.python_type():
        unsupported("unsupported-method", f"{name} between different types")
    for symbol, dunder in _DUNDER_OF.items():
        if dunder == name:
            return compare(tx, symbol, owner, other)
    bare = name.strip("_")
    if bare.startswith("i") and bare[1:] in BINARY:
        return binary(tx, bare[1:], owner, other, inplace=True)
    return binary(tx, bare, owner, other)
