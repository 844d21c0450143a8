"""Graphs that write to inputs whose memory overlaps: what a backend compiled holds for inputs that are apart.

A backend that makes a graph functional takes an input's value for its own: it does not see what is written through another.
So where the memory of a written input and of another one overlap, in the first call or in any later one, the graph runs
operator by operator, which is right for each way in which they can overlap. Knows tensors and graphs' inputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class Apart:
    """Runs what a backend compiled if no memory that is written to overlaps; ``plain`` otherwise."""

    __slots__ = ("places", "plain", "run")

    def __init__(
        self, run: Callable[..., Any], plain: Callable[..., Any], places: list[tuple[int, int | None, bool]]
    ) -> None:
        self.run = run
        self.plain = plain
        self.places = places

    def __call__(self, *args: Any) -> Any:
        return self.plain(*args) if overlap(self.places, args) else self.run(*args)


def places_of(fakes: Sequence[Any], written: Callable[[torch.Tensor], bool]) -> list[tuple[int, int | None, bool]]:
    """Where the tensors among the inputs are, their bytes if these never change, and whether the graph writes to them.

    Empty if that is of no concern.
    """
    places = [
        (index, _bytes(fake), written(fake))
        for index, fake in enumerate(fakes)
        if isinstance(fake, torch.Tensor) and fake.layout is torch.strided
    ]
    return places if len(places) > 1 and any(place[2] for place in places) else []


def _bytes(fake: torch.Tensor) -> int | None:
    """How many bytes lie between the first and the last element; None for symbolic sizes, whose tensors are contiguous."""
    last = 1
    for size, stride in zip(fake.shape, fake.stride(), strict=True):
        if not (type(size) is int and type(stride) is int):
            return None
        if size == 0:
            return 0
        last += (size - 1) * stride
    return last * fake.element_size()


def overlap(places: list[tuple[int, int | None, bool]], args: Sequence[Any]) -> bool:
    """True if the memory of a written input overlaps that of another input."""
    spans = []
    for index, size, written in places:
        start = args[index].data_ptr()
        spans.append((start, start + (args[index].nbytes if size is None else size), written))
    spans.sort()
    end = end_of_written = 0
    for start, stop, written in spans:
        if start < end_of_written or (written and start < end):
            return True
        end = max(end, stop)
        if written:
            end_of_written = max(end_of_written, stop)
    return False
