"""Sums over a row in which one element at most is not zero, as the gradient of a likelihood is: the element itself.

``sum(scatter(zeros, d, index, v) * w, d)`` with one index and one factor for a row is ``v * w``, with the nothings
that the other elements add: not a number where `w` is infinite.  Without this, backward of a softmax over a vocabulary
walks every row once more, to add zeros.  The scatter must be wanted elsewhere too: it is what refuses a wrong index.
"""

from __future__ import annotations

from typing import Any

import torch

from pydynamo.lowering.refusals import fits

aten = torch.ops.aten


def simplify_sums(gm: torch.fx.GraphModule) -> None:
    """Replace such sums in `gm`."""
    for node in list(gm.graph.nodes):
        found = _element_of(node)
        if found is None:
            continue
        w, v, row = found
        with gm.graph.inserting_before(node):
            total = gm.graph.call_function(aten.mul.Tensor, (w, v))
            made = [total]
            if row > 1:
                made.append(gm.graph.call_function(aten.mul.Tensor, (w, 0.0)))
                made.append(total := gm.graph.call_function(aten.add.Tensor, (total, made[-1])))
            made.append(total := gm.graph.call_function(aten.add.Tensor, (total, 0.0)))  # a sum is never -0.0
        for each in made:
            each.meta.update({k: node.meta[k] for k in ("val", "stack_trace") if k in node.meta})
        node.replace_all_uses_with(total)
        product = node.args[0]
        gm.graph.erase_node(node)
        if not product.users:
            gm.graph.erase_node(product)


def _element_of(node: torch.fx.Node) -> tuple[torch.fx.Node, float, int] | None:
    """(w, v, length of a row) if `node` is such a sum with its dimension kept."""
    if node.target is not aten.sum.dim_IntList or len(node.args) != 3 or node.args[2] is not True or node.kwargs:
        return None
    product, dims = node.args[0], node.args[1]
    if not isinstance(product, torch.fx.Node) or product.target is not aten.mul.Tensor or len(dims) != 1:
        return None
    for one, w in (product.args, product.args[::-1]):
        if not isinstance(one, torch.fx.Node) or not isinstance(w, torch.fx.Node):
            continue
        if one.target is not aten.scatter.value or len(one.users) + len(product.users) == 2:
            continue
        zeros, dim, index, v = one.args
        same = _like(w, node) and _like_but_shape(one, w) and _rank(zeros) == _rank(node)
        if not same or dim % _rank(node) != dims[0] % _rank(node) or not _is_zero(zeros):
            continue
        row = zeros.meta["val"].shape[dim]
        dtype = w.meta["val"].dtype
        known = isinstance(row, int) and type(v) is float and fits(v, dtype)
        if known and index.meta["val"].shape == node.meta["val"].shape:
            return w, torch.tensor(v, dtype=torch.float64).to(dtype).item(), row
    return None


def _like_but_shape(a: torch.fx.Node, b: torch.fx.Node) -> bool:
    x, y = a.meta.get("val"), b.meta.get("val")
    return isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and x.dtype == y.dtype


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
