"""Functions that write into their arguments, into views, and into what they return; compiled against eager."""

import torch
import torch.nn.functional as F
from edge_harness import Cases, R, T

case = Cases()


@case()
def update_in_place():
    def f(p, m, g):
        m.mul_(0.9).add_(g, alpha=0.1)
        p.sub_(m / (m.abs().sqrt() + 1e-3))
        return p * 2, m.sum()

    return f, [R(50), R(50, seed=1), R(50, seed=2)]


@case()
def swap_through_each_other():
    def f(a, b):
        t = a * 2
        a.copy_(b + 1)
        b.copy_(t - a)
        return a + b, t

    return f, [R(6, 4), R(6, 4, seed=1)]


@case()
def copy_of_own_reversal_and_transpose():
    def f(a, b):
        a.copy_(a.flip(0) + a.t())
        b[1:].add_(b[:-1].clone())
        return a, b * 2

    return f, [R(8, 8), R(30)]


@case()
def views_of_one_storage():
    base = R(40)

    def f(a, b):
        a.add_(1)
        b.mul_(2)
        return a + 1, b.clone()

    return f, [base[:20], base[10:30]]


@case()
def window_through_another_dtype_before_a_write():
    def f(x):
        bits = x.view(torch.int32)
        y = bits * 2
        z = (bits >> 3) + y.sum()
        x.mul_(2)
        return y, z, bits + 1

    return f, [R(40)]


@case(tol=1e-5)
def inplace_normalization():
    def f(x):
        x.sub_(x.mean(1, keepdim=True)).div_(x.std(1, keepdim=True) + 1e-5)
        return x.sum(0)

    return f, [R(5, 300)]


@case()
def writes_through_views():
    def f(x):
        y = x.view(-1)
        y[3:7] = 9.0
        x[1].mul_(2)
        x.t()[0].add_(1)
        x[:, ::2].neg_()
        return x.sum(0), y

    return f, [R(4, 6)]


@case()
def writes_through_strided_windows():
    def f(x):
        x[::2, 1::2] += 1
        x.diagonal().fill_(0.5)
        x.as_strided((3,), (7,), 2).mul_(3)
        x.unfold(1, 2, 2)[0].zero_()
        return x * 2

    return f, [R(6, 6)]


@case()
def writes_into_an_argument_that_is_not_contiguous():
    def f(a, b):
        a.mul_(2).add_(1)
        b.copy_(a[:3, :4])
        b[0] = a[0, :4] * b[1]
        return a + 1, b.sum()

    return f, [R(5, 4).t(), R(30)[2:].as_strided((3, 4), (8, 2))]


@case()
def every_way_to_write_in_place():
    def f(a, b, c):
        a.add_(b).sub_(1).mul_(b).div_(2).pow_(2)
        b.clamp_(0, 1).neg_().exp_().sqrt_()
        c.fill_(3).zero_().add_(a[0, 0])
        a.masked_fill_(a > 1, -1.0)
        b.lerp_(a, 0.5).addcmul_(a, b).round_()
        return a, b, c

    return f, [R(4, 5), R(4, 5, seed=1), R(3)]


@case()
def index_and_mask_assignment():
    def f(x, i, m):
        x[i] = 1.5
        x[:, i] += 2.0
        x[m] = 0.0
        x[0, 1:3] = T([7.0, 8.0])
        x[i, i] *= 3
        x[..., -1] = x[..., 0]
        return x

    return f, [R(5, 5), T([0, 3, 2], torch.int64), R(5, 5, seed=2) > 0.7]


@case()
def scatters_in_place():
    def f(x, i, s):
        x.scatter_(0, i, s)
        x.scatter_add_(1, i[:, :2], s[:, :2])
        x.index_add_(0, i[0, :2], s[:2])
        x.index_fill_(1, i[0, :1], 4.0)
        x.index_copy_(0, i[0, :1], s[:1] * 2)
        x.masked_scatter_(x > 1, s.reshape(-1).repeat(5))
        x.index_put_((i[0],), s[0, 0], accumulate=True)
        return x

    return f, [R(5, 3), T([[0, 2, 1], [1, 1, 2]], torch.int64), R(2, 3, seed=1)]


@case()
def a_result_and_its_source_are_written():
    def f(x):
        y = x + 1
        z = y.view(-1)
        y.mul_(2)
        z[0] = 5.0
        w = y.clone()
        y.zero_()
        return y, z, w

    return f, [R(3, 4)]


@case()
def an_argument_is_returned_after_a_write():
    def f(x, y):
        x.add_(1)
        v = x[1:]
        x.mul_(2)
        y += x.sum()
        return x, v, y

    return f, [R(4, 2), R(1)]


@case()
def integers_and_bools_in_place():
    def f(i, b, u):
        i += 3
        i //= 2
        i %= 5
        i &= 7
        b |= b.flip(0)
        b ^= True
        u *= 3
        u -= 250
        i.clamp_(max=2)
        return i.sum(), b, u

    return f, [torch.arange(-4, 4), T([True, False, False], torch.bool), T([100, 3, 255], torch.uint8)]


@case()
def writes_of_another_dtype():
    def f(h, i, d):
        h.add_(0.1).mul_(T(1.5, torch.float64))
        i.copy_(h[:3] * 10)
        d.copy_(h[:2])
        h[:2] = T([1, 2], torch.int64)
        h.sub_(i[0])
        return h, i.float() / 2, d

    return f, [R(4, dt=torch.float16), T([1, 2, 3], torch.int32), R(2, dt=torch.float64)]


@case()
def arguments_that_share_memory_in_part():
    base = R(30)

    def f(a, b, c):
        a.mul_(2)
        b.add_(a[:5].sum())
        return a + 1, b * c, c.clone()

    return f, [base[:10], base[5:15], base[20:]]


@case()
def an_argument_and_its_transpose():
    base = R(4, 4)

    def f(a, b):
        a.add_(1)
        c = b * 2
        b[0] = 0.0
        return a.sum(0), c, b

    return f, [base, base.t()]


@case()
def moved_onto_itself():
    def f(a, b, c):
        a.copy_(a.flip(0))
        b.copy_(b.t().clone() + b)
        c[2:] = c[:-2].clone()
        a[1:] = a[:-1] * 2
        return a, b, c

    return f, [R(9), R(4, 4), R(8)]


@case()
def swaps_and_loops():
    def f(a, b, n):
        for i in range(n):
            a, b = b, a + b
            a.mul_(0.5)
        a[0], b[0] = b[0].clone(), a[0].clone()
        return a, b

    return f, [R(3), R(3, seed=1), 4]


@case()
def writes_into_zero_sized_and_zero_dimensional():
    def f(a, e, s):
        s.add_(a.sum())
        e.mul_(2)
        a[2:2] = 1.0
        s *= 2
        return s, e, a

    return f, [R(4), torch.empty(0, 3), T(1.0)]


@case()
def results_of_inplace_operations_with_out():
    def f(a, b):
        torch.add(a, b, out=b)
        torch.mul(a, 2, out=a)
        c = torch.empty(4)
        torch.sub(a, b, out=c)
        return c, a

    return f, [R(4), R(4, seed=1)]


@case(grad_tol=1e-4)
def writes_before_gradients():
    x, w = R(4, 5).requires_grad_(), R(5, seed=1).requires_grad_()

    def f(x, w):
        y = x * w
        y[:, 0] = w[0] * 2
        y.mul_(x.detach() + 1)
        z = y.clone()
        z[1:3] += y[0]
        z.clamp_(-1, 1)
        return z, y.sum(0)

    return f, [x, w]


@case(tol=1e-5)
def statistics_that_a_norm_updates():
    def f(x, mean, var):
        y = F.batch_norm(x, mean, var, training=True, momentum=0.3)
        z = F.batch_norm(x, mean, var, training=False)
        return y, z

    return f, [R(6, 3, 4), torch.zeros(3), torch.ones(3)]


test_equals_eager = case.test()
