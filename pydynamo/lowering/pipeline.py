"""One graph of core ATen through every stage: lower, drop the dead, fuse, generate, wrap."""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

from pydynamo.lowering import templates
from pydynamo.lowering.config import Options
from pydynamo.lowering.cudagraphs import recorded
from pydynamo.lowering.ir import Buffer, Extern, Op
from pydynamo.lowering.kernel import Kernel
from pydynamo.lowering.lower import Lowering
from pydynamo.lowering.lower.columns import together
from pydynamo.lowering.runtime import launcher, one_line, prepare
from pydynamo.lowering.schedule import Group, eliminate_dead, finish, only_columns, schedule
from pydynamo.lowering.schedule import Step as Scheduled
from pydynamo.lowering.spec import Convert, describe
from pydynamo.lowering.symbols import hint
from pydynamo.lowering.triton_codegen import KernelSource, assemble
from pydynamo.lowering.wrapper import NO_SYMBOLS, KernelStep, MatmulStep, Step, generate

log = logging.getLogger("pydynamo.lowering")


@dataclasses.dataclass
class Compiled:
    """What one graph became; every stage is kept so that it can be printed."""

    graph: torch.fx.GraphModule
    ops: list[Op]
    steps: list[Scheduled]
    kernels: list[KernelSource]
    wrapper: str
    call: Callable[[list[Any]], Sequence[Any]]
    native: int
    extern: int
    reasons: list[str]
    seconds: dict[str, float]

    def text(self, stage: str) -> str:
        """One stage as text: "graph", "loops", "schedule", "kernels" or "wrapper"."""
        if stage == "graph":
            return str(self.graph.graph)
        if stage == "loops":
            return "\n".join(map(repr, self.ops))
        if stage == "schedule":
            return "\n".join(map(repr, self.steps))
        if stage == "kernels":
            return "\n\n".join(f'"""{k.doc}"""\n{k.text}' for k in self.kernels)
        if stage == "wrapper":
            return self.wrapper
        raise ValueError(f"no stage {stage!r}: graph, loops, schedule, kernels or wrapper")


RECENT: list[Compiled] = []  # the latest graphs of this process, for explain and for tests
KEEP = 64


def lower_and_schedule(
    gm: torch.fx.GraphModule,
    device: torch.device,
    options: Options,
    convert: Convert | None = None,
    banned: Collection[str] = (),
) -> tuple[Lowering, list[Op], list[Scheduled]]:
    """The front half, which needs no Triton; `convert` knows the symbols in the graph's sizes, `banned` names nodes
    that no kernel may compute."""
    convert = convert or Convert(None)
    describe(gm, convert)
    low = Lowering(gm, device, options, convert, banned).run()
    live = {r.name for r in low.results if hasattr(r, "name")}
    ops = together(low, wanted := eliminate_dead(low.ops, live))
    steps = schedule(ops, options)
    alone = [loop.split for g in steps if isinstance(g, Group) and only_columns(g) for loop in g.loops if loop.split]
    if alone:
        ops = together(low, wanted, alone)
        steps = schedule(ops, options)
    return low, ops, steps


def generate_kernels(low: Lowering, steps: list[Scheduled], options: Options) -> list[Step]:
    """Source of every group; stores that nobody outside of the group reads are left out."""
    readers: dict[str, int] = {}
    for step in steps:
        for n in step.reads:
            readers[n] = readers.get(n, 0) + 1
    returned = {r.name for r in low.results if hasattr(r, "name")}
    out: list[Step] = []
    products = _products(steps, options)
    late: dict[int, Extern] = {}
    for at, step in enumerate(steps):
        if isinstance(step, Extern):
            after = products.get(at)
            if after is not None:
                late[after] = step
            else:
                out.append(_alone(step, options))
            continue
        kernel = finish(step, options)
        needed = {
            n
            for n in step.writes
            if n in returned or n in low.inputs or readers.get(n, 0) > (n in step.reads) or _again(kernel, n)
        }
        source = assemble(kernel, needed, options, low.scope, lambda name: hint(math.prod(low.roots[name].shape)))
        made = [n for n in step.writes if n in source.params and n not in low.inputs and not _made(out, n)]
        plain = KernelStep(source, made)
        product = late.get(at)
        template = templates.fuse(product, step, needed, options) if product is not None else None
        if product is not None and template is None:
            out.append(_alone(product, options))
        out.append(MatmulStep(template, product, plain) if template is not None and product is not None else plain)
    return out


def _products(steps: list[Scheduled], options: Options) -> dict[int, int]:
    """Matmuls that one pointwise group alone reads: position of the matmul -> position of the group."""
    if options.mode != "max-autotune":
        return {}
    found: dict[int, int] = {}
    for at, step in enumerate(steps):
        if isinstance(step, Extern) and templates.product_of(step) is not None:
            who = templates.readers(step, steps)
            if len(who) == 1 and isinstance(steps[who[0]], Group) and who[0] not in found.values():
                found[at] = who[0]
    return found


def _alone(step: Extern, options: Options) -> Step:
    template = templates.alone(step, options) if options.mode == "max-autotune" else None
    return step if template is None else MatmulStep(template, step, None)


def _again(kernel: Kernel, name: str) -> bool:
    """True if the kernel itself loads what it stores (an accumulation in place)."""
    return any(a.name == name and not a.store for a in kernel.accesses)


def _made(steps: list[Step], name: str) -> bool:
    return any(
        (name in s.makes) if not isinstance(s, Extern) else any(b is not None and b.name == name for b in s.outs)
        for s in steps
    )


def sources(steps: list[Step]) -> list[KernelSource]:
    """Every kernel of the steps, in the order in which the wrapper numbers them."""
    kernels: list[KernelSource] = []
    for s in steps:
        if not isinstance(s, Extern):
            kernels.append(s.source)
        if isinstance(s, MatmulStep) and s.pointwise is not None:
            kernels.append(s.pointwise.source)
    return kernels


def compile_graph(
    gm: torch.fx.GraphModule,
    device: torch.device,
    options: Options,
    backward: bool = False,
    convert: Convert | None = None,
    symbols: Mapping[str, str] = NO_SYMBOLS,
) -> Compiled:
    """Compile a functional core-ATen graph whose nodes carry fake tensors in ``meta["val"]``.

    Where their sizes are symbolic, `convert` knows the symbols and `symbols` says how inputs give their values.
    """
    t0 = time.perf_counter()
    banned: frozenset[str] = frozenset()
    for left in (2, 1, 0):
        low, ops, scheduled = lower_and_schedule(gm, device, options, convert, banned)
        t1 = time.perf_counter()
        steps = generate_kernels(low, scheduled, options)
        t2 = time.perf_counter()
        kernels = sources(steps)
        prepare(kernels, options, device)
        launchers = [launcher(k, options, device) for k in kernels]
        refused = unusable(kernels, launchers)
        if not refused:
            break
        banned = banned | refused if left > 1 else frozenset(n.name for n in gm.graph.nodes)
    call: Callable[[list[Any]], Sequence[Any]]
    wrapper, call = generate(
        low.inputs, steps, low.roots, low.results, low.constants, backward, device, launchers, symbols
    )
    if options.mode == "reduce-overhead" and device.type == "cuda":
        on_host = any(b.device != device for b in low.roots.values())
        call = recorded(call, any(op.writes & set(low.inputs) for op in ops), on_host, bool(symbols))
    t3 = time.perf_counter()
    reasons = [f"{op.target}: {op.reason}" for op in ops if isinstance(op, Extern)]
    done = Compiled(
        gm,
        ops,
        scheduled,
        kernels,
        wrapper,
        call,
        low.counts["native"],
        len(reasons),
        reasons,
        {"lower+schedule": t1 - t0, "codegen": t2 - t1, "compile": t3 - t2},
    )
    RECENT.append(done)
    del RECENT[:-KEEP]
    for r in reasons:
        log.info("extern %s", r)
    if options.debug:
        for stage in ("graph", "loops", "schedule", "kernels", "wrapper"):
            print(f"---- {stage}\n{done.text(stage)}")
    return done


def unusable(kernels: Sequence[KernelSource], launchers: Sequence[Any]) -> frozenset[str]:
    """Graph nodes of kernels that cannot be compiled or loaded on this device: torch's own operators take their place.

    Kernels are loaded here, before the first call, where that can still be mended.
    """
    nodes: set[str] = set()
    for kernel, launch in zip(kernels, launchers, strict=True):
        ready = getattr(launch, "ready", None)
        if ready is not None and not isinstance(kernel, templates.MatmulSource):
            try:
                ready()
            except Exception as e:  # whatever a compiler or a driver may have to say
                log.warning("a kernel cannot be used here, torch's operators take its place: %s", one_line(e))
                nodes.update(kernel.origins)
    return frozenset(nodes)


def device_of(gm: torch.fx.GraphModule) -> torch.device:
    """The device that the graph computes on: a GPU if any value is on one."""
    device = torch.device("cpu")
    for node in gm.graph.nodes:
        val = node.meta.get("val")
        if isinstance(val, torch.Tensor) and val.device.type == "cuda":
            return val.device
    return device


__all__ = [
    "RECENT",
    "Buffer",
    "Compiled",
    "compile_graph",
    "device_of",
    "generate_kernels",
    "lower_and_schedule",
]
