"""Integers and bools: wrapping, division by sign, bits, what dtype an operation has; compiled against eager."""

import torch
from edge_harness import Cases, R, T

case = Cases()


@case()
def wrap_around():
    x8, x16 = T([127, -128, 100, -1], torch.int8), T([32767, -32768, 5, -1], torch.int16)
    return lambda a, b: (
        a + a,
        a * a,
        -a,
        a - 1,
        b + b,
        b * 3,
        a.long() * 1000,
        (a + 1).to(torch.int32),
        abs(a),
    ), [x8, x16]


@case()
def division_signs():
    a, b = T([-7, 7, -7, 7, 9, -9], torch.int64), T([2, 2, -2, -2, 3, 3], torch.int64)
    return lambda a, b: (
        a // b,
        a % b,
        torch.fmod(a, b),
        torch.div(a, b, rounding_mode="trunc"),
        a / b,
        a // 2,
        a % 5,
    ), [a, b]


@case()
def bits_and_bools():
    a, b = T([5, -3, 12, 0], torch.int32), T([True, False, True, False], torch.bool)
    return lambda a, b: (
        a & 6,
        a | 1,
        a ^ a.flip(0),
        ~a,
        ~b,
        b & b.flip(0),
        b ^ True,
        b + b,
        b * 3,
        b.sum(),
        b.any(),
        b.all(),
        a.bool(),
        torch.logical_xor(a, b),
        b < b.flip(0),
    ), [a, b]


@case()
def int64_beyond_2_31():
    return lambda x: (x * 3_000_000_000, torch.arange(5) * 4_000_000_000 + x[:5], x.sum(), x.cumsum(0)), [
        torch.arange(8) * 2**31
    ]


@case()
def uint8_promotion():
    u, i = T([3, 250, 255, 0], torch.uint8), T([-3, 100, 7, 1], torch.int8)
    return lambda u, i: (u + i, u - 1, u * 2, -u, u.float() / 3, u + 1.5, u.sum(), u.to(torch.int8), u > i), [
        u,
        i,
    ]


@case()
def mixed_dtypes():
    f16, bf, f32, f64, i = (
        R(4, dt=torch.float16),
        R(4, dt=torch.bfloat16),
        R(4),
        R(4, dt=torch.float64),
        torch.arange(4),
    )
    z = T(2.5, torch.float64)
    return lambda f16, bf, f32, f64, i, z: (
        f16 + bf,
        f16 + i,
        f32 * f64,
        i + z,
        f16 * z,
        i / 2,
        i + 0.5,
        bf - 1,
        f64 + i,
        torch.where(i > 1, f16, f32),
        (i > 2) + i,
    ), [f16, bf, f32, f64, i, z]


@case()
def narrow_results_wrap_before_they_widen():
    u, i = T([128, 200, 255, 6, 0], torch.uint8), T([127, -128, 64, -1, 3], torch.int8)
    return lambda u, i: (
        (u + u).int(),
        (u * 3).float(),
        (u - 7).long(),
        (-u).lt(4),
        (i + i).int(),
        (i * i).long(),
        (-i).float(),
        i.abs().int(),
        (i << 1).int(),
        (u >> 1).int(),
        (~u).int(),
        (i - 100).short(),
        u.square().float(),
        (u.cumsum(0, dtype=torch.uint8)).int(),
    ), [u, i]


@case()
def wide_integers_wrap():
    a, b = T([2**31 - 1, -(2**31), 65536, -7], torch.int32), T([2**63 - 1, -(2**63), 2**40, -7], torch.int64)
    return lambda a, b: (
        a + 1,
        a * a,
        -a,
        a.abs(),
        a - 2,
        b + 1,
        b * b,
        -b,
        b.abs(),
        b << 3,
        a << 20,
        a >> 3,
        b >> 40,
        a.long() * a,
        a.sum(),
        b.sum(),
        a.prod(),
    ), [a, b]


@case()
def shifts_and_bits():
    a, s = T([1, -8, 255, 1024], torch.int32), T([0, 1, 3, 31], torch.int32)
    return lambda a, s: (
        a << s,
        a >> s,
        a & -2,
        a | s,
        a ^ -1,
        ~a,
        torch.bitwise_left_shift(a, 2),
        torch.bitwise_right_shift(a, 1),
        a.to(torch.uint8) >> 2,
        a.to(torch.int8) & 7,
    ), [a, s]


@case()
def floor_and_trunc_of_every_sign():
    a, b = T([-7, 7, -7, 7, -1, 1, 0, -(2**31) + 1], torch.int32), T([2, 2, -2, -2, 3, -3, 5, 2], torch.int32)
    return lambda a, b: (
        a // b,
        a % b,
        a // -2,
        a % -5,
        7 // b,
        7 % b,
        torch.fmod(a, b),
        torch.fmod(a, -3),
        torch.div(a, b, rounding_mode="trunc"),
        torch.div(a, b, rounding_mode="floor"),
        torch.div(a, 2.5, rounding_mode="floor"),
        a.to(torch.int8) // b.to(torch.int8),
        a.long() % b,
        a / b,
        a.short() % 4,
    ), [a, b]


@case()
def unsigned_division():
    a, b = T([7, 255, 128, 0], torch.uint8), T([2, 16, 3, 5], torch.uint8)
    return lambda a, b: (
        a // b,
        a % b,
        a // 3,
        a % 7,
        torch.fmod(a, b),
        a / b,
        torch.div(a, b, rounding_mode="trunc"),
        a > b,
        a.min(),
        torch.maximum(a, b),
    ), [a, b]


@case()
def bools_as_numbers():
    a, b = T([True, False, True, False], torch.bool), T([True, True, False, False], torch.bool)
    return lambda a, b: (
        a + b,
        a * b,
        a | b,
        a ^ b,
        ~a,
        a + 1,
        a * 2.5,
        a / b.long().clamp(min=1),
        a.sum(),
        a.float().mean(),
        a.cumsum(0),
        a.prod(),
        a.amax(),
        a.amin(),
        torch.maximum(a, b),
        a == b,
        a >= b,
        a.any(),
        a.all(),
        torch.where(a, b, a),
        a & 1,
        b.to(torch.int8) - 3,
        a.logical_not(),
    ), [a, b]


@case()
def dtypes_of_sums():
    i, u, b, h = (
        T([100, 27, -3], torch.int8),
        T([200, 100, 3], torch.uint8),
        T([True, True, False], torch.bool),
        T([1.5, 2.0, 3.0], torch.float16),
    )
    return lambda i, u, b, h: (
        i.sum(),
        u.sum(),
        b.sum(),
        h.sum(),
        i.prod(),
        u.cumsum(0),
        b.cumsum(0),
        i.sum(dtype=torch.int8),
        u.sum(dtype=torch.float32),
        h.sum(dtype=torch.float64),
        i.float().mean(),
        h.mean(),
        i.amax(),
        u.argmin(),
        b.any(),
        i.cumprod(0),
        h.mean(dtype=torch.float32),
        torch.mean(i, dtype=torch.float32),
    ), [i, u, b, h]


@case()
def numbers_against_tensors():
    i, u, h, f, b = (
        T([1, -2], torch.int32),
        T([3, 250], torch.uint8),
        T([0.1, 2.0], torch.float16),
        T([0.1, 3.0]),
        T([True, False], torch.bool),
    )
    return lambda i, u, h, f, b: (
        i + 1.5,
        i * True,
        u - 1,
        u * 2.0,
        h + 1,
        h * 1e-4,
        f + 1e10,
        b + 1,
        b + 1.5,
        b * True,
        i / 2,
        i // 2,
        1 / i,
        2.0 - h,
        torch.where(b, 1, 2),
        torch.where(b, 1.0, i),
        torch.where(b, h, f),
        i.clamp(0.5, 3.0),
        i.clamp(min=0),
        torch.add(i, 2, alpha=3),
        torch.rsub(i, 5),
    ), [i, u, h, f, b]


@case()
def zero_dimensional_operands():
    f16, f32, f64, i64, b = (
        T([0.1, 2.0], torch.float16),
        T(0.1),
        T(1.5, torch.float64),
        T(3, torch.int64),
        T(True, torch.bool),
    )
    return lambda f16, f32, f64, i64, b: (
        f16 + f32,
        f16 * f64,
        f16 + i64,
        f32 + f64,
        f32 * i64,
        i64 + b,
        i64 * 1.5,
        f16 > f64,
        torch.where(b, f16, f64),
        torch.maximum(f32, f64),
        f64 / i64,
        f16 - b.float(),
        torch.cat([f16, f32[None]]),
        torch.stack([f32, f64.float()]),
    ), [f16, f32, f64, i64, b]


@case()
def mixed_integer_kinds():
    i8, u8, i16, i32, i64 = (
        T([3, 100, 7], dt) for dt in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
    )
    return lambda i8, u8, i16, i32, i64: (
        i8 + u8,
        i8 * i16,
        u8 + i32,
        i32 - i64,
        u8 * u8,
        i8 & u8,
        i16 // i8,
        u8 == i8,
        i64 > u8,
        torch.maximum(i8, i32),
        torch.cat([i8, i64]),
        torch.where(i8 > 5, u8, i16),
        i8.bitwise_or(i32),
        torch.gcd(i32, i64.int()),
        torch.minimum(u8, i16),
    ), [i8, u8, i16, i32, i64]


@case(tol=0.0)
def ranges_between_numbers_that_are_not_of_their_dtype():
    return lambda x: (
        torch.linspace(4.3, -3, 50, dtype=torch.int64),
        torch.linspace(-3, 4.3, 10, dtype=torch.int32),
        torch.linspace(0.9, 200.9, 7, dtype=torch.uint8),
        torch.linspace(x[0], x[1], 5, dtype=torch.int16),
        torch.logspace(0.3, 0.9, 4, dtype=torch.int64),
        torch.linspace(3.5, -5, 8, dtype=torch.bfloat16),
        torch.linspace(-3.341796875, 1.6, 8, dtype=torch.float16),
        torch.logspace(2.2, -1, 7, dtype=torch.bfloat16),
        torch.logspace(-3.9, 2.8, 5, dtype=torch.float16),
    ), [T([-2.7, 5.6])]


@case()
def ranges_and_constants():
    return lambda x: (
        torch.arange(5),
        torch.arange(2, 11, 3),
        torch.arange(5, 0, -2),
        torch.arange(0.0, 1.0, 0.25),
        torch.arange(3, dtype=torch.float16) + x,
        torch.arange(4, dtype=torch.int8) * 100,
        torch.linspace(0, 1, 5),
        torch.linspace(-2, 3, 4, dtype=torch.float64),
        torch.full((2,), 3),
        torch.full((2,), True),
        torch.ones(2, dtype=torch.int64) / 2,
        torch.eye(3),
        torch.zeros(2, 3).tril(),
        torch.tensor([1.5, 2.5]) + x[:2],
        torch.logspace(0, 2, 3),
        torch.zeros((), dtype=torch.bool),
    ), [R(3)]


@case()
def large_integers_keep_every_bit():
    x = T([2**53 + 1, -(2**53) - 1, 2**62, 3], torch.int64)
    return lambda x: (
        x + 1,
        x - 2**40,
        x * 3,
        x // 7,
        x % 1000,
        x.abs(),
        x.clamp(-(2**54), 2**54),
        x == 2**53,
        x.flip(0),
        x.cumsum(0),
        x.amax(),
        torch.where(x > 2**53, x, -x),
        x.double(),
        x.view(2, 2).sum(0),
        x & (2**53),
    ), [x]


@case()
def integers_chosen_and_sorted():
    x = T([[5, -3, 5, 0], [2, 2, -9, 7]], torch.int32)
    return lambda x: (
        x.max(1),
        x.min(0),
        x.argmax(1),
        x.argmin(),
        x.sort(dim=1, stable=True),
        x.argsort(dim=1, descending=True, stable=True),
        x.topk(2, 1),
        x.msort(),
        x.unique(),
        x.median(),
        x.mode(1),
        x.aminmax(dim=0),
        x.count_nonzero(1),
        x.diff(dim=1),
    ), [x]


test_equals_eager = case.test()
