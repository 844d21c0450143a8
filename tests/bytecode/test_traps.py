"""Every known trap of CPython's bytecode: the assembler keeps code right, or refuses with an error that says what to do."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import pytest

from pydynamo.bytecode import (
    BytecodeError,
    Instruction,
    cleaned_instructions,
    create_instruction,
    roundtrip,
    transform_code_object,
)

VERSION = sys.version_info[:2]
Edit = Callable[[list[Instruction]], object]
CONDITIONAL_BACKWARD = "POP_JUMP_BACKWARD_IF" if VERSION < (3, 12) else "POP_JUMP_IF"


def edited(function: FunctionType, edit: Edit) -> FunctionType:
    """`function` with its instructions changed by `edit`."""
    code = transform_code_object(function.__code__, lambda insts, options: edit(insts))
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def index(insts: list[Instruction], *names: str) -> int:
    """Where the first instruction with one of the names is."""
    return next(i for i, inst in enumerate(insts) if inst.opname in names)


def refused(function: FunctionType, edit: Edit, *kinds: str) -> BytecodeError:
    """Assembling what `edit` makes of `function` fails with one of the kinds of errors."""
    with pytest.raises(BytecodeError) as caught:
        edited(function, edit)
    assert any(f"[{kind}]" in str(caught.value) for kind in kinds), str(caught.value)
    return caught.value


def insert(name: str, before: str, **operand: Any) -> Edit:
    """Puts a new instruction before the first of a name, in the same region."""

    def edit(insts: list[Instruction]) -> None:
        at = index(insts, before)
        inst = create_instruction(name, **operand)
        inst.exn_tab_entry = insts[at].exn_tab_entry
        insts.insert(at, inst)

    return edit


def remove(*names: str) -> Edit:
    def edit(insts: list[Instruction]) -> None:
        del insts[index(insts, *names)]

    return edit


def total(items: Any) -> int:
    found = 0
    for item in items:
        found += item
    return found


def generate(n: int) -> Any:
    for i in range(n):
        yield i


def delegate(n: int) -> Any:
    yield from generate(n)


def keyword(f: Any, x: int) -> Any:
    return f(x, key=x)


def branch(x: Any) -> Any:
    if x:
        return 1
    return 2


# Loops


@pytest.mark.skipif(VERSION < (3, 12), reason="FOR_ITER pops the iterator itself")
def test_nothing_may_stand_between_for_iter_target_and_end_for() -> None:
    def edit(insts: list[Instruction]) -> None:
        loop = insts[index(insts, "FOR_ITER")]
        nop = create_instruction("NOP")
        assert loop.target is not None
        insts.insert(insts.index(loop.target), nop)
        loop.target = nop

    error = refused(total, edit, "bad-adjacency")
    assert "END_FOR" in str(error)


@pytest.mark.skipif(VERSION != (3, 13), reason="only 3.13 skips both")
def test_nothing_may_stand_between_end_for_and_pop_top() -> None:
    def edit(insts: list[Instruction]) -> None:
        insts.insert(index(insts, "END_FOR") + 1, create_instruction("NOP"))

    refused(total, edit, "bad-adjacency")


def test_for_iter_wants_a_proven_iterator() -> None:
    # Without it 3.15 lacks a slot as well.
    error = refused(total, remove("GET_ITER"), "bad-stack-type", "stack-underflow")
    assert "FOR_ITER" in str(error)


@pytest.mark.skipif(VERSION < (3, 13), reason="shown by 3.13 and later")
def test_a_region_that_begins_at_for_iter_still_protects_its_generator() -> None:
    def source(gen: Any) -> Any:
        out = []
        it = gen()
        try:
            for x in it:
                out.append(x)
        except ValueError:
            return "caught"
        return out

    def edit(insts: list[Instruction]) -> None:
        # The region shall begin exactly at FOR_ITER.
        for inst in insts[: index(insts, "FOR_ITER")]:
            inst.exn_tab_entry = None

    def failing() -> Any:
        yield 1
        raise ValueError

    function = edited(source, edit)
    assert [function(failing) for _ in range(200)] == ["caught"] * 200


# Calls


@pytest.mark.skipif(VERSION != (3, 11), reason="PRECALL is 3.11's")
def test_precall_and_call_stay_together() -> None:
    refused(keyword, insert("NOP", "CALL"), "bad-adjacency")


@pytest.mark.skipif(VERSION > (3, 12), reason="KW_NAMES went in 3.13")
def test_keyword_names_stay_with_their_call() -> None:
    def edit(insts: list[Instruction]) -> None:
        at = index(insts, "KW_NAMES") + 1
        insts[at:at] = [create_instruction("LOAD_CONST", argval=None), create_instruction("POP_TOP")]

    refused(keyword, edit, "bad-adjacency")


def test_there_are_no_more_keyword_names_than_arguments() -> None:
    def edit(insts: list[Instruction]) -> None:
        for inst in insts:
            if inst.opname in ("KW_NAMES", "LOAD_CONST") and inst.argval == ("key",):
                inst.argval = ("a", "b", "c")

    refused(keyword, edit, "bad-constant", "bad-stack-type")


# Generators


def test_nothing_may_stand_between_yield_value_and_resume() -> None:
    def edit(insts: list[Instruction]) -> None:
        insts.insert(index(insts, "YIELD_VALUE") + 1, create_instruction("NOP"))

    refused(delegate, edit, "bad-adjacency")


def test_delegates_stay_visible_after_roundtrip() -> None:
    function = FunctionType(roundtrip(delegate.__code__), globals())
    made = function(3)
    next(made)
    assert made.gi_yieldfrom is not None


def test_generators_and_flags_belong_together() -> None:
    refused(generate, remove("RETURN_GENERATOR"), "bad-prologue", "stack-underflow")
    refused(branch, insert("RETURN_GENERATOR", "RESUME"), "bad-prologue")


@pytest.mark.skipif(VERSION < (3, 13), reason="the mark came with 3.13")
@pytest.mark.skipif(VERSION < (3, 15), reason="generator expressions begin inside of the generator before")
@pytest.mark.parametrize("where", [0, 1])
def test_only_the_resume_before_a_generator_says_that_its_frame_must_not_be_seen(where: int) -> None:
    """Whoever saw it, a tracer or `__iter__`, would hold a frame that RETURN_GENERATOR has moved away."""
    expression = (x for x in ())

    def edit(insts: list[Instruction]) -> None:
        first, second = [inst for inst in insts if inst.opname == "RESUME"][:2]
        assert (first.arg, second.arg) == (4, 0)
        (first, second)[where].arg = second.arg if where == 0 else first.arg

    with pytest.raises(BytecodeError, match="RESUME") as caught:
        transform_code_object(expression.gi_code, lambda insts, options: edit(insts))
    assert caught.value.kind == "bad-prologue"


def test_a_resume_that_moves_into_a_try_runs_its_finally_on_close() -> None:
    log: list[str] = []

    def source(log: list[str]) -> Any:
        yield 1
        try:
            log.append("try")
            yield 2
        finally:
            log.append("finally")

    def edit(insts: list[Instruction]) -> None:
        # Replace the suspension in the try by a copy of the one outside of it.
        yields = [i for i, inst in enumerate(insts) if inst.opname == "YIELD_VALUE"]
        outer, inner = (insts[i + 1] for i in yields[:2])
        inner.arg = outer.arg

    made = edited(source, edit)(log)
    next(made), next(made)
    made.close()
    assert log == ["try", "finally"]


@pytest.mark.skipif(VERSION < (3, 13), reason="close() looks for the mark only where closing the other one went well")
@pytest.mark.parametrize("in_region", [False, True])
def test_closing_a_generator_that_delegates_raises_what_the_other_one_raises(in_region: bool) -> None:
    """The mark of no `try` would have close() return with the exception set."""

    def source(inner: Any) -> Any:
        yield from inner

    def edit(insts: list[Instruction]) -> None:
        throwing = next(inst for inst in insts if inst.opname == "CLEANUP_THROW")
        send = insts[index(insts, "SEND")]
        for inst in insts:
            entry = inst.exn_tab_entry
            if not in_region and entry is not None and entry.target is throwing:
                inst.exn_tab_entry = insts[insts.index(send) - 1].exn_tab_entry
        insts[index(insts, "YIELD_VALUE") + 1].arg = 2 | (8 if VERSION >= (3, 15) else 4)

    def stubborn() -> Any:
        try:
            yield 1
        except GeneratorExit:
            yield 2

    made = edited(source, edit)(stubborn())
    next(made)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        made.close()


# Operands


@pytest.mark.skipif(VERSION < (3, 12), reason="LOAD_SUPER_ATTR came with 3.12")
def test_load_super_attr_keeps_its_second_bit() -> None:
    class Base:
        def m(self) -> int:
            return 1

    class Derived(Base):
        def short(self) -> int:
            return super().m()

        def long(self) -> int:
            return super(Derived, self).m()

    for function in (Derived.short, Derived.long):
        args = [inst.arg for inst in dis.get_instructions(function) if inst.opname == "LOAD_SUPER_ATTR"]
        code = roundtrip(function.__code__)
        assert [inst.arg for inst in dis.get_instructions(code) if inst.opname == "LOAD_SUPER_ATTR"] == args


@pytest.mark.skipif(VERSION < (3, 13), reason="conditions became exact in 3.13")
def test_conditional_jumps_want_a_bool() -> None:
    error = refused(branch, remove("TO_BOOL"), "bad-stack-type")
    assert "TO_BOOL" in str(error)


def test_conditional_jumps_may_go_backward() -> None:
    def source(n: int) -> int:
        i = 0
        while True:
            i += 1
            if i > n:
                return i

    def edit(insts: list[Instruction]) -> None:
        jumps = [i for i in insts if i.opname.startswith("POP_JUMP") and i.target is not None]
        back = [i for i in insts if i.opname.startswith("JUMP_BACKWARD")]
        if back:  # jump to the loop's start from the condition itself, wherever the compiler put its jump
            for jump in jumps:
                if jump.target is back[0]:
                    jump.target = back[0].target

    assert edited(source, edit)(5) == 6


@pytest.mark.parametrize("nops", [1, 125, 126, 127, 128, 250, 254, 255, 256, 257, 16_384, 65_534, 65_536, 70_000])
def test_jumps_at_every_boundary(nops: int) -> None:
    def edit(insts: list[Instruction]) -> None:
        at = next(i for i, inst in enumerate(insts) if inst.opname.startswith("POP_JUMP")) + 1
        insts[at:at] = [create_instruction("NOP") for _ in range(nops)]

    function = edited(branch, edit)
    assert (function(True), function(False)) == (1, 2)


@pytest.mark.parametrize("opname", ["CACHE", "EXTENDED_ARG", "INSTRUMENTED_RESUME", "RESERVED", "INTERPRETER_EXIT"])
def test_opcodes_of_the_interpreter_itself_are_refused(opname: str) -> None:
    if opname not in dis.opmap:
        pytest.skip("not in this version")

    def edit(insts: list[Instruction]) -> None:
        inst = create_instruction("NOP")
        inst.opcode = dis.opmap[opname]
        insts.insert(2, inst)

    with pytest.raises((BytecodeError, ValueError)):
        edited(branch, edit)


# Locals


@pytest.mark.skipif(VERSION < (3, 12), reason="LOAD_FAST checks in 3.11")
def test_load_fast_of_an_unbound_local_is_refused() -> None:
    def source(x: Any) -> Any:
        y = x
        return y

    def edit(insts: list[Instruction]) -> None:
        del_at = index(insts, "STORE_FAST", "STORE_FAST_LOAD_FAST")
        insts[del_at].opname = "POP_TOP"
        insts[del_at].arg = None
        inst = create_instruction("LOAD_FAST", argval="y")
        insts.insert(del_at + 1, inst)

    refused(source, edit, "unbound-local")


@pytest.mark.skipif(VERSION < (3, 14), reason="borrowed loads came with 3.14")
def test_a_store_below_a_borrowed_load_makes_it_own() -> None:
    def source(x: Any) -> Any:
        return len(x)

    def edit(insts: list[Instruction]) -> None:
        at = index(insts, "LOAD_FAST_BORROW") + 1
        insts[at:at] = [
            create_instruction("LOAD_CONST", argval=None),
            create_instruction("STORE_FAST", argval="x"),
        ]

    function = edited(source, edit)
    assert [function([1, 2, 3]) for _ in range(100)] == [3] * 100
    assert not any("BORROW" in inst.opname for inst in dis.get_instructions(function))


def test_cells_are_not_plain_locals() -> None:
    def source(_: Any, x: Any) -> Any:
        return lambda: x

    def edit(insts: list[Instruction]) -> None:
        del insts[index(insts, "MAKE_CELL")]

    refused(source, edit, "bad-local", "bad-stack-type")


def test_free_variables_are_copied_once_at_the_start() -> None:
    x = 1

    def source() -> int:
        return x

    refused(source, remove("COPY_FREE_VARS"), "bad-prologue", "bad-local")
    refused(source, insert("COPY_FREE_VARS", "LOAD_DEREF", arg=1), "bad-prologue")


# Exceptions


def test_exception_state_is_what_the_handler_says() -> None:
    def source(x: Any) -> Any:
        try:
            return x()
        except ValueError:
            return 1

    refused(source, remove("PUSH_EXC_INFO"), "bad-stack-type", "stack-underflow", "stack-mismatch", "bad-region")
    refused(source, remove("POP_EXCEPT"), "stack-mismatch", "bad-stack-type", "bad-region")


def test_endless_exceptions_that_no_signal_can_stop_are_refused() -> None:
    def source(x: Any) -> Any:
        try:
            return x()
        finally:
            x = 1

    def edit(insts: list[Instruction]) -> None:
        raising = [i for i in insts if i.opname == "RERAISE" and i.exn_tab_entry is not None]
        entry = raising[0].exn_tab_entry
        assert entry is not None
        for inst in insts[insts.index(entry.target) :]:
            inst.exn_tab_entry = entry
        entry.lasti = True

    refused(source, edit, "bad-jump", "bad-stack-type", "stack-mismatch", "bad-region", "stack-underflow")


@pytest.mark.skipif("JUMP_BACKWARD_NO_INTERRUPT" not in dis.opmap, reason="not in this version")
def test_loops_that_no_signal_can_stop_are_refused() -> None:
    """CPython looks for signals at JUMP_BACKWARD. A loop without it would make the process deaf."""

    def source(x: Any) -> Any:
        while True:
            x = -x

    def edit(insts: list[Instruction]) -> None:
        insts[index(insts, "JUMP_BACKWARD")].opname = "JUMP_BACKWARD_NO_INTERRUPT"

    refused(source, edit, "bad-jump")


@pytest.mark.skipif("JUMP_BACKWARD_NO_INTERRUPT" not in dis.opmap, reason="not in this version")
@pytest.mark.parametrize("name", [name for name in dis.opmap if name.startswith(CONDITIONAL_BACKWARD)])
def test_a_conditional_jump_lets_signals_in_only_where_it_jumps(name: str) -> None:
    """A loop that goes on behind such a jump back and never takes it is deaf as well."""

    def source() -> None:
        pass

    def loop(closed_by: str) -> Edit:
        def edit(insts: list[Instruction]) -> None:
            head = create_instruction("LOAD_CONST", argval=True)
            insts[1:1] = [head, create_instruction(name, target=head), create_instruction(closed_by, target=head)]

        return edit

    edited(source, loop("JUMP_BACKWARD"))
    refused(source, loop("JUMP_BACKWARD_NO_INTERRUPT"), "bad-jump")


# The stack


def test_underflow_and_uneven_merges_are_refused() -> None:
    error = refused(
        branch, insert("POP_TOP", "LOAD_FAST" if VERSION < (3, 14) else "LOAD_FAST_BORROW"), "stack-underflow"
    )
    assert "POP_TOP" in str(error)

    def uneven(insts: list[Instruction]) -> None:
        at = next(i for i, inst in enumerate(insts) if inst.opname.startswith("POP_JUMP"))
        target = insts[at].target
        assert target is not None
        insts.insert(at + 1, create_instruction("JUMP_FORWARD", target=target))
        insts.insert(at + 1, create_instruction("LOAD_CONST", argval=None))

    refused(branch, uneven, "stack-mismatch")


def test_code_may_not_fall_off_its_end() -> None:
    def edit(insts: list[Instruction]) -> None:
        insts.append(create_instruction("NOP"))
        insts[-2].opname = "NOP"
        insts[-2].arg = None

    refused(branch, edit, "falls-off-end")


def test_null_is_no_object() -> None:
    def edit(insts: list[Instruction]) -> None:
        at = index(insts, "RETURN_VALUE", "RETURN_CONST")
        insts[at : at + 1] = [create_instruction("PUSH_NULL"), create_instruction("RETURN_VALUE")]
        if at and insts[at - 1].opname.startswith("LOAD"):
            del insts[at - 1]

    refused(branch, edit, "bad-stack-type")


def test_containers_are_exact() -> None:
    def source(x: Any) -> Any:
        return [y for y in x]

    codes: list[CodeType] = [source.__code__]
    codes += [const for const in source.__code__.co_consts if isinstance(const, CodeType)]
    for code in codes:
        names = [inst.opname for inst in dis.get_instructions(code)]
        if "LIST_APPEND" not in names:
            continue

        def edit(insts: list[Instruction], _: Any) -> None:
            insts[index(insts, "BUILD_LIST")].opname = "BUILD_TUPLE"

        with pytest.raises(BytecodeError, match="BUILD_LIST"):
            transform_code_object(code, edit)


# Positions


def test_a_prefix_that_opens_a_region_or_a_line_belongs_to_it() -> None:
    def source(f: Any) -> Any:
        try:
            f()
        except ValueError:
            return "caught"
        return None

    def edit(insts: list[Instruction]) -> None:
        entry = next(inst.exn_tab_entry for inst in insts if inst.exn_tab_entry is not None)
        assert entry is not None
        many = [create_instruction("LOAD_CONST", argval=("const", i)) for i in range(300)]
        first = insts.index(entry.start)
        block = [inst for load in many for inst in (load, create_instruction("POP_TOP"))]
        for inst in block:
            inst.exn_tab_entry = entry
        insts[first:first] = block
        entry.start = block[0]

    def fail() -> None:
        raise ValueError

    assert edited(source, edit)(fail) == "caught"


def test_wide_columns_and_missing_positions_survive() -> None:
    text = "def f(a):\n    return " + " + ".join(["a"] * 80) + "\n"
    scope: dict[str, Any] = {}
    exec(compile(text, "wide", "exec"), scope)
    code = scope["f"].__code__
    again = roundtrip(code)
    assert list(again.co_positions()) == list(code.co_positions())
    assert again.co_linetable == code.co_linetable


# Monitoring


@pytest.mark.skipif(VERSION < (3, 12), reason="no instrumentation")
@pytest.mark.parametrize("far", [False, True])
def test_send_leads_to_something_that_tracing_can_mark(far: bool) -> None:
    # Whoever traces has the unit behind SEND's target marked. There has to be one, at the start of an instruction.
    def edit(insts: list[Instruction]) -> None:
        end = create_instruction("RAISE_VARARGS", arg=0)
        insts[index(insts, "SEND")].target = end
        insts.append(end)
        if far:  # the target is a jump with EXTENDED_ARG
            end.target = None
            back = create_instruction("JUMP_FORWARD", target=end)
            insts[index(insts, "SEND")].target = back
            insts[-1:] = [back, *(create_instruction("NOP") for _ in range(300)), end]

    function = edited(delegate, edit)
    insts = cleaned_instructions(function.__code__)
    target = insts[index(insts, "SEND")].target
    assert target is not None
    assert (target.opname, insts.index(target) < len(insts) - 1) == ("NOP", True)

    lines = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        lines.append(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        with pytest.raises(RuntimeError):
            list(function(2))
    finally:
        sys.settrace(None)
    assert lines


@pytest.mark.skipif(VERSION < (3, 12), reason="no instrumentation")
def test_the_end_of_a_loop_is_not_the_end_of_the_code() -> None:
    # Not even where nothing goes.
    def edit(insts: list[Instruction]) -> None:
        end = [create_instruction("END_FOR")]
        if VERSION >= (3, 13):
            end.append(create_instruction("POP_TOP" if VERSION == (3, 13) else "POP_ITER"))
        loop = create_instruction("FOR_ITER", target=end[0])
        back = create_instruction("JUMP_BACKWARD", target=loop)
        insts += [loop, create_instruction("POP_TOP"), back, *end]

    refused(branch, edit, "bad-adjacency")
