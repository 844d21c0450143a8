"""More edges of values: integers, bools, half types, promotion, signs of zero, ties, empty tensors, scatters."""

import torch
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case(tol=0.0)
def shifts_and_overflow():
    a = torch.tensor([1, -1, 127, -128, 3], dtype=torch.int8)
    b = torch.tensor([1, 2, 7, 1, 0], dtype=torch.int8)
    i = torch.tensor([2**31 - 1, -(2**31), 5, -7], dtype=torch.int32)
    u = torch.tensor([255, 1, 128, 7], dtype=torch.uint8)
    return lambda a, b, i, u: (
        a << b,
        a >> b,
        a + a,
        a * a,
        -a,
        abs(a),
        i + 1,
        i * i,
        u + u,
        u * 3,
        u - 1,
        ~u,
        u >> 1,
        u << 1,
        i // u.int(),
        i % u.int(),
    ), [a, b, i, u]


@case(tol=0.0)
def integer_division_all_signs():
    a = torch.tensor([7, -7, 7, -7, 0, 2**40, -(2**40)])
    b = torch.tensor([2, 2, -2, -2, 5, 3, -3])
    return lambda a, b: (
        a // b,
        a % b,
        torch.div(a, b, rounding_mode="trunc"),
        torch.fmod(a, b),
        torch.remainder(a, b),
        a / b,
        torch.div(a, 2, rounding_mode="floor"),
        a // -3,
        a % -3,
    ), [a, b]


@case(tol=0.0)
def bools():
    a = torch.tensor([True, False, True, False])
    b = torch.tensor([True, True, False, False])
    return lambda a, b: (
        a + b,
        a * b,
        a & b,
        a | b,
        a ^ b,
        ~a,
        a.sum(),
        a.any(),
        a.all(),
        a.cumsum(0),
        a < b,
        a == b,
        a.int() - b.int(),
        torch.where(a, b, ~b),
        a.to(torch.float16) + b,
        a.max(),
        a.long().argmax(),
        a * 3,
        a + 0.5,
        a.prod(),
        torch.logical_xor(a, b),
    ), [a, b]


@case()
def halves_round():
    h = torch.tensor([1.0, 0.333, 65504.0, 1e-7, -2.5, 3.1], dtype=torch.float16)
    b = h.bfloat16()
    return lambda h, b: (
        h + h,
        h * h,
        h / 3,
        h * 0.1 + h,
        b * b + b,
        b / 7,
        h.sum(),
        b.sum(),
        h.mean(),
        (h * h).sum(),
        b.exp(),
        h.float() + b,
        h + b,
        h.sqrt(),
        b.rsqrt().abs(),
        h.pow(2),
        b.softmax(0),
        h.log_softmax(0),
        h.cumsum(0),
        b.clamp(-1, 1),
    ), [h, b]


@case(tol=0.0)
def promotion_with_zero_dim():
    i = torch.arange(4)
    f = T([1.5, 2.5, -1.0, 0.0])
    z = torch.tensor(2.0, dtype=torch.float64)
    zi = torch.tensor(3)
    h = f.half()
    return lambda i, f, z, zi, h: (
        i + 1.5,
        i * z,
        f + z,
        f * zi,
        h + z,
        h * zi,
        i / zi,
        i // zi,
        f**zi,
        i**zi,
        torch.where(f > 0, f, z),
        torch.where(i > 1, zi, i),
        torch.maximum(f, z.float()),
        f + True,
        i + True,
        h + 1e-5,
        z + zi,
    ), [i, f, z, zi, h]


@case(zero_sign=True, tol=0.0)
def signs_of_zero():
    x = T([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF])
    return lambda x: (
        -x,
        x + 0.0,
        x - 0.0,
        x * 0.0,
        x * -1,
        0 - x,
        abs(x),
        x.sign(),
        x.floor(),
        x.round(),
        x.trunc(),
        x.ceil(),
        torch.copysign(T([1.0, 1, 1, 1, 1, 1, 1]), x),
        x.clamp(min=0),
        x.clamp(min=-0.0),
        torch.relu(x),
        x.neg().neg(),
        x.frac(),
        torch.where(x == 0, x, -x),
    ), [x]


@case()
def special_reductions():
    x = T([[NAN, 1, 2], [INF, -INF, 0], [-INF, -INF, -INF], [3, 3, 3]])
    return lambda x: (
        x.sum(1),
        x.mean(1),
        x.amax(1),
        x.amin(1),
        x.argmax(1),
        x.argmin(1),
        x.softmax(1),
        x.logsumexp(1),
        x.prod(1),
        x.max(1),
        x.min(0),
        x.var(1),
        x.norm(dim=1),
        x.nansum(1),
        x.any(1),
        x.all(0),
        x.cumsum(1),
        x.log_softmax(0),
        torch.nan_to_num(x).sum(),
    ), [x]


@case(tol=0.0)
def ties():
    x = torch.tensor([[1, 3, 3, 2], [5, 5, 5, 5], [0, -1, -1, 0]])
    f = x.float()
    return lambda x, f: (
        x.argmax(1),
        x.argmin(1),
        f.argmax(1),
        f.argmin(0),
        f.max(1),
        f.min(1),
        x.max(0),
        f.argmax(),
        x.argmin(),
        f.half().argmax(1),
        f.topk(2, 1).values,
        f.sort(stable=True, dim=1),
    ), [x, f]


@case(tol=0.0)
def empties():
    e = torch.zeros(0, 3)
    z = torch.zeros(2, 0)
    return lambda e, z: (
        e.sum(0),
        e + 1,
        z.sum(1),
        z.sum(),
        z.prod(1),
        e.t(),
        torch.cat([e, e + 1]),
        z.any(1),
        z.all(1),
        e.reshape(3, 0),
        z.mean(0),
        torch.cat([e, torch.ones(2, 3)]),
        e.softmax(1),
        e.cumsum(0),
    ), [e, z]


@case()
def zero_dims():
    s = torch.tensor(2.5)
    i = torch.tensor(3)
    return lambda s, i: (
        s.sum(),
        s.mean(),
        s.amax(),
        s.argmax(),
        s.softmax(0),
        s.cumsum(0),
        s * i,
        s.reshape(1, 1),
        s.expand(3),
        i.prod(),
        s.var(correction=0),
        s.sort(),
        s.unsqueeze(0).squeeze(),
        torch.stack([s, s]),
        s.view(1),
    ), [s, i]


@case(tol=0.0)
def negative_indices():
    x = torch.arange(24.0).view(4, 6)
    i = torch.tensor([-1, 0, -4, 2])
    j = torch.tensor([5, -6, 1, -1])
    return lambda x, i, j: (
        x[i],
        x[i, j],
        x[:, j],
        x[-1],
        x[-3:-1],
        x[..., -2:],
        x[::2, 1::3],
        x[i[:, None], j[None]],
        x[None, i],
        x[:, None, j],
        x.take(j.abs()),
        x.index_select(0, i.abs() % 4),
    ), [x, i, j]


@case(tol=1e-6)
def scatters_with_duplicates():
    x = torch.zeros(5, 3)
    i = torch.tensor([0, 0, 4, 0])
    s = R(4, 3)
    return lambda x, i, s: (
        x.index_add(0, i, s),
        x.scatter_add(0, i[:, None].expand(4, 3), s),
        torch.index_put(x, (i,), s, accumulate=True),
        x.index_add(0, i, s, alpha=2),
        x.scatter_reduce(0, i[:, None].expand(4, 3), s, "amax"),
        torch.zeros(5, dtype=torch.int64).scatter_add(0, i, torch.ones(4, dtype=torch.int64)),
        torch.bincount(i, minlength=5),
    ), [x, i, s]


@case(tol=1e-6)
def cumulative_dtypes():
    a = torch.arange(6, dtype=torch.int32).view(2, 3)
    u = a.to(torch.uint8) + 100
    b = a > 2
    return lambda a, u, b: (
        a.cumsum(1),
        u.cumsum(0),
        b.cumsum(1),
        a.cumsum(1, dtype=torch.float32),
        u.sum(),
        u.sum(dtype=torch.uint8),
        a.prod(1),
        b.sum(1, dtype=torch.int8),
        u.cumprod(1),
        a.float().half().cumsum(0),
    ), [a, u, b]


test_equals_eager = case.test()
