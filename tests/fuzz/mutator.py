"""Random changes to a list of instructions: the moves that mutants of the list kind are made of.

A move changes the list in place and takes all its luck from the mutator's generator, which is seeded before each move: a
move can be left out and the others stay the same. Knows nothing of assembling or running.
"""

from __future__ import annotations

import copy
import dis
import random
from collections.abc import Callable

from pydynamo.bytecode import BytecodeError, Instruction, cleaned_instructions, create_instruction

from .subjects import Subject

Move = tuple[str, int]


def _legal_names() -> list[str]:
    """The opcodes that may be written."""
    names = []
    for name in sorted(dis.opmap):
        try:
            create_instruction(name, arg=0)
        except (BytecodeError, ValueError, TypeError):
            try:
                create_instruction(name)
            except (BytecodeError, ValueError, TypeError):
                continue
        names.append(name)
    return names


NAMES = _legal_names()
_KNOWN = frozenset(NAMES)
_FAMILIES: dict[str, list[str]] = {}
for _name in NAMES:
    _FAMILIES.setdefault(_name.split("_")[0], []).append(_name)
#: What leaves the stack as it was, or as deep as it was.
_NEUTRAL = [
    ["NOP"],
    ["COPY", "POP_TOP"],
    ["PUSH_NULL", "POP_TOP"],
    ["SWAP"],
    ["LOAD_FAST", "POP_TOP"],
    ["NOP"] * 300,
    ["LOAD_FAST", "STORE_FAST"],
    ["STORE_FAST", "LOAD_FAST"],
    ["LOAD_CONST", "SWAP", "POP_TOP"],
    ["LOAD_FAST_AND_CLEAR", "STORE_FAST"],
    ["DELETE_FAST"],
    ["MAKE_CELL"],
    ["GET_ITER"],
    ["RESUME"],
]
NEUTRAL = [[name for name in names if name in _KNOWN] for names in _NEUTRAL]
NUMBERS = (0, 0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 26, 33, 255, 256)


class Mutator:
    """Changes a list of instructions in place, at random."""

    def __init__(self, donors: list[Subject]) -> None:
        self.rng = random.Random()
        self.donors = donors
        self.disassembled: dict[int, list[Instruction]] = {}

    def plan(self, rng: random.Random) -> list[Move]:
        """The moves of a mutant."""
        return [(rng.choice(MOVES), rng.getrandbits(24)) for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5)))]

    def apply(self, moves: list[Move], insts: list[Instruction]) -> None:
        """Makes the moves, as long as there is something to move."""
        for name, seed in moves:
            if len(insts) > 1:
                self.rng.seed(seed)
                move: Callable[[list[Instruction]], None] = getattr(self, name)
                move(insts)

    def below(self, limit: int) -> int:
        return int(self.rng.random() * limit)

    def at(self, insts: list[Instruction]) -> int:
        return int(self.rng.random() * len(insts))

    def one(self, insts: list[Instruction]) -> Instruction:
        return insts[int(self.rng.random() * len(insts))]

    def number(self) -> int:
        return NUMBERS[self.below(len(NUMBERS))] if self.rng.random() < 0.94 else self.below(300)

    # --- moves

    def delete(self, insts: list[Instruction]) -> None:
        del insts[self.at(insts)]

    def duplicate(self, insts: list[Instruction]) -> None:
        insts.insert(self.at(insts), copy.copy(self.one(insts)))

    def swap(self, insts: list[Instruction]) -> None:
        i = self.at(insts) - 1
        insts[i], insts[i + 1] = insts[i + 1], insts[i]

    def move(self, insts: list[Instruction]) -> None:
        start = self.at(insts)
        stop = min(len(insts), start + 1 + self.below(5))
        part = insts[start:stop]
        del insts[start:stop]
        where = self.below(len(insts) + 1)
        insts[where:where] = part

    def operand(self, insts: list[Instruction]) -> None:
        inst = self.one(insts)
        arg = inst.arg
        if arg is not None:
            near = self.rng.random() < 0.6
            inst.arg = max(0, arg + (-2, -1, 1, 2)[self.below(4)]) if near else self.number()

    def opcode(self, insts: list[Instruction]) -> None:
        inst = self.one(insts)
        arg = inst.arg
        inst.opname = self.rng.choice(NAMES)
        inst.arg = arg if arg is not None else self.number()

    def exchange_opcodes(self, insts: list[Instruction]) -> None:
        """Another operation of the same family, which often passes for the first."""
        inst = self.one(insts)
        family = _FAMILIES.get(inst.opname.split("_")[0])
        if family:
            arg = inst.arg
            inst.opname = self.rng.choice(family)
            inst.arg = arg if arg is not None else 0

    def made(self, name: str, insts: list[Instruction]) -> Instruction:
        inst = create_instruction("NOP")
        inst.opname = name
        inst.arg = self.number()
        inst.target = self.one(insts)
        return inst

    def insert(self, insts: list[Instruction]) -> None:
        where = self.at(insts)
        inst = self.made(self.rng.choice(NAMES), insts)
        luck = self.rng.random()
        if luck < 0.95:
            inst.exn_tab_entry = (insts[where] if luck < 0.8 else self.one(insts)).exn_tab_entry
        insts.insert(where, inst)

    def insert_neutral(self, insts: list[Instruction]) -> None:
        """Something that leaves the stack as it was, or as deep as it was."""
        where = self.at(insts)
        entry = (insts[where] if self.rng.random() < 0.8 else self.one(insts)).exn_tab_entry
        arg = self.below(6)
        names = self.rng.choice(NEUTRAL)
        if len(names) > 10:
            first = create_instruction(names[0])
            first.exn_tab_entry = entry
            insts[where:where] = [copy.copy(first) for _ in names]
            return
        part = []
        for name in names:
            inst = self.made(name, insts)
            inst.arg = 1 + self.below(4) if name in ("COPY", "SWAP") else arg
            inst.exn_tab_entry = entry
            part.append(inst)
        insts[where:where] = part

    def retarget(self, insts: list[Instruction]) -> None:
        jumps = [inst for inst in insts if inst.target is not None]
        if jumps:
            self.one(jumps).target = self.one(insts)

    def region(self, insts: list[Instruction]) -> None:
        entry = self.one(insts).exn_tab_entry
        start = self.at(insts)
        for inst in insts[start : start + (1, 1, 2, 5, 20)[self.below(5)]]:
            inst.exn_tab_entry = entry

    def region_fields(self, insts: list[Instruction]) -> None:
        entries = [inst.exn_tab_entry for inst in insts if inst.exn_tab_entry is not None]
        if not entries:
            return
        entry = self.rng.choice(entries)
        match self.below(4):
            case 0:
                entry.target = self.one(insts)
            case 1:
                entry.depth = max(0, entry.depth + (-1, 1, 2)[self.below(3)])
            case 2:
                entry.lasti = not entry.lasti
            case _:
                entry.start, entry.end = self.one(insts), self.one(insts)

    def splice(self, insts: list[Instruction]) -> None:
        """A piece of another code object. Names and constants come along."""
        donor = self.disassembly(self.below(len(self.donors)))
        start = self.at(donor)
        old = donor[start : start + 1 + self.below(7)]
        part = [copy.copy(inst) for inst in old]
        place = {id(inst): i for i, inst in enumerate(old)}
        for inst in part:
            if inst.target is not None:
                near = place.get(id(inst.target))
                inst.target = part[near] if near is not None else self.one(insts)
            inst.exn_tab_entry = None
        where = self.below(len(insts) + 1)
        insts[where:where] = part

    def disassembly(self, index: int) -> list[Instruction]:
        """A donor's instructions, never to be changed."""
        if index not in self.disassembled:
            self.disassembled[index] = cleaned_instructions(self.donors[index].code)
        return self.disassembled[index]


#: The moves by name, the more often named ones more often made.
MOVES = (
    "delete delete duplicate swap move operand operand operand opcode insert insert insert_neutral insert_neutral"
    " retarget region region region_fields splice exchange_opcodes"
).split()


def without(insts: list[Instruction], dropped: frozenset[int]) -> list[Instruction]:
    """The list without the instructions at some places; what referred to them refers to the next one that is left."""
    following: dict[Instruction, Instruction | None] = {}
    heir: Instruction | None = None
    for i in range(len(insts) - 1, -1, -1):
        if i in dropped:
            following[insts[i]] = heir
        else:
            heir = insts[i]
    kept = [inst for i, inst in enumerate(insts) if i not in dropped]
    entries = {id(inst.exn_tab_entry): inst.exn_tab_entry for inst in kept if inst.exn_tab_entry is not None}
    for inst in kept:
        if inst.target in following:
            inst.target = following[inst.target]
    for entry in entries.values():
        if (heir := following.get(entry.target)) is not None:
            entry.target = heir
    return kept
