"""The logs that PYDYNAMO_LOGS and set_logs turn on."""

from __future__ import annotations

import dis
import io
import os
import sys
from collections.abc import Callable
from typing import Any

KINDS = ("bytecode", "graph", "guards", "recompiles", "graph_breaks", "source", "side_effects")
_enabled: set[str] = {part for part in os.environ.get("PYDYNAMO_LOGS", "").split(",") if part}


def set_logs(**kinds: bool) -> None:
    """Turn logs on or off by name. Raises ValueError for an unknown name."""
    for kind, on in kinds.items():
        if kind not in KINDS:
            raise ValueError(f"no log named {kind!r}; there are {', '.join(KINDS)}")
        (_enabled.add if on else _enabled.discard)(kind)


def write(kind: str, facts: dict[str, Any]) -> None:
    """Write an event to stderr if its log is on."""
    if kind in _enabled:
        print(f"[pydynamo {kind}] {_FORMATS[kind](facts)}", file=sys.stderr)


def _listing(code: Any) -> str:
    out = io.StringIO()
    dis.dis(code, file=out, depth=0)
    return out.getvalue()


_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "bytecode": lambda f: (
        f"ORIGINAL BYTECODE {f['old'].co_qualname}\n{_listing(f['old'])}\n"
        f"MODIFIED BYTECODE {f['old'].co_qualname}\n{_listing(f['new'])}"
    ),
    "graph": lambda f: f"{f['name']}\n{f['module'].graph}",
    "guards": lambda f: "\n".join(["", *f["guards"]]),
    "recompiles": lambda f: f"{f['name']}: {'; '.join(f['reasons'])}",
    "graph_breaks": lambda f: str(f["reason"]),
    "source": lambda f: str(f["module"].code),
    "side_effects": lambda f: str(f["effects"]),
}
