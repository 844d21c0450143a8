"""Graphs with symbolic sizes: compiled once with sizes as arguments, and again only where an assumption fails.

A variant is what one compilation made of the graph, with the relations between sizes that it took for granted (see
`symbols`).  A call reads the symbols' values from its arguments and runs the first variant whose relations hold; where
none does, it compiles one for these values.  So whatever the frontend guards, no variant runs on sizes it is wrong
for.  What has no symbolic form is compiled for the numbers that arrive; a graph whose sizes depend on data runs
operator by operator.
"""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pydynamo.lowering import torch_private as private
from pydynamo.lowering.config import Options
from pydynamo.lowering.pipeline import Compiled, compile_graph, device_of
from pydynamo.lowering.spec import Convert, Unknown, free_symbols
from pydynamo.lowering.symbols import Scope, Size

log = logging.getLogger("pydynamo.lowering")
REMEMBERED = 4096  # sets of sizes whose variant is looked up, not searched


@dataclasses.dataclass
class Variant:
    """One compilation, and the test of the sizes that it serves."""

    done: Compiled
    serves: Callable[..., bool]


class Variants:
    """The callable of a graph with symbolic sizes."""

    def __init__(self, gm: torch.fx.GraphModule, options: Options, backward: bool, hints: dict[str, int]) -> None:
        self.gm, self.options, self.backward = gm, options, backward
        self.device = device_of(gm)
        self.names = sorted(hints)
        self.sources = sources(gm, self.names)
        self.read = self._reader()
        self.variants: list[Variant] = []
        self.known: dict[tuple[int, ...], Compiled] = {}
        first = self._compile(hints)
        self.known[tuple(hints[n] for n in self.names)] = first

    def _reader(self) -> Callable[[Sequence[Any]], tuple[int, ...]]:
        """A function from the arguments to the symbols' values."""
        params = [f"in_{n.name}" for n in self.gm.graph.nodes if n.op == "placeholder"]
        needed = "".join(f"{self.sources[n]}, " for n in self.names)
        for at, param in enumerate(params):
            needed = re.sub(rf"\b{param}\b", f"args[{at}]", needed)
        return _function("args", f"({needed})")

    def __call__(self, args: list[Any]) -> Any:
        values = self.read(args)
        done = self.known.get(values)
        if done is None:
            done = self._find(values)
        return done.call(args)

    def _find(self, values: tuple[int, ...]) -> Compiled:
        if len(self.known) >= REMEMBERED:
            self.known.clear()
        for v in self.variants:
            if v.serves(*values):
                done = v.done
                break
        else:
            done = self._compile(dict(zip(self.names, values, strict=True)))
        self.known[values] = done
        return done

    def _compile(self, hints: dict[str, int]) -> Compiled:
        scope = Scope(hints)
        try:
            done = self._lower(scope)
        except Unknown as e:
            log.info("compiled for these sizes alone: %s", e)
            scope = Scope({})
            for name, value in hints.items():
                scope.fix(name, value)
            done = self._lower(scope)
        test = " and ".join(scope.assumed) or "True"
        self.variants.append(Variant(done, _function(", ".join(self.names), test)))
        return done

    def _lower(self, scope: Scope) -> Compiled:
        live = {n: self.sources[n] for n in self.names if n not in scope.fixed}
        return compile_graph(self.gm, self.device, self.options, self.backward, Convert(scope), live)


def _function(params: str, body: str) -> Callable[..., Any]:
    made: Callable[..., Any] = eval(f"lambda {params}: {body}", {"__builtins__": {"max": max, "min": min}})
    return made


def sources(gm: torch.fx.GraphModule, names: Sequence[str]) -> dict[str, str]:
    """How each symbol is read from the inputs, as Python text; raises Unknown if one cannot be."""
    scope = Scope(dict.fromkeys(names, 2))
    convert = Convert(scope)
    found: dict[str, str] = {}
    exact: set[str] = set()
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            continue
        name, val = f"in_{node.name}", node.meta.get("val")
        seen: list[tuple[Any, str]] = []
        if isinstance(val, torch.SymInt):
            seen.append((val, name))
        elif isinstance(val, torch.Tensor) and val.layout is torch.strided:
            seen += [(n, f"{name}.size({d})") for d, n in enumerate(val.shape)]
            seen += [(n, f"{name}.stride({d})") for d, n in enumerate(val.stride())]
        for n, text in seen:
            if not isinstance(n, torch.SymInt):
                continue
            try:
                size = convert.size(n)
            except Unknown:
                continue
            solved = _solve(size, text)
            if solved is None or solved[0] in exact:
                continue
            if solved[1] == text:
                exact.add(solved[0])
            elif solved[0] in found:
                continue
            found[solved[0]] = solved[1]
    missing = [n for n in names if n not in found]
    if missing:
        raise Unknown(f"no input shows the size {missing[0]}")
    return found


def _solve(size: Any, text: str) -> tuple[str, str] | None:
    """(symbol, text of its value) from ``size == text`` where the size is ``k * symbol + c``."""
    if not isinstance(size, Size):
        return None
    terms = dict(size.terms)
    c = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((names, k),) = terms.items()
    if len(names) != 1 or not names[0].isidentifier():
        return None
    value = f"({text} - {c})" if c else text
    return names[0], value if k == 1 else f"({value} // {k})"


def has_symbols(gm: torch.fx.GraphModule) -> bool:
    """True if any value of the graph has a symbolic size or number."""
    return any(_symbolic(n.meta.get("val")) for n in gm.graph.nodes)


def _symbolic(v: Any) -> bool:
    if isinstance(v, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return True
    if isinstance(v, torch.Tensor):
        return any(isinstance(n, torch.SymInt) for n in (*v.shape, *v.stride(), v.storage_offset()))
    return isinstance(v, (tuple, list)) and any(_symbolic(x) for x in v)


def compiled(gm: torch.fx.GraphModule, options: Options, backward: bool) -> Callable[[list[Any]], Any]:
    """A callable for all sizes of a graph that has symbols."""
    hints: dict[str, int | None] = {}
    for node in gm.graph.nodes:
        hints |= free_symbols(node.meta.get("val"))
    try:
        unknown = [n for n, h in hints.items() if h is None]
        if unknown:
            raise Unknown(f"the size {unknown[0]} depends on data")
        return Variants(gm, options, backward, {n: h for n, h in hints.items() if h is not None})
    except Unknown as e:
        log.warning("a graph runs operator by operator: %s", e)
        run: Callable[[list[Any]], Any] = private.make_boxed_func(gm.forward)
        return run
