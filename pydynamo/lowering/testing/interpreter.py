"""Triton's CPU interpreter, mended until it can be trusted as a test oracle (checked on Triton 3.6.0).

What it mends:
  * numpy >= 2.4 makes ``range`` over run-time bounds a TypeError;
  * f32 -> bf16 truncates, where hardware rounds to nearest even;
  * bf16 arithmetic, comparison and dot run on the raw bits;
  * maximum/minimum keep NaN where hardware drops it (which hides a missing propagate_nan);
  * atomics read a broadcast array as if it were whole;
  * libdevice stubs return None; device_assert cannot take a block;
  * reductions with a user's combine function run element by element.
What it adds: a bounds check of every load, store and atomic (else the heap is corrupted silently), poison in
masked lanes that are loaded without ``other``, and a race check between programs.

Installing is for the whole process and for good: real compilation wants another process.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from pydynamo.errors import PydynamoError
from pydynamo.lowering.testing import interpreter_speed

_installed = False
_kernels: dict[str, Any] = {}
KEPT_KERNELS = 1000


class KernelFault(PydynamoError, RuntimeError):
    """A kernel did something that hardware would not forgive: out of bounds, a race, a failed assertion."""


class _Launch:
    """What the kernel that runs now may touch and has touched."""

    spans: ClassVar[Any] = np.zeros((0, 2), dtype=np.uint64)
    reads: ClassVar[list[tuple[Any, Any]]] = []
    writes: ClassVar[list[tuple[Any, Any]]] = []
    check_races: ClassVar[bool] = True


def installed() -> bool:
    """True once kernels of this process are interpreted."""
    return _installed


def install() -> None:
    """Mend the interpreter and switch this process to it."""
    global _installed
    if _installed:
        return
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.language as tl
    import triton.runtime.interpreter as interp

    options = interp.interpreter_builder.options
    object.__setattr__(options, "debug", True)  # device_assert is checked
    object.__setattr__(options, "sanitize_overflow", False)  # integers wrap, as in eager
    interpreter_speed.install(interp, tl)
    _adopt_library()
    _patch_builder(interp, tl)
    _patch_reductions(interp)
    _patch_libdevice(interp, tl)
    _patch_language(interp, tl)
    _installed = True


def load(key: str, text: str) -> Any:
    """The kernel of the source `text`, to be given to :func:`run`; `key` names the text."""
    if key not in _kernels:
        _kernels[key] = interpreter_speed.functions_of(text, key)["kernel"]
        if len(_kernels) > KEPT_KERNELS:
            oldest = next(iter(_kernels))
            del _kernels[oldest]
            interpreter_speed.forget(oldest)
    return _kernels[key]


def run(
    fn: Any,
    grid: tuple[int, int, int],
    values: Sequence[torch.Tensor | int],
    constants: dict[str, Any],
    races: bool = True,
) -> None:
    """Run every program of `grid` on tensors and sizes; raises KernelFault where the kernel misbehaves."""
    import triton.runtime.interpreter as interp

    spans = set()
    for t in values:
        if not isinstance(t, torch.Tensor):
            continue
        s = t.untyped_storage()
        spans.add((s.data_ptr(), s.data_ptr() + s.nbytes()))
    _Launch.spans = np.array(sorted(spans), dtype=np.uint64).reshape(-1, 2)
    _Launch.reads, _Launch.writes, _Launch.check_races = [], [], races and grid != (1, 1, 1)
    args = dict(zip(fn.arg_names, (interp._implicit_cvt(t) for t in values), strict=False)) | constants
    body = fn.rewrite()
    builder = interp.interpreter_builder
    builder.set_grid_dim(*grid)
    with np.errstate(all="ignore"):
        for x in range(grid[0]):
            for y in range(grid[1]):
                for z in range(grid[2]):
                    builder.set_grid_idx(x, y, z)
                    try:
                        body(**args)
                    except interp.InterpreterError as e:
                        raise e.__cause__ or e from None
    _find_races()


def _find_races() -> None:
    if not (_Launch.check_races and _Launch.writes):
        return
    addr = np.concatenate([w[0] for w in _Launch.writes])
    prog = np.concatenate([w[1] for w in _Launch.writes])
    if not addr.size:
        return
    order = np.argsort(addr, kind="stable")
    addr, prog = addr[order], prog[order]
    if np.any((addr[1:] == addr[:-1]) & (prog[1:] != prog[:-1])):
        raise KernelFault("race: two programs store to one address")
    if _Launch.reads:
        ra = np.concatenate([r[0] for r in _Launch.reads])
        rp = np.concatenate([r[1] for r in _Launch.reads])
        i = np.searchsorted(addr, ra) % len(addr)
        if np.any((addr[i] == ra) & (prog[i] != rp)):
            raise KernelFault("race: a program loads what another program stores")


# ---------------------------------------------------------------------- library functions
def _adopt_library() -> None:
    """Turn triton's own device functions, perhaps imported before, into interpreted ones."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    known: dict[int, Any] = {}
    for name, module in list(sys.modules.items()):
        if module is None or not (name == "triton.language" or name.startswith("triton.language.")):
            continue
        for attr, value in list(vars(module).items()):
            if isinstance(value, JITFunction):
                if id(value) not in known:
                    known[id(value)] = InterpretedFunction(value.fn)
                setattr(module, attr, known[id(value)])


def _patch_language(interp: Any, tl: Any) -> None:
    """Point triton.language at the interpreter once, instead of at every call."""
    original = interp._patch_lang_tensor

    def patch_tensor(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(np.asarray(self.handle.data).reshape(-1)[0]))

    interp._patch_lang_tensor = patch_tensor

    def probe() -> None:
        pass

    for module in (tl, tl.core):
        interp._patch_lang(types.FunctionType(probe.__code__, {"lang": module}))

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.rewrite()(*args, **kwargs)

    interp.InterpretedFunction.__call__ = call


# ---------------------------------------------------------------------- bf16
def bf16_to_f32(bits: Any) -> Any:
    """uint16 bit patterns of bfloat16 -> float32."""
    return (np.ascontiguousarray(bits).astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(f: Any) -> Any:
    """float32 -> bit patterns of bfloat16, to nearest even."""
    f = np.ascontiguousarray(f, dtype=np.float32)
    b = f.view(np.uint32)
    r = ((b + np.uint32(0x7FFF) + ((b >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(f), np.uint16(0x7FC0), r)


def _patch_builder(interp: Any, tl: Any) -> None:
    builder, bf16, handle = interp.InterpreterBuilder, tl.bfloat16, interp.TensorHandle

    def numbers(h: Any) -> Any:
        return bf16_to_f32(h.data) if h.dtype.scalar == bf16 else h.data

    def wrap(data: Any, like: Any) -> Any:
        if like.dtype.scalar == bf16 and data.dtype != np.bool_:
            data = f32_to_bf16(data)
        return handle(data, like.dtype.scalar)

    original_cast, original_binary = builder.cast_impl, builder.binary_op
    original_unary, original_fp = builder.unary_op, builder.create_fp_to_fp

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        s, d = src.dtype.scalar, dst_type.scalar
        if s == bf16 and d != bf16:
            f = bf16_to_f32(src.data)
            return handle(f if d == tl.float32 else f.astype(interp._get_np_dtype(d)), d)
        if d == bf16 and s != bf16:
            return handle(f32_to_bf16(np.asarray(src.data, np.float32)), d)
        return original_cast(self, src, dst_type)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        if bf16 in (src.dtype.scalar, dst_type.scalar) and rounding_mode in (
            None,
            interp._ir.ROUNDING_MODE.RTNE,
        ):
            return cast_impl(self, src, dst_type)
        return original_fp(self, src, dst_type, rounding_mode)

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        if bf16 in (lhs.dtype.scalar, rhs.dtype.scalar):
            return wrap(op(numbers(lhs), numbers(rhs)), lhs)
        return original_binary(self, lhs, rhs, op)

    def unary_op(self: Any, arg: Any, op: Any) -> Any:
        return wrap(op(numbers(arg)), arg) if arg.dtype.scalar == bf16 else original_unary(self, arg, op)

    def create_dot(self: Any, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        x, y = numbers(a), numbers(b)
        precision = str(input_precision).upper()
        if x.dtype == np.float16:  # tensor cores: exact products, f32 sums
            x, y = x.astype(np.float32), y.astype(np.float32)
        elif a.dtype.scalar == tl.float32 and "TF32" in precision and "X3" not in precision:
            x, y = (
                ((np.ascontiguousarray(v).view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
                for v in (x, y)
            )
        return handle((np.matmul(x, y, dtype=np.float64) + d.data).astype(d.data.dtype), d.dtype.scalar)

    def create_assert(self: Any, condition: Any, message: str) -> None:
        if not np.all(condition.data if hasattr(condition, "data") else condition):
            raise (IndexError(str(message)) if "index out of range" in str(message) else KernelFault(str(message)))

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp
    builder.binary_op, builder.unary_op, builder.create_dot = binary_op, unary_op, create_dot
    builder.create_assert = create_assert
    builder.create_maxnumf = lambda self, a, b: self.binary_op(a, b, np.fmax)
    builder.create_minnumf = lambda self, a, b: self.binary_op(a, b, np.fmin)
    _patch_memory(interp, bf16)


def _patch_memory(interp: Any, bf16: Any) -> None:
    builder, handle, native = interp.InterpreterBuilder, interp.TensorHandle, interp._interpreter

    def checked(ptrs: Any, mask: Any, what: str) -> Any:
        nbytes = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
        p = (
            np.broadcast_to(ptrs.data, mask.data.shape)[mask.data]
            if mask.data.shape != ptrs.data.shape
            else ptrs.data[mask.data]
        )
        if p.size:
            spans = _Launch.spans
            i = np.searchsorted(spans[:, 0], p, side="right") - 1
            bad = (i < 0) | (p + np.uint64(nbytes) > spans[np.maximum(i, 0), 1])
            if bad.any():
                raise KernelFault(
                    f"{what} out of bounds in program {interp.interpreter_builder.grid_idx}: {int(bad.sum())} lanes"
                )
        return p

    def program(n: int) -> Any:
        x, y, z = interp.interpreter_builder.grid_idx
        _, gy, gz = interp.interpreter_builder.grid_dim
        return np.full(n, (x * gy + y) * gz + z, dtype=np.int64)

    def create_masked_load(self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any) -> Any:
        p = checked(ptrs, mask, "load")
        if _Launch.check_races:
            _Launch.reads.append((p, program(p.size)))
        ty = ptrs.get_element_ty()
        npt = interp._get_np_dtype(ty)
        if other is None:
            poison: Any = (
                np.nan
                if npt.kind == "f"
                else 0x7FC0
                if ty == bf16
                else 1
                if npt.kind == "b"
                else np.iinfo(npt).max // 3
            )
            other = handle(np.full(ptrs.data.shape, poison, dtype=npt), ty)
        return handle(native.load(ptrs.data, mask.data, other.data, npt), ty)

    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        p = checked(ptrs, mask, "store")
        if _Launch.check_races:
            _Launch.writes.append((p, program(p.size)))
        return native.store(ptrs.data, value.data, mask.data)

    original_rmw = builder.create_atomic_rmw

    def create_atomic_rmw(self: Any, op: Any, ptr: Any, val: Any, mask: Any, *rest: Any) -> Any:
        checked(ptr, mask, "atomic")
        if val.dtype.scalar == bf16:
            raise KernelFault("bf16 atomics are not modelled")
        plain = (handle(np.ascontiguousarray(h.data), h.dtype.scalar) for h in (ptr, val, mask))
        return original_rmw(self, op, *plain, *rest)  # it reads broadcast arrays as if they were not

    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store
    builder.create_atomic_rmw = create_atomic_rmw


# ---------------------------------------------------------------------- reductions
def _patch_reductions(interp: Any) -> None:
    """Whole-array forms of the combine functions that generated kernels use."""
    folds: dict[str, Callable[..., Any]] = {"_max_nan": np.max, "_min_nan": np.min, "_mul": np.prod}
    scans: dict[str, Callable[..., Any]] = {"_add": np.cumsum, "_mul": np.cumprod}
    original_reduce, original_scan = interp.ReduceOps.apply_impl, interp.ScanOps.apply_impl

    def reduce(self: Any, inputs: Any) -> Any:
        fold = folds.get(getattr(self.combine_fn, "__name__", ""))
        if fold is None:
            return original_reduce(self, inputs)
        x = inputs[0]
        out = fold(x.handle.data, axis=self.axis, keepdims=self.keep_dims).astype(x.handle.data.dtype)
        return self.to_tensor(out, x.dtype)

    def scan(self: Any, inputs: Any) -> Any:
        fn = scans.get(getattr(self.combine_fn, "__name__", ""))
        if fn is None or self.reverse:
            return original_scan(self, inputs)
        x = inputs[0]
        return [self.to_tensor(fn(x.handle.data, axis=self.axis, dtype=x.handle.data.dtype), x.dtype)]

    interp.ReduceOps.apply_impl, interp.ScanOps.apply_impl = reduce, scan


# ---------------------------------------------------------------------- libdevice
def _libdevice_table() -> dict[str, Callable[..., Any]]:
    t = torch
    same = [
        "tanh",
        "sinh",
        "cosh",
        "tan",
        "asin",
        "acos",
        "atan",
        "asinh",
        "acosh",
        "atanh",
        "atan2",
        "pow",
        "log1p",
        "expm1",
        "log10",
        "log2",
        "log",
        "exp",
        "exp2",
        "erf",
        "erfc",
        "erfinv",
        "lgamma",
        "fmod",
        "hypot",
        "sqrt",
        "rsqrt",
        "trunc",
        "floor",
        "ceil",
        "copysign",
        "nextafter",
        "isnan",
        "isinf",
        "signbit",
        "sin",
        "cos",
        "abs",
        "ldexp",
    ]
    return {
        **{n: getattr(t, n) for n in same},
        "nearbyint": t.round,
        "rint": t.round,
        "round": lambda x: t.sign(x) * t.floor(x.abs() + 0.5),
        "fma": lambda a, b, c: (a.double() * b.double() + c.double()).to(a.dtype),
    }


def _in_whole_vectors(fn: Callable[..., Any], values: Sequence[torch.Tensor]) -> torch.Tensor:
    """`fn` of each element by the same instructions: torch's vectors and what is left over differ in the last bit."""
    shape, count = values[0].shape, values[0].numel()
    flat = [torch.nn.functional.pad(v.reshape(-1), (0, -count % 64)) for v in values]
    out: torch.Tensor = fn(*flat)
    return out[:count].reshape(shape)


def _patch_libdevice(interp: Any, tl: Any) -> None:
    from triton.language.extra import libdevice

    handle, bf16 = interp.TensorHandle, tl.bfloat16

    def numbers(h: Any) -> Any:
        return bf16_to_f32(h.data) if h.dtype.scalar == bf16 else h.data

    def make(fn: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            like = next(a for a in args if isinstance(a, tl.tensor))
            values = [
                torch.from_numpy(np.array(numbers(a.handle)))
                if isinstance(a, tl.tensor)
                else torch.tensor(a, dtype=torch.from_numpy(np.array(numbers(like.handle))).dtype)
                for a in args
            ]
            out = _in_whole_vectors(fn, torch.broadcast_tensors(*values)).numpy()
            if out.dtype == np.bool_:
                return tl.tensor(handle(out.astype(np.int32), tl.int32), tl.block_type(tl.int32, list(out.shape)))
            if like.handle.dtype.scalar == bf16:
                out = f32_to_bf16(out)
            return tl.tensor(handle(out, like.handle.dtype.scalar), tl.block_type(like.dtype, list(out.shape)))

        return call

    for name, fn in _libdevice_table().items():
        if hasattr(libdevice, name):
            setattr(libdevice, name, make(fn))
