//! Opcodes of CPython 3.13. Written by `scripts/gen_tables.py`: do not edit.
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
const TERMINAL: u32 = OpFlags::TERMINAL.0;

/// The tables of this version.
pub static TABLES: Tables = Tables {
    magic: 3571,
    first_instrumented: Some(236),
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
    special_methods: &[],
    common_constants: &[],
    pseudo: &[
        ("JUMP", 256),
        ("JUMP_NO_INTERRUPT", 257),
        ("LOAD_CLOSURE", 258),
        ("LOAD_METHOD", 259),
        ("LOAD_SUPER_METHOD", 260),
        ("LOAD_ZERO_SUPER_ATTR", 261),
        ("LOAD_ZERO_SUPER_METHOD", 262),
        ("POP_BLOCK", 263),
        ("SETUP_CLEANUP", 264),
        ("SETUP_FINALLY", 265),
        ("SETUP_WITH", 266),
        ("STORE_FAST_MAYBE_NULL", 267),
    ],
    opcodes: {
        let mut t = [None; Op::COUNT];
        t[Op::CACHE as usize] = Some(0);
        t[Op::BEFORE_ASYNC_WITH as usize] = Some(1);
        t[Op::BEFORE_WITH as usize] = Some(2);
        t[Op::BINARY_SLICE as usize] = Some(4);
        t[Op::BINARY_SUBSCR as usize] = Some(5);
        t[Op::CHECK_EG_MATCH as usize] = Some(6);
        t[Op::CHECK_EXC_MATCH as usize] = Some(7);
        t[Op::CLEANUP_THROW as usize] = Some(8);
        t[Op::DELETE_SUBSCR as usize] = Some(9);
        t[Op::END_ASYNC_FOR as usize] = Some(10);
        t[Op::END_FOR as usize] = Some(11);
        t[Op::END_SEND as usize] = Some(12);
        t[Op::EXIT_INIT_CHECK as usize] = Some(13);
        t[Op::FORMAT_SIMPLE as usize] = Some(14);
        t[Op::FORMAT_WITH_SPEC as usize] = Some(15);
        t[Op::GET_AITER as usize] = Some(16);
        t[Op::RESERVED as usize] = Some(17);
        t[Op::GET_ANEXT as usize] = Some(18);
        t[Op::GET_ITER as usize] = Some(19);
        t[Op::GET_LEN as usize] = Some(20);
        t[Op::GET_YIELD_FROM_ITER as usize] = Some(21);
        t[Op::INTERPRETER_EXIT as usize] = Some(22);
        t[Op::LOAD_ASSERTION_ERROR as usize] = Some(23);
        t[Op::LOAD_BUILD_CLASS as usize] = Some(24);
        t[Op::LOAD_LOCALS as usize] = Some(25);
        t[Op::MAKE_FUNCTION as usize] = Some(26);
        t[Op::MATCH_KEYS as usize] = Some(27);
        t[Op::MATCH_MAPPING as usize] = Some(28);
        t[Op::MATCH_SEQUENCE as usize] = Some(29);
        t[Op::NOP as usize] = Some(30);
        t[Op::POP_EXCEPT as usize] = Some(31);
        t[Op::POP_TOP as usize] = Some(32);
        t[Op::PUSH_EXC_INFO as usize] = Some(33);
        t[Op::PUSH_NULL as usize] = Some(34);
        t[Op::RETURN_GENERATOR as usize] = Some(35);
        t[Op::RETURN_VALUE as usize] = Some(36);
        t[Op::SETUP_ANNOTATIONS as usize] = Some(37);
        t[Op::STORE_SLICE as usize] = Some(38);
        t[Op::STORE_SUBSCR as usize] = Some(39);
        t[Op::TO_BOOL as usize] = Some(40);
        t[Op::UNARY_INVERT as usize] = Some(41);
        t[Op::UNARY_NEGATIVE as usize] = Some(42);
        t[Op::UNARY_NOT as usize] = Some(43);
        t[Op::WITH_EXCEPT_START as usize] = Some(44);
        t[Op::BINARY_OP as usize] = Some(45);
        t[Op::BUILD_CONST_KEY_MAP as usize] = Some(46);
        t[Op::BUILD_LIST as usize] = Some(47);
        t[Op::BUILD_MAP as usize] = Some(48);
        t[Op::BUILD_SET as usize] = Some(49);
        t[Op::BUILD_SLICE as usize] = Some(50);
        t[Op::BUILD_STRING as usize] = Some(51);
        t[Op::BUILD_TUPLE as usize] = Some(52);
        t[Op::CALL as usize] = Some(53);
        t[Op::CALL_FUNCTION_EX as usize] = Some(54);
        t[Op::CALL_INTRINSIC_1 as usize] = Some(55);
        t[Op::CALL_INTRINSIC_2 as usize] = Some(56);
        t[Op::CALL_KW as usize] = Some(57);
        t[Op::COMPARE_OP as usize] = Some(58);
        t[Op::CONTAINS_OP as usize] = Some(59);
        t[Op::CONVERT_VALUE as usize] = Some(60);
        t[Op::COPY as usize] = Some(61);
        t[Op::COPY_FREE_VARS as usize] = Some(62);
        t[Op::DELETE_ATTR as usize] = Some(63);
        t[Op::DELETE_DEREF as usize] = Some(64);
        t[Op::DELETE_FAST as usize] = Some(65);
        t[Op::DELETE_GLOBAL as usize] = Some(66);
        t[Op::DELETE_NAME as usize] = Some(67);
        t[Op::DICT_MERGE as usize] = Some(68);
        t[Op::DICT_UPDATE as usize] = Some(69);
        t[Op::ENTER_EXECUTOR as usize] = Some(70);
        t[Op::EXTENDED_ARG as usize] = Some(71);
        t[Op::FOR_ITER as usize] = Some(72);
        t[Op::GET_AWAITABLE as usize] = Some(73);
        t[Op::IMPORT_FROM as usize] = Some(74);
        t[Op::IMPORT_NAME as usize] = Some(75);
        t[Op::IS_OP as usize] = Some(76);
        t[Op::JUMP_BACKWARD as usize] = Some(77);
        t[Op::JUMP_BACKWARD_NO_INTERRUPT as usize] = Some(78);
        t[Op::JUMP_FORWARD as usize] = Some(79);
        t[Op::LIST_APPEND as usize] = Some(80);
        t[Op::LIST_EXTEND as usize] = Some(81);
        t[Op::LOAD_ATTR as usize] = Some(82);
        t[Op::LOAD_CONST as usize] = Some(83);
        t[Op::LOAD_DEREF as usize] = Some(84);
        t[Op::LOAD_FAST as usize] = Some(85);
        t[Op::LOAD_FAST_AND_CLEAR as usize] = Some(86);
        t[Op::LOAD_FAST_CHECK as usize] = Some(87);
        t[Op::LOAD_FAST_LOAD_FAST as usize] = Some(88);
        t[Op::LOAD_FROM_DICT_OR_DEREF as usize] = Some(89);
        t[Op::LOAD_FROM_DICT_OR_GLOBALS as usize] = Some(90);
        t[Op::LOAD_GLOBAL as usize] = Some(91);
        t[Op::LOAD_NAME as usize] = Some(92);
        t[Op::LOAD_SUPER_ATTR as usize] = Some(93);
        t[Op::MAKE_CELL as usize] = Some(94);
        t[Op::MAP_ADD as usize] = Some(95);
        t[Op::MATCH_CLASS as usize] = Some(96);
        t[Op::POP_JUMP_IF_FALSE as usize] = Some(97);
        t[Op::POP_JUMP_IF_NONE as usize] = Some(98);
        t[Op::POP_JUMP_IF_NOT_NONE as usize] = Some(99);
        t[Op::POP_JUMP_IF_TRUE as usize] = Some(100);
        t[Op::RAISE_VARARGS as usize] = Some(101);
        t[Op::RERAISE as usize] = Some(102);
        t[Op::RETURN_CONST as usize] = Some(103);
        t[Op::SEND as usize] = Some(104);
        t[Op::SET_ADD as usize] = Some(105);
        t[Op::SET_FUNCTION_ATTRIBUTE as usize] = Some(106);
        t[Op::SET_UPDATE as usize] = Some(107);
        t[Op::STORE_ATTR as usize] = Some(108);
        t[Op::STORE_DEREF as usize] = Some(109);
        t[Op::STORE_FAST as usize] = Some(110);
        t[Op::STORE_FAST_LOAD_FAST as usize] = Some(111);
        t[Op::STORE_FAST_STORE_FAST as usize] = Some(112);
        t[Op::STORE_GLOBAL as usize] = Some(113);
        t[Op::STORE_NAME as usize] = Some(114);
        t[Op::SWAP as usize] = Some(115);
        t[Op::UNPACK_EX as usize] = Some(116);
        t[Op::UNPACK_SEQUENCE as usize] = Some(117);
        t[Op::YIELD_VALUE as usize] = Some(118);
        t[Op::RESUME as usize] = Some(149);
        t
    },
    sorted: &[
        ("BEFORE_ASYNC_WITH", 1),
        ("BEFORE_WITH", 2),
        ("BINARY_OP", 45),
        ("BINARY_OP_ADD_FLOAT", 150),
        ("BINARY_OP_ADD_INT", 151),
        ("BINARY_OP_ADD_UNICODE", 152),
        ("BINARY_OP_INPLACE_ADD_UNICODE", 3),
        ("BINARY_OP_MULTIPLY_FLOAT", 153),
        ("BINARY_OP_MULTIPLY_INT", 154),
        ("BINARY_OP_SUBTRACT_FLOAT", 155),
        ("BINARY_OP_SUBTRACT_INT", 156),
        ("BINARY_SLICE", 4),
        ("BINARY_SUBSCR", 5),
        ("BINARY_SUBSCR_DICT", 157),
        ("BINARY_SUBSCR_GETITEM", 158),
        ("BINARY_SUBSCR_LIST_INT", 159),
        ("BINARY_SUBSCR_STR_INT", 160),
        ("BINARY_SUBSCR_TUPLE_INT", 161),
        ("BUILD_CONST_KEY_MAP", 46),
        ("BUILD_LIST", 47),
        ("BUILD_MAP", 48),
        ("BUILD_SET", 49),
        ("BUILD_SLICE", 50),
        ("BUILD_STRING", 51),
        ("BUILD_TUPLE", 52),
        ("CACHE", 0),
        ("CALL", 53),
        ("CALL_ALLOC_AND_ENTER_INIT", 162),
        ("CALL_BOUND_METHOD_EXACT_ARGS", 163),
        ("CALL_BOUND_METHOD_GENERAL", 164),
        ("CALL_BUILTIN_CLASS", 165),
        ("CALL_BUILTIN_FAST", 166),
        ("CALL_BUILTIN_FAST_WITH_KEYWORDS", 167),
        ("CALL_BUILTIN_O", 168),
        ("CALL_FUNCTION_EX", 54),
        ("CALL_INTRINSIC_1", 55),
        ("CALL_INTRINSIC_2", 56),
        ("CALL_ISINSTANCE", 169),
        ("CALL_KW", 57),
        ("CALL_LEN", 170),
        ("CALL_LIST_APPEND", 171),
        ("CALL_METHOD_DESCRIPTOR_FAST", 172),
        ("CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS", 173),
        ("CALL_METHOD_DESCRIPTOR_NOARGS", 174),
        ("CALL_METHOD_DESCRIPTOR_O", 175),
        ("CALL_NON_PY_GENERAL", 176),
        ("CALL_PY_EXACT_ARGS", 177),
        ("CALL_PY_GENERAL", 178),
        ("CALL_STR_1", 179),
        ("CALL_TUPLE_1", 180),
        ("CALL_TYPE_1", 181),
        ("CHECK_EG_MATCH", 6),
        ("CHECK_EXC_MATCH", 7),
        ("CLEANUP_THROW", 8),
        ("COMPARE_OP", 58),
        ("COMPARE_OP_FLOAT", 182),
        ("COMPARE_OP_INT", 183),
        ("COMPARE_OP_STR", 184),
        ("CONTAINS_OP", 59),
        ("CONTAINS_OP_DICT", 185),
        ("CONTAINS_OP_SET", 186),
        ("CONVERT_VALUE", 60),
        ("COPY", 61),
        ("COPY_FREE_VARS", 62),
        ("DELETE_ATTR", 63),
        ("DELETE_DEREF", 64),
        ("DELETE_FAST", 65),
        ("DELETE_GLOBAL", 66),
        ("DELETE_NAME", 67),
        ("DELETE_SUBSCR", 9),
        ("DICT_MERGE", 68),
        ("DICT_UPDATE", 69),
        ("END_ASYNC_FOR", 10),
        ("END_FOR", 11),
        ("END_SEND", 12),
        ("ENTER_EXECUTOR", 70),
        ("EXIT_INIT_CHECK", 13),
        ("EXTENDED_ARG", 71),
        ("FORMAT_SIMPLE", 14),
        ("FORMAT_WITH_SPEC", 15),
        ("FOR_ITER", 72),
        ("FOR_ITER_GEN", 187),
        ("FOR_ITER_LIST", 188),
        ("FOR_ITER_RANGE", 189),
        ("FOR_ITER_TUPLE", 190),
        ("GET_AITER", 16),
        ("GET_ANEXT", 18),
        ("GET_AWAITABLE", 73),
        ("GET_ITER", 19),
        ("GET_LEN", 20),
        ("GET_YIELD_FROM_ITER", 21),
        ("IMPORT_FROM", 74),
        ("IMPORT_NAME", 75),
        ("INSTRUMENTED_CALL", 244),
        ("INSTRUMENTED_CALL_FUNCTION_EX", 246),
        ("INSTRUMENTED_CALL_KW", 245),
        ("INSTRUMENTED_END_FOR", 237),
        ("INSTRUMENTED_END_SEND", 238),
        ("INSTRUMENTED_FOR_ITER", 243),
        ("INSTRUMENTED_INSTRUCTION", 247),
        ("INSTRUMENTED_JUMP_BACKWARD", 249),
        ("INSTRUMENTED_JUMP_FORWARD", 248),
        ("INSTRUMENTED_LINE", 254),
        ("INSTRUMENTED_LOAD_SUPER_ATTR", 242),
        ("INSTRUMENTED_POP_JUMP_IF_FALSE", 251),
        ("INSTRUMENTED_POP_JUMP_IF_NONE", 252),
        ("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", 253),
        ("INSTRUMENTED_POP_JUMP_IF_TRUE", 250),
        ("INSTRUMENTED_RESUME", 236),
        ("INSTRUMENTED_RETURN_CONST", 240),
        ("INSTRUMENTED_RETURN_VALUE", 239),
        ("INSTRUMENTED_YIELD_VALUE", 241),
        ("INTERPRETER_EXIT", 22),
        ("IS_OP", 76),
        ("JUMP_BACKWARD", 77),
        ("JUMP_BACKWARD_NO_INTERRUPT", 78),
        ("JUMP_FORWARD", 79),
        ("LIST_APPEND", 80),
        ("LIST_EXTEND", 81),
        ("LOAD_ASSERTION_ERROR", 23),
        ("LOAD_ATTR", 82),
        ("LOAD_ATTR_CLASS", 191),
        ("LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", 192),
        ("LOAD_ATTR_INSTANCE_VALUE", 193),
        ("LOAD_ATTR_METHOD_LAZY_DICT", 194),
        ("LOAD_ATTR_METHOD_NO_DICT", 195),
        ("LOAD_ATTR_METHOD_WITH_VALUES", 196),
        ("LOAD_ATTR_MODULE", 197),
        ("LOAD_ATTR_NONDESCRIPTOR_NO_DICT", 198),
        ("LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES", 199),
        ("LOAD_ATTR_PROPERTY", 200),
        ("LOAD_ATTR_SLOT", 201),
        ("LOAD_ATTR_WITH_HINT", 202),
        ("LOAD_BUILD_CLASS", 24),
        ("LOAD_CONST", 83),
        ("LOAD_DEREF", 84),
        ("LOAD_FAST", 85),
        ("LOAD_FAST_AND_CLEAR", 86),
        ("LOAD_FAST_CHECK", 87),
        ("LOAD_FAST_LOAD_FAST", 88),
        ("LOAD_FROM_DICT_OR_DEREF", 89),
        ("LOAD_FROM_DICT_OR_GLOBALS", 90),
        ("LOAD_GLOBAL", 91),
        ("LOAD_GLOBAL_BUILTIN", 203),
        ("LOAD_GLOBAL_MODULE", 204),
        ("LOAD_LOCALS", 25),
        ("LOAD_NAME", 92),
        ("LOAD_SUPER_ATTR", 93),
        ("LOAD_SUPER_ATTR_ATTR", 205),
        ("LOAD_SUPER_ATTR_METHOD", 206),
        ("MAKE_CELL", 94),
        ("MAKE_FUNCTION", 26),
        ("MAP_ADD", 95),
        ("MATCH_CLASS", 96),
        ("MATCH_KEYS", 27),
        ("MATCH_MAPPING", 28),
        ("MATCH_SEQUENCE", 29),
        ("NOP", 30),
        ("POP_EXCEPT", 31),
        ("POP_JUMP_IF_FALSE", 97),
        ("POP_JUMP_IF_NONE", 98),
        ("POP_JUMP_IF_NOT_NONE", 99),
        ("POP_JUMP_IF_TRUE", 100),
        ("POP_TOP", 32),
        ("PUSH_EXC_INFO", 33),
        ("PUSH_NULL", 34),
        ("RAISE_VARARGS", 101),
        ("RERAISE", 102),
        ("RESERVED", 17),
        ("RESUME", 149),
        ("RESUME_CHECK", 207),
        ("RETURN_CONST", 103),
        ("RETURN_GENERATOR", 35),
        ("RETURN_VALUE", 36),
        ("SEND", 104),
        ("SEND_GEN", 208),
        ("SETUP_ANNOTATIONS", 37),
        ("SET_ADD", 105),
        ("SET_FUNCTION_ATTRIBUTE", 106),
        ("SET_UPDATE", 107),
        ("STORE_ATTR", 108),
        ("STORE_ATTR_INSTANCE_VALUE", 209),
        ("STORE_ATTR_SLOT", 210),
        ("STORE_ATTR_WITH_HINT", 211),
        ("STORE_DEREF", 109),
        ("STORE_FAST", 110),
        ("STORE_FAST_LOAD_FAST", 111),
        ("STORE_FAST_STORE_FAST", 112),
        ("STORE_GLOBAL", 113),
        ("STORE_NAME", 114),
        ("STORE_SLICE", 38),
        ("STORE_SUBSCR", 39),
        ("STORE_SUBSCR_DICT", 212),
        ("STORE_SUBSCR_LIST_INT", 213),
        ("SWAP", 115),
        ("TO_BOOL", 40),
        ("TO_BOOL_ALWAYS_TRUE", 214),
        ("TO_BOOL_BOOL", 215),
        ("TO_BOOL_INT", 216),
        ("TO_BOOL_LIST", 217),
        ("TO_BOOL_NONE", 218),
        ("TO_BOOL_STR", 219),
        ("UNARY_INVERT", 41),
        ("UNARY_NEGATIVE", 42),
        ("UNARY_NOT", 43),
        ("UNPACK_EX", 116),
        ("UNPACK_SEQUENCE", 117),
        ("UNPACK_SEQUENCE_LIST", 220),
        ("UNPACK_SEQUENCE_TUPLE", 221),
        ("UNPACK_SEQUENCE_TWO_TUPLE", 222),
        ("WITH_EXCEPT_START", 44),
        ("YIELD_VALUE", 118),
    ],
    specialised: &[
        (3, 45),
        (150, 45),
        (151, 45),
        (152, 45),
        (153, 45),
        (154, 45),
        (155, 45),
        (156, 45),
        (157, 5),
        (158, 5),
        (159, 5),
        (160, 5),
        (161, 5),
        (162, 53),
        (163, 53),
        (164, 53),
        (165, 53),
        (166, 53),
        (167, 53),
        (168, 53),
        (169, 53),
        (170, 53),
        (171, 53),
        (172, 53),
        (173, 53),
        (174, 53),
        (175, 53),
        (176, 53),
        (177, 53),
        (178, 53),
        (179, 53),
        (180, 53),
        (181, 53),
        (182, 58),
        (183, 58),
        (184, 58),
        (185, 59),
        (186, 59),
        (187, 72),
        (188, 72),
        (189, 72),
        (190, 72),
        (191, 82),
        (192, 82),
        (193, 82),
        (194, 82),
        (195, 82),
        (196, 82),
        (197, 82),
        (198, 82),
        (199, 82),
        (200, 82),
        (201, 82),
        (202, 82),
        (203, 91),
        (204, 91),
        (205, 93),
        (206, 93),
        (207, 149),
        (208, 104),
        (209, 108),
        (210, 108),
        (211, 108),
        (212, 39),
        (213, 39),
        (214, 40),
        (215, 40),
        (216, 40),
        (217, 40),
        (218, 40),
        (219, 40),
        (220, 117),
        (221, 117),
        (222, 117),
    ],
    info: [
        op("CACHE", Op::CACHE, ILLEGAL, 0, 0, 0),
        op("BEFORE_ASYNC_WITH", Op::BEFORE_ASYNC_WITH, 0, 0, 0, 0),
        op("BEFORE_WITH", Op::BEFORE_WITH, 0, 0, 0, 0),
        op("BINARY_OP_INPLACE_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SLICE", Op::BINARY_SLICE, 0, 0, 0, 0),
        op("BINARY_SUBSCR", Op::BINARY_SUBSCR, 0, 1, 0, 0),
        op("CHECK_EG_MATCH", Op::CHECK_EG_MATCH, 0, 0, 0, 0),
        op("CHECK_EXC_MATCH", Op::CHECK_EXC_MATCH, 0, 0, 0, 0),
        op("CLEANUP_THROW", Op::CLEANUP_THROW, 0, 0, 0, 0),
        op("DELETE_SUBSCR", Op::DELETE_SUBSCR, 0, 0, 0, 0),
        op("END_ASYNC_FOR", Op::END_ASYNC_FOR, 0, 0, 0, 0),
        op("END_FOR", Op::END_FOR, 0, 0, 0, 0),
        op("END_SEND", Op::END_SEND, 0, 0, 0, 0),
        op("EXIT_INIT_CHECK", Op::EXIT_INIT_CHECK, ILLEGAL, 0, 0, 0),
        op("FORMAT_SIMPLE", Op::FORMAT_SIMPLE, 0, 0, 0, 0),
        op("FORMAT_WITH_SPEC", Op::FORMAT_WITH_SPEC, 0, 0, 0, 0),
        op("GET_AITER", Op::GET_AITER, 0, 0, 0, 0),
        op("RESERVED", Op::RESERVED, ILLEGAL, 0, 0, 0),
        op("GET_ANEXT", Op::GET_ANEXT, 0, 0, 0, 0),
        op("GET_ITER", Op::GET_ITER, 0, 0, 0, 0),
        op("GET_LEN", Op::GET_LEN, 0, 0, 0, 0),
        op("GET_YIELD_FROM_ITER", Op::GET_YIELD_FROM_ITER, 0, 0, 0, 0),
        op("INTERPRETER_EXIT", Op::INTERPRETER_EXIT, ILLEGAL, 0, 0, 0),
        op("LOAD_ASSERTION_ERROR", Op::LOAD_ASSERTION_ERROR, 0, 0, 0, 0),
        op("LOAD_BUILD_CLASS", Op::LOAD_BUILD_CLASS, 0, 0, 0, 0),
        op("LOAD_LOCALS", Op::LOAD_LOCALS, 0, 0, 0, 0),
        op("MAKE_FUNCTION", Op::MAKE_FUNCTION, 0, 0, 0, 0),
        op("MATCH_KEYS", Op::MATCH_KEYS, 0, 0, 0, 0),
        op("MATCH_MAPPING", Op::MATCH_MAPPING, 0, 0, 0, 0),
        op("MATCH_SEQUENCE", Op::MATCH_SEQUENCE, 0, 0, 0, 0),
        op("NOP", Op::NOP, 0, 0, 0, 0),
        op("POP_EXCEPT", Op::POP_EXCEPT, 0, 0, 0, 0),
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
        op("BINARY_OP", Op::BINARY_OP, HAS_ARG, 1, 0, 25),
        op("BUILD_CONST_KEY_MAP", Op::BUILD_CONST_KEY_MAP, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_LIST", Op::BUILD_LIST, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_MAP", Op::BUILD_MAP, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SET", Op::BUILD_SET, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_SLICE", Op::BUILD_SLICE, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_STRING", Op::BUILD_STRING, HAS_ARG, 0, 0, u32::MAX),
        op("BUILD_TUPLE", Op::BUILD_TUPLE, HAS_ARG, 0, 0, u32::MAX),
        op("CALL", Op::CALL, HAS_ARG, 3, 0, u32::MAX),
        op("CALL_FUNCTION_EX", Op::CALL_FUNCTION_EX, HAS_ARG, 0, 0, u32::MAX),
        op("CALL_INTRINSIC_1", Op::CALL_INTRINSIC_1, HAS_ARG, 0, 0, 11),
        op("CALL_INTRINSIC_2", Op::CALL_INTRINSIC_2, HAS_ARG, 0, 0, 5),
        op("CALL_KW", Op::CALL_KW, HAS_ARG, 0, 0, u32::MAX),
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
        op("ENTER_EXECUTOR", Op::ENTER_EXECUTOR, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("EXTENDED_ARG", Op::EXTENDED_ARG, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("FOR_ITER", Op::FOR_ITER, HAS_ARG | JUMP_REL, 1, 0, u32::MAX),
        op("GET_AWAITABLE", Op::GET_AWAITABLE, HAS_ARG, 0, 0, u32::MAX),
        op("IMPORT_FROM", Op::IMPORT_FROM, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("IMPORT_NAME", Op::IMPORT_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
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
        op("LOAD_CONST", Op::LOAD_CONST, HAS_ARG | HAS_CONST, 0, 0, u32::MAX),
        op("LOAD_DEREF", Op::LOAD_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("LOAD_FAST", Op::LOAD_FAST, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_AND_CLEAR", Op::LOAD_FAST_AND_CLEAR, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_CHECK", Op::LOAD_FAST_CHECK, HAS_ARG | HAS_LOCAL, 0, 0, u32::MAX),
        op("LOAD_FAST_LOAD_FAST", Op::LOAD_FAST_LOAD_FAST, HAS_ARG | HAS_LOCAL | FUSED_PAIR, 0, 0, 255),
        op("LOAD_FROM_DICT_OR_DEREF", Op::LOAD_FROM_DICT_OR_DEREF, HAS_ARG | HAS_FREE, 0, 0, u32::MAX),
        op("LOAD_FROM_DICT_OR_GLOBALS", Op::LOAD_FROM_DICT_OR_GLOBALS, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
        op("LOAD_GLOBAL", Op::LOAD_GLOBAL, HAS_ARG | HAS_NAME, 4, 1, u32::MAX),
        op("LOAD_NAME", Op::LOAD_NAME, HAS_ARG | HAS_NAME, 0, 0, u32::MAX),
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
        op("RETURN_CONST", Op::RETURN_CONST, HAS_ARG | HAS_CONST | TERMINAL, 0, 0, u32::MAX),
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
        op("RESUME", Op::RESUME, HAS_ARG, 0, 0, u32::MAX),
        op("BINARY_OP_ADD_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_ADD_UNICODE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_MULTIPLY_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_FLOAT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_OP_SUBTRACT_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_DICT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_GETITEM", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_LIST_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_STR_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("BINARY_SUBSCR_TUPLE_INT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_ALLOC_AND_ENTER_INIT", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BOUND_METHOD_EXACT_ARGS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BOUND_METHOD_GENERAL", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_FAST", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_FAST_WITH_KEYWORDS", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_BUILTIN_O", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("CALL_ISINSTANCE", Op::INVALID, ILLEGAL, 0, 0, 0),
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
        op("LOAD_ATTR_CLASS", Op::INVALID, ILLEGAL, 0, 0, 0),
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
        op("SEND_GEN", Op::INVALID, ILLEGAL, 0, 0, 0),
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
        op("INSTRUMENTED_RESUME", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_END_FOR", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_END_SEND", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_RETURN_VALUE", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_RETURN_CONST", Op::INVALID, HAS_ARG | HAS_CONST | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_YIELD_VALUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_LOAD_SUPER_ATTR", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_FOR_ITER", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL_KW", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_CALL_FUNCTION_EX", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_INSTRUCTION", Op::INVALID, ILLEGAL, 0, 0, 0),
        op("INSTRUMENTED_JUMP_FORWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_JUMP_BACKWARD", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_TRUE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_FALSE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_POP_JUMP_IF_NOT_NONE", Op::INVALID, HAS_ARG | ILLEGAL, 0, 0, u32::MAX),
        op("INSTRUMENTED_LINE", Op::INVALID, ILLEGAL, 0, 0, 0),
        NONE,
    ],
};
