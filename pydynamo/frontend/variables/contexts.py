"""Context managers of torch that switch a mode: entered and left in the trace, recorded in the graph."""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.source import Source, attr
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import NONE, constant

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator


def set_grad_mode(tx: Translator, enabled: bool) -> None:
    """Switch grad mode in the trace and in the graph."""
    if torch.is_grad_enabled() != enabled:
        torch._C._set_grad_enabled(enabled)
        tx.output.side_effect(torch._C._set_grad_enabled, enabled)
        tx.root.grad_switches += 1


class ModeVariable(VariableTracker):
    """What the context managers of torch that switch a mode share: they enter, leave, decorate and are cloned."""

    mutable = True
    cls: Any

    def python_type(self) -> type:
        kind: type = self.cls
        return kind

    def truth(self, tx: Translator) -> bool:
        return True

    def enter(self, tx: Translator) -> VariableTracker:
        """``__enter__``"""
        raise NotImplementedError

    def exit(self, tx: Translator) -> VariableTracker:
        """``__exit__``; never swallows the exception."""
        raise NotImplementedError

    def fresh(self) -> ModeVariable:
        """Another one with the same settings, not entered yet."""
        raise NotImplementedError

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) == 1 and not kwargs:
            return ModeFunction(self, args[0])
        return super().call_function(tx, args, kwargs)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__enter__" and not args:
            return self.enter(tx)
        if name == "__exit__":
            return self.exit(tx)
        if name == "clone" and not args and self.cls in (torch.no_grad, torch.enable_grad, torch.inference_mode):
            return self.fresh()
        if name == "__call__":
            return self.call_function(tx, args, kwargs)
        unsupported("unsupported-context", f"{self.cls.__name__}.{name}")

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin
        from pydynamo.frontend.variables.classes import ClassVariable

        if name in ("__enter__", "__exit__", "__call__", "clone"):
            return MethodOfBuiltin(self, name)
        if name == "__class__":
            return ClassVariable(self.cls, None)
        return super().getattr(tx, name)


class ModeFunction(VariableTracker):
    """A function decorated with a mode inside the trace."""

    def __init__(self, mode: ModeVariable, function: VariableTracker) -> None:
        self.mode = mode
        self.function = function

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        function = self.function.realize()
        code = getattr(function, "code", None)
        if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            unsupported("unsupported-context", f"{self.mode.cls.__name__} as a decorator of {function.describe()}")
        mode = self.mode.fresh()
        mode.enter(tx)
        try:
            result = function.call_function(tx, args, kwargs)
        except ObservedException:
            mode.exit(tx)
            raise
        mode.exit(tx)
        return result


class GradModeVariable(ModeVariable):
    """no_grad, enable_grad and set_grad_enabled. ``before`` is the mode to go back to, once entered."""

    def __init__(self, cls: type, enabled: bool, before: bool | None = None, source: Source | None = None) -> None:
        self.cls = cls
        self.enabled = enabled
        self.before = before
        self.source = source
        #: what ``prev`` of one from outside holds, for who asks before it is entered
        self.unread: bool | None = None

    def _mode_before(self, tx: Translator) -> bool:
        if self.before is None:
            if self.source is None or self.unread is None:
                unsupported("unsupported-context", f"{self.cls.__name__} that was not entered")
            tx.output.guards.add("EQUALS_MATCH", attr(self.source, "prev"), self.unread)
            self.before = self.unread
        return self.before

    def fresh(self) -> ModeVariable:
        return GradModeVariable(self.cls, self.enabled)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "prev":
            return constant(self._mode_before(tx))
        if name == "mode" and self.cls is torch.set_grad_enabled:
            return constant(self.enabled)
        return super().getattr(tx, name)

    def enter(self, tx: Translator) -> VariableTracker:
        if self.cls is not torch.set_grad_enabled or self.before is None:
            self.before = torch.is_grad_enabled()  # set_grad_enabled remembers the mode when it is made
            if self.source is not None:
                tx.ledger.store_attr(self, "prev", constant(self.before))
        set_grad_mode(tx, self.enabled)
        return NONE

    def exit(self, tx: Translator) -> VariableTracker:
        set_grad_mode(tx, self._mode_before(tx))
        return NONE

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(
            lambda: cg.load_object(make_grad_mode),
            [
                lambda: cg.load_object(self.cls),
                lambda: cg.load_const(self.enabled),
                lambda: cg.load_const(self.before),
            ],
        )


class PairedModeVariable(ModeVariable):
    """A mode that a graph enters and leaves in pairs; ``live`` is the mode of the trace while it is open.

    A graph is always closed with as many of these modes as it was opened with: a break inside is moved before the
    entry, since compiled graphs do not leave a mode behind.
    """

    settings: tuple[Any, ...]

    def __init__(self, settings: tuple[Any, ...], source: Source | None = None) -> None:
        self.settings = settings
        self.source = source
        self.live: Any = None
        self.node: torch.fx.Node | None = None

    #: the calls of the graph that enter and leave the mode
    entering: Any
    leaving: Any

    def fresh(self) -> ModeVariable:
        return type(self)(self.settings)

    def entered(self) -> VariableTracker:
        """What ``__enter__`` gives."""
        return NONE

    def enter(self, tx: Translator) -> VariableTracker:
        if self.live is not None:
            unsupported("unsupported-context", f"{self.cls.__name__} entered twice")
        self.live = self.cls(*self.settings)
        self.live.__enter__()
        tx.root.open_modes.append((tx.root.step_started, self.live))
        self.node = tx.output.graph.call_function(self.entering, self.settings)
        return self.entered()

    def exit(self, tx: Translator) -> VariableTracker:
        opened = tx.root.open_modes
        if self.live is None or not opened or opened[-1][1] is not self.live:
            unsupported("unsupported-context", f"{self.cls.__name__} left out of order")
        opened.pop()[1].__exit__(None, None, None)
        tx.output.graph.call_function(self.leaving, (self.node,))
        tx.root.closed_modes += 1
        self.live = None
        return constant(False) if self.cls is torch.autocast else NONE

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.live is not None:
            unsupported("reconstruction-failure", f"{self.cls.__name__} that is entered")
        cg.call(
            lambda: cg.load_object(self.cls),
            [lambda value=value: cg.load_object(value) for value in self.settings],  # type: ignore[misc]
        )


class AutocastVariable(PairedModeVariable):
    """``torch.autocast`` with its settings worked out."""

    cls = torch.autocast
    entering = staticmethod(torch.amp.autocast_mode._enter_autocast)
    leaving = staticmethod(torch.amp.autocast_mode._exit_autocast)

    def entered(self) -> VariableTracker:
        return self


_opened_here = threading.local()


def enter_inference_mode(mode: bool) -> Any:
    """Enter; the graph's call. What is open is remembered, for a graph that raises before it leaves."""
    guard = torch._C._InferenceMode(mode)
    guard.__enter__()
    _opened().append(guard)
    return guard


def exit_inference_mode(guard: Any) -> None:
    """Leave; the graph's call."""
    _opened().remove(guard)
    guard.__exit__(None, None, None)


def _opened() -> list[Any]:
    found: list[Any] = _opened_here.__dict__.setdefault("guards", [])
    return found


class InferenceModeVariable(PairedModeVariable):
    """``torch.inference_mode(mode)``"""

    cls = torch.inference_mode

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return constant(self.settings[0]) if name == "mode" else super().getattr(tx, name)

    entering = staticmethod(enter_inference_mode)
    leaving = staticmethod(exit_inference_mode)


def leave_modes(opened: list[tuple[int, Any]]) -> None:
    """Leave the modes that a translation that was given up had entered."""
    while opened:
        opened.pop()[1].__exit__(None, None, None)


def autocast_settings(*args: Any, **kwargs: Any) -> tuple[Any, ...] | None:
    """The settings that ``torch.autocast`` makes of its arguments; None if it would warn or fail."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = torch.autocast(*args, **kwargs)
        except Exception:
            return None
    return None if told or made.device not in ("cpu", "cuda") else settings_of(made)


def settings_of(mode: Any) -> tuple[Any, ...]:
    """Device, dtype, enabled, cache of an autocast object, in the order of its constructor."""
    return (mode.device, mode.fast_dtype, mode._enabled, mode._cache_enabled)


def restoring_modes(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, leaving autocast and inference mode as they were if it raises."""

    def call(*args: Any) -> Any:
        devices = ("cpu", "cuda")
        before = [(d, torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in devices]
        cache = torch.is_autocast_cache_enabled()
        depth = torch.autocast_increment_nesting()
        opened = len(_opened())
        try:
            return run(*args)
        except BaseException:
            while len(_opened()) > opened:
                exit_inference_mode(_opened()[-1])
            torch.autocast_increment_nesting()
            while torch.autocast_decrement_nesting() > depth:
                pass
            for device, enabled, dtype in before:
                torch.set_autocast_enabled(device, enabled)
                torch.set_autocast_dtype(device, dtype)
            torch.set_autocast_cache_enabled(cache)
            raise
        finally:
            if torch.autocast_decrement_nesting() == 0:
                torch.clear_autocast_cache()

    return call


def make_grad_mode(cls: Any, enabled: bool, before: bool | None) -> Any:
    """A context manager object in the state that the trace left it in; makes no switch itself."""
    made = cls.__new__(cls)
    made.prev = False if before is None else before
    if cls is torch.set_grad_enabled:
        made.mode = enabled
    return made


def context_class(tx: Translator, cls: type, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """A new context manager of torch; None if the class is not one."""
    if cls is torch.no_grad and not args:
        return GradModeVariable(cls, False)
    if cls is torch.enable_grad and not args:
        return GradModeVariable(cls, True)
    if cls in (torch.no_grad, torch.enable_grad) and len(args) == 1:
        return ModeFunction(GradModeVariable(cls, cls is torch.enable_grad), args[0])
    if cls is torch.inference_mode and len(args) + len(kwargs) <= 1:
        return _inference_mode(tx, [*args, *kwargs.values()])
    if cls is torch.set_grad_enabled:
        mode = (args[0] if args else kwargs["mode"]).realize()
        if mode.python_type() is not bool:
            unsupported("unsupported-context", f"set_grad_enabled of a {mode.python_type().__name__}, which it refuses")
        made = GradModeVariable(cls, tx.truth(mode))
        made.enter(tx)
        return made
    if cls is torch.autocast:
        given = [arg.realize().as_constant() for arg in args]
        named = {name: value.realize().as_constant() for name, value in kwargs.items()}
        settings = autocast_settings(*given, **named)
        if settings is None:
            unsupported("unsupported-context", f"autocast({given}, {named})")
        return AutocastVariable(settings)
    if issubclass(cls, torch.inference_mode | torch.autocast):
        unsupported("unsupported-context", cls.__qualname__)
    return None


def _inference_mode(tx: Translator, args: Args) -> VariableTracker:
    mode = args[0].realize() if args else constant(True)
    if mode.python_type() is bool:
        return InferenceModeVariable((tx.truth(mode),))
    return ModeFunction(InferenceModeVariable((True,)), mode)
