"""Runs one small program eagerly and compiled, on equal copies, and compares everything it shows.

    @program
    def test_append_to_a_class_list():
        class Log:
            seen = []
        def f(x):
            Log.seen.append(1)
            return x * 2
        return f, [(torch.ones(3),), (torch.ones(3),)]

The body makes a fresh copy of the program: the callable, and the arguments of each call (a tuple, or a function that
returns one, for arguments that hang on what came before).  Every program runs in two forms: as it stands, where what the
callable uses are closure cells, and with the body as a module, where they are globals.  COMPILE=pkg.mod:attr names the
system under test.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
import sys
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.fuzz_frontend import execute  # noqa: E402 - needs torch
from tests.fuzz_frontend.observe import Trace, Walker, first_difference  # noqa: E402

Made = tuple[Callable[..., Any], Sequence[Any]]


def compiler() -> tuple[execute.Compiler, Callable[[], None]]:
    """The system under test; skips when it is not there."""
    spec = execute.default_compiler()
    try:
        return execute.load_compiler(spec)
    except (ImportError, AttributeError) as error:
        pytest.skip(f"no {spec}: {error}")


class _AsModule(ast.NodeTransformer):
    """`return f, calls` becomes an assignment, and names of the body become globals."""

    def __init__(self, tops: set[str]) -> None:
        self.tops = tops

    def visit_Nonlocal(self, node: ast.Nonlocal) -> list[ast.stmt]:  # noqa: N802 - ast's name
        inside = [n for n in node.names if n not in self.tops]
        outside = [n for n in node.names if n in self.tops]
        made: list[ast.stmt] = []
        if outside:
            made.append(ast.Global(outside))
        if inside:
            made.append(ast.Nonlocal(inside))
        return made


def _module_code(make: Callable[[], Made]) -> types.CodeType:
    source = textwrap.dedent(inspect.getsource(make))
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)).body
    last = body[-1]
    assert isinstance(last, ast.Return) and last.value is not None, "a program ends in `return f, calls`"
    body = [*body[:-1], ast.Assign([ast.Name("__made__", ast.Store())], last.value)]
    module = ast.Module(body, [])
    names = make.__code__.co_varnames + make.__code__.co_cellvars
    module = ast.fix_missing_locations(_AsModule(set(names)).visit(module))
    text = ast.unparse(module)
    filename = f"<{make.__name__} as a module>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return compile(text, filename, "exec")


def _build(make: Callable[[], Made], form: str) -> tuple[Made, str, types.ModuleType | None]:
    if form == "closure":
        return make(), make.__module__, None
    module = types.ModuleType("case_module")
    module.__dict__.update({k: v for k, v in make.__globals__.items() if not k.startswith("test_")})
    module.__name__ = "case_module"
    sys.modules["case_module"] = module
    exec(_module_code(make), module.__dict__)  # noqa: S102 - the test's own text
    return module.__dict__["__made__"], "case_module", module


def _observe(make: Callable[[], Made], form: str, wrap: Callable[[Any], Any]) -> list[Trace]:
    execute._reset_process_state()
    before = set(make.__globals__)
    (target, calls), home, module = _build(make, form)
    fn = wrap(target)
    traces: list[Trace] = []
    history: list[Any] = []
    for i, call in enumerate(calls):
        args = call(*history[-1:]) if isinstance(call, types.FunctionType) else call
        out = io.StringIO()
        result: Any = None
        error: BaseException | None = None
        with contextlib.redirect_stdout(out):
            try:
                result = fn(*args)
            except Exception as e:  # whatever it is, eager must raise the same
                error = e
        state = execute._process_state()
        execute._reset_modes()
        walker = Walker(home, drain=i == len(calls) - 1)
        if error is None:
            walker.walk(f"call {i} result", result)
        else:
            walker.exception(f"call {i} raised", error)
        walker.walk(f"call {i} arguments", args)
        walker.walk(f"call {i} target", target)
        for j, value in enumerate(history):
            walker.walk(f"call {i} earlier result {j}", value)
        if module is not None:
            for name, value in sorted(module.__dict__.items()):
                if name not in before and not name.startswith("__"):
                    walker.walk(f"call {i} global {name}", value)
        walker.trace.append((f"call {i} printed", out.getvalue()))
        walker.trace += [(f"call {i} {what}", value) for what, value in state]
        traces.append(walker.trace)
        history.append(result)
    return traces


def check(make: Callable[[], Made], form: str = "closure", **options: Any) -> None:
    """Fails with the first place where compiled and eager part."""
    compile_fn, reset = compiler()
    reset()
    eager = _observe(make, form, lambda fn: fn)
    compiled = _observe(make, form, lambda fn: compile_fn(fn, backend="eager", **options))
    for a, b in zip(eager, compiled, strict=True):
        difference = first_difference(a, b)
        if difference is not None:
            where, want, got = difference
            detail = f" ({b[1][1]})" if "raised" in b[0][0] and "raised" not in a[0][0] else ""
            pytest.fail(f"{where}: eager gives {want}, compiled {got}{detail}", pytrace=False)


def _test_of(make: Callable[[], Made], **options: Any) -> Callable[[str], None]:
    @pytest.mark.parametrize("form", ["closure", "globals"])
    def test(form: str) -> None:
        check(make, form, **options)

    test.__name__, test.__doc__, test.__module__ = make.__name__, make.__doc__, make.__module__
    test.make = make  # type: ignore[attr-defined]
    return test


def seeded(make: Callable[[], Any]) -> Any:
    """What ``make`` makes of random numbers, the same in each run."""
    torch.manual_seed(0)
    return make()


def program(make: Callable[[], Made]) -> Callable[[str], None]:
    """Makes a test of a program, in both of its forms."""
    return _test_of(make)


def whole(make: Callable[[], Made]) -> Callable[[str], None]:
    """Makes a test of a program that is captured whole: no break, and the same as eager."""
    return _test_of(make, fullgraph=True)
