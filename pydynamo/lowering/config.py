"""Options of one compilation, and the thresholds of its cost model (all plain data)."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from pydynamo.errors import PydynamoError


@dataclasses.dataclass(frozen=True)
class Options:
    """What a user may set through ``options=`` and ``mode=``; thresholds are there for tests and tuning.

    interpret          run kernels under the mended Triton interpreter, on CPU tensors
    mode               "default", "reduce-overhead" (CUDA graphs), "max-autotune" (measure configurations)
    round_half         round half types after every operation, as eager does; False keeps fused float32
    persistent_limit   longest row that one program keeps in registers
    split_rows         a reduction with fewer programs than this is split over several
    split_min          shortest column (elements) that is worth splitting; rows: four times that
    together_min       elements of a tensor whose rows and columns are summed by one kernel; smaller ones stay in the cache
    max_block          elements of one program's block
    inline_limit       operations above which a value that is used once gets memory
    share_limit        operations above which a value that is used twice gets memory
    """

    interpret: bool = False
    mode: str = "default"
    round_half: bool = True
    persistent_limit: int = 16384
    split_rows: int = 512
    split_min: int = 2048
    together_min: int = 5 << 20
    max_block: int = 4096
    inline_limit: int = 64
    share_limit: int = 3
    debug: bool = False

    @staticmethod
    def make(options: Mapping[str, Any] | None = None, mode: str | None = None) -> Options:
        """Options from a user's mapping; raises PydynamoError on an unknown name or a wrong type."""
        given = dict(options or {})
        if mode is not None:
            given.setdefault("mode", mode)
        fields = {f.name: f for f in dataclasses.fields(Options)}
        for name, value in given.items():
            if name not in fields:
                raise PydynamoError(f"unknown option {name!r} of the Triton backend; it knows {', '.join(fields)}")
            if type(value) is not type(fields[name].default):
                raise PydynamoError(
                    f"option {name!r} of the Triton backend must be a "
                    f"{type(fields[name].default).__name__}, not {value!r}"
                )
        if given.get("mode", "default") not in ("default", "reduce-overhead", "max-autotune"):
            raise PydynamoError(f"unknown mode {given['mode']!r}: default, reduce-overhead or max-autotune")
        if "interpret" not in given and os.environ.get("PYDYNAMO_TRITON_INTERPRET", "0") not in ("", "0"):
            given["interpret"] = True
        return Options(**given)
