"""What functions that are not inlined share: the compiled code holds them, and they are constants of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.constant import constant

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator


class NativeFunctionVariable(VariableTracker):
    """A function that exists and has no code to follow."""

    def __init__(self, fn: Any, source: Source | None) -> None:
        self.fn = fn
        self.source = source

    def python_type(self) -> type:
        return type(self.fn)

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.fn

    def identity(self) -> object:
        return self.fn

    def hash_key(self) -> Any:
        return self.fn

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__name__", "__qualname__", "__module__", "__doc__") and hasattr(self.fn, name):
            return constant(getattr(self.fn, name))
        if not hasattr(self.fn, name):
            tx.raise_error(AttributeError, f"'{type(self.fn).__name__}' object has no attribute '{name}'")
        return super().getattr(tx, name)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_object(self.fn)
