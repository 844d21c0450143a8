"""Transformations that the command line knows by name, to look at. Knows no terminal."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from pydynamo import bytecode

Transform = Callable[[types.CodeType], types.CodeType]


def nops(code: types.CodeType) -> types.CodeType:
    """A NOP before the first instruction of every line: the smallest change that moves everything."""

    def insert(instructions: list[Any], options: object) -> None:
        result: list[Any] = []
        started = False
        for instruction in instructions:
            if started and instruction.starts_line is not None:
                nop = bytecode.create_instruction("NOP")
                nop.positions = instruction.positions
                nop.exn_tab_entry = instruction.exn_tab_entry
                result.append(nop)
            started = started or instruction.opname == "RESUME"
            result.append(instruction)
        instructions[:] = result

    return bytecode.transform_code_object(code, insert)


NAMED: dict[str, Transform] = {
    "roundtrip": bytecode.roundtrip,
    "nops": nops,
}
