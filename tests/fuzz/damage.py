"""Random damage to a code object: bytes of its tables, its pools, its counts and flags, by way of `code.replace`.

What CPython itself cannot bear to hold is left alone: opcodes that its own readers of `co_code` follow into tables that
are not there (instrumented ones, executors), specialised ones, which `co_code` hides, and caches beyond the end of the
code, which it fills in without looking. Knows nothing of assembling or running.
"""

from __future__ import annotations

import dis
import opcode
import random
import types
from collections.abc import Callable
from typing import Any

Harm = tuple[str, int]


def _cache_sizes() -> list[int]:
    entries: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(entries, list):
        return [*entries, *[0] * (256 - len(entries))]
    return [entries.get(name, 0) for name in dis.opname[:256]]


def _bearable() -> frozenset[int]:
    barred = ("INSTRUMENTED_", "ENTER_EXECUTOR", "TRACE_RECORD")
    return frozenset(number for name, number in dis.opmap.items() if number < 256 and not name.startswith(barred))


CACHES = _cache_sizes()
BEARABLE = _bearable()
_OPCODES = sorted(BEARABLE)
_NOP = dis.opmap["NOP"]
_FLAGS = (1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x4000000)
_NUMBERS = (-1, 0, 1, 2, 3, 5, 17, 255)


def bearable(code: bytes) -> bytes:
    """The code without what CPython itself cannot hold."""
    out = bytearray(code[: len(code) & ~1])
    i = 0
    while i < len(out):
        if out[i] not in BEARABLE or CACHES[out[i]] * 2 + i + 2 > len(out):
            out[i] = _NOP
        i += 2 + 2 * CACHES[out[i]]
    return bytes(out)


class Damage:
    """Changes code objects, at random."""

    def __init__(self) -> None:
        self.rng = random.Random()

    def plan(self, rng: random.Random) -> list[Harm]:
        return [(rng.choice(HARMS), rng.getrandbits(24)) for _ in range(rng.choice((1, 1, 1, 2, 3)))]

    def apply(self, harms: list[Harm], code: types.CodeType) -> types.CodeType:
        """The damaged code object. What `replace` refuses is not done."""
        for name, seed in harms:
            self.rng.seed(seed)
            harm: Callable[[types.CodeType], dict[str, Any]] = getattr(self, name)
            try:
                code = code.replace(**harm(code))
            except (ValueError, TypeError, OverflowError, SystemError):
                continue
        return code

    def below(self, limit: int) -> int:
        return int(self.rng.random() * limit)

    def bytes(self, table: bytes) -> bytes:
        """A table with a few bytes changed, or with a piece cut out, doubled or moved."""
        out = bytearray(table)
        if not out:
            return bytes(self.below(256) for _ in range(self.below(6)))
        at = self.below(len(out))
        stop = at + 1 + self.below(6)
        match self.below(7):
            case 0:
                out[at] = self.below(256)
            case 1:
                out[at] ^= 1 << self.below(8)
            case 2:
                out[at] = (out[at] + (-2, -1, 1, 2)[self.below(4)]) % 256
            case 3:
                del out[at:stop]
            case 4:
                out[at:at] = out[at:stop]
            case 5:
                del out[at:]
            case _:
                out[at:at] = bytes(self.below(256) for _ in range(1 + self.below(4)))
        return bytes(out)

    # --- harms

    def code_bytes(self, code: types.CodeType) -> dict[str, Any]:
        return {"co_code": bearable(self.bytes(code.co_code))}

    def code_units(self, code: types.CodeType) -> dict[str, Any]:
        """Whole instructions changed, doubled, moved or left out."""
        raw = bytearray(code.co_code)
        if not raw:
            return {}
        at = 2 * self.below(len(raw) // 2)
        size = 2 + 2 * CACHES[raw[at]]
        match self.below(6):
            case 0:
                raw[at] = self.rng.choice(_OPCODES)
            case 1:
                raw[at + 1] = self.below(256)
            case 2:
                raw[at + 1] = (raw[at + 1] + (-2, -1, 1, 2)[self.below(4)]) % 256
            case 3:
                del raw[at : at + size]
            case 4:
                raw[at:at] = raw[at : at + size]
            case _:
                unit = bytes((self.rng.choice(_OPCODES), self.below(8)))
                raw[at:at] = unit + bytes(2 * CACHES[unit[0]])
        return {"co_code": bearable(bytes(raw))}

    def lines(self, code: types.CodeType) -> dict[str, Any]:
        return {"co_linetable": self.bytes(code.co_linetable)}

    def regions(self, code: types.CodeType) -> dict[str, Any]:
        return {"co_exceptiontable": self.bytes(code.co_exceptiontable)}

    def flags(self, code: types.CodeType) -> dict[str, Any]:
        return {"co_flags": code.co_flags ^ self.rng.choice(_FLAGS)}

    def counts(self, code: types.CodeType) -> dict[str, Any]:
        name = self.rng.choice(("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"))
        near = getattr(code, name) + (-1, 1)[self.below(2)]
        return {name: near if self.below(3) else self.rng.choice(_NUMBERS)}

    def stack_size(self, code: types.CodeType) -> dict[str, Any]:
        near = code.co_stacksize + (-2, -1, 1, 2)[self.below(4)]
        return {"co_stacksize": near if self.below(3) else self.rng.choice(_NUMBERS)}

    def first_line(self, code: types.CodeType) -> dict[str, Any]:
        return {"co_firstlineno": self.rng.choice((-1, 0, 1, 2**31 - 1, code.co_firstlineno + 1))}

    def constants(self, code: types.CodeType) -> dict[str, Any]:
        values: list[Any] = list(code.co_consts)
        others = (None, 1, "a", ("b",), ("b", "b"), (1,), (), frozenset({1}), code, b"", ..., 1.5, ("b", 1))
        match self.below(4) if values else 1:
            case 0:
                values[self.below(len(values))] = self.rng.choice(others)
            case 1:
                values.append(self.rng.choice(others))
            case 2:
                del values[self.below(len(values)) :]
            case _:
                self.rng.shuffle(values)
        return {"co_consts": tuple(values)}

    def names(self, code: types.CodeType) -> dict[str, Any]:
        values = list(code.co_names)
        match self.below(3):
            case 0:
                del values[self.below(len(values) + 1) :]
            case 1:
                self.rng.shuffle(values)
            case _:
                values.append(self.rng.choice(("", "a", "__class__", "\ud800")))
        return {"co_names": tuple(values)}

    def variables(self, code: types.CodeType) -> dict[str, Any]:
        """Locals, cells and free variables: more, fewer, others, the same name twice."""
        name = self.rng.choice(("co_varnames", "co_varnames", "co_cellvars", "co_freevars"))
        values = list(getattr(code, name))
        match self.below(4):
            case 0:
                del values[self.below(len(values) + 1) :]
            case 1:
                self.rng.shuffle(values)
            case 2:
                values.append(self.rng.choice(("a", "b", "new", "__class__", *code.co_freevars)))
            case _:
                values += values[:1]
        changed: dict[str, Any] = {name: tuple(values)}
        if name == "co_varnames":
            changed["co_nlocals"] = len(values)
        return changed


HARMS = (
    "code_bytes code_bytes code_units code_units code_units code_units lines regions regions flags counts stack_size"
    " first_line constants names variables"
).split()
