"""Direct launch of compiled kernels on a GPU: no JIT dispatch, pointers as plain integers.

One variant is compiled for pointers that are all multiples of 16 bytes (128-bit loads) and, only if a call
ever needs it, one for the pointers that are not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch

from pydynamo.lowering import runtime
from pydynamo.lowering import torch_private as private
from pydynamo.lowering.binaries import Binary
from pydynamo.lowering.config import Options
from pydynamo.lowering.runtime import one_line, target_of
from pydynamo.lowering.symbols import hint
from pydynamo.lowering.triton_codegen import Config, KernelSource

log = logging.getLogger("pydynamo.lowering")
ALIGNMENT = 16  # bytes: what a 128-bit load wants
VARIANTS = 16  # of a kernel with sizes that are not known before; after that, sizes are not told apart any more
Grid = tuple[int, int, int]
Aligned = tuple[bool, ...] | None
Run = Callable[[int, list[int], Any], None]


class DirectLauncher:
    """Callable with the kernel's tensors, in parameter order."""

    def __init__(self, src: KernelSource, options: Options, device: torch.device) -> None:
        self.src, self.options, self.device = src, options, device
        self.index = torch.cuda.current_device() if device.index is None else device.index
        self.target = target_of(device)
        self.config: Config | None = None if options.mode == "max-autotune" else src.configs[0]
        self.library: bool | None = None  # a matmul template: whether the library was faster
        self.variants: dict[Aligned, Run] = {}
        self.loaded: dict[Any, Run] = {}  # what was loaded ahead of its first launch
        self.grid: Grid | None = None

    def ready(self) -> None:
        """Load the code for aligned pointers ahead of the first launch; raises what says why it cannot be."""
        if self.options.mode != "max-autotune":
            self.loaded[None] = self._bind(self.src.configs[0], None)
            return
        first: Exception | None = None
        for config in self.src.configs:
            try:
                self._bind(config, None)
                return
            except Exception as e:  # another configuration may fit
                first = first or e
        assert first is not None
        raise first

    def __call__(self, *tensors: torch.Tensor) -> None:
        pointers = [t.data_ptr() for t in tensors]
        odd = 0
        for p in pointers:
            odd |= p
        aligned = None if odd % ALIGNMENT == 0 else tuple(p % ALIGNMENT == 0 for p in pointers)
        run = self.variants.get(aligned)
        if run is None:
            self._prepare(aligned, pointers)
        else:
            self._launch(run, pointers, self.grid)

    def _launch(self, run: Run, values: list[int], grid: Grid | None) -> None:
        if private.current_device() == self.index:
            run(private.current_stream(self.index), values, grid)
        else:
            with torch.cuda.device(self.index):
                run(private.current_stream(self.index), values, grid)

    def _prepare(self, aligned: Aligned, pointers: list[int]) -> None:
        """Bind a variant, and launch it for the first time."""
        if self.config is None:
            self.config = self._measure(self.src.configs, aligned, pointers, None, None)
        self.grid = self.src.grid(self.config)
        run = self.loaded.pop(aligned, None) or self._bind(self.config, aligned)
        self.variants[aligned] = self._first(run, self.config, aligned, pointers, self.grid)

    def _first(self, run: Run, config: Config, aligned: Aligned, values: list[int], grid: Grid) -> Run:
        """Launch for the first time: by Triton's own launcher where torch's refuses; returns what did it."""
        try:
            self._launch(run, values, grid)
        except Exception as e:
            if private.static_launcher() is None:
                raise
            distrust(e)
            run = self._bind(config, aligned, through_triton)
            self._launch(run, values, grid)
        return run

    def _bind(self, config: Config, aligned: Aligned, how: Callable[..., Run] | None = None) -> Run:
        how = how or bind
        if private.current_device() == self.index:
            return how(self.src, config, self.target, aligned, self.index)
        with torch.cuda.device(self.index):
            return how(self.src, config, self.target, aligned, self.index)

    def _measure(
        self, configs: list[Config], aligned: Aligned, values: list[int], x: int | None, r: int | None
    ) -> Config:
        """The fastest configuration on the real arguments; kernels that change what they read are not
        tried."""
        if self.src.atomics or self.src.inplace or len(configs) == 1:
            return configs[0]
        return fastest(configs, lambda c: self._time(c, aligned, values, self.src.grid(c, x, r)))

    def _time(self, config: Config, aligned: Aligned, values: list[int], grid: Grid) -> float:
        stream = private.current_stream(self.index)
        try:
            run = self._bind(config, aligned)
            return self._clock(lambda: run(stream, values, grid))
        except Exception as e:  # too many resources for this device, most likely
            log.info("a configuration of a kernel is left out: %s", one_line(e))
            return float("inf")

    def choose(self, template: Callable[[], None], library: Callable[[], Any]) -> Any:
        """Run the matmul template or the library's product, whichever was faster on the first call."""
        if self.library is None:
            if self.src.inplace:
                self.library = True
            else:
                try:
                    template()  # measures its configurations
                    self.library = self._clock(library) < self._clock(template)
                except Exception as e:
                    log.warning("a matmul template cannot be used here: %s", one_line(e))
                    self.library = True
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


# (file, device) -> what was loaded from it: equal layers of a model run the same machine code, once in memory
_functions: dict[tuple[str, int], int] = {}


def bind(src: KernelSource, config: Config, target: Any, aligned: Aligned, device: int) -> Run:
    """A loaded kernel as a function of stream, parameters and grid.

    torch brings a launcher for machine code; where it does not or refuses, or where the kernel wants what that one does
    not know, Triton's own is built, which takes a C compiler and its time.
    """
    static = private.static_launcher()
    if static is not None:
        binary = runtime.binary(src, config, target, aligned)
        if binary.plain:
            function = _functions.get((binary.path, device))
            try:
                if function is None:
                    function, _, _ = static._load_kernel(binary.path, binary.name, binary.shared, device)
            except Exception as e:
                distrust(e)
            else:
                _functions[binary.path, device] = function
                return _static(static._launch_kernel, function, binary, src)
    return through_triton(src, config, target, aligned, device)


def through_triton(src: KernelSource, config: Config, target: Any, aligned: Aligned, device: int) -> Run:
    """A kernel that Triton loads and launches itself."""
    kernel = runtime.compile_kernel(src, config, target, aligned)
    launch = kernel.run  # loads the binary
    loaded, metadata = kernel.function, kernel.packed_metadata
    constants = tuple(src.constexprs(config).values())

    def run(stream: int, values: list[int], grid: Any) -> None:
        launch(*grid, stream, loaded, metadata, None, None, None, *values, *constants)

    return run


_told: set[str] = set()


def distrust(error: Exception) -> None:
    """Say, once for each reason, that torch's launcher has refused a kernel."""
    reason = one_line(error)
    if reason not in _told:
        _told.add(reason)
        log.warning("torch's launcher has refused a kernel, Triton's own takes over: %s", reason)


def _static(launch: Any, function: int, binary: Binary, src: KernelSource) -> Run:
    warps, shared, nulls = binary.warps, binary.shared, (0,) * binary.scratch
    types = "O" * len(src.dtypes) + ("l" if src.wide else "i") * len(src.sizes) + "O" * binary.scratch

    def run(stream: int, values: list[int], grid: Any) -> None:
        x, y, z = grid
        launch(function, x, y, z, warps, shared, types, (*values, *nulls), stream)

    return run


class SizedLauncher(DirectLauncher):
    """Callable with the kernel's tensors, its sizes, and x and r.

    Compiled for each block that a row in registers needs, and for which values are multiples of 16.
    """

    def __init__(self, src: KernelSource, options: Options, device: torch.device) -> None:
        super().__init__(src, options, device)
        self.tensors, self.always = len(src.params), src.divisible
        self.tuned = options.mode == "max-autotune"
        self.configs: dict[int, Config] = {}  # by bucket
        self.sized: dict[tuple[int, Aligned], tuple[Run, Config]] = {}

    def __call__(self, *args: Any) -> None:
        n, x, r = self.tensors, args[-2], args[-1]
        values = [*(t.data_ptr() for t in args[:n]), *args[n:-2]]
        bucket = self.src.bucket(r)
        aligned = tuple([v % ALIGNMENT == 0 for v in values])
        found = self.sized.get((bucket, aligned))
        if found is None:
            self._sized(bucket, aligned, values, x, r)
        else:
            run, config = found
            self._launch(run, values, self.src.grid(config, x, r))

    def ready(self) -> None:
        """Load the code for aligned pointers and the sizes at hand ahead of the first launch."""
        if not self.tuned:
            aligned = (*(True for _ in self.src.params), *(hint(n) % ALIGNMENT == 0 for n in self.src.sizes))
            bucket = self.src.bucket(hint(self.src.r))
            self.loaded[bucket, aligned] = self._bind(self.src.configs_at(bucket)[0], aligned)

    def _sized(self, bucket: int, aligned: tuple[bool, ...], values: list[int], x: int, r: int) -> None:
        """Find or bind a variant, and launch it for the first time."""
        wanted = aligned
        if len(self.sized) >= VARIANTS:
            aligned = (*aligned[: self.tensors], *self.always)
        config = self.configs.get(bucket)
        if config is None:
            configs = self.src.configs_at(bucket)
            config = self._measure(configs, aligned, values, x, r) if self.tuned else configs[0]
            self.configs[bucket] = config
        known = self.sized.get((bucket, aligned))
        run = known[0] if known is not None else self.loaded.pop((bucket, aligned), None)
        run = run or self._bind(config, aligned)
        run = self._first(run, config, aligned, values, self.src.grid(config, x, r))
        self.sized[bucket, aligned] = self.sized[bucket, wanted] = run, config


def fastest(configs: list[Config], time: Any) -> Config:
    """The configuration with the smallest time; the first wins a tie."""
    return min(configs, key=time)
