"""Whatever is wrong with the input gets one clear error, and the input stays as it was."""

import dis
import sys
import types

import pytest

from pydynamo import bytecode
from pydynamo.bytecode import (
    BytecodeError,
    InstructionExnTabEntry,
    clean_and_assemble_instructions,
    cleaned_instructions,
    code_options,
    create_instruction,
    create_load_const,
    transform_code_object,
)
from pydynamo.errors import PydynamoError

#: An opcode number without a meaning. (255 makes CPython 3.14 crash by itself when it is asked for co_code.)
UNASSIGNED = next(number for number, name in enumerate(dis.opname) if name.startswith("<") and number < 230)


def sample(x, n):
    total = 0
    try:
        for i in range(n):
            total += x
    except ValueError:
        total = -1
    return total


def closure(x):
    def inner():
        return x

    return inner


def rejected(change, code=sample.__code__):
    """The error that a transformation raises; checks that neither list nor options were changed by the
    attempt.
    """
    instructions, options = cleaned_instructions(code), code_options(code)
    change(instructions, options)
    before, options_before = list(instructions), dict(options)
    shown = [state(inst) for inst in before]
    with pytest.raises(BytecodeError) as caught:
        clean_and_assemble_instructions(instructions, bytecode.get_code_keys(), options)
    assert [id(inst) for inst in instructions] == [id(inst) for inst in before]
    assert [state(inst) for inst in before] == shown
    assert options == options_before
    with pytest.raises(BytecodeError):
        transform_code_object(code, change)
    assert caught.value.kind in str(caught.value)
    return caught.value


def state(inst):
    return (
        inst.opname,
        inst.arg,
        inst.argval if isinstance(inst.argval, (int, str)) else None,
        inst.positions,
        inst.target,
        inst.exn_tab_entry,
        inst.offset,
    )


def at_one(*insts):
    """Puts instructions behind the first one."""

    def change(instructions, options):
        instructions[1:1] = [inst() if callable(inst) else inst for inst in insts]

    return change


def test_errors_are_of_the_family_and_can_be_pickled():
    import pickle

    error = rejected(at_one(lambda: create_instruction("POP_TOP")))
    assert isinstance(error, PydynamoError) and isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.index == error.index


def test_a_target_that_is_not_in_the_list():
    error = rejected(at_one(lambda: create_instruction("JUMP_FORWARD", target=create_instruction("NOP"))))
    assert (error.kind, error.index, error.opname) == ("bad-target", 1, "JUMP_FORWARD")


def test_a_target_from_another_list():
    other = cleaned_instructions(sample.__code__)
    error = rejected(at_one(lambda: create_instruction("JUMP_FORWARD", target=other[3])))
    assert error.kind == "bad-target"


def test_a_jump_without_target():
    assert rejected(at_one(lambda: create_instruction("JUMP_FORWARD"))).kind == "bad-target"


def test_an_instruction_twice_in_the_list():
    error = rejected(lambda instructions, options: instructions.insert(1, instructions[4]))
    assert error.kind == "duplicate-instruction"


@pytest.mark.parametrize("name", ["CACHE", "EXTENDED_ARG", "INSTRUMENTED_RESUME", "INSTRUMENTED_LINE"])
def test_opcodes_that_no_code_object_may_hold(name):
    if name not in dis.opmap and name not in dis.opname:
        pytest.skip("not in this version")
    assert rejected(at_one(lambda: create_instruction(name))).kind == "illegal-opcode"


@pytest.mark.parametrize(
    "name", ["JUMP", "SETUP_FINALLY", "SETUP_WITH", "POP_BLOCK", "LOAD_METHOD", "STORE_FAST_MAYBE_NULL"]
)
def test_pseudo_opcodes_and_those_of_other_versions_cannot_be_made(name):
    if dis.opmap.get(name, 999) < 256:
        pytest.skip("real in this version")
    with pytest.raises(BytecodeError) as caught:
        create_instruction(name)
    assert caught.value.kind in ("illegal-opcode", "unknown-opcode")


def test_an_operand_out_of_range():
    size = sample.__code__.co_nlocals
    assert rejected(at_one(lambda: create_instruction("COPY", arg=2**31))).index == 1

    def far_local(instructions, options):
        instructions.insert(1, create_instruction("DELETE_FAST", arg=size + 5))

    assert rejected(far_local).kind in ("bad-local", "operand-out-of-range")


@pytest.mark.parametrize(
    "name", ["LOAD_CONST", "LOAD_GLOBAL", "STORE_FAST", "LOAD_FAST_AND_CLEAR", "STORE_FAST_STORE_FAST"]
)
def test_an_operand_beyond_its_pool_is_refused_without_verification_too(name):
    if name not in dis.opmap:
        pytest.skip("not in this version")
    options = code_options(sample.__code__)
    for arg in (255, 2**31, 2**32 - 1):
        instructions = cleaned_instructions(sample.__code__)
        instructions.insert(1, create_instruction(name, arg=arg))
        with pytest.raises(BytecodeError):
            clean_and_assemble_instructions(instructions, [], options, verify=False)


def test_an_operand_that_is_missing():
    assert rejected(at_one(lambda: create_instruction("LOAD_CONST"))).kind == "operand-out-of-range"
    assert rejected(at_one(lambda: create_instruction("COPY"))).kind == "operand-out-of-range"
    assert rejected(at_one(lambda: create_instruction("COMPARE_OP"))).kind == "operand-out-of-range"


def test_underflow():
    error = rejected(at_one(lambda: create_instruction("POP_TOP")))
    assert (error.kind, error.index, error.opname) == ("stack-underflow", 1, "POP_TOP")


def test_depths_that_disagree_where_control_meets():
    def change(instructions, options):
        end = create_instruction("NOP")
        instructions[1:1] = [
            create_load_const(True),
            create_instruction(
                next(n for n in ("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE") if n in dis.opmap),
                target=end,
            ),
            create_load_const(1),
            end,
        ]

    assert rejected(change).kind == "stack-mismatch"


def test_falling_off_the_end():
    assert (
        rejected(
            lambda instructions, options: (
                instructions.append(create_instruction("NOP"))
                or instructions.__setitem__(slice(1, None), [create_instruction("NOP")])
            )
        ).kind
        == "falls-off-end"
    )


def test_an_empty_list():
    assert rejected(lambda instructions, options: instructions.clear()).kind == "falls-off-end"


def test_a_region_that_ends_before_it_starts():
    def change(instructions, options):
        covered = [inst for inst in instructions if inst.exn_tab_entry is not None]
        entry = covered[0].exn_tab_entry
        entry.start, entry.end = entry.end, entry.start

    assert rejected(change).kind == "bad-region"


def test_a_region_whose_handler_is_gone():
    def change(instructions, options):
        entry = next(inst.exn_tab_entry for inst in instructions if inst.exn_tab_entry is not None)
        instructions.remove(entry.target)

    assert rejected(change).kind in ("bad-region", "bad-target")


def test_regions_that_overlap_without_nesting():
    def change(instructions, options):
        handler = next(inst.exn_tab_entry.target for inst in instructions if inst.exn_tab_entry is not None)
        nops = [create_instruction("NOP") for _ in range(6)]
        nops[0].exn_tab_entry = InstructionExnTabEntry(nops[0], nops[3], handler, 0, False)
        nops[2].exn_tab_entry = InstructionExnTabEntry(nops[2], nops[5], handler, 0, False)
        instructions[1:1] = nops

    assert rejected(change).kind == "bad-region"


def test_a_name_that_is_not_a_local():
    error = rejected(
        at_one(lambda: create_instruction("LOAD_FAST", argval="nobody"), lambda: create_instruction("POP_TOP"))
    )
    assert (error.kind, error.argval) == ("bad-local", "nobody")


def test_a_name_that_is_no_name():
    assert rejected(at_one(lambda: create_instruction("LOAD_FAST", argval=5))).kind == "bad-local"
    assert rejected(at_one(lambda: create_instruction("LOAD_GLOBAL", argval=5))).kind == "bad-name"


def test_a_comparison_that_there_is_not():
    assert rejected(at_one(lambda: create_instruction("COMPARE_OP", argval="<>"))).kind == "operand-out-of-range"


def test_unhashable_constants_are_accepted():
    shared = [1, 2]

    def change(instructions, options):
        instructions[1:1] = [create_load_const(shared, checked=False), create_instruction("POP_TOP")]

    code = transform_code_object(sample.__code__, change)
    assert any(const is shared for const in code.co_consts)
    assert types.FunctionType(code, {"range": range})(2, 3) == 6


def test_constants_nested_beyond_reason():
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    assert rejected(at_one(lambda: create_instruction("LOAD_CONST", argval=deep))).kind == "bad-constant"


@pytest.mark.parametrize("attribute", ["co_linetable", "co_exceptiontable"])
def test_damaged_tables_in_the_input(attribute):
    table = getattr(sample.__code__, attribute)
    damaged = [table[:-1], table[1:], table + b"\x80", b"\xff" * 5, b"\x7f" * 40, table[: len(table) // 2]]
    refused = 0
    for bad in damaged:
        code = sample.__code__.replace(**{attribute: bad})
        for way in (bytecode.roundtrip, bytecode.verify, cleaned_instructions):
            try:
                way(code)
            except BytecodeError as error:
                refused += 1
                assert error.kind in (
                    "bad-line-table",
                    "bad-exception-table",
                    "bad-code",
                    "bad-region",
                    "stack-mismatch",
                )
    assert refused >= 6


@pytest.mark.parametrize("form", [0, 10, 14])
def test_a_line_table_with_an_entry_inside_of_another(form):
    """CPython finds entries by their first bit: it would see more units than the code has, and write behind it."""
    code = sample.__code__
    units = len(code.co_code) // 2
    entry = bytes([0x80 | form << 3]) + {0: b"\x80", 10: b"\x05\x80", 14: b"\x00\xc0\x00\x00\x00"}[form]
    table = entry + bytes([0x80 | 15 << 3]) * (units - 1)
    damaged = code.replace(co_linetable=table)
    for way in (bytecode.roundtrip, bytecode.verify, cleaned_instructions):
        with pytest.raises(BytecodeError, match="co_linetable"):
            way(damaged)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x09",
        bytes([dis.opmap["EXTENDED_ARG"], 0]),
        bytes([dis.opmap["JUMP_FORWARD"], 200]),
        bytes([0, 0]),
        bytes([UNASSIGNED, 0]),
    ],
)
def test_damaged_code_in_the_input(code):
    if len(code) % 2:
        pytest.skip("CPython refuses it")
    broken = sample.__code__.replace(co_code=code, co_exceptiontable=b"", co_linetable=b"")
    for way in (bytecode.roundtrip, bytecode.verify):
        with pytest.raises(BytecodeError):
            way(broken)


def test_flags_that_promise_a_docstring_that_is_not_there():
    promise = 0x4000000

    def change(instructions, options):
        options["co_flags"] |= promise
        options["co_consts"] = ()

    def negated(x):
        return -x

    damaged = negated.__code__.replace(co_flags=negated.__code__.co_flags | promise, co_consts=())
    if sys.version_info >= (3, 14):
        assert rejected(change, negated.__code__).kind == "bad-flags"
        for way in (bytecode.roundtrip, bytecode.verify):
            with pytest.raises(BytecodeError, match="docstring"):
                way(damaged)
    else:
        assert types.FunctionType(bytecode.roundtrip(damaged), {})(2) == -2


def test_wrong_types():
    for way in (bytecode.roundtrip, bytecode.verify, cleaned_instructions, code_options):
        with pytest.raises(TypeError, match="code object"):
            way(sample)
    with pytest.raises(TypeError):
        transform_code_object(sample.__code__, None)
    with pytest.raises(TypeError, match="list"):
        clean_and_assemble_instructions(tuple(cleaned_instructions(sample.__code__)), [], code_options(sample.__code__))
    with pytest.raises(TypeError, match="dict"):
        clean_and_assemble_instructions(cleaned_instructions(sample.__code__), [], None)
    with pytest.raises(TypeError, match="no Instruction"):
        transform_code_object(sample.__code__, lambda instructions, options: instructions.append(5))


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("co_consts", [1], TypeError),
        ("co_names", ("a", 5), TypeError),
        ("co_varnames", "ab", TypeError),
        ("co_varnames", (), ValueError),
        ("co_flags", "x", TypeError),
        ("co_flags", -1, ValueError),
        ("co_argcount", -1, ValueError),
        ("co_argcount", 2**40, ValueError),
        ("co_argcount", 1000, ValueError),
        ("co_posonlyargcount", 1000, ValueError),
        ("co_filename", 5, TypeError),
        ("co_name", None, TypeError),
        ("co_firstlineno", 1.5, TypeError),
    ],
)
def test_options_of_the_wrong_kind(key, value, error):
    with pytest.raises(error, match="co_"):
        transform_code_object(sample.__code__, lambda instructions, options: options.__setitem__(key, value))


def test_an_option_that_is_missing():
    with pytest.raises(KeyError, match="co_consts"):
        transform_code_object(sample.__code__, lambda instructions, options: options.pop("co_consts"))


def test_what_the_callback_raises_comes_through():
    class Mine(Exception):
        pass

    def change(instructions, options):
        raise Mine

    with pytest.raises(Mine):
        transform_code_object(sample.__code__, change)


def test_a_callback_may_use_the_assembler_itself():
    def change(instructions, options):
        inner = transform_code_object(closure.__code__, lambda i, o: i.insert(1, create_instruction("NOP")))
        assert inner.co_code != closure.__code__.co_code
        bytecode.roundtrip(inner)

    assert transform_code_object(sample.__code__, change).co_code == sample.__code__.co_code
