"""How two code objects differ: one short name for each kind of difference. Knows no assembler and no terminal."""

from __future__ import annotations

import types

# Every field that an assembler writes, in the order in which a difference is most telling.
_FIELDS = (
    "co_code",
    "co_linetable",
    "co_exceptiontable",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_nlocals",
    "co_firstlineno",
    "co_name",
    "co_qualname",
    "co_filename",
)


def differences(before: types.CodeType, after: types.CodeType) -> list[str]:
    """The kinds in which `after` is not what `before` was; an empty list for an identical code object.

    A smaller stack size is no difference: CPython counts code that cannot be reached, and what is left was proved enough.
    """
    kinds = [field for field in _FIELDS if not _same(getattr(before, field), getattr(after, field))]
    if after.co_stacksize > before.co_stacksize:
        kinds.append("co_stacksize larger")
    return kinds


def _same(before: object, after: object) -> bool:
    """Equality that tells 0.0 from -0.0 and 1 from True, and compares nested code objects by identity first."""
    if before is after:
        return True
    if type(before) is not type(after):
        return False
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_same, before, after))
    if isinstance(before, float | complex):
        return repr(before) == repr(after)
    if isinstance(before, types.CodeType) and isinstance(after, types.CodeType):
        return not differences(before, after)
    return before == after
