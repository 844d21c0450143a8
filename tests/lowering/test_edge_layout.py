"""Strides as eager lays them out, strange inputs, empty and zero-dimensional tensors, aliases; against eager."""

import torch
import torch.nn.functional as F
from edge_harness import Cases, R, T

case = Cases()


@case(strides=True)
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


@case(strides=True)
def results_of_operators_that_choose_their_layout():
    x = R(4, 3, 3, 2).transpose(0, 3)
    return lambda x: (
        F.batch_norm(x, None, None, training=True),
        F.batch_norm(x, torch.zeros(3), torch.ones(3)),
        F.batch_norm(x.to(memory_format=torch.channels_last), None, None, training=True),
        F.max_pool2d(x, 2),
        F.softmax(x, 1),
    ), [x]


@case()
def strange_inputs():
    base = R(400)
    return lambda a, b, c, d: (a + b, (c * 2).sum(0), d + a.t()[:3, :4], c.t() @ c, b.reshape(-1)[3:9]), [
        base[3:123].view(10, 12),
        R(12)[None].expand(10, 12),
        base.as_strided((6, 5), (2, 3), 7),
        base[::5][:12].view(3, 4),
    ]


@case()
def overlapping_windows():
    return lambda x: (
        x.unfold(0, 4, 2) * 2,
        x.as_strided((5, 3), (1, 2), 1).sum(1),
        x.as_strided((3, 3), (0, 1)) + 1,
    ), [R(20)]


@case()
def reshape_of_permuted():
    return lambda x: (
        x.permute(2, 0, 1).reshape(6, 20) * 2,
        x.transpose(0, 1).reshape(-1).cumsum(0),
        x.view(4, 5, 3, 2).sum((1, 2)),
    ), [R(4, 5, 6)]


@case()
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


@case()
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


@case(strides=True)
def strides_follow_the_inputs():
    x, y = R(2, 3, 4, 5).permute(0, 2, 3, 1), R(2, 4, 5, 3)
    return lambda x, y: (
        x + y,
        y + x,
        x * 2,
        -x,
        x > y,
        torch.where(x > 0, x, y),
        x.exp(),
        x.to(torch.float64),
        x.clone(),
        torch.zeros_like(x),
        torch.empty_like(x).fill_(2.0),
        x.clamp(0, 1),
        x.bool(),
    ), [x, y]


@case(strides=True)
def strides_of_broadcasts():
    a, b, c = R(4, 1), R(5), R(3, 4, 5).transpose(0, 2)
    return lambda a, b, c: (
        a + b,
        a * 2,
        b[None] + a,
        c + b[:, None, None],
        c + 1,
        a.expand(4, 5) * 1,
        a.expand(4, 5),
        c.sum(1),
        torch.maximum(a, b),
    ), [a, b, c]


@case(strides=True, tol=1e-5)
def strides_of_reductions():
    x = R(3, 4, 5, 6).to(memory_format=torch.channels_last)
    return lambda x: (
        x.sum(1),
        x.sum((2, 3)),
        x.mean(1, keepdim=True),
        x.amax(0),
        x.softmax(1),
        x.log_softmax(-1),
        x.cumsum(1),
        x.argmax(2),
        x.var(1),
        x.any(3),
        x.sort(1).values,
        F.layer_norm(x, (6,)),
        x.norm(dim=1),
    ), [x]


@case(strides=True)
def memory_formats():
    x = R(2, 3, 4, 4)
    return lambda x: (
        x.to(memory_format=torch.channels_last),
        x.contiguous(memory_format=torch.channels_last) + 1,
        x.to(memory_format=torch.channels_last).contiguous(),
        x.clone(memory_format=torch.channels_last),
        torch.empty_like(x, memory_format=torch.channels_last).zero_(),
        x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2).relu(),
        x.to(torch.float16, memory_format=torch.channels_last),
    ), [x]


@case(strides=True)
def strides_of_views_and_copies():
    x = R(4, 6)
    return lambda x: (
        x.t(),
        x.t().contiguous(),
        x.t().reshape(3, 8),
        x.reshape(2, 12),
        x[:, ::2],
        x[:, ::2] + 0,
        x.t().clone(),
        x.unsqueeze(1).expand(4, 3, 6),
        x.unfold(1, 2, 2),
        x.diagonal(),
        x.repeat(2, 1),
        x.flip(0),
        x.roll(1, 0),
        torch.cat([x.t(), x.t()]),
        torch.stack([x, x], -1),
        x.chunk(2, 1),
        x.movedim(0, 1) * 1,
    ), [x]


@case(strides=True)
def strides_of_convolutions():
    x, w = R(2, 3, 6, 6).to(memory_format=torch.channels_last), R(4, 3, 3, 3, seed=1)
    return lambda x, w: (
        F.conv2d(x, w),
        F.max_pool2d(x, 2),
        F.avg_pool2d(x, 2),
        F.interpolate(x, scale_factor=2),
        F.pad(x, (1, 1, 1, 1)),
        F.batch_norm(x, None, None, training=True),
        F.pixel_shuffle(torch.cat([x, x[:, :1]], 1), 2),
    ), [x, w]


@case()
def results_that_are_arguments():
    def f(x, y):
        return x, y * 2, x, [y, x[1:]], x.t()

    return f, [R(4, 3), R(2)]


@case()
def results_that_share_memory():
    def f(x):
        y = x * 2
        z = y[1:]
        return (
            y,
            z,
            y.view(-1),
            x.detach(),
            x.expand(2, 4, 3),
            y.t(),
            x.contiguous(),
            x.to(torch.float32),
            x.reshape(12),
        )

    return f, [R(4, 3)]


@case()
def one_argument_given_twice():
    x = R(5, 4)
    return lambda a, b: (a + b, a @ b.t(), torch.cat([a, b]), a.sum() - b.sum()), [x, x]


@case()
def steps_and_offsets():
    base = R(200)
    return lambda a, b, c: (
        a + 1,
        a.flip(0) * 2,
        (a + b).sum(0),
        c.cumsum(0),
        a[::2, 1::2].contiguous(),
        b.t().reshape(-1),
        torch.cat([a, b]),
        c[2:7:2] * c[:3],
        a.view(4, 5).amax(1),
    ), [base[9:29].view(4, 5), base.as_strided((4, 5), (7, 2), 3), base[1::3]]


@case()
def expanded_arguments():
    return lambda a, b: (
        a.sum(0),
        a + 1,
        (a * b).sum(1),
        a.contiguous().view(-1),
        a.softmax(1),
        a.cumsum(0),
        a[1],
        a.transpose(0, 1) + b.t(),
        a.argmax(1),
    ), [R(1, 5).expand(4, 5), R(4, 1).expand(4, 5)]


@case()
def overlapping_arguments():
    base = R(30)
    return lambda a, b: (a * 2, a.sum(1), b + a[:3, :3], a.reshape(-1), a.amax(0), torch.cat([a, a])), [
        base.as_strided((5, 4), (2, 1)),
        base.as_strided((3, 3), (1, 1), 4),
    ]


@case()
def empty_results_and_operands():
    x, y = torch.empty(0, 5), R(3, 5)
    return lambda x, y: (
        x * 2,
        x @ y.t(),
        x.t() @ x,
        x.sum(),
        x.sum(0),
        x.mean(0),
        x.prod(1),
        x.any(0),
        x.all(1),
        x.cumsum(0),
        x.softmax(0),
        x.amax(1),
        y[:0].sort(0).values,
        torch.cat([x, y, x]),
        x.reshape(5, 0),
        x.expand(3, 0, 5),
        F.pad(x, (0, 0, 1, 1)),
        x.argmax(1),
        x.var(0),
        x.norm(),
        y[y > 100],
        x.flip(0),
        x.view(0),
    ), [x, y]


@case()
def empty_indices_and_batches():
    x, i = R(4, 6), torch.zeros(0, dtype=torch.int64)
    return lambda x, i: (
        x[i],
        x[:, i],
        x.index_select(1, i),
        x.gather(0, i.view(0, 1)),
        x.scatter(0, i.view(0, 1), 1.0),
        x.index_add(0, i, x[:0]),
        F.embedding(i, x),
        x.narrow(0, 1, 0) + 1,
        x[2:2].sum(),
        torch.bmm(x[None, :, :0], x[None, :0]),
        x[:, :0].sum(1),
        x.new_zeros(0, 3).amax(1),
    ), [x, i]


@case()
def zero_dimensional_tensors():
    a = T(2.5)
    return lambda a: (
        a + 1,
        a.sum(),
        a.mean(),
        a.amax(),
        a.argmax(),
        a.max(),
        a.cumsum(0),
        a.softmax(0),
        a.log_softmax(0),
        a.any(),
        a.reshape(1, 1),
        a.expand(3),
        a.unsqueeze(0),
        a.var(correction=0),
        a.norm(),
        a.sort(),
        a.flatten(),
        a.squeeze(),
        a.prod(),
        torch.stack([a, a]),
        a.repeat(3),
        a.clone(),
        a.view(1)[0],
        a.logsumexp(0),
        a.index_select(0, torch.tensor([0])),
        a.masked_fill(a > 2, 0.0),
    ), [a]


@case()
def dimensions_of_size_one():
    x = R(1, 4, 1)
    return lambda x: (
        x.sum(0),
        x.sum(2, keepdim=True),
        x.squeeze(),
        x.squeeze(0),
        x.mean((0, 2)),
        x.amax(2),
        x.argmax(0),
        x.softmax(2),
        x.var(0),
        x.std(0, correction=0),
        x.cumsum(2),
        x.prod(0),
        x.expand(3, 4, 2),
        x.transpose(0, 2),
        x.reshape(4),
        x.norm(dim=0),
        x.logsumexp(2),
        x.any(0),
        x.max(2),
        F.layer_norm(x, (1,)),
        x.median(2),
    ), [x]


@case()
def bits_seen_as_another_dtype():
    x, h = R(4, 6), R(8, dt=torch.float16)
    return lambda x, h: (
        x.view(torch.int32) + 1,
        x.view(torch.int32) & 0x7FFFFFFF,
        (x.view(torch.int32) ^ 1).view(torch.float32),
        h.view(torch.int16) >> 2,
        h.view(torch.bfloat16) * 1,
        x.view(torch.float64).sum(1),
        x.view(torch.uint8)[:, :3].int(),
    ), [x, h]


@case(strides=True)
def products_of_matrices_are_laid_out_as_in_eager():
    a, b = R(3, 4, 5), R(3, 5, 6)
    return lambda a, b: (
        a @ b,
        (a.transpose(1, 2) @ a),
        torch.einsum("bij,bjk->bki", a, b),
        torch.einsum("bij,bjk->ik", a, b),
        torch.matmul(a, b[0]),
        torch.bmm(a, b).permute(2, 0, 1),
        F.linear(a, b[0].t()),
        torch.tensordot(a, b, ([2], [1])),
    ), [a, b]


test_equals_eager = case.test()
