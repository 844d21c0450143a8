"""Dtypes, numbers and shapes that eager's operators refuse are refused by compiled ones, though arithmetic would go on."""

import pytest
import torch
import torch.nn.functional as F
from edge_harness import R
from lowering_harness import FRONTS, check, compiled

X = R(4, 3)
B, I, H = X > 0, torch.arange(12).view(4, 3), X.half()

# functions of a float, a bool, an integer and a half tensor
BOOLS = {
    "difference": lambda x, b, i, h: b - b,
    "difference_of_a_number": lambda x, b, i, h: b - 1.5,
    "difference_from_a_number": lambda x, b, i, h: 1 - b,
    "difference_from_integers": lambda x, b, i, h: i - b,
    "difference_from_floats": lambda x, b, i, h: x - b,
    "a_bool_number": lambda x, b, i, h: x - True,
    "from_a_bool_number": lambda x, b, i, h: True - x,
    "abs": lambda x, b, i, h: b.abs(),
    "neg": lambda x, b, i, h: -b,
    "relu": lambda x, b, i, h: b.relu(),
    "floor": lambda x, b, i, h: b.floor(),
    "clamp": lambda x, b, i, h: b.clamp(min=0),
    "argmax": lambda x, b, i, h: b.argmax(1),
    "var": lambda x, b, i, h: b.var(),
    "addcmul": lambda x, b, i, h: torch.addcmul(b, b, b),
    "fmax": lambda x, b, i, h: torch.fmax(b, b),
}
ALPHAS = {
    "true_for_floats": lambda x, b, i, h: torch.add(x, x, alpha=True),
    "false_for_floats": lambda x, b, i, h: torch.add(x, x, alpha=False),
    "true_for_halves": lambda x, b, i, h: torch.sub(h, h, alpha=True),
    "true_for_integers": lambda x, b, i, h: torch.add(i, i, alpha=True),
    "true_of_rsub": lambda x, b, i, h: torch.rsub(x, x, alpha=True),
    "float_for_integers": lambda x, b, i, h: torch.add(i, i, alpha=1.0),
    "float_for_bools": lambda x, b, i, h: torch.add(b, b, alpha=1.0),
    "true_for_bools": lambda x, b, i, h: torch.add(b, b, alpha=True),
    "integer_for_floats": lambda x, b, i, h: torch.add(x, x, alpha=2),
}
INTEGERS = {
    name: (lambda f: lambda x, b, i, h: f(i))(getattr(F, name))
    for name in "gelu silu softplus mish hardswish hardsigmoid elu leaky_relu relu6 hardtanh logsigmoid".split()
} | {
    "frac": lambda x, b, i, h: i.frac(),
    "var": lambda x, b, i, h: i.var(),
    "std": lambda x, b, i, h: i.std(1),
    "lerp": lambda x, b, i, h: torch.lerp(i, i, 0.5),
    "logaddexp": lambda x, b, i, h: torch.logaddexp(i, i),
    "smooth_l1": lambda x, b, i, h: F.smooth_l1_loss(i, i + 1),
    "huber": lambda x, b, i, h: F.huber_loss(i, i + 1),
    "binary_cross_entropy": lambda x, b, i, h: F.binary_cross_entropy(i.clamp(0, 1), i.clamp(0, 1)),
    "glu": lambda x, b, i, h: F.glu(i.t()),
    "softmax": lambda x, b, i, h: i.softmax(1),
    "exp": lambda x, b, i, h: i.exp(),
    "logsumexp": lambda x, b, i, h: i.logsumexp(1),
}
OTHERS = {
    "heaviside_of_two_dtypes": lambda x, b, i, h: torch.heaviside(x, x.double()),
    "lerp_of_two_dtypes": lambda x, b, i, h: torch.lerp(x, x.double(), 0.5),
    "accumulation_of_two_dtypes": lambda x, b, i, h: x.index_put((i[0],), h[:3], accumulate=True),
    "no_probabilities": lambda x, b, i, h: F.binary_cross_entropy(x * 5, x.sigmoid()),
    "classes_that_are_too_many": lambda x, b, i, h: F.one_hot(i, 3),
    "classes_that_fit": lambda x, b, i, h: (F.one_hot(i, 12), F.one_hot(i % 3, num_classes=4) * 2),
    "softmax_of_no_dimension": lambda x, b, i, h: x.softmax(2),
    "index_of_two_dimensions": lambda x, b, i, h: x.index_select(0, i % 3),
}
SHAPES = {
    "select_at_the_size": lambda x, b, i, h: x.select_scatter(x[0], 0, 4),
    "select_below_the_size": lambda x, b, i, h: x.select_scatter(x[0], 0, -5),
    "select_the_last": lambda x, b, i, h: x.select_scatter(x[0], 0, -1),
    "select_of_another_shape": lambda x, b, i, h: x.select_scatter(x[:, 0], 0, 1),
    "select_that_broadcasts": lambda x, b, i, h: x.select_scatter(x[0, :1], 0, 1),
    "select_in_no_dimension": lambda x, b, i, h: x.select_scatter(x[0], 2, 1),
    "select_of_another_dtype": lambda x, b, i, h: x.select_scatter(i[0], 0, 1),
    "slice_too_long": lambda x, b, i, h: x.slice_scatter(x[:3], 0, 0, 2),
    "slice_too_short": lambda x, b, i, h: x.slice_scatter(x[:1], 0, 0, 2),
    "slice_too_narrow": lambda x, b, i, h: x.slice_scatter(x[:2, :2], 0, 0, 2),
    "slice_that_broadcasts": lambda x, b, i, h: x.slice_scatter(x[:2, :1], 0, 0, 2),
    "slice_of_another_rank": lambda x, b, i, h: x.slice_scatter(x[0], 0, 0, 2),
    "slice_by_steps": lambda x, b, i, h: x.slice_scatter(x[:3], 0, 0, 4, 2),
    "slice_by_no_step": lambda x, b, i, h: x.slice_scatter(x[:2], 0, 0, 4, 0),
    "slice_beyond_the_end": lambda x, b, i, h: x.slice_scatter(x[:2], 0, 2, 100),
    "slice_from_the_end": lambda x, b, i, h: x.slice_scatter(x[:1], 0, -3, -2),
    "slice_of_nothing": lambda x, b, i, h: x.slice_scatter(x[:0], 0, 3, 1),
    "diagonal_too_short": lambda x, b, i, h: x.diagonal_scatter(x[0, :2]),
}
ALL = {
    f"{group}-{name}": fn
    for group, cases in dict(bools=BOOLS, alphas=ALPHAS, integers=INTEGERS, others=OTHERS, shapes=SHAPES).items()
    for name, fn in cases.items()
}


@pytest.mark.parametrize(
    "front", [pytest.param(f, marks=[pytest.mark.slow] if f != "pydynamo" else []) for f in reversed(FRONTS)]
)
@pytest.mark.parametrize("name", ALL)
def test_raises_where_eager_does_and_nowhere_else(name, front):
    fn = ALL[name]
    try:
        fn(X, B, I, H)
    except (RuntimeError, IndexError, TypeError):
        with pytest.raises((RuntimeError, IndexError, TypeError)) as raised:
            compiled(fn, front)(X, B, I, H)
        assert "lowering failed" not in str(raised.value)
    else:
        check(fn, [X, B, I, H], front=front, tol=1e-6, strides=True)
