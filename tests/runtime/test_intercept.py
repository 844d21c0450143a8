"""The eval-frame hook: replacement code runs in the frame as if the function had been written that way."""

import gc
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import pytest

from pydynamo.errors import PydynamoError
from pydynamo.eval_frame import FrameCall, Interception, hook_statistics, hook_unavailable, intercept


def swapping(*pairs: tuple[FunctionType, FunctionType], room: int = 0) -> Interception:
    """Swaps code; `room` makes the new code ask for more stack, so that more frames meet a chunk's border."""
    table = {id(old.__code__): grown(new.__code__, room) for old, new in pairs}
    return intercept(lambda code, call: table.get(id(code)))


def grown(code: CodeType, room: int) -> CodeType:
    return code.replace(co_stacksize=code.co_stacksize + room) if room else code


def old(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
    return x * n + 1


def new(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
    first = x + n
    cell = first * 2

    def inner() -> Any:
        return cell + k

    try:
        return ("new", inner(), args, kw, [i + cell for i in range(3)], 1 / (x - x))
    except ZeroDivisionError as error:
        return ("new", inner(), args, kw, str(error))
    finally:
        first = None


def failing(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
    local = x
    raise KeyError(local)


def test_the_hook_is_there() -> None:
    assert hook_unavailable() is None


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((3, 4), {}),
        ((3, 4, 5, 6), {"k": 7, "z": 1}),
        ((), {"x": 1, "n": 2}),
        ((3,), {"n": 1, "k": 2, "w": 0}),
    ],
)
def test_replacement_gets_the_bound_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with swapping((old, new)):
        found = old(*args, **kwargs)
    assert found == new(*args, **kwargs)
    assert old(3, 4) == 13


def test_callback_sees_code_function_and_arguments() -> None:
    seen = []

    def callback(code: CodeType, call: FrameCall) -> None:
        if code is old.__code__:
            seen.append((call.code, call.function, call.arguments()))

    with intercept(callback):
        old(1, 2, 3, k=4, z=5)
    assert seen == [(old.__code__, old, {"x": 1, "n": 2, "k": 4, "args": (3,), "kw": {"z": 5}})]


def test_call_cannot_be_read_after_its_callback() -> None:
    kept: list[FrameCall] = []
    with intercept(lambda code, call: kept.append(call)):
        old(1, 2)
    for use in (lambda: kept[0].code, lambda: kept[0].function, kept[0].arguments, kept[0].ignore):
        with pytest.raises(PydynamoError, match="until its callback returns"):
            use()


def test_closures_and_arguments_in_cells_stay_the_functions_own() -> None:
    def make(a: int) -> Any:
        def short(x: int) -> int:
            return a + x

        def long(x: int) -> Any:
            nonlocal a
            a += 1
            doubled = a * 2
            listed = [a, x, doubled]
            return sum(listed) + (lambda: x)(), len(str(a))

        return short, long

    short, _ = make(5)
    _, long = make(0)
    with swapping((short, long)):
        found = short(3)
    assert found == (6 + 3 + 12 + 3, 1)
    assert short(0) == 6


def test_wide_signatures_are_carried_over() -> None:
    names = [f"p{i}" for i in range(90)]
    text = "def {}({}, *, {}):\n    {}\n    return more, locals()"
    params, keywords = ", ".join(names[:70]), ", ".join(names[70:])
    space: dict[str, Any] = {}
    exec(text.format("wide", params, keywords, "more = 0"), space)
    exec(
        text.format("wider", params, keywords, " = ".join([*(f"local{i}" for i in range(40)), "more = (p0, p89)"])),
        space,
    )
    call_args, call_kwargs = list(range(70)), {name: name for name in names[70:]}

    def at_depth(depth: int) -> Any:
        return space["wide"](*call_args, **call_kwargs) if depth == 0 else at_depth(depth - 1)

    before = hook_statistics()["rebuilt"]
    with swapping((space["wide"], space["wider"]), room=200):
        for depth in range(300):
            assert at_depth(depth) == space["wider"](*call_args, **call_kwargs)
    assert hook_statistics()["rebuilt"] > before, "no call met a chunk border: the fallback is not tested"


def test_frames_without_room_run_as_new_calls() -> None:
    def at_depth(depth: int) -> Any:
        return old(3, 4, 5, z=1) if depth == 0 else at_depth(depth - 1)

    before = hook_statistics()
    want = new(3, 4, 5, z=1)
    with swapping((old, new), room=200):
        for depth in range(700):
            assert at_depth(depth) == want
    after = hook_statistics()
    assert after["rebuilt"] > before["rebuilt"]
    assert after["retargeted"] > before["retargeted"] + 500


def test_fallback_raises_the_replacements_exception() -> None:
    def at_depth(depth: int) -> Any:
        return old(3, 4) if depth == 0 else at_depth(depth - 1)

    def big(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
        a = b = c = d = e = f = g = h = x
        raise KeyError([a, b, c, d, e, f, g, h, [x, [x, [x, [x]]]]])

    before = hook_statistics()["rebuilt"]
    with swapping((old, big), room=200):
        for depth in range(700):
            with pytest.raises(KeyError):
                at_depth(depth)
    assert hook_statistics()["rebuilt"] > before


def test_exceptions_name_the_replacements_lines_and_locals() -> None:
    with swapping((old, failing)), pytest.raises(KeyError) as caught:
        old(9, 1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.line) == ("failing", "raise KeyError(local)")
    end = caught.value.__traceback__
    while end is not None and end.tb_next is not None:
        end = end.tb_next
    assert end is not None
    assert end.tb_frame.f_locals["local"] == 9


def test_frame_introspection_shows_the_replacement() -> None:
    def short(x: int) -> Any:
        return 0

    def looking(x: int) -> Any:
        local = 4
        frame = sys._getframe()
        return sorted(name for name in frame.f_locals if name != "frame"), frame.f_code.co_name, local

    with swapping((short, looking)):
        assert short(1) == (["local", "x"], "looking", 4)


@contextmanager
def tracing(events: list[tuple[str, str]]) -> Iterator[None]:
    def trace(frame: Any, event: str, arg: Any) -> Any:
        events.append((frame.f_code.co_name, event))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def trace_events(run: Callable[[], object], name: str) -> list[tuple[str, str]]:
    events: list[tuple[str, str]] = []
    with tracing(events):
        run()
    return [event for event in events if event[0] in (name, "old", "inner", "retired")]


def test_trace_functions_see_what_they_would_see_without_a_hook() -> None:
    want = trace_events(lambda: new(3, 4), "new")
    interception = swapping((old, new))
    with interception:
        assert trace_events(lambda: old(3, 4), "new") == want


def test_trace_functions_see_no_more_of_a_rebuilt_call() -> None:
    want = trace_events(lambda: new(3, 4), "new")

    def at_depth(depth: int) -> Any:
        return trace_events(lambda: old(3, 4), "new") if depth == 0 else at_depth(depth - 1)

    before = hook_statistics()["rebuilt"]
    with swapping((old, new), room=200):
        for depth in range(300):
            assert at_depth(depth) == want
    assert hook_statistics()["rebuilt"] > before


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
def test_monitoring_sees_what_it_would_see_without_a_hook() -> None:
    monitoring = sys.monitoring  # type: ignore[attr-defined]
    tool, events = 4, monitoring.events
    hits: list[Any] = []

    def run(call: Callable[[], object], code: CodeType) -> list[Any]:
        hits.clear()
        monitoring.use_tool_id(tool, "test")
        try:
            monitoring.register_callback(tool, events.PY_START, lambda c, o: hits.append(("start", c.co_name)))
            monitoring.register_callback(tool, events.PY_RETURN, lambda c, o, v: hits.append(("return", c.co_name)))
            monitoring.register_callback(tool, events.LINE, lambda c, line: hits.append((line, c.co_name)))
            monitoring.set_events(tool, events.PY_START | events.PY_RETURN | events.LINE)
            call()
        finally:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)
        return [hit for hit in hits if hit[1] in ("new", "inner", "old", "retired")]

    want = run(lambda: new(3, 4), new.__code__)

    def at_depth(depth: int) -> Any:
        return run(lambda: old(3, 4), new.__code__) if depth == 0 else at_depth(depth - 1)

    before = hook_statistics()["rebuilt"]
    with swapping((old, new), room=200):
        for depth in range(500):
            assert at_depth(depth) == want
    assert hook_statistics()["rebuilt"] > before


def test_no_reference_is_lost_or_kept() -> None:
    class Thing: ...

    thing = Thing()

    def round_() -> None:
        for depth in range(60):
            at_depth(depth)
            try:
                at_depth(depth, fail=True)
            except KeyError:
                pass

    def at_depth(depth: int, fail: bool = False) -> Any:
        if depth:
            return at_depth(depth - 1, fail)
        return fails(thing, 1, thing, w=thing) if fail else old(1, 2, thing, k=3, z=thing)

    def fails(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
        return x

    def counts() -> list[int]:
        gc.collect()
        return [sys.getrefcount(o) for o in (thing, old.__code__, new.__code__, failing.__code__, fails.__code__)]

    interception = swapping((old, new), (fails, failing))
    with interception:
        round_()
        before = counts()
        for _ in range(100):
            round_()
        assert counts() == before


def test_generators_and_coroutines_are_not_offered() -> None:
    offered: list[str] = []

    def generator() -> Any:
        yield old(1, 2)

    async def coroutine() -> Any:
        return 5

    with intercept(lambda code, call: offered.append(code.co_name)):
        assert list(generator()) == [3]
        task = coroutine()
        with pytest.raises(StopIteration) as stop:
            task.send(None)
    assert stop.value.value == 5
    assert "old" in offered
    assert not {"generator", "coroutine"} & set(offered)


def test_calls_inside_generators_are_offered() -> None:
    def generator() -> Any:
        for i in range(3):
            yield old(i, 1)

    with swapping((old, new)):
        assert list(generator()) == [new(i, 1) for i in range(3)]


def test_callback_exceptions_become_the_calls() -> None:
    def callback(code: CodeType, call: FrameCall) -> None:
        if code is old.__code__:
            raise LookupError("no")

    with intercept(callback):
        with pytest.raises(LookupError, match="no"):
            old(1, 2)
        with pytest.raises(LookupError, match="no"):
            old(1, 2)
    assert old(1, 2) == 3


def other_parameters(x: Any, n: Any) -> Any: ...


def test_a_replacement_that_does_not_fit_is_one_clear_error() -> None:
    def make(cell: int) -> Any:
        def closing(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
            return cell

        return closing

    def generating(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
        yield 1

    module = compile("1", "<test>", "exec")
    cases = [
        (other_parameters.__code__, "its parameters differ"),
        (make(1).__code__, "free variables"),
        (generating.__code__, "generator"),
        (module, "parameters"),
    ]
    for code, why in cases:
        with intercept(lambda c, f, code=code: code if c is old.__code__ else None):
            with pytest.raises(PydynamoError, match=f"cannot replace code of old.*{why}"):
                old(1, 2)
    with intercept(lambda c, f: 5 if c is old.__code__ else None):  # type: ignore[arg-type, return-value]
        with pytest.raises(PydynamoError, match="a code object or None, not <class 'int'>"):
            old(1, 2)
    assert old(1, 2) == 3


def test_callbacks_own_calls_are_not_offered() -> None:
    seen: list[str] = []

    def helper() -> None: ...

    def callback(code: CodeType, call: FrameCall) -> None:
        seen.append(code.co_name)
        helper()

    with intercept(callback):
        old(1, 2)
    assert "helper" not in seen


def test_blocks_nest_innermost_first() -> None:
    def third(x: Any, n: Any, *args: Any, k: Any = 1, **kw: Any) -> Any:
        return "third"

    order: list[str] = []
    outer = intercept(lambda code, call: order.append("outer") or new.__code__ if code is old.__code__ else None)
    inner = intercept(lambda code, call: order.append("inner") if code is old.__code__ else None)
    with outer:
        with inner:
            assert old(3, 4) == new(3, 4)
        assert order == ["inner", "outer"]
        with swapping((old, third)):
            assert old(3, 4) == "third"
        assert old(3, 4) == new(3, 4)
    assert old(3, 4) == 13


def test_ignored_code_is_not_asked_about_again() -> None:
    seen: list[CodeType] = []

    def callback(code: CodeType, call: FrameCall) -> None:
        seen.append(code)
        call.ignore()

    with intercept(callback):
        for _ in range(5):
            old(1, 2)
    assert seen.count(old.__code__) == 1


def test_other_threads_are_not_watched() -> None:
    found: list[Any] = []
    with swapping((old, new)):
        thread = threading.Thread(target=lambda: found.append(old(3, 4)))
        thread.start()
        thread.join()
        assert old(3, 4) == new(3, 4)
    assert found == [13]


def test_threads_watch_on_their_own() -> None:
    failures: list[str] = []  # and one "done" for each thread

    def work(number: int) -> None:
        space: dict[str, Any] = {}
        exec(f"def mine(x, n, *args, k=1, **kw):\n    local = ({number}, x)\n    return local", space)
        mine = space["mine"]
        for i in range(300):
            with swapping((old, mine)):
                if old(i, 1) != (number, i):
                    failures.append("not replaced")
            if old(i, 1) != i + 1:
                failures.append("still replaced")
        failures.append("done")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == ["done"] * 8


def test_a_block_is_left_by_the_thread_that_entered_it() -> None:
    interception = intercept(lambda code, call: None)
    interception.__enter__()
    errors: list[BaseException] = []

    def leave() -> None:
        try:
            interception.__exit__(None, None, None)
        except PydynamoError as error:
            errors.append(error)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    interception.__exit__(None, None, None)
    assert len(errors) == 1
    with pytest.raises(PydynamoError, match="once for each time"):
        interception.__exit__(None, None, None)


def run_in_child(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("limit", [1000, 5000, 1_000_000])
def test_deep_recursion_raises_recursion_error(limit: int) -> None:
    out = run_in_child(f"""
        import sys
        from pydynamo.eval_frame import intercept
        def old(n): return n and old(n - 1)
        def new(n):
            local = n
            return local and old(n - 1)
        sys.setrecursionlimit({limit})
        with intercept(lambda code, call: new.__code__ if code is old.__code__ else None):
            assert old({min(limit, 5000)} - 60) == 0
            for _ in range(3):
                try:
                    old(10_000_000)
                except RecursionError as error:
                    pass
                else:
                    raise AssertionError
        assert old(100) == 0
        print("ok")
    """)
    assert out == "ok\n"


def test_deep_recursion_in_a_small_thread_raises_recursion_error() -> None:
    out = run_in_child("""
        import sys, threading
        from pydynamo.eval_frame import intercept
        def old(n): return n and old(n - 1)
        sys.setrecursionlimit(1_000_000)
        threading.stack_size(512 * 1024)
        def work():
            with intercept(lambda code, call: None):
                try:
                    old(10_000_000)
                except RecursionError:
                    print("ok")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """)
    assert out == "ok\n"


def test_an_interrupt_in_a_callback_reaches_the_caller() -> None:
    def callback(code: CodeType, call: FrameCall) -> None:
        if code is old.__code__:
            raise KeyboardInterrupt

    with intercept(callback), pytest.raises(KeyboardInterrupt):
        old(1, 2)
