"""The frontend's only door to an assembler: decoding, making instructions, and building code objects.

Also knows the calling convention of each CPython. Knows nothing of values.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable
from typing import Any

from pydynamo import bytecode
from pydynamo.bytecode import Instruction, InstructionExnTabEntry, create_instruction
from pydynamo.bytecode.edit import explicit_super, remove_fused_load_store
from pydynamo.errors import BytecodeError
from pydynamo.frontend.by_identity import ByIdentity
from pydynamo.frontend.exc import unsupported

__all__ = ["Instruction", "InstructionExnTabEntry", "decode", "transform_code_object"]

V311 = sys.version_info < (3, 12)
V313 = sys.version_info >= (3, 13)
V314 = sys.version_info >= (3, 14)
V315 = sys.version_info >= (3, 15)
#: operand of BINARY_OP that subscripts (3.14+)
_SUBSCRIPT = 26


def _simplify(code: types.CodeType, instructions: list[Instruction]) -> None:
    """What the translator sees and what resume functions are cut from: no fused loads, super() with its arguments."""
    if V311:
        explicit_super(code, instructions)
    if V313:
        remove_fused_load_store(instructions)


Decoded = tuple[list[Instruction], dict[Any, int]]
_decoded: ByIdentity[types.CodeType, Decoded] = ByIdentity(limit=4096)


def decode(code: types.CodeType) -> Decoded:
    """The instructions of ``code`` and the index of each; shared, so never changed by the caller."""
    found = _decoded.get(code)
    if found is None:
        try:
            instructions = bytecode.cleaned_instructions(code)
            _simplify(code, instructions)
        except BytecodeError as error:
            unsupported("unsupported-opcode", f"code that another tool has made: {error}")
        found = instructions, {inst: index for index, inst in enumerate(instructions)}
        _decoded.put(code, found)
    return found


def instruction(opname: str, arg: int | None = None, argval: Any = None, target: Any = None) -> Instruction:
    """One instruction; ``argval`` (a name, a constant) is resolved when the code is assembled."""
    if argval is None and opname != "LOAD_CONST":
        return create_instruction(opname, arg=arg, target=target)
    return create_instruction(opname, arg=arg, argval=argval, target=target)


def load_global(name: str) -> Instruction:
    return create_instruction("LOAD_GLOBAL", arg=0, argval=name)


def load_attr(name: str) -> Instruction:
    return (
        create_instruction("LOAD_ATTR", arg=0, argval=name)
        if not V311
        else create_instruction("LOAD_ATTR", argval=name)
    )


def subscript() -> list[Instruction]:
    """``TOS1[TOS]``"""
    if V314:
        return [create_instruction("BINARY_OP", arg=_SUBSCRIPT)]
    return [create_instruction("BINARY_SUBSCR")]


def call(nargs: int, kw_names: tuple[str, ...] = ()) -> list[Instruction]:
    """The call itself; callable, NULL and arguments are on the stack. ``nargs`` counts keyword arguments too."""
    if V313:
        if kw_names:
            return [
                create_instruction("LOAD_CONST", argval=kw_names),
                create_instruction("CALL_KW", arg=nargs),
            ]
        return [create_instruction("CALL", arg=nargs)]
    out = [create_instruction("KW_NAMES", argval=kw_names)] if kw_names else []
    if V311:
        out.append(create_instruction("PRECALL", arg=nargs))
    out.append(create_instruction("CALL", arg=nargs))
    return out


#: True if NULL is pushed after the callable, False if before it
NULL_AFTER_CALLABLE = V313


def push_null() -> Instruction:
    return create_instruction("PUSH_NULL")


def swap(depth: int) -> Instruction:
    return create_instruction("SWAP", arg=depth)


def copy(depth: int) -> Instruction:
    return create_instruction("COPY", arg=depth)


def jump(target: Instruction) -> Instruction:
    return create_instruction("JUMP_FORWARD", target=target)


def jump_if_true(target: Instruction) -> Instruction:
    """Pops a bool; jumps forward if it is True."""
    return create_instruction("POP_JUMP_FORWARD_IF_TRUE" if V311 else "POP_JUMP_IF_TRUE", target=target)


def stack_effect(inst: Instruction, jump_taken: bool | None = None) -> int:
    """Net change of the stack depth by ``inst``."""
    arg = inst.arg if dis.opmap.get(inst.opname, 0) >= dis.HAVE_ARGUMENT or inst.arg is not None else None
    if inst.opcode in HASARG:
        return dis.stack_effect(inst.opcode, arg or 0, jump=jump_taken)
    return dis.stack_effect(inst.opcode, None, jump=jump_taken)


HASARG = frozenset(getattr(dis, "hasarg", ())) or frozenset(range(dis.HAVE_ARGUMENT, 256))


def copy_of(inst: Instruction) -> Instruction:
    """A fresh instruction with the same operation, operand and position (no target, no exception entry)."""
    fresh = Instruction(opcode=inst.opcode, opname=inst.opname, arg=inst.arg, argval=inst.argval)
    fresh.starts_line = inst.starts_line
    fresh.positions = getattr(inst, "positions", None)
    return fresh


Transformation = Callable[[list[Instruction], dict[str, Any]], None]


def rebuild_exception_entries(instructions: list[Instruction]) -> None:
    """Give each run of instructions with one handler an entry of its own: needed after instructions went away."""
    previous: Any = None
    run: list[Instruction] = []

    def close() -> None:
        if run and previous is not None:
            for member in run:  # an entry of its own: instructions do not share them
                member.exn_tab_entry = InstructionExnTabEntry(
                    run[0], run[-1], previous.target, previous.depth, previous.lasti
                )

    for inst in instructions:
        entry = inst.exn_tab_entry
        same = (
            entry is not None
            and previous is not None
            and (entry.target is previous.target and entry.depth == previous.depth and entry.lasti == previous.lasti)
        )
        if not same:
            close()
            run = []
        previous = entry
        if entry is not None:
            run.append(inst)
    close()


def transform_code_object(code: types.CodeType, transformation: Transformation) -> types.CodeType:
    """New code: ``transformation(instructions, code_options)`` changes both in place."""

    def transform(instructions: list[Instruction], options: dict[str, Any]) -> None:
        _simplify(code, instructions)
        transformation(instructions, options)

    return bytecode.transform_code_object(code, transform)
