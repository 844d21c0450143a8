"""Lowering tests run in a process where Triton is interpreted; the compiled-kernel tests start their own
process."""

import os

import pytest

os.environ["PYDYNAMO_TRITON_INTERPRET"] = "1"
torch = pytest.importorskip("torch")
pytest.importorskip("triton")


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def _kernel_cache(tmp_path_factory):
    os.environ["PYDYNAMO_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
