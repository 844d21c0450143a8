"""Modes, modules and functions of torch: all of it is captured in one graph."""

import torch.nn.utils.parametrizations
import torch.nn.utils.parametrize
import torch.utils.checkpoint
from harness import program, seeded, torch, whole
from torch import nn
from torch.nn import functional as F

ONE = torch.ones(3)
ROWS = torch.arange(12.0).reshape(4, 3)


@whole
def test_inference_mode():
    def f(x):
        with torch.inference_mode():
            y = x * 2
            inside = torch.is_inference_mode_enabled()
        return y, inside, torch.is_inference_mode_enabled(), y.is_inference()

    return f, [(ONE,), (ONE,)]


@whole
def test_inference_mode_as_a_decorator_and_off():
    @torch.inference_mode()
    def g(x):
        return x + 1

    @torch.inference_mode
    def h(x):
        return x + 2

    def f(x):
        with torch.inference_mode(False):
            z = x * 3
        return g(x), h(x), z

    return f, [(ONE,), (ONE,)]


@whole
def test_grad_modes():
    @torch.no_grad()
    def g(x):
        return x * 2

    def f(x):
        with torch.no_grad():
            a = x * 2
            with torch.enable_grad():
                b = x * 3
        with torch.set_grad_enabled(False):
            c = x + 1
        return a.requires_grad, b.requires_grad, c.requires_grad, g(x).requires_grad, torch.is_grad_enabled(), a + c

    return f, [(torch.ones(3, requires_grad=True),), (torch.ones(3, requires_grad=True),)]


@whole
def test_autocast():
    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x.T
            with torch.autocast("cpu", enabled=False):
                z = x @ x.T
        return y.dtype, z.dtype, y, z

    return f, [(ROWS,), (ROWS,)]


@whole
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
            return g * ctx.k + x, None

    def f(x):
        return Double.apply(x, 3) + 1

    return f, [(torch.ones(3, requires_grad=True),), (torch.ones(3, requires_grad=True),)]


@whole
def test_autograd_function_with_setup_context():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x, x + 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g, h):
            (x,) = ctx.saved_tensors
            return 2 * x * g + h

    def f(x):
        a, b = Square.apply(x)
        return a + b

    return f, [(torch.ones(3, requires_grad=True),), (torch.ones(3, requires_grad=True),)]


@whole
def test_einsum_and_friends():
    def f(x):
        return (
            torch.einsum("ij,kj->ik", x, x),
            torch.einsum("ij->ji", x),
            torch.tensordot(x, x, dims=([1], [1])),
            torch.cat([x, x], dim=1).chunk(2, dim=1)[0],
            torch.stack([x] * 2).mean(0),
            torch.where(x > 3, x, torch.zeros_like(x)),
            x[:, None, ::2],
            x[..., -1],
            torch.meshgrid(x[0], x[1], indexing="ij"),
            x.view(-1, 2).permute(1, 0).contiguous(),
            torch.topk(x, 2),
            x.max(dim=1).indices,
            torch.cumsum(x, 0),
            F.one_hot(torch.tensor([0, 2]), 3),
            x.new_zeros(2),
            torch.arange(x.shape[0]),
            torch.full((2,), 3.0),
        )

    return f, [(ROWS,), (ROWS,)]


@whole
def test_questions_about_the_compiler():
    def f(x):
        if torch.jit.is_scripting() or torch.jit.is_tracing():
            return x * 100
        return x + 1, torch.is_tensor(x), torch.overrides.has_torch_function((x,)), torch.is_complex(x)

    return f, [(ONE,), (ONE,)]


@whole
def test_tensor_attributes_and_tests():
    def f(x):
        return (
            x.dtype is torch.float32, x.device.type, x.ndim, x.shape[0] + 1, x.size(), x.numel(), x.is_floating_point(),
            isinstance(x, torch.Tensor), x.stride(), x.requires_grad, x.T.shape, x.dim(), torch.finfo(x.dtype).eps,
            x.is_contiguous(), torch.iinfo(torch.int32).max, x.element_size(), x.to(torch.float64).dtype, len(x),
            torch.promote_types(torch.int32, torch.float16), x.device == torch.device("cpu"), x.data.shape, x.is_cuda,
        )  # fmt: skip

    return f, [(ROWS,), (ROWS,)]


@whole
def test_making_tensors():
    def f(x, n):
        return (
            torch.tensor([1, 2, n]), torch.tensor(3.0), torch.as_tensor([1.0]), torch.eye(n), torch.linspace(0, 1, n),
            torch.zeros(n, 2), torch.empty(0), torch.ones_like(x), torch.scalar_tensor(2), x.new_tensor([1.0]),
            torch.tensor([[1, 2], [3, 4]], dtype=torch.float64), torch.Tensor([1.0, 2.0]) if n > 100 else 0,
        )  # fmt: skip

    return f, [(ONE, 3), (ONE, 3)]


@whole
def test_random_numbers_of_torch():
    def f(x):
        return (
            torch.rand(3) + x,
            torch.randn_like(x),
            torch.randint(0, 5, (2,)),
            F.dropout(x),
            torch.randperm(4),
            torch.bernoulli(x / 2),
        )

    return f, [(ONE,), (ONE,)]


@whole
def test_in_place_operators_and_views():
    def f(x):
        y = x * 1
        y += 1
        y[0] = 5
        y[1:].mul_(2)
        y.clamp_(max=4)
        z = y.view(-1)
        z.add_(1)
        x.add_(1)
        torch.add(x, 1)
        return y, z

    return f, [(torch.zeros(3),), (torch.ones(3),)]


@whole
def test_named_tuple_results():
    def f(x):
        r = torch.sort(x, descending=True)
        v, i = x.max(0)
        return r.values + v, r.indices, i, torch.linalg.norm(x), torch.svd_lowrank is not None, x.unbind(0)

    return f, [(ROWS,), (ROWS,)]


@whole
def test_functional_losses_and_activations():
    def f(x, t):
        return (
            F.cross_entropy(x, t), F.mse_loss(x, x + 1), F.gelu(x), F.softmax(x, -1), F.log_softmax(x, 1), F.relu(x),
            F.layer_norm(x, (3,)), F.pad(x, (1, 1)), F.interpolate(x[None, None], scale_factor=2.0), F.normalize(x),
            F.silu(x), F.cosine_similarity(x, x), F.linear(x, x), F.nll_loss(F.log_softmax(x, 1), t), F.huber_loss(x, x + 2),
            F.embedding(t, x), F.kl_div(x, x.softmax(1), reduction="batchmean"), F.glu(torch.cat([x, x], 1)),
        )  # fmt: skip

    return f, [(ROWS, torch.tensor([0, 1, 2, 0])), (ROWS, torch.tensor([0, 1, 2, 0]))]


@whole
def test_convolutions_and_pooling():
    m = seeded(
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2),
        )
    )  # fmt: skip

    def f(x):
        return m(x)

    return f, [(torch.arange(64.0).reshape(2, 1, 8, 4) / 64,), (torch.ones(2, 1, 8, 4),)]


@whole
def test_torch_function_on_lists_and_dicts_of_tensors():
    def f(batch):
        out = {k: v.float().mean() for k, v in batch.items()}
        total = torch.stack(list(out.values())).sum()
        return (
            {**out, "total": total},
            sum(v.numel() for v in batch.values()),
            max(batch, key=lambda k: batch[k].shape[0]),
        )

    return f, [({"a": ONE, "b": ROWS},), ({"a": ONE, "b": ROWS},)]


@whole
def test_dtype_and_device_moves():
    def f(x):
        y = x.to("cpu").to(torch.float64).half().float()
        return y.type_as(x), x.to(y), x.bool(), x.int() // 2, x.long() % 3, x.cpu(), x.double() / 3, (x > 1).sum()

    return f, [(ROWS,), (ROWS,)]


@whole
def test_optimizer_like_updates_in_place():
    def f(p, g, state):
        with torch.no_grad():
            state["m"].mul_(0.9).add_(g, alpha=0.1)
            state["step"] = state["step"] + 1
            p.sub_(state["m"] * 0.1)
        return p * 1

    return f, [
        (torch.ones(3), ONE, {"m": torch.zeros(3), "step": torch.tensor(0)}),
        (torch.ones(3), ONE, {"m": torch.zeros(3), "step": torch.tensor(0)}),
    ]


@whole
def test_functions_as_arguments_of_functions():
    def f(x, fn=torch.relu):
        return (
            torch.nn.functional.relu(fn(x)),
            list(map(torch.sin, [x])),
            (torch.add if x.ndim else torch.mul)(x, x),
            [op(x) for op in (torch.neg, abs)],
        )

    return f, [(ONE,), (ONE,)]


@program
def test_vmap_and_grad():
    def f(x):
        g = torch.func.grad(lambda v: (v * v).sum())(x)
        return torch.vmap(lambda row: row * 2 + row.sum())(torch.stack([x, x])), g

    return f, [(ONE,), (ONE,)]


@program
def test_autograd_grad_inside():
    def f(x):
        y = (x * x).sum()
        (g,) = torch.autograd.grad(y, x)
        return g

    return f, [(torch.ones(3, requires_grad=True),), (torch.ones(3, requires_grad=True),)]


@whole
def test_numpy_round_trip():
    import numpy as np

    def f(x):
        return torch.from_numpy(np.arange(3)) + x if False else x + float(np.pi)

    return f, [(ONE,), (ONE,)]
