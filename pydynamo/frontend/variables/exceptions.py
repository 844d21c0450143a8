"""Exceptions as values, raised and caught inside the trace."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.constant import NONE, constant
from pydynamo.frontend.variables.iterators import Identity

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator


class ExceptionVariable(VariableTracker):
    """An exception instance made in the trace; ``attrs`` holds what was set on it besides ``args``."""

    mutable = True

    def __init__(self, cls: type[BaseException], args: list[VariableTracker]) -> None:
        self.cls = cls
        self.args = args
        self.attrs: dict[str, VariableTracker] = {}
        self.cause: VariableTracker = NONE
        self.context: VariableTracker = NONE
        self.suppress = False
        self.traceback = TracebackVariable()
        #: whether the program put another one there, or none
        self.has_other_traceback = False

    def python_type(self) -> type:
        return self.cls

    def hash_key(self) -> Any:
        return Identity(self)

    def truth(self, tx: Translator) -> bool:
        if hasattr(self.cls, "__bool__") or hasattr(self.cls, "__len__"):
            unsupported("unsupported-operator", f"truth of {self.describe()}")
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.class_lookup import class_attribute_of
        from pydynamo.frontend.variables.sequence import SequenceVariable

        if name == "args":
            return SequenceVariable(list(self.args), tuple)
        if name in self.attrs:
            return self.attrs[name]
        if name == "__cause__":
            return self.cause
        if name == "__context__":
            return self.context
        if name == "__suppress_context__":
            return constant(self.suppress)
        if name == "__traceback__":
            if not self.has_other_traceback and any(handled is self for handled in tx.root.handled):
                return self.traceback
            unsupported("inspection", "__traceback__ of an exception")
        if name == "value" and issubclass(self.cls, StopIteration):
            return self.args[0] if self.args else NONE
        return class_attribute_of(tx, self, self.cls, name)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name == "args":
            from pydynamo.frontend.protocols import iterate

            self.args = list(iterate(tx, value))
        elif name == "__cause__":
            self.cause, self.suppress = _linked(tx, value, "exception cause"), True
        elif name == "__context__":
            self.context = _linked(tx, value, "exception context")
        elif name == "__traceback__":
            _check_traceback(tx, value)
            self.has_other_traceback = not isinstance(value.realize(), TracebackVariable)
        elif name == "__suppress_context__":
            self.suppress = tx.truth(value)
        else:
            if any(hasattr(base.__dict__.get(name), "__set__") for base in self.cls.__mro__) or not _plain_stores(
                self.cls
            ):
                unsupported("unsupported-attribute", f"store to {name!r} of {self.describe()}")
            self.attrs[name] = value

    def delattr(self, tx: Translator, name: str) -> None:
        if self.attrs.pop(name, None) is None:
            tx.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    def call_method(
        self, tx: Translator, name: str, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        if name == "with_traceback" and len(args) == 1:
            self.has_other_traceback = not isinstance(args[0].realize(), TracebackVariable)
            return self
        if name == "add_note" and len(args) == 1 and self.source is None:
            return self._add_note(tx, args[0].realize())
        if (
            name == "__init__"
            and getattr(self.cls, "__init__", None) in (BaseException.__init__, Exception.__init__)
            and not kwargs
        ):
            self.args = list(args)
            return NONE
        return super().call_method(tx, name, args, kwargs)

    def _add_note(self, tx: Translator, note: VariableTracker) -> VariableTracker:
        from pydynamo.frontend.variables.sequence import SequenceVariable

        if not issubclass(note.python_type(), str):
            tx.raise_error(TypeError, f"note must be a str, not '{note.python_type().__name__}'")
        notes = self.attrs.setdefault("__notes__", SequenceVariable([], list)).realize()
        return notes.call_method(tx, "append", [note], {})

    def children(self) -> list[VariableTracker]:
        return [*self.args, *self.attrs.values(), self.cause, self.context]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(
            lambda: cg.load_object(make_exception),
            [
                lambda: cg.load_object(self.cls),
                lambda: cg.build("BUILD_TUPLE", self.args),
                lambda: cg.build_map([(constant(k), v) for k, v in self.attrs.items()]),
                lambda: cg(self.cause),
                lambda: cg(self.context),
                lambda: cg.load_const(self.suppress),
            ],
        )


def _linked(tx: Translator, value: VariableTracker, what: str) -> VariableTracker:
    value = value.realize()
    if not issubclass(value.python_type(), BaseException | type(None)):
        tx.raise_error(TypeError, f"{what} must be None or derive from BaseException")
    return value


def _check_traceback(tx: Translator, value: VariableTracker) -> None:
    """Tracebacks themselves are not followed."""
    if not issubclass(value.realize().python_type(), types.TracebackType | type(None)):
        tx.raise_error(TypeError, "__traceback__ must be a traceback or None")


def _plain_stores(cls: type) -> bool:
    return cls.__setattr__ is BaseException.__setattr__ or cls.__setattr__ is object.__setattr__


def set_context(error: VariableTracker, handled: VariableTracker) -> None:
    """Link ``handled`` as the context of ``error``, as raising does: no cycles."""
    if error is handled:
        return
    if not isinstance(error, ExceptionVariable) or error.source is not None:
        unsupported("unsupported-attribute", "an exception from outside is raised while another is handled")
    step: VariableTracker = handled
    seen = set()
    while isinstance(step, ExceptionVariable) and id(step) not in seen:
        seen.add(id(step))  # a program may have made a cycle by hand
        if step.source is not None:
            unsupported("unsupported-attribute", "an exception from outside is handled while another is raised")
        if step.context is error:
            step.context = NONE
            break
        step = step.context
    error.context = handled


def tell_attribute(error: VariableTracker, owner: VariableTracker, name: str) -> None:
    """What reading an attribute adds to an AttributeError that leaves it and does not say yet what was read."""
    if (
        isinstance(error, ExceptionVariable)
        and error.source is None
        and issubclass(error.cls, AttributeError)
        and "name" not in error.attrs
    ):
        error.attrs["name"], error.attrs["obj"] = constant(name), owner


def make_exception(
    cls: type[BaseException],
    args: tuple[Any, ...],
    attrs: dict[str, Any],
    cause: Any,
    context: Any,
    suppress: bool,
) -> BaseException:
    """Build the exception that the trace made. ``__init__`` ran in the trace already."""
    made = cls.__new__(cls, *args)
    if cls.__init__ is not _first_builtin(cls).__init__:  # type: ignore[misc]
        made.args = args  # what __init__ in Python did is in ``attrs``
    else:
        cls.__init__(made, *args)
    for name, value in attrs.items():
        setattr(made, name, value)
    made.__cause__ = cause
    made.__context__ = context
    made.__suppress_context__ = suppress
    return made


def _first_builtin(cls: type) -> type:
    return next(base for base in cls.__mro__ if not base.__flags__ & (1 << 9))


#: what their __init__ in C keeps, besides the arguments, cannot be followed from a subclass
_KEEP_MORE = (OSError, UnicodeError, SyntaxError, ImportError, AttributeError, NameError, StopIteration, SystemExit)


class InputExceptionVariable(ExceptionVariable):
    """An exception that exists at entry."""

    def __init__(self, value: BaseException, source: Source, args: list[VariableTracker]) -> None:
        super().__init__(type(value), args)
        self.value = value
        self.source = source

    def identity(self) -> object:
        return self.value

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.source import attr
        from pydynamo.frontend.variables.base import LazyVariable

        if name in ("args", *self.attrs) or name not in vars(self.value):
            if name in ("__cause__", "__context__", "__suppress_context__"):
                unsupported("unsupported-attribute", f"{name} of an exception from outside")
            return super().getattr(tx, name)
        assert self.source is not None
        return LazyVariable(tx, vars(self.value)[name], attr(self.source, name))

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name == "__traceback__":
            return _check_traceback(tx, value)
        if name == "__context__" or name == "__cause__":
            tx.ledger.store_attr(self, name, _linked(tx, value, f"exception {name.strip('_')}"))
            return
        unsupported("unsupported-attribute", "store to an exception from outside")


def make_user_exception(
    tx: Translator, cls: type[BaseException], args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """``cls(*args, **kwargs)`` for an exception class."""
    import types

    from pydynamo.frontend.variables.class_lookup import lookup, lookup_source

    if issubclass(cls, BaseExceptionGroup):
        cls = _group_class(cls, args)
    new = lookup(cls, "__new__")[1]
    if isinstance(new, staticmethod | types.FunctionType):
        unsupported("opaque-object", f"exception class {cls.__qualname__} with its own __new__")
    init = lookup(cls, "__init__")[1]
    made = ExceptionVariable(cls, list(args))
    if isinstance(init, types.FunctionType):
        if issubclass(cls, _KEEP_MORE):
            unsupported("opaque-object", f"exception class {cls.__qualname__} with its own __init__")
        tx.function_at(init, lookup_source(tx, cls, "__init__")).call_function(tx, [made, *args], kwargs)
    elif kwargs:
        unsupported("unsupported-builtin", f"{cls.__qualname__} with keyword arguments")
    elif issubclass(cls, OSError | UnicodeError | SyntaxError | ImportError):
        unsupported("opaque-object", f"exception class {cls.__qualname__}")
    return made


def _group_class(cls: type[BaseException], args: list[VariableTracker]) -> type[BaseException]:
    """The class of the group that ``cls(message, exceptions)`` makes."""
    from pydynamo.frontend.variables.sequence import SequenceVariable

    if cls not in (BaseExceptionGroup, ExceptionGroup) or len(args) != 2:
        unsupported("opaque-object", f"exception class {cls.__qualname__}")
    message, members = args[0].realize(), args[1].realize()
    if message.python_type() is not str or not isinstance(members, SequenceVariable) or not members.items:
        unsupported("opaque-object", f"a {cls.__qualname__} of such arguments")
    kinds = [item.realize().python_type() for item in members.items]
    if all(issubclass(kind, Exception) for kind in kinds):
        return ExceptionGroup
    if cls is ExceptionGroup or not all(issubclass(kind, BaseException) for kind in kinds):
        unsupported("opaque-object", f"a {cls.__qualname__} of such arguments")
    return cls


class TracebackVariable(VariableTracker):
    """The traceback that __exit__ is given: may be passed on, not looked into."""

    def describe(self) -> str:
        return "a traceback"

    def truth(self, tx: Translator) -> bool:
        return True
