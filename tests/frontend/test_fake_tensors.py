"""Fake tensors of a translation: like torch's own in everything that can be asked, without importing torch._dynamo."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import pydynamo  # noqa: E402
from pydynamo.frontend import without_dynamo  # noqa: E402
from pydynamo.frontend.fake_mode import make_mode  # noqa: E402

DTYPES = (torch.float32, torch.bfloat16, torch.uint8, torch.bool)


def look(value: Any) -> Any:
    """What can be told of a result."""
    if isinstance(value, torch.Tensor):
        about = (value.dtype, value.shape, value.stride(), value.storage_offset(), value.device, value.requires_grad)
        return (*about, value.is_leaf, value._is_view())
    return [look(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """torch's mode logs each operator that fails, at length."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def outcome(mode: Any, fake_of: Callable[[Any], Any], call: Callable[..., Any], values: list[Any]) -> Any:
    fakes = [fake_of(value) if isinstance(value, torch.Tensor) else value for value in values]
    try:
        with mode:
            result = call(*fakes)
    except Exception as error:
        return error
    return look(result)


def real(call: Callable[..., Any], values: list[Any]) -> Any:
    try:
        return look(call(*(value.clone() if isinstance(value, torch.Tensor) else value for value in values)))
    except Exception as error:
        return error


def check(call: Callable[..., Any], values: list[Any], theirs: Any = None) -> bool:
    """Compare with torch's mode, twice (the second answer is a remembered one); True if there was a result.

    Where torch's mode says something else (it takes what kernels refuse, and the other way round), the kernel is right.
    Errors are alike: which one it is, eager code says.
    """
    theirs = theirs or FakeTensorMode()
    wanted = outcome(theirs, theirs.from_tensor, call, values)
    ours = make_mode()
    for _ in range(2):
        found = outcome(ours, ours.fake_of, call, values)
        if found != wanted:
            wanted = real(call, values)
        if isinstance(wanted, Exception) and isinstance(found, Exception):
            continue
        assert found == wanted, f"{call} on {[look(value) for value in values]}"
    return not isinstance(wanted, Exception)


def elementwise_operators() -> Iterator[Any]:
    for name in sorted(dir(torch.ops.aten)):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            op = getattr(packet, overload)
            if torch.Tag.pointwise in op.tags and "out" not in overload:
                yield op


def samples(op: Any) -> Iterator[list[Any]]:
    """Arguments for an operator: tensors of many dtypes and shapes, numbers elsewhere."""
    needed = [a for a in op._schema.arguments if not a.has_default_value() and not a.kwarg_only]
    count = sum("Tensor" in str(a.type) for a in needed)
    shapes = [(2, 3), (3,), ()] if count > 1 else [(2, 3), ()]
    for number, (dtype, other, shape, second) in enumerate(
        itertools.product(DTYPES, (None, torch.int64), shapes, shapes[: 1 if count < 2 else 3])
    ):
        if count < 2 and other is not None:
            continue
        seen = 0
        values: list[Any] = []
        for argument in needed:
            kind = str(argument.type)
            if kind == "Tensor":
                made = torch.ones(second if seen else shape, dtype=(other or dtype) if seen else dtype)
                values.append(made)
                seen += 1
            elif kind in ("number", "float", "int"):
                values.append(2 if kind == "int" or number % 2 else 0.5)
            elif kind == "bool":
                values.append(bool(number % 2))
            else:
                return
        yield values


OPERATORS = list(elementwise_operators())


def sweep(operators: list[Any], every: int) -> None:
    answered, theirs = 0, FakeTensorMode()
    for number, op in enumerate(operators):
        for values in itertools.islice(samples(op), number % every, None, every):
            answered += check(op, values, theirs)
    assert answered > len(operators) / 3


@pytest.mark.filterwarnings("ignore")
def test_elementwise_operators_look_as_torch_says() -> None:
    sweep(OPERATORS, 23)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_elementwise_operators_on_all_samples_look_as_torch_says(part: int) -> None:
    sweep(OPERATORS[part::8], 1)


def dense(*shape: int) -> Any:
    return torch.ones(shape)


OTHERS: list[tuple[str, Callable[..., Any], list[Any]]] = [
    ("transposed", lambda x, y: x.t() + y, [dense(3, 4), dense(4, 3)]),
    ("broadcast strides", lambda x, y: x.expand(4, 3) * y, [dense(3), dense(4, 3)]),
    ("channels last", lambda x: (x + 1).relu(), [dense(2, 3, 4, 5).to(memory_format=torch.channels_last)]),
    ("views", lambda x: [x[1:, 0], x.view(2, -1), x.unflatten(0, (2, 2)), x.split(2), x.chunk(2), x.T], [dense(4, 4)]),
    ("matmul", lambda x, y: [x @ y, x[0] @ y, torch.addmm(x, x, y), torch.bmm(x[None], y[None])], [dense(3, 3)] * 2),
    ("linear", torch.nn.functional.linear, [dense(2, 5, 3), dense(4, 3), dense(4)]),
    ("norm", lambda x, w: torch.nn.functional.layer_norm(x, (4,), w), [dense(3, 4), dense(4)]),
    ("batch norm", lambda x, m: torch.nn.functional.batch_norm(x, m, m, training=True), [dense(3, 4), dense(4)]),
    ("convolution", torch.nn.functional.conv2d, [dense(2, 3, 8, 8), dense(4, 3, 3, 3)]),
    ("attention", torch.nn.functional.scaled_dot_product_attention, [dense(2, 2, 4, 8)] * 3),
    ("reductions", lambda x: [x.sum(1), x.mean(), x.var(0), x.argmax(1), x.max(1), x.softmax(0)], [dense(3, 4)]),
    ("cross entropy", torch.nn.functional.cross_entropy, [dense(3, 4), torch.zeros(3, dtype=torch.long)]),
    ("embedding", torch.nn.functional.embedding, [torch.zeros(2, 3, dtype=torch.long), dense(5, 4)]),
    ("dropout", lambda x: torch.nn.functional.dropout(x, 0.5), [dense(3, 4)]),
    ("copies", lambda x: [x.clone(), x.to(torch.float16), x.contiguous(), x.detach(), x.double()], [dense(3, 4).t()]),
    ("makers", lambda x: [torch.zeros(3), x.new_ones(2), torch.arange(4), torch.empty_like(x)], [dense(3, 4)]),
    ("indexing", lambda x, i: [x[i], x[:, None], x.gather(0, i[:, None]), x.index_select(0, i)], [dense(3, 4), torch.arange(2)]),
    ("numbers as tensors", lambda x: x * torch.tensor(2.0) + torch.tensor([1, 2, 3]), [dense(2, 3)]),
    ("in place", lambda x, y: [x.add_(y), x.mul_(2), x.relu_(), x], [dense(3, 4), dense(4)]),
    ("in place, wider", lambda x, y: x.add_(y), [dense(4), dense(3, 4)]),
    ("in place, other dtype", lambda x: x.add_(1.5), [torch.ones(3, dtype=torch.long)]),
    ("overlapping", lambda x: x.expand(3, 4).add_(1), [dense(4)]),
    ("gradients", lambda x, y: [x * y, x.exp().view(-1), y + y], [dense(3).requires_grad_(), dense(3)]),
    ("cat", lambda x, y: [torch.cat([x, y]), torch.stack([x, x]), torch.where(x > 0, x, 0.0)], [dense(2, 3), dense(1, 3)]),
]  # fmt: skip


@pytest.mark.parametrize("case", OTHERS, ids=[name for name, _, _ in OTHERS])
def test_other_operators_look_as_torch_says(case: Any) -> None:
    check(case[1], case[2])


# where torch's own fakes were wrong, in one version or another
CORRECTED: list[tuple[str, Callable[..., Any], list[Any]]] = [
    ("norm over one", lambda x: [x.norm(dim=-1), x.norm(dim=-2), torch.linalg.vector_norm(x, 1, (-1, 0))], [dense(4, 1)]),
    ("norm of one", lambda x: [x.norm(), x.norm(dim=-1), x.norm(dim=-1, keepdim=True)], [dense(1)]),
    ("spectra", lambda x: [torch.fft.fft(x, dim=1), torch.fft.rfft2(x), torch.fft.ihfft(x, dim=0)], [dense(5, 6, 7)]),
    ("spectra back", lambda x: [torch.fft.irfft(x, dim=0), torch.fft.ifft(x, dim=0)], [dense(5, 6, 7).to(torch.complex64)]),
    ("floored quotients", lambda x, y: [x // y, x // x, y // x, x // y[0], x // 2], [dense(4, 3).t(), dense(4, 1).t()]),
    (
        "batch norms",
        lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
        [dense(4, 3, 2).transpose(0, 2)],
    ),
    (
        "unpooling",
        lambda x, i: torch.nn.functional.max_unpool2d(x, i, 2),
        [dense(1, 2, 2, 2).to(memory_format=torch.channels_last), torch.arange(8).view(1, 2, 2, 2) % 4 * 2],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CORRECTED, ids=[name for name, _, _ in CORRECTED])
def test_fakes_look_like_what_the_kernel_makes(case: Any) -> None:
    _, call, values = case
    mode = make_mode()
    assert outcome(mode, mode.fake_of, call, values) == real(call, values)


def inputs() -> dict[str, list[Any]]:
    base = torch.arange(12.0)
    weight = torch.nn.Parameter(torch.ones(3))
    trained = torch.nn.Parameter(torch.ones(3))
    trained.sum().backward()
    return {
        "plain": [torch.ones(2, 3), torch.ones(3, 2).t().contiguous()],
        "transposed": [torch.ones(3, 2).t()],
        "a view and its base": [base, base[3:6], base.view(3, 4)],
        "a view whose base is not given": [base[2:]],
        "shared memory, no view": [weight, weight.data, weight.detach()],
        "parameters": [weight, trained],
        "results": [weight * 2, (weight * 2).view(3, 1)],
        "a leaf view that needs a gradient": [base[:4].requires_grad_()],
        "given twice": [weight, weight],
        "empty": [torch.ones(0, 3)],
        "a number": [torch.tensor(3), torch.tensor(2.5)],
        "conjugate": [torch.ones(2, dtype=torch.complex64).conj()],
        "strided": [torch.empty_strided((3, 2), (1, 5))],
    }


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("name", inputs())
def test_fakes_of_inputs_look_as_torchs(name: str) -> None:
    values = inputs()[name]
    theirs, ours = FakeTensorMode(), make_mode()
    wanted = [theirs.from_tensor(value) for value in values]
    found = [ours.fake_of(value) for value in values]
    for mine, other in zip(found, wanted, strict=True):
        assert look(mine) == look(other)
        assert isinstance(mine, torch.nn.Parameter) == isinstance(other, torch.nn.Parameter)
        assert (mine.grad is None) == (other.grad is None)

    def alike(fakes: list[Any]) -> list[bool]:
        memory = [fake.untyped_storage()._cdata for fake in fakes]
        return [a == b for a in memory for b in memory]

    assert alike(found) == alike(wanted)
    assert [a is b for a in found for b in found] == [a is b for a in wanted for b in wanted]


def in_fresh_process(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_settings_that_nobody_changed_are_what_is_known_of_them() -> None:
    import torch._dynamo.config
    import torch._functorch.config

    for stand_in, real in (
        (without_dynamo._dynamo.config, torch._dynamo.config),
        (without_dynamo._functorch.config, torch._functorch.config),
    ):
        for name, value in stand_in._known.items():
            assert getattr(real, name) == value


COMPILING = """
import sys, torch, pydynamo
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Dropout(0.1))
        self.head = torch.nn.Linear(8, 3)
    def forward(self, x):
        x = self.layers(x[1:])
        return torch.nn.functional.softmax(self.head(x).view(-1, 3), -1)[:, None].mean()
net, x = Net(), torch.randn(5, 4)
compiled = pydynamo.compile(net, backend="eager", fullgraph=True)
torch.manual_seed(0); wanted = net(x)
torch.manual_seed(0); assert torch.equal(compiled(x), wanted)
compiled(x).backward()
assert pydynamo.compile(lambda x: (x * 2 + 1).relu(), backend="eager")(x.t()).shape == (4, 5)
assert "torch._dynamo" not in sys.modules, "compiling imported torch._dynamo"
"""


def test_compiling_does_not_import_dynamo() -> None:
    in_fresh_process(COMPILING)


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="torch.compile has no 3.15 yet")
def test_torch_compile_works_after_compiling_without_it() -> None:
    in_fresh_process(
        COMPILING
        + """
graphs = []
def backend(module, inputs):
    graphs.append(module)
    return module.forward
theirs = torch.compile(net, backend=backend, fullgraph=True)
torch.manual_seed(0); assert torch.equal(theirs(x), wanted)
assert len(graphs) == 1 and "torch._dynamo" in sys.modules
import torch._dynamo.config
assert torch._dynamo.config is sys.modules["torch._dynamo.config"]
again = pydynamo.compile(net, backend="aot_eager", fullgraph=True)
torch.manual_seed(0); assert torch.allclose(again(x), wanted)
both = torch.compile(lambda x: compiled(x) + 1, backend="eager")
torch.manual_seed(0); assert torch.allclose(both(x), wanted + 1)
"""
    )


def test_a_first_simple_compilation_imports_no_sympy() -> None:
    in_fresh_process(
        """
import sys, torch, pydynamo
assert pydynamo.compile(lambda x: (x * 2 + 1).relu(), backend="eager")(torch.ones(2)).tolist() == [3, 3]
assert "sympy" not in sys.modules
"""
    )


def test_operators_that_fail_on_fake_tensors_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Eager tells the user of the error, or the user's handler takes it."""

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        try:
            return x @ y
        except RuntimeError:
            return x.sum()

    with caplog.at_level("DEBUG"):
        pydynamo.compile(f, backend="eager")(torch.ones(2, 3), torch.ones(2, 3))
    assert not [record for record in caplog.records if record.name.startswith("torch._subclasses.fake_tensor")]
