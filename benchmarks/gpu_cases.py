"""Cases of the GPU benchmark: each kernel of the table in the design, and each model, built when its turn comes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import gpu_models
import torch
import torch.nn.functional as F

Fn = Callable[..., Any]
BF, F32 = torch.bfloat16, torch.float32


@dataclasses.dataclass
class Case:
    """A function with its arguments; `nbytes` is what it must move at least; `goal` is a share of copy speed."""

    name: str
    fn: Fn
    args: tuple[Any, ...]
    nbytes: int = 0
    goal: float = 0.0
    backward: bool = False
    autotune: bool = False
    random: bool = False  # results cannot be compared
    writes: bool = False  # its results are what it leaves in its arguments
    model: bool = False


class Maker:
    """Tensors of a case: full size on the device, or tiny."""

    def __init__(self, tiny: bool, device: torch.device) -> None:
        self.tiny, self.device = tiny, device

    def size(self, n: int, rank: int = 2) -> int:
        return min(n, 48 if rank < 4 else 6) if self.tiny else n

    def R(self, *shape: int, dtype: torch.dtype = BF, grad: bool = False) -> torch.Tensor:
        small = [self.size(n, len(shape)) for n in shape]
        return torch.randn(small, device=self.device, dtype=dtype).requires_grad_(grad)

    def ids(self, high: int, n: int) -> torch.Tensor:
        return torch.randint(self.size(high), (self.size(n),), device=self.device)


def rms(x: Any, r: Any, w: Any) -> Any:
    h = x + r
    y = h.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(h.dtype) * w, h


def norm(x: Any, w: Any, b: Any) -> Any:
    return F.layer_norm(x, (x.shape[-1],), w, b)


def adam(p: Any, g: Any, m: Any, v: Any) -> None:
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.sub_(1e-3 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8))


def batch_norm(x: Any, w: Any, b: Any) -> Any:
    return F.relu(F.batch_norm(x, None, None, w, b, True))


def loss(x: Any, t: Any) -> Any:
    return F.cross_entropy(x.float(), t)


def swiglu(g: Any, u: Any) -> Any:
    return F.silu(g) * u


def dropped(x: Any, r: Any, w: Any, b: Any) -> Any:
    return norm(F.dropout(x, 0.1, True) + r, w, b)


# name, function, arguments from a Maker, least traffic in units of the first argument, goal, further fields of Case
Row = tuple[str, Fn, Callable[[Maker], tuple[Any, ...]], float, float, dict[str, Any]]
BOTH = {"backward": True}
KERNELS: list[Row] = [
    ("softmax 4096", lambda x: x.softmax(-1), lambda m: (m.R(16384, 4096),), 2, 0.90, {}),
    ("layer_norm forward", norm, lambda m: (m.R(16384, 4096), m.R(4096), m.R(4096)), 2, 0.90, {}),
    ("swiglu forward", swiglu, lambda m: (m.R(8192, 14336), m.R(8192, 14336)), 3, 0.93, {}),
    ("cross_entropy forward", loss, lambda m: (m.R(8192, 128256), m.ids(128256, 8192)), 1, 0.85, {}),
    (
        "gelu(x*w+b)+res",
        lambda x, w, b, r: F.gelu(x * w + b) + r,
        lambda m: (m.R(16384, 8192), m.R(8192), m.R(8192), m.R(16384, 8192)),
        3,
        0.95,
        {},
    ),
    ("rms_norm+residual", rms, lambda m: (m.R(16384, 4096), m.R(16384, 4096), m.R(4096)), 4, 0.90, {}),
    (
        "layer_norm both ways",
        norm,
        lambda m: (m.R(16384, 4096, grad=True), m.R(4096, grad=True), m.R(4096, grad=True)),
        5,
        0.75,
        BOTH,
    ),
    (
        "cross_entropy both ways",
        loss,
        lambda m: (m.R(8192, 128256, grad=True), m.ids(128256, 8192)),
        3,
        0.85,
        BOTH,
    ),
    ("swiglu both ways", swiglu, lambda m: (m.R(8192, 14336, grad=True), m.R(8192, 14336, grad=True)), 8, 0.93, BOTH),
    ("column sum", lambda x: x.sum(0), lambda m: (m.R(16384, 8192),), 1, 0.85, {}),
    (
        "dropout+add+layer_norm",
        dropped,
        lambda m: (m.R(16384, 4096), m.R(16384, 4096), m.R(4096), m.R(4096)),
        3,
        0.85,
        {"random": True},
    ),
    (
        "batch_norm+relu nhwc",
        batch_norm,
        lambda m: (
            m.R(128, 256, 56, 56).to(memory_format=torch.channels_last),
            m.R(m.size(256, 4)),
            m.R(m.size(256, 4)),
        ),
        3,
        0.80,
        {},
    ),
    (
        "x.t()+y f32",
        lambda x, y: x.t() + y,
        lambda m: (m.R(8192, 8192, dtype=F32), m.R(8192, 8192, dtype=F32)),
        3,
        0.85,
        {},
    ),
    ("softmax 131072", lambda x: x.softmax(-1), lambda m: (m.R(4096, 131072),), 2, 0.85, {}),
    ("adam", adam, lambda m: tuple(m.R(1 << 29, dtype=F32).abs_() for _ in range(4)), 7, 0.90, {"writes": True}),
    (
        "embedding backward",
        lambda w, i: F.embedding(i, w),
        lambda m: (m.R(50304, 768, grad=True), m.ids(50304, 16384)),
        0,
        0,
        BOTH,
    ),
    (
        "linear+gelu",
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        lambda m: (m.R(8192, 4096), m.R(16384, 4096), m.R(16384)),
        0,
        0,
        {"autotune": True},
    ),
    ("one small kernel", lambda x: x * 2 + 1, lambda m: (m.R(10000),), 0, 0, {}),
]


def kernel_case(row: Row, tiny: bool, device: torch.device) -> Case:
    name, fn, make, passes, goal, more = row
    args = make(Maker(tiny, device))
    return Case(name, fn, args, int(passes * args[0].numel() * args[0].element_size()), goal, **more)


# the most telling first: what does not fit into the time is what stands last, among it what takes longest to compile
MODELS = [
    *((name, True) for name in ("gpt2", "llama", "vit", "mlp")),
    *((name, False) for name in ("gpt2", "llama", "vit", "mlp", "resnet50")),
    ("resnet50", True),
]


def model_name(name: str, train: bool) -> str:
    return f"{name} {'training' if train else 'inference'}"


def model_case(name: str, train: bool, tiny: bool, device: torch.device) -> Case:
    model, args = gpu_models.build(name, not tiny, device, F32 if tiny else BF)
    drops = train and any(isinstance(m, torch.nn.Dropout) and m.p for m in model.modules())
    return Case(model_name(name, train), model.train(train), args, backward=train, random=drops, model=True)
