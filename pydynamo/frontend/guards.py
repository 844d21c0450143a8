"""Guards: what must still hold for compiled code to be used again, collected in the order they were needed.

``GuardSet.build`` makes a checking function over the frame's locals. The kinds and their payloads are the contract with
the native evaluator. Knows sources, not values.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import torch

from pydynamo.frontend.source import Source, class_attribute

#: (locals by name, root function) -> True if every guard holds
Check = Callable[[dict[str, Any], Any], bool]


class GuardSet:
    """An ordered set of guards ``(kind, source, payload)``."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()
        self.items: list[tuple[str, Source | None, Any]] = []

    def add(self, kind: str, source: Source | None, payload: Any = None) -> None:
        """Add a guard unless it is there; payloads are compared by identity or, if constants, by type and value."""
        code = (
            (type(payload), repr(payload))
            if isinstance(payload, int | float | str | complex | bytes)
            else (payload if isinstance(payload, Source) else id(payload))
        )
        if isinstance(payload, tuple):
            code = repr(payload)
        key = (kind, source, code)
        if key not in self._seen:
            self._seen.add(key)
            self.items.append((kind, source, payload))

    def describe(self) -> list[str]:
        """Each guard as a line of text."""
        return [
            f"{kind} {source.name if source is not None else ''} {_short(payload)}".rstrip()
            for kind, source, payload in self.items
        ]

    def build(self, freevars: tuple[str, ...]) -> Check:
        """The checking function. Raises nothing: a source that cannot be read means False."""
        consts: list[Any] = []
        terms = [
            _TERMS[kind](_Writer(consts, freevars), source, payload) for kind, source, payload in self.items
        ]
        body = "\n".join(f"        if not ({term}): return False" for term in terms) or "        pass"
        text = (
            f"def check(L, F):\n    G = F.__globals__\n    try:\n{body}\n    except Exception:\n        return False\n"
            "    return True\n"
        )
        scope: dict[str, Any] = {
            "C": consts,
            "B": vars(builtins),
            "same_constant": same_constant,
            "match_tensor": match_tensor,
            "global_state": global_state,
            "same_keys": same_keys,
            "unique": unique,
            "class_attribute": class_attribute,
            "has_class_attribute": has_class_attribute,
        }
        exec(compile(text, "<pydynamo guards>", "exec"), scope)
        check: Check = scope["check"]
        return check


def _short(payload: Any) -> str:
    text = payload.name if isinstance(payload, Source) else repr(payload) if payload is not None else ""
    return text if len(text) < 100 else text[:97] + "..."


class _Writer:
    def __init__(self, consts: list[Any], freevars: tuple[str, ...]) -> None:
        self.consts = consts
        self.freevars = freevars

    def path(self, source: Source | None) -> str:
        assert source is not None
        return source.expression(self.consts, self.freevars)

    def hold(self, obj: Any) -> str:
        self.consts.append(obj)
        return f"C[{len(self.consts) - 1}]"


def same_constant(a: Any, b: Any) -> bool:
    """Equal in type and value; floats by their bits, so that nan is itself and -0.0 is not 0.0."""
    if type(a) is not type(b):
        return False
    if type(a) is float or type(a) is complex:
        return repr(a) == repr(b)
    return bool(a == b)


def tensor_facts(t: torch.Tensor) -> tuple[Any, ...]:
    """What a traced tensor may rely on, besides sizes and strides."""
    return (
        type(t),
        t.dtype,
        t.device,
        t.requires_grad,
        t.layout,
        torch._C._dispatch_keys(t).raw_repr(),
        t.is_leaf,
    )


def match_tensor(
    t: Any, facts: tuple[Any, ...], sizes: tuple[int | None, ...], strides: tuple[int | None, ...] | None
) -> bool:
    """True if ``t`` has these facts; None in sizes or strides matches any."""
    if type(t) is not facts[0] or tensor_facts(t) != facts or t.dim() != len(sizes):
        return False
    if any(want is not None and want != have for want, have in zip(sizes, t.shape, strict=True)):
        return False
    return strides is None or all(
        want is None or want == have for want, have in zip(strides, t.stride(), strict=True)
    )


def global_state() -> tuple[Any, ...]:
    """The process-wide and thread-local modes that change what operators do."""
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_autocast_dtype("cpu"),
        torch.get_autocast_dtype("cuda"),
        torch.is_autocast_cache_enabled(),
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
    )


def same_keys(d: Any, keys: tuple[Any, ...]) -> bool:
    """True if the dictionary or set has exactly these keys, in order, each of the same type."""
    return len(d) == len(keys) and all(a is b or same_constant(a, b) for a, b in zip(d, keys, strict=True))


def has_class_attribute(cls: type, name: str) -> bool:
    """True if the class or a base defines ``name``."""
    return any(name in base.__dict__ for base in cls.__mro__)


def unique(*objects: Any) -> bool:
    """True if no object stands here twice."""
    return len({id(obj) for obj in objects}) == len(objects)


def _same_code(w: _Writer, source: Source | None, code: types.CodeType) -> str:
    return f"{w.path(source)}.__code__ is {w.hold(code)}"


_TERMS: dict[str, Callable[[_Writer, Source | None, Any], str]] = {
    "TYPE_MATCH": lambda w, s, p: f"type({w.path(s)}) is {w.hold(p)}",
    "ID_MATCH": lambda w, s, p: f"{w.path(s)} is {w.hold(p)}",
    "EQUALS_MATCH": lambda w, s, p: f"same_constant({w.path(s)}, {w.hold(p)})",
    "CODE_MATCH": _same_code,
    "LENGTH": lambda w, s, p: f"len({w.path(s)}) == {p}",
    "KEYS": lambda w, s, p: f"same_keys({w.path(s)}, {w.hold(p)})",
    "HAS_KEY": lambda w, s, p: f"({w.hold(p[0])} in {w.path(s)}) is {p[1]}",
    "DICT_HAS": lambda w, s, p: f"({p[0]!r} in {w.path(s)}.__dict__) is {p[1]}",
    "GLOBAL_HAS": lambda w, s, p: f"({p[0]!r} in G) is {p[1]}",
    "CLASS_LACKS": lambda w, s, p: f"not has_class_attribute({w.path(s)}, {p!r})",
    "DEFAULTS": lambda w, s, p: f"len({w.path(s)}.__defaults__ or ()) == {p}",
    "KWDEFAULTS": lambda w, s, p: f"tuple({w.path(s)}.__kwdefaults__ or ()) == {p!r}",
    "TENSOR_MATCH": lambda w, s, p: f"match_tensor({w.path(s)}, *{w.hold(p)})",
    "IS": lambda w, s, p: f"{w.path(s)} is {w.path(p)}",
    "IS_NOT": lambda w, s, p: f"{w.path(s)} is not {w.path(p)}",
    "UNIQUE": lambda w, s, p: f"unique({', '.join(w.path(x) for x in p)})",
    "GLOBAL_STATE": lambda w, s, p: f"global_state() == {w.hold(p)}",
    "NUMBER_TYPE": lambda w, s, p: f"type({w.path(s)}) is {w.hold(p)}",
    "EXPRESSION": lambda w, s, p: p.text({name: w.path(src) for name, src in p.sources.items()}),
    "CALL": lambda w, s, p: f"{w.hold(p)}({w.path(s)})",
    "MEMBERS": lambda w, s, p: f"{w.path(s)} == {w.hold(p)}",
}
