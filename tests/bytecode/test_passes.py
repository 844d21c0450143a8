"""The single steps of assembly, under torch's names."""

import dis

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydynamo import bytecode as b
from pydynamo.bytecode import BytecodeError, ExceptionTableEntry
from tests.bytecode.corpus import code_objects


def decoded(code):
    """Instructions as `dis` gives them: offsets and prefixes, no references."""
    insts = []
    for dis_inst in dis.get_instructions(code):
        inst = b.create_instruction(dis_inst.opname)
        inst.arg = dis_inst.arg
        inst.offset = dis_inst.offset
        if dis_inst.opcode in b.JUMP_OPCODES:
            inst.argval = dis_inst.argval
        insts.append(inst)
    return insts


def test_jumps_and_regions_become_references_as_in_cleaned_instructions():
    for code in code_objects()[::20]:
        mine = decoded(code)
        b.virtualize_jumps(mine)
        b.virtualize_exception_table(code.co_exceptiontable, mine)
        b.strip_extended_args(mine)
        native = b.cleaned_instructions(code)
        place, native_place = ({inst: i for i, inst in enumerate(insts)} for insts in (mine, native))
        assert len(mine) == len(native)
        for ours, theirs in zip(mine, native):
            assert ours.opname == theirs.opname and ours.offset == theirs.offset
            assert (ours.target and place[ours.target]) == (theirs.target and native_place[theirs.target])
            assert (ours.exn_tab_entry is None) == (theirs.exn_tab_entry is None)
            if ours.exn_tab_entry is not None:
                assert place[ours.exn_tab_entry.end] == native_place[theirs.exn_tab_entry.end]
                assert ours.exn_tab_entry.depth == theirs.exn_tab_entry.depth


def test_steps_put_together_assemble_small_code_as_the_native_way_does():
    for code in code_objects()[::20]:
        if len(code.co_code) > 400:
            continue
        insts = b.cleaned_instructions(code)
        b.devirtualize_jumps(insts)
        while b.fix_extended_args(insts):
            b.devirtualize_jumps(insts)
        raw = b"".join(
            bytes([inst.opcode, (inst.arg or 0) & 255]) + bytes(b.instruction_size(inst) - 2) for inst in insts
        )
        assert raw == code.co_code
        assert b.assemble_exception_table(b.compute_exception_table(insts)) == code.co_exceptiontable


def test_fix_vars_numbers_operands_and_grows_the_pools():
    def sample(x):
        return len(x), 5

    insts, options = b.cleaned_instructions(sample.__code__), b.code_options(sample.__code__)
    before = [inst.arg for inst in insts]
    b.fix_vars(insts, options)
    assert [inst.arg for inst in insts] == before
    insts += [
        b.create_instruction("LOAD_GLOBAL", arg=1, argval="print"),
        b.create_instruction("LOAD_CONST", argval="new"),
        b.create_instruction("STORE_FAST", argval="x"),
    ]
    b.fix_vars(insts, options)
    assert options["co_names"][-1] == "print" and options["co_consts"][-1] == "new"
    assert insts[-3].arg == (len(options["co_names"]) - 1) << 1 | 1
    assert insts[-1].arg == 0 and insts[-1].argval == "x"
    with pytest.raises(BytecodeError, match="not the name of a local"):
        b.fix_vars([b.create_instruction("LOAD_FAST", argval="zz")], options)


def test_extended_args_are_put_where_operands_need_them():
    insts = [b.create_instruction("COPY", arg=arg) for arg in (0, 255, 256, 65536, 2**24)]
    assert b.fix_extended_args(insts) == 6
    assert b.fix_extended_args(insts) == 0
    assert [inst.arg for inst in insts if inst.opname == "EXTENDED_ARG"] == [1, 1, 0, 1, 0, 0]


def test_missing_targets_and_offsets_are_reported():
    with pytest.raises(BytecodeError, match="target"):
        b.devirtualize_jumps([b.create_instruction("JUMP_FORWARD", target=b.create_instruction("NOP"))])
    with pytest.raises(BytecodeError, match="offset"):
        b.virtualize_jumps([b.create_instruction("NOP")])


@given(st.lists(st.tuples(*[st.integers(0, 2**20)] * 4, st.booleans()), max_size=20))
def test_exception_tables_survive(rows):
    table, start = [], 0
    for gap, length, target, depth, lasti in rows:
        start += 2 * gap
        table.append(ExceptionTableEntry(start, start + 2 * length, 2 * target, depth, lasti))
        start += 2 * length + 2
    assert b.parse_exception_table(b.assemble_exception_table(table)) == table


@given(st.binary(max_size=40))
def test_any_bytes_are_an_exception_table_or_refused(data):
    try:
        table = b.parse_exception_table(data)
    except BytecodeError:
        return
    assert b.parse_exception_table(b.assemble_exception_table(table)) == table


@given(st.integers(0, 2**40))
def test_varints_survive(number):
    assert b.decode_exception_table_varint(iter(b.encode_exception_table_varint(number))) == number
    value = 0
    for i, chunk in enumerate(b.encode_varint(number)):
        value |= (chunk & 63) << 6 * i
    assert value == number


def test_negative_numbers_have_no_varint():
    for encode in (b.encode_varint, b.encode_exception_table_varint):
        with pytest.raises(ValueError):
            encode(-1)


@pytest.mark.parametrize(
    "table",
    [
        [ExceptionTableEntry(4, 2, 0, 0, False)],
        [ExceptionTableEntry(0, 4, 0, 0, False), ExceptionTableEntry(4, 6, 0, 0, False)],
    ],
)
def test_ill_formed_tables_are_refused(table):
    with pytest.raises(BytecodeError):
        b.check_exception_table(table)
