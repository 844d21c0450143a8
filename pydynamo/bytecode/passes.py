"""The single steps of assembly on a list, under torch's names: offsets, jump operands, prefixes, pools,
regions.

`transform_code_object` and `clean_and_assemble_instructions` do all of this natively and need none of it;
these are for code that looks at the steps or runs some of them alone.
"""

from __future__ import annotations

import bisect
import dis
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from pydynamo._core import (
    JUMP_OPCODES,
    Instruction,
    InstructionExnTabEntry,
    _NotProvided,
    create_instruction,
    inst_has_op_bits,
    instruction_size,
)
from pydynamo.bytecode.analysis import get_indexof
from pydynamo.bytecode.kinds import CONST, LOCAL, NAME, PAIR
from pydynamo.bytecode.tables import ExceptionTableEntry, check_exception_table, parse_exception_table
from pydynamo.errors import BytecodeError

_EXTENDED_ARG: Final = dis.EXTENDED_ARG
_TWO_BITS: Final = ("LOAD_SUPER_ATTR", "IMPORT_NAME")


def update_offsets(instructions: Sequence[Instruction]) -> None:
    """Sets each ``offset`` as if the instructions stood in ``co_code`` one after the other."""
    offset = 0
    for inst in instructions:
        inst.offset = offset
        offset += instruction_size(inst)


def _by_offset(instructions: Iterable[Instruction]) -> dict[int, Instruction]:
    """What runs when control comes to an offset: behind EXTENDED_ARG the instruction that it belongs to."""
    found: dict[int, Instruction] = {}
    prefixes: list[int] = []
    for inst in instructions:
        if inst.offset is None:
            raise BytecodeError("the instruction has no offset: update_offsets() first", opname=inst.opname)
        if inst.opcode == _EXTENDED_ARG:
            prefixes.append(inst.offset)
            continue
        for offset in (*prefixes, inst.offset):
            found[offset] = inst
        prefixes.clear()
    return found


def virtualize_jumps(instructions: Iterable[Instruction]) -> None:
    """Sets each jump's ``target`` from its ``argval``, the offset that it goes to."""
    instructions = list(instructions)
    found = _by_offset(instructions)
    for index, inst in enumerate(instructions):
        if inst.opcode in JUMP_OPCODES and inst.argval is not _NotProvided:
            if inst.argval not in found:
                raise BytecodeError(
                    f"no instruction is at offset {inst.argval}",
                    kind="bad-jump",
                    index=index,
                    opname=inst.opname,
                )
            inst.target = found[inst.argval]


def _front(instructions: Sequence[Instruction], index: int) -> Instruction:
    """The first EXTENDED_ARG of an instruction, or itself."""
    while index > 0 and instructions[index - 1].opcode == _EXTENDED_ARG:
        index -= 1
    return instructions[index]


def _turn(inst: Instruction, backward: bool) -> None:
    """Gives a jump the opcode of its direction, where there are two."""
    old, new = ("FORWARD", "BACKWARD") if backward else ("BACKWARD", "FORWARD")
    turned = inst.opname.removesuffix("_NO_INTERRUPT").replace(old, new)
    if old in inst.opname and turned in dis.opmap:
        inst.opname = turned


def devirtualize_jumps(instructions: list[Instruction]) -> None:
    """Sets each jump's direction, ``arg`` and ``argval`` from its ``target`` and the offsets, which it
    updates.
    """
    update_offsets(instructions)
    indexof = get_indexof(instructions)
    jumps = []
    for index, inst in enumerate(instructions):
        if inst.opcode not in JUMP_OPCODES:
            continue
        if inst.target is None or inst.target not in indexof:
            raise BytecodeError(
                "the jump's target is not in the list", kind="bad-target", index=index, opname=inst.opname
            )
        _turn(inst, backward=indexof[inst.target] <= index)
        jumps.append((inst, _front(instructions, indexof[inst.target])))
    update_offsets(instructions)
    for inst, front in jumps:
        assert front.offset is not None and inst.offset is not None
        inst.arg = abs(front.offset - inst.offset - instruction_size(inst)) // 2
        inst.argval = front.offset
        inst.argrepr = f"to {front.offset}"


def fix_extended_args(instructions: list[Instruction]) -> int:
    """Puts an EXTENDED_ARG where an operand needs one; how many were added. Those that are there stay."""
    output: list[Instruction] = []
    for inst in instructions:
        if inst.opcode == _EXTENDED_ARG:
            inst.arg = 0
        else:
            here = 0
            while output and here < len(output) and output[-1 - here].opcode == _EXTENDED_ARG:
                here += 1
            needed = (max((inst.arg or 0).bit_length(), 1) - 1) // 8
            output += [create_instruction("EXTENDED_ARG", arg=0) for _ in range(needed - here)]
            for back in range(1, max(here, needed) + 1):
                output[-back].arg = (inst.arg or 0) >> 8 * back & 0xFF
                output[-back].positions = inst.positions
        output.append(inst)
    added = len(output) - len(instructions)
    instructions[:] = output
    return added


def virtualize_exception_table(exn_tab_bytes: bytes, instructions: list[Instruction]) -> None:
    """Gives the instructions that a ``co_exceptiontable`` covers their ``exn_tab_entry``."""
    found = _by_offset(instructions)
    offsets = sorted(found)
    for entry in parse_exception_table(exn_tab_bytes):
        first = bisect.bisect_left(offsets, entry.start)
        behind = bisect.bisect_right(offsets, entry.end)
        if entry.start not in found or entry.target not in found or behind <= first:
            raise BytecodeError(f"no instructions fit {entry}", kind="bad-exception-table")
        region = InstructionExnTabEntry(
            found[entry.start], found[offsets[behind - 1]], found[entry.target], entry.depth, entry.lasti
        )
        for offset in offsets[first:behind]:
            found[offset].exn_tab_entry = region


def compute_exception_table(instructions: list[Instruction]) -> list[ExceptionTableEntry]:
    """The exception table that the instructions' entries and offsets make. Entries may nest; the innermost
    counts.
    """
    indexof = get_indexof(instructions)
    spans: dict[tuple[int, int], InstructionExnTabEntry] = {}
    for index, inst in enumerate(instructions):
        entry = inst.exn_tab_entry
        if entry is None:
            continue
        for end in (entry.start, entry.end, entry.target):
            if end not in indexof:
                raise BytecodeError(
                    "the region names an instruction that is not in the list", kind="bad-region", index=index
                )
        span = (indexof[entry.start], indexof[entry.end])
        known = spans.setdefault(span, entry)
        if known != entry:
            raise BytecodeError(
                "two regions span the same instructions but have different handlers",
                kind="bad-region",
                index=index,
            )
    table: list[ExceptionTableEntry] = []
    waiting = sorted(spans, key=lambda span: (-span[0], span[1]))
    inside: list[tuple[int, int]] = []
    # Runs of instructions with the same innermost region become an entry each.
    run: tuple[tuple[int, int], int] | None = None

    def close(last: int) -> None:
        if run is not None:
            table.append(_entry(instructions, indexof, spans[run[0]], run[1], last))

    for index in range(len(instructions)):
        while inside and inside[-1][1] < index:
            inside.pop()
        while waiting and waiting[-1][0] == index:
            span = waiting.pop()
            if span[1] < span[0]:
                raise BytecodeError("the region ends before it starts", kind="bad-region", index=index)
            if inside and span[1] > inside[-1][1]:
                raise BytecodeError("regions overlap without nesting", kind="bad-region", index=index)
            inside.append(span)
        innermost = inside[-1] if inside else None
        if innermost != (run[0] if run is not None else None):
            close(index - 1)
            run = None if innermost is None else (innermost, index)
    close(len(instructions) - 1)
    check_exception_table(table)
    return table


def _entry(
    instructions: list[Instruction],
    indexof: dict[Instruction, int],
    region: InstructionExnTabEntry,
    first: int,
    last: int,
) -> ExceptionTableEntry:
    start = _front(instructions, first).offset
    end = instructions[last].offset
    target = _front(instructions, indexof[region.target]).offset
    if start is None or end is None or target is None:
        raise BytecodeError("the region's instructions have no offsets: update_offsets() first", kind="bad-region")
    size = instruction_size(instructions[last])
    return ExceptionTableEntry(start, end + size - 2, target, region.depth, region.lasti)


def fix_vars(
    instructions: list[Instruction],
    code_options: dict[str, Any],
    varname_from_oparg: Callable[[int], str] | None = None,
) -> None:
    """Sets each ``arg`` that names a constant, a name or a local from ``argval``, adding to ``code_options``.

    ``varname_from_oparg`` is torch's and not needed: the order of locals follows from ``code_options``.
    """
    del varname_from_oparg
    names = {name: i for i, name in reversed(list(enumerate(code_options["co_names"])))}
    consts = {id(const): i for i, const in reversed(list(enumerate(code_options["co_consts"])))}
    added_names: list[str] = []
    added_consts: list[object] = []
    cells = [name for name in code_options["co_cellvars"] if name not in set(code_options["co_varnames"])]
    places = [*code_options["co_varnames"], *cells, *code_options["co_freevars"]]
    locals_: dict[str, int] = {name: i for i, name in reversed(list(enumerate(places)))}

    def local(index: int, inst: Instruction, name: object) -> int:
        if name not in locals_:
            raise BytecodeError(
                "it is not the name of a local: add it to code_options['co_varnames']",
                kind="bad-local",
                index=index,
                opname=inst.opname,
                argval=name,
            )
        return locals_[str(name)]

    for index, inst in enumerate(instructions):
        argval = inst.argval
        if argval is _NotProvided or (argval is None and inst.opcode not in CONST):
            continue
        if inst.opcode in NAME:
            place = names.setdefault(argval, len(names))
            if place == len(code_options["co_names"]) + len(added_names):
                added_names.append(argval)
            if inst_has_op_bits(inst.opname):
                shift = 2 if inst.opname in _TWO_BITS else 1
                inst.arg = place << shift | (inst.arg or 0) & ((1 << shift) - 1)
            else:
                inst.arg = place
        elif inst.opcode in CONST:
            if inst.arg is None:
                inst.arg = consts.setdefault(id(argval), len(code_options["co_consts"]) + len(added_consts))
                if inst.arg == len(code_options["co_consts"]) + len(added_consts):
                    added_consts.append(argval)
        elif inst.opcode in PAIR:
            first, second = (local(index, inst, name) for name in argval)
            if first > 15 or second > 15:
                raise BytecodeError(
                    "locals beyond the 16th do not fit a fused instruction: remove_fused_load_store() first",
                    kind="operand-out-of-range",
                    index=index,
                    opname=inst.opname,
                    argval=argval,
                )
            inst.arg = first << 4 | second
        elif inst.opcode in LOCAL:
            inst.arg = local(index, inst, argval)
        else:
            continue
        if inst.opcode not in CONST and not inst_has_op_bits(inst.opname):
            # The operand is what argval says; keep saying it.
            inst.argval = argval
    code_options["co_names"] = (*code_options["co_names"], *added_names)
    code_options["co_consts"] = (*code_options["co_consts"], *added_consts)
