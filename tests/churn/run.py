"""CPython's own tests, run with every function churned: a table of what passed, failed and was left out.

    python tests/churn/run.py [--mode full|nops|roundtrip] [--seed N] [--json FILE] [MODULE...]

Each module runs twice in processes of its own: as it is, and churned. What fails as it is, is this machine's affair and is
left out; whatever else fails, or dies by a signal, is a failure. Exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import suites  # noqa: E402

TIME_LIMIT = 1800  # seconds for one module in one process


def run_module(module: str, mode: str, seed: int) -> dict[str, Any]:
    """The outcome of one process; `died` says how it ended where that was not by itself."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", str(HERE / "worker.py"), module, mode, str(seed)],
                cwd=scratch,
                env={**_environment(), "PYTHONPATH": str(HERE.parents[1])},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return {"died": f"no end after {TIME_LIMIT} s"}
    if done.returncode < 0:
        return {"died": f"signal {-done.returncode}: {done.stderr[-1500:]}"}
    try:
        outcome = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"died": f"exit {done.returncode}: {done.stderr[-1500:]}"}
    assert isinstance(outcome, dict)
    return outcome


def _environment() -> dict[str, str]:

    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def judge(module: str, mode: str, seed: int) -> dict[str, Any]:
    """One row: counts, failures that count, and what was left out with its reason."""
    if mode == "full" and module in suites.NOPS_ONLY:
        mode = "nops"
    before = run_module(module, "off", seed)
    if "died" in before:
        return {"module": module, "mode": mode, "passed": 0, "failed": {}, "left_out": {module: before["died"]}}
    after = run_module(module, mode, seed)
    row: dict[str, Any] = {"module": module, "mode": mode}
    if "died" in after:
        return {**row, "passed": 0, "failed": {module: after["died"]}, "left_out": {}}
    left_out = dict(after["left_out"])
    failed = {}
    for name, message in after["failed"].items():
        reason = next((why for pattern, why in suites.LEFT_OUT.items() if fnmatch.fnmatch(name, pattern)), None)
        if name in before["failed"]:
            left_out[name] = "fails without churn too"
        elif reason is not None:
            left_out[name] = reason
        else:
            failed[name] = message
    lost = set(before["passed"]) - set(after["passed"]) - set(after["failed"]) - set(after["left_out"])
    failed |= dict.fromkeys(sorted(lost), "was not run under churn")
    return {
        **row,
        "passed": len(after["passed"]),
        "failed": failed,
        "left_out": left_out,
        "code_objects": after["code_objects"],
        "padded_only": after.get("padded_only", 0),
        "seconds": after["seconds"],
        "seconds_before": before["seconds"],
    }


def show(rows: Iterable[dict[str, Any]]) -> None:
    """The table, then failures and reasons."""
    rows = list(rows)
    print(
        f"\n{'module':<24}{'mode':<11}{'passed':>7}{'failed':>8}{'left out':>10}{'code objects':>14}{'padded only':>13}{'s':>7}"
    )
    for row in rows:
        print(
            f"{row['module']:<24}{row['mode']:<11}{row['passed']:>7}{len(row['failed']):>8}{len(row['left_out']):>10}"
            f"{row.get('code_objects', 0):>14}{row.get('padded_only', 0):>13}{row.get('seconds', 0):>7}"
        )
    reasons = Counter(reason for row in rows for reason in row["left_out"].values())
    print("\nleft out:" if reasons else "\nnothing left out")
    for reason, count in reasons.most_common():
        print(f"  {count:>4} × {reason}")
    for row in rows:
        for name, message in row["failed"].items():
            print(f"\nFAILED {name}\n{message}")
    passed, failed = sum(row["passed"] for row in rows), sum(len(row["failed"]) for row in rows)
    print(f"\nCPython {platform.python_version()} under churn: {passed} passed, {failed} failed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("modules", nargs="*", help="names such as test_grammar (default: the list in suites.py)")
    parser.add_argument("--mode", choices=["full", "nops", "roundtrip"], default="full")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write all outcomes here")
    options = parser.parse_args()
    rows = []
    for module in options.modules or suites.MODULES:
        print(f"{module} …", end="", flush=True, file=sys.stderr)
        rows.append(judge(module, options.mode, options.seed))
        print(f" {rows[-1]['passed']} passed, {len(rows[-1]['failed'])} failed", file=sys.stderr)
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if any(row["failed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
