"""Division, remainders and powers: eager's rounding toward zero or below, its signs, and where it raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering.lower.core import Lowering, aten, handles
from pydynamo.lowering.lower.pointwise import KIND, elementwise, is_tensor, kept_second, named, uneven_on_host
from pydynamo.lowering.numerics import compute_dtype
from pydynamo.lowering.symbols import Size

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value


def _rounds_down(k: Kernel, dt: torch.dtype, m: Value, b: Value, zero: Value) -> Value:
    """True where a remainder toward zero is none of the floored division: not zero, and of another sign than the divisor."""
    return k.op(
        "bitwise_and",
        torch.bool,
        k.op("ne", torch.bool, m, zero, operands=dt),
        k.op(
            "ne",
            torch.bool,
            k.op("lt", torch.bool, m, zero, operands=dt),
            k.op("lt", torch.bool, b, zero, operands=dt),
        ),
    )


def remainder_emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    """Remainder with the sign of the divisor."""
    a, b = vs
    m = k.op("fmod", dt, a, b)
    zero = k.constant(0, dt)
    fix = _rounds_down(k, dt, m, b, zero)
    return k.op("where", dt, fix, k.op("add", dt, m, b), m)


def checked_divisor(low: Lowering, k: Kernel, dt: torch.dtype, v: Value) -> None:
    """On the host eager raises where an integer is divided by zero."""
    if low.device.type == "cpu" and not dt.is_floating_point:
        k.require(k.op("ne", torch.bool, v, k.constant(0, dt), operands=dt), "ZeroDivisionError")


@handles(aten.remainder, aten.fmod)
def remainder(low: Lowering, node: Any, a: Any, b: Any) -> Any:
    if node.meta["spec"].dtype is torch.bool or not (is_tensor(a) or is_tensor(b)):
        return NotImplemented
    floored = node.target.overloadpacket is aten.remainder

    def emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        checked_divisor(low, k, dt, vs[1])
        return remainder_emit(k, dt, vs) if floored else k.op("fmod", dt, *vs)

    return elementwise(low, "remainder" if floored else "fmod", [a, b], node.meta["spec"], KIND.DEFAULT, emit)


def _floor_div_int(k: Kernel, dt: torch.dtype, a: Value, b: Value) -> Value:
    q, m = k.op("div_trunc", dt, a, b), k.op("fmod", dt, a, b)
    zero = k.constant(0, dt)
    fix = _rounds_down(k, dt, m, b, zero)
    return k.op("where", dt, fix, k.op("sub", dt, q, k.constant(1, dt)), q)


def _floor_div_float(k: Kernel, dt: torch.dtype, stored: torch.dtype, a: Value, b: Value) -> Value:
    """c10::div_floor_floating: exact where floor(a / b) would round up to the next integer; `stored` rounds each step."""

    def step(name: str, *operands: Value) -> Value:
        return k.hold(k.cast(k.op(name, dt, *operands), stored), dt)

    zero, one = k.constant(0.0, dt), k.constant(1.0, dt)
    quotient = step("div", a, b)
    m = step("fmod", a, b)
    d = step("div", step("sub", a, m), b)
    fix = _rounds_down(k, dt, m, b, zero)
    d = k.op("where", dt, fix, step("sub", d, one), d)
    f = k.op("floor", dt, d)
    up = k.op("gt", torch.bool, step("sub", d, f), k.constant(0.5, dt), operands=dt)
    f = k.op("where", dt, up, step("add", f, one), f)
    signed = k.op("copysign", dt, zero, quotient)
    f = k.op("where", dt, k.op("ne", torch.bool, d, zero, operands=dt), f, signed)
    return k.op("where", dt, k.op("eq", torch.bool, b, zero, operands=dt), quotient, f)


@handles(aten.div, aten.true_divide)
def div(low: Lowering, node: Any, a: Any, b: Any, *, rounding_mode: str | None = None) -> Any:
    out = node.meta["spec"]
    if rounding_mode is None:
        return elementwise(low, "div", [a, b], out, KIND.INT_TO_FLOAT, named("div"))

    name = "div_" + rounding_mode
    stored = out.dtype if low.options.round_half and not kept_second(low, name, [a, b]) else compute_dtype(out.dtype)

    def emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        if dt.is_floating_point:
            if rounding_mode == "floor":
                return _floor_div_float(k, dt, stored, *vs)
            return k.op("trunc", dt, k.hold(k.cast(k.op("div", dt, *vs), stored), dt))
        checked_divisor(low, k, dt, vs[1])
        return _floor_div_int(k, dt, *vs) if rounding_mode == "floor" else k.op("div_trunc", dt, *vs)

    if out.dtype is torch.bool:
        return NotImplemented
    return elementwise(low, name, [a, b], out, KIND.DEFAULT, emit)


@handles(aten.floor_divide)
def floor_divide(low: Lowering, node: Any, a: Any, b: Any) -> Any:
    return div(low, node, a, b, rounding_mode="floor")


@handles(aten.pow)
def power(low: Lowering, node: Any, a: Any, b: Any) -> Any:
    out = node.meta["spec"]
    if isinstance(b, Size):
        return NotImplemented
    if not is_tensor(b) and not out.dtype.is_floating_point:
        if not isinstance(b, int) or not 0 <= b <= 8 or out.dtype is torch.bool:
            return NotImplemented
        return elementwise(low, "pow", [a], out, KIND.DEFAULT, lambda k, dt, vs: _int_power(k, dt, vs[0], b))
    if not out.dtype.is_floating_point or not (is_tensor(a) or is_tensor(b)):
        return NotImplemented
    if is_tensor(b):
        return elementwise(low, "pow", [a, b], out, KIND.BOOL_TO_LONG, named("pow"))
    stored = compute_dtype(out.dtype)
    general = b not in (0.5, -0.5, 1, 2, 3, -1, -2) or (out.dtype is torch.float16 and low.device.type == "cpu")
    if out.dtype is torch.bfloat16 and low.device.type == "cpu" and low.options.round_half:
        stored = out.dtype  # its vectors round every product
        if b == -0.5 and uneven_on_host(low, out.dtype):
            return NotImplemented
    return elementwise(
        low,
        "pow",
        [a, float(b)] if general else [a],
        out,
        KIND.DEFAULT if is_tensor(a) and a.dtype.is_floating_point else KIND.INT_TO_FLOAT,
        named("pow") if general else lambda k, dt, vs: _power(k, dt, stored, vs[0], b),
    )


def _int_power(k: Kernel, dt: torch.dtype, v: Value, n: int) -> Value:
    r = k.constant(1, dt)
    for _ in range(n):
        r = k.op("mul", dt, r, v)
    return r


def _power(k: Kernel, dt: torch.dtype, stored: torch.dtype, v: Value, e: float) -> Value:
    """The exponents that eager computes without pow(); `stored` rounds the square of which more is made."""
    if e == 0.5:
        return k.op("sqrt", dt, v)
    if e == -0.5:
        return k.op("rsqrt", dt, v)
    if e == 1:
        return v
    if e == -1:
        return k.op("div", dt, k.constant(1.0, dt), v)
    square = k.op("mul", dt, v, v)
    if e == 2:
        return square
    square = k.hold(k.cast(square, stored), dt)
    return k.op("mul", dt, square, v) if e == 3 else k.op("div", dt, k.constant(1.0, dt), square)
