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
from collections.abc import Collection
from typing import Any

import torch

from pydynamo.lowering import numerics
from pydynamo.lowering.config import Options
from pydynamo.lowering.kernel import Kernel
from pydynamo.lowering.schedule import largest_address, outer

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
    """A kernel as text, with all that is needed to compile and launch it."""

    text: str  # the body that is compiled and hashed
    doc: str  # provenance
    params: list[str]  # buffer names, in parameter order
    dtypes: list[torch.dtype]
    x: int
    r: int
    mode: str
    configs: list[Config]  # best guess first
    atomics: bool = False
    asserts: bool = False
    inplace: bool = False  # it stores into a buffer that it also loads
    nbytes: int = 0  # bytes read and written at least once, for roofline figures

    @property
    def key(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def grid(self, c: Config) -> tuple[int, int, int]:
        return (-(-self.x // c.xb), -(-self.r // c.rb) if self.mode == "tile" else 1, 1)

    def constexprs(self, c: Config) -> dict[str, Any]:
        return {"XB": c.xb, "RB": c.rb, "EVEN_X": self.x % c.xb == 0, "EVEN_R": self.r % c.rb == 0}


def assemble(kernel: Kernel, needed: Collection[str], options: Options) -> KernelSource:
    """Source of `kernel` that stores only the buffers in `needed`."""
    lines = [text for text, store in kernel.lines if not store or store in needed]
    lines = _without_dead(lines)
    used: dict[str, str] = {}
    for text in lines:
        for name in HOLE.findall(text):
            used.setdefault(name, f"p{len(used)}")
    body = [HOLE.sub(lambda m: used[m[1]], text) for text in lines]
    params = list(used)
    dtypes = [kernel.args[n] for n in params]
    lay = kernel.layout
    text = (
        "\n".join(
            [
                *_imports(kernel),
                *_helpers(kernel),
                *_head(kernel, list(used.values())),
                *("    " + line for line in body),
            ]
        )
        + "\n"
    )
    stored = {a.name for a in kernel.accesses if a.store and a.name in needed}
    loaded = {a.name for a in kernel.accesses if not a.store and a.name in used}
    nbytes = sum(_touched(kernel, n) * kernel.args[n].itemsize for n in stored) + sum(
        _touched(kernel, n) * kernel.args[n].itemsize for n in loaded
    )
    return KernelSource(
        text,
        provenance(kernel),
        params,
        dtypes,
        lay.x,
        lay.r,
        kernel.mode,
        configurations(kernel, options),
        kernel.atomics,
        kernel.asserts,
        bool(stored & loaded),
        nbytes,
    )


def _touched(kernel: Kernel, name: str) -> int:
    """Elements of `name` that the kernel touches, at most, counted once."""
    best = 0
    for a in kernel.accesses:
        if a.name == name:
            best = max(best, math.prod(m for (_, _, m) in a.index.terms))
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
        out += ["", "", "@triton.jit", f"def {name}(a, b):", f"    {numerics.HELPERS[name]}"]
    return out


def _head(kernel: Kernel, params: list[str]) -> list[str]:
    lay, wide = kernel.layout, ".to(tl.int64)" if largest_address(kernel) > 2**31 - 1 else ""
    debug = "(debug=True)" if kernel.asserts else ""
    names = ", ".join([*params, *(f"{n}: tl.constexpr" for n in ("XB", "RB", "EVEN_X", "EVEN_R"))])
    out = ["", "", f"@triton.jit{debug}", f"def kernel({names}):"]
    col, one = ("", "[XB]") if kernel.flat else ("[:, None]", "[XB, 1]")
    out += [
        f"    x = tl.program_id(0){wide} * XB + tl.arange(0, XB){col}",
        f"    xm = tl.full({one}, True, tl.int1) if EVEN_X else x < {lay.x}",
    ]
    if kernel.mode == "tile":
        out.append(f"    r = tl.program_id(1){wide} * RB + tl.arange(0, RB)[None, :]")
    elif kernel.mode == "persistent":
        out.append(f"    r = tl.arange(0, RB)[None, :]{wide}")
    if kernel.mode in ("tile", "persistent"):
        out.append(f"    rm = tl.full([1, RB], True, tl.int1) if EVEN_R else r < {lay.r}")
    return out


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


def configurations(kernel: Kernel, options: Options) -> list[Config]:
    """Launch configurations, the cost model's choice first; more than one only if they will be measured."""
    lay, mode = kernel.layout, kernel.mode
    top = 1 << max(0, options.max_block.bit_length() - 1)  # blocks are powers of two
    if mode == "flat":
        xb = min(_pow2(lay.x), 1024, top)
        best = [Config(xb, 1, 4)]
        best += [Config(min(_pow2(lay.x), b, top), 1, w) for b, w in ((512, 4), (2048, 8), (256, 4))]
    elif mode == "tile":
        side = min(64, max(16, 1 << (top.bit_length() - 1) // 2))
        best = [Config(min(_pow2(lay.x), side), min(_pow2(lay.r), side), 8)]
        best += [
            Config(min(_pow2(lay.x), a), min(_pow2(lay.r), b), w)
            for a, b, w in ((32, 64, 4), (64, 32, 4), (128, 32, 8))
        ]
    elif mode == "persistent":
        rb = _pow2(lay.r)
        rows = max(1, min(_pow2(lay.x), (2048 if not outer(kernel) else 8192) // rb, max(1, top // rb)))
        best = [Config(rows, rb, _warps(rows * rb))]
        best += [Config(rows, rb, w) for w in (_warps(rows * rb) // 2, _warps(rows * rb) * 2) if 1 <= w <= 32]
    elif outer(kernel):
        xb = min(_pow2(lay.x), 128, top)
        rb = max(1, min(_pow2(lay.r), 4096 // xb, top // xb))
        best = [
            Config(xb, rb, 8),
            Config(min(_pow2(lay.x), 64), rb, 4),
            Config(min(_pow2(lay.x), 256), rb, 8),
        ]
    else:
        rb = min(_pow2(lay.r), 4096, top)
        best = [Config(1, rb, 8), Config(1, max(1, rb // 2), 8), Config(1, rb, 16)]
    seen: dict[Config, None] = {}
    for c in best:
        if not seen or c.xb * c.rb <= max(top, c.rb):
            seen.setdefault(c)
    return list(seen)


def _warps(elements: int) -> int:
    return max(1, min(16, _pow2(elements) // 512))
