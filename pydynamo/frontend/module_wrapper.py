"""What ``compile`` returns for an nn.Module: a module that runs the compiled forward of the original."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch.nn.modules import module as nn_module

from pydynamo.frontend.root import Options
from pydynamo.frontend.wrapper import compiled_function

_BACKWARD_HOOKS = ("_backward_hooks", "_backward_pre_hooks")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", *_BACKWARD_HOOKS)
_GLOBAL_HOOKS = (
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)
_CALL = torch.nn.Module.__call__
_OWN = frozenset({"_orig_mod", "_pydynamo_options", "_forward", "_call", "_is_full_backward_hook"})


def calls_forward_only(module: torch.nn.Module) -> bool:
    """True if calling the module now is calling its class's ``forward`` and nothing else."""
    own = module.__dict__
    return (
        not any(own.get(name) for name in (*_HOOKS, "forward", "_compiled_call_impl"))
        and not any(getattr(nn_module, name) for name in _GLOBAL_HOOKS)
        and type(module).__call__ is _CALL
    )


class OptimizedModule(torch.nn.Module):
    """Stands for ``_orig_mod``: parameters, buffers, attributes and modes are the original's."""

    def __init__(self, module: torch.nn.Module, options: Options) -> None:
        super().__init__()
        self._orig_mod = module
        self._set_up(options)
        self.training = module.training

    def _set_up(self, options: Options) -> None:
        module = self._orig_mod
        forward = module.forward
        object.__setattr__(self, "_pydynamo_options", options)
        if isinstance(forward, types.MethodType) and isinstance(forward.__func__, types.FunctionType):
            compiled: Any = types.MethodType(compiled_function(forward.__func__, options), forward.__self__)
        elif isinstance(forward, types.FunctionType):
            compiled = compiled_function(forward, options)
        else:
            compiled = forward
        object.__setattr__(self, "_forward", compiled)
        object.__setattr__(self, "_call", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled forward at once where calling is nothing more for either module; else all that nn.Module does."""
        own = self.__dict__
        module = own["_modules"]["_orig_mod"]
        theirs = module.__dict__
        if (
            own["_forward_hooks"]
            or own["_forward_pre_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or theirs.get("_forward_hooks")
            or theirs.get("_forward_pre_hooks")
            or theirs.get("_backward_hooks")
            or theirs.get("_backward_pre_hooks")
            or nn_module._global_forward_hooks
            or nn_module._global_forward_pre_hooks
            or nn_module._global_backward_hooks
            or nn_module._global_backward_pre_hooks
            or type(module).__call__ is not _CALL
        ):
            return super().__call__(*args, **kwargs)
        return own["_forward"](*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled forward; with forward hooks, all of the original's call compiled; else hooks around it."""
        module = self._orig_mod
        own = module.__dict__
        if not any(own.get(name) for name in _HOOKS) and type(module).__call__ is _CALL:
            return self._forward(*args, **kwargs)
        lazy = hasattr(module, "_initialize_hook")
        if not lazy and not any(own.get(name) for name in _BACKWARD_HOOKS):
            return self._call_with_hooks(*args, **kwargs)
        had, before = "forward" in own, own.get("forward")
        own["forward"] = self._forward
        try:
            return module(*args, **kwargs)
        finally:
            if had:
                own["forward"] = before
            else:
                own.pop("forward", None)
            if lazy:
                self._set_up(self._pydynamo_options)

    def _call_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        if self._call is None:
            call = type(self._orig_mod).__call__
            made: Any = types.MethodType(call, self._orig_mod)
            if isinstance(call, types.FunctionType):
                compiled = compiled_function(call, self._pydynamo_options)
                made = types.MethodType(compiled, self._orig_mod)
            object.__setattr__(self, "_call", made)
        return self._call(*args, **kwargs)

    def train(self, mode: bool = True) -> OptimizedModule:
        self._orig_mod.train(mode)
        object.__setattr__(self, "training", mode)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if (
            name in _OWN
            or name in ("training", "_parameters", "_buffers", "_modules")
            or (name.startswith("_") and ("_orig_mod" not in self.__dict__.get("_modules", {})))
        ):
            super().__setattr__(name, value)
        elif "_orig_mod" in self.__dict__.get("_modules", {}):
            setattr(self._orig_mod, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_forward", None)
        state.pop("_call", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_up(state["_pydynamo_options"])

    def __deepcopy__(self, memo: dict[int, Any]) -> OptimizedModule:
        import copy

        return OptimizedModule(copy.deepcopy(self._orig_mod, memo), self._pydynamo_options)
