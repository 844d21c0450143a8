"""Compiled functions may be called and compiled from several threads at once."""

import queue
import random
import threading

import pytest
from harness import compiler, torch


def _run(workers):
    """Runs the workers in threads; returns what went wrong."""
    bad = queue.SimpleQueue()
    gate = threading.Barrier(len(workers))

    def guarded(work):
        try:
            gate.wait(10)
            for problem in work():
                bad.put(problem)
        except BaseException as error:  # whatever it is, it must reach the main thread
            bad.put(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(work,)) for work in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    found = []
    while not bad.empty():
        found.append(bad.get())
    if any(t.is_alive() for t in threads):
        found.append("a thread hangs")
    return found


@pytest.fixture
def compile_fn():
    compile_, reset = compiler()
    reset()
    return lambda fn, **kw: compile_(fn, backend=kw.pop("backend", "eager"), **kw)


def test_one_function_many_threads(compile_fn):
    def f(x):
        return (x * x).sum()

    c = compile_fn(f)

    def work(t):
        for i in range(12):
            x = torch.full((i % 4 + 1 + t,), 2.0)
            if c(x).item() != 4.0 * x.numel():
                yield ("f", t, i)

    assert _run([lambda t=t: work(t) for t in range(4)]) == []


def test_each_thread_compiles_its_own(compile_fn):
    def work(t):
        def f(x, k):
            return x * k + t

        c = compile_fn(f)
        for i in range(5):
            if c(torch.ones(1), i).item() != i + t:
                yield (t, i)

    assert _run([lambda t=t: work(t) for t in range(6)]) == []


def test_one_function_recompiled_by_all(compile_fn):
    def f(x, k, mode):
        for _ in range(k):
            x = x + 1 if mode == "up" else x - 1
        return x

    c = compile_fn(f)

    def work(t):
        r = random.Random(t)
        for _ in range(15):
            k, mode = r.randrange(4), r.choice(["up", "down"])
            want = k if mode == "up" else -k
            if c(torch.zeros(1), k, mode).item() != want:
                yield (t, k, mode)

    assert _run([lambda t=t: work(t) for t in range(4)]) == []


def test_grad_mode_is_per_thread(compile_fn):
    def f(x):
        return x * 2

    c = compile_fn(f)

    def quiet():
        with torch.no_grad():
            for _ in range(10):
                if c(torch.ones(1, requires_grad=True)).requires_grad:
                    yield "grad under no_grad"

    def loud():
        for _ in range(10):
            if not c(torch.ones(1, requires_grad=True)).requires_grad:
                yield "no grad"

    assert _run([quiet, loud, quiet, loud]) == []


def test_exceptions_in_threads(compile_fn):
    def f(x, k):
        y = x + 1
        if k % 2:
            raise ValueError(k)
        return y

    c = compile_fn(f)

    def work(t):
        for k in range(8):
            try:
                got = c(torch.ones(1), k).item()
            except ValueError as e:
                if k % 2 == 0 or e.args != (k,):
                    yield ("raised", t, k, e.args)
            else:
                if k % 2 or got != 2.0:
                    yield ("returned", t, k)

    assert _run([lambda t=t: work(t) for t in range(4)]) == []


def test_plain_thread_beside_a_compiled_one(compile_fn):
    def f(x):
        print(end="")
        return x + 1

    c = compile_fn(f)

    def plain():
        def g(n):
            return n if n < 2 else g(n - 1) + g(n - 2)

        for _ in range(5):
            if g(12) != 144:
                yield "plain code is wrong"

    def compiled():
        for _ in range(10):
            if c(torch.ones(1)).item() != 2.0:
                yield "compiled is wrong"

    assert _run([plain, compiled, plain, compiled]) == []


def test_thread_started_inside_a_compiled_region(compile_fn):
    def f(x):
        out = []

        def work():
            out.append(x * 2)

        t = threading.Thread(target=work)
        t.start()
        t.join()
        return out[0] + 1

    assert compile_fn(f)(torch.ones(1)).item() == 3.0


def test_locals_of_threads(compile_fn):
    store = threading.local()

    def f(x, k):
        store.n = getattr(store, "n", 0) + k
        return x * store.n

    c = compile_fn(f)

    def work(k):
        for i in range(1, 6):
            if c(torch.ones(1), k).item() != k * i:
                yield (k, i)

    assert _run([lambda k=k: work(k) for k in (1, 2, 3)]) == []
