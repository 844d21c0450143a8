"""Opcodes that move values: constants, locals, stack shuffles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydynamo.frontend.dispatch import op
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import const
from pydynamo.frontend.variables.base import NullVariable, VariableTracker
from pydynamo.frontend.variables.constant import constant, from_python
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: operand of LOAD_COMMON_CONSTANT -> the object (3.14+)
_COMMON_CONSTANTS: tuple[Any, ...] = (
    AssertionError,
    NotImplementedError,
    tuple,
    all,
    any,
    list,
    set,
    None,
    "",
    True,
    False,
    -1,
)


@op(
    "NOP",
    "RESUME",
    "CACHE",
    "COPY_FREE_VARS",
    "PRECALL",
    "EXTENDED_ARG",
    "NOT_TAKEN",
    "RESUME_CHECK",
)
def _nothing(tx: Translator, inst: Any) -> None:
    return


@op("MAKE_CELL")
def _make_cell(tx: Translator, inst: Any) -> None:
    if inst.argval in tx.code.co_freevars:
        # A comprehension in code that continues has a cell of its own for a while in a free variable's place.
        unsupported("unsupported-opcode", "MAKE_CELL of a free variable")


@op("PUSH_NULL")
def _push_null(tx: Translator, inst: Any) -> None:
    tx.push(NullVariable())


@op("POP_TOP", "END_FOR", "POP_ITER_ONE")
def _pop_top(tx: Translator, inst: Any) -> None:
    value = tx.stack.pop()
    if inst.opname == "POP_TOP" and value.source is not None and value.source.base is not None:
        value.realize()  # looked up and thrown away: what the path needs is guarded all the same


@op("SWAP")
def _swap(tx: Translator, inst: Any) -> None:
    tx.stack[-1], tx.stack[-inst.arg] = tx.stack[-inst.arg], tx.stack[-1]


@op("COPY")
def _copy(tx: Translator, inst: Any) -> None:
    tx.push(tx.stack[-inst.arg])


@op("LOAD_CONST", "LOAD_CONST_IMMORTAL", "LOAD_CONST_MORTAL")
def _load_const(tx: Translator, inst: Any) -> None:
    tx.push(held_constant(tx, inst.argval))


def held_constant(tx: Translator, value: Any) -> VariableTracker:
    """A constant of a code object; its tuples and frozen sets are the same objects each time."""
    if type(value) not in (tuple, frozenset) or not value:
        return from_python(value)
    known = tx.root.by_id.get(id(value))
    if known is not None:
        return known
    made = from_python(value)
    if type(value) is tuple:
        made = SequenceVariable([held_constant(tx, item) for item in value], tuple)
    made.source = const(value)
    tx.root.by_id[id(value)] = made
    tx.root.keep_alive.append(value)
    return made


@op("LOAD_SMALL_INT")
def _load_small_int(tx: Translator, inst: Any) -> None:
    tx.push(constant(inst.arg))


@op("LOAD_COMMON_CONSTANT")
def _load_common_constant(tx: Translator, inst: Any) -> None:
    value = _COMMON_CONSTANTS[inst.arg]
    tx.push(tx.wrap_at(value, const(value)))


@op("LOAD_ASSERTION_ERROR")
def _load_assertion_error(tx: Translator, inst: Any) -> None:
    tx.push(tx.wrap_at(AssertionError, const(AssertionError)))


def _fast(tx: Translator, name: str) -> None:
    if name in tx.locals:
        tx.push(tx.locals[name])
        return
    if name in tx.cells:
        tx.push(tx.cells[name])
        return
    tx.raise_error(UnboundLocalError, f"cannot access local variable '{name}' where it is not associated with a value")


@op("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_CLOSURE")
def _load_fast(tx: Translator, inst: Any) -> None:
    _fast(tx, inst.argval)


@op("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
def _load_fast_twice(tx: Translator, inst: Any) -> None:
    for name in inst.argval:
        _fast(tx, name)


@op("LOAD_FAST_AND_CLEAR")
def _load_fast_and_clear(tx: Translator, inst: Any) -> None:
    name = inst.argval
    if name in tx.cells and name not in tx.locals:
        unsupported("unsupported-opcode", "LOAD_FAST_AND_CLEAR of a cell")
    tx.push(tx.locals.pop(name) if name in tx.locals else NullVariable())


def _store(tx: Translator, name: str) -> None:
    value = tx.stack.pop()
    if isinstance(value, NullVariable):
        tx.locals.pop(name, None)
    else:
        tx.locals[name] = value


@op("STORE_FAST", "STORE_FAST_MAYBE_NULL")
def _store_fast(tx: Translator, inst: Any) -> None:
    _store(tx, inst.argval)


@op("STORE_FAST_LOAD_FAST")
def _store_fast_load_fast(tx: Translator, inst: Any) -> None:
    _store(tx, inst.argval[0])
    _fast(tx, inst.argval[1])


@op("STORE_FAST_STORE_FAST")
def _store_fast_twice(tx: Translator, inst: Any) -> None:
    _store(tx, inst.argval[0])
    _store(tx, inst.argval[1])


@op("DELETE_FAST")
def _delete_fast(tx: Translator, inst: Any) -> None:
    if tx.locals.pop(inst.argval, None) is None:
        tx.raise_error(
            UnboundLocalError,
            f"cannot access local variable '{inst.argval}' where it is not associated with a value",
        )
