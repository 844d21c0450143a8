"""Guards on tensors and on torch's global state: equal only when compiled code may be reused."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pydynamo._core import GuardBuilder, GuardProgram  # noqa: E402


def f(x: Any, y: Any = None) -> Any:
    return x


def guards_on(example: Any, **options: Any) -> GuardProgram:
    builder = GuardBuilder(f.__code__)
    builder.tensor(builder.local("x"), example, **options)
    return builder.build()


def passes(guards: GuardProgram, *args: Any) -> bool:
    reason = guards.check_verbose(f, args)
    assert guards.check(f, args) is (reason is None)
    return reason is None


class Sub(torch.Tensor): ...


TENSORS: list[tuple[str, Callable[[], Any]]] = [
    ("plain", lambda: torch.zeros(2, 3)),
    ("another size", lambda: torch.zeros(2, 4)),
    ("another rank", lambda: torch.zeros(2, 3, 1)),
    ("no rank", lambda: torch.zeros(())),
    ("empty", lambda: torch.zeros(0)),
    ("transposed", lambda: torch.zeros(3, 2).t()),
    ("expanded", lambda: torch.zeros(1, 3).expand(2, 3)),
    ("double", lambda: torch.zeros(2, 3, dtype=torch.float64)),
    ("int", lambda: torch.zeros(2, 3, dtype=torch.int64)),
    ("bool", lambda: torch.zeros(2, 3, dtype=torch.bool)),
    ("bfloat16", lambda: torch.zeros(2, 3, dtype=torch.bfloat16)),
    ("complex", lambda: torch.zeros(2, 3, dtype=torch.complex64)),
    ("conjugate", lambda: torch.zeros(2, 3, dtype=torch.complex64).conj()),
    ("negative", lambda: torch._neg_view(torch.zeros(2, 3))),
    ("wants grad", lambda: torch.zeros(2, 3, requires_grad=True)),
    ("parameter", lambda: torch.nn.Parameter(torch.zeros(2, 3))),
    ("frozen parameter", lambda: torch.nn.Parameter(torch.zeros(2, 3), requires_grad=False)),
    ("meta", lambda: torch.zeros(2, 3, device="meta")),
    ("subclass", lambda: torch.zeros(2, 3).as_subclass(Sub)),
    ("sparse", lambda: torch.zeros(2, 3).to_sparse()),
    ("inference", lambda: inference_tensor()),
]


def inference_tensor() -> Any:
    with torch.inference_mode():
        return torch.zeros(2, 3)


@pytest.mark.parametrize("index", range(len(TENSORS)), ids=[name for name, _ in TENSORS])
def test_every_tensor_is_told_from_every_other(index: int) -> None:
    guards = guards_on(TENSORS[index][1]())
    assert [name for name, make in TENSORS if passes(guards, make())] == [TENSORS[index][0]]
    assert not passes(guards, None)
    assert not passes(guards, 3)


def test_reasons_are_readable() -> None:
    guards = guards_on(torch.zeros(2, 3))
    for value, text in [
        (torch.zeros(2, 4), "f: x: size[1] is 4, expected 3"),
        (torch.zeros(3, 2).t(), "f: x: stride[0] is 1, expected 3"),
        (torch.zeros(2), "f: x: it has 1 dimensions, expected 2"),
        (torch.zeros(2, 3, dtype=torch.int8), "f: x: dtype is torch.int8, expected torch.float32"),
        (torch.zeros(2, 3, requires_grad=True), "f: x: requires_grad is True, expected False"),
        (1, "f: x: type is <class 'int'>, expected <class 'torch.Tensor'>"),
    ]:
        assert guards.check_verbose(f, (value,)) == text
    reason = guards.check_verbose(f, (inference_tensor(),))
    assert reason is not None
    assert "dispatch keys differ" in reason


def test_dynamic_dimensions_pass_whatever_they_are() -> None:
    guards = guards_on(torch.zeros(2, 3), sizes=[None, 3], strides=[None, 1])
    assert passes(guards, torch.zeros(7, 3))
    assert not passes(guards, torch.zeros(7, 4))
    assert not passes(guards, torch.zeros(3, 7).t())
    loose = guards_on(torch.zeros(2, 3), check_strides=False)
    assert passes(loose, torch.zeros(3, 2).t())
    assert not passes(loose, torch.zeros(3, 3))


def test_shape_expressions_read_sizes_strides_and_offsets() -> None:
    builder = GuardBuilder(f.__code__)
    x, y = builder.local("x"), builder.local("y")
    symbols = {
        "s0": (x, "size", 0),
        "s1": (y, "size", 1),
        "t": (x, "stride", 0),
        "o": (y, "offset"),
    }
    builder.shape("2 <= s0 < s1 and t == Max(1, s0) * 3 and o % 2 == 0", symbols)
    guards = builder.build()
    base = torch.zeros(100)
    assert passes(guards, torch.zeros(4, 12), base[2:42].view(4, 10))
    for x_, y_ in [
        (torch.zeros(4, 12), base[1:41].view(4, 10)),
        (torch.zeros(4, 13), base[2:42].view(4, 10)),
        (torch.zeros(1, 3), base[2:42].view(4, 10)),
        (torch.zeros(4, 12), torch.zeros(4)),
        (torch.zeros(()), torch.zeros(4, 10)),
        (None, torch.zeros(4, 10)),
    ]:
        assert not passes(guards, x_, y_)
    reason = guards.check_verbose(f, (torch.zeros(4, 13), torch.zeros(4, 10)))
    assert reason is not None
    assert reason.endswith("where s0 = 4, s1 = 10, t = 13, o = 0")


def test_marks_must_be_known() -> None:
    builder = GuardBuilder(f.__code__)
    builder.dynamic_marks(builder.local("x"), [0])
    guards = builder.build()
    x = torch.zeros(2, 3)
    assert passes(guards, x)
    x._dynamo_dynamic_indices = {0}
    assert passes(guards, x)
    x._dynamo_dynamic_indices = {0, 1}
    assert not passes(guards, x)


def test_the_example_must_be_a_tensor() -> None:
    from pydynamo.errors import PydynamoError

    with pytest.raises(PydynamoError, match="needs a tensor as example, not 3"):
        guards_on(3)
    with pytest.raises(PydynamoError, match="as many strides as sizes"):
        guards_on(torch.zeros(2), strides=[1, 2])


def state_guards() -> GuardProgram:
    builder = GuardBuilder(f.__code__)
    builder.torch_state()
    return builder.build()


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def default_dtype() -> Any:
    class Changed:
        def __enter__(self) -> None:
            torch.set_default_dtype(torch.float64)

        def __exit__(self, *exception: object) -> None:
            torch.set_default_dtype(torch.float32)

    return Changed()


def deterministic() -> Any:
    class Changed:
        def __enter__(self) -> None:
            torch._C._set_deterministic_algorithms(True)

        def __exit__(self, *exception: object) -> None:
            torch._C._set_deterministic_algorithms(False)

    return Changed()


@pytest.mark.parametrize(
    "change",
    [
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        default_dtype,
        deterministic,
        Mode,
        torch._C.DisableTorchFunctionSubclass,
    ],
    ids=[
        "no_grad",
        "inference_mode",
        "autocast",
        "default_dtype",
        "deterministic",
        "mode",
        "no_torch_function",
    ],
)
def test_global_state_is_seen(change: Callable[[], Any]) -> None:
    guards = state_guards()
    assert passes(guards, 1)
    with change():
        assert guards.check_verbose(f, (1,)) is not None
        assert not guards.check(f, (1,))
        inside = state_guards()
        assert inside.check(f, (1,))
    assert passes(guards, 1)
    assert not inside.check(f, (1,))


def test_functorch_transforms_are_seen() -> None:
    guards = state_guards()
    found = []

    def inside(x: Any) -> Any:
        found.append(guards.check(f, (1,)))
        return x * 2

    torch.func.vmap(inside)(torch.zeros(3))
    assert found == [False]
    assert guards.check(f, (1,))


def test_guards_do_not_import_dynamo() -> None:
    import subprocess

    text = (
        "import sys, torch; before = 'torch._dynamo' in sys.modules\n"
        "from pydynamo._core import GuardBuilder\n"
        "def f(x): pass\n"
        "g = GuardBuilder(f.__code__); g.tensor(g.local('x'), torch.zeros(2)); g.torch_state()\n"
        "assert g.build().check(f, (torch.ones(2),))\n"
        "print(before, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "False False\n"
