"""What ``compile`` returns for a function, and the functions that continue after a break: caches of compiled code.

This is the plain Python form of the warm path; the native one has the same shape.
"""

from __future__ import annotations

import inspect
import logging
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo import config
from pydynamo.frontend import convert, events
from pydynamo.frontend.exc import Unsupported
from pydynamo.frontend.guards import Check
from pydynamo.frontend.root import FrameInput, Options

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator

log = logging.getLogger("pydynamo")
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_warned: set[str] = set()
#: bumped by reset(): caches of an older epoch are empty
_epoch = 0


def reset() -> None:
    """Forget everything compiled so far."""
    global _epoch
    _epoch += 1


class Entry:
    """One compiled version."""

    __slots__ = ("check", "code", "hits")

    def __init__(self, check: Check, code: types.CodeType) -> None:
        self.check = check
        self.code = code
        self.hits = 0


class CodeCache:
    """Compiled versions of one code object under one set of options."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.entries: list[Entry] = []
        self.history: dict[str, Any] = {}
        self.skip = False
        self.epoch = _epoch
        self.compilations = 0

    def find(self, arguments: dict[str, Any], fn: types.FunctionType) -> types.CodeType | None:
        """The code that fits, None if there is none."""
        if self.epoch != _epoch:
            self.__init__(self.options)  # type: ignore[misc]
        for entry in self.entries:
            if entry.check(arguments, fn):
                return entry.code
        return None

    def compile(self, arguments: dict[str, Any], fn: types.FunctionType) -> types.CodeType | None:
        """Compile for these arguments; None if the frame is to be run as it is."""
        with convert.LOCK:
            found = self.find(arguments, fn)
            if found is not None or self.skip:
                return found
            if self.compilations >= config.recompile_limit:
                if self.options.fullgraph:
                    from pydynamo.frontend.exc import unsupported

                    unsupported("too-long", f"{fn.__qualname__} hit the recompile limit")
                if self.compilations == config.recompile_limit:
                    log.warning(
                        "pydynamo: %s hit the recompile limit (%d): further misses run uncompiled",
                        fn.__qualname__,
                        config.recompile_limit,
                    )
                    self.compilations += 1
                return None
            if self.entries:
                events.emit(
                    "recompiles", name=fn.__qualname__, reasons=[f"no entry of {len(self.entries)} fits"]
                )
            self.compilations += 1
            try:
                frame = FrameInput(fn.__code__, fn.__globals__, fn.__closure__ or (), arguments)
                compiled = convert.compile_frame(frame, self.options, self.history)
            except Unsupported:
                raise
            except Exception as error:
                if config.strict or _is_backend_error(error):
                    raise
                _report(fn, error)
                self.skip = True
                return None
            if compiled.code is None or compiled.check is None:
                self.skip = True
                return None
            self.entries.insert(0, Entry(compiled.check, compiled.code))
            return compiled.code


def _is_backend_error(error: Exception) -> bool:
    return getattr(error, "_pydynamo_backend", False)


def _report(fn: types.FunctionType, error: Exception) -> None:
    if fn.__qualname__ in _warned:
        return
    _warned.add(fn.__qualname__)
    warnings.warn(
        f"pydynamo: internal error while compiling {fn.__qualname__} (it runs uncompiled): "
        f"{type(error).__name__}: {error}; PYDYNAMO_STRICT=1 raises it",
        RuntimeWarning,
        stacklevel=4,
    )


class CompiledFunction:
    """A function that compiles itself for the arguments it is called with."""

    def __init__(self, fn: types.FunctionType, options: Options) -> None:
        self.__wrapped__ = fn
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(fn, name))
        self.__dict__.update(fn.__dict__)
        self._pydynamo_options = options
        self._cache = CodeCache(options)
        self._bind = binder(fn)
        self._plain = bool(fn.__code__.co_flags & _GENERATORS)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fn = self.__wrapped__
        cache = self._cache
        if self._plain or (cache.skip and cache.epoch == _epoch) or convert.is_translating():
            return fn(*args, **kwargs)
        self._bind.__defaults__ = fn.__defaults__
        self._bind.__kwdefaults__ = fn.__kwdefaults__  # type: ignore[assignment]
        try:
            arguments = self._bind(*args, **kwargs)
        except TypeError:
            return fn(*args, **kwargs)
        code = cache.find(arguments, fn) or cache.compile(arguments, fn)
        if code is None:
            return fn(*args, **kwargs)
        run = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
        run.__kwdefaults__ = fn.__kwdefaults__
        return run(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self.__wrapped__!r}>"

    def __reduce__(self) -> Any:
        return self.__wrapped__.__qualname__

    def __copy__(self) -> CompiledFunction:
        return self

    def __deepcopy__(self, memo: Any) -> CompiledFunction:
        return self


def binder(fn: types.FunctionType) -> types.FunctionType:
    """A function with the parameters of ``fn`` that returns them as a dictionary."""
    code = fn.__code__
    count, kwonly = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    safe = {
        name: f"a{i}" if not name.isidentifier() else name
        for i, name in enumerate(names[: count + kwonly + 2])
    }
    parts = [safe[name] for name in names[:count]]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    total = count + kwonly
    shown = list(names[:total])
    if code.co_flags & inspect.CO_VARARGS:
        parts.append("*" + names[total])
        shown.append(names[total])
        total += 1
    elif kwonly:
        parts.append("*")
    parts += list(names[count : count + kwonly])
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append("**" + names[total])
        shown.append(names[total])
    body = ", ".join(f"{name!r}: {safe.get(name, name)}" for name in shown)
    scope: dict[str, Any] = {}
    exec(f"def bind({', '.join(parts)}): return {{{body}}}", scope)
    made: types.FunctionType = scope["bind"]
    return made


class ResumeFunction:
    """Continues a frame after a break, compiled. ``resume(cells, *stack_and_locals)``"""

    def __init__(self, code: types.CodeType, scope: dict[str, Any], options: Options) -> None:
        self.code = code
        self.scope = scope
        self.cache = CodeCache(options)
        self.names = code.co_varnames[: code.co_argcount]
        self.__name__ = f"__resume_{code.co_name}"

    @classmethod
    def for_place(
        cls, root: RootTranslator, index: int, slots: tuple[str, ...], names: tuple[str, ...]
    ) -> ResumeFunction:
        """The function for this place; the same one for every translation of the same code and options."""
        from pydynamo.frontend.resume import make_resume_code

        key = (root.code, index, slots, names, id(root.scope), id(root.options))
        found = _resume_functions.get(key)
        if found is None:
            code = make_resume_code(root.code, index, slots, names)
            found = _resume_functions[key] = cls(code, root.scope, root.options)
        return found

    def __call__(self, cells: tuple[types.CellType, ...], *args: Any) -> Any:
        fn = types.FunctionType(self.code, self.scope, self.code.co_name, None, cells)
        cache = self.cache
        if cache.skip:
            return fn(*args)
        arguments = dict(zip(self.names, args, strict=True))
        code = cache.find(arguments, fn) or cache.compile(arguments, fn)
        if code is None:
            return fn(*args)
        return types.FunctionType(code, self.scope, self.code.co_name, None, cells)(*args)

    def __repr__(self) -> str:
        return self.__name__


_resume_functions: dict[Any, ResumeFunction] = {}


def original_of(value: Any) -> Callable[..., Any] | None:
    """The function behind a compiled one, None if ``value`` is something else."""
    return value.__wrapped__ if isinstance(value, CompiledFunction) else None
