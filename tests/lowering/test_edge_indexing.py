"""Joining, padding, moving, gathering, scattering; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case()
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


@case()
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


@case()
def pads_read_at_loaded_positions():
    x, i = R(4, 5), T([0, 5, 3], torch.int64)
    return lambda x, i: (
        F.pad(x, (0, 0, 1, 1))[i],
        F.pad(x, (1, 1))[:, i[:1]],
        torch.cat([x, x * 2])[i],
        F.pad(x, (1, 0))[1, i],
        F.pad(x, (2, 2))[:, 0],
    ), [x, i]


@case()
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


@case()
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


@case()
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


@case(tol=1e-5)
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


@case()
def cat_of_other_dtypes_and_empty_parts():
    a, b, c, e = R(2, 3), R(2, 3, dt=torch.float64), torch.arange(6).view(2, 3), torch.empty(0)
    return lambda a, b, c, e: (
        torch.cat([a, b]),
        torch.cat([a, c]),
        torch.cat([e, a]),
        torch.cat([a, e, a]),
        torch.cat([c, c.to(torch.int8)], 1),
        torch.cat([a.half(), a.bfloat16()]),
        torch.cat([a[:0], a]),
        torch.cat([a, a[:, :0]], 1),
        torch.cat([a]),
        torch.cat([a > 0, c > 2]),
        torch.stack([a, a.t().reshape(2, 3)]),
        torch.vstack([a, a]),
        torch.dstack([a, a]),
        torch.column_stack([a[:, 0], a]),
        torch.block_diag(a, a),
    ), [a, b, c, e]


@case()
def cat_read_in_pieces():
    a, b = R(4, 5), R(4, 3)

    def f(a, b):
        c = torch.cat([a.sin(), b.cos()], 1)
        d = torch.cat([c * 2, a], 1)
        return (
            c[:, 3:7],
            d.sum(1),
            c.t(),
            d[:, ::3],
            torch.cat([c, c.flip(1)]).amax(0),
            c.reshape(8, 4),
            c.softmax(1),
            torch.cat([c[:1], d[:1, :8]]).cumsum(0),
        )

    return f, [a, b]


@case()
def padding_of_every_mode():
    x = R(2, 3, 4, 5)
    return lambda x: (
        F.pad(x, (1, 2, 3, 0)),
        F.pad(x, (1, 2, 1, 0), mode="reflect"),
        F.pad(x, (1, 2, 3, 1), mode="replicate"),
        F.pad(x, (1, 1, 2, 2), mode="circular"),
        F.pad(x, (-1, -1)),
        F.pad(x, (-1, 2, 1, -2), value=2.5),
        F.pad(x, (0, 0, 0, 0, 1, 1), value=-1),
        F.pad(x.int(), (1, 1), value=3),
        F.pad(x > 0, (1, 1), value=True),
        F.pad(x.half(), (1, 1), value=0.1),
        F.pad(F.pad(x, (1, 1)), (-1, -1)),
        F.pad(x, (2, 2)).amax(-1),
        F.pad(x, (1, 0)).cumsum(-1),
        torch.constant_pad_nd(x, (1, 1), NAN),
    ), [x]


@case()
def negative_steps_flips_and_rolls():
    x = R(6, 7)
    return lambda x: (
        x.flip(0)[::2],
        x.flip(0, 1),
        x.flip(1).t(),
        x.roll(3),
        x.roll(-2, 0),
        x.roll((2, -1), (1, 0)),
        x.roll(100, 1),
        x.fliplr(),
        torch.rot90(x, 3),
        x.flip(0).roll(1, 0).flip(0),
        x[-1:],
        x[:, -3:-1],
        x[::5, ::6],
        torch.flipud(x) + x,
        x.flip(1).cumsum(1),
        x.roll(1, 0) - x,
    ), [x]


@case()
def triangles_diagonals_and_grids():
    x = R(4, 5)
    return lambda x: (
        x.tril(),
        x.tril(-1),
        x.triu(2),
        x.tril(9),
        x.diagonal(1),
        x.diagonal(-2),
        x[:4, :4].diag(),
        torch.diag(x[0]),
        torch.diag_embed(x),
        x[:4, :4].trace(),
        torch.tril_indices(3, 4),
        torch.meshgrid(x[0], x[:, 0], indexing="ij"),
        torch.cartesian_prod(x[0, :2], x[1, :2]),
        torch.outer(x[0], x[1]),
        torch.vander(x[0], 3),
        x.int().tril(),
    ), [x]


@case()
def repeats_tiles_and_windows():
    x = R(3, 4)
    return lambda x: (
        x.repeat(2, 3),
        x.repeat(2, 1, 1),
        x.tile(3),
        x.repeat_interleave(2, 0),
        x.repeat_interleave(T([1, 0, 2], torch.int64), 0),
        x.unfold(1, 2, 1),
        x.unfold(0, 2, 1).sum(-1),
        x.expand(2, 3, 4).sum(0),
        x.unflatten(1, (2, 2)),
        x.chunk(3, 1),
        x.split([1, 2]),
        x.tensor_split(2, 1),
        x.unbind(1),
        x.swapaxes(0, 1),
        x.narrow(1, 1, 2),
        x.as_strided((2, 2), (3, 1), 1),
    ), [x]


@case()
def gathers_of_every_kind():
    x, i = R(5, 6), T([[0, 5, 2], [1, 1, 3]], torch.int64)
    return lambda x, i: (
        x.gather(1, i),
        x.gather(0, i % 5),
        x.take(i),
        x[:2].take_along_dim(i, 1),
        x[i % 5, i],
        x[:, i[0]],
        x[1:4, i],
        x[i[:, 0], 1:3],
        x[:, None, i[0]],
        x[-i[0] % 5],
        x[..., i[1]],
        x.index_select(1, i[0]),
        x[None, i % 5],
        x[[0, 2]],
        x[[True, False, True, False, True]],
        x[i[0, 0]],
        x[i.int() % 5],
        x[i.to(torch.uint8).long() % 5, :2],
        torch.embedding(x, i % 5),
        x.t()[i],
        x.reshape(5, 2, 3)[i[0] % 5, :, i[0] % 3],
    ), [x, i]


@case()
def masks():
    x, m = R(4, 5), R(4, 5, seed=3) > 0
    return lambda x, m: (
        x[m],
        x.masked_select(m),
        x.masked_fill(m, 0.0),
        torch.where(m, x, 0),
        torch.where(m),
        x[m[:, 0]],
        x * m,
        x.masked_fill(m[0], -INF),
        torch.masked_scatter(x, m, x.flip(0)),
        m.nonzero(),
        x[~m].sum(),
        torch.argwhere(m),
        x[m.any(1)],
        x[:, m.all(0)],
    ), [x, m]


@case()
def scatters_with_duplicates():
    x, i, s = R(4, 6), T([[0, 1, 1, 3, 0, 0], [2, 2, 2, 1, 1, 3]], torch.int64), R(2, 6, seed=1)
    return lambda x, i, s: (
        x.scatter_add(0, i, s),
        x.scatter_reduce(0, i, s, "sum"),
        x.scatter_reduce(0, i, s, "amax"),
        x.scatter_reduce(0, i, s, "amin", include_self=False),
        x.scatter_reduce(0, i, s, "prod"),
        x.scatter_reduce(0, i, s, "mean"),
        x.scatter_reduce(0, i, s, "mean", include_self=False),
        x.scatter(0, i, 2.0),
        x.scatter(0, i[:, :1], s),
        x.index_add(0, i[0], s[0][:, None].expand(6, 6)),
        x.index_add(1, i[0, :2], x[:, :2], alpha=2.5),
        x.index_put((i,), s[..., None], accumulate=True),
        x.index_put((i[0], i[1]), s[0], accumulate=True),
        x.index_reduce(0, i[0], s[0][:, None].expand(6, 6), "amax"),
        x.scatter(0, i, 2.0, reduce="add"),
        x.int().scatter_add(0, i, s.int()),
        x.half().scatter_add(0, i, s.half()),
        x.double().index_add(0, i[1, :3], x[:3].double()),
    ), [x, i, s]


@case()
def scatters_without_duplicates():
    x, i, s = R(4, 6), T([2, 0, 3], torch.int64), R(3, 6, seed=1)
    return lambda x, i, s: (
        x.index_copy(0, i, s),
        x.index_put((i,), s),
        x.index_put((i, i), s[:, 0]),
        x.scatter(0, i[:, None].expand(3, 6), s),
        x.scatter(1, i[None], 9.0),
        x.index_fill(0, i, -1.0),
        x.slice_scatter(s, 0, 1, 4),
        x.slice_scatter(s[:2], 0, 0, 4, 2),
        x.select_scatter(s[0], 0, -1),
        x.diagonal_scatter(s[0, :4]),
        x.as_strided_scatter(s[0, :3], (3,), (7,), 1),
        x.put(i, s[0, :3]),
        x.masked_scatter(x > 0, s.repeat(2, 2)),
        torch.index_put(x, (T([True, False, True, False], torch.bool),), s[:2]),
    ), [x, i, s]


@case(grad_tol=1e-5)
def embeddings():
    w, i = R(7, 4).requires_grad_(), T([[0, 6, 3], [3, 3, 1]], torch.int64)
    return lambda w, i: (
        F.embedding(i, w),
        F.embedding(i, w, padding_idx=3),
        F.embedding(i, w, scale_grad_by_freq=True),
        F.embedding_bag(i, w),
        F.embedding_bag(i, w, mode="sum"),
        F.embedding_bag(i.reshape(-1), w, T([0, 2], torch.int64), mode="max"),
        w[i].sum(1),
        F.embedding(i.int(), w),
        F.one_hot(i, 7).float() @ w,
    ), [w, i]


@case(grad_tol=1e-6)
def positions_in_the_flat_tensor():
    x, i = R(3, 4).requires_grad_(), T([[0, 11], [-1, 5]], torch.int64)
    return lambda x, i: (
        x.take(i),
        x.take(i[0, 0]),
        torch.take(x * 2, torch.tensor(3)),
        torch.take(x, i[:0]),
        x.detach().put(i, R(2, 2)),
    ), [x, i]


test_equals_eager = case.test()
