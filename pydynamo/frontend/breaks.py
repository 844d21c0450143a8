"""The end of a translation at a graph break.

Graph call, values into temps, side effects, the breaking instruction itself, hand-over to the function that continues.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo._core import HandOver
from pydynamo.frontend import asm, replay
from pydynamo.frontend.break_steps import STEPPABLE, TRUTH_JUMPS, arity, kw_names_before, loads_for_call
from pydynamo.frontend.codegen import OUTPUTS, PyCodegen
from pydynamo.frontend.exc import RestAsItIs, SkipFrame, Unsupported, unsupported
from pydynamo.frontend.finish import with_draft
from pydynamo.frontend.inline import GeneratorVariable
from pydynamo.frontend.resume import (
    EXC_INFO,
    NULL,
    VALUE,
    fits_in_parcel,
    live_cells,
    live_locals,
    make_resume_code,
    may_be_unbound,
    original_place,
)
from pydynamo.frontend.resume_slots import around_load, used_as
from pydynamo.frontend.variables.base import ExcInfoVariable, LazyVariable, NullVariable, VariableTracker
from pydynamo.frontend.variables.hashed_iterators import DictIterator

if TYPE_CHECKING:
    from pydynamo.frontend.root import RootTranslator

#: what ``next`` gives at the end of an iterator
_END = object()
_FRAME_READERS = (locals, vars, dir, eval, exec, super)


def compile_break(root: RootTranslator, reason: Unsupported) -> None:
    """The frame breaks before its current instruction; without a way to go on the frame is skipped."""
    try:
        for generator in root.generators:
            if generator.is_suspended_in_try():
                unsupported("generator", f"{generator.name} is alive at the break")
        _compile_break(root, as_it_is=isinstance(reason, RestAsItIs))
    except Unsupported as second:
        raise SkipFrame(second) from None


def _compile_break(root: RootTranslator, as_it_is: bool) -> None:
    inst = root.current
    index = root.ip
    for name in live_cells(root.code, index):
        if not root.is_bound(name) or may_be_unbound(root.code, index, name):
            # In the code that continues it is a free variable, and reading it would raise another exception.
            unsupported("reconstruction-failure", f"variable {name!r} may be read while it is not bound")
    plain = not root.handled and not as_it_is
    empty = root.graph.is_empty() and root.effects.is_empty()
    if _looks_at_frame(root, inst):
        unsupported("inspection", "the frame itself is looked at")
    if inst.opname == "GET_ITER" and _is_handed_over(root.stack[-1]):
        # Stepping over it would hand the same iterator to a function that begins in the same way.
        unsupported("unsupported-iteration", "an iterator that was alive at the break before")
    if inst.opname == "FOR_ITER" and plain:
        _break_at_iteration(root, index)
    elif inst.opname in TRUTH_JUMPS and plain:
        _break_at_branch(root, index)
    elif inst.opname in STEPPABLE and plain:
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
    late = [value for value in values if isinstance(value, DictIterator) and value.waits_for_changes(cg)]
    for value in values:
        if value not in late:
            cg.keep(value.handled if isinstance(value, ExcInfoVariable) else value)
    replay.prepare(cg)
    cg.fill()
    replay.apply(cg)
    cg.changes_made = True
    for value in late:
        cg.keep(value)
    if cg.plan.outputs:
        cg.emit(asm.instruction("DELETE_FAST", argval=OUTPUTS))


def _hand_over(
    cg: PyCodegen,
    root: RootTranslator,
    target: Any,
    stack: list[Callable[[], None]],
    names: list[str],
    *,
    forget: bool = False,
) -> None:
    """Leave the rest of the call to the continuing function, with the stack and the live locals.

    ``forget``: a traceback may keep this frame, whose temps must not keep what they hold.
    """
    frees = (*root.code.co_cellvars, *root.code.co_freevars)
    loads: dict[str, Callable[[], None]] = {name: lambda n=name: cg(root.locals[n]) for name in names}  # type: ignore[misc]
    passed = [*stack, *loads.values()]
    eager = isinstance(target, EagerContinuation)
    if eager:
        packed = [load for name, load in loads.items() if fits_in_parcel(name)]
        others = [load for name, load in loads.items() if not fits_in_parcel(name)]
        passed = [lambda: _build(cg, "BUILD_LIST", packed), *others]

    def callee() -> None:
        if target.whole is not None:
            cg.load_object(target.whole)
            return
        cells: list[Callable[[], None]] = [functools.partial(cg.load_cell, name) for name in frees]
        if eager:
            cells += [functools.partial(cg.call, lambda: cg.load_object(types.CellType), [load]) for load in stack]
        cg.call(lambda: cg.load_object(target.bind), [lambda: _build(cg, "BUILD_TUPLE", cells)])

    cg.call(lambda: cg.load_object(HandOver), [callee, *passed])
    if forget:
        cg.forget_temps()
    cg.emit(asm.instruction("RETURN_VALUE"))


def _build(cg: PyCodegen, opname: str, items: list[Callable[[], None]]) -> None:
    for item in items:
        item()
    cg.emit(asm.instruction(opname, arg=len(items)))


class _Handler:
    """Where an exception of the breaking instruction goes on: the user's handler, run as it is.

    The frame's own exception table says so; the stack and the locals that the handler expects are kept beside those of
    the way straight on.
    """

    def __init__(self, root: RootTranslator, inst: Any) -> None:
        self.root = root
        self.entry = inst.exn_tab_entry
        self.stack = root.stack[: self.entry.depth]
        index = root.index_of[self.entry.target]
        self.names = _live(root, index)
        slots = (*_slots(root, self.stack), *(VALUE,) * (1 + self.entry.lasti))
        code = make_resume_code(root.code, index, slots, tuple(self.names), parcel=True)
        self.target = EagerContinuation(root.code, root.scope, code)

    def values(self) -> list[VariableTracker]:
        """What has to be kept until the instruction has run."""
        return [*self.stack, *(self.root.locals[name] for name in self.names)]

    def cover(self, cg: PyCodegen, start: int) -> Callable[[], None]:
        """The instructions from ``start`` on are guarded; the result emits the handler, behind all others."""
        guarded = cg.instructions[start:]
        raised = cg.new_local("raised")
        first = asm.instruction("STORE_FAST", argval=raised)
        for inst in guarded:
            inst.exn_tab_entry = asm.InstructionExnTabEntry(guarded[0], guarded[-1], first, 0, False)

        def emit() -> None:
            cg.emit(first)
            stack = [_slot_load(cg, v) for v in self.stack if not isinstance(v, NullVariable)]
            if self.entry.lasti:
                stack.append(lambda: cg.load_const(0))  # only where the handler's RERAISE would point
            _hand_over(cg, self.root, self.target, [*stack, lambda: cg.load_fast(raised)], self.names, forget=True)

        return emit


def _handler(root: RootTranslator, inst: Any) -> _Handler | None:
    return _Handler(root, inst) if inst.exn_tab_entry is not None else None


def _break_over(root: RootTranslator, index: int) -> None:
    """Run the instruction itself, then continue behind it in a compiled function."""
    inst = root.instructions[index]
    kw_names = kw_names_before(root, index) if inst.opname == "CALL" else []
    pops, pushes = arity(root, inst)
    operands = root.stack[len(root.stack) - pops :]
    below = root.stack[: len(root.stack) - pops]
    names = _live(root, index + 1)
    pushed: tuple[str, ...] = (VALUE,) * pushes
    run = asm.copy_of(inst)
    if loads_for_call(inst):
        # The plain load will do: the NULL beside it says that it is no method.
        if inst.opname == "LOAD_METHOD":
            run = asm.load_attr(inst.argval)
        else:
            run.arg = (inst.arg or 0) & ~1
        pushes = 1
        pushed = (VALUE, NULL) if asm.NULL_AFTER_CALLABLE else (NULL, VALUE)
    slots = _slots(root, below) + pushed
    target, names = resume_function(root, index + 1, slots, names)
    handler = _handler(root, inst)

    from pydynamo.frontend import callees

    use = used_as(inst, len(root.stack))
    callee = _compilable_callee(inst, operands, callees.KINDS)
    picker = root.options.callees.picker

    def emit(cg: PyCodegen) -> None:
        extra = handler.values() if handler is not None else []
        _keep_all(cg, [*operands, *below, *(root.locals[n] for n in names), *extra])
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
        start = len(cg.instructions)
        cg.emit_all([asm.copy_of(extra) for extra in kw_names])
        if inst.opname == "CALL" and asm.V311:
            cg.emit(asm.instruction("PRECALL", arg=inst.arg))
        cg.emit(asm.copy_of(run))
        emit_handler = handler.cover(cg, start) if handler is not None else None
        results = [cg.new_local("result") for _ in range(pushes)]
        for name in reversed(results):
            cg.emit(asm.instruction("STORE_FAST", argval=name))
        stack: list[Callable[[], None]] = [_slot_load(cg, v) for v in below if not isinstance(v, NullVariable)]
        stack += [lambda n=name: cg.load_fast(n) for name in results]  # type: ignore[misc]
        _hand_over(cg, root, target, stack, names)
        if emit_handler is not None:
            emit_handler()

    with_draft(root, emit)


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


def _break_at_branch(root: RootTranslator, index: int) -> None:
    """Take the truth of the condition, then continue at the jump itself, where it is a known bool."""
    condition = root.stack[-1]
    if condition.source is not None and isinstance(condition, LazyVariable):
        # The function that continues may be this very one: it must not take the known bool for what it was cut for.
        root.output.guards.add("TYPE_MATCH", condition.source, condition.peek_type())
    below = root.stack[:-1]
    names = _live(root, index)
    target, names = resume_function(root, index, (*_slots(root, below), VALUE), names)
    handler = _handler(root, root.instructions[index])

    def emit(cg: PyCodegen) -> None:
        extra = handler.values() if handler is not None else []
        _keep_all(cg, [condition, *below, *(root.locals[n] for n in names), *extra])
        start = len(cg.instructions)
        cg.call(lambda: cg.load_object(bool), [lambda: cg(condition)])
        emit_handler = handler.cover(cg, start) if handler is not None else None
        result = cg.new_local("result")
        cg.emit(asm.instruction("STORE_FAST", argval=result))
        stack = [_slot_load(cg, v) for v in below if not isinstance(v, NullVariable)]
        _hand_over(cg, root, target, [*stack, lambda: cg.load_fast(result)], names)
        if emit_handler is not None:
            emit_handler()

    with_draft(root, emit)


def _break_at_iteration(root: RootTranslator, index: int) -> None:
    """Step the iterator, then continue with its item in the loop, or behind the loop."""
    inst = root.instructions[index]
    at = len(root.stack) - (2 if asm.V315 else 1)
    iterator, below = root.stack[at], root.stack[:at]
    if isinstance(iterator.realize(), GeneratorVariable):
        unsupported("generator", "a generator that is stepped at the break")
    # 3.11 pops the iterator itself, 3.12 with END_FOR, which it skips; later ones skip END_FOR and pop behind it
    end = root.index_of[inst.target]
    after = root.stack if asm.V313 else below
    if not asm.V311 and root.instructions[end].opname == "END_FOR":
        end += 1
    inside = _live(root, index + 1)
    outside = _live(root, end)
    body, inside = resume_function(root, index + 1, (*_slots(root, root.stack), VALUE), inside)
    rest, outside = resume_function(root, end, _slots(root, after), outside)
    handler = _handler(root, inst)

    def loads(cg: PyCodegen, stack: list[VariableTracker]) -> list[Callable[[], None]]:
        return [_slot_load(cg, v) for v in stack if not isinstance(v, NullVariable)]

    def emit(cg: PyCodegen) -> None:
        extra = handler.values() if handler is not None else []
        kept = [*root.stack, *(root.locals[n] for n in {*inside, *outside}), *extra]
        _keep_all(cg, kept)
        start = len(cg.instructions)
        cg.call(lambda: cg.load_object(next), [lambda: cg(iterator), lambda: cg.load_object(_END)])
        emit_handler = handler.cover(cg, start) if handler is not None else None
        item = cg.new_local("item")
        over = asm.instruction("NOP")
        cg.emit_all([asm.instruction("STORE_FAST", argval=item), asm.instruction("LOAD_FAST", argval=item)])
        cg.load_object(_END)
        cg.emit_all([asm.instruction("IS_OP", arg=0), asm.jump_if_true(over)])
        _hand_over(cg, root, body, [*loads(cg, root.stack), lambda: cg.load_fast(item)], inside)
        cg.emit(over)
        _hand_over(cg, root, rest, loads(cg, after), outside)
        if emit_handler is not None:
            emit_handler()

    with_draft(root, emit)


def _continue_eagerly(root: RootTranslator, index: int) -> None:
    """Run the rest of the frame as it is, from the instruction on."""
    while index > 0 and root.instructions[index - 1].opname in ("KW_NAMES", "PRECALL"):
        index -= 1
    names = _live(root, index)
    slots = _slots(root, root.stack)
    target = EagerContinuation(
        root.code, root.scope, make_resume_code(root.code, index, slots, tuple(names), parcel=True)
    )

    def emit(cg: PyCodegen) -> None:
        _keep_all(cg, [*root.stack, *(root.locals[n] for n in names)])
        stack = [_slot_load(cg, v) for v in root.stack if not isinstance(v, NullVariable)]
        _hand_over(cg, root, target, stack, names)

    with_draft(root, emit)


class EagerContinuation:
    """The rest of a frame, run by CPython as it is. ``rest.bind(cells)(locals)``, see ``make_resume_code``"""

    def __init__(self, origin: types.CodeType, scope: dict[str, Any], code: types.CodeType) -> None:
        self.origin = origin
        self.scope = scope
        self.code = code
        self.__name__ = f"__rest_of_{origin.co_name}"
        #: what continues any frame, if the code has no cells
        self.whole: types.FunctionType | None = None if code.co_freevars else self.bind(())

    def bind(self, cells: tuple[types.CellType, ...]) -> types.FunctionType:
        """What continues a frame with these cells."""
        return types.FunctionType(self.code, self.scope, self.code.co_name, None, cells)

    def __repr__(self) -> str:
        return self.__name__


def resume_function(
    root: RootTranslator, index: int, slots: tuple[str, ...], names: list[str]
) -> tuple[Any, list[str]]:
    """The compiled function that continues at ``index``, one for each place and shape of the stack; its locals in order."""
    from pydynamo.frontend.wrapper import ResumeFunction

    place = original_place(root.code, index)
    ordered = place.in_order(names)
    return ResumeFunction.for_place(root, place, slots, ordered), list(ordered)
