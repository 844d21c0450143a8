"""Text and back."""

import ast
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pydynamo import bytecode as b
from pydynamo.bytecode import BytecodeError
from tests.bytecode.corpus import code_objects, difference


def tries(x):
    try:
        for i in x:
            print(i, x.y)
    except (ValueError, KeyError):
        return 1
    finally:
        print("done")
    return ...


def reassembled(text, code):
    return b.clean_and_assemble_instructions(b.parse(text), b.get_code_keys(), b.code_options(code))[1]


def test_text_and_back_gives_the_same_code():
    failures = []
    for code in code_objects()[::3]:
        text = b.format(b.cleaned_instructions(code))
        if message := difference(code, reassembled(text, code)):
            failures.append(message)
    assert not failures, failures[0]


def test_text_of_parsed_text_is_the_text():
    for code in code_objects()[::7]:
        text = b.format(b.cleaned_instructions(code), comments=False)
        assert b.format(b.parse(text), comments=False) == text


def test_the_form_is_readable():
    text = b.format(b.cleaned_instructions(tries.__code__))
    lines = text.splitlines()
    assert "    LOAD_GLOBAL           print | 1" in text
    assert any(line.startswith("try T1 -> L") and " depth " in line for line in lines)
    assert any(line.startswith("line ") for line in lines)
    assert "L1:" in lines
    assert any("FOR_ITER" in line and "-> L" in line for line in lines)


def test_written_by_hand():
    load = (
        "LOAD_CONST" if "RETURN_CONST" not in b.format(b.cleaned_instructions((lambda: 5).__code__)) else "LOAD_CONST"
    )
    insts = b.parse(f"""
    # a comment
    line 7
        {load}     (1, 'x # no comment', -2.5)    # one
        JUMP_FORWARD -> out
    out:
        RETURN_VALUE
    """)
    assert [inst.opname for inst in insts] == [load, "JUMP_FORWARD", "RETURN_VALUE"]
    assert insts[0].argval == (1, "x # no comment", -2.5)
    assert insts[1].target is insts[2]
    assert insts[0].positions == (7, 7, None, None)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("    NO_SUCH_OPCODE", None),
        ("    JUMP_FORWARD", 1),
        ("    JUMP_FORWARD -> nowhere", 1),
        ("L1:\nL1:\n    NOP", 2),
        ("    NOP\nL1:", None),
        ("try T1 -> L1 depth 0\n    NOP", 1),
        ("end T1", 1),
        ("try T1 -> L1 depth 0\nend T1\nL1:\n    NOP", 2),
        ("try T1 L1 depth 0", 1),
        ("try T1 also\n    NOP\nend T1", 1),
        ("try T1 -> L1 depth 0\n    NOP\nend T1", 1),
        ("line", 1),
        ("line x", 1),
        ("line 1 2", 1),
        ("    LOAD_CONST <object>", 1),
        ("    LOAD_CONST f()", 1),
        ("    LOAD_CONST (1,", 1),
        ("    LOAD_FAST 5", 1),
        ("    LOAD_FAST x | 1", 1),
        ("    COPY x", 1),
        ("    LOAD_CONST @ x", 1),
        ("    COPY -1", None),
        ("    NOP!x", 1),
        ("    LOAD_CONST " + "(" * 10_000, 1),
    ],
)
def test_what_cannot_be_understood_is_refused(text, line):
    with pytest.raises((BytecodeError, ValueError)) as caught:
        b.parse(text)
    if line is not None:
        assert f"line {line}:" in str(caught.value)


def test_what_strayed_from_its_region_is_still_of_it():
    insts = b.cleaned_instructions((lambda f: f(f, f)).__code__)
    entry = b.InstructionExnTabEntry(insts[1], insts[2], insts[-1], 0, False)
    entry._height = 0
    for inst in (insts[1], insts[2], insts[4]):
        inst.exn_tab_entry = entry
    text = b.format(insts)
    assert "try T1 also\n" in text
    again = b.parse(text)
    assert b.format(again) == text
    assert again[4].exn_tab_entry is again[1].exn_tab_entry
    assert again[4].exn_tab_entry.end is again[2]


def test_a_text_must_be_a_str():
    with pytest.raises(TypeError):
        b.parse(b"")


def test_lists_that_cannot_be_assembled_are_printed_all_the_same():
    lost = b.create_instruction("JUMP_FORWARD", target=b.create_instruction("NOP"))
    odd = b.create_instruction("LOAD_CONST", argval=object())
    text = b.format([lost, lost, odd, b.create_instruction("LOAD_CONST"), b.create_instruction("CACHE")])
    assert "-> ?" in text and "<no literal>" in text


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.just(...),
    lambda inner: st.tuples(inner) | st.tuples(inner, inner),
    max_leaves=6,
)


@given(value=literals)
@settings(max_examples=400, deadline=None)
def test_every_literal_survives_or_is_marked(value):
    inst = b.create_instruction("LOAD_CONST", argval=value)
    text = b.format([inst])
    if "<no literal>" in text:
        assert not _has_literal(value)
        return
    again = b.parse(text)[0].argval
    assert type(again) is type(value) and repr(again) == repr(value)


def _has_literal(value):
    if isinstance(value, tuple):
        return all(_has_literal(item) and item is not ... for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, complex):
        try:
            return repr(ast.literal_eval(repr(value))) == repr(value)
        except (ValueError, SyntaxError):
            return False
    return True


@given(name=st.text(min_size=1))
@settings(max_examples=300, deadline=None)
def test_every_name_survives(name):
    for opname in ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "STORE_ATTR"):
        inst = b.create_instruction(opname, argval=name)
        assert b.parse(b.format([inst]))[0].argval == name


coordinate = st.none() | st.integers(0, 2**20)


@st.composite
def lists(draw):
    """Lists of instructions with targets, regions and positions, good or bad."""
    count = draw(st.integers(1, 12))
    insts = []
    for _ in range(count):
        kind = draw(st.integers(0, 5))
        if kind == 0:
            inst = b.create_instruction("LOAD_CONST", argval=draw(st.integers() | st.text(max_size=5)))
        elif kind == 1:
            inst = b.create_instruction("LOAD_FAST", argval=draw(st.sampled_from("xyz")))
        elif kind == 2:
            inst = b.create_instruction("LOAD_GLOBAL", arg=draw(st.integers(0, 1)), argval=draw(st.sampled_from("xyz")))
        elif kind == 3:
            inst = b.create_instruction("COPY", arg=draw(st.integers(0, 300)))
        elif kind == 4:
            inst = b.create_instruction("JUMP_FORWARD")
        else:
            inst = b.create_instruction("NOP")
        if draw(st.booleans()):
            inst.positions = tuple(draw(coordinate) for _ in range(4))
        insts.append(inst)
    for inst in insts:
        if inst.opname == "JUMP_FORWARD":
            inst.target = draw(st.sampled_from(insts))
    lo, hi = 0, count - 1
    for _ in range(draw(st.integers(0, 3))):
        if lo > hi:
            break
        start = draw(st.integers(lo, hi))
        end = draw(st.integers(start, hi))
        entry = b.InstructionExnTabEntry(
            insts[start],
            insts[end],
            draw(st.sampled_from(insts)),
            draw(st.integers(0, 5)),
            draw(st.booleans()),
        )
        for inst in insts[start : end + 1]:
            inst.exn_tab_entry = entry
        lo, hi = start + 1, end - 1
    return insts


def shape(insts):
    place = {inst: i for i, inst in enumerate(insts)}
    out = []
    for inst in insts:
        entry = inst.exn_tab_entry
        region = entry and (
            place[entry.start],
            place[entry.end],
            place[entry.target],
            entry.depth,
            entry.lasti,
        )
        argval = inst.argval if inst.opname != "COPY" else inst.arg
        target = inst.target and place[inst.target]
        out.append((inst.opname, inst.arg, argval, target, region, inst.positions))
    return out


@given(insts=lists())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_list_survives(insts):
    again = b.parse(b.format(insts))
    for old, new in zip(shape(insts), shape(again), strict=True):
        assert old == new or _same_region(old, new)


def _same_region(old, new):
    # Entries that say the same are one in the text.
    return old[:4] == new[:4] and old[5] == new[5] and old[4] == new[4]
