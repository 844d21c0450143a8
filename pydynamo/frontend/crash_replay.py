"""Runs a report of the compiler's own error again: the function and its arguments are rebuilt and compiled.

Values are stand-ins of the same kind: tensors of ones with the same metadata, classes by name or, where they cannot be
imported, classes of the same methods. The code in a report is run: replay only reports that you trust.
"""

from __future__ import annotations

import ast
import base64
import functools
import importlib
import json
import marshal
import platform
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from pydynamo import config
from pydynamo.errors import PydynamoError
from pydynamo.frontend import crash_report, events
from pydynamo.frontend.convert import compile_frame
from pydynamo.frontend.output_graph import Backend
from pydynamo.frontend.root import FrameInput, Options


class Outcome:
    """What a replay came to: the error that was reported, and the one that came up now (None: it compiled)."""

    def __init__(self, reported: dict[str, str], found: BaseException | None, broke: str | None) -> None:
        self.reported = reported
        self.found = found
        #: the graph break, if there was one: the stand-ins may lead another way than the values did
        self.broke = broke

    @property
    def is_same(self) -> bool:
        """True if the same error came up."""
        found = self.found
        return found is not None and [type(found).__qualname__, str(found)] == [
            self.reported["type"],
            self.reported["message"],
        ]


def replay(path: str | Path, find_backend: Callable[[str], Backend]) -> Outcome:
    """Compile what the report at ``path`` describes. PydynamoError if it cannot be read or rebuilt here."""
    try:
        report = json.loads(Path(path).read_text())
        if report["format"] != crash_report.FORMAT:
            raise PydynamoError(f"{path}: a report of another format than this pydynamo reads")
        written = report["versions"]["python"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PydynamoError(f"{path}: no report that can be read ({type(error).__name__}: {error})") from None
    if written.split(".")[:2] != platform.python_version().split(".")[:2]:
        raise PydynamoError(f"{path}: written by Python {written}; replay it with the same version")
    try:
        frame = _Rebuilder(report["objects"]).frame(report)
    except Exception as error:
        raise PydynamoError(f"{path}: cannot be rebuilt here ({type(error).__name__}: {error})") from error
    breaks: list[str] = []

    def note(kind: str, facts: dict[str, Any]) -> None:
        if kind == "graph_breaks":
            breaks.append(str(facts["reason"]))

    with events.listening(note):
        found = _compile(frame, report, find_backend)
    return Outcome(report["error"], found, breaks[0] if breaks else None)


def _compile(frame: FrameInput, report: dict[str, Any], find_backend: Callable[[str], Backend]) -> BaseException | None:
    try:
        backend = find_backend(report["options"]["backend"])
    except (PydynamoError, ValueError):
        backend = find_backend("eager")
    options = Options(backend, report["options"]["fullgraph"], report["options"]["dynamic"])
    settings = {name: value for name, value in report["config"].items() if hasattr(config, name)}
    settings.pop("report_dir", None)
    before = torch.is_grad_enabled()
    torch._C._set_grad_enabled(report["grad"])
    try:
        with config.patch(**{name: value for name, value in settings.items() if not name.startswith("_")}):
            compile_frame(frame, options, {})
    except Exception as error:
        return error
    finally:
        torch._C._set_grad_enabled(before)
    return None


class _Rebuilder:
    def __init__(self, objects: list[dict[str, Any]]) -> None:
        self._objects = objects
        self._made: dict[int, Any] = {}

    def frame(self, report: dict[str, Any]) -> FrameInput:
        return FrameInput(
            self.get(report["code"]),
            {"__builtins__": __builtins__, **self._all(report["scope"])},
            tuple(self.get(number) for number in report["closure"]),
            self._all(report["arguments"]),
        )

    def _all(self, numbers: dict[str, int]) -> dict[str, Any]:
        return {name: self.get(number) for name, number in numbers.items()}

    def get(self, number: int) -> Any:
        if number not in self._made:
            entry = self._objects[number]
            self._made[number] = getattr(self, f"_{entry['kind']}")(number, entry)
        return self._made[number]

    def _constant(self, number: int, entry: dict[str, Any]) -> Any:
        text = entry["value"]
        return float(text) if entry["type"] == "float" else ast.literal_eval(text)

    def _tensor(self, number: int, entry: dict[str, Any]) -> Any:
        dtype = getattr(torch, entry["dtype"].removeprefix("torch."))
        device = entry["device"] if entry["device"] == "cpu" or torch.cuda.is_available() else "cpu"
        made = torch.empty_strided(entry["size"], entry["stride"] or [], dtype=dtype, device=device).fill_(1)
        if entry["parameter"]:
            return torch.nn.Parameter(made, entry["requires_grad"])
        return made.requires_grad_(entry["requires_grad"])

    def _torch(self, number: int, entry: dict[str, Any]) -> Any:
        text = entry["value"]
        if text.startswith("torch.device"):
            return torch.device(text.split("'")[1])
        return getattr(torch, text.removeprefix("torch."))

    def _list(self, number: int, entry: dict[str, Any]) -> Any:
        made: list[Any] = []
        self._made[number] = made
        made += [self.get(item) for item in entry["items"]]
        return made

    def _tuple(self, number: int, entry: dict[str, Any]) -> Any:
        return tuple(self.get(item) for item in entry["items"])

    def _set(self, number: int, entry: dict[str, Any]) -> Any:
        return {self.get(item) for item in entry["items"]}

    def _frozenset(self, number: int, entry: dict[str, Any]) -> Any:
        return frozenset(self.get(item) for item in entry["items"])

    def _dict(self, number: int, entry: dict[str, Any]) -> Any:
        made: dict[Any, Any] = {}
        self._made[number] = made
        for key, value in entry["items"]:
            made[self.get(key)] = self.get(value)
        return made

    def _module(self, number: int, entry: dict[str, Any]) -> Any:
        try:
            return importlib.import_module(entry["name"])
        except ImportError:
            return types.ModuleType(entry["name"])

    def _code(self, number: int, entry: dict[str, Any]) -> Any:
        return marshal.loads(base64.b64decode(entry["marshal"]))

    def _cell(self, number: int, entry: dict[str, Any]) -> Any:
        made = types.CellType()
        self._made[number] = made
        if "contents" in entry:
            made.cell_contents = self.get(entry["contents"])
        return made

    def _function(self, number: int, entry: dict[str, Any]) -> Any:
        scope: dict[str, Any] = {"__builtins__": __builtins__, "__name__": entry["module"]}
        closure = tuple(types.CellType() for _ in entry["closure"])
        made = types.FunctionType(self.get(entry["code"]), scope, entry["name"], None, closure)
        self._made[number] = made
        made.__qualname__, made.__module__ = entry["qualname"], entry["module"]
        made.__defaults__, made.__kwdefaults__ = self.get(entry["defaults"]), self.get(entry["kwdefaults"])
        scope.update(self._all(entry["scope"]))
        for cell, source in zip(closure, entry["closure"], strict=True):
            real = self.get(source)
            try:
                cell.cell_contents = real.cell_contents
            except ValueError:
                pass
        return made

    def _method(self, number: int, entry: dict[str, Any]) -> Any:
        return types.MethodType(self.get(entry["function"]), self.get(entry["self"]))

    def _partial(self, number: int, entry: dict[str, Any]) -> Any:
        function, args, keywords = (self.get(part) for part in entry["parts"])
        return functools.partial(function, *args, **keywords)

    def _named(self, number: int, entry: dict[str, Any]) -> Any:
        return self._class_of(entry)

    def _named_object(self, entry: dict[str, Any]) -> Any:
        found: Any = importlib.import_module(entry["module"])
        for part in entry["qualname"].split("."):
            found = getattr(found, part)
        return found

    def _class_of(self, entry: dict[str, Any]) -> Any:
        try:
            return self._named_object(entry)
        except (ImportError, AttributeError):
            base = torch.nn.Module if entry.get("is_module") else object
            return type(entry["qualname"].split(".")[-1], (base,), self._all(entry.get("methods", {})))

    def _instance(self, number: int, entry: dict[str, Any]) -> Any:
        cls = self._class_of(entry)
        made = cls.__new__(cls)
        self._made[number] = made
        made.__dict__.update(self._all(entry["attributes"]))
        return made

    def _opaque(self, number: int, entry: dict[str, Any]) -> Any:
        return object()
