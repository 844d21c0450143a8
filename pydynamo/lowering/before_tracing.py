"""What AOTAutograd would lose of a graph of torch's functions: it is looked after before tracing."""

from __future__ import annotations

import operator

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.operators import ONE_HOT

# in-place operators that eager refuses on a tensor with several elements in one place
WRITES = frozenset(
    (
        *(
            "abs_",
            "ceil_",
            "clamp_",
            "clamp_max_",
            "clamp_min_",
            "cos_",
            "exp_",
            "floor_",
            "log_",
            "neg_",
            "reciprocal_",
        ),
        *("relu_", "round_", "rsqrt_", "sigmoid_", "sin_", "sqrt_", "square_", "tanh_", "trunc_"),
        *("add_", "addcdiv_", "addcmul_", "bitwise_and_", "bitwise_or_", "bitwise_xor_", "copy_", "div_", "fill_"),
        *("floor_divide_", "fmod_", "lerp_", "mul_", "pow_", "remainder_", "sub_", "zero_"),
        *("iadd", "iand", "ifloordiv", "imod", "imul", "ior", "ipow", "isub", "itruediv", "ixor"),
    )
)


def check_writes(gm: torch.fx.GraphModule) -> None:
    """Raise as eager does where the graph writes into an expanded tensor: functional code would not notice."""
    for node in gm.graph.nodes:
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
        if name not in WRITES or node.op not in ("call_method", "call_function") or not node.args:
            continue
        written = node.args[0].meta.get("example_value") if isinstance(node.args[0], torch.fx.Node) else None
        if isinstance(written, torch.Tensor) and private.overlaps(written):
            raise RuntimeError(
                f"unsupported operation: {name} would write several elements of an expanded tensor to one place; "
                "clone() the tensor before the operation"
            )


def keep_checks(gm: torch.fx.GraphModule) -> None:
    """Make operators of which AOTAutograd would lose what they refuse on the host into operators that stay whole."""
    for node in gm.graph.nodes:
        if node.target is not torch.nn.functional.one_hot or not isinstance(node.args[0], torch.fx.Node):
            continue
        classes = node.args[1] if len(node.args) > 1 else node.kwargs.get("num_classes")
        x = node.args[0].meta.get("example_value")
        if type(classes) is int and classes > 0 and isinstance(x, torch.Tensor) and x.device.type == "cpu":
            node.target, node.args, node.kwargs = ONE_HOT, (node.args[0], classes), {}
    gm.recompile()


def keep_layouts(gm: torch.fx.GraphModule) -> None:
    """Let what is written by ``out=`` keep its strides: traced, the result would take the place of the tensor.

    ``f(x, out=y)`` becomes ``f(x, out=z)`` and ``y.copy_(z)`` with a new `z` of the same dtype, which decides in what `f`
    computes.
    """
    for node in list(gm.graph.nodes):
        out = node.kwargs.get("out")
        several = isinstance(out, (tuple, list))
        written = list(out) if several else [out]
        parts = [user for user in node.users if user.target is operator.getitem]
        if node.op != "call_function" or not all(isinstance(y, torch.fx.Node) for y in written):
            continue
        if several and len(parts) != len(node.users):
            continue
        contiguous = {"memory_format": torch.contiguous_format}
        with gm.graph.inserting_before(node):
            empty = [gm.graph.call_function(torch.empty_like, (y,), contiguous) for y in written]
        after = node
        for y, z in zip(written, empty, strict=True):
            with gm.graph.inserting_after(after):
                after = gm.graph.call_method("copy_", (y, z))
        node.kwargs = {**node.kwargs, "out": type(out)(empty) if several else empty[0]}
        for result in parts if several else [node]:
            result.replace_all_uses_with(written[result.args[1] if several else 0])
    gm.recompile()


def drop_nothing(gm: torch.fx.GraphModule) -> None:
    """Let dropout that drops nothing be its input, which its caller may write into: traced, it would be a copy."""
    parameters = {torch.nn.functional.dropout: ("input", "p", "training"), torch.dropout: ("input", "p", "train")}
    for node in list(gm.graph.nodes):
        names = parameters.get(node.target) if node.op == "call_function" else None
        if names is None:
            continue
        given = {"p": 0.5, names[2]: True} | dict(zip(names, node.args, strict=False)) | node.kwargs
        x, p, train = (given.get(name) for name in names)
        if isinstance(x, torch.fx.Node) and type(p) in (int, float) and 0 <= p <= 1 and (p == 0 or train is False):
            node.replace_all_uses_with(x)
            gm.graph.erase_node(node)
    gm.recompile()
