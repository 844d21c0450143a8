"""What the fuzzer starts from: the code objects of the samples, and how to run what becomes of one.

Knows nothing of mutation.
"""

from __future__ import annotations

import types
from typing import Any

from . import samples


class Subject:
    """A code object to mutate, and the function that it is part of."""

    def __init__(self, function: types.FunctionType, path: tuple[int, ...], code: types.CodeType) -> None:
        self.function, self.path, self.code = function, path, code

    def rebuilt(self, code: types.CodeType) -> types.CodeType:
        """The function's code with the subject, however deep, replaced."""
        codes = [self.function.__code__]
        for index in self.path:
            inner = codes[-1].co_consts[index]
            assert isinstance(inner, types.CodeType)
            codes.append(inner)
        for outer, index in zip(reversed(codes[:-1]), reversed(self.path), strict=True):
            consts = list(outer.co_consts)
            consts[index] = code
            code = outer.replace(co_consts=tuple(consts))
        return code


def subjects() -> tuple[dict[str, Any], list[Subject]]:
    """The globals to run with; every function of the samples and every code object inside of them."""
    scope, functions = samples.build()
    found: list[Subject] = []

    def walk(function: types.FunctionType, path: tuple[int, ...], code: types.CodeType) -> None:
        found.append(Subject(function, path, code))
        for index, const in enumerate(code.co_consts):
            if isinstance(const, types.CodeType):
                walk(function, (*path, index), const)

    for function in functions:
        if isinstance(function, types.FunctionType):
            walk(function, (), function.__code__)
    return scope, found
