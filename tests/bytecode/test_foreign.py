"""Instructions of other libraries, which only look like ours, are accepted."""

import dataclasses
import types
from typing import Any

import pytest

from pydynamo import bytecode as b
from tests.bytecode.corpus import code_objects, difference


class _NotProvided:
    pass


@dataclasses.dataclass(slots=True, eq=False)
class Foreign:
    """torch's `Instruction`, in short."""

    opcode: int
    opname: str
    arg: int | None
    argval: Any
    offset: int | None = None
    starts_line: int | None = None
    is_jump_target: bool = False
    positions: Any = None
    target: Any = None
    exn_tab_entry: Any = None
    argrepr: Any = None


@dataclasses.dataclass(slots=True, eq=False)
class ForeignEntry:
    start: Any
    end: Any
    target: Any
    depth: int
    lasti: bool


def foreign(insts):
    """The same list in foreign clothes, each instruction with an entry of its own."""
    copies = [
        Foreign(
            i.opcode,
            i.opname,
            i.arg,
            _NotProvided if i.argval is b._NotProvided else i.argval,
            i.offset,
            i.starts_line,
            i.is_jump_target,
            i.positions,
        )
        for i in insts
    ]
    twin = dict(zip(insts, copies))
    for old, new in zip(insts, copies):
        new.target = old.target and twin[old.target]
        if (entry := old.exn_tab_entry) is not None:
            new.exn_tab_entry = ForeignEntry(
                twin[entry.start], twin[entry.end], twin[entry.target], entry.depth, entry.lasti
            )
    return copies


def test_foreign_lists_assemble_to_the_same_code():
    for code in code_objects()[::10]:
        insts = foreign(b.cleaned_instructions(code))
        new = b.clean_and_assemble_instructions(insts, b.get_code_keys(), b.code_options(code))[1]
        assert not difference(code, new)
        assert insts[-1].offset == b.cleaned_instructions(code)[-1].offset


def test_foreign_and_native_instructions_mix():
    def sample(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return "zero"

    insts = foreign(b.cleaned_instructions(sample.__code__))
    insts.insert(1, b.create_jump_absolute(insts[1]))
    new = b.clean_and_assemble_instructions(insts, [], b.code_options(sample.__code__))[1]
    run = types.FunctionType(new, globals())
    assert run(2) == 0.5 and run(0) == "zero"


def test_what_is_wrong_with_them_is_said():
    def sample():
        return 1

    def assemble(*insts):
        return b.clean_and_assemble_instructions(list(insts), [], b.code_options(sample.__code__))

    nop = foreign([b.create_instruction("NOP")])[0]
    with pytest.raises(b.BytecodeError, match="twice"):
        assemble(nop, nop)
    nop.opcode = 250
    with pytest.raises(b.BytecodeError, match="is not opcode"):
        assemble(nop)
    with pytest.raises(TypeError, match="no Instruction"):
        assemble(object())
    jump = foreign([b.create_instruction("JUMP_FORWARD")])[0]
    jump.target = nop
    with pytest.raises(b.BytecodeError, match="not in the list"):
        assemble(jump)


def test_a_list_that_changes_while_it_is_read_does_no_harm():
    def sample():
        return 1

    insts = b.cleaned_instructions(sample.__code__)

    class Spiteful(Foreign):
        @property
        def opname(self):
            insts.clear()
            return "NOP"

    spiteful = foreign([b.create_instruction("NOP")])[0]
    insts.insert(1, Spiteful.__new__(Spiteful))
    for field in dataclasses.fields(Foreign):
        if field.name != "opname":
            object.__setattr__(insts[1], field.name, getattr(spiteful, field.name))
    new = b.clean_and_assemble_instructions(insts, [], b.code_options(sample.__code__))[1]
    assert types.FunctionType(new, globals())() == 1
