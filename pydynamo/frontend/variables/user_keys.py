"""Objects with ``__hash__`` and ``__eq__`` in Python as keys: the dictionaries of the trace call them as Python's do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator
    from pydynamo.frontend.variables.objects import ObjectVariable

_state = threading.local()


def translate_with(root: RootTranslator | None) -> None:
    """Say which translation runs on this thread: keys are compared where no frame is at hand."""
    _state.root = root


class UserKey:
    """A key that stands for an object.

    What one operation on a dictionary does in several steps asks the object once: the last answer holds until the
    translation goes on.
    """

    __slots__ = ("_answer", "_hash", "owner")

    def __init__(self, owner: ObjectVariable) -> None:
        from pydynamo.frontend.variables.class_lookup import special_method

        self.owner = owner
        self._answer: tuple[UserKey, int, bool] | None = None
        tx = _state.root
        method = special_method(tx, owner, "__hash__")
        if method is None:
            unsupported("hash", f"{owner.describe()} as a key")
        self._hash = hash(method.call_function(tx, [], {}).realize().as_constant())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        from pydynamo.frontend.comparison import same_or_equal

        if not isinstance(other, UserKey):
            unsupported("hash", f"{self.owner.describe()} beside a key of another kind")
        for key, counterpart in ((self, other), (other, self)):
            answer = key._answer
            if answer is not None and answer[0] is counterpart and answer[1] == _state.root.steps:
                return answer[2]
        equal = same_or_equal(_state.root, self.owner, other.owner)
        other._answer = (self, _state.root.steps, equal)
        return equal


def check_can_be_built(codes: Any) -> None:
    """Breaks if a key needs an object that is filled only after the dictionary or set that holds it is built."""
    for code in codes:
        if isinstance(code, UserKey) and code.owner.source is None:
            unsupported("reconstruction-failure", f"{code.owner.describe()} as a key")
        if isinstance(code, tuple):
            check_can_be_built(code)
