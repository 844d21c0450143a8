"""Rewrites functions so that they must behave as before: NOPs at random places, blocks in a random order.

Owns the two rewrites and the import hook that applies them. What may not be torn apart is data, below: pairs that CPython's
own interpreter reads together, and jumps that must stay forward. Everything else is fair game, so whatever breaks under
churn is the assembler's fault (or belongs in those tables, with its reason).

Modes: `roundtrip` (native apart-and-together), `nops` (padding only: line events stay as they were), `full` (padding, then
blocks permuted).
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import itertools
import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from pydynamo import bytecode

# Never put anything directly before these: (the instruction, what precedes it or None for anything).
GLUED_BEFORE: dict[str, set[str] | None] = {
    "END_FOR": None,  # FOR_ITER's exhaustion skips the unit at its target unseen
    "POP_TOP": {"END_FOR"},  # 3.13: and the one after it
    "POP_ITER": {"END_FOR"},
    "CALL": {"PRECALL", "KW_NAMES"},  # 3.11: a specialised PRECALL runs its CALL
    "PRECALL": {"KW_NAMES"},
    "RESUME": {"YIELD_VALUE"},  # 3.11, 3.12: how a generator knows that it delegates
    "NOT_TAKEN": None,  # monitoring expects it right behind its branch
    "END_SEND": None,
    "CLEANUP_THROW": None,
}
# Opcodes whose target must come after them, and whose target's block must follow unchanged.
FORWARD_ONLY = {"FOR_ITER", "SEND"}
# Opcodes that never run on into the next instruction.
TERMINAL = {
    "RETURN_VALUE",
    "RETURN_CONST",
    "RAISE_VARARGS",
    "RERAISE",
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "JUMP_ABSOLUTE",
    "INTERPRETER_EXIT",
}
# How many NOPs go in at one place: mostly few, sometimes enough that jumps over them need one more EXTENDED_ARG.
PADDING = ((0.86, 0), (0.10, 1), (0.038, 3), (0.0018, 300), (0.0002, 66_000))


def padding(rng: random.Random, budget: int) -> int:
    """How many NOPs to put in here, within what is left for this function."""
    draw = rng.random()
    for share, count in PADDING:
        draw -= share
        if draw < 0:
            return count if count <= budget else 0
    return 0


def glued(previous: Any, instruction: Any) -> bool:
    """Whether nothing may come between these two neighbours."""
    before = GLUED_BEFORE.get(instruction.opname, set())
    return before is None or previous.opname in before


def first_body_index(instructions: Sequence[Any]) -> int:
    """Where the prologue (cells, generator creation, the first RESUME) has ended."""
    for index, instruction in enumerate(instructions):
        if instruction.opname == "RESUME":
            return index + 1
    return len(instructions)


def insert_nops(instructions: list[Any], rng: random.Random, budget: int = 70_000) -> None:
    """Pads the list in place. A NOP takes the position and the region of the instruction that it precedes."""
    if any(instruction.opname == "SEND" for instruction in instructions):
        budget = min(budget, 30_000)  # 3.12+: an inlined SEND keeps its distance in 16 bits
    start = first_body_index(instructions)
    fixed = {id(entry.target) for entry in regions_of(instructions)}
    fixed |= {id(instruction.target) for instruction in instructions if instruction.opname in FORWARD_ONLY}
    welded = welded_indices(instructions)
    result = instructions[:start]
    replaced: dict[int, Any] = {}  # id of an instruction -> the NOP that now stands first in its place
    for index in range(start, len(instructions)):
        instruction, previous = instructions[index], instructions[index - 1]
        unreached = previous.opname in TERMINAL  # a NOP here runs only if jumps to the instruction go to it
        if not glued(previous, instruction) and index not in welded and not (unreached and id(instruction) in fixed):
            count = padding(rng, budget)
            budget -= count
            for number in range(count):
                nop = bytecode.create_instruction("NOP")
                nop.positions = instruction.positions
                nop.exn_tab_entry = instruction.exn_tab_entry
                if number == 0 and (unreached or rng.random() < 0.5):
                    replaced[id(instruction)] = nop
                result.append(nop)
        result.append(instruction)
    for instruction in result:
        target = instruction.target
        if target is not None and id(target) in replaced and instruction.opname not in FORWARD_ONLY:
            instruction.target = replaced[id(target)]
    instructions[:] = result
    renew_regions(instructions)


def welded_indices(instructions: Sequence[Any]) -> set[int]:
    """3.11: where nothing may go in or move because `throw()` itself walks from YIELD_VALUE back to SEND and on to its target.

    It looks at one unit each way, so the whole loop stays as the compiler laid it out.
    """
    if sys.version_info >= (3, 12):
        return set()
    place = {id(instruction): index for index, instruction in enumerate(instructions)}
    return {
        index
        for start, instruction in enumerate(instructions)
        if instruction.opname == "SEND"
        for index in range(start + 1, place[id(instruction.target)] + 1)
    }


def blocks_of(instructions: Sequence[Any]) -> list[list[Any]]:
    """Basic blocks in order; glued neighbours stay together, and the prologue is part of the first."""
    starts = {id(instruction.target) for instruction in instructions if instruction.target is not None}
    starts |= {id(entry.target) for entry in regions_of(instructions)}
    blocks: list[list[Any]] = [[]]
    body = first_body_index(instructions)
    welded = welded_indices(instructions)
    for index, instruction in enumerate(instructions):
        previous = instructions[index - 1] if index else None
        is_target = id(instruction) in starts
        if previous is not None and index >= body and index not in welded:
            if is_target or (ends_block(previous) and not glued(previous, instruction)):
                blocks.append([])
        blocks[-1].append(instruction)
    return blocks


def ends_block(instruction: Any) -> bool:
    return instruction.target is not None or instruction.opname in TERMINAL


def regions_of(instructions: Sequence[Any]) -> list[Any]:
    return [instruction.exn_tab_entry for instruction in instructions if instruction.exn_tab_entry is not None]


def permute_blocks(instructions: list[Any], rng: random.Random) -> None:
    """Lays the blocks out in a random order, in place; falling through becomes a jump where the next block moved away."""
    blocks = blocks_of(instructions)
    if len(blocks) < 3:
        return
    order = random_order(blocks, rng)
    result: list[Any] = []
    for place, number in enumerate(order):
        block = blocks[number]
        result.extend(block)
        last = block[-1]
        falls_through = last.opname not in TERMINAL
        following = order[place + 1] if place + 1 < len(order) else None
        if falls_through and number + 1 < len(blocks) and following != number + 1:
            jump = bytecode.create_jump_absolute(blocks[number + 1][0])
            jump.positions = last.positions
            jump.exn_tab_entry = last.exn_tab_entry
            result.append(jump)
    instructions[:] = result
    renew_regions(instructions)


def random_order(blocks: Sequence[Sequence[Any]], rng: random.Random) -> list[int]:
    """A random order of the blocks that starts with the first and keeps what must stay adjacent or forward."""
    # Chains: blocks that fall into a glued neighbour move together.
    chains: list[list[int]] = []
    for number, block in enumerate(blocks):
        previous = blocks[number - 1][-1] if number else None
        if previous is not None and previous.opname not in TERMINAL and glued(previous, block[0]):
            chains[-1].append(number)
        else:
            chains.append([number])
    chain_of = {number: index for index, chain in enumerate(chains) for number in chain}
    block_of = {id(instruction): number for number, block in enumerate(blocks) for instruction in block}
    # Forward-only jumps: a random topological order of the chains.
    later: list[set[int]] = [set() for _ in chains]
    for number, block in enumerate(blocks):
        for instruction in block:
            if instruction.opname in FORWARD_ONLY and chain_of[number] != chain_of[block_of[id(instruction.target)]]:
                later[chain_of[number]].add(chain_of[block_of[id(instruction.target)]])
    waits = [0] * len(chains)
    for targets in later:
        for target in targets:
            waits[target] += 1
    order: list[int] = []
    ready = [0]
    others = [index for index in range(1, len(chains)) if waits[index] == 0]
    while ready:
        chain = ready.pop(rng.randrange(len(ready)))
        order.extend(chains[chain])
        ready += others
        others = []
        for target in later[chain]:
            waits[target] -= 1
            if waits[target] == 0:
                ready.append(target)
    assert len(order) == len(blocks), "forward-only jumps form a cycle"
    return order


def renew_regions(instructions: Sequence[Any]) -> None:
    """Gives every run of neighbours under one handler a region of its own, as moved and padded instructions need.

    Each instruction gets its own entry object, as in a list that was just taken apart.
    """
    for handler, group in itertools.groupby(instructions, handler_of):
        run = list(group)
        if handler is None:
            continue
        entry = run[0].exn_tab_entry
        for member in run:
            member.exn_tab_entry = bytecode.InstructionExnTabEntry(
                run[0], run[-1], entry.target, entry.depth, entry.lasti
            )


def handler_of(instruction: Any) -> tuple[int, int, bool] | None:
    """What tells one region from another where they touch: the handler, the depth and the lasti flag."""
    entry = instruction.exn_tab_entry
    return None if entry is None else (id(entry.target), entry.depth, entry.lasti)


def transformation(mode: str, seed: int, counts: dict[str, int]) -> Callable[[types.CodeType], types.CodeType]:
    """The rewrite of one code object for a mode; the same seed and code give the same result.

    `counts["padded_only"]` grows with every function whose blocks could not be permuted.
    """
    if mode == "roundtrip":
        return bytecode.roundtrip

    def rewrite(code: types.CodeType) -> types.CodeType:
        try:
            return change_code(code, mode)
        except bytecode.BytecodeError as error:
            # A permuted layout may hold a loop that no signal can get into, which the verifier rightly or wrongly refuses:
            # such a function is padded only, and counted.
            if mode != "full" or "no signal gets in" not in str(error):
                raise
            counts["padded_only"] += 1
            return change_code(code, "nops")

    def change_code(code: types.CodeType, mode: str) -> types.CodeType:
        rng = random.Random(f"{seed} {code.co_filename} {code.co_qualname} {code.co_firstlineno}")

        def change(instructions: list[Any], options: object) -> None:
            insert_nops(instructions, rng)
            if mode == "full":
                permute_blocks(instructions, rng)

        try:
            return bytecode.transform_code_object(code, change)
        except bytecode.BytecodeError as error:
            # A loop through its own handler may come to lie so that its only way back is the handler's, where no signal gets
            # in: the verifier refuses that, rightly, so such a function keeps its order.
            if mode != "full" or "no signal gets in" not in error.reason:
                raise
        return bytecode.transform_code_object(code, lambda instructions, _: insert_nops(instructions, rng))

    return rewrite


def rewrite_all(
    code: types.CodeType, rewrite: Callable[[types.CodeType], types.CodeType], counts: dict[str, int]
) -> types.CodeType:
    """The code object with every nested one rewritten, innermost first."""
    constants = tuple(
        rewrite_all(constant, rewrite, counts) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    counts["code_objects"] += 1
    return rewrite(code.replace(co_consts=constants))


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles from source, always, and rewrites the result."""

    rewrite: Callable[[types.CodeType], types.CodeType]
    counts: dict[str, int]

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        code = self.source_to_code(self.get_data(path), path)
        return rewrite_all(code, type(self).rewrite, type(self).counts)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, prefixes: tuple[str, ...], loader: type[_Loader]) -> None:
        self.prefixes = prefixes
        self.loader = loader

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self.prefixes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = self.loader(fullname, spec.loader.path)
        return spec


def install(prefixes: tuple[str, ...], mode: str, seed: int) -> dict[str, int]:
    """Churns every module imported from now on whose top-level package is named; returns live counts."""
    counts = {"code_objects": 0, "padded_only": 0}
    loader = type(
        "ChurningLoader", (_Loader,), {"rewrite": staticmethod(transformation(mode, seed, counts)), "counts": counts}
    )
    sys.meta_path.insert(0, _Finder(prefixes, loader))
    return counts
