"""Gradients of losses, norms, activations, views; what requires them and what does not; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case(tol=1e-5)
def many_readers_of_one_element():
    x, i = R(4, 5).requires_grad_(), T([0, 3, 3, 0, 0], torch.int64)
    return lambda x, i: (
        x[i] * x[i, :][:, i],
        x.gather(1, i[:4, None].expand(4, 7)),
        x.repeat_interleave(3, 0),
        x[i, i].exp(),
    ), [x, i]


@case(tol=1e-5)
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


@case(tol=1e-5)
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


@case(tol=1e-5)
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


@case(tol=1e-5)
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


@case(tol=1e-5)
def what_requires_gradients():
    x, w = R(4, 5).requires_grad_(), R(5, seed=1)

    def f(x, w):
        with torch.no_grad():
            a = x * 2
        b = x.detach() + w
        c = x + b
        d = (x * w).argmax(1)
        e = (x > 0).float()
        return a, b, c, d, e, w * 2, x.detach().sum(), c.sum()

    return f, [x, w]


@case(tol=1e-5)
def some_arguments_without_gradients():
    x, y, z = R(3, 4).requires_grad_(), R(3, 4, seed=1), R(4, seed=2).requires_grad_()
    return lambda x, y, z: (x * y, y + z, y.exp(), (x @ y.t()).sum()), [x, y, z]


@case(tol=1e-5)
def an_argument_that_is_not_used():
    x, y = R(3).requires_grad_(), R(3, seed=1).requires_grad_()
    return lambda x, y: (x * 2, x.sum()), [x, y]


@case(tol=1e-5)
def maxima_share_gradients_among_ties():
    x = T([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [NAN, 1.0, 0.0]]).requires_grad_()
    return lambda x: (
        x[:2].amax(1),
        x[:2].amin(0),
        x[:2].max(1).values,
        x[:2].min(0).values,
        x[:2].max(),
        x[:2].median(1).values,
        torch.maximum(x, x.detach()),
        x[:2].clamp(2.0, 3.0),
        x[:2].sort(1).values,
        x[:2].cummax(1).values,
        x[:2].norm(dim=1),
        torch.minimum(x[:2], T(2.0)),
    ), [x]


@case(tol=1e-5)
def at_the_edges_of_derivatives():
    x = T([0.0, -0.0, 1.0, -1.0, 6.0, -3.0, 3.0, 0.5, -0.5]).requires_grad_()
    return lambda x: (
        F.relu(x),
        x.abs(),
        F.hardtanh(x),
        F.relu6(x),
        F.hardswish(x),
        F.hardsigmoid(x),
        F.leaky_relu(x),
        x.clamp(-1, 1),
        x.clamp(min=0),
        x.sign(),
        F.softshrink(x),
        F.hardshrink(x),
        F.threshold(x, 0.5, 0.0),
        x.pow(2),
        x.pow(3),
        (x + 4).sqrt(),
        x.tanh(),
        F.elu(x),
        F.celu(x),
        F.softplus(x, 2.0),
        torch.where(x > 0, x, 0.0),
        x.frac(),
    ), [x]


@case(tol=1e-5)
def through_zero_and_infinity():
    x = T([0.0, 1.0, -INF, 2.0, 1e-30]).requires_grad_()
    return lambda x: (
        x.exp(),
        x.softmax(0),
        torch.where(x > 0, x.log(), 0.0),
        x.clamp(min=1e-6).log(),
        x.nan_to_num(neginf=0.0).abs().sqrt(),
        x.sigmoid(),
        x.masked_fill(x < 0, 0.0).norm(),
        (x[1:2] / 0.0),
        torch.xlogy(x.clamp(min=0), x.clamp(min=1e-6)),
        x.logsumexp(0),
    ), [x]


@case(tol=1e-5)
def through_views_and_moves():
    x = R(4, 6).requires_grad_()
    return lambda x: (
        x.t() * 2,
        x.reshape(3, 8).sin(),
        x[1:3, ::2],
        x.flip(0) * x,
        x.roll(1, 1) * x,
        x.expand(2, 4, 6).exp(),
        x.repeat(2, 1),
        x.unfold(1, 3, 2),
        x.diagonal(),
        x.tril(),
        F.pad(x, (1, -1, 2, 0)),
        torch.cat([x, x.t().reshape(4, 6)], 1),
        torch.stack([x, x * 2]),
        x.chunk(2, 1)[1],
        x.as_strided((3, 3), (2, 1)),
        x.permute(1, 0).contiguous(),
        x.unbind(0)[1],
        x.movedim(0, 1),
        x.squeeze(),
        x[:, None, :].sum(0),
    ), [x]


@case(tol=1e-5)
def through_indices():
    x, i = R(5, 4).requires_grad_(), T([0, 3, 3, 1], torch.int64)
    return lambda x, i: (
        x[i],
        x[:, i],
        x[i, i],
        x.gather(0, i[None]),
        x.index_select(1, i),
        x[x.detach() > 0],
        x.take(i),
        x.scatter(0, i[None], 1.0),
        x.scatter_add(0, i[None], x[:1] * 2),
        x.index_add(0, i, x[:4]),
        x.index_put((i[:1],), x[1]),
        x.index_fill(0, i[:1], 0.0),
        x.masked_fill(x > 1, 0.0),
        x.index_copy(0, i[:1], x[4:]),
        x.slice_scatter(x[:2] * 3, 0, 1, 3),
        x.select_scatter(x[0] * 2, 0, 1),
        x.topk(2, 1).values,
        x.scatter_reduce(0, i[None], x[:1], "amax"),
        x.repeat_interleave(2, 0),
    ), [x, i]


@case(tol=1e-5)
def through_reductions_and_scans():
    x = (R(4, 5) + 3).requires_grad_()
    return lambda x: (
        x.sum(0),
        x.mean((0, 1)),
        x.prod(1),
        x.prod(),
        x.var(1),
        x.std(0),
        torch.var_mean(x, 1),
        x.logsumexp(0),
        x.cumsum(1),
        x.cumprod(0),
        x.logcumsumexp(1),
        x.norm(),
        x.norm(p=1, dim=0),
        x.norm(p=3, dim=1),
        x.softmax(0),
        x.log_softmax(1),
        x.amax((0, 1)),
        x.nansum(1),
        x.trace(),
        x.dist(x.detach() + 1),
        x.diff(dim=1),
        x.quantile(0.5),
    ), [x]


@case(tol=1e-4)
def through_norms_with_weights():
    x, w, b = R(3, 6, 5).requires_grad_(), R(6, seed=1).requires_grad_(), R(6, seed=2).requires_grad_()
    return lambda x, w, b: (
        F.batch_norm(x, None, None, w, b, True),
        F.batch_norm(x, torch.zeros(6), torch.ones(6), w, b, False),
        F.group_norm(x, 2, w, b),
        F.instance_norm(x, weight=w, bias=b),
        F.layer_norm(x, (6, 5)),
        F.layer_norm(x.transpose(1, 2), (6,), w, b),
        F.rms_norm(x.transpose(1, 2), (6,), w),
        F.normalize(x, dim=1),
        F.layer_norm(x, (5,), None, None, 1e-3),
    ), [x, w, b]


@case(tol=1e-5)
def cross_entropies():
    x, t, w = R(6, 5).requires_grad_(), T([1, -100, 4, 0, -100, 2], torch.int64), T([1.0, 2.0, 0.5, 0.0, 3.0])
    p = R(6, 5, seed=4).softmax(1)
    return lambda x, t, w, p: (
        F.cross_entropy(x, t),
        F.cross_entropy(x, t, weight=w),
        F.cross_entropy(x, t, label_smoothing=0.1),
        F.cross_entropy(x, t, weight=w, label_smoothing=0.1),
        F.cross_entropy(x, t, reduction="none"),
        F.cross_entropy(x, t, reduction="sum"),
        F.cross_entropy(x, t.clamp(min=0), ignore_index=1),
        F.cross_entropy(x, p),
        F.cross_entropy(x, p, label_smoothing=0.2),
        F.cross_entropy(x, torch.full_like(t, -100), reduction="sum"),
        F.nll_loss(x.log_softmax(1), t),
        F.nll_loss(x.log_softmax(1), t, weight=w, reduction="none"),
        F.cross_entropy(x.view(2, 5, 3), t.clamp(min=0).view(2, 3)),
        F.cross_entropy(x[0], t[0]),
        F.multi_margin_loss(x, t.clamp(min=0)),
    ), [x, t, w, p]


@case(tol=1e-5)
def losses_of_every_reduction():
    x, y = R(5, 4).requires_grad_(), R(5, 4, seed=1)
    return (
        lambda x, y: (
            tuple(
                loss(x, y, reduction=r)
                for r in ("none", "mean", "sum")
                for loss in (
                    F.mse_loss,
                    F.l1_loss,
                    F.smooth_l1_loss,
                    F.huber_loss,
                    F.soft_margin_loss,
                    F.kl_div,
                    F.poisson_nll_loss,
                )
            )
            + (
                F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
                F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=T([1.0, 2.0, 3.0, 4.0])),
                F.gaussian_nll_loss(x, y, y.abs() + 0.1),
                F.cosine_embedding_loss(x, y, T([1.0, -1.0, 1.0, 1.0, -1.0])),
                F.margin_ranking_loss(x[:, 0], x[:, 1], y[:, 0].sign()),
                F.triplet_margin_loss(x, y, y.flip(0)),
                F.hinge_embedding_loss(x, y.sign()),
                F.smooth_l1_loss(x, y, beta=0.3),
                F.huber_loss(x, y, delta=0.7),
            )
        ),
        [x, y],
    )


@case(tol=2e-2, grad_tol=2e-2)
def in_half_types():
    x, w = R(4, 32, dt=torch.bfloat16).requires_grad_(), R(32, dt=torch.bfloat16, seed=1).requires_grad_()
    return lambda x, w: (
        x * w,
        F.layer_norm(x, (32,), w),
        x.softmax(1),
        F.gelu(x),
        F.silu(x) * w,
        (x.float() * w.float()).sum(1),
        x.sum(0),
        x.mean(),
    ), [x, w]


@case(tol=1e-4)
def through_products_of_matrices():
    a, b, c = R(3, 4, 5).requires_grad_(), R(5, 6).requires_grad_(), R(6).requires_grad_()
    return lambda a, b, c: (
        a @ b + c,
        F.relu(F.linear(a, b.t(), c)),
        torch.einsum("bij,jk->ik", a, b),
        torch.bmm(a, a.transpose(1, 2)),
        (a[0] @ b).softmax(1),
        torch.addmm(c, a[0], b, beta=0.5, alpha=2.0),
        torch.baddbmm(c, a, b.expand(3, 5, 6)),
        a[0] @ b @ c,
        torch.outer(c, c),
        F.bilinear(a[:, 0], a[:, 1], R(2, 5, 5)),
        F.scaled_dot_product_attention(a, a, a),
        F.scaled_dot_product_attention(a, a, a, is_causal=True),
    ), [a, b, c]


@case(tol=1e-5)
def of_expanded_and_strided_arguments():
    base = R(20).requires_grad_()
    return lambda base: (
        base[3:15].view(3, 4) * 2,
        base[::3].sum(),
        base.as_strided((4, 3), (2, 3)).exp(),
        base[:5].expand(3, 5).sin(),
        base.view(4, 5).t().reshape(-1)[::2],
    ), [base]


@case(tol=1e-5)
def of_gradients_through_functions():
    x = R(5).requires_grad_()

    def f(x):
        y = torch.utils.checkpoint.checkpoint(lambda t: t.sin() * t, x, use_reentrant=False)
        z = y.detach().requires_grad_(False) * x
        return y, z, (x.unsqueeze(0) * x.unsqueeze(1)).sum()

    return f, [x]


@case(tol=1e-5)
def of_complex_values():
    x = R(6).requires_grad_()
    return lambda x: (
        torch.fft.rfft(x).abs(),
        torch.complex(x, x * 2).abs(),
        torch.view_as_real(torch.complex(x, x.sin()) * 2j).sum(1),
    ), [x]


test_equals_eager = case.test()
