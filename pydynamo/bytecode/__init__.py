"""The assembler: any code object in, editable instructions, a legal code object out.

    >>> from pydynamo import bytecode
    >>> def f(x):
    ...     return x + 1
    >>> def double_constants(instructions, code_options):
    ...     for inst in instructions:
    ...         if inst.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and isinstance(inst.argval, int):
    ...             inst.argval *= 2
    >>> f.__code__ = bytecode.transform_code_object(f.__code__, double_constants)
    >>> f(40)
    42

Instructions are ordinary objects in an ordinary list: insert, delete, move and share them; jump targets and
exception regions are references to other instructions. Whatever comes out was proved safe to run, or
`BytecodeError` says what is wrong with it. Names and meanings are those of torch Dynamo's
``bytecode_transformation`` and ``bytecode_analysis``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydynamo._core import (
    JUMP_OPCODES,
    TERMINAL_OPCODES,
    Instruction,
    InstructionExnTabEntry,
    _NotProvided,
    clean_and_assemble_instructions,
    cleaned_instructions,
    code_options,
    create_instruction,
    inst_has_op_bits,
    instruction_size,
    instrument_blocks,
    instrument_lines,
    roundtrip,
    shuffled,
    stacksize_analysis,
    swept,
    transform_code_object,
    verify,
)
from pydynamo.bytecode.edit import (
    bytecode_from_template,
    clear_instruction_args,
    explicit_super,
    get_code_keys,
    is_generator,
    overwrite_instruction,
    remove_binary_store_slice,
    remove_fused_load_store,
    remove_jump_if_none,
    strip_extended_args,
    unique_id,
)
from pydynamo.errors import BytecodeError

if TYPE_CHECKING:
    from pydynamo.bytecode.analysis import (
        get_indexof,
        livevars_analysis,
        propagate_line_nums,
        remove_dead_code,
        remove_extra_line_nums,
        remove_pointless_jumps,
    )
    from pydynamo.bytecode.create import (
        add_push_null,
        add_push_null_call_function_ex,
        create_binary_slice,
        create_binary_subscr,
        create_breakpoint,
        create_build_tuple,
        create_call_function,
        create_call_function_ex,
        create_call_method,
        create_copy,
        create_dup_top,
        create_jump_absolute,
        create_load_const,
        create_load_method,
        create_print_on_stack,
        create_print_value,
        create_rot_n,
        create_setup_with,
        create_swap,
    )
    from pydynamo.bytecode.passes import (
        compute_exception_table,
        devirtualize_jumps,
        fix_extended_args,
        fix_vars,
        update_offsets,
        virtualize_exception_table,
        virtualize_jumps,
    )
    from pydynamo.bytecode.tables import (
        ExceptionTableEntry,
        assemble_exception_table,
        check_exception_table,
        decode_exception_table_varint,
        encode_exception_table_varint,
        encode_varint,
        parse_exception_table,
    )
    from pydynamo.bytecode.text import format, parse

#: what is loaded when it is first used: the module of each name
_MODULES = {
    **dict.fromkeys(
        (
            "get_indexof",
            "livevars_analysis",
            "propagate_line_nums",
            "remove_dead_code",
            "remove_extra_line_nums",
            "remove_pointless_jumps",
        ),
        "analysis",
    ),
    **dict.fromkeys(
        (
            "add_push_null",
            "add_push_null_call_function_ex",
            "create_binary_slice",
            "create_binary_subscr",
            "create_breakpoint",
            "create_build_tuple",
            "create_call_function",
            "create_call_function_ex",
            "create_call_method",
            "create_copy",
            "create_dup_top",
            "create_jump_absolute",
            "create_load_const",
            "create_load_method",
            "create_print_on_stack",
            "create_print_value",
            "create_rot_n",
            "create_setup_with",
            "create_swap",
        ),
        "create",
    ),
    **dict.fromkeys(
        (
            "compute_exception_table",
            "devirtualize_jumps",
            "fix_extended_args",
            "fix_vars",
            "update_offsets",
            "virtualize_exception_table",
            "virtualize_jumps",
        ),
        "passes",
    ),
    **dict.fromkeys(
        (
            "ExceptionTableEntry",
            "assemble_exception_table",
            "check_exception_table",
            "decode_exception_table_varint",
            "encode_exception_table_varint",
            "encode_varint",
            "parse_exception_table",
        ),
        "tables",
    ),
    **dict.fromkeys(
        (
            "format",
            "parse",
        ),
        "text",
    ),
}

__all__ = [
    "JUMP_OPCODES",
    "TERMINAL_OPCODES",
    "BytecodeError",
    "ExceptionTableEntry",
    "Instruction",
    "InstructionExnTabEntry",
    "_NotProvided",
    "add_push_null",
    "add_push_null_call_function_ex",
    "assemble_exception_table",
    "bytecode_from_template",
    "check_exception_table",
    "clean_and_assemble_instructions",
    "cleaned_instructions",
    "clear_instruction_args",
    "code_options",
    "compute_exception_table",
    "create_binary_slice",
    "create_binary_subscr",
    "create_breakpoint",
    "create_build_tuple",
    "create_call_function",
    "create_call_function_ex",
    "create_call_method",
    "create_copy",
    "create_dup_top",
    "create_instruction",
    "create_jump_absolute",
    "create_load_const",
    "create_load_method",
    "create_print_on_stack",
    "create_print_value",
    "create_rot_n",
    "create_setup_with",
    "create_swap",
    "decode_exception_table_varint",
    "devirtualize_jumps",
    "encode_exception_table_varint",
    "encode_varint",
    "explicit_super",
    "fix_extended_args",
    "fix_vars",
    "format",
    "get_code_keys",
    "get_indexof",
    "inst_has_op_bits",
    "instruction_size",
    "instrument_blocks",
    "instrument_lines",
    "is_generator",
    "livevars_analysis",
    "overwrite_instruction",
    "parse",
    "parse_exception_table",
    "propagate_line_nums",
    "remove_binary_store_slice",
    "remove_dead_code",
    "remove_extra_line_nums",
    "remove_fused_load_store",
    "remove_jump_if_none",
    "remove_pointless_jumps",
    "roundtrip",
    "shuffled",
    "stacksize_analysis",
    "strip_extended_args",
    "swept",
    "transform_code_object",
    "unique_id",
    "update_offsets",
    "verify",
    "virtualize_exception_table",
    "virtualize_jumps",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'pydynamo.bytecode' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"pydynamo.bytecode.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
