"""Runs one program eagerly and compiled, and says where the two part.

A program is the source of a module with `make()`, which returns the callable under test, and `calls()`,
which returns a list of (args, kwargs). The source is executed twice, in two modules with code objects of
their own, so that the two runs share nothing: arguments, globals, classes and defaults are equal copies.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import linecache
import os
import random
import signal
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tests.fuzz_frontend.observe import Trace, Walker, first_difference

Compiler = Callable[..., Any]


class ProgramTimeout(BaseException):
    """The program did not end in time."""


@dataclass
class Verdict:
    """What came of one program."""

    status: str  # same, differs, invalid (eager fails outside the calls), timeout, crash
    where: str = ""  # path of the first difference
    eager: str = ""
    compiled: str = ""
    graphs: int = 0
    ops: int = 0
    calls: int = 0
    raising: int = 0  # calls that raise under eager
    seconds: float = 0.0
    kind: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def signature(self) -> tuple[str, str]:
        """Coarse kind of a difference; shrinking keeps it."""
        return self.status, self.kind


def _kind(where: str, eager: Any, compiled: Any, raised: tuple[str, str]) -> str:
    """The sort of a difference: where it shows, which sorts of values part, which exceptions rise."""
    place = where.split()[2] if where.startswith("call ") and len(where.split()) > 2 else where
    sorts = [token[0] if isinstance(token, tuple) else type(token).__name__ for token in (eager, compiled)]
    if any(raised):
        return f"raised {raised}"
    return f"{place.partition('[')[0].partition('.')[0]} {sorts}"


class CountingBackend:
    """A backend that runs the graph as it is and counts graphs and their operations."""

    def __init__(self) -> None:
        self.graphs = self.ops = 0

    def __call__(self, gm: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        operations = sum(n.op in ("call_function", "call_method", "call_module") for n in gm.graph.nodes)
        self.graphs += operations > 0
        self.ops += operations
        return gm.forward


def load_compiler(spec: str) -> tuple[Compiler, Callable[[], None]]:
    """The compiler named `pkg.module:attr`, and what resets it.  `identity` runs eager twice."""
    if spec == "identity":
        return (lambda fn, **_: fn), (lambda: None)
    module_name, _, attribute = spec.partition(":")
    owner: Any = importlib.import_module(module_name)
    compiler = owner
    for part in (attribute or "compile").split("."):
        compiler = getattr(compiler, part)
    if module_name == "torch":
        return compiler, importlib.import_module("torch._dynamo").reset
    return compiler, getattr(owner, "reset", lambda: None)


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ends the program after so many seconds of processor time: how busy the machine is says nothing about it."""

    def ring(signum: int, frame: object) -> None:
        raise ProgramTimeout

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _load(source: str, name: str) -> types.ModuleType:
    filename = f"<{name}>"
    module = types.ModuleType(name)
    sys.modules[name] = module
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(source, filename, "exec")
    exec(code, module.__dict__)  # noqa: S102 - the program is what we are here to run
    return module


def _process_state() -> Trace:
    return [
        ("python random state", hash(random.getstate())),
        ("torch random state", hash(torch.get_rng_state().numpy().tobytes())),
        ("grad mode", torch.is_grad_enabled()),
        ("inference mode", torch.is_inference_mode_enabled()),
        ("autocast", torch.is_autocast_enabled("cpu")),
        ("default dtype", str(torch.get_default_dtype())),
    ]


def _reset_process_state() -> None:
    random.seed(1234)
    torch.manual_seed(1234)
    torch.set_grad_enabled(True)
    torch.set_autocast_enabled("cpu", False)
    torch.set_default_dtype(torch.float32)


def _visible(module: types.ModuleType) -> list[tuple[str, Any]]:
    skip = ("make", "calls")
    items = []
    for name, value in sorted(module.__dict__.items()):
        if name.startswith("__") or name in skip or isinstance(value, types.ModuleType):
            continue
        if getattr(value, "__module__", module.__name__) != module.__name__ and isinstance(
            value, (type, types.FunctionType)
        ):
            continue
        items.append((name, value))
    return items


def observe(
    source: str, name: str, wrap: Callable[[Any], Any], *, lax: bool = False
) -> tuple[list[Trace], list[str], list[str]]:
    """One trace per call; for each call the name of the exception it raised or '', and where it came from.

    The last trace also drains the iterators that were returned.
    """
    _reset_process_state()
    module = _load(source, name)
    try:
        target = module.make()
        if not callable(target):
            raise TypeError("make() gives nothing that can be called")
        fn = wrap(target)
        calls = module.calls()
        traces: list[Trace] = []
        raised: list[str] = []
        origins: list[str] = []
        history: list[Any] = []
        for i, (args, kwargs) in enumerate(calls):
            out = io.StringIO()
            outcome: Any = None
            error: BaseException | None = None
            origin = ""
            with contextlib.redirect_stdout(out):
                try:
                    outcome = fn(*args, **kwargs)
                except ProgramTimeout:
                    raise
                except BaseException as e:  # noqa: BLE001 - a program may raise anything
                    error = e
            state = _process_state()
            _reset_modes()
            walker = Walker(name, lax=lax, drain=i == len(calls) - 1)
            if error is not None:
                walker.exception(f"call {i} raised", error)
                raised.append(type(error).__name__)
                origin = _origin(error)
            else:
                walker.walk(f"call {i} result", outcome)
                raised.append("")
            for j, value in enumerate(args):
                walker.walk(f"call {i} argument {j}", value)
            for key, value in kwargs.items():
                walker.walk(f"call {i} argument {key}", value)
            for key, value in _visible(module):
                walker.walk(f"call {i} global {key}", value)
            walker.walk(f"call {i} target", target)
            for j, value in enumerate(history):
                walker.walk(f"call {i} earlier value {j}", value)
            walker.trace.append((f"call {i} printed", out.getvalue()))
            walker.trace.extend((f"call {i} {what}", value) for what, value in state)
            traces.append(walker.trace)
            origins.append(origin)
            history += [outcome, args]
        return traces, raised, origins
    finally:
        sys.modules.pop(name, None)
        linecache.cache.pop(f"<{name}>", None)


def _origin(error: BaseException) -> str:
    """The innermost frames of a traceback, for the eyes of whoever mends the compiler."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)


def _reset_modes() -> None:
    torch.set_grad_enabled(True)
    torch.set_autocast_enabled("cpu", False)
    torch.set_default_dtype(torch.float32)


def judge(
    source: str, compiler: Compiler, reset: Callable[[], None], *, seconds: float = 10.0, **options: Any
) -> Verdict:
    """Eager against compiled, over all calls of a program."""
    verdict = Verdict("same")
    lax = bool(options.pop("lax", False))
    backend = CountingBackend() if options.get("backend", "eager") == "eager" else options["backend"]
    options["backend"] = backend
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with _alarm(seconds):
                eager, raised, _ = observe(source, "program", lambda fn: fn, lax=lax)
        except BaseException as error:  # noqa: BLE001 - whatever it is, this program is of no use
            return Verdict("invalid", eager=f"{type(error).__name__}: {error}")
        verdict.calls, verdict.raising = len(raised), sum(map(bool, raised))
        reset()
        try:
            with _alarm(seconds):
                compiled, raised_compiled, origins = observe(
                    source, "program", lambda fn: compiler(fn, **options), lax=lax
                )
        except ProgramTimeout:
            return Verdict("timeout", compiled=f"no end within {seconds} s", calls=len(raised))
        except BaseException as error:  # noqa: BLE001 - an exception outside the calls is a difference
            return Verdict("differs", "outside the calls", "nothing raised", f"{type(error).__name__}: {error}"[:600])
        if isinstance(backend, CountingBackend):
            verdict.graphs, verdict.ops = backend.graphs, backend.ops
        for a, b, origin, *errors in zip(eager, compiled, origins, raised, raised_compiled, strict=True):
            difference = first_difference(a, b)
            if difference is None:
                continue
            again, _, _ = observe(source, "program", lambda fn: fn, lax=lax)
            if again != eager:
                return Verdict("invalid", eager="two eager runs differ")
            verdict.status = "differs"
            verdict.kind = _kind(*difference, tuple(errors))
            verdict.where, verdict.eager, verdict.compiled = (
                difference[0], str(difference[1])[:600], str(difference[2])[:600])  # fmt: skip
            if b[0][1] != a[0][1] and "raises" in str(b[0][1]):
                verdict.notes.append(f"{str(b[1][1])[:1000]} [{origin}]")
            return verdict
    return verdict


def default_compiler() -> str:
    """The system under test, from COMPILE, as in every harness of the project."""
    return os.environ.get("COMPILE", "pydynamo:compile")
