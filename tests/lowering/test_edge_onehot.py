"""Sums over rows that one scatter made but for one element: exact whatever the factor, the dtypes, the number and the index."""

import pytest
import torch
from edge_harness import INF, NAN, R, T
from lowering_harness import check, compiled

from pydynamo.lowering.onehot import simplify_sums

I64 = torch.int64
HERE = T([[0], [1], [2], [0]], I64)


def weighted(dtype=torch.float32, value=-1.0, columns=5):
    """A function (w, index) -> (row sums of scatter * w, the product)."""

    def fn(w, i):
        product = torch.zeros(4, columns, dtype=dtype).scatter(1, i, value) * w
        return product.sum(1, True), product

    return fn


@pytest.mark.parametrize("factor", [INF, -INF, NAN, 0.0, -0.0, 6e4], ids=str)
@pytest.mark.parametrize("columns", [5, 1])
def test_a_factor_that_is_not_finite_meets_the_zeros_of_its_row(columns, factor):
    w = R(4, 1)
    w[1] = factor
    check(weighted(columns=columns), [w, HERE % columns], tol=0.0, zero_sign=True)


@pytest.mark.parametrize("of", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, I64, torch.bool], ids=str
)
def test_zeros_of_any_dtype(dtype, of):
    check(weighted(dtype, 2.7), [R(4, 1).to(of), HERE], tol=0.0, zero_sign=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("value", [0.1, -0.0, INF, NAN, 300.7], ids=str)
def test_a_number_is_rounded_before_it_is_multiplied(value, dtype):
    check(weighted(dtype, value), [R(4, 1).to(dtype), HERE], tol=0.0, zero_sign=True)


def test_an_index_out_of_range_raises_where_the_sum_alone_is_wanted():
    index = T([[0], [7], [1], [0]], I64)
    for fn in (
        weighted(),
        lambda w, i: weighted()(w, i)[0],
        lambda w, i: weighted()(w, i)[0] + weighted()(w * 2, i)[0],
    ):
        with pytest.raises(RuntimeError):
            fn(R(4, 1), index)
        with pytest.raises((RuntimeError, IndexError)):
            compiled(fn)(R(4, 1), index)


def graph(fn):
    """What the rewriting leaves of `fn`: names of operators."""
    from torch.fx.experimental.proxy_tensor import make_fx

    gm = make_fx(fn, tracing_mode="fake")(R(4, 1), HERE)
    simplify_sums(gm)
    gm.graph.lint()
    return [str(n.target) for n in gm.graph.nodes if n.op == "call_function"]


def test_the_sum_goes_where_the_scatter_stays():
    assert "aten.sum.dim_IntList" not in graph(weighted())


@pytest.mark.parametrize(
    "fn",
    [weighted(torch.float64), weighted(I64), weighted(value=1e39), lambda w, i: weighted()(w, i)[0]],
    ids=["wider_zeros", "integer_zeros", "number_out_of_range", "nothing_else_checks_the_index"],
)
def test_the_sum_stays_where_it_would_not_be_the_same(fn):
    assert "aten.sum.dim_IntList" in graph(fn)
