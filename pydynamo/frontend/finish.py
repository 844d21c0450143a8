"""The end of a translation: the graph goes to the backend, and the compiled frame is put in order around its call.

At a return: graph call, values, side effects, result. What a break adds is in ``breaks``.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo._core import CompiledGraph
from pydynamo.frontend import asm, replay
from pydynamo.frontend.codegen import OUTPUTS, Plan, PyCodegen
from pydynamo.frontend.first_run import compiled_graph, taking_back_numbers
from pydynamo.frontend.variables.base import VariableTracker

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator

_PROLOGUE = frozenset({"COPY_FREE_VARS", "MAKE_CELL", "RESUME", "NOP"})
_names = itertools.count()


def _switching_grad(run: Callable[..., Any], after: bool) -> Callable[..., Any]:
    """``run``, which leaves this grad mode; if it raises, the one that it began in."""

    def call(*args: Any) -> Any:
        before = torch.is_grad_enabled()
        try:
            result = run(*args)
        except BaseException:
            torch._C._set_grad_enabled(before)
            raise
        torch._C._set_grad_enabled(after)
        return result

    return call


def with_draft(root: RootTranslator, emit: Callable[[PyCodegen], None]) -> None:
    """Run ``emit`` as a draft, compile the graph with the outputs it asked for, then run it for real."""
    draft = PyCodegen(root.code, root.effects)
    emit(draft)
    for entry in root.graph.inputs:
        draft.load_source(entry.source)
    plan = draft.plan
    call = _compile_graph(root, plan)
    cg = PyCodegen(root.code, root.effects, plan)
    if call is not None:
        cg.call(
            lambda: cg.load_object(call),
            [
                lambda s=entry.source: cg.load_source(s)  # type: ignore[misc]
                for entry in root.graph.inputs
            ],
        )
        if plan.outputs:
            cg.emit(asm.instruction("STORE_FAST", argval=OUTPUTS))
            cg.new_names.append(OUTPUTS)
        else:
            cg.emit(asm.instruction("POP_TOP"))
    emit(cg)
    if not root.graph.more_outputs:
        _shorten(cg, plan)
    root.new_code = _assemble(root, cg)


def _shorten(cg: PyCodegen, plan: Plan) -> None:
    """A single output that is fetched right after the call and never again needs no local."""
    names = [(i.opname, i.argval) for i in cg.instructions]
    if len(plan.outputs) != 1 or names.count(("LOAD_FAST", OUTPUTS)) != 1:
        return
    store = names.index(("STORE_FAST", OUTPUTS))
    if names[store + 1] != ("LOAD_FAST", OUTPUTS):
        return
    width = 2 + len(asm.subscript())
    cg.instructions[store : store + 1 + width] = [asm.instruction("UNPACK_SEQUENCE", arg=1)]
    cg.instructions[:] = [i for i in cg.instructions if (i.opname, i.argval) != ("DELETE_FAST", OUTPUTS)]
    cg.new_names.remove(OUTPUTS)


def _compile_graph(root: RootTranslator, plan: Plan) -> CompiledGraph | None:
    graph = root.graph
    if graph.is_empty():
        return None
    outputs = list(plan.outputs)
    if not outputs and not _has_effect(root):
        return None
    module = graph.finish(outputs)
    if not graph.inputs and not outputs and len(graph.graph.nodes) <= 1:
        return None
    from pydynamo.frontend.backend_call import call_backend

    name = f"__compiled_fn_{next(_names)}"
    after = torch.is_grad_enabled()
    torch._C._set_grad_enabled(root.grad_before)  # a backend that traces begins where the graph does
    try:
        run = call_backend(root, module, name)
    finally:
        torch._C._set_grad_enabled(after)
    if root.grad_switches:
        run = _switching_grad(run, after)
    fakes = [entry.node.meta["example_value"] for entry in graph.inputs]
    changes = graph.changes if graph.leaves_traces or graph.changes.drawn else None
    if changes is not None and not graph.leaves_traces and graph.may_run_again:
        run, changes = taking_back_numbers(run), None
    return compiled_graph(name, run, fakes, changes)


def _has_effect(root: RootTranslator) -> bool:
    from pydynamo.frontend.output_graph import _is_impure

    return any(node.op not in ("placeholder", "output") and _is_impure(node) for node in root.graph.graph.nodes)


def _assemble(root: RootTranslator, cg: PyCodegen) -> types.CodeType:
    def transform(instructions: list[Any], options: dict[str, Any]) -> None:
        count = 0
        while instructions[count].opname in _PROLOGUE:
            count += 1
        options["co_varnames"] = (*options["co_varnames"], *cg.new_names)
        options["co_nlocals"] = len(options["co_varnames"])
        first = next((i for i in instructions if i.starts_line is not None), instructions[0])
        for inst in cg.instructions:
            if getattr(inst, "positions", None) is None:
                inst.positions = getattr(first, "positions", None)
        for inst in instructions[:count]:
            inst.exn_tab_entry = None  # the NOP of a leading `try:` belongs to a region that is gone
        instructions[:] = instructions[:count] + cg.instructions

    return asm.transform_code_object(root.code, transform)


# return ------------------------------------------------------------------------------------------------------------
def compile_return(root: RootTranslator, value: VariableTracker) -> None:
    """The frame returns ``value``."""
    effects = not root.effects.is_empty()

    def emit(cg: PyCodegen) -> None:
        if effects:
            cg.keep(value)
            replay.prepare(cg)
            cg.fill()
            replay.apply(cg)
        cg(value)
        cg.fill()
        if cg.plan.outputs:
            cg.emit(asm.instruction("DELETE_FAST", argval=OUTPUTS))
        cg.emit(asm.instruction("RETURN_VALUE"))

    with_draft(root, emit)
