"""Elementwise operators: eager's type promotion, then the named operation of the numerics table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.lowering import numerics
from pydynamo.lowering import torch_private as private
from pydynamo.lowering.index import Index
from pydynamo.lowering.ir import Buffer, Lazy, Tensorish
from pydynamo.lowering.lower.core import Lowering, Unsupported, aten, broadcast, handles, prims
from pydynamo.lowering.numerics import HALF, TL, compute_dtype
from pydynamo.lowering.symbols import Int, Size, hint, same

if TYPE_CHECKING:
    from pydynamo.lowering.kernel import Kernel, Value

KIND = private.PromotionKind
Emit = Callable[["Kernel", torch.dtype, Sequence["Value"]], "Value"]


def is_tensor(v: Any) -> bool:
    return isinstance(v, (Buffer, Lazy))


def named(op: str) -> Emit:
    """Emit one operation of the table."""
    return lambda k, dt, vs: k.op(op, dt, *vs)


def predicate(op: str) -> Emit:
    """Emit an operation whose result is a bool."""
    return lambda k, dt, vs: k.op(op, torch.bool, *vs, operands=dt)


# Beside half types, numbers and tensors of other dtypes are rounded to the half type before the operation. What is kept
# in the compute type is, on the host, a second operand of a single element; on a GPU, numbers but for these operators.
KEPT_SECOND_CPU = {"mul", "div", "div_floor", "div_trunc"}
ROUNDED_NUMBERS_CUDA = {"fmod", "remainder", "pow", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum"}


def kept_second(low: Lowering, name: str, args: Sequence[Any]) -> bool:
    """True if the host's kernel computes with its second operand unrounded."""
    if low.device.type != "cpu" or name not in KEPT_SECOND_CPU or len(args) != 2:
        return False
    return not is_tensor(args[1]) or all(same(n, 1) for n in args[1].shape)


def uneven_on_host(low: Lowering, dt: torch.dtype) -> bool:
    """True for half types on the host, for operators of which eager rounds some elements twice and others once, as they
    fall into its vectors: one extern call alone does the same."""
    return low.device.type == "cpu" and dt in HALF and low.options.round_half


def elementwise(
    low: Lowering,
    name: str,
    args: Sequence[Any],
    out: torch.Tensor,
    kind: Any,
    emit: Emit,
    result: torch.dtype | None = None,
) -> Lazy:
    """A Lazy of `emit` over promoted, broadcast `args` (tensors or numbers)."""
    fakes = [fake(a) for a in args]
    cdt, common = private.elementwise_dtypes(*fakes, type_promotion_kind=kind)
    cdt = compute_dtype(cdt)
    if cdt not in TL:
        raise Unsupported(f"computes in {cdt}")
    shape, odt = tuple(out.shape), result or out.dtype
    rounds = [common in HALF and _is_rounded(low, name, args, i) for i in range(len(args))]
    keep = low.options.round_half
    args = [low.before_broadcast(a, shape) if isinstance(a, Lazy) else a for a in args]

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        vs = []
        for a, rounded in zip(args, rounds, strict=True):
            if isinstance(a, (Buffer, Lazy)):
                v = k.hold(a.at(k, broadcast(idx, shape, a.shape)), cdt)
                vs.append(k.hold(k.cast(v, common), cdt) if rounded and a.dtype is not common else v)
            else:
                vs.append(k.hold(k.constant(a, common if rounded else cdt), cdt))
        r = emit(k, cdt, vs)
        if r.dtype is torch.float32 and odt in HALF and not keep:
            from pydynamo.lowering.kernel import Value as V

            return V(r, odt, r.deps)
        return k.cast(r, odt)

    return Lazy(shape, odt, fn, args, 1, name in DEAR)


def _is_rounded(low: Lowering, name: str, args: Sequence[Any], i: int) -> bool:
    """True if operand `i` is rounded to the half type that the operands have together."""
    if low.device.type == "cpu":
        return not (i == 1 and kept_second(low, name, args))
    return bool(is_tensor(args[i]) and args[i].shape) or name in ROUNDED_NUMBERS_CUDA


# what takes many instructions, or a unit of which a chip has few
DEAR = frozenset(
    (
        *(
            "div",
            "reciprocal",
            "sqrt",
            "rsqrt",
            "exp",
            "exp2",
            "log",
            "log2",
            "log10",
            "log1p",
            "expm1",
            "sigmoid",
            "tanh",
        ),
        *(
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "asinh",
            "acosh",
            "atanh",
            "erf",
            "erfc",
            "erfinv",
        ),
        *("pow", "atan2", "hypot", "fmod", "remainder", "lgamma"),
    )
)


def fake(a: Any) -> Any:
    if isinstance(a, (Buffer, Lazy)):
        return torch.empty((1,) * len(a.shape), dtype=a.dtype, device="meta")
    return hint(a) if isinstance(a, Size) else a


def check_spelled(op: str, dt: torch.dtype) -> None:
    if numerics.template(op, compute_dtype(dt)) is None:
        raise Unsupported(f"{op} has no spelling on {dt}")


def _unary(name: str, op: str, kind: Any, emit: Emit | None = None) -> None:
    def handler(low: Lowering, node: Any, x: Any, *rest: Any, **kw: Any) -> Any:
        if rest or kw or not is_tensor(x) or (name == "rsqrt" and uneven_on_host(low, x.dtype)):
            return NotImplemented
        if op:
            cdt, _ = private.elementwise_dtypes(fake(x), type_promotion_kind=kind)
            check_spelled(op, cdt)
        return elementwise(low, name, [x], node.meta["spec"], kind, emit or named(op))

    packet = getattr(aten, name, None)
    if packet is not None:
        handles(packet)(handler)


for _n in (
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
):
    _unary(_n, _n, KIND.INT_TO_FLOAT)
for _n in ("neg", "abs", "floor", "ceil", "trunc", "round", "sign"):
    _unary(_n, _n, KIND.DEFAULT)


@handles(aten.relu)
def relu(low: Lowering, node: Any, x: Any) -> Any:
    def keep_zero(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        """On the host -0.0 stays; a GPU's maximum makes it 0.0."""
        zero = k.constant(0, dt)
        return k.op("where", dt, k.op("lt", torch.bool, vs[0], zero, operands=dt), zero, vs[0])

    emit = keep_zero if low.device.type == "cpu" else named("relu")
    return elementwise(low, "relu", [x], node.meta["spec"], KIND.DEFAULT, emit)


def _invert(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    if dt is torch.bool:
        return k.op("logical_not", dt, vs[0])
    return k.op("bitwise_xor", dt, vs[0], k.constant(-1, dt))


_unary("bitwise_not", "", KIND.DEFAULT, _invert)


def _reciprocal(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    return k.op("div", dt, k.constant(1.0, dt), vs[0])


def _sigmoid(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    one = k.constant(1.0, dt)
    return k.op("quotient", dt, one, k.op("add", dt, one, k.op("exp", dt, k.op("neg", dt, vs[0]))))


_unary("reciprocal", "", KIND.INT_TO_FLOAT, _reciprocal)
_unary("sigmoid", "", KIND.INT_TO_FLOAT, _sigmoid)


@handles(aten.square)
def square(low: Lowering, node: Any, x: Any) -> Any:
    return elementwise(low, "mul", [x, x], node.meta["spec"], KIND.DEFAULT, named("mul"))


def _flag(name: str, emit: Emit) -> None:
    def handler(low: Lowering, node: Any, x: Any) -> Any:
        return elementwise(low, name, [x], node.meta["spec"], KIND.DEFAULT, emit, torch.bool)

    handles(getattr(aten, name))(handler)


def _isnan(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    return predicate("isnan")(k, dt, vs) if dt.is_floating_point else k.constant(False, torch.bool)


def _isinf(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    return predicate("isinf")(k, dt, vs) if dt.is_floating_point else k.constant(False, torch.bool)


def _signbit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    return predicate("signbit")(k, dt, vs) if dt is not torch.bool else k.constant(False, torch.bool)


def _angle(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
    zero = k.constant(0.0, dt)
    below = k.op("lt", torch.bool, vs[0], zero, operands=dt)
    r = k.op("where", dt, below, k.constant(math.pi, dt), zero)
    return k.op("where", dt, k.op("isnan", torch.bool, vs[0], operands=dt), vs[0], r)


_unary("angle", "", KIND.INT_TO_FLOAT, _angle)
_flag("isnan", _isnan)
_flag("isinf", _isinf)
_flag("signbit", _signbit)
_flag("logical_not", lambda k, dt, vs: k.op("logical_not", torch.bool, *vs, operands=dt))


# ---------------------------------------------------------------------- binary
def _binary(
    names: Sequence[Any], op: str, kind: Any, emit: Emit | None = None, result: torch.dtype | None = None
) -> None:
    def handler(low: Lowering, node: Any, a: Any, b: Any, *rest: Any, **kw: Any) -> Any:
        if rest or kw or not (is_tensor(a) or is_tensor(b)):
            return NotImplemented
        if op:
            cdt, common = private.elementwise_dtypes(fake(a), fake(b), type_promotion_kind=kind)
            check_spelled(op, cdt)
            if op == "nextafter" and common in HALF:
                return NotImplemented  # the next float32 is none of a half type's
        return elementwise(low, op or names[0].__name__, [a, b], node.meta["spec"], kind, emit or named(op), result)

    handles(*names)(handler)


for _n in (
    "mul",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "nextafter",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
):
    _binary([getattr(aten, _n)], _n, KIND.DEFAULT)
for _n in ("atan2", "copysign"):
    _binary([getattr(aten, _n)], _n, KIND.INT_TO_FLOAT)
for _n in ("eq", "ne", "lt", "le", "gt", "ge"):
    _binary([getattr(aten, _n)], _n, KIND.DEFAULT, predicate(_n), torch.bool)


def _logical(op: str) -> Emit:
    return lambda k, dt, vs: k.op(op, torch.bool, *(k.cast(v, torch.bool) for v in vs))


for _n, _o in (("logical_and", "bitwise_and"), ("logical_or", "bitwise_or"), ("logical_xor", "bitwise_xor")):
    _binary([getattr(aten, _n)], "", KIND.DEFAULT, _logical(_o), torch.bool)


def _scaled(low: Lowering, node: Any, name: str, a: Any, b: Any, alpha: Any) -> Any:
    if not (is_tensor(a) or is_tensor(b)):
        return NotImplemented
    cdt, result = private.elementwise_dtypes(fake(a), fake(b), type_promotion_kind=KIND.DEFAULT)
    check_spelled(name, cdt)
    if alpha != 1 and uneven_on_host(low, result):
        return NotImplemented

    def emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        y = vs[1] if alpha == 1 else k.op("mul", dt, vs[1], k.constant(alpha, dt))
        return k.op(name, dt, vs[0], y)

    return elementwise(low, name, [a, b], node.meta["spec"], KIND.DEFAULT, emit)


@handles(aten.add)
def add(low: Lowering, node: Any, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return _scaled(low, node, "add", a, b, alpha)


@handles(aten.sub)
def sub(low: Lowering, node: Any, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return _scaled(low, node, "sub", a, b, alpha)


@handles(aten.rsub)
def rsub(low: Lowering, node: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _scaled(low, node, "sub", b, a, 1) if alpha == 1 else NotImplemented


@handles(aten.addcmul, aten.addcdiv)
def addcmul(low: Lowering, node: Any, x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    """``x + value * a * b`` or ``x + value * a / b``, rounded once, in the order in which eager multiplies."""
    if not all(is_tensor(v) for v in (x, a, b)):
        return NotImplemented
    last = "mul" if node.target.overloadpacket is aten.addcmul else "div"
    cdt, _ = private.elementwise_dtypes(fake(x), fake(a), fake(b), type_promotion_kind=KIND.DEFAULT)
    check_spelled(last, cdt)

    def emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        x, a, b = vs
        by = k.constant(value, dt)
        if low.device.type == "cpu":
            return k.op("add", dt, x, k.op(last, dt, k.op("mul", dt, by, a), b))
        return k.op("add", dt, x, k.op("mul", dt, by, k.op(last, dt, a, b)))

    return elementwise(low, last, [x, a, b], node.meta["spec"], KIND.DEFAULT, emit)


# ---------------------------------------------------------------------- ternary and clamps
@handles(aten.where.self, aten.where.Scalar, aten.where.ScalarOther, aten.where.ScalarSelf)
def where(low: Lowering, node: Any, c: Any, x: Any, y: Any) -> Any:
    dt, shape = node.meta["spec"].dtype, tuple(node.meta["spec"].shape)

    def fn(k: Kernel, idx: Sequence[Index]) -> Value:
        p, q = (
            k.cast(v.at(k, broadcast(idx, shape, v.shape)), dt) if is_tensor(v) else k.constant(v, dt) for v in (x, y)
        )
        cond = k.cast(c.at(k, broadcast(idx, shape, c.shape)), torch.bool)
        r = k.op("where", dt, cond, p, q)
        return type(r)(r, dt, r.deps)

    return Lazy(shape, dt, fn, (c, x, y), 1)


@handles(aten.clamp.default, aten.clamp.Tensor)
def clamp(low: Lowering, node: Any, x: Any, lo: Any = None, hi: Any = None) -> Any:
    out = node.meta["spec"]
    if out.dtype is torch.bool:
        return NotImplemented
    bounds = [b for b in (lo, hi) if b is not None and not is_tensor(b)]
    if len(bounds) == 2 and any(b != b for b in bounds):
        return filled(out.shape, float("nan"), out.dtype)
    args = [a for a in (x, lo, hi) if a is not None]

    def bound(k: Kernel, dt: torch.dtype, v: Value, to: Value, given: Any, name: str) -> Value:
        if is_tensor(given):
            return k.op(name, dt, v, to)
        # with a number: a NaN bound does nothing, a NaN value stays
        beyond = k.op("lt" if name == "maximum" else "gt", torch.bool, v, to, operands=dt)
        return k.op("where", dt, beyond, to, v)

    def emit(k: Kernel, dt: torch.dtype, vs: Sequence[Value]) -> Value:
        v, rest = vs[0], list(vs[1:])
        if lo is not None:
            v = bound(k, dt, v, rest.pop(0), lo, "maximum")
        if hi is not None:
            v = bound(k, dt, v, rest.pop(0), hi, "minimum")
        return v

    return elementwise(low, "maximum", args, out, KIND.DEFAULT, emit)


def filled(shape: Sequence[Int], c: Any, dt: torch.dtype) -> Lazy:
    """One number everywhere."""
    return Lazy(shape, dt, lambda k, idx: k.constant(c, dt), (), 0)


# ---------------------------------------------------------------------- casts and copies
def converted(x: Tensorish, shape: Sequence[Int], dt: torch.dtype) -> Lazy:
    """`x` as `dt`, in fresh memory when it gets memory."""
    out = Lazy(shape, dt, lambda k, idx: k.cast(x.at(k, idx), dt), (x,), 0)
    if isinstance(x, Lazy) and x.dtype in HALF and dt is torch.float32:
        out.narrow = x
    return out


@handles(aten._to_copy, aten.clone, aten.lift_fresh_copy, prims.convert_element_type)
def to_copy(low: Lowering, node: Any, x: Any, *rest: Any, **kw: Any) -> Any:
    out = node.meta["spec"]
    dev = kw.get("device")
    if dev is not None and torch.device(dev).type != low.device.type:
        return NotImplemented
    return converted(x, out.shape, out.dtype)
