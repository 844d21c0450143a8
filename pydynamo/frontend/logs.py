"""The logs that PYDYNAMO_LOGS and set_logs turn on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

KINDS = ("bytecode", "graph", "guards", "recompiles", "graph_breaks", "source", "side_effects")
_enabled: set[str] = {part.strip() for part in os.environ.get("PYDYNAMO_LOGS", "").split(",") if part.strip()}
if unknown := _enabled.difference(KINDS):
    print(f"PYDYNAMO_LOGS: no log named {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}", file=sys.stderr)


def set_logs(**kinds: bool) -> None:
    """Turn logs on or off by name. Raises ValueError for an unknown name."""
    for kind, on in kinds.items():
        if kind not in KINDS:
            raise ValueError(f"no log named {kind!r}; there are {', '.join(KINDS)}")
        (_enabled.add if on else _enabled.discard)(kind)


def is_on(kind: str) -> bool:
    """True if the log is turned on."""
    return kind in _enabled


def write(kind: str, facts: dict[str, Any]) -> None:
    """Write an event to stderr if its log is on."""
    if kind in _enabled:
        print(f"[pydynamo {kind}] {_FORMATS[kind](facts)}", file=sys.stderr)


def _bytecode(facts: dict[str, Any]) -> str:
    from pydynamo.frontend.explain import before_and_after

    return before_and_after(facts["old"], facts["new"])


_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "bytecode": _bytecode,
    "graph": lambda f: f"{f['name']}\n{f['module'].graph}",
    "guards": lambda f: "\n".join(["", *f["guards"]]),
    "recompiles": lambda f: f"{f['name']}: {'; '.join(f['reasons'])}",
    "graph_breaks": lambda f: str(f["reason"]),
    "source": lambda f: str(f["module"].code),
    "side_effects": lambda f: str(f["effects"]),
}
