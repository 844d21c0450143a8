"""Control flow of a translation: what a handler may raise. Knows no values and no opcodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pydynamo.errors import Unsupported
from pydynamo.frontend.reasons import REASONS

if TYPE_CHECKING:
    from pydynamo.frontend.variables.base import VariableTracker

__all__ = [
    "ObservedException",
    "RestAsItIs",
    "RestartTranslation",
    "SkipFrame",
    "Unsupported",
    "forget_frames",
    "unsupported",
]


class ObservedException(Exception):
    """The user's program raises; ``vt`` is the exception as a tracked value.

    ``fresh`` is True until the raising frame has linked the exception that it was handling; raising again links nothing.
    """

    def __init__(self, vt: VariableTracker, fresh: bool = True) -> None:
        super().__init__(vt)
        self.vt = vt
        self.fresh = fresh


class RestartTranslation(Exception):
    """Translate the frame again with what was learned (``key`` and ``value`` go into the speculation log)."""

    def __init__(self, key: str, value: Any) -> None:
        super().__init__(key, value)
        self.key = key
        self.value = value


class SkipFrame(Exception):
    """Run this frame as it is; ``reason`` is the Unsupported that led here."""

    def __init__(self, reason: Unsupported) -> None:
        super().__init__(reason)
        self.reason = reason


class RestAsItIs(Unsupported):
    """A break behind which nothing is compiled: CPython itself runs the rest of the frame."""


def unsupported(reason: str, detail: str = "") -> NoReturn:
    """Raise the graph break with the stable id ``reason``."""
    raise Unsupported(reason, detail, REASONS[reason])


def forget_frames(error: BaseException) -> None:
    """Take the traceback off an exception of ours that is kept, and what led to it: our frames hold the program's objects."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
