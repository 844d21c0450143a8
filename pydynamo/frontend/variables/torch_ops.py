"""Functions and classes of torch: what is recorded, what is answered now, what breaks the graph."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional

from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, VariableTracker
from pydynamo.frontend.variables.checkpoint import call_checkpoint, is_checkpoint
from pydynamo.frontend.variables.constant import NONE, ConstantVariable, constant, fold, from_python
from pydynamo.frontend.variables.gradients import zero_gradients
from pydynamo.frontend.variables.natives import NativeFunctionVariable
from pydynamo.frontend.variables.torch_queries import ask, is_query
from pydynamo.frontend.variables.transforms import is_transform, transformed

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

Handler = Callable[["Translator", Args, Kwargs], VariableTracker]

#: names in torch's function namespaces that must not be recorded
_NEVER = frozenset(
    {
        "seed",
        "manual_seed",
        "initial_seed",
        "set_rng_state",
        "get_rng_state",
        "is_tensor",
        "is_storage",
        "from_numpy",
        "frombuffer",
        "from_file",
        "set_default_dtype",
        "set_default_device",
        "set_printoptions",
        "compile",
        "load",
        "save",
        "set_num_threads",
        "init_num_threads",
        "_assert",
        "cond",
        "vmap",
        "get_default_dtype",
        "can_cast",
        "promote_types",
        "result_type",
        "is_grad_enabled",
        "is_inference_mode_enabled",
        "numel",
        "is_same_size",
        "boolean_dispatch",
        "has_torch_function",
        "handle_torch_function",
        "assert_int_or_pair",
        "typename",
        "unique",
        "unique_consecutive",
    }
)
_FOLDED = frozenset({"can_cast", "promote_types"})
_BREAK = frozenset(
    {
        "seed",
        "manual_seed",
        "initial_seed",
        "set_rng_state",
        "get_rng_state",
        "from_numpy",
        "frombuffer",
        "from_file",
    }
)


@functools.cache
def graph_functions() -> dict[Any, str]:
    """The functions that are recorded as they are, with their names."""
    found: dict[Any, str] = {}

    def add(namespace: Any, names: list[str], python: bool) -> None:
        for name in names:
            function = getattr(namespace, name, None)
            kinds: tuple[type, ...] = (types.BuiltinFunctionType, types.BuiltinMethodType)
            if python:
                kinds += (types.FunctionType,)
            if (
                isinstance(function, kinds)
                and name not in _NEVER
                and (not name.startswith("_") or not isinstance(function, types.FunctionType))
            ):
                found[function] = name

    add(torch, [n for n in dir(torch) if hasattr(torch._C._VariableFunctions, n)], True)
    add(torch._C._VariableFunctions, dir(torch._C._VariableFunctions), False)
    for extra in (
        "einsum",
        "split",
        "meshgrid",
        "norm",
        "tensordot",
        "cartesian_prod",
        "block_diag",
        "cdist",
        "chain_matmul",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_tensors",
        "broadcast_shapes",
        "stft",
        "lu",
        "sym_int",
        "sym_float",
        "sym_max",
        "sym_min",
        "sym_not",
        "sym_sqrt",
        "sym_ite",
    ):
        if hasattr(torch, extra):
            found[getattr(torch, extra)] = extra
    add(torch.nn.functional, [n for n in vars(torch.nn.functional) if n[0].islower()], True)
    for namespace in (torch._C._nn, torch._C._linalg, torch._C._fft, torch._C._special, torch._C._sparse):
        add(namespace, dir(namespace), False)
    return {
        fn: name
        for fn, name in found.items()
        if getattr(fn, "__module__", "")
        not in ("typing", "builtins", "torch._jit_internal", "torch.overrides", "importlib", "torch._VF")
    }


@functools.cache
def answered_functions() -> dict[Any, Handler]:
    """Functions that are answered while compiling."""

    def const(value: Any) -> Handler:
        return lambda tx, args, kwargs: constant(value)

    def now(function: Callable[..., Any]) -> Handler:
        return lambda tx, args, kwargs: fold(tx, function, args, kwargs)

    answers: dict[Any, Handler] = {
        torch.is_tensor: _is_tensor,
        torch.is_grad_enabled: now(torch.is_grad_enabled),
        torch.is_inference_mode_enabled: now(torch.is_inference_mode_enabled),
        torch.get_default_dtype: now(torch.get_default_dtype),
        torch.compiler.is_compiling: const(True),
        torch.compiler.is_dynamo_compiling: const(True),
        torch.compiler.is_exporting: const(False),
        torch.jit.is_scripting: const(False),
        torch.jit.is_tracing: const(False),
        torch._C._get_tracing_state: const(None),
        torch.cuda.is_available: now(torch.cuda.is_available),
        torch.overrides.has_torch_function: const(False),
        torch.overrides.has_torch_function_unary: const(False),
        torch.overrides.has_torch_function_variadic: const(False),
        torch.numel: _numel,
        torch.overrides.is_tensor_like: _is_tensor,
        torch.promote_types: now(torch.promote_types),
        torch.can_cast: now(torch.can_cast),
        torch.is_autocast_enabled: now(torch.is_autocast_enabled),
        torch.get_autocast_dtype: now(torch.get_autocast_dtype),
        torch._assert: _assert,
        torch.result_type: _fact_of(torch.result_type),
        torch.is_same_size: _fact_of(torch.is_same_size),
        torch.broadcast_shapes: now(lambda *shapes: tuple(torch.broadcast_shapes(*shapes))),
        torch.get_default_device: now(torch.get_default_device),
        torch._C._functorch.peek_interpreter_stack: const(None),
        torch._C._log_api_usage_once: const(None),
        torch._C._set_grad_enabled: _set_grad,
        torch._C._group_tensors_by_device_and_dtype: _grouped_tensors,
        torch.is_deterministic_algorithms_warn_only_enabled: now(torch.is_deterministic_algorithms_warn_only_enabled),
        torch.are_deterministic_algorithms_enabled: now(torch.are_deterministic_algorithms_enabled),
        torch.jit.isinstance: _jit_isinstance,
        torch._C._len_torch_dispatch_stack: now(torch._C._len_torch_dispatch_stack),
        torch._C._is_torch_function_mode_enabled: now(torch._C._is_torch_function_mode_enabled),
    }
    # a class method written in Python; for one in C see ``class_applied``
    apply = getattr(torch.autograd.Function.apply, "__func__", None)
    if apply is not None:
        answers[apply] = _apply_function
    is_tracing = getattr(torch._C, "_is_tracing", None)
    if is_tracing is not None:
        answers[is_tracing] = const(False)
    dynamo_is_compiling = getattr(torch._utils, "is_compiling", None)
    if dynamo_is_compiling is not None:
        answers[dynamo_is_compiling] = const(True)
    from pydynamo.frontend import markers

    answers[markers.is_compiling] = const(True)
    answers[markers.graph_break] = _graph_break
    import sys

    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        for name in ("graph_break",):
            answers[getattr(dynamo, name)] = _graph_break
        answers[dynamo.is_compiling] = const(True)
    return answers


def _apply_function(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.autograd import apply_function

    return apply_function(tx, args, kwargs)


def class_applied(fn: Any) -> type | None:
    """The class whose ``apply`` this is, where torch has that method in C; None for any other function."""
    owner = getattr(fn, "__self__", None) if isinstance(fn, types.BuiltinMethodType) else None
    is_apply = isinstance(owner, type) and issubclass(owner, torch.autograd.Function) and fn.__name__ == "apply"
    return owner if is_apply else None


def _jit_isinstance(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    unsupported("unsupported-torch-call", "torch.jit.isinstance")


def _graph_break(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    unsupported("explicit-break", "graph_break() was called")


def _is_tensor(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return constant(issubclass(args[0].realize().python_type(), torch.Tensor))


def _numel(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return args[0].realize().call_method(tx, "numel", [], {})


def _fact_of(function: Callable[..., Any]) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return from_python(tx.output.propagate(lambda: function(*(a.realize().as_fake() for a in args))))

    return handler


def _assert(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if tx.truth(args[0]):
        return NONE
    unsupported("uncaught-exception", "torch._assert fails")


def _set_grad(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    from pydynamo.frontend.variables.contexts import set_grad_mode

    mode = args[0].realize()
    if mode.python_type() is not bool:
        unsupported("unsupported-torch-call", f"_set_grad_enabled of a {mode.python_type().__name__}")
    set_grad_mode(tx, tx.truth(mode))
    return NONE


def _grouped_tensors(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """The lists of tensors split by the device and dtype of the first list, with their places if these are asked for."""
    from pydynamo.frontend.protocols import iterate
    from pydynamo.frontend.variables.dicts import DictVariable
    from pydynamo.frontend.variables.sequence import SequenceVariable
    from pydynamo.frontend.variables.tensor import TensorVariable

    columns = [[item.realize() for item in iterate(tx, column)] for column in iterate(tx, args[0])]
    with_places = tx.truth(args[1] if len(args) > 1 else kwargs.get("with_indices", constant(False)))
    places: dict[Any, list[int]] = {}
    for index, first in enumerate(columns[0]):
        if not isinstance(first, TensorVariable):
            unsupported("unsupported-torch-call", "a list to be grouped that holds more than tensors")
        places.setdefault((first.fake.device, first.fake.dtype), []).append(index)
    if len(places) > 1 or any(column and len(column) != len(columns[0]) for column in columns):
        unsupported("unsupported-torch-call", "tensors of several devices or dtypes to be grouped")
    grouped = DictVariable({})
    for key, indices in places.items():
        lists: list[VariableTracker] = [
            SequenceVariable([column[index] for index in indices] if column else [], list) for column in columns
        ]
        shown = from_python(indices if with_places else [])
        grouped.put(from_python(key), SequenceVariable([SequenceVariable(lists, list), shown], tuple))
    return grouped


def special_function(fn: Any) -> Handler | None:
    """The handler of a Python function that is not inlined, None if it is an ordinary one."""
    answered = answered_functions().get(fn)
    if answered is not None:
        return answered
    applied = class_applied(fn)
    if applied is not None:
        from pydynamo.frontend.variables.classes import ClassVariable

        cls = ClassVariable(applied, None)
        return lambda tx, args, kwargs: _apply_function(tx, [cls, *args], kwargs)
    if fn is torch.optim.Optimizer.zero_grad:
        return zero_gradients
    if is_checkpoint(fn):
        return call_checkpoint
    if is_transform(fn):
        return lambda tx, args, kwargs: transformed(tx, fn, args, kwargs)
    if is_query(fn):
        return lambda tx, args, kwargs: ask(tx, fn, args, kwargs)
    if fn in graph_functions():
        return lambda tx, args, kwargs: record(tx, fn, args, kwargs)
    return None


def record(tx: Translator, fn: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Record a torch function; without tensors and symbols, and if it makes none, it may still be a graph node."""
    parameters = _DROPOUTS.get(fn)
    if parameters is not None:
        same = _dropped_nothing(parameters, args, kwargs)
        if same is not None:
            return same
    out = kwargs["out"].realize() if "out" in kwargs else NONE
    if not isinstance(out, ConstantVariable):
        return _record_into(tx, fn, args, kwargs, out)
    if "generator" in kwargs and not isinstance(kwargs["generator"].realize(), ConstantVariable):
        unsupported("random", "generator= arguments")
    return tx.output.call_function(tx, fn, args, kwargs)


#: the functions that may drop nothing, and their parameters, with what stands for those that are not given
_DROPOUTS: dict[Any, dict[str, Any]] = {
    torch.nn.functional.dropout: {"input": None, "p": 0.5, "training": True, "inplace": False},
    torch.dropout: {"input": None, "p": None, "train": None},
}


def _dropped_nothing(parameters: dict[str, Any], args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """The input of a dropout that gives it back: where there are symbols, torch's own tracing would copy it.

    None for every other call, one that torch refuses among them.
    """
    from pydynamo.frontend.variables.tensor import TensorVariable

    by_place = dict(zip(parameters, args, strict=False))
    if len(args) > len(parameters) or by_place.keys() & kwargs or not kwargs.keys() <= parameters.keys():
        return None
    given = {name: value.realize() for name, value in (*by_place.items(), *kwargs.items())}
    x, rest = given.pop("input", NONE), given.values()
    if not isinstance(x, TensorVariable) or not all(isinstance(value, ConstantVariable) for value in rest):
        return None
    _, p, train, *others = (given[name].as_constant() if name in given else parameters[name] for name in parameters)
    if type(p) not in (int, float) or not all(type(flag) is bool for flag in (train, *others)) or not 0 <= p <= 1:
        return None
    return x if p == 0 or not train else None


def _record_into(tx: Translator, fn: Any, args: Args, kwargs: Kwargs, out: VariableTracker) -> VariableTracker:
    """Record a call with ``out=``, a tensor that has the size of the result already."""
    from pydynamo.frontend.variables.tensor import TensorVariable

    if not isinstance(out, TensorVariable):
        unsupported("unsupported-torch-call", f"out={out.describe()}")
    before = out.fake.shape, out.fake.stride()
    result = tx.output.call_function(tx, fn, args, kwargs)
    if result is not out or (out.fake.shape, out.fake.stride()) != before:
        unsupported("unsupported-torch-call", "out= of another size")
    return result


class TorchFunctionVariable(NativeFunctionVariable):
    """A torch function that goes into the graph, or is answered while compiling."""

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        handler = special_function(self.fn)
        if handler is None:
            name = getattr(self.fn, "__name__", "")
            reason = "random" if name in _BREAK and "numpy" not in name else "unsupported-torch-call"
            unsupported(reason, f"call of {name}")
        return handler(tx, args, kwargs)

    def describe(self) -> str:
        return f"torch function {getattr(self.fn, '__name__', self.fn)}"


def is_torch_function(value: Any) -> bool:
    """True for functions that TorchFunctionVariable stands for."""
    try:
        if value in graph_functions() or value in answered_functions():
            return True
    except TypeError:
        return False
    if isinstance(value, types.BuiltinFunctionType | types.BuiltinMethodType):
        module = getattr(value, "__module__", None) or ""
        owner = getattr(value, "__self__", None)
        return module.startswith("torch") or type(owner).__module__.startswith("torch")
    return isinstance(value, torch._ops.OpOverloadPacket | torch._ops.OpOverload)


def construct_torch(tx: Translator, cls: type, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """``cls(...)`` for classes of torch; None if the class is not one of them."""
    from pydynamo.frontend.variables.contexts import context_class
    from pydynamo.frontend.variables.sequence import SequenceVariable

    context = context_class(tx, cls, args, kwargs)
    if context is not None:
        return context
    if cls is torch.Size:
        from pydynamo.frontend.protocols import iterate

        return SequenceVariable(list(iterate(tx, args[0])) if args else [], torch.Size)
    if cls in (torch.device, torch.dtype, torch.finfo, torch.iinfo):
        return fold(tx, cls, args, kwargs)
    if issubclass(cls, torch.Tensor):
        unsupported("tensor-subclass", f"a new {cls.__qualname__}")
    if cls.__module__.split(".")[0] == "torch" and cls is torch.Generator:
        unsupported("opaque-object", f"a new {cls.__qualname__}")
    return None


class OpVariable(TorchFunctionVariable):
    """``torch.ops`` operators."""

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return record(tx, self.fn, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        value = getattr(self.fn, name, None)
        if isinstance(value, torch._ops.OpOverload):
            return OpVariable(value, None)
        return super().getattr(tx, name)
