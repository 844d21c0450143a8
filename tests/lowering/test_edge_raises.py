"""What raises in eager raises compiled, and what does not raise does not."""

import pytest
import torch
import torch.nn.functional as F
from edge_harness import NAN, R, T
from lowering_harness import FRONTS, check, compiled

I64 = torch.int64
RAISES = {
    "embedding_negative": (lambda w, i: F.embedding(i, w), (R(4, 3), T([0, -1], I64))),
    "embedding_beyond": (lambda w, i: F.embedding(i, w), (R(4, 3), T([0, 4], I64))),
    "embedding_of_doubles": (lambda w, i: F.embedding(i, w) * 2, (R(4, 3, dt=torch.float64), T([9], I64))),
    "index_beyond": (lambda w, i: w[i], (R(4, 3), T([4], I64))),
    "index_far_below": (lambda w, i: w[i] + 1, (R(4, 3), T([-5], I64))),
    "second_index_beyond": (lambda w, i: w[:, i], (R(4, 3), T([3], I64))),
    "pair_of_indices": (lambda w, i: w[i, i], (R(4, 3), T([0, 3], I64))),
    "gather_beyond": (lambda w, i: w.gather(0, i), (R(4), T([7], I64))),
    "gather_negative": (lambda w, i: w.gather(0, i), (R(4), T([-1], I64))),
    "index_select_negative": (lambda w, i: w.index_select(0, i), (R(4), T([-1], I64))),
    "index_select_beyond": (lambda w, i: w.index_select(1, i), (R(4, 2), T([2], I64))),
    "scatter_beyond": (lambda w, i: w.scatter(0, i, 1.0), (R(4), T([4], I64))),
    "scatter_negative": (lambda w, i: w.scatter(0, i, 1.0), (R(4), T([-1], I64))),
    "scatter_one_position": (lambda w, i: w.scatter(1, i, 1.0), (R(4, 3), T([[3]] * 4, I64))),
    "scatter_add_beyond": (lambda w, i: w.scatter_add(0, i, w[:1]), (R(4), T([4], I64))),
    "scatter_reduce_beyond": (lambda w, i: w.scatter_reduce(0, i, w[:1], "amax"), (R(4), T([4], I64))),
    "index_add_beyond": (lambda w, i: w.index_add(0, i, w[:1]), (R(4, 3), T([4], I64))),
    "index_add_negative": (lambda w, i: w.index_add(0, i, w[:1]), (R(4, 3), T([-1], I64))),
    "index_put_beyond": (lambda w, i: w.index_put((i,), w[0]), (R(4, 3), T([4], I64))),
    "index_put_accumulate_beyond": (lambda w, i: w.index_put((i,), w[0], accumulate=True), (R(4, 3), T([4], I64))),
    "index_copy_beyond": (lambda w, i: w.index_copy(0, i, w[:1]), (R(4, 3), T([4], I64))),
    "index_fill_beyond": (lambda w, i: w.index_fill(0, i, 0.0), (R(4, 3), T([4], I64))),
    "take_beyond": (lambda w, i: w.take(i), (R(4), T([4], I64))),
    "zero_divisor": (lambda w, i: i // (i * 0), (R(1), T([3], I64))),
    "zero_divisor_of_remainder": (lambda w, i: i % (i * 0), (R(1), T([3], I64))),
    "zero_divisor_of_fmod": (lambda w, i: torch.fmod(i, i * 0), (R(1), T([3], I64))),
    "zero_divisor_of_trunc": (lambda w, i: torch.div(i, i * 0, rounding_mode="trunc"), (R(1), T([3], torch.int32))),
    "zero_divisor_number": (lambda w, i: i // 0, (R(1), T([3], I64))),
    "class_beyond": (lambda w, i: F.cross_entropy(w, i), (R(2, 3), T([0, 3], I64))),
    "class_negative": (lambda w, i: F.nll_loss(w, i), (R(2, 3), T([0, -1], I64))),
    "negative_power_of_integers": (lambda w, i: i**-1, (R(1), T([3], I64))),
    "mean_of_integers": (lambda w, i: i.float().sum() + i.mean(), (R(1), T([3], I64))),
    "softmax_of_integers": (lambda w, i: i.softmax(0), (R(1), T([3], I64))),
    "shapes_that_do_not_broadcast": (lambda w, i: w + R(3), (R(4), T([3], I64))),
    "matrices_that_do_not_fit": (lambda w, i: w @ w, (R(4, 3), T([3], I64))),
    "maximum_of_nothing": (lambda w, i: w[:0].amax(0), (R(4, 3), T([3], I64))),
    "argmax_of_nothing": (lambda w, i: w[:0].argmax(), (R(4), T([3], I64))),
    "bool_minus_bool": (lambda w, i: (w > 0) - (w > 1), (R(4), T([3], I64))),
    "in_place_result_too_wide": (lambda w, i: i.add_(1.5), (R(4), T([3], I64))),
    "in_place_of_an_expanded": (lambda w, i: w.expand(3, 4).add_(1), (R(4), T([3], I64))),
    "copy_into_an_expanded": (lambda w, i: w.expand(3, 4).copy_(w * 2), (R(4), T([3], I64))),
    "operator_on_an_expanded_argument": (lambda w, i: w.__imul__(2), (R(1, 4).expand(3, 4), T([3], I64))),
    "view_of_a_transpose": (lambda w, i: w.t().view(-1), (R(4, 3), T([3], I64))),
    "cat_of_other_shapes": (lambda w, i: torch.cat([w, R(2, 2)]), (R(4, 3), T([3], I64))),
}
# what only an index or a divisor decides at run time must not break the fusion around it
FINE = {
    "index_negative": (lambda w, i: w[i] * 2, (R(4, 3), T([-4, 3, -1], I64))),
    "ignored_class": (lambda w, i: F.cross_entropy(w, i), (R(2, 3), T([0, -100], I64))),
    "empty_indices": (lambda w, i: torch.cat([w[i], w]), (R(5), T([], I64))),
    "division_of_floats_by_zero": (lambda w, i: (w / 0, w // 0, w % 0), (R(4), T([3], I64))),
    "nan_power": (lambda w, i: w**NAN, (R(4), T([3], I64))),
    "padded_position_out_of_reach": (lambda w, i: F.pad(w, (0, 0, 1, 1))[i], (R(4, 3), T([0, 5], I64))),
}


@pytest.mark.parametrize("front", [pytest.param(f, marks=[pytest.mark.slow] if f != "torch" else []) for f in FRONTS])
@pytest.mark.parametrize("name", RAISES)
def test_what_raises_in_eager_raises_compiled(name, front):
    fn, args = RAISES[name]
    with pytest.raises((IndexError, RuntimeError, TypeError)):
        fn(*args)
    with pytest.raises((IndexError, RuntimeError, TypeError)):
        compiled(fn, front)(*args)


@pytest.mark.parametrize("name", FINE)
def test_what_does_not_raise_in_eager_does_not_compiled(name):
    fn, args = FINE[name]
    check(fn, list(args))


HALF, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
POSITIVE = T([1, 2, 3, 4])
TOO_LARGE = {
    "exponent": lambda x, v: x**v,
    "clamp_max": lambda x, v: x.clamp(max=v),
    "clamp_both": lambda x, v: x.clamp(-v, v),
    "alpha_of_add": lambda x, v: torch.add(x, x, alpha=v),
    "alpha_of_sub": lambda x, v: torch.sub(x, x, alpha=v),
    "full": lambda x, v: torch.full((3,), v, dtype=x.dtype),
    "full_like": lambda x, v: torch.full_like(x, v) + x,
    "new_full": lambda x, v: x.new_full((2,), v),
    "fill": lambda x, v: x.clone().fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(x > 0, v),
    "pad": lambda x, v: F.pad(x, (1, 1), value=v),
    "scatter": lambda x, v: x.scatter(0, T([0], I64), v),
    "hardtanh": lambda x, v: F.hardtanh(x, -v, v),
    "threshold": lambda x, v: F.threshold(x, 5.0, v),
    "elu": lambda x, v: F.elu(-x, v),
    "add": lambda x, v: x + v,
    "rsub": lambda x, v: v - x,
    "fmod": lambda x, v: torch.fmod(x, v),
    "compare": lambda x, v: x > v,
    "mul": lambda x, v: x * v,
    "div": lambda x, v: x / v,
    "where": lambda x, v: torch.where(x > 2, x, v),
    "nan_to_num": lambda x, v: torch.nan_to_num(x, posinf=v),
    "smooth_l1": lambda x, v: F.smooth_l1_loss(x, x + 1, beta=v),
    "full_of_bytes": lambda x, v: torch.full((3,), -v, dtype=torch.uint8),
    "scatter_of_bytes": lambda x, v: x.byte().scatter(0, T([0], I64), v),
}


@pytest.mark.parametrize("dtype, number", [(HALF, 7e4), (HALF, 70000), (BF16, 3.4e38), (F32, 1e39)], ids=str)
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_beyond_its_dtype_raises_where_eager_does(name, dtype, number):
    def fn(x):
        return TOO_LARGE[name](x, number)

    x = POSITIVE.to(dtype)
    try:
        fn(x)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            compiled(fn, "pydynamo")(x)
    else:
        check(fn, [x], tol=1e-6 if dtype is F32 else 0.0, zero_sign=True, front="pydynamo")
