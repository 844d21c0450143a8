"""``out=``: the tensors that are written keep their dtypes and strides, whatever the result's own would be."""

import torch
from edge_harness import Cases, R

case = Cases()
F64 = torch.float64


@case(strides=True)
def transposed_and_stepped_results():
    def f(x, y):
        p, q, r = torch.empty(3, 4).t(), torch.zeros(8, 3)[::2], torch.zeros(6, 4)
        torch.mul(x, y, out=p)
        torch.add(x, y, out=q)
        torch.sub(x.t(), y.t(), out=r[::2])
        return p, q, r, p.stride(), torch.exp(x, out=p)

    return f, [R(4, 3), R(4, 3, seed=1)]


@case(strides=True)
def transposed_operands():
    def f(x, y):
        p = torch.empty(3, 4)
        view = p.t()
        torch.mul(x.t(), y.t(), out=p)
        return p, view + 1, view

    return f, [R(4, 3), R(3, 4).t()]


@case(strides=True)
def arguments():
    def f(x, y, z):
        torch.mul(x, x, out=y)
        torch.add(x, y, out=x)
        torch.clamp(x, 0, 1, out=z[::2])
        return x, y * 2

    return f, [R(4, 3), R(3, 4).t(), R(8, 3)]


@case(strides=True)
def several_results():
    def f(x):
        values, indices = torch.empty(8)[::2], torch.empty(4, dtype=torch.int64)
        r = torch.max(x, 1, out=(values, indices))
        return r.values, values, indices, r[1], torch.sort(x, 1, out=(torch.empty(3, 4).t(), torch.empty(0).long()))[0]

    return f, [R(4, 3)]


@case(strides=True)
def other_dtypes():
    def f(x, y):
        s, p = torch.zeros(4, dtype=F64), torch.empty(3, 4, dtype=F64).t()
        torch.sum(x, 1, out=s)
        torch.add(x, y, out=p)
        return s, p, torch.gt(x, y, out=torch.empty(3, 4, dtype=torch.bool).t())

    return f, [R(4, 3), R(4, 3, seed=1)]


@case(strides=True)
def products_and_joins():
    def f(x, y):
        o, c = torch.empty(4, 4).t(), torch.empty(3, 8).t()
        torch.mm(x, y.t(), out=o)
        torch.addmm(o, x, y.t(), out=o)
        torch.cat([x, y], out=c)
        return o, c

    return f, [R(4, 3), R(4, 3, seed=1)]


test_equals_eager = case.test()
