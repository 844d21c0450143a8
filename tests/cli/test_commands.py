"""What a person sees of the command line: answers, exit status, and one clear line for a question that makes no sense."""

import importlib.util
import json
import marshal
import struct
import sys
from pathlib import Path

import pytest

from pydynamo.cli import main

SOURCE = """
def twice(x, n):
    for i in range(n):
        try:
            x = x * 2
        except ValueError:
            x = 0
    return x

class Thing:
    def method(self):
        return [twice(y, 1) for y in self.all]

def lazily(rows, stream):
    return (twice(y, 1) for y in rows), (twice(y, 1) async for y in stream)
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "thing.py"
    path.write_text(SOURCE)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of one command."""
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    captured = capsys.readouterr()
    return int(exit.value.code or 0), captured.out, captured.err


def write_pyc(path: Path, code: object) -> Path:
    path.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    return path


def test_dis_of_a_function_shows_its_instructions(capsys, source) -> None:
    status, out, _ = run(capsys, "dis", f"{source}:twice")
    assert status == 0
    assert "FOR_ITER" in out and "twice" in out and "RETURN_VALUE" in out


def test_dis_finds_a_method_of_a_module_that_is_not_imported(capsys) -> None:
    status, out, _ = run(capsys, "dis", "json.decoder:JSONDecoder.decode")
    assert status == 0 and "raw_decode" in out


def test_dis_recursive_shows_nested_code(capsys, source) -> None:
    status, out, _ = run(capsys, "dis", str(source), "-r")
    assert status == 0 and "Thing.method" in out


def test_dis_before_after_marks_what_changed(capsys, source) -> None:
    status, out, _ = run(capsys, "dis", f"{source}:twice", "--before-after", "lines")
    assert status == 0 and any(line.startswith("+") and "report" in line for line in out.splitlines())


def test_dis_before_after_of_a_roundtrip_has_no_difference(capsys, source) -> None:
    status, out, _ = run(capsys, "dis", f"{source}:twice", "--before-after", "roundtrip")
    assert status == 0 and "no difference" in out


def test_roundtrip_of_a_folder_is_identical(capsys, source) -> None:
    write_pyc(source.with_name("compiled.pyc"), compile(SOURCE, "compiled.py", "exec"))
    status, out, _ = run(capsys, "roundtrip", str(source.parent))
    assert status == 0 and "identical" in out and "100.000%" in out


def test_roundtrip_reports_json(capsys, source) -> None:
    status, out, _ = run(capsys, "roundtrip", str(source), "--json")
    report = json.loads(out)
    assert status == 0
    assert report["code_objects"] == report["identical"] >= 4 and not report["kinds"]


def test_roundtrip_counts_files_that_are_not_python(capsys, source) -> None:
    source.with_name("broken.py").write_text("def f(:\n")
    status, out, _ = run(capsys, "roundtrip", str(source.parent))
    assert status == 0 and "left out, 1 files" in out


def test_verify_of_a_module_proves_all(capsys) -> None:
    status, out, _ = run(capsys, "verify", "json.decoder")
    assert status == 0 and "0 rejected" in out


def underflowing() -> object:
    """A code object that pops from an empty stack."""
    import dis

    code = compile("x = 1", "underflow.py", "exec")
    units = bytearray(code.co_code)
    second = list(dis.get_instructions(code))[1].offset
    units[second : second + 2] = bytes([dis.opmap["POP_TOP"], 0])
    return code.replace(co_code=bytes(units))


def test_verify_names_the_instruction_that_would_crash(capsys, tmp_path) -> None:
    path = write_pyc(tmp_path / "bad.pyc", underflowing())
    status, out, _ = run(capsys, "verify", str(path))
    assert status == 1
    assert "instruction 1" in out and "stack-underflow" in out and "1 rejected" in out


def test_verify_json_carries_the_reason(capsys, tmp_path) -> None:
    path = write_pyc(tmp_path / "bad.pyc", underflowing())
    status, out, _ = run(capsys, "verify", str(path), "--json")
    assert status == 1 and json.loads(out)["rejected"][0]["kind"] == "stack-underflow"


def test_roundtrip_of_a_bad_code_object_exits_with_one(capsys, tmp_path) -> None:
    path = write_pyc(tmp_path / "bad.pyc", underflowing())
    status, out, _ = run(capsys, "roundtrip", str(path))
    assert status == 1 and "rejected" in out


def test_bench_measures_a_few_code_objects(capsys) -> None:
    status, out, _ = run(capsys, "bench", "--limit", "5", "--repeats", "1", "--json")
    names = {figure["name"] for figure in json.loads(out)["figures"]}
    assert status == 0 and {"pydynamo roundtrip", "compile(ast)", "dis.get_instructions"} <= names


def test_explain_runs_a_script_and_shows_what_it_compiled(capsys, tmp_path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch, pydynamo\n"
        "f = pydynamo.compile(lambda x, n: x * n + 1, backend='eager')\n"
        "print(f(torch.ones(2), int(sys.argv[1])))\n"
    )
    status, out, err = run(capsys, "explain", str(script), "3")
    assert status == 0, err
    assert "tensor([4., 4.])" in out and "1 graph, 2 operators, 0 graph breaks" in out


NONSENSE = {
    "no such file": ("verify", "nowhere/missing.py"),
    "no such module": ("verify", "no_such_module_at_all"),
    "not a name": ("verify", "this is no name"),
    "no such function": ("verify", "json.decoder:nothing"),
    "extension module": ("verify", "math"),
    "builtin module": ("verify", "sys"),
    "no such path": ("roundtrip", "nowhere"),
    "no such transformation": ("dis", "heapq:heappush", "--before-after", "nothing"),
    "no such script": ("explain", "nowhere.py"),
    "no such command": ("frobnicate",),
    "no such option": ("roundtrip", "--frobnicate"),
    "missing argument": ("verify",),
    "limit of zero": ("bench", "--limit", "0"),
}


@pytest.mark.parametrize("arguments", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_gets_one_message_and_status_two(capsys, arguments) -> None:
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert err.count("Error: ") == 1 and "Traceback" not in err + out


def test_a_folder_without_python_is_nonsense(capsys, tmp_path) -> None:
    status, _, err = run(capsys, "roundtrip", str(tmp_path))
    assert status == 2 and "no .py or .pyc file" in err


@pytest.mark.parametrize(
    ("data", "message"),
    {
        "another version": (struct.pack("<HBBIII", 3413, 13, 10, 0, 0, 0), "not a .pyc file of Python"),
        "truncated": (
            importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(SOURCE, "t", "exec"))[:40],
            "damaged",
        ),
        "not code": (importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(17), "holds int"),
        "empty": (b"", "not a .pyc file"),
    }.values(),
)
def test_a_damaged_pyc_is_nonsense(capsys, tmp_path, data, message) -> None:
    path = tmp_path / "damaged.pyc"
    path.write_bytes(data)
    status, _, err = run(capsys, "verify", str(path))
    assert status == 2 and message in err


def test_a_module_that_is_a_script_runs(source, capsys) -> None:
    import subprocess

    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "pydynamo", "verify", str(source)], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
