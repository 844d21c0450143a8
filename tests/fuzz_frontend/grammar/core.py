"""The machinery of the typed template grammar: holes, scopes, fresh names, blocks.

A template is program text with holes.  `<i>` asks for an expression of type `i`; `<i|k:i,x:t>` for one that may use
only the names listed; `$a` is a name that is fresh for this use of the template; a line `<block>` asks for statements
(`<block|v:t>` with further names in scope).  Types are short on purpose, because they appear everywhere:

    t tensor          i int        f float       b bool       s str        o anything
    li list of int    lt list of tensor          ls list of str            ti tuple of int
    di dict str→int   dt dict str→tensor         si set of int
    bad  a tensor whose operator may fail for its data
    x  a tensor argument or local by name        ai, af, as, ab, ali, adi  a name or a literal without quotes
    ci, cf, cs, key   literals
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

_HOLE = re.compile(r"<([a-z]+)(?:\|([^>\n]*))?>")
_FRESH = re.compile(r"\$([a-zA-Z]\w*)")
_BLOCK = re.compile(r"^( *)<block(?:\|([^>\n]*))?>$")

RISK = 0.12  # how often a template that is likely to raise is kept once it was drawn
_CLOSED = re.compile(r"[\w.]+|'[^']*'|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|[\w.]+\([^()]*\)")

EXPRESSIONS: dict[str, list[str]] = {}


def expressions(kind: str, text: str) -> None:
    """Adds expression templates, one a line, for a type."""
    EXPRESSIONS.setdefault(kind, []).extend(line.strip() for line in text.strip().splitlines() if line.strip())


@dataclass
class Idiom:
    """A statement template: module-level definitions, body, and the names that it leaves behind."""

    kind: str
    body: str
    defs: str = ""
    outs: dict[str, str] = field(default_factory=dict)
    weight: float = 1.0


IDIOMS: list[Idiom] = []


def idiom(kind: str, body: str, *, defs: str = "", outs: str = "", weight: float = 1.0) -> None:
    """Registers a statement template.  `outs` reads "a:t b:li": names of the template and their types."""
    pairs = dict(part.split(":") for part in outs.split())
    IDIOMS.append(Idiom(kind, body.strip("\n"), defs.strip("\n"), pairs, weight))


@dataclass
class Scope:
    """Names that can be read, by type, and what the place allows."""

    names: dict[str, str]
    readonly: set[str] = field(default_factory=set)
    in_loop: bool = False
    depth: int = 0

    def child(self, **changes: bool) -> Scope:
        """A scope for a nested block: what it binds is not seen outside."""
        inner = Scope(dict(self.names), set(self.readonly), self.in_loop, self.depth + 1)
        for key, value in changes.items():
            setattr(inner, key, value)
        return inner

    def of(self, kind: str) -> list[str]:
        """Names of a type."""
        return [name for name, k in self.names.items() if k == kind]


_LITERALS: dict[str, Callable[[random.Random], str]] = {
    "ci": lambda r: str(r.choice([0, 1, 1, 2, 2, 3, 4, 5, 7, -1, -2, 10])),
    "cf": lambda r: r.choice(["0.5", "1.5", "2.0", "-0.25", "3.0", "0.1", "1e-3", "-2.0"]),
    "cs": lambda r: r.choice(["'a'", "'ab'", "'abc'", "''", "'x y'", "'Zz'", "'b'", "'7'"]),
    "key": lambda r: r.choice(["'a'", "'b'", "'c'", "'k'"]),
}


class Generator:
    """State of one program in the making."""

    def __init__(self, rng: random.Random, *, pool: list[Idiom] | None = None) -> None:
        self.rng = rng
        self.pool = pool if pool is not None else IDIOMS
        self.defs: list[str] = []
        self.kinds: list[str] = []
        self._fresh = 0
        self._depth = 0
        self.budget = 12  # statements that blocks may still ask for

    def fresh(self, stem: str) -> str:
        """A name not used before in this program."""
        self._fresh += 1
        return f"{stem}{self._fresh}"

    # Expressions -----------------------------------------------------------------------------------------------

    def expr(self, scope: Scope, kind: str) -> str:
        """An expression of a type, from names and templates."""
        rng = self.rng
        if kind in _LITERALS:
            return _LITERALS[kind](rng)
        if kind == "x":
            return rng.choice(scope.of("t") or ["torch.ones(3)"])
        if kind.startswith("a") and kind[1:] in ("i", "f", "s", "b", "li", "di", "o"):
            return self._atom(scope, kind[1:])
        names = scope.of(kind)
        if kind == "o":
            if rng.random() < 0.35 and scope.names:
                return rng.choice(list(scope.names))
            kind = rng.choice(["i", "f", "s", "b", "li", "ti", "di", "si", "t", "lt", "none", "ls", "dt"])
            if kind == "none":
                return "None"
            names = scope.of(kind)
        if names and rng.random() < (0.45 if self._depth < 2 else 0.7):
            return rng.choice(names)
        if self._depth >= 3:
            return names and rng.choice(names) or self._simple(kind)
        template = rng.choice(EXPRESSIONS[kind])
        while template.startswith("! ") and rng.random() > RISK:
            template = rng.choice(EXPRESSIONS[kind])
        template = template.removeprefix("! ")
        self._depth += 1
        try:
            return self.fill(template, scope)
        finally:
            self._depth -= 1

    def _atom(self, scope: Scope, kind: str) -> str:
        names = scope.of(kind)
        if kind == "o":
            names = list(scope.names)
        if names and self.rng.random() < 0.8:
            return self.rng.choice(names)
        return self._simple(kind) if kind in ("i", "f", "b") else "0"

    def _simple(self, kind: str) -> str:
        rng = self.rng
        table = {
            "t": lambda: rng.choice(["torch.ones(1)", "torch.arange(1.0)", "torch.tensor(2.0)"]),
            "bad": lambda: f"torch.tensor([1]) // {_LITERALS['ci'](rng)}",
            "i": lambda: _LITERALS["ci"](rng),
            "f": lambda: _LITERALS["cf"](rng),
            "b": lambda: rng.choice(["True", "False"]),
            "s": lambda: _LITERALS["cs"](rng),
            "li": lambda: rng.choice(["[1, 2]", "[3]", "[]", "[2, 2, 5]"]),
            "lt": lambda: "[torch.ones(1)]",
            "ls": lambda: rng.choice(["['a', 'b']", "['q']"]),
            "ti": lambda: rng.choice(["(1, 2)", "()", "(4,)"]),
            "di": lambda: rng.choice(["{'a': 1}", "{'b': 2, 'a': 3}", "{}"]),
            "dt": lambda: "{'a': torch.ones(1)}",
            "si": lambda: rng.choice(["{1, 2}", "{3}", "set()"]),
            "o": lambda: rng.choice(["None", "1", "'a'", "(1, 2)", "[]"]),
        }
        return table[kind]()

    def fill(self, template: str, scope: Scope) -> str:
        """A template with its holes filled (no blocks, no fresh names)."""

        def replace(match: re.Match[str]) -> str:
            inner = scope
            if match.group(2) is not None:
                inner = Scope(_pairs(match.group(2)))
            text = self.expr(inner, match.group(1))
            before, after = template[: match.start()][-1:], template[match.end() :][:1]
            if _CLOSED.fullmatch(text) or (before in "([{,=" and after in ")]},") or (not before and not after):
                return text
            if (before in "([{" or template[: match.start()].endswith((", ", "= "))) and after in ")]},":
                return text
            return f"({text})"

        return _HOLE.sub(replace, template)

    # Statements ------------------------------------------------------------------------------------------------

    def instantiate(self, template: str, scope: Scope, names: dict[str, str]) -> list[str]:
        """The lines of a statement template.  `names` keeps the fresh names from one part to the next."""

        def name(match: re.Match[str]) -> str:
            stem = match.group(1)
            if stem not in names:
                names[stem] = self.fresh(stem)
            return names[stem]

        lines: list[str] = []
        for raw in _FRESH.sub(name, template).splitlines():
            block = _BLOCK.match(raw)
            if block is None:
                lines.append(self.fill(raw, scope))
                continue
            inner = scope.child()
            if block.group(2):
                inner.names.update(_pairs(block.group(2)))
            lines += [block.group(1) + line for line in self.block(inner)]
        return lines

    def use(self, item: Idiom, scope: Scope) -> list[str]:
        """Puts an idiom into the program: definitions to the module, body here."""
        names: dict[str, str] = {}
        self.kinds.append(item.kind)
        if item.defs:
            self.defs.append("\n".join(self.instantiate(item.defs, Scope({}), names)))
        lines = self.instantiate(item.body, scope, names)
        for stem, kind in item.outs.items():
            scope.names[names.get(stem, stem)] = kind
        return lines

    def block(self, scope: Scope) -> list[str]:
        """One to three statements."""
        lines: list[str] = []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            lines += self.statement(scope)
        return lines

    def statement(self, scope: Scope) -> list[str]:
        """One statement, perhaps a compound one."""
        from tests.fuzz_frontend.grammar import statements

        self.budget -= 1
        if self.budget < 0 or scope.depth > 3:
            return statements.simple(self, scope)
        roll = self.rng.random()
        if roll < 0.35:
            return statements.simple(self, scope)
        if roll < 0.62:
            return statements.compound(self, scope)
        return self.use(self.pick(), scope)

    def pick(self) -> Idiom:
        """An idiom, by weight."""
        return self.rng.choices(self.pool, [item.weight for item in self.pool])[0]


def _pairs(text: str) -> dict[str, str]:
    return dict(part.strip().split(":") for part in text.split(",") if part.strip())


def indent(lines: list[str], by: int = 4) -> list[str]:
    """Lines moved to the right."""
    return [" " * by + line if line else line for line in lines]
