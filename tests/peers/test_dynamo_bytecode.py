"""The verifier accepts what torch's own compiler writes: the bytecode of many compiled programs, captured and proved.

Each program runs under torch.compile with graph breaks in awkward places; every code object that Dynamo hands to the
interpreter is verified, taken apart and put together again, and the rebuilt one runs in its place.
"""

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pydynamo import bytecode

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


def broken(value: Any) -> Any:
    """A graph break wherever it is called."""
    torch._dynamo.graph_break()
    return value


@program
def straight(x):
    return x * 2 + 1


@program
def break_between(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * x


@program
def break_in_an_expression(x):
    return (x + 1) * broken(x - 1) + (x * 3)


@program
def break_in_a_loop(x):
    for i in range(3):
        x = x + i
        x = broken(x * 1)
    return x


@program
def break_under_a_branch(x):
    if x.sum() > 0:
        x = x + 1
        torch._dynamo.graph_break()
    else:
        x = x - 1
    return x * 2


@program
def try_finally(x):
    log = []
    try:
        x = x + 1
        x = broken(x * 1)
        x = x * 2
    finally:
        log.append(x.shape[0])
        x = x + 1
    return x, log


@program
def try_except(x):
    try:
        x = x.relu()
        x = broken(x * 1)
        raise ValueError("expected")
    except ValueError as error:
        x = x + len(str(error))
    return x


@program
def nested_handlers(x):
    try:
        try:
            x = broken(x + 1)
            raise KeyError("inner")
        except ValueError:
            x = x - 100
        finally:
            x = x * 2
    except KeyError:
        x = x + 5
    return x


@program
def with_block(x):
    with torch.no_grad():
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
    return x + 1


@program
def nested_with_blocks(x):
    with torch.no_grad(), torch.enable_grad():
        x = x.sin()
        with torch.autocast("cpu", enabled=False):
            x = broken(x) + 1
        x = x.cos()
    return x


@program
def user_context_manager(x):
    @contextlib.contextmanager
    def scope(value):
        yield value + 1

    with scope(3) as n:
        x = x + n
        x = broken(x * 1)
        x = x * n
    return x


def numbers(x, count):
    for i in range(count):
        yield x + i


@program
def generator(x):
    total = x
    for value in numbers(x, 3):
        total = total + value
    torch._dynamo.graph_break()
    return total


def delegating(x):
    got = yield from numbers(x, 2)
    yield x if got is None else got


@program
def yield_from(x):
    return [broken(value) for value in delegating(x)]


@program
def closure(x):
    scale = x.shape[0]

    def inner(y):
        nonlocal scale
        scale += 1
        return y * scale

    x = inner(x)
    torch._dynamo.graph_break()
    return inner(x) + scale


@program
def closure_that_escapes(x):
    offset = x.sum()

    def inner(y):
        return y + offset

    torch._dynamo.graph_break()
    return inner(x), inner


@program
def comprehension(x):
    parts = [x * i for i in range(3) if i != 1]
    torch._dynamo.graph_break()
    return {i: part.sum() for i, part in enumerate(parts)}


@program
def containers_on_the_stack(x):
    return [x, (broken(x + 1), {"key": x * 2, "other": broken(x)})]


@program
def keyword_call(x):
    def callee(a, *rest, b=1, **more):
        return a * b + sum(rest) + more.get("c", 0)

    return callee(x, broken(x), 2, b=broken(3), c=4)


@program
def star_call(x):
    args, kwargs = (x, broken(x)), {"alpha": 2}
    return torch.add(*args, **kwargs)


@program
def unpacking(x):
    first, *middle, last = broken([x, x + 1, x + 2, x + 3])
    return first * last + sum(middle)


@program
def match_statement(x):
    match (x.dim(), broken(x)):
        case (1, tensor):
            return tensor + 1
        case (2, tensor) if tensor.shape[0] > 1:
            return tensor * 2
        case _:
            return x


@program
def format_string(x):
    text = f"{broken(x.shape[0])!r:>5} {x.dim()}"
    return x + len(text)


@program
def while_with_else(x):
    n = 0
    while n < 3:
        n += 1
        x = x + n
        if n == 2:
            x = broken(x * 1)
            continue
    else:
        x = x * 2
    return x


@program
def attributes_and_subscripts(x):
    class Holder:
        pass

    holder = Holder()
    holder.value = [x, x + 1]
    holder.value[broken(0)] += 2
    holder.value[1:] = [broken(x)]
    del holder.value[0]
    return holder.value


@program
def boolean_operators(x):
    return (x.dim() == 3 and broken(x)) or broken(x + 1) if x is not None else None


@program
def lambda_and_default(x):
    scale = lambda y, n=x.dim(): y * n  # noqa: E731
    return scale(broken(x)) + scale(x, 3)


@program
def many_locals(x):
    a = b = c = d = e = f = g = x + 1
    torch._dynamo.graph_break()
    return a + b + c + d + e + f + g


@program
def deep_stack(x):
    return torch.stack([x, x + 1, x + 2, x + 3, broken(x), x + 5, x + 6, broken(x + 7)])


@program
def super_call(x):
    class Base:
        def scale(self, y):
            return y * 2

    class Derived(Base):
        def scale(self, y):
            return super().scale(broken(y)) + 1

    return Derived().scale(x)


@program
def reraise(x):
    try:
        try:
            raise RuntimeError("first")
        except RuntimeError:
            x = broken(x * 1)
            raise
    except RuntimeError as error:
        return x + len(str(error))


@program
def global_write(x):
    global _counter
    _counter = broken(_counter) + 1
    return x + _counter


_counter = 0


@pytest.fixture
def captured() -> Iterator[list[types.CodeType]]:
    """Every code object that Dynamo writes, each replaced by itself taken apart and put together."""
    from torch._dynamo import convert_frame

    seen: list[types.CodeType] = []

    def hook(original: types.CodeType, new: types.CodeType) -> types.CodeType:
        seen.append(new)
        return bytecode.roundtrip(new)

    torch._dynamo.reset()
    handle = convert_frame.register_bytecode_hook(hook)
    yield seen
    handle.remove()
    torch._dynamo.reset()


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def plain(value: Any) -> Any:
    """A form of the result in which tensors compare and functions do not."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return type(value) if callable(value) else value


@pytest.mark.parametrize("function", [pytest.param(p, id=p.__name__, marks=pytest.mark.smoke) for p in PROGRAMS])
def test_what_dynamo_writes_is_proved_and_still_runs(function, captured) -> None:
    global _counter
    _counter = 0
    x = torch.arange(6.0).reshape(2, 3) + 1
    expected = plain(function(x.clone()))
    _counter = 0
    result = plain(torch.compile(function, backend="eager")(x.clone()))
    assert captured, "Dynamo compiled nothing"
    for outer in captured:
        for code in nested(outer):
            bytecode.verify(code)
    assert result == expected
