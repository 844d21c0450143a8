"""From a real value and its source to a tracked value, with the guards that its kind needs."""

from __future__ import annotations

import collections
import enum
import functools
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.attributes import note_ids
from pydynamo.frontend.variables.base import LazyVariable, VariableTracker
from pydynamo.frontend.variables.builtin import BuiltinVariable, MethodOfBuiltin
from pydynamo.frontend.variables.caches import CacheVariable, is_special_form
from pydynamo.frontend.variables.class_lookup import is_plain_class
from pydynamo.frontend.variables.classes import ClassVariable, ModuleVariable
from pydynamo.frontend.variables.constant import ConstantVariable, constant, is_constant_value
from pydynamo.frontend.variables.container_objects import (
    ContainerObjectVariable,
    DictContents,
    ListContents,
    builtin_base,
    has_plain_items,
)
from pydynamo.frontend.variables.contexts import AutocastVariable, GradModeVariable, InferenceModeVariable, settings_of
from pydynamo.frontend.variables.dicts import DICT_TYPES, DictVariable, SetVariable
from pydynamo.frontend.variables.exceptions import InputExceptionVariable
from pydynamo.frontend.variables.functions import BoundMethodVariable, PartialVariable, UserFunctionVariable
from pydynamo.frontend.variables.made_classes import is_made
from pydynamo.frontend.variables.nn_module import NNModuleVariable
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.opaque import OpaqueVariable, WeakReferenceVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable, is_namedtuple
from pydynamo.frontend.variables.tensor import TensorVariable
from pydynamo.frontend.variables.torch_ops import OpVariable, TorchFunctionVariable, is_torch_function

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_BUILTIN_CALLABLES = (
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)


def wrap(tx: Translator, value: Any, source: Source) -> VariableTracker:
    """The tracked value for ``value``, which is found at ``source``; one object is one tracked value."""
    if is_constant_value(value):
        return _constant(tx, value, source)
    root = tx.root
    known = root.by_id.get(id(value))
    if known is not None:
        if known.source is not None and known.source != source and not _same_held_object(tx, source):
            tx.output.guards.add("IS", source, known.source)
        return known
    made = _wrap_object(tx, value, source)
    root.by_id[id(value)] = made
    root.keep_alive.append(value)
    return made


def _same_held_object(tx: Translator, source: Source) -> bool:
    root = source.root()
    return source.kind == "const" or (root.kind == "const" and is_made(tx, root.key))


def _constant(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    if _same_held_object(tx, source):
        return ConstantVariable(value, None)
    if type(value) in (int, float) and _may_vary(source) and tx.output.symbols.number_is_dynamic(value, source):
        known = tx.root.symbol_inputs.get(source)
        if known is None:
            known = tx.root.symbol_inputs[source] = tx.output.symbols.number(tx.output, value, source)
        return known
    if value is None or type(value) in (bool, types.CodeType) or issubclass(type(value), enum.Enum):
        guards.add("ID_MATCH", source, value)
    elif type(value) is range:
        guards.add("TYPE_MATCH", source, range)
        for part in ("start", "stop", "step"):  # ranges of the same numbers are equal
            guards.add("EQUALS_MATCH", sources.attr(source, part), getattr(value, part))
    else:
        guards.add("EQUALS_MATCH", source, value)
    return ConstantVariable(value, source)


def _may_vary(source: Source) -> bool:
    """Numbers on classes and in modules' namespaces are baked in; those of instances and arguments may vary."""
    root = source.root()
    return root.kind in ("local", "deref", "const", "global") and source.kind != "defaults"


def _wrap_object(tx: Translator, value: Any, source: Source) -> VariableTracker:
    # isinstance() would ask ``__class__`` of the user's own objects
    kind = type(value)
    guards = tx.output.guards
    if issubclass(kind, torch.Tensor):
        return _tensor(tx, value, source)
    maker = _BY_TYPE.get(kind)
    if maker is not None:
        return maker(tx, value, source)
    if issubclass(kind, type):
        guards.add("ID_MATCH", source, value)
        return ClassVariable(value, source)
    if issubclass(kind, torch.nn.Module):
        guards.add("TYPE_MATCH", source, kind)
        return NNModuleVariable(kind, value, source)
    if issubclass(kind, types.ModuleType):
        guards.add("ID_MATCH", source, value)
        return ModuleVariable(value, source)
    if issubclass(kind, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        guards.add("ID_MATCH", source, value)
        return OpVariable(value, source)
    if issubclass(kind, _BUILTIN_CALLABLES):
        return _builtin(tx, value, source)
    if is_namedtuple(kind):
        return _sequence(tx, value, source)
    if issubclass(kind, BaseException):
        guards.add("TYPE_MATCH", source, kind)
        if source.kind != "local" and source.kind != "const":
            return OpaqueVariable(value, source)
        args_at = sources.attr(source, "args")
        guards.add("LENGTH", args_at, len(value.args))
        args: list[VariableTracker] = [
            LazyVariable(tx, arg, sources.item(args_at, i)) for i, arg in enumerate(value.args)
        ]
        return InputExceptionVariable(value, source, args)
    from pydynamo.frontend.wrapper import original_of

    inner = original_of(value)
    if inner is not None:
        guards.add("ID_MATCH", source, value)
        return wrap(tx, inner, sources.const(inner))
    guards.add("TYPE_MATCH", source, kind)
    if (is_plain_class(kind) and kind is not object) or kind is types.SimpleNamespace:
        return ObjectVariable(kind, value, source)
    return _container_object(tx, value, source) or OpaqueVariable(value, source)


def _container_object(tx: Translator, value: Any, source: Source) -> VariableTracker | None:
    kind = type(value)
    base: Any = builtin_base(kind)
    if base is None or not has_plain_items(kind):
        return None
    if base is list:
        tx.output.guards.add("LENGTH", source, len(value))
        items: list[VariableTracker] = [
            LazyVariable(tx, item, Source("listitem", index, source)) for index, item in enumerate(list.__iter__(value))
        ]
        return ContainerObjectVariable(kind, ListContents(items, list, source), value, source)
    keys = tuple(base.__iter__(value))
    if not _may_be_keys(keys):
        return None
    tx.output.guards.add("KEYS", source, keys)
    note_ids(tx, keys)
    pairs = [
        (_key(key), LazyVariable(tx, dict.__getitem__(value, key), Source("dictitem", key, source))) for key in keys
    ]
    contents = DictContents.from_pairs(pairs, base, source)  # type: ignore[arg-type]
    assert isinstance(contents, DictContents)
    return ContainerObjectVariable(kind, contents, value, source)


def _tensor(tx: Translator, value: torch.Tensor, source: Source) -> VariableTracker:
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        unsupported("tensor-subclass", f"{source.name} is a {type(value).__qualname__}")
    if value.layout is not torch.strided or value.is_quantized or value.is_nested:
        unsupported("tensor-subclass", f"{source.name} is not a plain strided tensor")
    fake = tx.output.symbols.fake_tensor(tx.output, value, source)
    node = tx.output.placeholder(source, value, fake)
    tx.root.input_tensors.append(source)
    return TensorVariable(node, fake, source, type(value))


def _sequence(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, type(value))
    guards.add("LENGTH", source, len(value))
    items: list[VariableTracker] = [
        LazyVariable(tx, item, sources.item(source, index)) for index, item in enumerate(value)
    ]
    return SequenceVariable(items, type(value), source)


def _deque(tx: Translator, value: Any, source: Source) -> VariableTracker:
    made = _sequence(tx, value, source)
    assert isinstance(made, SequenceVariable)
    made.maxlen = value.maxlen
    tx.output.guards.add("EQUALS_MATCH", sources.attr(source, "maxlen"), value.maxlen)
    return made


def _dict(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, type(value))
    if "__builtins__" in value and "__name__" in value:
        return OpaqueVariable(value, source)
    keys = tuple(value)
    if not _may_be_keys(keys):
        return OpaqueVariable(value, source)
    guards.add("KEYS", source, keys)
    note_ids(tx, keys)
    pairs = [(_key(key), LazyVariable(tx, dict.__getitem__(value, key), sources.item(source, key))) for key in keys]
    made = DictVariable.from_pairs(pairs, type(value), source)  # type: ignore[arg-type]
    if type(value) is collections.defaultdict and value.default_factory is not None:
        made.factory = wrap(tx, value.default_factory, sources.attr(source, "default_factory"))
    return made


def _may_be_keys(keys: tuple[Any, ...]) -> bool:
    return all(
        is_constant_value(key)
        or isinstance(key, type | types.FunctionType)
        or _constant_tuple(key)
        or is_special_form(key)
        for key in keys
    )


def _constant_tuple(key: Any) -> bool:
    return type(key) is tuple and all(is_constant_value(part) or _constant_tuple(part) for part in key)


def _key(key: Any) -> VariableTracker:
    if isinstance(key, type):
        return ClassVariable(key, None)
    if isinstance(key, types.FunctionType):
        return UserFunctionVariable(key, sources.const(key))
    if type(key) is tuple:
        return SequenceVariable([_key(part) for part in key], tuple)
    if is_special_form(key):
        return ObjectVariable(type(key), key, sources.const(key))
    return constant(key)


def _set(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, type(value))
    if not all(is_constant_value(item) or isinstance(item, type) or _constant_tuple(item) for item in value):
        return OpaqueVariable(value, source)
    guards.add("KEYS", source, tuple(value))
    note_ids(tx, tuple(value))
    return SetVariable.from_values([_key(item) for item in value], type(value), source)


def _slice(tx: Translator, value: Any, source: Source) -> VariableTracker:
    tx.output.guards.add("TYPE_MATCH", source, slice)
    return SliceVariable(
        [LazyVariable(tx, getattr(value, part), sources.attr(source, part)) for part in ("start", "stop", "step")],
        source,
    )


def _function(tx: Translator, value: types.FunctionType, source: Source) -> VariableTracker:
    return tx.function_at(value, source)


def _method(tx: Translator, value: types.MethodType, source: Source) -> VariableTracker:
    tx.output.guards.add("TYPE_MATCH", source, types.MethodType)
    return BoundMethodVariable(
        LazyVariable(tx, value.__func__, sources.attr(source, "__func__")),
        LazyVariable(tx, value.__self__, sources.attr(source, "__self__")),
        source,
    )


def _builtin(tx: Translator, value: Any, source: Source) -> VariableTracker:
    if isinstance(value, torch._C.ScriptFunction) if hasattr(torch._C, "ScriptFunction") else False:
        unsupported("opaque-call", "a scripted function")
    if is_torch_function(value):
        tx.output.guards.add("ID_MATCH", source, value)
        return TorchFunctionVariable(value, source)
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        tx.output.guards.add("TYPE_MATCH", source, type(value))
        tx.output.guards.add("EQUALS_MATCH", sources.attr(source, "__name__"), value.__name__)
        owner_at = sources.attr(source, "__self__")
        return MethodOfBuiltin(LazyVariable(tx, owner, owner_at), value.__name__)
    tx.output.guards.add("ID_MATCH", source, value)
    return BuiltinVariable(value, source)


def _partial(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, functools.partial)
    args_at, keywords_at = sources.attr(source, "args"), sources.attr(source, "keywords")
    guards.add("LENGTH", args_at, len(value.args))
    guards.add("KEYS", keywords_at, tuple(value.keywords))
    return PartialVariable(
        LazyVariable(tx, value.func, sources.attr(source, "func")),
        [LazyVariable(tx, item, sources.item(args_at, index)) for index, item in enumerate(value.args)],
        {name: LazyVariable(tx, item, sources.item(keywords_at, name)) for name, item in value.keywords.items()},
        source,
        value.__dict__,
    )


def _grad_mode(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, type(value))
    if type(value) is torch.set_grad_enabled:
        guards.add("EQUALS_MATCH", sources.attr(source, "prev"), value.prev)
        guards.add("EQUALS_MATCH", sources.attr(source, "mode"), value.mode)
        return GradModeVariable(type(value), value.mode, value.prev, source)
    made = GradModeVariable(type(value), type(value) is torch.enable_grad, None, source)
    made.unread = getattr(value, "prev", None)
    return made


def _autocast(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, torch.autocast)
    for name, setting in zip(("device", "fast_dtype", "_enabled", "_cache_enabled"), settings_of(value), strict=True):
        guards.add("EQUALS_MATCH", sources.attr(source, name), setting)
    if value.device not in ("cpu", "cuda"):
        unsupported("unsupported-context", f"autocast on {value.device}")
    return AutocastVariable(settings_of(value), source)


def _inference_mode(tx: Translator, value: Any, source: Source) -> VariableTracker:
    guards = tx.output.guards
    guards.add("TYPE_MATCH", source, type(value))
    guards.add("EQUALS_MATCH", sources.attr(source, "mode"), value.mode)
    if "_inference_mode_context" in value.__dict__:
        unsupported("unsupported-context", "an inference_mode that was entered before")
    guards.add("DICT_HAS", source, ("_inference_mode_context", False))
    return InferenceModeVariable((value.mode,), source)


def _weak_reference(tx: Translator, value: Any, source: Source) -> VariableTracker:
    tx.output.guards.add("TYPE_MATCH", source, weakref.ref)
    return WeakReferenceVariable(value, source)


def _cache(tx: Translator, value: Any, source: Source) -> VariableTracker:
    tx.output.guards.add("ID_MATCH", source, value)
    return CacheVariable(value, source)


_BY_TYPE: dict[type, Callable[[Any, Any, Source], VariableTracker]] = {
    list: _sequence,
    tuple: _sequence,
    torch.Size: _sequence,
    collections.deque: _deque,
    slice: _slice,
    **dict.fromkeys(DICT_TYPES, _dict),
    set: _set,
    frozenset: _set,
    types.FunctionType: _function,
    types.MethodType: _method,
    functools.partial: _partial,
    torch.no_grad: _grad_mode,
    torch.enable_grad: _grad_mode,
    torch.set_grad_enabled: _grad_mode,
    torch.autocast: _autocast,
    torch.inference_mode: _inference_mode,
    functools._lru_cache_wrapper: _cache,
    weakref.ref: _weak_reference,
}
