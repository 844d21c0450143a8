"""The pinned table of numerics: operation and dtype -> exact Triton spelling.

Half types are computed in float32 and rounded where eager rounds.  `enable_fp_fusion` is off, so a product
and
a sum are two roundings, as in eager.  What each choice is for:

==============  =====================================================================================
div             ``/`` is approximate for f32 (2 ulp); ``tl.div_rn`` is IEEE
quotient        ``/``: where what is divided is approximate itself (the exponential in a sigmoid)
sqrt            ``tl.sqrt`` is approximate and flushes subnormals; ``tl.sqrt_rn`` is IEEE
rsqrt           ``libdevice.rsqrt``: 2 ulp, as CUDA eager
exp             ``tl.exp`` for f32: ex2.approx of x*log2(e), about 2 ulp; libdevice for f64
sin, cos        libdevice, with full range reduction (``tl.sin`` too, but not on every version)
neg             ``0 - x`` loses -0.0; ``x * -1.0`` keeps it and keeps NaN
max, min        hardware drops NaN by default; torch keeps it: ``propagate_nan=ALL``
fmax, fmin      hardware's own: NaN is dropped
fmod            ``%`` of f32 is ``a - b*trunc(a/b)``, wrong for large quotients; libdevice.fmod is exact
int //, %       truncating in Triton; corrected to floor where torch floors
narrow ints     results are cast back, so that they wrap as in eager
full(-0.0)      gives +0.0; spelled ``0.0 * -1.0``
casts           float to uint8 through int64, to int8/int16 through int32 (wraps as on the host)
==============  =====================================================================================
"""

from __future__ import annotations

import math

import torch

TL = {
    torch.float32: "tl.float32",
    torch.float64: "tl.float64",
    torch.float16: "tl.float16",
    torch.bfloat16: "tl.bfloat16",
    torch.int64: "tl.int64",
    torch.int32: "tl.int32",
    torch.int16: "tl.int16",
    torch.int8: "tl.int8",
    torch.uint8: "tl.uint8",
    torch.bool: "tl.int1",
}
SIGNATURE = {
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int64: "*i64",
    torch.int32: "*i32",
    torch.int16: "*i16",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.bool: "*i1",
}
HALF = (torch.float16, torch.bfloat16)
NAN_ALL = "propagate_nan=tl.PropagateNan.ALL"


def compute_dtype(dt: torch.dtype) -> torch.dtype:
    """The dtype that values of `dt` are held in inside a kernel."""
    return torch.float32 if dt in HALF else dt


def tl_compute(dt: torch.dtype) -> str:
    return TL[compute_dtype(dt)]


# op -> {dtype class: template}; classes: "f" any float, "f32"/"f64" override it, "i" integers, "b" bool.
# {T} is the compute type.  Missing class: the op is not defined there (lowering falls back to an extern
# call).
def _lib(name: str, n: int = 1) -> dict[str, str]:
    return {"f": f"libdevice.{name}({{0}}{', {1}' if n == 2 else ''})"}


def _compare(op: str) -> dict[str, str]:
    e = "{0} " + op + " {1}"
    return {"f": e, "i": e, "b": f"({{0}}).to(tl.int8) {op} ({{1}}).to(tl.int8)"}


OPS: dict[str, dict[str, str]] = {
    "add": {"f": "{0} + {1}", "i": "({0} + {1}).to({T})", "b": "{0} | {1}"},
    "sub": {"f": "{0} - {1}", "i": "({0} - {1}).to({T})"},
    "mul": {"f": "{0} * {1}", "i": "({0} * {1}).to({T})", "b": "{0} & {1}"},
    "div": {"f32": "tl.div_rn({0}, {1})", "f64": "{0} / {1}"},
    "quotient": {"f": "{0} / {1}"},
    "neg": {"f": "{0} * -1.0", "i": "(0 - {0}).to({T})"},
    "abs": {"f": "tl.abs({0})", "i": "tl.where({0} < 0, 0 - {0}, {0}).to({T})", "b": "{0}"},
    "exp": {"f32": "tl.exp({0})", "f64": "libdevice.exp({0})"},
    "exp2": {"f32": "tl.exp2({0})", "f64": "libdevice.exp2({0})"},
    "log": {"f32": "tl.log({0})", "f64": "libdevice.log({0})"},
    "log2": {"f32": "tl.log2({0})", "f64": "libdevice.log2({0})"},
    "sqrt": {"f32": "tl.sqrt_rn({0})", "f64": "libdevice.sqrt({0})"},
    **{
        n: _lib(n)
        for n in (
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
            "expm1",
            "log1p",
            "log10",
            "trunc",
        )
    },
    **{n: _lib(n, 2) for n in ("atan2", "pow", "hypot", "nextafter", "copysign")},
    "floor": {"f": "tl.floor({0})", "i": "{0}"},
    "ceil": {"f": "tl.ceil({0})", "i": "{0}"},
    "round": {"f": "libdevice.nearbyint({0})", "i": "{0}"},
    "relu": {"f": "tl.maximum({0}, 0.0, " + NAN_ALL + ")", "i": "tl.maximum({0}, 0).to({T})"},
    "maximum": {"f": "tl.maximum({0}, {1}, " + NAN_ALL + ")", "i": "tl.maximum({0}, {1})", "b": "{0} | {1}"},
    "minimum": {"f": "tl.minimum({0}, {1}, " + NAN_ALL + ")", "i": "tl.minimum({0}, {1})", "b": "{0} & {1}"},
    "fmax": {"f": "tl.maximum({0}, {1})", "i": "tl.maximum({0}, {1})", "b": "{0} | {1}"},
    "fmin": {"f": "tl.minimum({0}, {1})", "i": "tl.minimum({0}, {1})", "b": "{0} & {1}"},
    "fmod": {"f": "libdevice.fmod({0}, {1})", "i": "{0} % {1}"},
    "div_trunc": {"i": "({0} // {1}).to({T})"},
    "sign": {
        "f": "({0} > 0).to({T}) - ({0} < 0).to({T})",
        "i": "(({0} > 0).to({T}) - ({0} < 0).to({T})).to({T})",
        "b": "{0}",
    },
    "isnan": {"f": "{0} != {0}"},
    "isinf": {"f": "({0} == float('inf')) | ({0} == float('-inf'))"},
    "signbit": {
        "f32": "{0}.to(tl.int32, bitcast=True) < 0",
        "f64": "{0}.to(tl.int64, bitcast=True) < 0",
        "i": "{0} < 0",
    },
    "logical_not": {"f": "{0} == 0", "i": "{0} == 0", "b": "{0} == 0"},
    "bitwise_and": {"i": "{0} & {1}", "b": "{0} & {1}"},
    "bitwise_or": {"i": "{0} | {1}", "b": "{0} | {1}"},
    "bitwise_xor": {"i": "{0} ^ {1}", "b": "{0} ^ {1}"},
    "eq": _compare("=="),
    "ne": _compare("!="),
    "lt": _compare("<"),
    "le": _compare("<="),
    "gt": _compare(">"),
    "ge": _compare(">="),
    "where": {"f": "tl.where({0}, {1}, {2})", "i": "tl.where({0}, {1}, {2})", "b": "tl.where({0}, {1}, {2})"},
}


def dtype_class(dt: torch.dtype) -> str:
    if dt is torch.bool:
        return "b"
    return ("f64" if dt is torch.float64 else "f32") if dt.is_floating_point else "i"


def template(op: str, dt: torch.dtype) -> str | None:
    """The spelling of `op` on operands of `dt`, or None where the table has none."""
    forms = OPS.get(op)
    if forms is None:
        return None
    c = dtype_class(dt)
    t = forms.get(c)
    return forms.get("f") if t is None and c in ("f32", "f64") else t


def spell(op: str, dt: torch.dtype, args: tuple[str, ...]) -> str:
    """Triton text of `op`; raises KeyError where the table has no spelling."""
    t = template(op, dt)
    if t is None:
        raise KeyError(f"{op} has no Triton spelling on {dt}")
    return t.format(*args, T=tl_compute(dt))


def constant(c: float | int | bool, dt: torch.dtype, ones: str) -> str:
    """Triton text of the constant `c` rounded to `dt`, as a block of shape `ones`."""
    t = tl_compute(dt)
    if dt.is_floating_point:
        c = torch.tensor(float(c), dtype=torch.float64).to(dt).item()
        if c == 0 and math.copysign(1, c) < 0:
            return f"tl.full({ones}, 0.0, {t}) * -1.0"
        text = repr(c) if math.isfinite(c) else f"float('{c}')"
    elif dt is torch.bool:
        text = repr(bool(c))
    else:
        text = repr(int(torch.tensor(c).to(dt).item()))
    return f"tl.full({ones}, {text}, {t})"


def cast(v: str, src: torch.dtype, dst: torch.dtype) -> str:
    """Triton text that converts `v` (held in the compute type of `src`) to `dst`, with eager's rounding."""
    held, to = compute_dtype(src), compute_dtype(dst)
    if dst is torch.bool:
        return f"{v} != 0"
    if dst in HALF:
        e = v if held is torch.float32 else f"{v}.to(tl.float32)"
        return f"{e}.to({TL[dst]}).to(tl.float32)"
    if held.is_floating_point and not dst.is_floating_point:
        via = {torch.uint8: "tl.int64", torch.int8: "tl.int32", torch.int16: "tl.int32"}.get(dst)
        return f"{v}.to({via}).to({TL[dst]})" if via else f"{v}.to({TL[dst]})"
    return v if held == to else f"{v}.to({TL[to]})"


HELPERS = {
    "_mul": "return a * b",
    "_add": "return a + b",
    "_max_nan": f"return tl.maximum(a, b, {NAN_ALL})",
    "_min_nan": f"return tl.minimum(a, b, {NAN_ALL})",
    "_or": "return a | b",
}

# Random numbers: position i has the number i % 4 of the four that Philox makes of (seed, i // 4).  Seven rounds pass
# every statistical test that is known for it.
RANDOM = {
    "_four_each": """@triton.jit
def _four_each(seed, fours, SHAPE: tl.constexpr):
    a, b, c, d = tl.rand4x(seed, fours, 7)
    return tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), SHAPE)""",
    "_one_of_four": """@triton.jit
def _one_of_four(seed, i):
    a, b, c, d = tl.rand4x(seed, i // 4, 7)
    k = i % 4
    return tl.where(k < 2, tl.where(k == 0, a, b), tl.where(k == 2, c, d))""",
}


def identity(kind: str, dt: torch.dtype) -> str:
    """Neutral element of a reduction, as a Triton literal for the compute type."""
    if kind in ("sum", "any"):
        return "0"
    if kind == "prod":
        return "1"
    low = kind in ("max", "argmax", "softmax")
    if dt.is_floating_point:
        return "float('-inf')" if low else "float('inf')"
    if dt is torch.bool:
        return "0" if low else "1"
    info = torch.iinfo(dt)
    return str(info.min if low else info.max)
