"""Context managers of torch that switch a mode: entered and left in the trace, recorded in the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
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


class GradModeVariable(VariableTracker):
    """no_grad, enable_grad and set_grad_enabled. ``before`` is the mode to go back to, once entered."""

    mutable = True

    def __init__(self, cls: type, enabled: bool, before: bool | None = None, source: Source | None = None) -> None:
        self.cls = cls
        self.enabled = enabled
        self.before = before
        self.source = source

    def python_type(self) -> type:
        return self.cls

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) == 1 and not kwargs:
            return GradModeFunction(self, args[0])
        return super().call_function(tx, args, kwargs)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__enter__":
            return self.enter(tx)
        if name == "__exit__":
            return self.exit(tx, args)
        if name in ("clone", "__call__"):
            unsupported("unsupported-context", f"{self.cls.__name__}.{name}")
        return super().call_method(tx, name, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if name in ("__enter__", "__exit__"):
            return MethodOfBuiltin(self, name)
        if name == "prev" and self.before is not None:
            return constant(self.before)
        return super().getattr(tx, name)

    def enter(self, tx: Translator) -> VariableTracker:
        """``__enter__``"""
        if self.cls is not torch.set_grad_enabled or self.before is None:
            self.before = torch.is_grad_enabled()  # set_grad_enabled remembers the mode when it is made
        set_grad_mode(tx, self.enabled)
        return NONE

    def exit(self, tx: Translator, args: Args) -> VariableTracker:
        """``__exit__``; never swallows the exception."""
        assert self.before is not None
        set_grad_mode(tx, self.before)
        return constant(None)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(
            lambda: cg.load_object(make_grad_mode),
            [
                lambda: cg.load_object(self.cls),
                lambda: cg.load_const(self.enabled),
                lambda: cg.load_const(self.before),
            ],
        )


class GradModeFunction(VariableTracker):
    """A function decorated with a grad mode inside the trace."""

    def __init__(self, mode: GradModeVariable, function: VariableTracker) -> None:
        self.mode = mode
        self.function = function

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        mode = GradModeVariable(self.mode.cls, self.mode.enabled)
        mode.enter(tx)
        try:
            return self.function.realize().call_function(tx, args, kwargs)
        finally:
            mode.exit(tx, [])


class AutocastVariable(VariableTracker):
    """``torch.autocast`` with its settings worked out; ``live`` is the mode of the trace while it is open.

    A graph is always closed with as many autocast modes as it was opened with: a break inside is moved before the
    entry, since compiled graphs do not leave a mode behind.
    """

    mutable = True

    def __init__(self, settings: tuple[Any, ...], source: Source | None = None) -> None:
        self.settings = settings
        self.source = source
        self.live: Any = None
        self.node: torch.fx.Node | None = None

    def python_type(self) -> type:
        return torch.autocast

    def truth(self, tx: Translator) -> bool:
        return True

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__enter__":
            return self.enter(tx)
        if name == "__exit__":
            return self.exit(tx)
        unsupported("unsupported-context", f"autocast.{name}")

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if name in ("__enter__", "__exit__"):
            return MethodOfBuiltin(self, name)
        return super().getattr(tx, name)

    def enter(self, tx: Translator) -> VariableTracker:
        """``__enter__``"""
        if self.live is not None:
            unsupported("unsupported-context", "autocast entered twice")
        self.live = torch.autocast(*self.settings)
        self.live.__enter__()
        tx.root.open_autocasts.append((tx.root.step_started, self.live))
        self.node = tx.output.graph.call_function(torch.amp.autocast_mode._enter_autocast, self.settings)
        return self

    def exit(self, tx: Translator) -> VariableTracker:
        """``__exit__``; never swallows the exception."""
        opened = tx.root.open_autocasts
        if self.live is None or not opened or opened[-1][1] is not self.live:
            unsupported("unsupported-context", "autocast left out of order")
        opened.pop()[1].__exit__(None, None, None)
        tx.output.graph.call_function(torch.amp.autocast_mode._exit_autocast, (self.node,))
        tx.root.autocasts += 1
        self.live = None
        return constant(False)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(
            lambda: cg.load_object(torch.autocast),
            [lambda value=value: cg.load_object(value) for value in self.settings],  # type: ignore[misc]
        )


def leave_autocasts(opened: list[tuple[int, Any]]) -> None:
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


def restoring_autocast(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, leaving autocast as it was if it raises."""

    def call(*args: Any) -> Any:
        devices = ("cpu", "cuda")
        before = [(d, torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in devices]
        cache = torch.is_autocast_cache_enabled()
        depth = torch.autocast_increment_nesting()
        try:
            return run(*args)
        except BaseException:
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
        return GradModeFunction(GradModeVariable(cls, cls is torch.enable_grad), args[0])
    if cls is torch.set_grad_enabled:
        mode = args[0] if args else kwargs["mode"]
        made = GradModeVariable(cls, bool(mode.realize().as_constant()))
        made.enter(tx)
        return made
    if cls is torch.autocast:
        given = [arg.realize().as_constant() for arg in args]
        named = {name: value.realize().as_constant() for name, value in kwargs.items()}
        settings = autocast_settings(*given, **named)
        if settings is None:
            unsupported("unsupported-context", f"autocast({given}, {named})")
        return AutocastVariable(settings)
    if issubclass(cls, torch.autograd.grad_mode.inference_mode | torch.autocast):
        unsupported("unsupported-context", cls.__qualname__)
    return None
