"""Compile one kernel in a worker process: fills Triton's disk cache, so that the main process only loads.

Imports Triton but not torch, so that a worker starts quickly.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from typing import Any

from pydynamo.lowering import binaries
from pydynamo.lowering.binaries import Job


def compile_job(job: Job) -> str:
    """Compile (file, signature, constants, aligned parameters, target, options); returns an error or ""."""
    try:
        if binaries.find(job) is None:
            binaries.save(job, compile_file(job))
    except Exception as e:  # the main process compiles again and raises it where it belongs
        return f"{type(e).__name__}: {e}"
    return ""


def compile_file(job: Job) -> Any:
    """Triton's compiled kernel of the function `kernel` in a source file."""
    path, signature, constants, aligned, target, options = job
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    fn = _load(path)
    names = list(fn.arg_names)
    source = ASTSource(
        fn=fn,
        signature=signature | dict.fromkeys(constants, "constexpr"),
        constexprs={(names.index(n),): v for n, v in constants.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in aligned},
    )
    return triton.compile(source, target=GPUTarget(*target), options=options)


def _load(path: str) -> Any:
    name = "pydynamo_" + os.path.basename(path).removesuffix(".py")
    module = sys.modules.get(name)
    if module is None:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no Python source at {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module.kernel


def warm_up() -> None:
    """What the first compilation would wait for: Triton's modules, and the hash of its own files."""
    try:
        from triton.backends.nvidia.compiler import get_ptxas_version
        from triton.runtime.cache import triton_key

        triton_key()
        get_ptxas_version(90)
    except Exception:
        pass  # another version keeps them elsewhere: then the first job is slower


def serve() -> None:
    """Read pickled jobs from standard input until it closes; answer each with a pickled error or ""."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a compiler prints must not mix with the replies
    warm_up()
    while True:
        try:
            job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(compile_job(job), replies)
        replies.flush()


if __name__ == "__main__":
    serve()
