"""What happens while compiling, for logs and for ``explain``: listeners are called with each event."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Listener = Callable[[str, dict[str, Any]], None]
_state = threading.local()


def _listeners() -> list[Listener]:
    found: list[Listener] = getattr(_state, "listeners", [])
    return found


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call ``listener(kind, facts)`` for what happens on this thread inside the block."""
    _state.listeners = [*_listeners(), listener]
    try:
        yield
    finally:
        _state.listeners = [one for one in _listeners() if one is not listener]


def wanted(kind: str) -> bool:
    """True if somebody listens or the log is on: facts that are dear to make may be left out otherwise."""
    from pydynamo.frontend import logs

    return bool(_listeners()) or logs.is_on(kind)


def emit(kind: str, **facts: Any) -> None:
    """Tell the listeners and the logs."""
    for listener in _listeners():
        listener(kind, facts)
    from pydynamo.frontend import logs

    logs.write(kind, facts)


def graph_compiled(name: str, module: Any) -> None:
    """A graph went through the backend."""
    emit("graph", name=name, module=module)
