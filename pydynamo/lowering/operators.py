"""Operators of lowering's own, for what core ATen cannot say: seeds, counter-based numbers, softmax
statistics.

Each has an eager form, which runs where lowering falls back to an extern call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

aten = torch.ops.aten


@torch.library.custom_op("pydynamo::seeds", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def seeds(n: int, device: torch.device) -> torch.Tensor:
    """`n` fresh seeds, one in each row; two numbers wide, so that every row is aligned to 16 bytes."""
    return torch.randint(0, 2**31 - 1, (n, 2), dtype=torch.int64, device=device)


@seeds.register_fake
def _(n: int, device: torch.device) -> torch.Tensor:
    return torch.empty(n, 2, dtype=torch.int64, device=device)


@torch.library.custom_op("pydynamo::rand", mutates_args=())
def rand(seeds: torch.Tensor, number: int, shape: Sequence[int]) -> torch.Tensor:
    """Uniform float32 numbers in [0, 1) that depend on seed, number and position only (the extern form): the same
    numbers as in kernels, so that a mask made here fits one made there."""
    n = math.prod(shape)
    words = _philox(seeds[number, 0], torch.arange((n + 3) // 4, device=seeds.device))
    signed = torch.stack(words, 1).flatten()[:n].to(torch.int32)
    return (torch.where(signed < 0, -signed - 1, signed).float() * 4.6566127342e-10).reshape(shape)


WORD = 0xFFFFFFFF


def _philox(seed: torch.Tensor, counter: torch.Tensor) -> list[torch.Tensor]:
    """Four 32-bit words for each counter: Philox 4x32 of seven rounds, on 64-bit integers."""
    key = [seed & WORD, seed >> 32 & WORD]
    c = [counter & WORD, counter >> 32, torch.zeros_like(counter), torch.zeros_like(counter)]
    for _ in range(7):
        p, q = 0xCD9E8D57 * c[2], 0xD2511F53 * c[0]
        c = [(p >> 32 & WORD) ^ c[1] ^ key[0], p & WORD, (q >> 32 & WORD) ^ c[3] ^ key[1], q & WORD]
        key = [key[0] + 0x9E3779B9 & WORD, key[1] + 0xBB67AE85 & WORD]
    return c


@rand.register_fake
def _(seeds: torch.Tensor, number: int, shape: Sequence[int]) -> torch.Tensor:
    return torch.empty(shape, dtype=torch.float32, device=seeds.device)


def computed(x: torch.Tensor) -> torch.Tensor:
    """`x` in its compute type."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


@torch.library.custom_op("pydynamo::softmax_stats", mutates_args=())
def softmax_stats(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Maximum, and sum of exp(x - maximum), along `dim` (kept), in the compute type of `x`."""
    acc = computed(x)
    top = acc.amax(dim, keepdim=True)
    return top, (acc - top).exp().sum(dim, keepdim=True)


@softmax_stats.register_fake
def _(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    shape = [1 if d == dim % x.dim() else n for d, n in enumerate(x.shape)]
    dtype = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    return x.new_empty(shape, dtype=dtype), x.new_empty(shape, dtype=dtype)


@torch.library.custom_op("pydynamo::one_hot", mutates_args=())
def one_hot(x: torch.Tensor, classes: int) -> torch.Tensor:
    """torch's own, which traced code takes for a comparison that refuses no class."""
    return torch.nn.functional.one_hot(x, classes)


@one_hot.register_fake
def _(x: torch.Tensor, classes: int) -> torch.Tensor:
    return x.new_empty((*x.shape, classes))


ONE_HOT = torch.ops.pydynamo.one_hot.default
SEEDS = torch.ops.pydynamo.seeds.default
RAND = torch.ops.pydynamo.rand.default
SOFTMAX_STATS = torch.ops.pydynamo.softmax_stats.default
