"""Iterators with known state: over sequences, over fixed values, and the lazy combinators of the builtins."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.constant import constant

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen
    from pydynamo.frontend.translator import Translator
    from pydynamo.frontend.variables.sequence import SequenceVariable


class AnyIterator(VariableTracker):
    """What all iterators share: they are their own iterator, and stepping them is a change that is tracked."""

    mutable = True

    def get_iter(self, tx: Translator) -> VariableTracker:
        return self

    def hash_key(self) -> Any:
        return Identity(self)

    def truth(self, tx: Translator) -> bool:
        return True

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name == "__next__" and not args:
            return self.next(tx)
        if name == "__iter__" and not args:
            return self
        return super().call_method(tx, name, args, kwargs)


class Identity:
    """A dictionary key that compares by identity of the object it stands for."""

    __slots__ = ("obj",)

    def __init__(self, obj: object) -> None:
        self.obj = obj

    def __hash__(self) -> int:
        return id(self.obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.obj is other.obj


def stop(tx: Translator) -> Any:
    """End of an iterator, in the user's program."""
    from pydynamo.frontend.variables.exceptions import ExceptionVariable

    raise ObservedException(ExceptionVariable(StopIteration, []))


class IteratorVariable(AnyIterator):
    """An iterator over values fixed when it was made (ranges, strings)."""

    def __init__(self, items: list[VariableTracker], cls: type) -> None:
        self.items = items
        self.cls = cls
        self.index = 0

    @classmethod
    def over(cls, items: list[VariableTracker], kind: type) -> IteratorVariable:
        return cls(items, kind)

    def python_type(self) -> type:
        return self.cls

    def next(self, tx: Translator) -> VariableTracker:
        if self.index >= len(self.items):
            stop(tx)
        self.index += 1
        return self.items[self.index - 1]

    def children(self) -> list[VariableTracker]:
        return self.items[self.index :]

    def reconstruct(self, cg: PyCodegen) -> None:
        rest = self.items[self.index :]
        if self.cls is type(iter(range(0))):
            values = [item.realize().as_constant() for item in rest]
            step = values[1] - values[0] if len(values) > 1 else 1
            span = range(values[0], values[-1] + (1 if step > 0 else -1), step) if values else range(0)
            cg.call(lambda: cg.load_object(iter), [lambda: cg.load_object(span)])
        elif self.cls is type(iter(())):
            cg.call(lambda: cg.load_object(iter), [lambda: cg.build("BUILD_TUPLE", rest)])
        elif self.cls in (type(iter("a")), type(iter("\u00e9"))):
            text = "".join(item.realize().as_constant() for item in rest)
            cg.call(lambda: cg.load_object(iter), [lambda: cg.load_const(text)])
        else:
            unsupported("reconstruction-failure", f"a {self.cls.__name__} in use")


class SequenceIterator(AnyIterator):
    """``iter(list)`` and its like: sees later changes of the sequence, as CPython's does."""

    def __init__(self, seq: SequenceVariable, reverse: bool = False) -> None:
        self.seq = seq
        self.index = len(seq.items) - 1 if reverse else 0
        self.reverse = reverse
        self.done = False
        self.turns = seq.turns

    def python_type(self) -> type:
        if self.seq.cls is list:
            return type(reversed([])) if self.reverse else type(iter([]))
        if self.seq.cls is collections.deque:
            return type(reversed(collections.deque())) if self.reverse else type(iter(collections.deque()))
        return reversed if self.reverse else type(iter(()))

    def next(self, tx: Translator) -> VariableTracker:
        items = self.seq.items
        if self.seq.cls is collections.deque and self.seq.turns != self.turns:
            self.done = True
            tx.raise_error(RuntimeError, "deque mutated during iteration")
        if self.done:
            stop(tx)
        if not 0 <= self.index < len(items):
            self.done = True
            stop(tx)
        value = items[self.index]
        self.index += -1 if self.reverse else 1
        return value

    def children(self) -> list[VariableTracker]:
        return [self.seq]

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.done:
            empty: Any = self.seq.cls if self.seq.cls in (list, collections.deque) else tuple
            cg.call(
                lambda: cg.load_object(_at_end), [lambda: cg.load_const(self.reverse), lambda: cg.load_object(empty)]
            )
            return
        if self.seq.cls is collections.deque:
            unsupported("reconstruction-failure", "a deque iterator in use")
        cg.call(
            lambda: cg.load_object(_restart_reversed if self.reverse else _restart),
            [lambda: cg(self.seq), lambda: cg.load_const(self.index)],
        )


def _at_end(backwards: bool, cls: Any) -> Any:
    iterator = reversed(cls()) if backwards else iter(cls())
    next(iterator, None)
    return iterator


def _restart(seq: Any, index: int) -> Any:
    return _at(iter, seq, index)


def _restart_reversed(seq: Any, index: int) -> Any:
    return _at(reversed, seq, index)


def _at(make: Callable[[Any], Any], seq: Any, index: int) -> Any:
    """An iterator at a position that may lie behind the end: what the trace appended is put there later."""
    missing = max(0, index + 1 - len(seq)) if isinstance(seq, list) else 0
    if missing:
        seq.extend([None] * missing)
    iterator = make(seq)
    iterator.__setstate__(index)
    if missing:
        del seq[-missing:]
    return iterator


class CombinedIterator(AnyIterator):
    """zip, map, filter and enumerate over other iterators, as lazy as CPython's."""

    def __init__(
        self,
        cls: type,
        sources: list[VariableTracker],
        function: VariableTracker | None = None,
        count: int = 0,
        strict: bool = False,
    ) -> None:
        self.cls = cls
        self.sources = sources
        self.function = function
        self.count = count
        self.strict = strict

    def python_type(self) -> type:
        return self.cls

    def next(self, tx: Translator) -> VariableTracker:
        from pydynamo.frontend.variables.sequence import SequenceVariable

        if self.cls is enumerate:
            value = self.sources[0].next(tx)
            self.count += 1
            return SequenceVariable([constant(self.count - 1), value], tuple)
        if self.cls is filter:
            while True:
                value = self.sources[0].next(tx)
                test = value if self.function is None else self.function.call_function(tx, [value], {})
                if tx.truth(test):
                    return value
        row = self._row(tx)
        if self.cls is zip:
            return SequenceVariable(row, tuple)
        assert self.function is not None
        return self.function.call_function(tx, row, {})

    def _row(self, tx: Translator) -> list[VariableTracker]:
        row: list[VariableTracker] = []
        if not self.sources:
            stop(tx)
        for index, source in enumerate(self.sources):
            try:
                row.append(source.next(tx))
            except ObservedException as error:
                if self.strict and issubclass(error.vt.python_type(), StopIteration):
                    self._check_lengths(tx, index)
                raise
        return row

    def _check_lengths(self, tx: Translator, ended: int) -> None:
        """With ``strict``, the argument at this index has ended: all must end before they give an item of the row."""
        if ended > 0:
            self._differ(tx, ended, "shorter")
        for index, source in enumerate(self.sources[1:], 1):
            try:
                source.next(tx)
            except ObservedException as error:
                if not issubclass(error.vt.python_type(), StopIteration):
                    raise
            else:
                self._differ(tx, index, "longer")

    def _differ(self, tx: Translator, index: int, how: str) -> None:
        before = "s 1-" if index > 1 else " "
        name = self.cls.__name__
        tx.raise_error(ValueError, f"{name}() argument {index + 1} is {how} than argument{before}{index}")

    def children(self) -> list[VariableTracker]:
        return [*self.sources, *([self.function] if self.function is not None else [])]

    def reconstruct(self, cg: PyCodegen) -> None:
        if self.strict:
            unsupported("reconstruction-failure", f"a strict {self.cls.__name__} in use")
        arguments: list[Callable[[], None]] = [lambda s=s: cg(s) for s in self.sources]  # type: ignore[misc]
        if self.cls is enumerate:
            arguments.append(lambda: cg.load_const(self.count))
        elif self.cls is filter or self.cls is map:
            function = self.function
            if function is None:
                arguments.insert(0, lambda: cg.load_const(None))
            else:
                arguments.insert(0, lambda: cg(function))
        cg.call(lambda: cg.load_object(self.cls), arguments)
