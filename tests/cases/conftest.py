"""Makes the repository root importable, so that the cases can use the fuzzer's observer.

COMPILE names another system under test (`COMPILE=torch:compile python -m pytest tests/cases`).
"""

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)
