"""nn.Module instances: objects whose parameters, buffers and children are attributes, and whose call runs hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import unsupported
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.iterators import Identity
from pydynamo.frontend.variables.objects import ObjectVariable, lookup

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_STORES = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")
_GLOBAL_HOOKS = (
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
)


class NNModuleVariable(ObjectVariable):
    """A module that exists."""

    def hash_key(self) -> Any:
        return Identity(self)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if lookup(self.cls, "__getattr__")[0] is not torch.nn.Module:
            return super().getattr(tx, name)
        found = self.plain_getattr(tx, name)
        if found is not None:
            return found
        found = self._from_stores(tx, name)
        if found is not None:
            return found
        tx.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    def _from_stores(self, tx: Translator, name: str) -> VariableTracker | None:
        """What nn.Module.__getattr__ finds."""
        assert self.source is not None
        for store in _STORES:
            holder = self.value.__dict__.get(store)
            if holder is None:
                continue
            at = Source("attr", store, self.source)
            if name in holder:
                return LazyVariable(tx, holder[name], sources.item(at, name))
            tx.output.guards.add("HAS_KEY", at, (name, False))
        return None

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if lookup(self.cls, "__setattr__")[0] is not torch.nn.Module:
            return super().setattr(tx, name, value)
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
            tx.ledger.store_attr(self, name, value)
            return
        self.plain_setattr(tx, name, value)

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if not self._plain_call(tx):
            unsupported("opaque-call", f"call of {self.describe()}, which has hooks or its own __call__")
        forward = self.getattr(tx, "forward").realize()
        return forward.call_function(tx, args, kwargs)

    def _plain_call(self, tx: Translator) -> bool:
        """True if calling the module is calling ``forward``; guarded."""
        if lookup(self.cls, "__call__")[1] is not torch.nn.Module.__call__:
            return False
        if lookup(self.cls, "_call_impl")[0] is not torch.nn.Module:
            return False
        assert self.source is not None
        if self.value.__dict__.get("_compiled_call_impl") is not None:
            return False
        for name in _HOOKS:
            hooks = self.value.__dict__.get(name)
            if hooks:
                return False
            tx.output.guards.add("LENGTH", sources.attr(self.source, name), 0)
        module = torch.nn.modules.module
        for name in _GLOBAL_HOOKS:
            hooks = getattr(module, name)
            if hooks:
                return False
            tx.output.guards.add("LENGTH", sources.const(hooks), 0)
        return True

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
            "zero_grad",
            "train",
            "eval",
            "register_module",
        ):
            unsupported("opaque-call", f"nn.Module.{name}")
        return super().call_method(tx, name, args, kwargs)

    def own_attribute(self, tx: Translator, name: str) -> VariableTracker | None:
        if name == "training" and name in self.value.__dict__ and tx.ledger.load_attr(self, name) is None:
            assert self.source is not None
            return LazyVariable(tx, self.value.__dict__[name], sources.attr(self.source, name))
        return super().own_attribute(tx, name)

    def reconstruct(self, cg: Any) -> None:
        unsupported("reconstruction-failure", f"{self.describe()}")
