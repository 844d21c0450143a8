//! Opcodes of CPython 3.12. Written by `scripts/gen_tables.py`: do not edit.
use super::{OpFlags, OpInfo, Tables};
use crate::op::Op;

const NONE: OpInfo = OpInfo::UNASSIGNED;

const fn op(name: &'static str, op: Op, flags: u32, caches: u8, name_shift: u8, max_arg: u32) -> OpInfo {
    OpInfo { name, op, flags: OpFlags(flags), caches, name_shift, max_arg }
}

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
const TERMINAL: u32 = OpFlags::TERMINAL.0;

/// The tables of this version.
pub static TABLES: Tables = Tables {
    magic: 3531,
    first_instrumented: Some(237),
    compare_shift: 4,
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
    ],
    special_methods: &[],
    common_constants: &[],
    pseudo: &[
        ("SETUP_FINALLY", 256),
        ("SETUP_CLEANUP", 257),
        ("SETUP_WITH", 258),
        ("POP_BLOCK", 259),
        ("JUMP", 260),
        ("JUMP_NO_INTERRUPT", 261),
        ("LOAD_METHOD", 262),
        ("LOAD_SUPER_METHOD", 263),
        ("LOAD_ZERO_SUPER_METHOD", 264),
        ("LOAD_ZERO_SUPER_ATTR", 265),
        ("STORE_FAST_MAYBE_NULL", 266),
    ],
    opcodes: {
        let mut t = [None; Op::COUNT];
        t[Op::CACHE as usize] = Some(0);
        t[Op::POP_TOP as usize] = Some(1);
        t[Op::PUSH_NULL as usize] = Some(2);
        t[Op::INTERPRETER_EXIT as usize] = Some(3);
        t[Op::END_FOR as usize] = Some(4);
        t[Op::END_SEND as usize] = Some(5);
        t[Op::NOP as usize] = Some(9);
        t[Op::UNARY_NEGATIVE as usize] = Some(11);
        t[Op::UNARY_NOT as usize] = Some(12);
        t[Op::UNARY_INVERT as usize] = Some(15);
        t[Op::RESERVED as usize] = Some(17);
        t[Op::BINARY_SUBSCR as usize] = Some(25);
        t[Op::BINARY_SLICE as usize] = Some(26);
        t[Op::STORE_SLICE as usize] = Some(27);
        t[Op::GET_LEN as usize] = Some(30);
        t[Op::MATCH_MAPPING as usize] = Some(31);
        t[Op::MATCH_SEQUENCE as usize] = Some(32);
        t[Op::MATCH_KEYS as usize] = Some(33);
        t[Op::PUSH_EXC_INFO as usize] = Some(35);
        t[Op::CHECK_EXC_MATCH as usize] = Some(36);
        t[Op::CHECK_EG_MATCH as usize] = Some(37);
        t[Op::WITH_EXCEPT_START as usize] = Some(49);
        t[Op::GET_AITER as usize] = Some(50);
        t[Op::GET_ANEXT as usize] = Some(51);
        t[Op::BEFORE_ASYNC_WITH as usize] = Some(52);
        t[Op::BEFORE_WITH as usize] = Some(53);
        t[Op::END_ASYNC_FOR as usize] = Some(54);
        t[Op::CLEANUP_THROW as usize] = Some(55);
        t[Op::STORE_SUBSCR as usize] = Some(60);
        t[Op::DELETE_SUBSCR as usize] = Some(61);
        t[Op::GET_ITER as usize] = Some(68);
        t[Op::GET_YIELD_FROM_ITER as usize] = Some(69);
        t[Op::LOAD_BUILD_CLASS as usize] = Some(71);
        t[Op::LOAD_ASSERTION_ERROR as usize] = Some(74);
        t[Op::RETURN_GENERATOR as usize] = Some(75);
        t[Op::RETURN_VALUE as usize] = Some(83);
        t[Op::SETUP_ANNOTATIONS as usize] = Some(85);
        t[Op::LOAD_LOCALS as usize] = Some(87);
        t[Op::POP_EXCEPT as usize] = Some(89);
        t[Op::STORE_NAME as usize] = Some(90);
        t[Op::DELETE_NAME as usize] = Some(91);
        t[Op::UNPACK_SEQUENCE as usize] = Some(92);
        t[Op::FOR_ITER as usize] = Some(93);
        t[Op::UNPACK_EX as usize] = Some(94);
        t[Op::STORE_ATTR as usize] = Some(95);
        t[Op::DELETE_ATTR as usize] = Some(96);
        t[Op::STORE_GLOBAL as usize] = Some(97);
        t[Op::DELETE_GLOBAL as usize] = Some(98);
        t[Op::SWAP as usize] = Some(99);
        t[Op::LOAD_CONST as usize] = Some(100);
        t[Op::LOAD_NAME as usize] = Some(101);
        t[Op::BUILD_TUPLE as usize] = Some(102);
        t[Op::BUILD_LIST as usize] = Some(103);
        t[Op::BUILD_SET as usize] = Some(104);
        t[Op::BUILD_MAP as usize] = Some(105);
        t[Op::LOAD_ATTR as usize] = Some(106);
        t[Op::COMPARE_OP as usize] = Some(107);
        t[Op::IMPORT_NAME as usize] = Some(108);
        t[Op::IMPORT_FROM as usize] = Some(109);
        t[Op::JUMP_FORWARD as usize] = Some(110);
        t[Op::POP_JUMP_IF_FALSE as usize] = Some(114);
        t[Op::POP_JUMP_IF_TRUE as usize] = Some(115);
        t[Op::LOAD_GLOBAL as usize] = Some(116);
        t[Op::IS_OP as usize] = Some(117);
        t[Op::CONTAINS_OP as usize] = Some(118);
        t[Op::RERAISE as usize] = Some(119);
        t[Op::COPY as usize] = Some(120);
        t[Op::RETURN_CONST as usize] = Some(121);
        t[Op::BINARY_OP as usize] = Some(122);
        t[Op::SEND as usize] = Some(123);
        t[Op::LOAD_FAST as usize] = Some(124);
        t[Op::STORE_FAST as usize] = Some(125);
        t[Op::DELETE_FAST as usize] = Some(126);
        t[Op::LOAD_FAST_CHECK as usize] = Some(127);
        t[Op::POP_JUMP_IF_NOT_NONE as usize] = Some(128);
        t[Op::POP_JUMP_IF_NONE as usize] = Some(129);
        t[Op::RAISE_VARARGS as usize] = Some(130);
        t[Op::GET_AWAITABLE as usize] = Some(131);
        t[Op::MAKE_FUNCTION as usize] = Some(132);
        t[Op::BUILD_SLICE as usize] = Some(133);
        t[Op::JUMP_BACKWARD_NO_INTERRUPT as usize] = Some(134);
        t[Op::MAKE_CELL as usize] = Some(135);
        t[Op::LOAD_CLOSURE as usize] = Some(136);
        t[Op::LOAD_DEREF as usize] = Some(137);
        t[Op::STORE_DEREF as usize] = Some(138);
        t[Op::DELETE_DEREF as usize] = Some(139);
        t[Op::JUMP_BACKWARD as usize] = Some(140);
        t[Op::LOAD_SUPER_ATTR as usize] = Some(141);
        t[Op::CALL_FUNCTION_EX as usize] = Some(142);
        t[Op::LOAD_FAST_AND_CLEAR as usize] = Some(143);
        t[Op::EXTENDED_ARG as usize] = Some(144);
        t[Op::LIST_APPEND as usize] = Some(145);
        t[Op::SET_ADD as usize] = Some(146);
        t[Op::MAP_ADD as usize] = Some(147);
        t[Op::COPY_FREE_VARS as usize] = Some(149);
        t[Op::YIELD_VALUE as usize] = Some(150);
        t[Op::RESUME as usize] = Some(151);
        t[Op::MATCH_CLASS as usize] = Some(152);
        t[Op::FORMAT_VALUE as usize] = Some(155);
        t[Op::BUILD_CONST_KEY_MAP as usize] = Some(156);
        t[Op::BUILD_STRING as usize] = Some(157);
        t[Op::LIST_EXTEND as usize] = Some(162);
        t[Op::SET_UPDATE as usize] = Some(163);
        t[Op::DICT_MERGE as usize] = Some(164);
        t[Op::DICT_UPDATE as usize] = Some(165);
        t[Op::CALL as usize] = Some(171);
        t[Op::KW_NAMES as usize] = Some(172);
        t[Op::CALL_INTRINSIC_1 as usize] = Some(173);
        t[Op::CALL_INTRINSIC_2 as usize] = Some(174);
        t[Op::LOAD_FROM_DICT_OR_GLOBALS as usize] = Some(175);
        t[Op::LOAD_FROM_DICT_OR_DEREF as usize] = Some(176);
        t
    },
    sorted: &[
        ("BEFORE_ASYNC_WITH", 52),
        ("BEFORE_WITH", 53),
        ("BINARY_OP", 122),
        ("BINARY_OP_ADD_FLOAT", 6),
        ("BINARY_OP_ADD_INT", 7),
        ("BINARY_OP_ADD_UNICODE", 8),
        ("BINARY_OP_INPLACE_ADD_UNICODE", 10),
        ("BINARY_OP_MULTIPLY_FLOAT", 13),
        ("BINARY_OP_MULTIPLY_INT", 14),
        ("BINARY_OP_SUBTRACT_FLOAT", 16),
        ("BINARY_OP_SUBTRACT_INT", 18),
        ("BINARY_SLICE", 26),
        ("BINARY_SUBSCR", 25),
        ("BINARY_SUBSCR_DICT", 19),
        ("BINARY_SUBSCR_GETITEM", 20),
        ("BINARY_SUBSCR_LIST_INT", 21),
        ("BINARY_SUBSCR_TUPLE_INT", 22),
        ("BUILD_CONST_KEY_MAP", 156),
        ("BUILD_LIST", 103),
        ("BUILD_MAP", 105),
        ("BUILD_SET", 104),
        ("BUILD_SLICE", 133),
        ("BUILD_STRING", 157),
        ("BUILD_TUPLE", 102),
        ("CACHE", 0),
        ("CALL", 171),
        ("CALL_BOUND_METHOD_EXACT_ARGS", 28),
        ("CALL_BUILTIN_CLASS", 29),
        ("CALL_BUILTIN_FAST_WITH_KEYWORDS", 34),
        ("CALL_FUNCTION_EX", 142),
        ("CALL_INTRINSIC_1", 173),
        ("CALL_INTRINSIC_2", 174),
        ("CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS", 38),
        ("CALL_NO_KW_BUILTIN_FAST", 39),
        ("CALL_NO_KW_BUILTIN_O", 40),
        ("CALL_NO_KW_ISINSTANCE", 41),
        ("CALL_NO_KW_LEN", 42),
        ("CALL_NO_KW_LIST_APPEND", 43),
        ("CALL_NO_KW_METHOD_DESCRIPTOR_FAST", 44),
        ("CALL_NO_KW_METHOD_DESCRIPTOR_NOARGS", 45),
        ("CALL_NO_KW_METHOD_DESCRIPTOR_O", 46),
        ("CALL_NO_KW_STR_1", 47),
        ("CALL_NO_KW_TUPLE_1", 48),
        ("CALL_NO_KW_TYPE_1", 56),
        ("CALL_PY_EXACT_ARGS", 23),
        ("CALL_PY_WITH_DEFAULTS", 24),
        ("CHECK_EG_MATCH", 37),
        ("CHECK_EXC_MATCH", 36),
        ("CLEANUP_THROW", 55),
        ("COMPARE_OP", 107),
        ("COMPARE_OP_FLOAT", 57),
        ("COMPARE_OP_INT", 58),
        ("COMPARE_OP_STR", 59),
        ("CONTAINS_OP", 118),
        ("COPY", 120),
        ("COPY_FREE_VARS", 149),
        ("DELETE_ATTR", 96),
        ("DELETE_DEREF", 139),
        ("DELETE_FAST", 126),
        ("DELETE_GLOBAL", 98),
        ("DELETE_NAME", 91),
        ("DELETE_SUBSCR", 61),
        ("DICT_MERGE", 164),
        ("DICT_UPDATE", 165),
        ("END_ASYNC_FOR", 54),
        ("END_FOR", 4),
        ("END_SEND", 5),
        ("EXTENDED_ARG", 144),
        ("FORMAT_VALUE", 155),
        ("FOR_ITER", 93),
        ("FOR_ITER_GEN", 65),
        ("FOR_ITER_LIST", 62),
        ("FOR_ITER_RANGE", 64),
        ("FOR_ITER_TUPLE", 63),
        ("GET_AITER", 50),
        ("GET_ANEXT", 51),
        ("GET_AWAITABLE", 131),
        ("GET_ITER", 68),
        ("GET_LEN", 30),
        ("GET_YIELD_FROM_ITER", 69),
        ("IMPORT_FROM", 109),
        ("IMPORT_NAME", 108),
        ("INSTRUMENTED_CALL", 241),
        ("INSTRUMENTED_CALL_FUNCTION_EX", 244),
        ("INSTRUMENTED_END_FOR", 251),
        ("INSTRUMENTED_END_SEND", 252),
        ("INSTRUMENTED_FOR_ITER", 248),
        ("INSTRUMENTED_INSTRUCTION", 253),
        ("INSTRUMENTED_JUMP_BACKWARD", 246),
        ("INSTRUMENTED_JUMP_FORWARD", 245),
        ("INSTRUMENTED_LINE", 254),
        ("INSTRUMENTED_LOAD_SUPER_ATTR", 237),
        ("INSTRUMENTED_POP_JUMP_IF_FALSE", 249),
        ("INSTRUMENTED_POP_JUMP_IF_NONE", 238),
        ("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", 239),
        ("INSTRUMENTED_POP_JUMP_IF_TRUE", 250),
        ("INSTRUMENTED_RESUME", 240),
        ("INSTRUMENTED_RETURN_CONST", 247),
        ("INSTRUMENTED_RETURN_VALUE", 242),
        ("INSTRUMENTED_YIELD_VALUE", 243),
        ("INTERPRETER_EXIT", 3),
        ("IS_OP", 117),
        ("JUMP_BACKWARD", 140),
        ("JUMP_BACKWARD_NO_INTERRUPT", 134),
        ("JUMP_FORWARD", 110),
        ("KW_NAMES", 172),
        ("LIST_APPEND", 145),
        ("LIST_EXTEND", 162),
        ("LOAD_ASSERTION_ERROR", 74),
        ("LOAD_ATTR", 106),
        ("LOAD_ATTR_CLASS", 70),
        ("LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", 72),
        ("LOAD_ATTR_INSTANCE_VALUE", 73),
        ("LOAD_ATTR_METHOD_LAZY_DICT", 80),
        ("LOAD_ATTR_METHOD_NO_DICT", 81),
        ("LOAD_ATTR_METHOD_WITH_VALUES", 82),
        ("LOAD_ATTR_MODULE", 76),
        ("LOAD_ATTR_PROPERTY", 77),
        ("LOAD_ATTR_SLOT", 78),
        ("LOAD_ATTR_WITH_HINT", 79),
        ("LOAD_BUILD_CLASS", 71),
        ("LOAD_CLOSURE", 136),
        ("LOAD_CONST", 100),
        ("LOAD_CONST__LOAD_FAST", 84),
        ("LOAD_DEREF", 137),
        ("LOAD_FAST", 124),
        ("LOAD_FAST_AND_CLEAR", 143),
        ("LOAD_FAST_CHECK", 127),
        ("LOAD_FAST__LOAD_CONST", 86),
        ("LOAD_FAST__LOAD_FAST", 88),
        ("LOAD_FROM_DICT_OR_DEREF", 176),
        ("LOAD_FROM_DICT_OR_GLOBALS", 175),
        ("LOAD_GLOBAL", 116),
        ("LOAD_GLOBAL_BUILTIN", 111),
        ("LOAD_GLOBAL_MODULE", 112),
        ("LOAD_LOCALS", 87),
        ("LOAD_NAME", 101),
        ("LOAD_SUPER_ATTR", 141),
        ("LOAD_SUPER_ATTR_ATTR", 66),
        ("LOAD_SUPER_ATTR_METHOD", 67),
        ("MAKE_CELL", 135),
        ("MAKE_FUNCTION", 132),
        ("MAP_ADD", 147),
        ("MATCH_CLASS", 152),
        ("MATCH_KEYS", 33),
        ("MATCH_MAPPING", 31),
        ("MATCH_SEQUENCE", 32),
        ("NOP", 9),
        ("POP_EXCEPT", 89),
        ("POP_JUMP_IF_FALSE", 114),
        ("POP_JUMP_IF_NONE", 129),
        ("POP_JUMP_IF_NOT_NONE", 128),
        ("POP_JUMP_IF_TRUE", 115),
        ("POP_TOP", 1),
        ("PUSH_EXC_INFO", 35),
        ("PUSH_NULL", 2),
        ("RAISE_VARARGS", 130),
        ("RERAISE", 119),
        ("RESERVED", 17),
        ("RESUME", 151),
        ("RETURN_CONST", 121),
        ("RETURN_GENERATOR", 75),
        ("RETURN_VALUE", 83),
        ("SEND", 123),
        ("SEND_GEN", 168),
        ("SETUP_ANNOTATIONS", 85),
        ("SET_ADD", 146),
        ("SET_UPDATE", 163),
        ("STORE_ATTR", 95),
        ("STORE_ATTR_INSTANCE_VALUE", 113),
        ("STORE_ATTR_SLOT", 148),
        ("STORE_ATTR_WITH_HINT", 153),
        ("STORE_DEREF", 138),
        ("STORE_FAST", 125),
        ("STORE_FAST__LOAD_FAST", 154),
        ("STORE_FAST__STORE_FAST", 158),
        ("STORE_GLOBAL", 97),
        ("STORE_NAME", 90),
        ("STORE_SLICE", 27),
        ("STORE_SUBSCR", 60),
        ("STORE_SUBSCR_DICT", 159),
        ("STORE_SUBSCR_LIST_INT", 160),
        ("SWAP", 99),
        ("UNARY_INVERT", 15),
        ("UNARY_NEGATIVE", 11),
        ("UNARY_NOT", 12),
        ("UNPACK_EX", 94),
        ("UNPACK_SEQUENCE", 92),
        ("UNPACK_SEQUENCE_LIST", 161),
        ("UNPACK_SEQUENCE_TUPLE", 166),
        ("UNPACK_SEQUENCE_TWO_TUPLE", 167),
        ("WITH_EXCEPT_START", 49),
        ("YIELD_VALUE", 150),
    ],
    specialised: &[
        (6, 122),
        (7, 122),
        (8, 122),
        (10, 122),
        (13, 122),
        (14, 122),
        (16, 122),
        (18, 122),
        (19, 25),
        (20, 25),
        (21, 25),
        (22, 25),
        (23, 171),
        (24, 171),
        (28, 171),
        (29, 171),
        (34, 171),
        (38, 171),
        (39, 171),
        (40, 171),
        (41, 171),
        (42, 171),
        (43, 171),
        (44, 171),
        (45, 171),
        (46, 171),
        (47, 171),
        (48, 171),
        (56, 171),
        (57, 107),
        (58, 107),
        (59, 107),
        (62, 93),
        (63, 93),
        (64, 93),
        (65, 93),
        (66, 141),
        (67, 141),
        (70, 106),
        (72, 106),
        (73, 106),
        (76, 106),
        (77, 106),
        (78, 106),
        (79, 106),
        (80, 106),
        (81, 106),
        (82, 106),
        (84, 100),
        (86, 124),
        (88, 124),
        (111, 116),
        (112, 116),
        (113, 95),
        (148, 95),
        (153, 95),
        (154, 125),
        (158, 125),
        (159, 60),
        (160, 60),
        (161, 92),
        (166, 92),
        (167, 92),
        (168, 123),
    ],
    info: [
        op("CACHE", Op::CACHE, ILLEGAL, 0, 0, 0),
        op("POP_TOP", Op::POP_TOP, 0, 0, 0, 0),
        op("PUSH_NULL", Op::PUSH_NULL, 0, 0, 0, 0),
        op("INTERPRETER_EXIT", Op::INTERPRETER_EXIT, ILLEGAL, 0, 0, 0),
        op("END_FOR", Op::END_FOR, 0, 0, 0, 0),
        op("END_SEND", Op::END_SEND, 0, 0, 0, 0),
        op("BINARY_OP_ADD_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("NOP", Op::NOP, 0, 0, 0, 0),
        op("BINARY_OP_INPLACE_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNARY_NEGATIVE", Op::UNARY_NEGATIVE, 0, 0, 0, 0),
        op("UNARY_NOT", Op::UNARY_NOT, 0, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNARY_INVERT", Op::UNARY_INVERT, 0, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("RESERVED", Op::RESERVED, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_GETITEM", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_LIST_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_TUPLE_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_PY_EXACT_ARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_PY_WITH_DEFAULTS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR", Op::BINARY_SUBSCR, 0, 1, 0, 0),
        op("BINARY_SLICE", Op::BINARY_SLICE, 0, 0, 0, 0),
        op("STORE_SLICE", Op::STORE_SLICE, 0, 0, 0, 0),
        op("CALL_BOUND_METHOD_EXACT_ARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("GET_LEN", Op::GET_LEN, 0, 0, 0, 0),
        op("MATCH_MAPPING", Op::MATCH_MAPPING, 0, 0, 0, 0),
        op("MATCH_SEQUENCE", Op::MATCH_SEQUENCE, 0, 0, 0, 0),
        op("MATCH_KEYS", Op::MATCH_KEYS, 0, 0, 0, 0),
        op("CALL_BUILTIN_FAST_WITH_KEYWORDS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("PUSH_EXC_INFO", Op::PUSH_EXC_INFO, 0, 0, 0, 0),
        op("CHECK_EXC_MATCH", Op::CHECK_EXC_MATCH, 0, 0, 0, 0),
        op("CHECK_EG_MATCH", Op::CHECK_EG_MATCH, 0, 0, 0, 0),
        op("CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_BUILTIN_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_BUILTIN_O", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_ISINSTANCE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_LEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_LIST_APPEND", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_METHOD_DESCRIPTOR_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_METHOD_DESCRIPTOR_NOARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_METHOD_DESCRIPTOR_O", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_STR_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_NO_KW_TUPLE_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("WITH_EXCEPT_START", Op::WITH_EXCEPT_START, 0, 0, 0, 0),
        op("GET_AITER", Op::GET_AITER, 0, 0, 0, 0),
        op("GET_ANEXT", Op::GET_ANEXT, 0, 0, 0, 0),
        op("BEFORE_ASYNC_WITH", Op::BEFORE_ASYNC_WITH, 0, 0, 0, 0),
        op("BEFORE_WITH", Op::BEFORE_WITH, 0, 0, 0, 0),
        op("END_ASYNC_FOR", Op::END_ASYNC_FOR, 0, 0, 0, 0),
        op("CLEANUP_THROW", Op::CLEANUP_THROW, 0, 0, 0, 0),
        op("CALL_NO_KW_TYPE_1", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("COMPARE_OP_STR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_SUBSCR", Op::STORE_SUBSCR, 0, 1, 0, 0),
        op("DELETE_SUBSCR", Op::DELETE_SUBSCR, 0, 0, 0, 0),
        op("FOR_ITER_LIST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_RANGE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FOR_ITER_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_SUPER_ATTR_ATTR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_SUPER_ATTR_METHOD", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("GET_ITER", Op::GET_ITER, 0, 0, 0, 0),
        op("GET_YIELD_FROM_ITER", Op::GET_YIELD_FROM_ITER, 0, 0, 0, 0),
        op("LOAD_ATTR_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_BUILD_CLASS", Op::LOAD_BUILD_CLASS, 0, 0, 0, 0),
        op("LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_INSTANCE_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ASSERTION_ERROR", Op::LOAD_ASSERTION_ERROR, 0, 0, 0, 0),
        op("RETURN_GENERATOR", Op::RETURN_GENERATOR, 0, 0, 0, 0),
        op("LOAD_ATTR_MODULE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_PROPERTY", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_SLOT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_WITH_HINT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_LAZY_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_NO_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_ATTR_METHOD_WITH_VALUES", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("RETURN_VALUE", Op::RETURN_VALUE, TERMINAL, 0, 0, 0),
        op("LOAD_CONST__LOAD_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("SETUP_ANNOTATIONS", Op::SETUP_ANNOTATIONS, 0, 0, 0, 0),
        op("LOAD_FAST__LOAD_CONST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_LOCALS", Op::LOAD_LOCALS, 0, 0, 0, 0),
        op("LOAD_FAST__LOAD_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("POP_EXCEPT", Op::POP_EXCEPT, 0, 0, 0, 0),
        op("STORE_NAME", Op::STORE_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("DELETE_NAME", Op::DELETE_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("UNPACK_SEQUENCE", Op::UNPACK_SEQUENCE, HAS_ARG, 1, 0, u32::MAX),
        op("FOR_ITER", Op::FOR_ITER, HAS_ARG | JUMP_REL, 1, 0, u32::MAX),
        op("UNPACK_EX", Op::UNPACK_EX, HAS_ARG, 0, 0, u32::MAX),
        op("STORE_ATTR", Op::STORE_ATTR, HAS_ARG | HAS_NAME, 4, 0, u32::MAX),
        op("DELETE_ATTR", Op::DELETE_ATTR, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("STORE_GLOBAL", Op::STORE_GLOBAL, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("DELETE_GLOBAL", Op::DELETE_GLOBAL, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("SWAP", Op::SWAP, HAS_ARG, 0, 0, u32::MAX),
        op("LOAD_CONST", Op::LOAD_CONST, HAS_ARG | HAS_CONST, 0, 0, u32::MAX),
        op("LOAD_NAME", Op::LOAD_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("BUILD_TUPLE", Op::BUILD_TUPLE, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_LIST", Op::BUILD_LIST, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SET", Op::BUILD_SET, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_MAP", Op::BUILD_MAP, HAS_ARG, 0, 0, u32::MAX),
        op("LOAD_ATTR", Op::LOAD_ATTR, HAS_ARG | HAS_NAME, 9, 1, u32::MAX),
        op("COMPARE_OP", Op::COMPARE_OP, HAS_ARG | HAS_COMPARE, 1, 0, 95),
        op("IMPORT_NAME", Op::IMPORT_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("IMPORT_FROM", Op::IMPORT_FROM, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("JUMP_FORWARD", Op::JUMP_FORWARD, HAS_ARG | JUMP_REL | TERMINAL, 0, 0, u32::MAX),
        op("LOAD_GLOBAL_BUILTIN", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LOAD_GLOBAL_MODULE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_ATTR_INSTANCE_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("POP_JUMP_IF_FALSE", Op::POP_JUMP_IF_FALSE, HAS_ARG | JUMP_REL | JUMP_COND, 0, 0, u32::MAX),
        op("POP_JUMP_IF_TRUE", Op::POP_JUMP_IF_TRUE, HAS_ARG | JUMP_REL | JUMP_COND, 0, 0, u32::MAX),
        op("LOAD_GLOBAL", Op::LOAD_GLOBAL, HAS_ARG | HAS_NAME, 4, 1, u32::MAX),
        op("IS_OP", Op::IS_OP, HAS_ARG, 0, 0, 1),
        op("CONTAINS_OP", Op::CONTAINS_OP, HAS_ARG, 0, 0, 1),
        op("RERAISE", Op::RERAISE, HAS_ARG | TERMINAL, 0, 0, u32::MAX),
        op("COPY", Op::COPY, HAS_ARG, 0, 0, u32::MAX),
        op("RETURN_CONST", Op::RETURN_CONST, HAS_ARG | HAS_CONST | TERMINAL, 0, 0, u32::MAX),
        op("BINARY_OP", Op::BINARY_OP, HAS_ARG, 1, 0, 25),
        op("SEND", Op::SEND, HAS_ARG | JUMP_REL, 1, 0, u32::MAX),
        op("LOAD_FAST", Op::LOAD_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("STORE_FAST", Op::STORE_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("DELETE_FAST", Op::DELETE_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_CHECK", Op::LOAD_FAST_CHECK, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("POP_JUMP_IF_NOT_NONE", Op::POP_JUMP_IF_NOT_NONE, HAS_ARG | JUMP_REL | JUMP_COND, 0, 0, u32::MAX),
        op("POP_JUMP_IF_NONE", Op::POP_JUMP_IF_NONE, HAS_ARG | JUMP_REL | JUMP_COND, 0, 0, u32::MAX),
        op("RAISE_VARARGS", Op::RAISE_VARARGS, HAS_ARG | TERMINAL, 0, 0, 2),
        op("GET_AWAITABLE", Op::GET_AWAITABLE, HAS_ARG, 0, 0, u32::MAX),
        op("MAKE_FUNCTION", Op::MAKE_FUNCTION, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SLICE", Op::BUILD_SLICE, HAS_ARG, 0, 0, u32::MAX),
        op(
            "JUMP_BACKWARD_NO_INTERRUPT",
            Op::JUMP_BACKWARD_NO_INTERRUPT,
            HAS_ARG | JUMP_REL | JUMP_BACKWARD | TERMINAL,
            0,
            0,
            u32::MAX,
        ),
        op("MAKE_CELL", Op::MAKE_CELL, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("LOAD_CLOSURE", Op::LOAD_CLOSURE, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("LOAD_DEREF", Op::LOAD_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("STORE_DEREF", Op::STORE_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("DELETE_DEREF", Op::DELETE_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("JUMP_BACKWARD", Op::JUMP_BACKWARD, HAS_ARG | JUMP_REL | JUMP_BACKWARD | TERMINAL, 0, 0, u32::MAX),
        op("LOAD_SUPER_ATTR", Op::LOAD_SUPER_ATTR, HAS_ARG | HAS_NAME, 1, 2, u32::MAX),
        op("CALL_FUNCTION_EX", Op::CALL_FUNCTION_EX, HAS_ARG, 0, 0, u32::MAX),
        op("LOAD_FAST_AND_CLEAR", Op::LOAD_FAST_AND_CLEAR, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("EXTENDED_ARG", Op::EXTENDED_ARG, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("LIST_APPEND", Op::LIST_APPEND, HAS_ARG, 0, 0, u32::MAX),
        op("SET_ADD", Op::SET_ADD, HAS_ARG, 0, 0, u32::MAX),
        op("MAP_ADD", Op::MAP_ADD, HAS_ARG, 0, 0, u32::MAX),
        op("STORE_ATTR_SLOT", Op::INVALID, HAS_FREE | ILLEGAL, 0, 0, 0),
        op("COPY_FREE_VARS", Op::COPY_FREE_VARS, HAS_ARG, 0, 0, u32::MAX),
        op("YIELD_VALUE", Op::YIELD_VALUE, HAS_ARG, 0, 0, u32::MAX),
        op("RESUME", Op::RESUME, HAS_ARG, 0, 0, u32::MAX),
        op("MATCH_CLASS", Op::MATCH_CLASS, HAS_ARG, 0, 0, u32::MAX),
        op("STORE_ATTR_WITH_HINT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_FAST__LOAD_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("FORMAT_VALUE", Op::FORMAT_VALUE, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_CONST_KEY_MAP", Op::BUILD_CONST_KEY_MAP, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_STRING", Op::BUILD_STRING, HAS_ARG, 0, 0, u32::MAX),
        op("STORE_FAST__STORE_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_SUBSCR_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("STORE_SUBSCR_LIST_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNPACK_SEQUENCE_LIST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("LIST_EXTEND", Op::LIST_EXTEND, HAS_ARG, 0, 0, u32::MAX),
        op("SET_UPDATE", Op::SET_UPDATE, HAS_ARG, 0, 0, u32::MAX),
        op("DICT_MERGE", Op::DICT_MERGE, HAS_ARG, 0, 0, u32::MAX),
        op("DICT_UPDATE", Op::DICT_UPDATE, HAS_ARG, 0, 0, u32::MAX),
        op("UNPACK_SEQUENCE_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("UNPACK_SEQUENCE_TWO_TUPLE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("SEND_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
        NONE,
        NONE,
        op("CALL", Op::CALL, HAS_ARG, 3, 0, u32::MAX),
        op("KW_NAMES", Op::KW_NAMES, HAS_ARG | HAS_CONST, 0, 0, u32::MAX),
        op("CALL_INTRINSIC_1", Op::CALL_INTRINSIC_1, HAS_ARG, 0, 0, 11),
        op("CALL_INTRINSIC_2", Op::CALL_INTRINSIC_2, HAS_ARG, 0, 0, 4),
        op("LOAD_FROM_DICT_OR_GLOBALS", Op::LOAD_FROM_DICT_OR_GLOBALS, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("LOAD_FROM_DICT_OR_DEREF", Op::LOAD_FROM_DICT_OR_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
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
        NONE,
        NONE,
        NONE,
        NONE,
        op("INSTRUMENTED_LOAD_SUPER_ATTR", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_RESUME", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_RETURN_VALUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_YIELD_VALUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL_FUNCTION_EX", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_JUMP_FORWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_JUMP_BACKWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_RETURN_CONST", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_FOR_ITER", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_FALSE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_TRUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_END_FOR", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_END_SEND", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_INSTRUCTION", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_LINE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        NONE,
    ],
};
