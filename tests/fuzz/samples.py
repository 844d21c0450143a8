"""Small functions that between them use every construct the compiler knows, and how to call them.

Nothing here touches files, processes or the network, and the globals that mutants run with hold only what is safe to call
with anything. `SAMPLES` is a list of (function, argument tuples).
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import itertools
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

SOURCE = """
def arithmetic(a, b):
    c = a + b * 2 - (a // 3) % 7
    c += b; c -= 1; c *= 2
    return -c if c > 3 else ~c

def strings(a, b):
    s = str(a)
    for part in ("x", "y"):
        s += part
    return f"{s!r:>10}{b:d}{a!s}" + s[1:2] + s[-1]

def loops(a, b):
    total = 0
    for i in range(a):
        if i == b: continue
        for j in (1, 2, 3):
            if j > i: break
            total += j
        else:
            total -= 1
    while total > 10:
        total //= 2
    return total

def over_generator(a, b):
    out = []
    for x in (y * 2 for y in range(b)):
        out.append(x)
    for k, v in {1: 2, 3: 4}.items():
        out.append(k + v)
    return out

def comprehensions(a, b):
    x = [i for i in range(b) if i % 2]
    y = {i: j for i in range(2) for j in (a, b)}
    z = {i + j for i in range(2) for j in x}
    return x, y, sorted(z), [[i * j for i in range(2)] for j in range(2)], list(i for i in x)

def any_all(a, b):
    return any(x > 1 for x in range(b)), all(x < 1 for x in range(b)), tuple(x for x in range(b))

def tries(a, b):
    try:
        x = a // (b - 4)
    except ZeroDivisionError as e:
        x = len(e.args)
    except (TypeError, ValueError):
        raise
    else:
        x += 1
    finally:
        a = 0
    return x + a

def nested_tries(a, b):
    out = []
    for i in range(4):
        try:
            try:
                if i == 1: raise ValueError(i)
                if i == 2: raise KeyError(i)
                out.append(i)
            except ValueError:
                out.append("v")
                continue
            finally:
                out.append("f")
        except KeyError as e:
            out.append(e.args[0])
    return out

def try_in_loop_return(a, b):
    for i in range(3):
        try:
            if i == b: return i
            d = {}[i]
        except KeyError:
            pass
    return None

def raises(a, b):
    try:
        raise ValueError(a) from KeyError(b)
    except ValueError as e:
        return repr(e.__cause__)

def stars(a, b):
    log = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as e:
        log.append(len(e.exceptions))
    except* (TypeError, KeyError):
        log.append("tk")
    return log

def withs(a, b):
    with Manager(a) as x, Manager(b):
        y = x + 1
    with Manager(1, True):
        raise ValueError
    return y

def with_return(a, b):
    for i in range(3):
        with Manager(i) as m:
            if m == 1:
                return m
    return -1

def calls(a, b):
    return max(a, b), f3(a, b, c=3), f3(*(a, b)), f3(*(a,), **{"b": b}), f3(a, **{"b": 1, "c": 2}), f3(b=a, a=b)

def methods(a, b):
    d = {"k": a}
    l = [3, 1, 2]
    l.append(a)
    l.sort(key=lambda v: -v)
    d.update(j=b)
    return d.get("k"), l.index(3), "a-b".split("-"), Point(a, b).norm(), Point(1, 2).x

def closures(a, b):
    n = a
    def inner(c, d=2, *, e=3):
        nonlocal n
        n += c + d + e
        return n
    return inner(b), inner(b, e=1), n, (lambda q=a: q + n)()

def cell_arg(a, b):
    def get(): return a
    a += 1
    del b
    return get()

def classes(a, b):
    class A(Point):
        z = a
        def m(self, q: int = 3) -> int: return self.z + q + super().norm()
        @property
        def p(self): return __class__
    return A(1, 2).m(), A.__name__, A(1, 2).p is A

def slices(a, b):
    l = list(range(6))
    l[1:3] = [9]
    del l[0]
    l[0] = b
    return l[::2], l[1:], l[:a], l[-1]

def unpacking(a, b):
    x, (y, *z), w = a, (1, 2, 3), b
    x, y = y, x
    p, q, r = (1, 2, 3)
    return [x, y, *z, w, p], {**{"a": 1}, "b": q}, (*z, r), {*z, a}

def comparisons(a, b):
    return a < b <= 5, a is None, a is not b, b in (1, 2), b not in [a], not a, a and b or 3, a == b, a != b

def branches(a, b):
    x = None
    if a > b: x = 1
    elif a == b: x = 2
    if x is None: x = 3
    if x is not None and b: x += 1
    assert x, "no"
    return x if a else b

def unbound(a, b):
    if a: c = 1
    try:
        return c
    except UnboundLocalError:
        return "unbound"

def deletes(a, b):
    c = a
    del c
    try:
        return c
    except NameError:
        c = b
    return c

def matches(a, b):
    out = []
    for s in (1, "x", [1, 2, 3], {"k": 1, "j": 2}, Point(1, 2), (1, 2), None):
        match s:
            case 1 | 2: out.append("n")
            case str(): out.append("s")
            case [x, y]: out.append((x, y))
            case [x, *r]: out.append(r)
            case {"k": v, **rest}: out.append((v, rest))
            case Point(x=0): out.append("p0")
            case Point(p, q) if q: out.append((p, q))
            case None: out.append(None)
            case _: out.append("?")
    return out

def walrus(a, b):
    if (n := a + b) > 3: return n
    return [m := 1, m]

def globals_(a, b):
    global G
    G = a
    return G + b

def imports(a, b):
    import math
    from math import floor as fl, ceil
    return math.floor(1.5) + fl(2.5) + ceil(a)

def gen(a, b):
    x = yield a
    try:
        y = yield x
    except ValueError:
        y = yield "caught"
    finally:
        yield b
    return y

def gen_from(a, b):
    r = yield from gen(a, b)
    yield from (1, 2)
    for i in range(2): yield i
    return r

def gen_try_loop(a, b):
    for i in range(3):
        try:
            yield i
        except GeneratorExit:
            return
        with Manager(i):
            yield -i

async def coro(a, b):
    x = await Awaitable(a)
    async with AManager(b) as m:
        x += await Awaitable(m)
    async for i in agen(a, b):
        x += i
    return x + sum([i async for i in agen(1, 2)]) + sum([await Awaitable(j) for j in (1, 2)])

async def agen(a, b):
    yield 1
    try:
        await Awaitable(b)
        yield 2
    finally:
        pass

def rung(a, b):
    done = 0
    for i in (a, b):
        try:
            for x in rings(2): done += 1
        except Rung:
            done -= 1
            if a == b: continue
        with Manager(i, True):
            for x in rings(1):
                for y in (1, 2): done += y
    for x in rings(1): done += b
    return done

def rung_while(a, b):
    now = ()
    while True:
        try:
            while a not in now: now = rings(1)
        finally:
            if now: break
    return b

def rung_gen(a, b):
    for x in rings(a):
        try:
            yield x
        except ValueError:
            for y in rings(1): pass

def decorated(a, b):
    @ident
    def h(x, /, y=1, *args, k, **kw): return (x, y, args, k, kw)
    return h(1, 2, 3, k=4, z=5), h.__defaults__

def many_locals(a, b):
    v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = v8 = v9 = a
    w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 = range(10)
    v3 = w3 + v4; w9 = v9 + b
    return v0 + v1 + v2 + v3 + w0 + w1 + w9 + v5 + v6 + v7 + v8 + w4 + w5 + w6 + w7 + w8 + w2

def deep(a, b):
    return f3(f3(a, f3(b, 1)), f3([a, (b, {a: [b, a]})][0], b))
"""

SOURCE_312 = """
def generics(a, b):
    def g[T](x: T, y=1, *, z=2) -> T: return x
    class C[T, *Ts, **P]:
        m: T
        def f[S: int](self, s: S) -> S: return s
    type Alias[V] = list[V]
    return g(a), C().f(b), Alias.__value__, len(C.__type_params__)

def nested_fstring(a, b):
    return f"{a!r:>{b}}{'x' if a else "y"}"
"""

SOURCE_314 = """
def template(a, b):
    t = t"hello {a!r:>{b}} {b}"
    return t.strings, [i.value for i in t.interpolations]

def annotated(a, b):
    class C:
        x: int
        if a:
            y: str
        def f(self, q: Undefined) -> None: pass
    return C.__annotations__
"""

MANAGERS = """
class Manager:
    def __init__(self, v, swallow=False): self.v, self.swallow = v, swallow
    def __enter__(self): peek(); return self.v
    def __exit__(self, *args): peek(); return self.swallow

class AManager(Manager):
    async def __aenter__(self): return self.v
    async def __aexit__(self, *args): return self.swallow

class Awaitable:
    def __init__(self, v): self.v = v
    def __await__(self):
        peek()
        yield self.v
        return self.v

class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
    def norm(self): return self.x + self.y

def f3(a, b=2, *args, c=1, **kw): peek(); return a
def ident(f): return f
"""


class Endless(BaseException):
    """A mutant ran for too long, or asked for too much."""


class Rung(Exception):
    """What the handler of a signal raises that a mutant tripped."""


#: Trips a signal and leaves it to the next jump back, or call, to see it.
trip = functools.partial(_thread.interrupt_main, signal.SIGUSR1)


def rings(times: object) -> Iterator[None]:
    """An iterator all of C that trips a signal each time, a few times."""
    return itertools.islice(iter(trip, 1), times if isinstance(times, int) and 0 <= times < 9 else 1)


#: Frames that somebody still looks at, finished or not.
seen: deque[FrameType] = deque(maxlen=6)


def look_at(frame: FrameType) -> None:
    """Reads what can be read of a frame, but for what 3.13.0 crashes at by itself: cell variables that are none for a while."""
    _ = frame.f_lineno
    if sys.version_info[:2] != (3, 13) or not frame.f_code.co_cellvars:
        dict(frame.f_locals)


def peek() -> None:
    """Looks at the frames of whoever calls, mutants among them, and keeps one as a debugger or an exception would."""
    frame: FrameType | None = sys._getframe(1)
    if frame is not None and frame.f_code is small_range.__code__:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename == "samples":
        look_at(frame)
        seen.append(frame)
        frame = frame.f_back
    if len(seen) == seen.maxlen:
        with contextlib.suppress(RuntimeError):  # it runs
            seen[0].clear()


def small_range(*args: int) -> range:
    """`range`, but of few items: a mutant's loop over millions is of no interest."""
    peek()
    made = range(*args)
    return made if len(made) < 1000 else range(0)


def bounded_pow(*args: Any) -> int:
    """Nothing at all: powers eat time and memory."""
    return 1


SAFE = (
    "max min abs len str int repr sorted list tuple dict set frozenset sum any all enumerate zip map filter reversed bool"
    " isinstance issubclass iter next type super object property staticmethod classmethod callable hash id chr ord divmod"
    " Exception BaseException ValueError TypeError KeyError IndexError ZeroDivisionError UnboundLocalError NameError"
    " AttributeError StopIteration StopAsyncIteration RuntimeError AssertionError GeneratorExit ExceptionGroup"
    " BaseExceptionGroup NotImplementedError ImportError True False None __build_class__ slice aiter anext locals"
).split()


def safe_import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """`import` of two harmless modules."""
    if name not in ("math", "typing"):
        raise ImportError(name)
    return __import__(name, None, None, fromlist)


def build() -> tuple[dict[str, Any], list[Callable[..., Any]]]:
    """The globals that mutants run with, and the functions to mutate."""
    import builtins

    allowed = {name: getattr(builtins, name) for name in SAFE if hasattr(builtins, name)}
    allowed["__import__"] = safe_import
    allowed["range"] = small_range
    allowed["pow"] = bounded_pow
    scope: dict[str, Any] = {"__builtins__": allowed, "__name__": "samples", "G": 0, "peek": peek}
    scope |= {"rings": rings, "Rung": Rung}
    exec(compile(MANAGERS, "samples", "exec", dont_inherit=True), scope)
    before = set(scope)
    sources = [SOURCE]
    if sys.version_info >= (3, 12):
        sources.append(SOURCE_312)
    if sys.version_info >= (3, 14):
        sources.append(SOURCE_314)
    for source in sources:
        exec(compile(source, "samples", "exec", dont_inherit=True), scope)
    made = [value for name, value in scope.items() if name not in before and callable(value)]
    return scope, made


ARGUMENTS: list[tuple[Any, ...]] = [(3, 4), (2, 2), (5, 1)]
