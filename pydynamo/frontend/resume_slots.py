"""What the original code knew of the stack slots that a resume function gets as parameters, and the parameter does not say.

A slot that a loop goes on with must be an iterator; the last instruction of an interrupted handler means nothing in other code.
Knows instructions, not values.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from pydynamo.frontend import asm

#: what an instruction takes a slot for, and how far below the top of the stack that slot is, apart from its operand
_USES: dict[str, tuple[str, int]] = {
    "LIST_APPEND": ("list", 1),
    "LIST_EXTEND": ("list", 1),
    "SET_ADD": ("set", 1),
    "SET_UPDATE": ("set", 1),
    "MAP_ADD": ("dict", 2),
    "DICT_UPDATE": ("dict", 1),
    "DICT_MERGE": ("dict", 1),
}
#: number of the intrinsic that makes a tuple of a list
_LIST_TO_TUPLE = 6
#: how a container is made and filled from another one
_MAKE: dict[str, tuple[str, str]] = {
    "list": ("BUILD_LIST", "LIST_EXTEND"),
    "set": ("BUILD_SET", "SET_UPDATE"),
    "dict": ("BUILD_MAP", "DICT_UPDATE"),
}


def used_as(inst: Any, depth: int) -> tuple[str, int] | None:
    """What CPython takes a stack slot for without a check: ``iterator``, ``list``, ``set`` or ``dict``; and which slot."""
    if inst.opname == "FOR_ITER":
        return "iterator", depth - 1
    if inst.opname == "CALL_FUNCTION_EX":
        return ("dict", depth - 1) if asm.V314 or inst.arg & 1 else None
    if inst.opname == "LIST_TO_TUPLE" or (inst.opname == "CALL_INTRINSIC_1" and inst.arg == _LIST_TO_TUPLE):
        return "list", depth - 1
    if inst.opname in _USES:
        kind, below = _USES[inst.opname]
        return kind, depth - below - inst.arg
    return None


def around_load(kind: str | None) -> tuple[list[Any], list[Any]]:
    """What stands before and after the load of a value so that it is what it is taken for.

    A container on the stack is still under construction, nobody else holds it: one of its own with the same contents will do.
    """
    if kind is None:
        return [], []
    if kind == "exception":
        call = [asm.instruction("LOAD_CONST", argval=with_traceback)]
        call.insert(1 if asm.NULL_AFTER_CALLABLE else 0, asm.push_null())
        return call, asm.call(1)
    if kind == "iterator":
        return [], [asm.instruction("GET_ITER")]
    make, fill = _MAKE[kind]
    return [asm.instruction(make, arg=0)], [asm.instruction(fill, arg=1)]


def with_traceback(error: BaseException) -> BaseException:
    """The exception with a traceback: one that was never raised for real has none, and a handler relies on it."""
    if error.__traceback__ is None:
        frame = sys._getframe(1)
        error.__traceback__ = types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
    return error


#: instructions that only take values off the stack, or only put some on it; the others put something new where they took
_ONLY_POP = ("STORE_", "POP_", "DELETE_", "JUMP_IF_", "END_FOR", "RETURN_", "LIST_APPEND", "LIST_EXTEND", "SET_ADD")
_ONLY_POP_TOO = ("SET_UPDATE", "MAP_ADD", "DICT_UPDATE", "DICT_MERGE")
_ONLY_PUSH = (
    "LOAD_FAST",
    "LOAD_CONST",
    "LOAD_GLOBAL",
    "LOAD_DEREF",
    "LOAD_CLOSURE",
    "LOAD_SMALL_INT",
    "LOAD_COMMON_",
    "COPY",
)
_ONLY_PUSH_TOO = (
    "PUSH_NULL",
    "FOR_ITER",
    "LOAD_BUILD_CLASS",
    "LOAD_ASSERTION_ERROR",
    "JUMP",
    "NOP",
    "RESUME",
    "KW_NAMES",
    "PRECALL",
)
_MOVES = frozenset({"NOT_TAKEN", "CACHE", "EXTENDED_ARG", "MAKE_CELL", "SETUP_ANNOTATIONS"})


def _untouched(inst: Any, depth: int, new: int) -> int:
    """How many slots from the bottom the instruction leaves as they are."""
    name = inst.opname
    if name == "SWAP":
        return depth - int(inst.arg)
    if name in _MOVES or name.startswith(_ONLY_PUSH + _ONLY_PUSH_TOO):
        return min(depth, new)
    if name.startswith(_ONLY_POP + _ONLY_POP_TOO) and name != "STORE_FAST_LOAD_FAST":
        return new
    return min(depth, new) - 1


def follow(
    body: list[Any],
    start: Any,
    depth: int,
    successors: Callable[[list[Any], Callable[[Any], int], int], list[int]],
) -> tuple[dict[int, str], list[Any]]:
    """Follow the first ``depth`` stack slots from ``start`` on.

    Returns what the slots are taken for (see ``used_as``), and the RERAISE instructions whose ``lasti`` is such a slot.
    """
    index_of = {inst: index for index, inst in enumerate(body)}
    states: dict[int, tuple[int, int]] = {}
    work = [(index_of[start], depth, depth)]
    uses: dict[int, str] = {}
    reraises: list[Any] = []
    while work:
        index, now, kept = work.pop()
        before = states.get(index)
        if before is not None:
            kept = max(kept, before[1])
            if kept == before[1]:
                continue
        states[index] = now, kept
        inst = body[index]
        for target in successors(body, index_of.__getitem__, index):
            work.append((target, *_after(inst, body[target], now, kept)))
    for index, (now, kept) in states.items():
        inst = body[index]
        use = used_as(inst, now)
        if use is not None and use[1] < kept:
            uses[use[1]] = use[0]
        if inst.opname == "RERAISE" and inst.arg and now - 1 - inst.arg < kept:
            reraises.append(inst)
    return uses, reraises


def _after(inst: Any, target: Any, depth: int, kept: int) -> tuple[int, int]:
    entry = inst.exn_tab_entry
    if entry is not None and entry.target is target:
        return entry.depth + 1 + entry.lasti, min(kept, entry.depth)
    new = depth + asm.stack_effect(inst, jump_taken=inst.target is target)
    return new, min(kept, _untouched(inst, depth, new))


_FAST = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "STORE_FAST", "DELETE_FAST"})


def separate_comprehensions(body: list[Any], frees: tuple[str, ...]) -> list[str]:
    """An inlined comprehension may borrow the slot of a cell, which here is a free variable's and must keep a cell.

    Where its variable is a cell too, the outer one is put aside by a plain load and the new cell overwrites it; else the
    variable gets a slot of its own. Returns the names that were added.
    """
    borrowed = {inst.argval for inst in body if inst.opname == "LOAD_FAST_AND_CLEAR"} & set(frees)
    with_cell = {inst.argval for inst in body if inst.opname == "MAKE_CELL"}
    renamed = {} if asm.V313 else {name: f"___inlined_{name}" for name in sorted(borrowed - with_cell)}
    for inst in body:
        if inst.opname in _FAST and inst.argval in renamed:
            inst.argval = renamed[inst.argval]
        elif inst.opname == "LOAD_FAST_AND_CLEAR" and inst.argval in with_cell and inst.argval in borrowed:
            inst.opname = "LOAD_FAST" if asm.V313 else "LOAD_CLOSURE"
    return list(renamed.values())
