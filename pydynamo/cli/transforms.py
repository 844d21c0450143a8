"""Transformations that the command line knows by name, to look at. Knows no terminal."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

from pydynamo import bytecode

Transform = Callable[[types.CodeType], types.CodeType]


def report(number: int) -> None:
    """What instrumented code calls in a listing."""
    print(number)


NAMED: dict[str, Transform] = {
    "roundtrip": bytecode.roundtrip,
    "sweep": functools.partial(bytecode.swept, dead_stores=True),
    "lines": lambda code: bytecode.instrument_lines(code, report),
    "blocks": lambda code: bytecode.instrument_blocks(code, report),
    "shuffle": lambda code: bytecode.shuffled(code, 1),
}
