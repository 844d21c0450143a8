"""Edited code does what it should, seen by running it."""

import sys
import traceback
import types

import pytest

from pydynamo import bytecode as b
from pydynamo.bytecode import importhook
from tests.bytecode.building import edited, function


def strew_nops(every=1, count=1):
    """Puts NOPs before instructions that admit them."""

    def change(instructions, options):
        output = []
        for i, inst in enumerate(instructions):
            glued = inst.opname in (
                "END_FOR",
                "POP_ITER",
                "CALL",
                "PRECALL",
                "RESUME",
                "NOT_TAKEN",
                "POP_TOP",
                "YIELD_VALUE",
            )
            glued = glued or inst.opname in (
                "COPY_FREE_VARS",
                "MAKE_CELL",
                "RETURN_GENERATOR",
                "SEND",
                "END_SEND",
                "JUMP_BACKWARD_NO_INTERRUPT",
            )
            if i and not glued and i % every == 0:
                for _ in range(count):
                    nop = b.create_instruction("NOP")
                    nop.copy_positions(inst)
                    nop.exn_tab_entry = inst.exn_tab_entry
                    output.append(nop)
            output.append(inst)
        instructions[:] = output

    return change


def loops(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        while total < i:
            total += 3
    else:
        total += 100
    return total


def tries(x):
    seen = []
    for value in (1, 0, "a", None):
        try:
            try:
                seen.append(x / value)
            except ZeroDivisionError as error:
                seen.append(str(error))
            finally:
                seen.append("finally")
        except TypeError:
            seen.append("type")
    return seen


def generates(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                yield from "xy"
    finally:
        yield "end"


def closes(a, *, b=2, **rest):
    cell = a

    def inner(c):
        nonlocal cell
        cell += c
        return cell, rest

    return inner(b), inner(1)


def manages():
    class Manager:
        def __enter__(self):
            return 5

        def __exit__(self, *args):
            return args[0] is KeyError

    with Manager() as value:
        raise KeyError
    return value


def comprehends(n):
    return [i for i in range(n) if i % 3], {i: j for i, j in enumerate("abc")}, sum(i for i in range(n))


def matches(value):
    match value:
        case [first, *rest]:
            return first, rest
        case {"k": found, **others}:
            return found, others
        case str() | bytes():
            return "text"
        case _:
            return None


PROGRAMS = [
    (loops, [(0,), (10,)]),
    (tries, [(3,)]),
    (closes, [(1,)]),
    (manages, [()]),
    (comprehends, [(10,)]),
    (matches, [([1, 2, 3],), ({"k": 1, "z": 2},), ("x",), (5,)]),
]


def drive(generator):
    return [next(generator), generator.send(True), next(generator), next(generator), list(generator)]


@pytest.mark.parametrize("count", [1, 3, 90, 300])
@pytest.mark.parametrize(("fn", "calls"), PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_nops_change_nothing(fn, calls, count):
    new = edited(fn, strew_nops(count=count))
    assert len(new.__code__.co_code) > len(fn.__code__.co_code)
    for args in calls:
        for _ in range(20):  # often enough for specialisation
            assert new(*args) == fn(*args)


@pytest.mark.parametrize("count", [1, 300])
def test_nops_do_not_disturb_generators(count):
    new = edited(generates, strew_nops(count=count))
    for _ in range(20):
        assert drive(new(5)) == drive(generates(5))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("fn", "calls"), PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_shuffled_code_does_the_same(fn, calls, seed):
    code = importhook.transform_nested(fn.__code__, lambda code: b.shuffled(code, seed, every=2, cut=2))
    new = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    new.__kwdefaults__ = fn.__kwdefaults__
    for args in calls:
        assert new(*args) == fn(*args)


def test_new_locals_cells_and_free_variables_are_numbered_anew():
    def change(instructions, options):
        options["co_varnames"] += ("extra",)
        at = next(i for i, inst in enumerate(instructions) if inst.opname == "RESUME") + 1
        instructions[at:at] = [b.create_load_const(41), b.create_instruction("STORE_FAST", argval="extra")]

    new = edited(closes, change)
    assert "extra" in new.__code__.co_varnames
    assert new(1, b=5, z=3) == closes(1, b=5, z=3)


def test_pools_keep_what_was_there_and_append():
    def change(instructions, options):
        at = next(i for i, inst in enumerate(instructions) if inst.opname == "RESUME") + 1
        values = [0.0, -0.0, 1, True, 1.0, (1, 2), (1.0, 2), frozenset({1}), "new", b"new", ..., 0.0]
        for value in values:
            instructions[at:at] = [b.create_load_const(value), b.create_instruction("POP_TOP")]

    code = b.transform_code_object(loops.__code__, change)
    old = loops.__code__.co_consts
    assert code.co_consts[: len(old)] == old
    added = code.co_consts[len(old) :]
    assert len({(type(const), repr(const)) for const in added}) == len(added)
    assert code.co_names[: len(loops.__code__.co_names)] == loops.__code__.co_names


def test_constants_are_merged_as_the_compiler_does():
    values = [
        1,
        1.0,
        True,
        0.0,
        -0.0,
        0,
        False,
        "a",
        b"a",
        (0.0,),
        (-0.0,),
        ((1,),),
        ((True,),),
        1j,
        -1j,
        complex(0, -0.0),
    ]
    values += [frozenset({1}), frozenset({1.0}), None, ..., float("nan")]
    copies = [type(value)(value) if type(value) in (str, float, complex) else value for value in values]
    insts = []
    for value in [*values, *copies]:
        insts += [b.create_load_const(value), b.create_instruction("POP_TOP")]
    fn = function([*insts, b.create_load_const(None), b.create_instruction("RETURN_VALUE")])
    merged = {(type(c).__name__, repr(c)) for c in fn.__code__.co_consts if c == c}
    assert len(merged) == len([c for c in fn.__code__.co_consts if c == c])


def test_fused_pairs_are_split_where_operands_outgrow_them():
    if sys.version_info < (3, 13):
        pytest.skip("no fused instructions")
    names = [f"v{i}" for i in range(20)]

    def change(instructions, options):
        options["co_varnames"] = ("a", "b", *names)
        instructions[1:] = [
            *(
                x
                for name in names
                for x in (b.create_load_const(name), b.create_instruction("STORE_FAST", argval=name))
            ),
            b.create_instruction("LOAD_FAST_LOAD_FAST", argval=("v19", "a")),
            b.create_instruction("STORE_FAST_STORE_FAST", argval=("b", "v18")),
            b.create_instruction("LOAD_FAST_LOAD_FAST", argval=("v18", "b")),
            b.create_build_tuple(2),
            b.create_instruction("RETURN_VALUE"),
        ]

    def two(a, b):
        return a

    assert edited(two, change)(1, 2) == ("v19", 1)


def test_tracebacks_name_the_same_places():
    def fails(x):
        return x + 1 / 0

    for new in (edited(fails, strew_nops(count=3)), edited(fails, strew_nops(count=300))):
        with pytest.raises(ZeroDivisionError) as mine:
            new(1)
        with pytest.raises(ZeroDivisionError) as theirs:
            fails(1)
        ours, expected = (traceback.extract_tb(e.value.__traceback__)[-1] for e in (mine, theirs))
        assert (ours.lineno, ours.end_lineno, ours.colno, ours.end_colno) == (
            expected.lineno,
            expected.end_lineno,
            expected.colno,
            expected.end_colno,
        )


def test_handler_depths_follow_the_stack():
    def guarded(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return "zero"

    def deeper(instructions, options):
        # A value below everything, from before the region to behind each way out of it.
        at = next(i for i, inst in enumerate(instructions) if inst.opname == "RESUME") + 1
        output = [*instructions[:at], b.create_load_const("below")]
        for inst in instructions[at:]:
            if inst.opname == "RETURN_CONST":
                output += b.overwrite_instruction(
                    inst, [b.create_load_const(inst.argval), b.create_instruction("RETURN_VALUE")]
                )
                inst = output.pop()
            if inst.opname == "RETURN_VALUE":
                output += b.overwrite_instruction(
                    inst,
                    [
                        *b.create_swap(2),
                        b.create_instruction("POP_TOP"),
                        b.create_instruction("RETURN_VALUE"),
                    ],
                )
            else:
                output.append(inst)
        instructions[:] = output

    new = edited(guarded, deeper)
    assert new(2) == 0.5 and new(0) == "zero"
    assert new.__code__.co_stacksize > guarded.__code__.co_stacksize


def test_shared_lists_assemble_into_several_code_objects():
    instructions, options = b.cleaned_instructions(loops.__code__), b.code_options(loops.__code__)
    codes = [b.clean_and_assemble_instructions(instructions, b.get_code_keys(), dict(options))[1] for _ in range(3)]
    assert len({code.co_code for code in codes}) == 1


def test_a_region_whose_ends_were_deleted_spans_what_carries_it():
    def change(instructions, options):
        for inst in list(instructions):
            entry = inst.exn_tab_entry
            if entry is not None and inst is entry.start and inst.opname == "NOP":
                instructions.remove(inst)

    new = edited(tries, change)
    assert new(3) == tries(3)


def test_threads_may_assemble_at_the_same_time():
    import threading

    errors = []

    def work():
        try:
            for fn, calls in PROGRAMS * 10:
                new = edited(fn, strew_nops(count=2))
                assert new(*calls[0]) == fn(*calls[0])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_writing_back_what_was_read_changes_nothing():
    def rewrite(instructions, options):
        for inst in instructions:
            arg, argval, target = inst.arg, inst.argval, inst.target
            inst.arg = arg
            inst.argval = argval
            inst.target = target

    for fn, _ in PROGRAMS:
        assert b.transform_code_object(fn.__code__, rewrite).co_code == fn.__code__.co_code


def around(k):
    """From 3.12 on, the comprehension's variable is a local of the same name as the free variable."""

    def inner(p):
        return [k for k in p], k

    return inner


def test_names_of_cells_mean_the_free_variable_beside_a_local_of_the_same_name():
    def forget(instructions, options):
        options["co_varnames"] = ("new", *options["co_varnames"])
        options["co_argcount"] = 2
        for inst in instructions:
            if inst.opname == "LOAD_DEREF":
                inst.arg = None
                inst.argval = "k"

    fn = around(3)
    new = types.FunctionType(b.transform_code_object(fn.__code__, forget), globals(), "new", None, fn.__closure__)
    assert new(None, [1, 2]) == fn([1, 2]) == ([1, 2], 3)


def test_a_free_variable_is_found_by_its_name_though_the_first_local_is_called_so_too():
    def read_anew(instructions, options):
        options["co_varnames"] = ("k",)
        for i, inst in enumerate(instructions):
            if inst.opname == "LOAD_DEREF":
                instructions[i] = b.create_instruction("LOAD_DEREF", argval="k")

    def closing_over(k):
        return lambda: k

    fn = closing_over(7)
    code = b.transform_code_object(fn.__code__, read_anew)
    assert types.FunctionType(code, globals(), "new", None, fn.__closure__)() == 7
