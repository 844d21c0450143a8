"""What CPython takes for granted without looking, reached by ways that are not obvious: each is refused.

Every program here made an interpreter read memory that was not its own, or could, before the verifier knew of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

import pytest

from pydynamo.bytecode import (
    BytecodeError,
    Instruction,
    InstructionExnTabEntry,
    add_push_null,
    create_call_function,
    create_instruction,
    create_load_const,
    transform_code_object,
    verify,
)
from tests.bytecode.building import function

VERSION = sys.version_info[:2]
Body = list[Instruction]


def make(name: str, **operand: Any) -> Instruction:
    return create_instruction(name, **operand)


def load(name: str) -> Instruction:
    return make("LOAD_FAST", argval=name)


def store(name: str) -> Instruction:
    return make("STORE_FAST", argval=name)


def called(name: str) -> Body:
    """Calls a global without arguments."""
    return [*add_push_null(make("LOAD_GLOBAL", arg=0, argval=name)), *create_call_function(0, False)]


def made_function(code: CodeType) -> Body:
    return [create_load_const(code), make("MAKE_FUNCTION", **({"arg": 0} if VERSION < (3, 13) else {}))]


def call_of(callee: Body, arguments: Body, count: int = 0) -> Body:
    null = [make("PUSH_NULL")]
    head = [*null, *callee] if VERSION < (3, 13) else [*callee, *null]
    return [*head, *arguments, *create_call_function(count, False)]


def returned(*body: Instruction) -> Body:
    return [*body, make("RETURN_VALUE")]


def loop_over_top() -> Body:
    """Asks the top of the stack for one item, as FOR_ITER does: without looking whether it is an iterator."""
    step = make("FOR_ITER")
    if VERSION < (3, 12):
        end = create_load_const(None)
        step.target = end
        return [step, *returned(make("POP_TOP"), make("POP_TOP"), create_load_const(1)), *returned(end)]
    end = make("END_FOR")
    step.target = end
    pop = make("POP_TOP" if VERSION < (3, 15) else "POP_ITER")
    rest = {(3, 12): [], (3, 13): [make("POP_TOP")]}.get(VERSION) if VERSION < (3, 14) else [make("POP_ITER")]
    null = [make("PUSH_NULL")] if VERSION >= (3, 15) else []
    body = [*null, step, *returned(make("POP_TOP"), pop, create_load_const(1)), end, *(rest or [])]
    return [*body, *returned(create_load_const(None))]


def refused(body: Body, *kinds: str, extra: tuple[str, ...] = ()) -> BytecodeError:
    with pytest.raises(BytecodeError) as caught:
        function(body, extra)
    assert caught.value.kind in kinds, str(caught.value)
    return caught.value


def changed(code: CodeType, change: Callable[[Body], object]) -> CodeType:
    return transform_code_object(code, lambda insts, options: change(insts))


def first(insts: Body, name: str) -> Instruction:
    return next(inst for inst in insts if inst.opname == name)


def resume_in(insts: Body) -> int:
    return insts.index(first(insts, "RESUME"))


# super() takes the first argument out of its cell


class Base:
    def method(self) -> object:
        def inner() -> object:
            return self

        return inner


def test_the_first_argument_is_made_a_cell_before_anything_runs() -> None:
    def drop(insts: Body) -> None:
        insts.remove(first(insts, "MAKE_CELL"))
        insts[resume_in(insts) + 1 :] = returned(*called("super"))

    def late(insts: Body) -> None:
        cell = first(insts, "MAKE_CELL")
        insts.remove(cell)
        insts[resume_in(insts) + 1 :] = returned(*called("super"), cell)

    for change in (drop, late):
        with pytest.raises(BytecodeError, match="super"):
            changed(Base.method.__code__, change)


def test_nothing_else_takes_the_place_of_the_first_arguments_cell() -> None:
    def overwrite(insts: Body) -> None:
        insts[resume_in(insts) + 1 :] = returned(create_load_const(12345678901), store("self"), *called("super"))

    with pytest.raises(BytecodeError, match="super"):
        changed(Base.method.__code__, overwrite)


def test_comprehensions_may_use_the_name_of_a_captured_first_argument() -> None:
    def subject(x: list[int]) -> object:
        return [x * 2 for x in x], lambda: x

    result = changed(subject.__code__, lambda insts: None)
    verify(result)


# Lists, tuples and functions that something else can change meanwhile


def test_a_list_of_exceptions_that_was_extended_halfway_is_none_in_the_handler() -> None:
    extend = make("LIST_EXTEND", arg=1)
    handler = make("SWAP", arg=2)
    extend.exn_tab_entry = InstructionExnTabEntry(extend, extend, handler, 1, False)
    combine = make("CALL_INTRINSIC_2", arg=1) if VERSION >= (3, 12) else make("PREP_RERAISE_STAR")
    body = [make("BUILD_LIST", arg=0), load("a"), *returned(extend), *returned(handler, combine)]
    refused(body, "bad-stack-type")


def test_a_generator_function_that_others_know_may_get_other_code() -> None:
    def generate() -> Any:
        yield 1

    shared = [*made_function(generate.__code__), make("COPY", arg=1), make("STORE_GLOBAL", argval="known")]
    refused([*call_of(shared, []), *loop_over_top()], "bad-stack-type")
    function([*call_of(made_function(generate.__code__), []), *loop_over_top()])


def test_one_of_two_functions_is_neither_of_them() -> None:
    def generate() -> Any:
        yield 1

    def plain() -> None: ...

    def other() -> None: ...

    one, two = made_function(plain.__code__), made_function(other.__code__)
    meet = make("NOP")
    branch = make("POP_JUMP_IF_FALSE" if VERSION >= (3, 12) else "POP_JUMP_FORWARD_IF_FALSE", target=two[0])
    test = [load("a"), make("TO_BOOL")] if VERSION >= (3, 13) else [load("a")]
    either = [*test, branch, *one, make("JUMP_FORWARD", target=meet), *two, meet]

    def change(insts: Body, options: dict[str, Any]) -> None:
        options["co_consts"] = (generate.__code__, None)  # the constant that an unknown function must not be taken for
        insts[resume_in(insts) + 1 :] = [*call_of(either, []), *loop_over_top()]

    def subject(a: int) -> None: ...

    with pytest.raises(BytecodeError) as caught:
        transform_code_object(subject.__code__, change)
    assert caught.value.kind == "bad-stack-type"


def test_a_list_of_lists_is_one_while_nothing_else_refers_to_it() -> None:
    def nested() -> Body:
        return [load("a"), make("BUILD_LIST", arg=1), make("BUILD_LIST", arg=1)]

    def append() -> Body:
        """Appends `b` to the list in the list on top, which stays."""
        subscription = make("BINARY_OP", arg=26) if VERSION >= (3, 14) else make("BINARY_SUBSCR")
        item = [make("COPY", arg=1), create_load_const(0), subscription]
        return [*item, load("b"), make("LIST_APPEND", arg=1), make("POP_TOP")]

    def leak() -> Body:
        return [make("COPY", arg=1), store("c")]

    assert function(returned(*nested(), *append(), *append()))(1, 2) == [[1, 2, 2]]
    refused(returned(*nested(), *leak(), *append()), "bad-stack-type")
    refused(returned(*nested(), *append(), *leak(), *append()), "bad-stack-type")


def test_a_method_of_a_list_refers_to_the_list() -> None:
    subscription = make("BINARY_OP", arg=26) if VERSION >= (3, 14) else make("BINARY_SUBSCR")
    leaked = [make("BUILD_LIST", arg=0), make("BUILD_LIST", arg=1), make("IMPORT_FROM", argval="append"), store("c")]
    item = [make("COPY", arg=1), create_load_const(-1), subscription, load("b"), make("LIST_APPEND", arg=1)]
    refused(returned(*leaked, *item), "bad-stack-type")


def test_a_list_of_lists_takes_nothing_but_lists() -> None:
    subscription = make("BINARY_OP", arg=26) if VERSION >= (3, 14) else make("BINARY_SUBSCR")
    nested = [make("BUILD_LIST", arg=0), make("BUILD_LIST", arg=1), load("a"), make("LIST_APPEND", arg=1)]
    item = [make("COPY", arg=1), create_load_const(1), subscription, load("b"), make("LIST_APPEND", arg=1)]
    refused([*nested, *item, make("RETURN_VALUE")], "bad-stack-type")


# Names of locals that vouch for their values


@pytest.mark.skipif(VERSION >= (3, 15), reason="generator expressions call iter() themselves")
def test_what_may_be_null_or_anything_is_not_kept_under_a_compilers_name() -> None:
    if VERSION < (3, 12):
        method = [make("LOAD_METHOD", argval="bit_length"), make("SWAP", arg=2)]
    elif VERSION < (3, 13):
        method = [make("LOAD_ATTR", arg=1, argval="bit_length"), make("SWAP", arg=2)]
    else:
        method = [make("LOAD_ATTR", arg=1, argval="bit_length")]
    again = load(".0") if VERSION < (3, 12) else make("LOAD_FAST_CHECK", argval=".0")
    body = [create_load_const(12345), *method, store(".0"), make("POP_TOP"), again, *loop_over_top()]
    refused(body, "bad-stack-type", extra=(".0",))


@pytest.mark.skipif(VERSION >= (3, 15), reason="generator expressions call iter() themselves")
def test_an_asynchronous_iterator_is_no_iterator() -> None:
    refused([load("a"), make("GET_AITER"), store(".0"), load(".0"), *loop_over_top()], "bad-stack-type", extra=(".0",))
    expression = next(c for c in (lambda a: (x for x in a)).__code__.co_consts if isinstance(c, CodeType))
    refused(returned(*call_of(made_function(expression), [load("a"), make("GET_AITER")], 1)), "bad-stack-type")


def test_asynchronous_comprehensions_get_the_iterator_that_they_want() -> None:
    async def subject(a: Any) -> Any:
        return (x async for x in a), [x async for x in a], {x async for x in a for y in x}, (y for y in a)

    verify(changed(subject.__code__, lambda insts: None))


# Units that CPython steps over, or expects to find just before or behind


@pytest.mark.parametrize("name", ["END_FOR", "CALL", "YIELD_VALUE"])
def test_what_cpython_counts_on_finding_has_no_needless_prefix(name: str) -> None:
    def subject(a: Any) -> Any:
        for x in a:
            yield len(x)
        yield from a

    if not any(inst.opname == name for inst in _instructions(subject.__code__)):
        pytest.skip("this version has no such instruction")
    if name == "CALL" and VERSION >= (3, 12):
        pytest.skip("nothing steps over CALL")

    def prefix(insts: Body) -> None:
        first(insts, name)._written = 1

    with pytest.raises(BytecodeError) as caught:
        changed(subject.__code__, prefix)
    assert caught.value.kind == "bad-adjacency"


def _instructions(code: CodeType) -> Body:
    found: Body = []
    transform_code_object(code, lambda insts, options: found.extend(insts))
    return found


# Operands of which CPython reads more than it checks


@pytest.mark.skipif(VERSION < (3, 14), reason="there are no templates")
@pytest.mark.parametrize("texts", [(), ("a", "b")], ids=repr)
def test_a_template_has_one_text_more_than_interpolations(texts: tuple[str, ...]) -> None:
    refused(returned(create_load_const(texts), create_load_const(()), make("BUILD_TEMPLATE")), "bad-stack-type")
    built = function(returned(create_load_const(("a",)), create_load_const(()), make("BUILD_TEMPLATE")))
    assert (built() + built()).strings == ("aa",)


@pytest.mark.skipif(VERSION < (3, 12), reason="there are no type aliases")
def test_the_value_of_a_type_alias_is_a_function() -> None:
    parts = [create_load_const("X"), create_load_const(None), create_load_const(5), make("BUILD_TUPLE", arg=3)]
    refused(returned(*parts, make("CALL_INTRINSIC_1", arg=11)), "bad-stack-type")


def test_what_belongs_into_the_prologue_may_stand_where_nothing_goes() -> None:
    def outer() -> Any:
        captured = 1

        def inner() -> int:
            return captured

        return inner

    def dead(insts: Body) -> None:
        insts += [make("COPY_FREE_VARS", arg=3), create_load_const(None), make("RETURN_VALUE")]

    def alive(insts: Body) -> None:
        insts.insert(resume_in(insts) + 1, make("COPY_FREE_VARS", arg=1))

    code = outer().__code__
    verify(changed(code, dead))
    with pytest.raises(BytecodeError) as caught:
        changed(code, alive)
    assert caught.value.kind == "bad-prologue"


@pytest.mark.parametrize("stars", [0x04, 0x08, 0x0C])
def test_what_the_call_collects_is_no_iterator_whatever_its_name(stars: int) -> None:
    generator = (item for item in ())
    code = generator.gi_code
    names = (".0", ".kwdefaults")[: 1 + (stars == 0x0C)]
    collecting = {"co_argcount": 0, "co_flags": code.co_flags | stars, "co_nlocals": code.co_nlocals + len(names) - 1}
    variables = (*names, *code.co_varnames[1:])
    if VERSION >= (3, 15):
        pytest.skip("generator expressions call iter() themselves")
    verify(code)
    with pytest.raises(BytecodeError):
        verify(code.replace(co_varnames=variables, **collecting))
