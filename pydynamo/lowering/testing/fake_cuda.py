"""From torch.compile to the driver, without a GPU: `fake_cuda.c` takes the driver's place and writes launches down.

    python -m pydynamo.lowering.testing.fake_cuda [--triton] [CASE ...]

runs every case below, and with --triton the first one again with Triton's own launcher instead of torch's.  Kernels
are compiled by worker processes, loaded, and launched on CPU tensors whose addresses pass for a GPU's.  Nothing is
computed; what is checked is what the driver was given: grid, threads, shared memory, stream, and each parameter by
the size that the machine code says it has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

STREAM = 4321
Case = tuple[Callable[..., Any], list[Any], dict[str, Any]]


def compiler() -> list[str]:
    """How a C compiler is called; raises RuntimeError where there is none."""
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if cc is None:
        raise RuntimeError("no C compiler")
    return [cc, "-O1"]


def build(folder: Path) -> None:
    """Make ``libcuda.so.1`` in `folder`; raises RuntimeError where there is no C compiler."""
    import triton

    include = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    source = Path(__file__).with_suffix(".c")
    out = folder / "libcuda.so.1"
    subprocess.run([*compiler(), "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(out)], check=True)


def environment(folder: str) -> dict[str, str]:
    """Variables of a process that finds the driver in `folder`, and caches that are its own."""
    env = {k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "PYDYNAMO_TRITON_INTERPRET")}
    return env | {
        "LD_LIBRARY_PATH": folder,
        "TRITON_LIBCUDA_PATH": folder,
        "FAKE_CUDA_LOG": str(Path(folder) / "log"),
        "TRITON_CACHE_DIR": str(Path(folder) / "triton"),
        "PYDYNAMO_CACHE_DIR": str(Path(folder) / "cache"),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }


def run(arguments: list[str], timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """This module's `main` in a process that finds the fake driver."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        command = [sys.executable, "-m", "pydynamo.lowering.testing.fake_cuda", "--inside", *arguments]
        return subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=timeout)


# ---------------------------------------------------------------------- in the process with the fake driver
def pretend() -> None:
    """A device that is not there: the few questions that are asked of torch before a launch."""
    import torch

    from pydynamo.lowering import launch, pipeline, runtime
    from pydynamo.lowering import torch_private as private

    device = torch.device("cuda", 0)
    changes: list[tuple[Any, str, Any]] = [
        (torch.cuda, "current_device", lambda: 0),
        (torch.cuda, "get_device_capability", lambda d=None: (9, 0)),
        (private, "current_device", lambda: 0),
        (private, "current_stream", lambda index: STREAM),
        (pipeline, "prepare", lambda kernels, options, _: runtime.prepare(kernels, options, device)),
        (pipeline, "launcher", lambda source, options, _: Watched(source, options, device)),
        (launch.DirectLauncher, "_clock", lambda self, run: (run(), 1.0)[1]),
    ]
    for home, name, value in changes:
        setattr(home, name, value)


class Watched:
    """A launcher whose launches are compared with what the driver wrote down."""

    def __init__(self, source: Any, options: Any, device: Any) -> None:
        from pydynamo.lowering import runtime

        self.source: Any = source
        self.real: Any = runtime.launcher(source, options, device)
        COUNT[source.mode] = COUNT.get(source.mode, 0)

    def __call__(self, *args: Any) -> None:
        log = Path(os.environ["FAKE_CUDA_LOG"])
        log.write_text("")
        self.real(*args)
        written = log.read_text().splitlines()
        assert written, f"{self.source.mode}: nothing was launched"
        self.check(written[-1].split(), args)
        COUNT[self.source.mode] += 1

    def ready(self) -> None:
        """Load ahead of the first launch, as the real one does."""
        self.real.ready()

    def choose(self, template: Callable[[], None], library: Callable[[], Any]) -> Any:
        """Let the launcher decide, then run both."""
        self.real.choose(template, library)
        template()
        return library()

    def check(self, words: list[str], args: tuple[Any, ...]) -> None:
        """`words`: name, grid, threads, shared memory, stream, parameters."""
        src, x, r = self.source, None, None
        tensors, sizes = args[: len(src.params)], args[len(src.params) :]
        if src.dynamic:
            sizes, (x, r) = sizes[:-2], sizes[-2:]
        config = src.configs_at(src.bucket(r))[0] if src.dynamic else self.real.config
        assert words[0] == "kernel"
        assert tuple(map(int, words[1:4])) == src.grid(config, x, r), (words, config)
        assert int(words[4]) == 32 * config.warps, (words, config)
        assert int(words[6]) == STREAM
        width = 8 if src.wide else 4
        wanted = [(8, t.data_ptr()) for t in tensors] + [(width, n % 256**width) for n in sizes]
        got = [tuple(map(int, w.split(":"))) for w in words[7:]]
        assert got[: len(wanted)] == wanted, (src.text, got, wanted)
        assert all(p == (8, 0) for p in got[len(wanted) :]), got  # scratch memory: none


COUNT: dict[str, int] = {}  # mode -> launches that were right


def cases() -> dict[str, Case]:
    """One or more of each class of kernels."""
    import torch
    import torch.nn.functional as F

    def R(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.randn(*shape, dtype=dtype)

    def put(x: Any, i: Any, v: Any) -> Any:
        return torch.index_put(x, (i,), v, accumulate=True)

    def step(p: Any, g: Any) -> None:
        p.sub_(g * 0.1)

    bf = torch.bfloat16
    ids = torch.arange(7)
    few = {"options": {"split_min": 64, "split_rows": 16, "persistent_limit": 1024}}
    tuned = {"options": {"mode": "max-autotune"}}
    either = {"dynamic": True}
    norm = [R(9, 300, dtype=bf), R(300, dtype=bf), R(300, dtype=bf)]
    return {
        "pointwise": (lambda x, y: F.gelu(x) * y, [R(100, 70), R(70)], {}),
        "unaligned": (lambda x, y: x + y, [R(101)[1:], R(100)], {}),
        "tile": (lambda x, y: x.t() + y, [R(128, 96), R(96, 128)], {}),
        "wide tile": (lambda x, y: x.t() + y, [R(5_000_000, 2), R(2, 5_000_000)], {}),
        "persistent": (lambda x, w, b: F.layer_norm(x, (300,), w, b), norm, {}),
        "looped row": (lambda x: x.softmax(1), [R(600, 2000)], few),
        "split row": (lambda x: x.softmax(1), [R(2, 9000)], few),
        "columns": (lambda x: x.sum(0), [R(3000, 40)], few),
        "scan": (lambda x: x.cumsum(1), [R(5, 200)], {}),
        "scatter": (put, [R(20, 8), ids, R(7, 8)], {}),
        "checked": (lambda w, i: w[i] * 2, [R(50, 16), ids], {}),
        "dropout": (lambda x: F.dropout(x, 0.5, True), [R(1000)], {}),
        "argmax": (lambda x: (x.argmax(1), x.amax(1)), [R(8, 100)], {}),
        "in place": (step, [R(1000), R(1000)], {}),
        "bool and bytes": (lambda a, b: (a > 0) & b, [R(99), R(99) > 0], {}),
        "matmul": (
            lambda x, w, b: F.gelu(F.linear(x, w, b)),
            [R(64, 64, dtype=bf) for _ in range(2)] + [R(64, dtype=bf)],
            tuned,
        ),
        "sizes": (lambda x: (x * 2).sum(1) + x.shape[0], [R(37, 50)], either),
        "sizes of scans": (lambda x: x.cumsum(0).softmax(1), [R(48, 64)], either),
        "sizes of tiles": (lambda x, y: x.t() * y, [R(80, 64), R(64, 80)], either),
    }


def use_tritons_launcher() -> None:
    """As where torch brings no launcher of its own."""
    import triton
    from triton.backends.nvidia.driver import CudaDriver

    from pydynamo.lowering import torch_private as private

    triton.runtime.driver.set_active(CudaDriver())
    private.static_launcher = lambda: None


def main(names: list[str]) -> None:
    """Run the cases; raises AssertionError at the first launch that is not right."""
    import torch

    from pydynamo.lowering.capture import backend

    pretend()
    known, again = cases(), "--triton" in names
    wanted = [n for n in names if n != "--triton"] or list(known)
    for name in [*wanted, *(["--triton", wanted[0]] if again else [])]:
        if name == "--triton":
            use_tritons_launcher()
            continue
        fn, args, how = known[name]
        torch._dynamo.reset()
        how = {"dynamic": False} | how
        f = torch.compile(fn, backend=backend, **how)
        with torch.no_grad():
            for _ in range(2):
                f(*args)
        print(name, COUNT)
    assert sum(COUNT.values()) > 0


if __name__ == "__main__":
    if "--inside" in sys.argv:
        main([a for a in sys.argv[1:] if a != "--inside"])
    else:
        done = run(sys.argv[1:])
        print(done.stdout, done.stderr)
        sys.exit(done.returncode)
