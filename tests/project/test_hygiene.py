"""What the repository must not contain: traces of the machine it was written on, and files too long to read."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Absolute paths of somebody's machine and hosts of package registries: the project works anywhere, with any mirror.
MACHINE = re.compile(
    r"(?<![\w.])(/work/|/root/|/home/\w+/)|https?://(pypi|files\.pythonhosted|deb\.debian|static\.crates|index\.crates)"
)


def tracked() -> list[Path]:
    """Files under version control; all text files below the root where git is not to be had."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.split("\0") if name]


def test_no_file_names_a_machine_or_a_registry() -> None:
    wrong = []
    for path in tracked():
        if path == Path(__file__) or path.name in {"Cargo.lock"} or not path.is_file():
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        wrong += [
            f"{path.relative_to(ROOT)}:{n}: {line.strip()[:100]}"
            for n, line in enumerate(lines, 1)
            if MACHINE.search(line)
        ]
    assert not wrong, "\n".join(wrong)


def test_no_build_product_is_tracked() -> None:
    products = {".so", ".pyc", ".whl", ".o", ".a"}
    assert not [path for path in tracked() if path.suffix in products]


def test_python_modules_are_short_enough_to_read() -> None:
    """About 500 lines; tables made by a script may be longer."""
    limit = 800
    long = {
        str(path.relative_to(ROOT)): count
        for path in (ROOT / "pydynamo").rglob("*.py")
        if (count := len(path.read_text().splitlines())) > limit
    }
    assert not long, f"split these, one idea a file: {long}"
