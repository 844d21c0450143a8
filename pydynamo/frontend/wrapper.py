"""What is compiled: one function under one set of options, and what its native wrapper asks on a miss.

The warm path (binding, guards, the call of the compiled code) is native: see ``CompiledFunction`` in ``_core``.
"""

from __future__ import annotations

import inspect
import logging
import types
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo import config
from pydynamo._core import CacheEntry, CodeCache, CompiledFunction
from pydynamo.errors import BackendError
from pydynamo.frontend import backend_call as backend_call  # what every compilation needs is loaded before the first
from pydynamo.frontend import builder as builder
from pydynamo.frontend import convert, events
from pydynamo.frontend import logs as logs
from pydynamo.frontend.exc import Unsupported, unsupported
from pydynamo.frontend.resume import SUPER_IN_DOUBT, super_is_in_doubt
from pydynamo.frontend.root import FrameInput, Options
from pydynamo.frontend.surroundings import sees_operators

if TYPE_CHECKING:
    from pydynamo.frontend.resume import Place
    from pydynamo.frontend.root import RootTranslator

__all__ = ["CompiledFunction", "ResumeFunction", "Unit", "compiled_function", "original_of", "reset"]

log = logging.getLogger("pydynamo")
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_COMPILATIONS = "compilations"
_units: weakref.WeakSet[Unit] = weakref.WeakSet()


def reset() -> None:
    """Forget everything compiled so far."""
    with convert.LOCK:
        for unit in list(_units):
            unit.reset()


class Unit:
    """The compiled versions of one code object under one set of options."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.cache = CodeCache()
        self.wrapper: weakref.ref[CompiledFunction] | None = None
        self.skip = False
        self.compilations = 0
        _units.add(self)

    def reset(self) -> None:
        """Forget the versions and what was seen."""
        self.cache.clear()
        self.compilations = 0
        self._set_skip(False)

    def _set_skip(self, skip: bool) -> None:
        self.skip = skip
        wrapper = self.wrapper() if self.wrapper is not None else None
        if wrapper is not None:
            wrapper.disabled = skip

    def miss(self, wrapper: CompiledFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CacheEntry | None:
        """No version fits the call: compile one; None if the function is to be run as it is."""
        if self.skip or convert.is_translating() or sees_operators():
            return None
        with convert.LOCK:
            # Another thread may have compiled it while this one waited.
            found = wrapper.lookup(args, kwargs)
            if found is not None or self.skip:
                return found
            fn: Any = wrapper.function
            arguments = bind(fn, args, kwargs)
            history = self.cache.history(_root_of(arguments))
            if not self._may_compile(fn, history, wrapper, args, kwargs):
                return None
            if events.wanted("recompiles") and self.cache.entries():
                reasons = wrapper.miss_reasons(args, kwargs)
                events.emit("recompiles", name=fn.__qualname__, reasons=reasons)
            return self._compile(fn, arguments, history)

    def _may_compile(
        self,
        fn: types.FunctionType,
        history: dict[Any, Any],
        wrapper: CompiledFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> bool:
        """Counts a compilation; False once the root or the function has had its number of them."""
        count = history.get(_COMPILATIONS, 0)
        own = count >= config.recompile_limit
        if own or self.compilations >= config.accumulated_recompile_limit:
            setting = "recompile_limit" if own else "accumulated_recompile_limit"
            if self.options.fullgraph:
                unsupported("too-long", f"{fn.__qualname__} hit config.{setting}")
            if not history.get("limit told"):
                history["limit told"] = True
                reasons = wrapper.miss_reasons(args, kwargs)
                log.warning(
                    "pydynamo: %s hit config.%s (%d): calls that no version fits run uncompiled from now on. "
                    "Why each version does not fit this call:\n  %s",
                    fn.__qualname__,
                    setting,
                    getattr(config, setting),
                    "\n  ".join(reasons),
                )
            return False
        history[_COMPILATIONS] = count + 1
        self.compilations += 1
        return True

    def _compile(self, fn: types.FunctionType, arguments: dict[str, Any], history: dict[Any, Any]) -> CacheEntry | None:
        if super_is_in_doubt(fn.__code__, fn.__globals__):
            if self.options.fullgraph:
                unsupported("inspection", f"{fn.__qualname__}: {SUPER_IN_DOUBT}")
            self._set_skip(True)
            return None
        frame = FrameInput(fn.__code__, fn.__globals__, fn.__closure__ or (), arguments)
        try:
            compiled = convert.compile_frame(frame, self.options, history)
        except (Unsupported, BackendError):
            raise
        except Exception as error:
            if config.strict:
                raise
            _report(fn, frame, self.options, error)
            self._set_skip(True)
            return None
        if compiled.code is None or compiled.guards is None:
            self._set_skip(True)
            return None
        return self.cache.add(compiled.guards, compiled.code)


def _root_of(arguments: dict[str, Any]) -> torch.nn.Module | None:
    """The module whose own history counts, None if there is none."""
    first = next(iter(arguments.values()), None)
    return first if isinstance(first, torch.nn.Module) else None


def bind(fn: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by parameter name, as the frame gets them. The call must fit the signature."""
    code = fn.__code__
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    bound = dict(zip(names[:count], args, strict=False))
    extra = dict(kwargs)
    defaults = fn.__defaults__ or ()
    for index in range(len(bound), total):
        name = names[index]
        if name in extra and index >= code.co_posonlyargcount:
            bound[name] = extra.pop(name)
        elif index < count:
            bound[name] = defaults[index - count]
        else:
            bound[name] = (fn.__kwdefaults__ or {})[name]
    if code.co_flags & inspect.CO_VARARGS:
        bound[names[total]] = args[count:]
        total += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[names[total]] = extra
    return bound


_warned: set[str] = set()


def _report(fn: types.FunctionType, frame: FrameInput, options: Options, error: Exception) -> None:
    """Tell once a function; the report holds what is needed to find the fault."""
    if fn.__qualname__ in _warned:
        return
    _warned.add(fn.__qualname__)
    warnings.warn(
        f"pydynamo: internal error while compiling {fn.__qualname__} (it runs uncompiled): "
        f"{type(error).__name__}: {error}; PYDYNAMO_STRICT=1 raises it{_written(frame, options, error)}",
        RuntimeWarning,
        stacklevel=4,
    )


def _written(frame: FrameInput, options: Options, error: Exception) -> str:
    """Where the report is, in words; an error while it is written must not reach the user either."""
    from pydynamo.frontend import crash_report

    try:
        return f"; `pydynamo replay {crash_report.write(frame, options, error)}` runs it again"
    except Exception as second:
        return f"; no report could be written ({type(second).__name__}: {second})"


def compiled_function(fn: types.FunctionType, options: Options) -> CompiledFunction:
    """``fn`` compiled for the arguments that it is called with."""
    unit = Unit(options)
    wrapper = CompiledFunction(fn, unit.miss, unit.cache)
    if fn.__code__.co_flags & GENERATORS:
        wrapper.disabled = True
    else:
        unit.wrapper = weakref.ref(wrapper)
    return wrapper


class ResumeFunction:
    """Continues a frame after a break, compiled. ``resume.bind(cells)(*stack_and_locals)``"""

    def __init__(self, code: types.CodeType, scope: dict[str, Any], options: Options) -> None:
        self.code = code
        self.scope = scope
        self.unit = Unit(options)
        self.__name__ = f"__resume_{code.co_name}"
        #: the code as it was written, which lives as long as this function is found by it
        self.cut_from = code
        #: what continues any frame, if the code has no cells
        self.whole: CompiledFunction | None = None
        if not code.co_freevars:
            self.whole = self._wrapper(())
            self.unit.wrapper = weakref.ref(self.whole)

    def _wrapper(self, cells: tuple[types.CellType, ...]) -> CompiledFunction:
        fn = types.FunctionType(self.code, self.scope, self.code.co_name, None, cells)
        return CompiledFunction(fn, self.unit.miss, self.unit.cache)

    @classmethod
    def for_place(
        cls, root: RootTranslator, place: Place, slots: tuple[str, ...], names: tuple[str, ...]
    ) -> ResumeFunction:
        """The function for this place; the same one for every translation of the same code and options."""
        known = root.options.resume_functions
        key = (id(place.code), place.index, slots, names, id(root.scope))  # code that is equal is not the same
        found = known.get(key)
        if found is None:
            from pydynamo.frontend.resume import make_resume_code

            code = make_resume_code(place.code, place.index, slots, names)
            found = known[key] = cls(code, root.scope, root.options)
            found.cut_from = place.code
        return found

    def bind(self, cells: tuple[types.CellType, ...]) -> CompiledFunction | types.FunctionType:
        """What continues a frame with these cells."""
        if self.whole is not None:
            return self.whole
        if self.unit.skip:
            return types.FunctionType(self.code, self.scope, self.code.co_name, None, cells)
        return self._wrapper(cells)

    def __repr__(self) -> str:
        return self.__name__


def original_of(value: Any) -> Callable[..., Any] | None:
    """The function behind a compiled one, None if ``value`` is something else."""
    return value.function if issubclass(type(value), CompiledFunction) else None
