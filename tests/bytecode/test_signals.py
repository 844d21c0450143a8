"""Signals at jumps back. CPython looks for them there; 3.11 and 3.12 look the exception up where the jump lands."""

from __future__ import annotations

import _thread
import argparse
import asyncio.base_events
import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pydynamo.bytecode import (
    Instruction,
    InstructionExnTabEntry,
    cleaned_instructions,
    create_instruction,
    roundtrip,
    shuffled,
    transform_code_object,
    verify,
)

VERSION = sys.version_info[:2]
#: Where CPython looks the exception up.
LANDS = VERSION < (3, 13)
LOOKING = {
    "JUMP_BACKWARD",
    "POP_JUMP_BACKWARD_IF_TRUE",
    "POP_JUMP_BACKWARD_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE",
}
JUMP_IF_FALSE = "POP_JUMP_FORWARD_IF_FALSE" if VERSION < (3, 12) else "POP_JUMP_IF_FALSE"


class Alarm(Exception):
    """What the signal's handler raises."""


#: Trips the signal and leaves it to the next jump back to see it, where a call looks itself.
trip = functools.partial(_thread.interrupt_main, signal.SIGUSR1)


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(*args: object) -> None:
        raise Alarm

    old = signal.signal(signal.SIGUSR1, ring)
    yield
    signal.signal(signal.SIGUSR1, old)


def for_loop(it: Any) -> str:
    for _ in it:
        pass
    return "ran out"


def while_loop(it: Any) -> str:
    # `in` trips the signal, and so does not look for it. On 3.11 the jump back is a conditional one.
    now: Any = ()
    while 1 not in now:
        now = it
    return "found"


def first(insts: list[Instruction], *names: str) -> int:
    return next(i for i, inst in enumerate(insts) if inst.opname in names)


def handler(says: str, depth: int, lasti: bool = False) -> list[Instruction]:
    """Drops everything and returns a text."""
    drop = [create_instruction("POP_TOP") for _ in range(depth + lasti)]
    head = [create_instruction(name) for name in ("PUSH_EXC_INFO", "POP_TOP", "POP_EXCEPT")]
    return [*head, *drop, create_instruction("LOAD_CONST", argval=says), create_instruction("RETURN_VALUE")]


def made(function: Any, edit: Callable[[list[Instruction]], object]) -> Any:
    code = transform_code_object(function.__code__, lambda insts, options: edit(insts))
    return types.FunctionType(code, function.__globals__)


@pytest.mark.parametrize("where", ["before the target", "target", "before the jump", "jump"])
def test_whose_handler_gets_the_exception(where: str) -> None:
    def edit(insts: list[Instruction]) -> None:
        target = first(insts, "FOR_ITER")
        jump = first(insts, "JUMP_BACKWARD")
        at = {"before the target": target - 1, "target": target, "before the jump": jump - 1, "jump": jump}[where]
        body = handler("caught", 0)
        insts[at].exn_tab_entry = InstructionExnTabEntry(insts[at], insts[at], body[0], 0, False)
        insts += body

    function = made(for_loop, edit)
    if where == ("target" if LANDS else "jump"):
        assert function(iter(trip, 1)) == "caught"
    else:
        with pytest.raises(Alarm):
            function(iter(trip, 1))


def behind_deep_region(loop: Any, depth: int, lasti: bool) -> Any:
    """The loop, behind a block that is left, whose handler counts on more values than the loop has."""
    level = depth
    if loop is for_loop:
        level += 2 if VERSION >= (3, 15) else 1

    def edit(insts: list[Instruction]) -> None:
        target = next(inst for inst in insts if inst.opname in LOOKING).target
        assert target is not None
        body = handler("somebody else's", level, lasti)
        left = [create_instruction("LOAD_CONST", argval=f"value {i}") for i in range(depth)]
        left += [create_instruction("LOAD_CONST", argval=None), create_instruction("RAISE_VARARGS", arg=1)]
        entry = InstructionExnTabEntry(left[-2], left[-1], body[0], level, lasti)
        left[-2].exn_tab_entry = left[-1].exn_tab_entry = entry
        at = insts.index(target)
        over = create_instruction(JUMP_IF_FALSE, target=target)
        insts[at:at] = [create_instruction("LOAD_CONST", argval=False), over, *left]
        insts += body

    return made(loop, edit)


DEEP = """
    import signal, sys
    from tests.bytecode import test_signals as t

    def ring(*args):
        raise t.Alarm

    signal.signal(signal.SIGUSR1, ring)
    for loop, end in ((t.for_loop, 1), (t.while_loop, None)):
        for depth in range(6):
            for lasti in (False, True):
                function = t.behind_deep_region(loop, depth, lasti)
                try:
                    sys.exit(f"{loop.__name__} {depth} {lasti}: {function(iter(t.trip, end))}")
                except t.Alarm:
                    pass
    print("all came through")
"""


def test_no_handler_runs_on_a_stack_that_is_not_there() -> None:
    # In a process of its own: where this goes wrong, CPython crashes.
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(DEEP)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "all came through\n", done.stderr


def strays(code: types.CodeType) -> list[int]:
    """The jumps back that land behind an instruction whose handler is not that of the target, or of nobody."""
    insts = cleaned_instructions(code)
    place = {id(inst): i for i, inst in enumerate(insts)}

    def region(inst: Instruction) -> object:
        entry = inst.exn_tab_entry
        return None if entry is None else (id(entry.target), entry.depth, entry.lasti)

    found = []
    for i, inst in enumerate(insts):
        target = place[id(inst.target)] if inst.opname in LOOKING else 0
        before = region(insts[target - 1]) if target else None
        if before is not None and before != region(insts[target]):
            found.append(i)
    return found


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes(const)


CORPUS = [
    code
    for module in (os, argparse, subprocess, threading, asyncio.base_events)
    for code in codes(compile(Path(str(module.__file__)).read_text(encoding="utf-8"), str(module.__file__), "exec"))
]


@pytest.mark.skipif(not LANDS, reason="looked up by the jump")
def test_edited_code_gives_exceptions_to_whom_they_belong() -> None:
    def edit(insts: list[Instruction], options: object) -> None:
        insts.append(create_instruction("NOP"))
        insts.append(create_instruction("JUMP_BACKWARD", target=insts[-1]))

    assert any(strays(code) for code in CORPUS), "CPython's compiler does not look out for it"
    for code in CORPUS:
        assert not strays(transform_code_object(code, edit)), code.co_qualname
        for seed in range(2):
            assert not strays(shuffled(code, seed)), code.co_qualname


def test_code_that_nobody_edited_stays_as_it_is() -> None:
    for code in CORPUS:
        verify(code)
        for again in (roundtrip(code), transform_code_object(code, lambda insts, options: None)):
            assert (again.co_code, again.co_exceptiontable) == (code.co_code, code.co_exceptiontable)


def bound_on_one_way(f: Any) -> Any:
    # The jump back out of the first handler lands behind the second region, whose handler reads what that way leaves unbound.
    try:
        r = f()
    except KeyError:
        pass
    else:
        if f(r):
            return r
        try:
            f(None)
        except ValueError:
            return r
    return f(1)


def test_a_handler_that_a_signal_could_reach_without_its_locals_stays_as_it_is() -> None:
    code = bound_on_one_way.__code__
    verify(code)
    for again in (roundtrip(code), transform_code_object(code, lambda insts, options: None)):
        assert (again.co_code, again.co_exceptiontable) == (code.co_code, code.co_exceptiontable)


@pytest.mark.skipif(VERSION != (3, 12), reason="the compiler of 3.12 writes it")
def test_os_walk_is_mended_once_it_is_edited() -> None:
    # Its last jump back, out of the outer loop, lands behind the inner loop, where the stack is deeper.
    walk = os.walk.__code__
    assert strays(walk)
    assert roundtrip(walk).co_code == walk.co_code
    assert not strays(transform_code_object(walk, lambda insts, options: insts.insert(3, create_instruction("NOP"))))


@pytest.mark.skipif(not LANDS, reason="looked up by the jump")
def test_a_region_that_runs_on_into_a_loop_does_not_get_its_signals() -> None:
    # It holds a NOP, which cannot raise, so its handler may count on any stack.
    def edit(insts: list[Instruction]) -> None:
        target = first(insts, "FOR_ITER")
        body = handler("caught", 9)
        before = create_instruction("NOP")
        before.exn_tab_entry = InstructionExnTabEntry(before, before, body[0], 9, False)
        insts.insert(target, before)
        insts += body

    code = made(for_loop, edit).__code__
    insts = cleaned_instructions(code)
    at = first(insts, "FOR_ITER")
    assert [inst.opname for inst in insts[at - 2 : at]] == ["NOP", "NOP"]
    assert insts[at - 2].exn_tab_entry is not None
    assert insts[at - 1].exn_tab_entry is None
