"""What CPython says of a call that does not fit the callee's parameters. Knows code objects, not values."""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection
from typing import Any


def binding_error(
    code: types.CodeType,
    qualname: str,
    defaults: int,
    kwdefaults: Collection[str],
    count: int,
    keywords: Collection[str],
) -> str:
    """The text of the TypeError for ``count`` positional arguments and these keywords.

    Asks CPython itself, with a function of the same parameters and no body: the wording depends on all of them at once.
    """
    names = code.co_varnames
    positional, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    parts = [
        f"{name}=None" if index >= positional - defaults else name for index, name in enumerate(names[:positional])
    ]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        parts.append(f"*{names[total]}")
    elif code.co_kwonlyargcount:
        parts.append("*")
    parts += [f"{name}=None" if name in kwdefaults else name for name in names[positional:total]]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append(f"**{names[total + bool(code.co_flags & inspect.CO_VARARGS)]}")
    scope: dict[str, Any] = {}
    exec(f"def stub({', '.join(parts)}): pass", scope)
    stub = scope["stub"]
    stub.__qualname__ = qualname
    try:
        stub(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error)
    raise AssertionError(f"the call of {qualname} fits")
