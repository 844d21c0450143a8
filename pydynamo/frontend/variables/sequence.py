"""Lists, tuples, torch.Size, named tuples, deques and slices."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker, defines, type_name
from pydynamo.frontend.variables.constant import ConstantVariable, constant, from_python, run_python

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.source import Source
    from pydynamo.frontend.translator import Translator


def is_namedtuple(cls: type) -> bool:
    """True for classes made by ``collections.namedtuple`` and ``typing.NamedTuple``, and torch's struct sequences."""
    return (
        issubclass(cls, tuple)
        and cls is not tuple
        and cls is not torch.Size
        and ((hasattr(cls, "_fields") and hasattr(cls, "_make")) or is_structseq(cls))
    )


def is_structseq(cls: type) -> bool:
    """True for torch.return_types classes."""
    return cls.__module__ == "torch.return_types"


class SequenceVariable(VariableTracker):
    """A list, tuple, torch.Size, named tuple or deque with known items."""

    def __init__(
        self,
        items: list[VariableTracker],
        cls: type = list,
        source: Source | None = None,
        maxlen: int | None = None,
    ) -> None:
        self.items = items
        self.cls = cls
        self.source = source
        self.maxlen = maxlen
        self.mutable = cls in (list, collections.deque)
        #: how often a deque grew, shrank or turned: its iterators end when it does
        self.turns = 0

    def python_type(self) -> type:
        return self.cls

    def is_constant(self) -> bool:
        return self.cls in (list, tuple, torch.Size) and all(item.realize().is_constant() for item in self.items)

    def as_constant(self) -> Any:
        if self.cls not in (list, tuple, torch.Size):
            unsupported("data-dependent-value", f"a constant {self.cls.__name__} is needed")
        return self.cls(item.realize().as_constant() for item in self.items)

    def as_fx(self) -> Any:
        return self._convert(lambda item: item.as_fx())

    def as_fake(self) -> Any:
        return self._convert(lambda item: item.as_fake())

    def _convert(self, leaf: Callable[[VariableTracker], Any]) -> Any:
        items = [leaf(item.realize()) for item in self.items]
        if self.cls is list:
            return items
        if self.cls in (tuple, torch.Size) or is_structseq(self.cls):
            return tuple(items)
        if is_namedtuple(self.cls):
            return self.cls(*items)
        unsupported("unsupported-torch-call", f"a {self.cls.__name__} as an argument of a graph node")

    def hash_key(self) -> Any:
        if self.mutable:
            return super().hash_key()
        return tuple(item.realize().hash_key() for item in self.items)

    def truth(self, tx: Translator) -> bool:
        return bool(self.items)

    def length(self, tx: Translator) -> VariableTracker:
        return constant(len(self.items))

    def get_iter(self, tx: Translator) -> VariableTracker:
        from pydynamo.frontend.variables.iterators import SequenceIterator

        return SequenceIterator(self)

    # items -------------------------------------------------------------------------------------------------------
    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        index = self._index(tx, key)
        if isinstance(index, slice):
            cls = self.cls if self.cls in (list, torch.Size) else tuple
            if self.cls is collections.deque:
                self._type_error(tx, index)
            items = run_python(tx, lambda: self.items[index])
            # a tuple is its own slice, as for CPython
            whole = self.cls is tuple and len(items) == len(self.items) and index.step in (None, 1)
            return self if whole else SequenceVariable(items, cls)
        if not -len(self.items) <= index < len(self.items):
            kind = "tuple" if issubclass(self.cls, tuple) else self.cls.__name__
            tx.raise_error(IndexError, f"{kind} index out of range")
        return self.items[index]

    def _index(self, tx: Translator, key: VariableTracker) -> Any:
        key = key.realize()
        if isinstance(key, SliceVariable):
            if self.cls is collections.deque:
                self._type_error(tx, slice(None))
            return key.as_slice(tx)
        from pydynamo.frontend.protocols import as_index

        if key.is_constant() and not hasattr(key.as_constant(), "__index__"):
            self._type_error(tx, key.as_constant())
        return as_index(tx, key)

    def _type_error(self, tx: Translator, key: Any) -> None:
        empty: Any = collections.deque() if self.cls is collections.deque else [] if self.cls is list else ()
        run_python(tx, lambda: empty[key])
        unsupported("unsupported-operator", f"index {key!r}")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        if not self.mutable:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object does not support item assignment")
        index = self._index(tx, key)
        if isinstance(index, slice):
            from pydynamo.frontend.protocols import fast_listed

            values = fast_listed(tx, value)
            tx.ledger.mutate(self)
            run_python(tx, lambda: self.items.__setitem__(index, values))
            return
        if not -len(self.items) <= index < len(self.items):
            kind = "list assignment" if self.cls is list else "deque"
            tx.raise_error(IndexError, f"{kind} index out of range")
        tx.ledger.mutate(self)
        self.items[index] = value

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        if not self.mutable:
            tx.raise_error(TypeError, f"'{type_name(self.cls)}' object doesn't support item deletion")
        index = self._index(tx, key)
        if not isinstance(index, slice) and not -len(self.items) <= index < len(self.items):
            kind = "list assignment" if self.cls is list else "deque"
            tx.raise_error(IndexError, f"{kind} index out of range")
        tx.ledger.mutate(self)
        self.turns += 1
        del self.items[index]

    # attributes and methods --------------------------------------------------------------------------------------
    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if is_namedtuple(self.cls):
            fields = getattr(self.cls, "_fields", None) or structseq_fields(self.cls)
            if name in fields:
                return self.items[list(fields).index(name)]
            return namedtuple_attribute(tx, self, name)
        if name == "__class__":
            from pydynamo.frontend.variables.objects import ClassVariable

            return ClassVariable(self.cls, None)
        if name == "maxlen" and self.cls is collections.deque:
            return constant(self.maxlen)
        if defines(self.cls, name) and callable(getattr(self.cls, name)):
            return MethodOfBuiltin(self, name)
        if defines(self.cls, name):
            unsupported("unsupported-attribute", f"attribute {name!r} of {self.describe()}")
        tx.raise_error(AttributeError, f"'{type_name(self.cls)}' object has no attribute '{name}'")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        from pydynamo.frontend.variables.sequence_methods import call_sequence_method

        if is_namedtuple(self.cls) and name not in ("count", "index", "__len__", "__getitem__", "__iter__"):
            return self.getattr(tx, name).realize().call_function(tx, args, kwargs)
        return call_sequence_method(tx, self, name, args, kwargs)

    # codegen -----------------------------------------------------------------------------------------------------
    def children(self) -> list[VariableTracker]:
        return self.items

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.cls is list:
            cg.build("BUILD_LIST", self.items)
        elif self.cls is tuple:
            cg.build("BUILD_TUPLE", self.items)
        elif self.cls is collections.deque:
            cg.call(
                lambda: cg.load_object(collections.deque),
                [lambda: cg.build("BUILD_LIST", self.items), lambda: cg.load_const(self.maxlen)],
            )
        elif is_namedtuple(self.cls) and not is_structseq(self.cls):
            cg.call(
                lambda: cg.load_object(_new_namedtuple),
                [lambda: cg.load_object(self.cls), lambda: cg.build("BUILD_TUPLE", self.items)],
            )
        else:
            cg.call(lambda: cg.load_object(self.cls), [lambda: cg.build("BUILD_TUPLE", self.items)])


def _new_namedtuple(cls: Any, items: tuple[Any, ...]) -> Any:
    return tuple.__new__(cls, items)


def structseq_fields(cls: type) -> list[str]:
    """The field names of a torch.return_types class, in order."""
    return list(getattr(cls, "__match_args__", ()))


def namedtuple_attribute(tx: Translator, var: SequenceVariable, name: str) -> VariableTracker:
    """Attributes of a named tuple besides its fields."""
    from pydynamo.frontend.variables.builtin import MethodOfBuiltin
    from pydynamo.frontend.variables.class_lookup import class_attribute_of

    if name in ("__len__", "__getitem__", "__iter__", "__contains__", "count", "index"):
        return MethodOfBuiltin(var, name)
    if name == "_fields" and not is_structseq(var.cls):
        return from_python(tuple(var.cls._fields))  # type: ignore[attr-defined]
    if var.source is not None and var.cls.__dictoffset__ and not defines(var.cls, name):
        unsupported("unsupported-attribute", f"attribute {name!r}, which only {var.describe()} itself may have")
    return class_attribute_of(tx, var, var.cls, name)


class SliceVariable(VariableTracker):
    """A slice; its three parts may be symbols or tensors."""

    def __init__(self, items: list[VariableTracker], source: Source | None = None) -> None:
        self.items = items
        self.source = source

    def python_type(self) -> type:
        return slice

    def is_constant(self) -> bool:
        return all(item.realize().is_constant() for item in self.items)

    def as_constant(self) -> Any:
        return slice(*(item.realize().as_constant() for item in self.items))

    def as_fx(self) -> Any:
        return slice(*(item.realize().as_fx() for item in self.items))

    def as_fake(self) -> Any:
        return slice(*(item.realize().as_fake() for item in self.items))

    def as_slice(self, tx: Translator) -> slice:
        """The slice with integer parts."""
        from pydynamo.frontend.protocols import as_index

        parts = [item.realize() for item in self.items]
        for part in parts:
            known = part.as_constant() if part.is_constant() else None
            if known is not None and not hasattr(known, "__index__"):
                run_python(tx, lambda wrong=known: [][wrong:])
        return slice(*(None if isinstance(p, ConstantVariable) and p.value is None else as_index(tx, p) for p in parts))

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        from pydynamo.frontend.variables.builtin import MethodOfBuiltin

        if name in ("start", "stop", "step"):
            return self.items[("start", "stop", "step").index(name)]
        if name == "indices":
            return MethodOfBuiltin(self, name)
        return super().getattr(tx, name)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "indices" and len(args) == 1:
            from pydynamo.frontend.protocols import as_index

            length = as_index(tx, args[0].realize())
            return from_python(run_python(tx, lambda: self.as_slice(tx).indices(length)))
        return super().call_method(tx, name, args, kwargs)

    def children(self) -> list[VariableTracker]:
        return self.items

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.build("BUILD_SLICE", self.items)
