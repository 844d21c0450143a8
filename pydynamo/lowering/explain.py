"""What became of a function: for each graph the kernels, their provenance, and the calls that stayed
extern."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from pydynamo.lowering import pipeline
from pydynamo.lowering.capture import backend
from pydynamo.lowering.triton_codegen import KernelSource


@dataclasses.dataclass
class Explanation:
    """The compiled graphs of one call; ``str()`` gives a summary, `text` any stage."""

    graphs: list[pipeline.Compiled]

    @property
    def kernels(self) -> list[KernelSource]:
        return [k for g in self.graphs for k in g.kernels]

    def text(self, stage: str) -> str:
        """Stage "graph", "loops", "schedule", "kernels", "wrapper" or "ptx" of every graph."""
        if stage == "ptx":
            return "\n\n".join(ptx(k) for k in self.kernels)
        return "\n\n".join(f"# graph {i}\n{g.text(stage)}" for i, g in enumerate(self.graphs))

    def __str__(self) -> str:
        out = []
        for i, g in enumerate(self.graphs):
            out.append(f"graph {i}: {g.native} operators in {len(g.kernels)} kernels, {g.extern} extern calls")
            for k in g.kernels:
                out.append(f"  {k.mode} kernel {k.key}, x = {k.x}, r = {k.r}, {k.nbytes} bytes")
                out += ["    " + line for line in k.doc.splitlines()]
            out += [f"  extern {r}" for r in g.reasons]
        return "\n".join(out)


def explain(fn: Callable[..., Any], *args: Any, options: dict[str, Any] | None = None, **kwargs: Any) -> Explanation:
    """Compile `fn` afresh, call it once with the arguments, and tell what became of it."""
    before = list(pipeline.RECENT)
    torch._dynamo.reset()
    torch.compile(fn, backend=backend, options=options, dynamic=False)(*args, **kwargs)
    return Explanation([c for c in pipeline.RECENT if all(c is not b for b in before)])


def ptx(kernel: KernelSource) -> str:
    """PTX of a kernel for sm_90; needs no GPU (a process that interprets asks another one)."""
    from pydynamo.lowering.testing import aot, interpreter

    return aot.ptx_elsewhere(kernel) if interpreter.installed() else aot.ptx(kernel)
