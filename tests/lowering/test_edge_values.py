"""Numbers at the edges: NaN, infinities, signed zeros, rounding, casts, special functions, powers; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, SPECIAL, Cases, R, T

case = Cases()


@case()
def clamp_min_max_relu():
    return lambda x: (
        x.clamp(-1, 1),
        x.clamp(min=0),
        F.relu(x),
        F.relu6(x),
        F.hardtanh(x),
        x.clamp(max=NAN),
    ), [T(SPECIAL)]


@case()
def reductions():
    x = R(4, 70)
    x[0, 3] = NAN
    x[1, 5] = INF
    x[2] = -INF
    return lambda x: (
        x.amax(1),
        x.amin(1),
        x.max(),
        x.min(),
        x.argmax(1),
        x.argmin(0),
        x.sum(1),
        x.prod(1),
    ), [x]


@case()
def halves_maximum():
    x = T(SPECIAL, torch.bfloat16)
    return lambda x: (torch.maximum(x, x.flip(0)), torch.fmin(x, x.flip(0)), x > 0, x != x), [x]


@case()
def numbers_beside_half_types():
    """Each number is a little off what the half type holds: eager's kernels differ in whether they round it first."""

    def f(x, y):
        found = []
        for t in (x, y, x[0], y[0], x[:1]):
            found += [
                t - 0.3,
                t + -0.3,
                t * 0.3,
                t / 0.3,
                0.3 - t,
                torch.fmod(t, 0.3),
                t < 0.3,
                t == 0.3,
                t.clamp(min=0.3),
            ]
            found += [t + x.float()[0], t.float()[..., None] - x[0], x[0] - 3]
        return tuple(found)

    values = [0.3, -0.3, 0.1, 2.7]
    return f, [T(values, torch.float16), T(values, torch.bfloat16)]


@case()
def where_select_isfinite():
    return lambda x: (
        torch.isfinite(x),
        torch.isnan(x),
        torch.isinf(x),
        torch.where(x > 0, x, -x),
        x.sign(),
        x.abs(),
        torch.nan_to_num(x, 1.0, 2.0, 3.0),
        torch.signbit(x),
    ), [T(SPECIAL)]


@case(zero_sign=True)
def negative_zero_survives():
    return lambda x: (
        -x,
        x * -1,
        x + 0,
        torch.ceil(x),
        torch.round(x),
        torch.trunc(x),
        x.abs(),
        torch.copysign(x, -0.0 * x),
        torch.full_like(x, -0.0),
        x * 0,
    ), [T([-0.5, -0.0, 0.0, 0.5, -1e-30])]


@case(tol=0.0)
def half_to_even():
    return lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.int(), x.half(), x.bfloat16()), [
        T([0.5, 1.5, 2.5, -0.5, -1.5, 2.0009766, 65519.0, 1e-8])
    ]


@case(tol=0.0)
def every_half_op_rounds():
    x = R(40, dt=torch.bfloat16)
    y = R(40, dt=torch.float16, seed=1)
    return lambda x, y: (
        (x * 1.3 + 0.7) / x - x,
        (y + 0.1) * y - 0.3,
        x + y,
        (x.float() * 2).bfloat16() + x,
    ), [x, y]


@case()
def float_to_narrow():
    return lambda x: (
        x.to(torch.uint8),
        x.to(torch.int8),
        x.to(torch.int16),
        x.long(),
        x.bool(),
        x.double(),
        x.half().float(),
    ), [T([0.0, 1.9, -1.9, 100.5, 127.0, 3.0])]


@case()
def nan_bounds_of_clamp():
    lo, hi = T([NAN, -1.0, 0.0, 2.0] * 9), T([1.0, NAN, INF, 1.0] * 9)
    return lambda x, lo, hi: (
        x.clamp(lo, hi),
        x.clamp(min=lo),
        x.clamp(2.0, 1.0),
        x.clamp(NAN, 1.0),
        x.clamp(max=lo),
        x.clamp(-INF, INF),
        torch.clip(x, 0),
    ), [T(SPECIAL), lo, hi]


@case()
def nan_comparisons_and_selection():
    x = T(SPECIAL)
    return lambda x: (
        x == x,
        x <= x.flip(0),
        ~(x > 0),
        (x != 0) & (x >= -1),
        torch.where(x.isnan(), 0.0, x),
        x.masked_fill(x.isnan(), -3.0),
        torch.fmax(x, x.flip(0)),
        torch.isclose(x, x.flip(0)),
        torch.isclose(x, x, equal_nan=True),
        torch.isposinf(x),
        torch.isneginf(x),
        torch.heaviside(x, x.flip(0)),
    ), [x]


@case()
def nan_activations():
    return lambda x: (
        F.leaky_relu(x, 0.2),
        F.elu(x),
        F.hardswish(x),
        F.hardsigmoid(x),
        F.threshold(x, 0.1, 7.0),
        F.softsign(x),
        F.relu6(x),
        F.hardshrink(x),
        F.softshrink(x),
        F.prelu(x, T([0.25])),
    ), [T(SPECIAL)]


@case()
def nan_in_half_types():
    x = T(SPECIAL, torch.float16)
    return lambda x: (
        x.relu(),
        x.amax(),
        x.clamp(0, 1),
        torch.maximum(x, -x),
        x.sum(),
        x.softmax(0),
        x.sign(),
        x.bool(),
    ), [x]


@case(zero_sign=True)
def negative_zero_through_arithmetic():
    x = T([-0.0, 0.0, -1.0, 2.0, -INF, 1e-45, -1e-45])
    return lambda x: (
        x + 0.0,
        x - 0.0,
        0.0 - x,
        x * -0.0,
        x / -1.0,
        -x * 0.0,
        x.relu(),
        x.clamp(min=0.0),
        x.clamp(max=0.0),
        torch.where(x == 0, x, -x),
        x.abs().neg(),
        x.sqrt(),
        x.sin(),
        x.tanh(),
        x.floor(),
    ), [x]


@case(zero_sign=True)
def negative_zero_through_reductions_and_moves():
    x = T([[-0.0, -0.0], [0.0, -0.0]])
    return lambda x: (
        x.sum(0),
        x.prod(1),
        x.cumsum(0),
        torch.cat([x, -x]),
        F.pad(x, (1, 1), value=-0.0),
        x.flip(0),
        x.gather(0, torch.zeros(1, 2, dtype=torch.int64)),
        x.half().float(),
        x.bfloat16().double(),
        x.long().float(),
        torch.full((2,), -0.0) + x[0],
        x.masked_fill(x == 0, -0.0),
    ), [x]


@case(zero_sign=True)
def negative_zero_in_division_and_remainder():
    a, b = T([-0.0, 0.0, -0.0, 6.0, -6.0]), T([3.0, -3.0, -3.0, 3.0, 3.0])
    return lambda a, b: (
        a / b,
        a // b,
        a % b,
        torch.fmod(a, b),
        torch.div(a, b, rounding_mode="trunc"),
        a.remainder(-2.0),
    ), [a, b]


@case(zero_sign=True)
def negative_zero_as_a_number():
    return lambda x: (
        torch.full((3,), -0.0),
        torch.where(x > 0, -0.0, 0.0),
        x.new_full((2,), -0.0),
        torch.copysign(torch.ones(7), x),
        torch.zeros_like(x).neg(),
        torch.atan2(torch.zeros_like(x), x),
        torch.nextafter(x, -x),
    ), [T([-0.0, 0.0, -1.0, 2.0, -INF, 1e-45, -1e-45])]


@case(tol=0.0)
def rounding_to_decimals_and_back():
    x = T([0.5, 1.5, 2.5, -2.5, 0.125, 2.675, 1e7 + 0.5, -0.4999999, 3.5])
    return lambda x: (
        torch.round(x, decimals=1),
        torch.round(x, decimals=3),
        torch.round(x * 4) / 4,
        x.round().int(),
        x.double().round(),
        x.half().round(),
        x.frac(),
        x.bfloat16().floor(),
    ), [x]


@case(tol=0.0)
def half_casts_round_once():
    x = T([1.0 + 2**-11, 1.0 + 3 * 2**-12, 65504.0, 65520.0, 1e-7, 6e-8, 2**-25, -(2**-24), 3.3895e38, 1.00390625])
    return lambda x: (
        x.half(),
        x.bfloat16(),
        x.double().half(),
        x.double().bfloat16(),
        x.half().bfloat16().float(),
        (x * 1.0).to(torch.float16) * 2,
        x.bfloat16() * 3 + 1,
        torch.cat([x.half(), x.bfloat16()]),
    ), [x]


@case(fronts=("pydynamo",), tol=0.0)
def half_products_and_sums_round_each():
    x, y = R(64, dt=torch.float16), R(64, dt=torch.float16, seed=1)  # whole vectors: eager's tail rounds otherwise
    return lambda x, y: (
        torch.addcmul(x, x, y, value=0.3),
        torch.addcdiv(x, x, y + 3, value=0.3),
        torch.lerp(x, y, 0.3),
        x * y + x,
        (x - y) * (x + y),
        torch.add(x, y, alpha=0.7),
        torch.sub(x, y, alpha=1.3),
        x.square() - y,
        x / 3,
        (x + 1e-3) - x,
    ), [x, y]


@case(tol=0.0)
def half_overflow_is_infinite():
    x = T([300.0, 60000.0, -60000.0, 1e-7, 0.001], torch.float16)
    return lambda x: (x * x, x + x, x * x / x, (x * 2).clamp(max=100.0), x.exp().log(), x * 1e5, x.float() * 1e5), [x]


@case()
def casts_of_bools_and_integers():
    b, i = T([True, False, True], torch.bool), T([2**24 + 1, -5, 2**31 - 1], torch.int64)
    return lambda b, i: (
        b.float(),
        b.to(torch.uint8),
        b.half() / 2,
        i.float(),
        i.int(),
        i.short(),
        i.to(torch.int8),
        i.to(torch.uint8),
        i.bool(),
        i.double(),
        i.bfloat16(),
        b.long() - 1,
    ), [b, i]


@case()
def nan_to_num_and_logic():
    x = T(SPECIAL)
    return lambda x: (
        x.nan_to_num(),
        x.nan_to_num(nan=7.0, posinf=1.0, neginf=-1.0),
        x.half().nan_to_num(),
        x.double().nan_to_num(),
        torch.logical_not(x),
        torch.logical_and(x, x.flip(0)),
        torch.logical_xor(x, x.flip(0)),
        x.bool(),
        torch.sgn(x),
        x.sign().int(),
        torch.signbit(x),
    ), [x]


@case(tol=1e-6)
def subnormal_numbers():
    x = T([1e-39, -1e-40, 1e-45, 3e-38, -1e-38])
    return lambda x: (
        x * 0.5,
        x + x,
        x / 2,
        x - x.flip(0),
        x.abs(),
        x * 1e10,
        x.double() * 1.5,
        x > 0,
        x.sqrt(),
        torch.where(x != 0, 1.0, 0.0),
    ), [x]


@case(zero_sign=True)
def sums_start_from_zero():
    x = torch.full((3, 1, 4), -0.0)
    return lambda x: (
        x.sum(1),
        x.sum(),
        x.mean(1),
        x.cumsum(1),
        x[0].sum(0),
        x.half().sum(1),
        x.double().cumsum(1),
        x[0, 0, 0].cumsum(0),
        1 / x.sum(1),
        x.sum_to_size(3, 1, 4),
    ), [x]


test_equals_eager = case.test()
