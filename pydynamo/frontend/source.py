"""Where a value came from: serves guards, graph input names and load code alike.

A source is a chain ``(kind, key, base)``; one table per use gives each kind its meaning. Sources describe the state
at the entry of the frame. Knows nothing of values or of the translator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydynamo.frontend import asm

if TYPE_CHECKING:
    from pydynamo.frontend.codegen import PyCodegen

_BY_IDENTITY = frozenset({"const"})
#: types of keys whose repr is an expression that gives an equal key
_LITERALS = (int, str, bytes, type(None))

#: kind -> how the source is written for people
_NAMES: dict[str, str] = {
    "local": "L[{key!r}]",
    "global": "G[{key!r}]",
    "cell": "cell({key!r})",
    "deref": "L[{key!r}]",
    "const": "{obj}",
    "attr": "{base}.{key}",
    "item": "{base}[{key!r}]",
    "dictitem": "{base}[{key!r}]",
    "listitem": "{base}[{key!r}]",
    "type": "type({base})",
    "dictattr": "{base}.__dict__[{key!r}]",
    "closure": "{base}.__closure__[{key}].cell_contents",
    "closure_cell": "{base}.__closure__[{key}]",
    "contents": "{base}.cell_contents",
    "defaults": "{base}.__defaults__[{key}]",
    "kwdefaults": "{base}.__kwdefaults__[{key!r}]",
    "mro": "{base}.{key}",
    "size": "{base}.shape[{key}]",
}


def class_attribute(cls: type, name: str) -> Any:
    """The raw attribute (no descriptor called) that ``cls`` and its bases give; AttributeError if there is none."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class Source:
    """One step of the way to a value. Equal chains are equal sources; held constants count by identity."""

    __slots__ = ("_hash", "_name", "base", "key", "kind")

    def __init__(self, kind: str, key: Any = None, base: Source | None = None) -> None:
        self.kind = kind
        self.key = key
        self.base = base
        self._hash = hash((kind, id(key) if kind in _BY_IDENTITY else (type(key), key), base))
        self._name: str | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Source) or self._hash != other._hash or self.kind != other.kind:
            return False
        same = (
            self.key is other.key
            if self.kind in _BY_IDENTITY
            else (type(self.key) is type(other.key) and self.key == other.key)
        )
        return same and self.base == other.base

    @property
    def name(self) -> str:
        """The source as text, such as ``L['x'].shape``."""
        if self._name is None:
            base = self.base.name if self.base is not None else ""
            obj = getattr(self.key, "__qualname__", None) or type(self.key).__name__ if self.kind == "const" else ""
            self._name = _NAMES[self.kind].format(key=self.key, base=base, obj=obj)
        return self._name

    def __repr__(self) -> str:
        return f"Source({self.name})"

    def root(self) -> Source:
        """The first step of the chain."""
        step = self
        while step.base is not None:
            step = step.base
        return step

    def is_trivial(self) -> bool:
        """True if loading is one instruction that nothing in between can change."""
        return self.kind in ("local", "const", "cell")

    def reconstruct(self, cg: PyCodegen) -> None:
        """Emit the instructions that load the value."""
        _EMIT[self.kind](self, cg)


def _emit_local(src: Source, cg: PyCodegen) -> None:
    cg.load_local(src.key)


def _emit_global(src: Source, cg: PyCodegen) -> None:
    cg.emit(asm.load_global(src.key))


def _emit_cell(src: Source, cg: PyCodegen) -> None:
    cg.load_cell(src.key)


def _emit_deref(src: Source, cg: PyCodegen) -> None:
    cg.emit(asm.instruction("LOAD_DEREF", argval=src.key))


def _emit_const(src: Source, cg: PyCodegen) -> None:
    cg.load_object(src.key)


def _emit_attr(src: Source, cg: PyCodegen) -> None:
    assert src.base is not None
    cg.load_source(src.base)
    cg.emit(asm.load_attr(src.key))


def _emit_item(src: Source, cg: PyCodegen) -> None:
    assert src.base is not None
    cg.load_source(src.base)
    if isinstance(src.key, _LITERALS):
        cg.load_const(src.key)
    else:
        cg.load_object(src.key)
    cg.emit_all(asm.subscript())


def _emit_own_item(src: Source, cg: PyCodegen) -> None:
    assert src.base is not None
    base = src.base
    getter = dict.__getitem__ if src.kind == "dictitem" else list.__getitem__
    cg.call(
        lambda: cg.load_object(getter),
        [
            lambda: cg.load_source(base),
            lambda: cg.load_const(src.key) if isinstance(src.key, _LITERALS) else cg.load_object(src.key),
        ],
    )


def _emit_type(src: Source, cg: PyCodegen) -> None:
    assert src.base is not None
    base = src.base
    cg.call(lambda: cg.load_object(type), [lambda: cg.load_source(base)])


def _emit_mro(src: Source, cg: PyCodegen) -> None:
    assert src.base is not None
    base = src.base
    cg.call(
        lambda: cg.load_object(class_attribute),
        [lambda: cg.load_source(base), lambda: cg.load_const(src.key)],
    )


def _path(*attributes: str, subscript: bool, then: str | None = None) -> Any:
    def emit(src: Source, cg: PyCodegen) -> None:
        assert src.base is not None
        cg.load_source(src.base)
        for attribute in attributes:
            cg.emit(asm.load_attr(attribute))
        if subscript:
            cg.load_const(src.key)
            cg.emit_all(asm.subscript())
        if then is not None:
            cg.emit(asm.load_attr(then))

    return emit


_EMIT: dict[str, Any] = {
    "local": _emit_local,
    "global": _emit_global,
    "cell": _emit_cell,
    "deref": _emit_deref,
    "const": _emit_const,
    "attr": _emit_attr,
    "item": _emit_item,
    "dictitem": _emit_own_item,
    "listitem": _emit_own_item,
    "type": _emit_type,
    "dictattr": _path("__dict__", subscript=True),
    "closure": _path("__closure__", subscript=True, then="cell_contents"),
    "closure_cell": _path("__closure__", subscript=True),
    "contents": _path("cell_contents", subscript=False),
    "defaults": _path("__defaults__", subscript=True),
    "kwdefaults": _path("__kwdefaults__", subscript=True),
    "mro": _emit_mro,
}


def local(name: str) -> Source:
    """A local of the root frame, by name."""
    return Source("local", name)


def const(obj: Any) -> Source:
    """An object that the compiled code holds itself."""
    return Source("const", obj)


def attr(base: Source, name: str) -> Source:
    """``base.name``"""
    return Source("attr", name, base)


def item(base: Source, key: Any) -> Source:
    """``base[key]`` with a constant key."""
    return Source("item", key, base)


def type_of(base: Source) -> Source:
    """``type(base)``"""
    return Source("type", None, base)
