"""The `Instruction` object itself."""

import copy
import dis
import gc
import pickle
import sys
import weakref

import pytest

from pydynamo.bytecode import (
    BytecodeError,
    Instruction,
    InstructionExnTabEntry,
    _NotProvided,
    cleaned_instructions,
    create_instruction,
)


def sample(x):
    try:
        for i in x:
            print(i)
    except ValueError:
        pass
    return x


def test_name_and_number_follow_each_other():
    inst = create_instruction("NOP")
    inst.opname = "POP_TOP"
    assert inst.opcode == dis.opmap["POP_TOP"]
    inst.opcode = dis.opmap["NOP"]
    assert inst.opname == "NOP"


def test_setattr_with_names_that_are_not_interned_works():
    inst = create_instruction("NOP")
    setattr(inst, "".join(["op", "name"]), "POP_TOP")
    assert inst.opname == "POP_TOP"


def test_equality_and_hash_are_identity():
    first, second = create_instruction("NOP"), create_instruction("NOP")
    assert first != second and first == first
    assert len({first, second, first}) == 2


def test_weak_references_die_with_the_instruction():
    inst = create_instruction("NOP")
    died = []
    ref = weakref.ref(inst, died.append)
    assert ref() is inst
    del inst
    assert ref() is None and died == [ref]


def test_last_write_of_arg_and_argval_wins():
    inst = cleaned_instructions((lambda: 12345).__code__)
    load = next(i for i in inst if i.argval == 12345)
    load.argval = "new"
    assert load.argval == "new"
    load.arg = 0
    assert load.arg == 0
    if load.opname == "LOAD_CONST":
        assert load.argval is _NotProvided
    load.argval = "newer"
    assert load.argval == "newer"


def test_what_is_not_given_reads_as_not_provided():
    inst = create_instruction("LOAD_CONST", arg=0)
    assert inst.argval is _NotProvided
    assert create_instruction("LOAD_CONST", argval=None).argval is None


def test_starts_line_is_a_view_of_positions():
    inst = create_instruction("NOP")
    assert inst.starts_line is None and inst.positions is None
    inst.starts_line = 7
    assert inst.positions == (7, 7, None, None)
    inst.positions = (1, 2, 3, 4)
    assert inst.starts_line == 1 and inst.positions.end_col_offset == 4
    inst.starts_line = None
    assert inst.positions == (1, 2, 3, 4)
    inst.positions = None
    assert inst.starts_line is None


def test_copy_positions():
    first, second = create_instruction("NOP"), create_instruction("NOP")
    first.positions = dis.Positions(3, 3, 1, 2)
    second.copy_positions(first)
    assert second.positions == (3, 3, 1, 2)


@pytest.mark.parametrize(
    ("attribute", "value", "error"),
    [
        ("opcode", "NOP", TypeError),
        ("opcode", 300, BytecodeError),
        ("opcode", -1, ValueError),
        ("opname", 5, TypeError),
        ("opname", "NO_SUCH_OPCODE", BytecodeError),
        ("arg", "x", TypeError),
        ("arg", -1, ValueError),
        ("arg", 2**32, ValueError),
        ("offset", "x", TypeError),
        ("starts_line", "x", TypeError),
        ("starts_line", 2**40, ValueError),
        ("positions", 5, TypeError),
        ("positions", (1, 2), TypeError),
        ("target", 5, TypeError),
        ("exn_tab_entry", 5, TypeError),
        ("argrepr", 5, TypeError),
        ("no_such_attribute", 5, AttributeError),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(attribute, value, error):
    inst = create_instruction("NOP")
    before = repr(inst)
    with pytest.raises(error):
        setattr(inst, attribute, value)
    assert repr(inst) == before


@pytest.mark.parametrize("attribute", ["opname", "opcode", "target", "argval", "positions"])
def test_attributes_cannot_be_deleted(attribute):
    with pytest.raises(AttributeError):
        delattr(create_instruction("NOP"), attribute)


def test_constructor_checks_that_name_and_number_agree():
    nop = dis.opmap["NOP"]
    assert Instruction(nop, "NOP", None, None).opname == "NOP"
    with pytest.raises(ValueError):
        Instruction(nop, "POP_TOP", None, None)
    with pytest.raises(TypeError):
        Instruction(nop, "NOP")
    with pytest.raises(TypeError):
        Instruction(nop, "NOP", None, None, bad=1)
    with pytest.raises(TypeError):
        Instruction(nop, "NOP", None, None, opcode=nop)
    with pytest.raises(TypeError):
        Instruction(*[None] * 12)


def test_copies_are_independent():
    inst = create_instruction("LOAD_CONST", argval=5)
    other = copy.copy(inst)
    other.argval = 6
    assert inst.argval == 5 and other is not inst


def test_deep_copies_keep_the_shape_of_the_list():
    original = cleaned_instructions(sample.__code__)
    place = {inst: i for i, inst in enumerate(original)}
    copied = copy.deepcopy(original)
    for old, new in zip(original, copied, strict=True):
        assert new is not old and new.opname == old.opname and new.argval == old.argval
        assert (old.target is None) == (new.target is None)
        if old.target is not None:
            assert new.target is copied[place[old.target]]
        if old.exn_tab_entry is not None:
            assert new.exn_tab_entry is not old.exn_tab_entry
            assert new.exn_tab_entry.start is copied[place[old.exn_tab_entry.start]]
            assert new.exn_tab_entry.target is copied[place[old.exn_tab_entry.target]]


def test_pickles_keep_the_shape_of_the_list():
    original = cleaned_instructions((lambda x: 1 if x else 2).__code__)
    copied = pickle.loads(pickle.dumps(original))
    assert [i.opname for i in copied] == [i.opname for i in original]
    assert [i.argval for i in copied] == [i.argval for i in original]
    assert [copied.index(i.target) for i in copied if i.target] == [
        original.index(i.target) for i in original if i.target
    ]


def test_cycles_are_collected():
    class Canary:
        pass

    canary = Canary()
    dead = weakref.ref(canary)
    first, second = create_instruction("JUMP_FORWARD"), create_instruction("JUMP_FORWARD", target=None)
    first.target, second.target = second, first
    holder = create_instruction("LOAD_CONST", argval=[canary, first])
    holder.argval.append(holder)
    entry = InstructionExnTabEntry(holder, holder, holder, 0, False)
    holder.exn_tab_entry = entry
    del canary, first, second, holder, entry
    gc.collect()
    assert dead() is None


def test_disassembling_and_dropping_leaks_nothing():
    def churn():
        for _ in range(20):
            cleaned_instructions(sample.__code__)
        gc.collect()

    churn()
    blocks = sys.getallocatedblocks()
    refs = sys.getrefcount(None)
    for _ in range(20):
        churn()
    assert sys.getallocatedblocks() - blocks < 200
    assert abs(sys.getrefcount(None) - refs) < 200


def test_a_million_linked_instructions_are_freed_without_recursion():
    last = create_instruction("NOP")
    for _ in range(1_000_000):
        last = create_instruction("JUMP_FORWARD", target=last)
    del last
    middle = create_instruction("NOP")
    for _ in range(100_000):
        middle = create_instruction("LOAD_CONST", argval=[create_instruction("JUMP_FORWARD", target=middle)])
    del middle


def test_deep_copy_of_a_long_chain_does_not_recurse():
    last = create_instruction("NOP")
    for _ in range(50_000):
        last = create_instruction("JUMP_FORWARD", target=last)
    copied = copy.deepcopy(last)
    assert copied.target is not last.target


def test_repr_names_the_fields_and_never_recurses():
    inst = create_instruction("JUMP_FORWARD")
    inst.target = inst
    assert repr(inst).startswith("Instruction(opcode=") and "target=Instruction(opname=JUMP_FORWARD" in repr(inst)


def test_entries_compare_by_what_they_say():
    a, b = create_instruction("NOP"), create_instruction("NOP")
    entry = InstructionExnTabEntry(a, b, b, 1, True)
    assert entry == InstructionExnTabEntry(a, b, b, 1, True)
    assert entry == copy.copy(entry)
    assert entry != InstructionExnTabEntry(a, a, b, 1, True)
    assert entry != 5
    with pytest.raises(TypeError):
        hash(entry)
    with pytest.raises(TypeError):
        InstructionExnTabEntry(1, b, b, 1, True)
    with pytest.raises((ValueError, OverflowError)):
        InstructionExnTabEntry(a, b, b, -1, True)
