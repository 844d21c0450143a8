"""Speed of assemblers over one corpus, in one process: what `pydynamo bench` and `benchmarks/assembler.py` show.

Owns the contenders and how they are timed. For every code object the best of a few runs counts; a contender's figure is the
median over code objects, and its time per code unit is total over total. A code object on which any contender raises is
left out for all, and counted for the one that raised.
"""

from __future__ import annotations

import dis
import gc
import importlib
import importlib.metadata
import platform
import statistics
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydynamo import bytecode
from pydynamo.cli import corpus

# Large modules of the standard library that every supported version has.
MODULES = (
    "_pydecimal",
    "_pydatetime",
    "_pyio",
    "argparse",
    "ast",
    "asyncio.base_events",
    "asyncio.streams",
    "collections",
    "configparser",
    "copy",
    "dataclasses",
    "decimal",
    "difflib",
    "doctest",
    "email.message",
    "enum",
    "fractions",
    "functools",
    "http.client",
    "inspect",
    "json.decoder",
    "logging",
    "os",
    "pdb",
    "pickle",
    "pickletools",
    "pydoc",
    "random",
    "shutil",
    "socket",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "traceback",
    "typing",
    "unittest.mock",
    "urllib.parse",
    "urllib.request",
    "uuid",
    "weakref",
    "xml.etree.ElementTree",
    "zipfile",
)

Assembler = Callable[[types.CodeType], object]


@dataclass
class Sample:
    """The corpus: code objects, and the trees that CPython's compiler makes the same code objects of."""

    codes: list[types.CodeType]
    trees: list[tuple[str, Any]]
    units_of_trees: int

    @property
    def units(self) -> int:
        return sum(len(code.co_code) // 2 for code in self.codes)


@dataclass
class Figure:
    """One contender's result; times in seconds."""

    name: str
    group: str
    median: float | None
    per_unit: float
    raised: int = 0


@dataclass
class Results:
    """One run of all contenders."""

    python: str
    code_objects: int
    code_units: int
    versions: dict[str, str]
    figures: list[Figure] = field(default_factory=list)

    def figure(self, name: str) -> Figure | None:
        return next((figure for figure in self.figures if figure.name == name), None)

    def ratio(self, slow: str, fast: str) -> float | None:
        """How many times the median of `slow` is that of `fast`; None where one was not measured."""
        numerator, denominator = self.figure(slow), self.figure(fast)
        if numerator is None or denominator is None or numerator.median is None or denominator.median is None:
            return None
        return numerator.median / denominator.median

    def unit_ratio(self, slow: str, fast: str) -> float | None:
        """The same for time per code unit."""
        numerator, denominator = self.figure(slow), self.figure(fast)
        return None if numerator is None or denominator is None else numerator.per_unit / denominator.per_unit


def sample(limit: int | None = None) -> Sample:
    """The code objects of `MODULES`; with a limit, that many, evenly spread."""
    codes: list[types.CodeType] = []
    trees = []
    for name in MODULES:
        try:
            _, source = corpus.find(name)
        except corpus.BadTarget:
            continue  # this version has no such module
        if source is not None:
            trees.append((name, corpus.parse_source(source.encode(), name)))
            codes.extend(corpus.walk(corpus.compile_source(source.encode(), name)))
    units = sum(len(code.co_code) // 2 for code in codes)
    if limit is not None and limit < len(codes):
        codes = [codes[index * len(codes) // limit] for index in range(limit)]
    return Sample(codes, trees, units)


def read_opnames(instructions: Sequence[Any], options: object) -> None:
    """A callback that asks every instruction for its name, as any pass that looks for something does."""
    for instruction in instructions:
        instruction.opname  # noqa: B018


def leave_alone(instructions: Sequence[Any], options: object) -> None:
    """The callback that does nothing."""


def contenders() -> list[tuple[str, str, Assembler]]:
    """(name, group, function of a code object) of what can be measured here; `torch` and `bytecode` where installed."""
    ours: list[tuple[str, str, Assembler]] = [
        ("pydynamo roundtrip", "pydynamo", bytecode.roundtrip),
        ("pydynamo transform, no-op", "pydynamo", lambda code: bytecode.transform_code_object(code, leave_alone)),
        ("pydynamo transform, opnames", "pydynamo", lambda code: bytecode.transform_code_object(code, read_opnames)),
    ]
    others: list[tuple[str, str, Assembler]] = [
        ("code.replace()", "CPython", lambda code: code.replace()),
        ("dis.get_instructions", "CPython", lambda code: list(dis.get_instructions(code))),
    ]
    if (library := _module("bytecode")) is not None:
        others.append(("bytecode", "bytecode", lambda code: library.Bytecode.from_code(code).to_code()))
    if (transformation := _module("torch._dynamo.bytecode_transformation")) is not None:
        transform = transformation.transform_code_object
        others.append(("torch transform, no-op", "torch", lambda code: transform(code, leave_alone)))
        others.append(("torch transform, opnames", "torch", lambda code: transform(code, read_opnames)))
    return ours + others


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def run(the_sample: Sample, repeats: int = 3, step: Callable[[str], None] = lambda name: None) -> Results:
    """Times every contender over the sample. `step` hears each contender's name before its turn."""
    times: dict[str, list[float | None]] = {}
    groups: dict[str, str] = {}
    for name, group, assembler in contenders():
        step(name)
        groups[name] = group
        times[name] = _best(assembler, the_sample.codes, repeats)
    common = [index for index in range(len(the_sample.codes)) if all(row[index] is not None for row in times.values())]
    units = sum(len(the_sample.codes[index].co_code) // 2 for index in common)
    versions = {
        name: importlib.metadata.version(name) for name in ("torch", "bytecode", "pydynamo") if _installed(name)
    }
    results = Results(platform.python_version(), len(the_sample.codes), the_sample.units, versions)
    for name, row in times.items():
        kept = [value for index in common if (value := row[index]) is not None]
        results.figures.append(
            Figure(name, groups[name], statistics.median(kept), sum(kept) / max(units, 1), row.count(None))
        )
    step("compile(ast)")
    total = sum(_best_compile(name, tree, repeats) for name, tree in the_sample.trees)
    results.figures.append(Figure("compile(ast)", "CPython", None, total / max(the_sample.units_of_trees, 1)))
    return results


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _best(assembler: Assembler, codes: Sequence[types.CodeType], repeats: int) -> list[float | None]:
    """The shortest of some runs in seconds for each code object, None where the assembler raises.

    Whole passes are repeated, not single code objects: torch keeps what it disassembled last, and nobody transforms the
    same function twice in a row.
    """
    best: list[float | None] = [float("inf")] * len(codes)
    was_enabled = gc.isenabled()
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        for index, code in enumerate(codes):
            before = best[index]
            if before is None:
                continue
            try:
                start = time.perf_counter()
                assembler(code)
                best[index] = min(before, time.perf_counter() - start)
            except Exception:  # a contender's own failure is a result, whatever its kind
                best[index] = None
        if was_enabled:
            gc.enable()
    return best


def _best_compile(name: str, tree: Any, repeats: int) -> float:
    """Processor time, not the clock's: a whole module takes long enough for others on the machine to come in between."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        compile(tree, name, "exec", dont_inherit=True, optimize=0)
        best = min(best, time.process_time() - start)
    return best
