"""The first call of a graph that leaves traces: if it fails, what it has changed is taken back and its frame runs again.

Some operators refuse on real tensors what they let pass on fake ones (dtypes that do not match, mostly). What they refuse
hangs on what the guards hold fixed, so it shows in the first call; later ones pay nothing. Operators that fail for their
data are no concern here: see ``failing``. Knows graphs' inputs and torch's storages, nothing of translations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from pydynamo._core import CompiledGraph
from pydynamo.frontend.fake_mode import Traces


class Changes:
    """What the operators of a graph leave behind, as far as it could be taken back."""

    def __init__(self) -> None:
        self.drawn = False
        self.lasting = False
        self._anything = False
        self._written: list[torch.Tensor] = []

    def note(self, traces: Traces, known: bool) -> None:
        """Another operator has been propagated; ``known``: its traces are all that it leaves."""
        self.drawn |= traces.drawn
        # autograd's own notes about a tensor that is changed in place cannot be taken back
        noted = torch.is_grad_enabled() and any(t.requires_grad for t in traces.written)
        self.lasting |= noted or not known
        self._anything |= not known
        self._written += traces.written

    def writes_to(self, fake: torch.Tensor) -> bool:
        """True if the memory of the tensor is, or may be, written to."""
        try:
            storage = fake.untyped_storage()._cdata
            return self._anything or any(storage == tensor.untyped_storage()._cdata for tensor in self._written)
        except (NotImplementedError, RuntimeError):
            return True  # a layout without a storage

    def positions(self, fakes: Sequence[Any]) -> tuple[int, ...] | None:
        """Which of the inputs' memory is written to, one input for each storage; None if not all can be taken back."""
        if self.lasting:
            return None
        try:
            written = {tensor.untyped_storage()._cdata for tensor in self._written}
            found = {
                fake.untyped_storage()._cdata: index
                for index, fake in enumerate(fakes)
                if isinstance(fake, torch.Tensor)
            }
        except (NotImplementedError, RuntimeError):
            return None  # a layout without a storage
        return tuple(index for storage, index in found.items() if storage in written)


class _FirstRun:
    """Stands in for ``run`` until a call has succeeded."""

    graph: CompiledGraph

    def __init__(self, run: Callable[..., Any], changed: tuple[int, ...], drawn: bool) -> None:
        self.run = run
        self.changed = changed
        self.drawn = drawn

    def __call__(self, *args: Any) -> Any:
        storages = [args[index].untyped_storage() for index in self.changed]
        saved = [storage.clone() for storage in storages]
        numbers = random_state() if self.drawn else None
        try:
            result = self.run(*args)
        except RecursionError:
            raise
        except Exception:
            if self.graph.repeatable:  # if not, another thread's call has succeeded meanwhile
                for storage, before in zip(storages, saved, strict=True):
                    storage.resize_(before.nbytes())
                    storage.copy_(before)
                if numbers is not None:
                    set_random_state(numbers)
            raise
        self.graph.repeatable = False
        self.graph.run = self.run
        return result


def compiled_graph(name: str, run: Callable[..., Any], fakes: Sequence[Any], changes: Changes | None) -> CompiledGraph:
    """``run`` as compiled code calls it; ``changes``: what it leaves behind if it fails, None if nothing."""
    if changes is None:
        return CompiledGraph(name, run, True)
    changed = changes.positions(fakes)
    if changed is None:
        return CompiledGraph(name, run, False)
    first = _FirstRun(run, changed, changes.drawn)
    first.graph = CompiledGraph(name, first, True)
    return first.graph


def taking_back_numbers(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, which may fail for its data in any call: then the numbers that it has drawn are drawn again."""

    def call(*args: Any) -> Any:
        numbers = random_state()
        try:
            return run(*args)
        except RecursionError:
            raise
        except Exception:
            set_random_state(numbers)
            raise

    return call


def random_state() -> tuple[torch.Tensor, list[torch.Tensor]]:
    """What torch's own generators will draw from."""
    on_devices = torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing()
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if on_devices else []


def set_random_state(state: tuple[torch.Tensor, list[torch.Tensor]]) -> None:
    """Draw again from there."""
    cpu, devices = state
    torch.set_rng_state(cpu)
    if devices:
        torch.cuda.set_rng_state_all(devices)
