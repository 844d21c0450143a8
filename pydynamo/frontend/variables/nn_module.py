"""nn.Module instances: objects whose parameters, buffers and children are attributes, and whose call runs hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.lazy import LazyModuleMixin

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import RestartTranslation, unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.class_lookup import lookup, lookup_source
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.objects import ObjectVariable
from pydynamo.frontend.variables.sequence import SequenceVariable, SliceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_STORES = ("_parameters", "_buffers", "_modules")
_BACKWARD_HOOKS = ("_backward_hooks", "_backward_pre_hooks")
_HOOKS = (*_BACKWARD_HOOKS, "_forward_hooks", "_forward_pre_hooks")
MODULE = torch.nn.modules.module


class NNModuleVariable(ObjectVariable):
    """A module that exists."""

    def hash_key(self) -> Any:
        return Identity(self)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if lookup(self.cls, "__getattr__")[0] is not torch.nn.Module:
            return super().getattr(tx, name)
        found = self.found_without_getattr(tx, name)
        if found is not None:
            return found
        found = self._from_stores(tx, name)
        if found is not None:
            return found
        getter = lookup(self.cls, "__getattr__")[1]
        tx.function_at(getter, lookup_source(tx, self.cls, "__getattr__"))  # guarded to be the one that knows no more
        tx.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    def _from_stores(self, tx: Translator, name: str) -> VariableTracker | None:
        """What nn.Module.__getattr__ finds."""
        assert self.source is not None
        for store in _STORES:
            holder = self.value.__dict__.get(store)
            if holder is None:
                continue
            at = Source("attr", store, self.source)
            changed = self._changed_store(tx, holder)
            if changed is not None:
                found = changed.lookup(constant(name))
                if found is not None:
                    return found
                continue
            if name in holder:
                return LazyVariable(tx, holder[name], sources.item(at, name))
            tx.output.guards.add("HAS_KEY", at, (name, False))
        return None

    def _changed_store(self, tx: Translator, holder: Any) -> DictVariable | None:
        """The dictionary of parameters, buffers or modules itself, if the trace has changed it by hand."""
        known = tx.root.by_id.get(id(holder))
        return known if isinstance(known, DictVariable) and known in tx.ledger.contents else None

    def plain_getattr(self, tx: Translator, name: str) -> VariableTracker | None:
        if name == "_buffers":
            stored = tx.ledger.attrs.get(id(self.identity()))
            if stored is not None and any(key in self.value.__dict__.get(name, ()) for key in stored[1]):
                unsupported("inspection", "the dictionary of buffers, one of which was set")
        return super().plain_getattr(tx, name)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if lookup(self.cls, "__setattr__")[0] is not torch.nn.Module:
            return super().setattr(tx, name, value)
        if any(self._changed_store(tx, self.value.__dict__.get(store)) is not None for store in _STORES):
            unsupported("inspection", f"store to {self.describe()}, whose dictionaries were changed by hand")
        kind = value.realize().python_type()
        stores = {store: self.value.__dict__.get(store) or {} for store in _STORES}
        if (
            issubclass(kind, torch.nn.Parameter | torch.nn.Module)
            or name in stores["_parameters"]
            or (name in stores["_modules"])
        ):
            unsupported("unsupported-attribute", f"store of a parameter or module to {self.describe()}")
        if name in stores["_buffers"] and not issubclass(kind, torch.Tensor | None.__class__):
            unsupported("unsupported-attribute", f"store of a {kind.__name__} to buffer {name!r}")
        assert self.source is not None
        for store in _STORES:
            tx.output.guards.add("HAS_KEY", Source("attr", store, self.source), (name, name in stores[store]))
        if name in stores["_buffers"]:
            if id(stores["_buffers"]) in tx.root.by_id:
                unsupported("inspection", "a buffer is set after the dictionary of buffers was looked at")
            tx.ledger.store_attr(self, name, value)
            return
        self.plain_setattr(tx, name, value)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if lookup(self.cls, "__call__")[1] is not torch.nn.Module.__call__ and not self._is_compiled_module():
            return super().call_function(tx, args, kwargs)
        assert self.source is not None
        own = self.value.__dict__
        self._is_not_compiled(tx)
        if lookup(self.cls, "_call_impl")[0] is torch.nn.Module:
            if not self._hooks(tx):
                return self.getattr(tx, "forward").realize().call_function(tx, args, kwargs)
            if isinstance(self.value, LazyModuleMixin) and hasattr(self.value, "_initialize_hook"):
                self._initialize(tx, args, kwargs)
            if any(own.get(name) or getattr(MODULE, f"_global{name}") for name in _BACKWARD_HOOKS):
                unsupported("opaque-call", f"call of {self.describe()}, which has backward hooks")
            if own.get("_forward_hooks_always_called") or MODULE._global_forward_hooks_always_called:
                unsupported("opaque-call", f"call of {self.describe()}, which has hooks that are always called")
        return self.getattr(tx, "_call_impl").realize().call_function(tx, args, kwargs)

    def _is_compiled_module(self) -> bool:
        """True for what ``compile`` gives for a module, whose ``__call__`` is a shorter way to do what nn.Module's does."""
        from pydynamo.frontend.module_wrapper import OptimizedModule

        return self.cls is OptimizedModule

    def _is_not_compiled(self, tx: Translator) -> None:
        """Guard that ``module.compile()`` was not called: it would set an attribute that is None on the class."""
        name = "_compiled_call_impl"
        if self.value._compiled_call_impl is not None:
            unsupported("opaque-call", f"call of {self.describe()}, which is compiled already")
        assert self.source is not None
        guards = tx.output.guards
        if name in self.value.__dict__:
            guards.add("ID_MATCH", sources.attr(self.source, name), None)
        else:
            guards.add("DICT_HAS", self.source, (name, False))
            guards.add("ID_MATCH", lookup_source(tx, self.cls, name), None)

    def _hooks(self, tx: Translator) -> bool:
        """True if calling the module is more than calling ``forward``; guarded."""
        assert self.source is not None
        found = False
        for name in _HOOKS:
            hooks = self.value.__dict__.get(name)
            found = found or bool(hooks)
            if not hooks:
                tx.output.guards.add("LENGTH", sources.attr(self.source, name), 0)
        for name in _HOOKS:
            hooks = getattr(MODULE, "_global" + name)
            found = found or bool(hooks)
            tx.output.guards.add("LENGTH", sources.const(hooks), len(hooks))
        return found

    def _initialize(self, tx: Translator, args: Args, kwargs: Kwargs) -> None:
        """A lazy module takes its parameters' shapes from its first input: done now, then translated again."""
        module = self.value
        drawn = any(
            word in str(node.target) for node in tx.output.graph.nodes for word in ("rand", "drop", "norm", "bern")
        )
        if drawn or len(module._forward_pre_hooks) != 1:
            unsupported("opaque-call", f"call of {self.describe()}, which is not initialized")
        values = [arg.realize().as_fake() for arg in args]
        keywords = {name: arg.realize().as_fake() for name, arg in kwargs.items()}
        tx.output.propagate(lambda: _infer(module, values, keywords), "initialization of a lazy module")
        raise RestartTranslation("static", f"{self.describe()} is initialized")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name in (
            "register_forward_hook",
            "register_parameter",
            "register_buffer",
            "add_module",
            "apply",
            "to",
            "cuda",
            "cpu",
            "float",
            "half",
            "double",
            "state_dict",
            "load_state_dict",
            "requires_grad_",
            "train",
            "eval",
            "register_module",
        ):
            unsupported("opaque-call", f"nn.Module.{name}")
        return super().call_method(tx, name, args, kwargs)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        container = self.cls if self.cls in (torch.nn.ModuleList, torch.nn.Sequential) else None
        if container is None or not isinstance(key, SliceVariable):
            return super().getitem(tx, key)
        from pydynamo.frontend.protocols import iterate

        return ModuleSliceVariable(container, list(iterate(tx, self))[key.as_slice(tx)])

    def own_attribute(self, tx: Translator, name: str) -> VariableTracker | None:
        if name == "training" and name in self.value.__dict__ and tx.ledger.load_attr(self, name) is None:
            assert self.source is not None
            return LazyVariable(tx, self.value.__dict__[name], sources.attr(self.source, name))
        return super().own_attribute(tx, name)

    def reconstruct(self, cg: Any) -> None:
        unsupported("reconstruction-failure", f"{self.describe()}")


def _infer(module: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
    from torch.utils._python_dispatch import _disable_current_modes

    with disable_proxy_modes_tracing(), _disable_current_modes():
        module._infer_parameters(module, args, kwargs)


class ModuleSliceVariable(VariableTracker):
    """``modules[a:b]`` of a ModuleList or Sequential, made in the trace: only walked, indexed and called."""

    def __init__(self, cls: type, items: list[VariableTracker]) -> None:
        self.cls = cls
        self.items = items

    def python_type(self) -> type:
        return self.cls

    def truth(self, tx: Translator) -> bool:
        return bool(self.items)

    def length(self, tx: Translator) -> VariableTracker:
        return constant(len(self.items))

    def get_iter(self, tx: Translator) -> VariableTracker:
        return SequenceVariable(list(self.items), list).get_iter(tx)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        if isinstance(key, SliceVariable):
            return ModuleSliceVariable(self.cls, self.items[key.as_slice(tx)])
        if not key.is_constant() or type(key.as_constant()) is not int:
            unsupported("unsupported-operator", f"index {key.describe()} of a {self.cls.__name__}")
        index = key.as_constant()
        if not -len(self.items) <= index < len(self.items):
            tx.raise_error(IndexError, f"index {index} is out of range")
        return self.items[index]

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.cls is not torch.nn.Sequential or len(args) != 1 or kwargs:
            return super().call_function(tx, args, kwargs)
        value = args[0]
        for item in self.items:
            value = item.realize().call_function(tx, [value], {})
        return value

    def children(self) -> list[VariableTracker]:
        return self.items

    def reconstruct(self, cg: Any) -> None:
        unsupported("reconstruction-failure", f"a slice of a {self.cls.__name__}")
