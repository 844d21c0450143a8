"""Names of locals that vouch for their values, and values that come there by ways of which the names know nothing.

Only compilers make such names, and what they name is made by the call or in the code itself. Every program here was accepted and
made an interpreter take a float for a tuple, or a tuple for a dict.
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
    create_call_function,
    create_instruction,
    create_load_const,
    transform_code_object,
)

VERSION = sys.version_info[:2]
Body = list[Instruction]
Options = dict[str, Any]
#: A tuple, its name says.
NAME = ".defaults"
make = create_instruction


def plain() -> None: ...


def with_default(a: int = 1) -> int:
    return a


def code_of(body: Body, prologue: Body = [], **options: Any) -> CodeType:  # noqa: B006
    """Code that runs the instructions behind its RESUME, with these instructions before it and these options."""

    def change(insts: Body, old: Options) -> None:
        old.update(options)
        resume = next(i for i, inst in enumerate(insts) if inst.opname == "RESUME")
        insts[resume + 1 :] = body
        insts[:0] = prologue

    return transform_code_object(plain.__code__, change)


def with_cells(body: Body, *names: str) -> CodeType:
    return code_of(body, [make("MAKE_CELL", argval=name) for name in names], co_cellvars=names)


def with_free(body: Body, name: str) -> CodeType:
    return code_of(body, [make("COPY_FREE_VARS", arg=1)], co_freevars=(name,))


def refused(build: Callable[[], CodeType]) -> None:
    with pytest.raises(BytecodeError):
        build()


def number() -> Instruction:
    return create_load_const(1.5)


def function(code: CodeType, attribute: int = 0) -> Body:
    """A function of the code. `attribute`: the one whose value lies on the stack."""
    if VERSION < (3, 13):
        return [create_load_const(code), make("MAKE_FUNCTION", arg=attribute)]
    with_it = [make("SET_FUNCTION_ATTRIBUTE", arg=attribute)] if attribute else []
    return [create_load_const(code), make("MAKE_FUNCTION"), *with_it]


def call(callee: Body, arguments: Body = [], names: tuple[str, ...] = ()) -> Body:  # noqa: B006
    null = [make("PUSH_NULL")]
    head = [*null, *callee] if VERSION < (3, 13) else [*callee, *null]
    if not names:
        calling = create_call_function(len(arguments), False)
    elif VERSION < (3, 13):
        calling = [make("KW_NAMES", argval=names), *create_call_function(len(arguments), False)]
    else:
        calling = [create_load_const(names), make("CALL_KW", arg=len(arguments))]
    return [*head, *arguments, *calling]


def returned(body: Body) -> Body:
    return [*body, make("RETURN_VALUE")]


def used_as_a_tuple(*load: Instruction) -> Body:
    """Calls a function that takes its defaults out of what is loaded, without looking what it is."""
    return returned(call([*load, *function(with_default.__code__, 1)]))


def cell(name: str) -> Instruction:
    return make("LOAD_CLOSURE" if VERSION < (3, 13) else "LOAD_FAST", argval=name)


# What a dict has under the name


@pytest.mark.skipif(VERSION < (3, 12), reason="there is no such operation")
def test_what_a_dict_has_under_the_name_is_anything() -> None:
    pair: Body = [create_load_const(NAME), number(), make("BUILD_MAP", arg=1)]
    load: Body = [*pair, make("LOAD_FROM_DICT_OR_DEREF", argval=NAME)]
    body = [create_load_const(()), make("STORE_DEREF", argval=NAME), *used_as_a_tuple(*load)]
    refused(lambda: with_cells(body, NAME))


# Parameters


def test_a_parameter_that_is_not_passed_gets_its_default() -> None:
    inner = code_of(used_as_a_tuple(make("LOAD_FAST", argval=NAME)), co_varnames=(NAME,), co_argcount=1)
    refused(lambda: code_of(returned(call([create_load_const((1.5,)), *function(inner, 1)]))))


@pytest.mark.parametrize("place", [0, 1, 2, 5])
def test_what_is_passed_for_a_parameter_is_what_its_name_says_wherever_it_stands(place: int) -> None:
    names = (*"vwxyz"[:place], NAME)
    body = used_as_a_tuple(make("LOAD_FAST", argval=NAME))
    inner = code_of(body, co_varnames=names, co_argcount=len(names))
    refused(lambda: code_of(returned(call(function(inner), [number() for _ in names]))))


def test_what_is_passed_by_keyword_is_what_the_name_says() -> None:
    body = used_as_a_tuple(make("LOAD_FAST", argval=NAME))
    inner = code_of(body, co_varnames=(NAME,), co_kwonlyargcount=1)
    refused(lambda: code_of(returned(call(function(inner), [number()], (NAME,)))))


def test_what_the_call_collects_is_a_tuple_or_a_dict_though_its_name_says_anything() -> None:
    def collecting(*___stack0: Any) -> None: ...

    def change(insts: Body, options: Options) -> None:
        resume = next(i for i, inst in enumerate(insts) if inst.opname == "RESUME")
        pair: Body = [number(), number(), make("MAP_ADD", arg=1)]
        insts[resume + 1 :] = returned([make("LOAD_FAST", argval="___stack0"), *pair])

    refused(lambda: transform_code_object(collecting.__code__, change))


# Cells, which have other names elsewhere


def test_the_cell_of_a_variable_is_no_variable_of_another_name() -> None:
    inner = with_free(used_as_a_tuple(make("LOAD_DEREF", argval=NAME)), NAME)
    closure: Body = [cell("x"), make("BUILD_TUPLE", arg=1)]
    body: Body = [number(), make("STORE_DEREF", argval="x"), *returned(call([*closure, *function(inner, 8)]))]
    refused(lambda: with_cells(body, "x"))


def test_a_cell_is_not_written_by_another_name() -> None:
    writer = with_free([number(), make("STORE_DEREF", argval="x"), *returned([create_load_const(None)])], "x")
    write = call([cell(NAME), make("BUILD_TUPLE", arg=1), *function(writer, 8)])
    body = [make("STORE_DEREF", argval=NAME), *write, make("POP_TOP")]
    refused(lambda: with_cells([create_load_const(()), *body, *used_as_a_tuple(make("LOAD_DEREF", argval=NAME))], NAME))


def test_a_cell_does_not_get_into_the_slot_of_another() -> None:
    move: Body = [cell(NAME), make("STORE_FAST", argval="x"), number(), make("STORE_DEREF", argval="x")]
    body: Body = [create_load_const(()), make("STORE_DEREF", argval=NAME), *move]
    refused(lambda: with_cells([*body, *used_as_a_tuple(make("LOAD_DEREF", argval=NAME))], NAME, "x"))


def test_a_cell_whose_name_vouches_is_nothing_to_set_attributes_of() -> None:
    write: Body = [number(), cell(NAME), make("STORE_ATTR", argval="cell_contents")]
    body: Body = [create_load_const(()), make("STORE_DEREF", argval=NAME), *write]
    refused(lambda: with_cells([*body, *used_as_a_tuple(make("LOAD_DEREF", argval=NAME))], NAME))
