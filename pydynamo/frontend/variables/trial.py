"""Trial traces: calls followed only to find out that they are pure, and to guard what they read. Their nodes are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from pydynamo.frontend.exc import ObservedException, RestartTranslation, unsupported
from pydynamo.frontend.variables.base import Args
from pydynamo.frontend.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator


@contextmanager
def trial(tx: Translator, reason: str, name: str, arguments: Args) -> Iterator[None]:
    """Run the block and forget its nodes; what it does besides computing from ``arguments`` breaks the graph."""
    output = tx.output
    last = next(iter(reversed(output.graph.nodes)), None)
    inputs, ops = len(output.inputs), output.ops
    before = tx.ledger.snapshot()
    known = [v.fake for v in arguments if isinstance(v, TensorVariable)]
    known += [entry.node.meta["example_value"] for entry in output.inputs]
    tensors = [fake for fake in known if isinstance(fake, torch.Tensor) and not fake.is_inference()]
    versions = [fake._version for fake in tensors]
    grad = torch.is_grad_enabled()
    try:
        yield
    except ObservedException:
        unsupported(reason, f"{name} raises")
    finally:
        torch._C._set_grad_enabled(grad)
    for entry in output.inputs[inputs:]:
        if not isinstance(entry.example, torch.Tensor):
            raise RestartTranslation("static", entry.source.name)
    if len(output.inputs) != inputs:
        unsupported(reason, f"{name} uses tensors that are not its arguments")
    if not before.is_current():
        unsupported(reason, f"{name} changes objects")
    if [fake._version for fake in tensors] != versions:
        unsupported(reason, f"{name} changes a tensor in place")
    output.forget_after(last)
    output.ops = ops
