"""One handler for every opcode, by name, whatever the version; importing this package fills the dispatch table."""

from __future__ import annotations

from pydynamo.frontend.opcodes import calls, control, data, scope, stack

__all__ = ["calls", "control", "data", "scope", "stack"]
