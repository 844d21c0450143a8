"""Half types beside numbers and tensors of other dtypes, as first and as second operand: bit for bit what eager makes."""

import pytest
import torch
from edge_harness import SPECIAL, R, T
from lowering_harness import check

NAMES = "add sub rsub mul div maximum minimum fmax fmod remainder pow eq lt hypot floor_divide xlogy copysign nextafter"
OPERATORS = {name: getattr(torch, name) for name in NAMES.split()} | {
    "truncated": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floored": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "scaled_sum": lambda a, b: torch.add(a, b, alpha=0.1),
    "scaled_difference": lambda a, b: torch.sub(a, b, alpha=1.7),
    "python_product": lambda a, b: a * b,
    "python_quotient": lambda a, b: a / b,
    "clamp_min": lambda a, b: torch.clamp(a, min=b),
    "logaddexp": torch.logaddexp,
}
HALVES = (torch.float16, torch.bfloat16)
N = 37
BESIDE = {
    "float": 2.7003,
    "int": 2051,
    "bool": True,
    "float32_scalar": torch.tensor(2.7003),
    "float64_scalar": torch.tensor(2.7003, dtype=torch.float64),
    "int64_scalar": torch.tensor(2051),
    "int64_of_one_element": torch.tensor([2051]),
    "int64_elements": torch.arange(N) + 2049,
    "int32_elements": torch.arange(N, dtype=torch.int32) + 70001,
    "uint8_elements": (torch.arange(N) * 7).byte(),
    "bool_elements": torch.arange(N) % 3 == 0,
}


def both_ways(x, y):
    """The operators that take these operands and make half types, or no floating-point numbers of them; in both orders."""
    found = []
    for op in OPERATORS.values():
        for swapped in (False, True):
            try:
                made = op(*((y, x) if swapped else (x, y)))
            except (RuntimeError, TypeError):
                continue
            if made.dtype not in (torch.float32, torch.float64):
                found.append((op, swapped))
    return found


@pytest.mark.parametrize(
    "shape", [pytest.param((N,), id="many"), pytest.param((), id="scalar", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_operands_are_rounded_as_eager_rounds_them(dtype, beside, shape):
    x, y = (R(*shape) * 3 if shape else torch.tensor(1.7)).to(dtype), BESIDE[beside]
    found = both_ways(x, y)

    def fn(x, *more):
        other = more[0] if more else y
        return [op(other, x) if swapped else op(x, other) for op, swapped in found]

    check(fn, [x, y] if isinstance(y, torch.Tensor) else [x], tol=0.0, zero_sign=True)


@pytest.mark.parametrize("count", [5, 64 * 5 + 3])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_powers_by_numbers_round_each_product_as_eager_does(dtype, count):
    def fn(x):
        return [x**e for e in (0, 1, 2, 3, 4, 2.5, -1, -2, 0.5, -0.5)] + [x.rsqrt(), x.square(), 2.5**x, x * x * x]

    check(fn, [R(count).to(dtype).abs() * 3], tol=0.0, zero_sign=True)


@pytest.mark.parametrize("exponent", [0.5, -0.5, 0, 1, -1, 2, -2, 3, 4, 2.5])
@pytest.mark.parametrize("dtype", (*HALVES, torch.float32), ids=str)
def test_powers_of_what_is_not_positive(dtype, exponent):
    check(lambda x: (x**exponent, (x * 2) ** exponent), [T(SPECIAL).to(dtype)], tol=0.0, zero_sign=True)
