"""What Triton's interpreter works out again for every operation of every program, remembered.

It changes no result: types and shapes are built once, equal operands skip the promotion and broadcasting that would
return them as they are, and a kernel is parsed and compiled once.
"""

from __future__ import annotations

import ast
import functools
import linecache
from typing import Any

import numpy as np

KERNEL = "pydynamo kernel "  # how the file names of kernels begin
SELF_COMPUTING = {"int1", "int32", "int64", "fp32", "fp64"}  # an operation on two of a kind has that kind


def install(interp: Any, tl: Any) -> None:
    """Speed up the interpreter of this process; the language must not be patched yet."""
    _remember_types(tl.core)
    _remember_array_types(interp, tl)
    _shorten_operators(interp, tl)
    _shorten_calls(interp, tl)
    _parse_once(interp)


def _remember_types(core: Any) -> None:
    block, tensor = core.block_type, core.tensor
    make_block, make_tensor = block.__init__, tensor.__init__
    blocks: dict[Any, dict[str, Any]] = {}
    tensors: dict[Any, dict[str, Any]] = {}

    def block_type(self: Any, element_ty: Any, shape: Any) -> None:
        sizes = tuple([s if type(s) is int else s.value for s in shape])
        known = blocks.get((sizes, element_ty.name))
        if known is None:
            make_block(self, element_ty, shape)
            self.sizes = sizes
            blocks[sizes, element_ty.name] = dict(self.__dict__)
        else:
            self.__dict__.update(known)
            self.element_ty = element_ty

    def new_tensor(self: Any, handle: Any, type: Any) -> None:
        sizes = getattr(type, "sizes", ())
        known = tensors.get(sizes)
        if known is None:
            make_tensor(self, handle, type)
            tensors[sizes] = {k: v for k, v in self.__dict__.items() if k not in ("handle", "type", "dtype")}
        else:
            self.__dict__.update(known)
            self.handle, self.type, self.dtype = handle, type, type.scalar

    block.__init__, tensor.__init__ = block_type, new_tensor


def _remember_array_types(interp: Any, tl: Any) -> None:
    original = interp._get_np_dtype
    known: dict[str, Any] = {}

    def array_type(t: Any) -> Any:
        element = t.element_ty if isinstance(t, tl.block_type) else t
        if isinstance(element, tl.pointer_type):
            return original(element)
        found = known.get(element.name)
        if found is None:
            found = known[element.name] = np.dtype(original(element))
        return found

    interp._get_np_dtype = array_type


def _shorten_operators(interp: Any, tl: Any) -> None:
    semantic, block = interp.TritonSemantic, tl.core.block_type
    check, spread = semantic.binary_op_type_checking_impl, semantic.broadcast_impl_value

    def same_block(a: Any, b: Any) -> bool:
        return type(a) is block and type(b) is block and a.sizes == b.sizes

    def checked(self: Any, lhs: Any, rhs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(lhs, tl.tensor) and isinstance(rhs, tl.tensor):
            a, b = lhs.type, rhs.type
            if same_block(a, b) and a.element_ty.name == b.element_ty.name and a.element_ty.name in SELF_COMPUTING:
                return lhs, rhs
        return check(self, lhs, rhs, *args, **kwargs)

    def broadcast(self: Any, lhs: Any, rhs: Any) -> Any:
        return (lhs, rhs) if same_block(lhs.type, rhs.type) else spread(self, lhs, rhs)

    semantic.binary_op_type_checking_impl, semantic.broadcast_impl_value = checked, broadcast


def _shorten_calls(interp: Any, tl: Any) -> None:
    def patch_attr(obj: Any, name: str, member: Any, builder: Any, scope: Any) -> None:
        semantic = interp.TritonSemantic(builder)
        inner = getattr(member, "__wrapped__", member)  # without the check that _semantic is given

        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                kwargs["_semantic"] = semantic
                return inner(*args, **kwargs)
            return inner(*args, _semantic=semantic)

        functools.update_wrapper(call, member, updated=())
        scope.set_attr(obj, name, call)

    interp._patch_attr = patch_attr


def _parse_once(interp: Any) -> None:
    """What :func:`functions_of` makes needs no rewriting."""
    original = interp.InterpretedFunction.rewrite

    def rewrite(self: Any) -> Any:
        return self.fn if self.fn.__code__.co_filename.startswith(KERNEL) else original(self)

    interp.InterpretedFunction.rewrite = rewrite


def functions_of(text: str, name: str) -> dict[str, Any]:
    """The names that a kernel's source defines, its functions already in the form that the interpreter runs.

    An assigned number becomes a tensor there, as in compiled code.
    """
    import triton.runtime.interpreter as interp

    filename = KERNEL + name
    tree = ast.parse(text, filename)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            node.value = _as_tensor(node.value)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {"__name__": filename, "interpreter_semantic": interp.interpreter_semantic}
    exec(compile(tree, filename, "exec"), names)
    return names


def forget(name: str) -> None:
    """Drop the text that tracebacks show for the kernel called `name`."""
    linecache.cache.pop(KERNEL + name, None)


def _as_tensor(value: ast.expr) -> ast.expr:
    to = ast.copy_location(ast.Name("interpreter_semantic", ast.Load()), value)
    to_tensor = ast.copy_location(ast.Attribute(to, "to_tensor", ast.Load()), value)
    unchecked = ast.copy_location(ast.Constant(False), value)
    return ast.copy_location(ast.Call(to_tensor, [value, unchecked], []), value)
