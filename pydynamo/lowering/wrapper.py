"""The flat Python function that runs a compiled graph: allocate, launch, call externs, free, return."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.ir import Buffer, Extern, Opaque, OpaqueOut
from pydynamo.lowering.symbols import Int, Size, alike, same
from pydynamo.lowering.triton_codegen import KernelSource


@dataclasses.dataclass
class KernelStep:
    """One launch: the kernel's source, and the buffers that it makes."""

    source: KernelSource
    makes: list[str]


@dataclasses.dataclass
class MatmulStep:
    """A product with its epilogue: as one template, or as the library's product and a pointwise kernel."""

    source: KernelSource  # the template
    product: Extern
    pointwise: KernelStep | None

    @property
    def makes(self) -> list[str]:
        if self.pointwise is not None:
            return self.pointwise.makes
        return [b.name for b in self.product.outs if b is not None]


Step = KernelStep | MatmulStep | Extern


# torch's own Python functions of operators: their arguments are parsed faster than those of `torch.ops`
FACES: Mapping[Any, Callable[..., Any]] = {
    torch.ops.aten.mm.default: torch.mm,
    torch.ops.aten.addmm.default: torch.addmm,
    torch.ops.aten.bmm.default: torch.bmm,
    torch.ops.aten.convolution.default: torch.convolution,
}
NO_SYMBOLS: Mapping[str, str] = {}


class Namer:
    """Turns Buffers into expressions of the wrapper's source."""

    def __init__(self, roots: dict[str, Buffer]) -> None:
        self.roots = roots
        self.objects: dict[str, Any] = {}
        self.computed: dict[str, str] = {}  # text of a size -> the local variable that holds it

    def size(self, n: Int) -> str:
        """A size: a number, a symbol's name, or a variable that is computed once at the start."""
        text = repr(n)
        if not isinstance(n, Size) or text.isidentifier():
            return text
        return self.computed.setdefault(text, f"_n{len(self.computed)}")

    def sizes(self, ns: Sequence[Int]) -> str:
        return f"({', '.join(map(self.size, ns))}{',' if len(ns) == 1 else ''})"

    def constant(self, v: Any, hint: str) -> str:
        name = f"_{hint}{len(self.objects)}"
        self.objects[name] = v
        return name

    def expr(self, v: Any) -> str:
        if isinstance(v, Buffer):
            root = self.roots[v.name]
            if alike(v.shape, root.shape) and alike(v.stride, root.stride) and same(v.offset, root.offset):
                e = v.name
            else:
                e = f"_window({v.name}, {self.sizes(v.shape)}, {self.sizes(v.stride)}, {self.size(v.offset)})"
            return e if v.dtype == root.dtype else f"{e}.view({v.dtype})"
        if isinstance(v, Opaque):
            return v.name
        if isinstance(v, (list, tuple)):
            inner = ", ".join(self.expr(x) for x in v)
            return f"[{inner}]" if isinstance(v, list) else f"({inner}{',' if len(v) == 1 else ''})"
        if isinstance(v, Size):
            return self.size(v)
        if v is None or type(v) in (int, bool, str):
            return repr(v)
        return self.constant(v, "c")


def window(t: torch.Tensor, shape: Sequence[int], stride: Sequence[int], offset: int) -> torch.Tensor:
    """A strided view; `offset` counts from the first element of `t`."""
    return t.as_strided(shape, stride, t.storage_offset() + offset)


def fit(t: Any, shape: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """`t` with exactly the strides that kernels were generated for (copied where an operator chose
    others)."""
    if not isinstance(t, torch.Tensor) or t.stride() == stride or t.shape != shape:
        return t  # of another shape: what a library keeps for itself, and no kernel reads
    if all(n < 2 or a == b for n, a, b in zip(shape, t.stride(), stride, strict=True)) or t.numel() == 0:
        return t.as_strided(shape, stride)
    out = torch.empty_strided(shape, stride, dtype=t.dtype, device=t.device)
    out.copy_(t.detach())
    return out


def generate(
    inputs: Sequence[str],
    steps: Sequence[Step],
    roots: dict[str, Buffer],
    results: Sequence[Any],
    constants: dict[str, Any],
    check_inputs: bool,
    device: torch.device,
    launchers: Sequence[Callable[..., None]],
    symbols: Mapping[str, str] = NO_SYMBOLS,
) -> tuple[str, Callable[[list[Any]], tuple[Any, ...]]]:
    """Source of ``call(args)`` and the function itself; `args` is emptied, so that the caller holds
    nothing.  `symbols` says how each symbol is read from the inputs."""
    namer = Namer(roots)
    last = _last_uses(steps, results)
    for n in constants:
        last.pop(n, None)
    lines = ["def call(args):"]
    if inputs:
        lines.append(f"    {', '.join(inputs)}{',' if len(inputs) == 1 else ''} = args")
    lines.append("    args.clear()")
    lines += [f"    {name} = {text}" for name, text in symbols.items()]
    start = len(lines)
    for n in inputs:
        b = roots.get(n)
        if b is None:
            continue
        if check_inputs:
            lines.append(f"    {n} = _fit({n}, {namer.sizes(b.shape)}, {namer.sizes(b.stride)})")
    number = 0
    for at, step in enumerate(steps):
        if isinstance(step, (KernelStep, MatmulStep)):
            for n in step.makes:
                b = roots[n]
                shape, stride = namer.sizes(b.shape), namer.sizes(b.stride)
                lines.append(f"    {n} = _empty({shape}, {stride}, {b.dtype})")
            run = f"_k{number}({arguments(step.source, namer)})"
            if isinstance(step, MatmulStep):
                lines += _either(step, run, number, namer)
                number += step.pointwise is not None
            else:
                lines.append(f"    {run}")
            number += 1
        else:
            lines += ["    " + line for line in _extern(step, namer)]
        dead = [n for n, i in last.items() if i == at]
        if dead:
            lines.append(f"    del {', '.join(dead)}")
    out = ", ".join(namer.expr(r) for r in results)
    lines.append(f"    return ({out}{',' if len(results) == 1 else ''})")
    lines[start:start] = [f"    {name} = {text}" for text, name in namer.computed.items()]
    source = "\n".join(lines) + "\n"
    namespace: dict[str, Any] = {
        "torch": torch,
        "_window": window,
        "_fit": fit,
        "_empty": private.allocator(device),
        "inf": float("inf"),
        "nan": float("nan"),
        **namer.objects,
        **{f"_k{i}": k for i, k in enumerate(launchers)},
        **constants,
    }
    exec(compile(source, "<pydynamo wrapper>", "exec"), namespace)
    return source, namespace["call"]


def arguments(source: KernelSource, namer: Namer) -> str:
    """What a launch passes: the buffers, and for sizes that were not known their values, then x and r."""
    late = [*source.sizes, source.x, source.r] if source.dynamic else []
    return ", ".join([*source.params, *map(namer.size, late)])


def _either(step: MatmulStep, template: str, number: int, namer: Namer) -> list[str]:
    """Source that lets the template's launcher choose between itself and the library."""
    plain = ["    " + line for line in _extern(step.product, namer)]
    (out,) = step.product.outs
    if step.pointwise is not None:
        plain.append(f"    _k{number + 1}({arguments(step.pointwise.source, namer)})")
        names = ""
    else:
        assert out is not None
        plain.append(f"    return {out.name}")
        names = "_product = "
    name = f"_library{number}"
    return [
        f"    def {name}():",
        *("    " + line for line in plain),
        f"    {names}_k{number}.choose(lambda: {template}, {name})",
        *([f"    {out.name} = {out.name} if _product is None else _product"] if names and out is not None else []),
    ]


def _extern(step: Extern, namer: Namer) -> list[str]:
    fn = namer.constant(FACES.get(step.target, step.target), "op")
    args = ", ".join([*(namer.expr(a) for a in step.args), *(f"{k}={namer.expr(v)}" for k, v in step.kwargs.items())])
    names = [b.name if b is not None else "_" for b in step.outs]
    lines = [f"# {step.target}" + (f": {step.reason}" if step.reason else "")]
    if not names:
        return [*lines, f"{fn}({args})"]
    left = names[0] if step.single else f"{', '.join(names)}{',' if len(names) == 1 else ''}"
    lines.append(f"{left} = {fn}({args})")
    lines += [
        f"{b.name} = _fit({b.name}, {namer.sizes(b.shape)}, {namer.sizes(b.stride)})"
        for b in step.outs
        if b is not None and not isinstance(b, OpaqueOut)
    ]
    return lines


def _last_uses(steps: Sequence[Step], results: Sequence[Any]) -> dict[str, int]:
    """Step after which each storage that is not returned can be dropped."""
    last: dict[str, int] = {}
    for i, step in enumerate(steps):
        if isinstance(step, KernelStep):
            names = step.source.params
        elif isinstance(step, MatmulStep):
            names = [*step.source.params, *step.product.reads, *step.makes]
            if step.pointwise is not None:
                names += [n for n in step.pointwise.source.params if n not in step.product.writes]
        else:
            names = [*step.reads, *step.writes]
        for n in names:
            last[n] = i
    for r in results:
        if isinstance(r, Buffer):
            last.pop(r.name, None)
    return last
