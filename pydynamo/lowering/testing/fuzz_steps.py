"""The kinds of steps that the fuzzer composes; each adds at most one tensor to the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from pydynamo.lowering.testing.fuzzer import Maker

KINDS: dict[str, tuple[Callable[[Maker], None], float]] = {}
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
Kind = Callable[["Maker"], None]


def kind(weight: float) -> Callable[[Kind], Kind]:
    """Register a kind of step with how often it is taken."""

    def deco(fn: Kind) -> Kind:
        KINDS[fn.__name__] = (fn, weight)
        return fn

    return deco


def is_float(t: torch.Tensor) -> bool:
    return t.dtype.is_floating_point


def ranked(t: torch.Tensor) -> bool:
    return t.dim() > 0 and t.numel() > 0


UNARY: dict[str, Callable[..., Any]] = {
    n: getattr(torch, n)
    for n in [
        "exp",
        "sin",
        "cos",
        "tanh",
        "sigmoid",
        "erf",
        "sqrt",
        "rsqrt",
        "log",
        "log1p",
        "expm1",
        "reciprocal",
        "neg",
        "abs",
        "floor",
        "ceil",
        "trunc",
        "round",
        "relu",
        "sign",
        "square",
        "isnan",
        "atan",
        "asinh",
        "sinh",
    ]
} | {
    "gelu": F.gelu,
    "silu": F.silu,
    "softplus": F.softplus,
    "elu": F.elu,
    "hardswish": F.hardswish,
    "leaky_relu": F.leaky_relu,
}
BINARY: dict[str, Callable[..., Any]] = {
    "+": torch.add,
    "-": torch.sub,
    "*": torch.mul,
    "/": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "==": torch.eq,
    "!=": torch.ne,
    "<": torch.lt,
    "<=": torch.le,
    ">": torch.gt,
    ">=": torch.ge,
    "atan2": torch.atan2,
    "copysign": torch.copysign,
    "hypot": torch.hypot,
}


@kind(8)
def unary(m: Maker) -> None:
    name = m.rng.choice(list(UNARY))
    a = m.pick(
        is_float if name not in ("neg", "abs", "relu", "sign", "square") else lambda t: t.dtype is not torch.bool
    )
    if a is not None:
        if name == "gelu" and not bool(torch.isfinite(m.pool[a]).all()):
            return  # eager's own gelu of infinity depends on how many elements there are
        m.add(name, UNARY[name], a)


@kind(10)
def binary(m: Maker) -> None:
    name = m.rng.choice(list(BINARY))
    a, b = m.pick(), m.pick()
    if a is not None and b is not None:
        m.add(name, BINARY[name], a, b)


@kind(5)
def with_number(m: Maker) -> None:
    name = m.rng.choice(["+", "-", "*", "/", "<", ">=", "maximum"])
    a = m.pick()
    c: Any = m.rng.choice([0, 1, 2, -1, 3, 0.5, -0.3, 1.7])
    if a is None:
        return
    if name == "maximum":
        m.add(f"clamp(min={c})", lambda x: x.clamp(min=c), a)
    elif name == "/" and c == 0:
        return
    else:
        m.add(f"{name} {c}", lambda x: BINARY[name](x, c), a)


@kind(2)
def integers(m: Maker) -> None:
    a = m.pick(lambda t: not is_float(t) and t.dtype is not torch.bool)
    if a is None:
        return
    c = m.rng.choice([1, 2, 3, -2, 5])
    ops: dict[str, Callable[[Any], Any]] = {
        "//": lambda x: x // c,
        "%": lambda x: x % c,
        "fmod": lambda x: torch.fmod(x, c),
        "&": lambda x: x & abs(c),
        "|": lambda x: x | abs(c),
        "^": lambda x: x ^ abs(c),
        "~": lambda x: ~x,
    }
    name = m.rng.choice(list(ops))
    m.add(f"{name} {c}", ops[name], a)


@kind(2)
def bools(m: Maker) -> None:
    a, b = m.pick(lambda t: t.dtype is torch.bool), m.pick(lambda t: t.dtype is torch.bool)
    if a is None or b is None:
        return
    name = m.rng.choice(["logical_and", "logical_or", "logical_xor", "bitwise_and"])
    m.add(name, getattr(torch, name), a, b)


@kind(3)
def choose(m: Maker) -> None:
    c, a, b = m.pick(lambda t: t.dtype is torch.bool), m.pick(), m.pick()
    if c is not None and a is not None and b is not None:
        m.add("where", torch.where, c, a, b)


@kind(3)
def cast(m: Maker) -> None:
    a = m.pick()
    if a is None:
        return
    dt = m.rng.choice([*FLOATS, torch.int64, torch.int32, torch.bool])
    if is_float(m.pool[a]) and not dt.is_floating_point and (not bool(torch.isfinite(m.pool[a]).all())):
        return
    m.add(f"to {dt}", lambda x: x.to(dt), a)


@kind(7)
def reduce(m: Maker) -> None:
    name = m.rng.choice(["sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin", "var", "logsumexp", "prod"])
    a = m.pick(
        lambda t: (
            ranked(t)
            and (name in ("any", "all") or t.dtype is not torch.bool)
            and (name not in ("mean", "var", "logsumexp") or is_float(t))
        )
    )
    if a is None:
        return
    t = m.pool[a]
    keep = m.rng.random() < 0.5
    d = m.rng.randrange(t.dim())
    dims = tuple(sorted(m.rng.sample(range(t.dim()), m.rng.randint(1, t.dim()))))
    if name in ("any", "all", "argmax", "argmin", "prod"):
        m.add(f"{name} {d} {keep}", lambda x: getattr(torch, name)(x, d, keepdim=keep), a)
    elif name == "var":
        c = m.rng.choice([0, 1])
        m.add(f"var {dims} {keep} {c}", lambda x: torch.var(x, dims, correction=c, keepdim=keep), a)
    else:
        m.add(f"{name} {dims} {keep}", lambda x: getattr(torch, name)(x, dims, keepdim=keep), a)


@kind(3)
def along(m: Maker) -> None:
    name = m.rng.choice(["softmax", "log_softmax", "cumsum", "flip", "roll", "sort"])
    a = m.pick(lambda t: ranked(t) and (is_float(t) or name not in ("softmax", "log_softmax")))
    if a is None:
        return
    d = m.rng.randrange(m.pool[a].dim())
    s = m.rng.choice([1, 2, -1])
    ops: dict[str, Callable[[Any], Any]] = {
        "softmax": lambda x: x.softmax(d),
        "log_softmax": lambda x: x.log_softmax(d),
        "cumsum": lambda x: x.cumsum(d),
        "flip": lambda x: x.flip(d),
        "roll": lambda x: x.roll(s, d),
        "sort": lambda x: x.sort(d, stable=True).values,
    }
    m.add(f"{name} {d} {s}", ops[name], a)


@kind(1.5)
def normalize(m: Maker) -> None:
    a = m.pick(lambda t: ranked(t) and is_float(t) and t.shape[-1] > 1)
    if a is not None:
        n = m.pool[a].shape[-1]
        m.add("layer_norm", lambda x: F.layer_norm(x, (n,)), a)


@kind(9)
def view(m: Maker) -> None:
    a = m.pick(ranked)
    if a is None:
        return
    t = m.pool[a]
    n, rng = t.dim(), m.rng
    d = rng.randrange(n)
    name = rng.choice(
        [
            "permute",
            "reshape",
            "expand",
            "slice",
            "select",
            "unsqueeze",
            "flatten",
            "diagonal",
            "unfold",
            "contiguous",
            "repeat",
        ]
    )
    if name == "permute":
        p = rng.sample(range(n), n)
        m.add(f"permute {p}", lambda x: x.permute(p), a)
    elif name == "reshape":
        size, shape = t.numel(), []
        while size > 1:
            k = rng.choice([k for k in range(2, min(size, 64) + 1) if size % k == 0] or [size])
            shape.append(k)
            size //= k
        if rng.random() < 0.3:
            shape.insert(rng.randint(0, len(shape)), 1)
        m.add(f"reshape {shape}", lambda x: x.reshape(shape), a)
    elif name == "expand":
        k = rng.choice([2, 3])
        m.add(f"expand {k}", lambda x: x.unsqueeze(d).expand(*x.shape[:d], k, *x.shape[d:]), a)
    elif name == "slice":
        start, step = rng.randint(0, t.shape[d] - 1), rng.choice([1, 1, 2, 3])
        stop = rng.randint(start + 1, t.shape[d])
        index = (slice(None),) * d + (slice(start, stop, step),)
        m.add(f"slice {d} {start}:{stop}:{step}", lambda x: x[index], a)
    elif name == "select":
        j = rng.randrange(-t.shape[d], t.shape[d])
        m.add(f"select {d} {j}", lambda x: x.select(d, j), a)
    elif name == "diagonal" and n > 1:
        m.add("diagonal", lambda x: x.diagonal(0, 0, 1), a)
    elif name == "unfold" and t.shape[d] > 2:
        m.add(f"unfold {d}", lambda x: x.unfold(d, 2, 1), a)
    elif name == "repeat":
        m.add("repeat", lambda x: x.repeat(*[1] * (x.dim() - 1), 2), a)
    elif name in ("unsqueeze", "flatten", "contiguous"):
        args = (d,) if name == "unsqueeze" else ()
        m.add(name, lambda x: getattr(x, name)(*args), a)


@kind(4)
def join(m: Maker) -> None:
    a = m.pick(ranked)
    if a is None:
        return
    t = m.pool[a]
    d, rng = m.rng.randrange(t.dim()), m.rng
    b = m.pick(lambda u: u.shape == t.shape)
    name = rng.choice(["cat", "stack", "pad", "tril", "slice_scatter"])
    if name in ("cat", "stack") and b is not None:
        m.add(f"{name} {d}", lambda x, y: getattr(torch, name)([x, y, x], d), a, b)
    elif name == "pad":
        w = [rng.choice([0, 1, 2, -1]) for _ in range(2 * rng.randint(1, min(2, t.dim())))]
        value = rng.choice([0, 1, 2])
        m.add(f"pad {w} {value}", lambda x: F.pad(x, w, value=value), a)
    elif name == "tril" and t.dim() > 1:
        m.add("tril", torch.tril, a)
    elif name == "slice_scatter" and b is not None and t.shape[d] > 1:
        m.add(
            f"slice_scatter {d}",
            lambda x, y: torch.slice_scatter(x.contiguous(), y.narrow(d, 0, 1), d, 1, 2),
            a,
            b,
        )


@kind(3)
def index(m: Maker) -> None:
    a = m.pick(ranked)
    if a is None:
        return
    t = m.pool[a]
    d, rng = m.rng.randrange(t.dim()), m.rng
    n = t.shape[d]
    ids = torch.tensor([rng.randrange(n) for _ in range(rng.choice([1, 3, 5]))])
    signed = ids - n if rng.random() < 0.4 else ids
    name = rng.choice(["index_select", "index", "gather", "one_hot"])
    if name == "index_select":
        m.add(f"index_select {d} {ids.tolist()}", lambda x: x.index_select(d, ids.to(x.device)), a)
    elif name == "index":
        m.add(f"index {d} {signed.tolist()}", lambda x: x[(slice(None),) * d + (signed,)], a)
    elif name == "gather":
        shape = [1] * t.dim()
        shape[d] = len(ids)
        full = [k if i != d else len(ids) for i, k in enumerate(t.shape)]
        m.add(f"gather {d}", lambda x: x.gather(d, ids.view(shape).expand(full)), a)
    else:
        shape = [1 if i == d else k for i, k in enumerate(t.shape)]
        m.add(f"scatter {d}", lambda x: x.scatter(d, ids[:1].view([1] * x.dim()).expand(shape), 1), a)


@kind(1)
def matmul(m: Maker) -> None:
    a = m.pick(lambda t: t.dim() == 2 and t.dtype in (torch.float32, torch.float64) and t.numel() > 0)
    if a is not None:
        m.add("matmul", lambda x: x @ x.t(), a)
