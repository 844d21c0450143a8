"""Compile cost on a CPU: what lowering, scheduling and code generation of a training step take, ours and Inductor's.

    python benchmarks/lowering_compile.py [--layers 12] [--width 64] [--repeat 3] [--json FILE]

Both sides get the same GPT-2 shaped model from torch.compile and compile its forward and backward graphs.  What is
timed, as CPU time of the process, is the whole of each side's compiler behind AOTAutograd: graph passes, lowering,
scheduling, code generation, the wrapper; compilation of the kernels themselves is switched off on both sides (ours makes
no launcher, Inductor's C++ kernels become functions that do nothing).  Each side is warmed up on one layer first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import torch
from gpu_models import Attention
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 4, 4, True, True, False)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        return x + self.inner(self.after(x))


class GPT(nn.Module):
    """GPT-2 in small: embeddings, blocks, norm, tied head, loss."""

    def __init__(self, layers: int, width: int, vocabulary: int = 512, time: int = 64) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(time, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = nn.functional.linear(self.norm(x), self.token.weight)
        return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


class Clock:
    """CPU seconds of every call of the functions that it wraps."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.nodes: list[int] = []

    def around(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            graph = next(a for a in args if isinstance(a, torch.fx.GraphModule))
            self.nodes.append(len(graph.graph.nodes))
            start = time.process_time()
            try:
                return fn(*args, **kwargs)
            finally:
                self.seconds.append(time.process_time() - start)

        return timed


def ours(model: nn.Module, args: tuple[torch.Tensor, ...]) -> Clock:
    """Our compiler on the model's training step."""
    from pydynamo.lowering import capture, pipeline

    clock = Clock()
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(pipeline, "prepare", lambda *a: None))
        patches.enter_context(mock.patch.object(pipeline, "launcher", lambda *a: _nothing))
        patches.enter_context(mock.patch.object(capture, "_compile", clock.around(capture._compile)))
        torch._dynamo.reset()
        torch.compile(model, backend=capture.backend, options={"interpret": True}, dynamic=False)(*args).backward()
    return clock


def inductors(model: nn.Module, args: tuple[torch.Tensor, ...]) -> Clock:
    """Inductor's compiler on the same."""
    import torch._inductor.config
    from torch._inductor import compile_fx
    from torch._inductor.async_compile import AsyncCompile

    clock = Clock()
    inner = compile_fx._InProcessFxCompile.codegen_and_compile
    timed = clock.around(lambda gm, self, *a, **k: inner(self, gm, *a, **k))
    with ExitStack() as patches:
        patches.enter_context(torch._inductor.config.patch(force_disable_caches=True, compile_threads=1))
        for name in ("cpp", "cpp_pybinding"):
            patches.enter_context(mock.patch.object(AsyncCompile, name, lambda *a, **k: _nothing))
        patches.enter_context(
            mock.patch.object(
                compile_fx._InProcessFxCompile,
                "codegen_and_compile",
                lambda self, gm, *a, **k: timed(gm, self, *a, **k),
            )
        )
        torch._dynamo.reset()
        torch.compile(model, backend="inductor", dynamic=False)(*args).backward()
    return clock


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands for a kernel."""


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="write the figures to this file too")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    args = (torch.randint(512, (2, 32)), torch.randint(512, (2, 32)))
    sides = {"pydynamo": ours, "Inductor": inductors}
    figures: dict[str, Any] = {}
    for name, side in sides.items():
        side(GPT(1, given.width), args)
        runs = [side(GPT(given.layers, given.width), args) for _ in range(given.repeat)]
        figures[name] = {
            "nodes": runs[0].nodes,
            "seconds": [round(statistics.median(r.seconds[i] for r in runs), 3) for i in range(len(runs[0].seconds))],
            "total": round(statistics.median(sum(r.seconds) for r in runs), 3),
        }
        print(f"{name:10} {figures[name]}", flush=True)
    ratio = figures["pydynamo"]["total"] / figures["Inductor"]["total"]
    print(f"{given.layers} layers of width {given.width}: {ratio:.2f} of Inductor's CPU time")
    if given.json:
        with open(given.json, "w") as f:
            json.dump(figures | {"ratio": ratio}, f, indent=1)


if __name__ == "__main__":
    main()
