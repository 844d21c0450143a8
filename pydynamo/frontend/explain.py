"""``explain``: compile a function for one call and say what came of it. Knows the events, not how they come about."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydynamo import bytecode
from pydynamo.errors import Unsupported
from pydynamo.frontend import events

if TYPE_CHECKING:
    import torch.fx


@dataclass
class Frame:
    """One translated frame: the code before and after, the guards, and the seconds that the translation took."""

    old: types.CodeType
    new: types.CodeType
    guards: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The qualified name of the code object."""
        return self.old.co_qualname


@dataclass
class Explanation:
    """What one call of a compiled function captured, in the order in which it happened.

    ``graphs`` are the FX graph modules as the backend saw them, ``breaks`` the graph breaks, ``frames`` the code
    objects that were rewritten with their guards and compile times (seconds), ``result`` what the call returned.
    ``repr`` is a summary; ``detail()`` adds graphs, guards and bytecode.
    """

    name: str
    result: Any = None
    graphs: list[torch.fx.GraphModule] = field(default_factory=list)
    breaks: list[Unsupported] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    recompiles: list[str] = field(default_factory=list)

    @property
    def op_count(self) -> int:
        """Operators in all graphs together."""
        return sum(len(self._ops(graph)) for graph in self.graphs)

    @property
    def guards(self) -> list[str]:
        """The guards of all frames."""
        return [guard for frame in self.frames for guard in frame.guards]

    @property
    def compile_seconds(self) -> float:
        """Seconds spent translating and in the backend, all frames together."""
        return sum(frame.seconds for frame in self.frames)

    @staticmethod
    def _ops(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
        return [node for node in graph.graph.nodes if node.op.startswith("call_")]

    def __repr__(self) -> str:
        lines = [
            f"{self.name}: {_count(len(self.graphs), 'graph')}, {_count(self.op_count, 'operator')}, "
            f"{_count(len(self.breaks), 'graph break')}, {_count(len(self.guards), 'guard')}, "
            f"{self.compile_seconds * 1e3:.1f} ms"
        ]
        for number, graph in enumerate(self.graphs):
            names = ", ".join(_target(node) for node in self._ops(graph))
            lines.append(f"  graph {number}: {names or 'no operator'}")
        for number, reason in enumerate(self.breaks):
            text = str(reason).replace("\n", "\n    ")
            lines.append(f"  break {number}: {text}")
        lines += [f"  recompiled: {reason}" for reason in self.recompiles]
        return "\n".join(lines)

    def detail(self) -> str:
        """The summary, then every graph, and every frame with its guards and its bytecode before and after."""
        parts = [repr(self)]
        parts += [f"\ngraph {number}\n{graph.graph}" for number, graph in enumerate(self.graphs)]
        for frame in self.frames:
            parts.append(f"\nframe {frame.name} ({frame.seconds * 1e3:.1f} ms)")
            parts += [f"  guard {guard}" for guard in frame.guards]
            parts.append(before_and_after(frame.old, frame.new))
        return "\n".join(parts)


def before_and_after(old: types.CodeType, new: types.CodeType) -> str:
    """The bytecode of a frame as the user wrote it and as it runs now."""
    return (
        f"ORIGINAL BYTECODE {old.co_qualname}\n{bytecode.format(bytecode.cleaned_instructions(old))}\n"
        f"MODIFIED BYTECODE {new.co_qualname}\n{bytecode.format(bytecode.cleaned_instructions(new))}"
    )


def explain(fn: Any, compiled: Callable[..., Any]) -> Callable[..., Explanation]:
    """A function that calls ``compiled``, which is ``fn`` compiled afresh, once and says what was captured.

    Whatever the call raises is raised.

    >>> pydynamo.explain(lambda x: x * 2 + 1)(torch.ones(3))
    <lambda>: 1 graph, 2 operators, 0 graph breaks, ...
    """
    name = getattr(fn, "__qualname__", type(fn).__qualname__)

    def run(*args: Any, **kwargs: Any) -> Explanation:
        found = Explanation(name)
        started: list[float] = []

        def listen(kind: str, facts: dict[str, Any]) -> None:
            if kind == "start":
                started.append(time.perf_counter())
            elif kind == "graph":
                found.graphs.append(facts["module"])
            elif kind == "graph_breaks":
                found.breaks.append(facts["reason"])
            elif kind == "bytecode":
                seconds = time.perf_counter() - started.pop() if started else 0.0
                found.frames.append(Frame(facts["old"], facts["new"], seconds=seconds))
            elif kind == "guards":
                found.frames[-1].guards = list(facts["guards"])
            elif kind == "recompiles":
                found.recompiles += facts["reasons"]

        with events.listening(listen):
            found.result = compiled(*args, **kwargs)
        return found

    return run


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _target(node: torch.fx.Node) -> str:
    if isinstance(node.target, str):
        return node.target
    return getattr(node.target, "__name__", str(node.target))
