"""torch.roll: laid out as eager joins the halves, in results and where a program reads strides; raises as eager does."""

import pytest
import torch
from edge_harness import R
from lowering_harness import FRONTS, check, compiled

import pydynamo

CL = torch.channels_last
LAYOUTS = {
    "channels_last": R(2, 3, 4, 5).to(memory_format=CL),
    "channels_last_volume": R(2, 3, 2, 3, 2).to(memory_format=torch.channels_last_3d),
    "permuted": R(2, 3, 4, 5).permute(0, 3, 1, 2),
    "one_channel": R(2, 1, 4, 5).to(memory_format=CL),
    "one_column": R(2, 3, 4, 1).to(memory_format=CL),
    "transposed": R(4, 3).t(),
    "expanded": R(3, 1).expand(3, 4),
    "empty": R(2, 3, 4, 5).to(memory_format=CL)[:0],
    "empty_transposed": torch.empty(3, 0).t(),
}
ROLLS = [
    *((7, ()), (0, ()), (0, 0), (1, 0), (0, 1), (1, 1), (3, 1), (-1, 1), (6, 1), (1, 2), (4, 2), (1, 3), (5, 3)),
    *(((3, 3), (1, 1)), ((1, 1), (2, 2)), ((3, 3), (1, 2)), ((1, 2), (1, 3)), ((0, 0), (2, 3)), ((0, 1), (2, 3))),
]


def rolls_of(x):
    reach = [r for r in ROLLS if max((r[1],) if isinstance(r[1], int) else r[1], default=0) < x.dim()]
    return [x.roll(*r) for r in reach]


@pytest.mark.parametrize("front", [pytest.param(f, marks=[pytest.mark.slow] if f != "torch" else []) for f in FRONTS])
@pytest.mark.parametrize("name", LAYOUTS)
def test_strides_of_results(name, front):
    check(rolls_of, [LAYOUTS[name]], strides=True, front=front)


@pytest.mark.parametrize("name", LAYOUTS)
def test_strides_that_a_program_reads(name):
    def fn(x):
        return [y.stride() for y in rolls_of(x)], x + 1

    x = LAYOUTS[name]
    assert compiled(fn, "pydynamo")(x)[0] == fn(x)[0]
    assert pydynamo.compile(fn, backend="eager", dynamic=False)(x)[0] == fn(x)[0]


@pytest.mark.parametrize("how", ["triton", "eager"])
@pytest.mark.parametrize("shifts, dims", [((), ()), ((), (0,)), ((1, 2), (0,)), ((1, 2), ())], ids=str)
@pytest.mark.parametrize("name", ["empty", "channels_last"])
def test_shifts_that_do_not_fit_the_dimensions_raise(name, shifts, dims, how):
    def fn(x):
        return torch.roll(x, shifts, dims)

    with pytest.raises(RuntimeError):
        fn(LAYOUTS[name])
    with pytest.raises(RuntimeError):
        (compiled(fn, "pydynamo") if how == "triton" else pydynamo.compile(fn, backend="eager"))(LAYOUTS[name])
