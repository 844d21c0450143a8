"""What compiled code calls to give a container its new contents: with the builtin's own methods, past all overrides."""

from __future__ import annotations

import collections
from typing import Any


def replace_list(target: Any, items: list[Any]) -> None:
    """Give a list or deque these items; only the tail is touched where the head is the same."""
    if isinstance(target, list):
        count = list.__len__(target)
        if count <= len(items) and all(a is b for a, b in zip(list.__iter__(target), items, strict=False)):
            list.extend(target, items[count:])
        else:
            list.__setitem__(target, slice(None), items)
        return
    count = len(target)
    if count <= len(items) and all(a is b for a, b in zip(target, items, strict=False)):
        target.extend(items[count:])
    else:
        target.clear()
        target.extend(items)


def replace_dict(target: Any, items: dict[Any, Any]) -> None:
    """Give a dictionary these items in this order; untouched entries stay untouched where the order allows it."""
    # an OrderedDict keeps a list beside the table
    kind: Any = collections.OrderedDict if isinstance(target, collections.OrderedDict) else dict
    for key in [key for key in kind.__iter__(target) if key not in items]:
        kind.__delitem__(target, key)
    if all(a is b or a == b for a, b in zip(kind.__iter__(target), items, strict=False)):
        for key, value in items.items():
            if not dict.__contains__(target, key) or dict.__getitem__(target, key) is not value:
                kind.__setitem__(target, key, value)
    else:
        kind.clear(target)
        for key, value in items.items():
            kind.__setitem__(target, key, value)


def replace_set(target: Any, items: list[Any]) -> None:
    """Give a set these members."""
    wanted = set(items)
    for member in [member for member in target if member not in wanted]:
        target.discard(member)
    for item in items:
        target.add(item)
