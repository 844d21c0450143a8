"""What a transformation is given lives as long as somebody refers to it, and no longer; its memory goes back."""

import gc
import sys
import weakref
from pathlib import Path

import pytest

from pydynamo import bytecode as b

needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")


def guarded(items, call):
    for item in items:
        try:
            if item:
                call(item)
        except ValueError as error:
            call(error)
        finally:
            call(None)
    return items


def leave_alone(instructions, options):
    pass


@pytest.fixture
def no_collections():
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


def large(statements):
    source = (
        "def f(a, b, c):\n"
        + "    for i in a:\n        try:\n            c(i)\n        except b:\n            c(b)\n" * statements
    )
    return compile(source, "<large>", "exec").co_consts[0]


def resident():
    """MiB that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def whole(instruction):
    """Reads everything that can be reached from an instruction; how much that is."""
    seen, todo = set(), [instruction]
    while todo:
        inst = todo.pop()
        if inst is None or inst in seen:
            continue
        seen.add(inst)
        assert isinstance(inst.opname, str) and isinstance(inst.offset, int)
        entry = inst.exn_tab_entry
        todo += [inst.target, *((entry.start, entry.end, entry.target) if entry else ())]
        assert not entry or all(isinstance(end, b.Instruction) for end in todo[-3:])
    return len(seen)


def test_nothing_is_left_to_the_collector(no_collections):
    b.transform_code_object(guarded.__code__, leave_alone)
    kinds = (b.Instruction, b.InstructionExnTabEntry)
    assert not [thing for thing in gc.get_objects() if isinstance(thing, kinds)]
    assert gc.collect() == 0


def keep_one(instructions, options):
    return [next(i for i in instructions if i.exn_tab_entry)]


def keep_a_jump(instructions, options):
    return [next(i for i in instructions if i.target)]


def keep_an_entry(instructions, options):
    return [next(i for i in instructions if i.exn_tab_entry).exn_tab_entry]


def keep_the_list(instructions, options):
    return [instructions]


def keep_a_removed_one(instructions, options):
    return [instructions.pop(next(k for k, i in enumerate(instructions) if i.opname == "NOP" or i.is_jump_target))]


def keep_after_emptying(instructions, options):
    kept = [next(i for i in instructions if i.exn_tab_entry)]
    instructions[:] = b.cleaned_instructions(leave_alone.__code__)
    return kept


def keep_an_entry_apart(instructions, options):
    entry = next(i for i in instructions if i.exn_tab_entry).exn_tab_entry
    for inst in instructions:
        inst.exn_tab_entry = None
    return [entry]


KEEPERS = [
    keep_one,
    keep_a_jump,
    keep_an_entry,
    keep_the_list,
    keep_a_removed_one,
    keep_after_emptying,
    keep_an_entry_apart,
]


@pytest.mark.parametrize("keep", KEEPERS)
def test_what_is_kept_stays_whole_until_it_is_dropped(keep, no_collections):
    kept, dead = [], []

    def edit(instructions, options):
        kept.extend(keep(instructions, options))
        dead.extend(weakref.ref(i) for i in instructions)

    try:
        b.transform_code_object(guarded.__code__, edit)
    except b.BytecodeError:
        pass  # a list that lost something is refused; what was kept of it is not less whole for that
    (thing,) = kept
    firsts = thing if isinstance(thing, list) else [thing] if isinstance(thing, b.Instruction) else [thing.start]
    assert sum(map(whole, firsts)) > 0
    for reference in [weakref.ref(i) for i in firsts]:
        dead.append(reference)
    kept.clear()
    del thing, firsts
    gc.collect()
    assert not [reference for reference in dead if reference() is not None]


@pytest.mark.parametrize("keep", KEEPERS)
def test_what_is_kept_without_weak_references_stays_whole(keep):
    kept = []
    try:
        b.transform_code_object(guarded.__code__, lambda i, o: kept.extend(keep(i, o)))
    except b.BytecodeError:
        pass
    gc.collect()
    (thing,) = kept
    for inst in thing if isinstance(thing, list) else [thing] if isinstance(thing, b.Instruction) else [thing.start]:
        assert whole(inst) > 0
    assert all(gc.is_tracked(t) for t in kept if isinstance(t, list) or getattr(t, "exn_tab_entry", None))


def test_a_failing_transformation_leaves_nothing(no_collections):
    dead = []

    def fail(instructions, options):
        dead.extend(weakref.ref(i) for i in instructions)
        raise LookupError

    with pytest.raises(LookupError):
        b.transform_code_object(guarded.__code__, fail)
    gc.collect()
    assert not [reference for reference in dead if reference() is not None]


def test_a_transformation_within_another_keeps_both_whole(no_collections):
    kept = []

    def inner(instructions, options):
        kept.append(next(i for i in instructions if i.exn_tab_entry))
        gc.collect()

    def outer(instructions, options):
        b.transform_code_object(guarded.__code__, inner)
        gc.collect()
        kept.append(next(i for i in instructions if i.exn_tab_entry))

    b.transform_code_object(guarded.__code__, outer)
    gc.collect()
    assert whole(kept[0]) == whole(kept[1]) > 3
    dead = [weakref.ref(i) for i in kept]
    kept.clear()
    gc.collect()
    assert not [reference for reference in dead if reference() is not None]


def test_a_region_that_an_edit_added_is_collected(no_collections):
    dead = []

    def edit(instructions, options):
        first = next(i for i in instructions if i.exn_tab_entry)
        old = first.exn_tab_entry
        new = b.InstructionExnTabEntry(old.start, old.end, old.target, old.depth, old.lasti)
        for inst in instructions:
            if inst.exn_tab_entry is old:
                inst.exn_tab_entry = new
        dead.append(weakref.ref(new))

    b.transform_code_object(guarded.__code__, edit)
    gc.collect()
    assert dead[0]() is None


def loops_of_jumps(size):
    """Code in which many a jump goes to itself."""

    def edit(instructions, options):
        jumps = [b.create_instruction("JUMP_BACKWARD") for _ in range(size)]
        for jump in jumps:
            jump.target = jump
        instructions += jumps

    return b.transform_code_object(leave_alone.__code__, edit)


def empty(instructions, options):
    instructions[:] = b.cleaned_instructions(leave_alone.__code__)


def look_weakly(instructions, options):
    weakref.ref(instructions[-1], lambda reference: None)


def disassemble(code, edit):
    b.cleaned_instructions(code)


@needs_proc
@pytest.mark.parametrize(
    ("code", "action", "edit"),
    [
        (large(1000), b.transform_code_object, leave_alone),
        (large(1000), b.transform_code_object, empty),
        (large(1000), b.transform_code_object, look_weakly),
        (large(1000), disassemble, None),
        (loops_of_jumps(20_000), b.transform_code_object, leave_alone),
        (loops_of_jumps(20_000), disassemble, None),
    ],
)
def test_memory_is_bounded_without_help(code, action, edit):
    assert gc.isenabled()
    for _ in range(10):
        action(code, edit)
    before = resident()
    for _ in range(60):
        action(code, edit)
    assert resident() - before < 40


@needs_proc
def test_the_memory_of_many_instructions_goes_back():
    code = large(20_000)
    gc.collect()
    instructions = b.cleaned_instructions(code)
    count, held = len(instructions), resident()
    del instructions
    gc.collect()
    assert held - resident() > 0.8 * count * sys.getsizeof(b.create_instruction("NOP")) / 2**20


def test_code_made_earlier_keeps_its_units_whatever_is_made_later():
    codes = [large(statements).replace(co_name=f"f{statements}") for statements in (1, 2, 3, 60, 200)]
    codes += [compile(f"x = {size * 'y+'}y", "<units>", "exec") for size in range(1, 700, 50)]
    made = [b.roundtrip(code) for code in codes]
    again = [b.roundtrip(code) for code in reversed(codes)]
    assert [code.co_code for code in made] == [code.co_code for code in codes]
    assert [code.co_code for code in reversed(again)] == [code.co_code for code in codes]


def test_a_finalizer_may_make_code_while_code_is_made():
    codes = [compile(f"def f{size}(a):\n  return [a{size * '+a'}, lambda: a]", "<f>", "exec") for size in range(60)]
    made_meanwhile = []

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            made_meanwhile.append(b.roundtrip(codes[len(made_meanwhile) % len(codes)]))

    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for code in codes * 20:
            Cycle()
            inner = code.co_consts[0]
            for each in (code, inner):
                made = b.roundtrip(each)
                assert (made.co_code, made.co_varnames, made.co_cellvars) == (
                    each.co_code,
                    each.co_varnames,
                    each.co_cellvars,
                )
    finally:
        gc.set_threshold(*before)
        gc.collect()
    assert len(made_meanwhile) == len(codes) * 20
    assert {code.co_code for code in made_meanwhile} == {code.co_code for code in codes}
