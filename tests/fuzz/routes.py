"""The ways from a subject to a code object that may be run: mutants by number, each of one of several kinds.

A `Case` says all that makes a mutant, so that parts of it can be left out; `Kitchen.cook` makes it. What comes out was
accepted by the verifier. What breaks a promise on the way (a panic, an exception of the wrong family, two ways that
disagree) is a `Broken`.
"""

from __future__ import annotations

import random
import types
from dataclasses import dataclass, replace
from typing import Any

from pydynamo import bytecode
from pydynamo.bytecode import (
    BytecodeError,
    Instruction,
    clean_and_assemble_instructions,
    cleaned_instructions,
    code_options,
    get_code_keys,
)

from .absurd import Absurdities
from .damage import Damage
from .mutator import Mutator, without
from .subjects import Subject

KEYS = get_code_keys()
#: What bad input may raise.
REFUSALS = (BytecodeError, ValueError, TypeError, OverflowError)
#: What it may raise where values were absurd, from the values' own methods or from a pool that is gone.
ABSURD_REFUSALS = (*REFUSALS, KeyError, AttributeError, IndexError, MemoryError, RecursionError)
ROUTES = ("list",) * 12 + ("text", "swept", "native", "native", "damaged", "damaged", "damaged", "absurd")


class Broken(Exception):
    """A promise that was not kept, short of a crash."""


@dataclass(frozen=True)
class Case:
    """All that makes a mutant."""

    number: int
    subject: int
    route: str
    #: Luck of the route itself.
    seed: int
    harms: tuple[tuple[str, int], ...] = ()
    moves: tuple[tuple[str, int], ...] = ()
    spoilers: tuple[tuple[str, int], ...] = ()
    #: Places in the mutated list that are left out.
    dropped: frozenset[int] = frozenset()


@dataclass
class Dish:
    """What became of a case: its list, the damaged code object, what the verifier accepted or why it refused."""

    insts: list[Any] | None = None
    damaged: types.CodeType | None = None
    code: types.CodeType | None = None
    refusal: BaseException | None = None


class Kitchen:
    """Makes mutants."""

    def __init__(self, seed: int, found: list[Subject]) -> None:
        self.seed, self.subjects = seed, found
        self.mutator, self.damage, self.absurdities = Mutator(found), Damage(), Absurdities()
        self.rng = random.Random()

    def case(self, number: int) -> Case:
        rng = self.rng
        rng.seed(self.seed << 40 | number)
        case = Case(number, rng.randrange(len(self.subjects)), rng.choice(ROUTES), rng.getrandbits(24))
        if case.route == "damaged":
            case = replace(case, harms=tuple(self.damage.plan(rng)))
            return replace(case, moves=tuple(self.mutator.plan(rng))) if case.seed % 4 == 0 else case
        case = replace(case, moves=tuple(self.mutator.plan(rng)))
        if case.route == "absurd":
            case = replace(case, spoilers=tuple(self.absurdities.plan(rng)))
        return case

    def cook(self, case: Case) -> Dish:
        """Makes the mutant, up to what may be run."""
        dish = Dish()
        refusals = ABSURD_REFUSALS if case.route == "absurd" else REFUSALS
        try:
            dish.code = getattr(self, case.route)(case, dish)
        except refusals as error:
            dish.refusal = error
        except Broken:
            raise
        except BaseException as error:
            raise Broken(f"{type(error).__name__} is no answer: {error}") from error
        return dish

    def mutated(self, case: Case, dish: Dish, code: types.CodeType) -> list[Instruction]:
        insts = cleaned_instructions(code)
        self.mutator.apply(list(case.moves), insts)
        if case.dropped:
            insts = without(insts, case.dropped)
        dish.insts = insts
        return insts

    # --- routes

    def list(self, case: Case, dish: Dish) -> types.CodeType:
        """The list, assembled."""
        code = self.subjects[case.subject].code
        return clean_and_assemble_instructions(self.mutated(case, dish, code), KEYS, code_options(code))[1]

    def text(self, case: Case, dish: Dish) -> types.CodeType:
        """The list by way of its text, which must not make a difference."""
        subject = self.subjects[case.subject].code
        insts = self.mutated(case, dish, subject)
        text = bytecode.format(insts)
        code = clean_and_assemble_instructions(insts, KEYS, code_options(subject))[1]
        # Constants without a literal go by their place, which is another in the pool that a piece of another function came from.
        spliced = any(name == "splice" for name, _ in case.moves)
        if "<no literal>" not in text and not (spliced and "@ " in text):
            again = clean_and_assemble_instructions(bytecode.parse(text), KEYS, code_options(subject))[1]
            _same(code, again, "the text says something else than the list")
        return code

    def swept(self, case: Case, dish: Dish) -> types.CodeType:
        """The list after everything that can be done to lists."""
        code = self.subjects[case.subject].code
        insts = self.mutated(case, dish, code)
        rng = random.Random(case.seed)
        bytecode.livevars_analysis(insts, rng.choice(insts))
        for sweep in rng.sample(_SWEEPS, 3):
            insts = sweep(insts) or insts
        return clean_and_assemble_instructions(insts, KEYS, code_options(code))[1]

    def native(self, case: Case, dish: Dish) -> types.CodeType:
        """What was accepted is taken apart and accepted again, and survives the native transformations."""
        code = self.list(case, dish)
        try:
            bytecode.verify(code)
            again = bytecode.roundtrip(code)
        except BytecodeError as error:
            raise Broken(f"what the assembler made is refused: {error}") from error
        _same(code, again, "taken apart and put together it is something else")
        match case.seed % 4:
            case 0:
                return bytecode.shuffled(code, case.seed)
            case 1:
                return bytecode.swept(code, dead_stores=case.seed % 8 == 1)
            case 2:
                return bytecode.instrument_lines(code, _nothing)
            case _:
                return bytecode.instrument_blocks(code, _nothing)

    def damaged(self, case: Case, dish: Dish) -> types.CodeType:
        """A damaged code object: itself if it passes, or what is made of it."""
        code = self.damage.apply(list(case.harms), self.subjects[case.subject].code)
        dish.damaged = code
        match case.seed % 4:
            case 0:
                return clean_and_assemble_instructions(self.mutated(case, dish, code), KEYS, code_options(code))[1]
            case 1:
                return bytecode.roundtrip(code)
        bytecode.verify(code)
        return code

    def absurd(self, case: Case, dish: Dish) -> types.CodeType:
        """A list with values that make no sense."""
        code = self.subjects[case.subject].code
        insts, options = self.mutated(case, dish, code), code_options(code)
        self.absurdities.apply(list(case.spoilers), insts, options)
        if case.seed % 4 == 0:
            for reader in (bytecode.format, bytecode.remove_dead_code, bytecode.stacksize_analysis):
                try:
                    reader(list(insts))  # type: ignore[operator]
                except ABSURD_REFUSALS:
                    continue
        return clean_and_assemble_instructions(insts, KEYS, options)[1]


_SWEEPS: list[Any] = [
    bytecode.remove_dead_code,
    bytecode.remove_pointless_jumps,
    bytecode.propagate_line_nums,
    bytecode.remove_extra_line_nums,
]


def _nothing(_: int) -> None:
    """What instrumented mutants call."""


def _same(one: types.CodeType, other: types.CodeType, complaint: str) -> None:
    for name in ("co_code", "co_linetable", "co_stacksize", "co_names", "co_varnames"):
        if getattr(one, name) != getattr(other, name):
            raise Broken(f"{complaint}: {name} is {getattr(other, name)!r}, not {getattr(one, name)!r}")
    if (old := _protected(one)) != (new := _protected(other)):
        raise Broken(f"{complaint}: the exception table says {new}, not {old}")


def _protected(code: types.CodeType) -> list[tuple[int, int, int, int, bool]]:
    """What the exception table says, neighbours of one kind in one piece."""
    out: list[tuple[int, int, int, int, bool]] = []
    for entry in bytecode.parse_exception_table(code.co_exceptiontable):
        what = (entry.target, entry.depth, entry.lasti)
        if out and out[-1][1] + 2 == entry.start and out[-1][2:] == what:
            out[-1] = (out[-1][0], entry.end, *what)
        else:
            out.append((entry.start, entry.end, *what))
    return out
