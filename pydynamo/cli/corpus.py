"""Code objects found by name: below a path, in a module, inside a file. Knows no assembler and no terminal.

Sources are compiled by this interpreter, afresh and without optimization; .pyc files are read as they are. What cannot be
read says why with a `BadTarget`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
import marshal
import os
import site
import sysconfig
import tokenize
import types
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import click


class BadTarget(click.ClickException):
    """What was asked for cannot be found or read; the message says what and why."""


def walk(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code object and every one nested in its constants, outermost first (without recursion: nesting may be deep)."""
    waiting = [code]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(constant for constant in reversed(current.co_consts) if isinstance(constant, types.CodeType))


def standard_library() -> Path:
    """The folder of this interpreter's standard library."""
    return Path(sysconfig.get_path("stdlib"))


def expand(path: str) -> list[Path]:
    """`stdlib` and `site-packages` by name, anything else as the path that it is."""
    if path == "stdlib":
        return [standard_library()]
    if path == "site-packages":
        folders = [Path(folder) for folder in dict.fromkeys([sysconfig.get_path("purelib"), *site.getsitepackages()])]
        return [folder for folder in folders if folder.is_dir()]
    if not os.path.exists(path):
        raise BadTarget(f"{path}: no such file or folder (a module is named in `dis` and `verify`, not here)")
    return [Path(path)]


def files(paths: Iterable[Path]) -> list[Path]:
    """Every .py and .pyc file below the paths, sorted; a file itself counts whatever its name.

    Below a standard library its site-packages are not entered, and cached .pyc files (`__pycache__`) nowhere: they hold
    what the .py beside them says.
    """
    found: list[Path] = []
    for top in paths:
        if top.is_file():
            found.append(top)
            continue
        within_site = {"site-packages", "dist-packages"} & set(top.resolve().parts)
        for folder, names, entries in os.walk(top):
            names[:] = sorted(
                name
                for name in names
                if name != "__pycache__" and (within_site or name not in ("site-packages", "dist-packages"))
            )
            found.extend(Path(folder, entry) for entry in sorted(entries) if entry.endswith((".py", ".pyc")))
    return found


def read(path: Path) -> types.CodeType:
    """The module's code object of one .py or .pyc file.

    Raises `BadTarget` for a file that cannot be read, is no Python, or was compiled by another version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadTarget(f"{path}: {error.strerror}") from None
    if path.suffix == ".pyc":
        return read_pyc(data, str(path))
    return compile_source(data, str(path))


def compile_source(source: bytes | ast.Module, name: str) -> types.CodeType:
    """`compile()` without this module's own flags; what a source may raise becomes a `BadTarget`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeDecodeError, OverflowError) as error:
        raise BadTarget(f"{name}: not Python {_version()}: {type(error).__name__}: {error}") from None


def parse_source(source: bytes, name: str) -> ast.Module:
    """`ast.parse`, quietly; raises `BadTarget` for what is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadTarget(f"{name}: not Python {_version()}: {type(error).__name__}: {error}") from None


def read_pyc(data: bytes, name: str) -> types.CodeType:
    """The code object in the bytes of a .pyc file.

    `marshal` trusts its input, so only a file with this interpreter's magic number is handed to it.
    """
    if data[:4] != importlib.util.MAGIC_NUMBER:
        raise BadTarget(f"{name}: not a .pyc file of Python {_version()} (its magic number is another's)")
    try:
        code = marshal.loads(data[16:])
    except (EOFError, ValueError, TypeError) as error:
        raise BadTarget(f"{name}: damaged .pyc file: {error}") from None
    if not isinstance(code, types.CodeType):
        raise BadTarget(f"{name}: damaged .pyc file: it holds {type(code).__name__}, not a code object")
    return code


def find(target: str) -> tuple[types.CodeType, str | None]:
    """The code object that TARGET names, with the source text where there is one.

    TARGET is a file, a module (`json.decoder`), or either with a qualified name: `json.decoder:JSONDecoder.decode`. A
    module is located, not imported; packages above it are.
    """
    place, _, qualname = target.partition(":")
    code, source = _module_code(place)
    if qualname:
        code = _descend(code, qualname, target)
    return code, source


def _module_code(place: str) -> tuple[types.CodeType, str | None]:
    path = Path(place)
    if path.suffix in (".py", ".pyc") or os.sep in place:
        if not path.is_file():
            raise BadTarget(f"{place}: {'is a folder, not a file' if path.is_dir() else 'no such file'}")
        return read(path), _text(path) if path.suffix != ".pyc" else None
    if not all(part.isidentifier() for part in place.split(".")):
        raise BadTarget(f"{place!r}: neither a file nor a module's name")
    try:
        spec = importlib.util.find_spec(place)
    except ModuleNotFoundError as error:
        raise BadTarget(f"{place}: no module named {error.name!r}") from None
    except Exception as error:
        raise BadTarget(f"{place}: cannot be located: {type(error).__name__}: {error}") from None
    if spec is None:
        raise BadTarget(f"{place}: no module of that name")
    if spec.origin is None or not spec.has_location:
        raise BadTarget(f"{place}: a {spec.origin or 'namespace'} module: it has no Python code")
    if not spec.origin.endswith((".py", ".pyc")):
        raise BadTarget(f"{place}: an extension module ({spec.origin}): it has no Python code")
    origin = Path(spec.origin)
    return read(origin), _text(origin) if origin.suffix == ".py" else None


def _text(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return None


def _descend(code: types.CodeType, qualname: str, target: str) -> types.CodeType:
    for name in [part for part in qualname.split(".") if part != "<locals>"]:
        inside = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        # PEP 695 wraps a generic function or class in a scope of its own: look through it.
        inside += [
            inner
            for scope in inside
            if scope.co_name.startswith("<generic parameters of")
            for inner in scope.co_consts
            if isinstance(inner, types.CodeType)
        ]
        match = [constant for constant in inside if constant.co_name == name]
        if not match:
            known = ", ".join(dict.fromkeys(constant.co_name for constant in inside)) or "nothing"
            raise BadTarget(f"{target}: no function or class {name!r} in {code.co_qualname}; it holds {known}")
        code = match[0]
    return code


def _version() -> str:
    return sysconfig.get_python_version()
