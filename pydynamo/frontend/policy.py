"""What the translator does with a function it meets: inline it, record it, or break the graph, and why."""

from __future__ import annotations

import types
from typing import Any

#: top-level or dotted module -> the reason id of a break
_BREAKING_MODULES: dict[str, str] = {
    "random": "random",
    "secrets": "random",
    "time": "time",
    "datetime": "time",
    "logging": "io",
    "warnings": "io",
    "os": "io",
    "io": "io",
    "pathlib": "io",
    "subprocess": "io",
    "socket": "io",
    "shutil": "io",
    "tempfile": "io",
    "threading": "opaque-call",
    "multiprocessing": "opaque-call",
    "concurrent": "opaque-call",
    "queue": "opaque-call",
    "asyncio": "async",
    "inspect": "inspection",
    "traceback": "inspection",
    "gc": "inspection",
    "sys": "inspection",
    "pickle": "io",
    "json": "opaque-call",
    "importlib": "import",
    "numpy": "opaque-call",
    "unittest": "opaque-call",
    "weakref": "opaque-call",
    "pdb": "io",
    "linecache": "io",
    "signal": "io",
    "ctypes": "opaque-call",
    "pydynamo": "opaque-call",
    "ast": "inspection",
    "dis": "inspection",
    "pytest": "opaque-call",
    "_pytest": "opaque-call",
    "pprint": "io",
    "uuid": "random",
    "hashlib": "opaque-call",
    "re": "opaque-call",
    "torch.autograd": "autograd",
    "torch._dynamo": "explicit-break",
    "torch._inductor": "opaque-call",
    "torch.fx": "opaque-call",
    "torch.jit": "opaque-call",
    "torch.onnx": "opaque-call",
    "torch.serialization": "io",
    "torch.random": "random",
    "torch.utils.data": "opaque-call",
    "torch.distributed": "opaque-call",
    "torch.multiprocessing": "opaque-call",
    "torch.profiler": "opaque-call",
    "torch._tensor_str": "io",
    "torch.cuda": "opaque-call",
    "torch.testing": "opaque-call",
    "torch._functorch": "opaque-call",
    "torch.func": "opaque-call",
    "torch.export": "opaque-call",
    "torch._guards": "opaque-call",
    "torch._C": "opaque-call",
    "torch._subclasses": "opaque-call",
    "torch.compiler": "explicit-break",
    "torch._higher_order_ops": "opaque-call",
    "torch._ops": "opaque-call",
    "torch.library": "opaque-call",
    "torch._library": "opaque-call",
    "torch._tensor": "opaque-call",
    "torch.optim": "opaque-call",
    "torch.utils.checkpoint": "opaque-call",
    "torch.hub": "io",
    "torch.backends": "opaque-call",
}


#: modules inside those that break, whose functions are ordinary ones
_INLINED_MODULES = frozenset(
    {
        *("torch.autograd.grad_mode", "torch.backends.mha", "torch.backends.cuda", "torch.utils.checkpoint"),
        *("torch.jit", "torch.jit._script", "torch.jit._trace", "torch._library.custom_ops"),
    }
)


def behind_dynamos_patch(fn: types.FunctionType) -> types.FunctionType | None:
    """What ``nn.Module.__init__`` or ``__setstate__`` was before torch's Dynamo, once in use, put itself before it.

    Its patch notes for itself how old a module is.
    """
    if fn.__module__ != "torch._dynamo.mutation_guard" or not fn.__name__.startswith("patched_"):
        return None
    held = [cell.cell_contents for cell in fn.__closure__ or ()]
    return held[0] if len(held) == 1 and isinstance(held[0], types.FunctionType) else None


def break_reason_of_function(fn: types.FunctionType) -> str | None:
    """The reason id if this Python function must not be inlined, else None."""
    if getattr(fn, "_pydynamo_disabled", False) or getattr(fn, "_torchdynamo_disable", False):
        return "explicit-break"
    module = fn.__globals__.get("__name__") or ""
    if module in _INLINED_MODULES:
        return None
    parts = module.split(".")
    for length in range(min(len(parts), 3), 0, -1):
        reason = _BREAKING_MODULES.get(".".join(parts[:length]))
        if reason is not None:
            if module.startswith("pydynamo.frontend.polyfills"):
                return None
            return reason
    return None


def break_reason_of_builtin(fn: Any) -> str:
    """The reason id for a builtin that is not modelled."""
    module = (getattr(fn, "__module__", None) or "").split(".")[0]
    name = getattr(fn, "__name__", "")
    if name in ("print", "open", "input", "breakpoint"):
        return "io"
    if name in ("globals", "locals", "vars", "dir", "eval", "exec", "compile", "id", "__import__"):
        return "inspection"
    return _BREAKING_MODULES.get(module.lstrip("_"), "opaque-call")
