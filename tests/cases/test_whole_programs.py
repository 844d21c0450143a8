"""What programs around models do: questions to torch, trees of tensors, annotations; all of it is captured in one graph."""

import collections
import functools
import typing

import pytest
import torch.jit
from harness import program, torch, whole
from torch.utils import _foreach_utils, _pytree

import pydynamo

ONE = torch.ones(3)


@whole
def test_attributes_that_every_partial_has():
    names = (
        "__ge__",
        "__dict__",
        "__name__",
        "__qualname__",
        "__doc__",
        "__class__",
        "__code__",
        "func",
        "tag",
        "__get__",
    )

    def f(x, p):
        made = functools.partial(max, x.ndim)
        return (
            x + 1,
            [hasattr(p, name) for name in names],
            [hasattr(made, name) for name in names],
            getattr(p, "tag", 0),
        )

    tagged = functools.partial(max, 1)
    tagged.tag = 3
    return f, [(ONE, functools.partial(max, 1)), (ONE, tagged), (ONE, functools.partial(max, 1))]


@whole
def test_attributes_that_a_class_in_c_gives():
    def f(x):
        values = ([], (), {}, len, None, 3, "text", x, f)
        names = ("__len__", "__lt__", "__class__", "append", "__name__", "__self__", "nothing")
        return x * 2, [[hasattr(value, name) for name in names] for value in values]

    return f, [(ONE,)]


@whole
def test_dict_fromkeys():
    def f(x):
        by_name = dict.fromkeys("ab", x + 1)
        counted = dict.fromkeys(map(len, ("a", "bb")))
        return by_name, counted, collections.OrderedDict.fromkeys([1, 2], x), {}.fromkeys(by_name, 1)

    return f, [(ONE,)]


@program
def test_fromkeys_of_a_subclass():
    class Named(dict):
        pass

    def f(x):
        return x + 1, type(Named.fromkeys("ab")).__name__

    return f, [(ONE,)]


@whole
def test_questions_to_torch():
    def f(x):
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return x
        if torch.onnx.is_in_onnx_export() or torch._C._are_functorch_transforms_active():
            return x + 1
        if torch._C._is_any_autocast_enabled() or not torch.autograd._is_checkpoint_valid():
            return x + 2
        return x + 3, torch.is_autocast_cache_enabled()

    return f, [(ONE,)]


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch is built without it")
def test_an_answer_of_torch_is_asked_again_before_each_call():
    def f(x):
        return x + 1 if torch.distributed.is_initialized() else x + 2

    compiled = pydynamo.compile(f, backend="eager", fullgraph=True)
    assert compiled(ONE).tolist() == [3, 3, 3]
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        assert compiled(ONE).tolist() == f(ONE).tolist() == [2, 2, 2]
    finally:
        torch.distributed.destroy_process_group()


@whole
def test_helpers_of_torch_jit():
    @torch.jit.script_if_tracing
    def double(x, times: int = 2):
        return x * times

    def f(x):
        y = torch.jit.annotate(typing.Any, x + 1)
        return torch.jit._unwrap_optional(double(y)), double(y, times=3)

    return f, [(ONE,)]


@whole
def test_trees_of_tensors():
    def f(tree):
        leaves, spec = _pytree.tree_flatten(tree)
        doubled = _pytree.tree_map(lambda leaf: leaf * 2, tree)
        return _pytree.tree_unflatten([leaf + 1 for leaf in leaves], spec), doubled, len(leaves)

    return f, [({"a": ONE, "b": [ONE + 1, (ONE * 3,)]},)]


@whole
def test_annotations_are_subscripted():
    def f(x):
        kinds = list[int], dict[str, int], collections.abc.Callable[[int], str], collections.deque[str]
        return x + 1, kinds

    return f, [(ONE,)]


@whole
def test_tensors_grouped_by_device_and_dtype():
    def f(x, y):
        plain = _foreach_utils._group_tensors_by_device_and_dtype([[x, y], [y, x]])
        placed = _foreach_utils._group_tensors_by_device_and_dtype([[x, y], []], with_indices=True)
        return [
            (key[1], lists[0][0][0] + 1, places)
            for groups in (plain, placed)
            for key, (*lists, places) in groups.items()
        ]

    return f, [(ONE, ONE + 1)]


@whole
def test_clipping_of_gradients():
    def made():
        torch.manual_seed(0)
        module = torch.nn.Linear(3, 3)
        module(torch.randn(2, 3)).square().sum().backward()
        return module

    def f(module, limit):
        norm = torch.nn.utils.clip_grad_norm_(module.parameters(), limit)
        return norm, [p.grad * 1 for p in module.parameters()]

    return f, [(made(), 1.0), (made(), 100.0)]


@whole
def test_types_and_sizes_of_new_tensors():
    def f(x, y):
        made = [x.new(y.size()), x.new(2, 3), x.new(y.shape[0]), x.new(), x.new(torch.Size((1, 2)))]
        kinds = [
            x.type(torch.DoubleTensor),
            x.type("torch.IntTensor"),
            x.type(torch.float16),
            x.type(torch.FloatTensor),
        ]
        return [(tuple(one.shape), one.dtype) for one in made], kinds, x.type(), made[0].fill_(2)

    return f, [(ONE, torch.ones(2, 2))]


@whole
def test_switches_of_torch_backends():
    def f(x):
        return x + 1, torch.backends.cuda.matmul.allow_tf32, torch.backends.cuda.flash_sdp_enabled()

    return f, [(ONE,)]
