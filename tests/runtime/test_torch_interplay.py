"""torch's own frame hook and ours live in one process, in every order."""

import sys
import textwrap
import types

import pytest

pytest.importorskip("torch")

PREAMBLE = """
import threading, torch, torch._dynamo
from pydynamo.eval_frame import intercept
graphs = []
def backend(gm, inputs):
    graphs.append(gm)
    return gm.forward
def user(x):
    return helper(x) * 2
def helper(x):
    return x + 1
def replaced(x):
    local = 100
    return x + local
swap = intercept(lambda code, call: replaced.__code__ if code is helper.__code__ else None)
x = torch.zeros(2)
compiled = torch.compile(user, backend=backend)
def swapped():
    with swap:
        return float(helper(x)[0])
def torch_says():
    before = len(graphs)
    torch._dynamo.reset()
    value = float(compiled(x)[0])
    assert len(graphs) == before + 1, "torch did not capture"
    again = float(compiled(x)[0])
    assert len(graphs) == before + 1, "torch captured again"
    return value, again
"""


def run(text: str) -> None:
    module = types.ModuleType("interplay")  # importable by name, as torch expects of the functions it traces
    sys.modules[module.__name__] = module
    try:
        exec(PREAMBLE + textwrap.dedent(text), module.__dict__)
    finally:
        del sys.modules[module.__name__]


def test_one_after_the_other() -> None:
    run("""
        for _ in range(3):
            assert swapped() == 100
            assert torch_says() == (2, 2)
            assert float(helper(x)[0]) == 1
    """)


def test_torch_inside_an_interception() -> None:
    run("""
        with intercept(lambda code, call: None):
            assert torch_says() == (2, 2)
        assert torch_says() == (2, 2)
        with swap:
            assert float(helper(x)[0]) == 100
            compiled(x)
            assert float(helper(x)[0]) == 100
        assert torch_says() == (2, 2)
        assert float(helper(x)[0]) == 1
    """)


def test_an_interception_inside_torch() -> None:
    run("""
        @torch._dynamo.disable
        def opaque(x):
            with swap:
                return helper(x)
        def user(x):
            y = x + 1
            y = opaque(y)
            return y * 2
        compiled = torch.compile(user, backend=backend)
        for _ in range(3):
            assert float(compiled(x)[0]) == 202
        assert len(graphs) >= 1
        assert float(helper(x)[0]) == 1
    """)


def test_regions_that_overlap_without_nesting() -> None:
    run("""
        torch_on = threading.Event()
        release = threading.Event()
        @torch._dynamo.disable
        def wait():
            torch_on.set()
            release.wait(60)
        def slow(x):
            y = x + 1
            wait()
            return y * 2
        compiled_slow = torch.compile(slow, backend=backend)
        release.set()
        assert float(compiled_slow(x)[0]) == 2  # traced here: torch itself cannot trace in a second thread and again here
        compiled_slow_result = []
        def work():
            compiled_slow_result.append(float(compiled_slow(x)[0]))
        for _ in range(3):
            torch_on.clear(); release.clear()
            thread = threading.Thread(target=work)
            thread.start()
            assert torch_on.wait(60)
            with swap:                       # on top of torch's hook
                assert float(helper(x)[0]) == 100
                release.set()
                thread.join()                # torch's region ends below ours
            assert float(helper(x)[0]) == 1
            assert swapped() == 100
            assert float(compiled_slow(x)[0]) == 2
        assert torch_says() == (2, 2)
        assert compiled_slow_result == [2.0] * 3
    """)


def test_threads_of_both_kinds() -> None:
    run("""
        errors = []
        def ours():
            try:
                for _ in range(300):
                    assert swapped() == 100
                    assert float(helper(x)[0]) == 1
            except BaseException as error:
                errors.append(error)
        def theirs():
            try:
                for _ in range(300):
                    assert float(compiled(x)[0]) == 2
            except BaseException as error:
                errors.append(error)
        compiled(x)
        threads = [threading.Thread(target=target) for target in (ours, theirs, ours, theirs)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not errors, errors
        assert swapped() == 100 and torch_says() == (2, 2)
    """)
