"""Context managers of torch that switch a mode: entered and left in the trace, recorded in the graph."""

from __future__ import annotations

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
    if issubclass(cls, torch.autograd.grad_mode.inference_mode | torch.autocast):
        unsupported("unsupported-context", cls.__qualname__)
    return None
