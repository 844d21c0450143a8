"""How eager's kernels on the host lay out what they make, where torch's own descriptions say otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def roll_strides(
    shape: Sequence[int], stride: Sequence[int], shifts: Sequence[int], dims: Sequence[int]
) -> tuple[int, ...]:
    """Strides of ``torch.roll``: of the joined halves of each dimension, or of a flattened tensor's view."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != (len(dims) or 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        x = torch.empty_strided(shape, stride, device="meta")
        if not dims:
            return x.new_empty(shape).stride()
        if not x.numel():
            return tuple(stride)
        for shift, dim in zip(shifts, dims, strict=True):
            n = shape[dim]
            start = (n - shift) % n
            x = torch.cat((x.narrow(dim, start, n - start), x.narrow(dim, 0, start)), dim)
        return x.stride()
