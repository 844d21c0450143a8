"""Which operators can fail for the data of their arguments, and so only when the graph runs. Knows no graph.

Under fake tensors such an operator passes. Where its failure could be seen half-way through a frame, what the frame did
before must be known: a graph that leaves nothing behind when it fails lets its frame run again; for others it is a break.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch

from pydynamo.frontend.variables.base import Args, VariableTracker
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: decompositions, indices and classes out of range, probabilities that are none, values that a loss does not take
_FAILING = frozenset(
    {
        *("gather", "scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "put", "index_put"),
        *("index_select", "index_add", "index_copy", "index_fill", "index_reduce", "masked_scatter", "masked_select"),
        *("embedding", "embedding_bag", "one_hot", "bincount", "repeat_interleave", "tensor_split", "segment_reduce"),
        *("max_unpool1d", "max_unpool2d", "max_unpool3d", "searchsorted", "bucketize", "histc", "histogram", "histogramdd"),
        *("quantile", "nanquantile", "narrow", "istft", "sparse_coo_tensor", "sparse_csr_tensor", "sparse_compressed_tensor"),
        *("cross_entropy", "nll_loss", "nll_loss_nd", "binary_cross_entropy", "ctc_loss", "multi_margin_loss"),
        *("multilabel_margin_loss", "gaussian_nll_loss"),
        *("multinomial", "bernoulli", "poisson", "binomial", "normal", "gumbel_softmax", "_standard_gamma", "_sample_dirichlet"),
        *("uniform", "exponential", "geometric", "cauchy", "log_normal", "random"),
        *("cholesky", "cholesky_inverse", "cholesky_solve", "inverse", "pinverse", "svd", "qr", "lu", "lu_solve", "lu_unpack"),
        *("matrix_power", "triangular_solve", "geqrf", "ormqr", "lstsq", "logdet", "svd_lowrank", "pca_lowrank", "lobpcg"),
        *("_assert", "_assert_async"),
    }
)  # fmt: skip
_SAFE_LINALG = frozenset({"norm", "vector_norm", "matmul", "cross", "multi_dot", "diagonal", "vecdot"})
_DIVISIONS = frozenset({"floordiv", "mod", "div", "divide", "floor_divide", "remainder", "fmod"})
_REFLECTED = frozenset({"__rfloordiv__", "__rmod__", "__rdiv__"})
_SUBSCRIPTS = frozenset({"getitem", "setitem"})


def may_fail(name: str, args: Args) -> bool:
    """True if an operator of this name can fail for the data of these arguments."""
    if name in _REFLECTED:
        return _may_divide_by_zero([args[1], args[0]])
    bare = _bare(name)
    if bare in _DIVISIONS or (bare[:1] == "i" and bare[1:] in _DIVISIONS):
        return _may_divide_by_zero(args)
    if bare in _SUBSCRIPTS:
        return _may_miss(args, stores=bare == "setitem")
    if bare.startswith("linalg_"):
        return bare.removeprefix("linalg_") not in _SAFE_LINALG
    return bare in _FAILING


def writes_over_itself(name: str, args: Args) -> bool:
    """True if the operator writes several elements to one place, which it refuses; traced, it would not."""
    return _writes(name) and _overlaps_itself(args)


def _bare(name: str) -> str:
    """``add`` of ``add``, ``add_`` and ``__add__``."""
    return name.strip("_") if name.startswith("__") else name.removesuffix("_")


def _writes(name: str) -> bool:
    """True for ``add_``, ``iadd`` and their like, and for stores to a subscript."""
    bare = _bare(name)
    in_place = name.endswith("_") and not name.startswith("__")
    return in_place or bare == "setitem" or (bare[:1] == "i" and hasattr(operator, f"__{bare}__"))


def _overlaps_itself(args: Args) -> bool:
    """True if an expanded tensor comes first: writing to several elements in one place is an error."""
    first = args[0] if args else None
    if not isinstance(first, TensorVariable):
        return False
    return any(stride == 0 and size != 1 for size, stride in zip(first.fake.shape, first.fake.stride(), strict=True))


def _may_divide_by_zero(args: Args) -> bool:
    """Only integers divided by a zero that is not known now fail."""
    operands = [arg for arg in args if isinstance(arg, TensorVariable)]
    if any(arg.fake.is_floating_point() or arg.fake.is_complex() for arg in operands):
        return False
    divisor = args[1] if len(args) > 1 else None
    return divisor is None or not divisor.is_constant() or not divisor.as_constant()


def _may_miss(args: Args, stores: bool) -> bool:
    """An index in a tensor or a list may be out of range; what a mask selects may not have as many elements as are stored."""
    if _holds_list(args[1]):
        return True
    found: dict[int, VariableTracker] = {}
    tensors_in(args[1], found)
    dtypes = [v.fake.dtype for v in found.values() if isinstance(v, TensorVariable)]
    if any(dtype != torch.bool for dtype in dtypes):
        return True
    value = args[2].realize() if stores else None
    return bool(dtypes) and isinstance(value, TensorVariable) and value.fake.dim() > 0


def _holds_list(index: VariableTracker) -> bool:
    index = index.realize()
    if not isinstance(index, SequenceVariable):
        return False
    return index.cls is list or any(_holds_list(item) for item in index.items)


def tensors_in(value: VariableTracker, known: dict[int, VariableTracker]) -> None:
    """Add the tensors that a value is or holds, by the identity of their fakes."""
    if isinstance(value, TensorVariable):
        known.setdefault(id(value.fake), value)
    else:
        for child in value.children():
            tensors_in(child.realize(), known)


def would_be_seen(tx: Translator) -> str:
    """What an exception at this place has to find as the program left it; '' if nothing."""
    root = tx.root
    if tx.in_user_try() or root.handled or any(generator.is_suspended_in_try() for generator in root.generators):
        return "in a try block"
    # with fullgraph there is nothing else that could be done
    if not root.options.fullgraph and not tx.ledger.is_empty():
        return "after a change that an error must leave behind"
    return ""
