"""Programs on "CUDA" tensors without a GPU: `fake_cudart.c` takes the runtime's place, `fake_cuda.c` the driver's.

    python -m pydynamo.lowering.testing.fake_device FILE [ARGUMENT ...]

runs a script on a device that computes nothing.  What can be checked is what needs no numbers: that no kernel is given
memory of the host, which raises, that results are where eager puts them and look the same, that what happens on the host
happens in every call, and that nothing raises.  Convolutions and attention go to cuDNN, which has no stand-in.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydynamo.lowering.testing import fake_cuda


def build(folder: Path) -> Path:
    """Make both libraries in `folder`; returns what is to be preloaded.  Raises RuntimeError where that cannot be."""
    import torch
    import triton

    fake_cuda.build(folder)
    driver = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    runtime = Path(torch.__file__).parents[1] / "nvidia" / f"cu{(torch.version.cuda or '0').split('.')[0]}" / "include"
    if not (runtime / "cuda_runtime_api.h").exists():
        raise RuntimeError("no headers of the CUDA runtime")
    out = folder / "fake_cudart.so"
    source = Path(__file__).with_name("fake_cudart.c")
    done = subprocess.run(
        [
            *fake_cuda.compiler(),
            "-shared",
            "-fPIC",
            "-w",
            f"-I{runtime}",
            f"-I{driver}",
            str(source),
            "-o",
            str(out),
            "-ldl",
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"another version of the CUDA runtime: {done.stderr[-500:]}")
    return out


def run(arguments: list[str], timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """A script and its arguments in a process that finds the fake device."""
    with tempfile.TemporaryDirectory() as folder:
        env = fake_cuda.environment(folder) | {"LD_PRELOAD": str(build(Path(folder)))}
        env.pop("FAKE_CUDA_LOG")
        command = [sys.executable, "-m", "pydynamo.lowering.testing.fake_device", "--inside", *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout)


# ---------------------------------------------------------------------- in the process with the fake device
def watch() -> list[str]:
    """Let launchers check where their tensors are; returns the list in which they write down their kernels' modes."""
    from pydynamo.lowering import launch

    launched: list[str] = []
    for kind in (launch.DirectLauncher, launch.SizedLauncher):
        real = kind.__call__

        def call(self: Any, *args: Any, real: Any = real) -> None:
            for t in args[: len(self.src.params)]:
                assert t.is_cuda, f"a kernel of {self.src.doc or self.src.text} is given memory of the host"
            launched.append(self.src.mode)
            real(self, *args)

        kind.__call__ = call  # type: ignore[method-assign]
    return launched


def main(path: str, arguments: list[str]) -> None:
    """Run a script as if it had been called with these arguments."""
    watch()
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    given = [a for a in sys.argv[1:] if a != "--inside"]
    if not given:
        sys.exit(__doc__)
    if "--inside" in sys.argv:
        main(given[0], given[1:])
    else:
        finished = run(given)
        print(finished.stdout, finished.stderr)
        sys.exit(finished.returncode)
