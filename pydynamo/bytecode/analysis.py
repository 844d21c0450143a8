"""What can be said of a list of instructions without running it: live variables, dead code, lines. All of it
linear.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from typing import Final

from pydynamo._core import (
    JUMP_OPCODES,
    TERMINAL_OPCODES,
    Instruction,
    InstructionExnTabEntry,
    stacksize_analysis,
)
from pydynamo.errors import BytecodeError

__all__ = [
    "JUMP_OPCODES",
    "JUMP_OPNAMES",
    "TERMINAL_OPCODES",
    "get_indexof",
    "livevars_analysis",
    "propagate_line_nums",
    "remove_dead_code",
    "remove_extra_line_nums",
    "remove_pointless_jumps",
    "stacksize_analysis",
]

JUMP_OPNAMES: Final = {dis.opname[opcode] for opcode in JUMP_OPCODES}
_LOCALS: Final = frozenset([*dis.haslocal, *dis.hasfree])
_UNCONDITIONAL: Final = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


def get_indexof(insts: list[Instruction]) -> dict[Instruction, int]:
    """The place of each instruction; ``BytecodeError`` if one stands in the list twice."""
    indexof: dict[Instruction, int] = {}
    for i, inst in enumerate(insts):
        if indexof.setdefault(inst, i) != i:
            raise BytecodeError(
                f"the instruction stands in the list twice, also at {indexof[inst]}: copy it",
                kind="duplicate-instruction",
                index=i,
                opname=inst.opname,
            )
    return indexof


def _place(indexof: dict[Instruction, int], inst: Instruction | None, what: str, at: int) -> int:
    if inst is None or inst not in indexof:
        raise BytecodeError(f"{what} is not in the list", kind="bad-target", index=at)
    return indexof[inst]


def _spans(
    instructions: list[Instruction], indexof: dict[Instruction, int]
) -> dict[int, tuple[InstructionExnTabEntry, int, int]]:
    """First and last place of each exception region, by the entry's identity, as assembly will see them."""
    carried: dict[int, tuple[InstructionExnTabEntry, int, int]] = {}
    for i, inst in enumerate(instructions):
        entry = inst.exn_tab_entry
        if entry is not None:
            first = carried[id(entry)][1] if id(entry) in carried else i
            carried[id(entry)] = (entry, first, i)
    spans = {}
    for key, (entry, first, last) in carried.items():
        start = indexof.get(entry.start, first) if entry.start is not None else first
        end = indexof.get(entry.end, last) if entry.end is not None else last
        spans[key] = (entry, start, end)
    return spans


def _innermost(instructions: list[Instruction], indexof: dict[Instruction, int]) -> list[InstructionExnTabEntry | None]:
    """The region that protects each instruction: the innermost around it, or the one that it strayed from."""
    innermost: list[InstructionExnTabEntry | None] = [None] * len(instructions)
    spans = _spans(instructions, indexof)
    opening = sorted(spans.values(), key=lambda span: (span[1], -span[2]))
    opening.reverse()
    open_: list[tuple[InstructionExnTabEntry, int, int]] = []
    for i in range(len(instructions)):
        while open_ and open_[-1][2] < i:
            open_.pop()
        while opening and opening[-1][1] <= i:
            span = opening.pop()
            if span[2] >= i:
                open_.append(span)
        own = instructions[i].exn_tab_entry
        if own is not None and not spans[id(own)][1] <= i <= spans[id(own)][2]:
            innermost[i] = own
        else:
            innermost[i] = open_[-1][0] if open_ else None
    return innermost


def _successors(
    i: int, inst: Instruction, indexof: dict[Instruction, int], region: InstructionExnTabEntry | None
) -> Iterator[int]:
    """The handler first, if there is one."""
    if region is not None:
        yield _place(indexof, region.target, "the region's handler (target)", i)
    if inst.opcode in JUMP_OPCODES:
        yield _place(indexof, inst.target, "the jump's target", i)
    if inst.opcode not in TERMINAL_OPCODES:
        yield i + 1


def remove_dead_code(instructions: list[Instruction]) -> list[Instruction]:
    """The instructions that can be reached from the first.

    Regions whose first or last instruction is dead are narrowed: their entries change in place.
    """
    indexof = get_indexof(instructions)
    innermost = _innermost(instructions, indexof)
    live = [False] * len(instructions)
    todo = [0] if instructions else []
    while todo:
        i = todo.pop()
        while i < len(instructions) and not live[i]:
            live[i] = True
            following = None
            for successor in _successors(i, instructions[i], indexof, innermost[i]):
                if successor == i + 1:
                    following = successor
                else:
                    todo.append(successor)
            if following is None:
                break
            i = following
    if all(live):
        return list(instructions)
    after = list(range(len(instructions) + 1))
    for i in range(len(instructions) - 1, -1, -1):
        after[i] = i if live[i] else after[i + 1]
    before = list(range(len(instructions)))
    for i in range(len(instructions)):
        before[i] = i if live[i] else before[i - 1] if i else -1
    for entry, start, end in _spans(instructions, indexof).values():
        first, last = after[start], before[end]
        if first > last:
            continue
        if not live[start]:
            entry.start = instructions[first]
        if not live[end]:
            entry.end = instructions[last]
    return [inst for i, inst in enumerate(instructions) if live[i]]


def remove_pointless_jumps(instructions: list[Instruction]) -> list[Instruction]:
    """Drops unconditional jumps to the very next instruction. What referred to them refers to that
    instruction then.
    """
    moved: dict[Instruction, Instruction] = {}
    output: list[Instruction] = []
    for i, inst in enumerate(instructions):
        follows = instructions[i + 1] if i + 1 < len(instructions) else None
        if inst.opname in _UNCONDITIONAL and follows is not None and inst.target is follows:
            moved[inst] = follows
        else:
            output.append(inst)
    if not moved:
        return output

    def final(inst: Instruction) -> Instruction:
        while inst in moved:
            inst = moved[inst]
        return inst

    indexof = get_indexof(instructions)
    for inst in output:
        if inst.target is not None and inst.target in moved:
            inst.target = final(inst.target)
    for entry, start, end in _spans(instructions, indexof).values():
        if entry.target is not None:
            entry.target = final(entry.target)
        while start < end and instructions[start] in moved:
            start += 1
        while start < end and instructions[end] in moved:
            end -= 1
        if entry.start is not instructions[start]:
            entry.start = instructions[start]
        if entry.end is not instructions[end]:
            entry.end = instructions[end]
    return output


def livevars_analysis(instructions: list[Instruction], instruction: Instruction) -> set[str]:
    """The locals, cells and free variables that may be read, from ``instruction`` on, before they are
    written.
    """
    indexof = get_indexof(instructions)
    start = _place(indexof, instruction, "the instruction", 0)
    innermost = _innermost(instructions, indexof)
    # Each with whether control comes by an exception, which may be raised before the instruction has written.
    predecessors: list[list[tuple[int, bool]]] = [[] for _ in instructions]
    reached = [False] * len(instructions)
    todo = [start]
    while todo:
        i = todo.pop()
        if reached[i]:
            continue
        reached[i] = True
        for rank, successor in enumerate(_successors(i, instructions[i], indexof, innermost[i])):
            if successor < len(instructions):
                predecessors[successor].append((i, rank == 0 and innermost[i] is not None))
                todo.append(successor)
    live: dict[str, list[bool]] = {}
    reads = [_reads(inst) for inst in instructions]
    writes = [_writes(inst) for inst in instructions]
    names = {name for i, seen in enumerate(reached) if seen for name in reads[i]}
    result = set()
    for name in names:
        known = live.setdefault(name, [False] * len(instructions))
        todo = [i for i, seen in enumerate(reached) if seen and name in reads[i]]
        for i in todo:
            known[i] = True
        while todo:
            for before, exceptional in predecessors[todo.pop()]:
                if not known[before] and (exceptional or name not in writes[before]):
                    known[before] = True
                    todo.append(before)
        if known[start]:
            result.add(name)
    return result


def _reads(inst: Instruction) -> tuple[str, ...]:
    if inst.opcode not in _LOCALS:
        return ()
    match inst.opname, inst.argval:
        case "STORE_FAST_LOAD_FAST", (stored, loaded):
            return () if loaded == stored else (str(loaded),)
        case "STORE_FAST_STORE_FAST" | "MAKE_CELL" | "STORE_FAST" | "STORE_DEREF", _:
            return ()
        case _, (first, second):
            return (str(first), str(second))
        case _, str(name):
            return (name,)
    return ()


def _writes(inst: Instruction) -> tuple[str, ...]:
    if inst.opcode not in _LOCALS:
        return ()
    match inst.opname, inst.argval:
        case "STORE_FAST_LOAD_FAST", (stored, _):
            return (str(stored),)
        case "STORE_FAST_STORE_FAST", (first, second):
            return (str(first), str(second))
        case "STORE_FAST" | "STORE_DEREF", str(name):
            return (name,)
    return ()


def propagate_line_nums(instructions: list[Instruction]) -> None:
    """Gives instructions without a position the line of the one before, in case that one is removed."""
    line = None
    for inst in instructions:
        if inst.starts_line is not None:
            line = inst.starts_line
        elif line is not None:
            inst.starts_line = line


def remove_extra_line_nums(instructions: list[Instruction]) -> None:
    """Hides ``starts_line`` where it is that of the instruction before. Positions stay."""
    line = None
    for inst in instructions:
        if inst.starts_line is None:
            continue
        if inst.starts_line == line:
            inst.starts_line = None
        else:
            line = inst.starts_line
