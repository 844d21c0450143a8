"""Functions that continue a frame in the middle, made from its original code; and which locals are alive there."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable
from typing import Any

from pydynamo.errors import BytecodeError
from pydynamo.frontend import asm
from pydynamo.frontend.by_identity import ByIdentity
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.resume_slots import around_load, follow, separate_comprehensions

#: what fills a stack slot of the continued frame: a parameter, NULL, or the PUSH_EXC_INFO of a handled exception
VALUE, NULL, EXC_INFO = "value", "null", "exc-info"
#: the parameter that is a list of locals
PARCEL = "___parcel"

_READS = frozenset(
    {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_AND_CLEAR", "DELETE_FAST", "LOAD_CLOSURE"}
)
_READ_PAIRS = frozenset({"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"})
_LEAVES = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE", "JUMP"})
_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_SUPER = super
_INSPECTING = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"})


def successors(instructions: list[Any], index_of: Callable[[Any], int], index: int) -> list[int]:
    """Where control can go after an instruction, exception handlers included."""
    inst = instructions[index]
    found: list[int] = []
    if inst.target is not None:
        found.append(index_of(inst.target))
    if inst.opname not in _LEAVES and inst.opname not in _ALWAYS and index + 1 < len(instructions):
        found.append(index + 1)
    if inst.exn_tab_entry is not None:
        found.append(index_of(inst.exn_tab_entry.target))
    return found


def live_locals(code: types.CodeType, start: int) -> frozenset[str]:
    """The fast locals that may be read after control reaches instruction ``start``."""
    if _INSPECTING & set(code.co_names):
        return frozenset(code.co_varnames)
    alive = _live_at(code, start, effects)
    return alive | {code.co_varnames[0]} if _bare_supers(code) and code.co_argcount else alive


def _bare_supers(code: types.CodeType) -> bool:
    """True if the code may call ``super()``, which takes the frame's first argument from where it lies."""
    return "super" in code.co_names and "__class__" in code.co_freevars


def live_cells(code: types.CodeType, start: int) -> frozenset[str]:
    """The cell variables that the code itself may read before it writes them once control reaches instruction ``start``."""
    return _live_at(code, start, _cell_effects) & frozenset(code.co_cellvars)


def may_be_unbound(code: types.CodeType, start: int, name: str) -> bool:
    """True if the code may delete a live cell variable and then read it, once control reaches instruction ``start``."""
    if any(_deleted_by(inner, name) for inner in code.co_consts if isinstance(inner, types.CodeType)):
        return True
    instructions, _ = asm.decode(code)
    deletes = [i for i in _reached(instructions, start) if _deletes(instructions[i], name)]
    return any(index + 1 < len(instructions) and name in live_cells(code, index + 1) for index in deletes)


def _deleted_by(code: types.CodeType, name: str) -> bool:
    """True if the code of an inner function, or of one in it, deletes the variable of the outer one."""
    if name not in code.co_freevars:
        return False
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(_deletes(inst, name) for inst in asm.decode(code)[0]) or any(_deleted_by(c, name) for c in inner)


def _deletes(inst: Any, name: str) -> bool:
    return inst.opname == "DELETE_DEREF" and inst.argval == name


def _live_at(code: types.CodeType, start: int, effects: Callable[[Any], tuple[set[str], set[str]]]) -> frozenset[str]:
    instructions, table = asm.decode(code)
    live: list[set[str]] = [set() for _ in instructions]
    flow = [successors(instructions, table.__getitem__, i) for i in range(len(instructions))]
    before: list[list[int]] = [[] for _ in instructions]
    for index, targets in enumerate(flow):
        for target in targets:
            before[target].append(index)
    work = list(range(len(instructions)))
    while work:
        index = work.pop()
        inst = instructions[index]
        out: set[str] = set().union(*(live[target] for target in flow[index])) if flow[index] else set()
        read, written = effects(inst)
        handler = live[table[inst.exn_tab_entry.target]] if inst.exn_tab_entry is not None else set()
        new = (out - written) | read | handler
        if new != live[index]:
            live[index] = new
            work.extend(before[index])
    return frozenset(live[start])


def effects(inst: Any) -> tuple[set[str], set[str]]:
    """The locals that an instruction reads, and those that it writes without reading."""
    name, value = inst.opname, inst.argval
    if name in _READS:
        return {value}, set()
    if name in _READ_PAIRS:
        return set(value), set()
    if name in ("STORE_FAST", "STORE_FAST_MAYBE_NULL"):
        return set(), {value}
    if name == "STORE_FAST_LOAD_FAST":
        return ({value[1]} - {value[0]}), {value[0]}
    if name == "STORE_FAST_STORE_FAST":
        return set(), set(value)
    return set(), set()


def _cell_effects(inst: Any) -> tuple[set[str], set[str]]:
    if inst.opname in ("LOAD_DEREF", "DELETE_DEREF"):
        return {inst.argval}, set()
    return set(), ({inst.argval} if inst.opname == "STORE_DEREF" else set())


class Place:
    """An instruction of a function as it was written: where a frame continues, however often it broke before."""

    def __init__(self, code: types.CodeType, index: int) -> None:
        self.code = code
        self.index = index

    def in_order(self, names: list[str]) -> tuple[str, ...]:
        """Names of locals, in the order of the code's own."""
        order = {name: number for number, name in enumerate((*self.code.co_varnames, *self.code.co_cellvars))}
        return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))


#: code made here -> the code it was cut from, and for each instruction its index there
_origins: ByIdentity[types.CodeType, tuple[types.CodeType, list[int | None]]] = ByIdentity()


def original_place(code: types.CodeType, index: int) -> Place:
    """The place in the function as it was written; of code of its own, the place itself."""
    origin = _origins.get(code)
    if origin is not None and origin[1][index] is not None:
        return Place(origin[0], origin[1][index])  # type: ignore[arg-type]
    return Place(code, index)


def _note_origin(code: types.CodeType, made: types.CodeType, kept: list[tuple[int | None, str]]) -> None:
    """What follows the prefix of ``made`` is, one to one, what was kept of ``code``, unless the assembler had to change it."""
    instructions, _ = asm.decode(made)
    prefix = len(instructions) - len(kept)
    names = [inst.opname for inst in instructions[prefix:]] if prefix >= 0 else []
    if names == [name for _, name in kept]:
        before: list[int | None] = [None] * prefix
        _origins.put(made, (code, before + [index for index, _ in kept]))


def make_resume_code(
    code: types.CodeType, start: int, slots: tuple[str, ...], names: tuple[str, ...], *, parcel: bool = False
) -> types.CodeType:
    """Code that rebuilds the stack from its first parameters and continues ``code`` at instruction ``start``.

    Parameters: one for each slot that is not NULL, then the locals ``names``. Cell variables of ``code`` become free
    variables. With ``parcel``, nobody but the frame holds what it begins with, and what it lets go is gone: the slots come
    in cells of their own, free variables behind the others, and the locals that ``fits_in_parcel`` in a list, the first
    parameter; cells and list are emptied.
    """

    kept: list[tuple[int | None, str]] = []

    def transform(instructions: list[Any], options: dict[str, Any]) -> None:
        target = instructions[start]
        place = {inst: index for index, inst in enumerate(instructions)}
        params = [f"___stack{i}" for i, slot in enumerate(slots) if slot != NULL]
        frees = tuple(options["co_cellvars"]) + tuple(options["co_freevars"])
        others = [n for n in options["co_varnames"] if n not in names and not n.startswith("___stack")]
        others = [n for n in others if n not in frees]
        body = _reachable(instructions, start)
        uses, reraises = follow(body, target, len(slots), successors)
        for inst in reraises:
            inst.arg = 0
        renamed = separate_comprehensions(body, frees)
        others += renamed
        if _bare_supers(code):
            _write_out_supers(body, code, names, frees)
        if not renamed:
            kept.extend((place.get(inst), inst.opname) for inst in body)
        arguments, unpacked = [*params, *names], []
        if parcel:
            frees = (*frees, *params)
            unpacked = list(filter(fits_in_parcel, names))
            arguments = [PARCEL, *(name for name in names if not fits_in_parcel(name))]
            others = [*unpacked, *others]
        prefix = _prefix(slots, len(frees), target, uses, "DEREF" if parcel else "FAST")
        if parcel:
            prefix[-1:-1] = _unpack(unpacked)
        options.update(
            co_argcount=len(arguments),
            co_posonlyargcount=0,
            co_kwonlyargcount=0,
            co_varnames=(*arguments, *others),
            co_cellvars=(),
            co_freevars=frees,
            co_name=code.co_name,
            co_flags=options["co_flags"] & ~_FLAGS,
            co_nlocals=len(arguments) + len(others),
        )
        instructions[:] = prefix + body

    try:
        made = asm.transform_code_object(code, transform)
    except BytecodeError as error:
        unsupported("reconstruction-failure", f"no code continues here: {error}")
    if kept:
        _note_origin(code, made, kept)
    return made


#: why code in which it is in doubt is run as it is
SUPER_IN_DOUBT = "super() where it is not the builtin or its object is deleted"


def super_is_in_doubt(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """True if ``super()`` in this code may be something else than the builtin with the frame's class and object.

    Its name means another thing in the module; or, on 3.11, whose disassembly writes the arguments out, the code deletes
    the object that the builtin would find by itself.
    """
    if not _bare_supers(code):
        return False
    if "super" in scope or builtins.super is not _SUPER:
        return True
    return (
        asm.V311 and code.co_argcount > 0 and any(_unbinds(inst, code.co_varnames[0]) for inst in asm.decode(code)[0])
    )


def _unbinds(inst: Any, name: str) -> bool:
    return (inst.opname == "DELETE_FAST" and inst.argval == name) or _deletes(inst, name)


def _write_out_supers(body: list[Any], code: types.CodeType, names: tuple[str, ...], frees: tuple[str, ...]) -> None:
    """Give each ``super()`` its class and its object as arguments: the first parameter is no longer what it goes by.

    On 3.11 the disassembly has done so.
    """
    first = code.co_varnames[0] if code.co_argcount else ""
    for index in range(len(body) - 1, 1, -1):
        call = body[index]
        if call.opname == "LOAD_SUPER_ATTR":
            call.arg = (call.arg or 0) | 2  # go by the class and the object on the stack, not by the frame
            continue
        before = index - (2 if body[index - 1].opname == "PRECALL" else 1)
        load = body[before]
        called = load.opname == "LOAD_GLOBAL" and load.argval == "super"
        if call.opname != "CALL" or call.arg or not called:
            continue
        if any(_unbinds(inst, first) for inst in body) or first not in (*names, *frees):
            unsupported("reconstruction-failure", "super() where nothing is left of the first argument")
        added = [
            asm.instruction("LOAD_DEREF", argval="__class__"),
            asm.instruction("LOAD_DEREF" if first in frees else "LOAD_FAST", argval=first),
        ]
        for inst in added:
            inst.exn_tab_entry = call.exn_tab_entry
            inst.positions = getattr(call, "positions", None)
        for inst in body[before + 1 : index + 1]:
            inst.arg = 2
        body[before + 1 : before + 1] = added


def fits_in_parcel(name: str) -> bool:
    """True for a local of the user's; those that the compiler makes up may hold what no plain store puts there."""
    return name.isidentifier() and not name.startswith("__")


def _unpack(names: list[str]) -> list[Any]:
    """The items of the parcel into locals."""
    clear = [asm.instruction("LOAD_FAST", argval=PARCEL), asm.load_attr("clear")]
    clear.insert(len(clear) if asm.NULL_AFTER_CALLABLE else 0, asm.push_null())
    out = [asm.instruction("LOAD_FAST", argval=PARCEL), asm.instruction("UNPACK_SEQUENCE", arg=len(names))]
    out += [asm.instruction("STORE_FAST", argval=name) for name in names]
    return [*out, *clear, *asm.call(0), asm.instruction("POP_TOP")]


def _prefix(slots: tuple[str, ...], frees: int, target: Any, uses: dict[int, str], scope: str) -> list[Any]:
    """From the start of the code to the jump to ``target``; the slots are variables of the ``scope`` FAST or DEREF."""
    out = [asm.instruction("COPY_FREE_VARS", arg=frees)] if frees else []
    out.append(asm.instruction("RESUME", arg=0))
    for index, slot in enumerate(slots):
        if slot == NULL:
            out.append(asm.push_null())
            continue
        before, after = around_load("exception" if slot == EXC_INFO else uses.get(index))
        load = [asm.instruction(f"{name}_{scope}", argval=f"___stack{index}") for name in ("LOAD", "DELETE")]
        out += [*before, *load, *after]  # the slot alone holds it: an exception in a local would hold its own frame
        if slot == EXC_INFO:
            out.append(asm.instruction("PUSH_EXC_INFO"))
            out.append(asm.instruction("POP_TOP"))
    out.append(asm.jump(target))
    return out


def _reached(instructions: list[Any], start: int) -> set[int]:
    """The indices of the instructions that can run from ``start`` on."""
    table = {inst: index for index, inst in enumerate(instructions)}
    seen = {start}
    work = [start]
    while work:
        for target in successors(instructions, table.__getitem__, work.pop()):
            if target not in seen:
                seen.add(target)
                work.append(target)
    return seen


def _reachable(instructions: list[Any], start: int) -> list[Any]:
    """The instructions that can run from ``start`` on, in order, with exception ranges cut to what is left."""
    seen = _reached(instructions, start)
    kept = [inst for index, inst in enumerate(instructions) if index in seen]
    asm.rebuild_exception_entries(kept)
    return kept
