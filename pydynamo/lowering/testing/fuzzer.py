"""Random graphs of supported operators, dtypes and layouts, compared with eager.

    PYDYNAMO_TRITON_INTERPRET=1 python -m pydynamo.lowering.testing.fuzzer --count 1000 --first 0

A graph is a list of steps on a pool of tensors; the same seed gives the same graph.  Block sizes and thresholds of the
cost model are random too, so that small tensors reach masks, loops over rows and split reductions.

Verdict: integers and bools must be equal, floats within a few units in the last place of eager, or as close to a
float64 run as a small multiple of eager's own error.  Where an element is further off, the graph runs in eager again,
several times, with each operator that is not correctly rounded off by an ulp or two, and with other signs of NaN and of
the zero that a minimum picks among two: if eager's own result moves about
as far (a comparison, a rounding or a tie that an ulp tips over), that is counted as noise, and the count is reported.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.capture import clean
from pydynamo.lowering.config import Options
from pydynamo.lowering.decompositions import decompositions
from pydynamo.lowering.pipeline import Compiled, compile_graph
from pydynamo.lowering.spec import is_dense
from pydynamo.lowering.testing.recorder import record

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
FAKE_EVERY = 25
PROGRAMS = 8  # as many of one kernel as a test of its masks and offsets needs
SAFE = 1e4  # magnitudes beyond this are brought back, so that graphs stay comparable

AS_GOOD = 4  # how many times eager's own error against float64 is as good as eager
SHAKES = 16
COARSE = 0.2  # how often an error is one of rounding to fewer digits, which lets what cancels nearly cancel wholly
ACCUMULATING = frozenset(
    ("sum", "mean", "var", "logsumexp", "prod", "softmax", "log_softmax", "cumsum", "layer_norm", "matmul")
)
INEXACT = frozenset(
    (
        *("exp", "sin", "cos", "tanh", "sigmoid", "erf", "rsqrt", "log", "log1p", "expm1", "atan", "asinh", "sinh"),
        *("gelu", "silu", "softplus", "elu", "hardswish", "atan2", "hypot"),
    )
)
UNSIGNED_ZEROS = frozenset(("maximum", "minimum", "fmax", "amax", "amin", "max", "min"))

Step = tuple[str, Callable[..., Any], tuple[int, ...]]


@dataclasses.dataclass
class Graph:
    """A random program: `steps` append to the pool that starts with `inputs`; `outputs` are pool
    positions."""

    seed: int
    inputs: list[torch.Tensor]
    steps: list[Step]
    outputs: list[int]
    options: Options

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        pool = self.pool(inputs)
        return [pool[o] for o in self.outputs]

    def pool(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The inputs and the result of every step."""
        pool = list(inputs)
        for _, fn, args in self.steps:
            pool.append(fn(*(pool[a] for a in args)))
        return pool

    def shaken(self, gen: torch.Generator) -> list[torch.Tensor]:
        """The results if every operator that is not correctly rounded errs a little; reductions in their operands,
        too."""
        pool = list(self.inputs)
        still = self.pool(self.inputs)
        for name, fn, args in self.steps:
            operands = [pool[a] for a in args]
            kind = name.split()[0]
            if kind in ACCUMULATING:
                operands = [_shake(t, gen) for t in operands]
            out = fn(*operands)
            out = _shake(out, gen) if kind in ACCUMULATING or kind in INEXACT else out
            if kind == "layer_norm":
                out = _cancelled(out, still[args[0]], gen)
            if kind == "prod":
                out = _in_other_order(out, fn, operands[0], gen)
            if kind == "gelu":
                out = _short_of_one(out, operands[0], gen)
            out = _other_signs(out, gen, torch.isnan(out) | (out == 0) if kind in UNSIGNED_ZEROS else torch.isnan(out))
            if kind == "copysign":  # a NaN's sign is open, and eager's casts from half types drop it
                out = _other_signs(out, gen, torch.isnan(operands[1]))
            pool.append(out)
        return [pool[o] for o in self.outputs]

    def describe(self) -> str:
        lines = [f"seed {self.seed}  {self.options}"]
        for i, t in enumerate(self.inputs):
            lines.append(f"  v{i}: {t.dtype} {list(t.shape)} by {list(t.stride())} + {t.storage_offset()}")
        for i, (name, _, args) in enumerate(self.steps):
            lines.append(f"  v{i + len(self.inputs)} = {name}({', '.join(f'v{a}' for a in args)})")
        return "\n".join([*lines, f"  return {self.outputs}"])


def _shake(t: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    """`t` with every float off by up to two units in the last place; now and then so that close ones become equal."""
    if not t.dtype.is_floating_point:
        return t
    if float(torch.rand((), generator=gen)) < COARSE:
        mantissa, exponent = torch.frexp(t.double())
        step = 2 * torch.finfo(t.dtype).eps
        return torch.ldexp((mantissa / step).round() * step, exponent).to(t.dtype)
    off = torch.rand(t.shape, generator=gen, dtype=torch.float64) * 4 - 2
    return (t.double() * (1 + off * torch.finfo(t.dtype).eps)).to(t.dtype)


def _cancelled(out: torch.Tensor, x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    """The layer norm `out` of `x` with other rests where x minus its mean is nothing but the mean's own error."""
    wide = x.double()
    scale = (wide.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt()
    rest = (
        torch.finfo(torch.float32 if x.element_size() < 8 else x.dtype).eps
        * wide.abs().amax(-1, keepdim=True)
        * scale
        * 2
    )
    sign = int(torch.randint(-1, 2, (), generator=gen))
    other = (sign * rest).expand_as(wide).to(out.dtype)
    return torch.where((wide - wide.mean(-1, keepdim=True)).abs() * scale <= rest, other, out)


def _short_of_one(out: torch.Tensor, x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    """The gelu `out` of `x` with the error of erf as it stands where 1 + erf(x) is nearly nothing: in units of 1."""
    off = torch.rand(x.shape, generator=gen, dtype=torch.float64) * 4 - 2
    single = torch.finfo(torch.float32 if x.element_size() < 8 else x.dtype).eps
    return (out.double() + off * single * x.double()).to(out.dtype)


def _in_other_order(
    out: torch.Tensor, prod: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, gen: torch.Generator
) -> torch.Tensor:
    """The product `out` of factors `x` as other orders of them may have it: where some overflow on the way, some underflow, or
    one is zero, the rest decides between a number, infinity, zero and the NaN that infinity times zero is."""
    if not x.dtype.is_floating_point:
        return out
    size = torch.where(x == 0, 1, x.abs())
    infinite = prod(size.clamp(min=1)).isinf()
    zero = (prod(size.clamp(max=1)) == 0) | (prod((x != 0).to(x.dtype)) == 0)
    chance = torch.rand(out.shape, generator=gen)
    signed = torch.copysign
    other = torch.where(zero & (chance < 0.25), signed(torch.zeros_like(out), out), out)
    other = torch.where(infinite & (chance > 0.75), signed(torch.full_like(out, torch.inf), out), other)
    other = torch.where(infinite & zero & (chance > 0.25) & (chance < 0.5), torch.nan, other)
    return torch.where((infinite | zero) & (chance > 0.5) & (chance < 0.75), prod(x.double()).to(out.dtype), other)


def _share(gen: torch.Generator) -> float:
    """Which share of the elements is to change: now and then none, now and then all, so that few tries reach every mix."""
    return float(torch.rand((), generator=gen) * 2 - 0.5)


def _other_signs(t: torch.Tensor, gen: torch.Generator, open_: torch.Tensor) -> torch.Tensor:
    """`t` with other signs where IEEE 754 and C leave them open: of NaN, and of the zeros that some operators choose."""
    if not t.dtype.is_floating_point or not bool(open_.any()):
        return t
    flip = (torch.rand(t.shape, generator=gen) < _share(gen)) & open_
    return torch.where(flip, torch.copysign(t, torch.where(torch.signbit(t), 1.0, -1.0).to(t.dtype)), t)


class Maker:
    """Grows one graph; every choice comes from its own random generator."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.gen = torch.Generator().manual_seed(seed)
        self.pool: list[torch.Tensor] = []
        self.steps: list[Step] = []
        self.exact = True  # no inexact float yet

    # ------------------------------------------------------------------ inputs
    def shape(self) -> list[int]:
        rng = self.rng
        if rng.random() < 0.04:
            return []
        dims = [rng.choice([1, 2, 3, 4, 5, 7, 8, 16, 33]) for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))]
        while len(dims) > 1 and torch.Size(dims).numel() > 3000:
            dims.pop()
        if rng.random() < 0.02:
            dims[rng.randrange(len(dims))] = 0
        if rng.random() < 0.06:
            dims = [rng.choice([1, 2, 3]), rng.choice([600, 1500, 2049])]
        return dims

    def tensor(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        if dtype is torch.bool:
            return torch.rand(shape, generator=self.gen) < 0.5
        if not dtype.is_floating_point:
            low = 0 if dtype is torch.uint8 else -9
            return torch.randint(low, 10, shape, generator=self.gen).to(dtype)
        t = torch.randn(shape, generator=self.gen, dtype=torch.float64)
        if self.rng.random() < 0.15 and t.numel():
            flat = t.view(-1)
            for v in (float("nan"), float("inf"), -float("inf"), -0.0, 0.0):
                flat[self.rng.randrange(flat.numel())] = v
        return t.to(dtype)

    def layout(self, t: torch.Tensor) -> torch.Tensor:
        """The same shape with another layout: transposed, offset, stepped or expanded."""
        kind = self.rng.choice(["plain", "plain", "transposed", "offset", "stepped", "expanded"])
        n = t.dim()
        if kind == "transposed" and n > 1:
            perm = self.rng.sample(range(n), n)
            back = [perm.index(d) for d in range(n)]
            return t.permute(perm).contiguous().permute(back)
        if kind == "offset" and t.numel():
            store = torch.zeros(t.numel() + 5, dtype=t.dtype)
            store[5:] = t.reshape(-1)
            return store[5:].view(t.shape)
        if kind == "stepped" and n and t.shape[-1]:
            wide = torch.zeros(*t.shape[:-1], t.shape[-1] * 2, dtype=t.dtype)
            wide[..., ::2] = t
            return wide[..., ::2]
        if kind == "expanded" and n and t.numel():
            d = self.rng.randrange(n)
            return t.narrow(d, 0, 1).expand(t.shape)
        return t

    # ------------------------------------------------------------------ steps
    def add(self, name: str, fn: Callable[..., Any], *args: int) -> int | None:
        try:
            out = fn(*(self.pool[a] for a in args))
        except (RuntimeError, IndexError, TypeError, NotImplementedError):
            return None
        if not isinstance(out, torch.Tensor) or out.numel() > 20000 or out.is_complex():
            return None
        if out.dtype.is_floating_point and out.numel():
            finite = out[torch.isfinite(out)].abs()
            if finite.numel() and float(finite.max()) > SAFE:
                return None
        self.steps.append((name, fn, args))
        self.pool.append(out)
        return len(self.pool) - 1

    def pick(self, test: Callable[[torch.Tensor], bool] = lambda t: True) -> int | None:
        """A pool position, recent ones more often."""
        good = [i for i, t in enumerate(self.pool) if test(t)]
        return None if not good else good[-1 - min(int(self.rng.expovariate(0.5)), len(good) - 1)]

    def step(self) -> None:
        from pydynamo.lowering.testing.fuzz_steps import KINDS

        names, weights = zip(*((k, w) for k, (_, w) in KINDS.items()), strict=True)
        KINDS[self.rng.choices(names, weights)[0]][0](self)


def make(seed: int) -> Graph:
    """The random graph of `seed`."""
    m = Maker(seed)
    rng = m.rng
    base = rng.choice([torch.float32, torch.float32, torch.float64, torch.float64, torch.float16, torch.bfloat16])
    shape = m.shape()
    for i in range(rng.randint(1, 3)):
        s = shape if i == 0 or rng.random() < 0.6 else m.shape()
        if rng.random() < 0.4 and s:
            s = [n if rng.random() < 0.6 else 1 for n in s][rng.randint(0, len(s) - 1) :]
        dt = base if rng.random() < 0.7 else rng.choice([*FLOATS, *INTS, torch.bool])
        m.pool.append(m.layout(m.tensor(s, dt)))
    inputs = list(m.pool)
    for _ in range(rng.randint(2, 12)):
        m.step()
    made = list(range(len(inputs), len(m.pool)))
    used = {a for _, _, args in m.steps for a in args}
    outputs = [i for i in made if i not in used or rng.random() < 0.15] or [0]
    largest = max(t.numel() for t in m.pool)
    max_block = rng.choice([64, 256, 4096])
    while largest > PROGRAMS * max_block:
        max_block *= 2
    options = Options(
        interpret=True,
        max_block=max_block,
        persistent_limit=rng.choice([16, 64, 16384]),
        split_rows=rng.choice([1, 16, 512]),
        split_min=rng.choice([8, 64, 4096]),
        inline_limit=rng.choice([2, 16, 64]),
        share_limit=rng.choice([0, 3, 100]),
    )
    return Graph(seed, inputs, m.steps, outputs, options)


# ---------------------------------------------------------------------- running
def trace(graph: Graph, inputs: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
    """`graph` as functional core ATen; one in a few is traced with fake values, by torch's own tracer."""
    if graph.seed % FAKE_EVERY:
        return clean(record(graph, inputs, decompositions()))
    gm = private.make_fx(graph, decomposition_table=decompositions(), tracing_mode="fake", _allow_non_fake_inputs=True)(
        *inputs
    )
    return clean(gm)


def compile_and_run(graph: Graph, inputs: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], Compiled]:
    done = compile_graph(trace(graph, inputs), torch.device("cpu"), graph.options)
    got = list(done.call(list(inputs)))
    (output,) = (n for n in done.graph.graph.nodes if n.op == "output")
    for i, (node, t) in enumerate(zip(output.args[0], got, strict=True)):
        val = node.meta["val"]
        want = val.stride()
        if is_dense(val.shape, want) and any(
            n > 1 and p != q for n, p, q in zip(t.shape, want, t.stride(), strict=True)
        ):
            raise AssertionError(f"output {i}: strides {want} became {t.stride()}")
    return got, done


def difference(want: torch.Tensor, got: torch.Tensor, exact: torch.Tensor | None = None) -> torch.Tensor | str:
    """Where `got` is wrong, as a mask, or why it cannot be compared."""
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return f"{want.dtype}{list(want.shape)} became {got.dtype}{list(got.shape)}"
    if not want.dtype.is_floating_point:
        return want != got
    a, b = want.double(), got.double()
    finite = torch.where(torch.isfinite(a), a.abs(), 0.0)
    top = finite.max() if finite.numel() else torch.tensor(0.0)
    allowed = TOLERANCE[want.dtype] * torch.clamp(torch.maximum(finite, top * 0.1), min=1e-2)
    bad = (a.isnan() != b.isnan()) | (~a.isnan() & (a != b) & ~((a - b).abs() <= allowed))
    if exact is not None and exact.dtype is torch.float64 and exact.shape == a.shape and exact.numel():
        own = torch.nan_to_num((a - exact).abs(), 0.0, 0.0, 0.0).max()
        bad &= ~((b - exact).abs() <= AS_GOOD * own)
    return bad


def float64_run(graph: Graph) -> list[torch.Tensor] | None:
    """The results with every float in float64, or None where half types round on purpose."""
    dtypes = [t.dtype for t in graph.pool(graph.inputs)]
    if torch.float16 in dtypes or torch.bfloat16 in dtypes:
        return None
    torch.set_default_dtype(torch.float64)
    try:
        return graph(*(t.double() if t.dtype.is_floating_point else t for t in graph.inputs))
    except RuntimeError:
        return None
    finally:
        torch.set_default_dtype(torch.float32)


def check(seed: int) -> str:
    """ "" if compiled equals eager, "noise", or what is wrong."""
    graph = make(seed)
    want = graph(*graph.inputs)
    exact = float64_run(graph) or [None] * len(want)
    try:
        got, _ = compile_and_run(graph, graph.inputs)
    except Exception:
        return f"{graph.describe()}\n{traceback.format_exc()}"
    wrong = [difference(a, b, e) for a, b, e in zip(want, got, exact, strict=True)]
    faults = [
        f"output {i}: {bad if isinstance(bad, str) else _show(bad, a, b)}"
        for i, (a, b, bad) in enumerate(zip(want, got, wrong, strict=True))
        if isinstance(bad, str) or bool(bad.any())
    ]
    if not faults:
        return ""
    if not any(isinstance(bad, str) for bad in wrong) and _within_noise(graph, want, got, wrong):
        return "noise"
    return "\n".join([graph.describe(), *faults])


def _show(bad: torch.Tensor, want: torch.Tensor, got: torch.Tensor) -> str:
    i = tuple(bad.nonzero()[0].tolist())
    count = f"{int(bad.sum())} of {bad.numel()} differ"
    return f"{count}, first at {list(i)}: {want[i].item()!r} became {got[i].item()!r}"


def _within_noise(
    graph: Graph, want: Sequence[torch.Tensor], got: Sequence[torch.Tensor], wrong: Sequence[torch.Tensor | str]
) -> bool:
    """True if each wrong element moves as far in eager itself when inexact operators err by an ulp or two."""
    left = [bad.clone() for bad in wrong if isinstance(bad, torch.Tensor)]
    gen = torch.Generator().manual_seed(1)
    for _ in range(SHAKES):
        for bad, a, b, c in zip(left, want, got, graph.shaken(gen), strict=True):
            if a.dtype.is_floating_point:
                a, b, c = a.double(), b.double(), c.double()
                bad &= (a.isnan() == c.isnan()) & ~((b - a).abs() <= AS_GOOD * (c - a).abs())
            else:
                bad &= a == c
        if not any(bool(bad.any()) for bad in left):
            return True
    return False


def main(argv: Sequence[str] | None = None) -> int:
    """Run graphs and print the ones that differ; the exit status is 1 if any does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--stop", type=int, default=20, help="stop after this many differences")
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    gc.freeze()  # what importing made stays: collections need not look at it
    bad = noise = 0
    for seed in range(given.first, given.first + given.count):
        verdict = check(seed)
        noise += verdict == "noise"
        if verdict and verdict != "noise":
            bad += 1
            print(verdict, flush=True)
            if bad >= given.stop:
                break
        if (seed - given.first) % 500 == 499:
            print(f"{seed - given.first + 1} graphs, {bad} differences, {noise} noise", flush=True)
    print(f"done: {seed - given.first + 1} graphs, {bad} differences, {noise} noise")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["F", "Graph", "check", "difference", "main", "make"]
