"""Calls of Python functions, followed into their code: argument binding, inlined frames, generators."""

from __future__ import annotations

import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

from pydynamo import config
from pydynamo.frontend import asm
from pydynamo.frontend.arguments import binding_error
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.resume import SUPER_IN_DOUBT, super_is_in_doubt
from pydynamo.frontend.translator import Translator
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, defines, type_name
from pydynamo.frontend.variables.constant import NONE, constant
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.exceptions import ExceptionVariable
from pydynamo.frontend.variables.functions import CellVariable, FunctionVariable
from pydynamo.frontend.variables.iterators import AnyIterator, stop
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen

_GENERATOR = inspect.CO_GENERATOR
_UNMODELLED = inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


def inline_call(tx: Translator, fn: FunctionVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call ``fn`` by translating its code in place; a generator function gives a suspended generator."""
    if tx.depth >= config.max_inline_depth:
        unsupported("recursion", f"{config.max_inline_depth} nested calls")
    if fn.code.co_flags & _UNMODELLED:
        unsupported("async", fn.describe())
    if asm.V311 and super_is_in_doubt(fn.code, fn.globals):
        unsupported("inspection", f"{fn.describe()}: {SUPER_IN_DOUBT}")
    frame = InlineTranslator(fn, tx)
    frame.bind(tx, args, kwargs)
    if fn.code.co_flags & _GENERATOR:
        frame.run_to_generator()
        return GeneratorVariable(frame, fn.code.co_qualname)
    if fn.code.co_flags & inspect.CO_COROUTINE:
        return CoroutineVariable(frame, fn.code.co_qualname)
    return frame.run()


class InlineTranslator(Translator):
    """The frame of an inlined call."""

    def __init__(self, fn: FunctionVariable, parent: Translator) -> None:
        super().__init__(fn.code, fn.globals, parent)
        self.root = parent.root
        self.fn = fn
        for name in fn.code.co_cellvars:
            self.cells[name] = CellVariable()
        for name, cell in zip(fn.code.co_freevars, fn.cells(parent), strict=True):
            self.cells[name] = cell

    def bind(self, tx: Translator, args: Args, kwargs: Kwargs) -> None:
        """Put the arguments into the locals, as a call does."""
        code = self.code
        names = code.co_varnames
        positional = code.co_argcount
        bound: dict[str, VariableTracker] = dict(zip(names[:positional], args, strict=False))
        rest = positional + code.co_kwonlyargcount
        keywords = dict(kwargs)
        if code.co_flags & inspect.CO_VARARGS:
            bound[names[rest]] = SequenceVariable(list(args[positional:]), tuple)
        elif len(args) > positional:
            self._complain(tx, args, kwargs)
        for index in range(code.co_posonlyargcount, rest):
            name = names[index]
            if name in keywords:
                if name in bound:
                    self._complain(tx, args, kwargs)
                bound[name] = keywords.pop(name)
        if code.co_flags & inspect.CO_VARKEYWORDS:
            where = names[rest + bool(code.co_flags & inspect.CO_VARARGS)]
            bound[where] = DictVariable.from_pairs([(constant(k), v) for k, v in keywords.items()])
        elif keywords:
            self._complain(tx, args, kwargs)
        missing = [name for name in names[:positional] if name not in bound]
        if missing:
            defaults = self.fn.defaults(tx)
            for offset, name in enumerate(names[:positional]):
                index = offset - (positional - len(defaults))
                if name not in bound:
                    if index < 0:
                        self._complain(tx, args, kwargs)
                    bound[name] = defaults[index]
        if any(name not in bound for name in names[positional:rest]):
            defaults_by_name = self.fn.kwdefaults(tx)
            for name in names[positional:rest]:
                if name not in bound:
                    if name not in defaults_by_name:
                        self._complain(tx, args, kwargs)
                    bound[name] = defaults_by_name[name]
        for name, value in bound.items():
            if name in self.cells and name in code.co_cellvars:
                self.cells[name].contents = value
            else:
                self.locals[name] = value

    def _complain(self, tx: Translator, args: Args, kwargs: Kwargs) -> None:
        function = getattr(self.fn, "fn", None)
        qualname = self.code.co_qualname if function is None else function.__qualname__
        defaults, kwdefaults = self.fn.defaults(tx), self.fn.kwdefaults(tx)
        tx.raise_error(
            TypeError, binding_error(self.code, qualname, len(defaults), kwdefaults, len(args), list(kwargs))
        )

    def return_value(self, value: VariableTracker) -> None:
        """The call returns."""
        self.result = value
        self.finished = True

    def run_to_generator(self) -> None:
        """Run what a generator function does before there is a generator: expressions of 3.15 ask for the iterator."""
        if sys.version_info >= (3, 15):
            while self.instructions[self.ip].opname != "RETURN_GENERATOR":
                self.step()

    def run(self) -> VariableTracker:
        """Run to the return."""
        handled = len(self.root.handled)
        try:
            while not self.finished:
                self.step()
        except ObservedException:
            del self.root.handled[handled:]
            raise
        except RecursionError:
            unsupported("recursion", "the inlined calls are nested too deeply")
        return self.result


class GeneratorVariable(AnyIterator):
    """A generator made in the trace: a suspended frame, run on only when it is asked for a value."""

    def __init__(self, frame: InlineTranslator, name: str) -> None:
        self.frame = frame
        self.name = name
        self.started = False
        self.running = False
        self.closed = False
        frame.root.generators.append(self)

    #: the iterator in C that this one is written out for, if it is none of the user's
    stands_for: type | None = None
    #: the object whose length that iterator asks for to tell how many items are left
    over: VariableTracker | None = None
    #: whether an error ended it before its end
    failed = False

    def python_type(self) -> type:
        return self.stands_for or type(_a_generator())

    def next(self, tx: Translator) -> VariableTracker:
        return self.resume(tx, NONE)

    def resume(
        self, tx: Translator, sent: VariableTracker, error: ExceptionVariable | VariableTracker | None = None
    ) -> VariableTracker:
        """Run to the next yield. ``sent`` is what the yield gives, ``error`` is raised there instead."""
        frame = self.frame
        if self.closed:
            if self.failed and self.stands_for is not None:
                unsupported("generator", f"{type_name(self.stands_for)} in use after an error")  # many can go on
            self._ask_closed(tx, error)
        if self.running:
            tx.raise_error(ValueError, f"{self.kind} already executing")
        if error is None and not self.started and sent is not NONE and sent.realize().python_type() is not type(None):
            tx.raise_error(TypeError, f"can't send non-None value to a just-started {self.kind}")
        parent, depth = frame.parent, frame.depth
        frame.parent, frame.depth = tx, tx.depth + 1
        if frame.depth >= config.max_inline_depth:
            unsupported("recursion", "nested generators")
        self.running = True
        handled = len(tx.root.handled)
        tx.root.handled.extend(self._suspended_handlers())
        try:
            return self._run(tx, sent, error)
        except ObservedException as raised:
            self.closed = True
            if raised.vt is not self._ended:
                self.failed = True
                replacement = stop_iteration_error(raised.vt, self.kind)
                if replacement is not raised.vt:  # before 3.12 no instruction of the generator does this
                    raise ObservedException(replacement, fresh=False) from None
            raise
        finally:
            self.running = False
            self._saved = tx.root.handled[handled:]
            del tx.root.handled[handled:]
            frame.parent, frame.depth = parent, depth

    def _ask_closed(self, tx: Translator, error: VariableTracker | None) -> None:
        if error is not None:
            raise ObservedException(error)
        stop(tx)

    #: what messages call it
    kind = "generator"
    _saved: list[VariableTracker] = []
    _ended: VariableTracker | None = None

    def _suspended_handlers(self) -> list[VariableTracker]:
        return self._saved

    def _run(self, tx: Translator, sent: VariableTracker, error: VariableTracker | None) -> VariableTracker:
        frame = self.frame
        if error is not None:
            if not self.started:
                raise ObservedException(error)
            raised = self._thrown_into_delegate(tx, error)
            if raised is None:
                assert frame.yielded is not None
                value, frame.yielded = frame.yielded, None
                return value
            if not isinstance(raised, ObservedException):
                frame.jump(raised)
            else:
                frame.push(NONE)  # in the place of what a send would have brought
                frame.handle_exception(raised)
        elif self.started:
            frame.push(sent)
        self.started = True
        frame.yielded = None
        while not frame.finished:
            frame.step()
            if frame.yielded is not None:
                value, frame.yielded = frame.yielded, None
                return value
        self.closed = True
        result = frame.result.realize()
        empty = result.is_constant() and result.as_constant() is None
        self._ended = ExceptionVariable(StopIteration, [] if empty else [frame.result])
        raise ObservedException(self._ended)

    def _delegate(self) -> VariableTracker | None:
        """What a suspended ``yield from`` or ``await`` waits for, None at a plain yield."""
        frame = self.frame
        resume = frame.instructions[frame.ip]
        if not self.started or resume.opname != "RESUME" or (resume.arg or 0) & 3 not in (2, 3):
            return None
        return frame.stack[-2 if sys.version_info >= (3, 15) else -1].realize()

    def _thrown_into_delegate(self, tx: Translator, error: VariableTracker) -> Any:
        """Throw into what the frame waits for. None: it yielded again; an exception to raise in the frame; or, where no
        instruction of the frame ends the wait, the instruction to go on with.
        """
        frame, delegate = self.frame, self._delegate()
        if delegate is None:
            return ObservedException(error)
        if not isinstance(delegate, GeneratorVariable):
            unsupported("generator", "throw() into a generator that waits for another iterator")
        try:
            if issubclass(error.python_type(), GeneratorExit):
                delegate.close(tx)
                return ObservedException(error)
            frame.yielded = delegate.resume(tx, NONE, error)
            return None
        except ObservedException as raised:
            if sys.version_info >= (3, 12) or not issubclass(raised.vt.python_type(), StopIteration):
                raised.fresh = False
                return raised
            # 3.11 does by itself what CLEANUP_THROW does later
            args = raised.vt.args if isinstance(raised.vt, ExceptionVariable) else []
            frame.stack.pop()
            frame.push(args[0] if args else NONE)
            send = next(
                frame.instructions[i] for i in range(frame.ip, -1, -1) if frame.instructions[i].opname == "SEND"
            )
            return send.target

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.stands_for is not None:
            return super().call_method(tx, name, args, kwargs)
        if name == "send" and len(args) == 1:
            return self.resume(tx, args[0])
        if name == "throw" and len(args) == 1:
            return self.resume(tx, NONE, exception_to_raise(tx, args[0].realize()))
        if name == "close" and not args:
            return self.close(tx)
        return super().call_method(tx, name, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if self.stands_for is not None and not defines(self.stands_for, name):
            kind = type_name(self.stands_for)
            tx.raise_error(AttributeError, f"'{kind}' object has no attribute '{name}'")
        if name in ("send", "throw", "close", "__next__", "__iter__"):
            return MethodOfBuiltin(self, name)
        return super().getattr(tx, name)

    def close(self, tx: Translator) -> VariableTracker:
        """``generator.close()``"""
        if self.closed or not self.started:
            self.closed = True
            return NONE
        try:
            self.resume(tx, NONE, ExceptionVariable(GeneratorExit, []))
        except ObservedException as error:
            if error.vt.python_type() in (GeneratorExit, StopIteration):
                if (
                    error.vt.python_type() is StopIteration
                    and isinstance(error.vt, ExceptionVariable)
                    and error.vt.args
                ):
                    unsupported("generator", "close() of a generator that returns a value")
                return NONE
            raise
        tx.raise_error(RuntimeError, f"{self.kind} ignored GeneratorExit")

    def is_suspended_in_try(self) -> bool:
        """True if dropping the generator would run code of the user, or warn."""
        return self.must_not_be_dropped() or (self.started and not self.closed and self.frame.suspended_in_try())

    def must_not_be_dropped(self) -> bool:
        """True if Python tells that it was dropped."""
        return False

    def reconstruct(self, cg: PyCodegen) -> None:
        unsupported("generator", f"generator {self.name} is alive")


class CoroutineVariable(GeneratorVariable):
    """A coroutine made in the trace; nobody iterates over it, and it is awaited or closed."""

    kind = "coroutine"

    def python_type(self) -> type:
        return types.CoroutineType

    def get_iter(self, tx: Translator) -> VariableTracker:
        tx.raise_error(TypeError, "'coroutine' object is not iterable")

    def next(self, tx: Translator) -> VariableTracker:
        tx.raise_error(TypeError, "'coroutine' object is not an iterator")

    def _ask_closed(self, tx: Translator, error: VariableTracker | None) -> None:
        if error is None or not issubclass(error.python_type(), GeneratorExit):
            tx.raise_error(RuntimeError, "cannot reuse already awaited coroutine")
        super()._ask_closed(tx, error)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__await__":
            return self
        if name in ("__next__", "__iter__"):
            tx.raise_error(AttributeError, f"'coroutine' object has no attribute '{name}'")
        return super().call_method(tx, name, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if name in ("send", "throw", "close", "__await__"):
            return MethodOfBuiltin(self, name)
        unsupported("async", f"attribute {name!r} of a coroutine")

    def must_not_be_dropped(self) -> bool:
        """True if Python would warn that it was never awaited."""
        return not self.started and not self.closed


def in_place_of(made: VariableTracker, cls: type, over: VariableTracker | None = None) -> VariableTracker:
    """``made``, which a generator of ours gives in place of an iterator in C of that class, ``over`` that object."""
    if isinstance(made, GeneratorVariable):
        made.stands_for = cls
        made.over = over
    return made


def stop_iteration_error(error: VariableTracker, kind: str = "generator") -> VariableTracker:
    """What leaves a generator that raises ``error``: a RuntimeError in place of a StopIteration."""
    if not issubclass(error.python_type(), StopIteration):
        return error
    made = ExceptionVariable(RuntimeError, [constant(f"{kind} raised StopIteration")])
    made.cause = made.context = error
    made.suppress = True
    return made


def exception_to_raise(tx: Translator, value: VariableTracker) -> VariableTracker:
    """The exception instance for ``raise value``."""
    from pydynamo.frontend.variables.classes import ClassVariable

    if isinstance(value, ClassVariable) and issubclass(value.value, BaseException):
        value = value.call_function(tx, [], {}).realize()
    if not issubclass(value.python_type(), BaseException):
        tx.raise_error(TypeError, "exceptions must derive from BaseException")
    return value


def _a_generator() -> Any:
    yield
