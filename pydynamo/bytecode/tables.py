"""``co_exceptiontable`` as a list of entries, and both varint encodings. Knows bytes, not instructions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from pydynamo.errors import BytecodeError


@dataclasses.dataclass(slots=True)
class ExceptionTableEntry:
    """A protected range in bytes: from ``start`` to the last code unit ``end``, both included."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def encode_varint(n: int) -> list[int]:
    """``co_linetable``'s encoding of a number that is not negative: chunks of 6 bits, lowest first."""
    if n < 0:
        raise ValueError(f"a varint cannot be negative: {n}")
    chunks = [n & 63]
    while n := n >> 6:
        chunks[-1] |= 64
        chunks.append(n & 63)
    return chunks


def encode_exception_table_varint(n: int) -> list[int]:
    """``co_exceptiontable``'s encoding: chunks of 6 bits, highest first."""
    if n < 0:
        raise ValueError(f"a varint cannot be negative: {n}")
    chunks = [n & 63]
    while n := n >> 6:
        chunks.append(n & 63 | 64)
    chunks.reverse()
    return chunks


def decode_exception_table_varint(bytes_iter: Iterator[int]) -> int:
    """Reads one number; ``StopIteration`` at the end of the table."""
    byte = next(bytes_iter)
    value = byte & 63
    while byte & 64:
        byte = next(bytes_iter)
        value = value << 6 | byte & 63
    return value


def parse_exception_table(exntab: bytes) -> list[ExceptionTableEntry]:
    """The entries of a table; ``BytecodeError`` if it is truncated or not sorted."""
    todo = iter(exntab)
    table: list[ExceptionTableEntry] = []
    for first in todo:
        if not first & 128:
            raise _damaged(f"entry {len(table)} does not begin with a start marker")
        try:
            start = first & 63
            while first & 64:
                first = next(todo)
                start = start << 6 | first & 63
            length, target, depth_lasti = (decode_exception_table_varint(todo) for _ in range(3))
        except (StopIteration, RuntimeError):
            raise _damaged(f"entry {len(table)} is truncated") from None
        table.append(
            ExceptionTableEntry(
                2 * start, 2 * (start + length - 1), 2 * target, depth_lasti >> 1, bool(depth_lasti & 1)
            )
        )
    check_exception_table(table)
    return table


def assemble_exception_table(tab: list[ExceptionTableEntry]) -> bytes:
    """The inverse of `parse_exception_table`."""
    out = bytearray()
    for entry in tab:
        begin = len(out)
        numbers = (
            entry.start // 2,
            (entry.end - entry.start) // 2 + 1,
            entry.target // 2,
            entry.depth << 1 | entry.lasti,
        )
        for number in numbers:
            out += bytes(encode_exception_table_varint(number))
        out[begin] |= 128
    return bytes(out)


def check_exception_table(tab: list[ExceptionTableEntry]) -> None:
    """``BytecodeError`` unless the entries are sorted, not empty, and do not overlap."""
    last_end = -1
    for i, entry in enumerate(tab):
        if entry.end < entry.start:
            raise _damaged(f"entry {i} ends before it starts")
        if entry.start <= last_end:
            raise _damaged(f"entry {i} begins before the one ahead of it ends")
        last_end = entry.end


def _damaged(reason: str) -> BytecodeError:
    return BytecodeError(f"co_exceptiontable: {reason}", kind="bad-exception-table")
