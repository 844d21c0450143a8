"""Working on lists of instructions: overwriting, templates, names. Leaves putting together to the
assembler.
"""

from __future__ import annotations

import dis
import itertools
import sys
import types
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydynamo._core import Instruction, _NotProvided, cleaned_instructions, create_instruction
from pydynamo.bytecode.create import create_binary_subscr, create_jump_absolute
from pydynamo.bytecode.kinds import CONST, POOLED

_CODE_KEYS: Final = (
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_nlocals",
    "co_stacksize",
    "co_flags",
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_filename",
    "co_name",
    "co_qualname",
    "co_firstlineno",
    "co_linetable",
    "co_exceptiontable",
    "co_freevars",
    "co_cellvars",
)
_CO_GENERATOR: Final = 0x20
_FUSED: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
}
_counter = itertools.count()


def get_code_keys() -> list[str]:
    """The keys of ``code_options``: the attributes of a code object in the order of ``types.CodeType``'s
    parameters.
    """
    return list(_CODE_KEYS)


def unique_id(name: str, with_uuid: bool = False) -> str:
    """A name that was not given out before in this process (with ``with_uuid``: in any)."""
    unique = f"{name}_{next(_counter)}"
    return f"{unique}_{uuid.uuid4()}".replace("-", "_") if with_uuid else unique


def is_generator(code: types.CodeType) -> bool:
    """Whether calling a function of this code makes a generator (not: a coroutine or an asynchronous
    generator).
    """
    return bool(code.co_flags & _CO_GENERATOR)


def overwrite_instruction(old_inst: Instruction, new_insts: list[Instruction]) -> list[Instruction]:
    """What to put in the place of ``old_inst``: itself, turned into the first of ``new_insts``, and the
    others.

    So jumps to it, the exception region around it and its position stay. Returns the list to splice in.
    """
    if not new_insts:
        raise ValueError("an instruction cannot be overwritten with nothing: make it a NOP, or delete it from the list")
    first, *others = new_insts
    entry = old_inst.exn_tab_entry
    if entry is not None and entry.end is old_inst and others:
        entry.end = others[-1]
    for inst in others:
        inst.exn_tab_entry = entry
        inst.positions = old_inst.positions
    old_inst.opcode = first.opcode
    old_inst.arg = first.arg
    old_inst.argval = first.argval
    old_inst.target = first.target
    return [old_inst, *others]


def clear_instruction_args(instructions: list[Instruction]) -> None:
    """Leaves operands that name locals, names and constants to ``argval`` alone, for use in another code
    object.
    """
    for inst in instructions:
        if inst.argval is not _NotProvided and inst.opcode in POOLED and inst.opname not in _WITH_BITS:
            inst.arg = None


_WITH_BITS: Final = ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_SUPER_ATTR")


def strip_extended_args(instructions: list[Instruction]) -> None:
    """Takes EXTENDED_ARG out; the assembler writes them itself."""
    instructions[:] = [inst for inst in instructions if inst.opcode != dis.EXTENDED_ARG]


def remove_fused_load_store(instructions: list[Instruction]) -> None:
    """Splits fused instructions (3.13 and later), such as LOAD_FAST_LOAD_FAST, into single ones."""
    output: list[Instruction] = []
    for inst in instructions:
        halves = _FUSED.get(inst.opname)
        if halves is None:
            output.append(inst)
            continue
        names = inst.argval
        output += overwrite_instruction(
            inst,
            [create_instruction(name, argval=argval) for name, argval in zip(halves, names, strict=True)],
        )
    instructions[:] = output


def remove_binary_store_slice(instructions: list[Instruction]) -> None:
    """Replaces BINARY_SLICE and STORE_SLICE (3.12 and later) with BUILD_SLICE and a subscription."""
    output: list[Instruction] = []
    for inst in instructions:
        if inst.opname not in ("BINARY_SLICE", "STORE_SLICE"):
            output.append(inst)
            continue
        subscript = create_instruction("STORE_SUBSCR") if inst.opname == "STORE_SLICE" else create_binary_subscr()
        output += overwrite_instruction(inst, [create_instruction("BUILD_SLICE", arg=2), subscript])
    instructions[:] = output


def remove_jump_if_none(instructions: list[Instruction]) -> None:
    """Replaces POP_JUMP_*IF_*NONE with a comparison and a jump on its outcome."""
    output: list[Instruction] = []
    for inst in instructions:
        if not inst.opname.endswith("_NONE"):
            output.append(inst)
            continue
        jump = inst.opname.replace("NOT_NONE", "TRUE").replace("NONE", "TRUE")
        output += overwrite_instruction(
            inst,
            [
                create_instruction("LOAD_CONST", argval=None),
                create_instruction("IS_OP", arg=int("NOT" in inst.opname)),
                create_instruction(jump, target=inst.target),
            ],
        )
    instructions[:] = output


def bytecode_from_template(
    fn: Callable[..., Any],
    varname_map: Mapping[Any, Any] | None = None,
    noreturn: bool = True,
    noprefix: bool = True,
) -> list[Instruction]:
    """The instructions of a Python function, to be spliced into other code: bytecode that no version has to
    be known for.

    ``varname_map`` renames the function's variables. ``noreturn`` replaces returns with jumps to the end: the
    returned value stays on the stack. ``noprefix`` leaves out everything up to the first RESUME. Positions
    are left out.
    """
    insts = cleaned_instructions(fn.__code__)
    if noprefix:
        resume = next((i for i, inst in enumerate(insts) if inst.opname == "RESUME"), -1)
        del insts[: resume + 1]
    remove_fused_load_store(insts)
    renamed = varname_map or {}
    for inst in insts:
        inst.starts_line = None
        inst.positions = None
        if inst.opname.startswith("LOAD_FAST_BORROW"):
            # Borrowing was proved for the template's own code only.
            inst.opname = "LOAD_FAST"
        if isinstance(inst.argval, str) and inst.opcode in POOLED and inst.opcode not in CONST:
            inst.argval = renamed.get(inst.argval, inst.argval)
    clear_instruction_args(insts)
    return _without_returns(insts) if noreturn else insts


def _without_returns(insts: list[Instruction]) -> list[Instruction]:
    output: list[Instruction] = []
    for inst in insts:
        if inst.opname == "RETURN_CONST":
            load = create_instruction("LOAD_CONST", argval=inst.argval)
            output += overwrite_instruction(inst, [load, create_instruction("RETURN_VALUE")])
        else:
            output.append(inst)
    returns = [inst for inst in output if inst.opname == "RETURN_VALUE"]
    if not returns:
        return output
    last_is_target = output[-1].is_jump_target or output[-1].exn_tab_entry is not None
    if len(returns) == 1 and returns[0] is output[-1] and not last_is_target:
        return output[:-1]
    if output[-1].opname == "RETURN_VALUE":
        returns.pop()
        overwrite_instruction(output[-1], [create_instruction("NOP")])
    else:
        output.append(create_instruction("NOP"))
    for inst in returns:
        overwrite_instruction(inst, [create_jump_absolute(output[-1])])
    return output


def explicit_super(code: types.CodeType, instructions: list[Instruction]) -> None:
    """Gives ``super()`` without arguments its two arguments (3.11, where no LOAD_SUPER_ATTR does it)."""
    if not code.co_argcount or sys.version_info >= (3, 12):
        return  # without a parameter super() is an error, even beside *args
    cells = (*code.co_cellvars, *code.co_freevars)
    output: list[Instruction] = []
    for i, inst in enumerate(instructions):
        output.append(inst)
        follows = instructions[i + 1 : i + 3]
        if inst.opname != "LOAD_GLOBAL" or inst.argval != "super" or "__class__" not in cells:
            continue
        if len(follows) == 2 and follows[0].opname == "PRECALL" and follows[0].arg == 0:
            first = code.co_varnames[0]
            output.append(create_instruction("LOAD_DEREF", argval="__class__"))
            output.append(create_instruction("LOAD_DEREF" if first in cells else "LOAD_FAST", argval=first))
            for call in follows:
                call.arg = 2
    instructions[:] = output
