"""Replay of the ledger in compiled code: values first, into temps; then every change, in program order, once."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import asm
from pydynamo.frontend.replacing import replace_dict, replace_list, replace_set
from pydynamo.frontend.side_effects import DELETED
from pydynamo.frontend.variables.base import VariableTracker
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.dicts import DictVariable, SetVariable
from pydynamo.frontend.variables.functions import CellVariable
from pydynamo.frontend.variables.nn_module import NNModuleVariable
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.user_keys import check_can_be_built

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen


def prepare(cg: PyCodegen) -> None:
    """Load everything that the changes need, before any of them happens."""
    ledger = cg.ledger
    for value in ledger.contents:
        if value.source is not None:
            cg.keep(value)
            _build_contents(cg, value)
            cg.store_temp(("contents", value))
    for owner, names in ledger.attrs.values():
        if owner.source is not None:
            cg.keep(owner)
            for content in names.values():
                if content is not DELETED:
                    cg.keep(content)
    for _, content in ledger.globals.values():
        if content is not DELETED:
            cg.keep(content)
    for cell, content in ledger.cells.items():
        if content is not DELETED and _is_seen(cg, cell, content):
            cg.keep(content)
        if cell.source is not None and cell.source.kind != "cell":
            cg.keep(cell)


def _is_seen(cg: PyCodegen, cell: VariableTracker, content: VariableTracker) -> bool:
    """False for a cell of the frame that keeps a class of the trace to the trace itself."""
    name = getattr(cell, "local_name", None)
    made = isinstance(content, ClassVariable) and content.value in cg.ledger.made_classes
    return name is None or not made or (not cg.draft and name in cg.plan.cells)


def _build_contents(cg: PyCodegen, value: VariableTracker) -> None:
    if isinstance(value, SequenceVariable):
        cg.build("BUILD_LIST", value.items)
    elif isinstance(value, DictVariable):
        check_can_be_built(value.entries)
        cg.build_map(list(value.entries.values()))
    else:
        assert isinstance(value, SetVariable)
        check_can_be_built(value.members)
        cg.build("BUILD_LIST", list(value.members.values()))


def apply(cg: PyCodegen) -> None:
    """Make the changes."""
    ledger = cg.ledger
    for cell, content in ledger.cells.items():
        assert isinstance(cell, CellVariable)
        if _is_seen(cg, cell, content):
            _store_cell(cg, cell, content)
    for value in ledger.contents:
        if value.source is not None:
            helper: Any = (
                replace_list
                if isinstance(value, SequenceVariable)
                else (replace_dict if isinstance(value, DictVariable) else replace_set)
            )
            cg.call(
                functools.partial(cg.load_object, helper),
                [functools.partial(cg, value), functools.partial(_load_contents, cg, value)],
            )
            cg.emit(asm.instruction("POP_TOP"))
    for key, (owner, names) in ledger.attrs.items():
        if owner.source is not None:
            for name, content in names.items():
                if (key, name) in ledger.redefined:
                    _delete_attribute(cg, owner, name)
                _store_attribute(cg, owner, name, content)
    for (_, name), (scope, content) in ledger.globals.items():
        _store_global(cg, scope, name, content)


def _load_contents(cg: PyCodegen, value: VariableTracker) -> None:
    """What a container held in the caller's hands is to hold, from the temporary that keeps it."""
    cg.load_fast(cg.temps["contents", value])


def _store_cell(cg: PyCodegen, cell: CellVariable, content: VariableTracker) -> None:
    name = cell.local_name or (cell.source.key if cell.source is not None and cell.source.kind == "cell" else None)
    if content is DELETED and cell.contents is None:
        return  # it was empty at entry
    if name is not None:
        if content is DELETED:
            cg.emit(asm.instruction("DELETE_DEREF", argval=name))
        else:
            cg(content)
            cg.emit(asm.instruction("STORE_DEREF", argval=name))
        return
    if content is DELETED:
        cg(cell)
        cg.emit(asm.instruction("DELETE_ATTR", argval="cell_contents"))
    else:
        cg(content)
        cg(cell)
        cg.emit(asm.instruction("STORE_ATTR", argval="cell_contents"))


def _delete_attribute(cg: PyCodegen, owner: VariableTracker, name: str) -> None:
    plain = isinstance(owner, ObjectVariable) and not isinstance(owner, NNModuleVariable)
    helper: Any = drop_plain_attribute if plain else drop_attribute
    cg.call(lambda: cg.load_object(helper), [lambda: cg(owner), lambda: cg.load_const(name)])
    cg.emit(asm.instruction("POP_TOP"))


def _store_attribute(cg: PyCodegen, owner: VariableTracker, name: str, content: VariableTracker) -> None:
    if content is DELETED:
        _delete_attribute(cg, owner, name)
    elif isinstance(owner, ObjectVariable) and not isinstance(owner, NNModuleVariable):
        cg._raw_setattr(owner, name, content)
    else:
        cg(content)
        cg(owner)
        cg.emit(asm.instruction("STORE_ATTR", argval=name))


def _store_global(cg: PyCodegen, scope: dict[str, Any], name: str, content: VariableTracker) -> None:
    holder = GlobalStore(scope, name)
    if content is DELETED:
        cg.call(lambda: cg.load_object(holder.delete), [])
    else:
        cg.call(lambda: cg.load_object(holder), [lambda: cg(content)])
    cg.emit(asm.instruction("POP_TOP"))


class GlobalStore:
    """Stores one global of one module."""

    def __init__(self, scope: dict[str, Any], name: str) -> None:
        self.scope = scope
        self.name = name

    def __call__(self, value: Any) -> None:
        self.scope[self.name] = value

    def delete(self) -> None:
        """Delete the global; the trace may have made it itself."""
        self.scope.pop(self.name, None)


def drop_plain_attribute(owner: Any, name: str) -> None:
    """Delete an attribute past the class's own ``__delattr__``, which ran already; the trace may have made it itself."""
    with contextlib.suppress(AttributeError):
        object.__delattr__(owner, name)


def drop_attribute(owner: Any, name: str) -> None:
    """Delete an attribute that may have been made by the trace itself."""
    with contextlib.suppress(AttributeError):
        delattr(owner, name)
