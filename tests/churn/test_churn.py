"""CPython's own tests pass on code that was padded with NOPs and laid out anew: the short run, without test_asyncio.

`make churn` runs all of it and shows the table.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run
import suites

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_grammar") is None,
    reason="this Python does not ship CPython's own tests",
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", [name for name in suites.MODULES if name != "test_asyncio"])
def test_cpythons_own_tests_pass_on_churned_code(module: str) -> None:
    row = run.judge(module, "full", seed=1)
    assert row["passed"] > 0, row["left_out"]
    assert not row["failed"], "\n\n".join(f"{name}\n{message}" for name, message in row["failed"].items())
