"""Builtin functions and the constructors of builtin types."""

from __future__ import annotations

import collections
import enum
import functools
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import operators as ops
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.policy import break_reason_of_builtin
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant, fold
from pydynamo.frontend.variables.iterators import CombinedIterator, Identity, SequenceIterator
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.exceptions import ExceptionVariable

Handler = Callable[["Translator", Args, Kwargs], VariableTracker]

#: builtins that are pure functions of constants
_FOLDABLE: frozenset[Any] = frozenset(
    {
        abs,
        round,
        pow,
        divmod,
        chr,
        ord,
        hex,
        bin,
        oct,
        ascii,
        format,
        hash,
        int.from_bytes,
        str.maketrans,
        float.fromhex,
        bytes.fromhex,
        dict.fromkeys,
        *(value for name, value in vars(math).items() if callable(value)),
    }
)
_OPERATORS: dict[Any, tuple[str, bool]] = {}
for _name, (_plain, _inplace) in ops.BINARY.items():
    _OPERATORS[_plain] = (_name, False)
    _OPERATORS[_inplace] = (_name, True)
_COMPARISONS = {function: symbol for symbol, function in ops.COMPARE.items()}
_UNARY = {operator.neg: "neg", operator.pos: "pos", operator.invert: "invert"}


class BuiltinVariable(VariableTracker):
    """A function written in C, an unbound method of a builtin type included."""

    def __init__(self, fn: Any, source: Source | None) -> None:
        self.fn = fn
        self.source = source

    def python_type(self) -> type:
        return type(self.fn)

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.fn

    def identity(self) -> object:
        return self.fn

    def hash_key(self) -> Any:
        return self.fn

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return constant(getattr(self.fn, name))
        return super().getattr(tx, name)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.builtin_functions import HANDLERS

        fn = self.fn
        handler = HANDLERS.get(fn) if _hashable(fn) else None
        if handler is not None:
            return handler(tx, args, kwargs)
        if fn in _OPERATORS and len(args) == 2 and not kwargs:
            name, inplace = _OPERATORS[fn]
            return ops.binary(tx, name, args[0], args[1], inplace)
        if fn in _COMPARISONS and len(args) == 2 and not kwargs:
            return ops.compare(tx, _COMPARISONS[fn], args[0], args[1])
        if fn in _UNARY and len(args) == 1 and not kwargs:
            return ops.unary(tx, _UNARY[fn], args[0])
        if fn in _FOLDABLE:
            return self._fold(tx, args, kwargs)
        owner = getattr(fn, "__objclass__", None)
        if isinstance(owner, type) and args:
            return self._unbound(tx, owner, args, kwargs)
        bound_to = getattr(fn, "__self__", None)
        if isinstance(bound_to, type) and fn.__name__ == "__new__" and args:
            from pydynamo.frontend.variables.classes import new_instance

            return new_instance(tx, bound_to, args[0].realize(), args[1:])
        if isinstance(bound_to, type) and fn.__name__ == "fromkeys":
            from pydynamo.frontend.variables.dicts import DictVariable

            return DictVariable({}, bound_to).call_method(tx, "fromkeys", args, kwargs)
        unsupported(break_reason_of_builtin(fn), f"call of builtin {getattr(fn, '__qualname__', fn)!r}")

    def _fold(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [arg.realize() for arg in args]
        if any(ops.is_graph_value(value) for value in values) and self.fn in (abs, round, pow):
            if self.fn is pow and len(values) == 2:
                return ops.binary(tx, "pow", values[0], values[1])
            return tx.output.call_function(tx, self.fn, values, kwargs)
        if values and ops.is_user_object(values[0]):
            name = {
                abs: "__abs__",
                round: "__round__",
                hash: "__hash__",
                divmod: "__divmod__",
                pow: "__pow__",
            }.get(self.fn)
            if name is not None:
                return values[0].call_method(tx, name, values[1:], kwargs)
        return fold(tx, self.fn, values, kwargs)

    def _unbound(self, tx: Translator, owner: type, args: Args, kwargs: Kwargs) -> VariableTracker:
        target = args[0].realize()
        name = self.fn.__name__
        if not issubclass(target.python_type(), owner):
            unsupported("unsupported-method", f"{owner.__name__}.{name} of {target.describe()}")
        if owner is object or ops.is_user_object(target):
            return MethodOfSuper(owner, name, target).call_function(tx, args[1:], kwargs)
        return target.call_method(tx, name, args[1:], kwargs)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_object(self.fn)

    def describe(self) -> str:
        return f"builtin {getattr(self.fn, '__qualname__', self.fn)}"


def _hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


class MethodOfBuiltin(VariableTracker):
    """A method of a builtin value, bound: ``items.append``."""

    def __init__(self, owner: VariableTracker, name: str) -> None:
        self.owner = owner
        self.name = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def truth(self, tx: Translator) -> bool:
        return True

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.owner.realize().call_method(tx, self.name, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__self__":
            return self.owner
        if name == "__name__":
            return constant(self.name)
        return super().getattr(tx, name)

    def hash_key(self) -> Any:
        return Identity(self)

    def children(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_method_value(self.owner, self.name)


class MethodOfSuper(VariableTracker):
    """A C method of a base class, called past the overrides of the object's own class."""

    def __init__(self, base: type, name: str, owner: VariableTracker) -> None:
        self.base = base
        self.name = name
        self.owner = owner

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.exceptions import ExceptionVariable
        from pydynamo.frontend.variables.objects import ObjectVariable

        owner, name = self.owner.realize(), self.name
        if isinstance(owner, ExceptionVariable) and name == "__init__" and not kwargs:
            owner.args = list(args)
            return NONE
        if self.base is object and isinstance(owner, ObjectVariable):
            if name == "__init__":
                return NONE
            if name == "__setattr__" and len(args) == 2:
                owner.plain_setattr(tx, args[0].realize().as_constant(), args[1])
                return NONE
            if name in ("__getattribute__", "__getattr__") and len(args) == 1:
                key = args[0].realize().as_constant()
                found = owner.plain_getattr(tx, key)
                if found is None:
                    tx.raise_error(AttributeError, f"'{owner.cls.__name__}' object has no attribute '{key}'")
                return found
            if name == "__delattr__" and len(args) == 1:
                ObjectVariable.delattr(owner, tx, args[0].realize().as_constant())
                return NONE
            if name in ("__eq__", "__ne__") and len(args) == 1:
                if ops.is_same(tx, owner, args[0]):
                    return constant(name == "__eq__")
                return constant(NotImplemented)
        if issubclass(self.base, tuple) and isinstance(owner, SequenceVariable):
            plain = SequenceVariable(owner.items, tuple)
            return plain.call_method(tx, name, args, kwargs)
        unsupported("unsupported-method", f"{self.base.__name__}.{name} of {owner.describe()}")


# constructors ----------------------------------------------------------------------------------------------------
def construct(tx: Translator, cls: type, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """``cls(*args, **kwargs)`` for a builtin class; None if the class is not builtin."""
    maker = _CONSTRUCTORS.get(cls)
    if maker is not None:
        return maker(tx, args, kwargs)
    from pydynamo.frontend.polyfills.registry import polyfill_for_class
    from pydynamo.frontend.variables.operator_objects import GETTERS, make_getter

    if cls in GETTERS:
        return make_getter(tx, cls, args, kwargs)

    replacement = polyfill_for_class(cls)
    if replacement is not None:
        return tx.function_at(replacement, Source("const", replacement)).call_function(tx, args, kwargs)
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
        return SequenceVariable(list(ops.iterate(tx, args[0])) if args else [], cls)

    return make


def _set_of(cls: type) -> Handler:
    def make(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.dict_methods import as_set
        from pydynamo.frontend.variables.dicts import DictVariable, DictView, SetVariable

        if not args:
            return SetVariable({}, cls)
        made = SetVariable(dict(as_set(tx, args[0]).members), cls)
        made.only_added = not isinstance(args[0].realize(), SetVariable | DictVariable | DictView)
        return made.filled(args[0].realize())

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
        made = DictVariable({}, cls, factory=factory)
        if cls is collections.Counter:
            if args and not kwargs and not isinstance(args[0].realize(), DictVariable):
                for item in ops.iterate(tx, args[0]):
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
            if method is not None and len(args) == 1:
                return value.call_method(tx, method, [], {})
        if cls is str and len(args) == 1 and not kwargs:
            return text_of(tx, value, str)
        return fold(tx, cls, [value, *args[1:]], kwargs)

    return make


def text_of(tx: Translator, value: VariableTracker, function: Callable[[Any], str]) -> VariableTracker:
    """``str(value)`` or ``repr(value)``"""
    from pydynamo.frontend.variables.exceptions import ExceptionVariable
    from pydynamo.frontend.variables.tensor import SymNumberVariable

    value = value.realize()
    if isinstance(value, SymNumberVariable):
        value = value.specialize(tx)
    if isinstance(value, ConstantVariable) and not isinstance(value.value, enum.Enum):
        return fold(tx, function, [value])
    if isinstance(value, ExceptionVariable) and function is str and (value.cls.__str__ is BaseException.__str__):
        if not value.args:
            return constant("")
        if len(value.args) == 1:
            return text_of(tx, value.args[0], str)
    if isinstance(value, ExceptionVariable) and value.cls.__repr__ is BaseException.__repr__:
        shown = _text_of_exception(tx, value, function)
        if shown is not None:
            return shown
    if isinstance(value, ConstantVariable) and isinstance(value.value, enum.Enum):
        written = value.python_type().__str__ if function is str else value.python_type().__repr__
        if getattr(written, "__module__", "enum") == "enum":
            return constant(function(value.value))
    if ops.is_user_object(value):
        name = "__str__" if function is str and value.python_type().__str__ is not object.__str__ else "__repr__"
        return value.call_method(tx, name, [], {})
    if isinstance(value, SequenceVariable) and value.is_constant():
        return fold(tx, function, [value])
    from pydynamo.frontend.variables.classes import ClassVariable

    if isinstance(value, ClassVariable):
        return constant(function(value.value))
    from pydynamo.frontend.variables.dicts import DictVariable

    if isinstance(value, DictVariable) and value.is_constant():
        return fold(tx, function, [value])
    unsupported("data-dependent-value", f"the text of {value.describe()}")


def _text_of_exception(
    tx: Translator, error: ExceptionVariable, function: Callable[[Any], str]
) -> VariableTracker | None:
    """The text of an exception that is written from its arguments alone; None if its class writes it another way."""
    whole = text_of(tx, SequenceVariable(list(error.args), tuple), repr).as_constant() if len(error.args) != 1 else ""
    if function is repr:
        inside = whole or f"({text_of(tx, error.args[0], repr).as_constant()})"
        return constant(error.cls.__name__ + inside)
    if error.cls.__str__ is KeyError.__str__ and len(error.args) == 1:
        return text_of(tx, error.args[0], repr)
    if error.cls.__str__ is not KeyError.__str__ and not _writes_its_arguments(error.cls):
        return None
    return constant(whole if error.args else "") if len(error.args) != 1 else text_of(tx, error.args[0], str)


def _writes_its_arguments(cls: type) -> bool:
    """True if ``str()`` of an exception is made of its arguments alone, as BaseException does it."""
    base = next(base for base in cls.__mro__ if "__str__" in base.__dict__)
    if base is BaseException:
        return True
    if base.__module__ != "builtins":
        return False
    try:
        return str(base("probe")) == "probe" and str(base("a", "b")) == "('a', 'b')"
    except TypeError:
        return False


def _type(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.classes import ClassVariable

    if len(args) != 1 or kwargs:
        unsupported("class-body", "type() with several arguments")
    return ClassVariable(args[0].realize().python_type(), None)


def _range(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.tensor import TensorVariable

    if any(isinstance(arg.realize(), TensorVariable) for arg in args):
        unsupported("data-dependent-value", "range() of a tensor")
    return fold(
        tx,
        range,
        [constant(ops.as_index(tx, a)) if not isinstance(a.realize(), ConstantVariable) else a for a in args],
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
            return CombinedIterator(enumerate, [source.realize().get_iter(tx)], count=ops.as_index(tx, start))
        function: VariableTracker | None = args[0].realize()
        if cls is filter and isinstance(function, ConstantVariable) and function.value is None:
            function = None
        return CombinedIterator(cls, [a.realize().get_iter(tx) for a in args[1:]], function, strict=strict)

    return make


def _reversed(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.dicts import DictVariable, DictView
    from pydynamo.frontend.variables.iterators import IteratorVariable

    value = args[0].realize()
    if isinstance(value, SequenceVariable):
        return SequenceIterator(value, reverse=True)
    if isinstance(value, DictVariable):
        value = DictView(value, "keys")
    if isinstance(value, DictView):
        return IteratorVariable(list(reversed(value.values())), type(reversed({}.keys())))
    if isinstance(value, ConstantVariable) and isinstance(value.value, range):
        return constant(value.value[::-1]).get_iter(tx)
    if ops.is_user_object(value):
        return value.call_method(tx, "__reversed__", [], {})
    unsupported("unsupported-iteration", f"reversed() of {value.describe()}")


def _super(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.make_super(args)


def _partial(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.functions import PartialVariable

    if not args:
        tx.raise_error(TypeError, "type 'partial' takes at least one argument")
    function = args[0].realize()
    if isinstance(function, PartialVariable):
        return PartialVariable(function.function, [*function.args, *args[1:]], {**function.kwargs, **kwargs})
    return PartialVariable(function, list(args[1:]), dict(kwargs))


def _object(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.objects import ObjectVariable

    return ObjectVariable(object)


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
}


def _stop_or(tx: Translator, iterator: VariableTracker, default: VariableTracker | None) -> VariableTracker:
    try:
        return iterator.next(tx)
    except ObservedException as error:
        if default is not None and issubclass(error.vt.python_type(), StopIteration):
            return default
        raise
