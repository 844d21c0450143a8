"""The architecture, held by reading the sources: which part may import which, and what must not be loaded early.

Dependencies point down only. Every import statement counts, those inside functions too: laziness is no exemption.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pydynamo"

# Part -> the parts that it may import. A module that is in no part (pydynamo/__init__.py, say) is the public face and may
# import anything but the command line.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "bytecode": {"errors", "_core"},
    "eval_frame": {"errors", "_core"},
    "lowering": {"errors"},
    "config": set(),
    "backends": {"errors", "lowering"},
    "frontend": {"config", "errors", "_core", "bytecode", "eval_frame", "lowering"},
}


def part_of(module: str) -> str:
    """`pydynamo.bytecode.text` -> `bytecode`; `pydynamo` itself -> ``."""
    return module.removeprefix("pydynamo").removeprefix(".").split(".")[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every pydynamo module that the file imports, with the line."""
    package = list(path.relative_to(ROOT).with_suffix("").parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "pydynamo":
                    yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            if module == "pydynamo":
                yield from ((node.lineno, f"pydynamo.{alias.name}") for alias in node.names)
            elif module.startswith("pydynamo."):
                yield node.lineno, module


def sources(part: str) -> list[Path]:
    folder = PACKAGE / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [f for f in [folder.with_suffix(".py")] if f.exists()]


@pytest.mark.parametrize("part", ALLOWED)
def test_dependencies_point_down_only(part: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {part} must not know {module}"
        for path in sources(part)
        for line, module in imports(path)
        if part_of(module) not in {part, *ALLOWED[part]}
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_below_knows_the_command_line() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: imports {module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "__main__.py" and path.relative_to(PACKAGE).parts[0] != "cli"
        for line, module in imports(path)
        if part_of(module) == "cli"
    ]
    assert not wrong, "\n".join(wrong)


def modules_after(statement: str) -> set[str]:
    """Names of the top-level packages loaded in a fresh interpreter once the statement has run."""
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
        ).stdout.split()
    )


LIGHT = ["pydynamo", *(f"pydynamo.{part}" for part in ("errors", "bytecode", "eval_frame") if sources(part))]


@pytest.mark.parametrize("module", LIGHT)
def test_import_loads_neither_torch_nor_the_command_lines_libraries(module: str) -> None:
    assert not modules_after(f"import {module}") & {"torch", "numpy", "click", "rich", "triton"}


def test_the_assembler_crate_knows_no_python_api() -> None:
    manifest = (ROOT / "rust" / "assembler" / "Cargo.toml").read_text()
    assert "pyo3" not in manifest
