"""Which operators AOTAutograd takes apart for lowering, and how.

Of torch's decompositions those that lose precision, are wrong, or that lowering does better itself are taken out or
changed. Knows nothing of graphs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.layouts import roll_strides
from pydynamo.lowering.numerics import HALF
from pydynamo.lowering.operators import SOFTMAX_STATS, computed
from pydynamo.lowering.refusals import refused

aten = torch.ops.aten

EXTRA = [
    "gelu",
    "gelu_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_batch_norm_backward",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_with_update_functional",
    "batch_norm_backward",
    "silu",
    "silu_backward",
    "nll_loss_forward",
    "nll_loss_backward",
    "threshold_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "elu",
    "elu_backward",
    "softplus",
    "softplus_backward",
    "hardtanh",
    "hardtanh_backward",
    "hardswish",
    "hardswish_backward",
    "hardsigmoid",
    "hardsigmoid_backward",
    "mse_loss",
    "mse_loss_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "huber_loss",
    "huber_loss_backward",
    "_softmax_backward_data",
    "_log_softmax_backward_data",
    "tanh_backward",
    "sigmoid_backward",
    "clamp_min",
    "clamp_max",
    "std",
    "std_mean",
    "logsumexp",
    "masked_fill",
    "lerp",
    "xlogy",
    "logaddexp",
    "logaddexp2",
    "log_sigmoid_forward",
    "log_sigmoid_backward",
    "mish",
    "mish_backward",
    "native_dropout_backward",
    "_safe_softmax",
    "rot90",
    "select_backward",
    "slice_backward",
    "diagonal_backward",
    "embedding_dense_backward",
    "logit",
    "logit_backward",
    "nan_to_num",
    "addmv",
    "addr",
    "dot",
    "vdot",
    "baddbmm",
    "isposinf",
    "isneginf",
    "tril",
    "triu",
    "linspace",
    "stack",
    "unfold_backward",
    "glu",
    "glu_backward",
    "frac",
    "heaviside",
    "sgn",
    "trace",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_backward",
    "soft_margin_loss",
    "pixel_shuffle",
    "pixel_unshuffle",
    "special_entr",
    "sinc",
    "deg2rad",
    "rad2deg",
]

# each: why it stays whole
KEPT = {
    "var": "own lowering (Welford)",
    "var_mean": "own lowering (Welford)",
    "_scaled_dot_product_flash_attention_for_cpu": "its decomposition gives backward the wrong second output",
    "logspace": "its decomposition rounds halves twice and integers before the power",
    "max_unpool2d": "its decomposition loses the memory format",
    "floor_divide": "own lowering",
    "take": "its decomposition reads an index without dimensions",
    "embedding_dense_backward": "index_put of a zeroed table is slower than the library's sort",
    "index_fill": "its decomposition writes in place",
    "select_scatter": "the same",
    "diagonal_scatter": "the same",
    "masked_scatter": "the same",
    "slice_scatter": "own lowering",
    "index_copy": "the same",
    "index_add": "the same",
    "as_strided_scatter": "the same",
    "addcmul": "own lowering, rounded once",
    "addcdiv": "the same",
    "addmm": "the library fuses the bias",
    "baddbmm": "the library fuses the addition",
    "sum": "",
    "prod": "",
    "any": "",
    "all": "",
    "mean": "",
    "cumsum": "",
    "cumprod": "",
}


def _linspace(
    decompose: Callable[..., torch.Tensor], *args: Any, dtype: torch.dtype | None = None, **kwargs: Any
) -> Any:
    """torch's own where it is as exact as eager, which rounds steps to halves, and ends to integers before it takes
    steps between them."""
    if (dtype or torch.get_default_dtype()) not in (torch.float32, torch.float64):
        return NotImplemented
    return decompose(*args, dtype=dtype, **kwargs)


def _batch_norm(decompose: Callable[..., Any], x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """torch's own, laid out as eager does it on the host: contiguous, or channels last."""
    y, *others = decompose(x, *args, **kwargs)
    if x.device.type == "cpu":
        y = _with_no_bias(y, args[1]).contiguous(memory_format=private.suggest_memory_format(x))
    return (y, *others)


def _layer_norm(decompose: Callable[..., Any], x: torch.Tensor, *args: Any) -> Any:
    """torch's own; on the host with the bias that its kernel adds where there is none."""
    y, *others = decompose(x, *args)
    return (_with_no_bias(y, args[2]) if x.device.type == "cpu" else y, *others)


def _group_norm(decompose: Callable[..., Any], x: torch.Tensor, weight: Any, bias: Any, *args: Any) -> Any:
    """The same, where there is a weight."""
    y, *others = decompose(x, weight, bias, *args)
    return (_with_no_bias(y, bias) if x.device.type == "cpu" and weight is not None else y, *others)


def _with_no_bias(y: torch.Tensor, bias: Any) -> torch.Tensor:
    """A bias of zero makes 0.0 of -0.0."""
    return y + 0.0 if bias is None else y


def _contiguous(decompose: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """torch's own, contiguous as the kernels' results are."""
    out = decompose(*args, **kwargs)
    return tuple(t.contiguous() for t in out) if isinstance(out, tuple) else out.contiguous()


def _like_input_on_host(decompose: Callable[..., torch.Tensor], x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """torch's own, in the memory format of its input on the host, where kernels keep that, and else contiguous."""
    memory_format = private.suggest_memory_format(x) if x.device.type == "cpu" else torch.contiguous_format
    return decompose(x, *args, **kwargs).contiguous(memory_format=memory_format)


def _roll(decompose: Callable[..., torch.Tensor], x: torch.Tensor, shifts: Any, dims: Any = ()) -> Any:
    """torch's own, laid out as the kernel does it."""
    if len(shifts) != (len(dims) or 1):
        return NotImplemented  # whose kernel raises, for a tensor without elements, too
    rolled = decompose(x, shifts, dims)
    if x.device.type != "cpu" or not all(isinstance(n, int) for n in (*x.shape, *x.stride())):
        return _like_input_on_host(lambda x: rolled, x)
    strides = roll_strides(x.shape, x.stride(), shifts, dims)
    for memory_format in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d):
        if strides == _strides_of(rolled.shape, memory_format):
            return rolled.clone(memory_format=memory_format)
    return x.new_empty_strided(x.shape, strides)  # without elements


def _strides_of(shape: Sequence[int], memory_format: torch.memory_format) -> tuple[int, ...] | None:
    ranks = {torch.channels_last: 4, torch.channels_last_3d: 5}
    if len(shape) != ranks.get(memory_format, len(shape)):
        return None
    with torch._C._DisableTorchDispatch():
        return torch.empty(shape, device="meta", memory_format=memory_format).stride()


def _in_halves(decompose: Callable[..., Any], a: Any, b: Any, **kwargs: Any) -> Any:
    """torch's own of operands that are rounded to the half type first, if that is the dtype they have together."""
    dtype = torch.result_type(a, b)
    if dtype not in HALF:
        return decompose(a, b, **kwargs)
    device = a.device if isinstance(a, torch.Tensor) else b.device
    a, b = (
        v.to(dtype) if isinstance(v, torch.Tensor) else aten.full([], v, dtype=dtype, device=device) for v in (a, b)
    )
    return decompose(a, b, **kwargs)


def _xlogy(decompose: Callable[..., Any], a: Any, b: Any) -> Any:
    """torch's own, which for half types rounds the logarithm, too."""
    if torch.result_type(a, b) in HALF:

        def decompose(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            product = torch.where(a == 0, aten.full([], 0.0, dtype=a.dtype, device=a.device), a * b.log())
            return torch.where(b.isnan(), b, product)

    return _in_halves(decompose, a, b)


def _whole_on_host(decompose: Callable[..., Any], x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """torch's own, but on the host, where the kernel looks whether its elements are probabilities."""
    return NotImplemented if x.device.type == "cpu" else decompose(x, *args, **kwargs)


# torch's own decompositions that are called in another way
CHANGED: dict[str, Callable[..., Any]] = {
    "linspace": _linspace,
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _contiguous),
    **dict.fromkeys((f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (2, 3)), _like_input_on_host),
    "roll": _roll,
    "xlogy": _xlogy,
    "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm,
    "binary_cross_entropy": _whole_on_host,
    **dict.fromkeys(("logaddexp", "logaddexp2"), _in_halves),
    **dict.fromkeys(
        (
            "native_batch_norm",
            "_native_batch_norm_legit",
            "_native_batch_norm_legit_functional",
            "_native_batch_norm_legit_no_training",
            "_batch_norm_with_update",
            "_batch_norm_with_update_functional",
            "_batch_norm_no_update",
        ),
        _batch_norm,
    ),
}


def _softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> Any:
    """Softmax as statistics and pointwise code, so that backward may keep the statistics alone; contiguous
    as in eager, which has none for integers."""
    if not x.dtype.is_floating_point or not _has_dimension(x, dim):
        return NotImplemented
    if not x.dim() or not x.numel():
        return torch.ones_like(x, dtype=torch.float32 if half_to_float else x.dtype) * _zero_if_finite(x)
    top, total = SOFTMAX_STATS(x, dim)
    y = ((computed(x) - top).exp() * total.reciprocal()).contiguous()  # one division for a row
    return y if half_to_float else y.to(x.dtype)


def _silu_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Gradient of ``x * sigmoid(x)``, in the compute type."""
    v = computed(x)
    s = v.sigmoid()
    return (computed(grad) * s * (1 + v * (1 - s))).to(grad.dtype)


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> Any:
    """Logarithm of softmax, in the same way."""
    if not x.dtype.is_floating_point or not _has_dimension(x, dim):
        return NotImplemented
    if not x.dim() or not x.numel():
        return (computed(x) - computed(x)).to(torch.float32 if half_to_float else x.dtype)
    top, total = SOFTMAX_STATS(x, dim)
    y = ((computed(x) - top) - total.log()).contiguous()
    return y if half_to_float else y.to(x.dtype)


def _has_dimension(x: torch.Tensor, dim: int) -> bool:
    return -max(1, x.dim()) <= dim < max(1, x.dim())


def _zero_if_finite(x: torch.Tensor) -> torch.Tensor:
    """exp(x - x): one, or NaN where x is not finite."""
    return (x - x).exp()


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """The decomposition table of lowering."""
    table = dict(private.core_aten_decompositions())
    table.update(private.get_decompositions([getattr(aten, n) for n in EXTRA if hasattr(aten, n)]))
    for op in list(table):
        if _name(op) in KEPT:
            del table[op]
    for op, decompose in table.items():
        change = CHANGED.get(_name(op))
        if change is not None:
            table[op] = functools.partial(change, decompose)
    table[aten._softmax.default] = _softmax
    table[aten._log_softmax.default] = _log_softmax
    table[aten.frac.default] = lambda x: x - x.trunc()  # torch's own form makes -0.0 of -0.0
    table[aten.silu_backward.default] = _silu_backward
    return {op: _whole_where_refused(op, decompose) for op, decompose in table.items()}


def _whole_where_refused(op: Any, decompose: Callable[..., Any]) -> Callable[..., Any]:
    """`decompose`, but for arguments at which the operator's own kernel raises."""

    @functools.wraps(decompose)
    def checked(*args: Any, **kwargs: Any) -> Any:
        given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        looks = {at: (v.dtype, v.dim()) for at, v in given if isinstance(v, torch.Tensor)}
        made = kwargs.get("dtype")
        if refused(op, args, kwargs, looks, [made] if made is not None else []):
            return NotImplemented
        return decompose(*args, **kwargs)

    return checked


def _name(op: Any) -> str:
    return op._schema.name.split("::")[1] if hasattr(op, "_schema") else ""
