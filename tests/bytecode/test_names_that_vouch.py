"""Names of locals that vouch for their values, and values that come there by ways of which the names know nothing.

Only compilers make such names, and what they name is made by the call or in the code itself. Every program here made an
interpreter take a float for a tuple, or a tuple for a dict. Cells are left to whoever makes them: anybody can write to one that a
function has closed over, and no proof about one code object can know.
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


@pytest.mark.parametrize("null_as_self", [False, True])
def test_null_in_the_place_of_self_is_no_argument_and_no_way_around_the_arguments(null_as_self: bool) -> None:
    names = ("a", NAME, "c") if null_as_self else ("a", NAME)
    inner = code_of(returned([make("LOAD_FAST", argval="a"), make("UNARY_NEGATIVE")]), co_varnames=names, co_argcount=2)
    arguments = [number(), create_load_const(())][1 - null_as_self :]
    body = [*function(inner), make("PUSH_NULL"), *arguments, *create_call_function(len(arguments), False)]
    if VERSION < (3, 13):
        refused(lambda: code_of(returned(body)))


@pytest.mark.parametrize(
    "options",
    [
        {"co_varnames": (NAME, ".kwdefaults", ".kwdefaults")},
        {"co_varnames": (NAME, ".kwdefaults", "x", ".kwdefaults"), "co_cellvars": (".kwdefaults",)},
        {"co_varnames": (NAME,), "co_cellvars": (".kwdefaults", ".kwdefaults")},
    ],
    ids=["locals", "a cell", "cells"],
)
def test_maker_and_made_agree_what_the_first_parameter_is(options: Options) -> None:
    def build() -> CodeType:
        inner = code_of(used_as_a_tuple(make("LOAD_FAST", arg=0)), co_argcount=1, **options)
        pair: Body = [create_load_const(1), number(), make("BUILD_MAP", arg=1)]
        return code_of(returned(call(function(inner), pair)))

    refused(build)


@pytest.mark.skipif(VERSION < (3, 12), reason="there is no such operation")
def test_a_dict_that_the_code_itself_made_is_no_namespace_of_a_class() -> None:
    pair: Body = [
        create_load_const(NAME),
        number(),
        make("BUILD_MAP", arg=1),
        make("STORE_DEREF", argval="__classdict__"),
    ]
    load: Body = [make("LOAD_DEREF", argval="__classdict__"), make("LOAD_FROM_DICT_OR_DEREF", argval=NAME)]
    refused(lambda: with_cells([*pair, *used_as_a_tuple(*load)], NAME, "__classdict__"))
