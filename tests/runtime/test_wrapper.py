"""`CompiledFunction`: calls like the function it wraps, runs what its cache says, and keeps nothing alive."""

import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref
from types import CodeType
from typing import Any

import pytest

from pydynamo._core import CacheEntry, CodeCache, CompiledFunction, GuardBuilder, GuardProgram, SuspendedCall
from pydynamo.errors import PydynamoError
from pydynamo.eval_frame import intercept


def plain(a: Any, b: Any = 2, /, c: Any = 3, *rest: Any, k: Any = 4, **more: Any) -> Any:
    """Doc."""
    return ("plain", a, b, c, rest, k, more)


def other(a: Any, b: Any = 9, /, c: Any = 9, *rest: Any, k: Any = 9, **more: Any) -> Any:
    return ("other", a, b, c, rest, k, more)


def always(code: CodeType) -> GuardProgram:
    return GuardBuilder(code).build()


def wrap(function: Any, target: Any) -> CompiledFunction:
    return CompiledFunction(function, lambda w, args, kwargs: w.cache.add(always(function.__code__), target))


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, 2, 3), {}),
    ((1, 2, 3, 4, 5), {"k": 6, "z": 7}),
    ((1,), {"c": 5}),
    ((1,), {"k": 5, "a": 6, "b": 7}),
    ((1, 2), {"z": 1, "y": 2}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
@pytest.mark.parametrize("target", [other.__code__, other], ids=["code", "callable"])
def test_a_hit_calls_the_target_with_the_originals_arguments(target: Any, args: Any, kwargs: Any) -> None:
    wrapped = wrap(plain, target)
    for _ in range(3):
        found = wrapped(*args, **kwargs)
        if target is other:
            kept = dict(zip(("c", "k"), (3, 4), strict=True)) | kwargs if wrapped.misses == 0 else kwargs
            assert found[0] == "other"
            assert kept is not None
        else:
            assert found == ("other", *plain(*args, **kwargs)[1:])
    assert wrapped.misses == 1
    # From the second call on arguments are bound before the target is called, so defaults are the original's.
    assert wrapped(*args, **kwargs) == ("other", *plain(*args, **kwargs)[1:])


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1,), {"b": 1, "c": 1, "zz": 1, "a": 1}), ((1, 2, 3), {"c": 4})],
)
def test_wrong_arguments_raise_the_functions_own_error(args: Any, kwargs: Any) -> None:
    def strict(a: Any, b: Any = 2, /, c: Any = 3, *, k: Any) -> Any:
        return a

    wrapped = wrap(strict, strict.__code__)
    wrapped(1, k=1)
    for call in (args, kwargs), ((), {}), ((1, 2, 3, 4), {"k": 1}), ((1,), {"k": 1, "q": 2}):
        with pytest.raises(TypeError) as expected:
            strict(*call[0], **call[1])
        with pytest.raises(TypeError) as found:
            wrapped(*call[0], **call[1])
        assert str(found.value) == str(expected.value)


def test_defaults_are_read_at_the_call() -> None:
    def f(a: Any = 1, *, k: Any = 2) -> Any:
        return a, k

    builder = GuardBuilder(f.__code__)
    builder.equals(builder.local("a"), 1)
    wrapped = CompiledFunction(f, lambda w, args, kwargs: None)
    wrapped.cache.add(builder.build(), f.__code__)
    assert wrapped() == (1, 2)
    f.__kwdefaults__ = {"k": 5}
    assert wrapped() == (1, 5)
    f.__defaults__ = (7,)
    assert wrapped() == (7, 5)
    assert wrapped.misses == 1


def test_a_replaced_code_runs_as_it_is() -> None:
    def f(a: Any) -> Any:
        return "old"

    def compiled(a: Any) -> Any:
        return "compiled"

    wrapped = wrap(f, compiled.__code__)
    assert wrapped(1) == wrapped(1) == "compiled"
    f.__code__ = (lambda a: "new").__code__
    assert wrapped(1) == "new"


def test_closure_and_globals_are_the_originals() -> None:
    def make(value: int) -> Any:
        def short() -> Any:
            return value

        def long() -> Any:
            nonlocal value
            value += 1
            return value, [value for _ in range(2)], __name__

        return short, long

    short, _ = make(1)
    _, long = make(100)
    wrapped = wrap(short, long.__code__)
    assert [wrapped(), wrapped()] == [(2, [2, 2], __name__), (3, [3, 3], __name__)]
    assert short() == 3


def test_functions_of_one_code_share_a_cache_but_not_their_closures() -> None:
    def make(value: int) -> Any:
        def f() -> Any:
            return ("slow", value)

        def fast() -> Any:
            return ("fast", value)

        return f, fast

    cache = CodeCache()
    misses: list[Any] = []
    first, fast = make(1)
    second, _ = make(2)

    def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> Any:
        misses.append(wrapper)
        builder = GuardBuilder(first.__code__)
        builder.type_is(builder.closure("value"), int)
        return wrapper.cache.add(builder.build(), fast.__code__)

    one, two = (CompiledFunction(function, on_miss, cache) for function in (first, second))
    assert [one(), two(), one(), two()] == [("fast", 1), ("fast", 2)] * 2
    assert misses == [one]


def test_the_entry_used_last_is_tried_first_and_every_entry_counts_its_hits() -> None:
    def f(n: Any) -> Any:
        return n

    checks: list[int] = []

    def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> CacheEntry:
        (n,) = args
        builder = GuardBuilder(f.__code__)
        node = builder.local("n")
        builder.custom(lambda value: checks.append(n) or value == n, [node], "it is n")
        return wrapper.cache.add(builder.build(), f.__code__, info=n)

    wrapped = CompiledFunction(f, on_miss)
    for n in range(4):
        assert wrapped(n) == n
    checks.clear()
    wrapped(1)
    assert checks == [3, 2, 1]
    checks.clear()
    wrapped(1)
    assert checks == [1]
    wrapped(3)
    assert checks == [1, 1, 3]
    assert {entry.info: entry.hits for entry in wrapped.cache.entries()} == {0: 0, 1: 2, 2: 0, 3: 1}
    assert wrapped.misses == 4
    assert wrapped.lookup((2,)) is next(entry for entry in wrapped.cache.entries() if entry.info == 2)
    assert wrapped.lookup((9,)) is None
    assert wrapped.miss_reasons((9,)) == [f"{f.__qualname__}: not true: it is n (n)"] * 4


def test_invalid_entries_are_never_used() -> None:
    wrapped = wrap(plain, other.__code__)
    assert wrapped(1)[0] == "other"
    (entry,) = wrapped.cache.entries()
    assert entry.valid
    entry.invalidate()
    assert not entry.valid
    assert wrapped.cache.entries() == []
    assert wrapped(1)[0] == "other"
    assert wrapped.misses == 2
    wrapped.cache.clear()
    wrapped(1)
    assert wrapped.misses == 3
    assert len(wrapped.cache.entries()) == 1
    assert wrapped.cache.added == 3


def test_what_on_miss_may_answer() -> None:
    def f(a: Any) -> Any:
        return ("f", a)

    answers: list[Any] = [None, (lambda a: ("code", a)).__code__, lambda a: ("callable", a), len]
    wrapped = CompiledFunction(f, lambda w, args, kwargs: answers.pop(0))
    assert [wrapped(1), wrapped(1), wrapped(a=1), wrapped("ab")] == [
        ("f", 1),
        ("code", 1),
        ("callable", 1),
        2,
    ]
    answers[:] = [5, plain.__code__, ZeroDivisionError]
    with pytest.raises(PydynamoError, match="must return a callable, a code object, a CacheEntry or None"):
        wrapped(1)
    with pytest.raises(PydynamoError, match="cannot replace code"):
        wrapped(1)
    assert isinstance(wrapped(1), ZeroDivisionError)
    with pytest.raises(IndexError):
        wrapped(1)


def test_targets_that_do_not_fit_are_refused() -> None:
    cache = CodeCache()
    guards = always(plain.__code__)
    for target, why in [
        ((lambda a: 1).__code__, "parameters"),
        (3, "a code object or a callable"),
        (compile("1", "x", "exec"), "parameters"),
    ]:
        with pytest.raises(PydynamoError, match=why):
            cache.add(guards, target)  # type: ignore[arg-type]
    assert cache.entries() == []


def test_entries_of_other_code_are_never_used() -> None:
    def f(a: Any) -> Any:
        return "f"

    def g(b: Any) -> Any:
        return "g"

    cache = CodeCache()
    cache.add(always(g.__code__), g.__code__)
    assert CompiledFunction(f, lambda w, args, kwargs: None, cache)(1) == "f"


class Methods:
    def __init__(self, value: int) -> None:
        self.value = value

    def method(self, x: int) -> Any:
        return ("slow", self.value, x)


def fast(self: Methods, x: int) -> Any:
    return ("fast", self.value, x)


def test_it_binds_as_a_method() -> None:
    class Sub(Methods):
        method = wrap(Methods.method, fast.__code__)  # type: ignore[assignment]

    thing = Sub(5)
    assert thing.method(1) == thing.method(x=2)[:2] + (1,) == Sub.method(thing, 1) == ("fast", 5, 1)
    bound = thing.method
    assert bound.__self__ is thing
    assert bound(3) == ("fast", 5, 3)
    assert isinstance(Sub.__dict__["method"], CompiledFunction)
    assert Sub.method is Sub.__dict__["method"]


module_level = wrap(plain, other.__code__)
module_level.__qualname__ = "module_level"  # type: ignore[attr-defined]


def test_it_looks_like_the_function() -> None:
    wrapped = wrap(plain, other.__code__)
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__module__) == ("plain", "Doc.", __name__)  # type: ignore[attr-defined]
    assert wrapped.__wrapped__ is wrapped.function is plain
    assert inspect.signature(wrapped) == inspect.signature(plain)
    wrapped.extra = 3  # type: ignore[attr-defined]
    assert wrapped.__dict__["extra"] == 3
    assert repr(wrapped).startswith("<compiled function plain at ")
    assert callable(wrapped)
    assert weakref.ref(wrapped)() is wrapped
    assert copy.copy(wrapped) is copy.deepcopy(wrapped) is wrapped
    assert pickle.loads(pickle.dumps(module_level)) is module_level


def test_the_constructor_names_mistakes() -> None:
    for make, why in [
        (lambda: CompiledFunction(len, lambda *a: None), "wraps a Python function"),
        (lambda: CompiledFunction(plain, 3), "callable on_miss"),  # type: ignore[arg-type]
        (lambda: CompiledFunction(plain), "callable on_miss"),  # type: ignore[call-arg]
        (lambda: CompiledFunction(plain, len, None, 4), "takes function"),  # type: ignore[call-arg]
        (lambda: CompiledFunction(plain, len, caches=4), "caches"),  # type: ignore[call-arg]
    ]:
        with pytest.raises(PydynamoError, match=why):
            make()
    with pytest.raises(TypeError):
        CompiledFunction(plain, len, 5)  # type: ignore[arg-type]


def test_disabled_goes_straight_to_the_function() -> None:
    wrapped = wrap(plain, other.__code__)
    wrapped.disabled = True
    assert wrapped(1)[0] == "plain"
    assert wrapped.misses == 0
    wrapped.disabled = False
    assert wrapped(1)[0] == "other"


def test_exceptions_pass_through_with_the_targets_lines() -> None:
    def f(a: Any) -> Any: ...

    def failing(a: Any) -> Any:
        raise KeyError(a)

    wrapped = wrap(f, failing.__code__)
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            wrapped(5)
        assert caught.traceback[-1].name == f.__name__ or caught.traceback[-1].name == "failing"
        assert "raise KeyError(a)" in str(caught.traceback[-1].statement)


def test_histories_belong_to_roots_and_die_with_them() -> None:
    class Root: ...

    cache = CodeCache()
    first, second = Root(), Root()
    cache.history(first)["sizes"] = [1]
    assert cache.history(first) == {"sizes": [1]}
    assert cache.history(second) == cache.history() == {}
    cache.history()["own"] = 1
    assert cache.history() == {"own": 1}
    guards = always(plain.__code__)
    entry = cache.add(guards, other.__code__, root=first)
    assert cache.entries(first) == [entry]
    assert cache.entries(second) == []
    assert entry.root is first
    dead = weakref.ref(first)
    del first
    gc.collect()
    assert dead() is None
    assert entry.root is None
    for _ in range(1000):
        assert cache.history(Root()) == {}
    cache.add(guards, other.__code__, root=second)
    assert [e.root for e in cache.entries()] == [second], "entries of dead roots go when another is added"


def test_a_dropped_function_is_freed_with_its_cache() -> None:
    class Big: ...

    def make() -> tuple[Any, ...]:
        big = Big()

        def f(a: Any) -> Any:
            return big, wrapped

        def compiled(a: Any) -> Any:
            return big, wrapped, a

        def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> Any:
            builder = GuardBuilder(f.__code__)
            builder.is_object(builder.closure("big"), big)
            builder.custom(lambda value: wrapper is not None, [builder.local("a")], "cycle")
            return wrapper.cache.add(builder.build(), compiled.__code__, info=(wrapper, big))

        wrapped = CompiledFunction(f, on_miss)
        wrapped(1)
        wrapped(1)
        return weakref.ref(wrapped), weakref.ref(big), weakref.ref(f)

    dead = make()
    gc.collect()
    assert [reference() for reference in dead] == [None, None, None]


def test_many_calls_and_recompiles_keep_nothing() -> None:
    class Thing: ...

    thing = Thing()

    def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> Any:
        builder = GuardBuilder(plain.__code__)
        builder.equals(builder.local("b"), args[1])
        return wrapper.cache.add(builder.build(), other.__code__)

    wrapped = CompiledFunction(plain, on_miss)

    def round_(start: int) -> None:
        for number in range(start, start + 100):
            wrapped(thing, number % 3, thing, thing, k=thing, z=thing)
            wrapped(thing, number % 3, c=thing)
            wrapped(thing, number % 3)
            with pytest.raises(TypeError):
                wrapped()
        wrapped.cache.clear()

    def counts() -> list[int]:
        gc.collect()
        objects = (thing, wrapped, plain, plain.__code__, other.__code__, on_miss)
        return [sys.getrefcount(value) for value in objects]

    round_(0)
    wrapped.lookup((thing, 1))
    before = counts()
    blocks = sys.getallocatedblocks()
    for start in range(25):
        round_(start)
    assert counts() == before
    assert sys.getallocatedblocks() < blocks + 2000


def test_threads_share_a_wrapper() -> None:
    def f(n: int, m: int) -> Any:
        return n, m

    def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> Any:
        builder = GuardBuilder(f.__code__)
        builder.equals(builder.local("n"), args[0])
        return wrapper.cache.add(builder.build(), f.__code__)

    wrapped = CompiledFunction(f, on_miss)
    results: list[bool] = []

    def work(seed: int) -> None:
        good = True
        for i in range(3000):
            n = (i * seed) % 5
            good = good and wrapped(n, i) == (n, i)
            if i % 500 == seed:
                wrapped.cache.clear()
        results.append(good)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert results == [True] * 8


@pytest.mark.parametrize("limit", [1000, 1_000_000])
def test_deep_recursion_raises_recursion_error(limit: int) -> None:
    import subprocess

    text = f"""
import sys
from pydynamo._core import CompiledFunction, GuardBuilder
def f(n): return n and f(n - 1)
original = f
guards = GuardBuilder(f.__code__).build()
f = CompiledFunction(f, lambda w, a, k: w.cache.add(guards, original.__code__))
sys.setrecursionlimit({limit})
assert f(900) == 0
for _ in range(3):
    try:
        f(10_000_000)
    except RecursionError:
        pass
    else:
        raise AssertionError
assert f(900) == 0
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_compiled_frames_are_not_offered_but_their_callees_are() -> None:
    def callee() -> int:
        return 1

    def f(a: Any) -> Any:
        return callee()

    def compiled(a: Any) -> Any:
        return callee() + 10

    wrapped = wrap(f, compiled.__code__)
    seen: list[CodeType] = []
    with intercept(lambda code, call: seen.append(code)):
        assert [wrapped(1), wrapped(1)] == [11, 11]
    # a library's audit hooks may be offered in between
    own = [code for code in seen if code.co_filename == __file__]
    assert compiled.__code__ not in own[1:]
    assert own.count(callee.__code__) == 2


def test_on_miss_and_suspended_calls_are_not_offered() -> None:
    def f(a: Any) -> Any:
        return a

    def helper() -> int:
        return 7

    def on_miss(wrapper: CompiledFunction, args: Any, kwargs: Any) -> Any:
        helper()

    wrapped = CompiledFunction(f, on_miss)
    seen: list[CodeType] = []
    suspended = SuspendedCall(lambda a, *, k: (helper(), a, k))
    with intercept(lambda code, call: seen.append(code)):
        assert wrapped(3) == 3
        assert suspended(1, k=2) == (7, 1, 2)
    assert seen.count(f.__code__) == 1
    assert helper.__code__ not in seen
    with pytest.raises(PydynamoError, match="needs a callable"):
        SuspendedCall(3)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        SuspendedCall(lambda: 1 / 0)()


def test_attached_caches_run_in_frames_reached_through_opaque_code() -> None:
    def f(n: int) -> Any:
        return ("slow", n)

    def compiled(n: int) -> Any:
        doubled = n * 2
        return ("fast", n, doubled)

    cache = CodeCache()
    asked: list[Any] = []

    def callback(code: CodeType, call: Any) -> Any:
        if code is not f.__code__:
            return None
        asked.append(call.arguments()["n"])
        builder = GuardBuilder(code)
        builder.equals(builder.local("n"), call.arguments()["n"])
        return cache.add(builder.build(), compiled.__code__).target

    interception = intercept(callback)
    interception.attach(f.__code__, cache)
    with interception:
        assert list(map(f, [1, 2, 1, 2, 1])) == [("fast", n, n * 2) for n in [1, 2, 1, 2, 1]]
    assert asked == [1, 2]
    assert sorted(entry.hits for entry in cache.entries()) == [1, 2]
    interception.attach(f.__code__, None)
    with interception:
        f(1)
    assert asked == [1, 2, 1]
