"""Tests of the fuzzer: wrong compilers are caught, equal runs are equal, repros become small."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)

from tests.fuzz_frontend.execute import default_compiler, judge, load_compiler  # noqa: E402
from tests.fuzz_frontend.grammar import generate  # noqa: E402
from tests.fuzz_frontend.shrink import shrink  # noqa: E402


def nothing():
    """Resets nothing."""


def identity(fn, **_):
    return fn


def program(body, calls="[((torch.ones(2), [1]), {})]", head=""):
    lines = "\n".join("    " + line for line in body.splitlines())
    main = f"def f(x, items):\n{lines}\ndef make():\n    return f\ndef calls():\n    return {calls}\n"
    return f"import random, torch\n{head}\n{main}"


def wrapped(after):
    """A wrong compiler: runs the function, then does something to its result or to the world."""

    def compiler(fn, **_):
        def run(*args, **kwargs):
            return after(fn(*args, **kwargs), args)

        return run

    return compiler


def noisy(result, args):
    print("extra")
    return result


def grad_off(result, args):
    torch.set_grad_enabled(False)
    return result


def draws(result, args):
    torch.rand(1)
    return result


def appends(result, args):
    args[1].append(2)
    return result


WRONG = {
    "a list becomes a tuple": wrapped(lambda r, a: tuple(r)),
    "a result is a copy of what it should be": wrapped(lambda r, a: [*r[:-1], list(r[-1])]),
    "a tensor is a copy of the argument": wrapped(lambda r, a: [r[0].clone(), *r[1:]]),
    "a float becomes an int": wrapped(lambda r, a: [*r[:1], 1, *r[2:]]),
    "an argument is changed": wrapped(appends),
    "something is printed": wrapped(noisy),
    "grad mode stays off": wrapped(grad_off),
    "a random number is drawn": wrapped(draws),
    "a view becomes a tensor of its own": wrapped(lambda r, a: [*r[:2], r[2].clone(), *r[3:]]),
    "everything is deep-copied": wrapped(lambda r, a: copy.deepcopy(r)),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_compilers_are_caught(what):
    source = program("return [x, 1.0, x[:1], items]")
    assert judge(source, identity, nothing).status == "same"
    assert judge(source, WRONG[what], nothing).status == "differs"


@pytest.mark.parametrize(
    "head",
    ["log = []", "class C:\n    log = []\nlog = C.log", "def h(v, log=[]):\n    return log\nlog = h(1)"],
)
def test_lost_mutations_are_caught(head):
    source = program("log.append(1)\nreturn x", head=head)

    def frozen(fn, **_):
        def run(*args):
            result = fn(*args)
            fn.__globals__["log"].pop()
            return result

        return run

    assert judge(source, frozen, nothing).status == "differs"


def test_swallowed_and_changed_exceptions_are_caught():
    source = program("raise ValueError(len(items), 'a') from KeyError('k')")

    def changed(fn, **_):
        def run(*args):
            try:
                return fn(*args)
            except ValueError as e:
                e.args = (2, "a")
                raise

        return run

    assert judge(source, wrapped(lambda r, a: r), nothing).status == "same"
    assert judge(source, changed, nothing).status == "differs"
    assert judge(source, lambda fn, **_: lambda *a: None, nothing).status == "differs"


def test_programs_that_never_end_are_stopped():
    source = program("while len(items) < 2:\n    pass\nreturn x")
    assert judge(source, identity, nothing, seconds=0.2).status == "invalid"
    hang = program("while not items:\n    pass\nreturn x")

    def emptied(fn, **_):
        return lambda x, items: fn(x, [])

    assert judge(hang, emptied, nothing, seconds=0.2).status == "timeout"


def test_generation_is_a_function_of_the_seed():
    assert [generate(seed) for seed in range(20)] == [generate(seed) for seed in range(20)]
    assert len({generate(seed) for seed in range(50)}) == 50


def test_equal_runs_do_not_differ():
    statuses = [judge(generate(seed), identity, nothing).status for seed in range(40)]
    assert set(statuses) <= {"same", "invalid"}
    assert statuses.count("same") >= 36


def test_shrinking_keeps_the_fault_and_drops_the_rest():
    body = (
        "a = [1, 2]\nfor k in range(3):\n    a.append(k)\n"
        "if len(a) > 2:\n    y = x + 1\nelse:\n    y = x\nreturn [x, a, y * 2]"
    )
    source = program(body)
    wrong = wrapped(lambda r, a: tuple(r))
    want = judge(source, wrong, nothing).signature
    small = shrink(source, lambda s: judge(s, wrong, nothing).signature == want, seconds=20)
    assert judge(small, wrong, nothing).signature == want
    assert "append" not in small and "if" not in small
    assert len(small) < len(source) / 2


@pytest.mark.parametrize("seed", range(9000, 9040))
def test_compiled_programs_equal_eager(seed):
    from pydynamo import config

    compiler, reset = load_compiler(default_compiler())
    source = generate(seed)
    with config.patch(strict=True):
        verdict = judge(source, compiler, reset, seconds=60)  # the first pays for torch's imports
    assert verdict.status in ("same", "invalid"), f"{verdict}\n{source}"
