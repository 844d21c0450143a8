"""Opcodes that call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import operators as ops
from pydynamo.frontend import protocols
from pydynamo.frontend.dispatch import op
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.inline import stop_iteration_error
from pydynamo.frontend.variables.base import NullVariable, VariableTracker
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_NULL_AFTER = sys.version_info >= (3, 13)
_V314 = sys.version_info >= (3, 14)


def _target(tx: Translator, args: list[VariableTracker]) -> VariableTracker:
    """Pop callable and NULL (or self, which joins the arguments)."""
    second, first = tx.stack.pop(), tx.stack.pop()
    if _NULL_AFTER:
        function, owner = first, second
    elif isinstance(first, NullVariable):
        function, owner = second, first
    else:
        function, owner = first, second
    if not isinstance(owner, NullVariable):
        args.insert(0, owner)
    return function.realize()


@op("KW_NAMES")
def _kw_names(tx: Translator, inst: Any) -> None:
    tx.kw_names = inst.argval


def _call(tx: Translator, count: int, names: tuple[str, ...]) -> None:
    values = tx.popn(count)
    split = len(values) - len(names)
    args, kwargs = values[:split], dict(zip(names, values[split:], strict=True))
    function = _target(tx, args)
    tx.push(function.call_function(tx, args, kwargs))


@op("CALL")
def _call_plain(tx: Translator, inst: Any) -> None:
    names, tx.kw_names = tx.kw_names, ()
    _call(tx, inst.arg, names)


@op("CALL_KW")
def _call_kw(tx: Translator, inst: Any) -> None:
    names = tx.pop().as_constant()
    _call(tx, inst.arg, names)


@op("CALL_FUNCTION_EX")
def _call_function_ex(tx: Translator, inst: Any) -> None:
    kwargs: dict[str, VariableTracker] = {}
    if _V314 or inst.arg & 1:
        mapping = tx.stack.pop()
        if not isinstance(mapping, NullVariable):
            real = mapping.realize()
            if not isinstance(real, DictVariable):
                unsupported("unsupported-builtin", f"** of {real.describe()}")
            for key, value in real.entries.values():
                name = key.realize().as_constant()
                if not isinstance(name, str):
                    tx.raise_error(TypeError, "keywords must be strings")
                kwargs[name] = value
    unpacked = tx.pop()
    kind = unpacked.python_type()
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        unsupported("unsupported-iteration", f"* of {unpacked.describe()}")  # the error's words name the callable
    args = list(protocols.tupled(tx, unpacked))
    second = tx.stack.pop()
    if _NULL_AFTER:
        function = tx.pop()
    else:
        function = second.realize()
        if tx.stack and isinstance(tx.stack[-1], NullVariable):
            tx.stack.pop()
    tx.push(function.call_function(tx, args, kwargs))


@op("CALL_INTRINSIC_1")
def _call_intrinsic_1(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    if inst.arg == 3:
        tx.push(stop_iteration_error(value))
    elif inst.arg == 5:
        tx.push(ops.unary(tx, "pos", value))
    elif inst.arg == 6:
        tx.push(SequenceVariable(list(protocols.listed(tx, value)), tuple))
    else:
        unsupported("unsupported-opcode", f"CALL_INTRINSIC_1 {inst.arg}")


@op("CALL_INTRINSIC_2")
def _call_intrinsic_2(tx: Translator, inst: Any) -> None:
    unsupported("unsupported-opcode", f"CALL_INTRINSIC_2 {inst.arg}")
