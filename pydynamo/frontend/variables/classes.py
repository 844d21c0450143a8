"""Classes, modules and super(): namespaces whose attributes are read by name, and the making of instances."""

from __future__ import annotations

import enum
import types
import typing
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.side_effects import DELETED
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.class_lookup import (
    bind,
    guard_inherited,
    guard_lack,
    is_plain_class,
    lookup,
    lookup_source,
    may_change,
    refuse_arguments,
    refuse_finalizer,
    special_method,
)
from pydynamo.frontend.variables.constant import (
    NONE,
    ConstantVariable,
    answer_to,
    constant,
    fold,
    from_python,
    run_python,
)
from pydynamo.frontend.variables.container_objects import ContainerObjectVariable, builtin_base
from pydynamo.frontend.variables.functions import BoundMethodVariable
from pydynamo.frontend.variables.iterators import IteratorVariable
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, is_namedtuple

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator


class ClassVariable(VariableTracker):
    """A class that exists. Without a source, the compiled code holds it."""

    def __init__(self, value: type, source: Source | None) -> None:
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
        return self.value

    def hash_key(self) -> Any:
        return self.value

    def truth(self, tx: Translator) -> bool:
        kind = type(self.value)
        if kind is type or self._is_enum():
            return True
        for dunder, asks in (("__bool__", bool), ("__len__", len)):
            method = special_method(tx, self, dunder)
            if method is not None:
                return tx.truth(answer_to(tx, asks, dunder, method.call_function(tx, [], {}), kind))
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return constant(self._fact(tx, "EQUALS_MATCH", name))
        if name == "__class__":
            return ClassVariable(type(self.value), None)
        if name in ("__mro__", "__bases__", "__base__"):
            return from_python(self._fact(tx, "ID_MATCH", name))
        override = tx.ledger.class_override(self.value, name)
        if override is not None:
            if override is DELETED:
                tx.raise_error(AttributeError, f"type object '{self.value.__name__}' has no attribute '{name}'")
            return override
        if isinstance(self.value, enum.EnumMeta) and name in self.value.__members__:
            return constant(self.value.__members__[name])
        base, raw = lookup(self.value, name)
        if base is None:
            return self._metaclass_attribute(tx, name)
        return self._bind(tx, raw, name)

    def _fact(self, tx: Translator, guard: str, name: str) -> Any:
        """What the class tells of itself; guarded, where that may change."""
        found = getattr(self.value, name)
        if may_change(tx, self.value):
            tx.output.guards.add(guard, sources.attr(sources.const(self.value), name), found)
        return found

    def _bind(self, tx: Translator, raw: Any, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import BuiltinVariable

        source = lookup_source(tx, self.value, name)
        if isinstance(raw, types.FunctionType):
            return LazyVariable(tx, raw, source)
        if isinstance(raw, staticmethod):
            return LazyVariable(tx, raw.__func__, sources.attr(source, "__func__"))
        if isinstance(raw, classmethod):
            return BoundMethodVariable(LazyVariable(tx, raw.__func__, sources.attr(source, "__func__")), self)
        if isinstance(
            raw,
            types.WrapperDescriptorType
            | types.MethodDescriptorType
            | types.BuiltinFunctionType
            | types.ClassMethodDescriptorType,
        ):
            return BuiltinVariable(getattr(self.value, name), sources.attr(sources.const(self.value), name))
        if isinstance(raw, property | types.GetSetDescriptorType | types.MemberDescriptorType):
            if name in ("__dict__", "__annotations__"):
                unsupported("inspection", f"{name} of a class")
            if isinstance(raw, property):
                return LazyVariable(tx, raw, source)
            unsupported("unsupported-attribute", f"{self.value.__qualname__}.{name}")
        getter = lookup(type(raw), "__get__")[1]
        if isinstance(getter, types.FunctionType):
            get_function = tx.function_at(getter, lookup_source(tx, type(raw), "__get__"))
            return get_function.call_function(tx, [tx.wrap_at(raw, source), NONE, self], {})
        if hasattr(type(raw), "__get__") and not isinstance(raw, type):
            unsupported("unsupported-attribute", f"descriptor {self.value.__qualname__}.{name}")
        return tx.wrap_at(raw, source) if self.value in tx.ledger.made_classes else LazyVariable(tx, raw, source)

    def _metaclass_attribute(self, tx: Translator, name: str) -> VariableTracker:
        base, raw = lookup(type(self.value), name)
        if isinstance(raw, property) and raw.fget is not None:
            fget = sources.attr(lookup_source(tx, type(self.value), name), "fget")
            return tx.wrap_at(raw.fget, fget).call_function(tx, [self], {})
        if isinstance(raw, types.FunctionType):
            return BoundMethodVariable(tx.function_at(raw, lookup_source(tx, type(self.value), name)), self)
        if base is not None or lookup(type(self.value), "__getattr__")[0] is not None:
            unsupported("inspection", f"{name} of class {self.value.__qualname__}")
        tx.output.guards.add("CLASS_LACKS", sources.const(self.value), name)
        tx.raise_error(AttributeError, f"type object '{self.value.__name__}' has no attribute '{name}'")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if self.value in tx.ledger.made_classes:
            from pydynamo.frontend.variables.made_classes import set_attribute

            set_attribute(tx, self.value, name, value)
            return
        if (
            not self.value.__flags__ & (1 << 9)
            or name.startswith("__")
            or (type(self.value).__setattr__ is not type.__setattr__)
        ):
            unsupported("unsupported-attribute", f"store to {name!r} of class {self.value.__qualname__}")
        self.source = self.source or sources.const(self.value)
        tx.ledger.store_attr(self, name, value)

    def _is_enum(self) -> bool:
        return type(self.value) is enum.EnumMeta and bool(self.value.__members__)

    def _special(self, tx: Translator, dunder: str) -> VariableTracker | None:
        """A special method that the metaclass has in Python, bound; not for enums, whose members are known."""
        raw = lookup(type(self.value), dunder)[1]
        if self._is_enum() or not isinstance(raw, types.FunctionType):
            return None
        return BoundMethodVariable(tx.function_at(raw, lookup_source(tx, type(self.value), dunder)), self)

    def length(self, tx: Translator) -> VariableTracker:
        method = self._special(tx, "__len__")
        if method is not None:
            return method.call_function(tx, [], {})
        return constant(len(self.value)) if self._is_enum() else super().length(tx)  # type: ignore[arg-type]

    def get_iter(self, tx: Translator) -> VariableTracker:
        method = self._special(tx, "__iter__")
        if method is not None:
            return method.call_function(tx, [], {}).realize()
        if not self._is_enum():
            return super().get_iter(tx)
        members: list[VariableTracker] = [constant(member) for member in self.value]  # type: ignore[attr-defined]
        return IteratorVariable.over(members, type(iter(self.value)))  # type: ignore[call-overload]

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        if self._is_enum() and key.is_constant():
            members = self.value.__members__  # type: ignore[attr-defined]
            name = key.as_constant()
            if isinstance(name, str) and name in members:
                return constant(members[name])
            tx.raise_error(KeyError, key)
        method = self._special(tx, "__getitem__")
        if method is not None:
            return method.call_function(tx, [key], {})
        base, raw = lookup(self.value, "__class_getitem__")
        made_in_c = isinstance(raw, types.ClassMethodDescriptorType) or (
            isinstance(raw, classmethod) and isinstance(raw.__func__, type)
        )
        if (base is typing.Generic or made_in_c) and key.is_constant():
            alias = run_python(tx, lambda: self.value[key.as_constant()])  # type: ignore[index]
            return tx.wrap_at(alias, sources.const(alias))
        if isinstance(raw, classmethod) and isinstance(raw.__func__, types.FunctionType) and base is not typing.Generic:
            return self.getattr(tx, "__class_getitem__").realize().call_function(tx, [key], {})
        return super().getitem(tx, key)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if self._is_enum() and isinstance(item, ConstantVariable) and isinstance(item.value, enum.Enum):
            return item.value in self.value  # type: ignore[operator]
        method = self._special(tx, "__contains__")
        if method is not None:
            return tx.truth(method.call_function(tx, [item], {}))
        unsupported("unsupported-operator", f"membership in {self.describe()}")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__new__" and self.value in (object, tuple, dict, list) and args:
            return new_instance(tx, self.value, args[0].realize(), args[1:], kwargs)
        if name == "mro" and not args:
            return SequenceVariable([ClassVariable(c, None) for c in self.value.__mro__], list)
        return super().call_method(tx, name, args, kwargs)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.constructors import construct

        cls = self.value
        handler = construct(tx, cls, args, kwargs)
        if handler is not None:
            return handler
        refuse_finalizer(tx, cls)
        if issubclass(cls, enum.Enum):
            made = fold(tx, cls, args, kwargs)
            if isinstance(made, ClassVariable):
                tx.ledger.made_classes.add(made.value)
            return made
        if issubclass(cls, BaseException):
            from pydynamo.frontend.variables.exceptions import make_user_exception

            return make_user_exception(tx, cls, args, kwargs)
        meta_call = lookup(type(cls), "__call__")[1]
        if meta_call is not type.__call__ and type(cls).__call__ is not type.__call__:
            unsupported("opaque-object", f"class {cls.__qualname__} whose metaclass makes its instances")
        guard_inherited(tx, type(cls), "__call__")
        return self._instantiate(tx, args, kwargs)

    def _instantiate(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        cls = self.value
        base, new = lookup(cls, "__new__")
        if base is object:
            if not is_plain_class(cls):
                unsupported("opaque-object", f"a new {cls.__qualname__}")
            guard_inherited(tx, cls, "__new__")
            made: VariableTracker = ObjectVariable(cls)
        elif isinstance(new, staticmethod | types.FunctionType):
            source = lookup_source(tx, cls, "__new__")
            fn = new.__func__ if isinstance(new, staticmethod) else new
            function = tx.wrap_at(fn, sources.attr(source, "__func__") if isinstance(new, staticmethod) else source)
            made = function.call_function(tx, [self, *args], kwargs).realize()
        elif builtin_base(cls) is not None and isinstance(new, types.BuiltinFunctionType):
            made = ContainerObjectVariable.empty(cls)
        elif base is tuple and issubclass(cls, tuple) and not kwargs:
            made = new_instance(tx, tuple, self, args)
        else:
            unsupported("opaque-object", f"a new {cls.__qualname__}")
        if not issubclass(made.python_type(), cls):
            return made
        cls = made.python_type()  # what __new__ made is initialized as its own class says
        init = lookup(cls, "__init__")[1]
        if isinstance(init, types.FunctionType):
            function = tx.function_at(init, lookup_source(tx, cls, "__init__"))
            result = function.call_function(tx, [made, *args], kwargs).realize()
            if result.python_type() is not type(None):
                name = result.python_type().__name__
                tx.raise_error(TypeError, f"__init__() should return None, not '{name:.200}'")
        elif isinstance(made, ContainerObjectVariable):
            made.call_base(tx, "__init__", args, kwargs)
        elif init is not object.__init__:
            unsupported("opaque-object", f"a new {cls.__qualname__}, whose __init__ is no function")
        else:
            guard_inherited(tx, cls, "__init__")
            if base is object:
                refuse_arguments(tx, cls, "__new__", args, kwargs)
        if getattr(cls, "__abstractmethods__", None):
            unsupported("uncaught-exception", "an instance of an abstract class")
        return made

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.load_object(self.value)

    def describe(self) -> str:
        return f"class {self.value.__qualname__}"


def new_instance(
    tx: Translator, base: type, cls: VariableTracker, args: Args, kwargs: Kwargs | None = None
) -> VariableTracker:
    """``object.__new__(cls)`` or ``tuple.__new__(cls, items)``."""
    from pydynamo.frontend.protocols import iterate

    if not isinstance(cls, ClassVariable):
        unsupported("opaque-object", "an instance of an unknown class")
    refuse_finalizer(tx, cls.value)
    if base is tuple and is_namedtuple(cls.value) and len(args) == 1 and not kwargs:
        return SequenceVariable(list(iterate(tx, args[0])), cls.value)
    if base is object and is_plain_class(cls.value):
        refuse_arguments(tx, cls.value, "__new__", args, kwargs or {})
        if getattr(cls.value, "__abstractmethods__", None):
            unsupported("uncaught-exception", "an instance of an abstract class")
        return ObjectVariable(cls.value)
    if base is not object and issubclass(base, dict | list) and builtin_base(cls.value) is not None:
        return ContainerObjectVariable.empty(cls.value)
    unsupported("opaque-object", f"a new {cls.value.__qualname__}")


class ModuleVariable(VariableTracker):
    """A Python module."""

    def __init__(self, value: types.ModuleType, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return types.ModuleType

    def identity(self) -> object:
        return self.value

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        scope = vars(self.value)
        stored = tx.ledger.load_global(scope, name)
        if stored is not None and stored is not DELETED:
            return stored
        if name in scope and stored is None:
            return tx.global_at(scope, name)
        if name == "__dict__":
            unsupported("inspection", "__dict__ of a module")
        if stored is DELETED:
            tx.raise_error(AttributeError, f"module '{self.value.__name__}' has no attribute '{name}'")
        try:
            value = getattr(self.value, name)
        except AttributeError as error:
            names = sources.const(scope)
            tx.output.guards.add("HAS_KEY", names, (name, False))
            tx.output.guards.add("HAS_KEY", names, ("__getattr__", "__getattr__" in scope))
            tx.raise_error(AttributeError, str(error))
        return LazyVariable(tx, value, sources.attr(self.source or sources.const(self.value), name))

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if type(self.value) is not types.ModuleType:
            return super().setattr(tx, name, value)
        tx.ledger.store_global(vars(self.value), name, value)

    def describe(self) -> str:
        return f"module {vars(self.value).get('__name__', '')}"


class SuperVariable(VariableTracker):
    """``super()``: the attributes of the classes after one in the MRO of an object."""

    def __init__(self, after: type, owner: VariableTracker) -> None:
        self.after = after
        self.owner = owner

    def python_type(self) -> type:
        return super

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import BuiltinVariable, MethodOfSuper

        owner = self.owner.realize()
        is_class = isinstance(owner, ClassVariable)
        cls = owner.value if isinstance(owner, ClassVariable) else owner.python_type()
        mro = cls.__mro__
        if may_change(tx, cls):
            tx.output.guards.add("ID_MATCH", sources.attr(sources.const(cls), "__mro__"), mro)
        for base in mro[mro.index(self.after) + 1 :]:
            if name not in base.__dict__:
                guard_lack(tx, base, name)
                continue
            raw = base.__dict__[name]
            if tx.ledger.class_override(base, name) is not None:
                unsupported("unsupported-attribute", f"{name} of a class that changed")
            source = Source("dictattr", name, sources.const(base))
            if name == "__new__":
                if isinstance(raw, staticmethod):
                    return LazyVariable(tx, raw.__func__, sources.attr(source, "__func__"))
                return BuiltinVariable(getattr(base, name), source)
            if is_class:
                if isinstance(raw, classmethod):
                    return BoundMethodVariable(LazyVariable(tx, raw.__func__, sources.attr(source, "__func__")), owner)
                if isinstance(raw, staticmethod):
                    return LazyVariable(tx, raw.__func__, sources.attr(source, "__func__"))
                if isinstance(raw, types.FunctionType) or not hasattr(type(raw), "__get__"):
                    return LazyVariable(tx, raw, source)
                if name == "__init_subclass__" and base is object:
                    return MethodOfSuper(base, name, owner)
                unsupported("unsupported-attribute", f"super().{name} of a class")
            if isinstance(raw, types.WrapperDescriptorType | types.MethodDescriptorType):
                return MethodOfSuper(base, name, owner)
            return bind(tx, owner, cls, raw, name, source)
        tx.raise_error(AttributeError, f"'super' object has no attribute '{name}'")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.getattr(tx, name).realize().call_function(tx, args, kwargs)


def is_none(value: VariableTracker) -> bool:
    """True for the constant None."""
    return isinstance(value, ConstantVariable) and value.value is None
