"""Functions at their edges: powers, logarithms, angles, special functions, division; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import INF, NAN, Cases, R, T

case = Cases()


@case(tol=0.0)
def floor_division_below_an_integer():
    a, b = T([1.0, 0.5, 6.0, -1.0, 7.0, 1e20, INF, 1.0]), T([0.1, 0.1, 0.2, 0.1, -0.7, 3.0, 2.0, INF])
    return lambda a, b: (
        a // b,
        a // 0.1,
        1.0 // b,
        a.double() // b.double(),
        torch.div(a, b, rounding_mode="floor"),
        torch.div(a, 0.3, rounding_mode="trunc"),
        a.half() // b.half(),
        a // 0.0,
        torch.floor_divide(a, b),
    ), [a, b]


@case(tol=0.0)
def halves_round_between_dividing_and_cutting():
    a, b = R(512, seed=1) * 9, R(512, seed=2) / 2
    return lambda a, b: [
        operation(x, y)
        for x, y in ((a.half(), b.half()), (a.bfloat16(), b.bfloat16()))
        for operation in (
            lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            lambda x, y: torch.div(x, y, rounding_mode="floor"),
            lambda x, y: x // y,
        )
    ], [a, b]


@case(tol=0.0)
def remainders_of_floats():
    a, b = T([5.5, -5.5, 0.0, 1e20, 2147483648.0, 7.0, -0.0, NAN]), T([INF, -INF, 0.0, 3.0, 3.0, -0.7, 1.0, 2.0])
    return lambda a, b: (
        a % b,
        torch.fmod(a, b),
        a % 0.7,
        a % -3.0,
        5.0 % b,
        torch.fmod(a, 0.7),
        a.double() % b.double(),
        torch.remainder(a, 1.0),
        a.half() % 1.5,
    ), [a, b]


@case(tol=1e-5)
def powers_at_the_edges():
    b, e = (
        T([0.0, -0.0, 1.0, -8.0, NAN, INF, -INF, 2.0, -2.0, 0.5]),
        T([0.0, -1.0, NAN, 1 / 3, 0.0, -1.0, 3.0, -0.5, 2.5, INF]),
    )
    return lambda b, e: (
        b**e,
        b**3,
        b**-2,
        b**1.5,
        b**-0.5,
        3.0**e,
        (-1.0) ** e,
        1.0**e,
        b.pow(0),
        b.float_power(2),
        torch.pow(2, e),
        b.half() ** 2,
        b.double() ** e.double(),
    ), [b, e]


@case()
def powers_of_integers():
    i, j = T([0, 1, -2, 3, -1, 7], torch.int64), T([0, 3, 5, 2, 4, 1], torch.int64)
    return lambda i, j: (
        i**2,
        i**j,
        i**0,
        i.int() ** 3,
        i**0.5,
        i**2.0,
        2**j,
        i.to(torch.uint8) ** 5,
        i.to(torch.int8) ** 7,
        (-1) ** j,
        i.float() ** j,
        (i > 0) ** 2,
    ), [i, j]


@case(tol=1e-5)
def logarithms_and_exponentials_at_the_edges():
    x = T([-1.0, -0.0, 0.0, 1.0, INF, -INF, NAN, 88.8, -104.0, 1e-40, 1e-8, -1e-8, 0.9999999])
    return lambda x: (
        x.exp(),
        x.expm1(),
        x.log(),
        x.log1p(),
        x.log2(),
        x.log10(),
        x.exp2(),
        x.sigmoid(),
        x.logit(),
        x.logit(1e-6),
        F.logsigmoid(x),
        F.softplus(x),
        torch.xlogy(x, x),
        torch.special.xlog1py(x, x),
        torch.logaddexp(x, x.flip(0)),
        torch.logaddexp2(x, x.flip(0)),
    ), [x]


@case(tol=1e-5)
def trigonometry_at_the_edges():
    x = T([0.0, -0.0, 1.0, -1.0, 1.0000001, INF, NAN, 1e5, 3.1415927, 1e-20, 0.5])
    return lambda x: (
        x.sin(),
        x.cos(),
        x.tan(),
        x.asin(),
        x.acos(),
        x.atan(),
        x.sinh(),
        x.cosh(),
        x.tanh(),
        x.asinh(),
        x.acosh(),
        x.atanh(),
        torch.atan2(x, x.flip(0)),
        torch.hypot(x, x.flip(0)),
        torch.sinc(x),
        torch.deg2rad(x),
    ), [x]


@case(tol=2e-5)
def special_functions():
    x = T([0.1, 0.5, 1.0, 2.5, 7.0, 0.0, -0.5, -1.0, INF, NAN])
    return lambda x: (
        x.lgamma(),
        x.digamma(),
        x.erf(),
        x.erfc(),
        x.erfinv(),
        torch.special.i0(x),
        torch.special.i1(x),
        torch.special.i0e(x),
        torch.special.entr(x),
        torch.special.ndtr(x),
        torch.special.log_ndtr(x),
        torch.polygamma(1, x),
        torch.special.erfcx(x),
        torch.igamma(x.abs(), x.abs() + 1),
    ), [x]


@case(tol=1e-6)
def float64_stays_float64():
    x = R(40, dt=torch.float64)
    return lambda x: (
        x * 1e300 * 1e10,
        x + 1e-17,
        x.exp(),
        x.sin(),
        x.sum(),
        x / 3,
        x.pow(2.5),
        x.abs().sqrt(),
        x.tanh(),
        x.softmax(0),
        x.var(),
        x.cumsum(0),
        x.abs().log(),
        x.sigmoid(),
        F.gelu(x),
    ), [x]


@case(tol=1e-5)
def complex_numbers():
    z = torch.complex(R(6), R(6, seed=1))
    return lambda z: (
        z * z,
        z.abs(),
        z.conj() + 1,
        z.real * 2,
        z.imag - 1,
        z.angle(),
        z.exp(),
        z / 2j,
        z.sum(),
        torch.view_as_real(z) * 3,
        z == z,
    ), [z]


test_equals_eager = case.test()
