"""Errors about a code object name the instruction at fault, though no instruction objects were made."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

import pytest

from pydynamo import bytecode


def subject(a: int) -> int:
    return a + 1


@pytest.mark.parametrize("check", [bytecode.verify, bytecode.roundtrip], ids=lambda f: f.__name__)
def test_the_error_names_the_instruction_and_the_stack(check: Callable[[Any], Any]) -> None:
    code = subject.__code__
    index = [inst.opname for inst in bytecode.cleaned_instructions(code)].index("RESUME") + 1
    unit = next(inst.offset for inst in dis.get_instructions(code) if inst.opname != "RESUME")
    broken = code.co_code[:unit] + bytes([dis.opmap["POP_TOP"], 0]) + code.co_code[unit + 2 :]
    with pytest.raises(bytecode.BytecodeError) as caught:
        check(code.replace(co_code=broken))
    assert (caught.value.kind, caught.value.index, caught.value.opname) == ("stack-underflow", index, "POP_TOP")
    assert caught.value.stack == "[]"
