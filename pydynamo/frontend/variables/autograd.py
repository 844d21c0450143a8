"""``Function.apply`` of a user's autograd.Function: one node of the graph, once its two methods are known to be pure.

The node calls the class itself, so that ``ctx``, gradients and modes are torch's own work under every backend. A trial
trace of ``forward`` and ``backward`` comes first. It collects the guards of what the methods read, and breaks the graph
where they do more than compute from their arguments: its own nodes are thrown away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.polyfills.autograd import Context
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.class_lookup import lookup, lookup_source
from pydynamo.frontend.variables.classes import ClassVariable
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant
from pydynamo.frontend.variables.sequence import SequenceVariable
from pydynamo.frontend.variables.tensor import SymNumberVariable, TensorVariable
from pydynamo.frontend.variables.trial import trial

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

#: parts of an autograd.Function that change what ``apply`` does in ways that are not modelled
_UNUSUAL = ("vjp", "jvp", "vmap", "apply", "_compiled_autograd_key", "_materialize_non_diff_grads")


class FunctionApply:
    """``cls.apply`` as the target of a node."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.__name__ = f"apply_{cls.__name__}"

    def __call__(self, *args: Any) -> Any:
        return self.cls.apply(*args)

    def __repr__(self) -> str:
        return self.__name__


def apply_function(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``Function.apply(cls, *args)``"""
    cls = args[0].realize()
    if not isinstance(cls, ClassVariable) or kwargs:
        unsupported("autograd", "Function.apply with keyword arguments")
    kind = cls.value
    if any(lookup(kind, name)[0] not in (None, *torch.autograd.Function.__mro__) for name in _UNUSUAL):
        unsupported("autograd", f"{kind.__qualname__} defines more than forward and backward")
    inputs = [arg.realize() for arg in args[1:]]
    if not all(_is_plain(value) for value in inputs):
        unsupported("autograd", f"{kind.__qualname__}.apply with arguments other than tensors and constants")
    with trial(tx, "autograd", kind.__qualname__, inputs):
        _trace_methods(tx, cls, inputs)
    return tx.output.call_function(tx, FunctionApply(kind), inputs, {})


def _is_plain(value: VariableTracker) -> bool:
    if isinstance(value, SequenceVariable) and value.cls is tuple:
        return all(_is_plain(item.realize()) for item in value.items)
    return isinstance(value, TensorVariable | SymNumberVariable) or (value.is_constant() and not value.mutable)


def _trace_methods(tx: Translator, cls: ClassVariable, inputs: Args) -> None:
    needs = [constant(isinstance(v, TensorVariable) and v.fake.requires_grad) for v in inputs]
    context_class = ClassVariable(Context, sources.const(Context))
    ctx = context_class.call_function(tx, [SequenceVariable(needs, tuple)], {})  # type: ignore[arg-type]
    torch._C._set_grad_enabled(False)
    if lookup(cls.value, "setup_context")[0] in torch.autograd.Function.__mro__:
        result = _call(tx, cls, "forward", [ctx, *inputs])
    else:
        result = _call(tx, cls, "forward", list(inputs))
        _call(tx, cls, "setup_context", [ctx, SequenceVariable(list(inputs), tuple), result])
    outputs = result.items if isinstance(result, SequenceVariable) and result.cls is tuple else [result]
    if not all(isinstance(output.realize(), TensorVariable | ConstantVariable) for output in outputs):
        unsupported("autograd", f"{cls.value.__qualname__}.forward returns {result.describe()}")
    if not any(needed.value for needed in needs):
        return  # apply makes no node: backward is never called
    grads = [_gradient(tx, output.realize()) for output in outputs]
    answer = _call(tx, cls, "backward", [ctx, *grads])
    answers = answer.items if isinstance(answer, SequenceVariable) and answer.cls is tuple else [answer]
    if not all(_is_gradient(value.realize()) for value in answers):
        unsupported("autograd", f"{cls.value.__qualname__}.backward returns {answer.describe()}")


def _is_gradient(value: VariableTracker) -> bool:
    return isinstance(value, TensorVariable) or (isinstance(value, ConstantVariable) and value.value is None)


def _gradient(tx: Translator, output: VariableTracker) -> VariableTracker:
    if isinstance(output, TensorVariable):
        return tx.output.call_function(tx, torch.ones_like, [output], {})
    return NONE


def _call(tx: Translator, cls: ClassVariable, name: str, args: Args) -> VariableTracker:
    """Call a static method of the class; what torch wraps around ``backward`` runs outside of the trace."""
    base, raw = lookup(cls.value, name)
    if base in torch.autograd.Function.__mro__ or not isinstance(raw, staticmethod):
        unsupported("autograd", f"{cls.value.__qualname__}.{name}")
    source = sources.attr(lookup_source(tx, cls.value, name), "__func__")
    fn: Any = raw.__func__
    while _is_wrapper(fn):
        fn, source = fn.__wrapped__, sources.attr(source, "__wrapped__")
    return tx.wrap_at(fn, source).call_function(tx, args, {}).realize()


def _is_wrapper(fn: Any) -> bool:
    """True for what ``once_differentiable`` makes of a method."""
    code = getattr(fn, "__code__", None)
    return code is not None and code in torch.autograd.function.once_differentiable.__code__.co_consts
