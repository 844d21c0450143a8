"""Instances of Python classes, and what a class attribute means when it is read through an instance."""

from __future__ import annotations

import copyreg
import enum
import functools
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.polyfills import functools as our_functools
from pydynamo.frontend.polyfills import iteration
from pydynamo.frontend.side_effects import DELETED
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import (
    Args,
    Kwargs,
    LazyVariable,
    VariableTracker,
    bad_answer,
    has_special,
    type_name,
)
from pydynamo.frontend.variables.class_lookup import (
    bind,
    class_attribute_of,
    is_plain_class,
    lookup,
    lookup_source,
    refuse_unless_getattr,
    special_method,
)
from pydynamo.frontend.variables.constant import ConstantVariable, answer_to, constant, run_python
from pydynamo.frontend.variables.exceptions import ExceptionVariable, tell_attribute
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.user_keys import UserKey

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.classes import ClassVariable as ClassVariable

_MISSING = object()
#: whether deleting an attribute that is not there says which, as reading it does
_DELETION_TELLS = sys.version_info >= (3, 15)
#: all of them are the same function of C
_PLAIN_READS = (object.__getattribute__, dict.__getattribute__, list.__getattribute__)
_SLOT_TYPES = (types.MemberDescriptorType,)


def __getattr__(name: str) -> Any:
    if name == "ClassVariable":
        from pydynamo.frontend.variables.classes import ClassVariable

        return ClassVariable
    raise AttributeError(name)


def _name_for_slots(cls: type) -> str:
    """The name of a class as messages about its empty slots write it: in full from 3.13 on."""
    if sys.version_info < (3, 13):
        return cls.__name__
    module = cls.__module__
    return cls.__qualname__ if module in ("builtins", "__main__") else f"{module}.{cls.__qualname__}"


def reduced(tx: Translator, owner: ObjectVariable) -> VariableTracker:
    """``object.__reduce_ex__(owner, 4)``: how to make another object of the same class and attributes."""
    from pydynamo.frontend.variables.classes import ClassVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable

    if not is_plain_class(owner.cls):
        unsupported("unsupported-method", f"a copy of {owner.describe()}, which holds more than attributes")
    methods = ("__reduce__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")
    if any(lookup(owner.cls, name)[0] not in (None, object) for name in methods):
        unsupported("unsupported-method", f"{owner.cls.__qualname__} says itself how it is copied")
    if any(base.__dict__.get("__slots__") for base in owner.cls.__mro__) or not owner.has_dict():
        unsupported("unsupported-method", f"a copy of {owner.describe()}, which has slots")
    state: VariableTracker = owner.getattr(tx, "__dict__").realize().call_method(tx, "copy", [], {})
    if not tx.truth(state):
        state = constant(None)
    maker = tx.function_at(copyreg.__newobj__, sources.const(copyreg.__newobj__))  # type: ignore[attr-defined]
    made = SequenceVariable([ClassVariable(owner.cls, sources.const(owner.cls))], tuple)
    return SequenceVariable([maker, made, state, constant(None), constant(None)], tuple)


class ObjectVariable(VariableTracker):
    """An instance of a Python class; ``value`` is the real object, or None if it was made in the trace."""

    mutable = True

    def __init__(self, cls: type, value: Any = None, source: Source | None = None) -> None:
        self.cls = cls
        self.value = value
        self.source = source
        #: the one ``__dict__``, once somebody has asked for it
        self.attribute_dict: VariableTracker | None = None

    def python_type(self) -> type:
        return self.cls

    def identity(self) -> object:
        return self.value if self.value is not None else self

    def hash_key(self) -> Any:
        if lookup(self.cls, "__hash__")[0] is not object or lookup(self.cls, "__eq__")[0] is not object:
            return UserKey(self)
        return Identity(self.identity())

    # attributes --------------------------------------------------------------------------------------------------
    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        found = self.found_without_getattr(tx, name)
        if found is not None:
            return found
        base, raw = lookup(self.cls, "__getattr__")
        if isinstance(raw, types.FunctionType):
            function = tx.function_at(raw, lookup_source(tx, self.cls, "__getattr__"))
            return function.call_function(tx, [self, constant(name)], {})
        if base is None:
            tx.output.guards.add("CLASS_LACKS", sources.const(self.cls), "__getattr__")
        owner = _name_for_slots(self.cls) if self.is_slot(name) else type_name(self.cls)
        tx.raise_error(AttributeError, f"'{owner}' object has no attribute '{name}'")

    def found_without_getattr(self, tx: Translator, name: str) -> VariableTracker | None:
        """What ``__getattribute__`` of the class gives; None if reading goes on with ``__getattr__``, or would."""
        raw = lookup(self.cls, "__getattribute__")[1]
        try:
            if isinstance(raw, types.FunctionType):
                function = tx.function_at(raw, lookup_source(tx, self.cls, "__getattribute__"))
                return function.call_function(tx, [self, constant(name)], {})
            if raw in _PLAIN_READS or self.cls is types.SimpleNamespace:
                return self.plain_getattr(tx, name)
        except ObservedException as error:
            refuse_unless_getattr(tx, self.cls, error)
            return None
        unsupported("unsupported-attribute", f"{self.cls.__qualname__} has its own __getattribute__")

    def plain_getattr(self, tx: Translator, name: str) -> VariableTracker | None:
        """``object.__getattribute__(self, name)``, None if it would raise AttributeError."""
        if name == "__dict__" and self.has_dict():
            from pydynamo.frontend.variables.attributes import AttributeDict

            if self.attribute_dict is None:
                self.attribute_dict = AttributeDict(tx, self)
            return self.attribute_dict
        if name == "__class__" and self.cls is our_functools.Key:
            from pydynamo.frontend.variables.classes import ClassVariable

            return ClassVariable(our_functools.KEY_WRAPPER, None)
        override = tx.ledger.class_override(self.cls, name)
        base, raw = lookup(self.cls, name)
        if override is None and base is not None and _is_data_descriptor(raw):
            if isinstance(raw, _SLOT_TYPES):
                return self._slot(tx, name)
            return bind(tx, self, self.cls, raw, name, lookup_source(tx, self.cls, name))
        own = self.own_attribute(tx, name)
        if own is not None:
            return own
        if override is not None:
            if override is DELETED:
                return None
            unsupported("unsupported-attribute", f"{name} of a class that changed") if not isinstance(
                override.realize(), ConstantVariable
            ) else None
            return override
        if base is None:
            if name == "__class__":
                from pydynamo.frontend.variables.classes import ClassVariable

                return ClassVariable(self.cls, None)
            tx.output.guards.add("CLASS_LACKS", sources.const(self.cls), name)
            return None
        return bind(tx, self, self.cls, raw, name, lookup_source(tx, self.cls, name))

    def has_dict(self) -> bool:
        """True if instances have a ``__dict__`` of the usual kind."""
        usual = isinstance(lookup(self.cls, "__dict__")[1], types.GetSetDescriptorType)
        return self.cls.__dictoffset__ != 0 and (usual or self.cls is types.SimpleNamespace)

    def _reads_through_python(self) -> bool:
        """True if reading an attribute for real would run code of the user."""
        return isinstance(lookup(self.cls, "__getattribute__")[1], types.FunctionType)

    def is_slot(self, name: str) -> bool:
        """True if the attribute lives in a slot."""
        return isinstance(lookup(self.cls, name)[1], _SLOT_TYPES)

    def has_data_descriptor(self, name: str) -> bool:
        """True if the class decides what a store to the attribute does."""
        return _is_data_descriptor(lookup(self.cls, name)[1])

    def _slot(self, tx: Translator, name: str) -> VariableTracker | None:
        stored = tx.ledger.load_attr(self, name)
        if stored is not None:
            return stored if stored is not DELETED else None
        if self.value is None:
            return None
        assert self.source is not None
        try:
            value = object.__getattribute__(self.value, name)
        except AttributeError:
            tx.output.guards.add("LACKS_SLOT", self.source, name)
            return None
        if self._reads_through_python():
            unsupported(
                "unsupported-attribute", f"slot {name!r} of {self.describe()}, which has its own __getattribute__"
            )
        return LazyVariable(tx, value, sources.attr(self.source, name))

    def own_attribute(self, tx: Translator, name: str) -> VariableTracker | None:
        """The instance attribute, None if there is none."""
        stored = tx.ledger.load_attr(self, name)
        if stored is not None:
            return stored if stored is not DELETED else None
        if self.value is None or self.source is None:
            return None
        if self.cls.__dictoffset__ == 0:
            return None
        instance = object.__getattribute__(self.value, "__dict__")  # past a __getattribute__ of the user
        if name in instance:
            direct = not _is_data_descriptor(lookup(self.cls, name)[1]) and not self._reads_through_python()
            kind = sources.attr(self.source, name) if direct else Source("dictattr", name, self.source)
            return LazyVariable(tx, instance[name], kind)
        tx.output.guards.add("DICT_HAS", self.source, (name, False))
        return None

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        base, raw = lookup(self.cls, "__setattr__")
        if base is not object and self.cls is not types.SimpleNamespace:
            if not isinstance(raw, types.FunctionType):
                unsupported("unsupported-attribute", f"store to {name!r} of {self.describe()}")
            function = tx.function_at(raw, lookup_source(tx, self.cls, "__setattr__"))
            function.call_function(tx, [self, constant(name), value], {})
            return
        self.plain_setattr(tx, name, value)

    def plain_setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        """``object.__setattr__(self, name, value)``"""
        base, raw = lookup(self.cls, name)
        if base is not None and _is_data_descriptor(raw) and not isinstance(raw, _SLOT_TYPES):
            if isinstance(raw, property):
                if raw.fset is None:
                    tx.raise_error(AttributeError, f"property '{name}' of '{type_name(self.cls)}' object has no setter")
                source = sources.attr(lookup_source(tx, self.cls, name), "fset")
                tx.wrap_at(raw.fset, source).call_function(tx, [self, value], {})
                return
            setter = lookup(type(raw), "__set__")[1]
            if isinstance(setter, types.FunctionType):
                function = tx.function_at(setter, lookup_source(tx, type(raw), "__set__"))
                descriptor = tx.wrap_at(raw, lookup_source(tx, self.cls, name))
                function.call_function(tx, [descriptor, self, value], {})
                return
            unsupported("unsupported-attribute", f"store to {name!r} of {self.describe()}")
        has_dict = self.cls.__dictoffset__ != 0
        if not has_dict and not isinstance(raw, _SLOT_TYPES):
            tx.raise_error(AttributeError, f"'{type_name(self.cls)}' object has no attribute '{name}'")
        tx.ledger.store_attr(self, name, value)

    def delattr(self, tx: Translator, name: str) -> None:
        base, raw = lookup(self.cls, "__delattr__")
        if isinstance(raw, types.FunctionType):
            function = tx.function_at(raw, lookup_source(tx, self.cls, "__delattr__"))
            function.call_function(tx, [self, constant(name)], {})
        elif base is object:
            self.plain_delattr(tx, name)
        else:
            unsupported("unsupported-attribute", f"deletion of {name!r} of {self.describe()}")

    def plain_delattr(self, tx: Translator, name: str) -> None:
        """``object.__delattr__(self, name)``"""
        raw = lookup(self.cls, name)[1]
        if isinstance(raw, property) and raw.fdel is not None:
            source = sources.attr(lookup_source(tx, self.cls, name), "fdel")
            tx.wrap_at(raw.fdel, source).call_function(tx, [self], {})
            return
        if self.has_data_descriptor(name) and not self.is_slot(name):
            unsupported("unsupported-attribute", f"deletion of {name!r} of {self.describe()}")
        own = self._slot(tx, name) if self.is_slot(name) else self.own_attribute(tx, name)
        if own is None and self.is_slot(name):
            tx.raise_error(AttributeError, name)
        if own is None:
            self._lacks(tx, name)
        own.realize()  # guards that it is there
        tx.ledger.delete_attr(self, name)

    def _lacks(self, tx: Translator, name: str) -> NoReturn:
        """What deleting an attribute raises that is not there."""
        error = ExceptionVariable(
            AttributeError, [constant(f"'{type_name(self.cls)}' object has no attribute '{name}'")]
        )
        if _DELETION_TELLS:
            tell_attribute(error, self, name)
        raise ObservedException(error)

    # protocols through special methods ---------------------------------------------------------------------------
    def _special(self, tx: Translator, dunder: str) -> VariableTracker | None:
        return special_method(tx, self, dunder)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        method = self._special(tx, "__call__")
        if method is None:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object is not callable")
        return method.call_function(tx, args, kwargs)

    def truth(self, tx: Translator) -> bool:
        method = self._special(tx, "__bool__")
        if method is not None:
            return bool(
                answer_to(tx, bool, "__bool__", method.call_function(tx, [], {}), self.cls).realize().as_constant()
            )
        method = self._special(tx, "__len__")
        if method is not None:
            return tx.truth(answer_to(tx, len, "__len__", method.call_function(tx, [], {}), self.cls))
        return True

    def length(self, tx: Translator) -> VariableTracker:
        method = self._special(tx, "__len__")
        if method is None:
            tx.raise_error(TypeError, f"object of type '{self.cls.__name__}' has no len()")
        return answer_to(tx, len, "__len__", method.call_function(tx, [], {}), self.cls)

    def get_iter(self, tx: Translator) -> VariableTracker:
        method = self._special(tx, "__iter__")
        if method is not None:
            iterator = method.call_function(tx, [], {}).realize()
            if not has_special(iterator.python_type(), "__next__"):
                name = type_name(iterator.python_type())
                before = f"iter() returned non-iterator of type '{name}'"
                message = bad_answer(self.cls, "__iter__", "an iterator", iterator.python_type(), before)
                tx.raise_error(TypeError, message)
            return iterator
        if self._special(tx, "__getitem__") is not None:
            from pydynamo.frontend.inline import in_place_of

            function: Any = iteration.by_index
            made = tx.function_at(function, sources.const(function)).call_function(tx, [self], {})
            return in_place_of(made, iteration.INDEX_ITERATOR, self)
        tx.raise_error(TypeError, f"'{type_name(self.cls)}' object is not iterable")

    def next(self, tx: Translator) -> VariableTracker:
        method = self._special(tx, "__next__")
        if method is None:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object is not an iterator")
        return method.call_function(tx, [], {})

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        method = self._special(tx, "__getitem__")
        if method is None:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object is not subscriptable")
        return method.call_function(tx, [key], {})

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        method = self._special(tx, "__setitem__")
        if method is None:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object does not support item assignment")
        method.call_function(tx, [key, value], {})

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if all(self._special(tx, name) is None for name in ("__contains__", "__iter__", "__getitem__")):
            if self.cls is types.SimpleNamespace:
                unsupported("unsupported-operator", f"membership in {self.describe()}")
            unlike: Any = type(self.cls.__name__, (), {})()
            run_python(tx, lambda: None in unlike)
        return super().contains(tx, item)

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        method = self._special(tx, "__delitem__")
        if method is None:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object does not support item deletion")
        method.call_function(tx, [key], {})

    # codegen -----------------------------------------------------------------------------------------------------
    def reconstruct(self, cg: PyCodegen) -> None:
        if self.cls is our_functools.Key:
            content = cg.ledger.attrs[id(self)][1]
            names = ("_compare", "obj") if content["_items"].realize().children() else ("_compare",)
            parts = [content[name] for name in names]
            cg.call(lambda: cg.load_object(our_functools.real_key), [functools.partial(cg, part) for part in parts])
            return
        if self.cls is types.SimpleNamespace:
            cg.call(lambda: cg.load_object(self.cls), [])
        else:
            cg.call(lambda: cg.load_object(object.__new__), [lambda: cg.load_object(self.cls)])
        cg.fill_later(self)

    def describe(self) -> str:
        where = f"{self.source.name} " if self.source is not None else ""
        return f"{where}(an instance of {self.cls.__qualname__})"


def _is_data_descriptor(raw: Any) -> bool:
    return raw is not None and hasattr(type(raw), "__set__")


def _is_enums_own(cls: type, name: str) -> bool:
    """False if the class, or a base of its own, says what ``name`` or ``value`` of its members is."""
    base = lookup(cls, name)[0]
    return base is not None and base.__module__ == "enum"


def enum_attribute(tx: Translator, member: ConstantVariable, name: str) -> VariableTracker:
    """An attribute of an enum member."""
    cls = type(member.value)
    if name in ("_value_", "_name_") or (name in ("value", "name") and _is_enums_own(cls, name)):
        return constant(member.value._value_ if name in ("value", "_value_") else member.value._name_)
    instance, source = vars(member.value), sources.const(member.value)
    if name in instance and not _is_data_descriptor(lookup(cls, name)[1]):
        return LazyVariable(tx, instance[name], Source("dictattr", name, source))
    tx.output.guards.add("DICT_HAS", source, (name, name in instance))
    raw = lookup(cls, name)[1]
    if isinstance(raw, enum.Enum):
        return constant(raw)
    return class_attribute_of(tx, member, cls, name)
