"""Calls that could not be inlined run compiled all the same: the callee is exchanged for its compiled form at run time.

Knows which callables have one; the translation of the callee is the wrapper's business.
"""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING, Any

import torch

from pydynamo._core import CompiledFunction
from pydynamo.frontend.module_wrapper import calls_forward_only
from pydynamo.frontend.policy import break_reason_of_function
from pydynamo.frontend.variables.functions import BoundMethodVariable, NestedFunctionVariable, UserFunctionVariable
from pydynamo.frontend.variables.nn_module import NNModuleVariable
from pydynamo.frontend.wrapper import GENERATORS, Unit, compiled_function

if TYPE_CHECKING:
    from pydynamo.frontend.root import Options

#: the tracked values that may have a compiled form
KINDS = (BoundMethodVariable, NNModuleVariable, NestedFunctionVariable, UserFunctionVariable)


class CalleePicker:
    """``picker(callee)`` is the callee to call in its place: the same behaviour, compiled if that is possible.

    Compiled code holds it, whose constants the collector does not look through: what was compiled is the options' own.
    """

    __name__ = "__compiled_callee"

    def __init__(self, options: Options) -> None:
        self._options = weakref.ref(options)

    def __call__(self, callee: Any) -> Any:
        options = self._options()
        return callee if options is None else options.callees.pick(callee)

    def __repr__(self) -> str:
        return self.__name__


class Callees:
    """What was compiled, with some options, of callables that compiled code calls."""

    def __init__(self, options: Options) -> None:
        self.picker = CalleePicker(options)
        self._options = options
        #: by function object: closures and defaults are the function's own
        self._compiled: weakref.WeakKeyDictionary[types.FunctionType, CompiledFunction] = weakref.WeakKeyDictionary()
        self._shared: dict[Any, Unit] = {}

    def pick(self, callee: Any) -> Any:
        """The compiled form of ``callee``, or itself if it has none."""
        if isinstance(callee, types.FunctionType):
            return self._function(callee) or callee
        if isinstance(callee, types.MethodType) and isinstance(callee.__func__, types.FunctionType):
            compiled = self._function(callee.__func__)
            return callee if compiled is None else types.MethodType(compiled, callee.__self__)
        if isinstance(callee, torch.nn.Module) and calls_forward_only(callee):
            forward = type(callee).forward
            compiled = self._function(forward) if isinstance(forward, types.FunctionType) else None
            return callee if compiled is None else types.MethodType(compiled, callee)
        return callee

    def _function(self, fn: types.FunctionType) -> CompiledFunction | None:
        """The compiled form, None if there is none.

        Decorators and nested functions make many functions of one code; what may be gone soon must not be kept alive.
        Those share what was compiled, which guards the closure.
        """
        if break_reason_of_function(fn) is not None or fn.__code__.co_flags & GENERATORS:
            return None
        if fn.__closure__ is not None or "<locals>" in fn.__qualname__:
            unit = self._unit_of(fn)
            return None if unit.skip else CompiledFunction(fn, unit.miss, unit.cache)
        found = self._compiled.get(fn)
        if found is None:
            found = self._compiled[fn] = compiled_function(fn, self._options)
        return found

    def _unit_of(self, fn: types.FunctionType) -> Unit:
        """The one for functions of this code around the same functions: a decorator's differ in nothing else."""
        contents = [_contents(cell) for cell in fn.__closure__ or ()]
        inner = tuple(value.__code__ for value in contents if isinstance(value, types.FunctionType))
        key = fn.__code__, id(fn.__globals__), inner
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = Unit(self._options)
        return found


def _contents(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None
