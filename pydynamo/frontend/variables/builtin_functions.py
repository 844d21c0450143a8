"""What each modelled builtin function does. ``HANDLERS`` maps the function to its handler."""

from __future__ import annotations

import _thread
import abc
import builtins
import enum
import functools
import operator
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import comparison, protocols
from pydynamo.frontend import operators as ops
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.polyfills import functools as our_functools
from pydynamo.frontend.polyfills import iteration
from pydynamo.frontend.source import const
from pydynamo.frontend.variables.attributes import IdentityNumber, ThreadNumber
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, bad_answer, has_special, type_name
from pydynamo.frontend.variables.class_lookup import lookup, may_change, special_method
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant, fold
from pydynamo.frontend.variables.constructors import Handler, stop_or
from pydynamo.frontend.variables.exceptions import TracebackVariable, tell_attribute
from pydynamo.frontend.variables.natives import NativeFunctionVariable
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.text import text_of

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_KNOWN_METACLASSES = frozenset({type, abc.ABCMeta, enum.EnumMeta, type(typing.Protocol)})
HANDLERS: dict[Any, Handler] = {}


def handles(*functions: Any) -> Any:
    """Register the handler of ``functions``."""

    def register(handler: Handler) -> Handler:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register


@handles(operator.length_hint)
def _length_hint(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    value = args[0].realize()
    if len(args) != 1 or not has_special(value.python_type(), "__len__"):
        unsupported("unsupported-builtin", f"length_hint() of {value.describe()}")
    return _len(tx, args, kwargs)


@handles(len)
def _len(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    value = args[0].realize()
    if isinstance(value, ConstantVariable) and not hasattr(value.value, "__len__"):
        return fold(tx, len, [value])
    return value.length(tx)


def _class_test(tx: Translator, subject: type, test: VariableTracker) -> bool:
    test = test.realize()
    if isinstance(test, SequenceVariable):
        return any(_class_test(tx, subject, item) for item in test.items)
    target = test.as_constant()
    if isinstance(target, types.UnionType):
        return any(_class_test(tx, subject, ClassVariable(part, None)) for part in target.__args__)
    if not isinstance(target, type):
        unsupported("unsupported-builtin", f"isinstance() with {test.describe()}")
    custom = type(target).__instancecheck__
    import torch

    if type(target) not in _KNOWN_METACLASSES and not _known_check(custom) and not issubclass(target, torch.Tensor):
        unsupported("unsupported-builtin", f"isinstance() with {test.describe()}")
    hook = lookup(target, "__subclasshook__")[1]
    if isinstance(hook, classmethod) and not _is_pure_hook(hook.__func__):
        unsupported("unsupported-builtin", f"isinstance() with {test.describe()}, which decides by itself")
    try:
        found = issubclass(subject, target)
        if isinstance(target, abc.ABCMeta) and may_change(tx, subject):
            kind = "SUBCLASS" if found else "NO_SUBCLASS"  # a class may be registered later
            tx.output.guards.add(kind, const(subject), const(target))
        return found
    except TypeError:  # a protocol that cannot be asked, or that hangs on what the instance holds
        unsupported("unsupported-builtin", f"isinstance() with {test.describe()}")


def _is_pure_hook(function: Any) -> bool:
    """True for hooks of the standard library, which only look at what classes have."""
    return str(getattr(function, "__module__", "")).partition(".")[0] in sys.stdlib_module_names


def _known_check(check: Any) -> bool:
    return any(check is meta.__instancecheck__ for meta in _KNOWN_METACLASSES)


@handles(isinstance)
def is_instance(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``isinstance(*args)``"""
    value = args[0].realize()
    kind = value.python_type()
    if ops.is_user_object(value) and lookup(kind, "__class__")[0] is not object:
        unsupported("inspection", f"isinstance() of {value.describe()}, which says itself what it is")
    kind = our_functools.KEY_WRAPPER if kind is our_functools.Key else kind
    return constant(_class_test(tx, kind, args[1]))


@handles(issubclass)
def _issubclass(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    subject = args[0].realize()
    if not isinstance(subject, ClassVariable):
        tx.raise_error(TypeError, "issubclass() arg 1 must be a class")
    return constant(_class_test(tx, subject.value, args[1]))


def _attribute_name(tx: Translator, name: VariableTracker) -> str:
    text = name.realize()
    if not issubclass(text.python_type(), str):
        unsupported("unsupported-builtin", "the name of an attribute that is no text")  # the words differ by version
    return str(text.as_constant())


@handles(getattr)
def _getattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    name = _attribute_name(tx, args[1])
    try:
        found = args[0].realize().getattr(tx, name)
        return found.realize() if len(args) == 3 else found  # guards that it is there
    except ObservedException as error:
        if len(args) == 3 and issubclass(error.vt.python_type(), AttributeError):
            return args[2]
        tell_attribute(error.vt, args[0].realize(), name)
        raise


#: attributes of a class in C that every instance has, whatever it holds
_METHODS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.BuiltinMethodType,
    str,
    type(None),
)


def _is_given_by_class(kind: type, name: str) -> bool:
    """True if the values of a class that cannot change have a method or constant of that name."""
    if not kind.__flags__ & (1 << 8) or issubclass(kind, type):
        return False
    base, raw = lookup(kind, name)
    return base is not None and (isinstance(raw, _METHODS) or name in ("__class__", "__dict__"))


@handles(hasattr)
def _hasattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    owner, name = args[0].realize(), _attribute_name(tx, args[1])
    if _is_given_by_class(owner.python_type(), name):
        return constant(True)
    if isinstance(owner, NativeFunctionVariable) and not hasattr(owner.fn, "__dict__"):
        return constant(hasattr(owner.fn, name))
    try:
        owner.getattr(tx, name).realize()  # guards that it is there
    except ObservedException as error:
        if issubclass(error.vt.python_type(), AttributeError):
            return constant(False)
        raise
    return constant(True)


@handles(setattr)
def _setattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().setattr(tx, _attribute_name(tx, args[1]), args[2])
    return NONE


@handles(delattr)
def _delattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().delattr(tx, _attribute_name(tx, args[1]))
    return NONE


@handles(iter)
def _iter(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 2:
        from pydynamo.frontend.inline import in_place_of

        return in_place_of(_inlined(tx, iteration.by_call, args), type(iter(int, 1)))
    value = args[0].realize()
    if isinstance(value, ConstantVariable) and not hasattr(value.value, "__iter__"):
        return fold(tx, iter, [value])
    return value.get_iter(tx)


def _inlined(tx: Translator, fn: Any, args: Args) -> VariableTracker:
    return tx.function_at(fn, const(fn)).call_function(tx, args, {})


@handles(id)
def _id(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return IdentityNumber.of(tx, args[0].realize())


@handles(_thread.get_ident)
def _get_ident(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return ThreadNumber.current(tx)


@handles(sys.exc_info)
def _exc_info(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if not tx.root.handled:
        return SequenceVariable([NONE, NONE, NONE], tuple)
    error = tx.root.handled[-1]
    return SequenceVariable([ClassVariable(error.python_type(), None), error, TracebackVariable()], tuple)


@handles(sys.exception)
def _exception(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.root.handled[-1] if tx.root.handled else NONE


@handles(sys.intern)
def _intern(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return fold(tx, sys.intern, args, kwargs)


@handles(vars)
def _vars(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) != 1:
        unsupported("inspection", "vars() of the frame itself")
    try:
        return args[0].realize().getattr(tx, "__dict__")
    except ObservedException as error:
        if not issubclass(error.vt.python_type(), AttributeError):
            raise
    tx.raise_error(TypeError, "vars() argument must have __dict__ attribute")


@handles(builtins.__build_class__)
def _build_class(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.made_classes import build_class

    return build_class(tx, args, kwargs)


@handles(operator.concat)
def _concat(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return ops.binary(tx, "add", args[0], args[1])


@handles(operator.iconcat)
def _iconcat(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return ops.binary(tx, "add", args[0], args[1], inplace=True)


@handles(operator.delitem)
def _delitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().delitem(tx, args[1].realize())
    return NONE


@handles(operator.call)
def _call(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return args[0].realize().call_function(tx, args[1:], kwargs)


@handles(next)
def _next(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return stop_or(tx, args[0].realize(), args[1] if len(args) > 1 else None)


@handles(callable)
def _callable(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    value = args[0].realize()
    if ops.is_user_object(value):
        from pydynamo.frontend.variables.class_lookup import special_method

        return constant(special_method(tx, value, "__call__") is not None)
    return constant(any("__call__" in base.__dict__ for base in value.python_type().__mro__))


@handles(repr)
def _repr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return text_of(tx, args[0], repr)


@handles(sorted)
def _sorted(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.dicts import SetVariable

    value = args[0].realize()
    if isinstance(value, SetVariable):
        items = list(value.members.values())
        if not all(isinstance(item.realize(), ConstantVariable) for item in items) or "key" in kwargs:
            items = value.ordered()
    else:
        items = list(protocols.listed(tx, value))
    return SequenceVariable(protocols.sort_items(tx, items, kwargs), list)


@handles(sum)
def _sum(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    total = args[1] if len(args) > 1 else kwargs.get("start", constant(0))
    if isinstance(total.realize(), ConstantVariable) and isinstance(total.realize().as_constant(), str | bytes):
        unsupported("unsupported-builtin", "sum() of text")
    exact_floats = 0
    for item in protocols.iterate(tx, args[0]):
        real = item.realize()
        exact_floats += isinstance(real, ConstantVariable | SymNumberVariable) and real.python_type() is float
        if exact_floats > 1:
            return _sum_of_constants(tx, args, kwargs)
        total = ops.binary(tx, "add", total, item)
    return total


def _sum_of_constants(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Floats are added with compensation from 3.12 on: let Python do it."""
    value = args[0].realize()
    if not isinstance(value, SequenceVariable):
        unsupported("unsupported-builtin", "sum() of floats that are not in a sequence")
    return fold(tx, sum, [value, *args[1:]], kwargs)


def _extreme(symbol: str) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        items = list(args) if len(args) > 1 else list(protocols.iterate(tx, args[0]))
        key = kwargs["key"].realize() if "key" in kwargs else NONE
        keyed = not (isinstance(key, ConstantVariable) and key.value is None)
        if not items:
            if "default" in kwargs:
                return kwargs["default"]
            name = "min" if symbol == "<" else "max"
            tx.raise_error(ValueError, f"{name}() iterable argument is empty")
        best, best_key = items[0], key.call_function(tx, [items[0]], {}) if keyed else items[0]
        for item in items[1:]:
            item_key = key.call_function(tx, [item], {}) if keyed else item
            if _symbolic_pair(best_key, item_key) and not keyed:
                import torch

                function = torch.sym_min if symbol == "<" else torch.sym_max
                best = best_key = tx.output.call_function(tx, function, [best, item], {})
            elif tx.truth(comparison.compare(tx, symbol, item_key, best_key)):
                best, best_key = item, item_key
        return best

    return handler


def _symbolic_pair(a: VariableTracker, b: VariableTracker) -> bool:
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    pair = (a.realize(), b.realize())
    return any(isinstance(v, SymNumberVariable) for v in pair) and all(
        v.python_type() is int for v in pair if isinstance(v, SymNumberVariable | ConstantVariable)
    )


HANDLERS[min] = _extreme("<")
HANDLERS[max] = _extreme(">")


@handles(any)
def _any(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(any(tx.truth(item) for item in protocols.iterate(tx, args[0])))


@handles(all)
def _all(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(all(tx.truth(item) for item in protocols.iterate(tx, args[0])))


@handles(format)
def _format(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return format_value(tx, args[0], args[1].realize().as_constant() if len(args) > 1 else "")


def format_value(tx: Translator, value: VariableTracker, spec: str) -> VariableTracker:
    """``format(value, spec)``"""
    value = value.realize()
    if ops.is_user_object(value) and value.python_type().__format__ is not object.__format__:
        from pydynamo.frontend.variables.class_lookup import ask

        shown = ask(tx, value, "__format__", [constant(spec)])
        if not issubclass(shown.realize().python_type(), str):
            given = shown.realize().python_type()
            before = f"__format__ must return a str, not {type_name(given)}"
            tx.raise_error(TypeError, bad_answer(value.python_type(), "__format__", "a str", given, before))
        return shown
    if ops.is_user_object(value):
        special_method(tx, value, "__format__")  # guards that it has none of its own
    if not spec and not isinstance(value, ConstantVariable):
        return text_of(tx, value, str)
    return fold(tx, format, [value, constant(spec)])


@handles(operator.getitem)
def _getitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return protocols.getitem(tx, args[0], args[1])


@handles(operator.setitem)
def _setitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().setitem(tx, args[1].realize(), args[2])
    return NONE


@handles(operator.contains)
def _contains(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(protocols.contains(tx, args[0], args[1]))


@handles(operator.truth)
def _truth(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(tx.truth(args[0]))


@handles(operator.not_)
def _not(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(not tx.truth(args[0]))


@handles(operator.is_)
def _is(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(comparison.is_same(tx, args[0], args[1]))


if sys.version_info >= (3, 14):

    @handles(operator.is_none)
    def _is_none(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return constant(comparison.is_same(tx, args[0], NONE))

    @handles(operator.is_not_none)
    def _is_not_none(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return constant(not comparison.is_same(tx, args[0], NONE))


@handles(operator.is_not)
def _is_not(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(not comparison.is_same(tx, args[0], args[1]))


@handles(operator.index)
def _index(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(protocols.as_index(tx, args[0]))


@handles(functools.reduce)
def _reduce(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if not any(has_special(args[1].realize().python_type(), name) for name in ("__iter__", "__getitem__")):
        tx.raise_error(TypeError, "reduce() arg 2 must support iteration")
    items = protocols.iterate(tx, args[1])
    if len(args) > 2:
        total = args[2]
    else:
        first = next(items, None)
        if first is None:
            tx.raise_error(TypeError, "reduce() of empty iterable with no initial value")
        total = first
    for item in items:
        total = args[0].realize().call_function(tx, [total, item], {})
    return total
