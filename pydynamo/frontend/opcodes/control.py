"""Opcodes of control flow: jumps, loops, returns, exceptions, with blocks, generators."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pydynamo.frontend import operators as ops
from pydynamo.frontend.dispatch import op
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.inline import CoroutineVariable, GeneratorVariable, exception_to_raise
from pydynamo.frontend.opcodes.stack import held_constant
from pydynamo.frontend.variables.base import ExcInfoVariable, NullVariable, VariableTracker, type_name
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant
from pydynamo.frontend.variables.exceptions import ExceptionVariable, TracebackVariable
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

V312 = sys.version_info >= (3, 12)
V313 = sys.version_info >= (3, 13)
V314 = sys.version_info >= (3, 14)
V315 = sys.version_info >= (3, 15)
#: operand of LOAD_SPECIAL -> method (3.14+)
_SPECIAL = ("__enter__", "__exit__", "__aenter__", "__aexit__")


# jumps -----------------------------------------------------------------------------------------------------------
@op(
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "JUMP",
    "JUMP_NO_INTERRUPT",
    "JUMP_ABSOLUTE",
)
def _jump(tx: Translator, inst: Any) -> None:
    tx.jump(inst.target)


@op("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_TRUE")
def _pop_jump_if_true(tx: Translator, inst: Any) -> None:
    if tx.truth(tx.stack[-1]):
        tx.jump(inst.target)
    tx.stack.pop()


@op("POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_FALSE")
def _pop_jump_if_false(tx: Translator, inst: Any) -> None:
    if not tx.truth(tx.stack[-1]):
        tx.jump(inst.target)
    tx.stack.pop()


@op("JUMP_IF_TRUE_OR_POP")
def _jump_if_true_or_pop(tx: Translator, inst: Any) -> None:
    if tx.truth(tx.stack[-1]):
        tx.jump(inst.target)
    else:
        tx.stack.pop()


@op("JUMP_IF_FALSE_OR_POP")
def _jump_if_false_or_pop(tx: Translator, inst: Any) -> None:
    if not tx.truth(tx.stack[-1]):
        tx.jump(inst.target)
    else:
        tx.stack.pop()


def _is_none(value: VariableTracker) -> bool:
    real = value.realize()
    return isinstance(real, ConstantVariable) and real.value is None


@op("POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE")
def _pop_jump_if_none(tx: Translator, inst: Any) -> None:
    if _is_none(tx.stack.pop()):
        tx.jump(inst.target)


@op("POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE")
def _pop_jump_if_not_none(tx: Translator, inst: Any) -> None:
    if not _is_none(tx.stack.pop()):
        tx.jump(inst.target)


# loops -----------------------------------------------------------------------------------------------------------
@op("GET_ITER")
def _get_iter(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    if isinstance(value, ConstantVariable) and not hasattr(value.value, "__iter__"):
        tx.raise_error(TypeError, f"'{type_name(value.python_type())}' object is not iterable")
    tx.push(value.get_iter(tx))
    if V315:
        tx.push(NullVariable())


@op("GET_YIELD_FROM_ITER")
def _get_yield_from_iter(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    tx.push(value if isinstance(value, GeneratorVariable) else value.get_iter(tx))


@op("FOR_ITER")
def _for_iter(tx: Translator, inst: Any) -> None:
    iterator = tx.stack[-2 if V315 else -1].realize()
    try:
        tx.push(iterator.next(tx))
    except ObservedException as error:
        if not issubclass(error.vt.python_type(), StopIteration):
            raise
        # 3.11 pops the iterator; 3.12 skips END_FOR and pops; 3.13+ skips END_FOR, then POP_TOP or POP_ITER pops
        tx.jump(inst.target)
        if not V313:
            tx.stack.pop()
        if V312 and tx.instructions[tx.ip].opname == "END_FOR":
            tx.ip += 1


@op("POP_ITER")
def _pop_iter(tx: Translator, inst: Any) -> None:
    tx.stack.pop()
    if V315:
        tx.stack.pop()


# returns and generators --------------------------------------------------------------------------------------------
@op("RETURN_VALUE")
def _return_value(tx: Translator, inst: Any) -> None:
    tx.return_value(tx.stack.pop())


@op("RETURN_CONST")
def _return_const(tx: Translator, inst: Any) -> None:
    tx.return_value(held_constant(tx, inst.argval))


@op("RETURN_GENERATOR")
def _return_generator(tx: Translator, inst: Any) -> None:
    tx.push(NONE)


@op("YIELD_VALUE")
def _yield_value(tx: Translator, inst: Any) -> None:
    tx.yielded = tx.stack.pop()


@op("SEND")
def _send(tx: Translator, inst: Any) -> None:
    sent = tx.stack.pop()
    iterator = tx.stack[-2 if V315 else -1].realize()
    none = _is_none(sent)
    try:
        if isinstance(iterator, GeneratorVariable):
            tx.push(iterator.resume(tx, sent))
        elif none:
            tx.push(iterator.next(tx))
        else:
            tx.push(iterator.call_method(tx, "send", [sent], {}))
    except ObservedException as error:
        if not issubclass(error.vt.python_type(), StopIteration):
            raise
        if not V312:
            tx.stack.pop()
        args = error.vt.args if isinstance(error.vt, ExceptionVariable) else []
        tx.push(args[0] if args else NONE)
        tx.jump(inst.target)


@op("END_SEND")
def _end_send(tx: Translator, inst: Any) -> None:
    value = tx.stack.pop()
    tx.stack.pop()
    if V315:
        tx.stack.pop()
    tx.push(value)


@op("CLEANUP_THROW")
def _cleanup_throw(tx: Translator, inst: Any) -> None:
    # stack: iterator[, NULL (3.15)], what was sent last, exception
    error = tx.stack[-1].realize()
    if not issubclass(error.python_type(), StopIteration):
        raise ObservedException(error, fresh=False)
    del tx.stack[-4 if V315 else -3 :]
    args = error.args if isinstance(error, ExceptionVariable) else []
    tx.push(NONE)
    if V315:
        tx.push(NullVariable())
    tx.push(args[0] if args else NONE)


# coroutines --------------------------------------------------------------------------------------------------------
@op("ASYNC_GEN_WRAP")
def _async_gen_wrap(tx: Translator, inst: Any) -> None:
    unsupported("async", "an asynchronous generator")


@op("GET_AWAITABLE")
def _get_awaitable(tx: Translator, inst: Any) -> None:
    tx.push(_awaitable(tx, tx.pop()))


def _awaitable(tx: Translator, value: VariableTracker) -> VariableTracker:
    """What ``await value`` is sent to."""
    if isinstance(value, CoroutineVariable):
        if value.started and not value.closed:
            unsupported("async", "a coroutine that is awaited already")
        return value
    if not ops.is_user_object(value):
        unsupported("async", f"await of {value.describe()}")
    iterator = _method(tx, value, "__await__").realize().call_function(tx, [], {}).realize()
    if isinstance(iterator, CoroutineVariable) or not hasattr(iterator.python_type(), "__next__"):
        tx.raise_error(TypeError, f"__await__() returned non-iterator of type '{iterator.python_type().__name__}'")
    return iterator


@op("BEFORE_ASYNC_WITH")
def _before_async_with(tx: Translator, inst: Any) -> None:
    manager = tx.pop()
    enter, leave = _method(tx, manager, "__aenter__"), _method(tx, manager, "__aexit__")
    tx.push(leave)
    tx.push(enter.realize().call_function(tx, [], {}))


@op("GET_AITER")
def _get_aiter(tx: Translator, inst: Any) -> None:
    value = tx.pop()
    if not ops.is_user_object(value):
        unsupported("async", f"async for over {value.describe()}")
    tx.push(_method(tx, value, "__aiter__").realize().call_function(tx, [], {}))


@op("GET_ANEXT")
def _get_anext(tx: Translator, inst: Any) -> None:
    iterator = tx.stack[-1].realize()
    if not ops.is_user_object(iterator):
        unsupported("async", f"async for over {iterator.describe()}")
    tx.push(_awaitable(tx, _method(tx, iterator, "__anext__").realize().call_function(tx, [], {}).realize()))


@op("END_ASYNC_FOR")
def _end_async_for(tx: Translator, inst: Any) -> None:
    # stack: asynchronous iterator, exception
    error = tx.pop()
    if not issubclass(error.python_type(), StopAsyncIteration):
        raise ObservedException(error, fresh=False)
    tx.stack.pop()


# exceptions --------------------------------------------------------------------------------------------------------
@op("RAISE_VARARGS")
def _raise_varargs(tx: Translator, inst: Any) -> None:
    if inst.arg == 0:
        if not tx.root.handled:
            tx.raise_error(RuntimeError, "No active exception to reraise")
        raise ObservedException(tx.root.handled[-1], fresh=False)
    cause = tx.pop() if inst.arg == 2 else None
    error = exception_to_raise(tx, tx.pop())
    if cause is not None:
        if not _is_none(cause):
            cause = exception_to_raise(tx, cause)
        error.setattr(tx, "__cause__", cause)
    raise ObservedException(error)


@op("RERAISE")
def _reraise(tx: Translator, inst: Any) -> None:
    error = tx.pop()
    if inst.arg:
        tx.stack.pop()
    raise ObservedException(error, fresh=False)


@op("PUSH_EXC_INFO")
def _push_exc_info(tx: Translator, inst: Any) -> None:
    error = tx.stack.pop().realize()
    tx.push(ExcInfoVariable(error))
    tx.push(error)
    tx.root.handled.append(error)


@op("POP_EXCEPT")
def _pop_except(tx: Translator, inst: Any) -> None:
    tx.stack.pop()
    if tx.root.handled:
        tx.root.handled.pop()


@op("CHECK_EXC_MATCH")
def _check_exc_match(tx: Translator, inst: Any) -> None:
    wanted = tx.pop()
    raised = tx.stack[-1].realize().python_type()
    tx.push(constant(_matches(tx, raised, wanted)))


def _matches(tx: Translator, raised: type, wanted: VariableTracker) -> bool:
    wanted = wanted.realize()
    if isinstance(wanted, SequenceVariable):
        return any(_matches(tx, raised, item) for item in wanted.items)
    if not isinstance(wanted, ClassVariable) or not issubclass(wanted.value, BaseException):
        tx.raise_error(TypeError, "catching classes that do not inherit from BaseException is not allowed")
    return issubclass(raised, wanted.value)


@op("CHECK_EG_MATCH", "PREP_RERAISE_STAR")
def _groups(tx: Translator, inst: Any) -> None:
    unsupported("unsupported-opcode", "except*")


# with --------------------------------------------------------------------------------------------------------------
@op("BEFORE_WITH")
def _before_with(tx: Translator, inst: Any) -> None:
    manager = tx.pop()
    enter, leave = _method(tx, manager, "__enter__"), _method(tx, manager, "__exit__")
    tx.push(leave)
    tx.push(enter.realize().call_function(tx, [], {}))


def _method(tx: Translator, manager: VariableTracker, name: str) -> VariableTracker:
    from pydynamo.frontend.variables.class_lookup import special_method

    if ops.is_user_object(manager):
        method = special_method(tx, manager, name)
        if method is None and name in ("__enter__", "__exit__"):
            _no_manager(tx, manager.python_type())
        if method is None:
            unsupported("async", f"{manager.describe()} has no {name}")
        return method
    if not hasattr(manager.python_type(), name):
        _no_manager(tx, manager.python_type())
    return manager.getattr(tx, name)


def _no_manager(tx: Translator, kind: type) -> NoReturn:
    """What a with statement raises for an object of this class: the words differ by version, so Python says them."""
    has = {name: _ignore for name in ("__enter__", "__exit__") if hasattr(kind, name)}
    stand_in = type(kind.__name__, (), {**has, "__module__": kind.__module__, "__qualname__": kind.__qualname__})
    try:
        with stand_in():
            pass
    except TypeError as error:
        tx.raise_error(TypeError, str(error))
    unsupported("unsupported-context", f"an instance of {kind.__qualname__}")


def _ignore(*_: Any) -> None:
    return None


@op("LOAD_SPECIAL")
def _load_special(tx: Translator, inst: Any) -> None:
    tx.push(_method(tx, tx.pop(), _SPECIAL[inst.arg]))
    tx.push(NullVariable())


@op("WITH_EXCEPT_START")
def _with_except_start(tx: Translator, inst: Any) -> None:
    # stack: exit[, self or NULL (3.14+)], lasti, previous exception, exception
    error = tx.stack[-1].realize()
    leave = tx.stack[-5 if V314 else -4].realize()
    traceback = error.traceback if isinstance(error, ExceptionVariable) else TracebackVariable()
    tx.push(leave.call_function(tx, [ClassVariable(error.python_type(), None), error, traceback], {}))
