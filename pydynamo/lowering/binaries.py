"""Machine code of compiled kernels on disk, in the form that a launch wants: no Triton is needed to read it.

A kernel's binary lies beside its source, under a name that covers everything that went into it: the source's hash,
the job (types, constants, alignment, target, options) and Triton's version.  Workers write it, the main process
reads it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

Job = tuple[str, dict[str, str], dict[str, Any], tuple[int, ...], tuple[str, int, int], dict[str, Any]]
FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Binary:
    """A compiled kernel: the file of its machine code, and what a launch must know of it."""

    path: str
    name: str
    warps: int
    shared: int  # bytes
    scratch: int  # parameters after the kernel's own, which are null pointers here
    plain: bool  # nothing that only Triton's own launcher knows how to provide


@functools.cache
def triton_version() -> str:
    """The version of Triton, without importing it where that can be: some packages of it have another name."""
    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        import triton

        return str(triton.__version__)


def _stem(job: Job) -> Path:
    path, *rest = job
    text = repr((FORMAT, triton_version(), rest))
    return Path(path).with_suffix("").with_name(f"{Path(path).stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}")


def _write(path: Path, data: bytes) -> None:
    fd, tmp = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(fd, "wb") as f:
        f.write(data)
    os.replace(tmp, path)


def save(job: Job, compiled: Any) -> Binary:
    """Write Triton's compiled kernel: the machine code first, then the facts, which make it count."""
    facts = compiled.metadata
    sizes = [getattr(facts, n) for n in ("global_scratch_size", "profile_scratch_size") if hasattr(facts, n)]
    stem = _stem(job)
    binary = Binary(
        str(stem.with_suffix(".cubin")),
        facts.name,
        facts.num_warps,
        facts.shared,
        len(sizes),
        not any(sizes)
        and getattr(facts, "num_ctas", 1) == 1
        and not getattr(facts, "launch_cooperative_grid", False)
        and not getattr(facts, "launch_pdl", False)
        and not getattr(facts, "tensordesc_meta", None),
    )
    _write(Path(binary.path), compiled.asm["cubin"])
    _write(stem.with_suffix(".json"), json.dumps(dataclasses.asdict(binary)).encode())
    return binary


def find(job: Job) -> Binary | None:
    """What was saved for `job`, or None."""
    stem = _stem(job)
    try:
        facts = json.loads(stem.with_suffix(".json").read_text())
        found = Binary(**(facts | {"path": str(stem.with_suffix(".cubin"))}))
    except (OSError, ValueError, TypeError):
        return None
    return found if os.path.exists(found.path) else None
