"""Whatever of a mutant loops is interrupted, also what runs when nobody calls it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_what_dies_with_the_exception_of_a_run_is_interrupted() -> None:
    program = """
        import random, sys, types
        from tests.fuzz.execute import Alarm, run

        class Held:
            def __del__(self):
                while True: pass

        def mutant(a, b):
            held = Held()
            raise ValueError

        sys.unraisablehook = lambda _: None
        run(mutant.__code__, types.SimpleNamespace(function=mutant), globals(), random.Random(1), Alarm())
        print("fine")
    """
    start = f"exec(compile({textwrap.dedent(program)!r}, 'samples', 'exec'))"
    done = subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "fine\n", done.stderr
