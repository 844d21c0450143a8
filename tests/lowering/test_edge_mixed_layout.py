"""More edges of layout: strides of results, views, writes, gradients, shapes, and values that several kernels share."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case(strides=True)
def strides_of_results():
    x = R(2, 3, 4, 5)
    c = x.to(memory_format=torch.channels_last)
    t = x.transpose(1, 3)
    e = R(1, 3, 1, 1).expand(2, 3, 4, 5)
    return lambda x, c, t, e: (
        c + 1,
        t * 2,
        c + x,
        x + c,
        t.contiguous(),
        c.relu(),
        torch.where(c > 0, c, x),
        c.clone(),
        t.clone(),
        e + 1,
        e * c,
        torch.zeros_like(c),
        torch.empty_like(t).fill_(1),
        c.sum(1),
        t.sum(1),
        c.permute(0, 2, 3, 1) * 1,
        c.to(torch.float64),
        torch.cat([c, c], 1),
        F.pad(c, (1, 1)),
        c.softmax(1),
        x.flip(1),
    ), [x, c, t, e]


@case()
def views_of_results():
    def f(x):
        y = x * 2
        z = y[1:]
        w = y.t()
        y2 = x + 1
        return y, z, w, y2.view(-1), y2.unsqueeze(0), y2[::2]

    return f, [R(4, 4)]


@case()
def inplace_on_views():
    def f(x):
        y = x.clone()
        y[1:3].mul_(2)
        y.t()[0].add_(1)
        y[:, -1] = 5
        y.view(-1)[3:6] += 1
        y[y > 2] = 0
        y.diagonal().zero_()
        return y

    return f, [R(4, 4)]


@case()
def arguments_changed_through_views():
    def f(x, y):
        x[0].add_(y[0])
        y.t().mul_(2)
        x.view(-1)[::2].neg_()
        x[:, 1].copy_(y[:, 0])
        return x.sum(), y[1]

    return f, [R(4, 4), R(4, 4, seed=1)]


@case()
def two_windows_of_one_storage():
    b = R(20)
    return lambda a, c: (a.add_(1), c * 2)[1], [b[:12], b[8:20]]


@case()
def gradients_through_broadcast_and_views():
    a, b = R(3, 1, 4).requires_grad_(), R(5, 1, seed=1).requires_grad_()
    return lambda a, b: (a * b).transpose(0, 2)[1:].sum(1) * a.sum() + b.mean(), [a, b]


@case()
def gradients_of_selections():
    a = R(6, 4).requires_grad_()
    i = torch.tensor([0, 0, 5, -1])
    return lambda a, i: (
        a[i].sum(0),
        a[1:4, ::2],
        a.gather(0, i.abs()[None, :] % 4),
        torch.cat([a, a * 2], 1)[:, 3:6],
        F.pad(a, (1, 2, 0, 1)),
        a.roll(2, 0),
        a.flip(1),
        a.max(1).values,
        a.amax(0),
        a.cumsum(0),
        a.tril(),
        a.unfold(0, 3, 2),
    ), [a, i]


@case(tol=5e-6)  # eager's gelu is 4e-6 off where oneDNN computes it
def gradients_at_kinks():
    a = T([0.0, -0.0, 1.0, -1.0, 2.0, -2.0]).requires_grad_()
    return lambda a: (
        a.abs(),
        a.relu(),
        a.clamp(-1, 1),
        a.sign(),
        F.leaky_relu(a),
        F.hardtanh(a),
        F.elu(a),
        F.softplus(a),
        F.gelu(a),
        F.silu(a),
        a.maximum(torch.zeros(6)),
        F.hardswish(a),
        F.hardsigmoid(a),
        F.logsigmoid(a),
        F.mish(a),
        F.softsign(a),
        F.selu(a),
        F.threshold(a, 0.5, -3.0),
    ), [a]


@case()
def gradients_of_losses():
    x, t = R(5, 7).requires_grad_(), torch.tensor([0, 6, 3, -100, 2])
    p = torch.rand(5, 7, generator=torch.Generator().manual_seed(0))
    return lambda x, t, p: (
        F.cross_entropy(x, t),
        F.cross_entropy(x, t, reduction="none"),
        F.cross_entropy(x, t, label_smoothing=0.1),
        F.binary_cross_entropy_with_logits(x, p),
        F.mse_loss(x, p),
        F.smooth_l1_loss(x, p),
        F.huber_loss(x, p, delta=0.3),
        F.kl_div(x.log_softmax(1), p),
        F.cross_entropy(x, p),
        F.nll_loss(x.log_softmax(1), t, weight=torch.arange(1.0, 8.0)),
    ), [x, t, p]


@case(tol=1e-5)
def norms_with_gradients():
    x, w, b = R(4, 6, 5).requires_grad_(), R(5, seed=1).requires_grad_(), R(5, seed=2).requires_grad_()
    return lambda x, w, b: (
        F.layer_norm(x, (5,), w, b),
        F.group_norm(x, 3),
        F.instance_norm(x),
        F.rms_norm(x, (5,), w),
        F.normalize(x, dim=1),
        F.batch_norm(x, None, None, training=True),
        x.std(1),
        x.var(2, correction=0),
        F.local_response_norm(x, 3),
    ), [x, w, b]


@case()
def complex_through():
    a = torch.complex(R(3, 4), R(3, 4, seed=1))
    r = R(3, 4, seed=2)
    return lambda a, r: (
        a * a,
        a + r,
        a.abs(),
        a.conj() * r,
        a.real * 2,
        a.imag + r,
        torch.view_as_real(a) * 3,
        a.sum(),
        (a * r).angle(),
        torch.polar(r.abs(), r),
    ), [a, r]


@case(tol=1e-13)
def doubles():
    d = R(40, dt=torch.float64)
    return lambda d: (
        d.exp(),
        d.sin(),
        d.tanh(),
        d.softmax(0),
        d.var(),
        d.sum(),
        d.cumsum(0),
        d.erf(),
        d.abs().sqrt(),
        d.abs().log(),
        F.gelu(d),
        d / 3,
        d // 0.3,
        d % 0.3,
        d.pow(3),
        d.float().double(),
        d.half().double(),
        d.sigmoid(),
        d.std(),
        F.layer_norm(d, (40,)),
    ), [d]


@case(tol=0.0)
def casts():
    x = T([0.5, 1.5, -1.5, 2.9, -2.9, 200.0, 3e9, NAN])
    y = x[:7]
    return lambda x, y: (
        y.int(),
        y.long(),
        y[:6].to(torch.int8),
        y[:2].to(torch.uint8),
        x.bool(),
        x.half(),
        x.bfloat16().float(),
        x.double(),
        y.long().float(),
        x.half().bfloat16(),
        (x > 0).float(),
        y[:5].to(torch.int16),
        x.half().double(),
    ), [x, y]


@case()
def shapes_changed():
    x = R(2, 3, 4)
    return lambda x: (
        x.reshape(4, 6).t().reshape(3, 8),
        x.permute(2, 0, 1).flatten(1),
        x.unfold(2, 2, 1),
        x.repeat(2, 1, 3),
        x.repeat_interleave(2, 1),
        x.tile(2),
        torch.stack([x, x], 1),
        x.split(2, 1)[1],
        x.chunk(2, 2)[1],
        x.movedim(0, 2),
        x.swapaxes(0, 1).contiguous().view(-1),
        x.expand(2, 2, 3, 4).sum(0),
        torch.einsum("bij,bkj->bik", x, x),
        x.narrow(2, 1, 2),
        x.diagonal(0, 1, 2),
        torch.meshgrid(x[0, 0], x[0, 1], indexing="ij"),
        x.rot90(1, (1, 2)),
        torch.block_diag(x[0], x[1]),
        x.roll((1, 2), (0, 2)),
        x.unflatten(2, (2, 2)),
    ), [x]


@case(tol=0.0)
def comparisons_with_nan_and_mixed_types():
    x, i = T([NAN, 1.0, 2.0, INF]), torch.tensor([1, 1, 2, 3])
    return lambda x, i: (
        x == i,
        x != x,
        x < i,
        x >= i,
        x == x,
        torch.isclose(x, i.float()),
        torch.isnan(x),
        x.isinf(),
        x.isfinite(),
        torch.equal(x, x),
        i == 1.5,
        i < True,
        x.eq(1),
        torch.maximum(x, i),
        torch.fmax(x, i.float()),
        torch.fmin(x, i.float()),
        x.logical_not(),
        torch.isin(i, torch.tensor([1, 3])),
    ), [x, i]


@case()
def windows_and_pools():
    x = R(1, 2, 8, 8).requires_grad_()
    return lambda x: (
        F.max_pool2d(x, 2),
        F.avg_pool2d(x, 3, 1, 1),
        F.adaptive_avg_pool2d(x, 3),
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, size=(5, 5), mode="bilinear"),
        F.unfold(x, 3),
        F.pad(x, (1, 1, 1, 1), "reflect"),
        F.pad(x, (2, 0, 1, 0), "replicate"),
        F.pad(x, (1, 1, 1, 1), "circular"),
        F.pixel_shuffle(x.view(1, 8, 4, 4), 2),
        F.lp_pool2d(x.abs(), 2, 2),
    ), [x]


@case()
def many_scalars():
    x = R(5)
    return lambda x, n, f, b: (
        x * n,
        x + f,
        x if b else -x,
        x**n,
        x // f,
        x % n,
        x.clamp(-f, f),
        x * (n if b else f),
        torch.full_like(x, n),
        x.add(x, alpha=n),
        x.sub(2, alpha=f),
        torch.addcmul(x, x, x, value=f),
        torch.lerp(x, x * 2, f),
        x.pow(f).abs(),
    ), [x, 3, 0.7, True]


@case(tol=0.0)
def bit_tricks():
    i = torch.tensor([0, 1, -1, 2**31, -(2**31), 12345])
    return lambda i: (
        i & 255,
        i | 1,
        i ^ -1,
        ~i,
        i << 3,
        i >> 2,
        i & -i,
        (i >> 31) & 1,
        i.bitwise_left_shift(2),
        i.bitwise_right_shift(1),
        i.bitwise_not(),
        (i != 0).long() - 1,
    ), [i]


@case()
def long_chains_and_reuse():
    def f(x, w):
        a = x + w
        b = a * 2
        c = a - b
        d = (a * c).sum(1, keepdim=True)
        e = a / (d + 10)
        g = e + a
        h = (g * b).mean(0)
        return a, e, g, h, (h + g).softmax(1), a.sum() + g.max()

    return f, [R(33, 65), R(65, seed=1)]


@case(tol=1e-4)
def same_sum_used_by_many_kernels():
    def f(x, y, z):
        h = x + y
        n = F.layer_norm(h, (48,))
        h2 = h + z
        n2 = F.layer_norm(h2, (48,))
        h3 = h2 + n @ n2.t() @ n
        return h, h2, h3, n, n2, h3.sum(0)

    return f, [R(16, 48), R(16, 48, seed=1), R(16, 48, seed=2)]


@case(tol=1e-4)
def dear_values_broadcast_late():
    def f(x, v):
        s = (v.var() + 1e-5).rsqrt()
        r = v.exp().log1p()
        return x * r * s, x / r[:, None], (x - r) / (1 + v.abs()).sqrt(), x.sum() + s

    return f, [R(160, 160), R(160, seed=1)]


@case(options={"interpret": True, "persistent_limit": 32})
def long_rows_of_infinities():
    x = R(4, 1000)
    x[1, :600] = -INF
    x[2] = -INF
    x[3, 500] = INF
    y = x.clone()
    y[0, 999] = NAN
    return lambda x, y: (
        x.softmax(1),
        x.log_softmax(1),
        x.logsumexp(1),
        y.softmax(1),
        y.softmax(0),
        x[:, :37].softmax(1),
        x[:, :33].logsumexp(1),
        x.half().softmax(1),
    ), [x, y]


@case(options={"interpret": True, "persistent_limit": 32}, tol=1e-5)
def long_rows_of_statistics():
    x = R(4, 1001) * 3 + 7
    return lambda x: (
        x.var(1),
        x.std(0),
        F.layer_norm(x, (1001,)),
        x.var_mean(1) if hasattr(x, "var_mean") else torch.var_mean(x, 1),
        x.bfloat16().float().var(1),
        x[:, :33].var(1),
        x.t().var(0),
        F.batch_norm(x.view(4, 7, 143), None, None, training=True),
        F.group_norm(x.view(4, 7, 143), 7),
    ), [x]


test_equals_eager = case.test()
