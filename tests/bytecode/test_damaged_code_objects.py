"""Code objects whose bytes are damaged: an error that names the instruction, and no harm to the process.

CPython itself crashes on some of them, or writes behind their end: on a few as soon as they are made, which are left out,
on more once it is asked for ``co_code``, which nothing here does.
"""

from __future__ import annotations

import dis
import opcode
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from pydynamo import bytecode

OPMAP: dict[str, int] = getattr(dis, "_all_opmap", opcode.opmap)
#: Opcodes of which CPython cannot even make a code object.
UNMAKEABLE = (
    {OPMAP.get(name, 255) for name in ("INSTRUMENTED_LINE", "INSTRUMENTED_INSTRUCTION", "ENTER_EXECUTOR")}
    if (3, 12) <= sys.version_info < (3, 14)
    else set()
)


def subject(a: int) -> int:
    return a + 1


CODE = subject.__code__.co_code
CHECKS = [bytecode.verify, bytecode.roundtrip, bytecode.cleaned_instructions]
every_check = pytest.mark.parametrize("check", CHECKS, ids=lambda f: f.__name__)


def caught(check: Callable[[Any], Any], code: bytes) -> bytecode.BytecodeError:
    with pytest.raises(bytecode.BytecodeError) as info:
        check(subject.__code__.replace(co_code=code, co_linetable=b""))
    return info.value


@pytest.mark.parametrize("check", [bytecode.verify, bytecode.roundtrip], ids=lambda f: f.__name__)
def test_what_cannot_be_proved_names_the_instruction_and_the_stack(check: Callable[[Any], Any]) -> None:
    index = [inst.opname for inst in bytecode.cleaned_instructions(subject.__code__)].index("RESUME") + 1
    unit = next(inst.offset for inst in dis.get_instructions(subject) if inst.opname != "RESUME")
    error = caught(check, CODE[:unit] + bytes([OPMAP["POP_TOP"], 0]) + CODE[unit + 2 :])
    assert (error.kind, error.index, error.opname) == ("stack-underflow", index, "POP_TOP")
    assert error.stack == "[]"


@pytest.mark.parametrize("check", [bytecode.verify, bytecode.roundtrip], ids=lambda f: f.__name__)
def test_what_cannot_be_proved_names_the_operand(check: Callable[[Any], Any]) -> None:
    unit = next(inst.offset for inst in dis.get_instructions(subject) if inst.opname != "RESUME")
    error = caught(check, CODE[:unit] + bytes([OPMAP["LOAD_CONST"], 200]) + CODE[unit + 2 :])
    assert (error.kind, error.opname, error.arg) == ("bad-constant", "LOAD_CONST", 200)


@every_check
def test_the_last_instruction_may_lack_its_inline_caches(check: Callable[[Any], Any]) -> None:
    for name in ("LOAD_GLOBAL", "STORE_ATTR", "CALL"):
        error = caught(check, CODE + bytes([OPMAP[name], 3, 0, 0]))
        assert (error.kind, error.opname, error.arg) == ("bad-code", name, 3)


@every_check
def test_the_last_instruction_may_be_specialised_and_lack_its_inline_caches(check: Callable[[Any], Any]) -> None:
    special = OPMAP.get("STORE_ATTR_SLOT") or opcode._specialized_opmap["STORE_ATTR_SLOT"]  # type: ignore[attr-defined]
    error = caught(check, CODE + bytes([special, 0, 0, 0]))
    assert (error.kind, error.opname) == ("bad-code", "STORE_ATTR")


@every_check
def test_no_opcode_is_followed_into_records_that_are_not_there(check: Callable[[Any], Any]) -> None:
    legal = set(opcode.opmap.values()) - {code for name, code in OPMAP.items() if name.startswith("INSTRUMENTED")}
    internal = {OPMAP[name] for name in ("ENTER_EXECUTOR", "CACHE", "INTERPRETER_EXIT", "RESERVED") if name in OPMAP}
    special = set(getattr(opcode, "_specialized_opmap", {}).values()) | {
        OPMAP[n] for n in OPMAP if n not in opcode.opmap
    }
    for number in ((set(range(256)) - legal - special) | internal) - UNMAKEABLE:
        error = caught(check, bytes([number, 0]) + CODE)
        assert error.kind in ("unknown-opcode", "illegal-opcode"), number
        assert error.index == 0
        assert error.opname is not None


@every_check
def test_code_may_end_behind_a_prefix(check: Callable[[Any], Any]) -> None:
    for prefixes in (1, 2, 3, 4):
        error = caught(check, CODE + bytes([OPMAP["EXTENDED_ARG"], 1]) * prefixes)
        assert (error.kind, error.opname) == ("bad-code", "EXTENDED_ARG")


def test_code_that_was_specialised_by_running_is_read_as_it_was_compiled() -> None:
    for _ in range(100):
        subject(1)
    assert bytecode.roundtrip(subject.__code__).co_code == CODE
    bytecode.verify(subject.__code__)


def test_code_that_was_instrumented_is_read_as_it_was_compiled() -> None:
    def traced(a: int) -> int:
        return a + 1

    plain = traced.__code__.replace().co_code
    previous = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        traced(1)
    finally:
        sys.settrace(previous)
    assert bytecode.roundtrip(traced.__code__).co_code == plain


MANY = """
    import gc, random
    from pydynamo import bytecode

    def small(a, b=2, *c):
        total = 0
        try:
            for i in range(a):
                with open(i) as f:
                    total += [x for x in f][b]
        except (OSError, ValueError) as e:
            print(e, total)
        finally:
            c = total
        return lambda: (c, a)

    code, rng, kept, errors = small.__code__, random.Random(7), [], 0
    values = [value for value in range(256) if value not in {unmakeable}]
    for number in range({count}):
        changed = {{}}
        for name in rng.sample(("co_code", "co_linetable", "co_exceptiontable"), rng.randrange(1, 4)):
            data = bytearray(getattr(code, name))
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] = rng.choice(values)
            if rng.random() < 0.1:
                del data[rng.randrange(len(data)) & ~1 :]
            if name == "co_code":
                data += bytes([{nop}, 0])  # CPython 3.12 writes behind a last unit that wants inline caches.
            changed[name] = bytes(data)
        damaged = code.replace(**changed)
        for check in (bytecode.cleaned_instructions, bytecode.verify, bytecode.roundtrip):
            try:
                result = check(damaged)
            except bytecode.BytecodeError as error:
                errors += 1
                result = error
            if number % 5 == 0:
                kept.append(result)
        if number % 500 == 0:
            gc.collect()
            del kept[: len(kept) // 2]
    gc.collect()
    print("made", number + 1, errors > number)
"""


@pytest.mark.parametrize("allocator", ["default", "debug"])
def test_a_process_that_took_many_damaged_code_objects_apart_ends_well(allocator: str) -> None:
    count = 3000
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MANY).format(count=count, nop=OPMAP["NOP"], unmakeable=UNMAKEABLE)],
        capture_output=True,
        text=True,
        timeout=300,
        env={"PYTHONMALLOC": allocator, "PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONFAULTHANDLER": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == f"made {count} True\n"
