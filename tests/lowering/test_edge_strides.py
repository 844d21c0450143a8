"""Edges of layout: strides that a kernel of eager's gives its result, where the operator was taken apart on the way."""

import torch
import torch.nn.functional as F
from edge_harness import Cases, R

case = Cases()
CL = torch.channels_last


def laid_out():
    """Contiguous, channels last, transposed, and a window on channels last."""
    x = R(2, 3, 5, 6)
    return [x, x.to(memory_format=CL), R(2, 3, 6, 5).transpose(2, 3), R(2, 3, 7, 6).to(memory_format=CL)[:, :, 1:6]]


def for_each(fn):
    return lambda *xs: [r for x in xs for r in fn(x)], laid_out()


@case(strides=True)
def padding_keeps_the_memory_format():
    return for_each(
        lambda x: (
            F.pad(x, (1, 2, 0, 1), "reflect"),
            F.pad(x, (1, 0, 2, 0), "replicate"),
            F.pad(x, (1, 1, 1, 1), "circular"),
            F.pad(x, (-1, 2)),
            F.pad(x[0], (1, 1), "reflect"),
        )
    )


@case(strides=True)
def moved_elements():
    return for_each(
        lambda x: (x.roll(2, 1), x.roll((1, 1), (2, 3)), x.flip(2), x.rot90(1, (2, 3)), x.repeat_interleave(2, 2))
    )


@case(strides=True)
def losses_of_each_element():
    t = (torch.arange(60) % 3).view(2, 6, 5).transpose(1, 2)
    return lambda x, c, t, w: (
        F.nll_loss(x, t, reduction="none"),
        F.nll_loss(c, t, w, reduction="none", ignore_index=1),
        F.cross_entropy(c, t, reduction="none"),
        F.nll_loss(x.flatten(2)[:, :, 0], t[:, 0, 0], reduction="none"),
        F.nll_loss(c, t, w),
    ), [R(2, 3, 5, 6), R(2, 3, 5, 6).to(memory_format=CL), t, R(3).abs()]


@case(strides=True)
def writes_into_copies_of_windows():
    def f(x):
        return (
            x.select_scatter(x[:, :, 0] * 2, 2, 1),
            x.slice_scatter(x[:, :1] * 2, 1, 1, 2),
            x.diagonal_scatter(x.diagonal(0, 2, 3) * 2, 0, 2, 3),
            x.index_fill(2, torch.tensor([1]), 2.0),
            x.index_add(2, torch.tensor([1]), x[:, :, :1]),
            x.masked_fill(x > 0, 1.0),
        )

    return for_each(f)


@case(strides=True)
def writes_into_copies_of_rows_with_gaps():
    return lambda x, y, s: (
        x.select_scatter(s, 0, 1),
        y.select_scatter(s, 1, 0),
        x.slice_scatter(y[:2] * 2, 0, 0, 2),
        x.slice_scatter(y[:, :1], 1, 2, 3),
        x.diagonal_scatter(s),
    ), [R(4, 4).t(), R(8, 8)[::2, ::2], R(4)]


test_equals_eager = case.test()
