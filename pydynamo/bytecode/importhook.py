"""Applying a transformation to every module that is imported below a prefix.

    with importhook.applied("mypackage", instrument):
        import mypackage.tool

The hook wraps the loaders that the ordinary finders give, and transforms the code object between loading and
running. Caches stay clean: ``__pycache__`` holds what CPython compiled, never what a transformation made of
it.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

Transformation = Callable[[types.CodeType], types.CodeType]
"""Makes a code object from a code object, of the same parameters and free variables."""


class _CodeLoader(Protocol):
    def get_code(self, fullname: str) -> types.CodeType | None: ...


def transform_nested(code: types.CodeType, transformation: Transformation) -> types.CodeType:
    """Applies a transformation to a code object and to all that are nested in its constants, innermost first.

    Works in a loop: nesting may be as deep as memory allows.
    """
    done: dict[int, types.CodeType] = {}
    todo = [code]
    while todo:
        current = todo[-1]
        nested = [const for const in current.co_consts if isinstance(const, types.CodeType)]
        waiting = [const for const in nested if id(const) not in done]
        if waiting:
            todo += waiting
            continue
        todo.pop()
        if id(current) in done:
            continue
        if nested:
            consts = tuple(
                done[id(const)] if isinstance(const, types.CodeType) else const for const in current.co_consts
            )
            transformed = transformation(current.replace(co_consts=consts))
        else:
            transformed = transformation(current)
        if not isinstance(transformed, types.CodeType):
            raise TypeError(f"the transformation returned {type(transformed).__name__}, not a code object")
        done[id(current)] = transformed
    return done[id(code)]


class _TransformingLoader(importlib.abc.InspectLoader):
    """Stands before a loader; everything but running the module is left to it."""

    def __init__(self, loader: Any, transformation: Transformation) -> None:
        self._loader = loader
        self._transformation = transformation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return cast("types.ModuleType | None", self._loader.create_module(spec))

    def get_source(self, fullname: str) -> str | None:
        return cast("str | None", self._loader.get_source(fullname))

    def is_package(self, fullname: str) -> bool:
        return bool(self._loader.is_package(fullname))

    def get_code(self, fullname: str) -> types.CodeType | None:
        code = cast(_CodeLoader, self._loader).get_code(fullname)
        return None if code is None else transform_nested(code, self._transformation)

    def exec_module(self, module: types.ModuleType) -> None:
        code = self.get_code(module.__name__)
        if code is None:
            # An extension module has none.
            self._loader.exec_module(module)
        else:
            exec(code, module.__dict__)


class ImportHook(importlib.abc.MetaPathFinder):
    """A finder that asks the others and wraps what they find below ``prefix``. See `install`."""

    def __init__(self, prefix: str, transformation: Transformation) -> None:
        self.prefix = prefix
        self.transformation = transformation

    def matches(self, fullname: str) -> bool:
        """Whether a module is at or below the prefix; the empty prefix matches all."""
        return not self.prefix or fullname == self.prefix or fullname.startswith(self.prefix + ".")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self.matches(fullname):
            return None
        finders = sys.meta_path
        behind = finders[finders.index(self) + 1 :] if self in finders else finders
        for finder in behind:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is None:
                continue
            loader = spec.loader
            if hasattr(loader, "get_code") and hasattr(loader, "exec_module") and spec.origin != "built-in":
                spec.loader = _TransformingLoader(loader, self.transformation)
            return cast(importlib.machinery.ModuleSpec, spec)
        return None

    def invalidate_caches(self) -> None:
        """Nothing is cached here."""


def install(prefix: str, transformation: Transformation) -> ImportHook:
    """Transforms every module imported from now on whose name is ``prefix`` or begins with ``prefix + "."``.

    Modules that are imported already, built-in and extension modules are left alone. `uninstall` ends it.
    """
    if not callable(transformation):
        raise TypeError("transformation must be a callable that takes and returns a code object")
    hook = ImportHook(prefix, transformation)
    sys.meta_path.insert(0, hook)
    return hook


def uninstall(hook: ImportHook) -> None:
    """Takes a hook away; modules imported through it stay as they are."""
    with contextlib.suppress(ValueError):
        sys.meta_path.remove(hook)


@contextlib.contextmanager
def applied(prefix: str, transformation: Transformation) -> Iterator[ImportHook]:
    """`install` for the time of a ``with`` block."""
    hook = install(prefix, transformation)
    try:
        yield hook
    finally:
        uninstall(hook)
