"""``__dict__`` of an object, and ``id()``: views of other values."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.side_effects import DELETED
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import ConstantVariable, constant
from pydynamo.frontend.variables.dicts import DictVariable, Pair

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.objects import ObjectVariable


class AttributeDict(DictVariable):
    """``owner.__dict__``: reads and writes are those of the attributes."""

    def __init__(self, tx: Translator, owner: ObjectVariable) -> None:
        self.tx = tx
        self.owner = owner
        self.cls = dict
        self.factory = None
        if owner.source is not None:
            at = sources.attr(owner.source, "__dict__")
            tx.output.guards.add("KEYS", at, tuple(owner.value.__dict__))

    def is_built_whole(self) -> bool:
        return False

    @property
    def entries(self) -> dict[Any, Pair]:  # type: ignore[override]
        """The attributes as they are now; changing this changes nothing."""
        owner, tx = self.owner, self.tx
        entry = tx.ledger.attrs.get(id(owner.identity()))
        stored = entry[1] if entry is not None else {}
        names = [*(owner.value.__dict__ if owner.value is not None else ()), *stored]
        found: dict[Any, Pair] = {}
        for name in names:
            if stored.get(name) is DELETED or owner.is_slot(name):
                continue
            if (id(owner.identity()), name) in tx.ledger.redefined:
                unsupported("inspection", "the order of attributes that were deleted and set again")
            value = owner.own_attribute(tx, name)
            if value is not None:
                found.setdefault(name, (constant(name), value))
        return found

    def put(self, key: VariableTracker, value: VariableTracker, code: Any = None) -> None:
        name = key.realize().as_constant()
        if not isinstance(name, str) or self.owner.has_data_descriptor(name):
            unsupported("inspection", f"a store of {name!r} to __dict__")
        self.tx.ledger.store_attr(self.owner, name, value)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self.put(key, value)

    def delitem(self, tx: Translator, key: VariableTracker, code: Any = None) -> None:
        name = key.realize().as_constant()
        if name not in self.entries:
            tx.raise_error(KeyError, key)
        tx.ledger.delete_attr(self.owner, name)

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name in ("popitem", "clear", "__ior__"):
            unsupported("inspection", f"{name}() of __dict__")
        if name == "update":
            from pydynamo.frontend.variables.dict_methods import pairs_of

            pairs = pairs_of(tx, args[0]) if args else []
            for key, value in [*pairs, *((constant(key), value) for key, value in kwargs.items())]:
                self.put(key, value)
            return constant(None)
        return super().call_method(tx, name, args, kwargs)

    def children(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg(self.owner)
        cg.load_attribute("__dict__")


class _ConstantIdentity:
    """A key that is the id() of a constant: equal constants may be one object or two."""

    __slots__ = ("target",)

    def __init__(self, target: ConstantVariable) -> None:
        self.target = target

    def __hash__(self) -> int:
        return hash((type(self.target.value), self.target.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ConstantIdentity):
            return False
        mine, theirs = self.target, other.target
        if mine is theirs or mine.identity() is theirs.identity():
            return True
        if type(mine.value) is type(theirs.value) and mine.value == theirs.value:
            unsupported("inspection", "id() of equal constants")
        return False


class _IdentityKey:
    """A key that is the id() of an object; it equals that number, where the object exists already."""

    __slots__ = ("number",)

    def __init__(self, number: IdentityNumber) -> None:
        self.number = number

    def __hash__(self) -> int:
        return id(self.number) if self.number.real is None else hash(self.number.real)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _IdentityKey):
            return self.number is other.number
        return type(other) is int and other == self.number.real


def may_be_id(key: Any) -> bool:
    """True for a key that may be, or hold, the id() of some object."""
    return any(may_be_id(part) for part in key) if type(key) is tuple else type(key) is int and key > 0xFFFF


def note_ids(tx: Translator, keys: tuple[Any, ...]) -> None:
    """A container of the program has these keys: if they may be ids, the ids that the trace asks for must be exact."""
    if not tx.root.ids_are_exact and any(may_be_id(key) for key in keys):
        tx.root.ids_are_exact = True
        for number in list(tx.root.identity_numbers.values()):
            number.pin()


class IdentityNumber(VariableTracker):
    """``id(target)``: serves as a key and in comparisons with others of its kind."""

    def __init__(self, tx: Translator, target: VariableTracker, real: int | None = None) -> None:
        self.tx = tx
        self.target = target
        #: the number itself, if the object exists already
        self.real = real

    @classmethod
    def of(cls, tx: Translator, target: VariableTracker) -> IdentityNumber:
        """The one number of this object."""
        if isinstance(target, ConstantVariable) and target.identity() is target:
            return cls(tx, target)
        numbers = tx.root.identity_numbers
        found = numbers.get(id(target.identity()))
        if found is None:
            real = next((number for number, known in tx.root.by_id.items() if known is target), None)
            if real is None and not isinstance(target.identity(), VariableTracker):
                real = id(target.identity())
            found = numbers[id(target.identity())] = cls(tx, target, real)
        return found

    def pin(self) -> None:
        """Guard the object: its number has been, or will be, looked for among numbers that the program keeps."""
        if self.real is None or self.target.source is None:
            return  # an object that the trace makes is in no container yet
        value: Any = self.target.identity()  # of a class, the class itself
        if isinstance(value, VariableTracker):
            value = next((value for value in self.tx.root.keep_alive if id(value) == self.real), None)
        if id(value) != self.real:
            unsupported("aliasing", f"the id of {self.target.describe()} as a key")
        self.tx.output.guards.add("ID_MATCH", self.target.source, value)

    def python_type(self) -> type:
        return int

    def truth(self, tx: Translator) -> bool:
        return True

    def hash_key(self) -> Any:
        if self.tx.root.ids_are_exact:
            self.pin()
        return _ConstantIdentity(self.target) if isinstance(self.target, ConstantVariable) else _IdentityKey(self)

    def children(self) -> list[VariableTracker]:
        return [self.target]

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(lambda: cg.load_object(id), [lambda: cg(self.target)])

    def describe(self) -> str:
        return "an id()"


class ThreadNumber(IdentityNumber):
    """``threading.get_ident()``: another number in each thread, and the same throughout a frame."""

    @classmethod
    def current(cls, tx: Translator) -> IdentityNumber:
        """The one number of the thread."""
        numbers = tx.root.identity_numbers
        return numbers.setdefault(id(_thread.get_ident), cls(tx, constant(None)))

    def pin(self) -> None:
        unsupported("inspection", "the number of a thread among keys that exist")

    def hash_key(self) -> Any:
        if self.tx.root.ids_are_exact:
            self.pin()
        return _IdentityKey(self)

    def reconstruct(self, cg: PyCodegen) -> None:
        cg.call(lambda: cg.load_object(_thread.get_ident), [])

    def describe(self) -> str:
        return "the number of the thread"
