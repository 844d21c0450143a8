"""Callables made of Python code: functions, nested functions, bound methods, partials; and the cells they close over."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import importlib
import inspect
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.policy import break_reason_of_function
from pydynamo.frontend.side_effects import SERIALS
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.constant import NONE, constant, from_python
from pydynamo.frontend.variables.iterators import Identity

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator


class CellVariable(VariableTracker):
    """A cell. A sourced one exists at entry; a ``local_name`` is a cell of the root frame, made by its prologue."""

    mutable = True

    def __init__(
        self,
        source: Source | None = None,
        local_name: str | None = None,
        contents: VariableTracker | None = None,
    ) -> None:
        self.source = source
        self.local_name = local_name
        self.contents = contents
        self.serial = next(SERIALS)

    def python_type(self) -> type:
        return types.CellType

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "cell_contents" and self.contents is not None:
            return self.contents
        return super().getattr(tx, name)

    def children(self) -> list[VariableTracker]:
        return [self.contents] if self.contents is not None and self.source is None else []

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.local_name is not None:
            cg.load_cell(self.local_name)
            return
        cg.call(lambda: cg.load_object(types.CellType), [])
        cg.fill_later(self)


class FunctionVariable(VariableTracker):
    """What functions with code share."""

    code: types.CodeType
    globals: dict[str, Any]

    def python_type(self) -> type:
        return types.FunctionType

    def hash_key(self) -> Any:
        return Identity(self.identity())

    def truth(self, tx: Translator) -> bool:
        return True

    def cells(self, tx: Translator) -> list[CellVariable]:
        """The closure, in the order of ``co_freevars``."""
        raise NotImplementedError

    def defaults(self, tx: Translator) -> list[VariableTracker]:
        """Defaults of positional parameters."""
        raise NotImplementedError

    def kwdefaults(self, tx: Translator) -> dict[str, VariableTracker]:
        """Defaults of keyword-only parameters."""
        raise NotImplementedError

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.inline import inline_call

        return inline_call(tx, self, args, kwargs)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__get__" and 1 <= len(args) <= 2 and not kwargs:
            owner = args[0].realize()
            return self if owner.is_constant() and owner.as_constant() is None else BoundMethodVariable(self, owner)
        if name == "__call__":
            return self.call_function(tx, args, kwargs)
        return super().call_method(tx, name, args, kwargs)

    def describe(self) -> str:
        return f"function {self.code.co_qualname}"


#: functions that are not inlined: the module of this package, and the function in it, that stands for each
_MODELLED: dict[Any, tuple[str, str]] = {
    dataclasses._process_class: ("made_classes", "process_dataclass"),  # type: ignore[attr-defined]
    dataclasses.field: ("made_classes", "make_field"),
    collections.namedtuple: ("made_classes", "make_namedtuple"),
    inspect.signature: ("signatures", "signature"),
    inspect.isgeneratorfunction: ("function_kinds", "is_generator_function"),
    inspect.iscoroutinefunction: ("function_kinds", "is_coroutine_function"),
    inspect.isasyncgenfunction: ("function_kinds", "is_async_generator_function"),
    os._Environ.__getitem__: ("environment", "getitem"),
    os.getenv: ("environment", "getenv"),
}
if hasattr(contextlib, "_lookup_special"):
    _MODELLED[contextlib._lookup_special] = "function_kinds", "lookup_special"


class UserFunctionVariable(FunctionVariable):
    """A function that exists; guarded by its code, defaults and closure as they are used."""

    def __init__(self, fn: types.FunctionType, source: Source) -> None:
        self.fn = fn
        self.source = source
        self.code = fn.__code__
        self.globals = fn.__globals__

    def identity(self) -> object:
        return self.fn

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.caches import (
            assumed_constant,
            call_dispatcher,
            is_assumed_constant,
            is_dispatcher,
        )
        from pydynamo.frontend.variables.torch_ops import special_function

        if self.fn is functools.update_wrapper:
            return update_wrapper(tx, args, kwargs) or super().call_function(tx, args, kwargs)
        handler = special_function(self.fn)
        if handler is not None:
            return handler(tx, args, kwargs)
        modelled = _MODELLED.get(self.fn)
        if modelled is not None:
            module, name = modelled
            result: VariableTracker = getattr(importlib.import_module(f"{__package__}.{module}"), name)(
                tx, args, kwargs
            )
            return result
        if is_dispatcher(self.fn):
            assert self.source is not None
            return call_dispatcher(tx, self.fn, self.source, args, kwargs)
        if is_assumed_constant(self.fn):
            return assumed_constant(tx, self.fn, args, kwargs)
        reason = break_reason_of_function(self.fn)
        if reason is not None:
            unsupported(reason, f"call of {self.fn.__module__}.{self.fn.__qualname__}")
        return super().call_function(tx, args, kwargs)

    def cells(self, tx: Translator) -> list[CellVariable]:
        assert self.source is not None
        return [
            tx.cell_of(cell, Source("closure_cell", index, self.source))
            for index, cell in enumerate(self.fn.__closure__ or ())
        ]

    def defaults(self, tx: Translator) -> list[VariableTracker]:
        values = self.fn.__defaults__ or ()
        tx.output.guards.add("DEFAULTS", self.source, len(values))
        return [LazyVariable(tx, value, Source("defaults", index, self.source)) for index, value in enumerate(values)]

    def kwdefaults(self, tx: Translator) -> dict[str, VariableTracker]:
        values = self.fn.__kwdefaults__ or {}
        tx.output.guards.add("KWDEFAULTS", self.source, tuple(values))
        return {
            name: LazyVariable(tx, value, Source("kwdefaults", name, self.source)) for name, value in values.items()
        }

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        stored = tx.ledger.load_attr(self, name)
        if stored is not None:
            return stored
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return LazyVariable(tx, getattr(self.fn, name), sources.attr(self.source, name))
        if name == "__code__":
            return constant(self.code)
        if name in ("__get__", "__call__"):
            from pydynamo.frontend.variables.builtin import MethodOfBuiltin

            return MethodOfBuiltin(self, name)
        if name == "__class__":
            from pydynamo.frontend.variables.classes import ClassVariable

            return ClassVariable(types.FunctionType, None)
        if name in self.fn.__dict__:
            return LazyVariable(tx, self.fn.__dict__[name], sources.attr(self.source, name))
        if name in (
            "__defaults__",
            "__kwdefaults__",
            "__closure__",
            "__wrapped__",
            "__dict__",
            "__globals__",
        ):
            unsupported("inspection", f"{name} of a function")
        if not hasattr(self.fn, name):
            tx.output.guards.add("DICT_HAS", self.source, (name, False))
            tx.raise_error(AttributeError, f"'function' object has no attribute '{name}'")
        return super().getattr(tx, name)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name.startswith("__"):
            return super().setattr(tx, name, value)
        tx.ledger.store_attr(self, name, value)


class NestedFunctionVariable(FunctionVariable):
    """A function made inside the traced program."""

    mutable = True

    def __init__(self, code: types.CodeType, scope: dict[str, Any], closure: list[CellVariable]) -> None:
        self.code = code
        self.globals = scope
        self.closure = closure
        self.default_values: list[VariableTracker] = []
        self.kwdefault_values: dict[str, VariableTracker] = {}
        self.annotations: VariableTracker | None = None
        self.attributes: dict[str, VariableTracker] = {}

    def cells(self, tx: Translator) -> list[CellVariable]:
        return self.closure

    def defaults(self, tx: Translator) -> list[VariableTracker]:
        return self.default_values

    def kwdefaults(self, tx: Translator) -> dict[str, VariableTracker]:
        return self.kwdefault_values

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in self.attributes:
            return self.attributes[name]
        if name in ("__get__", "__call__"):
            from pydynamo.frontend.variables.builtin import MethodOfBuiltin

            return MethodOfBuiltin(self, name)
        if name == "__annotations__":
            return self._annotations()
        if name == "__name__":
            return constant(self.code.co_name)
        if name == "__qualname__":
            return constant(self.code.co_qualname)
        if name == "__code__":
            return constant(self.code)
        if name == "__module__":
            return from_python(self.globals.get("__name__"))
        if name == "__doc__":
            has_doc = self.code.co_consts and isinstance(self.code.co_consts[0], str)
            if sys.version_info >= (3, 14):
                has_doc = has_doc and self.code.co_flags & inspect.CO_HAS_DOCSTRING
            return constant(self.code.co_consts[0]) if has_doc else NONE
        if name in (
            "__dict__",
            "__defaults__",
            "__kwdefaults__",
            "__closure__",
            "__globals__",
            "__annotate__",
        ):
            unsupported("inspection", f"{name} of a function")
        if not hasattr(types.FunctionType, name):
            tx.raise_error(AttributeError, f"'function' object has no attribute '{name}'")
        return super().getattr(tx, name)

    def _annotations(self) -> VariableTracker:
        """The one dictionary of annotations: the instruction that makes the function leaves names and values in a row."""
        from pydynamo.frontend.variables.dicts import DictVariable
        from pydynamo.frontend.variables.sequence import SequenceVariable

        given = self.annotations
        if isinstance(given, FunctionVariable):
            unsupported("inspection", "__annotations__ of a function")
        if isinstance(given, SequenceVariable):
            given = DictVariable.from_pairs(list(zip(given.items[::2], given.items[1::2], strict=True)))
        if given is None:
            given = DictVariable.from_pairs([])
        self.annotations = None
        self.attributes["__annotations__"] = given
        return given

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name in ("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__globals__", "__annotate__"):
            unsupported("inspection", f"store to {name} of a function")
        if name == "__annotations__":
            self.annotations = None
        self.attributes[name] = value

    def _all_attributes(self) -> dict[str, VariableTracker]:
        """What is set on the function once it is made."""
        if self.annotations is not None:
            if isinstance(self.annotations, FunctionVariable):
                return {"__annotate__": self.annotations, **self.attributes}
            self._annotations()
        return self.attributes

    def children(self) -> list[VariableTracker]:
        return [
            *self.closure,
            *self.default_values,
            *self.kwdefault_values.values(),
            *self._all_attributes().values(),
        ]

    def reconstruct(self, cg: PyCodegen) -> None:
        maker = FunctionMaker(self.code, self.globals)
        cg.call(
            lambda: cg.load_object(maker),
            [
                lambda: cg.build("BUILD_TUPLE", list(self.closure)),
                lambda: cg.build("BUILD_TUPLE", self.default_values),
                lambda: cg.build_map([(constant(k), v) for k, v in self.kwdefault_values.items()]),
                lambda: cg.build_map([(constant(k), v) for k, v in self._all_attributes().items()]),
            ],
        )


def update_wrapper(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """``functools.update_wrapper`` of a function made in the trace; None for other ways to call it."""
    wrapper = args[0].realize() if args else None
    wrapped = (args[1] if len(args) > 1 else kwargs.get("wrapped", NONE)).realize()
    usual = {"assigned": functools.WRAPPER_ASSIGNMENTS, "updated": functools.WRAPPER_UPDATES}
    if not isinstance(wrapper, NestedFunctionVariable) or not isinstance(wrapped, FunctionVariable) or len(args) > 2:
        return None
    if any(name in kwargs and kwargs[name].realize().as_constant() != value for name, value in usual.items()):
        return None
    if isinstance(wrapped, NestedFunctionVariable):
        if isinstance(wrapped.annotations, FunctionVariable):
            unsupported("inspection", "__annotations__ of a function")
        if wrapped.annotations is not None or "__annotations__" in wrapped.attributes:
            wrapper.annotations = None
            wrapper.attributes["__annotations__"] = wrapped.getattr(tx, "__annotations__")
        own = wrapped.attributes
    else:
        assert isinstance(wrapped, UserFunctionVariable) and wrapped.source is not None
        if any(name in wrapped.fn.__dict__ for name in ("__module__", "__doc__")):
            return None
        tx.output.guards.add("KEYS", sources.attr(wrapped.source, "__dict__"), tuple(wrapped.fn.__dict__))
        own = {name: wrapped.getattr(tx, name) for name in wrapped.fn.__dict__}
        for name in ("__annotations__", "__type_params__"):
            if getattr(wrapped.fn, name, None):
                at = sources.attr(wrapped.source, name)
                wrapper.attributes[name] = LazyVariable(tx, getattr(wrapped.fn, name), at)
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        wrapper.attributes[name] = wrapped.getattr(tx, name)
    for name, value in own.items():
        if not name.startswith("__") or name == "__wrapped__":
            wrapper.attributes[name] = value
    wrapper.attributes["__wrapped__"] = wrapped
    return wrapper


class FunctionMaker:
    """Makes a function of fixed code when compiled code asks for it."""

    def __init__(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        self.code = code
        self.scope = scope

    def __call__(
        self,
        closure: tuple[Any, ...],
        defaults: tuple[Any, ...],
        kwdefaults: dict[str, Any],
        attributes: dict[str, Any],
    ) -> types.FunctionType:
        fn = types.FunctionType(self.code, self.scope, self.code.co_name, defaults or None, closure or None)
        fn.__kwdefaults__ = kwdefaults or None
        for name, value in attributes.items():
            setattr(fn, name, value)
        return fn

    def __repr__(self) -> str:
        return f"make_function({self.code.co_qualname})"


class BoundMethodVariable(VariableTracker):
    """A function bound to its first argument."""

    def __init__(self, function: VariableTracker, owner: VariableTracker, source: Source | None = None) -> None:
        self.function = function
        self.owner = owner
        self.source = source

    def python_type(self) -> type:
        return types.MethodType

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.function.realize().call_function(tx, [self.owner, *args], kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__self__":
            return self.owner
        if name == "__func__":
            return self.function
        return self.function.realize().getattr(tx, name)

    def children(self) -> list[VariableTracker]:
        return [self.function, self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(lambda: cg.load_object(types.MethodType), [lambda: cg(self.function), lambda: cg(self.owner)])

    def describe(self) -> str:
        return f"method {self.function.describe()}"


class PartialVariable(VariableTracker):
    """``functools.partial``"""

    def __init__(
        self,
        function: VariableTracker,
        args: Args,
        kwargs: Kwargs,
        source: Source | None = None,
        own: dict[str, Any] | None = None,
    ) -> None:
        from pydynamo.frontend.variables.dicts import DictVariable

        self.function = function
        self.args = args
        #: one dictionary: the program may change it
        self.keywords = DictVariable.from_pairs([(constant(k), v) for k, v in kwargs.items()])
        self.source = source
        #: the real attributes of a partial that exists
        self.own = own if own is not None else {}
        #: what the trace set on a partial of its own
        self.attributes: dict[str, VariableTracker] = {}

    @property
    def kwargs(self) -> Kwargs:
        """The keyword arguments as they are now."""
        return {key.as_constant(): value for key, value in self.keywords.entries.values()}

    def python_type(self) -> type:
        return functools.partial

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.function.realize().call_function(tx, [*self.args, *args], {**self.kwargs, **kwargs})

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.sequence import SequenceVariable

        if name == "func":
            return self.function
        if name == "args":
            return SequenceVariable(list(self.args), tuple)
        if name == "keywords" and self.source is None:
            return self.keywords
        if name in self.attributes:
            return self.attributes[name]
        if any(name in base.__dict__ for base in functools.partial.__mro__):
            return super().getattr(tx, name)
        if self.source is not None:
            if name in self.own:
                return LazyVariable(tx, self.own[name], sources.attr(self.source, name))
            tx.output.guards.add("DICT_HAS", self.source, (name, False))
        tx.raise_error(AttributeError, f"'functools.partial' object has no attribute '{name}'")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if self.source is not None or any(name in base.__dict__ for base in functools.partial.__mro__):
            super().setattr(tx, name, value)
        self.attributes[name] = value

    def children(self) -> list[VariableTracker]:
        return [self.function, *self.args, *self.kwargs.values(), *self.attributes.values()]

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.attributes:
            unsupported("reconstruction-failure", "a partial with attributes of its own")
        cg.call(
            lambda: cg.load_object(functools.partial),
            [functools.partial(cg, value) for value in (self.function, *self.args)],
            {name: functools.partial(cg, value) for name, value in self.kwargs.items()},
        )
