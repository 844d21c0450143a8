"""Instructions and options with values that make no sense, objects that only look like instructions, and objects that
change the list while it is read.

What must come of them is an exception or a legal code object. Knows nothing of assembling or running.
"""

from __future__ import annotations

import copy
import random
import types
from typing import Any

from pydynamo.bytecode import BytecodeError, Instruction, InstructionExnTabEntry

_FIELDS = ("opcode", "opname", "arg", "argval", "positions", "target", "exn_tab_entry", "starts_line", "offset")
_ENTRY_FIELDS = ("start", "end", "target", "depth", "lasti")
_HUGE = (-1, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**30, 254, 256, 65536)


class Meddler:
    """Whoever hashes, compares, counts or reads it changes the list that is being assembled, or fails."""

    def __init__(self, rng: random.Random, insts: list[Any], options: dict[str, Any]) -> None:
        self.rng, self.insts, self.options = rng, insts, options

    def meddle(self) -> int:
        match self.rng.randrange(8):
            case 0:
                self.insts.clear()
            case 1:
                del self.insts[self.rng.randrange(len(self.insts) + 1) :]
            case 2:
                self.insts[:] = [*self.insts, *self.insts]
            case 3:
                self.options.clear()
            case 4:
                self.options["co_consts"] = ()
            case 5:
                raise ValueError("a meddler")
            case 6 if self.insts:
                self.insts[-1] = None
        return self.rng.choice((0, 1, 2, -1, 2**40))

    def __hash__(self) -> int:
        return self.meddle()

    def __eq__(self, other: object) -> bool:
        return bool(self.meddle())

    def __index__(self) -> int:
        return self.meddle()

    def __len__(self) -> int:
        return abs(self.meddle())

    def __iter__(self) -> Any:
        self.meddle()
        return iter((1, 2, 3, 4))

    def __getitem__(self, key: object) -> int:
        return self.meddle()


class LookAlike:
    """An instruction of somebody else."""

    def __init__(self, inst: Instruction) -> None:
        for name in (*_FIELDS, "is_jump_target", "argrepr"):
            setattr(self, name, getattr(inst, name))


class Absurdities:
    """Spoils lists and options, at random."""

    def __init__(self) -> None:
        self.rng = random.Random()

    def plan(self, rng: random.Random) -> list[tuple[str, int]]:
        return [(rng.choice(SPOILERS), rng.getrandbits(24)) for _ in range(rng.choice((1, 1, 2, 3)))]

    def apply(self, spoilers: list[tuple[str, int]], insts: list[Any], options: dict[str, Any]) -> None:
        for name, seed in spoilers:
            if insts:
                self.rng.seed(seed)
                try:
                    getattr(self, name)(insts, options)
                except (TypeError, ValueError, OverflowError, AttributeError, BytecodeError):
                    continue

    def value(self, insts: list[Any], options: dict[str, Any]) -> Any:
        rng = self.rng
        other = rng.choice(insts)
        match rng.randrange(6):
            case 0:
                return rng.choice(_HUGE)
            case 1:
                return rng.choice((None, True, 1.5, float("nan"), "", "x", "\ud800", "x" * 70000, b"x", ..., object()))
            case 2:
                return rng.choice(
                    ((), (1, 2), (1, 2, 3, 4), (None,) * 4, (-1, -5, 2**40, 3), (5, 1, 9, 2), [], {}, set())
                )
            case 3:
                return rng.choice((other, getattr(other, "exn_tab_entry", None), insts, options, Absurdities, len))
            case 4:
                return Meddler(random.Random(rng.random()), insts, options)
            case _:
                return rng.choice((rng.randrange(300), ("a", "b"), "a", Absurdities.value.__code__))

    def field(self, insts: list[Any], options: dict[str, Any]) -> None:
        setattr(self.rng.choice(insts), self.rng.choice(_FIELDS), self.value(insts, options))

    def entry_field(self, insts: list[Any], options: dict[str, Any]) -> None:
        entries = [inst.exn_tab_entry for inst in insts if getattr(inst, "exn_tab_entry", None) is not None]
        if entries:
            setattr(self.rng.choice(entries), self.rng.choice(_ENTRY_FIELDS), self.value(insts, options))

    def new_entry(self, insts: list[Any], options: dict[str, Any]) -> None:
        one = lambda: self.rng.choice(insts)  # noqa: E731
        entry = InstructionExnTabEntry(one(), one(), one(), self.rng.randrange(4), self.rng.random() < 0.5)
        setattr(entry, self.rng.choice(_ENTRY_FIELDS), self.value(insts, options))
        one().exn_tab_entry = entry

    def look_alike(self, insts: list[Any], options: dict[str, Any]) -> None:
        """One or all instructions become foreign ones; jumps may still lead to the old."""
        places = range(len(insts)) if self.rng.random() < 0.3 else [self.rng.randrange(len(insts))]
        made = {id(insts[i]): LookAlike(insts[i]) for i in places}
        for i in places:
            insts[i] = made[id(insts[i])]
        for new in insts:
            if id(getattr(new, "target", None)) in made and self.rng.random() < 0.9:
                new.target = made[id(new.target)]
        if self.rng.random() < 0.5:
            setattr(insts[places[0]], self.rng.choice(_FIELDS), self.value(insts, options))

    def name_space(self, insts: list[Any], options: dict[str, Any]) -> None:
        insts[self.rng.randrange(len(insts))] = types.SimpleNamespace(opname=self.value(insts, options), opcode=9)

    def item(self, insts: list[Any], options: dict[str, Any]) -> None:
        insts[self.rng.randrange(len(insts))] = self.value(insts, options)

    def option(self, insts: list[Any], options: dict[str, Any]) -> None:
        options[self.rng.choice(list(options))] = self.value(insts, options)

    def pool(self, insts: list[Any], options: dict[str, Any]) -> None:
        """A pool with one item spoiled."""
        name = self.rng.choice(("co_consts", "co_names", "co_varnames", "co_cellvars", "co_freevars"))
        options[name] = (*options[name], self.value(insts, options))

    def shared(self, insts: list[Any], options: dict[str, Any]) -> None:
        insts.insert(self.rng.randrange(len(insts)), self.rng.choice(insts))

    def copied(self, insts: list[Any], options: dict[str, Any]) -> None:
        """Another instruction that says what one in the list says; jumps may lead to it."""
        new = copy.copy(self.rng.choice(insts))
        self.rng.choice(insts).target = new


SPOILERS = (
    "field field field field entry_field entry_field new_entry look_alike name_space item option option pool shared copied"
).split()
