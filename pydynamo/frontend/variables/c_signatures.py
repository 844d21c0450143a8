"""What callables in C say of a call that gives them too few or too many arguments, or a keyword that they do not know.

They say it before they look at any argument, so the call is made with stand-ins, and the message is CPython's own.
"""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import operator
import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.constant import run_python

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_MANY = sys.maxsize
_ANY: None = None
#: least and most positional arguments, and the keywords (None: any), of what has no signature of its own
_TABLE: dict[Any, tuple[int, int, Collection[str] | None]] = {
    min: (1, _MANY, ("key", "default")),
    max: (1, _MANY, ("key", "default")),
    iter: (1, 2, ()),
    next: (1, 2, ()),
    getattr: (2, 3, ()),
    hasattr: (2, 2, ()),
    vars: (0, 1, ()),
    range: (1, 3, ()),
    slice: (1, 3, ()),
    zip: (0, _MANY, ("strict",)),
    map: (2, _MANY, ("strict",) if sys.version_info >= (3, 14) else ()),
    filter: (2, 2, ()),
    reversed: (1, 1, ()),
    object: (0, 0, ()),
    bool: (0, 1, ()),
    float: (0, 1, ()),
    int: (0, 2, ("base",)),
    str: (0, 3, ("object", "encoding", "errors")),
    list: (0, 1, ()),
    tuple: (0, 1, ()),
    set: (0, 1, ()),
    frozenset: (0, 1, ()),
    dict: (0, 1, _ANY),
    collections.OrderedDict: (0, 1, _ANY),
    collections.Counter: (0, 1, _ANY),
    collections.defaultdict: (0, 2, _ANY),
    functools.partial: (1, _MANY, _ANY),
    functools.reduce: (2, 3, ("initial",) if sys.version_info >= (3, 14) else ()),
}
_MODULES = (builtins, operator)
_KNOWN = frozenset(
    value
    for module in _MODULES
    for value in vars(module).values()
    if inspect.isbuiltin(value) and value not in (print, __import__, builtins.__build_class__)
) | {enumerate}


def check_call(tx: Translator, fn: Any, count: int, keywords: Collection[str], like: Any = None) -> None:
    """Raise in the user's program what ``fn`` says of so many arguments and these keywords, if it does not take them.

    ``like`` is a function in Python of the same parameters.
    """
    if fn in _TABLE:
        least, most, known = _TABLE[fn]
        if fn in (int, str, range) and keywords:
            return  # each has rules of its own
        if least <= count <= most and (known is None or all(name in known for name in keywords)):
            return
    elif (like is None and fn not in _KNOWN) or (fn is sorted and count == 1):
        return  # what sorted() takes is said by the list that it makes
    elif _binds(fn, like, count, tuple(keywords)):
        return
    run_python(tx, lambda: fn(*[object()] * count, **{name: object() for name in keywords}))
    unsupported("unsupported-builtin", f"{getattr(fn, '__name__', fn)}() with these arguments")


@functools.lru_cache(maxsize=1024)
def _binds(fn: Any, like: Any, count: int, keywords: tuple[str, ...]) -> bool:
    signature = _signature(fn)
    if signature is None and like is not None:
        signature = _signature(like)
    if signature is None:
        return True
    try:
        signature.bind(*[None] * count, **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


def _signature(fn: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fn)
    except (ValueError, TypeError):
        return None
