"""Convolution, pooling, resampling, products of matrices; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R

case = Cases()


@case(tol=1e-4)
def convolution_batchnorm_pool():
    x, w = R(2, 3, 8, 8).requires_grad_(), R(4, 3, 3, 3, seed=1).requires_grad_()
    g, b = R(4, seed=2).requires_grad_(), R(4, seed=3).requires_grad_()
    return lambda x, w, g, b: F.avg_pool2d(
        F.max_pool2d(F.relu(F.batch_norm(F.conv2d(x, w, padding=1), None, None, g, b, True)), 2), 2
    ), [x, w, g, b]


@case(tol=1e-5)
def pooling_of_every_kind():
    x = R(2, 3, 9, 8).requires_grad_()
    with torch.no_grad():
        x[0, 0, :4, :4] = -INF
        x[0, 1] = 1.0
    return lambda x: (
        F.max_pool2d(x, 3, 2, 1),
        F.max_pool2d(x, 2),
        F.max_pool2d(x, (2, 3), (1, 2)),
        F.max_pool2d(x, 3, 2, ceil_mode=True),
        F.max_pool2d(x, 2, 1, 0, 2),
        F.avg_pool2d(x, 3, 2, 1),
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(x, 2, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1, divisor_override=5),
        F.adaptive_avg_pool2d(x, (4, 2)),
        F.adaptive_avg_pool2d(x, 1),
        F.adaptive_max_pool2d(x, (3, 4)),
        F.lp_pool2d(x.abs() + 0.1, 2, 2),
        F.max_pool1d(x[0, 1:], 2),
        F.avg_pool1d(x[0, 1:], 3, 1, 1),
        F.max_pool3d(x[1:], 2),
    ), [x]


@case()
def pooling_with_nan_ties_and_indices():
    x = R(1, 2, 6, 6)
    x[0, 0, 2, 2], x[0, 1] = NAN, 1.0
    return lambda x: (
        F.max_pool2d(x, 2, return_indices=True),
        F.max_pool2d(x, 3, 2, 1, return_indices=True),
        F.max_pool2d(x, 3, 1, 1),
        F.avg_pool2d(x, 2),
        F.max_unpool2d(*F.max_pool2d(x[:, 1:], 2, return_indices=True), 2),
        F.adaptive_max_pool2d(x, 2, return_indices=True),
        F.max_pool2d(x.half(), 2),
        F.max_pool2d(x.double(), 2),
    ), [x]


@case(tol=1e-4)
def resampling():
    x = R(1, 2, 4, 5).requires_grad_()
    return lambda x: (
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, size=(7, 3)),
        F.interpolate(x, size=(6, 9), mode="bilinear"),
        F.interpolate(x, size=(6, 9), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=0.5, mode="area"),
        F.interpolate(x, size=(8, 8), mode="bicubic"),
        F.interpolate(x, size=(3, 4), mode="nearest-exact"),
        F.interpolate(x, size=(3, 3), mode="bilinear", antialias=True),
        F.pixel_shuffle(x.repeat(1, 2, 1, 1), 2),
        F.pixel_unshuffle(x[..., :4], 2),
        F.interpolate(x[0], size=9, mode="linear"),
        F.unfold(x, 2),
        F.fold(F.unfold(x, 2), (4, 5), 2),
        F.channel_shuffle(x.repeat(1, 2, 1, 1), 2),
    ), [x]


@case(tol=1e-5)
def grids():
    x, t = R(1, 2, 4, 5).requires_grad_(), R(1, 2, 3, seed=1)
    return lambda x, t: (
        F.grid_sample(x, F.affine_grid(t, (1, 2, 3, 3), align_corners=False), align_corners=False),
        F.grid_sample(
            x,
            F.affine_grid(t, (1, 2, 3, 3), align_corners=True),
            mode="nearest",
            padding_mode="border",
            align_corners=True,
        ),
    ), [x, t]


@case(tol=1e-4)
def convolutions_with_epilogues():
    x, w, b = R(2, 4, 7, 7).requires_grad_(), R(6, 4, 3, 3, seed=1).requires_grad_(), R(6, seed=2).requires_grad_()
    return lambda x, w, b: (
        F.conv2d(x, w, b),
        F.relu(F.conv2d(x, w, b, stride=2, padding=1)),
        F.conv2d(x, w, dilation=2),
        F.conv2d(x, w[:, :2], b, groups=2),
        F.conv2d(x, w[:4, :1], groups=4, padding="same"),
        F.conv1d(x[:, :, 0], w[:, :, 0]),
        F.conv_transpose2d(x, w.transpose(0, 1), b, stride=2, padding=1, output_padding=1) + 1,
        F.conv2d(x, w, b) * torch.sigmoid(F.conv2d(x, w, b)),
        F.conv3d(x[:, None], w[:, :1, None]),
        F.conv2d(x[0], w),
    ), [x, w, b]


@case(tol=1e-4)
def batch_norms_and_their_statistics():
    def f(x, m, v, w):
        y = F.batch_norm(x, m, v, w, None, True, 0.1)
        z = F.batch_norm(y, m, v, None, None, False, 0.1, 1e-3)
        return y, z, F.batch_norm(x, None, None, training=True), F.instance_norm(x, m, v)

    return f, [R(3, 4, 5, 5), R(4, seed=1), R(4, seed=2).abs(), R(4, seed=3)]


@case(tol=1e-5)
def products_and_scales_of_zero():
    a, b, c = R(4, 5), R(5, 6), torch.full((4, 6), NAN)
    return lambda a, b, c: (
        torch.addmm(c, a, b, beta=0),
        torch.addmm(c, a, b, beta=0, alpha=2.0),
        torch.addmm(b[0], a, b, alpha=0),
        torch.addmv(c[:, 0], a, b[:, 0], beta=0),
        torch.baddbmm(c[None], a[None], b[None], beta=0),
        torch.addbmm(c, a[None], b[None], beta=0),
        torch.addr(c, a[:, 0], b[0], beta=0),
        torch.addmm(b[0], a, b, beta=0.5, alpha=3),
        a @ b + c.nan_to_num(1.0),
    ), [a, b, c]


@case(tol=1e-5)
def products_of_every_shape():
    a, b, v = R(3, 4, 5), R(3, 5, 2, seed=1), R(5, seed=2)
    return lambda a, b, v: (
        a @ b,
        a @ v,
        v @ b,
        v @ v,
        a[0] @ v,
        v @ b[0],
        torch.einsum("bij,bjk,k->bi", a, b, v[:2]),
        torch.einsum("ij,ij->j", a[0], a[1]),
        torch.einsum("bii->bi", a[:, :, :4]),
        torch.tensordot(a[0], b[0], 1),
        torch.kron(a[0], b[0]),
        torch.linalg.multi_dot([a[0], b[0], b[0].t()]),
        torch.chain_matmul(a[0], b[0]),
        a.matmul(b[0]),
        a.mT @ a,
        torch.inner(a, v),
        torch.cdist(a, a),
        a[:, :0] @ b,
        a[:0] @ b[:0],
        torch.matrix_power(a[0, :4, :4], 2),
        torch.cross(a[..., :3], a[..., 1:4], dim=-1),
        torch.dot(v, v) * 2,
        torch.mv(a[0], v) + 1,
    ), [a, b, v]


@case()
def products_of_integers_and_doubles():
    i, d = torch.arange(12).view(3, 4), R(3, 4, dt=torch.float64)
    return lambda i, d: (
        i @ i.t(),
        torch.bmm(i[None], i.t()[None]),
        d @ d.t() + 1,
        (i > 3).float() @ d.float().t(),
        torch.einsum("ij,kj->ik", d, d),
        i.double() @ d.t(),
        torch.mm(i.to(torch.int8), i.t().to(torch.int8)),
    ), [i, d]


@case(tol=2e-2)
def products_in_half_types():
    a, b, c = R(8, 16, dt=torch.bfloat16), R(16, 8, dt=torch.bfloat16, seed=1), R(8, dt=torch.bfloat16, seed=2)
    return lambda a, b, c: (
        a @ b,
        F.linear(a, b.t(), c),
        F.gelu(a @ b + c),
        torch.addmm(c, a, b),
        (a @ b).float().sum(1),
        (a @ b).softmax(1),
        F.scaled_dot_product_attention(a[None], a[None], a[None]),
        a.half() @ b.half(),
    ), [a, b, c]


@case(tol=1e-5)
def attention():
    q, k, v, m = R(2, 3, 4, 8), R(2, 3, 6, 8, seed=1), R(2, 3, 6, 8, seed=2), R(4, 6, seed=3) > 0
    m[:, 0] = True
    return lambda q, k, v, m: (
        F.scaled_dot_product_attention(q, k, v),
        F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        F.scaled_dot_product_attention(q, k, v, attn_mask=m.float()),
        F.scaled_dot_product_attention(q, q, q, is_causal=True),
        F.scaled_dot_product_attention(q, k, v, scale=0.3),
        (q @ k.mT).masked_fill(~m, -INF).softmax(-1) @ v,
        F.scaled_dot_product_attention(q, k[:, :1].expand(2, 3, 6, 8), v),
    ), [q, k, v, m]


@case(tol=1e-4)
def transforms_and_decompositions():
    a = R(4, 4) + 4 * torch.eye(4)
    return lambda a: (
        torch.linalg.inv(a),
        torch.linalg.det(a),
        torch.linalg.solve(a, a.t()),
        torch.linalg.cholesky(a @ a.t()),
        torch.fft.fft(a).abs(),
        torch.fft.irfft(torch.fft.rfft(a)),
        torch.linalg.norm(a),
        torch.linalg.matrix_norm(a),
        a.logdet().nan_to_num(),
        torch.linalg.svdvals(a),
        torch.stft(a.view(-1), 8, return_complex=True).abs(),
    ), [a]


test_equals_eager = case.test()
