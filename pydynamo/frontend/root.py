"""The root frame of a translation: what all its frames share, where it ends, and where it breaks."""

from __future__ import annotations

import functools
import linecache
import types
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import opcodes as opcodes
from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import ObservedException, RestartTranslation, Unsupported, forget_frames, unsupported
from pydynamo.frontend.fake_mode import make_mode
from pydynamo.frontend.finish import compile_return
from pydynamo.frontend.output_graph import Backend, OutputGraph
from pydynamo.frontend.reasons import REASONS
from pydynamo.frontend.side_effects import Ledger
from pydynamo.frontend.source import Source
from pydynamo.frontend.symbolic import SymbolicShapes
from pydynamo.frontend.translator import Translator
from pydynamo.frontend.variables.base import LazyVariable, VariableTracker
from pydynamo.frontend.variables.functions import CellVariable
from pydynamo.frontend.variables.user_keys import translate_with

if TYPE_CHECKING:
    from pydynamo.frontend.callees import Callees
    from pydynamo.frontend.inline import GeneratorVariable
    from pydynamo.frontend.variables.attributes import IdentityNumber
    from pydynamo.frontend.variables.tensor import SymNumberVariable


#: where more numbers than this had to be baked in, one attempt each, all others are baked in at once
_MOST_STATIC = 30


class Speculation:
    """What earlier attempts at a frame found out; kept over restarts."""

    def __init__(self) -> None:
        self.break_at: int | None = None
        self.reason: Unsupported | None = None
        self.static: set[str] = set()

    def learn(self, restart: RestartTranslation) -> None:
        """Take in why an attempt was given up."""
        if restart.key == "break":
            self.break_at, self.reason = restart.value
            forget_frames(self.reason)
        else:
            self.static.add(restart.value)
            self.break_at = self.reason = None


class FrameInput:
    """The frame to translate: its code, globals, closure and bound arguments."""

    def __init__(
        self,
        code: types.CodeType,
        scope: dict[str, Any],
        closure: tuple[types.CellType, ...],
        arguments: dict[str, Any],
    ) -> None:
        self.code = code
        self.scope = scope
        self.closure = closure
        self.arguments = arguments


class Options:
    """How to compile: the backend, and the arguments of ``compile`` that change the translation."""

    def __init__(self, backend: Backend, fullgraph: bool, dynamic: bool | None) -> None:
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        #: the functions that continue frames compiled with these options, by place
        self.resume_functions: dict[Any, Any] = {}

    @functools.cached_property
    def callees(self) -> Callees:
        """What was compiled with these options of callables whose calls break the graph."""
        from pydynamo.frontend.callees import Callees

        return Callees(self)


class RootTranslator(Translator):
    """The frame that is compiled."""

    def __init__(self, frame: FrameInput, options: Options, history: dict[str, Any], speculation: Speculation) -> None:
        super().__init__(frame.code, frame.scope, None)
        self.root = self
        self.frame = frame
        self.options = options
        self.speculation = speculation
        dynamic = options.dynamic if len(speculation.static) <= _MOST_STATIC else False
        self.graph = OutputGraph(make_mode(), SymbolicShapes(history, dynamic, speculation.static))
        self.effects = Ledger()
        self.by_id: dict[int, VariableTracker] = {}
        self.keep_alive: list[Any] = []
        self.globals_seen: dict[tuple[int, str], VariableTracker] = {}
        self.identity_numbers: dict[int, IdentityNumber] = {}
        #: whether a container of the program may hold ids as keys
        self.ids_are_exact = False
        self.symbol_inputs: dict[Source, SymNumberVariable] = {}
        self.input_tensors: list[Source] = []
        self.handled: list[VariableTracker] = []
        self.generators: list[GeneratorVariable] = []
        self.grad_before = torch.is_grad_enabled()
        self.grad_switches = 0
        #: modes entered and left in pairs: those open, each with the step of this frame that entered it; how many were
        #: left again
        self.open_modes: list[tuple[int, Any]] = []
        self.closed_modes = 0
        self.steps = 0
        self.step_started = 0
        self.new_code: types.CodeType | None = None
        translate_with(self)
        self._bind()

    def _bind(self) -> None:
        code = self.code
        for name, value in self.frame.arguments.items():
            lazy = LazyVariable(self, value, sources.local(name))
            if name in code.co_cellvars:
                self.cells[name] = CellVariable(local_name=name, contents=lazy)
            else:
                self.locals[name] = lazy
        for name in code.co_cellvars:
            self.cells.setdefault(name, CellVariable(local_name=name))
        for name, cell in zip(code.co_freevars, self.frame.closure, strict=True):
            known = self.by_id.get(id(cell))
            if isinstance(known, CellVariable):
                self.cells[name] = known
                continue
            made = CellVariable(Source("cell", name))
            try:
                made.contents = LazyVariable(self, cell.cell_contents, Source("deref", name))
            except ValueError:
                made.contents = None
            self.by_id[id(cell)] = made
            self.cells[name] = made

    def run(self) -> None:
        """Translate to the end or to the break that is known to be needed."""
        while not self.finished:
            if self.steps == self.speculation.break_at:
                assert self.speculation.reason is not None
                self.current = self.instructions[self.ip]
                from pydynamo.frontend.breaks import compile_break

                compile_break(self, self.speculation.reason)
                return
            step = self.step_started = self.steps
            try:
                self.step()
            except Unsupported as reason:
                self._give_up(step, reason)
            except ObservedException as error:
                forget_frames(error)
                self._give_up(
                    step,
                    Unsupported(
                        "uncaught-exception",
                        f"{error.vt.python_type().__name__} leaves the function",
                        REASONS["uncaught-exception"],
                    ),
                )
            except RecursionError:
                self._give_up(step, Unsupported("recursion", "nested too deeply", REASONS["recursion"]))

    def _give_up(self, step: int, reason: Unsupported) -> None:
        self._locate(reason)
        if self.options.fullgraph:
            raise reason
        if self.open_modes:
            step = min(step, self.open_modes[0][0])
        raise RestartTranslation("break", (step, reason))

    def _locate(self, reason: Unsupported) -> None:
        if reason.filename is None:
            reason.filename = self.code.co_filename
            reason.lineno = self.lineno()
            reason.source_line = linecache.getline(reason.filename, reason.lineno or 0)

    def return_value(self, value: VariableTracker) -> None:
        """The root returns."""
        if self.open_modes:
            unsupported("unsupported-context", "a mode is not left")
        for generator in self.generators:
            if generator.is_suspended_in_try():
                unsupported("generator", f"{generator.name} is dropped inside a try or with block")
        compile_return(self, value)
        self.finished = True

    def let_go(self) -> None:
        """The attempt is over: drop everything, so that no cycle in here keeps the arguments till the next collection."""
        self.graph.__dict__.clear()
        self.effects.__dict__.clear()
        self.__dict__.clear()

    # what the finished translation gives ----------------------------------------------------------------------------
    def finish_guards(self) -> None:
        """Guards that depend on the whole trace: no new aliases, conditions on symbols."""
        guards = self.graph.guards
        if len(self.input_tensors) > 1:
            guards.add("UNIQUE", None, tuple(self.input_tensors))
        for changed in self.effects.mutated_sources():
            alike = [
                vt.source
                for vt in self.by_id.values()
                if vt.source is not None
                and vt.mutable
                and vt.source.kind != "const"
                and _kind_of(vt) is _kind_of(changed)
            ]
            if len(alike) > 1:
                guards.add("UNIQUE", None, tuple(alike))
        self.graph.symbols.add_guards(self.graph)


def _kind_of(value: VariableTracker) -> Any:
    try:
        return value.python_type()
    except Unsupported:
        return None
