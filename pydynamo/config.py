"""Settings of the compiler, with a context manager to change them for a while. Imports no torch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

#: compilations of one root before its calls run uncompiled
recompile_limit: int = 8
#: compilations of one function over all its roots before its calls run uncompiled
accumulated_recompile_limit: int = 256
#: raise the compiler's own errors instead of falling back to eager
strict: bool = os.environ.get("PYDYNAMO_STRICT", "0") not in ("", "0")
#: where reports of the compiler's own errors go; empty: a folder of the system's for temporary files
report_dir: str = os.environ.get("PYDYNAMO_REPORT_DIR", "")
#: let texts and fractions into such reports as they are
report_values: bool = False
#: let numbers and sizes that change between calls become symbols
automatic_dynamic: bool = True
#: instructions that one translation may run before the frame is given up
max_steps: int = 1_000_000
#: nested inlined calls before a translation gives up
max_inline_depth: int = 200


@contextlib.contextmanager
def patch(**changes: Any) -> Iterator[None]:
    """Set the named settings for the time of a ``with`` block. Raises AttributeError for an unknown name."""
    scope = globals()
    for name in changes:
        if name.startswith("_") or name not in scope:
            raise AttributeError(f"pydynamo.config has no setting {name!r}")
    before = {name: scope[name] for name in changes}
    scope.update(changes)
    try:
        yield
    finally:
        scope.update(before)
