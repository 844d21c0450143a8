"""What a kernel becomes on a chip that is not here: registers, spills, wide accesses, tensor-core
instructions.

    python -m pydynamo.lowering.testing.aot kernels.pickle report.json

compiles every pickled KernelSource for sm_90 in a process of its own (one that interprets cannot compile).
"""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from pydynamo.errors import PydynamoError
from pydynamo.lowering.config import Options
from pydynamo.lowering.triton_codegen import KernelSource

CAPABILITY = 90


@dataclasses.dataclass
class Report:
    """Facts of one compiled kernel; bytes for stack, local and shared memory."""

    key: str
    mode: str
    registers: int
    stack: int  # also the scratch of full-range sine and cosine, which is no spill
    spilled: int  # bytes of registers that went to memory
    shared: int
    loads: int  # global load instructions
    wide_loads: int  # of them, 128 bits
    stores: int
    wide_stores: int
    tensor_core: int  # HGMMA, HMMA and their like
    warps: int = 0
    exponentials: int = 0
    error: str = ""


def inspect(src: KernelSource, capability: int = CAPABILITY) -> Report:
    """Compile `src` with its first configuration and read its machine code."""
    from triton.backends.compiler import GPUTarget

    from pydynamo.lowering.runtime import compile_kernel

    compiled = compile_kernel(src, src.configs[0], GPUTarget("cuda", capability, 32))
    return read(compiled, src.key, src.mode)


def read(compiled: Any, key: str, mode: str) -> Report:
    """The facts of a kernel that Triton compiled."""
    sass = compiled.asm["sass"]
    usage = resources(compiled.asm["cubin"])
    loads = re.findall(r"\bLDG\.E[\w.]*", sass)
    stores = re.findall(r"\bSTG\.E[\w.]*", sass)
    return Report(
        key,
        mode,
        usage.get("REG", 0),
        usage.get("STACK", 0),
        spilled_bytes(compiled.asm["ptx"]) if usage.get("STACK", 0) else 0,
        usage.get("SHARED", 0),
        len(loads),
        sum(".128" in x for x in loads),
        len(stores),
        sum(".128" in x for x in stores),
        len(re.findall(r"\b(?:HGMMA|HMMA|IGMMA|IMMA|QGMMA|DMMA)\b", sass)),
        compiled.metadata.num_warps,
        sass.count("MUFU.EX2"),
    )


def spilled_bytes(ptx: str) -> int:
    """Bytes of spill stores and loads, as the assembler reports them."""
    with tempfile.TemporaryDirectory() as d:
        path = Path(d) / "kernel.ptx"
        path.write_text(ptx)
        arch = re.search(r"\.target (sm_\w+)", ptx)
        done = subprocess.run(
            [
                str(_tool("ptxas")),
                "-v",
                f"--gpu-name={arch[1] if arch else 'sm_90a'}",
                str(path),
                "-o",
                os.devnull,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    return sum(int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr))


def _tool(name: str) -> Path:
    import triton

    return Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name


def kernels_of(
    fn: Callable[..., Any], *args: torch.Tensor, options: Options | None = None, dynamic: bool = False
) -> list[KernelSource]:
    """Kernel sources of a functional `fn`, without running it: only shapes and dtypes of `args` matter.

    With `dynamic`, sizes are symbols and those of `args` their hints.
    """
    from pydynamo.lowering import pipeline
    from pydynamo.lowering import torch_private as private
    from pydynamo.lowering.capture import clean
    from pydynamo.lowering.decompositions import decompositions
    from pydynamo.lowering.randoms import replace_dropout
    from pydynamo.lowering.spec import Convert, free_symbols
    from pydynamo.lowering.symbols import Scope

    opts = options or Options()
    gm = private.make_fx(fn, decomposition_table=decompositions(), tracing_mode="symbolic" if dynamic else "fake")(
        *args
    )
    replace_dropout(gm)
    hints: dict[str, int | None] = {}
    for node in gm.graph.nodes:
        hints |= free_symbols(node.meta.get("val"))
    convert = Convert(Scope({n: h for n, h in hints.items() if h is not None}) if dynamic else None)
    low, _, steps = pipeline.lower_and_schedule(clean(gm), pipeline.device_of(gm), opts, convert)
    return pipeline.sources(pipeline.generate_kernels(low, steps, opts))


def resources(cubin: bytes) -> dict[str, int]:
    """Resource usage of a cubin as the CUDA binary utilities report it."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
        f.write(cubin)
        f.flush()
        done = subprocess.run(
            [str(_tool("cuobjdump")), "--dump-resource-usage", f.name],
            capture_output=True,
            text=True,
            check=True,
        )
    return {k: int(v) for k, v in re.findall(r"\b(REG|STACK|SHARED|LOCAL):(\d+)", done.stdout)}


def ptx(src: KernelSource, capability: int = CAPABILITY) -> str:
    """PTX of `src`."""
    from triton.backends.compiler import GPUTarget

    from pydynamo.lowering.runtime import compile_kernel

    return str(compile_kernel(src, src.configs[0], GPUTarget("cuda", capability, 32)).asm["ptx"])


def inspect_elsewhere(kernels: Sequence[KernelSource], timeout: float = 900) -> list[Report]:
    """Reports of `kernels` from a fresh process; raises PydynamoError if that process fails."""
    unique = list({k.key: k for k in kernels}.values())
    return [Report(**r) for r in json.loads(_elsewhere(unique, "report.json", timeout))]


def ptx_elsewhere(src: KernelSource, timeout: float = 120) -> str:
    """PTX of `src` from a fresh process."""
    return _elsewhere([src], "kernel.ptx", timeout)


def _elsewhere(kernels: Sequence[KernelSource], result: str, timeout: float) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "PYDYNAMO_TRITON_INTERPRET")}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    with tempfile.TemporaryDirectory() as d:
        given, out = Path(d) / "kernels.pickle", Path(d) / result
        given.write_bytes(pickle.dumps(list(kernels)))
        done = subprocess.run(
            [sys.executable, "-m", "pydynamo.lowering.testing.aot", str(given), str(out)],
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if done.returncode:
            raise PydynamoError(f"compiling kernels for sm_{CAPABILITY} failed: {done.stderr[-2000:]}")
        return out.read_text()


def main(given: str, out: str) -> None:
    """Compile all, go on after an error, and write the reports."""
    reports = []
    kernels = pickle.loads(Path(given).read_bytes())
    if out.endswith(".ptx"):
        Path(out).write_text("\n\n".join(map(ptx, kernels)))
        return
    for src in kernels:
        try:
            reports.append(inspect(src))
        except Exception as e:
            reports.append(
                Report(src.key, src.mode, 0, 0, 0, 0, 0, 0, 0, 0, 0, error=f"{type(e).__name__}: {e}"[:2000])
            )
    Path(out).write_text(json.dumps([dataclasses.asdict(r) for r in reports]))


if __name__ == "__main__":
    main(*sys.argv[1:3])
