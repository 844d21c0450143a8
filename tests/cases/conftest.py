"""Makes the repository root importable, so that the cases can use the fuzzer's observer.

COMPILE names another system under test (`COMPILE=torch:compile python -m pytest tests/cases`).
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)


@pytest.fixture(autouse=True)
def _internal_errors_are_raised() -> Iterator[None]:
    """A frame that the compiler gives up on runs uncompiled, and would pass."""
    from pydynamo import config

    with config.patch(strict=True):
        yield
