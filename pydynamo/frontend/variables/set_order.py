"""The order of a set: it hangs on how its table came to be, so the same operations are done on a real set of the keys."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.constant import is_constant_value

if TYPE_CHECKING:
    from pydynamo.frontend.variables.dicts import SetVariable

#: a real set of keys, None where the order is not known
Layout = set[Any] | frozenset[Any] | None


def is_plain(code: Any) -> bool:
    """True if a key is hashed and compared as the member that it stands for."""
    if type(code) is tuple:
        return all(is_plain(part) for part in code)
    return is_constant_value(code) or isinstance(code, type | types.FunctionType)


def added(codes: Iterable[Any]) -> Layout:
    """The layout of a set that these members were added to one by one."""
    made: set[Any] = set()
    for code in codes:
        if not is_plain(code):
            return None
        made.add(code)
    return made


def given_to(value: VariableTracker, members: SetVariable) -> Any:
    """What stands for an operand in the same operation on layouts: tables of sets and dictionaries are merged."""
    from pydynamo.frontend.variables.dicts import DictVariable, SetVariable

    if isinstance(value, SetVariable):
        return value.layout
    if not all(is_plain(code) for code in members.members):
        return None
    return (
        dict.fromkeys(members.members)
        if isinstance(value, DictVariable) and value.cls is dict
        else list(members.members)
    )


def after(layout: Layout, method: str, operands: list[Any]) -> Layout:
    """The layout after ``set.method(*operands)``, which changes it or makes another."""
    if layout is None or any(operand is None for operand in operands):
        return None
    result: Layout = getattr(layout, method)(*operands)
    return layout if result is None else result


def by_insertion(layout: Layout) -> bool:
    """True if adding the members one by one, in their order, gives them in the same order."""
    made: set[Any] = set()
    for code in layout or ():
        made.add(code)
    return layout is not None and list(made) == list(layout)
