"""Kernels that take long rows in steps though nothing is summed, and sums of rows that hold one element."""

import pytest
import torch
import torch.nn.functional as F
from lowering_harness import call, check, compiled, kernels, pipeline

from pydynamo.lowering import schedule
from pydynamo.lowering.testing.aot import kernels_of

LOSSES = {
    "mean": lambda x, t, w: F.cross_entropy(x, t),
    "ignored": lambda x, t, w: F.cross_entropy(x.float(), t, ignore_index=2),
    "weights": lambda x, t, w: F.cross_entropy(x, t, w, reduction="sum"),
    "each": lambda x, t, w: F.cross_entropy(x, t, w, reduction="none", ignore_index=1),
    "of log probabilities": lambda x, t, w: F.nll_loss(x.log_softmax(1) * 2, t, w),
    "smoothed": lambda x, t, w: F.cross_entropy(x, t, label_smoothing=0.1),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("places", [(), (3, 2)])
def test_gradients_of_likelihoods(name, places):
    x, w = torch.randn(5, 7, *places), torch.rand(7)
    t = (torch.arange(5 * len(torch.zeros(places).flatten())) % 7).view(5, *places)
    check(LOSSES[name], [x.requires_grad_(), t, w])


def test_backward_of_a_likelihood_sums_no_row():
    x, t = torch.randn(6, 9, requires_grad=True), torch.arange(6)
    call(compiled(lambda x, t: F.cross_entropy(x, t)), [x, t])
    assert "aten.sum" not in pipeline.RECENT[-1].text("graph")
    (k,) = [k for k in pipeline.RECENT[-1].kernels if "tl.exp" in k.text]
    assert "tl.sum" not in k.text


def normalized(x, a, b, c):
    return (x - a).exp() * b + c


def test_many_long_rows_with_several_values_each_take_a_program_each():
    def args(n, m):
        return [torch.empty(n, m), *(torch.empty(n, 1) for _ in range(3))]

    (k,) = kernels_of(normalized, *args(2048, 8200))
    assert k.mode == "loop" and k.grid(k.configs[0]) == (2048, 1, 1) and k.configs[0].rb == 4096
    column = torch.empty(8200)
    for few in (args(64, 8200), args(2048, 1000), [*args(2048, 8200)[:3], column]):
        assert kernels_of(normalized, *few)[0].mode == "flat"


def test_rows_in_steps_compute_what_flat_kernels_do(monkeypatch):
    monkeypatch.setattr(schedule, "LONG_ROW", 16)
    monkeypatch.setattr(schedule, "MANY_ROWS", 2)
    rows = [torch.randn(6, 1) for _ in range(3)]
    for x in (torch.randn(6, 33), torch.randn(6, 4, 9), torch.randn(6, 5000)):
        check(normalized, [x, *(r.view(6, *(1,) * (x.dim() - 1)) for r in rows)])
        assert [k.mode for k in kernels()] == ["loop"]
    check(lambda x, a, b, c: (F.dropout(normalized(x, a, b, c), 0.0), (x * a + b) * c), [torch.randn(6, 40), *rows])
    drop = compiled(lambda x, a, b, c: F.dropout(normalized(x, a, b, c), 0.5, True))
    torch.manual_seed(0)
    y = drop(torch.randn(6, 64), *rows)
    assert 100 < (y == 0).sum() < 284


def test_an_argument_that_is_written_is_not_taken_in_steps(monkeypatch):
    monkeypatch.setattr(schedule, "LONG_ROW", 16)
    monkeypatch.setattr(schedule, "MANY_ROWS", 2)

    def f(x, a, b, c):
        x.copy_(normalized(x, a, b, c))

    check(f, [torch.randn(6, 33), *(torch.randn(6, 1) for _ in range(3))])
    assert [k.mode for k in kernels()] == ["flat"]
