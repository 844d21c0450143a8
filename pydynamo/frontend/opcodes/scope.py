"""Opcodes of names beyond locals: globals, cells, attributes, imports, functions made on the way."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from pydynamo.frontend import source as sources
from pydynamo.frontend.dispatch import op
from pydynamo.frontend.exc import ObservedException, unsupported
from pydynamo.frontend.side_effects import DELETED
from pydynamo.frontend.source import Source
from pydynamo.frontend.variables.base import NullVariable, VariableTracker
from pydynamo.frontend.variables.builtin import BuiltinVariable
from pydynamo.frontend.variables.constant import constant
from pydynamo.frontend.variables.dicts import DictVariable
from pydynamo.frontend.variables.exceptions import tell_attribute
from pydynamo.frontend.variables.functions import NestedFunctionVariable
from pydynamo.frontend.variables.sequence import SequenceVariable

if TYPE_CHECKING:
    from pydynamo.frontend.translator import Translator

_NULL_AFTER = sys.version_info >= (3, 13)


@op("LOAD_GLOBAL")
def _load_global(tx: Translator, inst: Any) -> None:
    value = tx.load_global(inst.argval)
    if inst.arg & 1:
        if _NULL_AFTER:
            tx.push(value)
            tx.push(NullVariable())
            return
        tx.push(NullVariable())
    tx.push(value)


@op("LOAD_NAME")
def _load_name(tx: Translator, inst: Any) -> None:
    value = _namespace(tx).lookup(constant(inst.argval))
    tx.push(value if value is not None else tx.load_global(inst.argval))


def _namespace(tx: Translator) -> DictVariable:
    if tx.namespace is None:
        unsupported("class-body", "names of a module or class body")
    return tx.namespace


@op("STORE_NAME")
def _store_name(tx: Translator, inst: Any) -> None:
    _namespace(tx).put(constant(inst.argval), tx.stack.pop())


@op("DELETE_NAME")
def _delete_name(tx: Translator, inst: Any) -> None:
    if _namespace(tx).entries.pop(inst.argval, None) is None:
        tx.raise_error(NameError, f"name '{inst.argval}' is not defined")


@op("LOAD_LOCALS")
def _load_locals(tx: Translator, inst: Any) -> None:
    tx.push(_namespace(tx))


@op("LOAD_CLASSDEREF")
def _load_classderef(tx: Translator, inst: Any) -> None:
    value = _namespace(tx).lookup(constant(inst.argval))
    tx.push(value if value is not None else tx.load_cell(inst.argval))


@op("LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS")
def _load_from_dict(tx: Translator, inst: Any) -> None:
    names = tx.pop()
    if not isinstance(names, DictVariable):
        unsupported("class-body", "a namespace that is no dictionary")
    value = names.lookup(constant(inst.argval))
    if value is None:
        beyond = tx.load_cell if inst.opname == "LOAD_FROM_DICT_OR_DEREF" else tx.load_global
        value = beyond(inst.argval)
    tx.push(value)


@op("SETUP_ANNOTATIONS")
def _setup_annotations(tx: Translator, inst: Any) -> None:
    namespace = _namespace(tx)
    if namespace.lookup(constant("__annotations__")) is None:
        namespace.put(constant("__annotations__"), DictVariable({}))


@op("STORE_GLOBAL")
def _store_global(tx: Translator, inst: Any) -> None:
    tx.ledger.store_global(tx.scope, inst.argval, tx.stack.pop())


@op("DELETE_GLOBAL")
def _delete_global(tx: Translator, inst: Any) -> None:
    stored = tx.ledger.load_global(tx.scope, inst.argval)
    if stored is DELETED or (stored is None and inst.argval not in tx.scope):
        if stored is None:
            tx.builtin(inst.argval)  # guards that the module lacks it
        tx.raise_error(NameError, f"name '{inst.argval}' is not defined")
    tx.load_global(inst.argval).realize()  # guards that it is there
    tx.ledger.store_global(tx.scope, inst.argval, DELETED)


@op("LOAD_DEREF")
def _load_deref(tx: Translator, inst: Any) -> None:
    tx.push(tx.load_cell(inst.argval))


@op("STORE_DEREF")
def _store_deref(tx: Translator, inst: Any) -> None:
    tx.store_cell(inst.argval, tx.stack.pop())


@op("DELETE_DEREF")
def _delete_deref(tx: Translator, inst: Any) -> None:
    tx.load_cell(inst.argval).realize()  # guards that it is there
    tx.store_cell(inst.argval, DELETED)


def _attribute(tx: Translator, name: str) -> VariableTracker:
    owner = tx.pop()
    try:
        return owner.getattr(tx, name)
    except ObservedException as error:
        tell_attribute(error.vt, owner, name)
        raise


@op("LOAD_ATTR")
def _load_attr(tx: Translator, inst: Any) -> None:
    value = _attribute(tx, inst.argval)
    if sys.version_info >= (3, 12) and inst.arg & 1:
        # stack: method, self | NULL (before 3.13: NULL, callable); a bound value with an empty slot is always allowed
        if _NULL_AFTER:
            tx.push(value)
            tx.push(NullVariable())
        else:
            tx.push(NullVariable())
            tx.push(value)
        return
    tx.push(value)


@op("LOAD_METHOD")
def _load_method(tx: Translator, inst: Any) -> None:
    value = _attribute(tx, inst.argval)
    tx.push(NullVariable())
    tx.push(value)


@op("LOAD_SUPER_ATTR")
def _load_super_attr(tx: Translator, inst: Any) -> None:
    function, cls, owner = tx.popn(3)
    if function.realize().identity() is not super:
        unsupported("unsupported-builtin", "a super() that is not the builtin")
    value = tx.make_super([cls, owner]).getattr(tx, inst.argval)
    if inst.arg & 1:
        pair = [value, NullVariable()] if _NULL_AFTER else [NullVariable(), value]
        for part in pair:
            tx.push(part)
    else:
        tx.push(value)


@op("STORE_ATTR")
def _store_attr(tx: Translator, inst: Any) -> None:
    owner = tx.pop()
    value = tx.stack.pop()
    owner.setattr(tx, inst.argval, value)


@op("DELETE_ATTR")
def _delete_attr(tx: Translator, inst: Any) -> None:
    tx.pop().delattr(tx, inst.argval)


@op("IMPORT_NAME")
def _import_name(tx: Translator, inst: Any) -> None:
    fromlist, level = tx.pop(), tx.stack[-1].realize()
    tx.stack.pop()
    name = inst.argval
    names = fromlist.as_constant()
    package = tx.scope.get("__package__") or tx.scope.get("__name__", "")
    full = importlib.util.resolve_name("." * level.as_constant() + name, package) if level.as_constant() else name
    module = sys.modules.get(full)
    if module is None:
        unsupported("import", f"first import of {full}")
    asked = [full] if names is not None or level.as_constant() else [full, full.partition(".")[0]]
    module = sys.modules[asked[-1]]
    loaded = sources.const(sys.modules)
    for one in asked:  # another module may take its place
        tx.output.guards.add("ID_MATCH", Source("dictitem", one, loaded), sys.modules[one])
    tx.push(tx.wrap_at(module, sources.const(module)))


@op("IMPORT_FROM")
def _import_from(tx: Translator, inst: Any) -> None:
    module = tx.stack[-1].realize()
    try:
        tx.push(module.getattr(tx, inst.argval))
    except ObservedException as error:
        if not issubclass(error.vt.python_type(), AttributeError):
            raise
        unsupported("import", f"{inst.argval} of {module.describe()}, which lacks it")  # a submodule, or an ImportError


@op("MAKE_FUNCTION")
def _make_function(tx: Translator, inst: Any) -> None:
    code = tx.pop().as_constant()
    fn = NestedFunctionVariable(code, tx.scope, [])
    flags = (inst.arg or 0) if not _NULL_AFTER else 0
    for flag in (8, 4, 2, 1):
        if flags & flag:
            _set_function_part(tx, fn, flag)
    tx.push(fn)


@op("SET_FUNCTION_ATTRIBUTE")
def _set_function_attribute(tx: Translator, inst: Any) -> None:
    fn = tx.pop()
    assert isinstance(fn, NestedFunctionVariable)
    _set_function_part(tx, fn, inst.arg)
    tx.push(fn)


def _set_function_part(tx: Translator, fn: NestedFunctionVariable, flag: int) -> None:
    value = tx.pop()
    if flag == 8:
        assert isinstance(value, SequenceVariable)
        fn.closure = list(value.items)  # type: ignore[arg-type]
    elif flag == 1:
        assert isinstance(value, SequenceVariable)
        fn.default_values = list(value.items)
    elif flag == 2:
        assert isinstance(value, DictVariable)
        fn.kwdefault_values = {k.realize().as_constant(): v for k, v in value.entries.values()}
    else:
        fn.annotations = value


@op("LOAD_BUILD_CLASS")
def _load_build_class(tx: Translator, inst: Any) -> None:
    tx.push(BuiltinVariable(builtins.__build_class__, sources.const(builtins.__build_class__)))
