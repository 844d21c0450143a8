"""What an attribute of a class means when it is read through an instance, and where special methods are found.

Knows classes and descriptors; nothing of what an instance holds itself.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import operators as ops
from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import ObservedException, RestAsItIs, unsupported
from pydynamo.frontend.reasons import REASONS
from pydynamo.frontend.source import Source, class_attribute
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker, type_name
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.functions import BoundMethodVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_C_CALLABLES = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
)


def lookup(cls: type, name: str) -> tuple[type | None, Any]:
    """The class in the MRO that defines ``name`` and the raw attribute; (None, None) if there is none."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base, base.__dict__[name]
    return None, None


def lookup_source(tx: Translator, cls: type, name: str) -> Source:
    """The source of the raw class attribute."""
    return Source("mro", name, sources.const(cls))


def may_change(tx: Translator, cls: type) -> bool:
    """True for a class of the program's that was there before the trace: what is read of it has to be guarded."""
    return ops.is_user_class(cls) and cls not in tx.ledger.made_classes


def guard_inherited(tx: Translator, cls: type, name: str) -> None:
    """Guard that the class has no method of its own where it has the one of ``object`` or ``type``."""
    if may_change(tx, cls):
        tx.output.guards.add("ID_MATCH", lookup_source(tx, cls, name), lookup(cls, name)[1])


def guard_lack(tx: Translator, cls: type, name: str) -> None:
    """Guard that the class itself does not define ``name``, whatever it inherits."""
    if not may_change(tx, cls):
        return
    base, raw = lookup(cls, name)
    if base is None:
        tx.output.guards.add("CLASS_LACKS", sources.const(cls), name)
    else:
        tx.output.guards.add("ID_MATCH", lookup_source(tx, cls, name), raw)


def refuse_finalizer(tx: Translator, cls: type) -> None:
    """Break at a new instance of a class with ``__del__``: when that runs hangs on when the frame lets the instance go.

    Compiled code holds what it has until it ends, and does not keep what no instruction reads any more.
    """
    if lookup(cls, "__del__")[0] is not None:
        detail = f"a new {cls.__qualname__}, whose __del__ runs when it is let go"
        raise RestAsItIs("opaque-object", detail, REASONS["opaque-object"])
    if may_change(tx, cls):
        tx.output.guards.add("CLASS_LACKS", sources.const(cls), "__del__")


def refuse_arguments(tx: Translator, cls: type, name: str, args: Args, kwargs: Kwargs) -> None:
    """``__new__`` and ``__init__`` of ``object`` take arguments only where the class has the other one, not this one."""
    if not args and not kwargs:
        return
    makes = name == "__new__"
    other = "__init__" if makes else "__new__"
    one = f"takes exactly one argument (the {'type to instantiate' if makes else 'instance to initialize'})"
    if getattr(cls, name) is not getattr(object, name):
        tx.raise_error(TypeError, f"object.{name}() {one}")
    if getattr(cls, other) is getattr(object, other):
        tx.raise_error(
            TypeError, f"{cls.__name__}() takes no arguments" if makes else f"{cls.__name__}.__init__() {one}"
        )


def is_plain_class(cls: type) -> bool:
    """True if instances hold no hidden C state: every base is a Python class or ``object``."""
    return all(
        base is object or (base.__flags__ & (1 << 9) and "__module__" in base.__dict__ and not _c_layout(base))
        for base in cls.__mro__
    )


def _c_layout(cls: type) -> bool:
    return cls.__new__ is not object.__new__ and not isinstance(
        class_attribute(cls, "__new__"), staticmethod | types.FunctionType
    )


def class_attribute_of(tx: Translator, owner: VariableTracker, cls: type, name: str) -> VariableTracker:
    """``owner.name`` found on the class, with descriptors bound; AttributeError in the user's program otherwise."""
    if tx.ledger.class_override(cls, name) is not None:
        unsupported("unsupported-attribute", f"{name} of a class that changed")
    base, raw = lookup(cls, name)
    if base is not None:
        try:
            return bind(tx, owner, cls, raw, name, lookup_source(tx, cls, name))
        except ObservedException as error:
            refuse_unless_getattr(tx, cls, error)
    elif name == "__class__":
        from pydynamo.frontend.variables.classes import ClassVariable

        return ClassVariable(cls, None)
    else:
        tx.output.guards.add("CLASS_LACKS", sources.const(cls), name)
    fallback, raw = lookup(cls, "__getattr__")
    if isinstance(raw, types.FunctionType):
        function = tx.function_at(raw, lookup_source(tx, cls, "__getattr__"))
        return function.call_function(tx, [owner, constant(name)], {})
    if fallback is None:
        tx.output.guards.add("CLASS_LACKS", sources.const(cls), "__getattr__")
    tx.raise_error(AttributeError, f"'{type_name(cls)}' object has no attribute '{name}'")


def refuse_unless_getattr(tx: Translator, cls: type, error: ObservedException) -> None:
    """Raise on what came out of a descriptor, or of ``__getattribute__``, unless it sends the reader to ``__getattr__``."""
    if not issubclass(error.vt.python_type(), AttributeError):
        raise error
    if lookup(cls, "__getattr__")[0] is None:
        if may_change(tx, cls):
            tx.output.guards.add("CLASS_LACKS", sources.const(cls), "__getattr__")
        raise error


def bind(tx: Translator, owner: VariableTracker, cls: type, raw: Any, name: str, source: Source) -> VariableTracker:
    """The descriptor protocol for a raw class attribute read through an instance."""
    from pydynamo.frontend.variables.builtin import BuiltinVariable, MethodOfBuiltin, MethodOfSuper
    from pydynamo.frontend.variables.classes import ClassVariable
    from pydynamo.frontend.variables.objects import ObjectVariable

    if isinstance(raw, types.FunctionType):
        return BoundMethodVariable(tx.function_at(raw, source), owner)
    if isinstance(raw, staticmethod):
        return LazyVariable(tx, raw.__func__, sources.attr(source, "__func__"))
    if isinstance(raw, classmethod):
        function = LazyVariable(tx, raw.__func__, sources.attr(source, "__func__"))
        return BoundMethodVariable(function, ClassVariable(cls, sources.const(cls)))
    if isinstance(raw, property):
        if raw.fget is None:
            tx.raise_error(AttributeError, f"property '{name}' has no getter")
        return tx.wrap_at(raw.fget, sources.attr(source, "fget")).call_function(tx, [owner], {})
    if isinstance(raw, functools.cached_property):
        key = raw.attrname  # the first name that it had on a class: another one reads what is stored under that
        if not isinstance(owner, ObjectVariable) or not owner.has_dict() or key is None:
            unsupported("unsupported-attribute", f"{name}, a cached property without a place to keep its value")
        value = owner.own_attribute(tx, key) if key != name else None
        if value is None:
            value = tx.wrap_at(raw.func, sources.attr(source, "func")).call_function(tx, [owner], {})
            tx.ledger.store_attr(owner, key, value)
        return value
    if isinstance(raw, _C_CALLABLES):
        if isinstance(raw, types.ClassMethodDescriptorType):
            unsupported("unsupported-attribute", f"{cls.__qualname__}.{name}")
        if isinstance(raw, types.BuiltinFunctionType):
            return BuiltinVariable(raw, source)
        if isinstance(owner, ObjectVariable) and lookup(cls, name)[0] is object:
            return MethodOfSuper(object, name, owner)
        if has_contents(owner):
            return MethodOfSuper(raw.__objclass__, name, owner)
        return MethodOfBuiltin(owner, name)
    if isinstance(raw, types.GetSetDescriptorType | types.MemberDescriptorType):
        if name == "__dict__" or name == "__weakref__":
            unsupported("inspection", f"{name} of an object")
        if name == "__class__":
            return ClassVariable(cls, None)
        unsupported("unsupported-attribute", f"{cls.__qualname__}.{name}")
    getter = lookup(type(raw), "__get__")[1]
    if getter is not None:
        if isinstance(getter, types.FunctionType):
            get_function = tx.function_at(getter, lookup_source(tx, type(raw), "__get__"))
            descriptor = tx.wrap_at(raw, source)
            return get_function.call_function(tx, [descriptor, owner, ClassVariable(cls, sources.const(cls))], {})
        if not isinstance(raw, type):
            unsupported("unsupported-attribute", f"descriptor {cls.__qualname__}.{name}")
    return tx.wrap_at(raw, source) if cls in tx.ledger.made_classes else LazyVariable(tx, raw, source)


def has_contents(value: VariableTracker) -> bool:
    """True for objects whose class derives from a builtin container."""
    from pydynamo.frontend.variables.objects import ObjectVariable

    return hasattr(value, "contents") and isinstance(value, ObjectVariable)


def special_method(tx: Translator, owner: VariableTracker, dunder: str) -> VariableTracker | None:
    """``type(owner).dunder`` bound to ``owner``; None if the class has none (or a C default that does not apply)."""
    cls = owner.python_type()
    stored = tx.ledger.class_override(cls, dunder)
    if stored is not None:
        unsupported("unsupported-attribute", f"{dunder} of a class that changed")
    base, raw = lookup(cls, dunder)
    if base is None:
        tx.output.guards.add("CLASS_LACKS", sources.const(cls), dunder)
        return None
    if raw is None:
        if dunder != "__iter__":
            unsupported("unsupported-method", f"{cls.__qualname__}.{dunder}, which is None")
        tx.output.guards.add("ID_MATCH", lookup_source(tx, cls, dunder), None)
        return None
    if base is object and not isinstance(raw, types.FunctionType):
        guard_inherited(tx, cls, dunder)
        return None
    if isinstance(raw, types.WrapperDescriptorType) and not has_contents(owner):
        unsupported("unsupported-method", f"{cls.__qualname__}.{dunder}")
    return bind(tx, owner, cls, raw, dunder, lookup_source(tx, cls, dunder))


def ask(tx: Translator, owner: VariableTracker, dunder: str, args: Args | None = None) -> VariableTracker:
    """What C code gets from a special method, which it looks up on the class; ``object``'s own is the last resort."""
    from pydynamo.frontend.variables.builtin import MethodOfSuper

    method = special_method(tx, owner, dunder)
    if method is None:
        if not hasattr(object, dunder):
            unsupported("unsupported-method", f"{owner.describe()} has no {dunder}")
        method = MethodOfSuper(object, dunder, owner)
    return method.call_function(tx, args or [], {})
