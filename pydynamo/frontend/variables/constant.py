"""Constants: immutable values whose Python value is known, and the operators and methods that fold on them."""

from __future__ import annotations

import enum
import types
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, type_name

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator

#: types whose values are constants
LITERAL_TYPES: frozenset[type] = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        type(Ellipsis),
        type(NotImplemented),
        range,
    }
)
TORCH_TYPES: frozenset[type] = frozenset(
    {torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme, torch.finfo, torch.iinfo}
)
CONSTANT_TYPES = LITERAL_TYPES | TORCH_TYPES | {types.CodeType, types.UnionType}
_SINGLETONS = (
    type(None),
    bool,
    type(Ellipsis),
    type(NotImplemented),
    torch.dtype,
    torch.layout,
    torch.memory_format,
)
#: a folded result larger than this many items or bits is left to run time
_LIMIT = 1 << 20


def is_constant_value(value: Any) -> bool:
    """True if ``value`` may be a ConstantVariable."""
    return type(value) in CONSTANT_TYPES or (issubclass(type(value), enum.Enum) and is_constant_value(value._value_))


class ConstantVariable(VariableTracker):
    """An immutable value known while compiling."""

    def __init__(self, value: Any, source: Source | None = None) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.value

    def as_fx(self) -> Any:
        return self.value

    def identity(self) -> object:
        if isinstance(self.value, (*_SINGLETONS, enum.Enum)):
            return self.value
        return self

    def hash_key(self) -> Any:
        return self.value

    def truth(self, tx: Translator) -> bool:
        return bool(fold(tx, bool, [self]).as_constant())

    def length(self, tx: Translator) -> VariableTracker:
        return fold(tx, len, [self])

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return fold(tx, lambda value, index: value[index], [self, key])

    def get_iter(self, tx: Translator) -> VariableTracker:
        from pydynamo.frontend.variables.iterators import IteratorVariable

        if isinstance(self.value, range) and len(self.value[: _LIMIT + 1]) > _LIMIT:
            unsupported("too-long", "iteration over a very long range")
        items = run_python(tx, lambda: iter(self.value))
        return IteratorVariable.over([from_python(item) for item in items], type(iter(self.value)))

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if item.is_constant():
            return bool(run_python(tx, lambda: item.as_constant() in self.value))
        if isinstance(self.value, str) and not issubclass(item.python_type(), str):
            name = type_name(item.python_type())
            tx.raise_error(TypeError, f"'in <string>' requires string as left operand, not {name}")
        if not hasattr(self.value, "__iter__"):
            run_python(tx, lambda: None in self.value)
        if isinstance(self.value, bytes):
            unsupported("unsupported-operator", f"{item.describe()} in bytes")
        return super().contains(tx, item)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin
        from pydynamo.frontend.variables.classes import ClassVariable
        from pydynamo.frontend.variables.objects import enum_attribute

        if name == "__class__":
            return ClassVariable(self.python_type(), None)
        if isinstance(self.value, enum.Enum):
            return enum_attribute(tx, self, name)
        attribute = run_python(tx, lambda: getattr(self.value, name))
        if is_constant_value(attribute) or type(attribute) is tuple:
            return from_python(attribute)
        if isinstance(attribute, types.BuiltinMethodType | types.MethodWrapperType):
            return MethodOfBuiltin(self, name)
        unsupported("unsupported-attribute", f"attribute {name!r} of {self.describe()}")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if isinstance(self.value, enum.Enum) and not _is_method_of_literal(self.value, name):
            return super().call_method(tx, name, args, kwargs)
        bound = run_python(tx, lambda: getattr(self.value, name))
        if isinstance(self.value, str) and name == "join" and len(args) == 1 and not args[0].realize().is_constant():
            from pydynamo.frontend.protocols import fast_listed
            from pydynamo.frontend.variables.sequence import SequenceVariable

            args = [SequenceVariable(fast_listed(tx, args[0]), list)]
        given = [arg.realize() for arg in [*args, *kwargs.values()]]
        if isinstance(self.value, str) and name == "format" and not all(arg.is_constant() for arg in given):
            from pydynamo.frontend.variables.text import formatted

            return formatted(tx, self.value, args, kwargs)
        return fold(tx, bound, args, kwargs)

    def reconstruct(self, cg: PyCodegen) -> None:
        if type(self.value) in LITERAL_TYPES and type(self.value) not in (range, type(NotImplemented)):
            cg.load_const(self.value)
        else:
            cg.load_object(self.value)

    def describe(self) -> str:
        return f"the constant {self.value!r}"[:200]

    def __repr__(self) -> str:
        return f"ConstantVariable({self.value!r})"


def _is_method_of_literal(member: enum.Enum, name: str) -> bool:
    """True if a member of an enum of texts or numbers has this method from str or int, unchanged."""
    own = next((base for base in type(member).__mro__ if name in base.__dict__), object)
    return own in LITERAL_TYPES


NONE = ConstantVariable(None)


def constant(value: Any) -> ConstantVariable:
    """A constant born in the trace."""
    return ConstantVariable(value)


def from_python(value: Any) -> VariableTracker:
    """A value that the compiler computed itself, as a tracked value born in the trace."""
    from pydynamo.frontend.variables.dicts import DictVariable, SetVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable

    if is_constant_value(value):
        return ConstantVariable(value)
    kind = type(value)
    if kind in (tuple, list, torch.Size):
        return SequenceVariable([from_python(item) for item in value], kind)
    if kind is dict:
        return DictVariable.from_pairs([(from_python(k), from_python(v)) for k, v in value.items()])
    if kind in (set, frozenset):
        made = SetVariable.from_values([from_python(item) for item in value], kind)
        if made.layout is not None:
            made.layout = kind(value)
        return made
    if kind is slice:
        return SliceVariable([from_python(value.start), from_python(value.stop), from_python(value.step)])
    if isinstance(value, type):
        from pydynamo.frontend.variables.objects import ClassVariable

        return ClassVariable(value, None)
    unsupported("opaque-object", f"a {kind.__name__} made while compiling")


def run_python(tx: Translator, thunk: Any) -> Any:
    """Run pure Python now; what it raises, the user's program raises."""
    try:
        return thunk()
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise ObservedException(exception_from_python(error)) from None


def exception_from_python(error: BaseException) -> VariableTracker:
    """A builtin exception that Python raised for constants, as a tracked value."""
    from pydynamo.frontend.variables.exceptions import ExceptionVariable

    args: list[VariableTracker] = []
    for arg in error.args:
        if not is_constant_value(arg):
            unsupported("uncaught-exception", f"{error!r}")
        args.append(ConstantVariable(arg))
    if type(error).__module__ != "builtins" or isinstance(error, UnicodeError | SystemExit | OSError):
        unsupported("uncaught-exception", f"{error!r}")
    return ExceptionVariable(type(error), args)


def fold(tx: Translator, function: Any, args: Args, kwargs: Kwargs | None = None) -> VariableTracker:
    """Call a pure function on constants now."""
    values = [arg.realize().as_constant() for arg in args]
    keywords = {name: arg.realize().as_constant() for name, arg in (kwargs or {}).items()}
    _check_size(function, values)
    return from_python(run_python(tx, lambda: function(*values, **keywords)))


def answer_to(tx: Translator, ask: Any, method: str, result: VariableTracker, owner: type) -> VariableTracker:
    """What ``hash``, ``len`` or ``bool`` makes of what a method of a class in Python returned: not all of it is taken as
    it is.
    """
    names = {"__module__": owner.__module__, "__qualname__": owner.__qualname__}

    def asked(value: Any) -> Any:
        return ask(type("_", (), {method: lambda self: value, **names})())

    return fold(tx, asked, [result]) if result.realize().is_constant() else result


def _check_size(function: Any, values: list[Any]) -> None:
    """Keep folding from computing something huge."""
    name = getattr(function, "__name__", "")
    ints = [abs(value) for value in values if isinstance(value, int)]
    if name in ("pow", "ipow") and len(ints) >= 2 and ints[0] > 1 and ints[1] * ints[0].bit_length() > _LIMIT:
        unsupported("too-long", "a very large power")
    if name in ("lshift", "ilshift") and ints and ints[-1] > _LIMIT:
        unsupported("too-long", "a very large shift")
    if name in ("mul", "imul") and ints and max(ints) > _LIMIT and any(isinstance(v, str | bytes) for v in values):
        unsupported("too-long", "a very large repetition")
