"""Models of the GPU benchmark, written for it: GPT-2, Llama-shaped blocks, ViT, ResNet-50 and an MLP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

Sizes = dict[str, int]


class Attention(nn.Module):
    """Self-attention over (batch, time, width); with `rope`, rotary positions and grouped keys."""

    def __init__(self, width: int, heads: int, kv: int, causal: bool, bias: bool, rope: bool) -> None:
        super().__init__()
        self.heads, self.kv, self.causal, self.rope = heads, kv, causal, rope
        self.size = width // heads
        self.qkv = nn.Linear(width, (heads + 2 * kv) * self.size, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, -1, self.size).transpose(1, 2).split([self.heads, self.kv, self.kv], 1)
        if self.rope:
            q, k = rotate(q), rotate(k)
        if self.kv != self.heads:
            k, v = (z.repeat_interleave(self.heads // self.kv, 1) for z in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding, computed in float32."""
    t, d = x.shape[-2:]
    angle = torch.arange(t, device=x.device)[:, None] * 10000.0 ** (-torch.arange(0, d, 2, device=x.device) / d)
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1).to(x.dtype)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class Gated(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Pre-norm transformer block."""

    def __init__(self, norm: Callable[[], nn.Module], attention: nn.Module, mlp: nn.Module, drop: float) -> None:
        super().__init__()
        self.n1, self.n2, self.attention, self.mlp, self.drop = (
            norm(),
            norm(),
            attention,
            mlp,
            nn.Dropout(drop),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.drop(self.attention(self.n1(x)))
        return x + self.drop(self.mlp(self.n2(x)))


class Language(nn.Module):
    def __init__(self, s: Sizes, llama: bool) -> None:
        super().__init__()
        d, h = s["d"], s["h"]
        self.embed = nn.Embedding(s["v"], d)
        self.position = None if llama else nn.Embedding(s["t"], d)
        if llama:
            self.blocks = nn.Sequential(
                *(
                    Block(lambda: RMSNorm(d), Attention(d, h, s["kv"], True, False, True), Gated(d, s["f"]), 0.0)
                    for _ in range(s["l"])
                )
            )
        else:
            self.blocks = nn.Sequential(
                *(
                    Block(lambda: nn.LayerNorm(d), Attention(d, h, h, True, True, False), perceptron(d), 0.1)
                    for _ in range(s["l"])
                )
            )
        self.norm = RMSNorm(d) if llama else nn.LayerNorm(d)
        self.head = nn.Linear(d, s["v"], bias=False)

    def forward(self, ids: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        if self.position is not None:
            x = x + self.position(torch.arange(ids.shape[1], device=ids.device))
        logits = self.head(self.norm(self.blocks(x)))
        return F.cross_entropy(logits.float().flatten(0, 1), target.flatten())


def perceptron(d: int) -> nn.Module:
    return nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(approximate="tanh"), nn.Linear(4 * d, d))


class Vision(nn.Module):
    def __init__(self, s: Sizes) -> None:
        super().__init__()
        d = s["d"]
        self.patch = nn.Conv2d(3, d, s["p"], s["p"])
        self.position = nn.Parameter(torch.randn(1, (s["img"] // s["p"]) ** 2, d) * 0.02)
        self.blocks = nn.Sequential(
            *(
                Block(
                    lambda: nn.LayerNorm(d),
                    Attention(d, s["h"], s["h"], False, True, False),
                    perceptron(d),
                    0.0,
                )
                for _ in range(s["l"])
            )
        )
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, s["c"])

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return F.cross_entropy(self.head(self.norm(self.blocks(x)).mean(1)).float(), target)


class Bottleneck(nn.Module):
    def __init__(self, i: int, m: int, stride: int) -> None:
        super().__init__()
        o = 4 * m
        self.body = nn.Sequential(
            nn.Conv2d(i, m, 1, bias=False),
            nn.BatchNorm2d(m),
            nn.ReLU(),
            nn.Conv2d(m, m, 3, stride, 1, bias=False),
            nn.BatchNorm2d(m),
            nn.ReLU(),
            nn.Conv2d(m, o, 1, bias=False),
            nn.BatchNorm2d(o),
        )
        same = i == o and stride == 1
        self.skip = nn.Identity() if same else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, layers: tuple[int, ...], w: int, classes: int) -> None:
        super().__init__()
        parts: list[nn.Module] = [
            nn.Conv2d(3, w, 7, 2, 3, bias=False),
            nn.BatchNorm2d(w),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        ]
        i = w
        for k, n in enumerate(layers):
            for j in range(n):
                parts.append(Bottleneck(i, w << k, 2 if j == 0 and k else 1))
                i = 4 * (w << k)
        self.body, self.head = nn.Sequential(*parts), nn.Linear(i, classes)

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.head(self.body(x).mean((2, 3))).float(), target)


class MLP(nn.Module):
    def __init__(self, d: int, layers: int, classes: int) -> None:
        super().__init__()
        hidden = [m for _ in range(layers) for m in (nn.Linear(d, d), nn.LayerNorm(d), nn.GELU(), nn.Dropout(0.1))]
        self.net = nn.Sequential(*hidden, nn.Linear(d, classes))

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.net(x).float(), target)


NAMES = ("gpt2", "llama", "vit", "resnet50", "mlp")


def build(name: str, full: bool, device: torch.device, dtype: torch.dtype) -> tuple[nn.Module, tuple[Any, ...]]:
    """(model, arguments) at benchmark size, or a tiny one of the same kind."""
    torch.manual_seed(0)
    with torch.device(device):  # a host would take seconds for the numbers
        return _build(name, full, device, dtype)


def _build(name: str, full: bool, device: torch.device, dtype: torch.dtype) -> tuple[nn.Module, tuple[Any, ...]]:
    if name in ("gpt2", "llama"):
        big = {
            "gpt2": {"v": 50304, "d": 768, "h": 12, "l": 12, "b": 16, "t": 1024, "kv": 12, "f": 0},
            "llama": {"v": 32000, "d": 4096, "h": 32, "l": 4, "b": 4, "t": 2048, "kv": 8, "f": 14336},
        }[name]
        s = big if full else {"v": 64, "d": 32, "h": 4, "l": 1, "b": 2, "t": 8, "kv": 2, "f": 48}
        model: nn.Module = Language(s, name == "llama")
        ids = [torch.randint(s["v"], (s["b"], s["t"]), device=device) for _ in range(2)]
        return model.to(device, dtype), tuple(ids)
    if name == "mlp":
        d, b, classes = (4096, 4096, 1000) if full else (32, 4, 10)
        x: torch.Tensor = torch.randn(b, d, device=device, dtype=dtype)
        model = MLP(d, 4 if full else 1, classes)
    elif name == "vit":
        s = (
            {"d": 768, "h": 12, "l": 12, "p": 16, "img": 224, "c": 1000}
            if full
            else {"d": 32, "h": 4, "l": 1, "p": 8, "img": 16, "c": 10}
        )
        classes, b = s["c"], 128 if full else 2
        x = torch.randn(b, 3, s["img"], s["img"], device=device, dtype=dtype)
        model = Vision(s)
    else:
        classes, b, side = (1000, 128, 224) if full else (10, 2, 32)
        x = torch.randn(b, 3, side, side, device=device, dtype=dtype).to(memory_format=torch.channels_last)
        model = ResNet((3, 4, 6, 3) if full else (1, 1), 64 if full else 8, classes).to(
            memory_format=torch.channels_last
        )
    return model.to(device, dtype), (x, torch.randint(classes, (b,), device=device))
