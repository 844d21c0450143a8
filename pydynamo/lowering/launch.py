"""Direct launch of compiled kernels on a GPU: no JIT dispatch, pointers as plain integers.

One variant is compiled for pointers that are all multiples of 16 bytes (128-bit loads) and, only if a call
ever needs it, one for the pointers that are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.config import Options
from pydynamo.lowering.runtime import compile_kernel, target_of
from pydynamo.lowering.triton_codegen import Config, KernelSource

ALIGNMENT = 16  # bytes: what a 128-bit load wants


class DirectLauncher:
    """Callable with the kernel's tensors, in parameter order."""

    def __init__(self, src: KernelSource, options: Options, device: torch.device) -> None:
        self.src, self.options, self.device = src, options, device
        self.index = torch.cuda.current_device() if device.index is None else device.index
        self.target = target_of(device)
        self.config: Config | None = None if options.mode == "max-autotune" else src.configs[0]
        self.library: bool | None = None  # a matmul template: whether the library was faster
        self.variants: dict[tuple[bool, ...] | None, Any] = {}

    def __call__(self, *tensors: torch.Tensor) -> None:
        pointers = [t.data_ptr() for t in tensors]
        odd = 0
        for p in pointers:
            odd |= p
        aligned = None if odd % ALIGNMENT == 0 else tuple(p % ALIGNMENT == 0 for p in pointers)
        run = self.variants.get(aligned)
        if run is None:
            run = self._prepare(aligned, pointers)
        if torch.cuda.current_device() == self.index:
            run(private.current_stream(self.index), pointers)
        else:
            with torch.cuda.device(self.device):
                run(private.current_stream(self.index), pointers)

    def _prepare(self, aligned: tuple[bool, ...] | None, pointers: list[int]) -> Any:
        if self.config is None:
            self.config = self._measure(aligned, pointers)
        run = self.variants[aligned] = self._bind(self.config, aligned)
        return run

    def _bind(self, config: Config, aligned: tuple[bool, ...] | None) -> Any:
        kernel = compile_kernel(self.src, config, self.target, aligned)
        launch = kernel.run  # loads the binary
        function, metadata, grid = kernel.function, kernel.packed_metadata, self.src.grid(config)
        constants = tuple(self.src.constexprs(config).values())

        def run(stream: int, pointers: list[int]) -> None:
            launch(*grid, stream, function, metadata, None, None, None, *pointers, *constants)

        return run

    def _measure(self, aligned: tuple[bool, ...] | None, pointers: list[int]) -> Config:
        """The fastest configuration on the real arguments; kernels that change what they read are not
        tried."""
        if self.src.atomics or self.src.inplace or len(self.src.configs) == 1:
            return self.src.configs[0]
        return fastest(self.src.configs, lambda c: self._time(c, aligned, pointers))

    def _time(self, config: Config, aligned: tuple[bool, ...] | None, pointers: list[int]) -> float:
        try:
            run = self._bind(config, aligned)
        except RuntimeError:  # too many resources for this device
            return float("inf")
        stream = private.current_stream(self.index)
        return self._clock(lambda: run(stream, pointers))

    def choose(self, template: Callable[[], None], library: Callable[[], Any]) -> Any:
        """Run the matmul template or the library's product, whichever was faster on the first call."""
        if self.library is None:
            if self.src.inplace:
                self.library = True
            else:
                template()  # measures its configurations
                self.library = self._clock(library) < self._clock(template)
        return library() if self.library else template()

    def _clock(self, run: Callable[[], Any]) -> float:
        stream = torch.cuda.current_stream(self.device)
        run()
        best = float("inf")
        for _ in range(3):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record(stream)
            for _ in range(5):
                run()
            end.record(stream)
            end.synchronize()
            best = min(best, start.elapsed_time(end))
        return best


def fastest(configs: list[Config], time: Any) -> Config:
    """The configuration with the smallest time; the first wins a tie."""
    return min(configs, key=time)
