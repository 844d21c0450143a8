"""The mode under which a translation runs operators on fake tensors."""

from __future__ import annotations

from torch._subclasses.fake_tensor import FakeTensorMode


class TranslationMode(FakeTensorMode):
    """Never stands in for a missing CUDA device.

    Torch's own mode asks at each entry whether there is a device and, if a CUDA build finds none, puts an object that
    belongs to the current thread into a table that is every thread's: after that thread's end the next entry elsewhere
    calls into freed memory. A translation only sees tensors that exist, so that it needs no stand-in.
    """

    @property
    def avoid_device_init(self) -> bool:
        return False


#: remembered results of operators on fake tensors; torch itself keeps every one for the life of the process
_CACHE_LIMIT = 4096


def trim_cache() -> None:
    """Forget torch's remembered results once there are too many: constants that change would fill memory with them."""
    cache = getattr(FakeTensorMode, "cache", None)
    if cache is not None and len(cache) > _CACHE_LIMIT:
        FakeTensorMode.cache_clear()
