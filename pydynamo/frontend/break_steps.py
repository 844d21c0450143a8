"""Instructions that a compiled frame can run by itself at a break: which they are, what they take and what they leave.

Knows CPython's instructions; of a translation only its stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydynamo.frontend import asm
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import NullVariable

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator

#: instructions that may be run by themselves at a break: they pop and push, and go on with the next one
STEPPABLE = frozenset(
    {
        "CALL",
        "CALL_KW",
        "CALL_FUNCTION_EX",
        "LOAD_ATTR",
        "LOAD_METHOD",
        "STORE_ATTR",
        "DELETE_ATTR",
        "BINARY_OP",
        "BINARY_SUBSCR",
        "STORE_SUBSCR",
        "DELETE_SUBSCR",
        "COMPARE_OP",
        "CONTAINS_OP",
        "IS_OP",
        "UNARY_NEGATIVE",
        "UNARY_INVERT",
        "UNARY_NOT",
        "TO_BOOL",
        "GET_ITER",
        "FORMAT_VALUE",
        "CONVERT_VALUE",
        "FORMAT_SIMPLE",
        "FORMAT_WITH_SPEC",
        "UNPACK_SEQUENCE",
        "UNPACK_EX",
        "IMPORT_NAME",
        "IMPORT_FROM",
        "BINARY_SLICE",
        "STORE_SLICE",
        "LIST_EXTEND",
        "BUILD_STRING",
        "LOAD_SUPER_ATTR",
        "LOAD_GLOBAL",
        "BUILD_SET",
        "BUILD_MAP",
    }
)
TRUTH_JUMPS = frozenset(
    {
        "POP_JUMP_IF_TRUE",
        "POP_JUMP_IF_FALSE",
        "POP_JUMP_FORWARD_IF_TRUE",
        "POP_JUMP_FORWARD_IF_FALSE",
        "POP_JUMP_BACKWARD_IF_TRUE",
        "POP_JUMP_BACKWARD_IF_FALSE",
    }
)


def kw_names_before(root: RootTranslator, index: int) -> list[Any]:
    """The KW_NAMES that belongs to a CALL, if it has one: right before it, or before its PRECALL."""
    at = index - 2 if index and root.instructions[index - 1].opname == "PRECALL" else index - 1
    return [root.instructions[at]] if at >= 0 and root.instructions[at].opname == "KW_NAMES" else []


def loads_for_call(inst: Any) -> bool:
    """True if the instruction pushes NULL or a method beside what it loads."""
    if inst.opname == "LOAD_METHOD":
        return True
    flagged = ("LOAD_GLOBAL",) if asm.V311 else ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_SUPER_ATTR")
    return inst.opname in flagged and bool((inst.arg or 0) & 1)


def arity(root: RootTranslator, inst: Any) -> tuple[int, int]:
    """How many values the instruction takes off the stack and how many it leaves."""
    name, arg = inst.opname, inst.arg or 0
    if name in ("CALL", "CALL_KW"):
        return arg + 2 + (name == "CALL_KW"), 1
    if name == "CALL_FUNCTION_EX":
        extra = 1 if asm.V314 else arg & 1
        null = (
            1
            if len(root.stack) > 2 + extra - 1
            and isinstance(root.stack[-3 - extra + (1 if asm.V313 else 0)], NullVariable)
            else 0
        )
        return (3 + extra, 1) if asm.V313 or null else (2 + extra, 1)
    if name in _FIXED:
        return _FIXED[name]
    if name == "UNPACK_SEQUENCE":
        return 1, arg
    if name == "UNPACK_EX":
        return 1, (arg & 0xFF) + (arg >> 8) + 1
    if name in ("BUILD_STRING", "BUILD_SET"):
        return arg, 1
    if name == "BUILD_MAP":
        return 2 * arg, 1
    if name == "FORMAT_VALUE":
        return 1 + bool(arg & 4), 1
    if name == "LIST_EXTEND":
        return arg + 1, arg
    unsupported("reconstruction-failure", f"break at {name}")


_FIXED: dict[str, tuple[int, int]] = {
    "LOAD_ATTR": (1, 1),
    "LOAD_METHOD": (1, 2),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "BINARY_OP": (2, 1),
    "BINARY_SUBSCR": (2, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "COMPARE_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "IS_OP": (2, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "UNARY_NOT": (1, 1),
    "TO_BOOL": (1, 1),
    "GET_ITER": (1, 1),
    "CONVERT_VALUE": (1, 1),
    "FORMAT_SIMPLE": (1, 1),
    "FORMAT_WITH_SPEC": (2, 1),
    "IMPORT_NAME": (2, 1),
    "IMPORT_FROM": (1, 2),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "LOAD_SUPER_ATTR": (3, 1),
    "LOAD_GLOBAL": (0, 1),
}
