"""Reductions, scans, variance, softmax, ordering; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case()
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


@case(tol=1e-5)
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


@case(tol=1e-5)
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


@case()
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


@case(tol=2e-3)
def halves_accumulate_in_float():
    x = torch.full((4, 3000), 100.0, dtype=torch.float16)
    return lambda x: (x.mean(1), x.sum(1), x.var(1), x.softmax(1), x.float().sum(), (x * x).amax(1)), [x]


@case(tol=1e-5)
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


@case(tol=1e-4)
def long_scan():
    return lambda x: (x.cumsum(1), (x.cumsum(1) * 2).sum(1)), [R(2, 20000)]


@case(tol=1e-3)
def variance_far_from_zero():
    return lambda x: (x.var(1), x.std(0), F.layer_norm(x, (500,)), torch.var_mean(x, 1)), [R(4, 500) + 3e3]


@case(tol=1e-4, options={"interpret": True, "split_rows": 64, "split_min": 8})
def variance_in_parts():
    x = R(6, 8, 4, 4).to(memory_format=torch.channels_last)
    return lambda x: (
        torch.var_mean(x, (0, 2, 3)),
        x.std((1, 2, 3)),
        (x + 500).var((0, 2, 3)),
        F.batch_norm(x, None, None, training=True),
    ), [x]


@case(tol=1e-5)
def every_reduction_over_every_axis():
    x = R(4, 5, 6)
    return lambda x: tuple(
        f(x, d)
        for d in (0, 1, 2, -1)
        for f in (
            torch.sum,
            torch.mean,
            torch.amax,
            torch.amin,
            torch.prod,
            torch.var,
            torch.logsumexp,
            torch.argmax,
            torch.any,
            torch.all,
        )
    ), [x]


@case(tol=1e-5)
def reductions_of_expressions():
    x, y = R(7, 33), R(7, 33, seed=1)
    return lambda x, y: (
        (x * y).sum(1),
        (x - x.mean(1, keepdim=True)).pow(2).mean(1),
        (x > y).sum(0),
        ((x - y).abs().amax(0) + 1).log(),
        (x.exp() / x.exp().sum(1, keepdim=True)).amax(1),
        x.sum() / y.sum(),
        (x.sum(0) * y.sum(0)).sum(),
        torch.dist(x, y),
        F.cosine_similarity(x, y),
        F.pairwise_distance(x, y),
    ), [x, y]


@case()
def maxima_with_nan_and_ties():
    x = T([[1.0, NAN, 3.0, NAN], [2.0, 2.0, -INF, 2.0], [-INF, -INF, -INF, -INF], [0.0, -0.0, 0.0, -0.0]])
    return lambda x: (
        x.max(1),
        x.min(1),
        x.max(0),
        x.argmax(1),
        x.argmin(1),
        x.argmax(),
        x.amax(),
        x.amin(0),
        x.aminmax(dim=1),
        x.max(),
        torch.max(x, -x),
        x.cummax(1),
        x.cummin(0),
        x.nanmean(1),
        x.nansum(0),
        x.bfloat16().argmax(1),
        x.double().argmin(0),
    ), [x]


@case()
def positions_keep_dimensions_and_dtypes():
    x = R(3, 4, 5)
    return lambda x: (
        x.argmax(1, keepdim=True),
        x.argmin(-1, keepdim=True),
        x.argmax(),
        x.max(2, keepdim=True),
        x.half().argmax(0),
        (x > 0).int().argmax(1),
        x.transpose(0, 2).argmax(1),
        x.permute(1, 2, 0).argmin(),
        x[:, ::2].argmax(1),
        x.flip(1).argmax(1),
    ), [x]


@case(tol=2e-3)
def half_reductions():
    x = R(5, 300, dt=torch.float16)
    return lambda x: (
        x.sum(1),
        x.mean(0),
        x.var(1),
        x.std(0),
        x.softmax(1),
        x.log_softmax(1),
        x.logsumexp(1),
        x.norm(dim=1),
        x.amax(1),
        x.cumsum(1),
        x.sum(1, dtype=torch.float32),
        F.layer_norm(x, (300,)),
        x.prod(1),
    ), [x]


@case(tol=1.6e-2)
def bfloat_reductions():
    x = R(5, 200, dt=torch.bfloat16)
    return lambda x: (
        x.sum(1),
        x.mean(0),
        x.var(1),
        x.softmax(1),
        x.log_softmax(0),
        x.logsumexp(1),
        x.norm(dim=1),
        x.amax(1),
        x.cumsum(1),
        x.float().sum(1),
        F.layer_norm(x, (200,)),
        F.rms_norm(x, (200,)),
    ), [x]


@case(tol=1e-5)
def scans_of_every_kind():
    x = R(3, 40)
    x[0, 4], x[1, 7] = INF, NAN
    return lambda x: (
        x.cumsum(1),
        x.cumsum(0),
        x.cumprod(1),
        x.logcumsumexp(1),
        x.cummax(1),
        x.cummin(0),
        x.flip(1).cumsum(1).flip(1),
        (x > 0).cumsum(1),
        x.int().clamp(-5, 5).cumsum(1),
        x.double().cumsum(0),
        x.diff(),
        x.nan_to_num(0, 0, 0).cumsum(1).cumsum(0),
        x[:, ::2].cumsum(1),
        x.t().cumsum(0),
    ), [x]


@case(tol=2e-3)
def scans_and_their_dtypes():
    x = torch.arange(60).remainder(7)
    return lambda x: (
        x.to(torch.int8).cumsum(0),
        x.half().cumsum(0),
        x.bfloat16().cumsum(0),
        x.cumsum(0, dtype=torch.float64),
        (x > 3).cumsum(0, dtype=torch.int32),
        x.to(torch.uint8).cumsum(0, dtype=torch.uint8),
        x.to(torch.int8).cumprod(0),
        x.float().cumprod(0, dtype=torch.float64),
    ), [x]


@case(tol=1e-3)
def variance_and_its_corrections():
    x = R(4, 60) + 300
    return lambda x: (
        x.var(1),
        x.var(1, correction=0),
        x.var(1, correction=2),
        x.var(),
        x.std(0),
        x.std((0, 1)),
        torch.var_mean(x, 0),
        torch.std_mean(x, 1, correction=0),
        x.var(0, keepdim=True),
        x.double().var(1),
        x[:1].var(0),
        x[:2].var(0, correction=2),
        x.var(1, unbiased=False),
        x[:, :1].std(1),
    ), [x]


@case(tol=1e-4)
def norms_of_small_and_large_rows():
    x = torch.cat([R(2, 50) * 1e-6, R(2, 50) * 1e4, torch.zeros(1, 50), torch.full((1, 50), 3.0)])
    return lambda x: (
        F.layer_norm(x, (50,)),
        F.layer_norm(x, (50,), eps=1e-12),
        F.normalize(x, dim=1),
        F.normalize(x, p=1, dim=0),
        x.norm(dim=1),
        x.norm(p=1, dim=1),
        x.norm(p=INF, dim=1),
        x.norm(p=3, dim=1),
        x.norm(p=0, dim=1),
        torch.linalg.vector_norm(x, -INF, 1),
        F.rms_norm(x, (50,), eps=1e-6),
        F.instance_norm(x[None, :5]),
        F.group_norm(x[None], 3),
        F.local_response_norm(x[None], 3),
    ), [x]


@case(tol=1e-5)
def softmax_of_extreme_rows():
    x = T(
        [
            [1e30, 1.0, -1e30],
            [-INF, -INF, 0.0],
            [-INF, -INF, -INF],
            [INF, 0.0, 1.0],
            [NAN, 0.0, 1.0],
            [1e-30, 0.0, -1e-30],
            [88.0, -88.0, 0.0],
        ]
    )
    return lambda x: (
        x.softmax(1),
        x.log_softmax(1),
        x.softmax(0),
        x.logsumexp(1),
        F.softmin(x, 1),
        x.half().softmax(1),
        x.softmax(1, dtype=torch.float64),
        x.bfloat16().log_softmax(1),
        (x * 1e8).softmax(1),
        x.masked_fill(x < 0, -INF).softmax(1),
        torch.softmax(x.int().clamp(-9, 9).float(), 1),
        torch.special.log_softmax(x, 1),
        F.gumbel_softmax(x[:1] * 0, hard=False).sum() * 0,
    ), [x]


@case(tol=1e-5)
def long_and_looped_rows():
    x = R(2, 20000)
    return lambda x: (
        x.sum(1),
        x.mean(1),
        x.amax(1),
        x.argmax(1),
        x.softmax(1),
        x.log_softmax(1),
        x.logsumexp(1),
        x.var(1),
        F.layer_norm(x, (20000,)),
        x.norm(dim=1),
        x.any(1),
        x.prod(1),
        (x - x.mean(1, keepdim=True)).abs().sum(1),
        x.half().sum(1),
    ), [x]


@case(tol=1e-5, options={"interpret": True, "persistent_limit": 16, "max_block": 32})
def rows_that_do_not_fit_a_block():
    x = R(5, 77)
    x[1, 3], x[2, 70], x[3] = NAN, INF, -INF
    return lambda x: (
        x.sum(1),
        x.amax(1),
        x.amin(0),
        x.argmax(1),
        x.argmin(1),
        x.softmax(1),
        x.log_softmax(1),
        x.cumsum(1),
        x.var(1),
        x.prod(0),
        x.any(1),
        (x > 0).all(1),
        x.max(1),
        F.layer_norm(x, (77,)),
        x.t().sum(0),
        x.logsumexp(0),
    ), [x]


@case()
def sorting_and_ranks():
    x = T([[3.0, 1.0, 3.0, NAN, 2.0], [0.0, -0.0, INF, -INF, 1.0]])
    return lambda x: (
        x.sort(dim=1, stable=True),
        x.sort(dim=1, descending=True, stable=True),
        x.argsort(dim=0, stable=True),
        x.topk(3, 1),
        x.topk(2, 1, largest=False),
        x.kthvalue(2, 1),
        x.median(1),
        x.nanmedian(1),
        x.sort(1).values.diff(dim=1),
        x.nan_to_num(0, 9, -9).quantile(0.3, 1),
        x.unique(),
        x.msort(),
        torch.searchsorted(T([0.0, 1.0, 2.0]), x),
        torch.bucketize(x, T([0.0, 1.0])),
    ), [x]


@case()
def counting():
    x = T([3, 1, 1, 0, 7, 3], torch.int64)
    return lambda x: (
        x.bincount(minlength=9),
        x.unique(return_counts=True),
        x.nonzero(),
        (x > 1).nonzero(),
        x.count_nonzero(),
        torch.histc(x.float(), 4, 0, 8),
        F.one_hot(x, 8),
        x.unique_consecutive(),
        torch.combinations(x[:3]),
        (x == 3).sum(),
        torch.isin(x, T([1, 7], torch.int64)),
        torch.trapezoid(x.float()),
    ), [x]


test_equals_eager = case.test()
