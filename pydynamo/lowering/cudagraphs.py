"""mode="reduce-overhead": the whole compiled graph as one CUDA graph.

Inputs that keep their address from call to call (parameters) are used in place; others are copied into static
memory first; where an address turns out to change after all, the graph is recorded again.  Results are cloned, so that
the next call cannot overwrite what the caller still holds.  A graph that changes its inputs, or that does something a
capture forbids, goes on without a CUDA graph, and says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

log = logging.getLogger("pydynamo.lowering")
MOST = 16  # sets of sizes that get a CUDA graph of their own
AGAIN = 4  # recordings because an address has changed; after that, plain calls
WARM = 2  # plain calls before the capture: they compile, and show which addresses stay
Run = Callable[[list[Any]], Sequence[Any]]


class Recorder:
    """Wraps a compiled graph's ``call``; `capture` makes a replay function (torch.cuda's, or a test's)."""

    def __init__(self, run: Run, capture: Callable[[Callable[[], Any]], tuple[Callable[[], None], Any]]) -> None:
        self.run, self.capture = run, capture
        self.calls = self.again = 0
        self.addresses: list[int | None] = []
        self.static: list[Any] = []
        self.copied: list[int] = []
        self.replay: Callable[[], None] | None = None
        self.results: Sequence[Any] = ()
        self.off = ""

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        if self.off:
            return self.run(args)
        now = [a.data_ptr() if isinstance(a, torch.Tensor) else None for a in args]
        if self.replay is None:
            self.calls += 1
            if self.calls <= WARM:
                same = self.addresses == [] or self.calls == 1
                self.addresses = (
                    now if same else [p if p == q else -1 for p, q in zip(self.addresses, now, strict=True)]
                )
                return self.run(args)
            self._record(args, now)
            if self.off:
                return self.run(args)
        return self._play(args, now)

    def _record(self, args: list[Any], now: list[int | None]) -> None:
        stable = [p is None or p == q for p, q in zip(self.addresses, now, strict=True)]
        self.static = [a if ok else a.clone() for a, ok in zip(args, stable, strict=True)]
        self.copied = [i for i, ok in enumerate(stable) if not ok]
        self.addresses = now
        try:
            self.replay, self.results = self.capture(lambda: self.run(list(self.static)))
        except Exception as e:  # whatever the operators in it may raise under a capture
            self._stop(str(e) or type(e).__name__)

    def _stop(self, why: str) -> None:
        self.off, self.replay, self.results, self.static = why, None, (), []
        log.warning("no CUDA graph: %s", why.splitlines()[0])

    def _again(self, moved: Sequence[int], args: list[Any], now: list[int | None]) -> None:
        """Record once more, with static memory for the arguments whose addresses have changed as well."""
        self.again += 1
        if self.again > AGAIN:
            self._stop(f"argument {moved[0]} has moved again")
            return
        for i in (*moved, *self.copied):
            self.addresses[i] = -1
        self.replay, self.results = None, ()
        self._record(args, now)

    def _play(self, args: list[Any], now: list[int | None]) -> Sequence[Any]:
        copied = set(self.copied)
        moved = [i for i, (p, q) in enumerate(zip(self.addresses, now, strict=True)) if i not in copied and p != q]
        if moved:
            self._again(moved, args, now)
            if self.off:
                return self.run(args)
        for i in self.copied:
            self.static[i].copy_(args[i])
        args.clear()
        assert self.replay is not None
        self.replay()
        return tuple(r.clone() if isinstance(r, torch.Tensor) else r for r in self.results)


def capture(run: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
    """Record `run` on a side stream; returns the replay function and the static results."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run()
    return graph.replay, results


class Recorders:
    """A recorder for each set of sizes; beyond `MOST` sets, plain calls."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.found: dict[Any, Recorder] = {}

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        key = tuple([(a.shape, a.stride()) if isinstance(a, torch.Tensor) else a for a in args])
        recorder = self.found.get(key)
        if recorder is None:
            if len(self.found) >= MOST:
                return self.run(args)
            recorder = self.found[key] = Recorder(self.run, capture)
        return recorder(args)


def recorded(run: Run, mutates: bool, on_host: bool = False, sized: bool = False) -> Run:
    """`run` as a CUDA graph where that is sound.

    `on_host`: some of its tensors are not on the device, and a replay would not compute them again; `sized`: its
    arguments' sizes may differ from call to call.
    """
    if mutates or on_host:
        log.info("no CUDA graph: the graph %s", "changes its inputs" if mutates else "works on the host, too")
        return run
    return Recorders(run) if sized else Recorder(run, capture)
