//! Every opcode of every supported CPython, under one name. Written by `scripts/gen_tables.py`: do not edit.

/// An operation, whatever number it has in a given version (see [`crate::tables::Tables`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(non_camel_case_types)]
pub enum Op {
    /// An opcode without a meaning for assembly: unassigned, instrumented or specialised.
    INVALID,
    /// In CPython 3.11.
    ASYNC_GEN_WRAP,
    /// In CPython 3.11 to 3.13.
    BEFORE_ASYNC_WITH,
    /// In CPython 3.11 to 3.13.
    BEFORE_WITH,
    /// In CPython 3.11 to 3.15.
    BINARY_OP,
    /// In CPython 3.12 to 3.15.
    BINARY_SLICE,
    /// In CPython 3.11 to 3.13.
    BINARY_SUBSCR,
    /// In CPython 3.11 to 3.13.
    BUILD_CONST_KEY_MAP,
    /// In CPython 3.14 to 3.15.
    BUILD_INTERPOLATION,
    /// In CPython 3.11 to 3.15.
    BUILD_LIST,
    /// In CPython 3.11 to 3.15.
    BUILD_MAP,
    /// In CPython 3.11 to 3.15.
    BUILD_SET,
    /// In CPython 3.11 to 3.15.
    BUILD_SLICE,
    /// In CPython 3.11 to 3.15.
    BUILD_STRING,
    /// In CPython 3.14 to 3.15.
    BUILD_TEMPLATE,
    /// In CPython 3.11 to 3.15.
    BUILD_TUPLE,
    /// In CPython 3.11 to 3.15.
    CACHE,
    /// In CPython 3.11 to 3.15.
    CALL,
    /// In CPython 3.11 to 3.15.
    CALL_FUNCTION_EX,
    /// In CPython 3.12 to 3.15.
    CALL_INTRINSIC_1,
    /// In CPython 3.12 to 3.15.
    CALL_INTRINSIC_2,
    /// In CPython 3.13 to 3.15.
    CALL_KW,
    /// In CPython 3.11 to 3.15.
    CHECK_EG_MATCH,
    /// In CPython 3.11 to 3.15.
    CHECK_EXC_MATCH,
    /// In CPython 3.12 to 3.15.
    CLEANUP_THROW,
    /// In CPython 3.11 to 3.15.
    COMPARE_OP,
    /// In CPython 3.11 to 3.15.
    CONTAINS_OP,
    /// In CPython 3.13 to 3.15.
    CONVERT_VALUE,
    /// In CPython 3.11 to 3.15.
    COPY,
    /// In CPython 3.11 to 3.15.
    COPY_FREE_VARS,
    /// In CPython 3.11 to 3.15.
    DELETE_ATTR,
    /// In CPython 3.11 to 3.15.
    DELETE_DEREF,
    /// In CPython 3.11 to 3.15.
    DELETE_FAST,
    /// In CPython 3.11 to 3.15.
    DELETE_GLOBAL,
    /// In CPython 3.11 to 3.15.
    DELETE_NAME,
    /// In CPython 3.11 to 3.15.
    DELETE_SUBSCR,
    /// In CPython 3.11 to 3.15.
    DICT_MERGE,
    /// In CPython 3.11 to 3.15.
    DICT_UPDATE,
    /// In CPython 3.11 to 3.15.
    END_ASYNC_FOR,
    /// In CPython 3.12 to 3.15.
    END_FOR,
    /// In CPython 3.12 to 3.15.
    END_SEND,
    /// In CPython 3.13 to 3.15.
    ENTER_EXECUTOR,
    /// In CPython 3.13 to 3.15.
    EXIT_INIT_CHECK,
    /// In CPython 3.11 to 3.15.
    EXTENDED_ARG,
    /// In CPython 3.13 to 3.15.
    FORMAT_SIMPLE,
    /// In CPython 3.11 to 3.12.
    FORMAT_VALUE,
    /// In CPython 3.13 to 3.15.
    FORMAT_WITH_SPEC,
    /// In CPython 3.11 to 3.15.
    FOR_ITER,
    /// In CPython 3.11 to 3.15.
    GET_AITER,
    /// In CPython 3.11 to 3.15.
    GET_ANEXT,
    /// In CPython 3.11 to 3.15.
    GET_AWAITABLE,
    /// In CPython 3.11 to 3.15.
    GET_ITER,
    /// In CPython 3.11 to 3.15.
    GET_LEN,
    /// In CPython 3.11 to 3.14.
    GET_YIELD_FROM_ITER,
    /// In CPython 3.11 to 3.15.
    IMPORT_FROM,
    /// In CPython 3.11 to 3.15.
    IMPORT_NAME,
    /// In CPython 3.11.
    IMPORT_STAR,
    /// In CPython 3.12 to 3.15.
    INTERPRETER_EXIT,
    /// In CPython 3.11 to 3.15.
    IS_OP,
    /// In CPython 3.11 to 3.15.
    JUMP_BACKWARD,
    /// In CPython 3.11 to 3.15.
    JUMP_BACKWARD_NO_INTERRUPT,
    /// In CPython 3.11 to 3.15.
    JUMP_FORWARD,
    /// In CPython 3.11.
    JUMP_IF_FALSE_OR_POP,
    /// In CPython 3.11.
    JUMP_IF_TRUE_OR_POP,
    /// In CPython 3.11 to 3.12.
    KW_NAMES,
    /// In CPython 3.11 to 3.15.
    LIST_APPEND,
    /// In CPython 3.11 to 3.15.
    LIST_EXTEND,
    /// In CPython 3.11.
    LIST_TO_TUPLE,
    /// In CPython 3.11 to 3.13.
    LOAD_ASSERTION_ERROR,
    /// In CPython 3.11 to 3.15.
    LOAD_ATTR,
    /// In CPython 3.11 to 3.15.
    LOAD_BUILD_CLASS,
    /// In CPython 3.11.
    LOAD_CLASSDEREF,
    /// In CPython 3.11 to 3.12.
    LOAD_CLOSURE,
    /// In CPython 3.14 to 3.15.
    LOAD_COMMON_CONSTANT,
    /// In CPython 3.11 to 3.15.
    LOAD_CONST,
    /// In CPython 3.11 to 3.15.
    LOAD_DEREF,
    /// In CPython 3.11 to 3.15.
    LOAD_FAST,
    /// In CPython 3.12 to 3.15.
    LOAD_FAST_AND_CLEAR,
    /// In CPython 3.14 to 3.15.
    LOAD_FAST_BORROW,
    /// In CPython 3.14 to 3.15.
    LOAD_FAST_BORROW_LOAD_FAST_BORROW,
    /// In CPython 3.12 to 3.15.
    LOAD_FAST_CHECK,
    /// In CPython 3.13 to 3.15.
    LOAD_FAST_LOAD_FAST,
    /// In CPython 3.12 to 3.15.
    LOAD_FROM_DICT_OR_DEREF,
    /// In CPython 3.12 to 3.15.
    LOAD_FROM_DICT_OR_GLOBALS,
    /// In CPython 3.11 to 3.15.
    LOAD_GLOBAL,
    /// In CPython 3.12 to 3.15.
    LOAD_LOCALS,
    /// In CPython 3.11.
    LOAD_METHOD,
    /// In CPython 3.11 to 3.15.
    LOAD_NAME,
    /// In CPython 3.14 to 3.15.
    LOAD_SMALL_INT,
    /// In CPython 3.14 to 3.15.
    LOAD_SPECIAL,
    /// In CPython 3.12 to 3.15.
    LOAD_SUPER_ATTR,
    /// In CPython 3.11 to 3.15.
    MAKE_CELL,
    /// In CPython 3.11 to 3.15.
    MAKE_FUNCTION,
    /// In CPython 3.11 to 3.15.
    MAP_ADD,
    /// In CPython 3.11 to 3.15.
    MATCH_CLASS,
    /// In CPython 3.11 to 3.15.
    MATCH_KEYS,
    /// In CPython 3.11 to 3.15.
    MATCH_MAPPING,
    /// In CPython 3.11 to 3.15.
    MATCH_SEQUENCE,
    /// In CPython 3.11 to 3.15.
    NOP,
    /// In CPython 3.14 to 3.15.
    NOT_TAKEN,
    /// In CPython 3.11 to 3.15.
    POP_EXCEPT,
    /// In CPython 3.14 to 3.15.
    POP_ITER,
    /// In CPython 3.11.
    POP_JUMP_BACKWARD_IF_FALSE,
    /// In CPython 3.11.
    POP_JUMP_BACKWARD_IF_NONE,
    /// In CPython 3.11.
    POP_JUMP_BACKWARD_IF_NOT_NONE,
    /// In CPython 3.11.
    POP_JUMP_BACKWARD_IF_TRUE,
    /// In CPython 3.11.
    POP_JUMP_FORWARD_IF_FALSE,
    /// In CPython 3.11.
    POP_JUMP_FORWARD_IF_NONE,
    /// In CPython 3.11.
    POP_JUMP_FORWARD_IF_NOT_NONE,
    /// In CPython 3.11.
    POP_JUMP_FORWARD_IF_TRUE,
    /// In CPython 3.12 to 3.15.
    POP_JUMP_IF_FALSE,
    /// In CPython 3.12 to 3.15.
    POP_JUMP_IF_NONE,
    /// In CPython 3.12 to 3.15.
    POP_JUMP_IF_NOT_NONE,
    /// In CPython 3.12 to 3.15.
    POP_JUMP_IF_TRUE,
    /// In CPython 3.11 to 3.15.
    POP_TOP,
    /// In CPython 3.11.
    PRECALL,
    /// In CPython 3.11.
    PREP_RERAISE_STAR,
    /// In CPython 3.11.
    PRINT_EXPR,
    /// In CPython 3.11 to 3.15.
    PUSH_EXC_INFO,
    /// In CPython 3.11 to 3.15.
    PUSH_NULL,
    /// In CPython 3.11 to 3.15.
    RAISE_VARARGS,
    /// In CPython 3.11 to 3.15.
    RERAISE,
    /// In CPython 3.12 to 3.15.
    RESERVED,
    /// In CPython 3.11 to 3.15.
    RESUME,
    /// In CPython 3.12 to 3.13.
    RETURN_CONST,
    /// In CPython 3.11 to 3.15.
    RETURN_GENERATOR,
    /// In CPython 3.11 to 3.15.
    RETURN_VALUE,
    /// In CPython 3.11 to 3.15.
    SEND,
    /// In CPython 3.11 to 3.15.
    SETUP_ANNOTATIONS,
    /// In CPython 3.11 to 3.15.
    SET_ADD,
    /// In CPython 3.13 to 3.15.
    SET_FUNCTION_ATTRIBUTE,
    /// In CPython 3.11 to 3.15.
    SET_UPDATE,
    /// In CPython 3.11 to 3.15.
    STORE_ATTR,
    /// In CPython 3.11 to 3.15.
    STORE_DEREF,
    /// In CPython 3.11 to 3.15.
    STORE_FAST,
    /// In CPython 3.13 to 3.15.
    STORE_FAST_LOAD_FAST,
    /// In CPython 3.13 to 3.15.
    STORE_FAST_STORE_FAST,
    /// In CPython 3.11 to 3.15.
    STORE_GLOBAL,
    /// In CPython 3.11 to 3.15.
    STORE_NAME,
    /// In CPython 3.12 to 3.15.
    STORE_SLICE,
    /// In CPython 3.11 to 3.15.
    STORE_SUBSCR,
    /// In CPython 3.11 to 3.15.
    SWAP,
    /// In CPython 3.13 to 3.15.
    TO_BOOL,
    /// In CPython 3.15.
    TRACE_RECORD,
    /// In CPython 3.11 to 3.15.
    UNARY_INVERT,
    /// In CPython 3.11 to 3.15.
    UNARY_NEGATIVE,
    /// In CPython 3.11 to 3.15.
    UNARY_NOT,
    /// In CPython 3.11.
    UNARY_POSITIVE,
    /// In CPython 3.11 to 3.15.
    UNPACK_EX,
    /// In CPython 3.11 to 3.15.
    UNPACK_SEQUENCE,
    /// In CPython 3.11 to 3.15.
    WITH_EXCEPT_START,
    /// In CPython 3.11 to 3.15.
    YIELD_VALUE,
}

impl Op {
    /// How many there are.
    pub const COUNT: usize = 152;

    /// CPython's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

static NAMES: [&str; Op::COUNT] = [
    "INVALID",
    "ASYNC_GEN_WRAP",
    "BEFORE_ASYNC_WITH",
    "BEFORE_WITH",
    "BINARY_OP",
    "BINARY_SLICE",
    "BINARY_SUBSCR",
    "BUILD_CONST_KEY_MAP",
    "BUILD_INTERPOLATION",
    "BUILD_LIST",
    "BUILD_MAP",
    "BUILD_SET",
    "BUILD_SLICE",
    "BUILD_STRING",
    "BUILD_TEMPLATE",
    "BUILD_TUPLE",
    "CACHE",
    "CALL",
    "CALL_FUNCTION_EX",
    "CALL_INTRINSIC_1",
    "CALL_INTRINSIC_2",
    "CALL_KW",
    "CHECK_EG_MATCH",
    "CHECK_EXC_MATCH",
    "CLEANUP_THROW",
    "COMPARE_OP",
    "CONTAINS_OP",
    "CONVERT_VALUE",
    "COPY",
    "COPY_FREE_VARS",
    "DELETE_ATTR",
    "DELETE_DEREF",
    "DELETE_FAST",
    "DELETE_GLOBAL",
    "DELETE_NAME",
    "DELETE_SUBSCR",
    "DICT_MERGE",
    "DICT_UPDATE",
    "END_ASYNC_FOR",
    "END_FOR",
    "END_SEND",
    "ENTER_EXECUTOR",
    "EXIT_INIT_CHECK",
    "EXTENDED_ARG",
    "FORMAT_SIMPLE",
    "FORMAT_VALUE",
    "FORMAT_WITH_SPEC",
    "FOR_ITER",
    "GET_AITER",
    "GET_ANEXT",
    "GET_AWAITABLE",
    "GET_ITER",
    "GET_LEN",
    "GET_YIELD_FROM_ITER",
    "IMPORT_FROM",
    "IMPORT_NAME",
    "IMPORT_STAR",
    "INTERPRETER_EXIT",
    "IS_OP",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "JUMP_FORWARD",
    "JUMP_IF_FALSE_OR_POP",
    "JUMP_IF_TRUE_OR_POP",
    "KW_NAMES",
    "LIST_APPEND",
    "LIST_EXTEND",
    "LIST_TO_TUPLE",
    "LOAD_ASSERTION_ERROR",
    "LOAD_ATTR",
    "LOAD_BUILD_CLASS",
    "LOAD_CLASSDEREF",
    "LOAD_CLOSURE",
    "LOAD_COMMON_CONSTANT",
    "LOAD_CONST",
    "LOAD_DEREF",
    "LOAD_FAST",
    "LOAD_FAST_AND_CLEAR",
    "LOAD_FAST_BORROW",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_LOAD_FAST",
    "LOAD_FROM_DICT_OR_DEREF",
    "LOAD_FROM_DICT_OR_GLOBALS",
    "LOAD_GLOBAL",
    "LOAD_LOCALS",
    "LOAD_METHOD",
    "LOAD_NAME",
    "LOAD_SMALL_INT",
    "LOAD_SPECIAL",
    "LOAD_SUPER_ATTR",
    "MAKE_CELL",
    "MAKE_FUNCTION",
    "MAP_ADD",
    "MATCH_CLASS",
    "MATCH_KEYS",
    "MATCH_MAPPING",
    "MATCH_SEQUENCE",
    "NOP",
    "NOT_TAKEN",
    "POP_EXCEPT",
    "POP_ITER",
    "POP_JUMP_BACKWARD_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE",
    "POP_JUMP_BACKWARD_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_FORWARD_IF_NONE",
    "POP_JUMP_FORWARD_IF_NOT_NONE",
    "POP_JUMP_FORWARD_IF_TRUE",
    "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_NONE",
    "POP_JUMP_IF_NOT_NONE",
    "POP_JUMP_IF_TRUE",
    "POP_TOP",
    "PRECALL",
    "PREP_RERAISE_STAR",
    "PRINT_EXPR",
    "PUSH_EXC_INFO",
    "PUSH_NULL",
    "RAISE_VARARGS",
    "RERAISE",
    "RESERVED",
    "RESUME",
    "RETURN_CONST",
    "RETURN_GENERATOR",
    "RETURN_VALUE",
    "SEND",
    "SETUP_ANNOTATIONS",
    "SET_ADD",
    "SET_FUNCTION_ATTRIBUTE",
    "SET_UPDATE",
    "STORE_ATTR",
    "STORE_DEREF",
    "STORE_FAST",
    "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST",
    "STORE_GLOBAL",
    "STORE_NAME",
    "STORE_SLICE",
    "STORE_SUBSCR",
    "SWAP",
    "TO_BOOL",
    "TRACE_RECORD",
    "UNARY_INVERT",
    "UNARY_NEGATIVE",
    "UNARY_NOT",
    "UNARY_POSITIVE",
    "UNPACK_EX",
    "UNPACK_SEQUENCE",
    "WITH_EXCEPT_START",
    "YIELD_VALUE",
];
