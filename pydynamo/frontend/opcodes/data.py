"""Opcodes of operators, subscripts, containers and text."""

from __future__ import annotations

import dis
import itertools
import sys
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import comparison, protocols
from pydynamo.frontend import operators as ops
from pydynamo.frontend.dispatch import op
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.variables.base import has_special, type_name
from pydynamo.frontend.variables.builtin_functions import format_value, is_instance
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import NONE, constant, from_python, run_python
from pydynamo.frontend.variables.dict_methods import pairs_of
from pydynamo.frontend.variables.dicts import DictVariable, SetVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable
from pydynamo.frontend.variables.text import stand_in, text_of

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.base import VariableTracker

#: operand of BINARY_OP -> (operator, in place); "[]" is a subscript
_BINARY_OPS: dict[int, tuple[str, bool]] = {}
_SYMBOLS = {
    "+": "add",
    "&": "and",
    "//": "floordiv",
    "<<": "lshift",
    "@": "matmul",
    "*": "mul",
    "%": "mod",
    "|": "or",
    "**": "pow",
    ">>": "rshift",
    "-": "sub",
    "/": "truediv",
    "^": "xor",
}
for _index, (_, _symbol) in enumerate(dis._nb_ops):  # type: ignore[attr-defined]
    _inplace = _symbol.endswith("=")
    _BINARY_OPS[_index] = ("[]", False) if _symbol == "[]" else (_SYMBOLS[_symbol.removesuffix("=")], _inplace)
_REPR, _STR, _ASCII = 2, 1, 3


@op("BINARY_OP")
def _binary_op(tx: Translator, inst: Any) -> None:
    right, left = tx.pop(), tx.pop()
    name, inplace = _BINARY_OPS[inst.arg]
    if name == "[]":
        tx.push(protocols.getitem(tx, left, right))
    else:
        tx.push(ops.binary(tx, name, left, right, inplace))


@op("UNARY_NEGATIVE")
def _unary_negative(tx: Translator, inst: Any) -> None:
    tx.push(ops.unary(tx, "neg", tx.pop()))


@op("UNARY_INVERT")
def _unary_invert(tx: Translator, inst: Any) -> None:
    tx.push(ops.unary(tx, "invert", tx.pop()))


@op("UNARY_POSITIVE")
def _unary_positive(tx: Translator, inst: Any) -> None:
    tx.push(ops.unary(tx, "pos", tx.pop()))


@op("UNARY_NOT")
def _unary_not(tx: Translator, inst: Any) -> None:
    tx.push(constant(not tx.truth(tx.pop())))


@op("TO_BOOL")
def _to_bool(tx: Translator, inst: Any) -> None:
    tx.push(constant(tx.truth(tx.pop())))


@op("COMPARE_OP")
def _compare_op(tx: Translator, inst: Any) -> None:
    right, left = tx.pop(), tx.pop()
    symbol = inst.argval
    to_bool = symbol.startswith("bool(")
    result = comparison.compare(tx, symbol.removeprefix("bool(").removesuffix(")"), left, right)
    tx.push(constant(tx.truth(result)) if to_bool else result)


@op("IS_OP")
def _is_op(tx: Translator, inst: Any) -> None:
    right, left = tx.pop(), tx.pop()
    tx.push(constant(comparison.is_same(tx, left, right) != bool(inst.arg)))


@op("CONTAINS_OP")
def _contains_op(tx: Translator, inst: Any) -> None:
    container, item = tx.pop(), tx.pop()
    tx.push(constant(protocols.contains(tx, container, item) != bool(inst.arg)))


@op("BINARY_SUBSCR")
def _binary_subscr(tx: Translator, inst: Any) -> None:
    key, owner = tx.pop(), tx.pop()
    tx.push(protocols.getitem(tx, owner, key))


@op("STORE_SUBSCR")
def _store_subscr(tx: Translator, inst: Any) -> None:
    key, owner = tx.pop(), tx.pop()
    owner.setitem(tx, key, tx.stack.pop())


@op("DELETE_SUBSCR")
def _delete_subscr(tx: Translator, inst: Any) -> None:
    key, owner = tx.pop(), tx.pop()
    owner.delitem(tx, key)


@op("BINARY_SLICE")
def _binary_slice(tx: Translator, inst: Any) -> None:
    start, stop = tx.popn(2)
    tx.push(protocols.getitem(tx, tx.pop(), SliceVariable([start, stop, NONE])))


@op("STORE_SLICE")
def _store_slice(tx: Translator, inst: Any) -> None:
    start, stop = tx.popn(2)
    owner = tx.pop()
    owner.setitem(tx, SliceVariable([start, stop, NONE]), tx.stack.pop())


@op("BUILD_SLICE")
def _build_slice(tx: Translator, inst: Any) -> None:
    parts = tx.popn(inst.arg)
    tx.push(SliceVariable([*parts, NONE][:3]))


@op("BUILD_TUPLE")
def _build_tuple(tx: Translator, inst: Any) -> None:
    tx.push(SequenceVariable(tx.popn(inst.arg), tuple))


@op("BUILD_LIST")
def _build_list(tx: Translator, inst: Any) -> None:
    tx.push(SequenceVariable(tx.popn(inst.arg), list))


@op("BUILD_SET")
def _build_set(tx: Translator, inst: Any) -> None:
    tx.push(SetVariable.from_values(tx.popn(inst.arg), set))


@op("BUILD_MAP")
def _build_map(tx: Translator, inst: Any) -> None:
    values = tx.popn(2 * inst.arg)
    tx.push(DictVariable.from_pairs(list(zip(values[::2], values[1::2], strict=True))))


@op("BUILD_CONST_KEY_MAP")
def _build_const_key_map(tx: Translator, inst: Any) -> None:
    keys = [constant(key) if not isinstance(key, tuple) else from_python(key) for key in tx.pop().as_constant()]
    tx.push(DictVariable.from_pairs(list(zip(keys, tx.popn(inst.arg), strict=True))))


def _under(tx: Translator, depth: int) -> VariableTracker:
    return tx.stack[-depth].realize()


@op("LIST_APPEND")
def _list_append(tx: Translator, inst: Any) -> None:
    value = tx.stack.pop()
    _under(tx, inst.arg).call_method(tx, "append", [value], {})


@op("LIST_EXTEND")
def _list_extend(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    kind = value.python_type()
    if not has_special(kind, "__iter__") and not has_special(kind, "__getitem__"):
        tx.raise_error(TypeError, f"Value after * must be an iterable, not {type_name(kind)}")
    _under(tx, inst.arg).call_method(tx, "extend", [value], {})


@op("SET_ADD")
def _set_add(tx: Translator, inst: Any) -> None:
    value = tx.stack.pop()
    _under(tx, inst.arg).call_method(tx, "add", [value], {})


@op("SET_UPDATE")
def _set_update(tx: Translator, inst: Any) -> None:
    value = tx.stack.pop()
    _under(tx, inst.arg).call_method(tx, "update", [value], {})


@op("MAP_ADD")
def _map_add(tx: Translator, inst: Any) -> None:
    key, value = tx.popn(2)
    _under(tx, inst.arg).setitem(tx, key.realize(), value)


@op("DICT_UPDATE")
def _dict_update(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    if not _is_mapping(value):
        tx.raise_error(TypeError, f"'{type_name(value.python_type())}' object is not a mapping")
    _under(tx, inst.arg).call_method(tx, "update", [value], {})


@op("DICT_MERGE")
def _dict_merge(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    target = _under(tx, inst.arg)
    assert isinstance(target, DictVariable)
    if not _is_mapping(value):
        unsupported("unsupported-operator", f"** of {value.describe()}")  # the error's words name the callable
    try:
        pairs = pairs_of(tx, value)
    except ObservedException:
        unsupported("unsupported-operator", f"** of {value.describe()}, which raises")  # some errors become others
    for key, item in pairs:
        if target.lookup(key) is not None:
            unsupported("unsupported-operator", f"keyword argument {key.describe()} given twice")
        target.put(key, item)


def _is_mapping(value: VariableTracker) -> bool:
    return isinstance(value, DictVariable) or hasattr(value.python_type(), "keys")


@op("LIST_TO_TUPLE")
def _list_to_tuple(tx: Translator, inst: Any) -> None:
    tx.push(SequenceVariable(list(protocols.iterate(tx, tx.pop())), tuple))


@op("UNPACK_SEQUENCE")
def _unpack_sequence(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    if not any(has_special(value.python_type(), name) for name in ("__iter__", "__getitem__")):
        tx.raise_error(TypeError, f"cannot unpack non-iterable {type_name(value.python_type())} object")
    if isinstance(value, SequenceVariable) and value.cls in (list, tuple):
        items = list(value.items)
    else:
        items = list(itertools.islice(protocols.iterate(tx, value), inst.arg + 1))  # Python looks one item further
    if len(items) != inst.arg:
        _unpack_like_python(tx, value.python_type(), len(items), inst.arg)
    for item in reversed(items):
        tx.push(item)


def _unpack_like_python(tx: Translator, kind: type, count: int, wanted: int) -> None:
    """Raise what unpacking ``count`` values to ``wanted`` names raises: the words differ by type and version."""
    makers: dict[type, Any] = {list: list, tuple: tuple, dict: dict.fromkeys}
    made = makers.get(kind, iter)(range(count))
    code = compile(f"[{'_, ' * wanted}] = made", "<unpack>", "exec")
    run_python(tx, lambda: exec(code, {"made": made}))
    unsupported("unsupported-operator", f"unpacking a {kind.__name__}")


@op("UNPACK_EX")
def _unpack_ex(tx: Translator, inst: Any) -> None:
    before, after = inst.arg & 0xFF, inst.arg >> 8
    value = tx.pop()
    if not any(has_special(value.python_type(), name) for name in ("__iter__", "__getitem__")):
        tx.raise_error(TypeError, f"cannot unpack non-iterable {type_name(value.python_type())} object")
    iterator = value.get_iter(tx).realize()
    # the rest is taken by list(), which asks the iterator for its iterator once more
    items = list(itertools.islice(protocols.stepping(tx, iterator), before))
    if len(items) == before:
        items += protocols.listed(tx, iterator)
    if len(items) < before + after:
        tx.raise_error(
            ValueError, f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
        )
    for item in reversed(items[len(items) - after :]):
        tx.push(item)
    tx.push(SequenceVariable(items[before : len(items) - after], list))
    for item in reversed(items[:before]):
        tx.push(item)


# text ------------------------------------------------------------------------------------------------------------
@op("FORMAT_VALUE")
def _format_value(tx: Translator, inst: Any) -> None:
    spec = tx.pop().as_constant() if inst.arg & 4 else ""
    tx.push(format_value(tx, _converted(tx, tx.pop(), inst.arg & 3), spec))


@op("CONVERT_VALUE")
def _convert_value(tx: Translator, inst: Any) -> None:
    tx.push(_converted(tx, tx.pop(), inst.arg))


@op("FORMAT_SIMPLE")
def _format_simple(tx: Translator, inst: Any) -> None:
    tx.push(format_value(tx, tx.pop(), ""))


@op("FORMAT_WITH_SPEC")
def _format_with_spec(tx: Translator, inst: Any) -> None:
    spec = tx.pop().as_constant()
    tx.push(format_value(tx, tx.pop(), spec))


def _converted(tx: Translator, value: VariableTracker, conversion: int) -> VariableTracker:
    if conversion == 0:
        return value
    if conversion == _ASCII:
        return constant(ascii(stand_in(tx, value)))
    return text_of(tx, value, repr if conversion == _REPR else str)


@op("BUILD_STRING")
def _build_string(tx: Translator, inst: Any) -> None:
    parts = [part.realize().as_constant() for part in tx.popn(inst.arg)]
    tx.push(constant("".join(parts)))


# match -----------------------------------------------------------------------------------------------------------
@op("GET_LEN")
def _get_len(tx: Translator, inst: Any) -> None:
    tx.push(tx.stack[-1].realize().length(tx))


@op("MATCH_SEQUENCE")
def _match_sequence(tx: Translator, inst: Any) -> None:
    kind = tx.stack[-1].realize().python_type()
    tx.push(constant(bool(kind.__flags__ & (1 << 5))))


@op("MATCH_MAPPING")
def _match_mapping(tx: Translator, inst: Any) -> None:
    kind = tx.stack[-1].realize().python_type()
    tx.push(constant(bool(kind.__flags__ & (1 << 6))))


@op("MATCH_KEYS")
def _match_keys(tx: Translator, inst: Any) -> None:
    keys = tx.stack[-1].realize()
    subject = tx.stack[-2].realize()
    if not isinstance(subject, DictVariable) or not isinstance(keys, SequenceVariable):
        unsupported("unsupported-opcode", "matching keys of this mapping")
    found = [subject.lookup(key) for key in keys.items]
    if any(value is None for value in found):
        tx.push(NONE)
    else:
        tx.push(SequenceVariable([value for value in found if value is not None], tuple))


_NO_CLASS = "called match pattern must be a class"
if sys.version_info < (3, 12):
    _NO_CLASS = "called match pattern must be a type"
elif sys.version_info >= (3, 15):
    _NO_CLASS = "class pattern must refer to a class"


@op("MATCH_CLASS")
def _match_class(tx: Translator, inst: Any) -> None:
    from pydynamo.frontend.exc import ObservedException

    names = tx.pop().as_constant()
    cls, subject = tx.pop(), tx.pop()
    if not isinstance(cls, ClassVariable):
        tx.raise_error(TypeError, _NO_CLASS)
    target = cls.value
    if not tx.truth(is_instance(tx, [subject, cls], {})):
        tx.push(NONE)
        return
    values: list[VariableTracker] = []
    positional = inst.arg
    if positional and target in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        values.append(subject)
        positional -= 1
    fields = getattr(target, "__match_args__", ())
    if not isinstance(fields, tuple) or set(fields[:positional]) & set(names):
        unsupported("uncaught-exception", "a pattern that names an attribute twice")
    if positional > len(fields):
        unsupported("uncaught-exception", "too many positional patterns")
    for name in [*fields[:positional], *names]:
        try:
            values.append(subject.getattr(tx, name))
        except ObservedException as error:
            if issubclass(error.vt.python_type(), AttributeError):
                tx.push(NONE)
                return
            raise
    tx.push(SequenceVariable(values, tuple))
