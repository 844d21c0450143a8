"""Reports of the compiler's own errors, as one JSON file that ``pydynamo replay`` runs again.

A report holds the function's code and source, what kind of values it was called with, the settings, the versions and
the traceback. It holds no data: of a tensor its metadata, of texts those that the code holds itself (others become as
many ``x``), of fractions only that they are some; ``config.report_values`` lets texts and fractions in as they are.
Knows how values look, not how they are tracked.
"""

from __future__ import annotations

import base64
import dis
import functools
import importlib.metadata
import io
import itertools
import json
import linecache
import marshal
import os
import platform
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pydynamo import config

if TYPE_CHECKING:
    from pydynamo.frontend.root import FrameInput, Options

FORMAT = 1
#: a report describes at most this many objects; what lies behind is opaque
_LIMIT = 5000
_numbers = itertools.count()


def write(frame: FrameInput, options: Options, error: BaseException) -> Path:
    """Write the report of ``error``, which came up while ``frame`` was compiled, and say where it is."""
    folder = Path(config.report_dir or Path(tempfile.gettempdir()) / "pydynamo-reports")
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "_" for c in frame.code.co_name)
    path = folder / f"{name}-{os.getpid()}-{next(_numbers)}.json"
    path.write_text(json.dumps(report(frame, options, error), indent=1))
    return path


def report(frame: FrameInput, options: Options, error: BaseException) -> dict[str, Any]:
    """The report as a JSON value."""
    code = frame.code
    table = Table(code)
    scope = {name: frame.scope[name] for name in names_of(code) if name in frame.scope}
    scope |= {name: frame.scope[name] for name in ("__name__", "__package__") if name in frame.scope}
    return {
        "format": FORMAT,
        "versions": versions(),
        "error": {
            "type": type(error).__qualname__,
            "message": str(error),
            "traceback": "".join(traceback.format_exception(error)),
        },
        "options": {
            "backend": getattr(options.backend, "__name__", type(options.backend).__name__),
            "fullgraph": options.fullgraph,
            "dynamic": options.dynamic,
        },
        "config": {name: value for name, value in vars(config).items() if type(value) in (bool, int, str)},
        "function": {
            "qualname": code.co_qualname,
            "filename": code.co_filename,
            "source": source_lines(code),
            "bytecode": text_of(code),
        },
        "code": table.add(code),
        "scope": {name: table.add(value) for name, value in scope.items()},
        "closure": [table.add(cell) for cell in frame.closure],
        "arguments": {name: table.add(value) for name, value in frame.arguments.items()},
        "grad": torch.is_grad_enabled(),
        "objects": table.objects,
    }


def versions() -> dict[str, str]:
    """What the outcome may hang on."""
    try:
        own = importlib.metadata.version("pydynamo")
    except importlib.metadata.PackageNotFoundError:
        own = "a working tree"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "pydynamo": own,
        "platform": platform.platform(),
    }


def source_lines(code: types.CodeType) -> list[str]:
    """The lines of the function, as far as they can be found."""
    lines = [line for _, _, line in code.co_lines() if line]
    numbers = range(code.co_firstlineno, max(lines, default=0) + 1)
    return [linecache.getline(code.co_filename, number).rstrip("\n") for number in numbers]


def text_of(code: types.CodeType) -> str:
    """The disassembly."""
    text = io.StringIO()
    dis.dis(code, file=text, depth=0)
    return text.getvalue()


def names_of(code: types.CodeType) -> set[str]:
    """The names that the code and the code inside it use."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*(names_of(part) for part in inner))


def _texts_of(code: types.CodeType) -> set[str]:
    found: set[str] = set(code.co_names) | set(code.co_varnames)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found |= _texts_of(const)
        elif isinstance(const, tuple):
            found |= {part for part in const if isinstance(part, str)}
        elif isinstance(const, str):
            found.add(const)
    return found


class Table:
    """Objects by number, each once: shared objects and cycles are kept."""

    def __init__(self, code: types.CodeType) -> None:
        self.objects: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._texts = _texts_of(code)

    def add(self, value: Any) -> int:
        """The number of ``value``."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        number = len(self.objects)
        self._numbers[id(value)] = number
        self._alive.append(value)
        entry: dict[str, Any] = {"kind": "opaque", "type": type(value).__qualname__}
        self.objects.append(entry)
        if number < _LIMIT:
            try:
                described = self._describe(value)
            except Exception as error:  # an object of the user that cannot be looked at
                described = {"kind": "opaque", "type": type(value).__qualname__, "why": type(error).__name__}
            entry.clear()
            entry.update(described)
        return number

    def _describe(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes):
            return {"kind": "constant", "value": self._constant(value), "type": kind.__name__}
        if isinstance(value, torch.Tensor):
            return _tensor(value)
        if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
            return {"kind": "torch", "value": repr(value) if kind is not torch.device else f"torch.device('{value}')"}
        if kind in (list, tuple, set, frozenset):
            return {"kind": kind.__name__, "items": [self.add(item) for item in value]}
        if kind is dict:
            return {"kind": "dict", "items": [[self.add(key), self.add(item)] for key, item in value.items()]}
        if isinstance(value, types.ModuleType):
            return {"kind": "module", "name": value.__name__}
        if isinstance(value, types.CodeType):
            return {"kind": "code", "marshal": base64.b64encode(marshal.dumps(value)).decode()}
        if isinstance(value, types.CellType):
            return self._cell(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return {"kind": "method", "function": self.add(value.__func__), "self": self.add(value.__self__)}
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return {"kind": "partial", "parts": [self.add(part) for part in parts]}
        if isinstance(value, type | types.BuiltinFunctionType):
            return {"kind": "named", "module": value.__module__, "qualname": value.__qualname__}
        return self._instance(value)

    def _constant(self, value: Any) -> Any:
        if config.report_values:
            return repr(value)
        if isinstance(value, str) and value not in self._texts:
            return repr("x" * len(value))
        if isinstance(value, bytes):
            return repr(b"x" * len(value))
        if isinstance(value, float | complex):
            return repr(type(value)(1.5))
        return repr(value)

    def _cell(self, cell: types.CellType) -> dict[str, Any]:
        try:
            return {"kind": "cell", "contents": self.add(cell.cell_contents)}
        except ValueError:
            return {"kind": "cell"}

    def _function(self, fn: types.FunctionType) -> dict[str, Any]:
        module = fn.__module__ or ""
        if (
            module.split(".")[0] in ("torch", "pydynamo", *sys.stdlib_module_names)
            and "<locals>" not in fn.__qualname__
        ):
            return {"kind": "named", "module": module, "qualname": fn.__qualname__}
        self._texts |= _texts_of(fn.__code__)
        scope = {name: fn.__globals__[name] for name in names_of(fn.__code__) if name in fn.__globals__}
        return {
            "kind": "function",
            "name": fn.__name__,
            "qualname": fn.__qualname__,
            "module": module,
            "code": self.add(fn.__code__),
            "scope": {name: self.add(value) for name, value in scope.items()},
            "closure": [self.add(cell) for cell in fn.__closure__ or ()],
            "defaults": self.add(fn.__defaults__),
            "kwdefaults": self.add(fn.__kwdefaults__),
        }

    def _instance(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        attributes = getattr(value, "__dict__", None)
        if not isinstance(attributes, dict) or cls.__module__ == "builtins":
            return {"kind": "opaque", "type": f"{cls.__module__}.{cls.__qualname__}"}
        if isinstance(value, torch.nn.Module):
            stores = (attributes.get(name) or {} for name in ("_parameters", "_buffers", "_modules"))
            self._texts |= {name for store in stores for name in store}  # names, not data
        methods = {
            name: self.add(member)
            for base in reversed(cls.__mro__)
            for name, member in vars(base).items()
            if isinstance(member, types.FunctionType) and base.__module__.split(".")[0] not in ("torch", "builtins")
        }
        return {
            "kind": "instance",
            "module": cls.__module__,
            "qualname": cls.__qualname__,
            "is_module": isinstance(value, torch.nn.Module),
            "methods": methods,
            "attributes": {name: self.add(item) for name, item in attributes.items()},
        }


def _tensor(value: torch.Tensor) -> dict[str, Any]:
    return {
        "kind": "tensor",
        "parameter": isinstance(value, torch.nn.Parameter),
        "dtype": str(value.dtype),
        "device": str(value.device),
        "size": list(value.size()),
        "stride": list(value.stride()) if value.layout is torch.strided else None,
        "requires_grad": value.requires_grad,
    }
