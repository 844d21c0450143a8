"""What a kernel tells the cache: rows that are read again are kept until then."""

import re

import pytest
import torch

from pydynamo.lowering.config import Options
from pydynamo.lowering.testing.aot import kernels_of

SHORT = Options(persistent_limit=1024)
CASES = {
    "read twice": (lambda x: x.softmax(1), 1, "first"),
    "read once": (lambda x: x.sum(1), 0, ""),
    "read by two rows' loops": (lambda x: (x - x.amax(1, keepdim=True)).square().sum(1), 1, "first"),
    "weights beside rows": (lambda x: torch.layer_norm(x, (4096,), x[0]), 1, "first"),
}


def hints(text):
    return re.findall(r"tl\.load\(p\d+ \+ (.*?), .*?eviction_policy='evict_(\w+)'", text)


@pytest.mark.parametrize("name", CASES)
def test_only_rows_that_are_read_again_are_kept_and_the_last_reading_lets_them_go(name):
    fn, again, last = CASES[name]
    (kernel,) = kernels_of(fn, torch.empty(600, 4096), options=SHORT)
    found = hints(kernel.text)
    assert bool(found) == bool(again)
    assert all("x *" in where for where, _ in found)  # what all rows share is never let go
    assert [kind for _, kind in found[-1:]] == ([last] if again else [])
    assert not again or found[0][1] == "last"


@pytest.mark.parametrize("columns", [2**16, 2**17, 2**19])
def test_the_rows_that_are_read_at_once_fit_into_the_cache(columns):
    (kernel,) = kernels_of(lambda x: x.softmax(1), torch.empty(4096, columns, dtype=torch.bfloat16))
    best = kernel.configs[0]
    assert best.warps == 32 and best.rb >= 16384
    assert (best.rb > 16384) == (columns > 2**16)  # so many registers that a multiprocessor holds one program
