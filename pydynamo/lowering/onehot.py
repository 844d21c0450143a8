"""Sums over a row in which one element at most is not zero, as the gradient of a likelihood is: the element itself.

``sum(scatter(zeros, d, index, v) * w, d)`` with one index for a row is ``v * w``.  Without this, backward of a softmax
over a vocabulary walks every row once more, to add zeros.
"""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def simplify_sums(gm: torch.fx.GraphModule) -> None:
    """Replace such sums in `gm`."""
    for node in list(gm.graph.nodes):
        found = _element_of(node)
        if found is None:
            continue
        w, v = found
        with gm.graph.inserting_before(node):
            element = gm.graph.call_function(aten.mul.Tensor, (w, v))
            total = gm.graph.call_function(aten.add.Tensor, (element, 0.0))  # a sum with zeros is never -0.0
        for made in (element, total):
            made.meta.update({k: node.meta[k] for k in ("val", "stack_trace") if k in node.meta})
        node.replace_all_uses_with(total)
        gm.graph.erase_node(node)


def _element_of(node: torch.fx.Node) -> tuple[torch.fx.Node, float] | None:
    """(w, v) if `node` is such a sum with its dimension kept."""
    if node.target is not aten.sum.dim_IntList or len(node.args) != 3 or node.args[2] is not True or node.kwargs:
        return None
    product, dims = node.args[0], node.args[1]
    if not isinstance(product, torch.fx.Node) or product.target is not aten.mul.Tensor or len(dims) != 1:
        return None
    for one, w in (product.args, product.args[::-1]):
        if isinstance(one, torch.fx.Node) and isinstance(w, torch.fx.Node) and one.target is aten.scatter.value:
            zeros, dim, index, v = one.args
            same = _like(w, node) and _rank(zeros) == _rank(node) and dim % _rank(node) == dims[0] % _rank(node)
            if same and _is_zero(zeros) and index.meta["val"].shape == node.meta["val"].shape and type(v) is float:
                return w, v
    return None


def _rank(node: Any) -> int:
    return len(node.meta["val"].shape)


def _like(a: torch.fx.Node, b: torch.fx.Node) -> bool:
    """True if two values have one shape, known beforehand, and one floating-point type."""
    x, y = a.meta.get("val"), b.meta.get("val")
    return (
        isinstance(x, torch.Tensor)
        and isinstance(y, torch.Tensor)
        and all(isinstance(n, int) for n in (*x.shape, *y.shape))
        and x.dim() > 0
        and x.shape == y.shape
        and x.dtype == y.dtype
        and x.dtype.is_floating_point
    )


def _is_zero(node: Any) -> bool:
    fill = {aten.full_like.default: 1, aten.full.default: 1}.get(node.target)
    return node.target in (aten.zeros_like.default, aten.zeros.default) or (fill is not None and node.args[fill] == 0)
