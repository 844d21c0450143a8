"""Large inputs: nothing recurses, nothing is lost, operands and jumps of every width."""

import dis
import sys
import types

import pytest

from pydynamo import bytecode as b


def template():
    return None


def assemble(insts, **options):
    options = b.code_options(template.__code__) | options
    return b.clean_and_assemble_instructions(insts, b.get_code_keys(), options)[1]


def end():
    return [b.create_instruction("LOAD_CONST", argval=None), b.create_instruction("RETURN_VALUE")]


def begin():
    return [b.create_instruction("RESUME", arg=0)]


def many_nops(size):
    return [*begin(), *(b.create_instruction("NOP") for _ in range(size)), *end()]


def many_consts(size):
    body = []
    for i in range(size):
        body += [b.create_instruction("LOAD_CONST", argval=(i, "x")), b.create_instruction("POP_TOP")]
    return [*begin(), *body, *end()]


def many_names(size):
    body = []
    for i in range(size):
        body += [b.create_instruction("LOAD_GLOBAL", argval=f"name{i}"), b.create_instruction("POP_TOP")]
    return [*begin(), *body, *end()]


def reversed_blocks(size):
    last = end()
    blocks = [last]
    for _ in range(size):
        blocks.append([b.create_instruction("NOP"), b.create_jump_absolute(blocks[-1][0])])
    return [*begin(), b.create_jump_absolute(blocks[-1][0]), *(i for block in blocks for i in block)]


def many_regions(size):
    handler = [b.create_instruction("PUSH_EXC_INFO"), b.create_instruction("POP_TOP")]
    handler += [b.create_instruction("POP_EXCEPT"), *end()]
    body = []
    for _ in range(size):
        nop = b.create_instruction("NOP")
        nop.exn_tab_entry = b.InstructionExnTabEntry(nop, nop, handler[0], 0, False)
        body.append(nop)
        body.append(b.create_instruction("NOP"))
    return [*begin(), *body, *end(), *handler]


@pytest.mark.parametrize(
    ("build", "size"),
    [
        (many_nops, 160_000),
        (many_consts, 32_000),
        (many_names, 32_000),
        (reversed_blocks, 32_000),
        (many_regions, 32_000),
    ],
)
def test_large_functions_of_every_shape_come_back_as_they_were(build, size):
    # How the time grows is measured by benchmarks/assembler.py; here a quadratic pass would run into the suite's time limit.
    code = assemble(build(size))
    assert b.roundtrip(code).co_code == code.co_code


@pytest.mark.slow
def test_a_jump_over_sixteen_million_units_takes_three_prefixes():
    wide, pops = ("LOAD_METHOD", 2) if sys.version_info < (3, 12) else ("LOAD_ATTR", 1)
    tail = [b.create_instruction("LOAD_CONST", argval="over"), b.create_instruction("RETURN_VALUE")]
    insts = [*begin(), b.create_instruction("JUMP_FORWARD", target=tail[0])]
    span = b.instruction_size(b.create_instruction(wide, argval="x")) + 2 * (1 + pops)
    for _ in range(2 * 2**24 // span + 1):
        insts += [b.create_instruction("LOAD_CONST", argval=None), b.create_instruction(wide, argval="x")]
        insts += [b.create_instruction("POP_TOP") for _ in range(pops)]
    code = assemble([*insts, *tail])
    size = b.instruction_size(begin()[0])
    assert [code.co_code[size + 2 * i] == dis.EXTENDED_ARG for i in range(4)] == [True, True, True, False]
    assert types.FunctionType(code, {})() == "over"
    assert b.roundtrip(code).co_code == code.co_code


def test_a_million_instructions():
    code = assemble(many_nops(1_000_000))
    assert len(code.co_code) == 2 * 1_000_002 + b.instruction_size(begin()[0])
    insts = b.cleaned_instructions(code)
    assert len(insts) == 1_000_003
    assert b.roundtrip(code).co_code == code.co_code


def test_a_thousand_jumps_at_the_255_boundary():
    # Each jump spans 255 units; the one that must grow pushes the next over the edge, and so on.
    count, insts = 1000, begin()
    jumps = [b.create_instruction("JUMP_FORWARD") for _ in range(count)]
    places = []
    for jump in jumps:
        insts.append(jump)
        places.append(len(insts) - 1)
    fillers = [b.create_instruction("NOP") for _ in range(300)]
    insts += fillers
    insts += end()
    for jump, place in zip(jumps, places):
        jump.target = insts[min(place + 257, len(insts) - 2)]
    code = assemble(insts)
    assert b.roundtrip(code).co_code == code.co_code


def test_deep_nesting_of_regions():
    handler = [b.create_instruction("PUSH_EXC_INFO"), b.create_instruction("POP_TOP")]
    handler += [b.create_instruction("POP_EXCEPT"), *end()]
    depth = 5_000
    opening = [b.create_instruction("NOP") for _ in range(depth)]
    closing = [b.create_instruction("NOP") for _ in range(depth)]
    for inner, (first, last) in enumerate(zip(opening, reversed(closing))):
        entry = b.InstructionExnTabEntry(first, last, handler[0], 0, bool(inner % 2) and False)
        first.exn_tab_entry = last.exn_tab_entry = entry
    assemble([*begin(), *opening, *closing, *end(), *handler])


def test_each_name_has_one_place_however_it_is_spelled_in_memory():
    texts = [*(f"name{i}" for i in range(3000)), "é", "\u4f60", "\U0001f600", "\ud800", "\udfff", "", "a", "A"]
    insts = begin()
    for copy in range(3):
        for text in texts if copy else reversed(texts):
            # a new object each time
            name = (text + "?")[:-1]
            insts += [b.create_instruction("LOAD_NAME", argval=name), b.create_instruction("POP_TOP")]
    code = assemble([*insts, *end()])
    assert sorted(code.co_names) == sorted(texts)
    assert code.co_names == tuple(reversed(texts))
    loads = [inst.argval for inst in dis.get_instructions(code) if inst.opname == "LOAD_NAME"]
    assert loads == [*reversed(texts), *texts, *texts]
