"""``os.environ`` and ``os.getenv``: a variable that is read is guarded, the others are not looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.variables.base import Args, Kwargs, LazyVariable, VariableTracker
from pydynamo.frontend.variables.constant import constant, run_python
from pydynamo.frontend.variables.exceptions import ExceptionVariable, set_context

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator


def getitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``os.environ[key]``"""
    from pydynamo.frontend.variables.objects import ObjectVariable

    owner = args[0].realize() if args else None
    if len(args) != 2 or kwargs or not isinstance(owner, ObjectVariable) or type(owner.value) is not os._Environ:
        unsupported("io", "a call of os.environ's own method")
    key = args[1].realize()
    if not key.is_constant() or owner.source is None:
        unsupported("io", f"os.environ at {key.describe()}")
    environment: Any = owner.value
    encoded = run_python(tx, lambda: environment.encodekey(key.as_constant()))
    data = sources.attr(owner.source, "_data")
    present = encoded in environment._data
    tx.output.guards.add("HAS_KEY", data, (encoded, present))
    if not present:
        raise ObservedException(_missing(tx, key, encoded), fresh=False)
    value = LazyVariable(tx, environment._data[encoded], sources.item(data, encoded)).realize()
    return constant(environment.decodevalue(value.as_constant()))


def _missing(tx: Translator, key: VariableTracker, encoded: Any) -> VariableTracker:
    """The error of ``os.environ``, which hides the one of the table below it."""
    inside, error = ExceptionVariable(KeyError, [constant(encoded)]), ExceptionVariable(KeyError, [key])
    if tx.root.handled:
        set_context(inside, tx.root.handled[-1])
    set_context(error, inside)
    error.suppress = True
    return error


def getenv(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """``os.getenv(key, default=None)``"""
    environment = tx.wrap_at(os.environ, sources.attr(sources.const(os), "environ"))
    return environment.call_method(tx, "get", args, kwargs)
