"""Makes the repository root importable, so that the cases can use the fuzzer's observer.

The cases run when COMPILE names the system under test (`COMPILE=pydynamo:compile python -m pytest tests/cases`).
"""

import os
import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)

collect_ignore_glob = [] if os.environ.get("COMPILE") else ["test_*.py"]
