"""Compile a small transformer, compare a forward pass and a training step with eager, and show what became of a function.

Run: ``python examples/compile_model.py`` (needs torch).
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

import pydynamo


class Block(nn.Module):
    """Pre-norm attention and MLP over (batch, time, width) activations."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, 2)
        q, k, v = (t.view(batch, time, self.heads, width // self.heads).transpose(1, 2) for t in parts)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(batch, time, width))
        return x + self.narrow(functional.gelu(self.widen(self.norm2(x))))


class Transformer(nn.Module):
    """Token numbers (batch, time) to the mean cross-entropy of the next token."""

    def __init__(self, tokens: int = 96, width: int = 32, depth: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
        self.head = nn.Linear(width, tokens)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        x = self.embed(numbers[:, :-1])
        for block in self.blocks:
            x = block(x)
        return functional.cross_entropy(self.head(x).flatten(0, 1), numbers[:, 1:].flatten())


def f(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n + 1


def main() -> None:
    torch.manual_seed(0)
    model, numbers = Transformer(), torch.randint(0, 96, (4, 33))
    want = model(numbers)
    want.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    for backend in ("eager", "aot_eager"):
        model.zero_grad()
        loss = pydynamo.compile(model, backend=backend, fullgraph=True)(numbers)
        loss.backward()
        found = [p.grad for p in model.parameters() if p.grad is not None]
        torch.testing.assert_close(loss, want)
        for got, expected in zip(found, gradients, strict=True):
            torch.testing.assert_close(got, expected)
        print(f"{backend:9s}: loss {loss.item():.6f} and {len(found)} gradients equal eager's")
    print()
    print(pydynamo.explain(f)(torch.ones(3), 3).detail())


if __name__ == "__main__":
    main()
