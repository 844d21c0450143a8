"""Loading, compiling and launching kernels.

Interpreted: the source is run on CPU tensors by the mended interpreter.
Compiled: `triton.compile` ahead of time for a target, then the compiled kernel is launched directly, without the
JIT's per-call dispatch.  Sources live in the disk cache under the hash of their text, their binaries beside them
(see `binaries`).
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pydynamo.errors import PydynamoError
from pydynamo.lowering import binaries
from pydynamo.lowering.binaries import Binary, Job
from pydynamo.lowering.compile_worker import compile_file
from pydynamo.lowering.config import Options
from pydynamo.lowering.numerics import SIGNATURE
from pydynamo.lowering.symbols import hint
from pydynamo.lowering.triton_codegen import Config, KernelSource

Launcher = Callable[..., None]


def cache_dir() -> Path:
    """Where kernel sources are kept: $PYDYNAMO_CACHE_DIR, else ~/.cache/pydynamo; a temporary folder where no file can
    be made there."""
    base = os.environ.get("PYDYNAMO_CACHE_DIR")
    path = (Path(base) if base else Path.home() / ".cache" / "pydynamo") / "kernels"
    return path if _writable(path) else _elsewhere()


def _writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(path, os.W_OK | os.X_OK)


@functools.cache
def _elsewhere() -> Path:
    return Path(tempfile.mkdtemp(prefix="pydynamo-kernels-"))


def source_file(src: KernelSource) -> Path:
    """The file that holds `src`; written once, atomically."""
    path = cache_dir() / f"k{src.key}.py"
    if not path.exists():
        doc = src.doc.replace("\\", "\\\\").replace('"""', "'''")
        text = f'"""{src.mode} kernel, x = {src.x!r}, r = {src.r!r}\n\n{doc}\n"""\n{src.text}'
        fd, tmp = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(fd, "w") as f:
            f.write(text)
        os.replace(tmp, path)
    return path


def one_line(error: Exception) -> str:
    """An error in one line, for the log."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


# ---------------------------------------------------------------------- interpreted
class Interpreted:
    """Runs a kernel on CPU tensors."""

    def __init__(self, src: KernelSource) -> None:
        from pydynamo.lowering.testing import interpreter

        interpreter.install()
        self.run, self.races = interpreter.run, not src.atomics
        self.src, self.fn = src, interpreter.load(src.key, src.text)

    def __call__(self, *args: Any) -> None:
        src, config, x, r = self.src, self.src.configs[0], None, None
        if src.dynamic:
            args, x, r = args[:-2], args[-2], args[-1]
            config = src.configs_at(src.bucket(r))[0]
        self.run(self.fn, src.grid(config, x, r), args, src.constexprs(config), self.races)

    def choose(self, template: Callable[[], None], library: Callable[[], Any]) -> Any:
        """Between a matmul template and the library: here always the template, which is what wants
        testing."""
        return template()


# ---------------------------------------------------------------------- compiled
class Target(NamedTuple):
    """What Triton calls GPUTarget, without importing Triton for it."""

    backend: str
    arch: int
    warp_size: int


def target_of(device: torch.device) -> Target:
    """Triton's target for a CUDA device."""
    major, minor = torch.cuda.get_device_capability(device)
    return Target("cuda", major * 10 + minor, 32)


def job_of(src: KernelSource, config: Config, target: Any, aligned: Sequence[bool] | None = None) -> Job:
    """What a worker needs to compile `src`; `aligned` says which pointers, and then which sizes, are multiples of 16.

    Without it, all pointers are, and the sizes whose hints are.
    """
    if aligned is None:
        aligned = [*(True for _ in src.dtypes), *(hint(n) % 16 == 0 for n in src.sizes)]
    integer = "i64" if src.wide else "i32"
    signature = {f"p{i}": SIGNATURE[dt] for i, dt in enumerate(src.dtypes)}
    options = {
        "num_warps": config.warps,
        "num_stages": config.stages,
        "enable_fp_fusion": False,
        "debug": src.asserts,
        "sanitize_overflow": False,
    }
    return (
        str(source_file(src)),
        signature | {f"n{i}": integer for i in range(len(src.sizes))},
        src.constexprs(config),
        tuple(i for i, yes in enumerate(aligned) if yes),
        (target.backend, target.arch, target.warp_size),
        options,
    )


def compile_kernel(src: KernelSource, config: Config, target: Any, aligned: Sequence[bool] | None = None) -> Any:
    """Triton's compiled kernel, from its disk cache where an earlier process has been."""
    return _compile(job_of(src, config, target, aligned))


def _compile(job: Job) -> Any:
    from pydynamo.lowering.testing import interpreter

    if interpreter.installed():
        raise PydynamoError("this process interprets Triton kernels: compile them for a GPU in a process of its own")
    return compile_file(job)


def binary(src: KernelSource, config: Config, target: Any, aligned: Sequence[bool] | None = None) -> Binary:
    """Machine code of a kernel: found where a worker or an earlier process has left it, else made here."""
    job = job_of(src, config, target, aligned)
    found = binaries.find(job)
    return binaries.save(job, _compile(job)) if found is None else found


def prepare(sources: Sequence[KernelSource], options: Options, device: torch.device) -> None:
    """Compile all kernels of a graph in parallel, before the first launch; on a CPU there is nothing to do."""
    if device.type != "cuda":
        return
    from pydynamo.lowering.compile_pool import compile_all

    target = target_of(device)
    tried = slice(None) if options.mode == "max-autotune" else slice(1)
    jobs = [job_of(s, c, target) for s in sources for c in s.configs[tried]]
    compile_all([job for job in jobs if binaries.find(job) is None])


def launcher(src: KernelSource, options: Options, device: torch.device) -> Launcher:
    """What the wrapper calls for one kernel."""
    if device.type == "cpu":
        if not options.interpret:
            raise PydynamoError(
                "the Triton backend needs a GPU for CPU tensors it can only interpret: move the "
                'model to "cuda", use another backend, or pass options={"interpret": True} '
                "(environment: PYDYNAMO_TRITON_INTERPRET=1) to run slowly, for testing"
            )
        return Interpreted(src)
    from pydynamo.lowering.launch import DirectLauncher, SizedLauncher

    return (SizedLauncher if src.dynamic else DirectLauncher)(src, options, device)
