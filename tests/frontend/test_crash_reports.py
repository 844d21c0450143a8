"""An error of the compiler's own: the program runs as in eager, one warning names a report, and the report replays."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

import pydynamo  # noqa: E402
from pydynamo import config  # noqa: E402
from pydynamo.cli import cli  # noqa: E402
from pydynamo.errors import PydynamoError  # noqa: E402
from pydynamo.frontend import wrapper  # noqa: E402 - and fills the table of opcodes
from pydynamo.frontend.dispatch import DISPATCH  # noqa: E402

pytestmark = pytest.mark.smoke
SECRET = "the user's own text"


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.note = SECRET
        self.rate = 0.123456

    def forward(self, x: Any) -> Any:
        return self.inner(x) - self.rate


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Subtraction is broken in the translator."""
    real = DISPATCH["BINARY_OP"]

    def broken(tx: Any, inst: Any) -> None:
        if inst.argrepr.startswith("-"):
            raise ZeroDivisionError("an injected fault")
        real(tx, inst)

    monkeypatch.setitem(DISPATCH, "BINARY_OP", broken)
    monkeypatch.setattr(config, "report_dir", str(tmp_path))
    monkeypatch.setattr(config, "strict", False)
    monkeypatch.setattr(wrapper, "_warned", set())
    return tmp_path


def run(fn: Any, *args: Any) -> tuple[Any, list[str]]:
    compiled = pydynamo.compile(fn, backend="eager")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results = [compiled(*args) for _ in range(2)]
    torch.testing.assert_close(results, [fn(*args)] * 2)
    return results[0], [str(w.message) for w in told]


def only_report(folder: Path) -> Path:
    (report,) = folder.glob("*.json")
    return report


def programs() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    shift = [torch.ones(3)]

    def closure(x: Any, n: int) -> Any:
        return helper(x, k=n) * len(shift)

    def helper(x: Any, k: int = 1) -> Any:
        return x - k * shift[0]

    def containers(x: Any, table: Any) -> Any:
        return x * table["scale"] - table["rows"][0]

    return {
        "closure": (closure, (torch.ones(3), 2)),
        "containers": (containers, (torch.ones(3), {"scale": 2, "rows": [torch.zeros(3)]})),
        "module": (Net(), (torch.ones(2, 3),)),
    }


@pytest.mark.parametrize("name", ["closure", "containers", "module"])
def test_an_internal_error_falls_back_with_one_warning_and_a_report_that_replays(fault: Path, name: str) -> None:
    fn, args = programs()[name]
    _, told = run(fn, *args)
    report = only_report(fault)
    assert len(told) == 1 and str(report) in told[0], told
    answer = CliRunner().invoke(cli, ["replay", str(report)])
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("ZeroDivisionError: an injected fault") == 2
    assert "the same error" in answer.output


def test_replaying_after_the_fault_is_mended_says_so(fault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fn, args = programs()["closure"]
    run(fn, *args)
    monkeypatch.undo()
    answer = CliRunner().invoke(cli, ["replay", str(only_report(fault))])
    assert answer.exit_code == 1 and "now:      none" in answer.output


def test_a_report_holds_source_versions_and_traceback_but_no_data(fault: Path) -> None:
    run(Net(), torch.full((2, 3), 7.25))
    text = only_report(fault).read_text()
    report = json.loads(text)
    assert report["versions"]["torch"] == torch.__version__
    assert any("self.inner(x) - self.rate" in line for line in report["function"]["source"])
    assert "injected" in report["error"]["traceback"] and "BINARY_OP" in report["function"]["bytecode"]
    assert SECRET not in text and "0.123456" not in text and "7.25" not in text
    with config.patch(report_values=True):
        wrapper._warned.clear()
        run(Net(), torch.ones(2, 3))
    assert any("0.123456" in path.read_text() for path in fault.glob("*.json"))


def test_an_object_that_cannot_be_looked_at_does_not_stop_the_report(fault: Path) -> None:
    class Shy:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError("no")

    _, told = run(lambda x, shy: x - 1, torch.ones(3), Shy())
    assert len(told) == 1 and only_report(fault).exists()


def test_a_folder_that_cannot_be_written_is_told_in_the_same_warning(fault: Path) -> None:
    (fault / "file").write_text("")
    with config.patch(report_dir=str(fault / "file" / "below")):
        _, told = run(lambda x: x - 2, torch.ones(3))
    assert len(told) == 1 and "no report could be written" in told[0]


def test_strict_raises_the_error_itself(fault: Path) -> None:
    with config.patch(strict=True), pytest.raises(ZeroDivisionError, match="injected"):
        pydynamo.compile(lambda x: x - 3, backend="eager")(torch.ones(3))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 99}'])
def test_what_is_no_report_is_one_clear_error(tmp_path: Path, text: str) -> None:
    from pydynamo.backends import lookup
    from pydynamo.frontend.crash_replay import replay

    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(PydynamoError, match=r"report"):
        replay(path, lookup)
