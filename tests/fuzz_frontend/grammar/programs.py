"""Whole programs: the style of the callable under test, its parameters, and the sequence of calls."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

from tests.fuzz_frontend.grammar import (  # noqa: F401 - they register their templates
    aliasing,
    blocks,
    breaks,
    carried,
    classes,
    containers,
    failures,
    flow,
    functions,
    generators,
    tensors,
    values,
)
from tests.fuzz_frontend.grammar.core import IDIOMS, Generator, Scope, indent

PREAMBLE = """\
import bisect, collections, collections.abc, contextlib, copy, dataclasses, decimal, enum, fractions, functools, gc, heapq, io
import itertools, json, math, operator, random, re, struct, time, types, typing, zlib
import torch
import torch.nn.functional as F
"""

_TENSORS = {
    1: ["torch.zeros(1)", "torch.ones(1)", "torch.tensor([-2.0])"],
    2: ["torch.ones(2)", "torch.tensor([2.0, float('nan')])", "torch.tensor([-1.0, 4.0])"],
    3: [
        "torch.arange(3.0)",
        "torch.full((3,), 2.0)",
        "torch.tensor([0.5, -1.0, 3.0])",
        "torch.linspace(-1, 1, 3)",
    ],
    4: ["torch.arange(4.0) - 1.5", "torch.ones(4)"],
    5: ["torch.linspace(-1, 1, 5)", "torch.zeros(5)"],
}
_VALUES: dict[str, list[str]] = {
    "i": ["0", "1", "2", "3", "4", "5", "7", "-1", "-3", "10", "100"],
    "f": ["0.5", "1.5", "2.0", "-0.5", "0.0", "3.25", "float('nan')", "-0.0", "1e9"],
    "b": ["True", "False"],
    "s": ["'a'", "'ab'", "'abc'", "''", "'Hello'", "'a b'", "'7'"],
    "li": ["[1, 2, 3]", "[]", "[5]", "[2, 1]", "[0, -1, 4, 4]"],
    "ls": ["['a', 'b']", "[]", "['zz', 'a', 'q']"],
    "ti": ["(1, 2)", "(3,)", "()", "(0, 1, 2)"],
    "di": ["{'a': 1}", "{'b': 2, 'a': 5}", "{}", "{'k': 0, 'c': 3}"],
    "si": ["{1, 2}", "set()", "{0, 3, 5}"],
    "lt": ["[torch.ones(1)]", "[torch.arange(3.0), torch.ones(1)]", "[]", "[torch.tensor(2.0)] * 2"],
    "dt": ["{'a': torch.ones(1)}", "{'b': torch.arange(2.0), 'a': torch.zeros(1)}", "{}"],
    "o": ["None", "1", "'s'", "2.5", "[1]", "(1, 'a')", "{'a': 1}", "torch.ones(1)", "True", "{1}", "lambda v: v", "range(3)", "int"],
}  # fmt: skip
_NAMES = {"t": "xyz", "i": "nkm", "f": "vs", "b": ["flag", "on"], "s": ["name", "text"], "li": ["items", "xs"], "ls": ["words", "keys"],
          "ti": ["pair", "dims"], "di": ["opts", "table"], "si": ["chosen", "ids"], "lt": ["parts", "ts"], "dt": ["named", "state"],
          "o": ["thing", "other"]}  # fmt: skip


def generate(seed: int) -> str:
    """The source of the program with this number."""
    for attempt in range(40):
        rng = random.Random(seed * 1_000_003 + attempt)
        source = _program(rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(source, "<candidate>", "exec")
        except (SyntaxError, ValueError):
            continue
        return source
    raise AssertionError(f"seed {seed} gives no valid program")


def _program(rng: random.Random) -> str:
    # Swarm testing: most programs draw from a few idioms only, so that these meet each other.
    pool = IDIOMS if rng.random() < 0.3 else rng.sample(IDIOMS, rng.choice([3, 6, 12]))
    g = Generator(rng, pool=pool)
    style = rng.choices(
        [_plain, _tiny, _expressions, _module, _method, _closure, _helpers, _wrapped, _mangled, _globals],
        [20, 22, 14, 9, 6, 8, 9, 6, 8, 5],
    )[0]
    return style(g)


# Parameters and calls ----------------------------------------------------------------------------------------------


class _Signature:
    """Parameters of the callable and the sequence of calls."""

    def __init__(self, g: Generator, *, minimum: int = 1) -> None:
        rng = g.rng
        self.g = g
        kinds = ["t"] + rng.choices(
            ["i", "f", "b", "s", "li", "ti", "di", "si", "lt", "dt", "ls", "o", "t"],
            [9, 4, 2, 3, 4, 2, 3, 1, 2, 2, 1, 2, 4],
            k=max(minimum, rng.choice([0, 1, 1, 2, 2, 3])),
        )
        self.parameters: list[tuple[str, str]] = []
        taken: set[str] = set()
        for kind in kinds:
            free = [n for n in _NAMES[kind] if n not in taken]
            name = rng.choice(free) if free and kind != "t" else (free[0] if free else g.fresh("arg"))
            taken.add(name)
            self.parameters.append((name, kind))
        self.scope = Scope(dict(self.parameters))

    def text(self, *, first: str = "") -> str:
        """The parameter list, now and then with a default."""
        parts = [first] if first else []
        defaulted = False
        for name, kind in self.parameters:
            if kind in ("i", "f", "s", "b") and self.g.rng.random() < 0.12:
                defaulted = True
            parts.append(
                f"{name}={self.g.rng.choice(_VALUES[kind])}"
                if defaulted and kind != "t"
                else name + ("=None" if defaulted else "")
            )
        return ", ".join(parts)

    def calls(self) -> str:
        """Source of `calls()`: two to four calls whose arguments stay, vary or change type."""
        rng = self.g.rng
        count = rng.choice([1, 2, 2, 3, 3, 4])
        size = rng.choice(list(_TENSORS))
        self.sizes = [size] * count if rng.random() < 0.55 else [rng.choice(list(_TENSORS)) for _ in range(count)]
        shared: list[str] = []
        columns: list[list[str]] = []
        for _name, kind in self.parameters:
            columns.append(self._column(kind, count, shared))
        rows = []
        for k in range(count):
            given = [column[k] for column in columns]
            keyword = ""
            if rng.random() < 0.15 and len(given) > 1:
                keyword = f"{self.parameters[-1][0]!r}: {given.pop()}"
            rows.append(f"        (({', '.join(given)},), {{{keyword}}}),")
        return "\n".join(["def calls():", *indent(shared), "    return [", *rows, "    ]"])

    def _column(self, kind: str, count: int, shared: list[str]) -> list[str]:
        rng = self.g.rng
        if kind == "t":
            return self._tensors(count, shared)
        mode = rng.choices(["same", "vary", "retype", "shared"], [3, 5, 0.5, 1.5 if kind not in "ifbs" else 0])[0]
        if mode == "vary":
            return [rng.choice(_VALUES[kind]) for _ in range(count)]
        if mode == "retype":
            other = rng.choice(["i", "f", "s", "o", kind])
            return [rng.choice(_VALUES[kind if k == 0 else other]) for k in range(count)]
        value = rng.choice(_VALUES[kind])
        if mode == "shared":
            name = self.g.fresh("shared")
            shared.append(f"{name} = {value}")
            return [name] * count
        return [value] * count

    def _tensors(self, count: int, shared: list[str]) -> list[str]:
        rng = self.g.rng
        mode = rng.choices(["plain", "shared", "grad", "two", "dtype", "any"], [10, 2, 0.8, 0.6, 0.3, 0.4])[0]
        made = [rng.choice(_TENSORS[size]) for size in self.sizes]
        if mode == "any":
            return [rng.choice(_TENSORS[rng.choice(list(_TENSORS))]) for _ in range(count)]
        if mode == "shared":
            if shared and rng.random() < 0.5 and " = torch" in shared[0]:
                return [shared[0].split(" ")[0] + rng.choice(["", "", "[:2]", ".view(-1)"])] * count
            name = self.g.fresh("shared")
            shared.append(f"{name} = {made[0]}")
            return [name] * count
        if mode == "grad":
            return [f"{value}.requires_grad_()" for value in made]
        if mode == "two":
            return [
                rng.choice(
                    [
                        "torch.ones(2, 2)",
                        "torch.arange(6.0).reshape(2, 3)",
                        "torch.arange(6.0).reshape(3, 2).t()",
                    ]
                )
            ] * count
        if mode == "dtype":
            return [
                rng.choice(["torch.arange(3)", "torch.ones(2, dtype=torch.float64)", "torch.tensor([True, False])"])
            ] * count
        return [made[0]] * count if self.sizes == [self.sizes[0]] * count and rng.random() < 0.6 else made


def _returned(g: Generator, s: Scope) -> str:
    """A return statement that shows much of what the program made."""
    rng = g.rng
    names = [n for n in s.names if n not in s.readonly]
    shown = rng.sample(names, min(len(names), rng.choice([1, 2, 3, 4, 6])))
    form = rng.random()
    if form < 0.5:
        return f"return {g.expr(s, 't')}, " + ", ".join(shown)
    if form < 0.65:
        return "return [" + ", ".join([*shown, g.expr(s, "t")]) + "]"
    if form < 0.8:
        return "return {" + ", ".join(f"{n!r}: {n}" for n in shown) + "}"
    if form < 0.9:
        return f"return {g.expr(s, 't')}"
    return f"return ({', '.join(shown)},), [{g.expr(s, 'o')}, {{'k': {g.expr(s, 't')}}}]"


def _assemble(g: Generator, parts: list[str], calls: str) -> str:
    return "\n\n".join([PREAMBLE.rstrip(), *g.defs, *parts, calls]) + "\n"


def _body(g: Generator, s: Scope, size: int) -> list[str]:
    lines: list[str] = []
    for _ in range(size):
        lines += g.statement(s)
    return [*lines, _returned(g, s)]


# Styles --------------------------------------------------------------------------------------------------------------


def _plain(g: Generator) -> str:
    sig = _Signature(g)
    body = _body(g, sig.scope, g.rng.choice([2, 3, 4, 5, 6]))
    f = "\n".join([f"def f({sig.text()}):", *indent(body)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())


def _tiny(g: Generator) -> str:
    sig = _Signature(g)
    lines: list[str] = []
    for _ in range(g.rng.choice([1, 1, 2])):
        lines += g.use(g.pick(), sig.scope)
    outs = [n for n in sig.scope.names if n not in dict(sig.parameters)]
    lines.append(f"return {sig.parameters[0][0]} + 1" + "".join(f", {n}" for n in outs))
    f = "\n".join([f"def f({sig.text()}):", *indent(lines)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())


def _expressions(g: Generator) -> str:
    """A tensor operation beside expressions of plain Python, some of which may fail."""
    rng = g.rng
    sig = _Signature(g)
    kinds = ["i", "f", "b", "s", "li", "ti", "ls", "di", "si", "o", "t", "lt", "dt"]
    lines: list[str] = []
    shown: list[str] = []
    for _ in range(rng.choice([1, 2, 3])):
        kind = rng.choice(kinds)
        value = g.expr(sig.scope, kind)
        if rng.random() < 0.4:
            name = g.fresh("r")
            lines += ["try:", f"    {name} = {value}", f"except {rng.choice(['Exception', 'Exception', 'TypeError', '(ValueError, KeyError, IndexError)'])} as e:",
                      f"    {name} = {rng.choice(['type(e).__name__', 'e.args', 'None', 'str(e)'])}"]  # fmt: skip
            shown.append(name)
        elif rng.random() < 0.5:
            name = g.fresh("r")
            lines.append(f"{name} = {value}")
            sig.scope.names[name] = kind
            shown.append(name)
        else:
            shown.append(value)
    tensor = rng.choice([f"{sig.parameters[0][0]} + 1", g.expr(sig.scope, "t")])
    lines.append(f"return {tensor}, {', '.join(f'({v})' for v in shown)}")
    f = "\n".join([f"def f({sig.text()}):", *indent(lines)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())


def _module(g: Generator) -> str:
    rng = g.rng
    sig = _Signature(g)
    s = sig.scope
    state = {"self.count": "i", "self.log": "li", "self.scale": "f", "self.cache": "dt"}
    for name in rng.sample(list(state), 3):
        s.names[name] = state[name]
        if name in ("self.log", "self.cache"):
            s.readonly.add(name)
    s.names["self.total"] = "t"
    s.names["self.w"] = "t"
    s.readonly |= {"self.w", "self.total"}
    lines: list[str] = []
    for _ in range(rng.choice([2, 3, 4])):
        lines += rng.choice([
            lambda: g.statement(s), lambda: [f"self.count += {g.expr(s, 'i')}"], lambda: [f"self.total += {g.expr(s, 'f')}"],
            lambda: [f"self.log.append({g.expr(s, 'i')})"], lambda: [f"self.cache[{g.expr(s, 'key')}] = {g.expr(s, 't')}"],
            lambda: [f"self.extra = {g.expr(s, 'o')}"], lambda: [f"self.register_buffer('late', {g.expr(s, 't')})"],
            lambda: [f"self.training = {g.expr(s, 'b')}"], lambda: g.statement(s),
        ])()  # fmt: skip
    shown = [n for n in s.names if not n.startswith("self")]
    lines.append(
        f"return self.lin({g.expr(s, 't')} * torch.ones(2)), " + ", ".join(rng.sample(shown, min(3, len(shown))))
    )
    lines = [line for line in lines if not line.startswith("del self")]
    text = "\n".join([
        "class Net(torch.nn.Module):", "    def __init__(self):", "        super().__init__()", "        self.count, self.log, self.scale, self.cache = 0, [], 1.5, {}",
        "        self.register_buffer('total', torch.zeros(1))", "        self.w = torch.nn.Parameter(torch.full((1,), 2.0))",
        "        self.lin = torch.nn.Linear(2, 2)", "        torch.nn.init.constant_(self.lin.weight, 0.5); torch.nn.init.zeros_(self.lin.bias)",
        f"    def forward(self, {sig.text()}):", *indent(lines, 8),
    ])  # fmt: skip
    make = rng.choice(["def make():\n    return Net()", "net = Net()\ndef make():\n    return net", "net = Net()\ndef make():\n    return net.forward",
                       "net = Net()\ndef f(*args, **kw):\n    return net(*args, **kw)\ndef make():\n    return f"])  # fmt: skip
    return _assemble(g, [text, make], sig.calls())


def _method(g: Generator) -> str:
    rng = g.rng
    sig = _Signature(g)
    s = sig.scope
    s.names.update({"self.n": "i", "self.items": "li", "C.total": "i", "self.w": "t"})
    s.readonly |= {"self.items", "self.w"}
    body = _body(g, s, rng.choice([2, 3, 4]))
    text = "\n".join(["class C:", "    total = 0", "    def __init__(self):", "        self.n, self.items, self.w = 1, [1], torch.ones(1)",
                      f"    def run({sig.text(first='self')}):", *indent(body, 8)])  # fmt: skip
    make = rng.choice(["def make():\n    return C().run", "obj = C()\ndef make():\n    return obj.run",
                       "obj = C()\ndef make():\n    return lambda *a, **k: obj.run(*a, **k)",
                       "C.__call__ = C.run\nobj = C()\ndef make():\n    def f(*a, **k):\n        return obj(*a, **k)\n    return f"])  # fmt: skip
    return _assemble(g, [text, make], sig.calls())


def _closure(g: Generator) -> str:
    rng = g.rng
    sig = _Signature(g)
    s = sig.scope
    s.names.update({"held": "i", "kept": "li", "w": "t", "memo": "di"})
    written = rng.sample(["held", "w", "kept"], rng.choice([1, 2]))
    s.readonly |= {"held", "kept", "w", "memo"} - set(written)
    body = _body(g, s, rng.choice([2, 3, 4]))
    lines = ["def make():", "    held, kept, w, memo = 1, [2], torch.ones(1), {'a': 1}", f"    def f({sig.text()}):",
             f"        nonlocal {', '.join(written)}", *indent(body, 8), "    return f"]  # fmt: skip
    return _assemble(g, ["\n".join(lines)], sig.calls())


def _helpers(g: Generator) -> str:
    """Several functions that call each other, each with statements of its own."""
    rng = g.rng
    names = []
    for k in range(rng.choice([1, 2, 3])):
        inner = Scope({"a": "t", "c": "i", "zs": "li"})
        g.budget = 4
        lines: list[str] = []
        for _ in range(rng.choice([1, 2])):
            lines += g.statement(inner)
        if names and rng.random() < 0.7:
            lines.append(f"a = {rng.choice(names)}(a, c, zs)")
        out = rng.choice(["a", g.expr(inner, "t"), g.expr(inner, "t")])
        head = (
            f"def helper{k}(a, c{rng.choice(['', '=2'])}, zs=())" if rng.random() < 0.3 else f"def helper{k}(a, c, zs)"
        )
        g.defs.append("\n".join([head + ":", *indent([*lines, f"return {out}"])]))
        names.append(f"helper{k}")
    sig = _Signature(g)
    s = sig.scope
    g.budget = 5
    body: list[str] = g.statement(s)
    for name in names:
        r = g.fresh("h")
        call = f"{r} = {name}({g.expr(s, 't')}, {g.expr(s, 'i')}, {g.expr(s, 'li')})"
        body += (
            [call]
            if rng.random() < 0.7
            else ["try:", f"    {call}", "except Exception as e:", f"    {r} = torch.ones(1) * len(e.args)"]
        )
        s.names[r] = "t"
    body += g.statement(s)
    body.append(_returned(g, s))
    f = "\n".join([f"def f({sig.text()}):", *indent(body)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())


def _wrapped(g: Generator) -> str:
    """The callable is a lambda, a partial, a decorated function, a staticmethod, a callable object or a nested function."""
    rng = g.rng
    sig = _Signature(g)
    makes: list[Callable[[], str]] = [
        lambda: "def make():\n    return functools.partial(f)",
        lambda: "def make():\n    return lambda *a, **k: f(*a, **k)",
        lambda: (
            "def outer(*a, **k):\n    first = f(*a, **k)\n    return first, f(*a, **k)\ndef make():\n    return outer"
        ),
        lambda: (
            "def outer(*a, **k):\n    try:\n        return f(*a, **k)\n    except Exception as e:\n        return e\ndef make():\n    return outer"
        ),
        lambda: "class Box:\n    run = staticmethod(f)\ndef make():\n    return Box.run",
        lambda: (
            "def deco(fn):\n    @functools.wraps(fn)\n    def run(*a, **k):\n        return [fn(*a, **k)]\n    return run\nf = deco(f)\ndef make():\n    return f"
        ),
        lambda: (
            "def outer(*a, **k):\n    with torch.no_grad():\n        return f(*a, **k)\ndef make():\n    return outer"
        ),
        lambda: "def outer(*a, **k):\n    return [f(*a, **k) for _ in range(2)]\ndef make():\n    return outer",
    ]
    body = _body(g, sig.scope, rng.choice([1, 2, 3]))
    f = "\n".join([f"def f({sig.text()}):", *indent(body)])
    return _assemble(g, [f, rng.choice(makes)()], sig.calls())


def _mangled(g: Generator) -> str:
    """A plain program whose runs of statements were wrapped, doubled or reordered."""
    rng = g.rng
    sig = _Signature(g)
    groups = [g.statement(sig.scope) for _ in range(rng.choice([3, 4, 5]))]
    for _ in range(rng.choice([1, 2, 3])):
        i = rng.randrange(len(groups))
        j = min(len(groups), i + rng.choice([1, 2]))
        run = [line for group in groups[i:j] for line in group]
        if not run:
            continue
        move = rng.randrange(8)
        if move == 0:
            groups[i:j] = [[f"for _ in range({rng.choice([1, 2, 3])}):", *indent(run)]]
        elif move == 1:
            groups[i:j] = [["with torch.no_grad():", *indent(run)]]
        elif move == 2:
            groups[i:j] = [["try:", *indent(run), "finally:", "    print('f', end='')"]]
        elif move == 3:
            groups[i:j] = [run, run]
        elif move == 4:
            rng.shuffle(groups)
        elif move == 5:
            groups[i:j] = [["while True:", *indent(run), "    break"]]
        elif move == 6:
            groups[i:j] = [["try:", *indent(run), "except Exception as e:", "    print(type(e).__name__)"]]
        else:
            groups[i:j] = [[f"if {g.expr(Scope(dict(sig.parameters)), 'b')}:", *indent(run)]]
    body = [*(line for group in groups for line in group), _returned(g, sig.scope)]
    f = "\n".join([f"def f({sig.text()}):", *indent(body)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())


def _globals(g: Generator) -> str:
    """A function that reads and rebinds module globals."""
    rng = g.rng
    sig = _Signature(g)
    s = sig.scope
    s.names.update({"G_N": "i", "G_X": "t", "G_ITEMS": "li", "G_TABLE": "di"})
    written = rng.sample(["G_N", "G_X", "G_ITEMS", "G_TABLE"], 2)
    s.readonly |= {"G_N", "G_X", "G_ITEMS", "G_TABLE"} - set(written)
    body = _body(g, s, rng.choice([2, 3, 4]))
    g.defs.insert(0, "G_N, G_X, G_ITEMS, G_TABLE = 1, torch.ones(1), [1, 2], {'a': 1}")
    f = "\n".join([f"def f({sig.text()}):", f"    global {', '.join(written)}", *indent(body)])
    return _assemble(g, [f, "def make():\n    return f"], sig.calls())
