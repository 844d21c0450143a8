"""The way from torch.compile to the driver, with a fake driver that writes down what it is given."""

import shutil

import pytest
import torch

from pydynamo.lowering import binaries, compile_pool
from pydynamo.lowering.testing import fake_cuda

needs_cc = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc")) or torch.version.cuda is None,
    reason="a C compiler and a torch that was built for CUDA are wanted",
)


def launched(*arguments):
    done = fake_cuda.run(list(arguments))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_cc
def test_the_driver_gets_grid_threads_stream_and_parameters():
    """Of torch's launcher, and of Triton's own, which is there for other versions."""
    out = launched("--triton", "unaligned", "split row", "sizes")
    assert out.count("unaligned") == 2 and "split row" in out and "sizes" in out


@needs_cc
@pytest.mark.slow
def test_every_class_of_kernels_reaches_the_driver():
    out = launched()
    for mode in ("flat", "tile", "persistent", "loop", "matmul"):
        assert f"'{mode}'" in out


def test_a_binary_is_found_again_by_its_job_and_by_nothing_else(tmp_path):
    class Compiled:
        class metadata:  # noqa: N801
            name, num_warps, shared, num_ctas = "kernel", 4, 0, 1
            global_scratch_size = profile_scratch_size = 0

        asm = {"cubin": b"code"}  # noqa: RUF012

    job = (str(tmp_path / "k1.py"), {"p0": "*fp32"}, {"XB": 32}, (0,), ("cuda", 90, 32), {"num_warps": 4})
    assert binaries.find(job) is None
    made = binaries.save(job, Compiled)
    assert binaries.find(job) == made and made.plain and made.scratch == 2
    assert binaries.find((*job[:3], (), *job[4:])) is None
    tmp_path.joinpath(made.path).unlink()
    assert binaries.find(job) is None


def test_a_worker_that_has_died_is_replaced_and_its_job_is_reported(monkeypatch):
    monkeypatch.setattr(compile_pool, "_local", type("Local", (), {})())
    first = compile_pool._own_worker()
    first.process.kill()
    first.process.wait()
    assert "died" in first.compile(("nowhere.py", {}, {}, (), ("cuda", 90, 32), {}))
    second = compile_pool._own_worker()
    assert second is not first
    assert "FileNotFoundError" in second.compile(("/nowhere/k.py", {}, {}, (), ("cuda", 90, 32), {}))
    second.close()


def test_workers_start_early_only_where_there_are_cores_for_them(monkeypatch):
    asked = []

    class Executor:
        def submit(self, fn, *args):
            asked.append(fn)

    monkeypatch.setattr(compile_pool, "workers", lambda: 2)
    compile_pool.start_early(Executor)
    assert asked == []
    monkeypatch.setattr(compile_pool, "workers", lambda: 16)
    monkeypatch.setattr(compile_pool, "_pool", None)
    compile_pool.start_early(Executor)
    assert len(asked) == compile_pool.EARLY
