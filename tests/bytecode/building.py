"""Making functions out of instructions, for the assembler's tests."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from pydynamo.bytecode import Instruction, code_options, transform_code_object


def _template(a=None, b=None, c=None):
    return None


def function(instructions: Iterable[Instruction], extra_locals: tuple[str, ...] = ()) -> Callable[..., Any]:
    """A function of a, b and c that runs the instructions behind its RESUME. They must return."""

    def replace(body: list[Instruction], options: dict[str, Any]) -> None:
        resume = next(i for i, inst in enumerate(body) if inst.opname == "RESUME")
        body[resume + 1 :] = instructions
        options["co_varnames"] += extra_locals

    code = transform_code_object(_template.__code__, replace)
    return types.FunctionType(code, {"__builtins__": __builtins__}, "built", (None, None, None))


def edited(fn: Callable[..., Any], change: Callable[[list[Instruction], dict[str, Any]], object]) -> Callable[..., Any]:
    """The function with its code changed."""
    code = transform_code_object(fn.__code__, change)
    new = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    new.__kwdefaults__ = fn.__kwdefaults__
    return new


def options_of(fn: Callable[..., Any]) -> dict[str, Any]:
    return code_options(fn.__code__)
