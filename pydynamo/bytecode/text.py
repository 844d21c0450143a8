"""Instructions as text and back, for tests, bug reports and diffs. `parse` inverts `format`.

    line 2 2 4 9
        LOAD_FAST             x
    try T1 -> L2 depth 0
        LOAD_ATTR             name | 1
        POP_JUMP_IF_FALSE     -> L1
    end T1
    L1:
        ...

- An instruction is its name and its operand: a name, a Python literal, a number; ``a, b`` for fused
  pairs of locals; ``| 1`` are the flag bits that LOAD_GLOBAL and the like have beside a name; ``@ 3`` is
  a constant that has no literal, by its place in ``co_consts``; ``-> L1`` is a jump's target.
- ``L1:`` labels the next instruction.
- ``try T1 -> L2 depth 0 lasti`` opens the exception region T1, whose handler is at L2, and ``end T1``
  closes it. ``below 2`` after the depth: it lies so many slots below the stack at the region's start,
  and follows it. ``try T1 also``, up to another ``end T1``, is for instructions that strayed from it.
- ``line 2 2 4 9``: from here on this is the position: line, end line, column, end column; ``-`` is an
  unknown one. Where the end line is the line and the columns are unknown only the line is written. At
  the beginning there is no position, written ``line -``.
- ``NOP!1``: CPython wrote the instruction with at least one EXTENDED_ARG, needed or not.
- ``#`` begins a comment, and empty lines do not count.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydynamo._core import (
    JUMP_OPCODES,
    Instruction,
    InstructionExnTabEntry,
    _NotProvided,
    create_instruction,
    inst_has_op_bits,
)
from pydynamo.bytecode.kinds import CONST, LOCAL, NAME, PAIR
from pydynamo.errors import BytecodeError

_BARE_NAME: Final = re.compile(r"[^\W\d][\w.]*|\.[\w.]+")
_LABEL: Final = re.compile(r"(\w+):\s*(?:#.*)?")
_COORDINATES: Final = ("lineno", "end_lineno", "col_offset", "end_col_offset")
#: Columns at which an operand begins and up to which it is padded before a comment.
_OPERAND_COLUMN: Final = 26

_Position = tuple[int | None, int | None, int | None, int | None]
_NOWHERE: Final[_Position] = (None, None, None, None)


# --- format ---------------------------------------------------------------------------------------------


def format(instructions: Iterable[Instruction], *, comments: bool = True) -> str:
    """The text of a list of instructions. Accepts lists that cannot be assembled, too.

    ``comments`` explain operands that do not speak for themselves.
    """
    listed = list(instructions)
    indexof: dict[int, int] = {}
    for i, inst in enumerate(listed):
        indexof.setdefault(id(inst), i)
    regions = _regions(listed, indexof)
    labels = _labels(listed, regions, indexof)
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    for number, (entry, start, end) in enumerate(regions, 1):
        handler = labels.get(id(entry.target), "?")
        below = "" if entry._height is None else f" below {entry._height}"
        lasti = " lasti" if entry.lasti else ""
        opening.setdefault(start, []).append(f"try T{number} -> {handler} depth {entry.depth}{below}{lasti}")
        closing.setdefault(end, []).insert(0, f"end T{number}")
    for i, number in _strays(listed, regions, indexof):
        opening.setdefault(i, []).append(f"try T{number} also")
        closing.setdefault(i, []).insert(0, f"end T{number}")
    lines = []
    position = _NOWHERE
    for i, inst in enumerate(listed):
        if id(inst) in labels and indexof[id(inst)] == i:
            lines.append(f"{labels[id(inst)]}:")
        lines += opening.get(i, ())
        here = _position(inst)
        if here != position:
            lines.append(_line(here))
            position = here
        lines.append(_instruction(inst, labels, comments))
        lines += closing.get(i, ())
    return "".join(f"{line}\n" for line in lines)


def _regions(listed: list[Instruction], indexof: dict[int, int]) -> list[tuple[InstructionExnTabEntry, int, int]]:
    """Each exception region with its first and last place, outer ones before inner ones."""
    carried: dict[int, tuple[InstructionExnTabEntry, int, int]] = {}
    for i, inst in enumerate(listed):
        if (entry := inst.exn_tab_entry) is not None:
            _, first, _ = carried.get(id(entry), (entry, i, i))
            carried[id(entry)] = (entry, first, i)
    regions: dict[tuple[object, ...], tuple[InstructionExnTabEntry, int, int]] = {}
    for entry, first, last in carried.values():
        start, end = indexof.get(id(entry.start), first), indexof.get(id(entry.end), last)
        regions.setdefault((start, end, id(entry.target), entry.depth, entry.lasti), (entry, start, end))
    return sorted(regions.values(), key=lambda region: (region[1], -region[2]))


def _strays(
    listed: list[Instruction], regions: list[tuple[InstructionExnTabEntry, int, int]], indexof: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Each instruction that stands outside of the region that protects it: its place, and the region's number."""
    known = {
        (id(entry.start), id(entry.end), id(entry.target), entry.depth, entry.lasti): number
        for number, (entry, _, _) in enumerate(regions, 1)
    }
    for i, inst in enumerate(listed):
        if (entry := inst.exn_tab_entry) is not None:
            number = known[id(entry.start), id(entry.end), id(entry.target), entry.depth, entry.lasti]
            _, start, end = regions[number - 1]
            if not start <= i <= end:
                yield i, number


def _labels(
    listed: list[Instruction],
    regions: list[tuple[InstructionExnTabEntry, int, int]],
    indexof: dict[int, int],
) -> dict[int, str]:
    targets = {id(inst.target) for inst in listed if inst.target is not None}
    targets |= {id(entry.target) for entry, _, _ in regions}
    places = sorted(indexof[target] for target in targets if target in indexof)
    return {id(listed[place]): f"L{number}" for number, place in enumerate(places, 1)}


def _position(inst: Instruction) -> _Position:
    positions = inst.positions
    if positions is None:
        return _NOWHERE
    line, end_line, column, end_column = positions
    return (line, end_line, column, end_column)


def _line(position: _Position) -> str:
    line, end_line, column, end_column = position
    if position == _NOWHERE:
        return "line -"
    if line is not None and end_line == line and column is None and end_column is None:
        return f"line {line}"
    return "line " + " ".join("-" if part is None else str(part) for part in position)


def _instruction(inst: Instruction, labels: dict[int, str], comments: bool) -> str:
    operand, comment = _operand(inst, labels)
    name = f"{inst.opname}!{inst._written}" if inst._written else inst.opname
    text = f"    {name:<{_OPERAND_COLUMN - 5}} {operand}".rstrip()
    return f"{text}  # {comment}" if comment and comments else text


def _operand(inst: Instruction, labels: dict[int, str]) -> tuple[str, str]:
    """The operand, and a comment that explains it."""
    argval = inst.argval
    if inst.opcode in JUMP_OPCODES:
        return f"-> {labels.get(id(inst.target), '?')}", ""
    if argval is _NotProvided or argval is None:
        if argval is None and inst.opcode in CONST:
            return "None", ""
        if inst.arg is None:
            return "", ""
        return (f"@ {inst.arg}" if inst.opcode in CONST | NAME | LOCAL | PAIR else str(inst.arg)), ""
    if inst.opcode in CONST:
        literal = _literal(argval)
        if literal is not None:
            return literal, ""
        return ("<no literal>" if inst.arg is None else f"@ {inst.arg}"), _one_line(argval)
    if inst.opcode in PAIR and isinstance(argval, tuple):
        return ", ".join(map(_name, argval)), ""
    if inst.opcode in NAME | LOCAL:
        bits = (inst.arg or 0) & _bit_mask(inst.opname) if inst_has_op_bits(inst.opname) else 0
        return _name(argval) + (f" | {bits}" if bits else ""), ""
    if inst.arg is not None:
        return str(inst.arg), inst.argrepr if inst.argrepr != str(inst.arg) else ""
    return (_literal(argval) or "<no literal>"), ""


def _bit_mask(opname: str) -> int:
    return 3 if opname in ("LOAD_SUPER_ATTR", "IMPORT_NAME") else 1


def _name(name: object) -> str:
    return name if isinstance(name, str) and _BARE_NAME.fullmatch(name) else repr(name)


def _one_line(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = object.__repr__(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"


def _literal(value: object) -> str | None:
    """A literal that gives an equal constant of the same type, if there is one."""
    if value is ...:
        return "..."
    if not isinstance(value, (bool, int, float, complex, str, bytes, tuple, type(None))):
        return None
    try:
        text = repr(value)
        again = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    # The representation tells types and signs of zero apart, which == does not.
    return text if type(again) is type(value) and repr(again) == text and "\n" not in text else None


# --- parse ----------------------------------------------------------------------------------------------


def parse(text: str) -> list[Instruction]:
    """The instructions that a text describes; ``BytecodeError`` names the line that cannot be understood."""
    return _Parser().run(text)


class _Parser:
    """What is known while the lines go by."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.labels: dict[str, Instruction] = {}
        self.pending_labels: list[str] = []
        self.jumps: list[tuple[int, Instruction, str]] = []
        self.open: dict[str, _Region] = {}
        self.regions: list[_Region] = []
        self.position = _NOWHERE

    def run(self, text: str) -> list[Instruction]:
        if not isinstance(text, str):
            raise TypeError(f"expected a str, got {type(text).__name__}")
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self.line(number, line.strip())
            except (ValueError, SyntaxError) as error:
                if isinstance(error, BytecodeError):
                    raise
                raise _Damaged(number, str(error)) from None
        if self.pending_labels:
            raise _Damaged(None, f"label {self.pending_labels[0]} names no instruction")
        for region in self.open.values():
            raise _Damaged(region.line, f"region {region.name} is never closed")
        for number, inst, label in self.jumps:
            inst.target = self.find(number, label)
        self.attach_regions()
        return self.instructions

    def line(self, number: int, line: str) -> None:
        if not line or line.startswith("#"):
            return
        if label := _LABEL.fullmatch(line):
            self.define(number, label[1])
            return
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word == "line":
            self.position = _parse_position(rest)
        elif word == "try":
            region = _Region(number, rest)
            if region.name in self.open:
                raise _Damaged(number, f"region {region.name} is open already")
            region.first = len(self.instructions)
            self.open[region.name] = region
        elif word == "end":
            name = rest.partition("#")[0].strip()
            closed = self.open.pop(name, None)
            if closed is None:
                raise _Damaged(number, f"region {name} is not open")
            closed.last = len(self.instructions) - 1
            if closed.last < closed.first:
                raise _Damaged(number, f"region {name} is empty")
            self.regions.append(closed)
        else:
            self.instruction(number, word, rest)

    def define(self, number: int, label: str) -> None:
        if label in self.labels or label in self.pending_labels:
            raise _Damaged(number, f"label {label} is there twice")
        self.pending_labels.append(label)

    def find(self, number: int, label: str) -> Instruction:
        if label not in self.labels:
            raise _Damaged(number, f"there is no label {label}")
        return self.labels[label]

    def instruction(self, number: int, opname: str, operand: str) -> None:
        opname, _, written = opname.partition("!")
        inst = create_instruction(opname)
        if inst.opcode in JUMP_OPCODES:
            arrow, _, label = operand.partition(" ")
            if arrow != "->":
                raise _Damaged(number, f"{opname} needs a target: -> LABEL")
            self.jumps.append((number, inst, label.partition("#")[0].strip()))
        else:
            _parse_operand(inst, operand)
        inst._written = int(written or 0)
        inst.positions = None if self.position == _NOWHERE else self.position
        for label in self.pending_labels:
            self.labels[label] = inst
        self.pending_labels.clear()
        self.instructions.append(inst)

    def attach_regions(self) -> None:
        # Outer regions first, so that instructions end up with their innermost one.
        entries: dict[str, InstructionExnTabEntry] = {}
        for region in sorted(self.regions, key=lambda region: (region.first, -region.last)):
            if region.handler is None:
                continue
            entry = InstructionExnTabEntry(
                self.instructions[region.first],
                self.instructions[region.last],
                self.find(region.line, region.handler),
                region.depth,
                region.lasti,
            )
            entry._height = region.height
            region.entry = entries[region.name] = entry
        for region in self.regions:
            if region.entry is None:
                if region.name not in entries:
                    raise _Damaged(region.line, f"there is no region {region.name}")
                region.entry = entries[region.name]
        for i, region in _innermost(self.regions, len(self.instructions)):
            self.instructions[i].exn_tab_entry = region.entry


class _Region:
    """``try NAME -> LABEL depth N [below N] [lasti]``, or ``try NAME also``, which has no handler of its own."""

    _SHAPE: Final = re.compile(r"(\w+)\s*->\s*(\w+)\s+depth\s+(\d+)(?:\s+below\s+(\d+))?(\s+lasti)?\s*(?:#.*)?")
    _ALSO: Final = re.compile(r"(\w+)\s+also\s*(?:#.*)?")

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        self.first = self.last = 0
        self.entry: InstructionExnTabEntry | None = None
        self.handler: str | None = None
        if again := self._ALSO.fullmatch(text):
            self.name = again[1]
            return
        shape = self._SHAPE.fullmatch(text)
        if shape is None:
            raise _Damaged(line, "expected: try NAME -> LABEL depth N [below N] [lasti], or try NAME also")
        self.name, self.handler = shape[1], shape[2]
        self.depth = int(shape[3])
        self.height = None if shape[4] is None else int(shape[4])
        self.lasti = shape[5] is not None


def _innermost(regions: list[_Region], count: int) -> Iterator[tuple[int, _Region]]:
    """The innermost region of each place that has one."""
    waiting = sorted(regions, key=lambda region: (-region.first, region.last))
    inside: list[_Region] = []
    for i in range(count):
        while inside and inside[-1].last < i:
            inside.pop()
        while waiting and waiting[-1].first == i:
            inside.append(waiting.pop())
        if inside:
            yield i, inside[-1]


def _Damaged(line: int | None, reason: str) -> BytecodeError:
    return BytecodeError(reason if line is None else f"line {line}: {reason}", kind="bad-text")


def _parse_position(text: str) -> _Position:
    parts = [None if part == "-" else int(part) for part in text.partition("#")[0].split()]
    match parts:
        case [None]:
            return _NOWHERE
        case [line]:
            return (line, line, None, None)
        case [line, end_line, column, end_column]:
            return (line, end_line, column, end_column)
    raise ValueError("expected: line LINE, line -, or line LINE END_LINE COLUMN END_COLUMN")


def _parse_operand(inst: Instruction, operand: str) -> None:
    if operand.startswith("@"):
        inst.arg = int(operand[1:].partition("#")[0])
    elif inst.opcode in PAIR:
        names = [_take_name(part.strip())[0] for part in operand.partition("#")[0].split(",")]
        if len(names) != 2:
            raise ValueError(f"{inst.opname} needs two names: first, second")
        inst.argval = tuple(names)
    elif inst.opcode in NAME | LOCAL:
        inst.argval, rest = _take_name(operand)
        bits = rest.partition("#")[0].strip()
        if bits:
            if not bits.startswith("|") or not inst_has_op_bits(inst.opname):
                raise ValueError(f"do not understand {bits!r} behind the name")
            inst.arg = int(bits[1:])
        elif inst_has_op_bits(inst.opname):
            inst.arg = 0
    elif inst.opcode in CONST:
        if operand.startswith("<"):
            raise ValueError("this constant has no literal: set argval by hand")
        inst.argval = _take_literal(operand)
    elif operand and not operand.startswith("#"):
        value = _take_literal(operand)
        if isinstance(value, int):
            inst.arg = value
        else:
            inst.argval = value


def _take_name(text: str) -> tuple[str, str]:
    """A name and what follows it."""
    bare = _BARE_NAME.match(text)
    if bare:
        return bare[0], text[bare.end() :].strip()
    for end in itertools.chain((m.end() for m in re.finditer(r"['\"]", text)), [len(text)]):
        try:
            value = ast.literal_eval(text[:end])
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, str):
            return value, text[end:].strip()
    raise ValueError(f"expected a name, not {text!r}")


def _take_literal(text: str) -> Any:
    """A literal, perhaps with a comment behind it (which Python's own parser skips)."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        raise ValueError(f"expected a literal, not {text!r}") from None
