"""What the benchmark's kernels would take on an H200, read from their machine code: no GPU is wanted.

    python benchmarks/roofline.py [NAME ...]

For each kernel of `gpu_cases` at its full size: bytes that it must move, and the time that memory takes for them;
instructions for each element, and the time in which the chip can issue them; registers, and the share of its threads
that a multiprocessor can hold; bytes that these have in flight.  A kernel is bound by memory where issuing takes
clearly less time than memory.  Instructions of a loop are counted once for its steps, the others with them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
from gpu_cases import KERNELS, Case, Maker, kernel_case

BYTES_PER_S = 4.3e12  # read plus written
LANES_PER_S = 132 * 4 * 32 * 1.75e9
REGISTERS, THREADS, SHARED = 65536, 2048, 228 * 1024


class Unfilled(Maker):
    """Tensors of full size that nothing touches, so that they take no memory."""

    def R(self, *shape: int, dtype: torch.dtype = torch.bfloat16, grad: bool = False) -> torch.Tensor:
        t = torch.empty(shape, dtype=dtype).requires_grad_(grad)
        t.abs_ = lambda: t  # type: ignore[method-assign]
        return t

    def ids(self, high: int, n: int) -> torch.Tensor:
        return torch.zeros(n, dtype=torch.int64)


def kernels_of(case: Case) -> list[Any]:
    """The kernels of a case, both ways, without a launch."""
    from unittest import mock

    from pydynamo.lowering import capture, pipeline

    nothing = lambda *args: None  # noqa: E731
    torch._dynamo.reset()
    pipeline.RECENT.clear()
    with (
        mock.patch.object(pipeline, "prepare", nothing),
        mock.patch.object(pipeline, "launcher", lambda *args: nothing),
        torch.set_grad_enabled(case.backward),
    ):
        out = torch.compile(case.fn, backend=capture.backend, dynamic=False)(*case.args)
        if case.backward:
            wants = [a for a in case.args if isinstance(a, torch.Tensor) and a.requires_grad]
            torch.autograd.grad(out, wants, torch.empty_like(out))
    return [k for g in pipeline.RECENT for k in g.kernels]


def code_of(src: Any) -> tuple[Any, list[str], tuple[int, int] | None]:
    """The compiled kernel, the names of its instructions, and where its longest loop lies."""
    from triton.backends.compiler import GPUTarget

    from pydynamo.lowering.runtime import compile_kernel

    compiled = compile_kernel(src, src.configs[0], GPUTarget("cuda", 90, 32))
    names: list[str] = []
    labels: dict[str, int] = {}
    loop: tuple[int, int] | None = None
    for line in compiled.asm["sass"].splitlines():
        label = re.match(r"\s*(\.?L\w+):", line)
        if label:
            labels[label[1]] = len(names)
            continue
        found = re.search(r"(?:^|\t)\s*(?:@!?U?P\w+ )?([A-Z][A-Z0-9_.]+)\b.*;", line.split(":")[-1])
        if not found:
            continue
        names.append(found[1])
        target = re.search(r"BRA\S*\s+(\.?L\w+)", line)
        start = labels.get(target[1]) if target else None
        if start is not None and len(names) - start > 3 and (loop is None or len(names) - start > loop[1] - loop[0]):
            loop = (start, len(names))
    return compiled, names, loop


def steps_at_once(text: str, wide_loads: int, each: float) -> int:
    """How many steps of its loop over r a kernel takes at once, told by its loads of whole blocks."""
    body = re.search(r"for r0 in.*?if not EVEN_R:", text, re.DOTALL)
    whole = [a for a in re.findall(r"tl\.load\(p\d+ \+ (.*?), ", body[0]) if "r" in a and "x" in a] if body else []
    return max(1, round(wide_loads / (len(whole) * each / 8))) if whole else 1


def row(name: str, src: Any) -> list[str]:
    """One line of the table."""
    from pydynamo.lowering.testing.aot import read

    compiled, names, loop = code_of(src)
    config = src.configs[0]
    report = read(compiled, src.key, src.mode)
    threads = 32 * config.warps
    body = names[loop[0] : loop[1]] if loop is not None and src.mode == "loop" else names
    loads = [n for n in body if n.startswith("LDG")]
    per_load = config.xb * config.rb / threads
    unrolled = steps_at_once(src.text, len([n for n in loads if ".128" in n]), per_load)
    each = sum(n != "NOP" for n in body) / per_load / unrolled
    elements = src.x * src.r if src.mode != "flat" else src.x
    resident = min(
        REGISTERS // (-(-report.registers // 8) * 8 * threads), THREADS // threads, 32, SHARED // (report.shared + 1024)
    )
    flight = sum(16 if ".128" in n else 8 if ".64" in n else 4 for n in loads) * threads * resident
    return [
        name,
        f"{src.mode} {config.xb}x{config.rb}, {config.warps} warps",
        f"{src.nbytes / 1e6:.0f}",
        f"{src.nbytes / BYTES_PER_S * 1e6:.0f}",
        f"{each:.1f}",
        f"{elements * each / LANES_PER_S * 1e6:.0f}",
        str(report.registers),
        f"{resident * threads / THREADS:.0%}",
        f"{flight // 1024}",
        f"{report.wide_loads}/{report.loads}",
        str(report.spilled),
    ]


COLUMNS = ("case", "kernel", "MB", "memory µs", "instructions", "issue µs", "registers", "threads", "KB in flight")


def main(names: list[str]) -> None:
    """Print the table; small kernels that cannot matter are left out."""
    import gpu_cases

    gpu_cases.Maker = Unfilled  # type: ignore[misc]
    columns = (*COLUMNS, "wide loads", "spilled")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for entry in KERNELS:
        if entry[0] in ("linear+gelu", "one small kernel") or (names and not any(n in entry[0] for n in names)):
            continue
        case = kernel_case(entry, False, torch.device("cpu"))
        for src in kernels_of(case):
            if src.nbytes > 1e6:
                print("| " + " | ".join(row(entry[0], src)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
