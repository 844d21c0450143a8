"""The state of lowering one graph, the registry of handlers, and what all handlers build on.

A handler takes (lowering, node, *args, **kwargs) with graph values already looked up, and returns a Buffer, a
Lazy, a tuple of them, or NotImplemented: then the operator becomes one extern call, and the reason is
recorded.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from pydynamo.lowering.aliases import shared_bases
from pydynamo.lowering.config import Options
from pydynamo.lowering.index import ZERO, Index, contiguous_strides
from pydynamo.lowering.ir import Buffer, Extern, IndexFn, Lazy, Loop, Op, Opaque, OpaqueOut, Tensorish
from pydynamo.lowering.lower.sharing import worth_memory
from pydynamo.lowering.lower.strides import injective, keep_strides, memory_order, prod
from pydynamo.lowering.numerics import TL
from pydynamo.lowering.refusals import refused
from pydynamo.lowering.spec import Convert, Spec, is_dense
from pydynamo.lowering.symbols import Int, Size, alike, hint, same

aten = torch.ops.aten
prims = torch.ops.prims
Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {}
NATIVE: Counter[str] = Counter()  # operators lowered to loops, in this process
BROADCAST_MIN = 1 << 14  # elements of a result from which on it is worth a kernel to compute a broadcast value once
FALLBACK: Counter[str] = Counter()  # "operator: reason" -> extern calls, in this process


def handles(*targets: Any) -> Callable[[Handler], Handler]:
    """Register a handler for operator packets (every overload) or for single overloads."""

    def deco(fn: Handler) -> Handler:
        for t in targets:
            HANDLERS[t] = fn
        return fn

    return deco


def handler_of(target: Any) -> Handler | None:
    fn = HANDLERS.get(target)
    if fn is None and isinstance(target, torch._ops.OpOverload):
        fn = HANDLERS.get(target.overloadpacket)
    return fn


def broadcast(idx: Sequence[Index], shape: Sequence[Int], to: Sequence[Int]) -> list[Index]:
    """Index into a tensor of shape `to` that is broadcast to `shape`."""
    off = len(shape) - len(to)
    return [ZERO if to[j] == 1 else idx[off + j] for j in range(len(to))]


def broadcast_shapes(*shapes: Sequence[Int]) -> tuple[Int, ...]:
    """The shape that tensors of `shapes` have together."""
    out: list[Int] = [1] * max(map(len, shapes))
    for shape in shapes:
        off = len(out) - len(shape)
        for j, n in enumerate(shape):
            if n != 1:
                out[off + j] = n
    return tuple(out)


class Unsupported(Exception):
    """A handler's way to ask for the extern call, with a reason."""


class Lowering:
    """One graph being lowered: `ops` in program order, `env` of node values."""

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        device: torch.device,
        options: Options,
        convert: Convert | None = None,
        banned: Collection[str] = (),
    ) -> None:
        self.gm, self.device, self.options = gm, device, options
        self.banned = banned  # nodes whose kernels do not compile or load here
        self.convert = convert or Convert(None)
        self.scope = self.convert.scope
        self.env: dict[torch.fx.Node, Any] = {}
        self.ops: list[Op] = []
        self.roots: dict[str, Buffer] = {}  # storage -> its whole
        self.inputs: list[str] = []
        self.constants: dict[str, Any] = {}
        self.results: list[Any] = []
        self.node: torch.fx.Node | None = None
        self.counts: Counter[str] = Counter()
        self._copies: list[tuple[Buffer, Any, torch.fx.Node]] = []
        self._rows: dict[str, list[Buffer]] = {}
        self._spread: dict[Lazy, Buffer] = {}  # small values that got memory before they were broadcast
        self._seen_by_caller: set[torch.fx.Node] = set()  # bases of results that are views of them

    # ------------------------------------------------------------------ driving
    def run(self) -> Lowering:
        """Lower every node; afterwards ops, inputs and results describe the whole graph."""
        self._seen_by_caller = shared_bases(self.gm)
        for node in self.gm.graph.nodes:
            self.node = node
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "get_attr":
                self._attribute(node)
            elif node.op == "call_function":
                self.env[node] = self._settle(node, self._call(node))
            elif node.op == "output":
                self._output(node)
        return self

    def _placeholder(self, node: torch.fx.Node) -> None:
        val = node.meta.get("spec")
        name = f"in_{node.name}"
        self.inputs.append(name)
        if isinstance(val, Spec):
            b = Buffer(name, val.shape, val.stride, val.dtype, val.device)
            self.roots[name] = self.env[node] = b
        else:
            self.env[node] = val if isinstance(val, (int, float, bool, Size)) else Opaque(name)

    def _attribute(self, node: torch.fx.Node) -> None:
        value: Any = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            name = f"const_{node.name}"
            b = Buffer(name, value.shape, value.stride(), value.dtype, value.device)
            self.roots[name] = self.env[node] = b
            self.constants[name] = value
            node.meta["spec"] = self.convert.value(value)
        else:
            self.env[node] = value

    def _call(self, node: torch.fx.Node) -> Any:
        target: Any = node.target
        if target is operator.getitem:
            return self.get(node.args[0])[node.args[1]]
        if target is aten.copy_.default and self._is_input(node.args[0]):
            self._copies.append((self.env[node.args[0]], node.args[1], node))
            return self.env[node.args[0]]
        val = node.meta.get("spec")
        if isinstance(val, (int, float, bool, Size)):
            return val
        fn = handler_of(target)
        reason = "no lowering" if fn is None else self._unfit(node, val)
        if fn is not None and not reason:
            for a in node.all_input_nodes:
                self._bring(a)
            before = len(self.ops)
            try:
                out = fn(self, node, *self.get(node.args), **self.get(node.kwargs))
                if out is not NotImplemented:
                    NATIVE[str(target)] += 1
                    self.counts["native"] += 1
                    self._label(out, node, before)
                    return out
                reason = "this form has no lowering"
            except Unsupported as e:
                reason = str(e)
            del self.ops[before:]
        return self.extern(node, reason)

    def _bring(self, a: torch.fx.Node) -> None:
        """Move a number that lives on the host to where the kernels run."""
        v = self.env.get(a)
        if isinstance(v, Buffer) and v.device != self.device:
            moved = self.buffer((), v.dtype, ())
            self.ops.append(Extern(_to_device, (v, self.device), {}, [moved], v.reads, node=a))
            self.env[a] = moved

    def _label(self, out: Any, node: torch.fx.Node, before: int) -> None:
        for o in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(o, Lazy) and o.node is None:
                o.node = node
        for op in self.ops[before:]:
            if op.node is None:
                op.node = node

    def _unfit(self, node: torch.fx.Node, val: Any) -> str:
        """Why no handler may take this node, or an empty string."""
        if node.name in self.banned:
            return "its kernel cannot be used here"
        if self._refused(node):
            return "eager refuses it"
        for v in val if isinstance(val, (tuple, list)) else (val,):
            if isinstance(v, Spec):
                if v.dtype not in TL:
                    return f"dtype {v.dtype}"
                if v.empty:
                    return "empty tensor"
                if v.device != self.device:
                    return f"on {v.device}"
            elif v is not None:
                return "not a tensor"
        for a in node.all_input_nodes:
            v = self.env.get(a)
            if isinstance(v, Opaque):
                return "opaque argument"
            if isinstance(v, (Buffer, Lazy)):
                if v.dtype not in TL:
                    return f"dtype {v.dtype}"
                if 0 in v.shape and node.target not in (aten.cat.default,):
                    return "empty tensor"
                if isinstance(v, Buffer) and v.device != self.device and v.shape:
                    return f"on {v.device}"
        return ""

    def _refused(self, node: torch.fx.Node) -> bool:
        """True if eager raises at arguments of such looks."""
        given = (*enumerate(node.args), *node.kwargs.items())
        known = {at: self.env.get(v) for at, v in given if isinstance(v, torch.fx.Node)}
        looks = {at: (v.dtype, len(v.shape)) for at, v in known.items() if isinstance(v, (Buffer, Lazy))}
        made = node.meta.get("spec")
        results = made if isinstance(made, (tuple, list)) else (made,)
        return refused(node.target, node.args, node.kwargs, looks, [v.dtype for v in results if isinstance(v, Spec)])

    def _is_input(self, a: Any) -> bool:
        v = self.env.get(a)
        return (
            isinstance(v, Buffer)
            and v.name in self.inputs
            and same(v.offset, 0)
            and alike(v.stride, self.roots[v.name].stride)
        )

    def _settle(self, node: torch.fx.Node, out: Any) -> Any:
        """Give memory to a value that is dear and used again, or that an extern call will want."""
        if not isinstance(out, Lazy):
            return out
        if node in self._seen_by_caller:
            return self.realize(out, node.meta.get("spec"))
        if not worth_memory(self, node, out):
            return out
        if out.narrow is None:
            return self.realize(out, node.meta.get("spec"))
        from pydynamo.lowering.lower.pointwise import converted

        half = self.realize(out.narrow, node.meta.get("spec"))
        for a in node.all_input_nodes:
            if self.env.get(a) is out.narrow:
                self.env[a] = half
        return converted(half, out.shape, out.dtype)

    def before_broadcast(self, v: Lazy, shape: Sequence[Int]) -> Tensorish:
        """`v`, or memory for it where it is dear and would be computed again for each of many elements of `shape`.

        In a kernel that has rows this memory costs nothing: the value stays in a register.
        """
        if not v.dear or hint(prod(shape)) < max(BROADCAST_MIN, 8 * hint(prod(v.shape))):
            return v
        if v not in self._spread:
            self._spread[v] = self.realize(v)
        return self._spread[v]

    def _output(self, node: torch.fx.Node) -> None:
        outs = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
        temps = [(dst, self._fresh(src), n) for dst, src, n in self._copies]
        copied = {n: dst for dst, _, n in self._copies}
        for o in outs:
            if not isinstance(o, torch.fx.Node):
                self.results.append(o)
            elif o in copied:
                self.results.append(copied[o])
            else:
                self.results.append(self._result(o))
        for dst, src, n in temps:
            if (
                n.name in self.banned
                or src.device != self.device
                or dst.device != self.device
                or src.dtype not in TL
                or dst.dtype not in TL
                or 0 in dst.shape
                or not injective(dst.shape, dst.stride)
            ):
                self.ops.append(
                    Extern(
                        aten.copy_.default,
                        (dst, src),
                        {},
                        [],
                        src.reads | dst.reads,
                        node=n,
                        mutates=frozenset((dst.name,)),
                    )
                )
                continue
            body: IndexFn = self._copy_body(src, dst)
            self.ops.append(
                Loop(
                    (dst,),
                    dst.shape,
                    body,
                    src.reads,
                    order=memory_order(dst.stride, dst.shape),
                    node=n,
                    mutates=True,
                )
            )

    def _copy_body(self, src: Buffer, dst: Buffer) -> IndexFn:
        return lambda k, idx: k.cast(src.at(k, broadcast(idx, dst.shape, src.shape)), dst.dtype)

    def _fresh(self, a: Any) -> Buffer:
        """`a` in memory that no later store into an input changes."""
        v = self.env[a]
        if isinstance(v, Buffer):
            if not self._kernels_reach(v) and (v.name in self.inputs or v.device != self.device):
                return self._restride(v, v.stride)
            if v.name not in self.inputs:
                return v
            v = Lazy(v.shape, v.dtype, v.at, (v,))
        return self.realize(v, a.meta.get("spec"))

    def _result(self, o: torch.fx.Node) -> Any:
        v, val = self.env[o], o.meta.get("spec")
        if isinstance(v, Opaque):
            return v
        if isinstance(v, Lazy):
            v = self.env[o] = self.realize(v, val, exact=True)
        if isinstance(v, Buffer) and isinstance(val, Spec) and not alike(v.stride, val.stride):
            if 0 in v.shape or not any(
                n != 1 and not same(a, b) for n, a, b in zip(v.shape, v.stride, val.stride, strict=True)
            ):
                v = v.view(v.shape, val.stride)  # strides that no element uses, but a caller may read
            elif self._kernels_reach(v):
                v = self.realize(Lazy(v.shape, v.dtype, v.at, (v,)), val, exact=True)
            elif injective(val.shape, val.stride):
                v = self._restride(v, val.stride)
        return v

    def _kernels_reach(self, v: Buffer) -> bool:
        """True if a kernel can read `v`: it is of a dtype that kernels know, and not in another device's memory."""
        return v.dtype in TL and v.device == self.device and "output" not in self.banned

    def _restride(self, v: Buffer, stride: Sequence[Int]) -> Buffer:
        """A copy of `v` with these strides where they can be those of a copy, made by torch."""
        if not injective(v.shape, stride):
            stride = contiguous_strides(v.shape)
        b = self.buffer(v.shape, v.dtype, stride, v.device)
        self.ops.append(Extern(_restrided, (v, b.shape, b.stride), {}, [b], v.reads))
        return b

    # ------------------------------------------------------------------ values
    def get(self, a: Any) -> Any:
        """Look up graph nodes inside an argument structure."""
        if isinstance(a, torch.fx.Node):
            return self.env[a]
        if isinstance(a, (tuple, list)):
            return type(a)(self.get(x) for x in a) if type(a) in (tuple, list) else [self.get(x) for x in a]
        if isinstance(a, dict):
            return {k: self.get(v) for k, v in a.items()}
        return self.convert.size(a) if isinstance(a, torch.SymInt) else a

    def buffer(
        self,
        shape: Sequence[Int],
        dtype: torch.dtype,
        stride: Sequence[Int] | None = None,
        device: torch.device | None = None,
    ) -> Buffer:
        """New memory."""
        name = f"buf{len(self.roots)}"
        b = Buffer(
            name,
            shape,
            stride if stride is not None else contiguous_strides(shape),
            dtype,
            device or self.device,
        )
        self.roots[name] = b
        return b

    def realize(self, v: Tensorish, like: Any = None, exact: bool = False) -> Buffer:
        """`v` in memory, with the strides of the traced tensor `like` where those are dense; `exact`: or have gaps."""
        if isinstance(v, Buffer):
            return v
        stride = None
        if (
            isinstance(like, Spec)
            and alike(like.shape, v.shape)
            and (is_dense(like.shape, like.stride) or (exact and injective(like.shape, like.stride)))
        ):
            stride = like.stride
        b = self.buffer(v.shape, v.dtype, stride)
        self.ops.append(Loop((b,), v.shape, v.at, v.reads, order=memory_order(b.stride, b.shape), node=self.node))
        return b

    def rows(self, b: Buffer) -> list[Buffer]:
        """The rows of `b`, each under a name of its own: kernels that read different ones are then the same text."""
        if b.name not in self._rows:
            many = [self.buffer(b.shape[1:], b.dtype, b.stride[1:], b.device) for _ in range(hint(b.shape[0]))]
            made = [i for i, op in enumerate(self.ops) if b.name in op.writes]
            self.ops.insert(  # as early as can be: what stands between keeps loops apart
                made[-1] + 1 if made else 0,
                Extern(
                    aten.unbind.int, (b, 0), {}, many, b.reads, node=self.node, single=False, reason="rows of seeds"
                ),
            )
            self._rows[b.name] = many
        return self._rows[b.name]

    def reduce(
        self,
        v: Tensorish,
        kind: str,
        dims: Sequence[int],
        outs: Sequence[torch.dtype],
        body: IndexFn | None = None,
    ) -> list[Buffer]:
        """Reduce over `dims` (not empty, more than one element); results have the dimensions kept as 1."""
        from pydynamo.lowering.lower.splitting import split_reduce

        keep = [1 if i in dims else n for i, n in enumerate(v.shape)]
        fn = body or v.at
        done = split_reduce(self, v, kind, dims, outs, fn)
        if done is not None:
            return [b.view(keep, keep_strides(b.stride, dims, len(v.shape))) for b in done]
        kept = [n for i, n in enumerate(v.shape) if i not in dims]
        bufs = [self.buffer(kept, dt) for dt in outs]
        self.ops.append(
            Loop(
                bufs,
                v.shape,
                fn,
                v.reads,
                rdims=dims,
                kind=kind,
                order=self.order_hint(len(v.shape), v.shape),
            )
        )
        return [b.view(keep, keep_strides(b.stride, dims, len(v.shape))) for b in bufs]

    def order_hint(self, rank: int, shape: Sequence[Int]) -> tuple[int, ...]:
        """The order of dimensions in the memory of the node's largest input of that shape."""
        for a in self.node.all_input_nodes if self.node is not None else ():
            val = a.meta.get("spec")
            if isinstance(val, Spec) and alike(val.shape, shape):
                return memory_order(val.stride, shape)
        return tuple(range(rank))

    # ------------------------------------------------------------------ fallback
    def materialize(self, a: Any) -> Any:
        """An argument structure with every Lazy given memory, for an extern call."""
        if isinstance(a, torch.fx.Node):
            v = self.env[a]
            if isinstance(v, Lazy):
                v = self.env[a] = self.realize(v, a.meta.get("spec"))
            return v
        if isinstance(a, (tuple, list)):
            return (
                [self.materialize(x) for x in a]
                if isinstance(a, list) or type(a) is not tuple
                else tuple(self.materialize(x) for x in a)
            )
        if isinstance(a, dict):
            return {k: self.materialize(v) for k, v in a.items()}
        return self.convert.size(a) if isinstance(a, torch.SymInt) else a

    def extern(self, node: torch.fx.Node, reason: str = "") -> Any:
        """One call of the operator itself."""
        args, kwargs = self.materialize(node.args), self.materialize(node.kwargs)
        val = node.meta.get("spec")
        many = isinstance(val, (tuple, list))
        outs: list[Buffer | None] = []
        results: list[Any] = []
        for t in val if many else (val,):
            if isinstance(t, Spec):
                stride = t.stride if injective(t.shape, t.stride) else None  # windows get a copy
                b = self.buffer(t.shape, t.dtype, stride, t.device)
                outs.append(b)
                results.append(b)
            else:
                name = f"value{len(self.roots)}"
                self.roots[name] = OpaqueOut(name, (), (), torch.float32, self.device)
                outs.append(None if t is None and many else self.roots[name])
                results.append(None if t is None and many else Opaque(name))
        reads: set[str] = set()
        _collect(args, reads)
        _collect(kwargs, reads)
        schema = getattr(node.target, "_schema", None)
        mutable = schema is not None and schema.is_mutable
        if val is None and not many:
            outs, results = [], [None]
        self.ops.append(
            Extern(
                node.target,
                args,
                kwargs,
                outs,
                frozenset(reads),
                node=node,
                mutates=frozenset(reads) if mutable else frozenset(),
                single=not many,
                reason=reason,
            )
        )
        FALLBACK[f"{node.target}: {reason}"] += 1
        self.counts["extern"] += 1
        return tuple(results) if many else results[0]


def _collect(a: Any, into: set[str]) -> None:
    if isinstance(a, (Buffer, Opaque)):
        into.add(a.name)
    elif isinstance(a, (tuple, list)):
        for x in a:
            _collect(x, into)
    elif isinstance(a, dict):
        for x in a.values():
            _collect(x, into)


def _to_device(t: torch.Tensor, device: torch.device) -> torch.Tensor:
    return t.to(device, non_blocking=True)


def _restrided(t: torch.Tensor, shape: Sequence[int], stride: Sequence[int]) -> torch.Tensor:
    return torch.empty_strided(shape, stride, dtype=t.dtype, device=t.device).copy_(t)
