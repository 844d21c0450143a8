"""The ledger of changes that the traced program makes to objects: recorded in program order, replayed once.

Values hold their traced state themselves; the ledger remembers which of them changed, and attribute, global and cell
stores, whose traced state it keeps.
"""

from __future__ import annotations

import itertools
from typing import Any

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import VariableTracker


class _Deleted(VariableTracker):
    """Marks an attribute, global or cell that was deleted."""

    def describe(self) -> str:
        return "a deleted name"


DELETED = _Deleted()
#: tells cells that were made before a snapshot from those made since
SERIALS = itertools.count()


class Ledger:
    """Changes by object. ``order`` lists what changed, in the order of the first change."""

    def __init__(self) -> None:
        self.contents: dict[VariableTracker, Any] = {}
        #: by id of what stands for the owner's identity, which the owner keeps alive
        self.attrs: dict[int, tuple[VariableTracker, dict[str, VariableTracker]]] = {}
        self.globals: dict[tuple[int, str], tuple[dict[str, Any], VariableTracker]] = {}
        self.cells: dict[VariableTracker, VariableTracker] = {}
        #: classes of the trace, which never leave it
        self.made_classes: set[type] = set()
        self.redefined: set[tuple[int, str]] = set()

    def is_empty(self) -> bool:
        """True if no change is visible to anybody outside the trace."""
        return not (
            any(vt.source is not None for vt in self.contents)
            or any(vt.source is not None for vt, _ in self.attrs.values())
            or self.globals
            or any(cell.source is not None or getattr(cell, "local_name", None) for cell in self.cells)
        )

    def snapshot(self) -> Snapshot:
        """What is changed so far, to be compared with later."""
        return Snapshot(self)

    def mutate(self, value: VariableTracker) -> None:
        """Call before a container changes; keeps what it held at first."""
        if value not in self.contents:
            self.contents[value] = _snapshot(value) if value.source is not None else None

    # attributes --------------------------------------------------------------------------------------------------
    def store_attr(self, owner: VariableTracker, name: str, value: VariableTracker) -> None:
        """``owner.name = value``"""
        _, names = self.attrs.setdefault(id(owner.identity()), (owner, {}))
        if names.get(name) is DELETED:
            del names[name]
            self.redefined.add((id(owner.identity()), name))
        names[name] = value

    def delete_attr(self, owner: VariableTracker, name: str) -> None:
        """``del owner.name``"""
        _, names = self.attrs.setdefault(id(owner.identity()), (owner, {}))
        names[name] = DELETED

    def load_attr(self, owner: VariableTracker, name: str) -> VariableTracker | None:
        """What was stored to ``owner.name`` in the trace (DELETED if it was deleted), None if nothing was."""
        entry = self.attrs.get(id(owner.identity()))
        return entry[1].get(name) if entry is not None else None

    def class_override(self, cls: type, name: str) -> VariableTracker | None:
        """What was stored to ``name`` of the class, or of a base, in the trace."""
        if not self.attrs:
            return None
        for base in cls.__mro__:
            entry = self.attrs.get(id(base))
            if entry is not None and name in entry[1]:
                return entry[1][name]
            if name in base.__dict__:
                return None
        return None

    # globals and cells -------------------------------------------------------------------------------------------
    def store_global(self, scope: dict[str, Any], name: str, value: VariableTracker) -> None:
        """Store to, or with DELETED delete, a global."""
        self.globals[id(scope), name] = (scope, value)

    def load_global(self, scope: dict[str, Any], name: str) -> VariableTracker | None:
        """What was stored to the global in the trace."""
        entry = self.globals.get((id(scope), name))
        return entry[1] if entry is not None else None

    def store_cell(self, cell: VariableTracker, value: VariableTracker) -> None:
        """Store to, or with DELETED empty, a cell."""
        self.cells[cell] = value

    def load_cell(self, cell: VariableTracker) -> VariableTracker | None:
        """What was stored to the cell in the trace."""
        return self.cells.get(cell)

    def mutated_sources(self) -> list[VariableTracker]:
        """The sourced values that changed."""
        changed = [vt for vt in self.contents if vt.source is not None]
        return changed + [vt for vt, _ in self.attrs.values() if vt.source is not None]


class Snapshot:
    """The state of a ledger, and of what can be reached through it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reached: dict[int, VariableTracker] = {}
        for value in self._stored():
            self._reach(value)
        self._serial = next(SERIALS)
        self._contents = {vt: _snapshot(vt) for vt in ledger.contents}
        self._names = self._stores()

    def _stored(self) -> list[VariableTracker]:
        ledger = self._ledger
        attrs = [value for _, names in ledger.attrs.values() for value in names.values()]
        return [*attrs, *(value for _, value in ledger.globals.values()), *ledger.cells.values()]

    def _reach(self, value: VariableTracker) -> None:
        value = value.realize() if getattr(value, "real", value) is not None else value
        if id(value) not in self._reached:
            self._reached[id(value)] = value
            for child in value.children():
                self._reach(child)

    def _stores(self) -> dict[Any, VariableTracker]:
        ledger = self._ledger
        owned = [(key, vt, names) for key, (vt, names) in ledger.attrs.items() if self._is_visible(vt)]
        return {
            **{(key, name): value for key, _, names in owned for name, value in names.items()},
            **{key: value for key, (_, value) in ledger.globals.items()},
            **{cell: value for cell, value in ledger.cells.items() if self._existed(cell)},
        }

    def _existed(self, cell: Any) -> bool:
        return cell.source is not None or cell.local_name is not None or cell.serial < self._serial

    def _is_visible(self, value: VariableTracker) -> bool:
        return value.source is not None or id(value) in self._reached

    def is_current(self) -> bool:
        """True if nothing changed since but objects that were made since."""
        contents = {vt: _snapshot(vt) for vt in self._ledger.contents if vt in self._contents or self._is_visible(vt)}
        return contents == self._contents and self._stores() == self._names


def _snapshot(value: VariableTracker) -> Any:
    from pydynamo.frontend.variables.dicts import DictVariable, SetVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable

    if isinstance(value, SequenceVariable):
        return list(value.items)
    if isinstance(value, DictVariable):
        return dict(value.entries)
    if isinstance(value, SetVariable):
        return dict(value.members)
    unsupported("opaque-object", f"a change of {value.describe()}")
