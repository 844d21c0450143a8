"""Tensors: identity, views, in-place changes, aliasing of inputs and outputs, autograd, metadata."""

import torch
from harness import program

ONE = torch.ones(2)


@program
def test_outputs_that_are_inputs():
    def f(x, y):
        return x, [x, y], x[:1], y.view(-1), x.detach(), x + y, {"x": x}

    shared = torch.ones(2)
    return f, [
        (torch.ones(2), torch.ones(2)),
        (shared, shared),
        (shared, shared.view(2)),
        (shared[:1], shared[1:]),
    ]


@program
def test_input_changed_in_place_through_a_view():
    def f(x):
        v = x[1:]
        v += 10
        x[0] = 5
        w = x.view(-1)
        w.mul_(2)
        return v, w, x.sum()

    return f, [(torch.arange(3.0),), (torch.arange(4.0),)]


@program
def test_two_inputs_share_storage():
    def f(a, b):
        a.add_(1)
        return b * 2, a is b

    base = torch.arange(4.0)
    return f, [(torch.ones(2), torch.ones(2)), (base, base), (base[:2], base[1:3]), (base, base[:4])]


@program
def test_in_place_on_intermediates_and_their_views():
    def f(x):
        y = x * 1
        v = y[0]
        v.add_(3)
        y[1:].zero_()
        z = y
        z += 1
        return y, v, z is y, x

    return f, [(torch.ones(3),)] * 2


@program
def test_index_assignment():
    def f(x, i):
        y = torch.zeros(3, 3)
        y[0] = x
        y[i, 1] = 7
        y[:, 2] = x.sum()
        y[y > 5] = -1
        y[..., 0] += 1
        y[None, 0, 1:] = torch.tensor([1.0, 2.0])
        return y

    return f, [(torch.ones(3), 1), (torch.ones(3), 2)]


@program
def test_requires_grad_and_leaves():
    def f(x, w):
        y = x * w
        z = y.detach() * 2
        u = y.clone().requires_grad_() if not y.requires_grad else y
        with torch.no_grad():
            v = w * 3
        return y, z, u, v, y.requires_grad, y.is_leaf, w.is_leaf, z.requires_grad

    return f, [(torch.ones(1), torch.ones(1)), (torch.ones(1), torch.ones(1, requires_grad=True))]


@program
def test_backward_outside():
    def f(x):
        return (x * x).sum() + x.detach().sum()

    def outside(result):
        result.backward()
        return (torch.full((2,), 2.0, requires_grad=True),)

    return f, [(torch.ones(2, requires_grad=True),), outside]


@program
def test_backward_inside():
    def f(x):
        w = torch.ones(2, requires_grad=True)
        loss = (x * w).sum()
        loss.backward()
        g = torch.autograd.grad((w * w).sum(), w)[0]
        return w.grad, g, w.grad is not None

    return f, [(torch.ones(2),)] * 2


@program
def test_gradient_accumulates_on_an_argument():
    def f(x, w):
        (x * w).sum().backward()
        g = w.grad.clone()
        w.grad = None if g.sum() > 100 else w.grad
        return g

    w = torch.ones(2, requires_grad=True)
    return f, [(torch.ones(2), w), (torch.ones(2), w)]


@program
def test_autograd_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.k + x * 0, None

    def f(x, k):
        y = Double.apply(x, k)
        return y.sum()

    def outside(result):
        result.backward()
        return (torch.ones(2, requires_grad=True), 5)

    return f, [(torch.ones(2, requires_grad=True), 3), outside]


@program
def test_metadata():
    def f(x):
        return (x.shape, x.size(), x.size(0), x.stride(), x.dtype, x.device, x.numel(), x.dim(), x.ndim, x.is_contiguous(), x.element_size(), x.layout, x.is_floating_point(),
                x.requires_grad, x.shape + (1,), x.shape[-1:], len(x), x.T.shape, x.storage_offset(), x.type(), x.is_cuda, list(x.shape), torch.Size([1, 2]), x.data_ptr() == x.data_ptr())  # fmt: skip

    return f, [(torch.ones(2, 3),), (torch.ones(3, 2).t(),), (torch.ones(4, 3, dtype=torch.float64),)]


@program
def test_dtype_promotion():
    def f(x, n, v):
        return (
            x + n,
            x * v,
            x / 2,
            x // 2,
            x > 1,
            x == n,
            n - x,
            v**x,
            x % 2,
            torch.tensor(n) + v,
            x.float() * n,
            torch.result_type(x, v),
            -x,
            x.to(torch.float16),
            torch.where(x > 0, x, n),
        )

    return f, [
        (torch.arange(3), 2, 0.5),
        (torch.arange(3.0), 3, 1.5),
        (torch.arange(3), 4, 2.5),
        (torch.tensor(2), 5, 3.5),
    ]


@program
def test_multiple_results():
    def f(x):
        values, indices = torch.sort(x, descending=True)
        top = torch.topk(x, 2)
        m = torch.max(x, dim=0)
        a, b = torch.aminmax(x)
        c = torch.chunk(x, 2)
        return (
            values,
            indices,
            top,
            top.values,
            m,
            m[0],
            a,
            b,
            c,
            torch.split(x, 1),
            x.unbind(),
            type(m).__name__,
            torch.unique(x),
            torch.std_mean(x),
            x.max(0).indices,
        )

    return f, [(torch.tensor([3.0, 1.0, 2.0]),), (torch.tensor([3.0, 1.0, 2.0, 2.0]),)]


@program
def test_iterating_and_unpacking_tensors():
    def f(x):
        a, b, *c = x
        return (
            [r * 2 for r in x],
            a,
            b,
            c,
            list(x.shape),
            len(x),
            sum(x),
            max(x),
            [float(v) for v in x],
            x.tolist(),
            tuple(x),
            dict(enumerate(x)),
            list(zip(x, "abc")),
            sorted(x),
        )

    return f, [(torch.tensor([3.0, 1.0, 2.0]),)] * 2


@program
def test_truth_of_tensors():
    def f(x, y):
        out = []
        if x:
            out.append("true")
        out.append(not x)
        out.append(bool(y is not None and x))
        try:
            bool(y)
        except RuntimeError as e:
            out.append(str(e))
        return out, x and 5, x or 6, [1, 2][x.bool()] if x.dim() == 0 else None

    return f, [(torch.tensor(1.0), torch.ones(2)), (torch.tensor(0.0), torch.ones(2))]


@program
def test_attributes_on_tensors():
    def f(x):
        x.tag = "t"
        y = x + 1
        y.note = [1]
        return y, y.note, x.tag, hasattr(y, "tag"), getattr(x, "none", None)

    x = torch.ones(1)
    return f, [(x,), (x,)]


@program
def test_data_and_set():
    def f(x, y):
        x.data = y
        x.data.add_(1)
        return x * 2, x.data_ptr() == y.data_ptr()

    return f, [(torch.ones(2), torch.zeros(2))] * 2


@program
def test_out_arguments():
    def f(x, o):
        r = torch.add(x, 1, out=o)
        p = torch.empty(0)
        torch.mul(x, 2, out=p)
        return r is o, p, o * 1

    return f, [(torch.ones(2), torch.zeros(2))] * 2


@program
def test_resize_and_shape_changes_of_inputs():
    def f(x):
        x.unsqueeze_(0)
        y = x.t_()
        return x.shape, y is x, x * 2

    return f, [(torch.ones(2),), (torch.ones(3),)]


@program
def test_strided_outputs():
    def f(x):
        return (
            x.t(),
            x.t() + 1,
            x[:, ::2] * 2,
            x.expand(2, *x.shape),
            x.t().contiguous(),
            x.permute(1, 0)[1:],
            x.unfold(1, 2, 1),
            torch.empty_like(x.t()).stride(),
            x.flatten(),
            x.T.reshape(-1),
        )

    return f, [(torch.arange(6.0).reshape(2, 3),), (torch.arange(8.0).reshape(2, 4),)]


@program
def test_tensor_methods_by_name_and_operators():
    def f(x, name):
        return (
            getattr(x, name)(),
            getattr(torch, name)(x),
            torch.Tensor.add(x, 1),
            x.__add__(2),
            x.__radd__(2),
            (x @ x),
            divmod(7, 2),
            x.__getitem__(0),
            abs(-x),
            +x,
            x.pow(2),
            pow(x, 2),
            round(x * 1.6),
            x.__len__(),
        )

    return f, [(torch.ones(2), "sin"), (torch.ones(2), "neg")]


@program
def test_subclass_of_tensor():
    class Tagged(torch.Tensor):
        pass

    def f(x):
        y = x * 2
        return type(y).__name__, isinstance(x, Tagged), y

    return f, [(torch.ones(2).as_subclass(Tagged),), (torch.ones(2),)]


@program
def test_parameters_and_buffers_as_arguments():
    def f(p, x):
        return p * x, type(p).__name__, p.requires_grad, p

    return f, [(torch.nn.Parameter(torch.ones(1)), torch.ones(1)), (torch.ones(1), torch.ones(1))]


@program
def test_numpy():
    def f(x):
        a = x.numpy()
        b = torch.from_numpy(a * 2)
        a[0] = 9
        return b, x, a.shape, float(a.sum())

    return f, [(torch.ones(2),), (torch.ones(3),)]


@program
def test_zero_sized_and_scalars():
    def f(x):
        return (
            x.sum(),
            x * 2,
            x.numel() == 0,
            torch.cat([x, torch.ones(1)]),
            x.shape[0],
            x.mean() if x.numel() else None,
            torch.tensor(3.0) * x,
        )

    return f, [(torch.ones(2),), (torch.ones(0),), (torch.ones(1),), (torch.ones(0),)]


@program
def test_shape_decides_a_branch():
    def f(x):
        if x.shape[0] > 3:
            y = x[:3]
        elif x.shape[0] == 1:
            y = x.expand(3)
        else:
            y = x * 10
        return y, x.shape[0] * 2, x.shape[0] in (2, 4)

    return f, [(torch.ones(k),) for k in (2, 5, 1, 3, 4)]


@program
def test_optional_arguments():
    def f(x, w=None, *, scale=1.0, mode="a"):
        y = x if w is None else x * w
        return (y * scale, mode) if mode == "a" else (y + scale, w is None)

    return f, [(torch.ones(1),), (torch.ones(1), torch.ones(1)), (torch.ones(1), 2)]


@program
def test_constant_tensors_are_fresh_each_time():
    def f(x):
        t = torch.tensor([1.0, 2.0])
        z = torch.zeros(2)
        t += x
        z[0] = 1
        return t, z

    return f, [(torch.ones(2),)] * 2


@program
def test_same_tensor_returned_twice_and_across_calls():
    last = []

    def f(x):
        y = x + 1
        last.append(y)
        return y, y, last[0], last[0] is y

    return f, [(torch.ones(1),)] * 3


@program
def test_sizes_and_ranks_that_change_between_calls():
    def f(x, items):
        for item in items:
            x = x + item.sum()
        return x * x.dim(), x.shape

    shapes = [(2, 3), (4, 3), (5,), (), (2, 3, 4), (6, 3), (7,), (1, 1)]
    return f, [(torch.ones(a), [torch.ones(b)]) for a, b in zip(shapes, reversed(shapes), strict=True)]


@program
def test_named_results_have_few_attributes():
    def f(x):
        most = x.max(dim=0)
        return most, hasattr(most, "_fields"), hasattr(most, "foo"), type(most).__name__, most.values * 2

    return f, [(torch.arange(3.0),), (torch.arange(6.0).reshape(2, 3),)]


@program
def test_number_as_index_into_a_tensor_without_dimensions():
    def f(x, i, log):
        last = x[-1]
        log.append(1)
        try:
            last[i]
        except IndexError:
            log.append("read")
        try:
            last[i] = 2
        except IndexError:
            log.append("written")
        return x.sum()[i]

    return f, [(torch.ones(n), i, []) for n, i in ((1, -1), (3, 0), (4, 1), (5, -1), (2, 3))]


@program
def test_changing_a_part_of_a_parameter_without_grad():
    def f(x, n):
        with torch.no_grad():
            x[0] += n
            x[1:].mul_(2)
        return (x * 2).sum()

    return f, [(torch.ones(5, requires_grad=True), 1), (torch.ones(4, requires_grad=True), 2)]


@program
def test_what_is_a_view():
    def f(x):
        made = x + 1
        return made._is_view(), made[0]._is_view(), x.view(-1)._is_view(), x._is_view()

    return f, [(torch.ones(2, 2),), (torch.ones(4, 4)[:2, :2],), (torch.ones(3, 2),)]
