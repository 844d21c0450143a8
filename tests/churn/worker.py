"""Runs one of CPython's own test modules in this process, its code churned on import, and prints the outcome as JSON.

    worker.py MODULE MODE SEED        (MODE: off, roundtrip, nops, full; see churn.py)

Started by run.py, one process for each module, so that a crash is an outcome like any other.
"""

from __future__ import annotations

import io
import json
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


class Outcomes(unittest.TestResult):
    """Collects the name of every test under what became of it."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[str] = []
        self.failed: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    def _blame(self, test: unittest.TestCase, error: object) -> None:
        # A subtest reports before its test does: the test's own name collects both.
        name = test.id() if not hasattr(test, "test_case") else test.test_case.id()
        self.failed.setdefault(name, self._exc_info_to_string(error, test)[-1500:])  # type: ignore[attr-defined]

    def addSuccess(self, test: unittest.TestCase) -> None:
        if test.id() not in self.failed:
            self.passed.append(test.id())

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        self._blame(test, err)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self._blame(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        if err is not None:
            self._blame(test, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.left_out[test.id()] = reason

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        self.passed.append(test.id())

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.failed[test.id()] = "unexpected success"


def main() -> None:
    name, mode, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    counts = {"code_objects": 0}
    if mode != "off":
        import churn

        counts = churn.install(("test",), mode, seed)
    real_stdout = sys.stdout
    sys.argv[1:] = []
    result = Outcomes()
    start = time.monotonic()
    try:
        import test.support

        test.support.verbose = False
        suite = unittest.defaultTestLoader.loadTestsFromName(f"test.{name}")
        sys.stdout = io.StringIO()
        suite.run(result)
    except unittest.SkipTest as reason:
        result.left_out[name] = str(reason)
    finally:
        sys.stdout = real_stdout
    print(
        "\n"
        + json.dumps(
            {
                "passed": result.passed,
                "failed": result.failed,
                "left_out": result.left_out,
                "seconds": round(time.monotonic() - start, 1),
                **counts,
            }
        )
    )


if __name__ == "__main__":
    main()
