"""Kinds of faults that fused code generators have had, each with several cases, against eager."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import check

NAN, INF = float("nan"), float("inf")
CASES = {}


def case(kind, **opts):
    def deco(f):
        CASES[f"{kind}-{f.__name__}"] = (f, opts)
        return f

    return deco


def T(x, dt=torch.float32):
    return torch.tensor(x, dtype=dt)


def R(*shape, dt=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dt)


SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-38, 1e38, 3.0] * 3


# ---- NaN and infinity
@case("nan")
def clamp_min_max_relu():
    return lambda x: (
        x.clamp(-1, 1),
        x.clamp(min=0),
        F.relu(x),
        F.relu6(x),
        F.hardtanh(x),
        x.clamp(max=NAN),
    ), [T(SPECIAL)]


@case("nan")
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


@case("nan")
def halves_maximum():
    x = T(SPECIAL, torch.bfloat16)
    return lambda x: (torch.maximum(x, x.flip(0)), torch.fmin(x, x.flip(0)), x > 0, x != x), [x]


@case("nan")
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


# ---- integers
@case("int")
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


@case("int")
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


@case("int")
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


@case("int")
def int64_beyond_2_31():
    return lambda x: (x * 3_000_000_000, torch.arange(5) * 4_000_000_000 + x[:5], x.sum(), x.cumsum(0)), [
        torch.arange(8) * 2**31
    ]


@case("int")
def uint8_promotion():
    u, i = T([3, 250, 255, 0], torch.uint8), T([-3, 100, 7, 1], torch.int8)
    return lambda u, i: (u + i, u - 1, u * 2, -u, u.float() / 3, u + 1.5, u.sum(), u.to(torch.int8), u > i), [
        u,
        i,
    ]


# ---- signed zero and rounding
@case("zero", zero_sign=True)
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


@case("round", tol=0.0)
def half_to_even():
    return lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.int(), x.half(), x.bfloat16()), [
        T([0.5, 1.5, 2.5, -0.5, -1.5, 2.0009766, 65519.0, 1e-8])
    ]


@case("round", tol=0.0)
def every_half_op_rounds():
    x = R(40, dt=torch.bfloat16)
    y = R(40, dt=torch.float16, seed=1)
    return lambda x, y: (
        (x * 1.3 + 0.7) / x - x,
        (y + 0.1) * y - 0.3,
        x + y,
        (x.float() * 2).bfloat16() + x,
    ), [x, y]


@case("cast")
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


@case("promotion")
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


# ---- shapes and layouts
@case("layout", strides=True)
def strides_of_results():
    x = R(2, 3, 5, 7).to(memory_format=torch.channels_last)
    return lambda x: (
        x + 1,
        x.relu().permute(3, 1, 0, 2),
        x.sum(1),
        x.mean((2, 3), keepdim=True) + x,
        x.transpose(1, 3).contiguous(),
        x.flip(2),
    ), [x]


@case("layout")
def strange_inputs():
    base = R(400)
    return lambda a, b, c, d: (a + b, (c * 2).sum(0), d + a.t()[:3, :4], c.t() @ c, b.reshape(-1)[3:9]), [
        base[3:123].view(10, 12),
        R(12)[None].expand(10, 12),
        base.as_strided((6, 5), (2, 3), 7),
        base[::5][:12].view(3, 4),
    ]


@case("layout")
def overlapping_windows():
    return lambda x: (
        x.unfold(0, 4, 2) * 2,
        x.as_strided((5, 3), (1, 2), 1).sum(1),
        x.as_strided((3, 3), (0, 1)) + 1,
    ), [R(20)]


@case("layout")
def reshape_of_permuted():
    return lambda x: (
        x.permute(2, 0, 1).reshape(6, 20) * 2,
        x.transpose(0, 1).reshape(-1).cumsum(0),
        x.view(4, 5, 3, 2).sum((1, 2)),
    ), [R(4, 5, 6)]


@case("empty")
def zero_sized():
    return lambda x, y: (
        x.sum(0),
        x + 1,
        torch.cat([x, y]),
        x.any(),
        x.prod(),
        x.softmax(1),
        y[:0].amax(1),
        torch.zeros(0, 3).sum(1),
    ), [torch.empty(0, 3), R(2, 3)]


@case("empty")
def zero_dim_and_size_one():
    return lambda a, b: (
        a.sum(),
        a.max(),
        a.argmin(),
        a.cumsum(0),
        a.softmax(0),
        a + b,
        b.var(1, correction=0),
        b.sum(1),
        b.argmax(1),
        b.softmax(1),
        b.mean(1),
        b.std(0, correction=0),
        F.layer_norm(b, (1,)),
    ), [T(2.5), R(5, 1)]


# ---- mutation and aliasing
@case("mutation")
def update_in_place():
    def f(p, m, g):
        m.mul_(0.9).add_(g, alpha=0.1)
        p.sub_(m / (m.abs().sqrt() + 1e-3))
        return p * 2, m.sum()

    return f, [R(50), R(50, seed=1), R(50, seed=2)]


@case("mutation")
def swap_through_each_other():
    def f(a, b):
        t = a * 2
        a.copy_(b + 1)
        b.copy_(t - a)
        return a + b, t

    return f, [R(6, 4), R(6, 4, seed=1)]


@case("mutation")
def copy_of_own_reversal_and_transpose():
    def f(a, b):
        a.copy_(a.flip(0) + a.t())
        b[1:].add_(b[:-1].clone())
        return a, b * 2

    return f, [R(8, 8), R(30)]


@case("mutation")
def views_of_one_storage():
    base = R(40)

    def f(a, b):
        a.add_(1)
        b.mul_(2)
        return a + 1, b.clone()

    return f, [base[:20], base[10:30]]


@case("mutation")
def window_through_another_dtype_before_a_write():
    def f(x):
        bits = x.view(torch.int32)
        y = bits * 2
        z = (bits >> 3) + y.sum()
        x.mul_(2)
        return y, z, bits + 1

    return f, [R(40)]


@case("mutation", tol=1e-5)
def inplace_normalization():
    def f(x):
        x.sub_(x.mean(1, keepdim=True)).div_(x.std(1, keepdim=True) + 1e-5)
        return x.sum(0)

    return f, [R(5, 300)]


# ---- reductions and scans
@case("reduce")
def several_axes():
    x = R(3, 4, 5, 6)
    return lambda x: (
        x.sum((0, 2)),
        x.mean((1, 3), keepdim=True),
        x.amax((0, 3)),
        x.std((1, 2)),
        x.permute(2, 0, 3, 1).sum((1, 3)),
        x.prod(1),
        x.any(2),
        x.norm(dim=(1, 2)),
        x.sum(),
    ), [x]


@case("reduce", tol=1e-5)
def long_rows_split_and_loop():
    x = R(3, 40000)
    return lambda x: (
        x.sum(1),
        x.amax(),
        x.mean(),
        x.softmax(1),
        x.log_softmax(1).amin(1),
        x.var(1),
        x.argmax(1),
        x.any(),
        F.layer_norm(x, (40000,)).amax(1),
        (x * x).sum(0),
    ), [x]


@case("reduce", tol=1e-5)
def tall_columns():
    x = R(9000, 5)
    return lambda x: (
        x.sum(0),
        x.amin(0),
        (x > 0).all(0),
        x.std(0),
        x.softmax(0).sum(0),
        x.argmin(0),
        x.logsumexp(0),
    ), [x]


@case("reduce")
def ties_take_the_first():
    x = T([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0], [NAN, 5.0, NAN]])
    return lambda x: (
        x.argmax(1),
        x.argmin(1),
        x.max(1),
        x.min(0),
        x.int().argmax(1),
        (x > 2).int().argmax(1),
    ), [x]


@case("reduce", tol=2e-3)
def halves_accumulate_in_float():
    x = torch.full((4, 3000), 100.0, dtype=torch.float16)
    return lambda x: (x.mean(1), x.sum(1), x.var(1), x.softmax(1), x.float().sum(), (x * x).amax(1)), [x]


@case("scan", tol=1e-5)
def sums_along_any_axis():
    x = R(5, 6, 7)
    return lambda x: (
        x.cumsum(0),
        x.cumsum(1),
        x.cumsum(-1).flip(-1),
        x.cumprod(1),
        x.exp().cumsum(2).log(),
        (x > 0).cumsum(1),
    ), [x]


@case("scan", tol=1e-4)
def long_scan():
    return lambda x: (x.cumsum(1), (x.cumsum(1) * 2).sum(1)), [R(2, 20000)]


@case("var", tol=1e-3)
def variance_far_from_zero():
    return lambda x: (x.var(1), x.std(0), F.layer_norm(x, (500,)), torch.var_mean(x, 1)), [R(4, 500) + 3e3]


@case("var", tol=1e-4, options={"interpret": True, "split_rows": 64, "split_min": 8})
def variance_in_parts():
    x = R(6, 8, 4, 4).to(memory_format=torch.channels_last)
    return lambda x: (
        torch.var_mean(x, (0, 2, 3)),
        x.std((1, 2, 3)),
        (x + 500).var((0, 2, 3)),
        F.batch_norm(x, None, None, training=True),
    ), [x]


# ---- joining, padding, indexing
@case("join")
def cat_and_stack():
    a, b, c = R(3, 4), R(3, 2), torch.arange(6).view(3, 2)
    return lambda a, b, c: (
        torch.cat([a, b, c], 1).sum(1),
        torch.cat([a.t(), b.t()]).exp(),
        torch.stack([a, a * 2], 1),
        torch.cat([a[:, 1:], b], 1)[:, 2:5],
        torch.cat([a, a]).softmax(0),
        torch.hstack([a, b]),
    ), [a, b, c]


@case("join")
def pads():
    x = R(3, 4, 5)
    return lambda x: (
        F.pad(x, (1, 2)),
        F.pad(x, (-1, 1, 2, -2), value=3.0),
        F.pad(x, (0, 0, 1, 1)).amax(1),
        F.pad(x, (2, 2), value=-INF).softmax(-1),
        F.pad(x, (1, 1), mode="reflect"),
        F.pad(x, (2, 1), mode="circular"),
        F.pad(x.int(), (1, 0), value=7),
    ), [x]


@case("join")
def pads_read_at_loaded_positions():
    x, i = R(4, 5), T([0, 5, 3], torch.int64)
    return lambda x, i: (
        F.pad(x, (0, 0, 1, 1))[i],
        F.pad(x, (1, 1))[:, i[:1]],
        torch.cat([x, x * 2])[i],
        F.pad(x, (1, 0))[1, i],
        F.pad(x, (2, 2))[:, 0],
    ), [x, i]


@case("join")
def slices_steps_rolls():
    x = R(7, 9)
    return lambda x: (
        x[::2, 1::3],
        x[-3:, :-2],
        x.roll(2, 1),
        x.roll((1, -2), (0, 1)),
        x.flip(0, 1)[1:4],
        x[:, 3],
        x.diagonal(1),
        x.tril(),
        x.triu(2),
        x.narrow(1, 2, 4).t(),
        torch.rot90(x),
        x.repeat(2, 3),
        x.repeat_interleave(2, 1),
    ), [x]


@case("index")
def gathers():
    x, i = R(6, 5), T([[0, 4, 2], [1, 1, 3]], torch.int64)
    return lambda x, i: (
        x.gather(1, i),
        x[i],
        x[:, i],
        x[i, i],
        x[-1 - i[0]],
        x.index_select(0, i[0]),
        torch.take_along_dim(x[:2], i, 1),
        F.embedding(i, x),
        x[T([True, False] * 3, torch.bool)],
    ), [x, i]


@case("index")
def scatters():
    x, i, s = R(4, 5), T([[0, 3, 1, 1, 0], [2, 2, 0, 3, 1]], torch.int64), R(2, 5, seed=3)
    return lambda x, i, s: (
        x.scatter_add(0, i, s),
        x.index_add(0, i[0][:2], s),
        x.scatter(1, i[:, :3], 7.0),
        x.index_put((i[0][:3],), s[0], accumulate=True),
        x.index_fill(1, i[1][:2], 0.0),
        x.masked_fill(x > 0, 2.0),
        torch.slice_scatter(x, s, 0, 1, 3),
        torch.select_scatter(x, s[0], 0, 2),
    ), [x, i, s]


@case("index", tol=1e-5)
def accumulating_scatters():
    x, i, s = R(5, 6), T([[0, 4, 1, 1, 0, 2]] * 3, torch.int64), R(3, 6, seed=3)
    n = torch.arange(30).view(5, 6)
    return lambda x, i, s, n: (
        x.scatter_add(0, i, s),
        x.t().scatter_add(1, i.t(), s.t()),
        x.index_add(1, i[0][:3], s.sum(0).expand(5, 6)[:, :3]),
        x.index_put((i[0] - 5, i[1]), s[0], accumulate=True) * 2,
        x.index_put((i[:, :2],), s[0, 0], accumulate=True).sum(1),
        n.scatter_add(0, i, n[:3]),
        (x * 2).index_add(0, i[0][:3], s).relu(),
    ), [x, i, s, n]


@case("grad", tol=1e-5)
def many_readers_of_one_element():
    x, i = R(4, 5).requires_grad_(), T([0, 3, 3, 0, 0], torch.int64)
    return lambda x, i: (
        x[i] * x[i, :][:, i],
        x.gather(1, i[:4, None].expand(4, 7)),
        x.repeat_interleave(3, 0),
        x[i, i].exp(),
    ), [x, i]


# ---- gradients
@case("grad", tol=1e-5)
def norms_and_softmaxes():
    x, w, b = (R(6, 33).requires_grad_(), R(33, seed=1).requires_grad_(), R(33, seed=2).requires_grad_())
    return lambda x, w, b: (
        F.layer_norm(x, (33,), w, b),
        x.softmax(1) * w,
        F.log_softmax(x, 0) + b,
        x.logsumexp(1),
        F.normalize(x, dim=1),
        x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w,
    ), [x, w, b]


@case("grad", tol=1e-5)
def activations():
    x = R(4, 30).requires_grad_()
    return lambda x: (
        F.gelu(x),
        F.gelu(x, approximate="tanh"),
        F.silu(x),
        F.mish(x),
        F.softplus(x),
        F.elu(x),
        F.selu(x),
        F.leaky_relu(x, 0.1),
        F.hardswish(x),
        F.hardsigmoid(x),
        F.logsigmoid(x),
        F.glu(x),
        x.tanh(),
        x.sigmoid(),
        F.softsign(x),
        F.tanhshrink(x),
    ), [x]


@case("grad", tol=1e-5)
def losses():
    x, t, y = R(8, 10).requires_grad_(), T([1, 9, -100, 3, 0, 0, 5, 2], torch.int64), R(8, 10, seed=4)
    return lambda x, t, y: (
        F.cross_entropy(x, t),
        F.cross_entropy(x, t, label_smoothing=0.2),
        F.mse_loss(x, y),
        F.smooth_l1_loss(x, y),
        F.huber_loss(x, y),
        F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        F.binary_cross_entropy_with_logits(x, y.sigmoid()),
        F.nll_loss(x.log_softmax(1), t, reduction="sum"),
    ), [x, t, y]


@case("grad", tol=1e-5)
def views_and_indices():
    x = R(5, 6).requires_grad_()
    i = T([4, 0, 0], torch.int64)
    return lambda x, i: (
        x[i],
        x.gather(0, i[:, None].expand(3, 6)),
        x[1:, ::2].exp(),
        x.t().reshape(3, 10),
        torch.cat([x, x * 2]).amax(1),
        F.pad(x, (1, 1)).cumsum(1),
        x.expand(2, 5, 6).sum(0),
        x.max(1).values,
        x.sort(1).values,
        x.diagonal(),
    ), [x, i]


@case("grad", tol=1e-4)
def convolution_batchnorm_pool():
    x, w = R(2, 3, 8, 8).requires_grad_(), R(4, 3, 3, 3, seed=1).requires_grad_()
    g, b = R(4, seed=2).requires_grad_(), R(4, seed=3).requires_grad_()
    return lambda x, w, g, b: F.avg_pool2d(
        F.max_pool2d(F.relu(F.batch_norm(F.conv2d(x, w, padding=1), None, None, g, b, True)), 2), 2
    ), [x, w, g, b]


@pytest.mark.parametrize("name", CASES)
def test_equals_eager(name):
    build, opts = CASES[name]
    fn, args = build()
    check(fn, args, **opts)


@pytest.mark.parametrize(
    "fn, args",
    [
        (lambda w, i: F.embedding(i, w), (R(4, 3), T([0, -1], torch.int64))),
        (lambda w, i: w[i], (R(4, 3), T([4], torch.int64))),
        (lambda w, i: w.gather(0, i), (R(4), T([7], torch.int64))),
        (lambda w, i: w.index_select(0, i), (R(4), T([-1], torch.int64))),
        (lambda w, i: i // (i * 0), (R(1), T([3], torch.int64))),
    ],
    ids=["embedding", "index", "gather", "index_select", "zero_divisor"],
)
def test_what_raises_in_eager_raises_compiled(fn, args):
    from lowering_harness import compiled

    with pytest.raises((IndexError, RuntimeError)):
        fn(*args)
    with pytest.raises((IndexError, RuntimeError)):
        compiled(fn)(*args)


def test_an_index_is_checked_only_where_it_is_used():
    def f(x, i):
        return torch.cat([x[i], x])

    check(f, [R(5), torch.zeros(0, dtype=torch.int64)])
