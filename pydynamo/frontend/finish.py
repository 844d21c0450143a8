"""The end of a translation: the order of a compiled frame, at a return and at a graph break.

At a return: graph call, values, side effects, result. At a break: graph call, values into temps, side effects, the
breaking instruction itself, hand-over to the function that continues.
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
from pydynamo.frontend.exc import SkipFrame, Unsupported, unsupported
from pydynamo.frontend.resume import EXC_INFO, NULL, VALUE, live_cells, live_locals, make_resume_code
from pydynamo.frontend.resume_slots import around_load, used_as
from pydynamo.frontend.variables.base import ExcInfoVariable, NullVariable, VariableTracker

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator

_PROLOGUE = frozenset({"COPY_FREE_VARS", "MAKE_CELL", "RESUME", "NOP"})
#: instructions that may be run by themselves at a break: they pop and push, and go on with the next one
_STEPPABLE = frozenset(
    {
        "CALL",
        "CALL_KW",
        "CALL_FUNCTION_EX",
        "LOAD_ATTR",
        "LOAD_METHOD",
        "STORE_ATTR",
        "DELETE_ATTR",
        "BINARY_OP",
        "BINARY_SUBSCR",
        "STORE_SUBSCR",
        "DELETE_SUBSCR",
        "COMPARE_OP",
        "CONTAINS_OP",
        "IS_OP",
        "UNARY_NEGATIVE",
        "UNARY_INVERT",
        "UNARY_NOT",
        "TO_BOOL",
        "GET_ITER",
        "FORMAT_VALUE",
        "CONVERT_VALUE",
        "FORMAT_SIMPLE",
        "FORMAT_WITH_SPEC",
        "UNPACK_SEQUENCE",
        "UNPACK_EX",
        "IMPORT_NAME",
        "IMPORT_FROM",
        "BINARY_SLICE",
        "STORE_SLICE",
        "LIST_EXTEND",
        "BUILD_STRING",
        "LOAD_SUPER_ATTR",
        "LOAD_GLOBAL",
        "BUILD_SET",
        "BUILD_MAP",
    }
)
_TRUTH_JUMPS = frozenset(
    {
        "POP_JUMP_IF_TRUE",
        "POP_JUMP_IF_FALSE",
        "POP_JUMP_FORWARD_IF_TRUE",
        "POP_JUMP_FORWARD_IF_FALSE",
        "POP_JUMP_BACKWARD_IF_TRUE",
        "POP_JUMP_BACKWARD_IF_FALSE",
    }
)
_FRAME_READERS = (locals, vars, dir, eval, exec)
_names = itertools.count()


def _restoring_grad(run: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        before = torch.is_grad_enabled()
        try:
            return run(*args)
        except BaseException:
            torch._C._set_grad_enabled(before)
            raise

    return call


def _with_draft(root: RootTranslator, emit: Callable[[PyCodegen], None]) -> None:
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
    run = call_backend(root, module, name)
    return CompiledGraph(name, _restoring_grad(run) if root.grad_switches else run)


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

    _with_draft(root, emit)


# break -------------------------------------------------------------------------------------------------------------
def compile_break(root: RootTranslator, reason: Unsupported) -> None:
    """The frame breaks before its current instruction; without a way to go on the frame is skipped."""
    try:
        for generator in root.generators:
            if generator.is_suspended_in_try():
                unsupported("generator", f"{generator.name} is alive at the break")
        _compile_break(root)
    except Unsupported as second:
        raise SkipFrame(second) from None


def _compile_break(root: RootTranslator) -> None:
    inst = root.current
    index = root.ip
    for name in live_cells(root.code, index):
        if root.cells[name].contents is None:
            # In the code that continues it is a free variable, and reading it would raise another exception.
            unsupported("reconstruction-failure", f"variable {name!r} may be read before it is bound")
    in_loop = _in_loop(root, index)
    plain = inst.exn_tab_entry is None and not in_loop and not root.handled
    empty = root.graph.is_empty() and root.effects.is_empty()
    if _looks_at_frame(root, inst):
        unsupported("inspection", "the frame itself is looked at")
    if inst.opname == "GET_ITER" and _is_handed_over(root.stack[-1]):
        # Stepping over it would hand the same iterator to a function that begins in the same way.
        unsupported("unsupported-iteration", "an iterator that was alive at the break before")
    if inst.opname in _TRUTH_JUMPS and plain:
        _break_at_branch(root, index)
    elif inst.opname in _STEPPABLE and plain:
        _break_over(root, index)
    elif empty and root.steps == 0:
        unsupported("reconstruction-failure", "nothing was captured")
    else:
        _continue_eagerly(root, index)


def _looks_at_frame(root: RootTranslator, inst: Any) -> bool:
    """True if the instruction calls a builtin that reads the names of the frame it is called from."""
    from pydynamo.frontend.variables.builtin import BuiltinVariable

    if inst.opname not in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
        return False
    operands = root.stack[-(inst.arg or 0) - 3 :]
    called = [v.fn if isinstance(v, BuiltinVariable) else getattr(v, "value", None) for v in operands]
    return any(fn is reader for fn in called for reader in _FRAME_READERS)


def _is_handed_over(value: VariableTracker) -> bool:
    """True for a stack slot that a continuing function got as a parameter."""
    source = value.source
    return source is not None and source.kind == "local" and source.key.startswith("___stack")


def _in_loop(root: RootTranslator, index: int) -> bool:
    """True if a backward jump goes around the instruction."""
    for later in range(index, len(root.instructions)):
        target = root.instructions[later].target
        if target is not None and root.index_of[target] <= index:
            return True
    return False


def _live(root: RootTranslator, index: int) -> list[str]:
    alive = live_locals(root.code, index)
    return [name for name in root.locals if name in alive and not name.startswith("___stack")]


def _slots(root: RootTranslator, stack: list[VariableTracker]) -> tuple[str, ...]:
    """What each slot is. The copy of a handled exception's slot that POP_EXCEPT took leaves a plain value behind."""
    handled = len(root.handled)
    slots: list[str] = []
    for value in stack:
        if isinstance(value, NullVariable):
            slots.append(NULL)
        elif isinstance(value, ExcInfoVariable) and slots.count(EXC_INFO) < handled:
            slots.append(EXC_INFO)
        else:
            slots.append(VALUE)
    return tuple(slots)


def _keep_all(cg: PyCodegen, values: list[VariableTracker]) -> None:
    for value in values:
        cg.keep(value.handled if isinstance(value, ExcInfoVariable) else value)
    replay.prepare(cg)
    cg.fill()
    replay.apply(cg)
    if cg.plan.outputs:
        cg.emit(asm.instruction("DELETE_FAST", argval=OUTPUTS))


def _hand_over(
    cg: PyCodegen, root: RootTranslator, target: Any, stack: list[Callable[[], None]], names: list[str]
) -> None:
    """Call the continuing function with the stack and the live locals, and return what it returns."""
    frees = (*root.code.co_cellvars, *root.code.co_freevars)

    def closure() -> None:
        for name in frees:
            cg.load_cell(name)
        cg.emit(asm.instruction("BUILD_TUPLE", arg=len(frees)))

    loads: list[Callable[[], None]] = [lambda n=name: cg(root.locals[n]) for name in names]  # type: ignore[misc]
    cg.call(lambda: cg.load_object(target), [closure, *stack, *loads])
    cg.emit(asm.instruction("RETURN_VALUE"))


def _break_over(root: RootTranslator, index: int) -> None:
    """Run the instruction itself, then continue behind it in a compiled function."""
    inst = root.instructions[index]
    kw_names = _kw_names(root, index) if inst.opname == "CALL" else []
    pops, pushes = _arity(root, inst)
    operands = root.stack[len(root.stack) - pops :]
    below = root.stack[: len(root.stack) - pops]
    names = _live(root, index + 1)
    pushed: tuple[str, ...] = (VALUE,) * pushes
    run = asm.copy_of(inst)
    if _loads_for_call(inst):
        # The plain load will do: the NULL beside it says that it is no method.
        if inst.opname == "LOAD_METHOD":
            run = asm.load_attr(inst.argval)
        else:
            run.arg = (inst.arg or 0) & ~1
        pushes = 1
        pushed = (VALUE, NULL) if asm.NULL_AFTER_CALLABLE else (NULL, VALUE)
    slots = _slots(root, below) + pushed
    results: list[str] = []
    target = resume_function(root, index + 1, slots, tuple(names))

    from pydynamo.frontend import callees

    use = used_as(inst, len(root.stack))
    callee = _compilable_callee(inst, operands, callees.KINDS)
    picker = callees.picker_for(root.options)

    def emit(cg: PyCodegen) -> None:
        _keep_all(cg, [*operands, *below, *(root.locals[n] for n in names)])
        for place, operand in enumerate(operands, len(below)):
            if operand is callee:
                cg.call(lambda: cg.load_object(picker), [lambda: cg(callee)])
                continue
            if inst.opname == "CALL_KW" and place == len(root.stack) - 1:
                cg.load_const(operand.realize().as_constant())
                continue
            container = use is not None and use[1] == place and not isinstance(operand, NullVariable)
            head, tail = around_load(use[0] if use is not None and container else None)
            cg.emit_all(head)
            cg(operand)
            cg.emit_all(tail)
        cg.emit_all([asm.copy_of(extra) for extra in kw_names])
        if inst.opname == "CALL" and asm.V311:
            cg.emit(asm.instruction("PRECALL", arg=inst.arg))
        cg.emit(asm.copy_of(run))
        results[:] = [cg.new_local("result") for _ in range(pushes)]
        for name in reversed(results):
            cg.emit(asm.instruction("STORE_FAST", argval=name))
        stack: list[Callable[[], None]] = [_slot_load(cg, v) for v in below if not isinstance(v, NullVariable)]
        stack += [lambda n=name: cg.load_fast(n) for name in results]  # type: ignore[misc]
        _hand_over(cg, root, target, stack, names)

    _with_draft(root, emit)


def _compilable_callee(
    inst: Any, operands: list[VariableTracker], kinds: tuple[type[VariableTracker], ...]
) -> VariableTracker | None:
    """The operand that is called, if it may have a compiled form and stands there once."""
    if not inst.opname.startswith("CALL"):
        return None
    found = [v for v in operands[:2] if not isinstance(v, NullVariable)]
    if not found or not isinstance(found[0].realize(), kinds):
        return None
    return found[0] if operands.count(found[0]) == 1 else None


def _slot_load(cg: PyCodegen, value: VariableTracker) -> Callable[[], None]:
    real = value.handled if isinstance(value, ExcInfoVariable) else value
    return lambda: cg(real)


def _kw_names(root: RootTranslator, index: int) -> list[Any]:
    """The KW_NAMES that belongs to a CALL, if it has one: right before it, or before its PRECALL."""
    at = index - 2 if index and root.instructions[index - 1].opname == "PRECALL" else index - 1
    return [root.instructions[at]] if at >= 0 and root.instructions[at].opname == "KW_NAMES" else []


def _loads_for_call(inst: Any) -> bool:
    """True if the instruction pushes NULL or a method beside what it loads."""
    if inst.opname == "LOAD_METHOD":
        return True
    flagged = ("LOAD_GLOBAL",) if asm.V311 else ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_SUPER_ATTR")
    return inst.opname in flagged and bool((inst.arg or 0) & 1)


def _arity(root: RootTranslator, inst: Any) -> tuple[int, int]:
    """How many values the instruction takes off the stack and how many it leaves."""
    name, arg = inst.opname, inst.arg or 0
    if name in ("CALL", "CALL_KW"):
        return arg + 2 + (name == "CALL_KW"), 1
    if name == "CALL_FUNCTION_EX":
        extra = 1 if asm.V314 else arg & 1
        null = (
            1
            if len(root.stack) > 2 + extra - 1
            and isinstance(root.stack[-3 - extra + (1 if asm.V313 else 0)], NullVariable)
            else 0
        )
        return (3 + extra, 1) if asm.V313 or null else (2 + extra, 1)
    if name in _FIXED:
        return _FIXED[name]
    if name == "UNPACK_SEQUENCE":
        return 1, arg
    if name == "UNPACK_EX":
        return 1, (arg & 0xFF) + (arg >> 8) + 1
    if name in ("BUILD_STRING", "BUILD_SET"):
        return arg, 1
    if name == "BUILD_MAP":
        return 2 * arg, 1
    if name == "FORMAT_VALUE":
        return 1 + bool(arg & 4), 1
    if name == "LIST_EXTEND":
        return arg + 1, arg
    unsupported("reconstruction-failure", f"break at {name}")


_FIXED: dict[str, tuple[int, int]] = {
    "LOAD_ATTR": (1, 1),
    "LOAD_METHOD": (1, 2),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "BINARY_OP": (2, 1),
    "BINARY_SUBSCR": (2, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "COMPARE_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "IS_OP": (2, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "UNARY_NOT": (1, 1),
    "TO_BOOL": (1, 1),
    "GET_ITER": (1, 1),
    "CONVERT_VALUE": (1, 1),
    "FORMAT_SIMPLE": (1, 1),
    "FORMAT_WITH_SPEC": (2, 1),
    "IMPORT_NAME": (2, 1),
    "IMPORT_FROM": (1, 2),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "LOAD_SUPER_ATTR": (3, 1),
    "LOAD_GLOBAL": (0, 1),
}


def _break_at_branch(root: RootTranslator, index: int) -> None:
    """Take the truth of the condition, then continue at the jump itself, where it is a known bool."""
    condition = root.stack[-1]
    below = root.stack[:-1]
    names = _live(root, index)
    target = resume_function(root, index, (*_slots(root, below), VALUE), tuple(names))

    def emit(cg: PyCodegen) -> None:
        _keep_all(cg, [condition, *below, *(root.locals[n] for n in names)])
        cg.call(lambda: cg.load_object(bool), [lambda: cg(condition)])
        result = cg.new_local("result")
        cg.emit(asm.instruction("STORE_FAST", argval=result))
        stack = [_slot_load(cg, v) for v in below if not isinstance(v, NullVariable)]
        _hand_over(cg, root, target, [*stack, lambda: cg.load_fast(result)], names)

    _with_draft(root, emit)


def _continue_eagerly(root: RootTranslator, index: int) -> None:
    """Run the rest of the frame as it is, from the instruction on."""
    while index > 0 and root.instructions[index - 1].opname in ("KW_NAMES", "PRECALL"):
        index -= 1
    names = _live(root, index)
    slots = _slots(root, root.stack)
    target = EagerContinuation(root.code, root.scope, make_resume_code(root.code, index, slots, tuple(names)))

    def emit(cg: PyCodegen) -> None:
        _keep_all(cg, [*root.stack, *(root.locals[n] for n in names)])
        stack = [_slot_load(cg, v) for v in root.stack if not isinstance(v, NullVariable)]
        _hand_over(cg, root, target, stack, names)

    _with_draft(root, emit)


class EagerContinuation:
    """The rest of a frame, run by CPython as it is."""

    def __init__(self, origin: types.CodeType, scope: dict[str, Any], code: types.CodeType) -> None:
        self.origin = origin
        self.scope = scope
        self.code = code
        self.__name__ = f"__rest_of_{origin.co_name}"

    def __call__(self, cells: tuple[types.CellType, ...], *args: Any) -> Any:
        return types.FunctionType(self.code, self.scope, self.code.co_name, None, cells)(*args)

    def __repr__(self) -> str:
        return self.__name__


def resume_function(root: RootTranslator, index: int, slots: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """The compiled function that continues at ``index``; one for each place and shape of the stack."""
    from pydynamo.frontend.wrapper import ResumeFunction

    return ResumeFunction.for_place(root, index, slots, names)
