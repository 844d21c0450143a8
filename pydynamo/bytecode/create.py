"""Making instructions without knowing the version: the ``create_*`` family and the calling convention.

Knows what each CPython wants on the stack (bottom → top)::

    3.11, 3.12   NULL, callable, arguments…   CALL (3.11: PRECALL, CALL)
    3.13+        callable, NULL, arguments…   CALL

Knows nothing of lists, targets and code objects.
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable
from typing import Any, Final

from pydynamo._core import Instruction, create_instruction, inst_has_op_bits

_VERSION: Final = sys.version_info[:2]
#: NULL stands above the callable, not below it.
_NULL_ABOVE: Final = _VERSION >= (3, 13)
#: CALL_FUNCTION_EX always pops keyword arguments, NULL if there are none, and has no operand.
_ALWAYS_KWARGS: Final = _VERSION >= (3, 14)
#: BINARY_OP's operand that subscripts, where BINARY_SUBSCR is gone.
_SUBSCRIPT: Final = 26

_SAFE_TYPES: Final = (
    types.NoneType,
    types.EllipsisType,
    types.NotImplementedType,
    types.CodeType,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    enum.Enum,
    type,
)


def _is_safe_constant(value: object) -> bool:
    """Whether a constant can be shared: nobody can change it. What stands in it many times is looked at once."""
    todo, seen = [value], set[int]()
    while todo:
        item = todo.pop()
        if isinstance(item, (tuple, frozenset, slice)):
            if id(item) not in seen:
                seen.add(id(item))
                todo.extend([item.start, item.stop, item.step] if isinstance(item, slice) else item)
        elif not isinstance(item, _SAFE_TYPES):
            return False
    return True


def create_jump_absolute(target: Instruction) -> Instruction:
    """An unconditional jump. The assembler makes it a JUMP_BACKWARD where that is the direction."""
    return create_instruction("JUMP_FORWARD", target=target)


def create_load_const(val: Any, checked: bool = True) -> Instruction:
    """Loads a constant. ``checked`` refuses mutable ones (``TypeError``): all runs of the code share the
    object.
    """
    if checked and not _is_safe_constant(val):
        raise TypeError(
            f"a constant of type {type(val).__name__} can be changed by those who get it: "
            "pass checked=False if that is meant"
        )
    return create_instruction("LOAD_CONST", argval=val)


def create_dup_top() -> Instruction:
    """``[…, a]`` → ``[…, a, a]``"""
    return create_instruction("COPY", arg=1)


def create_copy(i: int) -> list[Instruction]:
    """``[…, a, …]`` → ``[…, a, …, a]`` where ``a`` is the i-th from the top, counted from 1."""
    return [create_instruction("COPY", arg=i)]


def create_swap(n: int) -> list[Instruction]:
    """Swaps the top with the n-th from the top, counted from 1."""
    return [create_instruction("SWAP", arg=n)]


def create_rot_n(n: int) -> list[Instruction]:
    """``[…, x1, …, xn]`` → ``[…, xn, x1, …, xn-1]``: the top goes down to the n-th place."""
    return [create_instruction("SWAP", arg=i) for i in range(n, 1, -1)]


def add_push_null(inst_or_insts: Instruction | list[Instruction]) -> list[Instruction]:
    """Adds a NULL where CALL wants it, given *all* instructions that load a callable (and load nothing else).

    Where the first or last of them has a flag bit that pushes the NULL (LOAD_GLOBAL; LOAD_ATTR and
    LOAD_SUPER_ATTR from 3.12 on) and the bit is not set, it is set: that instruction is changed in place.
    """
    insts = [inst_or_insts] if not isinstance(inst_or_insts, list) else inst_or_insts
    if not insts:
        raise ValueError("there is no instruction that loads a callable")
    if _NULL_ABOVE:
        return insts if _set_null_bit(insts[-1]) else [*insts, create_instruction("PUSH_NULL")]
    if _VERSION >= (3, 12) and insts[-1].opname != "LOAD_GLOBAL" and _set_null_bit(insts[-1]):
        return insts
    if insts[0].opname == "LOAD_GLOBAL" and _set_null_bit(insts[0]):
        return insts
    return [create_instruction("PUSH_NULL"), *insts]


def add_push_null_call_function_ex(inst_or_insts: Instruction | list[Instruction]) -> list[Instruction]:
    """Like `add_push_null` for CALL_FUNCTION_EX, which takes no bound methods: only LOAD_GLOBAL's bit is
    used.
    """
    insts = [inst_or_insts] if not isinstance(inst_or_insts, list) else inst_or_insts
    if not insts:
        raise ValueError("there is no instruction that loads a callable")
    edge = insts[-1 if _NULL_ABOVE else 0]
    if edge.opname == "LOAD_GLOBAL" and _set_null_bit(edge):
        return insts
    null = create_instruction("PUSH_NULL")
    return [*insts, null] if _NULL_ABOVE else [null, *insts]


def _set_null_bit(inst: Instruction) -> bool:
    """Sets the bit that pushes a NULL; whether there is one that was not set yet."""
    if not inst_has_op_bits(inst.opname) or inst.opname == "IMPORT_NAME":
        return False
    bits = inst.arg or 0
    if bits & 1:
        return False
    inst.arg = bits | 1
    return True


def create_call_function(nargs: int, push_null: bool) -> list[Instruction]:
    """Calls with ``nargs`` positional arguments.

    ``push_null=False``: the callable was loaded through `add_push_null`. ``push_null=True``: the stack is
    ``[callable, arguments…]`` and a NULL is pushed and moved to its place, which is slower.
    """
    output = []
    if push_null:
        output.append(create_instruction("PUSH_NULL"))
        output += create_rot_n(nargs + 1 if _NULL_ABOVE else nargs + 2)
    return output + _call(nargs)


def _call(nargs: int) -> list[Instruction]:
    call = create_instruction("CALL", arg=nargs)
    return [create_instruction("PRECALL", arg=nargs), call] if _VERSION < (3, 12) else [call]


def create_call_function_ex(
    has_kwargs: bool, push_null: bool, ignore_314_kwargs_push: bool = False
) -> list[Instruction]:
    """Calls with a tuple of arguments and, if ``has_kwargs``, a dict on top of it.

    ``push_null`` as in `create_call_function`. CPython 3.14 and later want a NULL where there is no dict: it
    is pushed, unless ``ignore_314_kwargs_push`` says that it is there already.
    """
    output = []
    above = int(has_kwargs)
    if _ALWAYS_KWARGS:
        if not has_kwargs and not ignore_314_kwargs_push:
            output.append(create_instruction("PUSH_NULL"))
        above = 1
    if push_null:
        output.append(create_instruction("PUSH_NULL"))
        output += create_rot_n(above + (2 if _NULL_ABOVE else 3))
    if _ALWAYS_KWARGS:
        output.append(create_instruction("CALL_FUNCTION_EX"))
    else:
        output.append(create_instruction("CALL_FUNCTION_EX", arg=int(has_kwargs)))
    return output


def create_call_method(nargs: int) -> list[Instruction]:
    """Calls what `create_load_method` loaded, with ``nargs`` arguments."""
    return _call(nargs)


def create_load_method(name: str) -> Instruction:
    """``[…, object]`` → two slots that `create_call_method` understands."""
    if _VERSION >= (3, 12):
        return create_instruction("LOAD_ATTR", arg=1, argval=name)
    return create_instruction("LOAD_METHOD", argval=name)


def create_setup_with(target: Instruction) -> Instruction:
    """BEFORE_WITH, up to 3.13. ``target`` is kept for those who know torch's function: regions protect, not
    targets.
    """
    del target
    return create_instruction("BEFORE_WITH")


def create_build_tuple(n: int) -> Instruction:
    """Builds a tuple of the top n values."""
    if n == 0 and _VERSION >= (3, 14):
        return create_load_const(())
    return create_instruction("BUILD_TUPLE", arg=n)


def create_binary_subscr() -> Instruction:
    """``[…, container, key]`` → ``[…, container[key]]``"""
    if _VERSION >= (3, 14):
        return create_instruction("BINARY_OP", arg=_SUBSCRIPT)
    return create_instruction("BINARY_SUBSCR")


def create_binary_slice(start: int | None, end: int | None, store: bool = False) -> list[Instruction]:
    """``[…, container]`` → ``[…, container[start:end]]``; with ``store``: ``[…, value, container]`` →
    ``[…]``.
    """
    if _VERSION >= (3, 12):
        return [
            create_load_const(start),
            create_load_const(end),
            create_instruction("STORE_SLICE" if store else "BINARY_SLICE"),
        ]
    return [
        create_load_const(start),
        create_load_const(end),
        create_instruction("BUILD_SLICE", arg=2),
        create_instruction("STORE_SUBSCR") if store else create_binary_subscr(),
    ]


def create_print_on_stack(depth: int) -> list[Instruction]:
    """Prints the value ``depth`` slots below the top (0: the top), leaving the stack as it is."""
    return [
        *add_push_null(create_load_const(print)),
        *create_copy(depth + 3),
        *create_call_function(1, False),
        create_instruction("POP_TOP"),
    ]


def create_print_value(value: Any) -> list[Instruction]:
    """Prints a constant."""
    return [
        *add_push_null(create_load_const(print)),
        create_load_const(value, checked=False),
        *create_call_function(1, False),
        create_instruction("POP_TOP"),
    ]


def create_breakpoint(hook: Callable[[], object] = breakpoint) -> list[Instruction]:
    """Calls ``hook()``, by default the debugger."""
    return [
        *add_push_null(create_load_const(hook, checked=False)),
        *create_call_function(0, False),
        create_instruction("POP_TOP"),
    ]
