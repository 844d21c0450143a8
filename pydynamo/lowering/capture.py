"""From a Dynamo graph to functional core ATen: AOTAutograd, partitioning, clean-ups."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pydynamo.errors import PydynamoError
from pydynamo.lowering import dynamic
from pydynamo.lowering import torch_private as private
from pydynamo.lowering.before_tracing import check_writes, drop_nothing, keep_checks, keep_layouts
from pydynamo.lowering.compile_pool import start_early
from pydynamo.lowering.config import Options
from pydynamo.lowering.decompositions import decompositions
from pydynamo.lowering.onehot import simplify_sums
from pydynamo.lowering.operators import RAND, SOFTMAX_STATS
from pydynamo.lowering.pipeline import compile_graph, device_of
from pydynamo.lowering.randoms import replace_dropout, share_seeds

aten = torch.ops.aten
log = logging.getLogger("pydynamo.lowering")


def clean(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Dead code and common subexpressions."""
    gm.graph.eliminate_dead_code()
    seen: dict[Any, torch.fx.Node] = {}
    for node in list(gm.graph.nodes):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        schema = node.target._schema
        if schema.is_mutable or torch.Tag.nondeterministic_seeded in node.target.tags:
            continue
        val = node.meta.get("val")
        if not isinstance(val, torch.Tensor):
            continue
        key = (node.target, _key(node.args), _key(node.kwargs))
        other = seen.get(key)
        if other is None:
            seen[key] = node
        elif _strides(other.meta["val"]) == _strides(val) and not _fresh_result(node):
            node.replace_all_uses_with(other)
            gm.graph.erase_node(node)
    return gm


def _strides(val: torch.Tensor) -> tuple[Any, ...]:
    """Strides that compare without a guard."""
    return tuple(private.expression_of(s) if isinstance(s, torch.SymInt) else s for s in val.stride())


def _fresh_result(node: torch.fx.Node) -> bool:
    """Results that are returned, or shown by views that are, stay apart: the caller may write into them."""
    return any(
        u.op == "output" or u.target is aten.copy_.default or (private.is_view(u) and _fresh_result(u))
        for u in node.users
    )


def _key(a: Any) -> Any:
    if isinstance(a, (tuple, list)):
        return (type(a), *(_key(x) for x in a))
    if isinstance(a, dict):
        return tuple((k, _key(v)) for k, v in a.items())
    if isinstance(a, torch.SymInt):
        return (torch.SymInt, private.expression_of(a))
    return (a, type(a), str(a)) if isinstance(a, (int, float, bool)) else a


def compile_fx(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any], options: Any = None, *, mode: str | None = None
) -> Callable[..., Any]:
    """Compile a Dynamo graph (a graph module of torch operations) with its gradients to Triton kernels.

    `options`: a mapping of the fields of :class:`Options`, or an Options. Returns a callable with the graph's
    calling convention.  Raises PydynamoError on unknown options, and when CPU tensors meet no ``interpret``.
    """
    opts = options if isinstance(options, Options) else Options.make(options, mode)
    check_writes(gm)
    keep_checks(gm)
    keep_layouts(gm)
    drop_nothing(gm)
    if any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in example_inputs):
        start_early()
    return private.dynamo_disable(
        private.aot(
            gm,
            list(example_inputs),
            fw_compiler=functools.partial(_compile, opts, False),
            bw_compiler=functools.partial(_compile_backward, opts),
            inference_compiler=functools.partial(_compile, opts, False),
            decompositions=decompositions(),
            partition_fn=_partition,
        )
    )


def _partition(
    joint: torch.fx.GraphModule, inputs: Sequence[Any], *, num_fwd_outputs: int, **kw: Any
) -> tuple[torch.fx.GraphModule, torch.fx.GraphModule]:
    """Min-cut partitioning, with random masks made twice instead of saved."""
    replace_dropout(joint)
    _disguise(joint)
    forward, backward = private.min_cut_rematerialization_partition(
        joint, inputs, num_fwd_outputs=num_fwd_outputs, **kw
    )
    for gm in (joint, forward, backward):
        _unmask(gm)
    share_seeds(forward, backward, num_fwd_outputs)
    return forward, backward


# what the partitioner takes our operators for: it knows only torch's own as code that fuses, and saves the whole
# tensors around any other
DISGUISES = {SOFTMAX_STATS: aten.var_mean.correction, RAND: aten.full.default}


def _disguise(gm: torch.fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        if node.target in DISGUISES:
            node.meta["disguised"] = node.target
            node.target = DISGUISES[node.target]


def _unmask(gm: torch.fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        node.target = node.meta.pop("disguised", node.target)
    gm.recompile()


def _compile_backward(opts: Options, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
    return private.dynamo_disable(private.dynamo_disable(_compile)(opts, True, gm, inputs))


def _compile(opts: Options, backward: bool, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
    run: Callable[[list[Any]], Any]
    try:
        replace_dropout(gm)
        clean(gm)
        simplify_sums(gm)
        if device_of(gm).type == "cpu" and not opts.interpret and torch.cuda.is_available():
            # the host's part of a program for a GPU
            log.info("a graph of CPU tensors runs operator by operator")
            run = private.make_boxed_func(gm.forward)
        elif dynamic.has_symbols(gm):
            run = dynamic.compiled(gm, opts, backward)
        else:
            run = compile_graph(gm, device_of(gm), opts, backward).call
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        # a fault of lowering must not be taken for what an operator refuses while AOTAutograd traces
        raise PydynamoError(f"lowering failed: {type(error).__name__}: {error}") from error

    def call(args: list[Any]) -> Any:
        return run(args)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def backend(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Any = None, mode: str | None = None
) -> Callable[..., Any]:
    """What ``torch.compile(fn, backend="pydynamo", options=..., mode=...)`` calls."""
    return compile_fx(gm, example_inputs, options, mode=mode)


def register() -> None:
    """Make ``backend="pydynamo"`` known to torch in this process, where the package is not installed."""
    if "pydynamo" not in torch._dynamo.list_backends():
        private.register_backend(backend, name="pydynamo")
