"""The symbolic interpreter of one frame: stack, locals, cells, exceptions. Opcode handlers live in ``opcodes``.

``Translator`` is a frame, inlined or root; the root owns what the whole translation shares.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from pydynamo import config
from pydynamo.frontend import asm, policy
from pydynamo.frontend import source as sources
from pydynamo.frontend.dispatch import DISPATCH
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.side_effects import DELETED, Ledger
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import LazyVariable, VariableTracker
from pydynamo.frontend.variables.classes import ClassVariable, SuperVariable
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant
from pydynamo.frontend.variables.exceptions import ExceptionVariable, set_context
from pydynamo.frontend.variables.functions import CellVariable, UserFunctionVariable

#: stands for what a table of names lacks
ABSENT: Any = object()

if TYPE_CHECKING:
    from pydynamo.frontend.output_graph import OutputGraph
    from pydynamo.frontend.root import RootTranslator
    from pydynamo.frontend.variables.dicts import DictVariable
    from pydynamo.frontend.variables.tensor import TensorVariable


class Translator:
    """One frame under translation."""

    root: RootTranslator

    def return_value(self, value: VariableTracker) -> None:
        """The frame returns: the root ends its graph, an inlined call goes on in its caller."""
        raise NotImplementedError

    def __init__(self, code: types.CodeType, scope: dict[str, Any], parent: Translator | None) -> None:
        self.code = code
        self.scope = scope
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.instructions, self.index_of = asm.decode(code)
        self.ip = 0
        self.current = self.instructions[0]
        self.stack: list[VariableTracker] = []
        self.locals: dict[str, VariableTracker] = {}
        self.cells: dict[str, CellVariable] = {}
        self.kw_names: tuple[str, ...] = ()
        self.finished = False
        self.result: VariableTracker = NONE
        self.yielded: VariableTracker | None = None
        #: what the body of a class fills
        self.namespace: DictVariable | None = None

    @property
    def output(self) -> OutputGraph:
        """The graph of the whole translation."""
        return self.root.graph

    @property
    def ledger(self) -> Ledger:
        """The side effects of the whole translation."""
        return self.root.effects

    # running -----------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Run one instruction; an exception of the user's program goes to its handler in this frame, if there is one."""
        inst = self.instructions[self.ip]
        self.current = inst
        self.ip += 1
        root = self.root
        root.steps += 1
        if root.steps > config.max_steps:
            unsupported("too-long", f"more than {config.max_steps} instructions")
        handler = DISPATCH.get(inst.opname)
        if handler is None:
            unsupported("unsupported-opcode", inst.opname)
        try:
            handler(self, inst)
        except ObservedException as error:
            error.__traceback__ = None  # our own frames: they hold what the program may let go
            self.handle_exception(error)

    def handle_exception(self, error: ObservedException) -> None:
        """Unwind to the handler of the current instruction, or leave the frame."""
        entry = self.current.exn_tab_entry
        if error.fresh:
            error.fresh = False
            if self.root.handled:
                set_context(error.vt, self.root.handled[-1])
        if entry is None:
            raise error
        del self.stack[entry.depth :]
        if entry.lasti:
            self.push(constant(self.current.offset or 0))
        self.push(error.vt)
        self.jump(entry.target)

    def jump(self, target: Any) -> None:
        """Continue at ``target``."""
        self.ip = self.index_of[target]

    def push(self, value: VariableTracker) -> None:
        self.stack.append(value)

    def pop(self) -> VariableTracker:
        """The top of the stack, realized."""
        return self.stack.pop().realize()

    def popn(self, count: int) -> list[VariableTracker]:
        """The top ``count`` values, bottom first, as they are."""
        if count == 0:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    # errors of the user's program ----------------------------------------------------------------------------------
    def raise_error(self, cls: type[BaseException], argument: str | VariableTracker) -> NoReturn:
        """The user's program raises ``cls(argument)``."""
        value = constant(argument) if isinstance(argument, str) else argument
        error = ExceptionVariable(cls, [value])
        if cls is NameError and isinstance(argument, str) and argument.count("'") >= 2:
            error.attrs["name"] = constant(argument.split("'")[1])
        raise ObservedException(error)

    def truth(self, value: VariableTracker) -> bool:
        """``bool(value)``"""
        value = value.realize()
        if isinstance(value, ConstantVariable):
            import enum

            if not isinstance(value.value, enum.Enum):
                return bool(value.value)
        return value.truth(self)

    def in_user_try(self) -> bool:
        """True if an exception here could be caught, or seen, by the user's program before it leaves the root frame."""
        frame: Translator | None = self
        while frame is not None:
            if frame._covered():
                return True
            frame = frame.parent
        return False

    def _covered(self, is_harmless: Callable[[int], bool] = lambda handler: False) -> bool:
        entry = self.current.exn_tab_entry
        seen = 0
        while entry is not None and seen < 20:
            index = self.index_of[entry.target]
            if self.instructions[index].opname == "PUSH_EXC_INFO":
                if self.instructions[index + 1].opname != "WITH_EXCEPT_START":
                    if not is_harmless(index):
                        return True
                elif not self._harmless_context(entry.depth):
                    return True
            entry = entry.target.exn_tab_entry
            seen += 1
        return False

    def suspended_in_try(self) -> bool:
        """True if the frame stands in a try or with block of the user that does something when the frame is closed."""
        return self._covered(self._lets_exit_pass)

    def _lets_exit_pass(self, handler: int) -> bool:
        """True if the handler only compares the exception with one class, which GeneratorExit is none of."""
        load, match, jump = self.instructions[handler + 1 : handler + 4]
        if load.opname != "LOAD_GLOBAL" or match.opname != "CHECK_EXC_MATCH" or "IF_FALSE" not in jump.opname:
            return False
        if self.instructions[self.index_of[jump.target]].opname != "RERAISE":
            return False
        stored = self.ledger.load_global(self.scope, load.argval)
        if load.argval in self.scope or (stored is not None and stored is not DELETED):
            return False
        cls = self.builtin(load.argval)
        return isinstance(cls, type) and not issubclass(GeneratorExit, cls)

    def _harmless_context(self, depth: int) -> bool:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin
        from pydynamo.frontend.variables.contexts import ModeVariable

        if len(self.stack) < depth or depth < 1:
            return False
        leave = self.stack[depth - 1] if not asm.V314 else self.stack[depth - 2]
        return isinstance(leave, MethodOfBuiltin) and isinstance(leave.owner, ModeVariable)

    def user_stack(self) -> tuple[tuple[types.CodeType, int], ...]:
        """Where the program is, outermost frame first, as (code, instruction offset)."""
        frames: list[tuple[types.CodeType, int]] = []
        frame: Translator | None = self
        while frame is not None:
            frames.append((frame.code, frame.current.offset or 0))
            frame = frame.parent
        return tuple(reversed(frames))

    def lineno(self) -> int | None:
        """The line of the current instruction."""
        positions = getattr(self.current, "positions", None)
        return positions.lineno if positions is not None else self.current.starts_line

    # names -------------------------------------------------------------------------------------------------------
    def load_global(self, name: str) -> VariableTracker:
        """A global or builtin name."""
        stored = self.ledger.load_global(self.scope, name)
        if stored is not None and stored is not DELETED:
            return stored
        if name in self.scope and stored is None:
            return self.global_at(self.scope, name)
        found = self.builtin(name)
        if found is not ABSENT:
            return LazyVariable(self, found, sources.const(found))
        self.raise_error(NameError, f"name '{name}' is not defined")

    def builtin(self, name: str) -> Any:
        """What the builtins have under a name that the globals lack, ``ABSENT`` if nothing; guarded, as both may change."""
        scope, guards = self.scope, self.output.guards
        if name not in scope:
            if scope is self.root.scope:
                guards.add("GLOBAL_HAS", None, (name, False))
            else:
                guards.add("HAS_KEY", sources.const(scope), (name, False))
        names = vars(builtins)  # the module's own attributes, such as __class__, are no names
        if scope.get("__builtins__", names) not in (builtins, names):
            unsupported("unsupported-builtin", f"{name!r} where the module has builtins of its own")
        at = sources.const(names)
        if name not in names:
            guards.add("HAS_KEY", at, (name, False))
            return ABSENT
        guards.add("ID_MATCH", Source("dictitem", name, at), names[name])
        return names[name]

    def global_at(self, scope: dict[str, Any], name: str) -> VariableTracker:
        """The value of a global at entry."""
        key = (id(scope), name)
        found = self.root.globals_seen.get(key)
        if found is None:
            source = Source("global", name) if scope is self.root.scope else sources.item(sources.const(scope), name)
            found = self.root.globals_seen[key] = LazyVariable(self, scope[name], source)
            self.output.guards.add("PRESENT", source)
        return found

    def wrap_at(self, value: Any, source: Source) -> VariableTracker:
        """The tracked value of ``value``."""
        from pydynamo.frontend.builder import wrap

        return wrap(self, value, source)

    def function_at(self, fn: types.FunctionType, source: Source) -> VariableTracker:
        """The tracked value of a function, guarded by its code."""
        from pydynamo.frontend.variables.torch_ops import TorchFunctionVariable, is_torch_function

        root = self.root
        held = source.root().kind == "const" and source.kind == "const"
        known = root.by_id.get(id(fn))
        if known is None:
            patched = policy.behind_dynamos_patch(fn)
            if is_torch_function(fn):
                known = TorchFunctionVariable(fn, source)
            elif patched is not None:
                known = UserFunctionVariable(patched, sources.const(patched))
            else:
                known = UserFunctionVariable(fn, source)
            root.by_id[id(fn)] = known
            root.keep_alive.append(fn)
        if not held:
            kind, payload = (
                ("ID_MATCH", fn)
                if isinstance(known, TorchFunctionVariable) or (fn.__closure__ is not None and known.source != source)
                else ("CODE_MATCH", fn.__code__)
            )
            self.output.guards.add("TYPE_MATCH", source, type(fn)) if kind == "CODE_MATCH" else None
            self.output.guards.add(kind, source, payload)
        return known

    # cells -------------------------------------------------------------------------------------------------------
    def cell_of(self, cell: types.CellType, source: Source) -> CellVariable:
        """The tracked value of a cell that exists."""
        known = self.root.by_id.get(id(cell))
        if isinstance(known, CellVariable):
            return known
        made = CellVariable(source)
        try:
            made.contents = LazyVariable(self, cell.cell_contents, Source("contents", None, source))
        except ValueError:
            made.contents = None
        self.root.by_id[id(cell)] = made
        self.root.keep_alive.append(cell)
        return made

    def load_cell(self, name: str) -> VariableTracker:
        """What the cell variable ``name`` holds."""
        cell = self.cells[name]
        stored = self.ledger.load_cell(cell)
        value = stored if stored is not None else cell.contents
        if value is None or value is DELETED:
            if name in self.code.co_cellvars:
                self.raise_error(
                    UnboundLocalError,
                    f"cannot access local variable '{name}' where it is not associated with a value",
                )
            self.raise_error(
                NameError,
                f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope",
            )
        return value

    def is_bound(self, name: str) -> bool:
        """True if the cell variable ``name`` has a value now."""
        cell = self.cells[name]
        stored = self.ledger.load_cell(cell)
        return stored is not DELETED and (stored is not None or cell.contents is not None)

    def store_cell(self, name: str, value: VariableTracker) -> None:
        """Store to, or with DELETED empty, the cell variable ``name``."""
        cell = self.cells[name]
        if cell.source is None and cell.local_name is None:
            cell.contents = value if value is not DELETED else None
        else:
            self.ledger.store_cell(cell, value)

    # super and tensors' own attributes -----------------------------------------------------------------------------
    def make_super(self, args: list[VariableTracker]) -> VariableTracker:
        """``super(*args)``"""
        if len(args) == 2:
            after = args[0].realize()
            owner = args[1]
        elif not args:
            name = self.code.co_varnames[0] if self.code.co_argcount else ""
            if "__class__" not in self.cells or (name not in self.cells and name not in self.locals):
                unsupported("unsupported-builtin", "super() where it has nothing to go by")
            after = self.load_cell("__class__").realize()
            owner = self.load_cell(name) if name in self.cells else self.locals[name]
        else:
            unsupported("unsupported-builtin", "super() with one argument")
        if not isinstance(after, ClassVariable):
            unsupported("unsupported-builtin", "super() of something that is not a class")
        real = owner.realize()
        if after.value not in (real.value if isinstance(real, ClassVariable) else real.python_type()).__mro__:
            unsupported("unsupported-builtin", f"super() of {real.describe()}, which is none of {after.describe()}")
        return SuperVariable(after.value, owner)

    def attribute_of_input_tensor(self, tensor: TensorVariable, name: str) -> VariableTracker:
        """An attribute that the user set on an input tensor."""
        for entry in self.output.inputs:
            if entry.node is tensor.node and tensor.source is not None:
                if name in entry.example.__dict__:
                    return LazyVariable(self, entry.example.__dict__[name], sources.attr(tensor.source, name))
                self.output.guards.add("DICT_HAS", tensor.source, (name, False))
        self.raise_error(AttributeError, f"'{tensor.cls.__name__}' object has no attribute '{name}'")
