"""Which slot a cell has is CPython's constructor's to say: the proof is about that slot and no other.

`super()`, `locals()` and COPY_FREE_VARS go by the constructor's kinds, so a proof about other slots proves nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

from pydynamo.bytecode import BytecodeError, Instruction, create_instruction, transform_code_object, verify

Body = list[Instruction]


def subject(a: Any, b: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("names", "cell", "slot"),
    [
        (("a", "b"), "b", 1),
        (("a", "b"), "c", 2),
        (("a", "a"), "a", 0),
        (("b", "a", "a"), "a", 1),
        (("\udc80", "\udc81"), "\udc80", 0),
        (("\udc80", "\udc81"), "\udc81", 1),
        (("a", "\udc80"), "\udc81", 2),
    ],
    ids=ascii,
)
def test_a_cell_has_the_slot_of_the_first_local_of_its_name_or_its_own(
    names: tuple[str, ...], cell: str, slot: int
) -> None:
    def making_a_cell(slot: int) -> Any:
        def change(insts: Body, options: dict[str, Any]) -> None:
            options.update(co_varnames=names, co_cellvars=(cell,))
            insts.insert(0, create_instruction("MAKE_CELL", arg=slot))

        return change

    for other in range(len(names) + 1):
        if other == slot:
            verify(transform_code_object(subject.__code__, making_a_cell(other)))
        else:
            with pytest.raises(BytecodeError):
                transform_code_object(subject.__code__, making_a_cell(other))


def test_free_variables_come_behind_all_cells_whatever_their_names() -> None:
    captured = 1

    def reader(x: Any) -> int:
        return captured

    def change(insts: Body, options: dict[str, Any]) -> None:
        options.update(co_varnames=("x", "\udc80"), co_cellvars=("\udc81",))

    code = transform_code_object(reader.__code__, change)
    verify(code)
    assert type(reader)(code, {}, "reader", None, reader.__closure__)(0) == 1
