//! Opcodes of CPython 3.15. Written by `scripts/gen_tables.py`: do not edit.
use super::{OpFlags, OpInfo, Tables};
use crate::op::Op;

const NONE: OpInfo = OpInfo::UNASSIGNED;

const fn op(name: &'static str, op: Op, flags: u32, caches: u8, name_shift: u8, max_arg: u32) -> OpInfo {
    OpInfo { name, op, flags: OpFlags(flags), caches, name_shift, max_arg }
}

const FUSED_PAIR: u32 = OpFlags::FUSED_PAIR.0;
const HAS_ARG: u32 = OpFlags::HAS_ARG.0;
const HAS_COMPARE: u32 = OpFlags::HAS_COMPARE.0;
const HAS_CONST: u32 = OpFlags::HAS_CONST.0;
const HAS_FREE: u32 = OpFlags::HAS_FREE.0;
const HAS_LOCAL: u32 = OpFlags::HAS_LOCAL.0;
const HAS_NAME: u32 = OpFlags::HAS_NAME.0;
const ILLEGAL: u32 = OpFlags::ILLEGAL.0;
const JUMP_BACKWARD: u32 = OpFlags::JUMP_BACKWARD.0;
const JUMP_COND: u32 = OpFlags::JUMP_COND.0;
const JUMP_REL: u32 = OpFlags::JUMP_REL.0;
const NO_EDGE: u32 = OpFlags::NO_EDGE.0;
const TERMINAL: u32 = OpFlags::TERMINAL.0;

/// The tables of this version.
pub static TABLES: Tables = Tables {
    magic: 3666,
    first_instrumented: Some(233),
    compare_shift: 5,
    compare_ops: &["<", "<=", "==", "!=", ">", ">="],
    binary_ops: &[
        ("NB_ADD", "+"),
        ("NB_AND", "&"),
        ("NB_FLOOR_DIVIDE", "//"),
        ("NB_LSHIFT", "<<"),
        ("NB_MATRIX_MULTIPLY", "@"),
        ("NB_MULTIPLY", "*"),
        ("NB_REMAINDER", "%"),
        ("NB_OR", "|"),
        ("NB_POWER", "**"),
        ("NB_RSHIFT", ">>"),
        ("NB_SUBTRACT", "-"),
        ("NB_TRUE_DIVIDE", "/"),
        ("NB_XOR", "^"),
        ("NB_INPLACE_ADD", "+="),
        ("NB_INPLACE_AND", "&="),
        ("NB_INPLACE_FLOOR_DIVIDE", "//="),
        ("NB_INPLACE_LSHIFT", "<<="),
        ("NB_INPLACE_MATRIX_MULTIPLY", "@="),
        ("NB_INPLACE_MULTIPLY", "*="),
        ("NB_INPLACE_REMAINDER", "%="),
        ("NB_INPLACE_OR", "|="),
        ("NB_INPLACE_POWER", "**="),
        ("NB_INPLACE_RSHIFT", ">>="),
        ("NB_INPLACE_SUBTRACT", "-="),
        ("NB_INPLACE_TRUE_DIVIDE", "/="),
        ("NB_INPLACE_XOR", "^="),
        ("NB_SUBSCR", "[]"),
    ],
    intrinsics_1: &[
        "INTRINSIC_1_INVALID",
        "INTRINSIC_PRINT",
        "INTRINSIC_IMPORT_STAR",
        "INTRINSIC_STOPITERATION_ERROR",
        "INTRINSIC_ASYNC_GEN_WRAP",
        "INTRINSIC_UNARY_POSITIVE",
        "INTRINSIC_LIST_TO_TUPLE",
        "INTRINSIC_TYPEVAR",
        "INTRINSIC_PARAMSPEC",
        "INTRINSIC_TYPEVARTUPLE",
        "INTRINSIC_SUBSCRIPT_GENERIC",
        "INTRINSIC_TYPEALIAS",
    ],
    intrinsics_2: &[
        "INTRINSIC_2_INVALID",
        "INTRINSIC_PREP_RERAISE_STAR",
        "INTRINSIC_TYPEVAR_WITH_BOUND",
        "INTRINSIC_TYPEVAR_WITH_CONSTRAINTS",
        "INTRINSIC_SET_FUNCTION_TYPE_PARAMS",
        "INTRINSIC_SET_TYPEPARAM_DEFAULT",
    ],
    special_methods: &["__enter__", "__exit__", "__aenter__", "__aexit__"],
    common_constants: &[
        "AssertionError",
        "NotImplementedError",
        "tuple",
        "all",
        "any",
        "list",
        "set",
        "None",
        "''",
        "True",
        "False",
        "-1",
    ],
    pseudo: &[
        ("ANNOTATIONS_PLACEHOLDER", 256),
        ("JUMP", 257),
        ("JUMP_IF_FALSE", 258),
        ("JUMP_IF_TRUE", 259),
        ("JUMP_NO_INTERRUPT", 260),
        ("LOAD_CLOSURE", 261),
        ("POP_BLOCK", 262),
        ("SETUP_CLEANUP", 263),
        ("SETUP_FINALLY", 264),
        ("SETUP_WITH", 265),
        ("STORE_FAST_MAYBE_NULL", 266),
    ],
    opcodes: {
        let mut t = [None; Op::COUNT];
        t[Op::CACHE as usize] = Some(0);
        t[Op::BINARY_SLICE as usize] = Some(1);
        t[Op::BUILD_TEMPLATE as usize] = Some(2);
        t[Op::CALL_FUNCTION_EX as usize] = Some(4);
        t[Op::CHECK_EG_MATCH as usize] = Some(5);
        t[Op::CHECK_EXC_MATCH as usize] = Some(6);
        t[Op::CLEANUP_THROW as usize] = Some(7);
        t[Op::DELETE_SUBSCR as usize] = Some(8);
        t[Op::END_FOR as usize] = Some(9);
        t[Op::END_SEND as usize] = Some(10);
        t[Op::EXIT_INIT_CHECK as usize] = Some(11);
        t[Op::FORMAT_SIMPLE as usize] = Some(12);
        t[Op::FORMAT_WITH_SPEC as usize] = Some(13);
        t[Op::GET_AITER as usize] = Some(14);
        t[Op::GET_ANEXT as usize] = Some(15);
        t[Op::GET_LEN as usize] = Some(16);
        t[Op::RESERVED as usize] = Some(17);
        t[Op::INTERPRETER_EXIT as usize] = Some(18);
        t[Op::LOAD_BUILD_CLASS as usize] = Some(19);
        t[Op::LOAD_LOCALS as usize] = Some(20);
        t[Op::MAKE_FUNCTION as usize] = Some(21);
        t[Op::MATCH_KEYS as usize] = Some(22);
        t[Op::MATCH_MAPPING as usize] = Some(23);
        t[Op::MATCH_SEQUENCE as usize] = Some(24);
        t[Op::NOP as usize] = Some(25);
        t[Op::NOT_TAKEN as usize] = Some(26);
        t[Op::POP_EXCEPT as usize] = Some(27);
        t[Op::POP_ITER as usize] = Some(28);
        t[Op::POP_TOP as usize] = Some(29);
        t[Op::PUSH_EXC_INFO as usize] = Some(30);
        t[Op::PUSH_NULL as usize] = Some(31);
        t[Op::RETURN_GENERATOR as usize] = Some(32);
        t[Op::RETURN_VALUE as usize] = Some(33);
        t[Op::SETUP_ANNOTATIONS as usize] = Some(34);
        t[Op::STORE_SLICE as usize] = Some(35);
        t[Op::STORE_SUBSCR as usize] = Some(36);
        t[Op::TO_BOOL as usize] = Some(37);
        t[Op::UNARY_INVERT as usize] = Some(38);
        t[Op::UNARY_NEGATIVE as usize] = Some(39);
        t[Op::UNARY_NOT as usize] = Some(40);
        t[Op::WITH_EXCEPT_START as usize] = Some(41);
        t[Op::BINARY_OP as usize] = Some(42);
        t[Op::BUILD_INTERPOLATION as usize] = Some(43);
        t[Op::BUILD_LIST as usize] = Some(44);
        t[Op::BUILD_MAP as usize] = Some(45);
        t[Op::BUILD_SET as usize] = Some(46);
        t[Op::BUILD_SLICE as usize] = Some(47);
        t[Op::BUILD_STRING as usize] = Some(48);
        t[Op::BUILD_TUPLE as usize] = Some(49);
        t[Op::CALL as usize] = Some(50);
        t[Op::CALL_INTRINSIC_1 as usize] = Some(51);
        t[Op::CALL_INTRINSIC_2 as usize] = Some(52);
        t[Op::CALL_KW as usize] = Some(53);
        t[Op::COMPARE_OP as usize] = Some(54);
        t[Op::CONTAINS_OP as usize] = Some(55);
        t[Op::CONVERT_VALUE as usize] = Some(56);
        t[Op::COPY as usize] = Some(57);
        t[Op::COPY_FREE_VARS as usize] = Some(58);
        t[Op::DELETE_ATTR as usize] = Some(59);
        t[Op::DELETE_DEREF as usize] = Some(60);
        t[Op::DELETE_FAST as usize] = Some(61);
        t[Op::DELETE_GLOBAL as usize] = Some(62);
        t[Op::DELETE_NAME as usize] = Some(63);
        t[Op::DICT_MERGE as usize] = Some(64);
        t[Op::DICT_UPDATE as usize] = Some(65);
        t[Op::END_ASYNC_FOR as usize] = Some(66);
        t[Op::EXTENDED_ARG as usize] = Some(67);
        t[Op::FOR_ITER as usize] = Some(68);
        t[Op::GET_AWAITABLE as usize] = Some(69);
        t[Op::GET_ITER as usize] = Some(70);
        t[Op::IMPORT_FROM as usize] = Some(71);
        t[Op::IMPORT_NAME as usize] = Some(72);
        t[Op::IS_OP as usize] = Some(73);
        t[Op::JUMP_BACKWARD as usize] = Some(74);
        t[Op::JUMP_BACKWARD_NO_INTERRUPT as usize] = Some(75);
        t[Op::JUMP_FORWARD as usize] = Some(76);
        t[Op::LIST_APPEND as usize] = Some(77);
        t[Op::LIST_EXTEND as usize] = Some(78);
        t[Op::LOAD_ATTR as usize] = Some(79);
        t[Op::LOAD_COMMON_CONSTANT as usize] = Some(80);
        t[Op::LOAD_CONST as usize] = Some(81);
        t[Op::LOAD_DEREF as usize] = Some(82);
        t[Op::LOAD_FAST as usize] = Some(83);
        t[Op::LOAD_FAST_AND_CLEAR as usize] = Some(84);
        t[Op::LOAD_FAST_BORROW as usize] = Some(85);
        t[Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW as usize] = Some(86);
        t[Op::LOAD_FAST_CHECK as usize] = Some(87);
        t[Op::LOAD_FAST_LOAD_FAST as usize] = Some(88);
        t[Op::LOAD_FROM_DICT_OR_DEREF as usize] = Some(89);
        t[Op::LOAD_FROM_DICT_OR_GLOBALS as usize] = Some(90);
        t[Op::LOAD_GLOBAL as usize] = Some(91);
        t[Op::LOAD_NAME as usize] = Some(92);
        t[Op::LOAD_SMALL_INT as usize] = Some(93);
        t[Op::LOAD_SPECIAL as usize] = Some(94);
        t[Op::LOAD_SUPER_ATTR as usize] = Some(95);
        t[Op::MAKE_CELL as usize] = Some(96);
        t[Op::MAP_ADD as usize] = Some(97);
        t[Op::MATCH_CLASS as usize] = Some(98);
        t[Op::POP_JUMP_IF_FALSE as usize] = Some(99);
        t[Op::POP_JUMP_IF_NONE as usize] = Some(100);
        t[Op::POP_JUMP_IF_NOT_NONE as usize] = Some(101);
        t[Op::POP_JUMP_IF_TRUE as usize] = Some(102);
        t[Op::RAISE_VARARGS as usize] = Some(103);
        t[Op::RERAISE as usize] = Some(104);
        t[Op::SEND as usize] = Some(105);
        t[Op::SET_ADD as usize] = Some(106);
        t[Op::SET_FUNCTION_ATTRIBUTE as usize] = Some(107);
        t[Op::SET_UPDATE as usize] = Some(108);
        t[Op::STORE_ATTR as usize] = Some(109);
        t[Op::STORE_DEREF as usize] = Some(110);
        t[Op::STORE_FAST as usize] = Some(111);
        t[Op::STORE_FAST_LOAD_FAST as usize] = Some(112);
        t[Op::STORE_FAST_STORE_FAST as usize] = Some(113);
        t[Op::STORE_GLOBAL as usize] = Some(114);
        t[Op::STORE_NAME as usize] = Some(115);
        t[Op::SWAP as usize] = Some(116);
        t[Op::UNPACK_EX as usize] = Some(117);
        t[Op::UNPACK_SEQUENCE as usize] = Some(118);
        t[Op::YIELD_VALUE as usize] = Some(119);
        t[Op::RESUME as usize] = Some(128);
        t[Op::ENTER_EXECUTOR as usize] = Some(254);
        t[Op::TRACE_RECORD as usize] = Some(255);
        t
    },
    sorted: &[
        ("BINARY_OP", 42),
        ("BINARY_OP_ADD_FLOAT", 129),
        ("BINARY_OP_ADD_INT", 130),
        ("BINARY_OP_ADD_UNICODE", 131),
        ("BINARY_OP_EXTEND", 132),
        ("BINARY_OP_INPLACE_ADD_UNICODE", 3),
        ("BINARY_OP_MULTIPLY_FLOAT", 133),
        ("BINARY_OP_MULTIPLY_INT", 134),
        ("BINARY_OP_SUBSCR_DICT", 135),
        ("BINARY_OP_SUBSCR_GETITEM", 136),
        ("BINARY_OP_SUBSCR_LIST_INT", 137),
        ("BINARY_OP_SUBSCR_LIST_SLICE", 138),
        ("BINARY_OP_SUBSCR_STR_INT", 139),
        ("BINARY_OP_SUBSCR_TUPLE_INT", 140),
        ("BINARY_OP_SUBSCR_USTR_INT", 141),
        ("BINARY_OP_SUBTRACT_FLOAT", 142),
        ("BINARY_OP_SUBTRACT_INT", 143),
        ("BINARY_SLICE", 1),
        ("BUILD_INTERPOLATION", 43),
        ("BUILD_LIST", 44),
        ("BUILD_MAP", 45),
        ("BUILD_SET", 46),
        ("BUILD_SLICE", 47),
        ("BUILD_STRING", 48),
        ("BUILD_TEMPLATE", 2),
        ("BUILD_TUPLE", 49),
        ("CACHE", 0),
        ("CALL", 50),
        ("CALL_ALLOC_AND_ENTER_INIT", 144),
        ("CALL_BOUND_METHOD_EXACT_ARGS", 145),
        ("CALL_BOUND_METHOD_GENERAL", 146),
        ("CALL_BUILTIN_CLASS", 147),
        ("CALL_BUILTIN_FAST", 148),
        ("CALL_BUILTIN_FAST_WITH_KEYWORDS", 149),
        ("CALL_BUILTIN_O", 150),
        ("CALL_EX_NON_PY_GENERAL", 151),
        ("CALL_EX_PY", 152),
        ("CALL_FUNCTION_EX", 4),
        ("CALL_INTRINSIC_1", 51),
        ("CALL_INTRINSIC_2", 52),
        ("CALL_ISINSTANCE", 153),
        ("CALL_KW", 53),
        ("CALL_KW_BOUND_METHOD", 154),
        ("CALL_KW_NON_PY", 155),
        ("CALL_KW_PY", 156),
        ("CALL_LEN", 157),
        ("CALL_LIST_APPEND", 158),
        ("CALL_METHOD_DESCRIPTOR_FAST", 159),
        ("CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS", 160),
        ("CALL_METHOD_DESCRIPTOR_NOARGS", 161),
        ("CALL_METHOD_DESCRIPTOR_O", 162),
        ("CALL_NON_PY_GENERAL", 163),
        ("CALL_PY_EXACT_ARGS", 164),
        ("CALL_PY_GENERAL", 165),
        ("CALL_STR_1", 166),
        ("CALL_TUPLE_1", 167),
        ("CALL_TYPE_1", 168),
        ("CHECK_EG_MATCH", 5),
        ("CHECK_EXC_MATCH", 6),
        ("CLEANUP_THROW", 7),
        ("COMPARE_OP", 54),
        ("COMPARE_OP_FLOAT", 169),
        ("COMPARE_OP_INT", 170),
        ("COMPARE_OP_STR", 171),
        ("CONTAINS_OP", 55),
        ("CONTAINS_OP_DICT", 172),
        ("CONTAINS_OP_SET", 173),
        ("CONVERT_VALUE", 56),
        ("COPY", 57),
        ("COPY_FREE_VARS", 58),
        ("DELETE_ATTR", 59),
        ("DELETE_DEREF", 60),
        ("DELETE_FAST", 61),
        ("DELETE_GLOBAL", 62),
        ("DELETE_NAME", 63),
        ("DELETE_SUBSCR", 8),
        ("DICT_MERGE", 64),
        ("DICT_UPDATE", 65),
        ("END_ASYNC_FOR", 66),
        ("END_FOR", 9),
        ("END_SEND", 10),
        ("ENTER_EXECUTOR", 254),
        ("EXIT_INIT_CHECK", 11),
        ("EXTENDED_ARG", 67),
        ("FORMAT_SIMPLE", 12),
        ("FORMAT_WITH_SPEC", 13),
        ("FOR_ITER", 68),
        ("FOR_ITER_GEN", 174),
        ("FOR_ITER_LIST", 175),
        ("FOR_ITER_RANGE", 176),
        ("FOR_ITER_TUPLE", 177),
        ("FOR_ITER_VIRTUAL", 178),
        ("GET_AITER", 14),
        ("GET_ANEXT", 15),
        ("GET_AWAITABLE", 69),
        ("GET_ITER", 70),
        ("GET_ITER_SELF", 179),
        ("GET_ITER_VIRTUAL", 180),
        ("GET_LEN", 16),
        ("IMPORT_FROM", 71),
        ("IMPORT_NAME", 72),
        ("INSTRUMENTED_CALL", 249),
        ("INSTRUMENTED_CALL_FUNCTION_EX", 251),
        ("INSTRUMENTED_CALL_KW", 250),
        ("INSTRUMENTED_END_ASYNC_FOR", 247),
        ("INSTRUMENTED_END_FOR", 233),
        ("INSTRUMENTED_END_SEND", 235),
        ("INSTRUMENTED_FOR_ITER", 236),
        ("INSTRUMENTED_INSTRUCTION", 237),
        ("INSTRUMENTED_JUMP_BACKWARD", 252),
        ("INSTRUMENTED_JUMP_FORWARD", 238),
        ("INSTRUMENTED_LINE", 253),
        ("INSTRUMENTED_LOAD_SUPER_ATTR", 248),
        ("INSTRUMENTED_NOT_TAKEN", 239),
        ("INSTRUMENTED_POP_ITER", 234),
        ("INSTRUMENTED_POP_JUMP_IF_FALSE", 241),
        ("INSTRUMENTED_POP_JUMP_IF_NONE", 242),
        ("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", 243),
        ("INSTRUMENTED_POP_JUMP_IF_TRUE", 240),
        ("INSTRUMENTED_RESUME", 244),
        ("INSTRUMENTED_RETURN_VALUE", 245),
        ("INSTRUMENTED_YIELD_VALUE", 246),
        ("INTERPRETER_EXIT", 18),
        ("IS_OP", 73),
        ("JUMP_BACKWARD", 74),
        ("JUMP_BACKWARD_JIT", 181),
        ("JUMP_BACKWARD_NO_INTERRUPT", 75),
        ("JUMP_BACKWARD_NO_JIT", 182),
        ("JUMP_FORWARD", 76),
        ("LIST_APPEND", 77),
        ("LIST_EXTEND", 78),
        ("LOAD_ATTR", 79),
        ("LOAD_ATTR_CLASS", 183),
        ("LOAD_ATTR_CLASS_WITH_METACLASS_CHECK", 184),
        ("LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", 185),
        ("LOAD_ATTR_INSTANCE_VALUE", 186),
        ("LOAD_ATTR_METHOD_LAZY_DICT", 187),
        ("LOAD_ATTR_METHOD_NO_DICT", 188),
        ("LOAD_ATTR_METHOD_WITH_VALUES", 189),
        ("LOAD_ATTR_MODULE", 190),
        ("LOAD_ATTR_NONDESCRIPTOR_NO_DICT", 191),
        ("LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES", 192),
        ("LOAD_ATTR_PROPERTY", 193),
        ("LOAD_ATTR_SLOT", 194),
        ("LOAD_ATTR_WITH_HINT", 195),
        ("LOAD_BUILD_CLASS", 19),
        ("LOAD_COMMON_CONSTANT", 80),
        ("LOAD_CONST", 81),
        ("LOAD_DEREF", 82),
        ("LOAD_FAST", 83),
        ("LOAD_FAST_AND_CLEAR", 84),
        ("LOAD_FAST_BORROW", 85),
        ("LOAD_FAST_BORROW_LOAD_FAST_BORROW", 86),
        ("LOAD_FAST_CHECK", 87),
        ("LOAD_FAST_LOAD_FAST", 88),
        ("LOAD_FROM_DICT_OR_DEREF", 89),
        ("LOAD_FROM_DICT_OR_GLOBALS", 90),
        ("LOAD_GLOBAL", 91),
        ("LOAD_GLOBAL_BUILTIN", 196),
        ("LOAD_GLOBAL_MODULE", 197),
        ("LOAD_LOCALS", 20),
        ("LOAD_NAME", 92),
        ("LOAD_SMALL_INT", 93),
        ("LOAD_SPECIAL", 94),
        ("LOAD_SUPER_ATTR", 95),
        ("LOAD_SUPER_ATTR_ATTR", 198),
        ("LOAD_SUPER_ATTR_METHOD", 199),
        ("MAKE_CELL", 96),
        ("MAKE_FUNCTION", 21),
        ("MAP_ADD", 97),
        ("MATCH_CLASS", 98),
        ("MATCH_KEYS", 22),
        ("MATCH_MAPPING", 23),
        ("MATCH_SEQUENCE", 24),
        ("NOP", 25),
        ("NOT_TAKEN", 26),
        ("POP_EXCEPT", 27),
        ("POP_ITER", 28),
        ("POP_JUMP_IF_FALSE", 99),
        ("POP_JUMP_IF_NONE", 100),
        ("POP_JUMP_IF_NOT_NONE", 101),
        ("POP_JUMP_IF_TRUE", 102),
        ("POP_TOP", 29),
        ("PUSH_EXC_INFO", 30),
        ("PUSH_NULL", 31),
        ("RAISE_VARARGS", 103),
        ("RERAISE", 104),
        ("RESERVED", 17),
        ("RESUME", 128),
        ("RESUME_CHECK", 200),
        ("RESUME_CHECK_JIT", 201),
        ("RETURN_GENERATOR", 32),
        ("RETURN_VALUE", 33),
        ("SEND", 105),
        ("SEND_ASYNC_GEN", 202),
        ("SEND_GEN", 203),
        ("SEND_VIRTUAL", 204),
        ("SETUP_ANNOTATIONS", 34),
        ("SET_ADD", 106),
        ("SET_FUNCTION_ATTRIBUTE", 107),
        ("SET_UPDATE", 108),
        ("STORE_ATTR", 109),
        ("STORE_ATTR_INSTANCE_VALUE", 205),
        ("STORE_ATTR_SLOT", 206),
        ("STORE_ATTR_WITH_HINT", 207),
        ("STORE_DEREF", 110),
        ("STORE_FAST", 111),
        ("STORE_FAST_LOAD_FAST", 112),
        ("STORE_FAST_STORE_FAST", 113),
        ("STORE_GLOBAL", 114),
        ("STORE_NAME", 115),
        ("STORE_SLICE", 35),
        ("STORE_SUBSCR", 36),
        ("STORE_SUBSCR_DICT", 208),
        ("STORE_SUBSCR_LIST_INT", 209),
        ("SWAP", 116),
        ("TO_BOOL", 37),
        ("TO_BOOL_ALWAYS_TRUE", 210),
        ("TO_BOOL_BOOL", 211),
        ("TO_BOOL_INT", 212),
        ("TO_BOOL_LIST", 213),
        ("TO_BOOL_NONE", 214),
        ("TO_BOOL_STR", 215),
        ("TRACE_RECORD", 255),
        ("UNARY_INVERT", 38),
        ("UNARY_NEGATIVE", 39),
        ("UNARY_NOT", 40),
        ("UNPACK_EX", 117),
        ("UNPACK_SEQUENCE", 118),
        ("UNPACK_SEQUENCE_LIST", 216),
        ("UNPACK_SEQUENCE_TUPLE", 217),
        ("UNPACK_SEQUENCE_TWO_TUPLE", 218),
        ("WITH_EXCEPT_START", 41),
        ("YIELD_VALUE", 119),
    ],
    info: [
        op("CACHE", Op::CACHE, ILLEGAL, 0, 0, 0),
        op("BINARY_SLICE", Op::BINARY_SLICE, 0, 0, 0, 0),
        op("BUILD_TEMPLATE", Op::BUILD_TEMPLATE, 0, 0, 0, 0),
        op("BINARY_OP_INPLACE_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_FUNCTION_EX", Op::CALL_FUNCTION_EX, 0, 1, 0, 0),
        op("CHECK_EG_MATCH", Op::CHECK_EG_MATCH, 0, 0, 0, 0),
        op("CHECK_EXC_MATCH", Op::CHECK_EXC_MATCH, 0, 0, 0, 0),
        op("CLEANUP_THROW", Op::CLEANUP_THROW, 0, 0, 0, 0),
        op("DELETE_SUBSCR", Op::DELETE_SUBSCR, 0, 0, 0, 0),
        op("END_FOR", Op::END_FOR, 0, 0, 0, 0),
        op("END_SEND", Op::END_SEND, 0, 0, 0, 0),
        op("EXIT_INIT_CHECK", Op::EXIT_INIT_CHECK, ILLEGAL, 0, 0, 0),
        op("FORMAT_SIMPLE", Op::FORMAT_SIMPLE, 0, 0, 0, 0),
        op("FORMAT_WITH_SPEC", Op::FORMAT_WITH_SPEC, 0, 0, 0, 0),
        op("GET_AITER", Op::GET_AITER, 0, 0, 0, 0),
        op("GET_ANEXT", Op::GET_ANEXT, 0, 0, 0, 0),
        op("GET_LEN", Op::GET_LEN, 0, 0, 0, 0),
        op("RESERVED", Op::RESERVED, ILLEGAL, 0, 0, 0),
        op("INTERPRETER_EXIT", Op::INTERPRETER_EXIT, ILLEGAL, 0, 0, 0),
        op("LOAD_BUILD_CLASS", Op::LOAD_BUILD_CLASS, 0, 0, 0, 0),
        op("LOAD_LOCALS", Op::LOAD_LOCALS, 0, 0, 0, 0),
        op("MAKE_FUNCTION", Op::MAKE_FUNCTION, 0, 0, 0, 0),
        op("MATCH_KEYS", Op::MATCH_KEYS, 0, 0, 0, 0),
        op("MATCH_MAPPING", Op::MATCH_MAPPING, 0, 0, 0, 0),
        op("MATCH_SEQUENCE", Op::MATCH_SEQUENCE, 0, 0, 0, 0),
        op("NOP", Op::NOP, 0, 0, 0, 0),
        op("NOT_TAKEN", Op::NOT_TAKEN, 0, 0, 0, 0),
        op("POP_EXCEPT", Op::POP_EXCEPT, 0, 0, 0, 0),
        op("POP_ITER", Op::POP_ITER, 0, 0, 0, 0),
        op("POP_TOP", Op::POP_TOP, 0, 0, 0, 0),
        op("PUSH_EXC_INFO", Op::PUSH_EXC_INFO, 0, 0, 0, 0),
        op("PUSH_NULL", Op::PUSH_NULL, 0, 0, 0, 0),
        op("RETURN_GENERATOR", Op::RETURN_GENERATOR, 0, 0, 0, 0),
        op("RETURN_VALUE", Op::RETURN_VALUE, TERMINAL, 0, 0, 0),
        op("SETUP_ANNOTATIONS", Op::SETUP_ANNOTATIONS, 0, 0, 0, 0),
        op("STORE_SLICE", Op::STORE_SLICE, 0, 0, 0, 0),
        op("STORE_SUBSCR", Op::STORE_SUBSCR, 0, 1, 0, 0),
        op("TO_BOOL", Op::TO_BOOL, 0, 3, 0, 0),
        op("UNARY_INVERT", Op::UNARY_INVERT, 0, 0, 0, 0),
        op("UNARY_NEGATIVE", Op::UNARY_NEGATIVE, 0, 0, 0, 0),
        op("UNARY_NOT", Op::UNARY_NOT, 0, 0, 0, 0),
        op("WITH_EXCEPT_START", Op::WITH_EXCEPT_START, 0, 0, 0, 0),
        op("BINARY_OP", Op::BINARY_OP, HAS_ARG, 5, 0, 26),
        op("BUILD_INTERPOLATION", Op::BUILD_INTERPOLATION, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_LIST", Op::BUILD_LIST, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_MAP", Op::BUILD_MAP, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SET", Op::BUILD_SET, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SLICE", Op::BUILD_SLICE, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_STRING", Op::BUILD_STRING, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_TUPLE", Op::BUILD_TUPLE, HAS_ARG, 0, 0, u32::MAX),
        op("CALL", Op::CALL, HAS_ARG, 3, 0, u32::MAX),
        op("CALL_INTRINSIC_1", Op::CALL_INTRINSIC_1, HAS_ARG, 0, 0, 11),
        op("CALL_INTRINSIC_2", Op::CALL_INTRINSIC_2, HAS_ARG, 0, 0, 5),
        op("CALL_KW", Op::CALL_KW, HAS_ARG, 3, 0, u32::MAX),
        op("COMPARE_OP", Op::COMPARE_OP, HAS_ARG | HAS_COMPARE, 1, 0, 191),
        op("CONTAINS_OP", Op::CONTAINS_OP, HAS_ARG, 1, 0, 1),
        op("CONVERT_VALUE", Op::CONVERT_VALUE, HAS_ARG, 0, 0, 3),
        op("COPY", Op::COPY, HAS_ARG, 0, 0, u32::MAX),
        op("COPY_FREE_VARS", Op::COPY_FREE_VARS, HAS_ARG, 0, 0, u32::MAX),
        op("DELETE_ATTR", Op::DELETE_ATTR, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("DELETE_DEREF", Op::DELETE_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("DELETE_FAST", Op::DELETE_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("DELETE_GLOBAL", Op::DELETE_GLOBAL, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("DELETE_NAME", Op::DELETE_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("DICT_MERGE", Op::DICT_MERGE, HAS_ARG, 0, 0, u32::MAX),
        op("DICT_UPDATE", Op::DICT_UPDATE, HAS_ARG, 0, 0, u32::MAX),
        op("END_ASYNC_FOR", Op::END_ASYNC_FOR, HAS_ARG | JUMP_REL | JUMP_BACKWARD | NO_EDGE, 0, 0, u32::MAX),
        op("EXTENDED_ARG", Op::EXTENDED_ARG, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("FOR_ITER", Op::FOR_ITER, HAS_ARG | JUMP_REL, 1, 0, u32::MAX),
        op("GET_AWAITABLE", Op::GET_AWAITABLE, HAS_ARG, 0, 0, u32::MAX),
        op("GET_ITER", Op::GET_ITER, HAS_ARG, 1, 0, u32::MAX),
        op("IMPORT_FROM", Op::IMPORT_FROM, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("IMPORT_NAME", Op::IMPORT_NAME, HAS_ARG | HAS_NAME, 0, 2, u32::MAX),
        op("IS_OP", Op::IS_OP, HAS_ARG, 0, 0, 1),
        op("JUMP_BACKWARD", Op::JUMP_BACKWARD, HAS_ARG | JUMP_REL | JUMP_BACKWARD | TERMINAL, 1, 0, u32::MAX),
        op(
            "JUMP_BACKWARD_NO_INTERRUPT",
            Op::JUMP_BACKWARD_NO_INTERRUPT,
            HAS_ARG | JUMP_REL | JUMP_BACKWARD | TERMINAL,
            0,
            0,
            u32::MAX,
        ),
        op("JUMP_FORWARD", Op::JUMP_FORWARD, HAS_ARG | JUMP_REL | TERMINAL, 0, 0, u32::MAX),
        op("LIST_APPEND", Op::LIST_APPEND, HAS_ARG, 0, 0, u32::MAX),
        op("LIST_EXTEND", Op::LIST_EXTEND, HAS_ARG, 0, 0, u32::MAX),
        op("LOAD_ATTR", Op::LOAD_ATTR, HAS_ARG | HAS_NAME, 9, 1, u32::MAX),
        op("LOAD_COMMON_CONSTANT", Op::LOAD_COMMON_CONSTANT, HAS_ARG, 0, 0, 11),
        op("LOAD_CONST", Op::LOAD_CONST, HAS_ARG | HAS_CONST, 0, 0, u32::MAX),
        op("LOAD_DEREF", Op::LOAD_DEREF, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST", Op::LOAD_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_AND_CLEAR", Op::LOAD_FAST_AND_CLEAR, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_BORROW", Op::LOAD_FAST_BORROW, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op(
            "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
            Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW,
            HAS_ARG | HAS_LOCAL | FUSED_PAIR,
            0,
            0,
            255,
        ),
        op("LOAD_FAST_CHECK", Op::LOAD_FAST_CHECK, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_LOAD_FAST", Op::LOAD_FAST_LOAD_FAST, HAS_ARG | HAS_LOCAL | FUSED_PAIR, 0, 0, 255),
        op("LOAD_FROM_DICT_OR_DEREF", Op::LOAD_FROM_DICT_OR_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("LOAD_FROM_DICT_OR_GLOBALS", Op::LOAD_FROM_DICT_OR_GLOBALS, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("LOAD_GLOBAL", Op::LOAD_GLOBAL, HAS_ARG | HAS_NAME, 4, 1, u32::MAX),
        op("LOAD_NAME", Op::LOAD_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("LOAD_SMALL_INT", Op::LOAD_SMALL_INT, HAS_ARG, 0, 0, 255),
        op("LOAD_SPECIAL", Op::LOAD_SPECIAL, HAS_ARG, 0, 0, 3),
        op("LOAD_SUPER_ATTR", Op::LOAD_SUPER_ATTR, HAS_ARG | HAS_NAME, 1, 2, u32::MAX),
        op("MAKE_CELL", Op::MAKE_CELL, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("MAP_ADD", Op::MAP_ADD, HAS_ARG, 0, 0, u32::MAX),
        op("MATCH_CLASS", Op::MATCH_CLASS, HAS_ARG, 0, 0, u32::MAX),
        op("POP_JUMP_IF_FALSE", Op::POP_JUMP_IF_FALSE, HAS_ARG | JUMP_REL | JUMP_COND, 1, 0, u32::MAX),
        op("POP_JUMP_IF_NONE", Op::POP_JUMP_IF_NONE, HAS_ARG | JUMP_REL | JUMP_COND, 1, 0, u32::MAX),
        op("POP_JUMP_IF_NOT_NONE", Op::POP_JUMP_IF_NOT_NONE, HAS_ARG | JUMP_REL | JUMP_COND, 1, 0, u32::MAX),
        op("POP_JUMP_IF_TRUE", Op::POP_JUMP_IF_TRUE, HAS_ARG | JUMP_REL | JUMP_COND, 1, 0, u32::MAX),
        op("RAISE_VARARGS", Op::RAISE_VARARGS, HAS_ARG | TERMINAL, 0, 0, 2),
        op("RERAISE", Op::RERAISE, HAS_ARG | TERMINAL, 0, 0, u32::MAX),
        op("SEND", Op::SEND, HAS_ARG | JUMP_REL, 1, 0, u32::MAX),
        op("SET_ADD", Op::SET_ADD, HAS_ARG, 0, 0, u32::MAX),
        op("SET_FUNCTION_ATTRIBUTE", Op::SET_FUNCTION_ATTRIBUTE, HAS_ARG, 0, 0, u32::MAX),
        op("SET_UPDATE", Op::SET_UPDATE, HAS_ARG, 0, 0, u32::MAX),
        op("STORE_ATTR", Op::STORE_ATTR, HAS_ARG | HAS_NAME, 4, 0, u32::MAX),
        op("STORE_DEREF", Op::STORE_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("STORE_FAST", Op::STORE_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("STORE_FAST_LOAD_FAST", Op::STORE_FAST_LOAD_FAST, HAS_ARG | HAS_LOCAL | FUSED_PAIR, 0, 0, 255),
        op("STORE_FAST_STORE_FAST", Op::STORE_FAST_STORE_FAST, HAS_ARG | HAS_LOCAL | FUSED_PAIR, 0, 0, 255),
        op("STORE_GLOBAL", Op::STORE_GLOBAL, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("STORE_NAME", Op::STORE_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("SWAP", Op::SWAP, HAS_ARG, 0, 0, u32::MAX),
        op("UNPACK_EX", Op::UNPACK_EX, HAS_ARG, 0, 0, u32::MAX),
        op("UNPACK_SEQUENCE", Op::UNPACK_SEQUENCE, HAS_ARG, 1, 0, u32::MAX),
        op("YIELD_VALUE", Op::YIELD_VALUE, HAS_ARG, 0, 0, u32::MAX),
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        op("RESUME", Op::RESUME, HAS_ARG, 1, 0, u32::MAX),
        op("BINARY_OP_ADD_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_EXTEND", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_GETITEM", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_LIST_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_LIST_SLICE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_STR_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_TUPLE_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBSCR_USTR_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_ALLOC_AND_ENTER_INIT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BOUND_METHOD_EXACT_ARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BOUND_METHOD_GENERAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_FAST_WITH_KEYWORDS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_O", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_EX_NON_PY_GENERAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_EX_PY", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_ISINSTANCE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_KW_BOUND_METHOD", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_KW_NON_PY", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_KW_PY", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_LEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_LIST_APPEND", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_METHOD_DESCRIPTOR_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_METHOD_DESCRIPTOR_NOARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_METHOD_DESCRIPTOR_O", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NON_PY_GENERAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_PY_EXACT_ARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_PY_GENERAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_STR_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_TUPLE_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_TYPE_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_STR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CONTAINS_OP_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CONTAINS_OP_SET", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_LIST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_RANGE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_VIRTUAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("GET_ITER_SELF", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("GET_ITER_VIRTUAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("JUMP_BACKWARD_JIT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("JUMP_BACKWARD_NO_JIT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_CLASS_WITH_METACLASS_CHECK", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_INSTANCE_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_LAZY_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_NO_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_WITH_VALUES", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_MODULE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_NONDESCRIPTOR_NO_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_PROPERTY", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_SLOT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_WITH_HINT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_GLOBAL_BUILTIN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_GLOBAL_MODULE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_SUPER_ATTR_ATTR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_SUPER_ATTR_METHOD", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("RESUME_CHECK", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("RESUME_CHECK_JIT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("SEND_ASYNC_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("SEND_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("SEND_VIRTUAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_ATTR_INSTANCE_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_ATTR_SLOT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_ATTR_WITH_HINT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_SUBSCR_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_SUBSCR_LIST_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_ALWAYS_TRUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_BOOL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_LIST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_NONE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("TO_BOOL_STR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNPACK_SEQUENCE_LIST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNPACK_SEQUENCE_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNPACK_SEQUENCE_TWO_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        NONE,
        op("INSTRUMENTED_END_FOR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_POP_ITER", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_END_SEND", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_FOR_ITER", Op::INVALID, HAS_ARG | JUMP_REL | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_INSTRUCTION", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_JUMP_FORWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_NOT_TAKEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_POP_JUMP_IF_TRUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_FALSE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_RESUME", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_RETURN_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_YIELD_VALUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_END_ASYNC_FOR", Op::INVALID, HAS_ARG | JUMP_REL | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_LOAD_SUPER_ATTR", Op::INVALID, HAS_ARG | HAS_NAME | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL_KW", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL_FUNCTION_EX", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_JUMP_BACKWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_LINE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("ENTER_EXECUTOR", Op::ENTER_EXECUTOR, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("TRACE_RECORD", Op::TRACE_RECORD, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
    ],
};
