"""From a traced kernel to one readable Triton source file, and the launch configurations that fit it.

The text does not depend on buffer names or on block sizes, so equal layers of a model share one kernel.
Provenance (graph nodes, lines of the user's source) stands in the docstring, outside of what the cache key
covers.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Callable, Collection
from typing import Any

import torch

from pydynamo.lowering import numerics
from pydynamo.lowering.config import Options
from pydynamo.lowering.kernel import Kernel
from pydynamo.lowering.schedule import needs_wide, outer
from pydynamo.lowering.symbols import Int, Scope, Size, divides, hint

HOLE = re.compile(r"\{(\w+)\}")


@dataclasses.dataclass(frozen=True)
class Config:
    """One way to launch: block sizes (elements), warps, pipeline stages."""

    xb: int
    rb: int
    warps: int = 4
    stages: int = 1


@dataclasses.dataclass
class KernelSource:
    """A kernel as text, with all that is needed to compile and launch it.

    Where x, r or one of `sizes` is not known yet, a launch brings the values: the sizes as kernel parameters after
    the buffers, and x and r for the grid.
    """

    text: str  # the body that is compiled and hashed
    doc: str  # provenance
    params: list[str]  # buffer names, in parameter order
    dtypes: list[torch.dtype]
    x: Int
    r: Int
    mode: str
    configs: list[Config]  # best guess first (for the hints, where sizes are not known yet)
    atomics: bool = False
    asserts: bool = False
    inplace: bool = False  # it stores into a buffer that it also loads
    nbytes: int = 0  # bytes read and written at least once, for roofline figures
    sizes: list[Size] = dataclasses.field(default_factory=list)  # parameters n0, n1, ...
    wide: bool = False  # positions and sizes have 64 bits
    outer: bool = False  # neighbouring x lie side by side in memory
    max_block: int = 4096
    origins: tuple[str, ...] = ()  # the graph's nodes that it computes
    chunk: int = 0  # rows of one program, where it takes them one block after the other

    @property
    def key(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def dynamic(self) -> bool:
        """True if a launch must bring sizes."""
        return bool(self.sizes) or isinstance(self.x, Size) or isinstance(self.r, Size)

    def grid(self, c: Config, x: int | None = None, r: int | None = None) -> tuple[int, int, int]:
        """Programs of a launch, for the values of x and r where they are not known before."""
        x = hint(self.x) if x is None else x
        r = hint(self.r) if r is None else r
        if self.chunk:
            return (-(-x // self.chunk), 1, 1)
        return (-(-x // c.xb) * (-(-r // c.rb) if self.mode == "tile" else 1), 1, 1)

    def constexprs(self, c: Config) -> dict[str, Any]:
        even = divides(c.xb, self.x) and (not self.chunk or (divides(c.xb, self.chunk) and divides(self.chunk, self.x)))
        return {"XB": c.xb, "RB": c.rb, "EVEN_X": even, "EVEN_R": divides(c.rb, self.r)}

    def bucket(self, r: int) -> int:
        """What the configurations depend on at run time: the block that holds a row of `r` in registers."""
        return _pow2(r) if self.mode == "persistent" and isinstance(self.r, Size) else 0

    def configs_at(self, bucket: int) -> list[Config]:
        """The configurations of a bucket."""
        return configurations(self.mode, self.outer, self.x, self.r, self.max_block, bucket) if bucket else self.configs

    @property
    def divisible(self) -> list[bool]:
        """Which sizes are multiples of 16, whatever the symbols are."""
        return [divides(16, n) for n in self.sizes]


def assemble(
    kernel: Kernel,
    needed: Collection[str],
    options: Options,
    scope: Scope | None = None,
    elements: Callable[[str], float] = lambda name: math.inf,
) -> KernelSource:
    """Source of `kernel` that stores only the buffers in `needed`; `elements` says how many a buffer has."""
    wide = needs_wide(kernel)
    lines = [text for text, store in kernel.lines if not store or store in needed]
    lines = _cached(_without_dead(lines))
    lines = _in_chunks(kernel, wide, lines, needed) if kernel.columns else [*_start(kernel, wide), *lines]
    known = scope.sizes if scope is not None else {}
    used: dict[str, str] = {}
    sizes: dict[str, str] = {}
    for text in lines:
        for name in HOLE.findall(text):
            if name == "wide":
                continue
            if name in known:
                sizes.setdefault(name, f"n{len(sizes)}")
            else:
                used.setdefault(name, f"p{len(used)}")
    names = used | sizes | {"wide": ".to(tl.int64)" if wide else ""}
    body = [HOLE.sub(lambda m: names[m[1]], text) for text in lines]
    params = list(used)
    dtypes = [kernel.args[n] for n in params]
    lay = kernel.layout
    text = (
        "\n".join(
            [
                *_imports(kernel),
                *_helpers(kernel),
                *_head(kernel, [*used.values(), *sizes.values()]),
                *("    " + line for line in body),
            ]
        )
        + "\n"
    )
    side, again = outer(kernel), _reading_loops(kernel) > 1
    if kernel.columns:
        configs = _of_chunks(hint(lay.r), options.max_block)
    else:
        configs = configurations(kernel.mode, side, lay.x, lay.r, options.max_block, again=again)
    stored = {a.name for a in kernel.accesses if a.store and a.name in needed}
    loaded = {a.name for a in kernel.accesses if not a.store and a.name in used}
    nbytes = sum(
        int(min(_touched(kernel, n), elements(n))) * kernel.args[n].itemsize for n in (*sorted(stored), *sorted(loaded))
    )
    return KernelSource(
        text,
        provenance(kernel),
        params,
        dtypes,
        lay.x,
        lay.r,
        kernel.mode,
        configs,
        kernel.atomics,
        kernel.asserts,
        bool(stored & loaded),
        nbytes,
        [known[n] for n in sizes],
        wide,
        side,
        options.max_block,
        tuple(node.name for node in kernel.origins),
        kernel.chunk,
    )


def _reading_loops(kernel: Kernel) -> int:
    """How many of the loops over r read memory in their steps."""
    reading, fresh = 0, False
    for text, _ in kernel.lines:
        if text.startswith("for r0 "):
            fresh = True
        elif fresh and text.startswith("    ") and "tl.load(" in text:
            reading, fresh = reading + 1, False
    return reading


def _cached(lines: list[str]) -> list[str]:
    """Tell the cache what of a row the kernel's next loop reads again, and what is read for the last time."""
    loops: dict[str, set[int]] = {}  # buffer -> loops that read its rows
    found: list[tuple[int, str, int]] = []  # (line, buffer, loop)
    loop = 0
    for i, text in enumerate(lines):
        loop += text.startswith("for r0 ")
        read = re.match(r"    t\d+ = tl\.load\(\{(\w+)\} .*, xm & rm, other=0\)", text)
        if read:
            loops.setdefault(read[1], set()).add(loop)
            found.append((i, read[1], loop))
    out = list(lines)
    for i, name, loop in found:
        if len(loops[name]) > 1:
            kind = "first" if loop == max(loops[name]) else "last"
            out[i] = out[i].replace(", xm & rm, other=0)", f", xm & rm, other=0, eviction_policy='evict_{kind}')")
    return out


def _touched(kernel: Kernel, name: str) -> int:
    """Elements of `name` that the kernel touches, at most, counted once."""
    best = 0
    for a in kernel.accesses:
        if a.name == name:
            lay = kernel.layout
            places = math.prod(hint(n) for d, n in (("x", lay.x), ("r", lay.r)) if d in a.index.deps)
            best = max(best, min(places, math.prod(hint(m) for (_, _, m) in a.index.terms)))
    return best


def _without_dead(lines: list[str]) -> list[str]:
    """Drop assignments whose value is never read (stores of dead buffers leave some behind)."""
    seen: set[str] = set()
    out = []
    for text in reversed(lines):
        m = re.match(r"\s*(t\d+) = (.*)", text)
        if m and m[1] not in seen:
            continue
        out.append(text)
        seen.update(re.findall(r"\bt\d+\b", m[2] if m else text))
    return out[::-1]


def _imports(kernel: Kernel) -> list[str]:
    lines = ["import triton", "import triton.language as tl"]
    if any("libdevice." in text for text, _ in kernel.lines):
        lines.append("from triton.language.extra import libdevice")
    return lines


def _helpers(kernel: Kernel) -> list[str]:
    out = []
    for name in sorted(kernel.helpers):
        if name in numerics.RANDOM:
            out += ["", "", *numerics.RANDOM[name].splitlines()]
        else:
            out += ["", "", "@triton.jit", f"def {name}(a, b):", f"    {numerics.HELPERS[name]}"]
    return out


def _head(kernel: Kernel, params: list[str]) -> list[str]:
    debug = "(debug=True)" if kernel.asserts else ""
    names = ", ".join([*params, *(f"{n}: tl.constexpr" for n in ("XB", "RB", "EVEN_X", "EVEN_R"))])
    return ["", "", f"@triton.jit{debug}", f"def kernel({names}):"]


def _start(kernel: Kernel, wide: bool) -> list[str]:
    """Where the program's block lies."""
    lay, to = kernel.layout, ".to(tl.int64)" if wide else ""
    col, one = ("", "[XB]") if kernel.flat else ("[:, None]", "[XB, 1]")
    out = [
        f"x = tl.program_id(0){to} * XB + tl.arange(0, XB){col}",
        f"xm = tl.full({one}, True, tl.int1) if EVEN_X else x < {lay.x}",
    ]
    if kernel.mode == "tile":  # all programs along one dimension of the grid: others hold 65,535 at most
        out[:1] = [
            f"rows = ({lay.x} + XB - 1) // XB",
            f"x = (tl.program_id(0) % rows){to} * XB + tl.arange(0, XB)[:, None]",
        ]
        out.append("at = tl.program_id(0) // rows")
        out.append(f"r = at{to} * RB + tl.arange(0, RB)[None, :]")
    elif kernel.mode == "persistent":
        out.append(f"r = tl.arange(0, RB)[None, :]{to}")
    if kernel.mode in ("tile", "persistent"):
        out.append(f"rm = tl.full([1, RB], True, tl.int1) if EVEN_R else r < {lay.r}")
    return out


def _in_chunks(kernel: Kernel, wide: bool, lines: list[str], needed: Collection[str]) -> list[str]:
    """Rows in blocks, one after the other, then what their columns add up to."""
    lay, to, n = kernel.layout, ".to(tl.int64)" if wide else "", kernel.chunk
    sums = [(b, name) for b, name in kernel.columns if b.name in needed]
    return [
        f"r = tl.arange(0, RB)[None, :]{to}",
        f"rm = tl.full([1, RB], True, tl.int1) if EVEN_R else r < {lay.r}",
        f"part = tl.program_id(0){to}",
        *(f"{name} = tl.zeros({kernel.block}, {numerics.TL[b.dtype]})" for b, name in sums),
        f"for x0 in tl.range(0, {n}, XB, num_stages={_stages(kernel)}):",
        f"    x = part * {n} + x0 + tl.arange(0, XB)[:, None]",
        f"    xm = tl.full([XB, 1], True, tl.int1) if EVEN_X else x < tl.minimum(part * {n} + {n}, {lay.x})",
        *("    " + text for text in lines),
        *(f"tl.store({{{b.name}}} + (r + part * {lay.r}), tl.sum({name}, 0)[None, :], rm)" for b, name in sums),
    ]


def _stages(kernel: Kernel) -> int:
    """How many blocks of rows are loaded ahead, into shared memory, while one is computed."""
    row = max(CHUNK_BLOCK, _pow2(hint(kernel.layout.r)))
    read = {(a.name, a.index.key): a.dtype.itemsize for a in kernel.accesses if not a.store and "r" in a.index.deps}
    return max(1, min(3, SHARED // max(1, row * sum(read.values()))))


def provenance(kernel: Kernel) -> str:
    """Which graph nodes and which lines of the user's source the kernel computes."""
    out = []
    for node in kernel.origins:
        if node.op == "output":
            continue
        where = source_line(node)
        out.append(f"{node.name} = {_target(node)}" + (f"    # {where}" if where else ""))
    return "\n".join(out)


def _target(node: Any) -> str:
    t = node.target
    return str(t).removeprefix("aten.") if not isinstance(t, str) else t


def source_line(node: Any) -> str:
    """``file:line: text`` of the user's source that made `node`, or an empty string."""
    trace = node.meta.get("stack_trace") or ""
    lines = [ln.strip() for ln in trace.strip().splitlines()]
    for i in range(len(lines) - 1, -1, -1):
        m = re.match(r'File "(.*)", line (\d+)', lines[i])
        if m:
            text = lines[i + 1] if i + 1 < len(lines) else ""
            return f"{m[1].rsplit('/', 1)[-1]}:{m[2]}: {text}"
    return ""


# ---------------------------------------------------------------------- cost model
def _pow2(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()


def _cap(n: Int, most: int) -> int:
    """A block of at most `most` elements along a dimension of `n`; sizes that are not known yet fill it."""
    return most if isinstance(n, Size) else min(_pow2(n), most)


FEW_PROGRAMS = 64  # of a sum along columns: narrower ones keep more multiprocessors busy
VERY_LONG = 65536  # elements of a row that is read twice: few rows at a time, so that the cache keeps most of them


SHARED = 100 << 10  # bytes of shared memory for a program, of which two are to be on a multiprocessor
CHUNK_BLOCK = 2048  # elements of a block of short rows in a kernel that sums their columns, too


def _of_chunks(r: int, top: int) -> list[Config]:
    """Configurations of a kernel with rows and sums of columns, whose accumulators take registers: eight elements for
    each thread, so that two programs fit on a multiprocessor."""
    rb = _pow2(r)
    rows = max(1, min(CHUNK_BLOCK, 1 << max(0, top.bit_length() - 1)) // rb)  # a power of two
    warps = max(1, min(32, rows * rb // 256))
    return [Config(rows, rb, warps), *([Config(rows, rb, warps // 2)] if warps > 1 else [])]


def configurations(
    mode: str, side: bool, x: Int, r: Int, top: int, bucket: int = 0, again: bool = False
) -> list[Config]:
    """Launch configurations, the cost model's choice first; more than one only if they will be measured.

    `side`: neighbouring x lie side by side in memory; `bucket`: the block of a row in registers, where `r` is not
    known yet; `again`: rows are read more than once.
    """
    top = 1 << max(0, top.bit_length() - 1)  # blocks are powers of two
    if mode == "flat":
        best = [Config(_cap(x, min(1024, top)), 1, 4)]
        best += [Config(_cap(x, min(b, top)), 1, w) for b, w in ((512, 4), (2048, 8), (256, 4))]
    elif mode == "tile":
        edge = min(64, max(16, 1 << (top.bit_length() - 1) // 2))
        best = [Config(_cap(x, edge), _cap(r, edge), 8)]
        best += [Config(_cap(x, a), _cap(r, b), w) for a, b, w in ((32, 64, 4), (64, 32, 4), (128, 32, 8))]
    elif mode == "persistent":
        rb = bucket or _pow2(hint(r))
        rows = max(1, min((4096 if not side else 8192) // rb, max(1, top // rb)))
        rows = _cap(x, rows)
        best = [Config(rows, rb, _warps(rows * rb))]
        best += [Config(rows, rb, w) for w in (_warps(rows * rb) // 2, _warps(rows * rb) * 2) if 1 <= w <= 32]
    elif side:
        xb = _cap(x, min(128, top))
        while xb > 16 and hint(x) < xb * FEW_PROGRAMS:
            xb //= 2
        rb = max(1, _cap(r, min(4096 // xb, top // xb)))
        best = [Config(xb, rb, 8), Config(_cap(x, 64), rb, 4), Config(_cap(x, 256), rb, 8)]
    else:
        rb = _cap(r, min(4096, top))
        best = [Config(1, rb, 8), Config(1, max(1, rb // 2), 8), Config(1, rb, 16)]
        if again and hint(r) >= VERY_LONG and rb == 4096:
            best.insert(0, Config(1, (4 if hint(r) < 2 * VERY_LONG else 8) * rb, 32))
    seen: dict[Config, None] = {}
    for c in best:
        if not seen or c.xb * c.rb <= max(top, c.rb):
            seen.setdefault(c)
    return list(seen)


def _warps(elements: int) -> int:
    """32 elements for each thread: enough loads in flight, and what is done once for a thread weighs little."""
    return max(1, min(16, _pow2(elements) // 1024))
