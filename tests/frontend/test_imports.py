"""What is loaded when: importing is cheap, ``compile`` loads the compiler, and compiling then loads nothing more."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def printed(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_loads_no_other_package() -> None:
    found = printed(
        """
        import sys
        before = set(sys.modules)
        import pydynamo
        print(*sorted(set(sys.modules) - before))
        """
    )
    assert set(found) <= {"__future__", "pydynamo"}


def test_the_assembler_loads_no_torch() -> None:
    assert "torch" not in printed(
        "import sys, pydynamo.bytecode as b; b.format, b.virtualize_jumps; print(*sys.modules)"
    )


def test_public_names_are_there_without_being_loaded() -> None:
    script = "import sys, {0} as m; print(set(m.__all__) <= set(dir(m)), [n for n in m.__all__ if not hasattr(m, n)])"
    for package in ("pydynamo", "pydynamo.bytecode"):
        assert printed(script.format(package)) == ["True", "[]"]


def test_compiling_loads_nothing_after_decorating() -> None:
    pytest.importorskip("torch")
    found = printed(
        """
        import sys, torch, pydynamo

        def f(x):
            return (x * 2 + 1).relu()

        g = pydynamo.compile(f, backend="eager")
        before = set(sys.modules)
        assert g(torch.ones(2)).tolist() == [3.0, 3.0]
        print(*sorted(set(sys.modules) - before))
        assert not any(name.startswith(("torch._dynamo", "sympy")) for name in sys.modules)
        """
    )
    assert found == []
