"""Analyses of lists, and what is edited on their ground."""

import types

import pytest

from pydynamo import bytecode as b
from pydynamo.bytecode import BytecodeError
from tests.bytecode.building import edited, function
from tests.bytecode.corpus import code_objects


def tries(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        y = 5
    for i in range(y):
        y += i
    return y


def test_indices():
    insts = b.cleaned_instructions(tries.__code__)
    assert b.get_indexof(insts)[insts[3]] == 3
    with pytest.raises(BytecodeError, match="twice"):
        b.get_indexof([insts[0], insts[0]])


def test_stack_sizes_are_those_of_cpython():
    for code in code_objects()[::5]:
        assert b.stacksize_analysis(b.cleaned_instructions(code)) <= code.co_stacksize


def test_dead_code_goes_and_live_code_stays():
    def change(instructions, options):
        end = next(i for i, inst in enumerate(instructions) if inst.opname.startswith("RETURN"))
        instructions[end + 1 : end + 1] = [b.create_instruction("NOP"), b.create_load_const(99)]
        kept = b.remove_dead_code(instructions)
        assert len(kept) < len(instructions)
        instructions[:] = kept

    new = edited(tries, change)
    assert 99 not in new.__code__.co_consts
    assert [new(x) for x in (0, 2)] == [tries(x) for x in (0, 2)]


def test_live_code_is_not_touched():
    for code in code_objects()[::10]:
        insts = b.cleaned_instructions(code)
        kept = b.remove_dead_code(insts)
        new = b.clean_and_assemble_instructions(kept, b.get_code_keys(), b.code_options(code))[1]
        assert len(new.co_code) <= len(code.co_code)


def test_pointless_jumps_go_and_their_targets_move():
    last = b.create_instruction("LOAD_FAST", argval="a")
    second = b.create_jump_absolute(last)
    first = b.create_jump_absolute(second)
    insts = [first, second, last, b.create_instruction("RETURN_VALUE")]
    assert b.remove_pointless_jumps(insts) == insts[2:]
    assert function(b.remove_pointless_jumps(insts))(7) == 7


def test_live_variables():
    insts = b.cleaned_instructions(tries.__code__)
    assert b.livevars_analysis(insts, insts[0]) == {"x"}
    returns = [inst for inst in insts if inst.opname == "RETURN_VALUE"]
    assert "y" not in b.livevars_analysis(insts, returns[0])
    loop = next(inst for inst in insts if inst.opname == "FOR_ITER")
    assert b.livevars_analysis(insts, loop) == {"y"}
    with pytest.raises(BytecodeError):
        b.livevars_analysis(insts, b.create_instruction("NOP"))


def test_lines_are_propagated_and_hidden():
    insts = [b.create_instruction("NOP") for _ in range(4)]
    insts[1].starts_line = 5
    b.propagate_line_nums(insts)
    assert [inst.starts_line for inst in insts] == [None, 5, 5, 5]
    b.remove_extra_line_nums(insts)
    assert [inst.starts_line for inst in insts] == [None, 5, None, None]
    assert insts[3].positions == (5, 5, None, None)


def test_sets_of_opcodes():
    import dis

    assert {op for op in dis.hasjrel if op < 256} <= b.JUMP_OPCODES | {
        op for op in dis.hasjrel if dis.opname[op].startswith("INSTR")
    }
    for name in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD"):
        assert dis.opmap[name] in b.TERMINAL_OPCODES
    assert dis.opmap["NOP"] not in b.TERMINAL_OPCODES


def test_overwriting_keeps_targets_regions_and_positions():
    insts = b.cleaned_instructions(tries.__code__)
    old = next(inst for inst in insts if inst.exn_tab_entry is not None and inst.exn_tab_entry.end is inst)
    positions, entry = old.positions, old.exn_tab_entry
    new = b.overwrite_instruction(old, [b.create_instruction("NOP"), b.create_instruction("NOP")])
    assert new[0] is old and old.opname == "NOP" and old.positions == positions
    assert new[1].exn_tab_entry is entry and entry.end is new[1] and new[1].positions == positions
    with pytest.raises(ValueError):
        b.overwrite_instruction(old, [])


def test_templates_are_spliced_in_any_version():
    def template(source, sink):
        for key, value in source.items():
            try:
                sink[key] = 10 / value
            except ZeroDivisionError:
                sink[key] = None

    insts = b.bytecode_from_template(template, {"source": "a", "sink": "b", "key": "k", "value": "v"})
    assert all(inst.positions is None for inst in insts)
    body = [
        *insts,
        b.create_instruction("POP_TOP"),
        b.create_instruction("LOAD_FAST", argval="b"),
        b.create_instruction("RETURN_VALUE"),
    ]
    assert function(body, ("k", "v"))({"x": 5, "y": 0}, {}) == {"x": 2.0, "y": None}


def test_templates_with_several_returns_jump_to_their_end():
    def template(a):
        if a:
            return "yes"
        return "no"

    insts = b.bytecode_from_template(template)
    assert not any(inst.opname.startswith("RETURN") for inst in insts)
    run = function([*insts, b.create_instruction("RETURN_VALUE")])
    assert run(1) == "yes" and run(0) == "no"
    whole = b.bytecode_from_template(template, noreturn=False, noprefix=False)
    assert whole[0].opname == "RESUME" and any(inst.opname.startswith("RETURN") for inst in whole)


def test_rewriting_into_simpler_instructions():
    def sample(x, y):
        if x is not None and y is None:
            return x[1:2]
        x[0:1] = y
        return x

    def simplify(instructions, options):
        b.remove_jump_if_none(instructions)
        b.remove_binary_store_slice(instructions)
        b.remove_fused_load_store(instructions)
        assert not any(inst.opname.endswith(("_NONE", "Y_SLICE", "E_SLICE")) for inst in instructions)

    new = edited(sample, simplify)
    for args in (([1, 2, 3], None), ([1, 2, 3], [9])):
        assert new(*([list(args[0]), args[1]])) == sample(*([list(args[0]), args[1]]))


def test_unique_ids_and_generators():
    assert b.unique_id("x") != b.unique_id("x")
    assert len(b.unique_id("x", with_uuid=True)) > 30 and b.unique_id("x", with_uuid=True).isidentifier()

    def generates():
        yield

    async def awaits():
        pass

    assert b.is_generator(generates.__code__) and not b.is_generator(awaits.__code__)


def test_native_probes_and_sweeps():
    seen = []
    code = b.instrument_lines(tries.__code__, seen.append)
    assert types.FunctionType(code, globals())(0) == tries(0)
    first = tries.__code__.co_firstlineno
    assert {line - first for line in seen} >= {1, 2, 3, 4, 5, 6, 7}
    seen.clear()
    code = b.instrument_blocks(tries.__code__, seen.append)
    assert types.FunctionType(code, globals())(2) == 0.5 and seen[0] == 0
    with pytest.raises(TypeError, match="callable"):
        b.instrument_lines(tries.__code__, 5)
    assert types.FunctionType(b.swept(code, dead_stores=True), globals())(0) == tries(0)
    with pytest.raises(ValueError):
        b.shuffled(tries.__code__, 1, every=0)
