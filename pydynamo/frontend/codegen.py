"""PyCodegen: the shortest instructions that put a tracked value on the stack, and the order of a compiled frame.

Priority for a value: top of stack already, a temp, its source, a graph output, a constant, born in the trace. Two passes:
a draft counts uses, then a value used twice and dear to fetch gets a temp.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

from pydynamo.frontend import asm
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.side_effects import DELETED, Ledger
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import LazyVariable, NullVariable, VariableTracker
from pydynamo.frontend.variables.constant import ConstantVariable
from pydynamo.frontend.variables.container_objects import ContainerObjectVariable
from pydynamo.frontend.variables.functions import CellVariable
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

Thunk = Callable[[], None]
OUTPUTS = "graph_out_0"
_SIMPLE = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), types.CodeType)


class Plan:
    """What the draft found out."""

    def __init__(self) -> None:
        self.uses: collections.Counter[Any] = collections.Counter()
        self.outputs: dict[Any, int] = {}
        #: names of the frame's cells that somebody else gets to see
        self.cells: set[str] = set()


class PyCodegen:
    """Emits the body of one compiled frame."""

    def __init__(self, code: types.CodeType, ledger: Ledger, plan: Plan | None = None) -> None:
        self.code = code
        self.ledger = ledger
        self.draft = plan is None
        self.plan = plan if plan is not None else Plan()
        self.instructions: list[Any] = []
        self.temps: dict[Any, str] = {}
        self.new_names: list[str] = []
        self._pending: list[VariableTracker] = []
        self._building: set[VariableTracker] = set()
        self._top: tuple[Any, int] | None = None
        self._counter = 0
        #: True once the side effects are replayed
        self.changes_made = False
        self._cells = frozenset(code.co_cellvars) | frozenset(code.co_freevars)

    # instructions ------------------------------------------------------------------------------------------------
    def emit(self, inst: Any) -> None:
        self.instructions.append(inst)

    def emit_all(self, insts: list[Any]) -> None:
        self.instructions.extend(insts)

    def new_local(self, prefix: str = "tmp") -> str:
        """A fresh local name."""
        name = f"{prefix}_{self._counter}"
        self._counter += 1
        if name in self.code.co_varnames:
            return self.new_local(prefix)
        self.new_names.append(name)
        return name

    def store_temp(self, key: Any, prefix: str = "tmp") -> str:
        """Store the top of the stack; later loads of ``key`` fetch it."""
        name = self.temps.get(key) or self.new_local(prefix)
        self.emit(asm.instruction("STORE_FAST", argval=name))
        self.temps[key] = name
        return name

    def forget_temps(self) -> None:
        """Empty every local that the compiled frame has beside the user's: none may be read after this.

        Storing None does for those, too, that this way through the frame has not bound. The outputs are gone already.
        """
        for name in self.new_names:
            if name == OUTPUTS:
                continue
            self.load_const(None)
            self.emit(asm.instruction("STORE_FAST", argval=name))

    def load_fast(self, name: str) -> None:
        self.emit(asm.instruction("LOAD_FAST", argval=name))

    def load_local(self, name: str) -> None:
        """An argument of the frame, also if it lives in a cell."""
        self.emit(asm.instruction("LOAD_DEREF" if name in self._cells else "LOAD_FAST", argval=name))

    def load_cell(self, name: str) -> None:
        """The cell itself of a cell variable of the frame."""
        if asm.V313 and name in self.code.co_freevars and name in self.code.co_varnames:
            unsupported("reconstruction-failure", f"the cell of {name}, which is a comprehension's variable, too")
        self.plan.cells.add(name)
        self.emit(asm.instruction("LOAD_FAST" if asm.V313 else "LOAD_CLOSURE", argval=name))

    def load_const(self, value: Any) -> None:
        self.emit(asm.instruction("LOAD_CONST", argval=value))

    def load_object(self, value: Any) -> None:
        """An object that the compiled code holds."""
        if self.ledger.made_classes and (value if isinstance(value, type) else type(value)) in self.ledger.made_classes:
            unsupported("class-body", f"class {value!r}, made inside the function, is needed outside of the graph")
        self.emit(asm.instruction("LOAD_CONST", argval=value))

    def build(self, opname: str, items: list[VariableTracker]) -> None:
        """BUILD_LIST, BUILD_TUPLE and their like."""
        for item in items:
            self(item)
        self.emit(asm.instruction(opname, arg=len(items)))

    def build_map(self, pairs: list[tuple[VariableTracker, VariableTracker]]) -> None:
        for key, value in pairs:
            self(key)
            self(value)
        self.emit(asm.instruction("BUILD_MAP", arg=len(pairs)))

    def call(self, function: Thunk, args: list[Thunk], kwargs: dict[str, Thunk] | None = None) -> None:
        """``function(*args, **kwargs)``"""
        if not asm.NULL_AFTER_CALLABLE:
            self.emit(asm.push_null())
        function()
        if asm.NULL_AFTER_CALLABLE:
            self.emit(asm.push_null())
        for arg in args:
            arg()
        for thunk in (kwargs or {}).values():
            thunk()
        self.emit_all(asm.call(len(args) + len(kwargs or {}), tuple(kwargs or ())))

    def call_method_of(self, owner: VariableTracker, name: str) -> None:
        """``owner.name()``"""
        self.call(lambda: self.load_method_value(owner, name), [])

    def load_method_value(self, owner: VariableTracker, name: str) -> None:
        """``owner.name``"""
        self(owner)
        self.load_attribute(name)

    def load_attribute(self, name: str) -> None:
        """An attribute of the top of the stack."""
        self.emit(asm.load_attr(name))

    # values ------------------------------------------------------------------------------------------------------
    def __call__(self, value: VariableTracker) -> None:
        """Emit instructions that push ``value``."""
        if isinstance(value, LazyVariable):
            if value.real is None:
                assert value.source is not None
                self.load_source(value.source)
                return
            value = value.real
        if isinstance(value, NullVariable):
            self.emit(asm.push_null())
            return
        if self._top is not None and self._top == (value, len(self.instructions)):
            self.emit(asm.copy(1))
            self._top = (value, len(self.instructions))
            return
        self.plan.uses[value] += 1 if self.draft else 0
        if value in self.temps:
            self.load_fast(self.temps[value])
        elif value.source is not None and not isinstance(value, ConstantVariable):
            self.load_source(value.source)
        else:
            self._build_new(value)
        self._top = (value, len(self.instructions))

    def _build_new(self, value: VariableTracker) -> None:
        if value in self._building:
            unsupported("reconstruction-failure", f"{value.describe()} contains itself")
        self._building.add(value)
        try:
            value.reconstruct(self)
        finally:
            self._building.discard(value)
        if isinstance(value, ConstantVariable):
            return
        if self.draft or self.plan.uses[value] > 1 or value in self._pending:
            if not self.draft or not isinstance(value, TensorVariable | SymNumberVariable):
                self.emit(asm.copy(1))
                self.store_temp(value)

    def load_source(self, source: Source) -> None:
        """Load from where the value was at entry; a path used twice is kept."""
        if source in self.temps:
            self.load_fast(self.temps[source])
            return
        self.plan.uses[source] += 1 if self.draft else 0
        source.reconstruct(self)
        if not self.draft and not source.is_trivial() and self.plan.uses[source] > 1:
            self.emit(asm.copy(1))
            self.store_temp(source)

    def load_graph_output(self, value: TensorVariable | SymNumberVariable) -> None:
        """One item of the compiled graph's result."""
        index = self.plan.outputs.setdefault(value.node, len(self.plan.outputs))
        self.load_fast(OUTPUTS)
        self.load_const(index)
        self.emit_all(asm.subscript())

    def fill_later(self, value: VariableTracker) -> None:
        """The value was pushed as an empty shell; its contents are stored once all shells exist."""
        self._pending.append(value)

    def fill(self) -> None:
        """Store the contents of the shells."""
        while self._pending:
            value = self._pending.pop(0)
            if isinstance(value, CellVariable):
                if value.contents is not None:
                    self(value.contents)
                    self(value)
                    self.emit(asm.instruction("STORE_ATTR", argval="cell_contents"))
                continue
            assert isinstance(value, ObjectVariable)
            if isinstance(value, ContainerObjectVariable):
                value.fill(self)
            _, names = self.ledger.attrs.get(id(value.identity()), (value, {}))
            for name, content in names.items():
                if content is not DELETED:
                    self._raw_setattr(value, name, content)

    def _raw_setattr(self, owner: VariableTracker, name: str, content: VariableTracker) -> None:
        if owner.python_type().__setattr__ in (object.__setattr__, types.SimpleNamespace.__setattr__):
            self(content)
            self(owner)
            self.emit(asm.instruction("STORE_ATTR", argval=name))
            return
        self.call(
            lambda: self.load_object(object.__setattr__),
            [lambda: self(owner), lambda: self.load_const(name), lambda: self(content)],
        )
        self.emit(asm.instruction("POP_TOP"))

    def is_stable(self, source: Source) -> bool:
        """True if one instruction loads it and nothing that this frame does can change it."""
        return source.is_trivial() and not (source.kind == "local" and source.key in self._cells)

    def keep(self, value: VariableTracker) -> None:
        """Make sure that a later load of ``value`` is not changed by what runs in between."""
        if isinstance(value, NullVariable):
            return
        if isinstance(value, LazyVariable) and value.real is None:
            assert value.source is not None
            if not self.is_stable(value.source) and value.source not in self.temps:
                self.load_source(value.source)
                self.store_temp(value.source)
            return
        value = value.realize()
        if isinstance(value, ConstantVariable) or value in self.temps:
            return
        if value.source is not None and self.is_stable(value.source):
            return
        self(value)
        if value in self.temps:
            # building it kept it already: drop the copy that was left on the stack
            self.instructions[-2:] = self.instructions[-1:]
            self._top = None
            return
        self.store_temp(value)
