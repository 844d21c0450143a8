"""The constructors of builtin classes."""

from __future__ import annotations

import collections
import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import operators as ops
from pydynamo.frontend import protocols
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.polyfills import functools as our_functools
from pydynamo.frontend.polyfills import iteration
from pydynamo.frontend.source import Source, const
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, has_special, type_name
from pydynamo.frontend.variables.c_signatures import check_call
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant, fold, from_python, run_python
from pydynamo.frontend.variables.iterators import CombinedIterator, SequenceIterator
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable
from pydynamo.frontend.variables.text import text_of

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

Handler = Callable[["Translator", Args, Kwargs], VariableTracker]


# constructors ----------------------------------------------------------------------------------------------------
def construct(tx: Translator, cls: type, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """``cls(*args, **kwargs)`` for a builtin class; None if the class is not builtin."""
    maker = _CONSTRUCTORS.get(cls)
    if maker is not None:
        check_call(tx, cls, len(args), kwargs)
        return maker(tx, args, kwargs)
    from pydynamo.frontend.polyfills.registry import polyfill_for_class
    from pydynamo.frontend.variables.made_classes import WRAPPERS, make_wrapper
    from pydynamo.frontend.variables.operator_objects import GETTERS, make_getter

    if cls in WRAPPERS:
        return make_wrapper(tx, cls, args, kwargs)
    if cls in GETTERS:
        return make_getter(tx, cls, args, kwargs)

    replacement = polyfill_for_class(cls)
    if replacement is not None:
        from pydynamo.frontend.inline import in_place_of

        check_call(tx, cls, len(args), kwargs, like=replacement)
        made = tx.function_at(replacement, Source("const", replacement)).call_function(tx, args, kwargs)
        return in_place_of(made, cls)
    from pydynamo.frontend.variables.torch_ops import construct_torch

    return construct_torch(tx, cls, args, kwargs)


def _sequence_of(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if kwargs or len(args) > 1:
            unsupported("unsupported-builtin", f"{cls.__name__}() with these arguments")
        if cls is tuple and args:
            value = args[0].realize()
            if isinstance(value, SequenceVariable) and value.cls is tuple:
                return value
        return SequenceVariable(
            list((protocols.tupled if cls is tuple else protocols.listed)(tx, args[0])) if args else [], cls
        )

    return make


def _set_of(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.dict_methods import as_set
        from pydynamo.frontend.variables.dicts import SetVariable
        from pydynamo.frontend.variables.set_order import given_to

        if not args:
            return SetVariable.from_values([], cls)
        value = args[0].realize()
        if cls is frozenset and isinstance(value, SetVariable) and value.cls is frozenset:
            return value
        given = as_set(tx, value)
        made = SetVariable(dict(given.members), cls)
        table = given_to(value, given)
        made.layout = cls(table) if table is not None else None
        return made

    return make


def _dict_of(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.dict_methods import pairs_of, update
        from pydynamo.frontend.variables.dicts import DictVariable

        factory = None
        if cls is collections.defaultdict and args:
            factory, args = args[0].realize(), args[1:]
            if isinstance(factory, ConstantVariable) and factory.value is None:
                factory = None
            elif not has_special(factory.python_type(), "__call__"):
                tx.raise_error(TypeError, "first argument must be callable or None")
        made = DictVariable({}, cls, factory=factory)
        if cls is collections.Counter:
            if args and not kwargs and not isinstance(args[0].realize(), DictVariable):
                for item in protocols.iterate(tx, args[0]):
                    count = made.lookup(item)
                    made.put(item, ops.binary(tx, "add", count, constant(1)) if count is not None else constant(1))
                return made
            for key, value in pairs_of(tx, args[0]) if args else []:
                made.put(key, value)
            args = []
        update(tx, made, args, kwargs)
        return made

    return make


def _deque(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    limit = args[1] if len(args) > 1 else kwargs.get("maxlen")
    maxlen = limit.realize().as_constant() if limit is not None else None
    run_python(tx, lambda: collections.deque(maxlen=maxlen))
    source = args[0] if args else kwargs.get("iterable")
    made = SequenceVariable([], collections.deque, maxlen=maxlen)
    if source is not None:
        made.call_method(tx, "extend", [source], {})
    return made


def _scalar(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable

        if not args and not kwargs:
            return constant(cls())
        value = args[0].realize() if args else NONE
        if cls is bool and len(args) == 1:
            return constant(tx.truth(value))
        if isinstance(value, SymNumberVariable):
            if value.python_type() is cls:
                return value
            if cls is float and value.python_type() is int:
                return tx.output.call_function(tx, torch.sym_float, [value], {})
            value = value.specialize(tx)
        if isinstance(value, TensorVariable):
            unsupported("data-dependent-value", f"{cls.__name__}() of a tensor")
        if ops.is_user_object(value):
            method = {int: "__int__", float: "__float__", complex: "__complex__", str: "__str__"}.get(cls)
            if method is not None and len(args) == 1 and not kwargs:
                return _scalar_of_object(tx, cls, method, value)
        if cls is str and len(args) == 1 and not kwargs:
            return text_of(tx, value, str)
        return fold(tx, cls, [value, *args[1:]], kwargs)

    return make


def _scalar_of_object(tx: Translator, cls: type, method: str, value: VariableTracker) -> VariableTracker:
    """``int(value)`` and its like for an object of a class in Python."""
    from pydynamo.frontend.variables.class_lookup import ask

    if cls is str:
        return text_of(tx, value, str)
    if not hasattr(value.python_type(), method):
        method = "__index__" if cls is not complex else "__float__"
    result = ask(tx, value, method).realize()
    if result.python_type() is not cls:
        unsupported("unsupported-builtin", f"{method} that returns a {result.python_type().__name__}")
    return result


def _type(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.classes import ClassVariable
    from pydynamo.frontend.variables.dicts import DictVariable
    from pydynamo.frontend.variables.made_classes import make_class

    if len(args) == 3 and not kwargs:
        namespace = args[2].realize()
        if not isinstance(namespace, DictVariable):
            unsupported("class-body", "type() with a namespace that is no dictionary")
        if namespace.lookup(constant("__module__")) is None:
            namespace = DictVariable(dict(namespace.entries))
            namespace.put(constant("__module__"), from_python(tx.scope.get("__name__")))
        bases = list(protocols.iterate(tx, args[1]))
        return make_class(tx, args[0].realize().as_constant(), bases, namespace)
    if len(args) != 1 or kwargs:
        unsupported("class-body", "type() with these arguments")
    cls = args[0].realize().python_type()
    return ClassVariable(our_functools.KEY_WRAPPER if cls is our_functools.Key else cls, None)


def _range(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import TensorVariable

    if any(isinstance(arg.realize(), TensorVariable) for arg in args):
        unsupported("data-dependent-value", "range() of a tensor")
    return fold(
        tx,
        range,
        [constant(protocols.as_index(tx, a)) if not isinstance(a.realize(), ConstantVariable) else a for a in args],
        kwargs,
    )


def _slice(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if not 1 <= len(args) <= 3:
        unsupported("unsupported-builtin", "slice() with these arguments")
    parts = [NONE, args[0], NONE] if len(args) == 1 else [*args, NONE] if len(args) == 2 else args
    return SliceVariable(list(parts))


_KEYWORDS: dict[type, set[str]] = {
    zip: {"strict"},
    map: {"strict"} if sys.version_info >= (3, 14) else set(),
    filter: set(),
    enumerate: {"iterable", "start"},
}


def _combined(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        strict = tx.truth(kwargs["strict"]) if "strict" in kwargs else False
        if not set(kwargs) <= _KEYWORDS[cls]:
            unsupported("unsupported-builtin", f"{cls.__name__}() with these arguments")
        if cls is zip:
            return CombinedIterator(zip, [a.realize().get_iter(tx) for a in args], strict=strict)
        if cls is enumerate:
            start = args[1] if len(args) > 1 else kwargs.get("start", constant(0))
            source = args[0] if args else kwargs["iterable"]
            count = protocols.as_index(tx, start)
            return CombinedIterator(enumerate, [source.realize().get_iter(tx)], count=count)
        function: VariableTracker | None = args[0].realize()
        if cls is filter and isinstance(function, ConstantVariable) and function.value is None:
            function = None
        return CombinedIterator(cls, [a.realize().get_iter(tx) for a in args[1:]], function, strict=strict)

    return make


def _reversed(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.dicts import DictVariable, DictView
    from pydynamo.frontend.variables.hashed_iterators import DictIterator

    value = args[0].realize()
    if isinstance(value, SequenceVariable):
        return SequenceIterator(value, reverse=True)
    if isinstance(value, DictVariable):
        value = DictView(value, "keys")
    if isinstance(value, DictView):
        return DictIterator(value, reverse=True)
    if isinstance(value, ConstantVariable) and isinstance(value.value, range):
        return constant(value.value[::-1]).get_iter(tx)
    if ops.is_user_object(value):
        from pydynamo.frontend.variables.class_lookup import special_method

        method = special_method(tx, value, "__reversed__")
        if method is not None:
            return method.call_function(tx, [], {})
        if special_method(tx, value, "__getitem__") is None:
            tx.raise_error(TypeError, f"'{type_name(value.python_type())}' object is not reversible")
        function: Any = iteration.by_index_backwards
        from pydynamo.frontend.inline import in_place_of

        made = tx.function_at(function, const(function)).call_function(tx, [value, value.length(tx)], {})
        return in_place_of(made, reversed, value)
    unsupported("unsupported-iteration", f"reversed() of {value.describe()}")


def _super(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.make_super(args)


def _partial(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.functions import PartialVariable

    if not args:
        tx.raise_error(TypeError, "type 'partial' takes at least one argument")
    function = args[0].realize()
    if not has_special(function.python_type(), "__call__"):
        tx.raise_error(TypeError, "the first argument must be callable")
    if isinstance(function, PartialVariable):
        return PartialVariable(function.function, [*function.args, *args[1:]], {**function.kwargs, **kwargs})
    return PartialVariable(function, list(args[1:]), dict(kwargs))


def _object(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.objects import ObjectVariable

    return ObjectVariable(object)


def _method(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.functions import BoundMethodVariable

    if len(args) != 2 or kwargs:
        unsupported("unsupported-builtin", "method() with these arguments")
    if not has_special(args[0].realize().python_type(), "__call__"):
        tx.raise_error(TypeError, "first argument must be callable")
    if args[1].realize().python_type() is type(None):
        unsupported("unsupported-builtin", "method() of None")
    return BoundMethodVariable(args[0], args[1])


def _namespace(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.objects import ObjectVariable

    if args:
        unsupported("unsupported-builtin", "SimpleNamespace() with these arguments")
    made = ObjectVariable(types.SimpleNamespace)
    for name, value in kwargs.items():
        made.plain_setattr(tx, name, value)
    return made


def _cell(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    unsupported("inspection", "a cell made by hand")


_CONSTRUCTORS: dict[type, Handler] = {
    list: _sequence_of(list),
    tuple: _sequence_of(tuple),
    set: _set_of(set),
    frozenset: _set_of(frozenset),
    dict: _dict_of(dict),
    collections.OrderedDict: _dict_of(collections.OrderedDict),
    collections.defaultdict: _dict_of(collections.defaultdict),
    collections.Counter: _dict_of(collections.Counter),
    collections.deque: _deque,
    int: _scalar(int),
    float: _scalar(float),
    bool: _scalar(bool),
    str: _scalar(str),
    complex: _scalar(complex),
    bytes: _scalar(bytes),
    type: _type,
    range: _range,
    slice: _slice,
    zip: _combined(zip),
    map: _combined(map),
    filter: _combined(filter),
    enumerate: _combined(enumerate),
    reversed: _reversed,
    super: _super,
    functools.partial: _partial,
    object: _object,
    types.CellType: _cell,
    types.MethodType: _method,
    types.SimpleNamespace: _namespace,
}


def stop_or(tx: Translator, iterator: VariableTracker, default: VariableTracker | None) -> VariableTracker:
    try:
        return iterator.next(tx)
    except ObservedException as error:
        if default is not None and issubclass(error.vt.python_type(), StopIteration):
            return default
        raise
