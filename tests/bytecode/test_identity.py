"""Unedited code comes out as it went in."""

import pytest

from pydynamo import bytecode
from tests.bytecode.corpus import code_objects, difference, programs


def nothing(instructions, code_options):
    pass


def reassemble(code):
    options = bytecode.code_options(code)
    return bytecode.clean_and_assemble_instructions(
        bytecode.cleaned_instructions(code), bytecode.get_code_keys(), options
    )[1]


@pytest.mark.parametrize(
    "way",
    [
        bytecode.roundtrip,
        lambda code: bytecode.transform_code_object(code, nothing),
        reassemble,
    ],
    ids=["roundtrip", "transform", "clean-and-assemble"],
)
def test_code_is_byte_identical(way):
    differences = [text for code in code_objects() if (text := difference(code, way(code)))]
    assert not differences, f"{len(differences)} of {len(code_objects())}, first: {differences[0]}"


def test_what_cpythons_tests_compile_is_byte_identical_and_provable_in_any_order():
    for seed, code in enumerate(programs()):
        for way in (bytecode.roundtrip, lambda code: bytecode.transform_code_object(code, nothing)):
            assert not difference(code, way(code))
        bytecode.verify(bytecode.shuffled(code, seed, every=3, cut=3))


def test_hidden_locals_of_inlined_comprehensions_stay_hidden():
    source = """
x = 1
class A:
    x = 2
    squares = [x * x for x in (1, 2)]
    seen = sorted(locals())
    x = 3
"""
    expected, found = {}, {}
    code = compile(source, "<test>", "exec")
    exec(code, expected)
    body = next(const for const in code.co_consts if hasattr(const, "co_code"))
    again = code.replace(
        co_consts=tuple(bytecode.roundtrip(body) if const is body else const for const in code.co_consts)
    )
    exec(bytecode.roundtrip(again), found)
    assert found["A"].seen == expected["A"].seen
    assert found["A"].squares == [1, 4]
    assert found["A"].x == 3


def test_the_input_never_changes():
    for code in code_objects()[:200]:
        before = [(name, getattr(code, name)) for name in dir(code) if name.startswith("co_") and name != "co_lnotab"]
        bytecode.roundtrip(code)
        for name, value in before:
            if not callable(value):
                assert getattr(code, name) == value


def test_offsets_positions_and_operands_agree_with_dis():
    import dis

    for code in code_objects()[:400]:
        ours = bytecode.cleaned_instructions(code)
        theirs = [inst for inst in dis.get_instructions(code) if inst.opname != "EXTENDED_ARG"]
        assert len(ours) == len(theirs)
        for mine, dis_inst in zip(ours, theirs):
            assert (mine.opname, mine.opcode, mine.offset, mine.arg) == (
                dis_inst.opname,
                dis_inst.opcode,
                dis_inst.offset,
                dis_inst.arg,
            )
            assert (mine.positions or (None,) * 4) == dis_inst.positions
            if dis_inst.opcode in bytecode.JUMP_OPCODES:
                assert mine.target.offset == dis_inst.argval or mine.target.arg > 255
            elif isinstance(dis_inst.argval, (str, tuple)) and dis_inst.opname != "KW_NAMES":
                assert mine.argval == dis_inst.argval or dis_inst.opname == "FORMAT_VALUE"


def test_code_that_has_run_hot_is_read_as_it_was_compiled():
    # Long enough for prefixes before jumps of all kinds, which 3.11 specialises as well.
    long = "        t += i * 2 - 1 if i else 3\n" * 80
    source = (
        "def f(n):\n    t = 0\n    for i in range(n):\n"
        f"{long}        while t > 10**9:\n            t = 0\n{long}    while i < 0:\n{long}    return t\n"
    )
    scope = {}
    exec(source, scope)
    cold = compile(source, "<string>", "exec").co_consts[0]
    for _ in range(50):
        scope["f"](50)
    hot = scope["f"].__code__
    assert bytecode.format(bytecode.cleaned_instructions(hot)) == bytecode.format(bytecode.cleaned_instructions(cold))
    assert bytecode.roundtrip(hot).co_code == cold.co_code
    assert bytecode.transform_code_object(hot, nothing).co_code == cold.co_code
    bytecode.verify(hot)
