"""The table of handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Handler = Callable[[Any, Any], None]
DISPATCH: dict[str, Handler] = {}


def op(*names: str) -> Callable[[Handler], Handler]:
    """Register the handler of these opcodes."""

    def register(handler: Handler) -> Handler:
        for name in names:
            DISPATCH[name] = handler
        return handler

    return register
