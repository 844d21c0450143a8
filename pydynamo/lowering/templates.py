"""The matmul template: a persistent loop over output tiles, tensor-core dots, and a fused pointwise epilogue.

Each program walks tiles in groups of rows, so that neighbouring programs share operands in L2; the loop
over k
is pipelined by Triton.  The epilogue is traced like any fused group (`Kernel` in tile mode): the accumulator
stands for the product's buffer, rounded to its dtype, and everything after it is in registers.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Collection, Sequence
from typing import Any

import torch

from pydynamo.lowering.config import Options
from pydynamo.lowering.index import flatten
from pydynamo.lowering.ir import Buffer, Extern, Loop
from pydynamo.lowering.kernel import Kernel, Layout, NoFuse, Value
from pydynamo.lowering.numerics import TL
from pydynamo.lowering.schedule import Group
from pydynamo.lowering.symbols import Size, divides, hint, same
from pydynamo.lowering.triton_codegen import HOLE, Config, KernelSource, provenance

aten = torch.ops.aten
DTYPES = (torch.float16, torch.bfloat16)
SMALLEST = 16  # a side of the smallest dot
PROGRAMS = 132  # one persistent program for each multiprocessor of an H100 or H200


@dataclasses.dataclass(frozen=True)
class TileConfig(Config):
    """Tile of m (xb) by n (rb), step of k, rows of tiles that run together."""

    bk: int = 64
    group: int = 8


@dataclasses.dataclass
class MatmulSource(KernelSource):
    """A template instance; its parameters are a, b and then the epilogue's buffers."""

    k: int = 0

    @property
    def key(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def grid(self, c: Config, x: int | None = None, r: int | None = None) -> tuple[int, int, int]:
        rows, columns = hint(self.x), hint(self.r)  # templates are made for known sizes only
        return (min(PROGRAMS, -(-rows // c.xb) * -(-columns // c.rb)), 1, 1)

    def constexprs(self, c: Config) -> dict[str, Any]:
        assert isinstance(c, TileConfig)
        even = divides(c.xb, self.x) and divides(c.rb, self.r) and self.k % c.bk == 0
        return {"BM": c.xb, "BN": c.rb, "BK": c.bk, "GROUP": c.group, "PROGRAMS": PROGRAMS, "EVEN": even}


@dataclasses.dataclass
class Product:
    """``a @ b`` (+ bias) of two matrices, as an extern call gave it."""

    a: Buffer
    b: Buffer
    bias: Buffer | None
    out: Buffer


def product_of(op: Extern) -> Product | None:
    """The matrices of a plain mm or addmm in a half type, or None."""
    (out,) = op.outs if len(op.outs) == 1 else (None,)
    if out is None or out.dtype not in DTYPES:
        return None
    if op.target is aten.mm.default:
        a, b = op.args
        bias = None
    elif op.target is aten.addmm.default and not op.kwargs:
        bias, a, b = op.args
    else:
        return None
    if any(isinstance(n, Size) for t in (a, b) for n in (*t.shape, *t.stride, t.offset)):
        return None
    if min(*a.shape, *b.shape) < SMALLEST or a.dtype != out.dtype or b.dtype != out.dtype:
        return None
    return Product(a, b, bias, out)


def fuse(op: Extern, group: Group, needed: Collection[str], options: Options) -> MatmulSource | None:
    """Source of the template with `group` as its epilogue, or None where that cannot be."""
    p = product_of(op)
    if p is None or group.layout.rdims or any(loop.kind is not None for loop in group.loops):
        return None
    m, n = p.out.shape
    if not same(math.prod(group.layout.shape), m * n) or p.out.name in needed:
        return None
    kernel = Kernel(Layout((m, n), (1,)), "tile")
    try:
        _product_value(kernel, p)
        for loop in group.loops:
            kernel.add(loop)
    except NoFuse:
        return None
    return _assemble(kernel, p, needed, options)


def alone(op: Extern, options: Options) -> MatmulSource | None:
    """Source of the template with no epilogue but the store of the product."""
    p = product_of(op)
    if p is None:
        return None
    kernel = Kernel(Layout(p.out.shape, (1,)), "tile")
    v = _product_value(kernel, p)
    del kernel.stored[p.out.name]
    kernel.store(p.out, flatten(kernel.index, p.out.stride), v, _placeholder(p), frozenset("xr"))
    return _assemble(kernel, p, {p.out.name}, options)


def _placeholder(p: Product) -> Loop:
    return Loop((p.out,), p.out.shape, p.out.at, frozenset())


def _product_value(kernel: Kernel, p: Product) -> Value:
    """Make the accumulator (plus bias, rounded) stand for the product's buffer."""
    both = frozenset("xr")
    v = Value("acc", torch.float32, both)
    if p.bias is not None:
        bias = p.bias
        shape = (1,) * (2 - len(bias.shape)) + bias.shape
        stride = (0,) * (2 - len(bias.stride)) + bias.stride
        idx = [e if k > 1 else e * 0 for e, k in zip(kernel.index, shape, strict=True)]
        add = kernel.load(bias, flatten(idx, stride, bias.offset))
        v = kernel.op("add", torch.float32, v, kernel.hold(add, torch.float32))
    v = kernel.cast(v, p.out.dtype)
    key = flatten(kernel.index, p.out.stride, p.out.offset).key
    kernel.stored[p.out.name] = (key, v, _placeholder(p), kernel.passes)
    return v


def _assemble(kernel: Kernel, p: Product, needed: Collection[str], options: Options) -> MatmulSource:
    lines = [text for text, store in kernel.lines if not store or store in needed]
    used: dict[str, str] = {}
    for text in lines:
        for name in HOLE.findall(text):
            used.setdefault(name, f"p{len(used) + 2}")
    body = [HOLE.sub(lambda h: used[h[1]], text) for text in lines]
    (m, k), n = map(hint, p.a.shape), hint(p.b.shape[1])
    names = [p.a.name, p.b.name, *used]
    dtypes = [p.a.dtype, p.b.dtype, *(kernel.args[x] for x in used)]
    text = _TEXT.format(
        params="".join(f", {x}" for x in used.values()),
        m=m,
        n=n,
        k=k,
        am=p.a.stride[0],
        ak=p.a.stride[1],
        bk=p.b.stride[0],
        bn=p.b.stride[1],
        ao=p.a.offset,
        bo=p.b.offset,
        zero=TL[p.a.dtype],
        libdevice="from triton.language.extra import libdevice\n" if "libdevice." in "".join(body) else "",
        body="\n".join("        " + line for line in body),
    )
    nbytes = (m * k + k * n) * p.a.dtype.itemsize
    return MatmulSource(
        text, provenance(kernel), names, dtypes, m, n, "matmul", tiles(m, n, k, options), nbytes=nbytes, k=k
    )


def tiles(m: int, n: int, k: int, options: Options) -> list[Config]:
    """Tile configurations, the cost model's choice first."""
    if options.interpret:
        return [TileConfig(32, 32, 4, 2, 32, 2)]
    wide = [
        TileConfig(128, 128, 8, 4),
        TileConfig(64, 256, 8, 3),
        TileConfig(64, 128, 4, 4),
        TileConfig(128, 256, 8, 3),
    ]
    enough = [c for c in wide if -(-m // c.xb) * -(-n // c.rb) >= PROGRAMS]
    return [*enough, *(c for c in wide if c not in enough)]


_TEXT = """import triton
import triton.language as tl
{libdevice}

@triton.jit
def kernel(p0, p1{params}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, \
PROGRAMS: tl.constexpr, EVEN: tl.constexpr):
    rows: tl.constexpr = ({m} + BM - 1) // BM
    cols: tl.constexpr = ({n} + BN - 1) // BN
    for tile in range(tl.program_id(0), rows * cols, PROGRAMS):
        first = tile // (GROUP * cols) * GROUP
        height = tl.minimum(rows - first, GROUP)
        i = first + tile % (GROUP * cols) % height
        j = tile % (GROUP * cols) // height
        x = i * BM + tl.arange(0, BM)[:, None]
        r = j * BN + tl.arange(0, BN)[None, :]
        xm = tl.full([BM, 1], True, tl.int1) if EVEN else x < {m}
        rm = tl.full([1, BN], True, tl.int1) if EVEN else r < {n}
        acc = tl.zeros([BM, BN], tl.float32)
        for k0 in range(0, {k}, BK):
            ka = k0 + tl.arange(0, BK)[None, :]
            kb = k0 + tl.arange(0, BK)[:, None]
            pa = p0 + (x.to(tl.int64) * {am} + ka * {ak} + {ao})
            pb = p1 + (kb.to(tl.int64) * {bk} + r * {bn} + {bo})
            if EVEN:
                a = tl.load(pa)
                b = tl.load(pb)
            else:
                a = tl.load(pa, xm & (ka < {k}), other=0)
                b = tl.load(pb, rm & (kb < {k}), other=0)
            acc = tl.dot(a, b, acc)
{body}
"""


def readers(op: Extern, steps: Sequence[Any]) -> list[int]:
    """Positions of the steps that read the product of `op`."""
    name = op.outs[0].name if op.outs and op.outs[0] is not None else ""
    return [i for i, s in enumerate(steps) if s is not op and name in s.reads]
